//! Windows. What has no safe implementation there is left out; each substitute function documents it.

pub mod allocator;
pub mod beneath;
pub mod files;
pub mod mapped;
pub mod paths;
pub mod process;
pub mod socket;
pub mod watcher;
