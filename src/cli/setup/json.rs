//! Changes a client's entry in JSON with comments: comments, order and layout of the rest stay.
//!
//! Owns which member is changed; `jsonc_parser` edits the text. Does not own the intended result: the caller checks its
//! value.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
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
    let parsed = parse_to_ast(split_mark(text).1, &CollectOptions::default(), &OPTIONS).ok()?;
    Some(parsed.value.map_or_else(|| Value::Object(serde_json::Map::new()), Value::from))
}

/// The text with `value` at `path`. Missing members are added at the end of their object.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String> {
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    let mut object = root.object_value_or_create().ok_or_else(not_json)?;
    for (depth, name) in path.iter().enumerate() {
        let is_last = depth + 1 == path.len();
        let found = member(&object, name);
        match found {
            Some(member) if is_last => member.set_value(input(value)),
            Some(member) => object = object_of(&member, name)?,
            None if is_last => drop(object.append(name, input(value))),
            None => object = object_of(&object.append(name, CstInputValue::Object(Vec::new())), name)?,
        }
    }
    Ok(format!("{mark}{root}"))
}

/// The text without the member `name` of `servers`, and without `servers` if nothing is left there, not even a comment.
pub(super) fn remove(text: &str, servers: &str, name: &str) -> Result<String> {
    let (mark, body) = split_mark(text);
    let root = parse(body)?;
    let object = root.object_value().ok_or_else(not_json)?;
    let Some(holder) = member(&object, servers) else { return Ok(text.to_owned()) };
    let entries = object_of(&holder, servers)?;
    let Some(entry) = member(&entries, name) else { return Ok(text.to_owned()) };
    entry.remove();
    let is_blank = entries.children().iter().all(|part| part.is_token() || part.is_whitespace() || part.is_newline());
    if is_blank {
        holder.remove();
    }
    Ok(format!("{mark}{root}"))
}

/// A value as it is written: the fields of objects in the order of people.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(_) => {
            let fields = ordered(value).into_iter().map(|(name, value)| (name.to_owned(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}

/// The byte order mark that a text may begin with, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn parse(text: &str) -> Result<CstRootNode> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| not_json().caused_by(error))
}

/// Returns the member with that name; of several the last, as readers do.
fn member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rfind(|member| member.decoded_name().as_deref() == Some(name))
}

fn object_of(member: &CstObjectProp, name: &str) -> Result<CstObject> {
    member.object_value().ok_or_else(|| {
        Error::invalid_argument(format!("`{name}` is not an object there"))
            .hint("Fix it, or add the entry by hand: see --print.")
    })
}

fn not_json() -> Error {
    Error::invalid_argument("the file is not JSON").hint("Fix it, or add the entry by hand: see --print.")
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
            if let Ok(changed) = set(&text, path, &json!({ "a": [1] })) {
                let settings = value(&changed).unwrap();
                let added = path.iter().fold(&settings, |value, name| &value[name]);
                assert_eq!(added, &json!({ "a": [1] }), "{text:?}");
            }
            if let Ok(changed) = remove(&text, "mcpServers", "ixmcp") {
                assert!(value(&changed).is_some_and(|value| value.is_object()), "{text:?} {changed:?}");
            }
        }
    }
}
