//! Counts of what the rounds of an update have done.
//!
//! Owns the counts. Does not own the rounds (`run`).

use std::collections::HashSet;

use crate::model::RepoPath;

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
