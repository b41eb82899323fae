//! Windows. What it has no safe way to say is left out, and each function that stands in for something says so.

pub mod beneath;
pub mod files;
pub mod paths;
pub mod process;
pub mod socket;
