//! Linux, macOS and other Unix systems.

pub mod allocator;
pub mod beneath;
pub mod files;
#[cfg(target_os = "linux")]
mod inotify;
pub mod mapped;
pub mod paths;
pub mod process;
pub mod socket;
pub mod watcher;
