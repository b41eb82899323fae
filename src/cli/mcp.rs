//! `ixmcp mcp`: serve agents over stdin and stdout.

use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::{Outcome, Session, runtime};
use crate::error::Result;
use crate::serve::launch::Launcher;
use crate::serve::{self, CallRouter, Hello, Relay, Server, ToolListing};

/// Serve the tools over stdin and stdout, as MCP and as plain JSON-RPC methods
///
/// MCP clients run this command. It forwards messages to the repository's daemon and starts the daemon if none is
/// running.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Serve from this process, without a daemon
    #[arg(long)]
    no_daemon: bool,
    /// The tools to list: core, all, or names separated by commas [default: setting mcp.tools]
    #[arg(long)]
    tools: Option<String>,
}

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    let tools = arguments.tools.as_deref().unwrap_or(&session.config.tools);
    let listing = ToolListing::parse(tools);
    // In a folder that cannot be a repository, each call returns an error, and tools are listed all the same.
    let root = session.workspaces.root_of(None, &session.start).ok();
    let (workspaces, environment, own) =
        (Arc::clone(&session.workspaces), session.sources.environment.clone(), root.clone());
    let alone = move || {
        let router = CallRouter::new(Arc::clone(&workspaces), environment.clone(), own.clone(), None);
        Server::new(Arc::new(router))
    };
    if matches!(listing, ToolListing::Only(_)) {
        alone().check(&listing)?;
    }
    if root.is_none() || arguments.no_daemon {
        session.stay();
    }
    if let Some(root) = root.as_ref().filter(|root| arguments.no_daemon && session.workspaces.is_repository(root)) {
        begin_build(session, root);
    }
    let runtime = runtime()?;
    match root.filter(|_| !arguments.no_daemon) {
        Some(root) => {
            let mut hello = Hello::ours(session.start.clone());
            hello.env = session.sources.environment.python();
            hello.tools = Some(tools.to_owned());
            let relay = Relay {
                root,
                start: session.start.clone(),
                hello,
                listing,
                launcher: Launcher::new(&session.sources.environment, Vec::new())?,
                environment: session.sources.environment.clone(),
                alone: Box::new(alone),
            };
            runtime.block_on(serve::stdio_by(relay));
        }
        None => runtime.block_on(serve::stdio(alone(), session.start.clone(), listing)),
    }
    // A thread may still wait for input that will never come.
    runtime.shutdown_background();
    Ok(Outcome::Found)
}

/// Builds the index in the background, as a daemon does when it starts, unless one runs. Opening an index may wait for another
/// process, and clients do not wait for it.
fn begin_build(session: &Session, root: &Path) {
    if session.daemon(root).is_some() {
        return;
    }
    let (workspaces, root) = (Arc::clone(&session.workspaces), root.to_owned());
    let begin = move || match workspaces.at(&root) {
        Ok(workspace) => workspace.begin_update(),
        Err(error) => tracing::warn!("the index is not built yet: {error}"),
    };
    if let Err(error) = std::thread::Builder::new().name("begin".to_owned()).spawn(begin) {
        tracing::warn!("the index is not built yet: {error}");
    }
}
