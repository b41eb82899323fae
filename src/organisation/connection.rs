//! A connection to an organisation's server, for callers that are threads.
//!
//! Owns the runtime that drives it, deadlines, how much the server may answer, and cancellation: a call that is cancelled cancels its
//! statement on the server.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_postgres::config::{Config, Host};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Error as PgError};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{self, Target};
use super::errors::error_of;
use super::stream::{Allowance, Limited};
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{Error, ErrorKind, Result};
use crate::wording::{Command, Wording};

/// How often a waiting call looks whether it is cancelled.
const TICK: Duration = Duration::from_millis(20);
/// The time in which a server must accept a connection and a login.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// The time for cancelling a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// The server stops a statement after 300 s, even if this process is gone. One that does not answer then is gone itself.
const SETTINGS: &str = "SET statement_timeout = '300s'; SET lock_timeout = '60s'; SET client_min_messages = 'warning'";
const ANSWER_TIMEOUT: Duration = Duration::from_secs(330);
/// Bytes of an answer, unless a caller expects more.
const ANSWER_BYTES: u64 = 16 << 20;
/// The version of the functions that this program calls.
const PROTOCOL: i32 = 5;
const PROTOCOL_OF_SERVER: &str = "SELECT ixmcp.protocol()";

pub struct Connection {
    /// Dropped after the client, whose messages it drives.
    client: Client,
    cancel: CancelToken,
    tls: MakeRustlsConnect,
    /// Where a server over TCP was reached.
    peer: Option<Peer>,
    allowance: Allowance,
    runtime: Runtime,
    /// Whether the last statement ended, so that the connection can be used again.
    is_usable: bool,
}

/// A server over TCP.
#[derive(Clone)]
struct Peer {
    /// The name that its certificate must have.
    name: String,
    address: String,
    port: u16,
}

impl Connection {
    /// Connects to a server that has the schema of this program.
    pub fn open(address: &ServerAddress, budget: &Budget) -> Result<Self> {
        let mut connection = Self::open_any(address, budget)?;
        connection.check_protocol(budget)?;
        Ok(connection)
    }

    /// Whether the server answers, and has the schema of this program.
    pub(super) fn check_protocol(&mut self, budget: &Budget) -> Result<()> {
        let version: i32 =
            self.run(budget, async |client| client.query_one(PROTOCOL_OF_SERVER, &[]).await?.try_get(0))?;
        if version != PROTOCOL {
            let message =
                format!("the organisation's server has version {version} of the schema; this program needs {PROTOCOL}");
            let hint = if version > PROTOCOL {
                Wording::from("Install a newer ixmcp.")
            } else {
                ("An administrator runs ", Command("org init"), ".").into()
            };
            return Err(Error::new(ErrorKind::UnsupportedFormat, message).hint(hint));
        }
        Ok(())
    }

    /// Connects to a server that may lack the schema.
    pub(super) fn open_any(address: &ServerAddress, budget: &Budget) -> Result<Self> {
        let Target { config, tls } = address::target(address)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
        let allowance = Allowance::default();
        allowance.set(ANSWER_BYTES);
        let opened = runtime.block_on(async {
            let opening = async {
                let (client, peer) = connected(&config, &tls, &allowance).await?;
                client.batch_execute(SETTINGS).await.map_err(|error| error_of(&error))?;
                Ok::<_, Error>((client, peer))
            };
            tokio::select! {
                opened = tokio::time::timeout(OPEN_TIMEOUT, opening) => Some(opened.map_err(|_| silent())),
                () = spent(budget) => None,
            }
        });
        let (client, peer) = opened.ok_or_else(|| budget.error())???;
        Ok(Self { cancel: client.cancel_token(), client, tls, peer, allowance, runtime, is_usable: true })
    }

    /// Runs statements. When the budget is spent, they are cancelled on the server.
    pub(super) fn run<T>(
        &mut self,
        budget: &Budget,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, PgError>,
    ) -> Result<T> {
        self.run_for(ANSWER_BYTES, budget, work)
    }

    /// Runs statements whose answers have at most `most` bytes. A server that sends more is disconnected.
    pub(super) fn run_for<T>(
        &mut self,
        most: u64,
        budget: &Budget,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, PgError>,
    ) -> Result<T> {
        budget.check()?;
        self.allowance.set(most);
        self.is_usable = false;
        let client = &mut self.client;
        let done = self.runtime.block_on(async {
            tokio::select! {
                done = tokio::time::timeout(ANSWER_TIMEOUT, work(client)) => Some(done),
                () = spent(budget) => None,
            }
        });
        if self.allowance.is_spent() {
            let message = format!("the organisation's server sent more than {} MiB for one answer", most >> 20);
            return Err(Error::new(ErrorKind::UnsupportedFormat, message).hint("Check that its address is right."));
        }
        match done {
            Some(Ok(done)) => {
                self.is_usable = done.is_ok();
                done.map_err(|error| error_of(&error))
            }
            Some(Err(_)) => Err(silent()),
            None => {
                self.cancel();
                Err(budget.error())
            }
        }
    }

    /// Cancels the statement that runs on the server.
    fn cancel(&self) {
        let (cancel, tls) = (self.cancel.clone(), self.tls.clone());
        let cancelling = async {
            match &self.peer {
                None => cancel.cancel_query(tls).await.is_ok(),
                Some(peer) => {
                    let Ok(stream) = TcpStream::connect((peer.address.as_str(), peer.port)).await else { return false };
                    let Ok(tls) = tls_for(tls, &peer.name) else { return false };
                    cancel.cancel_query_raw(stream, tls).await.is_ok()
                }
            }
        };
        let cancelled = self.runtime.block_on(async { tokio::time::timeout(CANCEL_TIMEOUT, cancelling).await });
        if !matches!(cancelled, Ok(true)) {
            tracing::debug!("a statement could not be cancelled on the organisation's server");
        }
    }

    /// Runs work of a library with errors of its own.
    pub(super) fn with_client<T>(&mut self, work: impl AsyncFnOnce(&mut Client) -> T) -> T {
        self.allowance.set(ANSWER_BYTES);
        let client = &mut self.client;
        self.runtime.block_on(work(client))
    }

    /// Whether it can be used for another call.
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable && !self.client.is_closed()
    }
}

/// A client whose messages the runtime drives, and where its server is unless that is a socket of this machine.
async fn connected(config: &Config, tls: &MakeRustlsConnect, allowance: &Allowance) -> Result<(Client, Option<Peer>)> {
    let peers = peers(config);
    if peers.is_empty() {
        let (client, connection) = config.connect(tls.clone()).await.map_err(|error| error_of(&error))?;
        tokio::spawn(async move { note_end(connection.await) });
        return Ok((client, None));
    }
    let mut failed = silent();
    for peer in peers {
        let connecting = TcpStream::connect((peer.address.as_str(), peer.port));
        let timeout = config.get_connect_timeout().copied().unwrap_or(OPEN_TIMEOUT);
        let stream = match tokio::time::timeout(timeout, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                failed = not_connected(&error);
                continue;
            }
            Err(_) => continue,
        };
        // Without it, an answer may wait for the next.
        let _ = stream.set_nodelay(true);
        let stream = Limited { stream, allowance: allowance.clone() };
        let tls = tls_for(tls.clone(), &peer.name)?;
        match config.connect_raw(stream, tls).await {
            Ok((client, connection)) => {
                tokio::spawn(async move { note_end(connection.await) });
                return Ok((client, Some(peer)));
            }
            Err(error) => failed = error_of(&error),
        }
    }
    Err(failed)
}

/// The servers over TCP that an address names, in its order.
fn peers(config: &Config) -> Vec<Peer> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let name = |host: &Host| match host {
        Host::Tcp(name) => Some(name.clone()),
        // A socket of this machine.
        #[allow(unreachable_patterns, reason = "there is no other on Windows")]
        _ => None,
    };
    let peer = |at: usize| {
        let address = addresses.get(at).map(ToString::to_string);
        let name = hosts.get(at).map_or_else(|| address.clone(), name)?;
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        Some(Peer { address: address.unwrap_or_else(|| name.clone()), name, port })
    };
    (0..hosts.len().max(addresses.len())).filter_map(peer).collect()
}

fn tls_for(
    mut tls: MakeRustlsConnect,
    name: &str,
) -> Result<<MakeRustlsConnect as MakeTlsConnect<Limited<TcpStream>>>::TlsConnect> {
    let made = MakeTlsConnect::<Limited<TcpStream>>::make_tls_connect(&mut tls, name);
    made.map_err(|_| Error::invalid_argument("the host of the organisation's server is not a valid TLS server name"))
}

fn note_end(ended: Result<(), PgError>) {
    if let Err(error) = ended {
        tracing::debug!("the connection to the organisation's server ended: {}", error_of(&error));
    }
}

fn not_connected(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Unreachable, format!("the organisation's server does not answer: {error}"))
        .hint("Check its address and that it runs; then try again.")
}

/// The error about a server that says nothing.
fn silent() -> Error {
    Error::new(ErrorKind::Unreachable, "the organisation's server does not answer in time")
        .hint("Check its address and that it runs; then try again.")
}

/// Returns when the budget is spent.
async fn spent(budget: &Budget) {
    while !budget.is_spent() {
        // Not longer than until the deadline.
        let left = budget.deadline().map_or(TICK, |end| end.saturating_duration_since(Instant::now()));
        tokio::time::sleep(TICK.min(left)).await;
    }
}
