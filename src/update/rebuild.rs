//! `ixmcp rebuild`: builds a new database next to the old one and switches at the end.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::apply::Turn;
use super::documents::Documents;
use super::rounds::{self, Report};
use super::schedule::Updates;
use crate::budget::{Budget, Phase, Progress};
use crate::config::Sources;
use crate::error::{Error, ErrorKind, Result};
use crate::repository::{Coverage, Index, RebuildLock, Repository, Requests, Thoroughness, UpdateLock, damage, folder};
use crate::store::{Mode, Store};

/// Puts the database that a new index starts from at a path.
pub(super) type Seed<'b> = Box<dyn FnOnce(&Path) -> Result<()> + 'b>;

/// Builds the index again. The old one answers until the new one is complete. One that is damaged or foreign is kept as
/// `index.db.bad`.
pub fn rebuild(root: &Path, sources: Arc<Sources>, progress: &Progress, budget: &Budget) -> Result<Report> {
    from_seed(root, sources, None, progress, budget)
}

/// Builds the index again from a seed; only files that differ from the disk are indexed.
pub(super) fn from_seed(
    root: &Path,
    sources: Arc<Sources>,
    seed: Option<Seed>,
    progress: &Progress,
    budget: &Budget,
) -> Result<Report> {
    let started = Instant::now();
    let (old, mode) = folder::prepare(root, &sources.environment)?;
    if mode == Mode::Read {
        return Err(Error::new(ErrorKind::ReadOnly, format!("{} cannot be written", old.display()))
            .hint("Make the folder .ixmcp writable."));
    }
    let folder = old.parent().unwrap_or(root);
    let _alone = RebuildLock::take(folder, budget)?;
    let new = old.with_extension("db.new");
    folder::discard(&new)?;
    let thoroughness = match seed {
        None => Thoroughness::Everything,
        Some(put) => {
            put(&new).inspect_err(|_| drop(folder::discard(&new)))?;
            Thoroughness::Changed
        }
    };
    let index = Index::from_store(Store::open(&new, Mode::Write)?);
    let updates = Arc::new(Updates::new(Arc::new(Repository::with_index(root, sources, index)?)));
    let repository = &*updates.repository;
    if thoroughness == Thoroughness::Changed {
        // The report counts what differs from the seed.
        repository.store()?.write(|batch| batch.count_changes("sync"))?;
    }
    // Reads wait for the old index.
    let requests = Requests::default();
    let lock = repository.lock(budget)?;
    rounds::run(&Turn::new(repository, &lock, (progress, &requests), budget), Coverage::Tree(thoroughness))?;
    drop(lock);
    progress.enter(Phase::Substrings);
    updates.trigrams.catch_up(budget)?;
    progress.enter(Phase::Vectors);
    updates.embeddings.embed(budget)?;
    // What other processes have added to the old index since must not be lost by the switch.
    let lock = UpdateLock::take(folder, budget)?;
    let turn = Turn { yields: false, ..Turn::new(repository, &lock, (progress, &requests), budget) };
    rounds::run(&turn, Coverage::Tree(Thoroughness::Changed))?;
    updates.embeddings.embed(budget)?;
    Documents::new(Arc::clone(&updates.repository), Arc::clone(&updates)).begin_counts()?;
    let mut report = Report::record(repository, started, budget)?;
    // Closing the last connection folds the log into the file, which is then complete.
    drop(updates);
    let is_unusable = old.exists() && Store::open(&old, Mode::Write).is_err();
    damage::forget(&old);
    Store::replace(&old, &new, || {
        if is_unusable {
            folder::keep_aside(&old)?;
        }
        folder::discard(&old)
    })?;
    report.db_bytes = fs::metadata(&old).map_or(report.db_bytes, |data| data.len());
    Ok(report)
}
