//! Inline markup of reStructuredText: the text of a title as docutils shows it.
//!
//! Owns where such markup begins and ends (docutils' “Inline markup recognition rules”), and the names that a file defines for it.
//! Does not own where titles are (`restructuredtext`).

use std::collections::{HashMap, HashSet};

/// A longer title is shown as it is: looking for the ends of its markup takes the square of its length.
const MAX_TITLE_BYTES: usize = 2000;

/// Names that a file defines for its inline markup.
#[derive(Default)]
pub(super) struct Definitions<'t> {
    /// Substitutions; those without a text are pictures and the like, which are shown by their names.
    substitutions: HashMap<&'t str, Option<&'t str>>,
    /// Names of targets in lowercase.
    targets: HashSet<String>,
}

impl<'t> Definitions<'t> {
    pub fn add(&mut self, line: &'t str) {
        let Some(defined) = line.trim_start().strip_prefix(".. ") else { return };
        if let Some((name, directive)) = defined.strip_prefix('|').and_then(|rest| rest.split_once('|')) {
            self.substitutions.insert(name, directive.trim().strip_prefix("replace::").map(str::trim));
        } else if let Some((name, _)) = defined.strip_prefix('_').and_then(|rest| rest.split_once(':')) {
            self.targets.insert(name.trim_matches('`').to_lowercase());
        }
    }

    /// A title without its markup and without the numbers of its notes.
    pub fn shown(&self, title: &str) -> String {
        if title.len() > MAX_TITLE_BYTES {
            return title.trim().to_owned();
        }
        let mut shown = String::with_capacity(title.len());
        let mut at = 0;
        while let Some(c) = title[at..].chars().next() {
            let before = title[..at].chars().next_back();
            if c == '\\' {
                let escaped = title[at + 1..].chars().next();
                shown.extend(escaped.filter(|c| !c.is_whitespace()));
                at += 1 + escaped.map_or(0, char::len_utf8);
            } else if begins_markup(before)
                && let Some((text, length)) = self.markup(&title[at..], before)
            {
                if text.is_empty() {
                    shown.truncate(shown.trim_end().len());
                }
                shown.push_str(&text);
                at += length;
            } else {
                shown.push(c);
                at += c.len_utf8();
            }
        }
        shown.trim().to_owned()
    }

    /// The text of the markup that begins here, and the length of the markup.
    fn markup(&self, rest: &str, before: Option<char>) -> Option<(String, usize)> {
        if let Some((text, length)) = self.reference(rest) {
            return Some((text.to_owned(), length));
        }
        let role = role_before(rest);
        let behind = &rest[role..];
        let mark = ["**", "*", "``", "_`", "`", "|"].into_iter().find(|mark| behind.starts_with(mark))?;
        let inner = &behind[mark.len()..];
        let first = inner.chars().next().filter(|c| !c.is_whitespace())?;
        if (role > 0 && mark != "`") || before.is_some_and(|before| is_pair(before, first)) {
            return None;
        }
        let end_mark = if mark == "_`" { "`" } else { mark };
        let ends = inner.match_indices(end_mark).filter(|(at, _)| *at > 0);
        let (text, suffix, length) = ends.into_iter().find_map(|(at, _)| {
            let text = &inner[..at];
            let behind = &inner[at + end_mark.len()..];
            let suffix = match mark {
                "`" | "|" if behind.starts_with("__") => 2,
                "`" | "|" if behind.starts_with('_') => 1,
                "`" if role == 0 => role_before(behind),
                _ => 0,
            };
            let is_end = !text.ends_with(char::is_whitespace)
                && (mark == "``" || !text.ends_with('\\'))
                && ends_markup(behind[suffix..].chars().next());
            is_end.then_some((text, &behind[..suffix], role + mark.len() + at + end_mark.len() + suffix))
        })?;
        let text = match mark {
            "``" => text.to_owned(),
            "|" => match self.substitutions.get(text) {
                // A text may name another; two may name each other.
                Some(replaced) => replaced.map_or_else(|| text.to_owned(), |text| Self::default().shown(text)),
                None => rest[..length].to_owned(),
            },
            "`" if role > 0 || !suffix.is_empty() => title_of_link(text),
            _ => unescaped(text),
        };
        Some((text, length))
    }

    /// `[1]_`, which is a note, `[Knuth]_` and `name_`.
    fn reference<'r>(&self, rest: &'r str) -> Option<(&'r str, usize)> {
        if let Some((label, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("]_")) {
            let is_label = |c: char| c.is_alphanumeric() || "#*-_.".contains(c);
            let is_note = label.starts_with(['#', '*']) || label.bytes().all(|byte| byte.is_ascii_digit());
            let shown = if is_note { "" } else { label };
            let is_one = !label.is_empty() && label.chars().all(is_label) && ends_markup(behind.chars().next());
            return is_one.then_some((shown, rest.len() - behind.len()));
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"-._+:".contains(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches(['-', '.', '+', ':']);
        let name = word.strip_suffix("__").or_else(|| word.strip_suffix('_'))?;
        self.targets.contains(&name.to_lowercase()).then_some((name, word.len()))
    }
}

/// The length of a `:role:` at the beginning of a text.
fn role_before(text: &str) -> usize {
    let Some((role, _)) = text.strip_prefix(':').and_then(|rest| rest.split_once(':')) else { return 0 };
    // A role of a domain has a colon in it.
    let domain =
        text[role.len() + 2..].split_once(':').filter(|(name, _)| is_role(name)).map_or(0, |(name, _)| name.len() + 1);
    if is_role(role) { role.len() + 2 + domain } else { 0 }
}

fn is_role(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.+".contains(c))
}

/// `text <target>` is its text. Sphinx shows `~package.name` as the last name, and has `!` before what is not a link.
fn title_of_link(text: &str) -> String {
    let shown = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((title, _)) if title.ends_with(char::is_whitespace) => title.trim_end(),
        _ => text.strip_prefix('~').map_or(text, |text| text.rsplit('.').next().unwrap_or(text)),
    };
    unescaped(shown.strip_prefix('!').unwrap_or(shown))
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        if c == '\\' { plain.extend(chars.next().filter(|c| !c.is_whitespace())) } else { plain.push(c) }
    }
    plain
}

fn begins_markup(before: Option<char>) -> bool {
    before.is_none_or(|c| c.is_whitespace() || "-:/'\"<([{".contains(c) || is_punctuation(c))
}

fn ends_markup(behind: Option<char>) -> bool {
    behind.is_none_or(|c| c.is_whitespace() || "-.,:;!?/\\'\")]}>".contains(c) || is_punctuation(c))
}

/// Punctuation of other scripts, such as typographic quotes and dashes.
fn is_punctuation(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace()
}

/// Whether a sign is quoted or in parentheses, as in `(*)`, and begins nothing.
fn is_pair(before: char, first: char) -> bool {
    matches!((before, first), ('\'', '\'') | ('"', '"') | ('<', '>') | ('(', ')') | ('[', ']') | ('{', '}'))
}
