//! `ixmcp mcp`: a client's lines to the repository's daemon and back, for as long as the client stays.
//!
//! Owns finding the daemon, having one started, and going on with the next when one ends; where there can be none,
//! the lines are answered in this process. It reads envelopes alone: what is asked is the daemon's to understand.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::client::{Age, Peer};
use super::envelope::{self, Fault};
use super::framing::{Line, Lines, MAX_LINE, Outbox};
use super::hello::Hello;
use super::launch::Launcher;
use super::ledger::{Ledger, Take};
use super::mux;
use super::place::Place;
use super::{Door, Listing, Reach, Server, Writing};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::tools::{self, Access};

/// Daemons that may fail to start before this process serves alone.
const ATTEMPTS: u32 = 6;
/// Between those.
const BREATH: Duration = Duration::from_millis(50);
/// Bytes between this process's two halves, when it serves alone.
const PIPE: usize = 64 << 10;

/// What a relay needs to find its daemon, and to do without.
pub struct Relay {
    pub root: PathBuf,
    /// Where the client stands.
    pub start: PathBuf,
    pub hello: Hello,
    pub listing: Listing,
    pub launcher: Launcher,
    pub environment: Environment,
    /// Makes the server of this process, should there be no daemon.
    pub alone: Box<dyn Fn() -> Arc<Server> + Send + Sync>,
}

/// How carrying lines ended.
enum End {
    /// The client has gone, and has its answers.
    Done,
    /// The daemon has gone.
    Lost,
}

impl Relay {
    /// Serves the client at these streams until it leaves.
    pub async fn serve<R, W>(&self, reader: R, writer: W)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outbox, writing) = Outbox::to(writer);
        let writing = tokio::spawn(writing);
        let ledger = Mutex::new(Ledger::new(only_reads));
        let mut client = ClientSide { lines: Lines::new(reader), outbox, ledger, has_left: false };
        let mut again = Vec::new();
        loop {
            let end = match self.reach().await {
                Ok(Peer { mut reader, writer, .. }) => client.carry(&mut reader, writer, again).await,
                Err(error) => {
                    tracing::warn!("no daemon, serving in this process: {error}");
                    client.carry_alone(self, again).await
                }
            };
            if matches!(end, End::Done) {
                break;
            }
            let left = client.ledger().lost();
            for line in left.replies {
                client.outbox.send(line).await;
            }
            again = left.again;
            // A daemon is not started again for nobody: the next line will.
            if client.ledger().is_settled() && !client.next_line(&mut again).await {
                break;
            }
        }
        client.outbox.end().await;
        let _written = tokio::time::timeout(mux::DEADLINE, writing).await;
    }

    /// Connects to the daemon, and has one started where there is none that this program can use.
    async fn reach(&self) -> Result<Peer> {
        let mut failure = None;
        for _ in 0..ATTEMPTS {
            let place = Place::of(&self.root, &self.environment);
            if let Some(peer) = Peer::connect(&place, &self.hello).await?
                && peer.about.age() == Age::Usable
            {
                return Ok(peer);
            }
            let (launcher, root) = (self.launcher.clone(), self.root.clone());
            let started = tokio::task::spawn_blocking(move || launcher.start(&root)).await;
            match started.unwrap_or_else(|_| Err(Error::internal("starting a daemon stopped in the middle"))) {
                Ok(()) => {}
                Err(error) if matches!(error.kind, ErrorKind::Internal | ErrorKind::Busy) => {
                    failure = Some(error);
                    tokio::time::sleep(BREATH).await;
                }
                Err(error) => return Err(error),
            }
        }
        Err(failure.unwrap_or_else(|| Error::new(ErrorKind::Busy, "daemons start and end at once")))
    }
}

/// The client's streams and what it has asked.
struct ClientSide<R> {
    lines: Lines<R>,
    outbox: Outbox,
    ledger: Mutex<Ledger>,
    /// It sends no more, but may still be answered.
    has_left: bool,
}

impl<R: AsyncRead + Unpin> ClientSide<R> {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    /// Carries lines both ways until one side ends, beginning with `again`.
    async fn carry<F, W>(&mut self, far: &mut Lines<F>, writer: W, again: Vec<String>) -> End
    where
        F: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (to_far, writing) = Outbox::to(writer);
        let writing = tokio::spawn(writing);
        let Self { lines, outbox, ledger, has_left } = self;
        let up = async {
            for line in again {
                to_far.send(line).await;
            }
            while let Some(line) = next(lines, ledger, outbox, has_left).await {
                to_far.send(line).await;
            }
            to_far.end().await;
            // The answers still come the other way.
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
        let is_heard = tokio::select! {
            () = up => true,
            () = down => true,
            () = outbox.closed() => false,
        };
        writing.abort();
        if !is_heard || (*has_left && locked(ledger).is_settled()) { End::Done } else { End::Lost }
    }

    async fn carry_alone(&mut self, relay: &Relay, again: Vec<String>) -> End {
        let (near, far) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(far);
        let door = Door {
            root: relay.start.clone(),
            listing: relay.listing.clone(),
            writing: Writing::Allowed,
            reach: Reach::Machine,
            drain: mux::DEADLINE,
        };
        let server = (relay.alone)();
        let serving = tokio::spawn(super::connection(server, reader, writer, door));
        let (reader, writer) = tokio::io::split(near);
        // Nothing is lost on the way to oneself: the end of the answers is the end.
        self.carry(&mut Lines::up_to(usize::MAX, reader), writer, again).await;
        serving.abort();
        End::Done
    }

    /// Waits for a line to be sent on; false when the client has left.
    async fn next_line(&mut self, again: &mut Vec<String>) -> bool {
        let Self { lines, outbox, ledger, has_left } = self;
        let line = tokio::select! {
            line = next(lines, ledger, outbox, has_left) => line,
            () = outbox.closed() => None,
        };
        again.extend(line);
        !*has_left
    }
}

/// The next line of the client that goes to the daemon; `None` when it has left.
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
                    let take = locked(ledger).take(&line);
                    match take {
                        Take::Forward => return Some(line),
                        Take::Reply(reply) => reply,
                        Take::Drop => continue,
                    }
                }
                Err(_) => envelope::error(None, &Fault::new(envelope::PARSE_ERROR, "the line is no UTF-8")),
            },
            Ok(Some(Line::TooLong)) => {
                envelope::error(None, &Fault::request(format!("the line is longer than {MAX_LINE} bytes")))
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
