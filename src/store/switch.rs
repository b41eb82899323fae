//! Replacing the database file while others open and close it.
//!
//! Owns the lock `.ixmcp/open.lock`, shared while a connection is opened or closed, exclusive while the file is
//! replaced, and the connections that take it. SQLite finds the log and the shared memory of a database by its path: a
//! connection opened in the middle of a replacement would pair one database with the log of another, and one closed
//! then could delete a log that is in use. Does not own what replaces the file, or when (`update`).

use std::fs::{self, File, TryLockError};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::files::append_private;

/// A replacement renames and removes a few files. As long as SQLite waits for a lock.
const TIMEOUT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(1);

/// While one exists, the database is not replaced.
pub(super) struct OpenLock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] Option<File>);

impl OpenLock {
    /// Where the lock file cannot be opened, the database cannot be replaced either.
    pub(super) fn shared(database: &Path) -> Result<Self> {
        let Ok(file) = lock_file(database) else { return Ok(Self(None)) };
        match acquire(|| file.try_lock_shared()) {
            Err(TryLockError::WouldBlock) => Err(busy()),
            // A file system without locks: the update lock reports that to writers.
            Err(TryLockError::Error(_)) => Ok(Self(None)),
            Ok(()) => Ok(Self(Some(file))),
        }
    }
}

/// `index.db-wal` for `index.db`.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Renames the complete database `new` to `database`. `clear` removes an existing one, with its log.
pub(super) fn replace(database: &Path, new: &Path, clear: impl FnOnce() -> Result<()>) -> Result<()> {
    if fs::metadata(with_suffix(new, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(Error::new(ErrorKind::Busy, format!("{} is still being written", new.display()))
            .hint("Run the command again."));
    }
    let file = lock_file(database).map_err(|error| Error::io("open", database, error))?;
    match acquire(|| file.try_lock()) {
        Err(TryLockError::WouldBlock) => return Err(busy()),
        Err(TryLockError::Error(error)) => return Err(Error::io("lock", database, error)),
        Ok(()) => {}
    }
    clear()?;
    fs::rename(new, database).map_err(|error| Error::io("rename", new, error))
}

fn lock_file(database: &Path) -> std::io::Result<File> {
    append_private(&database.with_file_name("open.lock"))
}

fn acquire(attempt: impl Fn() -> std::result::Result<(), TryLockError>) -> std::result::Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(TryLockError::WouldBlock) if started.elapsed() < TIMEOUT => std::thread::sleep(RETRY),
            outcome => return outcome,
        }
    }
}

fn busy() -> Error {
    Error::new(ErrorKind::Busy, "the index is being replaced by another process").hint("Try again in a moment.")
}

/// A connection to the database. It is closed under the lock.
pub(super) struct IndexConnection {
    /// There until it is closed.
    connection: Option<Connection>,
    database: PathBuf,
}

impl IndexConnection {
    pub(super) fn new(connection: Connection, database: &Path) -> Self {
        Self { connection: Some(connection), database: database.to_owned() }
    }
}

impl Deref for IndexConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is closed by drop alone")
    }
}

impl DerefMut for IndexConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is closed by drop alone")
    }
}

impl Drop for IndexConnection {
    fn drop(&mut self) {
        // A process that was stopped while it replaced the file must not keep this one from ending.
        let _lock = OpenLock::shared(&self.database);
        drop(self.connection.take());
    }
}
