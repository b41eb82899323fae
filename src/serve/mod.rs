//! The transports: JSON-RPC, one message per line, with MCP and the plain methods on every connection.
//!
//! ```text
//! bytes ─► framing ─► envelope ─► mux ─┬─► tools/call, plain method ─► Service::call, on a blocking thread
//!                                      └─► handshake, tools/list ─► mcp (rmcp)    │
//! bytes ◄─ framing ◄────────────── in_flight ◄─ reply ◄───────────────────┴───────┘
//! ```
//! Where the bytes come from, and what answers:
//!
//! ```text
//! ixmcp mcp (relay) ────► .flashgrep/mcp.sock (socket_path) ─┐
//! programs of the user ─► 127.0.0.1:7777 (tcp, token) ───────┴─► daemon ─► mux ─► daemon_service ─► call_router ─┬─► tools
//! ixmcp mcp --no-daemon ───────────────────────────────────────► stdio ──► mux ───────────────────► call_router ─┴─► another daemon
//! clients elsewhere ─► ixmcp http (token, TLS) ─► a relay for each session ─► the daemon's socket, restricted by its hello
//! a browser ─► ixmcp ui (page, token) ─► the daemon's socket, or without a daemon the tools in its own process
//! ```
//! Owns bytes, protocol, ids, limits, cancellation, and the lifetime of the daemon. Does not own the tools, which are behind
//! [`Service`].

mod call_router;
pub(crate) mod client;
mod connection;
mod connection_owner;
mod connection_slots;
pub mod daemon;
mod daemon_service;
mod disk_changes;
mod envelope;
mod framing;
mod hello;
pub(crate) mod http;
mod in_flight;
pub(crate) mod launch;
mod ledger;
mod mcp;
mod member_daemons;
mod meters;
mod mux;
pub(crate) mod page;
mod progress;
mod recent;
mod relay;
mod service;
pub mod socket_path;
mod status;
mod tcp;
mod token;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use call_router::{CallRouter, call_params};
pub use framing::MAX_LINE;
pub(crate) use hello::{Hello, Restriction};
pub use in_flight::MAX_IN_FLIGHT;
pub(crate) use member_daemons::MemberDaemons;
pub(crate) use meters::ToolStatus;
pub use mux::connection;
pub(crate) use relay::Relay;
pub use service::{Service, ToolCard};
pub(crate) use status::{Status, TcpStatus};

use crate::error::{Error, Result};
use crate::model::printable;
pub use crate::tools::ClientScope;
use crate::tools::DEADLINE;

/// State that all connections of a process share.
pub struct Server {
    service: Arc<dyn Service>,
    cards: Vec<ToolCard>,
}

impl Server {
    pub fn new(service: Arc<dyn Service>) -> Arc<Self> {
        let cards = service.tools();
        Arc::new(Self { service, cards })
    }

    /// Rejects a list of tools that contains an unknown name, which would silently hide a tool from clients.
    pub fn check(&self, listing: &ToolListing) -> Result<()> {
        let ToolListing::Only(names) = listing else { return Ok(()) };
        let Some(unknown) = names.iter().find(|name| self.card(name).is_none()) else { return Ok(()) };
        let known: Vec<_> = self.cards.iter().map(|card| card.name).collect();
        Err(Error::invalid_argument(format!("no tool is named \"{}\"", printable(unknown)))
            .hint(format!("Use core, all, or names separated by commas: {}.", known.join(", "))))
    }

    fn is_control(&self, name: &str) -> bool {
        self.service.controls().contains(&name)
    }

    fn card(&self, name: &str) -> Option<&ToolCard> {
        self.cards.iter().find(|card| card.name == name)
    }
}

/// The rules for the clients of a listener.
#[derive(Clone, Debug)]
pub struct ConnectionPolicy {
    /// The repository of calls that do not name one, unless the hello does.
    pub root: PathBuf,
    pub listing: ToolListing,
    pub writing: WriteAccess,
    pub scope: ClientScope,
    /// Limits of the client in addition to those of its hello.
    pub restriction: Option<Restriction>,
    /// How long in-flight requests may continue after the client has closed its end.
    pub drain: Duration,
}

/// Whether tools that write may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteAccess {
    Allowed,
    /// Only by a client whose hello contains this token.
    WithToken(String),
}

/// Which tools `tools/list` returns. All tools can be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolListing {
    #[default]
    All,
    Core,
    Only(Vec<String>),
}

impl ToolListing {
    /// Parses `core`, `all`, or names separated by commas.
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "all" | "" => Self::All,
            "core" => Self::Core,
            names => Self::Only(names.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }

    fn shows(&self, card: &ToolCard) -> bool {
        match self {
            Self::All => true,
            Self::Core => card.core,
            Self::Only(names) => names.iter().any(|name| name == card.name),
        }
    }
}

/// Serves standard input and output until the input ends and every answer is written.
///
/// A client may pipe a request and close its end, so in-flight requests keep their deadline after the end of the input. If
/// the input is not a pipe, a thread may still wait for it afterwards: end the runtime with `shutdown_background`.
pub async fn stdio(server: Arc<Server>, root: PathBuf, listing: ToolListing) {
    let policy = ConnectionPolicy {
        root,
        listing,
        writing: WriteAccess::Allowed,
        scope: ClientScope::Machine,
        restriction: None,
        drain: DEADLINE,
    };
    // Reads pipes without a thread in between, with half the latency of tokio's own stdio. Falls back to that for other files.
    let (reader, writer) = rmcp::transport::stdio_pipes();
    connection(server, reader, writer, policy).await;
}

/// Serves standard input and output through the repository's daemon.
pub async fn stdio_by(relay: Relay) {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    relay.serve(reader, writer).await;
}
