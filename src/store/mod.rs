//! The database: the only module that names `rusqlite` and contains SQL.
//!
//! Owns opening and migrating the file, the pool of readers and the one writer, and for each family of tables the
//! statements next to their row mapping. Does not own when to write: that is `update`'s.
//!
//! Reads are closures over a [`Snapshot`] and see one state of the index; writes are closures over a [`Batch`], which
//! is a transaction: it is committed when the closure returns `Ok`, and leaves nothing behind otherwise.
//!
//! **Concurrency.** WAL: readers never wait for the writer. Across processes the writers take turns by SQLite's own
//! lock (`busy_timeout`), and by `update`'s update lock so that work is not done twice. A read holds its snapshot only
//! as long as its closure runs, so checkpoints are not held up.

mod audit;
mod bitmap;
mod by_name;
mod candidates;
mod chunk_key;
mod chunks;
mod commits;
mod compare;
mod counted;
mod documents;
mod entities;
mod facts;
mod files;
mod fts_query;
mod fts_segments;
mod graph;
mod held;
mod kept;
mod loaded;
mod migrate;
mod names;
mod near;
mod open;
mod overview;
mod packed;
mod raw;
mod readers;
mod relations;
mod schema;
mod scip;
mod scope;
mod search;
mod statements;
mod switch;
mod symbols;
mod terms;
mod text_vectors;
mod trigrams;
mod vectors;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::wording::{Command, Wording};

use counted::PatternCounts;
use loaded::LoadedVectors;
use names::Interned;

pub use candidates::Candidate;
pub use chunks::{ChunkHit, ChunkName};
pub use commits::{CommitId, CommittedFiles, NewCommit, NewCommitFile, SmallCommit, StoredCommit, WordCommits};
pub use counted::{LineCounts, TextVersion};
pub use documents::{DocumentFile, DocumentPiece};
pub use entities::{EntityId, FileProblem, StoredEntity, TaggedKind};
pub use facts::{CountedChanges, FOLDER_CONSUMER, Fact, Totals};
pub use files::{FileRow, SkippedFile, StoredFile};
pub use fts_query::FtsQuery;
pub use fts_segments::IndexedChunks;
pub use graph::{GraphNode, Link, LinkFrom, LinkTo};
pub use held::HeldState;
use kept::KeptValues;
pub use kept::NamingFile;
pub use loaded::VectorSearch;
pub use migrate::newest as schema_version;
pub use open::{FileIdentity, Mode};
pub use raw::{Embedding, SqlValue, ask};
pub use relations::{DefinitionNode, Heritage, Import, SymbolId};
pub use scip::{ScipDocumentRow, ScipFile, ScipOccurrence, ScipRange, ScipRows};
use scope::Scopes;
pub use scope::{Scope, ScopeOf};
use search::Frequencies;
pub use symbols::{Definition, Named, Reference};
pub use trigrams::{FoundTrigrams, GatheredTrigrams, MAX_SLOTS, SegmentState, TrigramNeed, TrigramState};
pub use vectors::{NearChunk, SpaceId, SpaceKey, Unembedded};

use readers::Readers;
use switch::{IndexConnection, OpenLock};

/// Key of a row in `files`. Valid inside one snapshot; never part of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(i64);

/// Key of a row in `chunks`. Valid inside one snapshot; never part of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(i64);

/// The state of a database as far as others change it: equal to another when no other connection has committed in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    opened: FileIdentity,
    data: i64,
}

/// The index of one repository.
pub struct Store {
    path: PathBuf,
    mode: Mode,
    /// The file that the connections below have open; a rebuild replaces it. None when they are closed.
    opened: Mutex<Option<FileIdentity>>,
    /// The log that they have open, if it is known. SQLite keeps it as long as a connection is open. Other programs may
    /// not: git checks out a log that was committed. Connections opened afterwards would read the wrong one.
    log: Mutex<Option<Option<FileIdentity>>>,
    /// Dropped before the writer: only a connection that may write can fold the log into the file as the last one.
    readers: Readers,
    writer: Mutex<Option<Writer>>,
    caches: Arc<Caches>,
    last_used: Mutex<Instant>,
    _open: open::OpenStore,
}

/// Values of the database that are kept in memory between queries.
struct Caches {
    /// The last totals.
    totals: Mutex<Option<Totals>>,
    /// Frequencies of words in chunks.
    frequencies: Mutex<Frequencies>,
    /// Counts of exact searches.
    counted: Mutex<PatternCounts>,
    /// Files of the history.
    committed: Mutex<commits::KeptCommits>,
    /// Scopes that searches were narrowed to.
    scopes: Mutex<Scopes>,
    /// Values computed from texts.
    kept: Mutex<KeptValues>,
    vectors: LoadedVectors,
}

impl Caches {
    fn none(path: &Path) -> Arc<Self> {
        Arc::new(Self {
            totals: Mutex::default(),
            frequencies: Mutex::default(),
            counted: Mutex::default(),
            committed: Mutex::default(),
            scopes: Mutex::default(),
            kept: Mutex::default(),
            vectors: LoadedVectors::none(path),
        })
    }
}

struct Writer {
    connection: IndexConnection,
    interned: Interned,
}

/// One state of the index, for queries.
pub struct Snapshot<'c> {
    connection: &'c Connection,
    caches: &'c Arc<Caches>,
    /// Where vectors of a space were asked for and some were not in memory: the last chunk of those that were.
    reached: Cell<Option<(SpaceId, i64)>>,
    /// Whether rows are indexed by name, once asked.
    indexed_by_name: Cell<Option<bool>>,
    /// When a row last changed, once asked.
    last_change: RefCell<Option<Option<String>>>,
}

impl<'c> Snapshot<'c> {
    fn new(connection: &'c Connection, caches: &'c Arc<Caches>) -> Self {
        let (reached, indexed_by_name, last_change) = (Cell::default(), Cell::default(), RefCell::default());
        Self { connection, caches, reached, indexed_by_name, last_change }
    }
}

/// A transaction that changes the index; it answers every query of a snapshot, too.
pub struct Batch<'c> {
    snapshot: Snapshot<'c>,
    interned: &'c mut Interned,
}

impl<'c> std::ops::Deref for Batch<'c> {
    type Target = Snapshot<'c>;
    fn deref(&self) -> &Snapshot<'c> {
        &self.snapshot
    }
}

impl Store {
    /// Opens the index at `path`, making or migrating it unless `mode` is read-only.
    ///
    /// `CORRUPT_INDEX` for a file that is not an index of ours, `NEWER_INDEX` for one from a later version.
    pub fn open(path: &Path, mode: Mode) -> Result<Self> {
        let _lock = OpenLock::shared(path)?;
        open::refuse_other_formats(path)?;
        let connection = open::connect(path, mode)?;
        let opened = FileIdentity::read(path)?;
        let (writer, readers) = match mode {
            Mode::Write => (Some(Writer { connection, interned: Interned::default() }), Vec::new()),
            Mode::Read => (None, vec![connection]),
        };
        Ok(Self {
            path: path.to_owned(),
            mode,
            opened: Mutex::new(Some(opened)),
            log: Mutex::new(Some(open::log_identity(path))),
            writer: Mutex::new(writer),
            readers: Readers::new(readers),
            caches: Caches::none(path),
            last_used: Mutex::new(Instant::now()),
            _open: open::OpenStore::new(),
        })
    }

    /// Whether opening failed because another build of this program, with a different schema, made the file. All of it
    /// is derived, so it can be built again.
    pub fn is_of_another_build(path: &Path) -> bool {
        open::is_of_another_build(path)
    }

    /// Puts an empty index at `path`, complete from the first moment on. `clear` removes an existing one.
    ///
    /// The caller ensures that no other process does the same.
    pub fn make(path: &Path, clear: impl FnOnce() -> Result<()>) -> Result<()> {
        let new = switch::with_suffix(path, ".empty");
        for suffix in ["", "-wal", "-shm"] {
            // Left by a process that ended while making it. What cannot be removed cannot be opened either.
            let _ = std::fs::remove_file(switch::with_suffix(&new, suffix));
        }
        // Closing the last connection folds the log into the file.
        drop(open::connect(&new, Mode::Write)?);
        switch::replace(path, &new, clear)
    }

    /// Replaces the database at `path` with the complete database `new`. Stores that have the old one open switch to the
    /// new one on their next use. `clear` removes the old one and its log.
    pub fn replace(path: &Path, new: &Path, clear: impl FnOnce() -> Result<()>) -> Result<()> {
        switch::replace(path, new, clear)
    }

    pub fn is_read_only(&self) -> bool {
        self.mode == Mode::Read
    }

    /// Says that this process stays: what takes long to load is loaded while it answers queries.
    pub fn stay(&self) {
        self.caches.vectors.stay();
    }

    /// Asks one state of the index. The query is stopped when `budget` is spent.
    pub fn read<T>(&self, budget: &Budget, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        budget.check()?;
        self.follow_rebuild()?;
        let mut connection = self.readers.lend(&self.path, budget)?;
        self.note_log();
        let watched = budget.clone();
        // A few thousand virtual machine steps take well under a millisecond.
        connection.progress_handler(4_000, Some(move || watched.is_spent()))?;
        let answer = in_snapshot(&connection, &self.caches, ask);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        drop(connection);
        answer.map_err(|error| if error.kind == ErrorKind::Cancelled { budget.error() } else { error })
    }

    /// The state that other processes have committed so far.
    pub fn revision(&self) -> Result<Revision> {
        let opened = self.follow_rebuild()?;
        let mut slot = locked(&self.writer);
        let writer = self.writer(&mut slot)?;
        let data = writer.connection.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(Revision { opened, data })
    }

    fn writer<'s>(&self, slot: &'s mut Option<Writer>) -> Result<&'s mut Writer> {
        if self.mode == Mode::Read {
            return Err(Error::new(ErrorKind::ReadOnly, "the index can be read but not written")
                .hint("Free some space, or make the folder `.ixmcp` writable."));
        }
        if slot.is_none() {
            let connection = open::connect(&self.path, Mode::Write)?;
            *slot = Some(Writer { connection, interned: Interned::default() });
            self.note_log();
        }
        slot.as_mut().ok_or_else(|| Error::internal("the writer is gone"))
    }

    /// Changes the index: all of `change` or nothing.
    pub fn write<T>(&self, change: impl FnOnce(&mut Batch) -> Result<T>) -> Result<T> {
        self.follow_rebuild()?;
        let mut slot = locked(&self.writer);
        let writer = self.writer(&mut slot)?;
        let transaction = Transaction::new_unchecked(&writer.connection, TransactionBehavior::Immediate)?;
        writer.interned.follow(&transaction)?;
        let snapshot = Snapshot::new(&transaction, &self.caches);
        let mut batch = Batch { snapshot, interned: &mut writer.interned };
        let outcome = change(&mut batch).and_then(|answer| {
            transaction.commit()?;
            Ok(answer)
        });
        if outcome.is_err() {
            // Words interned by a batch that was rolled back have no rows.
            writer.interned = Interned::default();
        }
        outcome
    }

    /// Takes away the indexes that no writer needs, for the first build: made at its end they take half the time, and
    /// less space. [`Store::end_first_build`] makes them; until then queries by name would look at every row. The FTS
    /// merges less in the meantime.
    pub fn begin_first_build(&self) -> Result<()> {
        self.write(|batch| {
            batch.connection.execute_batch(open::CACHE_FOR_BULK)?;
            batch.connection.execute_batch(terms::FOR_BULK)?;
            for index in INDEXES_MADE_LAST {
                batch.connection.execute_batch(&format!("DROP INDEX IF EXISTS {index}"))?;
            }
            Ok(())
        })
    }

    /// Merges the FTS, which leaves pages free, and then makes the indexes in them.
    pub fn end_first_build(&self) -> Result<()> {
        self.write(|batch| {
            batch.connection.execute_batch(terms::OPTIMIZE)?;
            batch.connection.execute_batch(terms::AFTER_BULK)?;
            for index in INDEXES_MADE_LAST {
                batch.connection.execute_batch(&migrate::create_index(index))?;
            }
            Ok(())
        })
    }

    /// Moves what the log holds into the database file and merges the FTS, after a bulk build.
    pub fn settle(&self, after_bulk: bool) -> Result<()> {
        let mut slot = locked(&self.writer);
        let Some(writer) = slot.as_mut() else { return Ok(()) };
        if after_bulk {
            writer.interned = Interned::default();
            writer.connection.execute_batch(terms::OPTIMIZE)?;
            // Pages of a bulk build that may never be read again.
            writer.connection.execute_batch("PRAGMA optimize")?;
            writer.connection.execute_batch(open::CACHE_AFTER_BULK)?;
        }
        // A reader may hold the log; then the next settle shortens it.
        writer.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Closes connections, with the pages that they map, after `connections` without reads and writes, and drops the caches that
    /// take longer to load after `memory`. The next query opens and loads them again.
    pub fn rest_after(&self, connections: Duration, memory: Duration) {
        let unused = locked(&self.last_used).elapsed();
        if unused >= connections {
            // A file that nothing has open may be replaced by one with the same identity.
            *locked(&self.opened) = None;
            *locked(&self.log) = None;
            self.readers.clear();
            *locked(&self.writer) = None;
        }
        if unused >= memory {
            self.caches.vectors.forget();
            *locked(&self.caches.counted) = PatternCounts::default();
            *locked(&self.caches.frequencies) = Frequencies::default();
            *locked(&self.caches.kept) = KeptValues::default();
            *locked(&self.caches.committed) = None;
        }
    }

    /// Bytes on disk, the log included.
    pub fn size(&self) -> u64 {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
        size(&self.path) + size(&switch::with_suffix(&self.path, "-wal"))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// To be called before a connection is used.
    ///
    /// After another process has switched the file (a rebuild), our connections would continue to use the old one. The same
    /// holds for the log.
    fn follow_rebuild(&self) -> Result<FileIdentity> {
        *locked(&self.last_used) = Instant::now();
        let mut opened = locked(&self.opened);
        let now = FileIdentity::read(&self.path)?;
        let is_replaced = *opened != Some(now);
        if is_replaced {
            open::refuse_other_formats(&self.path)?;
        }
        let is_log_replaced = locked(&self.log).take_if(|log| *log != open::log_identity(&self.path)).is_some();
        if is_replaced || is_log_replaced {
            *locked(&self.log) = None;
            self.readers.clear();
            *locked(&self.writer) = None;
            *locked(&self.caches.totals) = None;
            self.caches.vectors.forget();
            *locked(&self.caches.frequencies) = Frequencies::default();
            *locked(&self.caches.counted) = PatternCounts::default();
            *locked(&self.caches.scopes) = Scopes::default();
            *locked(&self.caches.committed) = None;
            *opened = Some(now);
        }
        Ok(now)
    }

    /// To be called when a connection may have been opened.
    fn note_log(&self) {
        locked(&self.log).get_or_insert_with(|| open::log_identity(&self.path));
    }
}

fn in_snapshot<T>(
    connection: &Connection,
    caches: &Arc<Caches>,
    ask: impl FnOnce(&Snapshot) -> Result<T>,
) -> Result<T> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    ask(&Snapshot::new(&transaction, caches))
}

/// Indexes that no writer needs.
const INDEXES_MADE_LAST: &[&str] =
    &["names_by_name", "names_by_spelling", "chunks_by_hash", "symbols_by_name", "references_by_name"];

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        to_error(&error).caused_by(error)
    }
}

/// Whether one of our statements names something that the database lacks, or finds a value that we never write: then
/// the database is not an index of its version.
fn is_of_other_content(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sql;
    match error {
        // Words of SQLite, which has no code for them.
        Sql::SqliteFailure(_, Some(said)) | Sql::SqlInputError { msg: said, .. } => {
            ["no such table: ", "no such column: ", " has no column named "].iter().any(|words| said.contains(words))
        }
        Sql::InvalidColumnType(..)
        | Sql::FromSqlConversionFailure(..)
        | Sql::IntegralValueOutOfRange(..)
        | Sql::Utf8Error(..) => true,
        _ => false,
    }
}

/// SQLite's error as people and agents need it.
fn to_error(error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let free_space = || Wording::from(("Free some space and run ", Command("sync"), "."));
    let build_again = || Wording::from(("Run ", Command("rebuild"), " to build it again."));
    let (kind, message, hint) = match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => {
            (ErrorKind::CorruptIndex, "the index is damaged", build_again())
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
            (ErrorKind::Busy, "another process is writing the index", "Try again in a moment.".into())
        }
        _ if is_of_other_content(error) => {
            (ErrorKind::CorruptIndex, "the index has other tables or values than it should", build_again())
        }
        Some(Code::OperationInterrupted) => (ErrorKind::Cancelled, "the query was stopped", "Try again.".into()),
        Some(Code::DiskFull) => (ErrorKind::ReadOnly, "the disk is full", free_space()),
        // Of what other programs see as a full disk, too: the log's index cannot grow.
        Some(Code::SystemIoFailure) => (ErrorKind::ReadOnly, "the disk is full or failing", free_space()),
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => {
            (ErrorKind::ReadOnly, "the index cannot be written", "Make its folder `.ixmcp` writable.".into())
        }
        _ => (ErrorKind::Internal, "a database statement failed", "Please report this.".into()),
    };
    Error::new(kind, format!("{message} ({error})")).hint(hint)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    const REPLACEMENTS: i32 = 100;

    fn discard(path: &Path) -> Result<()> {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(switch::with_suffix(path, suffix));
        }
        Ok(())
    }

    /// A database whose size and content say which one it is.
    fn make_numbered(path: &Path, number: i32) {
        let store = Store::open(path, Mode::Write).unwrap();
        store
            .write(|batch| {
                batch.connection.execute_batch("CREATE TABLE numbered (number INTEGER, filler BLOB)")?;
                for _ in 0..=number % 7 * 10 {
                    batch.connection.execute("INSERT INTO numbered VALUES (?1, zeroblob(16384))", [number])?;
                }
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn connections_opened_and_closed_during_replacements_see_one_database_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("index.db"), folder.path().join("index.db.new"));
        make_numbered(&path, 0);
        let store = Store::open(&path, Mode::Write).unwrap();
        let is_over = AtomicBool::new(false);
        let reads = AtomicUsize::new(0);
        let read_once = || {
            let numbers: Vec<i32> = store
                .read(&Budget::unlimited(), |snapshot| {
                    let mut rows = snapshot.connection.prepare("SELECT number, length(filler) FROM numbered")?;
                    Ok(rows.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
                })
                .unwrap();
            assert!(!numbers.is_empty() && numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
            reads.fetch_add(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::SeqCst) {
                        read_once();
                        store.rest_after(Duration::ZERO, Duration::ZERO);
                    }
                });
            }
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    store
                        .write(|batch| Ok(batch.connection.execute("UPDATE numbered SET filler = filler", [])?))
                        .unwrap();
                }
            });
            for number in 1..=REPLACEMENTS {
                make_numbered(&new, number);
                Store::replace(&path, &new, || discard(&path)).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
            is_over.store(true, Ordering::SeqCst);
        });
        assert!(reads.into_inner() > 0);
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_log_that_another_program_replaces_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let log = switch::with_suffix(&path, "-wal");
        let store = Store::open(&path, Mode::Write).unwrap();
        let count = |store: &Store| {
            store.read(&Budget::unlimited(), |snapshot| {
                Ok(snapshot.connection.query_row("SELECT count(*) FROM numbered", [], |row| row.get::<_, i64>(0))?)
            })
        };
        let add = |rows: usize| {
            store.write(|batch| {
                (0..rows).try_for_each(|_| {
                    let row = "INSERT INTO numbered VALUES (1, zeroblob(16384))";
                    Ok(batch.connection.execute(row, []).map(drop)?)
                })
            })
        };
        store.write(|batch| Ok(batch.connection.execute_batch("CREATE TABLE numbered (number, filler)")?)).unwrap();
        let committed = std::fs::read(&log).unwrap();
        add(20).unwrap();
        assert_eq!(count(&store).unwrap(), 20);
        std::fs::remove_file(&log).unwrap();
        std::fs::write(&log, committed).unwrap();
        // What this store had written is in the log that it still has open, and the second read opens a connection.
        for _ in 0..2 {
            let both = store.read(&Budget::unlimited(), |_| count(&store)).unwrap();
            assert_eq!(both, 20);
        }
        add(1).unwrap();
        assert_eq!(count(&store).unwrap(), 21);
        drop(store);
        assert_eq!(count(&Store::open(&path, Mode::Write).unwrap()).unwrap(), 21);
    }

    #[test]
    fn a_database_that_is_still_written_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("index.db"), folder.path().join("index.db.new"));
        make_numbered(&path, 0);
        let writer = Store::open(&new, Mode::Write).unwrap();
        writer.write(|batch| batch.count_changes("sync")).unwrap();
        let error = Store::replace(&path, &new, || discard(&path)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Busy);
        assert!(path.exists());
    }
}
