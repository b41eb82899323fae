//! Segments of `chunks_fts` that are built outside the database, for a first build.
//!
//! Owns how FTS5 stores a segment, and how one is copied into the index. Does not own the terms (`terms`), nor which files share
//! a segment (`update::bundles`).
//!
//! Splitting text into terms and sorting them takes most of the time that FTS5 needs, and only one connection can write the index.
//! Any thread can do that in a database in memory with the same table. What FTS5 stores there is what it would have stored here:
//! the rows of a segment refer to no other segment, and only its number is in their keys. After the copy come the list of all
//! segments (the structure) and the number of rows and tokens (the averages). Chunks must get their ids beforehand, as a segment
//! contains them.
//!
//! FTS5 keeps the structure in memory and would write it back, so it must forget it first: [`FORGET_STRUCTURE`].

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::chunk_key::ChunkKey;
use super::statements::statements;
use super::terms::{self, Terms};
use super::{Batch, migrate};
use crate::error::{Error, Result};
use crate::model::{Extracted, RepoPath};

statements! {
    ROW_OF_DATA = "SELECT block FROM chunks_fts_data WHERE id = ?1";
    PAGES = "SELECT id, block FROM chunks_fts_data WHERE id > ?1 ORDER BY id";
    FIRST_TERMS = "SELECT pgno, term FROM chunks_fts_idx ORDER BY segid, term";
    SIZES = "SELECT id, sz FROM chunks_fts_docsize ORDER BY id";
    ADD_PAGE = "INSERT INTO chunks_fts_data (id, block) VALUES (?1, ?2)";
    ADD_FIRST_TERM = "INSERT INTO chunks_fts_idx (segid, term, pgno) VALUES (?1, ?2, ?3)";
    ADD_SIZE = "INSERT INTO chunks_fts_docsize (id, sz) VALUES (?1, ?2)";
    SET_ROW_OF_DATA = "UPDATE chunks_fts_data SET block = ?2 WHERE id = ?1";
}

/// Rows of `chunks_fts_data` that belong to no segment: `FTS5_AVERAGES_ROWID` and `FTS5_STRUCTURE_ROWID`.
const AVERAGES: i64 = 1;
const STRUCTURE: i64 = 10;
/// An id in `chunks_fts_data` is the number of the segment, then the position in it: `FTS5_DATA_PAGE_B`, `_HEIGHT_B`, `_DLI_B`.
const POSITION_BITS: u32 = 31 + 5 + 1;

/// A table in memory: all terms go into one segment.
const UNLIMITED: &str = "
    PRAGMA journal_mode = OFF;
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 2147483647);
";
/// FTS5 writes what it has buffered, then forgets what it knows of the database, as after every rollback.
const FORGET_STRUCTURE: &str = "
    INSERT INTO chunks_fts (chunks_fts) VALUES ('flush');
    SAVEPOINT segments;
    ROLLBACK TO segments;
    RELEASE segments;
";
/// Merges all segments of a level; FTS5 cannot count more than 2,000.
const MERGE: &str = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', 2147483647)";
const MAX_SEGMENTS: usize = 1_000;

/// New chunks of some files, and the segment of the FTS by which they are found.
pub struct IndexedChunks {
    /// The id of the first chunk; the others follow.
    first: i64,
    keys: Vec<ChunkKey>,
    segment: FtsSegment,
}

/// The rows of one segment.
struct FtsSegment {
    /// Positions with their pages, in order.
    pages: Vec<(i64, Vec<u8>)>,
    /// The number of the last page with terms.
    last_page: u64,
    /// Pages with the first term on them.
    first_terms: Vec<(i64, Vec<u8>)>,
    /// Chunks with their numbers of tokens.
    sizes: Vec<(i64, Vec<u8>)>,
    /// The number of rows, and of tokens in each column.
    averages: Vec<u64>,
}

impl IndexedChunks {
    /// Indexes the chunks of files in this order. They get ids from `first` on.
    pub fn index<'f>(first: i64, files: impl Iterator<Item = (&'f RepoPath, &'f Extracted)>) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&migrate::create_fts("chunks_fts"))?;
        connection.execute_batch(UNLIMITED)?;
        let transaction = connection.unchecked_transaction()?;
        let mut keys = Vec::new();
        {
            let (mut index, mut ids) = (terms::indexing(&transaction)?, first..);
            for (path, extracted) in files {
                let path = terms::terms_of_path(path.as_str());
                for (chunk, id) in extracted.chunks.iter().zip(&mut ids) {
                    let terms = Terms::from_chunk(chunk, &path);
                    keys.push(ChunkKey::compute(chunk, &terms));
                    terms.run(&mut index, id)?;
                }
            }
        }
        transaction.commit()?;
        Ok(Self { first, keys, segment: FtsSegment::read(&connection)? })
    }

    pub fn first(&self) -> i64 {
        self.first
    }

    /// The chunks in order, with their ids.
    pub(super) fn keys(&self) -> impl Iterator<Item = (i64, &ChunkKey)> {
        (self.first..).zip(&self.keys)
    }
}

impl FtsSegment {
    /// Reads the only segment of a database in memory; nothing if it has no terms.
    fn read(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare(PAGES)?;
        let pages: Vec<(i64, Vec<u8>)> =
            statement.query_map([STRUCTURE], numbered)?.collect::<rusqlite::Result<_>>()?;
        let mut statement = connection.prepare(FIRST_TERMS)?;
        let first_terms = statement.query_map([], numbered)?.collect::<rusqlite::Result<_>>()?;
        let mut statement = connection.prepare(SIZES)?;
        let sizes = statement.query_map([], numbered)?.collect::<rusqlite::Result<_>>()?;
        let structure = Structure::decode(&row_of_data(connection, STRUCTURE)?)?;
        let segments: Vec<&Segment> = structure.levels.iter().flat_map(|level| &level.segments).collect();
        let (own, last_page) = match segments[..] {
            [] => (0, 0),
            [segment] => (segment.number, segment.last_page),
            _ => return Err(Error::internal("the FTS wrote more than one segment")),
        };
        let position = |id: i64| id - own.cast_signed().wrapping_shl(POSITION_BITS);
        Ok(Self {
            pages: pages.into_iter().map(|(id, page)| (position(id), page)).collect(),
            last_page,
            first_terms,
            sizes,
            averages: Numbers(&row_of_data(connection, AVERAGES)?).collect(),
        })
    }
}

/// A number, and bytes that FTS5 may have stored as text.
fn numbered(row: &Row) -> rusqlite::Result<(i64, Vec<u8>)> {
    let bytes = match row.get_ref(1)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_owned(),
        _ => Vec::new(),
    };
    Ok((row.get(0)?, bytes))
}

fn row_of_data(connection: &Connection, id: i64) -> Result<Vec<u8>> {
    Ok(connection.prepare_cached(ROW_OF_DATA)?.query_row([id], |row| row.get(0))?)
}

impl Batch<'_> {
    /// Copies the segment into the index.
    pub(super) fn add_segment(&self, indexed: &IndexedChunks) -> Result<()> {
        let FtsSegment { pages, last_page, first_terms, sizes, averages } = &indexed.segment;
        if sizes.is_empty() {
            return Ok(());
        }
        self.connection.execute_batch(FORGET_STRUCTURE)?;
        let mut structure = Structure::decode(&row_of_data(self.connection, STRUCTURE)?)?;
        if structure.numbers().count() >= MAX_SEGMENTS {
            self.connection.execute_batch(MERGE)?;
            self.connection.execute_batch(FORGET_STRUCTURE)?;
            structure = Structure::decode(&row_of_data(self.connection, STRUCTURE)?)?;
        }
        if *last_page > 0 {
            let number = structure.add(*last_page).cast_signed();
            let mut add = self.connection.prepare_cached(ADD_PAGE)?;
            for (position, page) in pages {
                add.execute(params![(number << POSITION_BITS) + position, page])?;
            }
            let mut add = self.connection.prepare_cached(ADD_FIRST_TERM)?;
            for (page, term) in first_terms {
                add.execute(params![number, term, page])?;
            }
            self.set_row_of_data(STRUCTURE, &structure.encode())?;
        }
        let mut add = self.connection.prepare_cached(ADD_SIZE)?;
        for (id, size) in sizes {
            add.execute(params![id, size])?;
        }
        let before = row_of_data(self.connection, AVERAGES)?;
        let before = Numbers(&before).chain(std::iter::repeat(0));
        let mut sums = Vec::new();
        averages.iter().zip(before).for_each(|(more, before)| put(before + more, &mut sums));
        self.set_row_of_data(AVERAGES, &sums)
    }

    fn set_row_of_data(&self, id: i64, block: &[u8]) -> Result<()> {
        self.connection.prepare_cached(SET_ROW_OF_DATA)?.execute(params![id, block])?;
        Ok(())
    }
}

/// All segments of an index, as FTS5 lists them: four bytes that change with its settings, then numbers.
struct Structure {
    settings: [u8; 4],
    /// Pages written so far, which decide when FTS5 merges by itself.
    written: u64,
    levels: Vec<Level>,
}

struct Level {
    /// The number of segments that are being merged.
    merged: u64,
    segments: Vec<Segment>,
}

struct Segment {
    number: u64,
    first_page: u64,
    last_page: u64,
}

impl Structure {
    fn decode(block: &[u8]) -> Result<Self> {
        Self::read(block).ok_or_else(|| Error::internal("the FTS lists its segments in an unknown way"))
    }

    fn read(block: &[u8]) -> Option<Self> {
        let (settings, rest) = block.split_first_chunk::<4>()?;
        // A list in another format begins with 0xff.
        let mut numbers = Numbers((*rest.first()? != 0xff).then_some(rest)?);
        let (levels, _count, written) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let mut structure = Self { settings: *settings, written, levels: Vec::new() };
        for _ in 0..levels {
            let (merged, count) = (numbers.next()?, numbers.next()?);
            let mut segment =
                || Some(Segment { number: numbers.next()?, first_page: numbers.next()?, last_page: numbers.next()? });
            structure.levels.push(Level { merged, segments: (0..count).map(|_| segment()).collect::<Option<_>>()? });
        }
        Some(structure)
    }

    fn encode(&self) -> Vec<u8> {
        let mut block = self.settings.to_vec();
        for number in [self.levels.len() as u64, self.numbers().count() as u64, self.written] {
            put(number, &mut block);
        }
        for Level { merged, segments } in &self.levels {
            put(*merged, &mut block);
            put(segments.len() as u64, &mut block);
            for Segment { number, first_page, last_page } in segments {
                [number, first_page, last_page].into_iter().for_each(|number| put(*number, &mut block));
            }
        }
        block
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.levels.iter().flat_map(|level| level.segments.iter().map(|segment| segment.number))
    }

    /// Adds the newest segment, with the lowest number that no other has, which it returns.
    fn add(&mut self, last_page: u64) -> u64 {
        let mut taken: Vec<u64> = self.numbers().collect();
        taken.sort_unstable();
        let number = (1..).zip(&taken).find(|(number, taken)| number != *taken).map(|(number, _)| number);
        let number = number.unwrap_or(taken.len() as u64 + 1);
        if self.levels.is_empty() {
            self.levels.push(Level { merged: 0, segments: Vec::new() });
        }
        self.levels[0].segments.push(Segment { number, first_page: 1, last_page });
        self.written += last_page;
        number
    }
}

/// SQLite's numbers of variable length: seven bits a byte, the highest first; all eight of a ninth byte.
struct Numbers<'b>(&'b [u8]);

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut number = 0;
        for at in 0..9 {
            let byte = u64::from(*self.0.get(at)?);
            number = if at == 8 { number << 8 | byte } else { number << 7 | byte & 0x7f };
            if at == 8 || byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Some(number);
            }
        }
        None
    }
}

/// Puts a number at the end; none that is counted here takes a ninth byte.
fn put(number: u64, into: &mut Vec<u8>) {
    let groups = (u64::BITS - number.leading_zeros()).div_ceil(7).clamp(1, 8);
    for group in (0..groups).rev() {
        let more = if group > 0 { 0x80 } else { 0 };
        into.push((number >> (7 * group)).to_le_bytes()[0] & 0x7f | more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::model::{Chunk, ContentHash, Stat};
    use crate::store::{FileRow, FtsQuery, Mode, Store};
    use crate::words;

    /// A file of chunks with some words of a hundred.
    fn file(number: usize) -> (RepoPath, Extracted) {
        let chunk = |at: usize| {
            let text: String =
                (0..30).map(|word| format!("word{} ", (number * 7 + at * 13 + word * word) % 100)).collect();
            let text = if (number + at).is_multiple_of(9) { " ".to_owned() } else { format!("{text}getPart{number}") };
            let words::Terms { words, names } = words::Terms::extract(&text, std::iter::empty());
            let start_offset = u32::try_from(at * 1_000).unwrap();
            Chunk { start_offset, text, words, names, ..Chunk::default() }
        };
        let chunks = (0..number % 5).map(chunk).collect();
        let path = RepoPath::new(format!("folder/{number}.py")).unwrap();
        (path, Extracted { language: "python", chunks, ..Extracted::default() })
    }

    fn row((path, extracted): &(RepoPath, Extracted)) -> FileRow<'_> {
        let hash = ContentHash::compute(path.as_str().as_bytes());
        FileRow { path, hash, stat: Stat::default(), seen_ns: 0, extracted, force: false }
    }

    fn index(store: &Store, files: &[(RepoPath, Extracted)]) -> IndexedChunks {
        let first = store.write(|batch| batch.next_chunk()).unwrap();
        IndexedChunks::index(first, files.iter().map(|(path, extracted)| (path, extracted))).unwrap()
    }

    fn add(batch: &mut Batch, files: &[(RepoPath, Extracted)], indexed: &IndexedChunks) -> Result<bool> {
        batch.add_files(&files.iter().map(row).collect::<Vec<_>>(), indexed)
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        store.follow_splitter(&Budget::unlimited()).unwrap();
        (folder, store)
    }

    /// For each word, the chunks with their ranks.
    fn hits(store: &Store) -> Vec<Vec<(i64, f64)>> {
        let ask = |batch: &mut Batch| {
            let words = (0..100).map(|word| format!("word{word}"));
            let words = words.chain((0..60).map(|number| format!("getPart{number}"))).chain(["part".to_owned()]);
            let query = "SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH ?1 ORDER BY rowid";
            words.map(|word| batch.rows(query, [word], |row| Ok((row.get(0)?, row.get(1)?)))).collect()
        };
        store.write(ask).unwrap()
    }

    #[test]
    fn copied_segments_and_rows_written_by_fts5_make_the_index_that_fts5_makes_alone() {
        let (files, rewritten): (Vec<_>, _) = ((0..60).map(file).collect(), file(63));
        let (_folder, plain) = store();
        let (_other, copied) = store();
        for store in [&plain, &copied] {
            store.write(|batch| batch.replace_file(&row(&rewritten))).unwrap();
        }
        for file in &files {
            plain.write(|batch| batch.replace_file(&row(file))).unwrap();
        }
        copied.begin_first_build().unwrap();
        for (number, part) in files.chunks(7).enumerate() {
            let write = |batch: &mut Batch, is_plain: bool| {
                if is_plain {
                    return part.iter().try_fold(true, |_, file| batch.replace_file(&row(file)));
                }
                let first = batch.next_chunk()?;
                let indexed = IndexedChunks::index(first, part.iter().map(|(path, extracted)| (path, extracted)))?;
                add(batch, part, &indexed)
            };
            // FTS5 knows the structure: it has read it, written to it, or lost what it wrote.
            hits(&copied);
            if number % 3 == 1 {
                let error: Result<()> = copied.write(|batch| {
                    write(batch, number % 2 == 0)?;
                    Err(Error::internal("rolled back"))
                });
                assert!(error.is_err());
            }
            let written = copied.write(|batch| {
                let again = row(&rewritten);
                batch.replace_file(&FileRow { force: true, ..again })?;
                let written = write(batch, number % 4 == 3)?;
                batch.rename_file(&rewritten.0, &RepoPath::new("moved.py").unwrap(), &Stat::default(), 0)?;
                batch.rename_file(&RepoPath::new("moved.py").unwrap(), &rewritten.0, &Stat::default(), 0)?;
                Ok(written)
            });
            assert!(written.unwrap());
            assert_eq!(copied.faults().unwrap(), Vec::<String>::new());
        }
        assert_eq!(hits(&copied), hits(&plain));
        for store in [&plain, &copied] {
            files
                .iter()
                .step_by(4)
                .for_each(|(path, _)| assert!(store.write(|batch| batch.remove_file(path)).unwrap()));
        }
        assert_eq!(hits(&copied), hits(&plain));
        copied.end_first_build().unwrap();
        assert_eq!(hits(&copied), hits(&plain));
        assert_eq!(copied.faults().unwrap(), Vec::<String>::new());
        let found = FtsQuery::phrase("word7").unwrap();
        let count =
            |store: &Store| store.read(&Budget::unlimited(), |snapshot| snapshot.count_matches(&found)).unwrap();
        assert!(count(&copied) > 0);
        assert_eq!(count(&copied), count(&plain), "a connection that wrote nothing");
    }

    #[test]
    fn what_was_indexed_beforehand_is_not_added_to_what_others_have_written_since() {
        let files: Vec<_> = (0..20).map(file).collect();
        let (_folder, store) = store();
        let (early, late) = (index(&store, &files[..10]), index(&store, &files[10..]));
        assert!(store.write(|batch| add(batch, &files[..10], &early)).unwrap());
        assert!(!store.write(|batch| add(batch, &files[10..], &late)).unwrap(), "others have these ids");
        let late = index(&store, &files[5..15]);
        assert!(!store.write(|batch| add(batch, &files[5..15], &late)).unwrap(), "some are not new");
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn segments_are_merged_before_there_are_too_many() {
        let (_folder, store) = store();
        store.begin_first_build().unwrap();
        let segments = |store: &Store| {
            let read = |batch: &mut Batch| Structure::decode(&row_of_data(batch.connection, STRUCTURE)?);
            store.write(read).unwrap().numbers().count()
        };
        store
            .write(|batch| {
                for number in 0..=MAX_SEGMENTS {
                    let files = [file(5 * number + 1)];
                    let indexed =
                        IndexedChunks::index(batch.next_chunk()?, files.iter().map(|(path, text)| (path, text)))?;
                    assert!(add(batch, &files, &indexed)?);
                }
                Ok(())
            })
            .unwrap();
        assert!((1..=MAX_SEGMENTS / 2).contains(&segments(&store)), "{}", segments(&store));
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn numbers_of_any_length_are_read_as_they_were_put() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, 1 << 31, (1 << 56) - 1];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put(*number, &mut bytes));
        assert_eq!(Numbers(&bytes).collect::<Vec<_>>(), numbers);
        assert_eq!(Numbers(&[0xff; 9]).next(), Some(u64::MAX));
        assert_eq!(Numbers(&[0x81]).next(), None);
    }
}
