//! Operating system differences behind the same names on every system.
//!
//! Owns every call that exists on some systems only: file ownership, opening files without following links, local
//! sockets, and process control. No other module uses such calls. Each module documents what its system cannot do.

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
