//! Local sockets between processes of one user: Unix sockets, whose peer credentials are available from the kernel.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

pub use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::files::make_private;
use super::process::user_id;

pub type Stream = tokio::net::UnixStream;

/// The maximum length of a socket path that works on every supported system.
pub const MAX_PATH_LEN: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Whether a socket may be placed in a repository: here its permissions exclude other users.
pub const IN_REPOSITORY: bool = true;

/// The folder of the socket of a PostgreSQL server on this machine, or the host of another.
pub fn folder_of_socket(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.to_string_lossy().into_owned(),
    }
}

/// Connects to the PostgreSQL server on this machine that an address with one server names.
pub async fn connect_to_server(config: &Config) -> io::Result<Stream> {
    match (config.get_hosts(), config.get_ports()) {
        ([Host::Unix(folder)], [port]) => Stream::connect(folder.join(format!(".s.PGSQL.{port}"))).await,
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// A bound, listening socket. It can be created outside a runtime.
pub struct BoundSocket(UnixListener);

impl BoundSocket {
    /// Creates the socket at `path`, accessible by this user only.
    pub fn at(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        make_private(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// Must be called in a runtime.
    pub fn listener(&self) -> io::Result<Listener> {
        self.0.try_clone().and_then(tokio::net::UnixListener::from_std).map(Listener)
    }
}

pub struct Listener(tokio::net::UnixListener);

impl Listener {
    pub async fn accept(&self) -> io::Result<Stream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }

    /// Returns the connection if the peer is the same user; otherwise the peer's user id.
    #[expect(clippy::unused_async, reason = "where the system does not say whose it is, the other end has to")]
    pub async fn admit(&self, stream: Stream) -> Result<Stream, String> {
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == user_id() => Ok(stream),
            peer => Err(format!("{:?}", peer.ok().map(|peer| peer.uid()))),
        }
    }
}

/// Connects to the listener at `path`; `None` if there is none. `PermissionDenied`: the listener belongs to another
/// user.
pub async fn connect(path: &Path) -> io::Result<Option<Stream>> {
    let Ok(stream) = Stream::connect(path).await else { return Ok(None) };
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == user_id() => Ok(Some(stream)),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Whether a process listens at `path`.
pub fn is_listening(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}

/// Whether a file type is that of a socket.
pub fn is_socket(kind: FileType) -> bool {
    kind.is_socket()
}
