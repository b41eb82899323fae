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

/// Runs of letters, digits and `_` in `text`: what the FTS takes as one token.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_in_token)?;
        let after = &rest[start..];
        // Most text is ASCII, and a table decides faster than Unicode does.
        let ascii = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let end = match after.as_bytes().get(ascii) {
            Some(byte) if !byte.is_ascii() => after.find(|c| !is_in_token(c)).unwrap_or(after.len()),
            _ => ascii,
        };
        let (token, tail) = after.split_at(end);
        rest = tail;
        Some(token)
    })
}

fn is_in_token(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() }
}

/// Whether a token can have more than one part: most are plain words, and need no more thought.
pub fn may_be_compound(token: &str) -> bool {
    let bytes = token.as_bytes();
    !token.is_ascii()
        || bytes.windows(2).any(|pair| {
            let lower_then_other = pair[0].is_ascii_lowercase() && !pair[1].is_ascii_lowercase();
            let other_then_letter = !pair[0].is_ascii_alphabetic() && pair[1].is_ascii_alphabetic();
            let upper_then_other = pair[0].is_ascii_uppercase() && !pair[1].is_ascii_uppercase();
            lower_then_other || other_then_letter || upper_then_other
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
    fn only_compound_identifiers_give_words_and_each_once() {
        assert_eq!(compound_parts("get_user(getUser, user) x"), "get user");
        assert_eq!(compound_parts("plain words only"), "");
        assert_eq!(compound_parts("Plain WORDS 12 __x x2 Ab9 été Äb"), "ab");
        assert_eq!(tokens("a_b.c-dé éa(x)").collect::<Vec<_>>(), ["a_b", "c", "dé", "éa", "x"]);
    }
}
