//! Opening the database file: pragmas, and the errors for files of other programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::migrate;
use super::switch::{IndexConnection, OpenLock, with_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::files::identity;
use crate::wording::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Write,
    Read,
}

/// The application id in the file's header: "ixmc".
pub(super) const APPLICATION_ID: i32 = 0x6978_6d63;

/// Every connection. WAL lets readers continue while the writer works; NORMAL may lose the last commits with the power,
/// never the file, and the next sync makes them again; a checkpoint leaves at most 64 MB of log. Foreign keys are
/// declared for people and checked by `Store::faults`; enforced, they cost two look-ups for each of a million
/// references.
const PRAGMAS: &str = "
    PRAGMA busy_timeout = 5000;
    PRAGMA foreign_keys = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA journal_size_limit = 67108864;
";
/// Chunks are rows of a kilobyte or two: on pages of 4096 bytes a fifth of the file would stay empty, on these a
/// twentieth. It has no effect on a file that has pages already, and must precede the first write.
const PAGE_SIZE: &str = "PRAGMA page_size = 16384";
const WRITER_PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA cache_size = -16384;
";
/// While an empty file becomes an index: what the power may take then is nothing, and a damaged file is replaced. Each of the
/// waits for the disk takes as long as a query.
const UNSYNCED: &str = "PRAGMA synchronous = OFF";
const SYNCED: &str = "PRAGMA synchronous = NORMAL";
/// Enough for what a bulk build writes and reads again soon; between builds a quarter is enough.
pub(super) const CACHE_FOR_BULK: &str = "PRAGMA cache_size = -65536";
pub(super) const CACHE_AFTER_BULK: &str = "PRAGMA cache_size = -16384; PRAGMA shrink_memory";
/// Mapped pages avoid a copy and make large queries a third faster. SQLite maps no more than these 2 GB.
const READER_PRAGMAS: &str = "
    PRAGMA query_only = ON;
    PRAGMA cache_size = -16384;
    PRAGMA mmap_size = 2147418112;
";
/// For a process that has many indexes open: mapped pages of all of them would take several hundred megabytes. Queries over
/// 130 indexes take 7 % longer and half the memory.
const READER_PRAGMAS_OF_MANY: &str = "
    PRAGMA query_only = ON;
    PRAGMA mmap_size = 0;
";
/// KiB of cached pages that the readers of many indexes share, and the least that each gets: with fewer pages than a
/// query reads, every query would read them again.
const CACHE_OF_MANY: usize = 128 << 10;
const MIN_CACHE: usize = 512;
/// More open indexes than this are many.
const MANY: usize = 16;

/// Statements kept prepared by each connection: more than there are.
const PREPARED: usize = 128;

/// The indexes that this process has open.
static OPEN_STORES: AtomicUsize = AtomicUsize::new(0);

/// An open index, for as long as this exists.
pub(super) struct OpenStore(());

impl OpenStore {
    pub fn new() -> Self {
        OPEN_STORES.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        OPEN_STORES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Which file a path named when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity(u64, u64);

/// Which file is the log of a database; `None` if it has none.
pub(super) fn log_identity(database: &Path) -> Option<FileIdentity> {
    let data = std::fs::metadata(with_suffix(database, "-wal")).ok()?;
    let (device, number) = identity(&data);
    Some(FileIdentity(device, number))
}

impl FileIdentity {
    pub fn read(path: &Path) -> Result<Self> {
        let data = std::fs::metadata(path).or_else(|error| {
            // It may be in the middle of a replacement.
            let _lock = OpenLock::shared(path)?;
            std::fs::metadata(path).map_err(|_| gone(path, error))
        })?;
        let (device, number) = identity(&data);
        Ok(Self(device, number))
    }
}

fn gone(path: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorKind::IndexNotFound, format!("the index {} is gone", path.display()))
        .hint(("Run ", Command("sync"), " to build it again."))
        .caused_by(error)
}

/// Opens a connection. Before the first one to a file, [`refuse_other_formats`] must have accepted it.
pub(super) fn connect(path: &Path, mode: Mode) -> Result<IndexConnection> {
    let _lock = OpenLock::shared(path)?;
    let connection = match mode {
        Mode::Write => Connection::open(path)?,
        Mode::Read => open_for_reading(path)?,
    };
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // Statements keep the plan they were prepared with. Else SQLite, where `PRAGMA optimize` has left samples, plans
    // again whenever a value that it looked at is bound again: a third of the time of a query that reads 200 chunks by
    // id.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(PRAGMAS)?;
    match mode {
        Mode::Write => {
            connection.execute_batch(PAGE_SIZE)?;
            let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            connection.execute_batch(if pages == 0 { UNSYNCED } else { SYNCED })?;
            refuse_other_programs(&connection, path)?;
            connection.execute_batch(WRITER_PRAGMAS)?;
            let connection = migrate::up(connection, path)?;
            connection.execute_batch(SYNCED)?;
            Ok(IndexConnection::new(connection, path))
        }
        Mode::Read => {
            let open = OPEN_STORES.load(Ordering::Relaxed);
            if open > MANY {
                connection.execute_batch(READER_PRAGMAS_OF_MANY)?;
                let kibibytes = i64::try_from((CACHE_OF_MANY / open).max(MIN_CACHE)).unwrap_or_default();
                connection.pragma_update(None, "cache_size", -kibibytes)?;
            } else {
                connection.execute_batch(READER_PRAGMAS)?;
            }
            // The first read opens the log and the shared memory.
            migrate::check(&connection, path)?;
            Ok(IndexConnection::new(connection, path))
        }
    }
}

/// Whether the file is an index that a build of this program made whose schema is not ours, older or newer.
pub(super) fn is_of_another_build(path: &Path) -> bool {
    let Ok(_lock) = OpenLock::shared(path) else { return false };
    let Ok(connection) = open_for_reading(path) else { return false };
    let id = connection.query_row("PRAGMA application_id", [], |row| row.get::<_, i32>(0));
    id.is_ok_and(|id| id == APPLICATION_ID) && migrate::is_of_another_build(&connection).unwrap_or(false)
}

/// A database in a folder where nothing can be written has no shared memory file; it is then read as it is.
fn open_for_reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags)?;
    let readable = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    match readable.map_err(Error::from) {
        Err(error) if error.kind == ErrorKind::ReadOnly => {
            let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            Ok(Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)?)
        }
        outcome => outcome.map(|()| connection),
    }
}

/// A file that is not SQLite at all is rejected before SQLite could modify it.
///
/// Only for a file that this process has no connection to: closing any handle of a file drops all POSIX locks that the
/// process holds on it. Another process that closes the database would then take itself for the last one and delete
/// the log under our connections.
pub(super) fn refuse_other_formats(path: &Path) -> Result<()> {
    let mut head = Vec::new();
    if path.is_dir() {
        return Err(migrate::foreign(path));
    }
    let Ok(file) = File::open(path) else { return Ok(()) };
    file.take(16).read_to_end(&mut head).map_err(|error| Error::io("read", path, error))?;
    if head.is_empty() || head == b"SQLite format 3\0" { Ok(()) } else { Err(migrate::foreign(path)) }
}

fn refuse_other_programs(connection: &Connection, path: &Path) -> Result<()> {
    let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 {
        return Err(migrate::foreign(path));
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(())
}
