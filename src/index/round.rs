//! Values of the rounds of an update: how thorough they are, what they cover, and what they have done.
//!
//! Owns these values. Does not own the rounds (`update`).

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use strum_macros::{EnumString, IntoStaticStr};

use crate::model::RepoPath;

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
pub(super) enum Coverage {
    /// The paths that the watch has marked dirty; the whole tree without a complete watch.
    Dirty,
    /// The whole tree.
    Tree(Thoroughness),
    /// The entities, whose rows are all replaced.
    Entities,
}

/// Counts of what the rounds of an update have done so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Files read since the update began.
    pub done: HashSet<RepoPath>,
    /// The value of `Fact::Options` as these were read.
    pub options: Option<String>,
    /// A row changed that an answer could show.
    pub changed: bool,
    /// So many files changed that what they left in the FTS is merged.
    pub is_bulk: bool,
}

impl Tally {
    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && !self.changed
    }
}

/// The time in nanoseconds since 1970.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
