//! The endpoint of a repository: what POST, GET and DELETE do.
//!
//! | request | answer |
//! |---|---|
//! | POST of a request of a revision without a handshake | JSON, or events if the client wants progress; disconnecting cancels it |
//! | POST of `initialize` | JSON, and the id of a new session |
//! | POST of another request, with that id | events for a call, which can be resumed; otherwise JSON |
//! | POST of a notification | 202 |
//! | GET with that id and the id of an event | the events after it |
//! | DELETE with that id | 204; the session has ended |
//!
//! Only the methods of MCP pass: no plain methods, no controls, no hello.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::State;
use super::gate::only;
use super::pipe::{OpenRequest, SendError};
use super::reply::{self, Reply, SESSION_ID};
use super::repository::Repository;
use super::rules::{self, AcceptedMediaTypes};
use super::session::{self, Session};
use crate::error::{Error, ErrorKind};
use crate::serve::envelope::{self, Id, Malformed, Message, Params, RpcError};
use crate::serve::framing::MAX_LINE;
use crate::serve::mcp;

/// The timeout for reading a request's body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Messages in one batch, which exists in one revision only.
const MAX_BATCH: usize = 32;
const REVISION_WITH_BATCHES: &str = "2025-03-26";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const CANCELLED: &str = "notifications/cancelled";

pub async fn answer(state: &State, request: Request<Incoming>) -> Reply {
    let Some(repository) = repository(state, request.uri().path()) else {
        let names: Vec<_> = state.repositories.iter().map(|served| format!("/mcp/{}", served.name)).collect();
        return reply::text(StatusCode::NOT_FOUND, format!("Nothing is served here. Served: {}\n", names.join(", ")));
    };
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let answered = match method {
        Method::POST => post(state, repository, &headers, request.into_body()).await,
        Method::GET => resume(state, repository, &headers),
        Method::DELETE => end(state, repository, &headers),
        _ => Err(not_allowed("POST, GET, DELETE")),
    };
    answered.unwrap_or_else(|refusal| refusal)
}

/// The repository of a path: `/mcp/NAME`, or `/mcp` if there is only one.
fn repository<'a>(state: &'a State, path: &str) -> Option<&'a Arc<Repository>> {
    let rest = path.strip_suffix('/').unwrap_or(path).strip_prefix("/mcp")?;
    match (rest.strip_prefix('/'), &state.repositories[..]) {
        (Some(name), served) => served.iter().find(|repository| repository.name == name),
        (None, [only]) if rest.is_empty() => Some(only),
        _ => None,
    }
}

fn not_allowed(methods: &'static str) -> Reply {
    let mut reply = reply::text(StatusCode::METHOD_NOT_ALLOWED, "This method is not allowed here.\n");
    reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    reply
}

fn refused(status: StatusCode, id: Option<&Id>, fault: &RpcError) -> Reply {
    reply::error(status, id, fault)
}

async fn post(
    state: &State,
    repository: &Arc<Repository>,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Reply, Reply> {
    if !rules::is_json(headers) {
        let reason = "The body must be JSON: Content-Type: application/json.\n";
        return Err(reply::closing(reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason)));
    }
    let accepted = AcceptedMediaTypes::from_headers(headers);
    if !accepted.json {
        let reason = "The client must accept application/json and text/event-stream.\n";
        return Err(reply::closing(reply::text(StatusCode::NOT_ACCEPTABLE, reason)));
    }
    let bytes = read(headers, body).await?;
    let malformed = |fault: RpcError| refused(StatusCode::BAD_REQUEST, None, &fault);
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| malformed(RpcError::new(envelope::PARSE_ERROR, "the body is not UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.starts_with('[') {
        return batch(state, repository, headers, text).await;
    }
    let message = match envelope::parse(text) {
        Ok(Some(message)) => message,
        // A reply, but we send clients no requests.
        Ok(None) => return Ok(reply::empty(StatusCode::ACCEPTED)),
        Err(Malformed { id, fault }) => return Err(refused(StatusCode::BAD_REQUEST, id.as_ref(), &fault)),
    };
    let fault = |status, fault: &RpcError| refused(status, message.id.as_ref(), fault);
    let params = Params::parse(message.params).map_err(|wrong| fault(StatusCode::BAD_REQUEST, &wrong))?;
    let revision = rules::revision(headers).map_err(|wrong| fault(StatusCode::BAD_REQUEST, &wrong))?;
    let is_modern = mcp::is_modern(&params.meta)
        || (message.method != "initialize"
            && (message.method == "server/discover" || revision.is_some_and(rules::is_without_handshake)));
    let posted = Posted { repository, headers, accepted, text, message: &message, params: &params };
    if is_modern {
        return posted.without_session().await;
    }
    if let Some(unknown) = revision.filter(|revision| !mcp::is_supported(revision)) {
        return Err(fault(StatusCode::BAD_REQUEST, &mcp::unsupported(unknown)));
    }
    if message.method == "initialize" {
        return posted.initialize(state).await;
    }
    let session = session(state, repository, headers, message.id.as_ref())?;
    posted.in_session(&session).await
}

/// Reads a body, with limits on its size and time.
async fn read(headers: &HeaderMap, body: Incoming) -> Result<hyper::body::Bytes, Reply> {
    let too_long = || {
        let reason = format!("The body is longer than {MAX_LINE} bytes.\n");
        reply::closing(reply::text(StatusCode::PAYLOAD_TOO_LARGE, reason))
    };
    let said = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|said| said > MAX_LINE as u64) {
        return Err(too_long());
    }
    let reading = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_LINE).collect()).await;
    let Ok(read) = reading else {
        let reason = "The body did not arrive in time.\n";
        return Err(reply::closing(reply::text(StatusCode::REQUEST_TIMEOUT, reason)));
    };
    read.map(http_body_util::Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => too_long(),
        false => reply::closing(reply::text(StatusCode::BAD_REQUEST, "The body is incomplete or malformed.\n")),
    })
}

/// The session that the headers name.
fn session(
    state: &State,
    repository: &Arc<Repository>,
    headers: &HeaderMap,
    id: Option<&Id>,
) -> Result<Arc<Session>, Reply> {
    let missing = || {
        let fault = RpcError::request("the header Mcp-Session-Id is missing or repeated: send initialize first");
        refused(StatusCode::BAD_REQUEST, id, &fault)
    };
    let sent = only(headers, &SESSION_ID).ok().flatten().ok_or_else(missing)?;
    let found = sent.to_str().ok().and_then(|sent| state.sessions.find(sent, &repository.name));
    found.ok_or_else(|| {
        let fault = RpcError::request("the session has ended, or is unknown: send initialize again");
        refused(StatusCode::NOT_FOUND, id, &fault)
    })
}

/// One message that was posted.
struct Posted<'a> {
    repository: &'a Arc<Repository>,
    headers: &'a HeaderMap,
    accepted: AcceptedMediaTypes,
    text: &'a str,
    message: &'a Message<'a>,
    params: &'a Params,
}

impl Posted<'_> {
    fn error(&self, status: StatusCode, fault: &RpcError) -> Reply {
        refused(status, self.message.id.as_ref(), fault)
    }

    /// The message on one line. Line ends are white space in JSON.
    fn line(&self) -> String {
        self.text.replace(['\n', '\r'], " ")
    }

    fn progress_token(&self) -> Option<&Value> {
        self.params.meta.get("progressToken").filter(|token| token.is_string() || token.is_number())
    }

    /// Fails if the repository is gone. A model reads that as the result of its call.
    fn check_repository(&self, is_modern: bool) -> Result<(), Reply> {
        let Err(error) = self.repository.check() else { return Ok(()) };
        let Some(id) = self.message.id.as_ref().filter(|_| self.message.method == mcp::CALL) else {
            return Err(self.error(StatusCode::OK, &RpcError::spelled_out(&error)));
        };
        Err(match mcp::call_result(Err(error), is_modern) {
            Ok(result) => reply::json(StatusCode::OK, envelope::result(id, &result)),
            Err(fault) => self.error(StatusCode::OK, &fault),
        })
    }

    /// A message of a revision without a handshake.
    async fn without_session(&self) -> Result<Reply, Reply> {
        let message = self.message;
        let Some(id) = &message.id else { return Ok(reply::empty(StatusCode::ACCEPTED)) };
        let rejected = |fault: RpcError| self.error(StatusCode::BAD_REQUEST, &fault);
        rules::check(self.headers, message, self.params).map_err(rejected)?;
        let unknown = match &*message.method {
            "initialize" => Some(mcp::no_handshake()),
            method if !mcp::METHODS.contains(&method) => Some(RpcError::unknown_method(method)),
            _ => None,
        };
        if let Some(fault) = unknown {
            return Err(self.error(StatusCode::NOT_FOUND, &fault));
        }
        self.check_repository(true)?;
        let Some(borrowed) = self.repository.borrow() else {
            let busy = Error::new(ErrorKind::Busy, "too many requests are in flight").hint("Send it again later.");
            let mut reply = self.error(StatusCode::SERVICE_UNAVAILABLE, &RpcError::spelled_out(&busy));
            reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return Err(reply);
        };
        let request = borrowed.pipe.request(id, self.progress_token(), self.line()).await;
        let request = request.map_err(|_| self.lost())?;
        if self.progress_token().is_some() && self.accepted.events {
            return Ok(reply::events(session::cancelled_with_client(request, move || borrowed.give_back())));
        }
        let line = request.answer().await.ok_or_else(|| self.lost())?;
        borrowed.give_back();
        Ok(reply::json(error_code(&line).map_or(StatusCode::OK, rules::status_of), line))
    }

    fn lost(&self) -> Reply {
        let fault = RpcError::new(-32603, "the repository's daemon exited before it answered: send the request again");
        self.error(StatusCode::BAD_GATEWAY, &fault)
    }

    async fn initialize(&self, state: &State) -> Result<Reply, Reply> {
        let Some(id) = &self.message.id else {
            let fault = RpcError::request("initialize is a request: send it with an id");
            return Err(self.error(StatusCode::BAD_REQUEST, &fault));
        };
        self.check_repository(false)?;
        let pipe = self.repository.connect();
        let request = pipe.request(id, None, self.line()).await.map_err(|_| self.lost())?;
        let line = request.answer().await.ok_or_else(|| self.lost())?;
        let Some(revision) = negotiated(&line) else { return Ok(reply::json(StatusCode::OK, line)) };
        let session = state.sessions.begin(&self.repository.name, revision, pipe);
        let session = session.map_err(|error| self.error(StatusCode::OK, &RpcError::spelled_out(&error)))?;
        let mut reply = reply::json(StatusCode::OK, line);
        let id = HeaderValue::from_str(&session.id).map_err(|_| self.lost())?;
        reply.headers_mut().insert(SESSION_ID, id);
        Ok(reply)
    }

    async fn in_session(&self, session: &Arc<Session>) -> Result<Reply, Reply> {
        let Some(id) = &self.message.id else {
            self.notify(session).await.map_err(|fault| self.error(StatusCode::BAD_REQUEST, &fault))?;
            return Ok(reply::empty(StatusCode::ACCEPTED));
        };
        self.check_repository(false)?;
        let request = self.send(id, session).await?;
        if self.message.method == mcp::CALL && self.accepted.events {
            return Ok(reply::events(session.stream(request).events(0, session.wants_first_event())));
        }
        let line = request.answer().await.ok_or_else(|| self.lost())?;
        session.touch();
        Ok(reply::json(StatusCode::OK, line))
    }

    /// Sends a request of a session to the daemon.
    async fn send(&self, id: &Id, session: &Session) -> Result<OpenRequest, Reply> {
        let method = &*self.message.method;
        let is_known = method == "ping" || (mcp::METHODS.contains(&method) && method != "initialize");
        if !is_known {
            return Err(self.error(StatusCode::OK, &RpcError::unknown_method(method)));
        }
        let sent = session.pipe.request(id, self.progress_token(), self.line()).await;
        sent.map_err(|error| match error {
            SendError::IdTaken => {
                self.error(StatusCode::BAD_REQUEST, &RpcError::request("a request with this id is still open"))
            }
            SendError::Ended => self.lost(),
        })
    }

    async fn notify(&self, session: &Session) -> Result<(), RpcError> {
        let method = &*self.message.method;
        if !method.starts_with("notifications/") {
            return Err(RpcError::unknown_method(method));
        }
        session.pipe.notify(self.line()).await;
        if method == CANCELLED {
            // The daemon does not answer what it has cancelled.
            let id = self.params.fields.get("requestId").and_then(Id::from_value);
            id.iter().for_each(|id| session.pipe.forget(id));
        }
        Ok(())
    }
}

/// A batch, which only one revision has. Each of its messages is sent on its own.
async fn batch(state: &State, repository: &Arc<Repository>, headers: &HeaderMap, text: &str) -> Result<Reply, Reply> {
    let rejected = |fault: RpcError| refused(StatusCode::BAD_REQUEST, None, &fault);
    let unsupported = || rejected(RpcError::request("MCP supports batches only in revision 2025-03-26"));
    if !headers.contains_key(SESSION_ID) {
        return Err(unsupported());
    }
    let session = session(state, repository, headers, None)?;
    if session.revision != REVISION_WITH_BATCHES {
        return Err(unsupported());
    }
    let messages = envelope::parse_batch(text).map_err(rejected)?;
    if messages.is_empty() || messages.len() > MAX_BATCH {
        return Err(rejected(RpcError::request(format!("a batch must have between 1 and {MAX_BATCH} messages"))));
    }
    let (mut open, mut answers) = (Vec::new(), Vec::new());
    for raw in messages {
        let message = match envelope::parse(raw.get()) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(Malformed { id, fault }) => {
                answers.push(envelope::error(id.as_ref(), &fault));
                continue;
            }
        };
        let params = Params::parse(message.params).map_err(rejected)?;
        let accepted = AcceptedMediaTypes { json: true, events: false };
        let posted = Posted { repository, headers, accepted, text: raw.get(), message: &message, params: &params };
        posted.check_repository(false)?;
        match &message.id {
            None => posted.notify(&session).await.map_err(rejected)?,
            Some(id) => open.push(posted.send(id, &session).await?),
        }
    }
    for request in open {
        answers.extend(request.answer().await);
    }
    session.touch();
    if answers.is_empty() {
        return Ok(reply::empty(StatusCode::ACCEPTED));
    }
    Ok(reply::json(StatusCode::OK, format!("[{}]", answers.join(","))))
}

/// The events of a session's request after the one that the client received last.
fn resume(state: &State, repository: &Arc<Repository>, headers: &HeaderMap) -> Result<Reply, Reply> {
    // Without an event there is nothing to listen to: we send no requests and no notifications of our own.
    let last = headers.get(LAST_EVENT_ID).and_then(|event| event.to_str().ok()).filter(|_| has_session_form(headers));
    let Some(last) = last else { return Err(not_allowed("POST, DELETE")) };
    let session = session(state, repository, headers, None)?;
    if !AcceptedMediaTypes::from_headers(headers).events {
        return Err(reply::text(StatusCode::NOT_ACCEPTABLE, "The client must accept text/event-stream.\n"));
    }
    match session.resume(last) {
        Some((stream, sent)) => Ok(reply::events(stream.events(sent, false))),
        None => {
            let fault = RpcError::request("Last-Event-ID names no event of this session that is still kept");
            Err(refused(StatusCode::BAD_REQUEST, None, &fault))
        }
    }
}

fn end(state: &State, repository: &Arc<Repository>, headers: &HeaderMap) -> Result<Reply, Reply> {
    if !has_session_form(headers) {
        return Err(not_allowed("POST"));
    }
    let session = session(state, repository, headers, None)?;
    state.sessions.end(&session.id);
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// Whether a request without a body is of a revision that has sessions.
fn has_session_form(headers: &HeaderMap) -> bool {
    rules::revision(headers).is_ok_and(|revision| !revision.is_some_and(rules::is_without_handshake))
}

/// The code of an answer that is an error.
fn error_code(line: &str) -> Option<i32> {
    #[derive(Deserialize)]
    struct Answer {
        error: Option<Fault>,
    }
    #[derive(Deserialize)]
    struct Fault {
        code: i32,
    }
    serde_json::from_str::<Answer>(line).ok()?.error.map(|fault| fault.code)
}

/// The revision in the answer to `initialize`.
fn negotiated(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        result: Option<Initialized>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
    }
    serde_json::from_str::<Answer>(line).ok()?.result.map(|result| result.protocol_version)
}
