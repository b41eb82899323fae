//! Splitting of identifiers into words: what the index stores beside a text, and how a question is read.
//!
//! Owns the one splitter that both sides use, the stems of words, and what letters a trigram has. Does not own tokens: those
//! are SQLite's.

mod stem;
pub mod trigrams;

use std::collections::HashSet;

pub use stem::stem;

/// The words of an identifier: `HTTPServer2_foo-bar` is http, server, 2, foo, bar (as slices, case kept).
pub fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
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
        let turns = match (before, class) {
            (_, Class::Foreign) | (Class::Foreign, _) => return part_end_in_any_script(text),
            (_, Class::Other | Class::Joiner) | (Class::Lower, Class::Upper) => true,
            (Class::Upper, Class::Upper) => match bytes.get(at + 1).map(|&after| CLASS[usize::from(after)]) {
                Some(Class::Foreign) => return part_end_in_any_script(text),
                after => after == Some(Class::Lower),
            },
            _ => (before == Class::Digit) != (class == Class::Digit),
        };
        if turns {
            return Some(at);
        }
        before = class;
    }
    Some(text.len())
}

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

/// Runs of letters, digits and `_` in `text`: what the FTS takes as one token.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = until(rest, |class| class == Class::Other, is_in_token);
        let after = rest.get(start..).filter(|after| !after.is_empty())?;
        let end = until(after, |class| class != Class::Other, |c| !is_in_token(c));
        let (token, tail) = after.split_at(end);
        rest = tail;
        Some(token)
    })
}

/// How long the run of bytes of such a class is, and where that meets another script, the run up to such a character.
fn until(text: &str, is_in: impl Fn(Class) -> bool, ends: impl Fn(char) -> bool) -> usize {
    let class = |byte: &u8| CLASS[usize::from(*byte)];
    let run = text.as_bytes().iter().take_while(|byte| class(byte) != Class::Foreign && is_in(class(byte))).count();
    match text.as_bytes().get(run) {
        Some(byte) if class(byte) == Class::Foreign => text[run..].find(ends).map_or(text.len(), |at| run + at),
        _ => run,
    }
}

fn is_in_token(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() }
}

/// Whether a token can have more than one part: most are plain words, and need no more thought.
pub fn may_be_compound(token: &str) -> bool {
    let mut before = None;
    token.bytes().enumerate().any(|(at, byte)| {
        let class = CLASS[usize::from(byte)];
        match (before.replace(class), class) {
            (_, Class::Foreign) => true,
            (Some(Class::Upper), Class::Lower) => at > 1,
            (Some(Class::Lower), _) => class != Class::Lower,
            (Some(Class::Upper), _) => class != Class::Upper,
            (Some(_), Class::Lower | Class::Upper) => true,
            _ => false,
        }
    })
}

/// The lower-cased parts of all compound identifiers in `text`, each once, in order of appearance.
pub fn compound_parts(text: &str) -> String {
    let mut seen_tokens: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut words = String::new();
    for token in tokens(text).filter(|token| may_be_compound(token)) {
        if !seen_tokens.insert(token) {
            continue;
        }
        let mut split = parts(token).peekable();
        // A token of one part is already found as itself.
        if split.peek().is_none_or(|first| first.len() == token.len()) {
            continue;
        }
        for part in split {
            let part = part.to_lowercase();
            if part.len() > 1 && !seen.contains(&part) {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(&part);
                seen.insert(part);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::measure::Random;

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
            for token in by_character {
                let is_number = !token.contains(char::is_alphabetic);
                let is_whole = is_number || parts(token).all(|part| part == token.trim_matches('_'));
                assert!(may_be_compound(token) || is_whole, "{token}");
            }
        }
    }

    #[test]
    fn only_compound_identifiers_give_words_and_each_once() {
        assert_eq!(compound_parts("get_user(getUser, user) x"), "get user");
        assert_eq!(compound_parts("plain words only"), "");
        assert_eq!(compound_parts("Plain WORDS 12 __x x2 Ab9 été Äb"), "ab");
        assert_eq!(tokens("a_b.c-dé éa(x)").collect::<Vec<_>>(), ["a_b", "c", "dé", "éa", "x"]);
    }
}
