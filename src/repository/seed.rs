//! The index that a new worktree starts from: that of a sibling worktree. It answers reads while it is copied.
//!
//! Owns which sibling that is, when there is none, and which files have the same bytes as in the sibling's index. Does not own
//! which worktrees are trusted (`git_layout`), nor the copy (`sibling_copy`).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use super::folder;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::git_layout;
use crate::locked::locked;
use crate::model::{ContentHash, RepoPath, Stat};
use crate::platform::files::is_own;
use crate::scan;
use crate::store::Store;
use crate::threads::{WorkList, on_threads};

/// How many indexes are tried, the newest first.
const MAX_TRIED: usize = 3;

/// The indexes of siblings, until the own index shows the disk.
pub(crate) struct Seed {
    /// The newest first.
    pub(crate) siblings: Vec<Sibling>,
    /// The one that answers, once asked for.
    lent: OnceLock<Option<Store>>,
    /// Reads of the lent index have failed.
    is_unreadable: AtomicBool,
    /// The own index shows the disk.
    has_ended: AtomicBool,
    hashes: Mutex<HashMap<RepoPath, Hashed>>,
}

pub(crate) struct Sibling {
    pub worktree: PathBuf,
    pub database: PathBuf,
}

/// A file as it is listed, with the hash of the bytes that were indexed.
pub(crate) struct IndexedFile<'f> {
    pub path: &'f RepoPath,
    pub hash: ContentHash,
    pub stat: Stat,
}

/// The bytes of a file, as they were read at a time.
#[derive(Clone, Copy)]
struct Hashed {
    stat: Stat,
    seen_ns: i64,
    hash: ContentHash,
}

impl Seed {
    /// Finds the databases of siblings from which the empty index of the repository at `root` can start.
    pub(super) fn find(root: &Path, own: &Store) -> Option<Self> {
        let is_in_worktree = own.path().parent() == Some(&root.join(folder::FOLDER));
        if own.is_read_only() || !is_in_worktree || !is_empty(own).unwrap_or(false) {
            return None;
        }
        Some(siblings(root)).filter(|siblings| !siblings.is_empty()).map(|siblings| Self {
            siblings,
            lent: OnceLock::new(),
            is_unreadable: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            hashes: Mutex::default(),
        })
    }

    /// The sibling's index, while the own index is empty. It must have been made with these `options`.
    pub(super) fn lent(&self, own: &Store, options: impl FnOnce() -> String) -> Option<&Store> {
        if self.has_ended() || self.is_unreadable.load(Ordering::Relaxed) || !is_empty(own).unwrap_or(false) {
            return None;
        }
        let open = || {
            let options = options();
            self.siblings.iter().find_map(|sibling| Store::open_sibling(&sibling.database, &options).ok())
        };
        self.lent.get_or_init(open).as_ref()
    }

    /// The lent index cannot be read: it may have been removed with its worktree.
    pub(super) fn give_up_lent(&self, error: &Error) {
        tracing::info!("the index of another worktree does not answer any more: {error}");
        self.is_unreadable.store(true, Ordering::Relaxed);
    }

    /// The own index shows the disk.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        if let Some(Some(lent)) = self.lent.get() {
            lent.rest_after(Duration::ZERO, Duration::ZERO);
        }
        *locked(&self.hashes) = HashMap::new();
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Which of these files have the bytes that were indexed, whatever their times. `read` reads a file. Each file is read once,
    /// on all cores: a new worktree has most files in common with its sibling.
    pub(crate) fn unchanged(
        &self,
        files: &[IndexedFile],
        read: &(dyn Fn(&RepoPath) -> Option<Vec<u8>> + Sync),
        budget: &Budget,
    ) -> Result<HashSet<RepoPath>> {
        // Held to the end, so that concurrent reads do not hash the same files.
        let mut known = locked(&self.hashes);
        let list = WorkList::new(files);
        let work = || {
            let (mut unchanged, mut hashed) = (Vec::new(), Vec::new());
            while !budget.is_spent() {
                let Some((_, file)) = list.take() else { break };
                let IndexedFile { path, hash, stat } = *file;
                let is_known = |known: &&Hashed| scan::trusted(&known.stat, known.seen_ns, &stat);
                let now = known.get(path).filter(is_known).copied().or_else(|| {
                    let seen_ns = scan::now_ns();
                    let now = Hashed { stat, seen_ns, hash: ContentHash::compute(&read(path)?) };
                    hashed.push((path.clone(), now));
                    Some(now)
                });
                if now.is_some_and(|now| now.hash == hash) {
                    unchanged.push(path.clone());
                }
            }
            (unchanged, hashed)
        };
        let found = on_threads(list.threads(), work)?;
        budget.check()?;
        let (unchanged, hashed): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        if !self.has_ended() {
            known.extend(hashed.into_iter().flatten());
        }
        Ok(unchanged.into_iter().flatten().collect())
    }
}

/// Whether nothing was indexed yet.
pub(crate) fn is_empty(store: &Store) -> Result<bool> {
    store.read(&Budget::unlimited(), |snapshot| Ok(!snapshot.has_files()? && !snapshot.is_built()?))
}

/// The trusted worktrees whose index may be read, the most recently written first.
fn siblings(root: &Path) -> Vec<Sibling> {
    let mut found: Vec<(SystemTime, Sibling)> = git_layout::siblings(root)
        .into_iter()
        .filter_map(|worktree| {
            let database = worktree.join(folder::FOLDER).join(folder::DATABASE);
            Some((last_write(&database)?, Sibling { worktree, database }))
        })
        .filter(|(_, sibling)| !scan::tracks_under(&sibling.worktree, folder::FOLDER))
        .collect();
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| other.worktree.cmp(&one.worktree)));
    found.into_iter().map(|(_, sibling)| sibling).take(MAX_TRIED).collect()
}

/// When the index of a worktree was last written; `None` unless its folder and its database belong to this user and are not
/// links.
fn last_write(database: &Path) -> Option<SystemTime> {
    let own = |path: &Path| fs::symlink_metadata(path).ok().filter(is_own);
    own(database.parent()?).filter(fs::Metadata::is_dir)?;
    let written = own(database).filter(fs::Metadata::is_file)?.modified().ok()?;
    let log = own(&database.with_extension("db-wal")).and_then(|log| log.modified().ok());
    Some(log.map_or(written, |log| log.max(written)))
}
