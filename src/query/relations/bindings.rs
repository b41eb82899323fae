//! The patterns of Rust around a name that they bind: `Some(x)`, `Shape::Dot { at: (x, _) }`, `|(key, x)|`.
//!
//! Owns reading them from the text around the name. Pure: `chains` asks what their paths and values refer to.

use super::statements::{opening, split};
use super::variables::is_part;

/// The place of a name in the pattern around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// `Some(x)`, `Ok(x)`, `Poll::Ready(x)`.
    Held,
    /// `Err(x)`.
    Error,
    /// The part of a tuple with that index.
    Part(usize),
    /// An element: `[x, ..]`.
    Element,
    /// The part of a variant or struct with that index: `Shape::Dot(x)`.
    Payload(Vec<String>, usize),
    /// A field of a variant or struct: `Dot { at: x }`.
    Field(Vec<String>, String),
}

/// The origin of the value that a pattern takes apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// `let x = a`, `match a {` in the same line.
    Value(String),
    /// `for x in a`.
    ElementOf(String),
    /// The parameter with that index of the closure that is an argument of the method at the end of the text.
    Closure { before: String, index: usize },
    /// The value that the `match` around the line takes apart.
    Arm,
}

/// The layers of the pattern around a name that `before` ends at, innermost first, and the text before the pattern.
pub(super) fn layers(before: &str) -> (Vec<Layer>, &str) {
    let mut layers = Vec::new();
    let mut rest = without_modes(before);
    loop {
        let field = rest.strip_suffix(':').filter(|rest| !rest.ends_with(':')).map(|rest| {
            let rest = rest.trim_end();
            let start = rest.trim_end_matches(is_part).len();
            (&rest[..start], rest[start..].to_owned())
        });
        let open_part = field.as_ref().map_or(rest, |(rest, _)| rest).trim_end();
        if !open_part.ends_with(['(', ',', '{', '[']) {
            return (layers, rest);
        }
        let Some((at, index)) = unclosed(open_part) else { return (layers, rest) };
        let is_fields = open_part[at..].starts_with('{');
        let head = if is_fields { open_part[..at].trim_end() } else { &open_part[..at] };
        let (path, before_path) = path_at_end(head);
        let is_type = path.last().is_some_and(|last| last.starts_with(char::is_uppercase));
        let layer = match (&open_part[at..=at], is_type) {
            ("(", true) => match path.last().map(String::as_str) {
                Some("Some" | "Ok") => Layer::Held,
                Some("Err") => Layer::Error,
                Some("Ready") if path.iter().any(|name| name == "Poll") => Layer::Held,
                _ => Layer::Payload(path, index),
            },
            ("{", true) => {
                // The name of the field itself, where no other one is given.
                let name = field.map_or(String::new(), |(_, name)| name);
                Layer::Field(path, name)
            }
            ("(", false) if path.is_empty() && !head.ends_with(['!', '>', ')', ']']) => Layer::Part(index),
            ("[", false) if path.is_empty() && !head.ends_with(['!', ')', ']']) => Layer::Element,
            _ => return (layers, rest),
        };
        layers.push(layer);
        rest = without_modes(before_path);
    }
}

/// The origin of the value of a pattern, by the text before it and the text after the name in its layers.
pub(super) fn origin(rest: &str, after: &str, layers: usize) -> Option<Origin> {
    let after = behind(after, layers)?.trim_start();
    if rest.ends_with("for")
        && let Some(of) = after.strip_prefix("in ")
    {
        return Some(Origin::ElementOf(until_block(of).to_owned()));
    }
    if let Some(value) = after.strip_prefix('=').filter(|value| !value.starts_with(['=', '>'])) {
        let is_bound = rest.ends_with("let");
        return is_bound.then(|| Origin::Value(until_block(value).to_owned()));
    }
    if after.starts_with(['|', ','])
        && let Some(origin) = closure(rest)
    {
        return Some(origin);
    }
    let is_arm = after.starts_with("=>") || after.starts_with("if ") || after.starts_with('|');
    if !is_arm {
        return None;
    }
    if let Some((_, matched)) = rest.rsplit_once("match ") {
        let value = until_block(matched);
        return (value.len() < matched.len()).then(|| Origin::Value(value.to_owned()));
    }
    (rest.is_empty() || rest.ends_with('|')).then_some(Origin::Arm)
}

/// The closure in whose parameters a text ends.
fn closure(rest: &str) -> Option<Origin> {
    let (before, parameters) = rest.rsplit_once('|')?;
    let is_parameter = |c: char| is_part(c) || matches!(c, ',' | ' ' | '&' | '(' | ')');
    if !parameters.chars().all(is_parameter) {
        return None;
    }
    let before = before.trim_end();
    let before = before.strip_suffix("move").unwrap_or(before).trim_end();
    let (at, _) = unclosed(before).filter(|(at, _)| before[*at..].starts_with('('))?;
    let index = split(parameters).count() - 1;
    Some(Origin::Closure { before: before[..at].to_owned(), index })
}

/// Strips the binding modes before a name: `ref mut `, `&`, `other @ `.
fn without_modes(text: &str) -> &str {
    let mut rest = text;
    loop {
        let bare = rest.trim_end().trim_end_matches('&').trim_end();
        let mode = ["ref", "mut"].iter().find_map(|word| bare.strip_suffix(word).filter(|b| !b.ends_with(is_part)));
        let bare = mode.unwrap_or(bare);
        let bare = bare.strip_suffix('@').map_or(bare, |bare| bare.trim_end().trim_end_matches(is_part));
        if bare == rest {
            return rest;
        }
        rest = bare;
    }
}

/// The innermost bracket that a text leaves open, and the number of commas after it.
fn unclosed(text: &str) -> Option<(usize, usize)> {
    let mut rest = text;
    let mut commas = 0;
    while let Some(c) = rest.chars().next_back() {
        let before = &rest[..rest.len() - c.len_utf8()];
        match c {
            '(' | '[' | '{' => return Some((before.len(), commas)),
            ')' => rest = &rest[..opening(rest, ('(', ')'))?],
            ']' => rest = &rest[..opening(rest, ('[', ']'))?],
            '}' => rest = &rest[..opening(rest, ('{', '}'))?],
            ';' | '=' | '"' => return None,
            _ => {
                commas += usize::from(c == ',');
                rest = before;
            }
        }
    }
    None
}

/// The macros in whose arguments a text ends, innermost first.
pub(super) fn macros_around(text: &str) -> Vec<&str> {
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '[' | '{' => {
                if let Some(head) = text[..at].trim_end().strip_suffix('!') {
                    found.push(&head[head.trim_end_matches(is_part).len()..]);
                }
            }
            _ => {}
        }
    }
    found
}

/// The names of the path that a text ends with, and the text before it.
fn path_at_end(text: &str) -> (Vec<String>, &str) {
    let (mut path, mut rest) = (Vec::new(), text);
    loop {
        let start = rest.trim_end_matches(is_part).len();
        if start == rest.len() {
            return (path, rest);
        }
        path.insert(0, rest[start..].to_owned());
        rest = &rest[..start];
        match rest.strip_suffix("::") {
            Some(before) => rest = before,
            None => return (path, rest),
        }
    }
}

/// The text after the closing brackets of some layers.
fn behind(text: &str, layers: usize) -> Option<&str> {
    let mut open = layers;
    let mut depth = 0_usize;
    if open == 0 {
        return Some(text);
    }
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ')' | ']' | '}' => {
                open -= 1;
                if open == 0 {
                    return Some(&text[at + 1..]);
                }
            }
            _ => {}
        }
    }
    None
}

/// An expression up to the block, the condition or the end of the statement that follows it.
fn until_block(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            ';' if depth == 0 => return text[..at].trim(),
            // A block, and not the fields of a literal in parentheses.
            '{' if depth == 0 => {
                let value = text[..at].trim();
                return value.strip_suffix(" else").unwrap_or(value);
            }
            '&' if depth == 0 && text[at..].starts_with("&& ") => return text[..at].trim(),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn patterns_are_read_from_the_name_outwards() {
        let cases: &[(&str, Vec<Layer>, &str)] = &[
            ("    let mut ", vec![], "    let"),
            ("    if let Some(ref ", vec![Layer::Held], "    if let"),
            ("  Shape::Dot(_, ref mut ", vec![Layer::Payload(path("Shape::Dot"), 1)], ""),
            (
                "  Some(Shape::Dot { at: (a, ",
                vec![Layer::Part(1), Layer::Field(path("Shape::Dot"), "at".into()), Layer::Held],
                "",
            ),
            ("  Dot { at, ", vec![Layer::Field(path("Dot"), String::new())], ""),
            ("  for (at, ", vec![Layer::Part(1)], "  for"),
            ("  all.map(|(", vec![Layer::Part(0)], "  all.map(|"),
            ("  f(a, ", vec![], "  f(a,"),
            ("  let whole @ Some(", vec![Layer::Held], "  let"),
            ("  [first, ", vec![Layer::Element], ""),
        ];
        for (before, expected, rest) in cases {
            let (found, left) = layers(before);
            assert_eq!((&found, left.trim_end()), (expected, rest.trim_end()), "{before}");
        }
    }

    #[test]
    fn words_may_be_arguments_of_macros() {
        for (text, expected) in [
            ("checker!(is_set conflicts ", &["checker"][..]),
            ("assert!(a(1), matches!(b, ", &["matches", "assert"]),
            ("f(first!(1), ", &[]),
        ] {
            assert_eq!(macros_around(text), expected, "{text}");
        }
    }

    #[test]
    fn values_of_patterns_come_from_what_is_behind_or_around() {
        let value = |text: &str| Some(Origin::Value(text.to_owned()));
        let element = |text: &str| Some(Origin::ElementOf(text.to_owned()));
        let closure = |before: &str, index| Some(Origin::Closure { before: before.to_owned(), index });
        for (rest, after, layers, expected) in [
            ("    let", " = Cart::new(1)?;", 0, value("Cart::new(1)?")),
            ("    if let", ") = self.find(1) && ok {", 1, value("self.find(1)")),
            ("    let", ") = self.find(Place { at: 1 }) else {", 1, value("self.find(Place { at: 1 })")),
            ("    for", ", b) in self.all.iter() {", 1, element("self.all.iter()")),
            ("  all.map(|", "| x.len())", 0, closure("  all.map", 0)),
            ("  all.fold(0, move |sum, (_,", ")| x)", 0, None),
            ("  all.fold(0, move |sum,", "| x)", 0, closure("  all.fold", 1)),
            ("", ") => x,", 1, Some(Origin::Arm)),
            ("    match shape {", ") => x,", 1, value("shape")),
            ("    f(a,", ");", 0, None),
        ] {
            assert_eq!(origin(rest, after, layers), expected, "{rest} x{after}");
        }
    }
}
