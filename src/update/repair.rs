//! Automatic repair: a damaged index is rebuilt.
//!
//! Owns the decision to repeat work with another index. Does not own how the damaged one is replaced (`damage`).

use std::time::Duration;

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::repository::{OPEN_TIMEOUT, Repository, UpdateLock, damage, folder};
use crate::store::{FileIdentity, Store};

impl Repository {
    /// Does `work`. If the index is damaged, replaces it and does `work` once more.
    pub(crate) fn with_repair<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        let before = self.opened().map(|store| FileIdentity::read(store.path()).ok());
        match work() {
            Err(error) if error.kind == ErrorKind::CorruptIndex && self.may_repair() => {
                // If `work` opened the index, the damage is in the file that it opened.
                let before = before.map_or_else(|| self.index().map(|index| index.identity), Ok)?;
                self.repair(error, before)?;
                work()
            }
            outcome => outcome,
        }
    }

    /// Whether the damaged file may be replaced. A new database that is built next to the index may not: the process
    /// that builds it removes it if it is damaged. Neither may a database that another build of this program has put in
    /// place of ours: it is not damaged, and two running builds must not replace each other's forever.
    fn may_repair(&self) -> bool {
        let may_write = |store: &&Store| !store.is_read_only() && folder::is_index(store.path());
        self.opened().filter(may_write).is_some_and(|store| !Store::is_of_another_build(store.path()))
    }

    /// Puts an empty index in place of the damaged one, unless another process has replaced the damaged file already.
    fn repair(&self, error: Error, before: Option<FileIdentity>) -> Result<()> {
        let index = self.index()?;
        let database = index.store.path();
        let _lock = UpdateLock::take(database.parent().unwrap_or(database), &Budget::lasting(OPEN_TIMEOUT))?;
        if FileIdentity::read(database).ok() == before {
            // Some systems cannot replace an open file.
            index.store.rest_after(Duration::ZERO, Duration::ZERO);
            index.repaired.note(damage::replace(database, error)?);
        }
        self.in_flight.forget_ended();
        self.ask_for_sweep();
        Ok(())
    }
}
