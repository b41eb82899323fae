//! Changes JSON with comments in one position: every other byte stays.
//!
//! Owns where a text is changed; `jsonc_parser` finds its members. Does not own the intended result: the caller checks
//! its value.

use std::ops::Range;

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::clients::ordered;
use crate::error::{Error, Result};

/// JSON but for comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The value of a text; an empty object if it has none.
pub(super) fn value(text: &str) -> Option<Value> {
    let value = parse(split_mark(text).1).ok()?;
    Some(value.map_or_else(|| Value::Object(serde_json::Map::new()), Value::from))
}

/// The text with `value` at `path`. Missing members are added at the end of their object.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String> {
    let (mark, text) = split_mark(text);
    let text = if text.trim().is_empty() { format!("{text}{{}}\n") } else { text.to_owned() };
    let step = indent(&text);
    let root = parse(&text)?;
    let mut object = root.as_ref().and_then(ast::Value::as_object).ok_or_else(not_json)?;
    for (depth, name) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        match member(object, name) {
            None => {
                let wrapped = rest.iter().rev().fold(value.clone(), |inner, name| serde_json::json!({ *name: inner }));
                return Ok(format!("{mark}{}", insert(&text, object, name, &wrapped, &step)));
            }
            Some(member) if rest.is_empty() => {
                let written = shown(value, &margin(&text, member.start()), &step);
                return Ok(format!("{mark}{}", replaced(&text, member.value.start()..member.end(), &written)));
            }
            Some(member) => object = object_of(member, name)?,
        }
    }
    Ok(format!("{mark}{text}"))
}

/// The text without the member at `path`; unchanged if there is none.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String> {
    let (mark, body) = split_mark(text);
    let Some(root) = parse(body)? else { return Ok(text.to_owned()) };
    let mut object = root.as_object().ok_or_else(not_json)?;
    for (depth, name) in path.iter().enumerate() {
        let Some(at) = object.properties.iter().rposition(|member| member.name.as_str() == *name) else {
            return Ok(text.to_owned());
        };
        let member = &object.properties[at];
        if depth + 1 < path.len() {
            object = object_of(member, name)?;
            continue;
        }
        let (mut from, mut end) = (member.start(), member.end());
        let comma = comma_after(body, end);
        end = comma.map_or(end, |comma| comma + 1);
        let before = body[..from].trim_end_matches([' ', '\t']);
        let after = body[end..].trim_start_matches([' ', '\t']);
        // A member on its own line is removed with the line.
        if before.ends_with('\n') && (after.is_empty() || after.starts_with(['\n', '\r'])) {
            end = body.len() - after.len();
            from = before.strip_suffix('\n').map_or(before.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
        }
        let mut changed = replaced(body, from..end, "");
        // The member before it is the last one now.
        if comma.is_none()
            && let Some(last) = at.checked_sub(1).map(|before| &object.properties[before])
            && let Some(comma) = comma_after(body, last.end()).filter(|comma| *comma < from)
        {
            changed.remove(comma);
        }
        return Ok(format!("{mark}{changed}"));
    }
    Ok(text.to_owned())
}

/// The text without the member `name`, if that is an object in which there is nothing, not even a comment.
pub(super) fn remove_empty(text: &str, name: &str) -> Result<String> {
    let (_, body) = split_mark(text);
    let root = parse(body)?;
    let found = root.as_ref().and_then(ast::Value::as_object).and_then(|object| member(object, name));
    let is_empty = found.and_then(|member| member.value.as_object()).is_some_and(|object| {
        let between = &body[object.start() + 1..object.end() - 1];
        between.trim().is_empty()
    });
    if is_empty { remove(text, &[name]) } else { Ok(text.to_owned()) }
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// The indentation of the text: that of the first member on its own line.
fn indent(text: &str) -> String {
    let mut lines = text.lines().skip(1).filter(|line| line.trim_start().starts_with('"'));
    let first = lines.next().map(|line| &line[..line.len() - line.trim_start().len()]);
    first.filter(|first| !first.is_empty()).unwrap_or("  ").to_owned()
}

/// The indentation of a line.
fn margin(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    line[..line.len() - line.trim_start().len()].to_owned()
}

fn insert(text: &str, object: &Object, name: &str, value: &Value, step: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer = margin(text, object.start());
    let has_own_line = |member: &&ObjectProp| text[..member.start()].trim_end_matches([' ', '\t']).ends_with('\n');
    let inner = match object.properties.iter().find(has_own_line) {
        Some(member) => margin(text, member.start()),
        None => format!("{outer}{step}"),
    };
    let member = format!("{inner}{}: {}", Value::from(name), shown(value, &inner, step)).replace('\n', end);
    let close = object.end() - 1;
    let mut changed = text[..close].trim_end().to_owned();
    let mut added = format!("{end}{member}");
    if let Some(last) = object.properties.last() {
        match comma_after(text, last.end()) {
            Some(_) => added.push(','),
            None => changed.insert(last.end(), ','),
        }
    }
    format!("{changed}{added}{end}{outer}{}", &text[close..])
}

/// A value over several lines, lists of words on one.
fn shown(value: &Value, margin: &str, step: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let inner = format!("{margin}{step}");
            let members = ordered(value)
                .into_iter()
                .map(|(name, value)| format!("{inner}{}: {}", Value::from(name), shown(value, &inner, step)));
            format!("{{\n{}\n{margin}}}", members.collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item, margin, step)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// The byte order mark that a text may begin with, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn parse(text: &str) -> Result<Option<ast::Value<'_>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    parsed.map(|parsed| parsed.value).map_err(|error| not_json().caused_by(error))
}

/// Returns the member with that name; of several the last, as readers do.
fn member<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    object.properties.iter().rfind(|member| member.name.as_str() == name)
}

fn object_of<'o, 't>(member: &'o ObjectProp<'t>, name: &str) -> Result<&'o Object<'t>> {
    member.value.as_object().ok_or_else(|| {
        Error::invalid_argument(format!("`{name}` is not an object there"))
            .hint("Fix it, or add the entry by hand: see --print.")
    })
}

fn not_json() -> Error {
    Error::invalid_argument("the file is not JSON").hint("Fix it, or add the entry by hand: see --print.")
}

/// The position of the comma after a member, behind white space and comments.
fn comma_after(text: &str, mut at: usize) -> Option<usize> {
    loop {
        at = text.len() - text[at..].trim_start().len();
        let rest = &text[at..];
        at += match rest.get(..2) {
            Some("//") => rest.find('\n')?,
            Some("/*") => rest.find("*/")? + 2,
            _ => return rest.starts_with(',').then_some(at),
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::random_texts::Random;

    #[test]
    fn broken_files_are_changed_or_refused() {
        let texts = [
            "{\n  // é\n  \"mcpServers\": {\n    \"ixmcp\": { \"command\": \"a\\é\", \"args\": [1, 2,], },\n    \"b\": {}\n  }\n}\n",
            "\u{feff}{\"mcpServers\":{\"ixmcp\":null /* ü */ ,\"c\":[]}}",
            "{\r\n\t\"größe\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"ixmcp\": {}\r\n\t},\r\n}\r\n",
        ];
        let pieces =
            ["é", "\"", "\\", "{", "}", "[", "]", ",", ":", "//", "/*", "*/", "\n", "\r", " ", "\u{feff}", "\u{2028}"];
        let mut random = Random(3);
        for _ in 0..20_000 {
            let text = random.spliced(&texts, &pieces, 6);
            let path: &[&str] = [&["mcpServers", "ixmcp"][..], &["mcpServers"], &["ixmcp", "x"]][random.below(3)];
            let _refused = (value(&text), set(&text, path, &json!({ "a": [1] })), remove(&text, path));
            let _refused = remove_empty(&text, "mcpServers");
        }
    }
}
