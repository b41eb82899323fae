//! `ixmcp rebuild`: a new database beside the old, switched at the end.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::lock::{RebuildLock, UpdateLock};
use super::pipeline::Turn;
use super::{Report, Thoroughness, Workspace, folder, repair, sync};
use crate::budget::{Budget, Progress};
use crate::config::Sources;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Mode, Store};

/// Puts the database that a new index begins with at a path.
pub(super) type Beginning<'b> = Box<dyn FnOnce(&Path) -> Result<()> + 'b>;

/// Builds the index again from nothing. The old one answers until the new one is complete; one that is damaged or not ours is kept
/// as `index.db.bad`.
pub fn rebuild(root: &Path, sources: Arc<Sources>, progress: &Progress, budget: &Budget) -> Result<Report> {
    beside(root, sources, None, progress, budget)
}

/// The same from a beginning, of which only files that differ from the disk are extracted again.
pub(super) fn beside(
    root: &Path,
    sources: Arc<Sources>,
    beginning: Option<Beginning>,
    progress: &Progress,
    budget: &Budget,
) -> Result<Report> {
    let started = Instant::now();
    let old = folder::database(root);
    if folder::prepare(root)? == Mode::Read {
        return Err(Error::new(ErrorKind::ReadOnly, format!("{} cannot be written", old.display()))
            .hint("Make the folder .ixmcp writable."));
    }
    let _alone = RebuildLock::take(root, budget)?;
    let new = old.with_extension("db.new");
    folder::discard(&new)?;
    let thoroughness = match beginning {
        None => Thoroughness::Everything,
        Some(put) => {
            put(&new).inspect_err(|_| drop(folder::discard(&new)))?;
            Thoroughness::Changed
        }
    };
    let workspace = Workspace::over(root, sources, Store::open(&new, Mode::Write)?)?;
    if thoroughness == Thoroughness::Changed {
        // What differs from the beginning is what the report counts.
        workspace.store.write(|batch| batch.count_changes("sync"))?;
    }
    sync::update(&workspace, thoroughness, progress, budget)?;
    workspace.gather_trigrams(budget)?;
    workspace.embed(budget)?;
    // What others have brought into the old one since must not be lost by the switch.
    let lock = UpdateLock::take(root, budget)?;
    let turn = Turn { lock: &lock, yields: false, progress, budget };
    sync::update_in_turn(&workspace, Thoroughness::Changed, &turn)?;
    workspace.embed(budget)?;
    workspace.begin_counts()?;
    let mut report = sync::report(&workspace, started, budget)?;
    // Closing the last connection folds the log into the file: what is renamed is whole.
    drop(workspace);
    if old.exists() && Store::open(&old, Mode::Write).is_err() {
        folder::keep_aside(&old)?;
    }
    repair::forget(&old);
    folder::discard(&old)?;
    fs::rename(&new, &old).map_err(|error| Error::io("rename", &new, error))?;
    report.db_bytes = fs::metadata(&old).map_or(report.db_bytes, |data| data.len());
    Ok(report)
}
