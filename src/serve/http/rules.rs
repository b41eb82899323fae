//! Rules for a request's headers, in both forms of Streamable HTTP.
//!
//! A revision without a handshake repeats the method, the tool and the revision of the body in headers, so that proxies
//! can route requests without reading bodies. A request whose body differs from its headers is rejected.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::gate::only;
use crate::serve::envelope::{self, Message, Params, RpcError};
use crate::serve::mcp;

pub const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The first revision without a handshake.
const FIRST_WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// Which media types a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedMediaTypes {
    pub json: bool,
    pub events: bool,
}

impl AcceptedMediaTypes {
    /// A client that sends no such header accepts everything.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let mut accepted = Self { json: !headers.contains_key(header::ACCEPT), events: false };
        accepted.events = accepted.json;
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        for range in values.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let kind = parts.next().unwrap_or_default();
            let is_excluded = parts.any(|part| matches!(part.as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            if !is_excluded {
                accepted.json |= matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
                accepted.events |= matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*");
            }
        }
        accepted
    }
}

pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// The revision that the headers name. Fails if they name several, or one that no revision could be.
pub fn revision(headers: &HeaderMap) -> Result<Option<&str>, RpcError> {
    let unreadable = || mismatch("the header MCP-Protocol-Version must be sent once, as text");
    let value = only(headers, &REVISION).map_err(|()| unreadable())?;
    value.map(|value| value.to_str().map_err(|_| unreadable())).transpose()
}

/// Whether a revision has no handshake. Unknown revisions are later ones.
pub fn is_without_handshake(revision: &str) -> bool {
    revision >= FIRST_WITHOUT_HANDSHAKE
}

/// Checks a request of a revision without a handshake.
pub fn check(headers: &HeaderMap, message: &Message, params: &Params) -> Result<(), RpcError> {
    let in_body = params.meta.get("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str);
    let in_header = revision(headers)?;
    match (in_header, in_body) {
        (None, Some(_)) => return Err(mismatch("the header MCP-Protocol-Version is missing")),
        (Some(header), Some(body)) if header != body => {
            return Err(mismatch("the header MCP-Protocol-Version differs from the revision in _meta"));
        }
        (_, Some(body)) if !mcp::is_supported(body) => return Err(mcp::unsupported(body)),
        _ => mcp::check_meta(&params.meta)?,
    }
    if text(headers, &METHOD)?.as_deref() != Some(&*message.method) {
        return Err(mismatch("the header Mcp-Method is missing, or differs from the method of the body"));
    }
    let tool = params.fields.get("name").and_then(Value::as_str);
    if message.method == mcp::CALL && tool.is_some() && text(headers, &NAME)?.as_deref() != tool {
        return Err(mismatch("the header Mcp-Name is missing, or differs from the name of the tool in the body"));
    }
    Ok(())
}

fn mismatch(message: &str) -> RpcError {
    RpcError::new(mcp::HEADER_MISMATCH, message)
}

/// A header that is text, or text in base64 marked as such.
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, RpcError> {
    let unreadable = || mismatch(&format!("the header {name} must be sent once, as text"));
    let Some(value) = only(headers, name).map_err(|()| unreadable())? else { return Ok(None) };
    let value = HeaderValue::to_str(value).map_err(|_| unreadable())?.trim();
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return Ok(Some(value.to_owned()));
    };
    let bytes = BASE64.decode(encoded).map_err(|_| unreadable())?;
    String::from_utf8(bytes).map(Some).map_err(|_| unreadable())
}

/// The HTTP status of an answer in a revision without a handshake.
pub fn status_of(code: i32) -> hyper::StatusCode {
    match code {
        envelope::METHOD_NOT_FOUND => hyper::StatusCode::NOT_FOUND,
        mcp::HEADER_MISMATCH | mcp::UNSUPPORTED_REVISION | envelope::PARSE_ERROR | envelope::INVALID_REQUEST => {
            hyper::StatusCode::BAD_REQUEST
        }
        _ => hyper::StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in of {
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let message = envelope::parse(body).unwrap().unwrap();
        let params = Params::parse(message.params).unwrap();
        let code = |of: &[(&str, &str)]| check(&headers(of), &message, &params).err().map_or(0, |fault| fault.code);
        let (revision, method) = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"));
        assert_eq!(code(&[revision, method, ("mcp-name", "query")]), 0);
        assert_eq!(code(&[revision, method, ("mcp-name", "  query ")]), 0);
        assert_eq!(code(&[revision, method, ("mcp-name", "=?base64?cXVlcnk=?=")]), 0);
        for name in ["=?base64?cXVlcnk?=", "=?base64?!!!?=", "Query", "stats", ""] {
            assert_eq!(code(&[revision, method, ("mcp-name", name)]), mcp::HEADER_MISMATCH, "{name}");
        }
        assert_eq!(code(&[revision, method]), mcp::HEADER_MISMATCH);
        assert_eq!(code(&[method, ("mcp-name", "query")]), mcp::HEADER_MISMATCH);
        assert_eq!(code(&[("mcp-protocol-version", "2025-11-25"), method]), mcp::HEADER_MISMATCH);
        assert_eq!(code(&[revision, method, method, ("mcp-name", "query")]), mcp::HEADER_MISMATCH);
        assert_eq!(code(&[revision, ("mcp-method", "TOOLS/CALL"), ("mcp-name", "query")]), mcp::HEADER_MISMATCH);
    }

    #[test]
    fn media_types_may_be_ranges() {
        let accepted = |value: &str| {
            let AcceptedMediaTypes { json, events } = AcceptedMediaTypes::from_headers(&headers(&[("accept", value)]));
            (json, events)
        };
        assert_eq!(accepted("application/json, text/event-stream"), (true, true));
        assert_eq!(accepted("*/*"), (true, true));
        assert_eq!(accepted("text/event-stream;q=0, Application/JSON;q=0.5"), (true, false));
        assert_eq!(accepted("text/html"), (false, false));
        assert_eq!(
            AcceptedMediaTypes::from_headers(&HeaderMap::new()),
            AcceptedMediaTypes { json: true, events: true }
        );
    }
}
