//! Sockets that processes of one user speak over: Unix sockets, of which the system says who is at the other end.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

pub use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::files::make_private;
use super::process::own_user;

pub type Stream = tokio::net::UnixStream;

/// The longest path that every system of ours takes for a socket.
pub const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Whether a socket may lie in a repository: nobody else can use it there.
pub const IN_REPOSITORY: bool = true;

/// A socket that is listened on, from before there is a runtime.
pub struct Bound(UnixListener);

impl Bound {
    /// Makes the socket at `path`, for this user alone.
    pub fn at(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        make_private(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// Within a runtime.
    pub fn listener(&self) -> io::Result<Listener> {
        self.0.try_clone().and_then(tokio::net::UnixListener::from_std).map(Listener)
    }
}

pub struct Listener(tokio::net::UnixListener);

impl Listener {
    pub async fn accept(&self) -> io::Result<Stream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }

    /// The connection, if it is this user's; else whose it is.
    #[expect(clippy::unused_async, reason = "where the system does not say whose it is, the other end has to")]
    pub async fn admit(&self, stream: Stream) -> Result<Stream, String> {
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == own_user() => Ok(stream),
            peer => Err(format!("{:?}", peer.ok().map(|peer| peer.uid()))),
        }
    }
}

/// Connects to whoever listens at `path`; `None` when nobody does. `PermissionDenied`: somebody else listens there.
pub async fn connect(path: &Path) -> io::Result<Option<Stream>> {
    let Ok(stream) = Stream::connect(path).await else { return Ok(None) };
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own_user() => Ok(Some(stream)),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Whether anybody listens at `path`.
pub fn is_heard(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}

/// Whether that is a socket, and not another thing of its name.
pub fn is_socket(kind: FileType) -> bool {
    kind.is_socket()
}
