//! `chunks_fts`: the terms by which chunks are found.
//!
//! Owns the rows of the FTS. FTS5 deletes a row correctly only if it is given the indexed terms. Words and names are not
//! stored for that (they would take a tenth of the database): they are recomputed from the text and the symbols.
//! `chunks.terms_checksum` is the checksum of the indexed terms. If it differs from that of the recomputed ones, the
//! identifier splitter has changed, and the FTS is rebuilt from the stored chunks.
//!
//! Each row is written by a statement of its own. A statement that may write several rows (`INSERT … SELECT`) opens a
//! savepoint, at which the FTS flushes what it has buffered: one segment per file, which have to be merged later.

use std::borrow::Cow;
use std::ops::Range;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{CachedStatement, Connection, Row, Statement, Transaction, TransactionBehavior, params};

use super::statements::statements;
use super::{Batch, Fact, FileId, Snapshot, Store};
use crate::budget::Budget;
use crate::error::Result;
use crate::model::Chunk;
use crate::words;

statements! {
    INDEX = "INSERT INTO chunks_fts (rowid, text, words, path, names) VALUES (?1, ?2, ?3, ?4, ?5)";
    UNINDEX = "INSERT INTO chunks_fts (chunks_fts, rowid, text, words, path, names)
        VALUES ('delete', ?1, ?2, ?3, ?4, ?5)";
    FILES = "SELECT id, path FROM files ORDER BY id";
    PATH_WORDS = "UPDATE files SET path_words = ?2 WHERE id = ?1 AND path_words <> ?2";
    PATH = "SELECT path || ' ' || path_words FROM files WHERE id = ?1";
    CHUNKS = "SELECT id, text, coalesce(overlap, ''), coalesce(headings, ''), (file_id << 20) + first_symbol, symbol_count, terms_checksum
        FROM chunks WHERE file_id = ?1 ORDER BY start_offset";
    NAMES = "SELECT n.name FROM symbol_rows r JOIN names n ON n.id = r.name_id WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id";
    REMEMBER = "UPDATE chunks SET terms_checksum = ?2 WHERE id = ?1";
}

/// For a first build: the FTS gathers all terms of a transaction before it writes any, and merges nothing before the end, where
/// `fts_segments` does not. Kept in the file until [`AFTER_BULK`], which an interrupted build still reaches.
pub(super) const FOR_BULK: &str = "
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 67108864);
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 0);
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('crisismerge', 1999);
";
/// FTS5's defaults.
pub(super) const AFTER_BULK: &str = "
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 1048576);
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 4);
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('crisismerge', 16);
";
/// Merges the segments that a bulk build leaves.
pub(super) const OPTIMIZE: &str = "INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')";
const FORGET_ALL: &str = "INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')";

/// Compares the FTS with the terms that it should have: in a transaction that is rolled back, `chunk_text` shows all
/// that is indexed. Without the rank, FTS5 does not compare its index with the content: findings/fts5-lost-row.sh.
const CHECK: &str = "
    DROP VIEW chunk_text;
    CREATE VIEW chunk_text AS
    SELECT id, overlap || text AS text, words_by(text, names) AS words, path, headings || names_by(text, names) AS names FROM (
        SELECT c.id, c.text, coalesce(c.overlap, '') AS overlap, f.path || ' ' || f.path_words AS path,
            coalesce(c.headings || char(10), '') AS headings, (
                SELECT json_group_array(n.name) FROM (
                    SELECT r.name_id FROM symbol_rows r WHERE r.id >= (c.file_id << 20) + c.first_symbol
                    AND r.id < (c.file_id << 20) + c.first_symbol + c.symbol_count ORDER BY r.id
                ) r JOIN names n ON n.id = r.name_id
            ) AS names
        FROM chunks c JOIN files f ON f.id = c.file_id
    );
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1);
";

/// A path and its words, as the chunks of a new file are found by them.
pub(super) fn terms_of_path(path: &str) -> String {
    [path, " ", &words::compound_parts(path)].concat()
}

/// The terms of a chunk.
pub(super) struct Terms<'a> {
    text: Cow<'a, str>,
    words: Cow<'a, str>,
    path: &'a str,
    names: Cow<'a, str>,
    pub(super) sum: u32,
}

impl<'a> Terms<'a> {
    fn new(lead: &str, text: &'a str, words: Cow<'a, str>, path: &'a str, headings: &str, names: Cow<'a, str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(words.as_bytes()).update(&[0]).update(names.as_bytes());
        let mut sum = [0; 4];
        hasher.finalize_xof().fill(&mut sum);
        let names = if headings.is_empty() { names } else { Cow::Owned([headings, "\n", &names].concat()) };
        let text = if lead.is_empty() { Cow::Borrowed(text) } else { Cow::Owned([lead, text].concat()) };
        Self { text, words, path, names, sum: u32::from_le_bytes(sum) }
    }

    /// Terms of a chunk as it was extracted; `path` is what [`Snapshot::path_terms`] says.
    pub(super) fn from_chunk(chunk: &'a Chunk, path: &'a str) -> Self {
        let (words, names) = (Cow::Borrowed(chunk.words.as_str()), Cow::Borrowed(chunk.names.as_str()));
        Self::new(&chunk.lead, &chunk.text, words, path, &chunk.headings, names)
    }

    fn from_stored(chunk: &'a StoredChunk, path: &'a str) -> Self {
        let found_by = words::Terms::extract(&chunk.text, chunk.names.iter().map(String::as_str));
        let (words, names) = (Cow::Owned(found_by.words), Cow::Owned(found_by.names));
        Self::new(&chunk.lead, &chunk.text, words, path, &chunk.headings, names)
    }

    pub(super) fn run(&self, statement: &mut Statement, id: i64) -> Result<()> {
        statement.execute(params![id, self.text, self.words, self.path, self.names])?;
        Ok(())
    }
}

/// A row of `chunks`, and the names of the symbols that it says begin in it.
struct StoredChunk {
    id: i64,
    text: String,
    lead: String,
    headings: String,
    symbols: Range<i64>,
    names: Vec<String>,
    sum: u32,
}

impl StoredChunk {
    fn from_row(row: &Row) -> rusqlite::Result<Self> {
        let first: i64 = row.get(4)?;
        Ok(Self {
            id: row.get(0)?,
            text: row.get(1)?,
            lead: row.get(2)?,
            headings: row.get(3)?,
            symbols: first..first + row.get::<_, i64>(5)?,
            names: Vec::new(),
            sum: row.get(6)?,
        })
    }
}

impl Snapshot<'_> {
    /// The names of symbols, by the range of their ids, in the order in which they begin.
    pub(super) fn names_of_symbols(&self, ids: Range<i64>) -> Result<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.rows(NAMES, [ids.start, ids.end], |row| row.get(0))
    }

    /// A path and its words, as a file's chunks are found by them.
    pub(super) fn path_terms(&self, file: FileId) -> Result<String> {
        Ok(self.connection.prepare_cached(PATH)?.query_row([file.0], |row| row.get(0))?)
    }
}

/// The statement that [`Terms::run`] puts a chunk into the FTS with.
pub(super) fn indexing(connection: &Connection) -> Result<CachedStatement<'_>> {
    Ok(connection.prepare_cached(INDEX)?)
}

impl Batch<'_> {
    /// Puts a file's stored chunks into the FTS.
    pub(super) fn index_chunks(&self, file: FileId) -> Result<()> {
        let path = self.path_terms(file)?;
        let mut index = indexing(self.connection)?;
        let mut remember = self.connection.prepare_cached(REMEMBER)?;
        for chunk in self.stored_chunks(file)? {
            let terms = Terms::from_stored(&chunk, &path);
            if terms.sum != chunk.sum {
                remember.execute([chunk.id, i64::from(terms.sum)])?;
            }
            terms.run(&mut index, chunk.id)?;
        }
        Ok(())
    }

    /// Takes a file's stored chunks out of the FTS; must come before anything of them, of the file's path or of its
    /// symbols changes.
    pub(super) fn unindex_chunks(&self, file: FileId) -> Result<()> {
        let path = self.path_terms(file)?;
        let chunks = self.stored_chunks(file)?;
        let terms: Vec<Terms> = chunks.iter().map(|chunk| Terms::from_stored(chunk, &path)).collect();
        if chunks.iter().zip(&terms).any(|(chunk, terms)| chunk.sum != terms.sum) {
            // The words of the path may differ then, too.
            self.rebuild_fts()?;
            return self.unindex_chunks(file);
        }
        let mut unindex = self.connection.prepare_cached(UNINDEX)?;
        chunks.iter().zip(&terms).try_for_each(|(chunk, terms)| terms.run(&mut unindex, chunk.id))
    }

    /// Rebuilds the whole FTS from the stored chunks.
    fn rebuild_fts(&self) -> Result<()> {
        self.connection.execute(FORGET_ALL, [])?;
        let files: Vec<(i64, String)> = {
            let mut statement = self.connection.prepare_cached(FILES)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        let mut path_words = self.connection.prepare_cached(PATH_WORDS)?;
        for (file, path) in files {
            path_words.execute(params![file, words::compound_parts(&path)])?;
            self.index_chunks(FileId(file))?;
        }
        self.set_fact(Fact::Splitter, &words::SPLITTER.to_string())
    }

    fn stored_chunks(&self, file: FileId) -> Result<Vec<StoredChunk>> {
        let mut statement = self.connection.prepare_cached(CHUNKS)?;
        let rows = statement.query_map([file.0], StoredChunk::from_row)?;
        let mut chunks: Vec<StoredChunk> = rows.collect::<rusqlite::Result<_>>()?;
        for chunk in &mut chunks {
            chunk.names = self.names_of_symbols(chunk.symbols.clone())?;
        }
        Ok(chunks)
    }
}

impl Store {
    /// Rebuilds the FTS if a program that splits identifiers differently wrote it; call before an update.
    pub fn follow_splitter(&self, budget: &Budget) -> Result<()> {
        let of_now = words::SPLITTER.to_string();
        if self.read(budget, |snapshot| snapshot.fact(Fact::Splitter))? == Some(of_now) {
            return Ok(());
        }
        self.write(|batch| {
            batch.rebuild_fts()?;
            // No reader may take what it remembers of the former terms for these.
            batch.date_change()
        })
    }
}

/// Whether the FTS has the terms of all chunks, by FTS5's own check; `Err` is its error.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<()> {
    fn terms(context: &Context) -> rusqlite::Result<words::Terms> {
        let names: Vec<String> = serde_json::from_str(context.get_raw(1).as_str()?)
            .map_err(|error| rusqlite::Error::UserFunctionError(Box::new(error)))?;
        Ok(words::Terms::extract(context.get_raw(0).as_str()?, names.iter().map(String::as_str)))
    }
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("words_by", 2, flags, |context| Ok(terms(context)?.words))?;
    connection.create_scalar_function("names_by", 2, flags, |context| Ok(terms(context)?.names))?;
    // Rolled back when it goes.
    let _trial = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    connection.execute_batch(CHECK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Chunk, ContentHash, Extracted, RepoPath, Stat, Symbol};
    use crate::store::{FileRow, FtsQuery, Mode};

    fn store_of(path: &RepoPath, text: &str, name: &str) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        store.follow_splitter(&Budget::unlimited()).unwrap();
        write(&store, path, text, name);
        (folder, store)
    }

    fn write(store: &Store, path: &RepoPath, text: &str, name: &str) {
        let words::Terms { words, names } = words::Terms::extract(text, std::iter::once(name));
        let chunk = Chunk {
            start_line: 1,
            end_line: 1,
            text: text.to_owned(),
            words,
            names,
            symbols: 0..1,
            ..Chunk::default()
        };
        let symbol = Symbol {
            name: name.to_owned(),
            kind: "function",
            parent: None,
            container: None,
            signature: None,
            written: None,
            line: 1,
            column: 1,
            start_line: 1,
            end_line: 1,
        };
        let extracted =
            Extracted { language: "python", chunks: vec![chunk], symbols: vec![symbol], ..Extracted::default() };
        let hash = ContentHash::compute(text.as_bytes());
        let row = FileRow { path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
        store.write(|batch| batch.replace_file(&row)).unwrap();
    }

    fn matches(store: &Store, word: &str) -> u64 {
        let query = FtsQuery::phrase(word).unwrap();
        store.read(&Budget::unlimited(), |snapshot| snapshot.count_matches(&query)).unwrap()
    }

    /// Rewrites the row as a program would that splits identifiers differently.
    fn split_otherwise(store: &Store) {
        let change = |batch: &mut Batch| {
            let connection = batch.connection;
            connection.execute(FORGET_ALL, [])?;
            connection.execute("UPDATE chunks SET terms_checksum = 1", [])?;
            connection.execute("UPDATE files SET path_words = 'former'", [])?;
            let row = params![1, "x = getUser", "gone getus er", "a.py former", "getUser\tgetus er"];
            connection.execute(INDEX, row)?;
            batch.set_fact(Fact::Splitter, "0")
        };
        store.write(change).unwrap();
        assert_eq!(["gone", "user"].map(|word| matches(store, word)), [1, 0]);
    }

    #[test]
    fn a_row_that_was_split_otherwise_leaves_nothing_behind_when_it_goes() {
        let path = RepoPath::new("a.py").unwrap();
        let (_folder, store) = store_of(&path, "x = getUser", "getUser");
        assert_eq!((store.faults().unwrap(), matches(&store, "user")), (Vec::new(), 1));
        split_otherwise(&store);
        assert!(!store.faults().unwrap().is_empty());
        write(&store, &path, "y = setName", "setName");
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
        assert_eq!(["gone", "getus", "user", "name"].map(|word| matches(&store, word)), [0, 0, 0, 1]);
    }

    #[test]
    fn another_splitter_rebuilds_the_fts() {
        let path = RepoPath::new("a.py").unwrap();
        let (_folder, store) = store_of(&path, "x = getUser", "getUser");
        let with_user = || {
            let query = FtsQuery::phrase("user").unwrap();
            store.read(&Budget::unlimited(), |snapshot| snapshot.chunks_with(&query, 9)).unwrap().len()
        };
        split_otherwise(&store);
        assert_eq!(with_user(), 0);
        store.follow_splitter(&Budget::unlimited()).unwrap();
        assert_eq!(with_user(), 1, "what was remembered of the former terms is forgotten");
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
        assert_eq!(["gone", "getus", "user"].map(|word| matches(&store, word)), [0, 0, 1]);
    }

    #[test]
    fn settings_of_a_first_build_end_with_it_even_where_it_was_broken_off() {
        let path = RepoPath::new("a.py").unwrap();
        let (_folder, store) = store_of(&path, "x = getUser", "getUser");
        let set = || -> Vec<(String, i64)> {
            let query =
                "SELECT k, v FROM chunks_fts_config WHERE k IN ('hashsize', 'automerge', 'crisismerge') ORDER BY k";
            let ask = |batch: &mut Batch| {
                let mut statement = batch.connection.prepare(query)?;
                let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            };
            store.write(ask).unwrap()
        };
        store.begin_first_build().unwrap();
        assert_eq!(
            set(),
            [("automerge".to_owned(), 0), ("crisismerge".to_owned(), 1999), ("hashsize".to_owned(), 64 << 20)]
        );
        store.begin_first_build().unwrap();
        write(&store, &path, "y = setName", "setName");
        store.end_first_build().unwrap();
        assert_eq!(
            set(),
            [("automerge".to_owned(), 4), ("crisismerge".to_owned(), 16), ("hashsize".to_owned(), 1 << 20)]
        );
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
    }
}
