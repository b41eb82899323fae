//! Files on disk: which of them belong to a repository, and their bytes.
//!
//! Owns the walk, the ignore rules, the rules that skip a file by its path or size, safe opening, and the one resolver
//! of paths that people and agents give. Does not own how a file is interpreted (`extract`) nor what the database knows
//! of it (`store`, `update`): comparing the two is `update`'s work.

mod absent_rules;
mod bare;
mod hash;
mod ignored;
mod listing_fingerprint;
mod patterns;
mod resolve;
mod root;
mod rules;
mod tracked;
mod walk;
mod with_tracked;
mod without_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::budget::Budget;
use crate::error::Result;
use crate::model::{RepoPath, SkipReason, Stat};

pub(crate) use hash::{Content, now_ns, trusted};
pub use hash::{read, read_below};
pub(crate) use ignored::is_rule_file;
pub(crate) use listing_fingerprint::ListingFingerprint;
pub(crate) use resolve::{Resolved, Resolver};
pub(crate) use root::{HomeFolders, is_own_repository, repository_root};
pub use rules::Rules;
pub(crate) use rules::is_private_name;
pub(crate) use tracked::{Staged, staged};
pub(crate) use without_files::ignoring_rules;

/// A file to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: RepoPath,
    pub stat: Stat,
}

/// A file (or a folder that cannot be read) that exists but must not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// Path on disk; where that is not UTF-8, with U+FFFD instead and control characters escaped.
    pub path: String,
    pub reason: SkipReason,
    pub stat: Stat,
}

/// The files of a repository, each list sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub files: Vec<FoundFile>,
    pub skipped: Vec<SkippedEntry>,
    /// Folders that were looked into (the root aside): where something new would be news.
    pub folders: Vec<RepoPath>,
    /// Something was left aside that no folder's times would tell of, such as a tracked file that is gone.
    pub is_shaky: bool,
    /// Files that decide what is listed of repositories in the tree, and are not listed: see [`git_rule_files`].
    pub rule_files: Vec<PathBuf>,
    /// Problems for a log, such as a damaged git index: what it names could not be taken into account.
    pub warnings: Vec<String>,
}

impl Listing {
    fn sorted(mut self) -> Self {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.files.dedup_by(|a, b| a.path == b.path);
        // Paths that are no UTF-8 may look the same: their bytes distinguish them.
        self.skipped.sort_unstable_by(|a, b| (&a.path, a.stat.inode).cmp(&(&b.path, b.stat.inode)));
        self.skipped.dedup();
        self.folders.sort_unstable();
        self.folders.dedup();
        self.rule_files.sort();
        self.rule_files.dedup();
        self.warnings.sort();
        self.warnings.dedup();
        self
    }
}

/// Result for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathVerdict {
    Listed(FoundFile),
    Skipped(SkippedEntry),
}

/// Callback that a listing runs with each folder before it reads it.
pub type Entering = Arc<dyn Fn(&RepoPath) + Send + Sync>;

/// Every file of the repository at `root`, which is absolute.
///
/// Fails only when the root itself cannot be read or the budget is spent: a listing is whole or there is none.
pub fn list(root: &Path, rules: &Rules, budget: &Budget) -> Result<Listing> {
    walk::list(root, rules, None, budget)
}

/// Lists every file of the repository at `root`, as [`list`] does; `entering` is called with each folder but the root.
pub fn list_entering(root: &Path, rules: &Rules, entering: Option<&Entering>, budget: &Budget) -> Result<Listing> {
    walk::list(root, rules, entering, budget)
}

/// The part of [`list`] that is at or below one of `paths`, without walking the rest.
///
/// What is at or below one of them and not in the answer is gone, or ignored by now.
pub fn at(root: &Path, paths: &[RepoPath], rules: &Rules, budget: &Budget) -> Result<Listing> {
    walk::at(root, paths, rules, budget)
}

/// Whether an ignore file names that folder of the repository or one above it.
pub fn ignores(root: &Path, folder: &RepoPath, rules: &Rules) -> bool {
    walk::ignores(root, folder, rules)
}

/// Lists one file as [`list`] does; `None` when it is gone, ignored, or a folder.
pub fn one(root: &Path, path: &RepoPath, rules: &Rules) -> Result<Option<PathVerdict>> {
    let listing = at(root, std::slice::from_ref(path), rules, &Budget::unlimited())?;
    let listed = listing.files.into_iter().find(|found| found.path == *path).map(PathVerdict::Listed);
    let skipped = || listing.skipped.into_iter().find(|left| left.path == path.as_str()).map(PathVerdict::Skipped);
    Ok(listed.or_else(skipped))
}

/// Files in no folder that is listed whose change may change what is listed: git's index, exclusions and settings.
pub fn git_rule_files(root: &Path, rules: &Rules) -> Vec<PathBuf> {
    ignored::Layout::around(root, rules).files()
}

/// Whether git tracks `path` of the repository or anything below it, such as an index that a clone shipped.
pub fn tracks_under(root: &Path, path: &str) -> bool {
    tracked::may_name(root, path) && tracked::names(root, path)
}
