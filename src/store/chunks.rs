//! `chunks`: the pieces of a file's text.
//!
//! Owns the texts and their ids. `terms` owns the FTS rows.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use rusqlite::{Row, named_params, params};

use super::chunk_key::ChunkKey;
use super::statements::statements;
use super::terms::{self, Terms};
use super::vectors::count;
use super::{Batch, ChunkId, FileId, FileRow, FtsQuery, Snapshot};
use crate::error::Result;
use crate::model::Chunk;

statements! {
    INSERT = "INSERT INTO chunks (id, file_id, ordinal, start_line, end_line, start_offset, hash, text, first_symbol,
            symbol_count, terms_checksum, overlap, headings, page)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, nullif(?12, ''), nullif(?13, ''), ?14)";
    LAST = "SELECT max(coalesce((SELECT max(id) FROM chunks), 0), coalesce((SELECT max(embedded) FROM embedding_spaces), 0))";
    OF_PATH = "SELECT c.id FROM files f JOIN chunks c ON c.file_id = f.id WHERE f.path = :path ORDER BY c.start_offset LIMIT :most";
    OF_FILE = "SELECT hash, id FROM chunks WHERE file_id = ?1 ORDER BY id DESC";
    DELETE = "DELETE FROM chunks WHERE file_id = ?1";
    COUNT = "SELECT count(*) FROM chunks";
    IN_PATH_ORDER = "SELECT c.id FROM files f JOIN chunks c ON c.file_id = f.id ORDER BY f.path, c.start_offset";
    MATCHING_BETWEEN = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :query AND rowid BETWEEN :first AND :last";
    POSITIONS = "SELECT c.file_id, c.start_offset, c.id FROM json_each(:ids) j CROSS JOIN chunks c ON c.id = j.value";
    PATHS = "SELECT f.path, f.id FROM json_each(:ids) j CROSS JOIN files f ON f.id = j.value";
    DRAWN = "SELECT min(id) FROM chunks GROUP BY substr(hash, 1, 4) ORDER BY substr(hash, 1, 4) LIMIT ?1";
    EXISTING = "SELECT c.id FROM json_each(:ids) j CROSS JOIN chunks c ON c.id = j.value";
    TEXT = "SELECT text FROM chunks WHERE file_id = ?1 ORDER BY start_offset";
    ENDS = "SELECT min(id), max(id), count(*) FROM chunks WHERE file_id = ?1";
    IN_ROW = "SELECT start_offset, text FROM chunks WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    LINES = "SELECT c.start_line, c.text FROM files f JOIN chunks c ON c.file_id = f.id
        WHERE f.path = :path AND c.start_line <= :last AND c.end_line >= :first ORDER BY c.start_offset";
    /// Reads many chunks at once: starting a statement for each takes longer than finding its rows.
    HITS = "SELECT j.key, f.path, f.language, c.start_line, c.end_line, c.text, coalesce(c.headings, ''), c.symbol_count
        FROM json_each(:ids) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN files f ON f.id = c.file_id";
    NAMED = "SELECT j.key, n.name, r.kind_id FROM json_each(:ids) j CROSS JOIN chunks c ON c.id = j.value
        CROSS JOIN symbol_rows r ON r.id >= (c.file_id << 20) + c.first_symbol AND r.id < (c.file_id << 20) + c.first_symbol + c.symbol_count
        CROSS JOIN names n ON n.id = r.name_id";
    KINDS = "SELECT id, name FROM kinds";
}

/// Up to this many chunks are sorted by looking up their positions. For more, a walk over all chunks up to the last wanted
/// one can be faster.
const LOOKED_UP: usize = 1_000;
/// How many chunks the walk visits in the time that one look-up takes.
const VISITS_OF_LOOK_UP: u64 = 8;

/// Chunks that are visited to find the first of many.
const MOST_VISITED: usize = 6_000;
/// Ids that are no farther from each other are asked for together.
const NEXT_TO: i64 = 64;

/// A chunk with its position.
#[derive(Clone, Debug)]
pub struct ChunkHit {
    pub path: String,
    pub language: String,
    pub start_line: u32,
    pub end_line: u32,
    pub text: String,
    /// The headings that it is under, then what begins in it, each once.
    pub names: Vec<ChunkName>,
}

/// A name of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkName {
    pub text: String,
    /// The kind of the symbol; `None` for a heading that the chunk is under.
    pub kind: Option<Arc<str>>,
}

impl ChunkName {
    fn from_heading(heading: &str) -> Self {
        Self { text: heading.to_owned(), kind: None }
    }
}

/// Numbers for the chunks of a file: those that their text had before, then numbers higher than any in use. So a vector
/// stays with its text, and chunks with higher ids are newer.
pub(super) struct ChunkNumbers {
    by_hash: HashMap<Vec<u8>, Vec<i64>>,
    last: i64,
}

impl ChunkNumbers {
    fn take(&mut self, hash: &[u8]) -> i64 {
        let before = self.by_hash.get_mut(hash).and_then(Vec::pop);
        before.unwrap_or_else(|| {
            self.last += 1;
            self.last
        })
    }

    pub(super) fn left(&self) -> Vec<ChunkId> {
        self.by_hash.values().flatten().copied().map(ChunkId).collect()
    }
}

impl Snapshot<'_> {
    /// The first chunks of a file.
    pub fn chunks_of_path(&self, path: &str, most: usize) -> Result<Vec<ChunkId>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(OF_PATH, named_params! { ":path": path, ":most": most }, |row| row.get(0).map(ChunkId))
    }

    pub fn chunk_count(&self) -> Result<u64> {
        self.number(COUNT, [])
    }

    /// A sample of chunks, chosen by the hashes of their texts: independent of insertion order.
    pub(super) fn drawn_chunks(&self, most: usize) -> Result<Vec<ChunkId>> {
        self.rows(DRAWN, [i64::try_from(most).unwrap_or(i64::MAX)], |row| row.get(0).map(ChunkId))
    }

    /// The first `most` of these chunks in path order; all of them, in the given order, if there are not more.
    pub fn first_in_path_order(&self, chunks: Vec<ChunkId>, most: usize) -> Result<Vec<ChunkId>> {
        if chunks.len() <= most { Ok(chunks) } else { self.in_path_order(chunks, most) }
    }

    /// Filters chunks to those that exist.
    pub(super) fn existing_chunks(&self, chunks: impl Iterator<Item = ChunkId>) -> Result<HashSet<ChunkId>> {
        let ids = list_of(chunks.map(|chunk| chunk.0));
        Ok(self.rows(EXISTING, named_params! { ":ids": ids }, |row| row.get(0).map(ChunkId))?.into_iter().collect())
    }

    /// The first `most` of the chunks that exist, in path order.
    pub(super) fn in_path_order(&self, mut chunks: Vec<ChunkId>, most: usize) -> Result<Vec<ChunkId>> {
        let is_less_than_walk = |all: u64| {
            let visited = all.saturating_mul(most as u64) / (chunks.len() as u64).max(1);
            chunks.len() as u64 * VISITS_OF_LOOK_UP <= visited
        };
        if chunks.len() <= LOOKED_UP || is_less_than_walk(self.all_chunks()?) {
            return self.in_order_of_positions(chunks, most);
        }
        chunks.sort_unstable();
        let mut first = Vec::with_capacity(most);
        let mut statement = self.connection.prepare_cached(IN_PATH_ORDER)?;
        let mut rows = statement.query([])?;
        while first.len() < most
            && let Some(row) = rows.next()?
        {
            let id = ChunkId(row.get(0)?);
            if chunks.binary_search(&id).is_ok() {
                first.push(id);
            }
        }
        Ok(first)
    }

    /// Returns the first `most` chunks in path order by looking up the position of each.
    fn in_order_of_positions(&self, mut chunks: Vec<ChunkId>, most: usize) -> Result<Vec<ChunkId>> {
        chunks.sort_unstable();
        let ids = list_of(chunks.iter().map(|chunk| chunk.0));
        let position = |row: &Row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get(2).map(ChunkId)?));
        let mut positions = self.rows(POSITIONS, named_params! { ":ids": ids }, position)?;
        let mut files: Vec<i64> = positions.iter().map(|(file, ..)| *file).collect();
        files.sort_unstable();
        files.dedup();
        let ids = list_of(files.into_iter());
        let path = |row: &Row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let mut paths = self.rows(PATHS, named_params! { ":ids": ids }, path)?;
        paths.sort_unstable();
        let ranks: HashMap<i64, usize> = paths.iter().enumerate().map(|(rank, (_, file))| (*file, rank)).collect();
        positions.sort_unstable_by_key(|(file, offset, id)| (ranks.get(file), *offset, *id));
        Ok(positions.into_iter().take(most).map(|(.., id)| id).collect())
    }

    /// The first `most` chunks in path order that match a query, if a bounded walk over the first chunks finds more than
    /// that: only the visited ones are compared with the query. `None` otherwise.
    pub fn first_of_many(&self, query: &FtsQuery, most: usize) -> Result<Option<Vec<ChunkId>>> {
        let mut walk = self.connection.prepare_cached(IN_PATH_ORDER)?;
        let mut walk = walk.query([])?;
        let mut matching = self.connection.prepare_cached(MATCHING_BETWEEN)?;
        let (mut found, mut visited, mut next) = (Vec::new(), 0, 2 * most);
        while visited < MOST_VISITED {
            let mut chunks: Vec<ChunkId> = Vec::with_capacity(next);
            while chunks.len() < next
                && let Some(row) = walk.next()?
            {
                chunks.push(ChunkId(row.get(0)?));
            }
            if chunks.is_empty() {
                break;
            }
            visited += chunks.len();
            next = chunks.len() * 2;
            let mut ids: Vec<i64> = chunks.iter().map(|chunk| chunk.0).collect();
            ids.sort_unstable();
            let mut matches: Vec<ChunkId> = Vec::new();
            for near in ids.chunk_by(|id, next| next - id <= NEXT_TO) {
                let range =
                    named_params! { ":query": query.as_str(), ":first": near[0], ":last": near[near.len() - 1] };
                let mut rows = matching.query(range)?;
                while let Some(row) = rows.next()? {
                    matches.push(ChunkId(row.get(0)?));
                }
            }
            found.extend(chunks.into_iter().filter(|chunk| matches.binary_search(chunk).is_ok()));
            if found.len() > most {
                found.truncate(most);
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Puts a file's stored text after what is in `text`.
    pub fn read_text(&self, file: FileId, text: &mut String) -> Result<()> {
        // Chunks written together are on adjacent pages, which one range scan reads faster.
        let start = text.len();
        let ends = self.connection.prepare_cached(ENDS)?.query_row([file.0], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, i64>(2)?))
        })?;
        if let (Some(first), Some(last), count) = ends
            && last - first + 1 == count
        {
            let mut statement = self.connection.prepare_cached(IN_ROW)?;
            let mut rows = statement.query([first, last])?;
            let (mut before, mut in_order) = (-1, true);
            while in_order && let Some(row) = rows.next()? {
                let at: i64 = row.get(0)?;
                in_order = at > before;
                before = at;
                text.push_str(row.get_ref(1)?.as_str().unwrap_or_default());
            }
            if in_order {
                return Ok(());
            }
            text.truncate(start);
        }
        let mut statement = self.connection.prepare_cached(TEXT)?;
        let mut rows = statement.query([file.0])?;
        while let Some(row) = rows.next()? {
            text.push_str(row.get_ref(0)?.as_str().unwrap_or_default());
        }
        Ok(())
    }

    /// Lines `first..=last` of a file's stored text, without line breaks.
    pub fn lines(&self, path: &str, first: u32, last: u32) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(LINES)?;
        let mut rows = statement.query(named_params! { ":path": path, ":first": first, ":last": last })?;
        let mut start = None;
        let mut text = String::new();
        while let Some(row) = rows.next()? {
            start = start.or(Some(row.get::<_, u32>(0)?));
            text.push_str(row.get_ref(1)?.as_str().unwrap_or_default());
        }
        let Some(start) = start else { return Ok(Vec::new()) };
        let numbered = (start..).zip(text.lines());
        Ok(numbered.filter(|(number, _)| (first..=last).contains(number)).map(|(_, line)| line.to_owned()).collect())
    }

    pub fn chunk(&self, id: ChunkId) -> Result<ChunkHit> {
        self.chunks(&[id])?.pop().ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }

    /// Chunks with their texts, in the order of `ids`.
    pub fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<ChunkHit>> {
        // Rows are found faster in the order in which they are stored.
        let mut stored: Vec<usize> = (0..ids.len()).collect();
        stored.sort_unstable_by_key(|at| ids[*at]);
        let list = list_of(stored.iter().map(|at| ids[*at].0));
        let mut hits: Vec<Option<ChunkHit>> = vec![None; ids.len()];
        let mut defining = Vec::new();
        let mut statement = self.connection.prepare_cached(HITS)?;
        let mut rows = statement.query(named_params! { ":ids": list })?;
        while let Some(row) = rows.next()? {
            let at = stored[row.get::<_, u32>(0)? as usize];
            let headings = row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?;
            hits[at] = Some(ChunkHit {
                path: row.get(1)?,
                language: row.get(2)?,
                start_line: row.get(3)?,
                end_line: row.get(4)?,
                text: row.get(5)?,
                names: headings.lines().map(ChunkName::from_heading).collect(),
            });
            if row.get::<_, i64>(7)? > 0 {
                defining.push(at);
            }
        }
        self.add_names(ids, &defining, &mut hits)?;
        let found: Option<Vec<ChunkHit>> = hits.into_iter().collect();
        found.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }

    /// Adds what begins in these chunks, in that order.
    fn add_names(&self, ids: &[ChunkId], defining: &[usize], hits: &mut [Option<ChunkHit>]) -> Result<()> {
        if defining.is_empty() {
            return Ok(());
        }
        let kinds: HashMap<i64, Arc<str>> =
            self.rows(KINDS, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
        let list = list_of(defining.iter().map(|at| ids[*at].0));
        let mut statement = self.connection.prepare_cached(NAMED)?;
        let mut rows = statement.query(named_params! { ":ids": list })?;
        while let Some(row) = rows.next()? {
            let Some(hit) = &mut hits[defining[row.get::<_, u32>(0)? as usize]] else { continue };
            let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let Some(kind) = kinds.get(&row.get(2)?) else { continue };
            if !hit.names.iter().any(|known| known.text == name && known.kind.as_ref() == Some(kind)) {
                hit.names.push(ChunkName { text: name.to_owned(), kind: Some(Arc::clone(kind)) });
            }
        }
        Ok(())
    }
}

/// Ids as a parameter of `json_each`.
fn list_of(ids: impl Iterator<Item = i64>) -> String {
    let mut list = String::from("[");
    for (at, id) in ids.enumerate() {
        // Writing to a text does not fail.
        let _ = write!(list, "{}{}", if at == 0 { "" } else { "," }, id);
    }
    list.push(']');
    list
}

impl Batch<'_> {
    /// `numbers` are those of the file before: a chunk of the same text takes its number again, and what is left in
    /// `numbers` is free.
    pub(super) fn insert_chunks(&self, row: &FileRow, file: FileId, numbers: &mut ChunkNumbers) -> Result<()> {
        let mut index = terms::indexing(self.connection)?;
        let path = self.path_terms(file)?;
        for (ordinal, chunk) in (0_i64..).zip(&row.extracted.chunks) {
            let terms = Terms::from_chunk(chunk, &path);
            let key = ChunkKey::compute(chunk, &terms);
            let id = numbers.take(&key.hash);
            self.insert_chunk(id, (file, ordinal), chunk, &key)?;
            terms.run(&mut index, id)?;
        }
        Ok(())
    }

    /// Adds the chunks of a new file, which are in the FTS already, with their ids.
    pub(super) fn insert_indexed_chunks<'k>(
        &self,
        row: &FileRow,
        file: FileId,
        keys: &mut impl Iterator<Item = (i64, &'k ChunkKey)>,
    ) -> Result<()> {
        let chunks = (0_i64..).zip(&row.extracted.chunks).zip(keys);
        chunks
            .into_iter()
            .try_for_each(|((ordinal, chunk), (id, key))| self.insert_chunk(id, (file, ordinal), chunk, key))
    }

    fn insert_chunk(&self, id: i64, (file, ordinal): (FileId, i64), chunk: &Chunk, key: &ChunkKey) -> Result<()> {
        self.connection.prepare_cached(INSERT)?.execute(params![
            id,
            file.0,
            ordinal,
            chunk.start_line,
            chunk.end_line,
            chunk.start_offset,
            key.hash,
            chunk.text,
            count(chunk.symbols.start),
            count(chunk.symbols.len()),
            key.terms_checksum,
            chunk.lead,
            chunk.headings,
            chunk.page,
        ])?;
        Ok(())
    }

    /// The id that the next new chunk gets.
    pub fn next_chunk(&self) -> Result<i64> {
        Ok(self.connection.prepare_cached(LAST)?.query_row([], |row| row.get::<_, i64>(0))? + 1)
    }

    /// The ids of a file's chunks, to be read before they are deleted; empty for a new file.
    pub(super) fn chunk_numbers(&self, file: Option<FileId>) -> Result<ChunkNumbers> {
        let mut numbers = ChunkNumbers { by_hash: HashMap::new(), last: self.next_chunk()? - 1 };
        if let Some(file) = file {
            let mut statement = self.connection.prepare_cached(OF_FILE)?;
            let mut rows = statement.query([file.0])?;
            while let Some(row) = rows.next()? {
                numbers.by_hash.entry(row.get(0)?).or_default().push(row.get(1)?);
            }
        }
        Ok(numbers)
    }

    pub(super) fn delete_chunks(&self, file: FileId) -> Result<()> {
        self.connection.prepare_cached(DELETE)?.execute([file.0])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::model::{ContentHash, Extracted, RepoPath, Stat, Symbol};
    use crate::store::{FileRow, Mode, Store};

    /// Chunks of one line each; each defines its text.
    fn write(store: &Store, path: &str, texts: &[String]) {
        let mut extracted = Extracted { language: "python", ..Extracted::default() };
        for (number, text) in (0..).zip(texts) {
            let symbols = extracted.symbols.len();
            extracted.chunks.push(Chunk {
                start_line: number + 1,
                end_line: number + 1,
                start_offset: number * 100,
                text: text.clone(),
                symbols: symbols..symbols + 1,
                ..Chunk::default()
            });
            extracted.symbols.push(Symbol {
                name: text.clone(),
                kind: "function",
                parent: None,
                container: None,
                signature: None,
                written: None,
                line: number + 1,
                column: 1,
                start_line: number + 1,
                end_line: number + 1,
            });
        }
        let path = RepoPath::new(path).unwrap();
        let hash = ContentHash::compute(path.as_str().as_bytes());
        let row = FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
        store.write(|batch| batch.replace_file(&row)).unwrap();
    }

    #[test]
    fn chunks_are_read_and_ordered_whatever_the_order_of_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let mut paths: Vec<String> = (0..12).map(|number| format!("{number}.py")).collect();
        for path in &paths {
            write(&store, path, &(0..100).map(|line| format!("{path} {line:02}")).collect::<Vec<_>>());
        }
        paths.sort();
        let expected: Vec<String> =
            paths.iter().flat_map(|path| (0..100).map(move |line| format!("{path} {line:02}"))).collect();
        let ask = |snapshot: &Snapshot| {
            let mut all: Vec<ChunkId> = snapshot.rows("SELECT id FROM chunks", [], |row| row.get(0).map(ChunkId))?;
            all.reverse();
            assert!(all.len() > LOOKED_UP);
            // A few of many are found by a walk, all of them by their positions.
            for most in [3, all.len()] {
                let first = snapshot.in_path_order(all.clone(), most)?;
                let hits = snapshot.chunks(&first)?;
                let texts: Vec<&str> = hits.iter().map(|hit| hit.text.as_str()).collect();
                assert_eq!(texts, expected[..most]);
                let names = hits.iter().all(|hit| matches!(&hit.names[..], [name] if name.text == hit.text));
                assert!(names && hits.iter().all(|hit| hit.names[0].kind.as_deref() == Some("function")));
            }
            let first = |word: &str, most| snapshot.first_of_many(&FtsQuery::phrase(word).unwrap(), most);
            let in_order = snapshot.in_path_order(all.clone(), all.len())?;
            assert_eq!(first("py", 300)?.unwrap(), in_order[..300]);
            let of_line: Vec<ChunkId> = in_order.iter().skip(7).step_by(100).copied().collect();
            assert_eq!(first("07", 5)?.unwrap(), of_line[..5]);
            assert_eq!((first("07", 12)?, first("none", 5)?), (None, None), "not more than that");
            assert!(snapshot.chunks(&[all[0], ChunkId(i64::MAX)]).is_err(), "one that does not exist");
            Ok(())
        };
        store.read(&Budget::unlimited(), ask).unwrap();
    }
}
