//! The FTS: queries in, scored chunks out.

use std::collections::HashMap;

use rusqlite::{ToSql, named_params};

use super::by_name::ByName;
use super::fts_query::FtsQuery;
use super::statements::statements;
use super::{ChunkId, Snapshot, locked};
use crate::error::Result;

statements! {
    /// Files of a language with a match.
    FILES = "SELECT DISTINCT f.path FROM chunks_fts m JOIN chunks c ON c.id = m.rowid JOIN files f ON f.id = c.file_id
        WHERE m.chunks_fts MATCH :query AND f.language = :language ORDER BY f.path";
    FILES_OF_ANY = "SELECT DISTINCT f.path, f.language FROM chunks_fts m JOIN chunks c ON c.id = m.rowid JOIN files f ON f.id = c.file_id
        WHERE m.chunks_fts MATCH :query AND f.language IN (SELECT value FROM json_each(:languages)) ORDER BY f.path";
    MATCHES = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH :query";
    /// In the order of ids, which the FTS keeps.
    WITH = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :query LIMIT :most";
    FREQUENCY = "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH :query LIMIT :most)";
    DEFINING = "SELECT c.id FROM names n JOIN symbol_rows s ON s.name_id = n.id JOIN files f ON f.id = s.id >> 20
        JOIN chunks c ON c.file_id = f.id AND s.line BETWEEN c.start_line AND c.end_line
        WHERE n.name = :name COLLATE NOCASE ORDER BY f.path, s.line, c.start_offset DESC LIMIT :most";
    /// Lowercase names are mostly those of many variables and fields.
    DEFINING_KINDS = "SELECT c.id FROM names n JOIN symbol_rows s ON s.name_id = n.id JOIN kinds k ON k.id = s.kind_id
        JOIN files f ON f.id = s.id >> 20 JOIN chunks c ON c.file_id = f.id AND s.line BETWEEN c.start_line AND c.end_line
        WHERE n.name = :name COLLATE NOCASE AND n.name GLOB '[A-Z]*' AND k.name IN (SELECT value FROM json_each(:kinds))
        ORDER BY f.path, s.line, c.start_offset DESC LIMIT :most";
    DEFINING_BY_FTS = "SELECT c.id FROM chunks_fts m CROSS JOIN chunks c ON c.id = m.rowid
        CROSS JOIN symbol_rows s ON s.id >= (c.file_id << 20) + c.first_symbol AND s.id < (c.file_id << 20) + c.first_symbol + c.symbol_count
        CROSS JOIN names n ON n.id = s.name_id CROSS JOIN files f ON f.id = c.file_id
        WHERE m.chunks_fts MATCH :query AND n.name = :name COLLATE NOCASE
        ORDER BY f.path, s.line, c.start_offset DESC LIMIT :most";
    DEFINING_KINDS_BY_FTS = "SELECT c.id FROM chunks_fts m CROSS JOIN chunks c ON c.id = m.rowid
        CROSS JOIN symbol_rows s ON s.id >= (c.file_id << 20) + c.first_symbol AND s.id < (c.file_id << 20) + c.first_symbol + c.symbol_count
        CROSS JOIN names n ON n.id = s.name_id CROSS JOIN kinds k ON k.id = s.kind_id CROSS JOIN files f ON f.id = c.file_id
        WHERE m.chunks_fts MATCH :query AND n.name = :name COLLATE NOCASE AND n.name GLOB '[A-Z]*'
        AND +k.name IN (SELECT value FROM json_each(:kinds)) ORDER BY f.path, s.line, c.start_offset DESC LIMIT :most";
    USING = "SELECT count(*) FROM (SELECT 1 FROM names n JOIN reference_rows r ON r.name_id = n.id
        WHERE n.name = :name COLLATE NOCASE AND n.name = :name LIMIT :most)";
}

pub(super) const DEFINING_NAME: ByName = ByName { indexed: DEFINING, by_fts: DEFINING_BY_FTS };
pub(super) const DEFINING_NAME_OF_KINDS: ByName = ByName { indexed: DEFINING_KINDS, by_fts: DEFINING_KINDS_BY_FTS };

/// Queries whose counts are kept: one is some 60 bytes.
const REMEMBERED: usize = 20_000;

/// Ids of chunks that are kept for queries, in all: a megabyte, or as many as a larger index has chunks.
const KEPT_IDS: usize = 250_000;

/// In how many chunks words occur, and in which, as of the last change.
#[derive(Default)]
pub(super) struct Frequencies {
    as_of: Option<String>,
    chunks: Option<u64>,
    counts: HashMap<String, usize>,
    /// All chunks that match a query, in the order of ids.
    matching: HashMap<String, Box<[u32]>>,
    /// How many ids these are.
    kept: usize,
}

impl Frequencies {
    /// Forgets everything unless it belongs to that state of the index.
    fn follow(&mut self, now: &Option<String>) {
        if self.as_of != *now {
            *self = Self { as_of: now.clone(), ..Self::default() };
        }
    }

    fn keep(&mut self, query: &str, chunks: &[ChunkId]) {
        let most = self.chunks.map_or(KEPT_IDS, |all| usize::try_from(all).unwrap_or(KEPT_IDS).max(KEPT_IDS));
        if chunks.len() > most {
            return;
        }
        // Larger ids are not kept: no index has had that many chunks.
        let ids: Option<Box<[u32]>> = chunks.iter().map(|chunk| u32::try_from(chunk.0).ok()).collect();
        let Some(ids) = ids else { return };
        if self.kept + ids.len() > most || self.matching.len() >= REMEMBERED {
            self.matching.clear();
            self.kept = 0;
        }
        self.kept += ids.len();
        self.matching.insert(query.to_owned(), ids);
    }
}

impl Snapshot<'_> {
    /// In how many chunks a query matches, `most` for more, and how many chunks there are. Remembered until the index
    /// changes.
    pub fn frequency(&self, query: &FtsQuery, most: usize) -> Result<(usize, u64)> {
        let chunks = self.all_chunks()?;
        let as_of = {
            let known = locked(&self.caches.frequencies);
            if let Some(count) = known.counts.get(query.as_str()) {
                return Ok((*count, chunks));
            }
            known.as_of.clone()
        };
        let count = self.count(FREQUENCY, ":query", query.as_str(), most)?;
        let mut known = locked(&self.caches.frequencies);
        // Another reader may have seen another state meanwhile.
        if known.as_of == as_of && known.counts.len() < REMEMBERED {
            known.counts.insert(query.as_str().to_owned(), count);
        }
        Ok((count, chunks))
    }

    /// How many chunks there are. Remembered until the index changes.
    pub fn all_chunks(&self) -> Result<u64> {
        let now = self.last_change()?;
        {
            let mut known = locked(&self.caches.frequencies);
            known.follow(&now);
            if let Some(chunks) = known.chunks {
                return Ok(chunks);
            }
        }
        let chunks = self.chunk_count()?;
        let mut known = locked(&self.caches.frequencies);
        if known.as_of == now {
            known.chunks = Some(chunks);
        }
        Ok(chunks)
    }

    /// The first chunks that match a query, in the order of ids. Remembered until the index changes: the queries of one task
    /// share words.
    pub fn chunks_with(&self, query: &FtsQuery, most: usize) -> Result<Vec<ChunkId>> {
        let now = self.last_change()?;
        {
            let mut known = locked(&self.caches.frequencies);
            known.follow(&now);
            if let Some(ids) = known.matching.get(query.as_str()) {
                return Ok(ids.iter().take(most).map(|id| ChunkId(i64::from(*id))).collect());
            }
        }
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let params = named_params! { ":query": query.as_str(), ":most": limit };
        let found = self.rows(WITH, params, |row| row.get(0).map(ChunkId))?;
        if found.len() < most {
            let mut known = locked(&self.caches.frequencies);
            // Another reader may have seen another state meanwhile.
            if known.as_of == now && !known.matching.contains_key(query.as_str()) {
                known.keep(query.as_str(), &found);
            }
        }
        Ok(found)
    }

    /// Paths of files of a language in which something matches.
    pub fn files_matching(&self, query: &FtsQuery, language: &str) -> Result<Vec<String>> {
        self.rows(FILES, named_params! { ":query": query.as_str(), ":language": language }, |row| row.get(0))
    }

    /// Paths of files of several languages in which something matches, with their languages.
    pub fn files_matching_any(&self, query: &FtsQuery, languages: &[&str]) -> Result<Vec<(String, String)>> {
        let languages = serde_json::Value::from(languages).to_string();
        let params = named_params! { ":query": query.as_str(), ":languages": languages };
        self.rows(FILES_OF_ANY, params, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Chunks that contain a definition of that name, in any (ASCII) case, in path and line order.
    pub fn chunks_defining(&self, name: &str, most: usize) -> Result<Vec<ChunkId>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let params: &[(&str, &dyn ToSql)] = named_params! { ":name": name, ":most": most };
        self.rows_by_name(&DEFINING_NAME, FtsQuery::names(name), params, |row| row.get(0).map(ChunkId))
    }

    /// Chunks that define a name as a symbol of one of these kinds, if its name begins with an uppercase letter.
    pub fn chunks_defining_kinds(&self, name: &str, kinds: &[&str], most: usize) -> Result<Vec<ChunkId>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let kinds = serde_json::Value::from(kinds).to_string();
        let params: &[(&str, &dyn ToSql)] = named_params! { ":name": name, ":kinds": kinds, ":most": most };
        self.rows_by_name(&DEFINING_NAME_OF_KINDS, FtsQuery::names(name), params, |row| row.get(0).map(ChunkId))
    }

    /// How many files reference a name; `most` for more. During a first build, in how many chunks it is.
    pub fn files_using(&self, name: &str, most: usize) -> Result<usize> {
        match self.unless_indexed(FtsQuery::phrase(name))? {
            Some(query) => self.count(FREQUENCY, ":query", query.as_str(), most),
            None => self.count(USING, ":name", name, most),
        }
    }

    fn count(&self, statement: &str, name: &str, value: &str, most: usize) -> Result<usize> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let count: i64 = self.value(statement, &[(name, &value as &dyn ToSql), (":most", &most)])?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    pub fn count_matches(&self, query: &FtsQuery) -> Result<u64> {
        self.number(MATCHES, named_params! { ":query": query.as_str() })
    }
}
