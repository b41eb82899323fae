//! `ixmcp mcp`: forwards a client's lines to the repository's daemon and back until the client disconnects.
//!
//! Owns finding the daemon, having one started, and continuing with the next one when it ends. If there can be no daemon,
//! this process answers. The relay parses only envelopes, not the requests themselves.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::client::{Compatibility, DaemonConnection};
use super::envelope::{self, RpcError};
use super::framing::{Line, Lines, MAX_LINE, Outbox};
use super::hello::Hello;
use super::launch::Launcher;
use super::ledger::{Action, Ledger};
use super::socket_path::SocketPath;
use super::{ClientScope, ConnectionPolicy, Server, ToolListing, WriteAccess};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::tools::{self, Access};

/// Failed attempts to start a daemon before this process answers itself.
const MAX_ATTEMPTS: u32 = 6;
/// The pause between attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of the pipe between relay and server if this process answers itself.
const PIPE_BYTES: usize = 64 << 10;

/// A relay's settings: how to find its daemon, and how to work without one.
pub struct Relay {
    pub root: PathBuf,
    /// The client's current directory.
    pub start: PathBuf,
    pub hello: Hello,
    pub listing: ToolListing,
    pub launcher: Launcher,
    pub environment: Environment,
    /// Creates the server of this process, for use without a daemon.
    pub alone: Box<dyn Fn() -> Arc<Server> + Send + Sync>,
}

/// Why forwarding ended.
enum ForwardingEnd {
    /// The client has disconnected, or all its requests are answered.
    ClientDone,
    DaemonLost,
}

impl Relay {
    /// Serves a client until it disconnects.
    pub async fn serve<R, W>(&self, reader: R, writer: W)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outbox, writing) = Outbox::to(writer);
        let writing = tokio::spawn(writing);
        let ledger = Mutex::new(Ledger::new(only_reads));
        let mut client = ClientSide { lines: Lines::new(reader), outbox, ledger, has_left: false };
        let mut resend = Vec::new();
        loop {
            let end = match self.connect().await {
                Ok(DaemonConnection { mut reader, writer, .. }) => client.carry(&mut reader, writer, resend).await,
                Err(error) => {
                    tracing::warn!("no daemon, serving in this process: {error}");
                    client.carry_alone(self, resend).await
                }
            };
            if matches!(end, ForwardingEnd::ClientDone) {
                break;
            }
            let recovery = client.ledger().recover();
            for line in recovery.replies {
                client.outbox.send(line).await;
            }
            resend = recovery.resend;
            // Without in-flight requests, a new daemon is started only for the next line.
            if client.ledger().is_settled() && !client.next_line(&mut resend).await {
                break;
            }
        }
        client.outbox.end().await;
        let _written = tokio::time::timeout(tools::DEADLINE, writing).await;
    }

    /// Connects to the daemon. Has one started if there is none that this program can use.
    async fn connect(&self) -> Result<DaemonConnection> {
        let mut failure = None;
        for _ in 0..MAX_ATTEMPTS {
            let path = SocketPath::find(&self.root, &self.environment);
            if let Some(daemon) = DaemonConnection::connect(&path, &self.hello).await?
                && daemon.about.compatibility() == Compatibility::Usable
                // One that does not know restrictions would not enforce this one.
                && daemon.about.is_restricted == self.hello.restriction.is_some()
            {
                return Ok(daemon);
            }
            let (launcher, root) = (self.launcher.clone(), self.root.clone());
            let started = tokio::task::spawn_blocking(move || launcher.start(&root)).await;
            match started.unwrap_or_else(|_| Err(Error::internal("starting a daemon panicked"))) {
                Ok(()) => {}
                Err(error) if matches!(error.kind, ErrorKind::Internal | ErrorKind::Busy) => {
                    failure = Some(error);
                    tokio::time::sleep(ATTEMPT_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
        Err(failure.unwrap_or_else(|| Error::new(ErrorKind::Busy, "the daemon exits immediately after it starts")))
    }
}

/// The client's streams and its in-flight requests.
struct ClientSide<R> {
    lines: Lines<R>,
    outbox: Outbox,
    ledger: Mutex<Ledger>,
    /// Whether the client has closed its end. It may still receive answers.
    has_left: bool,
}

impl<R: AsyncRead + Unpin> ClientSide<R> {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    /// Forwards lines in both directions until one side ends. Sends the lines in `resend` first.
    async fn carry<F, W>(&mut self, far: &mut Lines<F>, writer: W, resend: Vec<String>) -> ForwardingEnd
    where
        F: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (to_far, writing) = Outbox::to(writer);
        let writing = tokio::spawn(writing);
        let Self { lines, outbox, ledger, has_left } = self;
        let up = async {
            for line in resend {
                to_far.send(line).await;
            }
            while let Some(line) = next(lines, ledger, outbox, has_left).await {
                to_far.send(line).await;
            }
            to_far.end().await;
            // The other direction continues until the answers have arrived.
            std::future::pending::<()>().await;
        };
        let down = async {
            while let Ok(Some(Line::Text(line))) = far.next().await {
                let Ok(line) = String::from_utf8(line) else { continue };
                if locked(ledger).settle(&line) {
                    outbox.send(line).await;
                }
            }
        };
        let is_connected = tokio::select! {
            () = up => true,
            () = down => true,
            () = outbox.closed() => false,
        };
        writing.abort();
        if !is_connected || (*has_left && locked(ledger).is_settled()) {
            ForwardingEnd::ClientDone
        } else {
            ForwardingEnd::DaemonLost
        }
    }

    async fn carry_alone(&mut self, relay: &Relay, resend: Vec<String>) -> ForwardingEnd {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let (reader, writer) = tokio::io::split(far);
        let policy = ConnectionPolicy {
            root: relay.start.clone(),
            listing: relay.listing.clone(),
            writing: WriteAccess::Allowed,
            scope: ClientScope::Machine,
            restriction: relay.hello.restriction.clone(),
            drain: tools::DEADLINE,
        };
        let server = (relay.alone)();
        let serving = tokio::spawn(super::connection(server, reader, writer, policy));
        let (reader, writer) = tokio::io::split(near);
        // The server in this process cannot be lost, so the end of its answers is the end of the client.
        self.carry(&mut Lines::up_to(usize::MAX, reader), writer, resend).await;
        serving.abort();
        ForwardingEnd::ClientDone
    }

    /// Waits for a line to forward; false if the client has disconnected.
    async fn next_line(&mut self, resend: &mut Vec<String>) -> bool {
        let Self { lines, outbox, ledger, has_left } = self;
        let line = tokio::select! {
            line = next(lines, ledger, outbox, has_left) => line,
            () = outbox.closed() => None,
        };
        resend.extend(line);
        !*has_left
    }
}

/// The next line of the client to forward; `None` if it has disconnected.
async fn next<R: AsyncRead + Unpin>(
    lines: &mut Lines<R>,
    ledger: &Mutex<Ledger>,
    outbox: &Outbox,
    has_left: &mut bool,
) -> Option<String> {
    while !*has_left {
        let reply = match lines.next().await {
            Ok(Some(Line::Text(line))) => match String::from_utf8(line) {
                Ok(line) => {
                    let action = locked(ledger).take(&line);
                    match action {
                        Action::Forward => return Some(line),
                        Action::Reply(reply) => reply,
                        Action::Drop => continue,
                    }
                }
                Err(_) => envelope::error(None, &RpcError::new(envelope::PARSE_ERROR, "the line is not UTF-8")),
            },
            Ok(Some(Line::TooLong)) => {
                envelope::error(None, &RpcError::request(format!("the line is longer than {MAX_LINE} bytes")))
            }
            Ok(None) | Err(_) => {
                *has_left = true;
                break;
            }
        };
        outbox.send(reply).await;
    }
    None
}

fn only_reads(tool: &str) -> bool {
    tools::find(tool).is_ok_and(|tool| tool.access == Access::Read)
}
