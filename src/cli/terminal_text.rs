//! Text that is safe for a terminal: nothing in it controls the terminal or hides.
//!
//! Owns the escaping, and the escape sequences of this program, the only ones that pass: `paint` writes them with a
//! mark that no other text can contain, because it is random in each process. Does not own which sequences there are.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;

use crate::model::is_hidden;
use crate::platform::random::secret;

const ESCAPE: char = '\u{1b}';

/// Precedes what follows `ESCAPE` in a sequence of this program.
static MARK: LazyLock<Option<String>> = LazyLock::new(|| secret().ok().map(|secret| format!("{ESCAPE}{secret}")));

/// An escape sequence of this program, in a text for [`line()`]; nothing if the system has no random bytes.
pub(super) fn sequence(body: &str) -> String {
    MARK.as_ref().map_or_else(String::new, |mark| format!("{mark}{body}"))
}

/// A text of commands, with the sequences that [`sequence`] has put in it.
pub(super) fn line(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return if is_terminal { verbatim(text) } else { text.into() };
    }
    let Some(mark) = &*MARK else { return verbatim(text) };
    let parts = text.split(mark.as_str()).map(|part| if is_terminal { verbatim(part) } else { part.into() });
    let parts: Vec<Cow<str>> = parts.collect();
    parts.join("\u{1b}").into()
}

/// The text of a file for a terminal. Line breaks and tabs stay.
pub(super) fn verbatim(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false, push_escape)
}

/// JSON for a terminal: the same value, with escapes in its strings.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |_| false,
        |shown, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // A string takes every write.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        },
    )
}

/// A line of the log for a terminal. Its colors stay: the log has escaped what is in its values.
pub(super) fn log(text: &str) -> Cow<'_, str> {
    let is_color = |rest: &str| {
        let end = rest.strip_prefix("\u{1b}[").and_then(|codes| codes.split_once('m'));
        end.is_some_and(|(codes, _)| codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
    };
    escaped(text, is_color, push_escape)
}

fn push_escape(shown: &mut String, c: char) {
    shown.extend(c.escape_unicode());
}

/// Escapes hidden characters, except where `stays` holds for the rest of the text.
fn escaped(text: &str, stays: impl Fn(&str) -> bool, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let is_layout = |at: usize, c: char| matches!(c, '\n' | '\t') || text[at..].starts_with("\r\n");
    let is_escaped = |&(at, c): &(usize, char)| {
        is_hidden(c) && !is_layout(at, c) && !joins_letters(text, at, c) && !stays(&text[at..])
    };
    if !text.char_indices().any(|found| is_escaped(&found)) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for found in text.char_indices() {
        if is_escaped(&found) { escape(&mut shown, found.1) } else { shown.push(found.1) }
    }
    shown.into()
}

/// Whether a character joins or separates two letters of a script in which that is spelling, such as Persian or Hindi (The Unicode
/// Standard 16, 23.2).
fn joins_letters(text: &str, at: usize, c: char) -> bool {
    let is_letter = |c: char| {
        // From Arabic to Mongolian, and the later blocks of such scripts.
        matches!(c, '\u{600}'..='\u{1aff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}')
            && (c.is_alphanumeric() || is_combining_mark(c))
    };
    let (before, behind) = (&text[..at], &text[at + c.len_utf8()..]);
    matches!(c, '\u{200c}' | '\u{200d}')
        && before.chars().next_back().is_some_and(is_letter)
        && behind.chars().next().is_some_and(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[31mb\u{7}\u{9b}1m\u{202e}c\r\nd\te\rf\u{e0041}";

    #[test]
    fn a_terminal_is_shown_what_would_control_it() {
        let shown = "a\\u{1b}[31mb\\u{7}\\u{9b}1m\\u{202e}c\r\nd\te\\u{d}f\\u{e0041}";
        assert_eq!(verbatim(HOSTILE), shown);
        assert_eq!(line(HOSTILE, true), shown);
        assert_eq!(line(HOSTILE, false), HOSTILE, "a pipe is given the text");
    }

    /// The words of The Unicode Standard 16, 23.2 (Persian), and 12.1 (Devanagari, Malayalam).
    #[test]
    fn joiners_in_words_stay_as_they_are() {
        for word in ["می\u{200c}خواهم", "क्\u{200d}ष", "क्\u{200c}ष", "ന്\u{200d}റ"] {
            assert_eq!(verbatim(word), word);
        }
        for (text, shown) in [
            ("pay\u{200c}pal", "pay\\u{200c}pal"),
            ("می\u{200c}", "می\\u{200c}"),
            ("م\u{202e}ی", "م\\u{202e}ی"),
            ("م\u{200c}\u{200c}ی", "م\\u{200c}\\u{200c}ی"),
        ] {
            assert_eq!(verbatim(text), shown);
        }
    }

    #[test]
    fn only_sequences_of_this_program_pass() {
        let painted = format!("{}x\u{1b}[5m{}", sequence("[35m"), sequence("[0m"));
        assert_eq!(line(&painted, true), "\u{1b}[35mx\\u{1b}[5m\u{1b}[0m");
        assert_eq!(line(&painted, false), "\u{1b}[35mx\u{1b}[5m\u{1b}[0m");
        assert_eq!(log("\u{1b}[2mx\u{1b}]0;t\u{7}"), "\u{1b}[2mx\\u{1b}]0;t\\u{7}");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "text": HOSTILE });
        let text = value.to_string();
        let shown = json(&text);
        assert!(!shown.contains(is_hidden), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
