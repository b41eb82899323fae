//! Arguments as clients and models write them, in the form that the tool's schema describes.
//!
//! Owns which values count as absent, which texts are read as numbers or lists, other names of arguments, and what happens to
//! unknown ones. Does not own the messages of errors: `refusal` does.

use serde_json::{Map, Value};

use super::{Access, refusal};
use crate::error::Result;
use crate::model::first_of;
use crate::query::near;

/// Other names that models give an argument.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("text", &["query", "pattern"]),
    ("query", &["text"]),
    ("symbol_name", &["symbol", "name"]),
    ("symbol", &["symbol_name"]),
    ("file", &["file_path", "filePath", "path"]),
    ("files", &["paths"]),
    ("file_path", &["file", "filePath", "path"]),
    ("filePath", &["file_path", "path"]),
    ("folderPath", &["folder_path", "path"]),
    ("chunkIndex", &["chunk_index"]),
    ("contextLines", &["context_lines"]),
];

/// Arguments that clients add to every call: Gemini CLI's `wait_for_previous`.
const ADDED_BY_CLIENTS: &[&str] = &["wait_for_previous"];

/// Ignored arguments that the warning names.
const NAMED: usize = 5;

/// The tool's arguments, and the warning about those that were ignored.
pub(super) fn normalize(
    mut given: Map<String, Value>,
    schema: &Value,
    access: Access,
) -> Result<(Map<String, Value>, Option<String>)> {
    #[cfg(test)]
    super::counted::note(super::counted::Step::Normalization);
    let mut ignored = Vec::new();
    rename(&mut given, &schema["properties"]);
    fit_fields(&mut given, schema, None, access, schema, &mut ignored)?;
    let warning = (!ignored.is_empty()).then(|| {
        let are = if ignored.len() == 1 { "An unknown argument was" } else { "Unknown arguments were" };
        format!("{are} ignored: {}.", first_of(&ignored, NAMED))
    });
    Ok((given, warning))
}

fn rename(given: &mut Map<String, Value>, known: &Value) {
    for (name, others) in OTHER_NAMES {
        if known.get(name).is_none() || given.contains_key(*name) {
            continue;
        }
        let other = others.iter().find(|other| known.get(other).is_none() && given.contains_key(**other));
        if let Some(value) = other.and_then(|other| given.remove(*other)) {
            given.insert((*name).to_owned(), value);
        }
    }
}

/// Fits the fields of the arguments, or of the argument `around`, which is an object.
fn fit_fields(
    given: &mut Map<String, Value>,
    schema: &Value,
    around: Option<&str>,
    access: Access,
    whole: &Value,
    ignored: &mut Vec<String>,
) -> Result<()> {
    let known = &schema["properties"];
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|one| one == name));
    let unknown: Vec<String> = given.keys().filter(|name| known.get(name.as_str()).is_none()).cloned().collect();
    for name in unknown {
        let is_added = ADDED_BY_CLIENTS.contains(&name.as_str());
        if !is_added && (access == Access::Write || is_mistake(&name, known, around, whole)) {
            return Err(refusal::unknown(&name, around, whole));
        }
        given.remove(&name);
        ignored.push(refusal::named(&name));
    }
    given.retain(|name, value| is_required(name) || !is_absent(value));
    for (name, value) in given {
        let property = &known[name.as_str()];
        fit(value, property);
        // Otherwise a list would be read as the values of the fields in their order.
        if value.is_array() && property["type"] == "object" {
            return Err(refusal::no_object(name, property));
        }
        if let Some(fields) = value.as_object_mut().filter(|_| property["properties"].is_object()) {
            fit_fields(fields, property, Some(name.as_str()), access, whole, ignored)?;
        }
    }
    Ok(())
}

/// Whether an unknown argument is a known one, mistyped or in the wrong object.
fn is_mistake(name: &str, known: &Value, around: Option<&str>, whole: &Value) -> bool {
    let names = known.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    refusal::belongs_elsewhere(name, around, whole) || near::mistyped(name, names).is_some()
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Reads a text as the number, boolean, list or object that the schema describes. What cannot be read stays as it is.
fn fit(value: &mut Value, schema: &Value) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| fit(item, &schema["items"]));
    }
    let Value::String(text) = &*value else { return };
    let parsed = || serde_json::from_str::<Value>(text.trim()).ok();
    let read = match schema["type"].as_str() {
        Some("integer" | "number") => parsed().filter(Value::is_number),
        Some("boolean") => text.trim().to_ascii_lowercase().parse().ok().map(Value::Bool),
        Some("object") => parsed().filter(Value::is_object),
        Some("array") => {
            let list = parsed().filter(Value::is_array);
            Some(list.unwrap_or_else(|| Value::Array(vec![Value::String(text.clone())])))
        }
        _ => None,
    };
    if let Some(read) = read {
        *value = read;
    }
}
