//! Arguments of a call: from JSON to a tool's own struct, with errors that name the argument; and their schemas.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use super::refusal::refused;
use crate::error::{Error, Result};

/// Arguments that every tool takes, separated from its own.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub repo: Option<String>,
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

/// An argument that is an object, or left out. By itself serde takes a list for one, too: of its fields, in their order.
pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(given: D) -> Result<Option<T>, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = Option<T>;

        fn expecting(&self, expected: &mut fmt::Formatter) -> fmt::Result {
            expected.write_str("a map")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(fields)).map(Some)
        }
    }

    given.deserialize_any(Object(PhantomData))
}

/// Splits off `repo` and `timeout_ms`.
pub(super) fn common(arguments: &mut Map<String, Value>) -> Result<Common> {
    let wrong = |name: &str, what: &str, got: &Value| {
        Error::invalid_argument(format!("argument `{name}`: expected {what}, got {}", type_name(got)))
            .hint("See the tool's input schema.")
    };
    let repo = match arguments.remove("repo") {
        None | Some(Value::Null) => None,
        Some(Value::String(repo)) if repo.is_empty() || repo.contains('\0') => {
            return Err(Error::invalid_path("argument `repo` is empty or has a NUL in it")
                .hint("Give the path of a repository."));
        }
        Some(Value::String(repo)) if repo.len() > MAX_PATH => {
            return Err(Error::invalid_path(format!("argument `repo` is longer than {MAX_PATH} bytes"))
                .hint("Give the path of a repository."));
        }
        Some(Value::String(repo)) => Some(repo),
        Some(other) => return Err(wrong("repo", "the path of a repository", &other)),
    };
    let timeout_ms = match arguments.remove("timeout_ms") {
        None | Some(Value::Null) => None,
        Some(value) => match value.as_u64() {
            Some(0) | None => return Err(wrong("timeout_ms", "a whole number of milliseconds above 0", &value)),
            some => some,
        },
    };
    Ok(Common { repo, timeout_ms })
}

/// A tool's own arguments.
pub(super) fn parse<A: DeserializeOwned + JsonSchema>(arguments: Map<String, Value>) -> Result<A> {
    for (name, value) in &arguments {
        if value.as_str().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(Error::invalid_argument(format!("argument `{name}` is longer than {MAX_TEXT} bytes"))
                .hint("Give a shorter one."));
        }
    }
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| refused(&error, &input_schema::<A>()))
}

/// JSON Schema of a tool's arguments, the common ones included: one object, no references.
pub(super) fn input_schema<A: JsonSchema>() -> Value {
    let mut schema = schema::<A>(Contract::Deserialize);
    schema["additionalProperties"] = json!(false);
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["repo"] =
        json!({"type": "string", "description": "Path of the repository; default: the connection's own."});
    schema["properties"]["timeout_ms"] =
        json!({"type": "integer", "minimum": 1, "description": "Deadline of the call in milliseconds."});
    schema
}

/// JSON Schema of a tool's answer; one that may be outdated or of an index without files says so.
pub(super) fn output_schema<O: JsonSchema>() -> Value {
    let mut schema = schema::<O>(Contract::Serialize);
    schema["properties"]["stale"] = json!({"type": "string"});
    schema["properties"]["warning"] = json!({"type": "string"});
    strip_descriptions(&mut schema);
    schema
}

/// Makes the schema of a tool's answer fit `{status: "running", done, total}` as well.
pub(super) fn admit_running(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema["properties"]["status"] = json!({"type": "string", "enum": ["running"]});
    for number in ["done", "total"] {
        schema["properties"][number] = json!({"type": "integer", "minimum": 0});
    }
}

fn schema<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    simplify(&mut schema);
    schema
}

/// Takes out what clients trip over or what costs them tokens: number formats, null for "left out", null defaults.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    object.extend(only);
                }
            }
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

fn strip_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(strip_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_descriptions),
        _ => {}
    }
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
