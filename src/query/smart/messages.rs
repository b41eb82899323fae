//! Messages of programs as queries: an error, a warning or a line of a log.
//!
//! Owns how a message is recognized, and which of its tokens are values: numbers, ids, paths and quoted text. The code
//! that prints a message has a format instead of the values, so they count less than the words around them.

use super::filters;
use crate::words;

/// Fewer words are more likely a search for a name.
const LEAST_WORDS: usize = 4;
/// The fewest hexadecimal digits of an id; some of them must be decimal.
const LEAST_ID: usize = 6;

/// Texts that only messages contain.
const CERTAIN: &[&str] = &[
    "error:",
    "error (",
    "error]",
    "warning:",
    "warning]",
    "fatal:",
    "panic:",
    "panicked at",
    "traceback (",
    "exception:",
    "caused by:",
    "errno ",
];
/// Texts that messages often contain.
const LIKELY: &[&str] = &[
    "must be ",
    "must not ",
    "must have ",
    "cannot ",
    "can't ",
    "can not ",
    "could not ",
    "couldn't ",
    "not found",
    "not supported",
    "not support ",
    "does not ",
    "doesn't ",
    "did not ",
    "is not ",
    "are not ",
    "was not ",
    "not registered",
    "not permitted",
    "not allowed",
    "unexpected ",
    "unknown ",
    "unrecognized ",
    "invalid ",
    "failed ",
    "failure",
    "unable to ",
    "expected ",
    "already ",
    "no such ",
    "no match",
    "disallowed",
    "too many ",
    "too long",
    "too large",
    "missing ",
    "only be ",
    "out of range",
    "denied",
    "has no ",
    "has been ",
    "incorrect",
    "exceeded",
    "maximum ",
    "did you ",
    "probably ",
    "is empty",
    "no longer ",
    "timed out",
    "refused",
];
/// The first words of requests to change something, which are about a message at most.
const REQUESTS: &[&str] = &[
    "add",
    "allow",
    "avoid",
    "bump",
    "change",
    "check",
    "clean",
    "convert",
    "correct",
    "create",
    "deprecate",
    "disable",
    "document",
    "drop",
    "enable",
    "ensure",
    "extend",
    "extract",
    "find",
    "fix",
    "fixed",
    "fixes",
    "handle",
    "how",
    "implement",
    "improve",
    "improved",
    "increase",
    "introduce",
    "make",
    "merge",
    "move",
    "optimize",
    "prevent",
    "raise",
    "reduce",
    "refactor",
    "remove",
    "rename",
    "replace",
    "report",
    "return",
    "revert",
    "rewrite",
    "show",
    "simplify",
    "skip",
    "support",
    "switch",
    "test",
    "throw",
    "update",
    "use",
    "warn",
    "what",
    "when",
    "where",
    "which",
    "why",
];

/// Whether a text is a message of a program.
pub(super) fn is_message(text: &str, words: usize) -> bool {
    if words < LEAST_WORDS {
        return false;
    }
    let text = text.trim();
    let lower = text.to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    if REQUESTS.contains(&first) {
        return false;
    }
    if CERTAIN.iter().any(|mark| lower.contains(mark)) || filters::is_logged(text, words) || names_an_exception(text) {
        return true;
    }
    // Many begin with a lowercase letter, as searches do: these have a value, or begin with what makes a message likely.
    let has_value = || !values(text).is_empty() || words::tokens(text).any(is_value);
    let is_likely = LIKELY.iter().any(|mark| lower.contains(mark));
    let begins = LIKELY.iter().any(|mark| lower.starts_with(mark));
    !text.ends_with('?') && is_likely && (begins || !text.starts_with(char::is_lowercase) || has_value())
}

/// Whether a text begins with the type of an exception and a colon: `java.io.IOException: …`.
fn names_an_exception(text: &str) -> bool {
    let Some((name, _)) = text.split_once(':') else { return false };
    let is_type = name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_');
    is_type && ["Error", "Exception", "Failure", "Warning"].iter().any(|ending| name.ends_with(ending))
}

/// Whether a token of a message is a value of its own: a number, or an id.
pub(super) fn is_value(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let is_id = || token.len() >= LEAST_ID && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits > 0 && (digits == token.len() || is_id())
}

/// The parts of a message that are values: what is quoted, and paths.
pub(super) fn values(text: &str) -> Vec<&str> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at(at);
        let mark = &quoted[..1];
        let inner = &quoted[1..];
        // In `can't` it is an apostrophe.
        let opens = !before.ends_with(char::is_alphanumeric);
        match inner.find(mark).filter(|_| opens) {
            Some(end) => {
                values.push(&inner[..end]);
                rest = &inner[end + 1..];
            }
            None => rest = inner,
        }
    }
    let is_path = |word: &&str| word.matches('/').count() > 1 || word.contains("://") || word.contains(":\\");
    values.extend(text.split_whitespace().filter(is_path));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(text: &str) -> bool {
        is_message(text, text.split_whitespace().count())
    }

    #[test]
    fn a_message_is_distinguished_from_a_request_and_from_a_search() {
        for text in [
            "ValueError: invalid literal for int() with base 10: 'x'",
            "java.net.ProtocolException: Too many follow-up requests: 21",
            "jq: error (at <stdin>:1): Cannot iterate over null (null)",
            "2024-05-01 12:00:00 could not connect",
            "The \"--force\" option does not accept a value.",
            "failed to finalize snapshot: foxglove",
            "parent 'orrery' does not exist",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "Fix error handling: the file is not found",
            "where is a message about an invalid token raised",
            "make sure the same command does not run twice",
            "Error: gone",
            "Expected values of the parser?",
        ] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn what_is_quoted_and_paths_and_numbers_are_values() {
        assert_eq!(values("can't open '/etc/x': key \"a b\" of `c`"), ["/etc/x", "a b", "c", "'/etc/x':"]);
        assert_eq!(values("at https://example.com/a line"), ["https://example.com/a"]);
        for (token, expected) in [("42", true), ("deadbeef01", true), ("x86", false), ("decade", false), ("", false)] {
            assert_eq!(is_value(token), expected, "{token}");
        }
    }
}
