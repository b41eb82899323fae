//! Splitting identifiers into words, for the index and for queries.
//!
//! Owns the splitter that both sides share, the stemmer, and the alphabet of trigrams. Does not own tokenization, which
//! SQLite does.

pub mod definitions;
mod scripts;
pub mod search_words;
mod stem;
pub mod trigrams;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use foldhash::fast::RandomState;
use unicode_normalization::char::is_combining_mark;

pub use scripts::{has_unspaced, is_letter, pieces, plain};
pub use stem::{other_numbers, stem, token_stem};

/// Incremented when the same text or name would yield different words. The FTS index is rebuilt then.
pub const SPLITTER: u32 = 4;

/// The words of an identifier or text as slices: `HTTPServer2_foo-bar` yields HTTP, Server, 2, foo, bar.
pub fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    std::iter::from_fn(move || {
        let punctuation =
            rest.bytes().take_while(|&byte| matches!(CLASS[usize::from(byte)], Class::Other | Class::Joiner));
        rest = &rest[punctuation.count()..];
        if rest.bytes().next().is_some_and(|byte| !byte.is_ascii()) {
            rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        }
        let end = part_end(rest)?;
        let (part, tail) = rest.split_at(end);
        rest = tail;
        Some(part)
    })
}

/// Shows where each of the [`parts`] of an ASCII text begins and ends.
pub fn each_ascii_part(text: &str, mut visit: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let class = |at: usize| CLASS[usize::from(bytes[at])];
    let run_end = |from: usize, of: Class| {
        let run = bytes[from..].iter().position(|byte| CLASS[usize::from(*byte)] != of);
        run.map_or(bytes.len(), |length| from + length)
    };
    let mut end = 0;
    loop {
        let rest =
            bytes[end..].iter().position(|byte| !matches!(CLASS[usize::from(*byte)], Class::Other | Class::Joiner));
        let Some(separators) = rest else { return };
        let mut start = end + separators;
        let first = class(start);
        end = run_end(start + 1, first);
        // A lowercase letter belongs to the last uppercase one before it.
        if first == Class::Upper && end < bytes.len() && class(end) == Class::Lower {
            if end - start > 1 {
                visit(start, end - 1);
                start = end - 1;
            }
            end = run_end(end, Class::Lower);
        }
        visit(start, end);
    }
}

/// The end of the first word of `text`. Words end at a separator, before an uppercase letter after a lowercase one,
/// between letters and digits, and before the last uppercase letter of a run that a lowercase letter follows.
fn part_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut before = CLASS[usize::from(*bytes.first()?)];
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        let class = CLASS[usize::from(*byte)];
        match BOUNDARY[before as usize][class as usize] {
            Boundary::No => {}
            Boundary::Yes => return Some(at),
            Boundary::BeforeLower => match bytes.get(at + 1).map(|&after| CLASS[usize::from(after)]) {
                Some(Class::Lower) => return Some(at),
                Some(Class::Foreign) => return part_end_in_any_script(text),
                _ => {}
            },
            Boundary::Unknown => return part_end_in_any_script(text),
        }
        before = class;
    }
    Some(text.len())
}

/// Whether a word ends between two bytes.
#[derive(Clone, Copy)]
enum Boundary {
    No,
    Yes,
    /// Only if a lowercase letter follows.
    BeforeLower,
    /// Not decidable for ASCII alone.
    Unknown,
}

/// Indexed by the classes of the two bytes, in the order of [`Class`].
static BOUNDARY: [[Boundary; 6]; 6] = {
    use Boundary::{BeforeLower, No, Unknown, Yes};
    [
        [Yes, No, No, Yes, Yes, Unknown],
        [Yes, No, Yes, Yes, Yes, Unknown],
        [Yes, No, BeforeLower, Yes, Yes, Unknown],
        [Yes, Yes, Yes, No, Yes, Unknown],
        [Yes, No, No, Yes, Yes, Unknown],
        [Unknown; 6],
    ]
};

/// Like [`part_end`], by Unicode properties.
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

/// The class of a byte in an identifier. Most text is ASCII, for which a table is faster than Unicode properties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Lower,
    Upper,
    Digit,
    /// `_`: part of a token, but separates words.
    Joiner,
    /// Part of a non-ASCII character.
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

/// Runs of letters (with combining marks), digits and `_` in `text`. These are the tokens of the FTS, except for
/// combining marks in some scripts.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    shaped_tokens(text).map(|(token, _)| token)
}

/// The tokens, each with whether it may be compound. Most tokens are plain words, which need no splitting.
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

/// The shape of a token so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Empty,
    /// `word`, `Word`
    Lower,
    UpperFirst,
    Uppercase,
    /// Digits and `_`.
    Number,
    /// Anything else, which may have several parts.
    Compound,
}

/// Indexed by shape and by the class of the next byte.
static AFTER: [[Shape; 6]; 6] = {
    let mut after = [[Shape::Compound; 6]; 6];
    after[Shape::Empty as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::Empty as usize][Class::Upper as usize] = Shape::UpperFirst;
    after[Shape::Empty as usize][Class::Digit as usize] = Shape::Number;
    after[Shape::Empty as usize][Class::Joiner as usize] = Shape::Number;
    after[Shape::Lower as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::UpperFirst as usize][Class::Lower as usize] = Shape::Lower;
    after[Shape::UpperFirst as usize][Class::Upper as usize] = Shape::Uppercase;
    after[Shape::Uppercase as usize][Class::Upper as usize] = Shape::Uppercase;
    after[Shape::Number as usize][Class::Digit as usize] = Shape::Number;
    after[Shape::Number as usize][Class::Joiner as usize] = Shape::Number;
    after
};

fn is_in_token(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric() || c == '_',
        // These ranges contain only letters and cover most non-ASCII text; the Unicode tables are slower.
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ɏ' | 'Ѐ'..='ҁ' | '一'..='鿿' => true,
        _ => c.is_alphanumeric() || is_combining_mark(c),
    }
}

/// The terms of a chunk in addition to its tokens: lowercase, without duplicates, in order of appearance.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The parts of compound identifiers in the text, and the pieces of non-ASCII tokens, except those that are tokens
    /// of the text themselves or occur in `names`: the index records whether a chunk has a word, not how often.
    pub words: String,
    /// One line per name: the name, then, if it has parts that no earlier name has, a tab and these parts.
    pub names: String,
}

impl Terms {
    /// The terms of a text and of the names that begin in it.
    pub fn extract<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Self {
        let mut known: HashSet<String, RandomState> = HashSet::default();
        let names = lines_of(names, |part| known.insert(part.to_owned()));
        Self { words: unknown_parts(text, known), names }
    }
}

/// The words of [`Terms`] for a text without definitions.
pub fn compound_parts(text: &str) -> String {
    unknown_parts(text, HashSet::default())
}

/// Whether a character only says where a word may be divided: a soft hyphen or a zero-width space.
fn is_division(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}')
}

/// The parts of a text's compound tokens that are neither known nor tokens themselves, and words that may be divided, undivided.
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
    if !text.is_ascii() {
        for word in text.split_whitespace().filter(|word| word.contains(is_division)) {
            tokens(&word.replace(is_division, "")).for_each(|token| add(&token.to_lowercase()));
        }
    }
    let mut lower = String::new();
    for token in in_order {
        // A token with a single part is already indexed as itself.
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

/// An ASCII token, compared without regard to case.
#[derive(Eq)]
struct Plain<'t>(&'t str);

impl PartialEq for Plain<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Hash for Plain<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // Digits and `_` differ from letters in other bits too; `eq` decides in case of a collision.
        self.0.as_bytes().chunks(8).for_each(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hasher.write_u64(u64::from_le_bytes(word) | 0x2020_2020_2020_2020);
        });
    }
}

/// One line per distinct name: the name, then, if it has several parts, a tab and those in lowercase for which
/// `is_wanted` returns true.
fn lines_of<'n>(names: impl Iterator<Item = &'n str>, mut is_wanted: impl FnMut(&str) -> bool) -> String {
    let mut seen: HashSet<&str, RandomState> = HashSet::default();
    let mut lines = String::new();
    for name in names.filter(|name| seen.insert(name)) {
        if !lines.is_empty() {
            lines.push('\n');
        }
        // A name with line breaks would be read as several names.
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
    use crate::random_texts::Random;

    #[test]
    fn token_characters_match_unicode() {
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

    #[test]
    fn parts_of_ascii_texts_are_the_same_by_both_functions() {
        let alphabet = ["a", "Z", "q", "B", "7", "_", "-", " ", "\n", "XY"];
        let mut random = Random(3);
        for _ in 0..20_000 {
            let text: String = (0..random.below(9)).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let mut found = Vec::new();
            each_ascii_part(&text, |start, end| found.push(&text[start..end]));
            assert_eq!(found, parts(&text).collect::<Vec<_>>(), "{text:?}");
        }
    }

    /// The ASCII tables and the Unicode implementation agree.
    #[test]
    fn words_end_at_the_same_offsets_in_any_script() {
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

    /// If this fails because of an intended change, increment `SPLITTER` and update the hash.
    #[test]
    fn the_splitter_matches_its_version() {
        let mut text =
            String::from("getUserById HTTPServer2_foo-bar __init__ ÄpfelBaum straßeNAME 漢字Kana x2y Ünï_cödé");
        let mut random = Random(11);
        let alphabet: Vec<char> = "aZbQ_ 7-9éÄßß漢字かカ한글ไทย٣ǅİ\n".chars().collect();
        text.extend((0..4_000).map(|_| alphabet[random.below(alphabet.len())]));
        let Terms { words, names } = Terms::extract(&text, text.split_whitespace().step_by(3));
        let given = words + &names;
        let sum = blake3::hash(given.as_bytes()).to_hex();
        assert_eq!((SPLITTER, &sum[..16]), (4, "f805ad30d5644717"));
    }

    #[test]
    fn each_name_is_listed_once_with_its_parts() {
        let names = ["getUser", "plain", "getUser", "two\nlines", "_x", "__"];
        let names = Terms::extract("", names.into_iter()).names;
        assert_eq!(names, "getUser\tget user\nplain\ntwo lines\ttwo lines\n_x\tx\n__");
    }

    #[test]
    fn only_compound_identifiers_yield_words() {
        assert_eq!(compound_parts("get_user(getUser, set_user) x"), "get user set");
        assert_eq!(compound_parts("plain words only"), "");
        assert_eq!(compound_parts("Plain WORDS 12 __x x2 Ab9 été Äb"), "ab ete");
        assert_eq!(compound_parts("so\u{ad}ft zero\u{200b}width (get\u{ad}User-a) soft"), "zerowidth getuser");
        assert_eq!(compound_parts("привет Größe cafe\u{301}s 図書館の本"), "grosse cafes 図書 書館 館の の本 本");
        assert_eq!(tokens("a_b.c-dé éa(x)").collect::<Vec<_>>(), ["a_b", "c", "dé", "éa", "x"]);
    }

    /// The index records whether a chunk has a word, not how often.
    #[test]
    fn terms_contain_no_duplicates() {
        let text = "get_user(USER_NAME, Get, fetchUserName) name Fetch";
        let terms = Terms::extract(text, ["get_user", "get_name", "get_user", "_x"].into_iter());
        assert_eq!(terms.names, "get_user\tget user\nget_name\tname\n_x\tx");
        assert_eq!(terms.words, "");
        assert_eq!(Terms::extract(text, ["get_user"].into_iter()).words, "");
        assert_eq!(compound_parts("user_name getUserId user"), "name get id");
    }

    #[test]
    fn every_part_of_a_compound_is_found() {
        let alphabet: Vec<char> = "abAB_ 7é漢\n".chars().collect();
        let mut random = Random(5);
        for _ in 0..5_000 {
            let text: String = (0..40).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let names: Vec<&str> = tokens(&text).step_by(2).collect();
            let terms = Terms::extract(&text, names.iter().copied());
            let lower = |text: &str| tokens(text).map(str::to_lowercase).collect::<HashSet<String>>();
            let by_name = lower(&terms.names);
            let found: HashSet<String> =
                [&lower(&text), &lower(&terms.words), &by_name].into_iter().flatten().cloned().collect();
            // Numbers are only found as a whole.
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
