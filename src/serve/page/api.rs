//! What the page can ask: reading tools by name, two views, how things stand, and the daemon's recent calls.
//!
//! | path | body | answer |
//! |---|---|---|
//! | `POST /api/tool/NAME` | the tool's arguments | its answer |
//! | `POST /api/view/NAME` | the view's arguments | its answer |
//! | `GET /api/state` | | `{root, version, daemon}`; `daemon` is what `ixmcp daemon status` prints, or null |
//! | `GET /api/calls` | | `{daemon, version, calls}`: those of now |
//! | `GET /api/calls?after=N` | | the same, once there are any after N, or a while later without |
//!
//! An error is `{code, message, hint}` under a status of its own. The page is of one repository: no question names another.

use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::asked::{Asked, Question};
use crate::error::{Error, ErrorKind, Result};
use crate::tools;

/// The tools that the page shows answers of.
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

/// The most bytes of a question.
const QUESTION: usize = 64 << 10;
/// All of a question must be there in this time.
const QUESTION_TIME: Duration = Duration::from_secs(10);
/// How long a question for the next call waits: less than what browsers and their owners bear.
const WAIT_MS: u64 = 25_000;

pub async fn answer(asked: &Asked, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match answered(asked, request).await {
        Ok(answer) => json_response(StatusCode::OK, &answer),
        Err(error) => json_response(status(error.kind), &error.to_json()),
    }
}

async fn answered(asked: &Asked, request: Request<Incoming>) -> Result<Value> {
    let path = request.uri().path().to_owned();
    let after = request.uri().query().and_then(|query| query.strip_prefix("after=")?.parse::<u64>().ok());
    match (request.method(), path.strip_prefix("/api/").unwrap_or_default()) {
        (&Method::GET, "state") => state(asked).await,
        (&Method::GET, "calls") => calls(asked, after).await,
        (&Method::POST, question) => {
            let question = match question.split_once('/') {
                Some(("tool", name)) => TOOLS.iter().copied().find(|tool| *tool == name).map(Question::Tool),
                Some(("view", name)) => tools::views().find(|view| *view == name).map(Question::View),
                _ => None,
            };
            let question = question.ok_or_else(|| Error::not_found("the page asks no such thing"))?;
            asked.ask(question, arguments(request).await?).await
        }
        _ => Err(Error::not_found("the page asks no such thing")),
    }
}

async fn arguments(request: Request<Incoming>) -> Result<Value> {
    let body = tokio::time::timeout(QUESTION_TIME, Limited::new(request.into_body(), QUESTION).collect()).await;
    let body = body.map_err(|_| Error::invalid_argument("the question does not come to its end"))?;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => Error::invalid_argument(format!("the question is longer than {QUESTION} bytes")),
        false => Error::invalid_argument("the question is broken off"),
    })?;
    match serde_json::from_slice(&body.to_bytes()) {
        Ok(Value::Object(arguments)) if arguments.contains_key("repo") => {
            Err(Error::invalid_argument("argument `repo`: the page is of one repository"))
        }
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        _ => Err(Error::invalid_argument("the question is no JSON object")),
    }
}

async fn state(asked: &Asked) -> Result<Value> {
    let daemon = asked.control("ixmcp/status", json!({})).await.transpose()?;
    Ok(json!({ "root": asked.root.to_string_lossy(), "version": env!("CARGO_PKG_VERSION"), "daemon": daemon }))
}

async fn calls(asked: &Asked, after: Option<u64>) -> Result<Value> {
    let wait_ms = after.map_or(0, |_| WAIT_MS);
    let asking = json!({ "after": after.unwrap_or(0), "wait_ms": wait_ms });
    let recent = asked.control("ixmcp/recent", asking).await.transpose()?;
    let is_there = recent.is_some();
    let mut answer = recent.unwrap_or_else(|| json!({ "version": 0, "calls": [] }));
    answer["daemon"] = json!(is_there);
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
