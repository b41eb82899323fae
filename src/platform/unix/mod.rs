//! Linux, macOS and other Unix systems.

pub mod allocator;
pub mod beneath;
pub mod files;
pub mod paths;
pub mod process;
pub mod socket;
