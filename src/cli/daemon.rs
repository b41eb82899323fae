//! `ixmcp daemon`: run, start, stop and inspect the daemon of a repository.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Outcome, Session, log, output, runtime, sync};
use crate::error::Result;
use crate::model::printable;
use crate::platform::process;
use crate::serve::daemon::{self, DaemonSettings};
use crate::serve::launch::{self, Launcher};
use crate::serve::socket_path::SocketPath;
use crate::serve::{Status, TcpStatus, ToolListing, ToolStatus};

/// Run, start, stop or inspect the repository's daemon
///
/// One process per repository updates the index and serves all clients, on .flashgrep/mcp.sock and on a local TCP port.
/// `ixmcp mcp` starts it automatically.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the daemon in the foreground
    Run {
        #[command(flatten)]
        options: Options,
        /// Detach from the terminal and log to .ixmcp/log
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Start the daemon and wait until it is ready
    Start {
        #[command(flatten)]
        options: Options,
    },
    /// Stop the daemon and wait until it has exited
    Stop,
    /// Show the state of the daemon
    Status,
}

#[derive(Debug, Args)]
struct Options {
    /// Loopback address and port to listen on in addition to the socket, or off [default: setting daemon.tcp]
    #[arg(long, value_name = "ADDR:PORT|off")]
    tcp: Option<String>,
    /// Exit after this time without a client: minutes, or a number with s, m or h [default: setting daemon.idle]
    #[arg(long, value_name = "TIME")]
    idle: Option<String>,
}

impl Options {
    fn settings(&self) -> Vec<(&'static str, String)> {
        let named = [("daemon.tcp", &self.tcp), ("daemon.idle", &self.idle)].into_iter();
        named.filter_map(|(name, value)| Some((name, value.clone()?))).collect()
    }

    fn words(&self) -> Vec<String> {
        let flag = |name: &str, value: &Option<String>| {
            value.iter().map(|value| format!("--{name}={value}")).collect::<Vec<_>>()
        };
        [flag("tcp", &self.tcp), flag("idle", &self.idle)].concat()
    }
}

impl Arguments {
    /// Settings that the command line says.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        match &self.verb {
            Verb::Run { options, .. } | Verb::Start { options, .. } => options.settings(),
            Verb::Stop | Verb::Status => Vec::new(),
        }
    }

    pub(super) fn is_detached(&self) -> bool {
        matches!(self.verb, Verb::Run { detached: true, .. })
    }
}

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    match &arguments.verb {
        Verb::Run { options, detached } => serve(session, options, *detached),
        Verb::Start { options } => start(session, options),
        Verb::Stop => stop(session),
        Verb::Status => status(session),
    }
}

fn serve(session: &Session, options: &Options, is_detached: bool) -> Result<Outcome> {
    session.stay();
    if is_detached {
        process::leave_terminal();
    }
    let root = session.workspaces.root(&session.start)?;
    let Some(claim) = SocketPath::find(&root, &session.sources.environment).claim(&session.sources.environment)? else {
        output::note("a daemon is already running for this repository");
        return Ok(Outcome::Found);
    };
    // Opening the index makes any folder a repository.
    let is_repository = session.workspaces.is_repository(&root);
    // Opening the index creates the folder .ixmcp safely.
    let workspace = session.workspaces.at(&root)?;
    if is_detached {
        log::open_file(workspace.folder(), &claim.path.socket)?;
    }
    if is_repository {
        // Clients start the daemon before they send a request: the index is built by then, or nearly so.
        workspace.begin_update();
    }
    drop(workspace);
    let settings = DaemonSettings {
        config: session.config.daemon.clone(),
        listing: ToolListing::parse(&session.config.tools),
        environment: session.sources.environment.clone(),
        launcher: Some(Launcher::new(&session.sources.environment, options.words())?),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let runtime = runtime()?;
    let served = runtime.block_on(daemon::run(claim, Arc::clone(&session.workspaces), settings));
    runtime.shutdown_background();
    served.map(|()| Outcome::Found)
}

fn start(session: &Session, options: &Options) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let launcher = Launcher::new(&session.sources.environment, options.words())?;
    let about = launch::ensure(&root, &launcher)?;
    session.show(&json!({ "pid": about.pid, "version": about.version, "root": root }), true, || {
        output::note(&format!("process {} serves {}", about.pid, printable(&root.to_string_lossy())));
    })
}

fn stop(session: &Session) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let was_running = launch::stop(&root, &session.sources.environment)?;
    session.show(&json!({ "stopped": was_running, "root": root }), was_running, || {
        if !was_running {
            output::note("no daemon is running for this repository");
        }
    })
}

fn status(session: &Session) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let status = launch::status(&root, &session.sources.environment)?;
    match &status {
        Some(status) => session.show(status, true, || print(status)),
        None => session.show(&json!({ "running": false, "root": root }), false, || {
            output::note("no daemon is running for this repository");
        }),
    }
}

fn print(status: &Status) {
    let Status { about, memory, uptime_seconds, clients, .. } = status;
    let size = |bytes: Option<u64>| sync::size(bytes.unwrap_or(0));
    let path = |path: &Path| printable(&path.to_string_lossy());
    output::line(&format!("process    {}, release {}", about.pid, printable(&about.version)));
    output::line(&format!("up         {uptime_seconds} s"));
    output::line(&format!("root       {}", path(&about.root)));
    output::line(&format!("socket     {}", path(&status.socket)));
    let tcp = match &status.tcp {
        Some(TcpStatus::Listening(addresses)) => printable(&addresses.join(", ")),
        Some(TcpStatus::Failed(reason)) => printable(reason),
        None => "off".to_owned(),
    };
    output::line(&format!("tcp        {tcp}"));
    output::line(&format!("clients    {clients}"));
    let pending = output::count(status.pending_changes, "change", "changes");
    output::line(&format!("watching   {}, {pending} pending", printable(&status.watch_mode)));
    output::line(&format!(
        "memory     {}, {} private, peak {}",
        size(memory.rss_bytes),
        size(memory.own_bytes),
        size(memory.peak_bytes)
    ));
    for (tool, ToolStatus { calls, errors, p50_us, p99_us }) in &status.requests {
        let (p50, p99) = (p50_us.unwrap_or_default(), p99_us.unwrap_or_default());
        output::line(&format!("  {tool:<20} {calls:>8} calls {errors:>6} errors   p50 {p50} µs   p99 {p99} µs"));
    }
}
