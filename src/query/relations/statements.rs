//! The text of statements: brackets, lists in them, and lines around a name.
//!
//! Owns what is read without knowing the language. `expressions` and `bindings` own what it says.

use std::borrow::Cow;

use super::opened::Text;

/// Lines of one statement.
pub(super) const LINES: u32 = 12;

/// Where the bracket opens that a text ends with.
pub(super) fn opening(text: &str, (open, close): (char, char)) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        if c == close {
            depth += 1;
        } else if depth == 0 {
            return None;
        } else if c == open {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// One part of a tuple that is written.
pub(super) fn part(text: &str, index: usize) -> Option<&str> {
    let text = text.trim();
    let end = text.starts_with('(').then(|| closing(text, ('(', ')'))).flatten()?;
    let inner = (end + 1 == text.len()).then(|| &text[1..end]).filter(|inner| split(inner).nth(1).is_some())?;
    split(inner).nth(index).map(str::trim)
}

/// Splits a list at the commas that no bracket holds.
pub(super) fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_usize;
        let mut end = None;
        for (at, c) in text.char_indices() {
            match c {
                '(' | '[' | '<' | '{' => depth += 1,
                '>' if text[..at].ends_with(['-', '=']) => {}
                ')' | ']' | '>' | '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let part = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| &text[end + 1..]);
        Some(part)
    })
}

/// Where the bracket closes that a text begins with.
pub(super) fn closing(text: &str, (open, close): (char, char)) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(close == '>' && text[..at].ends_with(['-', '='])) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The rest of a line with the lines that follow it, without comments.
pub(super) fn following(text: &Text, line: u32, rest: &str) -> String {
    let mut whole = code(rest).trim_end().to_owned();
    for number in line + 1..=line + LINES {
        let further = code(text.line(number));
        let further = further.trim();
        if !further.starts_with(['.', '?']) {
            whole.push(' ');
        }
        whole.push_str(further);
    }
    whole
}

/// The text of a line up to a place, with the lines before it from the one that is indented less.
pub(super) fn preceding(text: &Text, line: u32, before: &str) -> String {
    let own = indentation(text.line(line));
    let mut whole = before.trim().to_owned();
    for number in (line.saturating_sub(LINES).max(1)..line).rev() {
        let further = text.line(number);
        whole = format!("{} {whole}", code(further).trim());
        if indentation(further) < own && !further.trim().is_empty() {
            break;
        }
    }
    whole
}

/// The value that the `match` or `switch` around an arm takes apart, and its line.
pub(super) fn matched<'t>(text: &'t Text, line: u32, keyword: &str) -> Option<(&'t str, u32)> {
    let own = indentation(text.line(line));
    let is_around = |number: &u32| indentation(text.line(*number)) < own && !text.line(*number).trim().is_empty();
    let number = (1..line).rev().find(is_around)?;
    let head = text.line(number).trim_end().strip_suffix('{')?;
    head.rsplit_once(keyword).map(|(_, value)| (value.trim(), number))
}

/// A line without its comment, and with nothing in its strings that reads like code.
pub(super) fn code(line: &str) -> Cow<'_, str> {
    if !line.contains(['"', '\'']) {
        return Cow::Borrowed(line.split("//").next().unwrap_or(line));
    }
    let mut found = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match quote {
            Some(_) if c == '\\' => {
                found.push('_');
                if rest.next().is_some() {
                    found.push('_');
                }
            }
            Some(own) if c == own => {
                quote = None;
                found.push(c);
            }
            Some(_) => found.extend(std::iter::repeat_n('_', c.len_utf8())),
            None => {
                if c == '/' && rest.peek() == Some(&'/') {
                    break;
                }
                // A lifetime has no second quote.
                let is_character = || {
                    let mut ahead = rest.clone();
                    let first = ahead.next();
                    first == Some('\\') || ahead.next() == Some('\'')
                };
                if c == '"' || (c == '\'' && is_character()) {
                    quote = Some(c);
                }
                found.push(c);
            }
        }
    }
    Cow::Owned(found)
}

pub(super) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        for (line, expected) in [
            (r#"f("a) // b", '(', x) // c"#, r#"f("_______", '_', x) "#),
            (r#"let a: &'a str = "\"(";"#, r#"let a: &'a str = "___";"#),
            ("a + b // c", "a + b "),
        ] {
            assert_eq!(code(line), expected);
        }
        assert_eq!(part("(a.b(1, 2), c)", 1), Some("c"));
        assert_eq!(part("(a).b(c)", 0), None);
    }
}
