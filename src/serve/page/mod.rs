//! The page for people: a web server on 127.0.0.1 that shows what agents are shown, for as long as `ixmcp ui` runs.
//!
//! ```text
//! browser ─► gate (host, origin, token) ─┬─► assets, inside the binary
//!                                        └─► /api/ ─► asked: the repository's daemon, else this process's own registry
//! ```
//! Owns the port, HTTP and its bounds. Does not own what is answered: those are the tools that agents call, of which only
//! the reading ones named in `api` are let through. The page's sources and what is built of them lie in `ui/`.

mod api;
mod asked;
mod assets;
mod gate;
mod patience;
mod places;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use self::asked::Asked;
use self::gate::Gate;
use self::patience::Patience;
use self::places::{Place, Places};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Workspaces;

/// A request's head must be there in this time.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// So long may the other end take nothing of what it asked for.
const TAKING_TIME: Duration = Duration::from_secs(30);
/// After a failed accept, such as one for want of file numbers.
const BREATH: Duration = Duration::from_millis(50);

/// What the page is of, and where it stands.
pub struct Settings {
    pub root: PathBuf,
    /// Where the person stands.
    pub start: PathBuf,
    /// 0: any that is free.
    pub port: u16,
    pub environment: Environment,
    pub workspaces: Arc<Workspaces>,
}

/// A page whose port is taken, ready to be served.
pub struct Page {
    listener: TcpListener,
    house: Arc<House>,
}

/// What every connection leads to.
struct House {
    gate: Gate,
    asked: Asked,
    places: Arc<Places>,
}

impl Page {
    pub async fn open(settings: Settings) -> Result<Self> {
        let Settings { root, start, port, environment, workspaces } = settings;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
            let holder =
                super::peer::listener_on(port).map_or_else(String::new, |holder| format!(" ({holder} has it)"));
            Error::new(ErrorKind::Busy, format!("cannot listen on port {port}: {error}{holder}"))
                .hint("Give another --port, or none: any free one is taken.")
        })?;
        let own = listener.local_addr().map_err(|error| Error::internal("the port has no number").caused_by(error))?;
        let gate = Gate::new(own.port())?;
        let asked = Asked::new(root, start, environment, workspaces);
        let house = House { gate, asked, places: Arc::default() };
        Ok(Self { listener, house: Arc::new(house) })
    }

    /// Where a browser finds it. Who knows this address may read the repository's index.
    pub fn address(&self) -> String {
        self.house.gate.address()
    }

    /// Serves until the future is dropped.
    pub async fn serve(self) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => _ = tokio::spawn(Arc::clone(&self.house).receive(stream)),
                Err(error) => {
                    tracing::debug!(%error, "no connection was accepted");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }
}

impl House {
    async fn receive(self: Arc<Self>, stream: TcpStream) {
        let place = Arc::new(self.places.enter());
        let _slower = stream.set_nodelay(true);
        let answer = |request| {
            let (house, place) = (Arc::clone(&self), Arc::clone(&place));
            async move { Ok::<_, Infallible>(house.answer(request, &place).await) }
        };
        let mut server = hyper::server::conn::http1::Builder::new();
        let server = server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_headers(64);
        let stream = TokioIo::new(Patience::new(stream, TAKING_TIME));
        tokio::select! {
            served = server.serve_connection(stream, service_fn(answer)) => if let Err(error) = served {
                // A browser that went away is no news.
                tracing::debug!(%error, "a connection ended early");
            },
            () = place.told_to_go() => tracing::debug!("a connection without a token made room"),
        }
    }

    async fn answer(&self, request: Request<Incoming>, place: &Place) -> Response<Full<Bytes>> {
        let is_head = request.method() == Method::HEAD;
        let mut response = match self.gate.admits(request.method(), request.uri().path(), request.headers()) {
            Ok(()) if gate::is_of_data(request.uri().path()) => {
                place.brought_token();
                api::answer(&self.asked, request).await
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
