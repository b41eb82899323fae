//! The owner of a connection: the user at the other end of a TCP connection, and the program that listens on a port.
//!
//! TCP has no peer credentials, unlike Unix sockets, but Linux lists the owner of each connection. On other systems users
//! cannot be distinguished, so TCP is not served.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Whether this system reports the owners of TCP connections.
pub fn is_supported() -> bool {
    Path::new("/proc/net/tcp").exists()
}

/// The user who opened the connection from `peer` to `own`; `None` if the system does not list it, or lists no owner.
pub fn user_of(peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let of_connection = |row: &Row| row.local == hex(peer) && row.remote == hex(own);
    // A client may connect to an IPv4 address through an IPv6 socket.
    let of_mapped = |row: &Row| row.local == hex(mapped(peer)) && row.remote == hex(mapped(own));
    let found = match peer {
        SocketAddr::V4(_) => find("/proc/net/tcp", of_connection).or_else(|| find("/proc/net/tcp6", of_mapped)),
        SocketAddr::V6(_) => find("/proc/net/tcp6", of_connection),
    };
    // A closed connection is listed for a while without an inode and with user 0, which is root.
    found.filter(|row| row.inode != 0).map(|row| row.user)
}

/// Describes the program that listens on `port` of this machine, as far as this user may know.
pub fn listener_on(port: u16) -> Option<String> {
    const LISTENING: &str = "0A";
    let suffix = format!(":{port:04X}");
    let listens = |row: &Row| row.state == LISTENING && row.local.ends_with(&suffix);
    let row = find("/proc/net/tcp", listens).or_else(|| find("/proc/net/tcp6", listens))?;
    Some(program_with(row.inode).unwrap_or_else(|| format!("a program of user {}", row.user)))
}

fn program_with(inode: u64) -> Option<String> {
    let target = format!("socket:[{inode}]");
    let holds = |process: &Path| {
        let files = std::fs::read_dir(process.join("fd")).ok();
        files.into_iter().flatten().flatten().any(|file| {
            std::fs::read_link(file.path()).is_ok_and(|link| link.as_os_str().as_encoded_bytes() == target.as_bytes())
        })
    };
    let process = std::fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path()).find(|path| {
        let is_process = path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
        is_process && holds(path)
    })?;
    let name = std::fs::read_to_string(process.join("comm")).ok()?;
    let name = crate::model::printable(name.trim());
    Some(format!("{name}, process {}", process.file_name()?.to_string_lossy()))
}

/// One line of `/proc/net/tcp`.
struct Row<'a> {
    local: &'a str,
    remote: &'a str,
    state: &'a str,
    user: u32,
    inode: u64,
}

struct Owner {
    user: u32,
    inode: u64,
}

fn find(table: &str, wanted: impl Fn(&Row) -> bool) -> Option<Owner> {
    let text = std::fs::read_to_string(table).ok()?;
    text.lines().skip(1).filter_map(row).find(wanted).map(|row| Owner { user: row.user, inode: row.inode })
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut fields = line.split_ascii_whitespace();
    let (local, remote, state) = (fields.nth(1)?, fields.next()?, fields.next()?);
    let user = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some(Row { local, remote, state, user, inode })
}

fn mapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// An address in the table's format: words of four bytes in native byte order, then the port.
fn hex(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let mut text = String::with_capacity(37);
    for word in bytes.chunks_exact(4) {
        let word = u32::from_ne_bytes(word.try_into().expect("chunks of four"));
        let _ = write!(text, "{word:08X}");
    }
    let _ = write!(text, ":{:04X}", address.port());
    text
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::platform::process::user_id;

    #[test]
    fn an_open_connection_has_an_owner_and_a_closed_one_does_not() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (served, peer) = listener.accept().unwrap();
            let own = served.local_addr().unwrap();
            assert_eq!(user_of(peer, own), Some(user_id()), "{address}");
            drop(client);
            assert_eq!(user_of(peer, own), None, "{address}: closed");
            let name = listener_on(own.port()).unwrap();
            assert!(name.ends_with(&std::process::id().to_string()), "{name}");
        }
    }

    #[test]
    fn a_row_is_read_by_its_columns() {
        let line =
            "  3: 0100007F:1E61 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 20";
        let row = row(line).unwrap();
        assert_eq!(
            (row.local, row.remote, row.state, row.user, row.inode),
            ("0100007F:1E61", "0100007F:C350", "01", 1000, 4711)
        );
        assert_eq!(hex("127.0.0.1:7777".parse().unwrap()), "0100007F:1E61");
    }
}
