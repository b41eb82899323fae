//! The update lock: one process at a time updates the index of a repository.
//!
//! Owns an advisory lock on `update.lock` in the folder of the index, held per batch so that processes take turns, and two more by
//! which processes see what others do: `build.lock` and `asking.lock`. The system releases them when the process exits, so a crash
//! leaves nothing behind. Does not own what is done under them (`update`, `provisional`).

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::files::lacks_locks;

/// The interval between attempts to take a lock.
const RETRY: Duration = Duration::from_millis(5);
const UPDATE: &str = "update.lock";
const BUILD: &str = "build.lock";
const ASKING: &str = "asking.lock";
/// A lock that another process only checks is free again within this time.
const LOOK: Duration = Duration::from_millis(100);
/// How long a process that asks waits while another one cleans up.
const CLEANING: Duration = Duration::from_secs(2);

pub(crate) struct UpdateLock {
    file: File,
    /// Held while waiting for `file`, so that its holder notices.
    queue: File,
}

impl UpdateLock {
    /// Waits for the lock until the budget is spent, then `BUSY`.
    pub(crate) fn take(folder: &Path, budget: &Budget) -> Result<Self> {
        let lock = Self { file: open(folder, UPDATE)?, queue: open(folder, "update.queue")? };
        lock.wait(budget)?;
        Ok(lock)
    }

    /// Lets a waiting process have its turn. Returns whether there was one.
    pub(crate) fn take_turns(&self, budget: &Budget) -> Result<bool> {
        match self.queue.try_lock() {
            Ok(()) => self.queue.unlock().map(|()| false).map_err(|error| failed(&error)),
            Err(TryLockError::WouldBlock) => {
                self.file.unlock().map_err(|error| failed(&error))?;
                // Waiting processes try this often. Without the pause this one would be first again.
                std::thread::sleep(RETRY * 2);
                self.wait(budget).map(|()| true)
            }
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    fn wait(&self, budget: &Budget) -> Result<()> {
        if self.file.try_lock().is_ok() {
            return Ok(());
        }
        acquire(&self.queue, budget)?;
        let taken = acquire(&self.file, budget);
        self.queue.unlock().map_err(|error| failed(&error))?;
        taken
    }
}

/// Held by a process that builds a new database next to the old one: two would write the same file.
pub(crate) struct RebuildLock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl RebuildLock {
    /// Waits for the lock until the budget is spent, then `BUSY`.
    pub(crate) fn take(folder: &Path, budget: &Budget) -> Result<Self> {
        let file = open(folder, "rebuild.lock")?;
        acquire(&file, budget).map(|()| Self(file))
    }
}

/// Held by a process for as long as it builds the index and makes its vectors, which others then leave to it.
pub(crate) struct BuildLock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl BuildLock {
    /// `None` if another process holds it.
    pub(super) fn take(folder: &Path) -> Result<Option<Self>> {
        let file = open(folder, BUILD)?;
        match acquire(&file, &Budget::lasting(LOOK)) {
            Ok(()) => Ok(Some(Self(file))),
            Err(error) if error.kind == ErrorKind::Busy => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether another process builds the index or computes its vectors.
pub(super) fn is_being_built(folder: &Path) -> bool {
    is_held(folder, BUILD)
}

/// Whether another process updates the index, and still does after `time`.
pub(super) fn is_being_updated_for(time: Duration, folder: &Path) -> bool {
    let begun = Instant::now();
    while is_held(folder, UPDATE) {
        if begun.elapsed() >= time {
            return true;
        }
        std::thread::sleep(RETRY);
    }
    false
}

fn is_held(folder: &Path, name: &str) -> bool {
    File::open(folder.join(name)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Held by processes that answer while another one builds the index, which pauses meanwhile.
pub(crate) struct AskingLock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl AskingLock {
    /// Calls `first` if no other process holds the lock.
    pub(super) fn take(folder: &Path, first: impl FnOnce()) -> Result<Self> {
        let file = open(folder, ASKING)?;
        if acquire(&file, &Budget::lasting(LOOK)).is_ok() {
            first();
            file.unlock().map_err(|error| failed(&error))?;
        }
        // The process that builds checks whether it is held. Without the lock, that process does not pause; nothing else
        // is lost.
        let begun = Instant::now();
        while matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) && begun.elapsed() < CLEANING {
            std::thread::sleep(RETRY / 5);
        }
        Ok(Self(file))
    }

    /// Whether a process holds it.
    pub(crate) fn is_held(folder: &Path) -> bool {
        File::open(folder.join(ASKING)).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

fn open(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(name);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    file.map_err(|error| Error::io("open", &path, error))
}

fn acquire(file: &File, budget: &Budget) -> Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if budget.is_spent() => {
                return Err(
                    Error::new(ErrorKind::Busy, "another process is updating the index").hint("Try again in a moment.")
                );
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
    }
}

fn failed(error: &std::io::Error) -> Error {
    // `folder` has tried locks before; they may stop working later.
    let kind = if lacks_locks(error) { ErrorKind::ReadOnly } else { ErrorKind::Internal };
    Error::new(kind, format!("the update lock does not work: {error}"))
        .hint("Start ixmcp again: where the repository's file system has no locks, the index is created elsewhere.")
}
