//! The daemon: one process per repository that listens on a Unix socket and a TCP port until no client needs it.
//!
//! Owns the accept loops of the listeners, the maximum number of connections, and when the daemon ends: on request, when
//! idle, on a signal, or when clients can no longer find it. Does not own the answers (`daemon_service`), or which process
//! becomes the daemon (`socket_path`).

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::call_router::CallRouter;
use super::client::DaemonIdentity;
use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use super::daemon_service::DaemonService;
use super::hello::PROTO;
use super::launch::Launcher;
use super::socket_path::Claim;
use super::status::TcpStatus;
use super::{ClientScope, ConnectionPolicy, Server, ToolListing, WriteAccess, tcp, token};
use crate::config::{self, Environment};
use crate::error::{Error, Result};
use crate::platform::process::{self, TerminationSignal};
use crate::platform::socket;
use crate::tools::DEADLINE;
use crate::workspace::Workspaces;

/// Connections of the socket, and of the port, that have sent a line, and that have not.
const MAX_CLIENTS: usize = 1024;
const MAX_PENDING: usize = 256;
/// How long a connection may take to begin. Any program of the machine can open one to the port.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(60);
/// How long in-flight requests may continue when the daemon ends.
const DRAIN: Duration = Duration::from_secs(10);
/// How often the daemon checks whether it is still needed and can be found.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The pause after a failed accept, for example because the process has no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub struct DaemonSettings {
    pub config: config::Daemon,
    pub listing: ToolListing,
    pub environment: Environment,
    pub launcher: Option<Launcher>,
    /// The release that it reports.
    pub version: String,
}

/// Serves the claimed repository until the daemon ends.
pub async fn run(claim: Claim, workspaces: Arc<Workspaces>, settings: DaemonSettings) -> Result<()> {
    let root = claim.path.root.clone();
    let workspace = workspaces.at(&root)?;
    let token = token::load_or_create(&root, workspace.folder(), &settings.environment)?;
    let DaemonSettings { config, listing, environment, launcher, version } = settings;
    let about =
        DaemonIdentity { proto: PROTO, version, pid: std::process::id(), root: root.clone(), is_restricted: false };
    let router = CallRouter::new(Arc::clone(&workspaces), environment, Some(root.clone()), launcher);
    let service = Arc::new(DaemonService::new(router, workspace, about, claim.path.socket.clone()));
    let state = Arc::new(DaemonState {
        server: Server::new(Arc::clone(&service) as _),
        service: Arc::clone(&service),
        local_slots: ConnectionSlots::new(MAX_PENDING, MAX_CLIENTS),
        tcp_slots: ConnectionSlots::new(MAX_PENDING, MAX_CLIENTS),
        root,
        listing,
        token,
    });
    // Each client needs a file descriptor, and the default limit is too low.
    process::raise_file_limit();

    let listener =
        claim.bound.listener().map_err(|error| Error::internal("cannot listen on the socket").caused_by(error))?;
    let mut listeners = JoinSet::new();
    // Opened before the socket, so that the status that clients read contains the port.
    if let Some(address) = &config.tcp {
        open_tcp(&state, address, &mut listeners).await;
    }
    listeners.spawn(Arc::clone(&state).accept(Listener::Local(Arc::new(listener))));
    tracing::info!(root = %state.root.display(), pid = std::process::id(), "the daemon has started");

    let reason = until_end(&claim, &service, config.idle).await?;
    tracing::info!(reason, "the daemon ends");
    claim.withdraw();
    service.end();
    let drained = async { while listeners.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still in flight at the end");
    }
    Ok(())
}

async fn open_tcp(state: &Arc<DaemonState>, address: &config::Address, listeners: &mut JoinSet<()>) {
    match tcp::listen(address).await {
        Ok(opened) => {
            let own = |listener: &TcpListener| listener.local_addr().ok().map(|own| own.to_string());
            state.service.set_tcp_status(TcpStatus::Listening(opened.iter().filter_map(own).collect()));
            for listener in opened {
                listeners.spawn(Arc::clone(state).accept(Listener::Tcp(listener)));
            }
        }
        Err(reason) => {
            tracing::warn!("{reason}: only the Unix socket is served");
            state.service.set_tcp_status(TcpStatus::Failed(reason));
        }
    }
}

/// Waits until the daemon should end, and returns the reason.
async fn until_end(claim: &Claim, service: &Arc<DaemonService>, idle: Duration) -> Result<&'static str> {
    let mut signals =
        TerminationSignal::new().map_err(|error| Error::internal("cannot wait for signals").caused_by(error))?;
    let mut ending = service.ending();
    loop {
        tokio::select! {
            signal = signals.recv() => return Ok(signal),
            _ = ending.wait_for(|ends| *ends) => return Ok("a client requested it"),
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
        if !claim.holds() {
            return Ok("its socket, its lock or its repository was removed");
        }
        if service.idle_time() >= idle {
            return Ok("it was idle");
        }
    }
}

enum Listener {
    Local(Arc<socket::Listener>),
    Tcp(TcpListener),
}

/// An accepted connection.
enum AcceptedConnection {
    Local(socket::Stream, Arc<socket::Listener>),
    Tcp(TcpStream),
}

impl Listener {
    async fn accept(&self) -> std::io::Result<AcceptedConnection> {
        match self {
            Self::Local(listener) => {
                listener.accept().await.map(|stream| AcceptedConnection::Local(stream, Arc::clone(listener)))
            }
            Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| AcceptedConnection::Tcp(stream)),
        }
    }
}

/// State that all listeners of the daemon share.
struct DaemonState {
    server: Arc<Server>,
    service: Arc<DaemonService>,
    local_slots: Arc<ConnectionSlots>,
    tcp_slots: Arc<ConnectionSlots>,
    root: PathBuf,
    listing: ToolListing,
    token: String,
}

impl DaemonState {
    fn policy(&self, writing: WriteAccess, scope: ClientScope) -> ConnectionPolicy {
        let (root, listing) = (self.root.clone(), self.listing.clone());
        ConnectionPolicy { root, listing, writing, scope, restriction: None, drain: DEADLINE }
    }

    async fn accept(self: Arc<Self>, listener: Listener) {
        let mut clients = JoinSet::new();
        let mut ending = self.service.ending();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = ending.wait_for(|ends| *ends) => break,
                Some(_) = clients.join_next() => continue,
            };
            match accepted {
                Ok(AcceptedConnection::Local(stream, socket)) => {
                    clients.spawn(Arc::clone(&self).receive_local(stream, socket));
                }
                Ok(AcceptedConnection::Tcp(stream)) => _ = clients.spawn(Arc::clone(&self).receive_tcp(stream)),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
        while clients.join_next().await.is_some() {}
    }

    async fn receive_local(self: Arc<Self>, stream: socket::Stream, listener: Arc<socket::Listener>) {
        let slot = self.local_slots.enter();
        let stream = match tokio::time::timeout(ADMISSION_TIMEOUT, listener.admit(stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(user)) => return tracing::warn!(user, "another user's connection was refused"),
            Err(_) => return,
        };
        let (reader, writer) = stream.into_split();
        self.serve(reader, writer, &slot, self.policy(WriteAccess::Allowed, ClientScope::Machine)).await;
    }

    async fn receive_tcp(self: Arc<Self>, stream: TcpStream) {
        let slot = self.tcp_slots.enter();
        let mut ending = self.service.ending();
        let admitted = tokio::select! {
            admitted = tokio::time::timeout(ADMISSION_TIMEOUT, tcp::admit(stream)) => admitted.ok().flatten(),
            _ = ending.wait_for(|ends| *ends) => None,
            () = slot.evicted() => return,
        };
        if let Some((reader, writer)) = admitted {
            let policy = self.policy(WriteAccess::WithToken(self.token.clone()), ClientScope::Repository);
            self.serve(reader, writer, &slot, policy).await;
        }
    }

    async fn serve<R, W>(&self, reader: R, writer: W, slot: &ConnectionSlot, policy: ConnectionPolicy)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let _connected = self.service.client();
        let reader = ClientReader::new(reader, slot, self.service.ending());
        tokio::select! {
            () = super::connection(Arc::clone(&self.server), reader, writer, policy) => {}
            () = slot.evicted() => tracing::debug!("a connection that had sent no line was closed for a new one"),
        }
    }
}

/// A reader that keeps the connection's slot once it has read a line, and whose input ends when the daemon ends. Requests that
/// were read before are still answered.
struct ClientReader<'s, R> {
    reader: R,
    slot: &'s ConnectionSlot,
    has_line: bool,
    ending: Pin<Box<dyn Future<Output = ()> + Send>>,
    has_ended: bool,
}

impl<'s, R> ClientReader<'s, R> {
    fn new(reader: R, slot: &'s ConnectionSlot, mut ending: watch::Receiver<bool>) -> Self {
        let ending = Box::pin(async move {
            // The sender outlives all connections.
            let _ = ending.wait_for(|ends| *ends).await;
        });
        Self { reader, slot, has_line: false, ending, has_ended: false }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for ClientReader<'_, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.has_ended || self.ending.as_mut().poll(context).is_ready() {
            self.has_ended = true;
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(context, into);
        if !self.has_line && into.filled()[before..].contains(&b'\n') {
            self.has_line = true;
            self.slot.keep();
        }
        read
    }
}
