//! One connection: reads messages, calls tools, hands MCP's handshakes and lists to rmcp, and sends every reply.
//!
//! rmcp does not parse lines itself, because it cannot answer before `initialize`, silently drops malformed input, ends the
//! connection on a leading notification, and normalizes ids. Instead the mux checks the envelope, the id and the type of the
//! params, and passes rmcp typed requests with ids of its own. It also handles `notifications/*`, because it knows the
//! in-flight requests, which are all that notifications affect.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::connection::Connection;
use super::daemon_service::ABOUT;
use super::envelope::{self, Id, Malformed, Message, Params, RpcError};
use super::framing::{Line, Lines, MAX_LINE, Outbox};
use super::in_flight::{Batch, BeginError, Dialect, MAX_IN_FLIGHT, Reply, Route, Ticket};
use super::mcp::{self, Incoming};
use super::progress::ProgressReporter;
use super::{ClientScope, ConnectionPolicy, Hello, Server, WriteAccess};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind};
use crate::locked::locked;
use crate::panics;
use crate::tools::{DEADLINE, OnProgress, Request};

/// How long cancelled calls may take to stop when the connection is closed.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
/// Messages in one batch.
const MAX_BATCH: usize = 1000;

/// Serves one client until it disconnects.
pub async fn connection<R, W>(server: Arc<Server>, reader: R, writer: W, policy: ConnectionPolicy)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (outbox, writing) = Outbox::to(writer);
    let writing = tokio::spawn(writing);
    let drain = policy.drain;
    let connection = Arc::new(Connection::new(server, policy, outbox));
    // The capacity is the maximum number of in-flight requests, so sending never waits.
    let (inbox, incoming) = mpsc::channel(MAX_IN_FLIGHT as usize);
    let running = mcp::serve(Arc::clone(&connection), incoming);

    let ended = read(&connection, &inbox, Lines::new(reader)).await;
    if !ended || tokio::time::timeout(drain, connection.in_flight.all_finished()).await.is_err() {
        connection.in_flight.cancel_all();
        let _late = tokio::time::timeout(CANCEL_TIMEOUT, connection.in_flight.all_finished()).await;
    }
    let writer = writing.abort_handle();
    let flush = async {
        connection.outbox.end().await;
        writing.await
    };
    // A client that does not read its answers counts as disconnected.
    if tokio::time::timeout(drain.max(CANCEL_TIMEOUT), flush).await.is_err() {
        writer.abort();
    }
    drop(running);
}

/// Reads messages until the input ends (true) or answers can no longer be sent (false).
async fn read<R: AsyncRead + Unpin>(
    connection: &Arc<Connection>,
    inbox: &mpsc::Sender<Incoming>,
    mut lines: Lines<R>,
) -> bool {
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = connection.outbox.closed() => return false,
        };
        match line {
            Ok(Some(Line::Text(line))) => match std::str::from_utf8(&line) {
                Ok(text) => connection.take(text, inbox).await,
                Err(_) => {
                    let fault = RpcError::new(envelope::PARSE_ERROR, "the line is not UTF-8");
                    connection.outbox.send(envelope::error(None, &fault)).await;
                }
            },
            Ok(Some(Line::TooLong)) => {
                let fault = RpcError::request(format!("the line is longer than {MAX_LINE} bytes"));
                connection.outbox.send(envelope::error(None, &fault)).await;
            }
            Ok(None) => return true,
            Err(error) => {
                tracing::debug!(%error, "the input failed");
                return false;
            }
        }
    }
}

impl Connection {
    async fn take(self: &Arc<Self>, text: &str, inbox: &mpsc::Sender<Incoming>) {
        if !text.starts_with('[') {
            return self.take_one(text, Route::Line, inbox).await;
        }
        let fault = match envelope::parse_batch(text) {
            Ok(messages) if messages.is_empty() => RpcError::request("the batch is empty"),
            Ok(messages) if messages.len() > MAX_BATCH => {
                RpcError::request(format!("the batch has more than {MAX_BATCH} messages"))
            }
            Ok(messages) => {
                let batch = Batch::new(messages.len());
                for (index, message) in messages.into_iter().enumerate() {
                    self.take_one(message.get(), Route::Batch(Arc::clone(&batch), index), inbox).await;
                }
                return;
            }
            Err(fault) => fault,
        };
        self.outbox.send(envelope::error(None, &fault)).await;
    }

    async fn take_one(self: &Arc<Self>, text: &str, route: Route, inbox: &mpsc::Sender<Incoming>) {
        let reply = match envelope::parse(text) {
            Ok(Some(Message { id: Some(id), method, params })) => {
                match self.request(&id, &method, params, &route, inbox).await {
                    Ok(reply) => reply,
                    Err(fault) => Some(envelope::error(Some(&id), &fault)),
                }
                .map_or(MessageStep::InFlight, MessageStep::Settled)
            }
            Ok(Some(Message { id: None, method, params })) => {
                self.notification(&method, params);
                MessageStep::Silent
            }
            Ok(None) => MessageStep::Silent,
            Err(Malformed { id, fault }) => MessageStep::Settled(envelope::error(id.as_ref(), &fault)),
        };
        let _first = self.hello.set(None);
        match reply {
            MessageStep::Settled(reply) => self.settle(route, Some(Reply::from(reply))).await,
            MessageStep::Silent => self.settle(route, None).await,
            MessageStep::InFlight => {}
        }
    }

    /// Returns the answer, or `None` if it starts work that answers later.
    async fn request(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: Option<&RawValue>,
        route: &Route,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Option<String>, RpcError> {
        match method {
            "ping" if !mcp::is_modern(&Params::parse(params)?.meta) => Ok(Some(envelope::result(id, "{}"))),
            // A revision without a handshake does not have this method.
            "initialize" if mcp::is_modern(&Params::parse(params)?.meta) => Err(mcp::no_handshake()),
            _ if mcp::METHODS.contains(&method) => {
                if matches!(route, Route::Batch(..)) && !self.may_batch(method) {
                    return Err(RpcError::request(
                        "MCP supports batches only in revision 2025-03-26: send one message per line",
                    ));
                }
                let params = Params::parse(params)?;
                if method != mcp::CALL {
                    return self.mcp_request(id, method, params, route, inbox).await;
                }
                let (tool, params) = mcp::call(params)?;
                if self.server.is_control(&tool) {
                    let error = Error::new(ErrorKind::UnknownTool, format!("there is no tool {tool:?}"));
                    return Err(RpcError::spelled_out(&error));
                }
                self.start_call(id, Dialect::Mcp, tool, params, route)
            }
            name if self.is_callable(name) => {
                self.start_call(id, Dialect::Plain, name.to_owned(), Params::parse(params)?, route)
            }
            Hello::METHOD => {
                Err(RpcError::request("the hello is a notification: send it without an id, as the first line"))
            }
            _ => Err(RpcError::unknown_method(method)),
        }
    }

    fn may_batch(&self, method: &str) -> bool {
        let revision = locked(&self.revision);
        method != "initialize" && revision.as_ref() == Some(&ProtocolVersion::V_2025_03_26)
    }

    /// Passes a request to rmcp. Waits for the answer to an opening request, because later requests may depend on it.
    async fn mcp_request(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: Params,
        route: &Route,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Option<String>, RpcError> {
        let meta = params.meta.clone();
        let request = mcp::request(method, params)?;
        let ticket = self.begin(id, Dialect::Mcp, route, Budget::unlimited(), &meta)?;
        let finished =
            matches!(method, "initialize" | "server/discover").then(|| self.in_flight.until_finished(&ticket));
        if inbox.send(mcp::incoming(request, ticket.number)).await.is_ok()
            && let Some(finished) = finished
        {
            let _answered = finished.await;
        }
        Ok(None)
    }

    /// Starts a call of a tool or a control. Returns the answer only if the call is rejected.
    fn start_call(
        self: &Arc<Self>,
        id: &Id,
        dialect: Dialect,
        tool: String,
        Params { fields, meta }: Params,
        route: &Route,
    ) -> Result<Option<String>, RpcError> {
        let is_modern = mcp::is_modern(&meta);
        let outcome = move |answer: Result<Value, Error>| match dialect {
            Dialect::Mcp => mcp::call_result(answer, is_modern),
            Dialect::Plain => answer.map(|value| value.to_string()).map_err(|error| RpcError::from(&error)),
        };
        let budget = if self.is_long(&tool) { Budget::unlimited() } else { Budget::lasting(DEADLINE) };
        let ticket = match self.begin(id, dialect, route, budget, &meta) {
            Ok(ticket) => ticket,
            Err(BeginError::Full) => return outcome(Err(full())).map(|busy| Some(envelope::result(id, &busy))),
            Err(refusal) => return Err(refusal.into()),
        };
        let cap = (dialect == Dialect::Mcp).then_some(mcp::RESULT_BYTES);
        let connection = Arc::clone(self);
        tokio::spawn(async move {
            let number = ticket.number;
            let answer = connection.call(tool, fields, cap, ticket).await;
            connection.finish(number, outcome(answer)).await;
        });
        Ok(None)
    }

    /// Whether a name is a plain method or a control of this connection.
    fn is_callable(&self, name: &str) -> bool {
        match self.scope() {
            ClientScope::Machine => self.server.card(name).is_some() || self.server.is_control(name),
            ClientScope::Repository => self.server.card(name).is_some(),
            // The clients of `ixmcp http` speak MCP only; it identifies the daemon itself.
            ClientScope::Root => name == ABOUT && self.server.is_control(name),
        }
    }

    fn scope(&self) -> ClientScope {
        if self.restriction().is_some() { ClientScope::Root } else { self.policy.scope }
    }

    fn is_long(&self, name: &str) -> bool {
        self.server.card(name).map_or_else(|| self.server.is_control(name), |card| card.long)
    }

    fn begin(
        &self,
        id: &Id,
        dialect: Dialect,
        route: &Route,
        budget: Budget,
        meta: &Map<String, Value>,
    ) -> Result<Ticket, BeginError> {
        let progress = match meta.get("progressToken") {
            Some(token @ (Value::String(_) | Value::Number(_))) => {
                Some(ProgressReporter::new(token.clone(), self.outbox.clone()))
            }
            _ => None,
        };
        self.in_flight.begin(id, dialect, route.clone(), budget, progress)
    }

    /// Calls the service on a blocking thread. If a tool panics, its call fails; the connection continues.
    async fn call(
        self: &Arc<Self>,
        name: String,
        arguments: Map<String, Value>,
        cap: Option<usize>,
        ticket: Ticket,
    ) -> Result<Value, Error> {
        let hello = self.hello();
        if self.server.card(&name).is_some_and(|card| card.writes) && !self.may_write() {
            let hint = match self.scope() {
                ClientScope::Root => "The user who runs `ixmcp http` can allow it with --allow-write.",
                _ => "Use the Unix socket or stdio, or send the token in `ixmcp/hello`.",
            };
            let message = format!("{name} writes, and this connection may only read");
            return Err(Error::new(ErrorKind::ReadOnly, message).hint(hint));
        }
        let root = hello.as_ref().and_then(|hello| hello.root()).unwrap_or_else(|| self.policy.root.clone());
        // A client that is limited to one repository must not direct the type engine to other folders.
        let hello = hello.filter(|_| self.policy.scope == ClientScope::Machine);
        let on_progress =
            |progress: ProgressReporter| -> OnProgress { Arc::new(move |done, total| progress.report(done, total)) };
        let request = Request {
            scope: self.scope(),
            python: hello.map(|hello| hello.env.clone()).unwrap_or_default(),
            cap,
            budget: ticket.budget,
            on_progress: ticket.progress.map(on_progress),
            ..Request::new(name, Value::Object(arguments), root)
        };
        let service = Arc::clone(&self.server.service);
        let work = move || panics::caught(|| service.call(request));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))
    }

    fn may_write(&self) -> bool {
        if self.restriction().is_some_and(|restriction| !restriction.allow_write) {
            return false;
        }
        match &self.policy.writing {
            WriteAccess::Allowed => true,
            WriteAccess::WithToken(token) => self.hello().is_some_and(|hello| hello.has_token(token)),
        }
    }

    /// Handles a notification. All others than these are ignored: a notification does not run a tool.
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        match method {
            Hello::METHOD => {
                let hello = params.and_then(|params| serde_json::from_str(params.get()).ok());
                let _not_first = self.hello.set(hello.map(Arc::new));
            }
            "notifications/cancelled" => {
                let params = Params::parse(params).unwrap_or_default();
                if let Some(id) = params.fields.get("requestId").and_then(Id::from_value) {
                    self.in_flight.cancel(&id);
                }
            }
            _ => {}
        }
    }
}

/// Next step for a message.
enum MessageStep {
    Settled(String),
    Silent,
    InFlight,
}

/// The error for a request beyond the limit.
fn full() -> Error {
    Error::new(ErrorKind::Busy, format!("{MAX_IN_FLIGHT} requests are in flight on this connection"))
        .hint("Wait for an answer, then send this request again.")
}

impl From<BeginError> for RpcError {
    fn from(refusal: BeginError) -> Self {
        match refusal {
            BeginError::IdTaken => Self::request("a request with this id is still open"),
            BeginError::Full => Self::from(&full()),
        }
    }
}
