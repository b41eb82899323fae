//! The transports: lines of JSON-RPC in, lines out, speaking MCP and the plain methods on every connection.
//!
//! ```text
//! bytes ─► framing ─► envelope ─► mux ─┬─► plain method ─┬─► Service::call, on a blocking thread
//!                                      └─► mcp (rmcp) ───┘        │
//! bytes ◄─ framing ◄──────────────── flights ◄─ reply ◄───────────┘
//! ```
//! Where those bytes come from, and who answers:
//!
//! ```text
//! ixmcp mcp (relay) ─► .flashgrep/mcp.sock (place) ─┐
//! anybody of ours ───► 127.0.0.1:7777 (tcp, token) ─┴─► daemon ─► mux ─► resident ─► handover ─┬─► registry
//! ixmcp mcp --no-daemon ──────────────────────────────► stdio ──► mux ─────────────► handover ─┴─► another's daemon
//! a browser ─► ixmcp ui (page, token) ─► the daemon's socket, else its own registry
//! ```
//! Owns bytes, protocol, ids, limits, cancellation, and the daemon's life. Does not own the tools: those stand behind
//! [`Service`].

pub mod client;
pub mod daemon;
mod envelope;
mod flights;
mod framing;
mod handover;
mod hello;
pub mod launch;
mod ledger;
mod mcp;
mod meters;
mod mux;
pub mod page;
mod peer;
pub mod place;
mod progress;
mod recent;
mod registry;
mod relay;
mod resident;
mod service;
mod tcp;
mod token;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use flights::MAX_OPEN;
pub use framing::MAX_LINE;
pub use handover::{Handover, asked};
pub use hello::Hello;
pub use mux::connection;
pub use progress::Reporter;
pub use registry::Registry;
pub use relay::Relay;
pub use service::{CallContext, Service, ToolCard};

use crate::error::{Error, Result};
use crate::model::printable;

/// What every connection of a process shares.
pub struct Server {
    service: Arc<dyn Service>,
    cards: Vec<ToolCard>,
}

impl Server {
    pub fn new(service: Arc<dyn Service>) -> Arc<Self> {
        let cards = service.tools();
        Arc::new(Self { service, cards })
    }

    /// A list that a person asked for must not show less than that person thinks.
    pub fn check(&self, listing: &Listing) -> Result<()> {
        let Listing::Only(names) = listing else { return Ok(()) };
        let Some(unknown) = names.iter().find(|name| self.card(name).is_none()) else { return Ok(()) };
        let known: Vec<_> = self.cards.iter().map(|card| card.name).collect();
        Err(Error::invalid_argument(format!("no tool is named {:?}", printable(unknown)))
            .hint(format!("Give core, all, or names between commas: {}.", known.join(", "))))
    }

    fn is_control(&self, name: &str) -> bool {
        self.service.controls().contains(&name)
    }

    fn card(&self, name: &str) -> Option<&ToolCard> {
        self.cards.iter().find(|card| card.name == name)
    }
}

/// The rules of the way by which a client came in.
#[derive(Clone, Debug)]
pub struct Door {
    /// The repository of calls that name none, unless the hello says otherwise.
    pub root: PathBuf,
    pub listing: Listing,
    pub writing: Writing,
    pub reach: Reach,
    /// How long open calls may go on after the client has closed its end.
    pub drain: Duration,
}

/// Whether tools that write may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writing {
    Allowed,
    /// Only by a client whose hello brings this token.
    WithToken(String),
}

/// What a client can speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The door's own repository alone.
    Repository,
    /// Any repository of this user, and the controls.
    Machine,
}

/// Which tools lists show. Each can be called all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    #[default]
    All,
    Core,
    Only(Vec<String>),
}

impl Listing {
    /// Reads `core`, `all`, or names between commas.
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
/// A piped question deserves its answer, so open calls get their whole deadline after the end of the input. Where
/// the input is no pipe, a thread may still wait for it afterwards: leave the runtime by `shutdown_background`.
pub async fn stdio(server: Arc<Server>, root: PathBuf, listing: Listing) {
    let door = Door { root, listing, writing: Writing::Allowed, reach: Reach::Machine, drain: mux::DEADLINE };
    // Pipes without a thread in between: half the latency of tokio's own stdio (which it is where they are no pipes).
    let (reader, writer) = rmcp::transport::stdio_pipes();
    connection(server, reader, writer, door).await;
}

/// The same, by way of the repository's daemon.
pub async fn stdio_by(relay: Relay) {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    relay.serve(reader, writer).await;
}
