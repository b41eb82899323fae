//! `ixmcp mcp`: serve agents over stdin and stdout.

use std::sync::Arc;

use clap::Args;

use super::{Outcome, Session};
use crate::error::{Error, Result};
use crate::serve::{self, Listing, Registry};

/// Serve the tools over stdin and stdout: MCP, and plain JSON-RPC methods
///
/// This is the command for an MCP client's configuration.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Serve in this process alone
    #[arg(long)]
    no_daemon: bool,
    /// Which tools lists show: core, all, or names between commas [default: setting mcp.tools]
    #[arg(long)]
    tools: Option<String>,
}

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
    let tools = arguments.tools.as_deref().unwrap_or(&session.config.tools);
    let service = Arc::new(Registry::new(Arc::clone(&session.workspaces)));
    let served = runtime.block_on(serve::stdio(service, session.start.clone(), Listing::parse(tools)));
    // A thread may still wait for input that will never come.
    runtime.shutdown_background();
    served.map(|()| Outcome::Found)
}
