//! The requests that the page can send: read-only tools, two views, the status, and the daemon's recent calls.
//!
//! | path | body | answer |
//! |---|---|---|
//! | `POST /api/tool/NAME` | the tool's arguments | its answer |
//! | `POST /api/view/NAME` | the view's arguments | its answer |
//! | `GET /api/state` | | `{root, repositories, version, daemon}`; `daemon` is what `ixmcp daemon status` prints, or null |
//! | `GET /api/calls` | | `{daemon, version, calls}`: the current calls |
//! | `GET /api/calls?after=N` | | the calls after version N; waits a while until there is one |
//! | `POST /api/changes` | what the answer before said, and the file that is shown | `{daemon, …}`: what changed on disk; waits a while until something did |
//!
//! An error is `{code, message, hint}`, with a matching HTTP status. A page of several repositories takes `repo`, one of
//! `repositories`; a page of one refuses it.

use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::backend::{Backend, BackendRequest};
use super::views;
use crate::error::{Error, ErrorKind, Result};
use crate::wording::Part;

/// The tools that the page may call.
const TOOLS: &[&str] = &[
    "query",
    "get_slice",
    "get_symbol",
    "list_files",
    "stats",
    "symbols",
    "find_references",
    "goto_definition",
    "type_at",
    "ixchel_search",
    "ixchel_show",
    "ixchel_context",
    "ixchel_graph",
    "ixchel_tags",
    "search_documents",
    "get_file_details",
];

const MAX_BODY_BYTES: usize = 64 << 10;
/// The timeout for reading a request's body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request for recent calls waits. Browsers and proxies have longer timeouts.
const WAIT_MS: u64 = 25_000;

pub async fn answer(backend: &Backend, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match try_answer(backend, request).await {
        Ok(answer) => json_response(StatusCode::OK, &answer),
        Err(error) => json_response(status(error.kind), &for_page(error).to_json()),
    }
}

/// The error in the words of the page, which has fields and links, but neither tools nor commands.
fn for_page(error: Error) -> Error {
    const INPUT: &str = "the input";
    let words = |part: &Part| matches!(part, Part::Argument(_)).then(|| INPUT.to_owned());
    let mut error = error.in_words(&words);
    error.message = error.message.map_text(|text| {
        let rest = text.strip_prefix(INPUT).and_then(|rest| rest.strip_prefix(": "));
        rest.unwrap_or(text).to_owned()
    });
    error
}

async fn try_answer(backend: &Backend, request: Request<Incoming>) -> Result<Value> {
    let path = request.uri().path().to_owned();
    let after = request.uri().query().and_then(|query| query.strip_prefix("after=")?.parse::<u64>().ok());
    match (request.method(), path.strip_prefix("/api/").unwrap_or_default()) {
        (&Method::GET, "state") => state(backend).await,
        (&Method::GET, "calls") => calls(backend, after).await,
        (&Method::POST, "changes") => backend.changes(arguments(request).await?).await,
        (&Method::POST, target) => {
            let target = match target.split_once('/') {
                Some(("tool", name)) => TOOLS.iter().copied().find(|tool| *tool == name).map(BackendRequest::Tool),
                Some(("view", name)) => views::names().find(|view| *view == name).map(BackendRequest::View),
                _ => None,
            };
            let target = target.ok_or_else(|| Error::not_found("the page has no such endpoint"))?;
            backend.call(target, arguments(request).await?).await
        }
        _ => Err(Error::not_found("the page has no such endpoint")),
    }
}

async fn arguments(request: Request<Incoming>) -> Result<Map<String, Value>> {
    let body = tokio::time::timeout(BODY_TIMEOUT, Limited::new(request.into_body(), MAX_BODY_BYTES).collect()).await;
    let body = body.map_err(|_| Error::invalid_argument("the request's body did not arrive in time"))?;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => Error::invalid_argument(format!("the request's body is longer than {MAX_BODY_BYTES} bytes")),
        false => Error::invalid_argument("the request's body is incomplete"),
    })?;
    match serde_json::from_slice(&body.to_bytes()) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        _ => Err(Error::invalid_argument("the request's body must be a JSON object")),
    }
}

async fn state(backend: &Backend) -> Result<Value> {
    let daemon = backend.control("ixmcp/status", json!({})).await.transpose()?;
    Ok(json!({
        "root": backend.root.to_string_lossy(), "repositories": backend.repositories,
        "version": env!("CARGO_PKG_VERSION"), "daemon": daemon,
    }))
}

async fn calls(backend: &Backend, after: Option<u64>) -> Result<Value> {
    let wait_ms = after.map_or(0, |_| WAIT_MS);
    let params = json!({ "after": after.unwrap_or(0), "wait_ms": wait_ms });
    let recent = backend.control("ixmcp/recent", params).await.transpose()?;
    let has_daemon = recent.is_some();
    let mut answer = recent.unwrap_or_else(|| json!({ "version": 0, "calls": [] }));
    answer["daemon"] = json!(has_daemon);
    Ok(answer)
}

fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound | ErrorKind::InvalidPath | ErrorKind::IndexNotFound => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArgument | ErrorKind::UnsupportedFormat | ErrorKind::UnknownTool => StatusCode::BAD_REQUEST,
        ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
