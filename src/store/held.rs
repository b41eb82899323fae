//! States of several indexes that are held at once, so that one query can read them all.
//!
//! [`super::Store::read`] holds one state for the duration of one query.

use std::sync::Arc;

use super::readers::PooledConnection;
use super::{Caches, Snapshot, Store};
use crate::budget::Budget;
use crate::error::Result;

/// One state of an index, until it is dropped.
pub struct HeldState<'s> {
    connection: PooledConnection<'s>,
    caches: &'s Arc<Caches>,
}

impl Store {
    /// Holds the current state. Queries of it are stopped when `budget` is spent.
    pub fn hold(&self, budget: &Budget) -> Result<HeldState<'_>> {
        budget.check()?;
        self.follow_rebuild()?;
        let connection = self.readers.lend(&self.path, budget)?;
        self.note_log();
        let mut held = HeldState { connection, caches: &self.caches };
        let watched = budget.clone();
        held.connection.progress_handler(4_000, Some(move || watched.is_spent()))?;
        held.connection.execute_batch("BEGIN")?;
        Ok(held)
    }
}

impl HeldState<'_> {
    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::new(&self.connection, self.caches)
    }
}

impl Drop for HeldState<'_> {
    fn drop(&mut self) {
        // Errors do not matter: the transaction has written nothing, and a connection that fails here fails at its next
        // query, too.
        let _ = self.connection.progress_handler(0, None::<fn() -> bool>);
        let _ = self.connection.execute_batch("ROLLBACK");
    }
}
