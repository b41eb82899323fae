//! Local sockets between processes of one user. Rust's standard library has no Unix sockets on Windows, and older
//! Windows versions have none at all. A port of 127.0.0.1 is used instead, and a file with the port number and two
//! secrets. The client sends the first secret and receives the second, so each end knows that the other can read the
//! file. It is in a folder that Windows restricts to one user.

use std::fs::FileType;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
pub use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::files::create_private;
use crate::platform::random::secret;

pub type Stream = tokio::net::TcpStream;

/// The host of a PostgreSQL server. It has no socket here.
pub fn folder_of_socket(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
    }
}

/// Connects to the socket of a PostgreSQL server on this machine. There is none here.
pub async fn connect_to_server(_: &Config) -> io::Result<Stream> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Paths are not limited.
pub const MAX_PATH_LEN: usize = usize::MAX;
/// Whether sockets may be in the repository: other users may be able to read it.
pub const IN_REPOSITORY: bool = false;

/// The length of a secret in characters.
const SECRET_LEN: usize = 64;
/// How long the peer may take to send its secret.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The contents of the file.
struct Address {
    port: u16,
    client_secret: String,
    server_secret: String,
}

impl Address {
    fn new(port: u16) -> io::Result<Self> {
        Ok(Self { port, client_secret: secret()?, server_secret: secret()? })
    }

    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let port = lines.next()?.parse().ok()?;
        let mut secret = || lines.next().filter(|secret| secret.len() == SECRET_LEN).map(str::to_owned);
        Some(Self { port, client_secret: secret()?, server_secret: secret()? })
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

/// Compares in constant time.
fn is_same(given: &[u8], expected: &str) -> bool {
    blake3::hash(given) == blake3::hash(expected.as_bytes())
}

/// A bound, listening port. It can be created outside a runtime.
pub struct BoundSocket {
    listener: TcpListener,
    address: Address,
}

impl BoundSocket {
    /// Listens on a free port and writes it to a file at `path`.
    pub fn at(path: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = Address::new(listener.local_addr()?.port())?;
        write!(create_private(path)?, "{}\n{}\n{}\n", address.port, address.client_secret, address.server_secret)?;
        Ok(Self { listener, address })
    }

    /// Must be called in a runtime.
    pub fn listener(&self) -> io::Result<Listener> {
        let listener = self.listener.try_clone().and_then(tokio::net::TcpListener::from_std)?;
        let Address { client_secret, server_secret, .. } = &self.address;
        Ok(Listener { listener, client_secret: client_secret.clone(), server_secret: server_secret.clone() })
    }
}

pub struct Listener {
    listener: tokio::net::TcpListener,
    client_secret: String,
    server_secret: String,
}

impl Listener {
    pub async fn accept(&self) -> io::Result<Stream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }

    /// Returns the connection if the peer knows the secret; otherwise a description of the failure.
    pub async fn admit(&self, mut stream: Stream) -> Result<Stream, String> {
        let handshake = async {
            let mut secret = [0; SECRET_LEN];
            stream.read_exact(&mut secret).await?;
            if !is_same(&secret, &self.client_secret) {
                return Err(io::Error::from(io::ErrorKind::PermissionDenied));
            }
            stream.set_nodelay(true)?;
            stream.write_all(self.server_secret.as_bytes()).await
        };
        match tokio::time::timeout(TIMEOUT, handshake).await {
            Ok(Ok(())) => Ok(stream),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it sent no secret in time".to_owned()),
        }
    }
}

/// Connects to the listener at `path`; `None` if there is none, or if another program uses the port now.
pub async fn connect(path: &Path) -> io::Result<Option<Stream>> {
    let Some(address) = Address::read(path) else { return Ok(None) };
    let handshake = async {
        let mut stream = Stream::connect(address.address()).await?;
        stream.set_nodelay(true)?;
        stream.write_all(address.client_secret.as_bytes()).await?;
        let mut secret = [0; SECRET_LEN];
        stream.read_exact(&mut secret).await?;
        io::Result::Ok(is_same(&secret, &address.server_secret).then_some(stream))
    };
    Ok(tokio::time::timeout(TIMEOUT, handshake).await.ok().and_then(Result::ok).flatten())
}

/// Whether the process that wrote the file at `path` still listens.
pub fn is_listening(path: &Path) -> bool {
    let handshake = |address: Address| {
        let mut stream = TcpStream::connect_timeout(&address.address(), TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.write_all(address.client_secret.as_bytes())?;
        let mut secret = [0; SECRET_LEN];
        stream.read_exact(&mut secret)?;
        io::Result::Ok(is_same(&secret, &address.server_secret))
    };
    Address::read(path).is_some_and(|address| handshake(address).unwrap_or(false))
}

/// Whether a file type is that of a file created by [`BoundSocket::at`].
pub fn is_socket(kind: FileType) -> bool {
    kind.is_file()
}
