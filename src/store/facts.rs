//! `meta` and `changes`: facts about the index, and changes since each consumer last counted them.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension, named_params};
use strum_macros::IntoStaticStr;

use super::statements::statements;
use super::{Batch, Snapshot, locked};
use crate::error::Result;
use crate::model::{ContentHash, RepoPath};

statements! {
    FACT = "SELECT value FROM meta WHERE key = :key";
    SET_FACT = "INSERT OR REPLACE INTO meta (key, value) VALUES (:key, :value)";
    /// The consumers.
    CONSUMERS = "SELECT substr(key, 10) FROM meta WHERE key >= 'baseline:' AND key < 'baseline;'";
    /// The first change since a count is the one that counts. Row by row: see `chunks`.
    RECORD = "INSERT OR IGNORE INTO changes (consumer, path, hash) VALUES (:consumer, :path, :hash)";
    CHANGES = "SELECT c.path, c.hash, f.hash FROM changes c LEFT JOIN files f ON f.path = c.path
        WHERE c.consumer = :consumer ORDER BY c.path";
    COUNT_ENTITIES = "SELECT count(*) FROM entities";
    COUNT_TAGS = "SELECT count(DISTINCT tag_id) FROM tagged";
    FORGET_COUNTS = "DELETE FROM meta WHERE key = 'counts'";
    FORGET = "DELETE FROM changes WHERE consumer = :consumer";
    FORGET_BASELINE = "DELETE FROM meta WHERE key = :key";
    FORGET_ONE = "DELETE FROM changes WHERE consumer = :consumer AND path = :path";
}

/// A fact about the index: one row of `meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Fact {
    /// The first build has ended; until then an answer would lack files.
    Built,
    /// The entities of the first build are complete; the rest may follow.
    Entities,
    /// Nanoseconds since 1970 of the last change of a row that an answer could show. Every batch that changes one writes it.
    #[strum(serialize = "last_change_ns")]
    LastChange,
    /// Options that the rows were made with; other options re-extract every file.
    Options,
    /// The splitter of words that the FTS was made with.
    Splitter,
    /// The database of another worktree that this one was copied from.
    SeededFrom,
    /// The listing fingerprint of the last sweep; empty if the next has to list again.
    ListingFingerprint,
    /// The commit whose history is indexed in full, and what its rows were made with; empty while some are missing,
    /// and `copied` if they are some of another worktree's.
    History,
    /// Changes when enough of the history has changed that searches read it again.
    HistoryRead,
}

impl Fact {
    fn key(self) -> &'static str {
        self.into()
    }
}

/// Net changes since an answer of one kind was last given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedChanges {
    pub added: Vec<String>,
    pub modified: Vec<String>,
    pub deleted: Vec<String>,
}

/// Numbers of rows in the whole index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub files: u64,
    pub chunks: u64,
    pub symbols: u64,
    pub references: u64,
    pub entities: u64,
    pub tags: u64,
    /// (language, files, lines).
    pub languages: Vec<(String, u64, u64)>,
    /// (reason, files).
    pub skipped: Vec<(String, u64)>,
    /// When a row last changed, in nanoseconds since 1970.
    pub last_change_ns: Option<i64>,
}

impl Snapshot<'_> {
    /// Counted again only when something changed since: in a large index counting takes a while.
    pub fn totals(&self) -> Result<Totals> {
        let last_change_ns = self.last_change()?.and_then(|ns| ns.parse().ok());
        if let Some(known) = &*locked(&self.caches.totals)
            && known.last_change_ns == last_change_ns
            && last_change_ns.is_some()
        {
            return Ok(known.clone());
        }
        let totals = Totals {
            files: self.file_count()?,
            chunks: self.chunk_count()?,
            symbols: self.symbol_count()?,
            references: self.reference_count()?,
            entities: self.number(COUNT_ENTITIES, [])?,
            tags: self.number(COUNT_TAGS, [])?,
            languages: self.language_counts()?,
            skipped: self.skipped_counts()?,
            last_change_ns,
        };
        *locked(&self.caches.totals) = Some(totals.clone());
        Ok(totals)
    }

    /// Whether a first build was completed: until then the index lacks files.
    pub fn is_built(&self) -> Result<bool> {
        Ok(self.fact(Fact::Built)?.is_some())
    }

    pub fn fact(&self, fact: Fact) -> Result<Option<String>> {
        self.row(FACT, named_params! { ":key": fact.key() }, |row| row.get(0))
    }

    /// When a row last changed: what is remembered of the index is valid as long as this stays the same.
    pub(super) fn last_change(&self) -> Result<Option<String>> {
        if let Some(known) = &*self.last_change.borrow() {
            return Ok(known.clone());
        }
        let now = self.fact(Fact::LastChange)?;
        *self.last_change.borrow_mut() = Some(now.clone());
        Ok(now)
    }
}

/// Prefix of the name of a consumer that counts the files of one folder; the folder follows.
pub const FOLDER_CONSUMER: &str = "folder:";

/// The key of the row that says that changes are recorded for a consumer.
fn baseline(consumer: &str) -> String {
    format!("baseline:{consumer}")
}

fn counts_for(consumer: &str, path: &RepoPath) -> bool {
    consumer.strip_prefix(FOLDER_CONSUMER).is_none_or(|folder| path.is_in(folder))
}

impl Batch<'_> {
    pub fn set_fact(&self, fact: Fact, value: &str) -> Result<()> {
        self.put(fact.key(), value)
    }

    /// Dates the batch, so that no reader takes what it remembers of an older state for this one.
    pub(super) fn date_change(&self) -> Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.set_fact(Fact::LastChange, &since.as_nanos().to_string())
    }

    /// Notes that a path changed, with the hash it had before, for every kind of answer that counts changes.
    pub(super) fn record_change(&self, path: &RepoPath, before: Option<ContentHash>) -> Result<()> {
        self.date_change()?;
        self.connection.prepare_cached(FORGET_COUNTS)?.execute([])?;
        let hash = before.as_ref().map(|hash| hash.0.as_slice());
        let mut record = self.connection.prepare_cached(RECORD)?;
        let mut consumers = self.connection.prepare_cached(CONSUMERS)?;
        let mut rows = consumers.query([])?;
        while let Some(row) = rows.next()? {
            let consumer = row.get_ref(0)?.as_str().unwrap_or_default();
            if counts_for(consumer, path) {
                record.execute(named_params! { ":consumer": consumer, ":path": path.as_str(), ":hash": hash })?;
            }
        }
        Ok(())
    }

    /// Like [`Self::count_changes`] for a consumer that has counted before, but only files that `is_asked` are counted;
    /// a new count starts for those.
    pub fn count_changes_of(&self, consumer: &str, is_asked: impl Fn(&str) -> bool) -> Result<CountedChanges> {
        let mut counted = self.changes_of(consumer)?;
        for list in [&mut counted.added, &mut counted.modified, &mut counted.deleted] {
            list.retain(|path| is_asked(path));
        }
        let mut forget = self.connection.prepare_cached(FORGET_ONE)?;
        for path in counted.added.iter().chain(&counted.modified).chain(&counted.deleted) {
            forget.execute(named_params! { ":consumer": consumer, ":path": path })?;
        }
        Ok(counted)
    }

    /// Returns the files that changed since `consumer` was last counted, net: a file that came and went is not among
    /// them. Starts a new count. The first time, every file is added.
    pub fn count_changes(&self, consumer: &str) -> Result<CountedChanges> {
        let counted = if self.counts(consumer)? {
            self.changes_of(consumer)?
        } else {
            let added = self.paths(None)?.into_iter().map(|(path, _)| path).collect();
            CountedChanges { added, ..CountedChanges::default() }
        };
        self.begin_count(consumer)?;
        self.connection.prepare_cached(FORGET)?.execute(named_params! { ":consumer": consumer })?;
        Ok(counted)
    }

    /// Records changes for a consumer from now on; what was recorded before stays.
    pub fn begin_count(&self, consumer: &str) -> Result<()> {
        if self.counts(consumer)? { Ok(()) } else { self.put(&baseline(consumer), "1") }
    }

    /// Stops recording changes for a consumer.
    pub fn end_count(&self, consumer: &str) -> Result<()> {
        let forget = named_params! { ":key": baseline(consumer) };
        self.connection.prepare_cached(FORGET_BASELINE)?.execute(forget)?;
        self.connection.prepare_cached(FORGET)?.execute(named_params! { ":consumer": consumer })?;
        Ok(())
    }

    /// Whether changes are recorded for a consumer.
    fn counts(&self, consumer: &str) -> Result<bool> {
        Ok(self.connection.prepare_cached(FACT)?.exists(named_params! { ":key": baseline(consumer) })?)
    }

    fn changes_of(&self, consumer: &str) -> Result<CountedChanges> {
        let mut counted = CountedChanges::default();
        let mut statement = self.connection.prepare_cached(CHANGES)?;
        let mut rows = statement.query(named_params! { ":consumer": consumer })?;
        while let Some(row) = rows.next()? {
            let path: String = row.get(0)?;
            let before: Option<Vec<u8>> = row.get(1)?;
            let now: Option<Vec<u8>> = row.get(2)?;
            match (before, now) {
                (None, Some(_)) => counted.added.push(path),
                (Some(_), None) => counted.deleted.push(path),
                (Some(before), Some(now)) if before != now => counted.modified.push(path),
                _ => {}
            }
        }
        Ok(counted)
    }

    /// How many chunks and symbols there are: counted only when files have changed, because counting reads each row.
    pub fn count_rows(&self) -> Result<(u64, u64)> {
        let mut statement = self.connection.prepare_cached(FACT)?;
        let kept: Option<String> =
            statement.query_row(named_params! { ":key": "counts" }, |row| row.get(0)).optional()?;
        let numbers = kept.as_deref().and_then(|kept| kept.split_once(' '));
        if let Some((Ok(chunks), Ok(symbols))) = numbers.map(|(chunks, symbols)| (chunks.parse(), symbols.parse())) {
            return Ok((chunks, symbols));
        }
        let (chunks, symbols) = (self.chunk_count()?, self.symbol_count()?);
        self.put("counts", &format!("{chunks} {symbols}"))?;
        Ok((chunks, symbols))
    }

    fn put(&self, key: &str, value: &str) -> Result<()> {
        self.last_change.take();
        self.connection.prepare_cached(SET_FACT)?.execute(named_params! { ":key": key, ":value": value })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::model::{Chunk, Extracted, Stat};
    use crate::store::{FileRow, Mode, Store};

    fn add(store: &Store, path: &str) {
        let chunk = Chunk { start_line: 1, end_line: 1, text: path.to_owned(), ..Chunk::default() };
        let extracted = Extracted { language: "python", chunks: vec![chunk], ..Extracted::default() };
        let path = RepoPath::new(path).unwrap();
        let hash = ContentHash::compute(path.as_str().as_bytes());
        let row = FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
        store.write(|batch| batch.replace_file(&row)).unwrap();
    }

    #[test]
    fn what_a_slow_reader_counted_is_not_taken_for_a_later_state() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let budget = Budget::unlimited();
        add(&store, "a.py");
        let counted = store
            .read(&budget, |snapshot| {
                snapshot.fact(Fact::LastChange)?;
                // A batch of the same update, after this snapshot began.
                add(&store, "b.py");
                snapshot.totals()
            })
            .unwrap();
        assert_eq!(counted.files, 1);
        assert_eq!(store.read(&budget, |snapshot| snapshot.totals()).unwrap().files, 2);
        store.write(|batch| batch.remove_file(&RepoPath::new("a.py").unwrap())).unwrap();
        assert_eq!(store.read(&budget, |snapshot| snapshot.totals()).unwrap().files, 1);
    }
}
