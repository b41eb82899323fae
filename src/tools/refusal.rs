//! Errors for invalid arguments: serde's messages, rewritten for callers of a tool.
//!
//! Owns only the texts; the tool's own struct defines its arguments.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::model::printable;
use crate::query::near;
use crate::wording::{Argument, Name, Wording};

/// Characters of serde's message that are kept: it quotes arguments of any length.
const MAX_CHARS: usize = 300;

/// Types that serde expects, in its words and in ours.
const EXPECTED: &[(&str, &str)] = &[
    ("u64", "a whole number of 0 or more"),
    ("u32", "a whole number of 0 or more"),
    ("usize", "a whole number of 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("a string", "text"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("string or map", "text"),
    ("map with a single key", "text"),
];

/// The error of arguments that do not fit `schema`.
pub(super) fn refused(error: &serde_path_to_error::Error<serde_json::Error>, schema: &Value) -> Error {
    let (path, said) = (error.path().to_string(), error.inner().to_string());
    let quoted = |prefix: &str| said.strip_prefix(prefix).and_then(|rest| rest.split('`').next());
    if let Some(missing) = quoted("missing field `") {
        return Error::invalid_argument((Argument(missing), " is missing")).hint(("Give ", Name(missing), "."));
    }
    let message = brief(&misfit(&said).unwrap_or_else(|| format!(": {said}")));
    let about = described(&path, schema).unwrap_or("See the tool's input schema.");
    let said = match path.as_str() {
        "." => Wording::from(format!("the arguments{message}")),
        path => (Argument(&brief(path)), message).into(),
    };
    Error::invalid_argument(said).hint(about)
}

fn brief(text: &str) -> String {
    printable(&text.chars().take(MAX_CHARS).collect::<String>())
}

/// The error of a list that is given for an object.
pub(super) fn no_object(name: &str, schema: &Value) -> Error {
    let hint = schema["description"].as_str().unwrap_or("See the tool's input schema.");
    Error::invalid_argument(format!("argument {} must be an object, not a list", named(name))).hint(hint)
}

/// An argument's name in an error or a warning.
pub(super) fn named(name: &str) -> String {
    const MAX_NAME: usize = 60;
    let shown: String = name.chars().take(MAX_NAME).collect();
    format!("`{}`", printable(&shown))
}

/// Whether an unknown argument, given in the argument `around` or next to all others, is known in another place.
pub(super) fn belongs_elsewhere(name: &str, around: Option<&str>, schema: &Value) -> bool {
    let has = |fields: Option<&Map<String, Value>>| fields.is_some_and(|fields| fields.contains_key(name));
    match around {
        Some(_) => has(properties(schema)),
        None => properties(schema).is_some_and(|own| own.values().any(|value| has(properties(value)))),
    }
}

/// The error of an unknown argument, given in the argument `around` or next to all others.
pub(super) fn unknown(name: &str, around: Option<&str>, schema: &Value) -> Error {
    let shown = named(name);
    let own = properties(schema);
    let known = around.map_or(own, |around| properties(&schema["properties"][around]));
    let has = |fields: Option<&Map<String, Value>>| fields.is_some_and(|fields| fields.contains_key(name));
    if let Some(around) = around.filter(|_| has(own)) {
        return Error::invalid_argument(format!("argument {shown} is in `{around}`, where it does not belong"))
            .hint(format!("Give {shown} next to `{around}`."));
    }
    let within = own.into_iter().flatten().find(|(_, value)| around.is_none() && has(properties(value)));
    if let Some((object, _)) = within {
        return Error::invalid_argument(format!("argument {shown} belongs in `{object}`"))
            .hint(format!("Give `{object}` as an object with {shown} in it."));
    }
    let names: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let hint = match near::mistyped(name, names.iter().copied()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("It takes: {}.", names.join(", ")),
    };
    let place = around.map_or_else(String::new, |around| format!(" in `{around}`"));
    Error::invalid_argument(format!("unknown argument {shown}{place}")).hint(hint)
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object()
}

/// The schema's description of an argument.
fn described<'s>(path: &str, schema: &'s Value) -> Option<&'s str> {
    let mut at = schema;
    for name in path.split('.') {
        at = &at["properties"][name.split('[').next()?];
    }
    at["description"].as_str()
}

/// Rewrites serde's message: ` must be a number, not text`.
fn misfit(said: &str) -> Option<String> {
    if let Some(rest) = said.strip_prefix("unknown variant `") {
        let (got, expected) = rest.split_once("`, expected ")?;
        return Some(format!(" must be {expected}, not `{got}`"));
    }
    let rest = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "))?;
    let (got, expected) = rest.rsplit_once(", expected ")?;
    let ours = EXPECTED.iter().find(|(serde, _)| *serde == expected).map(|(_, ours)| *ours);
    let expected = ours.unwrap_or(if expected.starts_with("struct ") { "an object" } else { expected });
    Some(format!(" must be {expected}, not {}", seen(got)))
}

/// The value that was given, in our words.
fn seen(got: &str) -> &str {
    let number = |kind: &str| got.strip_prefix(kind)?.strip_prefix(" `")?.strip_suffix('`');
    match got {
        "sequence" => "a list",
        "map" => "an object",
        _ if got.starts_with("string ") => "text",
        _ => ["integer", "floating point", "boolean"].iter().find_map(|kind| number(kind)).unwrap_or(got),
    }
}
