//! JSON-RPC 2.0: parsing of messages, and the text of replies.
//!
//! Owns the envelope `{jsonrpc, id, method, params}` and its errors. Does not know methods or tools.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::model::printable;
use crate::wording::Wording;

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;

/// A request's id, a string or a number, as it was sent.
#[derive(Clone, Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// `None` if the value cannot be an id.
    pub fn new(raw: &RawValue) -> Option<Self> {
        let first = raw.get().bytes().next()?;
        let fits = first == b'-' || first.is_ascii_digit() || serde_json::from_str::<String>(raw.get()).is_ok();
        fits.then(|| Self(raw.to_owned()))
    }

    /// A key that is equal for equal ids, however their strings are escaped.
    pub fn key(&self) -> String {
        match serde_json::from_str::<String>(self.0.get()) {
            Ok(text) => format!("\"{text}"),
            Err(_) => self.0.get().to_owned(),
        }
    }

    /// An id in the params of another message.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::new(&serde_json::value::to_raw_value(value).ok()?)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

/// A request or a notification.
#[derive(Debug)]
pub struct Message<'a> {
    /// Absent in a notification.
    pub id: Option<Id>,
    pub method: String,
    pub params: Option<&'a RawValue>,
}

/// A malformed message, with its id if that could be parsed.
#[derive(Debug)]
pub struct Malformed {
    pub id: Option<Id>,
    pub fault: RpcError,
}

/// The unparsed members; `null` is not the same as absent.
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

/// Parses one message. `Ok(None)` is a reply, which is ignored because we send clients no requests.
pub fn parse(text: &str) -> Result<Option<Message<'_>>, Malformed> {
    let nameless = |fault| Malformed { id: None, fault };
    if !text.starts_with('{') {
        return Err(nameless(match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => RpcError::request("a message must be an object"),
            Err(error) => RpcError::syntax(&error),
        }));
    }
    let members: Members = serde_json::from_str(text).map_err(|error| {
        nameless(if error.is_data() {
            RpcError::request("the message has a duplicate member")
        } else {
            RpcError::syntax(&error)
        })
    })?;
    let id = members.id.map(Id::new);
    if members.method.is_none() && (members.result.is_some() || members.error.is_some()) {
        return Ok(None);
    }
    let Some(id) = id.map_or(Some(None), |id| id.map(Some)) else {
        return Err(nameless(RpcError::request("the id must be a string or a number")));
    };
    if members.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
        return Err(Malformed { id, fault: RpcError::request("jsonrpc must be \"2.0\"") });
    }
    let method = members.method.and_then(|method| serde_json::from_str(method.get()).ok());
    let Some(method) = method else {
        return Err(Malformed { id, fault: RpcError::request("method is missing or not a string") });
    };
    Ok(Some(Message { id, method, params: members.params }))
}

/// The messages of a batch.
pub fn parse_batch(text: &str) -> Result<Vec<&RawValue>, RpcError> {
    serde_json::from_str(text).map_err(|error| RpcError::syntax(&error))
}

/// The params of a message, with `_meta` separated.
#[derive(Debug, Default)]
pub struct Params {
    pub fields: Map<String, Value>,
    pub meta: Map<String, Value>,
}

impl Params {
    pub fn parse(raw: Option<&RawValue>) -> Result<Self, RpcError> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        let mut fields = match serde_json::from_str(raw.get()) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Null) => return Ok(Self::default()),
            Ok(_) => return Err(RpcError::params("the params must be an object")),
            Err(error) => return Err(RpcError::params(format!("the params are invalid: {error}"))),
        };
        match fields.remove("_meta") {
            None => Ok(Self { fields, meta: Map::new() }),
            Some(Value::Object(meta)) => Ok(Self { fields, meta }),
            Some(_) => Err(RpcError::params("_meta must be an object")),
        }
    }
}

/// An error reply's `{code, message, data}`.
#[derive(Debug)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// Reports the position but does not quote the line, which may contain a secret.
    pub fn syntax(error: &serde_json::Error) -> Self {
        Self::new(PARSE_ERROR, format!("the line is not JSON: {error}"))
    }

    /// The error for invalid params, in the form of the plain methods.
    pub fn params(message: impl Into<Wording>) -> Self {
        Self::from(&Error::invalid_argument(message))
    }

    pub fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(METHOD_NOT_FOUND, format!("no method {}", printable(&shown)))
    }

    /// The error with its hint in the message, for clients that show only that.
    pub fn spelled_out(error: &Error) -> Self {
        let mut fault = Self::from(error);
        if let Some(hint) = &error.hint {
            let stop = if fault.message.ends_with(['.', '?', '!']) { "" } else { "." };
            fault.message = format!("{}{stop} {hint}", fault.message);
        }
        fault
    }
}

impl From<&Error> for RpcError {
    fn from(error: &Error) -> Self {
        let code = match error.kind {
            ErrorKind::InvalidArgument => INVALID_PARAMS,
            kind => kind.number(),
        };
        let mut data = json!({ "code": error.kind.name() });
        if let Some(hint) = &error.hint {
            data["hint"] = json!(hint.to_string());
        }
        // For the edges of this program, which have other words.
        if !(error.message.is_text() && error.hint.as_ref().is_none_or(Wording::is_text)) {
            data["wording"] = json!({ "message": error.message, "hint": error.hint });
        }
        Self { code, message: error.message.to_string(), data: Some(data) }
    }
}

/// The reply to `id` with a result, which is JSON.
pub fn result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The reply to `id` with an error. The id is `None` if that of the request is unknown.
pub fn error(id: Option<&Id>, fault: &RpcError) -> String {
    let mut error = json!({ "code": fault.code, "message": fault.message });
    if let Some(data) = &fault.data {
        error["data"] = data.clone();
    }
    match id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
    }
}
