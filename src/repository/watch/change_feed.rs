//! The feed of noticed changes, for readers that keep something of their own up to date.
//!
//! Owns how far back the feed goes. Does not own which changes are noticed (`watch`).

use std::collections::VecDeque;

use crate::model::RepoPath;

/// A reader that is further behind looks at everything. One save is several events.
const MAX_PATHS: usize = 10_000;

/// Changed paths in the order of their events. Each reader keeps its own position.
#[derive(Default)]
pub(super) struct ChangeFeed {
    paths: VecDeque<RepoPath>,
    /// The position of the first path in the feed.
    first: u64,
}

impl ChangeFeed {
    /// The position of the next change.
    pub(super) fn next(&self) -> u64 {
        self.first + self.paths.len() as u64
    }

    pub(super) fn push(&mut self, path: RepoPath) {
        self.paths.push_back(path);
        if self.paths.len() > MAX_PATHS {
            self.paths.pop_front();
            self.first += 1;
        }
    }

    /// Changes were missed: every reader looks at everything.
    pub(super) fn lose(&mut self) {
        self.first = self.next() + 1;
        self.paths.clear();
    }

    /// The changes since that position, each once; `None` if the feed does not know them all.
    pub(super) fn since(&self, position: u64) -> Option<Vec<RepoPath>> {
        let skipped = usize::try_from(position.checked_sub(self.first)?).ok()?;
        let mut paths: Vec<RepoPath> = self.paths.iter().skip(skipped).cloned().collect();
        paths.sort_unstable();
        paths.dedup();
        Some(paths)
    }
}
