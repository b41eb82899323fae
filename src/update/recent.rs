//! Which files changed recently: a first build reads them before the rest, because queries are most often about them.
//!
//! Owns what counts as recent. Does not own how git's objects are read (`git_objects`), nor the order of a plan (`plan`).

use std::collections::HashSet;
use std::time::Duration;

use crate::budget::Budget;
use crate::git_objects::Objects;
use crate::model::RepoPath;
use crate::repository::Repository;
use crate::scan::Listing;

/// A tree of fewer files is built before it is known which of them changed.
const FEW_FILES: usize = 1_000;
/// The last commits count, if they change fewer files than these.
const COMMITS: usize = 30;
const MAX_FILES: usize = 2_000;
/// The build does not wait longer for git.
const TIMEOUT: Duration = Duration::from_millis(700);
/// A checkout writes all files within some time. What was saved so long after most files was edited.
const AFTER_CHECKOUT_NS: i64 = 120 * 1_000_000_000;

/// Whether recently changed files come first in a tree with this many files.
pub(super) fn come_first(files: usize) -> bool {
    files >= FEW_FILES
}

/// The files of a listing that were saved after most others.
pub(super) fn edited(listing: &Listing) -> HashSet<RepoPath> {
    if !come_first(listing.files.len()) {
        return HashSet::new();
    }
    let mut times: Vec<i64> = listing.files.iter().map(|file| file.stat.mtime_ns).collect();
    let middle = times.len() / 2;
    let (_, most, _) = times.select_nth_unstable(middle);
    let edited_after = most.saturating_add(AFTER_CHECKOUT_NS);
    let edited = listing.files.iter().filter(|file| file.stat.mtime_ns > edited_after);
    let mut recent: HashSet<RepoPath> = edited.map(|file| file.path.clone()).collect();
    if recent.len() > MAX_FILES {
        recent.clear();
    }
    recent
}

/// The files that the last commits changed; `None` without git, or without a history that may be read.
pub(super) fn committed(repository: &Repository) -> Option<Vec<RepoPath>> {
    let objects = Objects::open(&repository.root, &repository.sources.environment).ok()?;
    let changed = objects.changed_by_last_commits(COMMITS, &Budget::lasting(TIMEOUT));
    let changed = changed.inspect_err(|error| tracing::debug!("the last commits are not known: {error}")).ok()?;
    (changed.len() <= MAX_FILES).then(|| changed.iter().filter_map(|path| RepoPath::new(path.as_str())).collect())
}
