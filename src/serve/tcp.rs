//! The TCP door: loopback, this user's connections, and nothing that does not begin as JSON.
//!
//! Owns binding and the two checks before the first line is read. A page in a browser can reach this port, and so
//! can every user of the machine: whatever is not plainly ours is answered like a web server would, and closed.

use std::io::Cursor;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::peer;
use crate::config::Address;
use crate::platform::process::user_id;

/// Blank bytes before the first that counts.
const BLANK: usize = 4096;
/// Ports that the system may choose before we give up.
const PORTS_TRIED: usize = 16;
/// Who looks up whose a connection is, at once.
static LOOKING: Semaphore = Semaphore::const_new(2);

/// What a refused client may still send before the connection is closed under it: closing with input unread would
/// destroy the answer on its way.
const DRAIN_BYTES: u64 = 1 << 20;
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The listeners of an address: `localhost` has two. The error is a sentence.
pub async fn listen(address: &Address) -> Result<Vec<TcpListener>, String> {
    if !peer::can_tell() {
        return Err("this system does not tell whose a TCP connection is".to_owned());
    }
    let hosts: &[&str] = if address.host == "localhost" { &["127.0.0.1", "::1"] } else { &[&address.host] };
    for _ in 0..PORTS_TRIED {
        match bind_all(hosts, address).await {
            // The system chose a port that is free for the first host and not for the second.
            Err(Refused::Taken(_)) if address.port == 0 => {}
            Err(Refused::Taken(port)) => {
                let holder = peer::listener_on(port).unwrap_or_else(|| "another program".to_owned());
                return Err(format!("port {port} is taken by {holder}"));
            }
            Err(Refused::Other(reason)) => return Err(reason),
            Ok(listeners) => return Ok(listeners),
        }
    }
    Err(format!("no port is free for all of {}", hosts.join(", ")))
}

enum Refused {
    Taken(u16),
    /// As a sentence.
    Other(String),
}

async fn bind_all(hosts: &[&str], address: &Address) -> Result<Vec<TcpListener>, Refused> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    for host in hosts {
        let port = listeners.first().and_then(|first| first.local_addr().ok()).map_or(address.port, |own| own.port());
        let no_address = |_| Refused::Other(format!("{host} is no address of this machine"));
        let ip = host.parse::<std::net::IpAddr>().map_err(no_address)?;
        match TcpListener::bind(SocketAddr::new(ip, port)).await {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => return Err(Refused::Taken(port)),
            // A machine without IPv6 still has the other.
            Err(error) if !listeners.is_empty() => tracing::debug!(%error, host, "not served"),
            Err(error) => return Err(Refused::Other(format!("cannot listen on {address}: {error}"))),
        }
    }
    Ok(listeners)
}

/// The connection as a pair of streams if it may be served, with the bytes that were read to know; else it has been
/// answered and closed.
pub async fn admit(stream: TcpStream) -> Option<(impl AsyncRead + Unpin, tokio::net::tcp::OwnedWriteHalf)> {
    let ends = stream.peer_addr().ok().zip(stream.local_addr().ok());
    // The system's table is long where there are many connections: reading it must hold up nobody.
    let look = move || ends.and_then(|(peer, own)| peer::user_of(peer, own));
    let turn = LOOKING.acquire().await.ok()?;
    let user = tokio::task::spawn_blocking(look).await.ok()?;
    drop(turn);
    if user != Some(user_id()) {
        tracing::warn!(?user, "a TCP connection of another user was refused");
        refuse(stream, "This port serves one user.").await;
        return None;
    }
    let _slower = stream.set_nodelay(true);
    let mut stream = stream;
    let mut read = Vec::new();
    loop {
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
        match read.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => break,
            None if read.len() < BLANK => {}
            _ => {
                tracing::warn!("a TCP connection that spoke no JSON was refused");
                refuse(stream, "This port speaks JSON-RPC, one message a line, and no HTTP.").await;
                return None;
            }
        }
    }
    let (reader, writer) = stream.into_split();
    Some((Cursor::new(read).chain(reader), writer))
}

async fn refuse(mut stream: TcpStream, reason: &str) {
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{reason}\n",
        reason.len() + 1
    );
    let last_words = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(DRAIN_BYTES), &mut tokio::io::sink()).await
    };
    // Whether they were heard is no concern of ours.
    let _ = tokio::time::timeout(DRAIN_TIME, last_words).await;
}
