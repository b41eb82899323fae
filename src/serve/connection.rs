//! The state of one connection, and its replies.
//!
//! Owns what the client said about itself, what limits it, which tools it may list, and that each request is answered once. Does not
//! own what its messages start (`mux`).

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};

use rmcp::model::ProtocolVersion;

use super::envelope::{self, RpcError};
use super::framing::Outbox;
use super::in_flight::{Dialect, InFlightRequest, InFlightRequests, Reply, Route};
use super::{ConnectionPolicy, Hello, Restriction, Server, ToolCard, ToolListing};
use crate::error::{Error, ErrorKind};
use crate::locked::locked;

/// The state of one connection.
pub struct Connection {
    pub server: Arc<Server>,
    pub(super) policy: ConnectionPolicy,
    pub(super) outbox: Outbox,
    pub(super) in_flight: InFlightRequests,
    pub(super) hello: OnceLock<Option<Arc<Hello>>>,
    /// The revision that `initialize` negotiated; `None` for clients that have not sent it.
    pub(super) revision: Mutex<Option<ProtocolVersion>>,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, policy: ConnectionPolicy, outbox: Outbox) -> Self {
        Self {
            server,
            policy,
            outbox,
            in_flight: InFlightRequests::new(),
            hello: OnceLock::new(),
            revision: Mutex::new(None),
        }
    }

    pub(super) fn hello(&self) -> Option<Arc<Hello>> {
        self.hello.get().cloned().flatten()
    }

    /// The restriction of this client: from its hello, or from the policy of a process that serves it without a daemon.
    pub(super) fn restriction(&self) -> Option<Restriction> {
        let said = self.hello().and_then(|hello| hello.restriction.clone());
        said.or_else(|| self.policy.restriction.clone())
    }

    /// The tools that `tools/list` returns to this client.
    pub fn listed(&self) -> Vec<&ToolCard> {
        let chosen = self.hello().and_then(|hello| hello.tools.as_deref().map(ToolListing::parse));
        let listing = chosen.unwrap_or_else(|| self.policy.listing.clone());
        let hides_writers = self.restriction().is_some_and(|restriction| !restriction.allow_write);
        let is_listed = |card: &&ToolCard| listing.shows(card) && !(hides_writers && card.writes);
        self.server.cards.iter().filter(is_listed).collect()
    }

    pub fn set_revision(&self, revision: ProtocolVersion) {
        *locked(&self.revision) = Some(revision);
    }

    /// Sends the answer to an in-flight request: a result as JSON, or an error.
    pub fn finish(
        self: &Arc<Self>,
        number: u64,
        outcome: Result<String, RpcError>,
    ) -> impl Future<Output = ()> + 'static {
        let connection = Arc::clone(self);
        let request = connection.in_flight.finish(number);
        async move {
            let Some(mut request) = request else { return };
            let reply = match outcome {
                _ if request.is_cancelled => None,
                Ok(result) => Some(envelope::result(&request.id, &result)),
                Err(fault) => Some(envelope::error(Some(&request.id), &fault)),
            };
            let reply = reply.map(|reply| connection.counted(&request, reply));
            connection.settle(request.route.clone(), reply).await;
            if let Some(finished) = request.finished.take() {
                let _not_awaited = finished.send(());
            }
        }
    }

    /// Counts a reply as unread. If the client has too many unread bytes, an error replaces it. MCP replies are always kept,
    /// because their size is limited.
    fn counted(&self, request: &InFlightRequest, reply: String) -> Reply {
        let unread = self.outbox.count_unread(reply.len());
        if unread.is_some() || request.dialect == Dialect::Mcp {
            return Reply { text: reply, unread };
        }
        let error = Error::new(ErrorKind::Busy, "too many bytes of earlier answers are unread")
            .hint("Read them, then send this request again.");
        Reply::from(envelope::error(Some(&request.id), &RpcError::from(&error)))
    }

    pub(super) async fn settle(&self, route: Route, reply: Option<Reply>) {
        let (line, unread) = match route {
            Route::Line => match reply {
                Some(Reply { text, unread }) => (Some(text), unread.into_iter().collect()),
                None => return,
            },
            Route::Batch(batch, index) => batch.settle(index, reply),
        };
        if let Some(line) = line {
            self.outbox.send_counted(line, unread).await;
        }
    }
}
