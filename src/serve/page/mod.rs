//! The web page for users: a web server on 127.0.0.1 that shows what agents see, while `ixmcp ui` runs.
//!
//! ```text
//! browser ─► gate (host, origin, token) ─┬─► assets, in the binary
//!                                        └─► /api/ ─► backend: the repository's daemon, or this process's own registry
//! ```
//! Owns the port, HTTP and its limits. Does not own the answers, which come from the tools that agents call; `api` lists the
//! read-only tools that the page may call. The page's sources and the built files are in `ui/`.

mod api;
mod assets;
mod backend;
mod gate;
pub(super) mod views;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutWriter;

use self::backend::Backend;
use self::gate::Gate;
use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::workspace::Workspaces;

/// The timeout for reading the header of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections without and with the token. A browser opens six, which all windows share.
const MAX_UNAUTHENTICATED: usize = 64;
const MAX_AUTHENTICATED: usize = 64;
/// How long a browser may read nothing of a response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a failed accept, for example because the process has no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub struct PageSettings {
    /// The repository whose files and entities are shown first.
    pub root: PathBuf,
    /// The repositories that are searched, as answers name them, if those are several.
    pub repositories: Vec<String>,
    /// The user's current directory.
    pub start: PathBuf,
    /// 0: any free port.
    pub port: u16,
    pub environment: Environment,
    pub workspaces: Arc<Workspaces>,
}

/// A page that listens on its port and is ready to be served.
pub struct Page {
    listener: TcpListener,
    server: Arc<PageServer>,
}

/// State that all connections share.
struct PageServer {
    gate: Gate,
    backend: Backend,
    slots: Arc<ConnectionSlots>,
}

impl Page {
    pub async fn open(settings: PageSettings) -> Result<Self> {
        let port = settings.port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
            let holder = super::connection_owner::listener_on(port)
                .map_or_else(String::new, |holder| format!(" ({holder} has it)"));
            Error::new(ErrorKind::Busy, format!("cannot listen on port {port}: {error}{holder}"))
                .hint("Choose another --port, or omit it to use any free port.")
        })?;
        let own = listener.local_addr().map_err(|error| Error::internal("the port has no number").caused_by(error))?;
        let gate = Gate::new(own.port())?;
        let backend = Backend::new(settings);
        let server = PageServer { gate, backend, slots: ConnectionSlots::new(MAX_UNAUTHENTICATED, MAX_AUTHENTICATED) };
        Ok(Self { listener, server: Arc::new(server) })
    }

    /// The page's address. It contains the token: anyone who knows the address may read the repository's index.
    pub fn address(&self) -> String {
        self.server.gate.address()
    }

    /// Serves until the future is dropped.
    pub async fn serve(self) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => _ = tokio::spawn(Arc::clone(&self.server).receive(stream)),
                Err(error) => {
                    tracing::debug!(%error, "accepting a connection failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl PageServer {
    async fn receive(self: Arc<Self>, stream: TcpStream) {
        let slot = Arc::new(self.slots.enter());
        let _slower = stream.set_nodelay(true);
        let answer = |request| {
            let (server, slot) = (Arc::clone(&self), Arc::clone(&slot));
            async move { Ok::<_, Infallible>(server.answer(request, &slot).await) }
        };
        let mut server = hyper::server::conn::http1::Builder::new();
        let server = server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_headers(64);
        let stream = TokioIo::new(bounded(stream, WRITE_TIMEOUT));
        tokio::select! {
            served = server.serve_connection(stream, service_fn(answer)) => if let Err(error) = served {
                // Browsers close connections at any time.
                tracing::debug!(%error, "a connection ended early");
            },
            () = slot.evicted() => tracing::debug!("a connection without a token was closed for a new one"),
        }
    }

    async fn answer(&self, request: Request<Incoming>, slot: &ConnectionSlot) -> Response<Full<Bytes>> {
        let is_head = request.method() == Method::HEAD;
        let mut response = match self.gate.admits(request.method(), request.uri().path(), request.headers()) {
            Ok(()) if gate::is_of_data(request.uri().path()) => {
                slot.keep();
                api::answer(&self.backend, request).await
            }
            Ok(()) => file(request.uri().path()),
            Err((status, reason)) => text(status, reason),
        };
        gate::harden(response.headers_mut());
        if is_head {
            *response.body_mut() = Full::default();
        }
        response
    }
}

/// The connection with a timeout for writes: a client that never reads its answers would occupy its slot forever.
fn bounded(stream: TcpStream, timeout: Duration) -> Pin<Box<TimeoutWriter<TcpStream>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(timeout));
    Box::pin(stream)
}

fn file(path: &str) -> Response<Full<Bytes>> {
    match assets::at(path) {
        Some(asset) => {
            let mut response = Response::new(Full::from(Bytes::from_static(asset.bytes)));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
            response
        }
        None => text(StatusCode::NOT_FOUND, "There is no such page."),
    }
}

fn text(status: StatusCode, reason: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(Bytes::from_static(reason.as_bytes())));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn pair(timeout: Duration) -> (Pin<Box<TimeoutWriter<TcpStream>>>, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (bounded(listener.accept().await.unwrap().0, timeout), other)
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_times_out() {
        let (mut stream, _silent) = pair(Duration::from_millis(200)).await;
        let block = vec![0; 1 << 20];
        // More than the system buffers.
        for _ in 0..256 {
            if let Err(error) = stream.write_all(&block).await {
                assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
                return;
            }
        }
        panic!("everything was written although the client did not read");
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_receives_everything() {
        let (mut stream, mut other) = pair(Duration::from_secs(30)).await;
        let reading = std::thread::spawn(move || {
            let (mut block, mut whole) = (vec![0; 1 << 20], 0);
            loop {
                std::thread::sleep(Duration::from_millis(5));
                match other.read(&mut block).unwrap() {
                    0 => return whole,
                    some => whole += some,
                }
            }
        });
        stream.write_all(&vec![0; 16 << 20]).await.unwrap();
        stream.shutdown().await.unwrap();
        drop(stream);
        assert_eq!(reading.join().unwrap(), 16 << 20);
    }
}
