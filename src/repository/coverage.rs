//! The extent of an update, and how far it trusts the file system.
//!
//! Owns these values, by which the update in flight is known. Does not own updates (`update`).

use strum_macros::{EnumString, IntoStaticStr};

/// How far an update trusts the file system's metadata without reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Thoroughness {
    /// Compares every file's stat, and reads the files whose stat has changed.
    Changed,
    /// Reads and hashes every file.
    Verify,
    /// Replaces every row.
    Everything,
}

impl Thoroughness {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// The part of the repository that an update covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// The paths that the watch has marked dirty; the whole tree without a complete watch.
    Dirty,
    /// The whole tree.
    Tree(Thoroughness),
    /// The entities, whose rows are all replaced.
    Entities,
}
