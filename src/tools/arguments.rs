//! Arguments of a call: from JSON to a tool's own struct, with errors that name the argument.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::refusal::refused;
use super::schema::input_schema;
use crate::error::{Error, Result};
use crate::wording::Argument;

/// Arguments that every tool takes, separated from its own.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// The repositories as they are named; empty if none is.
    pub repo: Vec<String>,
    pub timeout_ms: Option<u64>,
}

/// The longest text an argument may have: a longer query is a mistake, and slow.
const MAX_TEXT: usize = 10_000;

/// No file system takes a longer path.
const MAX_PATH: usize = 4096;

/// Makes whole numbers of those that were written as fractions, such as `1.0`: JSON has one kind of number, and some
/// clients write it so. One that is too large for any argument becomes the largest there is.
pub(super) fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().and_then(whole) {
                *value = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

fn whole(number: f64) -> Option<Value> {
    /// Above this not every whole number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() != 0.0 || number < -EXACT {
        return None;
    }
    if number > EXACT {
        return Some(json!(u64::MAX));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the bounds, as was just seen")]
    let whole = number as i64;
    Some(json!(whole))
}

/// Removes `repo` and `timeout_ms` from the arguments.
pub(super) fn common(arguments: &mut Map<String, Value>) -> Result<Common> {
    let repo = repositories(arguments.remove("repo").as_ref())?;
    let timeout_ms = match arguments.remove("timeout_ms") {
        None => None,
        Some(value) => match value.as_u64() {
            Some(0) | None => return Err(wrong("timeout_ms", "a whole number of milliseconds above 0", &value)),
            some => some,
        },
    };
    Ok(Common { repo, timeout_ms })
}

/// The repositories that `repo` names: a text, a list, or a list written as a text, by clients that know only texts there.
pub fn repositories(repo: Option<&Value>) -> Result<Vec<String>> {
    let names = match repo {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => match serde_json::from_str::<Vec<String>>(text) {
            Ok(names) if text.starts_with('[') => names,
            _ => vec![text.clone()],
        },
        Some(Value::Array(items)) => {
            let name = |item: &Value| match item {
                Value::String(text) => Ok(text.clone()),
                other => Err(wrong("repo", "a list of paths", other)),
            };
            items.iter().map(name).collect::<Result<_>>()?
        }
        Some(other) => return Err(wrong("repo", "the path of a repository", other)),
    };
    for name in &names {
        let fault = match name {
            name if name.contains('\0') => "has a NUL in it".to_owned(),
            name if name.len() > MAX_PATH => format!("is longer than {MAX_PATH} bytes"),
            _ => continue,
        };
        return Err(Error::invalid_path((Argument("repo"), format!(" {fault}"))).hint("Give the path of a repository."));
    }
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}

fn wrong(name: &str, what: &str, got: &Value) -> Error {
    Error::invalid_argument((Argument(name), format!(": expected {what}, got {}", type_name(got))))
        .hint("See the tool's input schema.")
}

/// A tool's own arguments.
pub(super) fn parse<A: DeserializeOwned + JsonSchema>(arguments: Map<String, Value>) -> Result<A> {
    for (name, value) in &arguments {
        if value.as_str().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(Error::invalid_argument((Argument(name), format!(" is longer than {MAX_TEXT} bytes")))
                .hint("Give a shorter one."));
        }
    }
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| refused(&error, &input_schema::<A>()))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(number) if number.is_i64() && !number.is_u64() => "a number below 0",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
