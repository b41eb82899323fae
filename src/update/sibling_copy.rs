//! The copy of a sibling worktree's index that a new worktree begins with.
//!
//! Owns what is left out of the copy, and that it pauses for reads. Does not own which siblings there are (`seed`), nor how a database
//! is copied (`store`). All files are compared by their bytes afterwards, by the first update.

use std::time::{Duration, Instant};

use super::apply::Turn;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::repository::seed::is_empty;
use crate::repository::{Sibling, folder};
use crate::store::{Store, StoredFile};

/// How often a paused copy checks whether it may continue.
const POLL: Duration = Duration::from_millis(5);

/// Replaces the index, if it is empty, by a copy of a sibling's. Whatever prevents it costs time and nothing else: the index
/// is then built from nothing.
pub(super) fn copy_sibling(turn: &Turn) -> Result<()> {
    let Turn { repository, progress, requests, budget, .. } = *turn;
    let (store, begun) = (repository.store()?, Instant::now());
    let Some(seed) = repository.seed().filter(|_| is_empty(store).unwrap_or(false)) else {
        return Ok(());
    };
    let options = repository.settings().extraction().fingerprint();
    let copy = store.path().with_extension("db.seed");
    let rest = || {
        while requests.is_paused(begun, progress) && !budget.is_spent() {
            std::thread::sleep(POLL);
        }
        budget.check()?;
        if store.path().exists() { Ok(()) } else { Err(removed()) }
    };
    let put = |sibling: &Sibling| -> Result<()> {
        folder::discard(&copy)?;
        Store::copy_sibling(&sibling.database, &copy, &options, is_of_registered_folder, rest)?;
        // Some systems do not replace an open file.
        store.rest_after(Duration::ZERO, Duration::ZERO);
        Store::replace(store.path(), &copy, || folder::discard(store.path()))
    };
    for sibling in &seed.siblings {
        let shown = printable(&sibling.worktree.to_string_lossy());
        match put(sibling) {
            Ok(()) => {
                let seconds = begun.elapsed().as_secs_f64();
                tracing::info!("the index begins as a copy of that of the worktree {shown} ({seconds:.2} s)");
                return Ok(());
            }
            Err(error) => tracing::info!("the index of the worktree {shown} is not copied: {error}"),
        }
        // The update lock is held: no other process makes this file.
        let _ = folder::discard(&copy);
        budget.check()?;
        if !store.path().exists() {
            return Err(removed());
        }
    }
    Ok(())
}

fn removed() -> Error {
    Error::new(ErrorKind::Cancelled, "the index was removed while a copy was made to replace it")
}

/// Files that the sibling's user registered with `index_files`: this worktree has no such folder.
fn is_of_registered_folder(file: &StoredFile) -> bool {
    file.path.is_outside() || file.chunking.is_some()
}
