//! The first index of a worktree: a copy of a sibling's, so that only what differs is read.
//!
//! Owns which sibling is copied, what is left out, and when there is none. Does not own which worktrees are trusted
//! (`git_layout`), nor the copy itself (`store`). All files are compared by their bytes afterwards, by the first update.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::folder;
use super::repository::Settings;
use crate::config::Sources;
use crate::error::Result;
use crate::git_layout;
use crate::model::printable;
use crate::platform::files::is_own;
use crate::scan;
use crate::store::{Store, StoredFile};

/// How many indexes are tried, the newest first.
const MAX_TRIED: usize = 3;

/// Puts a copy of a sibling's index in place of the missing `database` of the repository at `root`. The caller holds the update
/// lock. Whatever prevents it costs time and nothing else: the index is then built from nothing.
pub(super) fn seed(root: &Path, database: &Path, sources: &Sources) {
    let folder = root.join(folder::FOLDER);
    if database.exists() || database.parent() != Some(&folder) {
        return;
    }
    let candidates = candidates(root);
    let copy = database.with_extension("db.seed");
    let put = |sibling: &Path| -> Result<()> {
        let options = Settings::load(root, &folder, sources)?.extraction().fingerprint();
        folder::discard(&copy)?;
        Store::copy_sibling(&index_of(sibling), &copy, &options, is_of_registered_folder)?;
        Store::replace(database, &copy, || folder::discard(database))
    };
    for sibling in candidates {
        let started = Instant::now();
        let shown = printable(&sibling.to_string_lossy());
        match put(&sibling) {
            Ok(()) => {
                let seconds = started.elapsed().as_secs_f64();
                tracing::info!("the index begins as a copy of that of the worktree {shown} ({seconds:.2} s)");
                return;
            }
            Err(error) => tracing::info!("the index of the worktree {shown} is not copied: {error}"),
        }
        // The update lock is held: no other process makes this file.
        let _ = folder::discard(&copy);
    }
}

/// Files that the sibling's user registered with `index_files`: this worktree has no such folder.
fn is_of_registered_folder(file: &StoredFile) -> bool {
    file.path.is_outside() || file.chunking.is_some()
}

/// The trusted worktrees whose index may be read, the most recently written first.
fn candidates(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = git_layout::siblings(root)
        .into_iter()
        .filter_map(|sibling| Some((last_write(&sibling)?, sibling)))
        .filter(|(_, sibling)| !scan::tracks_under(sibling, folder::FOLDER))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, sibling)| sibling).take(MAX_TRIED).collect()
}

fn index_of(worktree: &Path) -> PathBuf {
    worktree.join(folder::FOLDER).join(folder::DATABASE)
}

/// When the index of a worktree was last written; `None` unless its folder and its database belong to this user and are not
/// links.
fn last_write(sibling: &Path) -> Option<SystemTime> {
    let database = index_of(sibling);
    let own = |path: &Path| fs::symlink_metadata(path).ok().filter(is_own);
    own(database.parent()?).filter(fs::Metadata::is_dir)?;
    let written = own(&database).filter(fs::Metadata::is_file)?.modified().ok()?;
    let log = own(&database.with_extension("db-wal")).and_then(|log| log.modified().ok());
    Some(log.map_or(written, |log| log.max(written)))
}
