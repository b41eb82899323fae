//! A connection to an organisation's server, for callers that are threads.
//!
//! Owns the choice among the servers of an address, the runtime that drives the connection, deadlines, how much the server may answer, and
//! cancellation: a call that is cancelled cancels its statement on the server.

use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, Error as PgError, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{self, Server, Session};
use super::errors::{error_of, not_inherited, of_administrator};
use super::stream::{Allowance, Limited, UntilClosed};
use super::transaction::{Isolation, Transaction};
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::socket::connect_to_server;
use crate::wording::{Command, Wording};

/// How often a waiting call checks for cancellation.
const TICK: Duration = Duration::from_millis(20);
/// The time in which a server must accept a connection and a login.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// The time for cancelling a statement, which a pooler passes on when one of its connections is free.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// The server stops a statement after 300 s. One that does not answer then is gone itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(330);
/// The timeout for changes of the schema, which make indexes of all texts.
const LONG: Duration = Duration::from_hours(24);
/// Bytes of an answer, unless a caller expects more.
const ANSWER_BYTES: u64 = 16 << 20;
/// The version of the functions that this program calls.
const PROTOCOL: i32 = 6;
const PROTOCOL_OF_SERVER: &str = "SELECT ixmcp.protocol()";
/// Whether the server is a standby, and whether its transactions may only read.
const STATE: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
/// Whether the role has been granted what it does not inherit.
const NOT_INHERITED: &str = "SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'ixmcp_user'
AND pg_has_role(session_user, r.oid, 'MEMBER') AND NOT pg_has_role(current_user, r.oid, 'USAGE'))";

pub struct Connection {
    /// Dropped after the client, whose messages it drives.
    client: Client,
    cancel: CancelToken,
    tls: MakeRustlsConnect,
    server: Server,
    allowance: Allowance,
    runtime: Runtime,
    /// The time in which the server must answer.
    timeout: Duration,
    /// Whether the last statement ended, so that the connection can be used again.
    is_usable: bool,
}

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A standby will do.
    Read,
    Write,
}

/// A property that the server of a connection must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    Standby,
    Primary,
    Writable,
    NotWritable,
}

impl Wanted {
    /// Properties in the order in which servers are looked for.
    fn in_order(session: Session, purpose: Purpose) -> &'static [Self] {
        match (session, purpose) {
            (_, Purpose::Write) => &[Self::Writable],
            (Session::Any, _) => &[Self::Any],
            (Session::ReadWrite, _) => &[Self::Writable],
            (Session::ReadOnly, _) => &[Self::NotWritable],
            (Session::Primary, _) => &[Self::Primary],
            (Session::Standby, _) => &[Self::Standby],
            (Session::PreferStandby, _) => &[Self::Standby, Self::Any],
        }
    }

    fn accepts(self, is_standby: bool, only_reads: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Standby => is_standby,
            Self::Primary => !is_standby,
            Self::Writable => !is_standby && !only_reads,
            Self::NotWritable => is_standby || only_reads,
        }
    }

    /// The error about a server that is something else.
    fn unmet(self, is_standby: bool, purpose: Purpose) -> Error {
        if purpose == Purpose::Write {
            let why = if is_standby { "it is a standby" } else { "its transactions may only read" };
            return Error::new(ErrorKind::ReadOnly, format!("the organisation's server cannot be written: {why}"))
                .hint("Nothing was changed. Name the primary in the address, as HOST1,HOST2 next to the standby.");
        }
        let what = match self {
            Self::Any => "a server",
            Self::Standby => "a standby",
            Self::Primary => "a primary server",
            Self::Writable => "a server that can be written",
            Self::NotWritable => "a server that cannot be written",
        };
        Error::new(ErrorKind::Unreachable, format!("the address of the organisation wants {what}, and names none"))
            .hint("Change target_session_attrs, or name more hosts.")
    }
}

impl Connection {
    /// Connects to a server that has the schema of this program.
    pub fn open(address: &ServerAddress, purpose: Purpose, budget: &Budget) -> Result<Self> {
        let mut connection = Self::open_any(address, purpose, budget)?;
        connection.check_protocol(budget)?;
        Ok(connection)
    }

    /// Connects for a command of administrators.
    pub fn open_as_administrator(address: &ServerAddress, budget: &Budget) -> Result<Self> {
        Self::open(address, Purpose::Write, budget).map_err(of_administrator)
    }

    /// Whether the server answers, and has the schema of this program.
    pub(super) fn check_protocol(&mut self, budget: &Budget) -> Result<()> {
        let asked = self.run(budget, async |server| server.query_one(PROTOCOL_OF_SERVER, &[]).await?.try_get(0));
        let version: i32 = match asked {
            Err(error) if error.kind == ErrorKind::ReadOnly => return Err(self.why_denied(error, budget)),
            asked => asked?,
        };
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

    /// The error of a role that may not call the functions of the schema.
    fn why_denied(&mut self, error: Error, budget: &Budget) -> Error {
        let asked = self.run(budget, async |server| server.query_one(NOT_INHERITED, &[]).await?.try_get::<_, bool>(0));
        if matches!(asked, Ok(true)) { not_inherited() } else { error }
    }

    /// Connects to a server that may lack the schema: the first of the address that is as wanted.
    pub(super) fn open_any(address: &ServerAddress, purpose: Purpose, budget: &Budget) -> Result<Self> {
        let target = address::target(address)?;
        let mut failed = None;
        for wanted in Wanted::in_order(target.session, purpose) {
            for server in &target.servers {
                let opened = Self::open_one(server, &target.tls, budget).and_then(|mut connection| {
                    connection.check_state(*wanted, purpose, budget)?;
                    Ok(connection)
                });
                match opened {
                    Ok(connection) => return Ok(connection),
                    Err(_) if budget.is_spent() => return Err(budget.error()),
                    // A server that does not answer may be the one that is wanted.
                    Err(error) => match &failed {
                        Some(Error { kind: ErrorKind::Unreachable, .. }) if error.kind != ErrorKind::Unreachable => {}
                        _ => failed = Some(error),
                    },
                }
            }
        }
        Err(failed.unwrap_or_else(silent))
    }

    fn check_state(&mut self, wanted: Wanted, purpose: Purpose, budget: &Budget) -> Result<()> {
        if wanted == Wanted::Any {
            return Ok(());
        }
        let (is_standby, only_reads) = self.run(budget, async |server| {
            let row = server.query_one(STATE, &[]).await?;
            Ok((row.try_get(0)?, row.try_get(1)?))
        })?;
        if wanted.accepts(is_standby, only_reads) { Ok(()) } else { Err(wanted.unmet(is_standby, purpose)) }
    }

    fn open_one(server: &Server, tls: &MakeRustlsConnect, budget: &Budget) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
        let allowance = Allowance::default();
        allowance.set(ANSWER_BYTES);
        let opened = runtime.block_on(async {
            let opening = connected(server, tls, &allowance);
            tokio::select! {
                opened = tokio::time::timeout(OPEN_TIMEOUT, opening) => Some(opened.map_err(|_| silent())),
                () = spent(budget) => None,
            }
        });
        let client = opened.ok_or_else(|| budget.error())???;
        Ok(Self {
            cancel: client.cancel_token(),
            client,
            tls: tls.clone(),
            server: server.clone(),
            allowance,
            runtime,
            timeout: ANSWER_TIMEOUT,
            is_usable: true,
        })
    }

    /// Runs statements in one transaction. When the budget is spent, they are cancelled on the server.
    pub(super) fn run<T>(
        &mut self,
        budget: &Budget,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, PgError>,
    ) -> Result<T> {
        self.run_for(ANSWER_BYTES, Isolation::EachStatement, budget, work)
    }

    /// Runs statements whose answers have at most `most` bytes. A server that sends more is disconnected.
    pub(super) fn run_for<T>(
        &mut self,
        most: u64,
        isolation: Isolation,
        budget: &Budget,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, PgError>,
    ) -> Result<T> {
        budget.check()?;
        self.allowance.set(most);
        self.is_usable = false;
        let timeout = self.timeout;
        let doing = Transaction::within(&self.client, isolation, work);
        let done = self.runtime.block_on(async {
            let mut doing = pin!(doing);
            tokio::select! {
                done = tokio::time::timeout(timeout, &mut doing) => Some(done),
                () = spent(budget) => {
                    // The statement ends before its connection does, which a pooler may not survive otherwise.
                    let ending = async { tokio::join!(self.cancel(), doing) };
                    if tokio::time::timeout(CANCEL_TIMEOUT, ending).await.is_err() {
                        tracing::debug!("a statement could not be cancelled on the organisation's server");
                    }
                    None
                }
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
            None => Err(budget.error()),
        }
    }

    /// Lets statements take hours, which the server must be asked for, too.
    pub(super) fn wait_long(&mut self) {
        self.timeout = LONG;
    }

    /// Asks the server to end the statement that runs there, and waits until the server has closed that request.
    async fn cancel(&self) {
        let asked = match &self.server.peer {
            None => match connect_to_server(&self.server.config).await {
                // Sockets are not encrypted.
                Ok(stream) => self.cancel.cancel_query_raw(UntilClosed(stream), NoTls).await.is_ok(),
                Err(_) => false,
            },
            Some(peer) => {
                let connected = TcpStream::connect((peer.address.as_str(), peer.port)).await;
                match (connected, tls_for(self.tls.clone(), &peer.name)) {
                    (Ok(stream), Ok(tls)) => {
                        self.cancel.cancel_query_raw(UntilClosed(stream), UntilClosed(tls)).await.is_ok()
                    }
                    _ => false,
                }
            }
        };
        if !asked {
            tracing::debug!("the organisation's server could not be asked to cancel a statement");
        }
    }

    /// Whether it can be used for another call.
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable && !self.client.is_closed()
    }
}

/// A client of a server, whose messages the runtime drives.
async fn connected(server: &Server, tls: &MakeRustlsConnect, allowance: &Allowance) -> Result<Client> {
    let config = &server.config;
    let Some(peer) = &server.peer else {
        let (client, connection) = config.connect(tls.clone()).await.map_err(|error| error_of(&error))?;
        tokio::spawn(async move { note_end(connection.await) });
        return Ok(client);
    };
    let connecting = TcpStream::connect((peer.address.as_str(), peer.port));
    let timeout = config.get_connect_timeout().copied().unwrap_or(OPEN_TIMEOUT);
    let stream = tokio::time::timeout(timeout, connecting).await.map_err(|_| silent())?;
    let stream = stream.map_err(|error| not_connected(&error))?;
    // Without it, an answer may wait for the next.
    let _ = stream.set_nodelay(true);
    let stream = Limited { stream, allowance: allowance.clone() };
    let tls = tls_for(tls.clone(), &peer.name)?;
    let (client, connection) = config.connect_raw(stream, tls).await.map_err(|error| error_of(&error))?;
    tokio::spawn(async move { note_end(connection.await) });
    Ok(client)
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

/// The error about a server that does not answer.
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
