//! JSON Schemas of a tool's arguments and answer, as clients and models read them.
//!
//! Owns what all clients accept: one object, no references, no `null`, nothing about further properties; and the order of the
//! arguments. Does not own how arguments are read.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::de::value::{Error as Unread, SeqDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// Arguments that every tool takes, after its own.
const COMMON: &[&str] = &["repo", "timeout_ms"];

/// JSON Schema of a tool's arguments, including those that every tool takes.
pub(super) fn input_schema<A: JsonSchema>() -> Value {
    let mut schema = schema::<A>(Contract::Deserialize);
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["repo"] = json!({"type": "string", "description": "Path of another repository."});
    schema["properties"]["timeout_ms"] = json!({"type": "integer", "description": "Deadline in milliseconds."});
    // Bounds are enforced, and their errors name them.
    strip("minimum", &mut schema);
    strip("maximum", &mut schema);
    schema
}

/// JSON Schema of a tool's answer, with the fields that any answer may have.
pub(super) fn output_schema<O: JsonSchema>() -> Value {
    let mut schema = schema::<O>(Contract::Serialize);
    for notice in ["stale", "warning"] {
        schema["properties"][notice] = json!({"type": "string"});
    }
    schema["properties"]["indexing"] = json!({
        "type": "object",
        "properties": { "done": { "type": "integer" }, "total": { "type": "integer" } },
    });
    strip("description", &mut schema);
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

/// Removes what some clients reject and what only costs tokens: number formats, `null` for optional values, null
/// defaults, whether there may be further properties, and the descriptions of single values.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            if object.get("default").is_some_and(is_implied) {
                object.remove("default");
            }
            object.remove("additionalProperties");
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("enum") {
                choices.retain(|choice| !choice.is_null());
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (keyword, value) in only {
                        object.entry(keyword).or_insert(value);
                    }
                }
            }
            let choices = object.get("oneOf").and_then(Value::as_array).into_iter().flatten();
            let choices: Option<Vec<Value>> = choices.map(|choice| choice.get("const").cloned()).collect();
            if let Some(choices) = choices.filter(|choices| !choices.is_empty() && choices.iter().all(Value::is_string))
            {
                object.remove("oneOf");
                object.insert("type".to_owned(), json!("string"));
                object.insert("enum".to_owned(), Value::Array(choices));
            }
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// A default that is what an absent argument is anyway.
fn is_implied(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Removes a keyword everywhere; an argument of that name stays.
fn strip(keyword: &str, schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get(keyword).is_some_and(|value| !value.is_object()) {
                object.remove(keyword);
            }
            object.values_mut().for_each(|value| strip(keyword, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(keyword, item)),
        _ => {}
    }
}

/// A schema that is serialized with its arguments in the order of `names`, required ones first. JSON objects in memory are
/// sorted by name.
#[derive(Clone, Copy)]
pub struct InOrder<'a> {
    pub schema: &'a Map<String, Value>,
    pub names: &'a [&'static str],
}

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.schema.len()))?;
        for (name, field) in self.schema {
            match field.as_object().filter(|_| name == "properties") {
                Some(properties) => {
                    map.serialize_entry(name, &Properties { properties, of: self.schema, names: self.names })?;
                }
                None => map.serialize_entry(name, field)?,
            }
        }
        map.end()
    }
}

struct Properties<'a> {
    properties: &'a Map<String, Value>,
    of: &'a Map<String, Value>,
    names: &'a [&'static str],
}

impl<'a> Serialize for Properties<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let required = self.of.get("required").and_then(Value::as_array);
        let is_optional = |name: &str| !required.is_some_and(|required| required.iter().any(|one| one == name));
        let rank = |name: &str| self.names.iter().position(|declared| *declared == name).unwrap_or(usize::MAX);
        let schema = |value: &'a Value| value.as_object().map(|schema| InOrder { schema, names: self.names });
        let mut sorted: Vec<_> =
            self.properties.iter().filter_map(|(name, value)| Some((name, schema(value)?))).collect();
        sorted.sort_by_key(|(name, _)| (is_optional(name), rank(name)));
        serializer.collect_map(sorted)
    }
}

/// The names of a tool's arguments, then of those in its `options`, in the order of their declaration.
pub(super) fn names<A: DeserializeOwned>() -> Vec<&'static str> {
    let mut names = Vec::new();
    // Only the names that are asked for on the way matter, not whether these values make sense.
    let _ = A::deserialize(Names(&mut names));
    names.extend(COMMON);
    names
}

/// Records the names of the fields of structs, and gives each field some value of its type.
struct Names<'n>(&'n mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_unit()
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.0.extend(fields);
        visitor.visit_map(Fields { names: self.0, left: fields.iter() })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_bool(false)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_u32(1)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_u64(1)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_f64(1.0)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_str("")
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<()>()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        let first = variants.first().ok_or_else(|| Unread::custom("no variants"))?;
        visitor.visit_enum((*first).into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct map
        identifier ignored_any
    }
}

struct Fields<'n> {
    names: &'n mut Vec<&'static str>,
    left: std::slice::Iter<'static, &'static str>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unread> {
        self.left.next().map(|name| seed.deserialize((*name).into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        seed.deserialize(Names(self.names))
    }
}
