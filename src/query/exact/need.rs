//! The trigrams (for the own index) or literals (for other systems) that a text must contain for a pattern to match in
//! it, derived from the pattern alone.
//!
//! Owns the reading of a parsed pattern. A part of it is known by the letters it may begin and end with and by those
//! between them; adjacent parts are joined, so that the trigrams across their borders count too. Parts with too many
//! alternatives count as anything: then more is searched, and nothing is missed.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::store::TrigramNeed;
use crate::words::trigrams::{letter, of_letters};

/// The most texts that one part may be, and how long they may grow.
const MOST_RUNS: usize = 16;
const MAX_RUN: usize = 512;
/// Letters that one position of the pattern may be, and characters of a class that are looked at.
const MOST_LETTERS: usize = 8;
const MOST_CHARACTERS: u32 = 64;
/// Trigrams of one run that are asked for: all that follow exclude little more.
const MOST_TRIGRAMS: usize = 48;
/// Trigrams of a whole pattern; above, looking them up takes longer than it saves.
const MOST_ASKED: usize = 4_000;

/// Lists of literals of a whole pattern, and literals of one list: all that follow exclude little more.
const MOST_LISTS: usize = 64;
const MOST_LITERALS: usize = 8;
/// Letters that two characters stand for, each with the one beyond ASCII: see [`letter`]. A literal with both in more places is cut.
const OF_TWO: &[(u8, char)] = &[(b'k', '\u{212a}'), (b's', '\u{17f}')];
const MOST_OF_TWO: usize = 2;

/// Letters in a row.
type Run = Vec<u8>;

/// Trigrams that a text must have for the pattern to match in it.
pub(super) fn compute(pattern: &Hir) -> TrigramNeed {
    let need = trigrams_of(PatternShape::from_hir(pattern).need());
    if count(&need) > MOST_ASKED { TrigramNeed::Anything } else { need }
}

/// Lists of literals: a text in which the pattern matches contains all of one list, in any case of ASCII letters. Each list has a literal
/// with three ASCII letters or digits in a row. `None` if the pattern has no such literals.
pub(super) fn literals(pattern: &Hir) -> Option<Vec<Vec<String>>> {
    let lists = lists_of(&PatternShape::from_hir(pattern).need(), names_beyond_ascii(pattern));
    lists.iter().all(|list| !list.is_empty()).then_some(lists)
}

/// Whether a letter of the pattern may stand for one beyond ASCII that counts as the same: written out, by an escape, or by a flag that
/// ignores case.
fn names_beyond_ascii(pattern: &Hir) -> bool {
    let is_named = |named: &dyn Fn(char) -> bool| OF_TWO.iter().any(|(_, other)| named(*other));
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => {
            literal.0.utf8_chunks().any(|part| is_named(&|other| part.valid().contains(other)))
        }
        HirKind::Class(Class::Unicode(class)) => {
            is_named(&|other| class.iter().any(|range| (range.start()..=range.end()).contains(&other)))
        }
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Capture(capture) => names_beyond_ascii(&capture.sub),
        HirKind::Repetition(repeated) => names_beyond_ascii(&repeated.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(names_beyond_ascii),
    }
}

/// Lists of literals, as [`literals`] returns them, for all words of a name.
pub(super) fn literals_of_name(name: &str) -> Option<Vec<Vec<String>>> {
    let is_within = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words =
        name.split(|c| !is_within(c)).map(|word| Need::Run(word.bytes().map(|byte| letter(byte.into())).collect()));
    let lists = lists_of(&Need::All(words.collect()), true);
    lists.iter().all(|list| !list.is_empty()).then_some(lists)
}

/// Letters that a text must contain.
enum Need {
    Anything,
    Run(Run),
    All(Vec<Self>),
    Any(Vec<Self>),
}

fn trigrams_of(need: Need) -> TrigramNeed {
    match need {
        Need::Anything => TrigramNeed::Anything,
        Need::Run(run) => need_of_run(&run),
        Need::All(needs) => all(needs.into_iter().map(trigrams_of).collect()),
        Need::Any(needs) => any(needs.into_iter().map(trigrams_of).collect()),
    }
}

/// Lists of literals: a text must contain all of one list.
fn lists_of(need: &Need, has_both: bool) -> Vec<Vec<String>> {
    match need {
        Need::Anything => vec![Vec::new()],
        Need::Run(run) => pieces(run, has_both).iter().fold(vec![Vec::new()], |lists, piece| {
            each_with(lists, &written(piece, has_both).into_iter().map(|text| vec![text]).collect::<Vec<_>>())
        }),
        Need::All(needs) => {
            needs.iter().fold(vec![Vec::new()], |lists, need| each_with(lists, &lists_of(need, has_both)))
        }
        Need::Any(needs) => {
            let lists: Vec<Vec<String>> = needs.iter().flat_map(|need| lists_of(need, has_both)).collect();
            if lists.len() > MOST_LISTS { vec![Vec::new()] } else { lists }
        }
    }
}

/// Each list with each of `more`; unchanged if that would be too many.
fn each_with(lists: Vec<Vec<String>>, more: &[Vec<String>]) -> Vec<Vec<String>> {
    if lists.len() * more.len() > MOST_LISTS || more.iter().any(Vec::is_empty) {
        return lists;
    }
    let joined = lists
        .iter()
        .flat_map(|list| more.iter().map(|more| list.iter().chain(more).take(MOST_LITERALS).cloned().collect()));
    joined.collect()
}

/// The parts of a run that are worth asking for.
fn pieces(run: &[u8], has_both: bool) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for part in run.split(|letter| !letter.is_ascii() || matches!(letter, b'\n' | b'\0')) {
        let mut start = 0;
        let mut of_two = 0;
        for (at, byte) in part.iter().enumerate() {
            if has_both && OF_TWO.iter().any(|(letter, _)| letter == byte) {
                of_two += 1;
                if of_two > MOST_OF_TWO {
                    pieces.push(&part[start..at]);
                    (start, of_two) = (at, 1);
                }
            }
        }
        pieces.push(&part[start..]);
    }
    // Indexes of other systems have only letters and digits.
    pieces.retain(|piece| piece.windows(3).any(|three| three.iter().all(u8::is_ascii_alphanumeric)));
    pieces
}

/// The texts that a run of ASCII letters stands for.
fn written(run: &[u8], has_both: bool) -> Vec<String> {
    let mut texts = vec![String::new()];
    for byte in run {
        let other = OF_TWO.iter().find(|(letter, _)| has_both && letter == byte).map(|(_, other)| *other);
        let with_other: Vec<String> =
            other.iter().flat_map(|other| texts.iter().map(move |text| format!("{text}{other}"))).collect();
        texts.iter_mut().for_each(|text| text.push(char::from(*byte)));
        texts.extend(with_other);
    }
    texts
}

/// Letters that the text matched by a part of a pattern must have.
struct PatternShape {
    /// It begins with one of these; if `rest` is absent, it is one of these.
    head: Vec<Run>,
    rest: Option<UnanchoredRest>,
}

struct UnanchoredRest {
    /// Letters that it contains somewhere, all of them.
    needs: Vec<Need>,
    /// It ends with one of these.
    tail: Vec<Run>,
}

impl PatternShape {
    fn exact(head: Vec<Run>) -> Self {
        Self { head, rest: None }
    }

    fn anything() -> Self {
        Self::with(Need::Anything)
    }

    fn with(need: Need) -> Self {
        Self { head: vec![Run::new()], rest: Some(UnanchoredRest { needs: vec![need], tail: vec![Run::new()] }) }
    }

    fn from_hir(pattern: &Hir) -> Self {
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exact(vec![Run::new()]),
            HirKind::Literal(literal) => Self::from_bytes(&literal.0),
            HirKind::Class(class) => letters(class).map_or_else(Self::anything, |letters| {
                Self::exact(letters.into_iter().map(|letter| vec![letter]).collect())
            }),
            HirKind::Capture(capture) => Self::from_hir(&capture.sub),
            HirKind::Concat(parts) => {
                parts.iter().map(Self::from_hir).fold(Self::exact(vec![Run::new()]), Self::followed_by)
            }
            HirKind::Alternation(parts) => Self::one_of(parts.iter().map(Self::from_hir).collect()),
            HirKind::Repetition(repeated) => Self::from_hir(&repeated.sub).repeated(repeated.min, repeated.max),
        }
    }

    /// Bytes that are not text can be within a letter.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut shape = Self::exact(vec![Run::new()]);
        for part in bytes.utf8_chunks() {
            let letters: Run = part.valid().chars().map(letter).collect();
            for run in letters.chunks(MAX_RUN) {
                shape = shape.followed_by(Self::exact(vec![run.to_vec()]));
            }
            if !part.invalid().is_empty() {
                shape = shape.followed_by(Self::anything());
            }
        }
        shape
    }

    fn followed_by(mut self, next: Self) -> Self {
        let end = match &mut self.rest {
            None => &mut self.head,
            Some(rest) => &mut rest.tail,
        };
        let is_joined = join(end, &next.head);
        match (&mut self.rest, next.rest) {
            (None, rest) if is_joined => self.rest = rest,
            (None, None) => self.rest = Some(UnanchoredRest { needs: Vec::new(), tail: next.head }),
            (None, Some(mut rest)) => {
                rest.needs.push(need_of(&next.head));
                self.rest = Some(rest);
            }
            (Some(_), None) if is_joined => {}
            (Some(rest), None) => {
                let end = std::mem::replace(&mut rest.tail, next.head);
                rest.needs.push(need_of(&end));
            }
            (Some(rest), Some(more)) => {
                let end = std::mem::replace(&mut rest.tail, more.tail);
                rest.needs.push(need_of(&end));
                if !is_joined {
                    rest.needs.push(need_of(&next.head));
                }
                rest.needs.extend(more.needs);
            }
        }
        self
    }

    fn one_of(parts: Vec<Self>) -> Self {
        let runs: usize = parts.iter().map(|part| part.head.len()).sum();
        if runs <= MOST_RUNS && parts.iter().all(|part| part.rest.is_none()) {
            return Self::exact(parts.into_iter().flat_map(|part| part.head).collect());
        }
        Self::with(Need::Any(parts.into_iter().map(Self::need).collect()))
    }

    fn repeated(self, least: u32, most: Option<u32>) -> Self {
        if least == 0 {
            return match (self.rest, most) {
                (None, Some(1)) if self.head.len() < MOST_RUNS => {
                    let mut head = self.head;
                    head.push(Run::new());
                    Self::exact(head)
                }
                (_, Some(0)) => Self::exact(vec![Run::new()]),
                _ => Self::anything(),
            };
        }
        if self.rest.is_some() {
            return self;
        }
        let once = self.head;
        let (mut head, mut times) = (once.clone(), 1);
        while times < least && join(&mut head, &once) {
            times += 1;
        }
        if most == Some(times) {
            return Self::exact(head);
        }
        Self { head, rest: Some(UnanchoredRest { needs: Vec::new(), tail: once }) }
    }

    fn need(self) -> Need {
        let mut needs = vec![need_of(&self.head)];
        if let Some(rest) = self.rest {
            needs.extend(rest.needs);
            needs.push(need_of(&rest.tail));
        }
        Need::All(needs)
    }
}

/// Puts each of `next` after each of `runs`; leaves them unchanged if that would be too many.
fn join(runs: &mut Vec<Run>, next: &[Run]) -> bool {
    let longest = |runs: &[Run]| runs.iter().map(Run::len).max().unwrap_or(0);
    if runs.len() * next.len() > MOST_RUNS || longest(runs) + longest(next) > MAX_RUN {
        return false;
    }
    if let [next] = next {
        runs.iter_mut().for_each(|run| run.extend(next));
    } else {
        *runs = runs.iter().flat_map(|run| next.iter().map(|next| [run.as_slice(), next].concat())).collect();
    }
    true
}

/// The letters of a class, if they are few.
fn letters(class: &Class) -> Option<BTreeSet<u8>> {
    let mut letters = BTreeSet::new();
    match class {
        Class::Unicode(class) => {
            let sizes = class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1);
            if sizes.fold(0_u32, u32::saturating_add) > MOST_CHARACTERS {
                return None;
            }
            class.iter().for_each(|range| letters.extend((range.start()..=range.end()).map(letter)));
        }
        // Beyond ASCII a byte is not a letter of its own.
        Class::Bytes(class) => {
            for range in class.iter() {
                if !range.end().is_ascii() {
                    return None;
                }
                letters.extend((range.start()..=range.end()).map(|byte| letter(char::from(byte))));
            }
        }
    }
    (letters.len() <= MOST_LETTERS).then_some(letters)
}

/// One of the runs, whole.
fn need_of(runs: &[Run]) -> Need {
    Need::Any(runs.iter().cloned().map(Need::Run).collect())
}

fn need_of_run(run: &[u8]) -> TrigramNeed {
    let mut trigrams: Vec<u32> = of_letters(run).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    let step = trigrams.len().div_ceil(MOST_TRIGRAMS).max(1);
    all(trigrams.into_iter().step_by(step).map(TrigramNeed::Trigram).collect())
}

fn all(needs: Vec<TrigramNeed>) -> TrigramNeed {
    let mut needs: Vec<TrigramNeed> = needs.into_iter().filter(|need| *need != TrigramNeed::Anything).collect();
    match needs.len() {
        0 => TrigramNeed::Anything,
        1 => needs.swap_remove(0),
        _ => TrigramNeed::All(needs),
    }
}

/// Nothing is needed where one of them needs nothing. A part that matches nothing at all has no needs to choose from.
fn any(mut needs: Vec<TrigramNeed>) -> TrigramNeed {
    if needs.contains(&TrigramNeed::Anything) {
        return TrigramNeed::Anything;
    }
    if needs.len() == 1 { needs.swap_remove(0) } else { TrigramNeed::Any(needs) }
}

fn count(need: &TrigramNeed) -> usize {
    match need {
        TrigramNeed::Anything => 0,
        TrigramNeed::Trigram(_) => 1,
        TrigramNeed::All(needs) | TrigramNeed::Any(needs) => needs.iter().map(count).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a formula of the letters, with trigrams in the order of their letters.
    fn shown(need: &TrigramNeed) -> String {
        let list = |needs: &[TrigramNeed], between: &str| {
            let mut needs: Vec<String> = needs.iter().map(shown).collect();
            needs.sort();
            format!("({})", needs.join(between))
        };
        match need {
            TrigramNeed::Anything => "*".to_owned(),
            TrigramNeed::Trigram(trigram) => {
                let letters = [16, 8, 0].map(|shift| u8::try_from(trigram >> shift & 0xff).unwrap());
                letters.iter().map(|&letter| if letter.is_ascii() { char::from(letter) } else { '?' }).collect()
            }
            TrigramNeed::All(needs) => list(needs, " "),
            TrigramNeed::Any(needs) => list(needs, "|"),
        }
    }

    fn needed(pattern: &str) -> String {
        let mut parser = regex_syntax::ParserBuilder::new();
        let parsed = parser.multi_line(true).utf8(false).build().parse(pattern).unwrap();
        shown(&compute(&parsed))
    }

    #[test]
    fn a_pattern_needs_the_trigrams_that_each_of_its_matches_has() {
        for (pattern, need) in [
            ("abcd", "(abc bcd)"),
            ("ABC", "abc"),
            ("(?i)Mask", "(ask mas)"),
            ("ab", "*"),
            ("ab.cd", "*"),
            ("abc.def", "(abc def)"),
            ("a[bc]d", "(abd|acd)"),
            (r"\bfn\s+main\b", "(ain mai)"),
            ("^abc$", "abc"),
            ("foo(bar|baz)", "((foo oob oba bar)|(foo oob oba baz))"),
            ("abc|def.*", "(abc|def)"),
            ("abc|.*", "*"),
            ("abc?d", "((abc bcd)|abd)"),
            ("(abc)*d", "*"),
            ("(ab){2}", "(aba bab)"),
            ("(ab){2,}c", "((aba bab) abc)"),
            ("(abc)+def", "((abc bcd cde def) abc)"),
            ("x(a.b)+y", "*"),
            ("ab\ncde", "cde"),
            (r"(?-u)abc\xff", "abc"),
            (r"(?-u)[\x80-\xff]abc", "abc"),
            ("[^x]abc", "abc"),
            ("", "*"),
            ("ſtr", "str"),
        ] {
            let sorted = |text: &str| {
                let mut words: Vec<String> = text.split(|c| "()| ".contains(c)).map(str::to_owned).collect();
                words.sort();
                words
            };
            let found = needed(pattern);
            assert_eq!(sorted(&found), sorted(need), "{pattern}: {found}");
        }
    }

    #[test]
    fn literals_are_in_each_text_in_which_the_pattern_matches() {
        let of = |pattern: &str| {
            let parsed = regex_syntax::ParserBuilder::new().multi_line(true).build().parse(pattern).unwrap();
            literals(&parsed).map(|lists| lists.iter().map(|list| list.join("+")).collect::<Vec<_>>().join(" "))
        };
        for (pattern, expected) in [
            ("charge_card", Some("charge_card")),
            ("Charge", Some("charge")),
            (r"fn\s+main\(", Some("main(")),
            ("foo(bar|baz)", Some("foobar foobaz")),
            ("abc.*def|ghi", Some("abc+def ghi")),
            ("a->b", None),
            ("ab|cdef", None),
            (".*", None),
            ("größe_von", Some("e_von")),
            ("日本語", None),
            ("abc\ndef", Some("abc+def")),
            ("500%_of", Some("500%_of")),
        ] {
            assert_eq!(of(pattern).as_deref(), expected, "{pattern}");
        }
        // One letter may be two characters.
        for pattern in ["(?i)mak", r"ma[k\x{212A}]", r"ma\u{212a}", r"ma\x{212a}", r"(m(?i:a)(?:\u212A)+)"] {
            assert_eq!(of(pattern).as_deref(), Some("mak ma\u{212a}"), "{pattern}");
        }
        assert_eq!(of("(?i)ssstr").as_deref(), Some("str \u{17f}tr"));
        let all = of(&format!("(?i){}", "sk".repeat(100)));
        assert_eq!(all, None, "no three letters are left between them");
        assert_eq!(literals_of_name("operator<<"), Some(vec![vec!["operator".to_owned()]]));
        assert_eq!(literals_of_name("Getting up and on").unwrap(), [["getting", "and"]]);
        assert_eq!(literals_of_name("id"), None);
        assert!(of(&(0..500).map(|at| format!("alternative{at}.*end")).collect::<Vec<_>>().join("|")).is_none());
    }

    #[test]
    fn letters_beyond_ascii_count_too() {
        assert_eq!(needed("größe"), needed("(?i)GRÖẞE"));
        assert_eq!(needed("日本語"), "???");
    }

    #[test]
    fn however_large_a_pattern_is_what_it_needs_is_little() {
        let nested = (0..30).fold("abc".to_owned(), |inner, at| format!("(({inner})+x{at}[ab]?)?y+"));
        needed(&nested);
        let long = "some text ".repeat(20_000);
        let parsed = regex_syntax::parse(&long).unwrap();
        assert!(matches!(compute(&parsed), TrigramNeed::All(_) | TrigramNeed::Anything));
        let many: Vec<String> = (0..2_000).map(|at| format!("alternative{at}.*end")).collect();
        assert_eq!(needed(&many.join("|")), "*");
        needed(&"[ab]".repeat(3_000));
        needed("(a{50}){200}b");
    }
}
