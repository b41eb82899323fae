//! What differs from one operating system to another, under the same names for each.
//!
//! Owns every call that one system has and another has not: whose a file is, opening below a folder without following
//! links, sockets within a machine, what ends a process. Nobody else names them. What a system cannot do is said where
//! its module stands in for it.

pub mod random;
pub mod replace;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{beneath, files, paths, process, socket};
#[cfg(windows)]
pub use windows::{beneath, files, paths, process, socket};
