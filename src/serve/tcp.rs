//! The TCP listener: accepts only loopback connections of this user that begin with JSON.
//!
//! Owns binding, and the two checks before the first line is read. Web pages in a browser and all users of the machine can
//! reach this port, so a connection that fails a check is answered with an HTTP error and closed.

use std::io::Cursor;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::connection_owner;
use crate::config::Address;
use crate::platform::process::user_id;

/// White space before the first character, in bytes.
const MAX_BLANK_BYTES: usize = 4096;
/// Attempts to find a port that is free for all hosts.
const PORT_ATTEMPTS: usize = 16;
/// Concurrent lookups of a connection's owner.
static LOOKUPS: Semaphore = Semaphore::const_new(2);

/// Bytes that are still read from a refused client before the connection is closed. Closing with unread input would
/// discard the answer.
const DRAIN_BYTES: u64 = 1 << 20;
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Opens the listeners of an address; `localhost` has two.
pub async fn listen(address: &Address) -> Result<Vec<TcpListener>, String> {
    if !connection_owner::is_supported() {
        return Err("this system does not report the owner of a TCP connection".to_owned());
    }
    let hosts: &[&str] = if address.host == "localhost" { &["127.0.0.1", "::1"] } else { &[&address.host] };
    for _ in 0..PORT_ATTEMPTS {
        match bind_all(hosts, address).await {
            // The system chose a port that is free for the first host but not for the second.
            Err(BindError::InUse(_)) if address.port == 0 => {}
            Err(BindError::InUse(port)) => {
                let holder = connection_owner::listener_on(port).unwrap_or_else(|| "another program".to_owned());
                return Err(format!("port {port} is in use by {holder}"));
            }
            Err(BindError::Other(reason)) => return Err(reason),
            Ok(listeners) => return Ok(listeners),
        }
    }
    Err(format!("no port is free for all of {}", hosts.join(", ")))
}

enum BindError {
    InUse(u16),
    Other(String),
}

async fn bind_all(hosts: &[&str], address: &Address) -> Result<Vec<TcpListener>, BindError> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    for host in hosts {
        let port = listeners.first().and_then(|first| first.local_addr().ok()).map_or(address.port, |own| own.port());
        let no_address = |_| BindError::Other(format!("{host} is not an address of this machine"));
        let ip = host.parse::<std::net::IpAddr>().map_err(no_address)?;
        match TcpListener::bind(SocketAddr::new(ip, port)).await {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => return Err(BindError::InUse(port)),
            // A machine without IPv6 still has the IPv4 listener.
            Err(error) if !listeners.is_empty() => tracing::debug!(%error, host, "not served"),
            Err(error) => return Err(BindError::Other(format!("cannot listen on {address}: {error}"))),
        }
    }
    Ok(listeners)
}

/// Checks a connection. Returns its streams, including the bytes that the checks read, or `None` after rejecting it.
pub async fn admit(stream: TcpStream) -> Option<(impl AsyncRead + Unpin, tokio::net::tcp::OwnedWriteHalf)> {
    let ends = stream.peer_addr().ok().zip(stream.local_addr().ok());
    // The system's table is long if there are many connections, so it is read on a blocking thread.
    let lookup = move || ends.and_then(|(peer, own)| connection_owner::user_of(peer, own));
    let permit = LOOKUPS.acquire().await.ok()?;
    let user = tokio::task::spawn_blocking(lookup).await.ok()?;
    drop(permit);
    if user != Some(user_id()) {
        tracing::warn!(?user, "a TCP connection of another user was refused");
        refuse(stream, "This port serves only one user.").await;
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
            None if read.len() < MAX_BLANK_BYTES => {}
            _ => {
                tracing::warn!("a TCP connection that did not begin with JSON was refused");
                refuse(stream, "This port accepts JSON-RPC, one message per line, not HTTP.").await;
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
    let reply = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(DRAIN_BYTES), &mut tokio::io::sink()).await
    };
    // The client may have left.
    let _ = tokio::time::timeout(DRAIN_TIME, reply).await;
}
