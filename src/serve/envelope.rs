//! JSON-RPC 2.0: what a message is, and the text of replies.
//!
//! Owns the envelope `{jsonrpc, id, method, params}` and its faults. Knows no method and no tool.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::model::printable;

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;

/// A request's id, kept as it was sent: a string or a number.
#[derive(Clone, Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// `None` for what cannot be an id.
    pub fn new(raw: &RawValue) -> Option<Self> {
        let first = raw.get().bytes().next()?;
        let fits = first == b'-' || first.is_ascii_digit() || serde_json::from_str::<String>(raw.get()).is_ok();
        fits.then(|| Self(raw.to_owned()))
    }

    /// The same for two ids that are the same value, however a string is escaped.
    pub fn key(&self) -> String {
        match serde_json::from_str::<String>(self.0.get()) {
            Ok(text) => format!("\"{text}"),
            Err(_) => self.0.get().to_owned(),
        }
    }

    /// The id that a member of another message's params names.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::new(&serde_json::value::to_raw_value(value).ok()?)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

/// A message that has a method.
#[derive(Debug)]
pub struct Message<'a> {
    /// Absent in a notification.
    pub id: Option<Id>,
    pub method: String,
    pub params: Option<&'a RawValue>,
}

/// A message that cannot be answered as asked; the id is there when it could be read.
#[derive(Debug)]
pub struct Malformed {
    pub id: Option<Id>,
    pub fault: Fault,
}

/// The members as they stand; `null` is not the same as absent.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(member).map(Some)
}

/// Reads one message. `Ok(None)` is a reply to us: we ask nothing, so it is nobody's.
pub fn parse(text: &str) -> Result<Option<Message<'_>>, Malformed> {
    let nameless = |fault| Malformed { id: None, fault };
    if !text.starts_with('{') {
        return Err(nameless(match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => Fault::request("a message is an object"),
            Err(error) => Fault::syntax(&error),
        }));
    }
    let members: Members = serde_json::from_str(text).map_err(|error| {
        nameless(if error.is_data() {
            Fault::request("a member of the message stands twice")
        } else {
            Fault::syntax(&error)
        })
    })?;
    let id = members.id.map(Id::new);
    if members.method.is_none() && (members.result.is_some() || members.error.is_some()) {
        return Ok(None);
    }
    let Some(id) = id.map_or(Some(None), |id| id.map(Some)) else {
        return Err(nameless(Fault::request("the id is neither a string nor a number")));
    };
    if members.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
        return Err(Malformed { id, fault: Fault::request("jsonrpc is not \"2.0\"") });
    }
    let method = members.method.and_then(|method| serde_json::from_str(method.get()).ok());
    let Some(method) = method else {
        return Err(Malformed { id, fault: Fault::request("method is missing or no string") });
    };
    Ok(Some(Message { id, method, params: members.params }))
}

/// The messages of a batch.
pub fn parse_batch(text: &str) -> Result<Vec<&RawValue>, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::syntax(&error))
}

/// The params of a message, with `_meta` set apart.
#[derive(Debug, Default)]
pub struct Params {
    pub fields: Map<String, Value>,
    pub meta: Map<String, Value>,
}

impl Params {
    pub fn parse(raw: Option<&RawValue>) -> Result<Self, Fault> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        let mut fields = match serde_json::from_str(raw.get()) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Null) => return Ok(Self::default()),
            Ok(_) => return Err(Fault::params("the params are no object: name each argument")),
            Err(error) => return Err(Fault::params(format!("the params cannot be read: {error}"))),
        };
        match fields.remove("_meta") {
            None => Ok(Self { fields, meta: Map::new() }),
            Some(Value::Object(meta)) => Ok(Self { fields, meta }),
            Some(_) => Err(Fault::params("_meta is no object")),
        }
    }
}

/// An error reply's `{code, message, data}`.
#[derive(Debug)]
pub struct Fault {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl Fault {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// Tells where, never what: the line may hold anything.
    pub fn syntax(error: &serde_json::Error) -> Self {
        Self::new(PARSE_ERROR, format!("the line is no JSON: {error}"))
    }

    /// An argument fault, in the words of the plain methods.
    pub fn params(message: impl Into<String>) -> Self {
        Self::from(&Error::invalid_argument(message))
    }

    pub fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(METHOD_NOT_FOUND, format!("no method {}", printable(&shown)))
    }

    /// The whole of `error` in the message, for callers that show nothing else.
    pub fn spelled_out(error: &Error) -> Self {
        let mut fault = Self::from(error);
        if let Some(hint) = &error.hint {
            let stop = if fault.message.ends_with(['.', '?', '!']) { "" } else { "." };
            fault.message = format!("{}{stop} {hint}", fault.message);
        }
        fault
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let code = match error.kind {
            ErrorKind::InvalidArgument => INVALID_PARAMS,
            kind => kind.number(),
        };
        let mut data = json!({ "code": error.kind.name() });
        if let Some(hint) = &error.hint {
            data["hint"] = json!(hint);
        }
        Self { code, message: error.message.clone(), data: Some(data) }
    }
}

/// The line that answers `id` with a result, given as JSON.
pub fn result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The line that answers `id`, or nobody in particular, with a fault.
pub fn error(id: Option<&Id>, fault: &Fault) -> String {
    let mut error = json!({ "code": fault.code, "message": fault.message });
    if let Some(data) = &fault.data {
        error["data"] = data.clone();
    }
    match id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
    }
}
