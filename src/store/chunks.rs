//! `chunks`: the pieces of a file's text.
//!
//! Owns the texts and their ids. `terms` owns the FTS rows.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, named_params, params};

use super::statements::statements;
use super::terms::Terms;
use super::vectors::count;
use super::{Batch, ChunkId, FileId, FileRow, Snapshot};
use crate::error::Result;
use crate::model::Chunk;

statements! {
    INSERT = "INSERT INTO chunks (id, file_id, ordinal, start_line, end_line, start_offset, hash, text, first_symbol,
            symbol_count, terms_checksum, overlap, headings, page)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, nullif(?12, ''), nullif(?13, ''), ?14)";
    LAST = "SELECT max(coalesce((SELECT max(id) FROM chunks), 0), coalesce((SELECT max(embedded) FROM embedding_spaces), 0))";
    OF_FILE = "SELECT hash, id FROM chunks WHERE file_id = ?1 ORDER BY id DESC";
    DELETE = "DELETE FROM chunks WHERE file_id = ?1";
    COUNT = "SELECT count(*) FROM chunks";
    IN_PATH_ORDER = "SELECT c.id FROM files f JOIN chunks c ON c.file_id = f.id ORDER BY f.path, c.start_offset";
    PATH_AND_OFFSET = "SELECT f.path, c.start_offset FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id = ?1";
    DRAWN = "SELECT min(id) FROM chunks GROUP BY substr(hash, 1, 4) ORDER BY substr(hash, 1, 4) LIMIT ?1";
    IS_THERE = "SELECT 1 FROM chunks WHERE id = ?1";
    TEXT = "SELECT text FROM chunks WHERE file_id = ?1 ORDER BY start_offset";
    ENDS = "SELECT min(id), max(id), count(*) FROM chunks WHERE file_id = ?1";
    IN_ROW = "SELECT start_offset, text FROM chunks WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    LINES = "SELECT c.start_line, c.text FROM files f JOIN chunks c ON c.file_id = f.id
        WHERE f.path = :path AND c.start_line <= :last AND c.end_line >= :first ORDER BY c.start_offset";
    HIT = "SELECT f.path, f.language, c.start_line, c.end_line, c.text, coalesce(c.headings, ''),
        (c.file_id << 20) + c.first_symbol, c.symbol_count FROM chunks c JOIN files f ON f.id = c.file_id
        WHERE c.id = :id";
    NAMED = "SELECT n.name, k.name FROM symbol_rows r JOIN names n ON n.id = r.name_id JOIN kinds k ON k.id = r.kind_id
        WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id";
}

/// As the schema has it.
pub(super) const DROP_INDEX: &str = "DROP INDEX IF EXISTS chunks_by_hash";
pub(super) const MAKE_INDEX: &str = "CREATE INDEX IF NOT EXISTS chunks_by_hash ON chunks (substr(hash, 1, 4))";

/// More chunks than this are brought into order by a walk over all, up to the last that is wanted.
const LOOKED_UP: usize = 1_000;

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
    pub kind: Option<String>,
}

impl ChunkName {
    fn of_heading(heading: &str) -> Self {
        Self { text: heading.to_owned(), kind: None }
    }
}

/// Numbers for the chunks of a file: those that their text had before, then numbers above all there are. So a vector
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

    /// The first `most` of the chunks that exist, in path order.
    pub(super) fn in_path_order(&self, mut chunks: Vec<ChunkId>, most: usize) -> Result<Vec<ChunkId>> {
        if let [one] = chunks[..] {
            let is_there = most > 0 && self.connection.prepare_cached(IS_THERE)?.exists([one.0])?;
            chunks.truncate(usize::from(is_there));
            return Ok(chunks);
        }
        if chunks.len() <= LOOKED_UP {
            let mut statement = self.connection.prepare_cached(PATH_AND_OFFSET)?;
            let mut positioned: Vec<(String, u32, ChunkId)> = Vec::with_capacity(chunks.len());
            for id in chunks {
                positioned.extend(statement.query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?, id))).optional()?);
            }
            positioned.sort_unstable();
            return Ok(positioned.into_iter().take(most).map(|(.., id)| id).collect());
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
        let mut statement = self.connection.prepare_cached(HIT)?;
        let (mut hit, symbols) = statement.query_row(named_params! { ":id": id.0 }, |row| {
            let first: i64 = row.get(6)?;
            let hit = ChunkHit {
                path: row.get(0)?,
                language: row.get(1)?,
                start_line: row.get(2)?,
                end_line: row.get(3)?,
                text: row.get(4)?,
                names: row.get_ref(5)?.as_str()?.lines().map(ChunkName::of_heading).collect(),
            };
            Ok((hit, first..first + row.get::<_, i64>(7)?))
        })?;
        if !symbols.is_empty() {
            let mut statement = self.connection.prepare_cached(NAMED)?;
            let mut rows = statement.query([symbols.start, symbols.end])?;
            while let Some(row) = rows.next()? {
                let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                let kind = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                if !hit.names.iter().any(|known| known.text == name && known.kind.as_deref() == Some(kind)) {
                    hit.names.push(ChunkName { text: name.to_owned(), kind: Some(kind.to_owned()) });
                }
            }
        }
        Ok(hit)
    }
}

/// The key of a chunk's vector: all that is embedded of it.
fn embedded_hash(chunk: &Chunk) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(chunk.text.as_bytes());
    for context in [&chunk.lead, &chunk.headings].into_iter().filter(|context| !context.is_empty()) {
        // No text holds a NUL.
        hasher.update(&[0]).update(context.as_bytes());
    }
    hasher.finalize()
}

impl Batch<'_> {
    /// `numbers` are those of the file before: a chunk of the same text takes its number again, and what is left in
    /// `numbers` is free.
    pub(super) fn insert_chunks(&mut self, row: &FileRow, file: FileId, numbers: &mut ChunkNumbers) -> Result<()> {
        let mut insert = self.connection.prepare_cached(INSERT)?;
        let mut index = self.indexing()?;
        let path = self.path_terms(file)?;
        for (ordinal, chunk) in (0_i64..).zip(&row.extracted.chunks) {
            let hash = embedded_hash(chunk);
            let hash = &hash.as_bytes()[..16];
            let id = numbers.take(hash);
            let terms = Terms::of(chunk, &path);
            insert.execute(params![
                id,
                file.0,
                ordinal,
                chunk.start_line,
                chunk.end_line,
                chunk.start_offset,
                hash,
                chunk.text,
                count(chunk.symbols.start),
                count(chunk.symbols.len()),
                terms.sum,
                chunk.lead,
                chunk.headings,
                chunk.page,
            ])?;
            terms.run(&mut index, id)?;
        }
        Ok(())
    }

    /// The ids of a file's chunks, to be read before they are deleted; empty for a new file.
    pub(super) fn chunk_numbers(&self, file: Option<FileId>) -> Result<ChunkNumbers> {
        let last = self.connection.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
        let mut numbers = ChunkNumbers { by_hash: HashMap::new(), last };
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
