//! Sockets that processes of one user speak over. Rust's standard library has no Unix sockets here, and older Windows
//! has none at all: a port of 127.0.0.1, which a file names together with two words. Whoever connects says the first
//! and hears the second, so each end knows that the other can read that file. It lies in a folder that Windows keeps
//! for one user.

use std::fs::FileType;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
pub use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::files::create_private;
use crate::platform::random::secret;

pub type Stream = tokio::net::TcpStream;

/// Any path will do.
pub const LONGEST_PATH: usize = usize::MAX;
/// A repository may lie where every user can read it.
pub const IN_REPOSITORY: bool = false;

/// Letters of each word.
const WORD: usize = 64;
/// How long the other end may take to say its word.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the file says.
struct Way {
    port: u16,
    asked: String,
    answered: String,
}

impl Way {
    fn new(port: u16) -> io::Result<Self> {
        Ok(Self { port, asked: secret()?, answered: secret()? })
    }

    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let port = lines.next()?.parse().ok()?;
        let mut word = || lines.next().filter(|word| word.len() == WORD).map(str::to_owned);
        Some(Self { port, asked: word()?, answered: word()? })
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

/// In a time that does not tell where they differ.
fn is_same(given: &[u8], expected: &str) -> bool {
    blake3::hash(given) == blake3::hash(expected.as_bytes())
}

/// A port that is listened on, from before there is a runtime.
pub struct Bound {
    listener: TcpListener,
    way: Way,
}

impl Bound {
    /// Listens on a free port and says so in a file at `path`.
    pub fn at(path: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let way = Way::new(listener.local_addr()?.port())?;
        write!(create_private(path)?, "{}\n{}\n{}\n", way.port, way.asked, way.answered)?;
        Ok(Self { listener, way })
    }

    /// Within a runtime.
    pub fn listener(&self) -> io::Result<Listener> {
        let listener = self.listener.try_clone().and_then(tokio::net::TcpListener::from_std)?;
        let Way { asked, answered, .. } = &self.way;
        Ok(Listener { listener, asked: asked.clone(), answered: answered.clone() })
    }
}

pub struct Listener {
    listener: tokio::net::TcpListener,
    asked: String,
    answered: String,
}

impl Listener {
    pub async fn accept(&self) -> io::Result<Stream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }

    /// The connection, if its other end has read the file; else what is wrong with it.
    pub async fn admit(&self, mut stream: Stream) -> Result<Stream, String> {
        let greeted = async {
            let mut word = [0; WORD];
            stream.read_exact(&mut word).await?;
            if !is_same(&word, &self.asked) {
                return Err(io::Error::from(io::ErrorKind::PermissionDenied));
            }
            stream.set_nodelay(true)?;
            stream.write_all(self.answered.as_bytes()).await
        };
        match tokio::time::timeout(PATIENCE, greeted).await {
            Ok(Ok(())) => Ok(stream),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it said nothing".to_owned()),
        }
    }
}

/// Connects to whoever listens at `path`; `None` when nobody does, or another program has got the port since.
pub async fn connect(path: &Path) -> io::Result<Option<Stream>> {
    let Some(way) = Way::read(path) else { return Ok(None) };
    let greeted = async {
        let mut stream = Stream::connect(way.address()).await?;
        stream.set_nodelay(true)?;
        stream.write_all(way.asked.as_bytes()).await?;
        let mut word = [0; WORD];
        stream.read_exact(&mut word).await?;
        io::Result::Ok(is_same(&word, &way.answered).then_some(stream))
    };
    Ok(tokio::time::timeout(PATIENCE, greeted).await.ok().and_then(Result::ok).flatten())
}

/// Whether whoever wrote the file at `path` still listens.
pub fn is_heard(path: &Path) -> bool {
    let greeted = |way: Way| {
        let mut stream = TcpStream::connect_timeout(&way.address(), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(way.asked.as_bytes())?;
        let mut word = [0; WORD];
        stream.read_exact(&mut word)?;
        io::Result::Ok(is_same(&word, &way.answered))
    };
    Way::read(path).is_some_and(|way| greeted(way).unwrap_or(false))
}

/// Whether that is a file as [`Bound::at`] makes it, and not another thing of its name.
pub fn is_socket(kind: FileType) -> bool {
    kind.is_file()
}
