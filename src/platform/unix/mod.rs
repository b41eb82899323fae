//! Linux, macOS and their kin.

pub mod beneath;
pub mod files;
pub mod paths;
pub mod process;
pub mod socket;
