//! The connections that queries are asked on: opened when needed, kept for the next query, never more than a few.
//!
//! Owns how many there are. Opening and closing one for each query of many clients costs more than the query, and
//! memory that the allocator does not give back.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::switch::IndexConnection;
use super::{Mode, locked, open};
use crate::budget::Budget;
use crate::error::Result;

/// Queries that are asked of one index at once; further ones wait. Far more than a machine can run at once, so that a
/// few slow ones do not delay quick ones.
const MOST: usize = 32;
/// How soon a waiting caller notices that its call was cancelled.
const LOOK: Duration = Duration::from_millis(20);

pub(super) struct Readers {
    pool: Mutex<ConnectionPool>,
    freed: Condvar,
}

struct ConnectionPool {
    idle: Vec<IndexConnection>,
    lent: usize,
    /// The generation of the file that they have open.
    file: u64,
}

/// A connection lent for one query.
pub(super) struct PooledConnection<'r> {
    /// There until it is given back.
    connection: Option<IndexConnection>,
    readers: &'r Readers,
    file: u64,
}

impl Readers {
    pub fn new(idle: Vec<IndexConnection>) -> Self {
        Self { pool: Mutex::new(ConnectionPool { idle, lent: 0, file: 0 }), freed: Condvar::new() }
    }

    pub fn lend(&self, path: &Path, budget: &Budget) -> Result<PooledConnection<'_>> {
        let mut pool = locked(&self.pool);
        while pool.idle.is_empty() && pool.lent >= MOST {
            pool = self.freed.wait_timeout(pool, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            budget.check()?;
        }
        pool.lent += 1;
        let mut lent = PooledConnection { connection: pool.idle.pop(), readers: self, file: pool.file };
        drop(pool);
        if lent.connection.is_none() {
            lent.connection = Some(open::connect(path, Mode::Read)?);
        }
        Ok(lent)
    }

    /// Closes all, lent ones when they are returned: the file has changed, or the index is idle.
    pub fn clear(&self) {
        let mut pool = locked(&self.pool);
        pool.idle.clear();
        pool.file += 1;
    }
}

impl Deref for PooledConnection<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is given back at the end alone")
    }
}

impl DerefMut for PooledConnection<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is given back at the end alone")
    }
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        let mut pool = locked(&self.readers.pool);
        pool.lent -= 1;
        let connection = self.connection.take();
        // One that was in use when its query panicked may be in any state.
        if pool.file == self.file && !std::thread::panicking() {
            pool.idle.extend(connection);
        }
        drop(pool);
        self.readers.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn there_are_never_more_than_a_few_and_a_waiting_caller_can_give_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        drop(open::connect(&path, Mode::Write).unwrap());
        let readers = Readers::new(Vec::new());
        let lent: Vec<_> = (0..MOST).map(|_| readers.lend(&path, &Budget::unlimited()).unwrap()).collect();
        let impatient = Budget::lasting(Duration::from_millis(30));
        assert!(readers.lend(&path, &impatient).is_err());
        let served = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 * MOST {
                scope.spawn(|| {
                    let reader = readers.lend(&path, &Budget::unlimited()).unwrap();
                    let one: i64 = reader.query_row("SELECT 1", [], |row| row.get(0)).unwrap();
                    assert_eq!(one, 1);
                    served.fetch_add(1, Ordering::SeqCst);
                });
            }
            drop(lent);
        });
        assert_eq!(served.load(Ordering::SeqCst), 3 * MOST);
        let pool = locked(&readers.pool);
        assert!(pool.idle.len() <= MOST && pool.lent == 0, "{} idle, {} lent", pool.idle.len(), pool.lent);
    }

    #[test]
    fn a_reader_of_a_file_that_was_replaced_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        drop(open::connect(&path, Mode::Write).unwrap());
        let readers = Readers::new(Vec::new());
        let old = readers.lend(&path, &Budget::unlimited()).unwrap();
        readers.clear();
        drop(old);
        assert!(locked(&readers.pool).idle.is_empty());
    }
}
