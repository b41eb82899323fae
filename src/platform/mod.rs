//! Operating system differences behind the same names on every system.
//!
//! Owns every call that exists on some systems only: file ownership, opening files without following links, local
//! sockets, and process control. No other module uses such calls. Each module documents what its system cannot do.

use std::fs::{File, Metadata};
use std::io::{self, Read};

pub mod own_folder;
pub mod processor;
pub mod random;
pub mod replace;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{allocator, beneath, files, mapped, paths, process, socket, watcher};
#[cfg(windows)]
pub use windows::{allocator, beneath, files, mapped, paths, process, socket, watcher};

/// An error unless this is a regular file of at most `limit` bytes.
fn check_regular(found: &Metadata, limit: u64) -> io::Result<()> {
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if found.len() > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

fn read_at_most(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}
