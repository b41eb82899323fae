//! `ixmcp http`: MCP over Streamable HTTP, for clients that cannot start a process here.
//!
//! ```text
//! client ─► TLS ─► gate (host, origin, token) ─► endpoint ─┬─► session ──┬─► pipe ─► relay ─► the repository's daemon
//!                                                          └─► borrowed ─┘
//! ```
//! Owns the port, its limits, and HTTP in both forms that MCP has given it: `session` for the revisions with a handshake, and
//! requests without a session for the others. Does not own the answers: the daemon gives them, and restricts the connection,
//! as the hello of this process requires.

#![allow(clippy::result_large_err, reason = "a refusal is a reply, and a request has one reply")]

mod endpoint;
mod gate;
mod pipe;
mod reply;
mod repository;
mod rules;
mod session;
mod tls;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;

use self::gate::{Admitted, Gate};
pub(crate) use self::gate::{Host, Origin};
use self::reply::Reply;
use self::repository::Repository;
use self::session::Sessions;
use super::Relay;
use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process;

/// Connections that have not sent the token, and that have.
const MAX_UNAUTHENTICATED: usize = 256;
const MAX_AUTHENTICATED: usize = 512;
/// How long a connection may be open without a request that has the token.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout for the next request's header, and so for a connection without requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 << 10;
/// How long a client may read nothing of a response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a failed accept, for example because the process has no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often sessions are checked for expiry.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) struct HttpSettings {
    pub listen: SocketAddr,
    pub token: String,
    /// The certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub is_behind_tls_proxy: bool,
    pub hosts: Vec<Host>,
    pub origins: Vec<Origin>,
    /// The repositories, by their names in paths.
    pub repositories: Vec<(String, Relay)>,
}

/// A server that listens on its port and is ready to be served.
pub(crate) struct HttpServer {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    state: Arc<State>,
}

/// State that all connections share.
struct State {
    gate: Gate,
    slots: Arc<ConnectionSlots>,
    repositories: Vec<Arc<Repository>>,
    sessions: Sessions,
}

impl HttpServer {
    pub async fn open(settings: HttpSettings) -> Result<Self> {
        let HttpSettings { listen, token, tls, is_behind_tls_proxy, hosts, origins, repositories } = settings;
        let tls = tls.map(|(certificate, key)| tls::acceptor(&certificate, &key)).transpose()?;
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            let holder = super::connection_owner::listener_on(listen.port())
                .map_or_else(String::new, |holder| format!(" ({holder} has it)"));
            Error::new(ErrorKind::Busy, format!("cannot listen on {listen}: {error}{holder}"))
                .hint("Choose another address or port with --listen.")
        })?;
        let own = listener.local_addr().map_err(|error| Error::internal("the port has no number").caused_by(error))?;
        let is_loopback = own.ip().is_loopback();
        let mut names = hosts;
        if is_loopback {
            names.extend(["127.0.0.1", "[::1]", "localhost"].map(|name| Host::new(name, Some(own.port()))));
            names.extend(Host::parse(&own.to_string()));
        }
        let is_secure = tls.is_some() || is_behind_tls_proxy;
        let gate = Gate { token, hosts: names, allows_addresses: !is_loopback, origins, is_secure };
        let repositories = repositories.into_iter().map(|(name, relay)| Repository::new(name, relay)).collect();
        let slots = ConnectionSlots::new(MAX_UNAUTHENTICATED, MAX_AUTHENTICATED);
        // Each client needs two file descriptors, and the default limit is too low.
        process::raise_file_limit();
        let state = Arc::new(State { gate, slots, repositories, sessions: Sessions::default() });
        Ok(Self { listener, tls, state })
    }

    /// The address of each repository, with its root.
    pub fn addresses(&self) -> Vec<(String, &Path)> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let own = self.listener.local_addr().map_or_else(|_| String::new(), |own| own.to_string());
        let repositories = &self.state.repositories;
        let path = |name: &str| if repositories.len() == 1 { String::new() } else { format!("/{name}") };
        repositories
            .iter()
            .map(|repository| (format!("{scheme}://{own}/mcp{}", path(&repository.name)), &*repository.root))
            .collect()
    }

    /// Serves until the future is dropped.
    pub async fn serve(self) -> Infallible {
        let state = Arc::clone(&self.state);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(EXPIRY_INTERVAL).await;
                state.sessions.expire();
            }
        });
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(receive(Arc::clone(&self.state), self.tls.clone(), stream));
                }
                Err(error) => {
                    tracing::debug!(%error, "accepting a connection failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

async fn receive(state: Arc<State>, tls: Option<TlsAcceptor>, stream: TcpStream) {
    let slot = Arc::new(state.slots.enter());
    let _slower = stream.set_nodelay(true);
    let is_admitted = Arc::new(AtomicBool::new(false));
    let serving = async {
        match tls {
            None => serve_connection(&state, stream, &slot, &is_admitted).await,
            Some(tls) => match tls.accept(stream).await {
                Ok(stream) => serve_connection(&state, stream, &slot, &is_admitted).await,
                Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
            },
        }
    };
    let overdue = async {
        tokio::time::sleep(ADMISSION_TIMEOUT).await;
        if is_admitted.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = serving => {}
        () = overdue => tracing::debug!("a connection without a token was closed"),
        () = slot.evicted() => tracing::debug!("a connection without a token was closed for a new one"),
    }
}

async fn serve_connection<S>(state: &Arc<State>, stream: S, slot: &Arc<ConnectionSlot>, is_admitted: &Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Send,
{
    let answer = |request: Request<Incoming>| {
        let (state, slot, is_admitted) = (Arc::clone(state), Arc::clone(slot), Arc::clone(is_admitted));
        async move {
            let admitted = || {
                is_admitted.store(true, Ordering::Relaxed);
                slot.keep();
            };
            Ok::<_, Infallible>(state.answer(request, admitted).await)
        }
    };
    let mut server = hyper::server::conn::http1::Builder::new();
    let server = server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_headers(MAX_HEADERS);
    let server = server.max_buf_size(MAX_HEADER_BYTES);
    if let Err(error) = server.serve_connection(TokioIo::new(bounded(stream)), service_fn(answer)).await {
        // Clients close connections at any time.
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The connection with a timeout for writes: a client that never reads its answers would occupy its slot forever.
fn bounded<S: AsyncRead + AsyncWrite>(stream: S) -> Pin<Box<TimeoutWriter<S>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIMEOUT));
    Box::pin(stream)
}

impl State {
    async fn answer(&self, request: Request<Incoming>, admitted: impl FnOnce()) -> Reply {
        let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
        let mut reply = match self.gate.admit(&request) {
            Err(refusal) => refusal,
            Ok(Admitted::Preflight(reply)) => reply,
            Ok(Admitted::Request(origin)) => {
                admitted();
                let mut reply = endpoint::answer(self, request).await;
                gate::add_origin(&mut reply, origin.as_ref());
                reply
            }
        };
        // What follows such a body on a connection might be meant as part of it by a proxy.
        if is_chunked {
            reply = reply::closing(reply);
        }
        reply
    }
}
