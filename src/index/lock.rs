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
    /// Held while waiting for `file`, so that the holder sees that somebody does.
    queue: File,
}

impl UpdateLock {
    /// Waits for the lock until the budget is spent, then `BUSY`.
    pub(super) fn take(root: &Path, budget: &Budget) -> Result<Self> {
        let lock = Self { file: open(root, "update.lock")?, queue: open(root, "update.queue")? };
        lock.wait(budget)?;
        Ok(lock)
    }

    /// Lets another process have its turn, if one waits. Says whether one did.
    pub(super) fn take_turns(&self, budget: &Budget) -> Result<bool> {
        match self.queue.try_lock() {
            Ok(()) => self.queue.unlock().map(|()| false).map_err(|error| broken(&error)),
            Err(TryLockError::WouldBlock) => {
                self.file.unlock().map_err(|error| broken(&error))?;
                // A waiting process checks this often; without the pause this process would be first again.
                std::thread::sleep(RETRY * 2);
                self.wait(budget).map(|()| true)
            }
            Err(TryLockError::Error(error)) => Err(broken(&error)),
        }
    }

    fn wait(&self, budget: &Budget) -> Result<()> {
        if self.file.try_lock().is_ok() {
            return Ok(());
        }
        acquire(&self.queue, budget)?;
        let taken = acquire(&self.file, budget);
        self.queue.unlock().map_err(|error| broken(&error))?;
        taken
    }
}

/// Held by a process that builds a new database beside the old: two would write the same file.
pub(super) struct RebuildLock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl RebuildLock {
    /// Waits for the lock until the budget is spent, then `BUSY`.
    pub(super) fn take(root: &Path, budget: &Budget) -> Result<Self> {
        let file = open(root, "rebuild.lock")?;
        acquire(&file, budget).map(|()| Self(file))
    }
}

fn open(root: &Path, name: &str) -> Result<File> {
    let path = root.join(".ixmcp").join(name);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    file.map_err(|error| Error::io("open", &path, error))
}

fn acquire(file: &File, budget: &Budget) -> Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if budget.is_spent() => {
                return Err(
                    Error::new(ErrorKind::Busy, "another process is updating the index").hint("Ask again in a moment.")
                );
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
            Err(TryLockError::Error(error)) => return Err(broken(&error)),
        }
    }
}

fn broken(error: &std::io::Error) -> Error {
    Error::internal(format!("the update lock does not work: {error}")).hint("Is .ixmcp on a file system without locks?")
}
