//! The update lock: one process at a time brings a repository's index up to date.
//!
//! An advisory lock on `.ixmcp/update.lock`, held per batch so that processes take turns. It goes with the process, so
//! a crash leaves nothing behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};

/// How often a busy lock is tried again.
const RETRY: Duration = Duration::from_millis(5);

pub(super) struct UpdateLock {
    file: File,
}

impl UpdateLock {
    /// Waits for the lock until the budget is spent, then `BUSY`.
    pub(super) fn take(root: &Path, budget: &Budget) -> Result<Self> {
        let path = root.join(".ixmcp/update.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| Error::io("open", &path, error))?;
        let lock = Self { file };
        lock.acquire(budget)?;
        Ok(lock)
    }

    /// Lets another process have its turn.
    pub(super) fn take_turns(&self, budget: &Budget) -> Result<()> {
        self.file.unlock().map_err(|error| Error::internal("cannot release the update lock").caused_by(error))?;
        self.acquire(budget)
    }

    fn acquire(&self, budget: &Budget) -> Result<()> {
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if budget.is_spent() => {
                    return Err(Error::new(ErrorKind::Busy, "another process is updating the index")
                        .hint("Ask again in a moment."));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
                Err(TryLockError::Error(error)) => {
                    return Err(Error::internal("cannot take the update lock").caused_by(error));
                }
            }
        }
    }
}
