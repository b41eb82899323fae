//! One connection: reads messages, answers the plain methods itself, hands MCP to rmcp, and sends every reply.
//!
//! rmcp never sees a line: it cannot answer before `initialize`, drops malformed input silently, ends the
//! connection on a leading notification, and reads ids its own way. So the mux checks the envelope, the id and the
//! shape of the params, and gives rmcp typed requests under ids of the mux's own. `notifications/*` stop here too:
//! the open calls are known here, and nothing else follows from any of them.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::envelope::{self, Fault, Id, Malformed, Message, Params};
use super::flights::{Batch, Dialect, Flight, Flights, MAX_OPEN, Refusal, Reply, Route, Ticket};
use super::framing::{Line, Lines, MAX_LINE, Outbox};
use super::mcp::{self, Incoming};
use super::{CallContext, Door, Hello, Listing, Reach, Reporter, Server, Writing};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind};
use crate::locked::locked;
use crate::panics;

/// How long a call may take that does not say otherwise.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// How long cancelled calls get to notice, once nobody waits for them.
const NOTICE: Duration = Duration::from_secs(1);
/// Messages in one batch; more would be a flood, not a question.
const MAX_BATCH: usize = 1000;

/// What is known of one connection.
pub struct Connection {
    pub server: Arc<Server>,
    door: Door,
    outbox: Outbox,
    flights: Flights,
    hello: OnceLock<Option<Arc<Hello>>>,
    /// What `initialize` settled on; none for clients that never send it.
    revision: Mutex<Option<ProtocolVersion>>,
}

/// Serves one client until it leaves. Nothing that a client does is an error here.
pub async fn connection<R, W>(server: Arc<Server>, reader: R, writer: W, door: Door)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (outbox, writing) = Outbox::to(writer);
    let writing = tokio::spawn(writing);
    let drain = door.drain;
    let connection = Arc::new(Connection {
        server,
        door,
        outbox,
        flights: Flights::new(),
        hello: OnceLock::new(),
        revision: Mutex::new(None),
    });
    // As many as can be open, so that handing over never waits.
    let (inbox, incoming) = mpsc::channel(MAX_OPEN as usize);
    let running = mcp::serve(Arc::clone(&connection), incoming);

    let ended = read(&connection, &inbox, Lines::new(reader)).await;
    if !ended || tokio::time::timeout(drain, connection.flights.all_landed()).await.is_err() {
        connection.flights.cancel_all();
        let _late = tokio::time::timeout(NOTICE, connection.flights.all_landed()).await;
    }
    let writer = writing.abort_handle();
    let last_words = async {
        connection.outbox.end().await;
        writing.await
    };
    // A client that does not read its answers has left.
    if tokio::time::timeout(drain.max(NOTICE), last_words).await.is_err() {
        writer.abort();
    }
    drop(running);
}

/// Takes messages until the input ends (true) or nobody can be answered any more (false).
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
                    let fault = Fault::new(envelope::PARSE_ERROR, "the line is no UTF-8");
                    connection.outbox.send(envelope::error(None, &fault)).await;
                }
            },
            Ok(Some(Line::TooLong)) => {
                let fault = Fault::request(format!("the line is longer than {MAX_LINE} bytes"));
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
            Ok(messages) if messages.is_empty() => Fault::request("the batch is empty"),
            Ok(messages) if messages.len() > MAX_BATCH => {
                Fault::request(format!("the batch has more than {MAX_BATCH} messages"))
            }
            Ok(messages) => {
                let batch = Batch::of(messages.len());
                for (place, message) in messages.into_iter().enumerate() {
                    self.take_one(message.get(), Route::Batch(Arc::clone(&batch), place), inbox).await;
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
                .map_or(Next::UnderWay, Next::Settled)
            }
            Ok(Some(Message { id: None, method, params })) => {
                self.notification(&method, params);
                Next::Silent
            }
            Ok(None) => Next::Silent,
            Err(Malformed { id, fault }) => Next::Settled(envelope::error(id.as_ref(), &fault)),
        };
        let _first = self.hello.set(None);
        match reply {
            Next::Settled(reply) => self.settle(route, Some(Reply::from(reply))).await,
            Next::Silent => self.settle(route, None).await,
            Next::UnderWay => {}
        }
    }

    /// Answers at once, or starts what will answer later and gives `None`.
    async fn request(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: Option<&RawValue>,
        route: &Route,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Option<String>, Fault> {
        match method {
            "ping" if !mcp::is_modern(&Params::parse(params)?.meta) => Ok(Some(envelope::result(id, "{}"))),
            // A revision without handshake has no such method; who speaks it is told so as of any other.
            "initialize" if mcp::is_modern(&Params::parse(params)?.meta) => Err(mcp::no_handshake()),
            _ if mcp::METHODS.contains(&method) => {
                if matches!(route, Route::Batch(..)) && !self.may_batch(method) {
                    return Err(Fault::request(
                        "MCP has batches in revision 2025-03-26 alone: send one message a line",
                    ));
                }
                self.mcp_request(id, method, Params::parse(params)?, route, inbox).await
            }
            name if self.is_callable(name) => self.plain_call(id, name, Params::parse(params)?, route).await,
            Hello::METHOD => Err(Fault::request("the hello is a notification: send it without id, as the first line")),
            _ => Err(Fault::unknown_method(method)),
        }
    }

    fn may_batch(&self, method: &str) -> bool {
        let revision = locked(&self.revision);
        method != "initialize" && revision.as_ref() == Some(&ProtocolVersion::V_2025_03_26)
    }

    /// Hands a request to rmcp. Openings are waited for: what the client sent behind one may lean on it.
    async fn mcp_request(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: Params,
        route: &Route,
        inbox: &mpsc::Sender<Incoming>,
    ) -> Result<Option<String>, Fault> {
        let is_call = method == "tools/call";
        let is_modern = mcp::is_modern(&params.meta);
        let long = !is_call || self.is_long(params.fields.get("name").and_then(Value::as_str).unwrap_or_default());
        let meta = params.meta.clone();
        let request = mcp::request(method, params)?;
        let ticket = match self.take_off(id, Dialect::Mcp, route, long, &meta) {
            Ok(ticket) => ticket,
            Err(Takeoff::Busy(error)) if is_call => {
                return Ok(Some(envelope::result(id, &mcp::refused_call(&error, is_modern))));
            }
            Err(refusal) => return Err(refusal.into()),
        };
        let landed = matches!(method, "initialize" | "server/discover").then(|| self.flights.landing(&ticket));
        if inbox.send(mcp::incoming(request, ticket)).await.is_ok()
            && let Some(landed) = landed
        {
            let _answered = landed.await;
        }
        Ok(None)
    }

    async fn plain_call(
        self: &Arc<Self>,
        id: &Id,
        name: &str,
        params: Params,
        route: &Route,
    ) -> Result<Option<String>, Fault> {
        let ticket = self.take_off(id, Dialect::Plain, route, self.is_long(name), &params.meta)?;
        let (connection, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move {
            let number = ticket.number;
            let answer = connection.call(name, params.fields, None, ticket).await;
            let outcome = match answer {
                Ok(value) => Ok(value.to_string()),
                Err(error) => Err(Fault::from(&error)),
            };
            connection.land(number, outcome).await;
        });
        Ok(None)
    }

    fn is_callable(&self, name: &str) -> bool {
        self.server.card(name).is_some() || (self.door.reach == Reach::Machine && self.server.is_control(name))
    }

    fn is_long(&self, name: &str) -> bool {
        self.server.card(name).map_or_else(|| self.server.is_control(name), |card| card.long)
    }

    fn take_off(
        &self,
        id: &Id,
        dialect: Dialect,
        route: &Route,
        long: bool,
        meta: &Map<String, Value>,
    ) -> Result<Ticket, Takeoff> {
        let budget = if long { Budget::unlimited() } else { Budget::lasting(DEADLINE) };
        let progress = match meta.get("progressToken") {
            Some(token @ (Value::String(_) | Value::Number(_))) => Reporter::new(token.clone(), self.outbox.clone()),
            _ => Reporter::default(),
        };
        self.flights.take_off(id, dialect, route.clone(), budget, progress).map_err(|refusal| match refusal {
            Refusal::IdTaken => Takeoff::IdTaken,
            Refusal::Full => Takeoff::Busy(
                Error::new(ErrorKind::Busy, format!("{MAX_OPEN} requests are open on this connection"))
                    .hint("Wait for one of them, then send this one again."),
            ),
        })
    }

    /// Asks the service, off the connection's own threads. A tool that panics has failed; the connection has not.
    pub async fn call(
        self: &Arc<Self>,
        name: String,
        arguments: Map<String, Value>,
        cap: Option<usize>,
        ticket: Ticket,
    ) -> Result<Value, Error> {
        let hello = self.hello();
        if self.server.card(&name).is_some_and(|card| card.writes) && !self.may_write() {
            return Err(Error::new(ErrorKind::ReadOnly, format!("{name} writes, and this connection may only read"))
                .hint("Use the Unix socket or stdio, or send the token in ixmcp/hello."));
        }
        let context = CallContext {
            root: hello.as_ref().and_then(|hello| hello.root()).unwrap_or_else(|| self.door.root.clone()),
            cap,
            budget: ticket.budget,
            progress: ticket.progress,
            reach: self.door.reach,
            hello,
        };
        let service = Arc::clone(&self.server.service);
        let work = move || panics::caught(|| service.call(&name, Value::Object(arguments), context));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))
    }

    fn may_write(&self) -> bool {
        match &self.door.writing {
            Writing::Allowed => true,
            Writing::WithToken(token) => self.hello().is_some_and(|hello| hello.brings(token)),
        }
    }

    fn hello(&self) -> Option<Arc<Hello>> {
        self.hello.get().cloned().flatten()
    }

    /// Which tools this client is shown.
    pub fn listing(&self) -> Listing {
        let chosen = self.hello().and_then(|hello| hello.tools.as_deref().map(Listing::parse));
        chosen.unwrap_or_else(|| self.door.listing.clone())
    }

    pub fn settle_on(&self, revision: ProtocolVersion) {
        *locked(&self.revision) = Some(revision);
    }

    /// Sends the answer to an open request: a result as JSON, or a fault.
    pub fn land(self: &Arc<Self>, number: u64, outcome: Result<String, Fault>) -> impl Future<Output = ()> + 'static {
        let connection = Arc::clone(self);
        let flight = connection.flights.land(number);
        async move {
            let Some(mut flight) = flight else { return };
            let reply = match outcome {
                _ if flight.is_forgotten => None,
                Ok(result) => Some(envelope::result(&flight.id, &result)),
                Err(fault) => Some(envelope::error(Some(&flight.id), &fault)),
            };
            let reply = reply.map(|reply| connection.counted(&flight, reply));
            connection.settle(flight.route.clone(), reply).await;
            if let Some(landed) = flight.landed.take() {
                let _nobody_waits = landed.send(());
            }
        }
    }

    /// An answer that its client would leave unread with too many others is not kept for it. Those of MCP are small by
    /// their cap, so that only plain ones are given up.
    fn counted(&self, flight: &Flight, reply: String) -> Reply {
        let unread = self.outbox.count_unread(reply.len());
        if unread.is_some() || flight.dialect == Dialect::Mcp {
            return Reply { text: reply, unread };
        }
        let error = Error::new(ErrorKind::Busy, "too many bytes of earlier answers are not read yet")
            .hint("Read them, then send this again.");
        Reply::from(envelope::error(Some(&flight.id), &Fault::from(&error)))
    }

    async fn settle(&self, route: Route, reply: Option<Reply>) {
        let (line, unread) = match route {
            Route::Line => match reply {
                Some(Reply { text, unread }) => (Some(text), unread.into_iter().collect()),
                None => return,
            },
            Route::Batch(batch, place) => batch.settle(place, reply),
        };
        if let Some(line) = line {
            self.outbox.send_counted(line, unread).await;
        }
    }

    /// Notifications are never answered, and only these do anything: a tool named in one is not run.
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        match method {
            Hello::METHOD => {
                let hello = params.and_then(|params| serde_json::from_str(params.get()).ok());
                let _not_first = self.hello.set(hello.map(Arc::new));
            }
            "notifications/cancelled" => {
                let params = Params::parse(params).unwrap_or_default();
                if let Some(id) = params.fields.get("requestId").and_then(Id::from_value) {
                    self.flights.cancel(&id);
                }
            }
            _ => {}
        }
    }
}

/// What became of a message.
enum Next {
    Settled(String),
    Silent,
    UnderWay,
}

/// Why a request cannot be begun.
enum Takeoff {
    IdTaken,
    Busy(Error),
}

impl From<Takeoff> for Fault {
    fn from(refusal: Takeoff) -> Self {
        match refusal {
            Takeoff::IdTaken => Self::request("a request with this id is still open"),
            Takeoff::Busy(error) => Self::from(&error),
        }
    }
}
