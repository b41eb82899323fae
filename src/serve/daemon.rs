//! The daemon: one process per repository behind a Unix socket and a TCP port, until nobody needs it.
//!
//! Owns the doors' accept loops, how many may be connected, and the end: asked to, idle, signalled, or not found any
//! more. Does not own what is answered (`resident`), nor who may be the daemon (`place`).

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::client::About;
use super::handover::Handover;
use super::hello::PROTO;
use super::launch::Launcher;
use super::place::Claim;
use super::resident::Resident;
use super::{Door, Listing, Reach, Server, Writing, envelope, mux, tcp, token};
use crate::config::{self, Environment};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Workspaces;
use crate::platform::process::{self, TerminationSignal};
use crate::platform::socket;

/// Connections that may be open at once.
const MAX_CLIENTS: usize = 1024;
/// Connections to the port that have said nothing yet, and how long they may: any program of the machine can open them.
const MAX_STRANGERS: usize = 256;
const FIRST_WORD: Duration = Duration::from_secs(60);
/// How long open calls may go on once the daemon is to end.
const DRAIN: Duration = Duration::from_secs(10);
/// How often it looks whether it is still needed and still found.
const LOOK: Duration = Duration::from_millis(500);
/// After a failed accept, such as one for want of file numbers.
const BREATH: Duration = Duration::from_millis(50);

/// What a daemon is started with.
pub struct Settings {
    pub config: config::Daemon,
    pub listing: Listing,
    pub environment: Environment,
    pub launcher: Option<Launcher>,
    /// The release that it says it is.
    pub version: String,
}

/// Serves the claimed repository until the daemon ends.
pub async fn run(claim: Claim, workspaces: Arc<Workspaces>, settings: Settings) -> Result<()> {
    let root = claim.place.root.clone();
    let workspace = workspaces.at(&root)?;
    let token = token::of(&root, &settings.environment)?;
    let Settings { config, listing, environment, launcher, version } = settings;
    let about = About { proto: PROTO, version, pid: std::process::id(), root: root.clone() };
    let handover = Handover::new(Arc::clone(&workspaces), environment, Some(root.clone()), launcher);
    let resident = Arc::new(Resident::new(handover, workspace, about, claim.place.socket.clone()));
    let house = Arc::new(House {
        server: Server::new(Arc::clone(&resident) as _),
        resident: Arc::clone(&resident),
        places: Semaphore::new(MAX_CLIENTS),
        strangers: Semaphore::new(MAX_STRANGERS),
        root,
        listing,
        token,
    });
    // Each client needs a file number; the usual bound is for programs that have none.
    process::raise_file_limit();

    let listener =
        claim.bound.listener().map_err(|error| Error::internal("cannot listen on the socket").caused_by(error))?;
    let mut doors = JoinSet::new();
    // First, so that the state that the socket tells knows the port.
    if let Some(address) = &config.tcp {
        open_tcp(&house, address, &mut doors).await;
    }
    doors.spawn(Arc::clone(&house).accept(Listening::Local(Arc::new(listener))));
    tracing::info!(root = %house.root.display(), pid = std::process::id(), "the daemon serves");

    let reason = until_end(&claim, &resident, config.idle).await?;
    tracing::info!(reason, "the daemon ends");
    claim.withdraw();
    resident.end();
    let drained = async { while doors.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("calls were still open at the end");
    }
    Ok(())
}

async fn open_tcp(house: &Arc<House>, address: &config::Address, doors: &mut JoinSet<()>) {
    match tcp::listen(address).await {
        Ok(listeners) => {
            let own = |listener: &TcpListener| listener.local_addr().ok().map(|own| own.to_string());
            house.resident.say_tcp(json!({ "listening": listeners.iter().filter_map(own).collect::<Vec<_>>() }));
            for listener in listeners {
                doors.spawn(Arc::clone(house).accept(Listening::Tcp(listener)));
            }
        }
        Err(reason) => {
            tracing::warn!("{reason}: only the Unix socket is served");
            house.resident.say_tcp(json!({ "failed": reason }));
        }
    }
}

/// Why the daemon is to end, once it is.
async fn until_end(claim: &Claim, resident: &Arc<Resident>, idle: Duration) -> Result<&'static str> {
    let mut told =
        TerminationSignal::new().map_err(|error| Error::internal("cannot await signals").caused_by(error))?;
    let mut ending = resident.ending();
    let mut last_seen = Instant::now();
    loop {
        tokio::select! {
            signal = told.recv() => return Ok(signal),
            _ = ending.wait_for(|ends| *ends) => return Ok("asked to"),
            () = tokio::time::sleep(LOOK) => {}
        }
        if !claim.holds() {
            return Ok("its socket, its lock or its repository is gone");
        }
        if resident.clients() > 0 {
            last_seen = Instant::now();
        } else if last_seen.elapsed() >= idle {
            return Ok("nobody was connected for long");
        }
    }
}

/// A door that clients come to.
enum Listening {
    Local(Arc<socket::Listener>),
    Tcp(TcpListener),
}

/// Who came.
enum Arrival {
    Local(socket::Stream, Arc<socket::Listener>),
    Tcp(TcpStream),
}

impl Listening {
    async fn accept(&self) -> std::io::Result<Arrival> {
        match self {
            Self::Local(listener) => listener.accept().await.map(|stream| Arrival::Local(stream, Arc::clone(listener))),
            Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| Arrival::Tcp(stream)),
        }
    }
}

/// What every door of the daemon leads to.
struct House {
    server: Arc<Server>,
    resident: Arc<Resident>,
    places: Semaphore,
    strangers: Semaphore,
    root: PathBuf,
    listing: Listing,
    token: String,
}

impl House {
    fn door(&self, writing: Writing, reach: Reach) -> Door {
        let (root, listing) = (self.root.clone(), self.listing.clone());
        Door { root, listing, writing, reach, drain: mux::DEADLINE }
    }

    async fn accept(self: Arc<Self>, listening: Listening) {
        let mut clients = JoinSet::new();
        let mut ending = self.resident.ending();
        loop {
            let accepted = tokio::select! {
                accepted = listening.accept() => accepted,
                _ = ending.wait_for(|ends| *ends) => break,
                Some(_) = clients.join_next() => continue,
            };
            match accepted {
                Ok(Arrival::Local(stream, door)) => _ = clients.spawn(Arc::clone(&self).receive_local(stream, door)),
                Ok(Arrival::Tcp(stream)) => _ = clients.spawn(Arc::clone(&self).receive_tcp(stream)),
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
        while clients.join_next().await.is_some() {}
    }

    async fn receive_local(self: Arc<Self>, stream: socket::Stream, door: Arc<socket::Listener>) {
        let stream = match tokio::time::timeout(FIRST_WORD, door.admit(stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(user)) => return tracing::warn!(user, "another user's connection was refused"),
            Err(_) => return,
        };
        let (reader, writer) = stream.into_split();
        self.serve(reader, writer, self.door(Writing::Allowed, Reach::Machine)).await;
    }

    async fn receive_tcp(self: Arc<Self>, stream: TcpStream) {
        // Nothing is looked up for more: that takes longer than opening a connection.
        let Ok(stranger) = self.strangers.try_acquire() else { return };
        let mut ending = self.resident.ending();
        let admitted = tokio::select! {
            admitted = tokio::time::timeout(FIRST_WORD, tcp::admit(stream)) => admitted.ok().flatten(),
            _ = ending.wait_for(|ends| *ends) => None,
        };
        drop(stranger);
        if let Some((reader, writer)) = admitted {
            let door = self.door(Writing::WithToken(self.token.clone()), Reach::Repository);
            self.serve(reader, writer, door).await;
        }
    }

    async fn serve<R, W>(&self, reader: R, mut writer: W, door: Door)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(_place) = self.places.try_acquire() else {
            let error = Error::new(ErrorKind::Busy, format!("{MAX_CLIENTS} clients are connected"));
            let line = envelope::error(None, &envelope::Fault::from(&error)) + "\n";
            // It is told if it listens.
            let _ = writer.write_all(line.as_bytes()).await;
            return;
        };
        let _present = self.resident.client();
        let reader = UntilEnd::of(reader, self.resident.ending());
        super::connection(Arc::clone(&self.server), reader, writer, door).await;
    }
}

/// A reader whose input ends with the daemon: what was asked before is still answered.
struct UntilEnd<R> {
    reader: R,
    ending: Pin<Box<dyn Future<Output = ()> + Send>>,
    has_ended: bool,
}

impl<R> UntilEnd<R> {
    fn of(reader: R, mut ending: watch::Receiver<bool>) -> Self {
        let ending = Box::pin(async move {
            // The sender lives as long as the connections do.
            let _ = ending.wait_for(|ends| *ends).await;
        });
        Self { reader, ending, has_ended: false }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.has_ended || self.ending.as_mut().poll(context).is_ready() {
            self.has_ended = true;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.reader).poll_read(context, into)
    }
}
