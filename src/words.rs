//! Splitting of identifiers into words: what the index stores beside a text, and how a question is read.
//!
//! Owns the one splitter that both sides use, the stems of words, and what letters a trigram has. Does not own tokens: those
//! are SQLite's.

mod scripts;
mod stem;
pub mod trigrams;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use foldhash::fast::RandomState;
use unicode_normalization::char::is_combining_mark;

pub use scripts::{has_unspaced, is_letter, is_unspaced, pieces, plain};
pub use stem::stem;

/// Changes when the same text or name would give other words: then the FTS is made anew.
pub const SPLITTER: u32 = 3;

/// The words of an identifier, or of all in a text: `HTTPServer2_foo-bar` is http, server, 2, foo, bar (as slices, case kept).
pub fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    std::iter::from_fn(move || {
        let signs = rest.bytes().take_while(|&byte| matches!(CLASS[usize::from(byte)], Class::Other | Class::Joiner));
        rest = &rest[signs.count()..];
        if rest.bytes().next().is_some_and(|byte| !byte.is_ascii()) {
            rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        }
        let end = part_end(rest)?;
        let (part, tail) = rest.split_at(end);
        rest = tail;
        Some(part)
    })
}

/// Where the first word of `text` ends. Words change at a separator, at lower→Upper, between letters
/// and digits, and before the last capital of a run that a small letter follows.
fn part_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut before = CLASS[usize::from(*bytes.first()?)];
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        let class = CLASS[usize::from(*byte)];
        match TURN[before as usize][class as usize] {
            Turn::No => {}
            Turn::Yes => return Some(at),
            Turn::BeforeSmall => match bytes.get(at + 1).map(|&after| CLASS[usize::from(after)]) {
                Some(Class::Lower) => return Some(at),
                Some(Class::Foreign) => return part_end_in_any_script(text),
                _ => {}
            },
            Turn::Unknown => return part_end_in_any_script(text),
        }
        before = class;
    }
    Some(text.len())
}

/// Whether a word ends between two bytes.
#[derive(Clone, Copy)]
enum Turn {
    No,
    Yes,
    /// If a small letter comes behind them.
    BeforeSmall,
    /// Tables of ASCII do not say.
    Unknown,
}

/// By the classes of the two, in the order of [`Class`].
static TURN: [[Turn; 6]; 6] = {
    use Turn::{BeforeSmall, No, Unknown, Yes};
    [
        [Yes, No, No, Yes, Yes, Unknown],
        [Yes, No, Yes, Yes, Yes, Unknown],
        [Yes, No, BeforeSmall, Yes, Yes, Unknown],
        [Yes, Yes, Yes, No, Yes, Unknown],
        [Yes, No, No, Yes, Yes, Unknown],
        [Unknown; 6],
    ]
};

/// The same by what Unicode says of characters.
fn part_end_in_any_script(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, mut before) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|&(_, c)| c);
        let turns = !c.is_alphanumeric()
            || before.is_numeric() != c.is_numeric()
            || (before.is_lowercase() && c.is_uppercase())
            || (before.is_uppercase() && c.is_uppercase() && after.is_some_and(char::is_lowercase));
        if turns {
            return Some(at);
        }
        before = c;
    }
    Some(text.len())
}

/// What a byte is in an identifier. Most text is ASCII, and a table decides faster than Unicode does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Lower,
    Upper,
    Digit,
    /// `_`: of a token, and between its parts.
    Joiner,
    /// Of a character that is not ASCII.
    Foreign,
}

static CLASS: [Class; 256] = {
    let mut classes = [Class::Foreign; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Joiner,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Runs of letters with their marks, digits and `_` in `text`: what the FTS takes as one token, but for signs above and below
/// the letters of some scripts.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    shaped_tokens(text).map(|(token, _)| token)
}

/// The same, each with whether it may be compound. What is not has one part at most: most tokens are plain words, and
/// need no more thought.
pub fn shaped_tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let others = bytes.iter().take_while(|byte| CLASS[usize::from(**byte)] == Class::Other).count();
        let start = match bytes.get(others)? {
            byte if CLASS[usize::from(*byte)] != Class::Foreign => others,
            _ => others + rest[others..].find(is_in_token)?,
        };
        let mut shape = Shape::Empty;
        let mut end = start;
        while let Some(&byte) = bytes.get(end) {
            let class = CLASS[usize::from(byte)];
            if class == Class::Other {
                break;
            }
            if class == Class::Foreign {
                shape = Shape::Compound;
                end += rest[end..].find(|c| !is_in_token(c)).unwrap_or(rest.len() - end);
                break;
            }
            shape = AFTER[shape as usize][class as usize];
            end += 1;
        }
        let token = &rest[start..end];
        rest = &rest[end..];
        Some((token, shape == Shape::Compound))
    })
}

/// What a token is so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Empty,
    /// `word`, `Word`
    Lower,
    Capital,
    Capitals,
    /// Digits and `_`.
    Number,
    /// Anything else may have more than one part.
    Compound,
}

/// By shape and by class of the next byte.
static AFTER: [[Shape; 6]; 6] = {
    let mut after = [[Shape::Compound; 6]; 6];
    after[Shape::Empty as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::Empty as usize][Class::Upper as usize] = Shape::Capital;
    after[Shape::Empty as usize][Class::Digit as usize] = Shape::Number;
    after[Shape::Empty as usize][Class::Joiner as usize] = Shape::Number;
    after[Shape::Lower as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::Capital as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::Capital as usize][Class::Upper as usize] = Shape::Capitals;
    after[Shape::Capitals as usize][Class::Upper as usize] = Shape::Capitals;
    after[Shape::Number as usize][Class::Digit as usize] = Shape::Number;
    after[Shape::Number as usize][Class::Joiner as usize] = Shape::Number;
    after
};

fn is_in_token(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric() || c == '_',
        // Letters all of them, and most of what is not ASCII: the tables of Unicode take longer.
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ɏ' | 'Ѐ'..='ҁ' | '一'..='鿿' => true,
        _ => c.is_alphanumeric() || is_combining_mark(c),
    }
}

/// What a chunk is found by beside its tokens, in small letters, nothing twice, in order of appearance.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The parts of compound identifiers in the text, and the pieces of what is not ASCII, but for what stands in the text by
    /// itself or in `names`: an index of the words says of each chunk what it has, however often.
    pub words: String,
    /// The names, a line for each: the name, then, if it has parts that no name before it had, a tab and these.
    pub names: String,
}

impl Terms {
    /// Of a text and the names of what begins in it.
    pub fn of<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Self {
        let mut known: HashSet<String, RandomState> = HashSet::default();
        let names = lines_of(names, |part| known.insert(part.to_owned()));
        Self { words: unknown_parts(text, known), names }
    }
}

/// The same of a text that defines nothing.
pub fn compound_parts(text: &str) -> String {
    unknown_parts(text, HashSet::default())
}

/// The parts of a text's compounds that are neither known nor tokens of it.
fn unknown_parts(text: &str, mut known: HashSet<String, RandomState>) -> String {
    let mut compounds: HashSet<&str, RandomState> = HashSet::default();
    let mut plain: HashSet<Plain, RandomState> = HashSet::default();
    let mut in_order = Vec::new();
    for (token, may_be_compound) in shaped_tokens(text) {
        if !may_be_compound {
            plain.insert(Plain(token));
        } else if compounds.insert(token) {
            in_order.push(token);
        }
    }
    let mut words = String::new();
    let mut add = |word: &str| {
        if word.len() < 2 || plain.contains(&Plain(word)) || known.contains(word) {
            return;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        known.insert(word.to_owned());
    };
    let mut lower = String::new();
    for token in in_order {
        // A token of one part is already found as itself.
        if !token.is_ascii() {
            let whole = token.to_lowercase();
            pieces(token, &mut |piece, _| {
                if piece != whole {
                    add(piece);
                }
            });
            continue;
        }
        let mut split = parts(token).peekable();
        if split.peek().is_none_or(|first| first.len() == token.len()) {
            continue;
        }
        for part in split {
            lower.clear();
            lower.push_str(part);
            lower.make_ascii_lowercase();
            add(&lower);
        }
    }
    words
}

/// A token of ASCII, the same in large letters as in small ones.
#[derive(Eq)]
struct Plain<'t>(&'t str);

impl PartialEq for Plain<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Hash for Plain<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // Digits and `_` are told apart from letters by more than this bit, or else by `eq`.
        self.0.as_bytes().chunks(8).for_each(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hasher.write_u64(u64::from_le_bytes(word) | 0x2020_2020_2020_2020);
        });
    }
}

/// A line for each of these names, once each: the name, then, if it has several parts, a tab and those, lower-case, that are
/// wanted.
fn lines_of<'n>(names: impl Iterator<Item = &'n str>, mut is_wanted: impl FnMut(&str) -> bool) -> String {
    let mut seen: HashSet<&str, RandomState> = HashSet::default();
    let mut lines = String::new();
    for name in names.filter(|name| seen.insert(name)) {
        if !lines.is_empty() {
            lines.push('\n');
        }
        // A name of several lines would read as several names.
        lines.extend(name.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }));
        let mut parts = parts(name).peekable();
        if parts.peek().is_some_and(|first| first.len() < name.len()) {
            let mut before = '\t';
            for part in parts.map(str::to_lowercase).filter(|part| is_wanted(part)) {
                lines.push(before);
                lines.push_str(&part);
                before = ' ';
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::measure::Random;

    #[test]
    fn letters_of_tokens_are_those_of_unicode() {
        let wrong = |c: &char| is_in_token(*c) != (c.is_alphanumeric() || is_combining_mark(*c) || *c == '_');
        assert_eq!(('\0'..=char::MAX).find(wrong), None);
    }

    fn split(identifier: &str) -> String {
        parts(identifier).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn identifiers_split_at_case_digits_and_separators() {
        assert_eq!(split("getUserById"), "get|User|By|Id");
        assert_eq!(split("HTTPServer"), "HTTP|Server");
        assert_eq!(split("snake_case-kebab"), "snake|case|kebab");
        assert_eq!(split("utf8Decode"), "utf|8|Decode");
        assert_eq!(split("__init__"), "init");
        assert_eq!(split("ÄpfelBaum"), "Äpfel|Baum");
        assert_eq!(split("___"), "");
    }

    /// The table of ASCII and Unicode's are one splitter.
    #[test]
    fn words_end_at_the_same_places_in_any_script() {
        let alphabet = ["a", "Z", "q", "B", "7", "_", "-", "é", "Ä", "漢", "٣", " "];
        let mut random = Random(7);
        for _ in 0..20_000 {
            let text: String = (0..6).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let word = text.trim_start_matches(|c: char| !c.is_alphanumeric());
            assert_eq!(part_end(word), part_end_in_any_script(word), "{word}");
            let by_character: Vec<&str> = text.split(|c| !is_in_token(c)).filter(|token| !token.is_empty()).collect();
            assert_eq!(tokens(&text).collect::<Vec<_>>(), by_character, "{text}");
            for (token, may_be_compound) in shaped_tokens(&text) {
                let is_number = !token.contains(char::is_alphabetic);
                let is_whole = is_number || parts(token).all(|part| part == token.trim_matches('_'));
                assert!(may_be_compound || is_whole, "{token}");
            }
        }
    }

    /// Who changes what these give raises `SPLITTER`, and puts here what it is then.
    #[test]
    fn the_splitter_is_the_one_that_its_number_says() {
        let mut text =
            String::from("getUserById HTTPServer2_foo-bar __init__ ÄpfelBaum straßeNAME 漢字Kana x2y Ünï_cödé");
        let mut random = Random(11);
        let alphabet: Vec<char> = "aZbQ_ 7-9éÄßß漢字かカ한글ไทย٣ǅİ\n".chars().collect();
        text.extend((0..4_000).map(|_| alphabet[random.below(alphabet.len())]));
        let Terms { words, names } = Terms::of(&text, text.split_whitespace().step_by(3));
        let given = words + &names;
        let sum = blake3::hash(given.as_bytes()).to_hex();
        assert_eq!((SPLITTER, &sum[..16]), (3, "f805ad30d5644717"));
    }

    #[test]
    fn a_name_stands_once_with_its_parts() {
        let names = ["getUser", "plain", "getUser", "two\nlines", "_x", "__"];
        let names = Terms::of("", names.into_iter()).names;
        assert_eq!(names, "getUser\tget user\nplain\ntwo lines\ttwo lines\n_x\tx\n__");
    }

    #[test]
    fn only_compound_identifiers_give_words_and_each_once() {
        assert_eq!(compound_parts("get_user(getUser, set_user) x"), "get user set");
        assert_eq!(compound_parts("plain words only"), "");
        assert_eq!(compound_parts("Plain WORDS 12 __x x2 Ab9 été Äb"), "ab ete");
        assert_eq!(compound_parts("привет Größe cafe\u{301}s 図書館の本"), "grosse cafes 図書 書館 館の の本 本");
        assert_eq!(tokens("a_b.c-dé éa(x)").collect::<Vec<_>>(), ["a_b", "c", "dé", "éa", "x"]);
    }

    /// The index says of a chunk that it has a word, not how often.
    #[test]
    fn what_a_chunk_is_found_by_stands_nowhere_twice() {
        let text = "get_user(USER_NAME, Get, fetchUserName) name Fetch";
        let terms = Terms::of(text, ["get_user", "get_name", "get_user", "_x"].into_iter());
        assert_eq!(terms.names, "get_user\tget user\nget_name\tname\n_x\tx");
        assert_eq!(terms.words, "");
        assert_eq!(Terms::of(text, ["get_user"].into_iter()).words, "");
        assert_eq!(compound_parts("user_name getUserId user"), "name get id");
    }

    #[test]
    fn every_part_of_a_compound_is_found() {
        let alphabet: Vec<char> = "abAB_ 7é漢\n".chars().collect();
        let mut random = Random(5);
        for _ in 0..5_000 {
            let text: String = (0..40).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let names: Vec<&str> = tokens(&text).step_by(2).collect();
            let terms = Terms::of(&text, names.iter().copied());
            let lower = |text: &str| tokens(text).map(str::to_lowercase).collect::<HashSet<String>>();
            let by_name = lower(&terms.names);
            let found: HashSet<String> =
                [&lower(&text), &lower(&terms.words), &by_name].into_iter().flatten().cloned().collect();
            // A number is found whole.
            let is_compound = |token: &&str| token.is_ascii() && token.contains(char::is_alphabetic);
            for token in tokens(&text).filter(is_compound) {
                let is_found = |part: &str| part.len() < 2 || found.contains(&part.to_lowercase());
                assert!(parts(token).all(is_found), "{token} of {text:?} by {terms:?}");
            }
            for name in names {
                assert!(parts(name).all(|part| by_name.contains(&part.to_lowercase())), "{name} by {terms:?}");
            }
        }
    }
}
