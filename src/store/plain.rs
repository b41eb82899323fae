//! Plain full-text search over the same chunks, in memory: what an evaluation compares the ranking with.

use rusqlite::{Connection, named_params, params};

use super::statements::statements;
use super::{ChunkId, FtsQuery, Snapshot};
use crate::error::Result;

statements! {
    ALL = "SELECT id, text FROM chunks";
}

const MAKE: &str = "CREATE VIRTUAL TABLE plain USING fts5 (text, content = '', tokenize = 'unicode61')";
const INSERT: &str = "INSERT INTO plain (rowid, text) VALUES (?1, ?2)";
const BEST: &str = "SELECT rowid FROM plain WHERE plain MATCH :query ORDER BY rank, rowid LIMIT :limit";

/// The chunks of one snapshot in a default FTS: no split identifiers, no path, no weights.
pub struct PlainSearch(Connection);

impl PlainSearch {
    pub fn of(snapshot: &Snapshot) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(MAKE)?;
        let mut insert = connection.prepare(INSERT)?;
        let mut all = snapshot.connection.prepare(ALL)?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            insert.execute(params![row.get::<_, i64>(0)?, row.get_ref(1)?.as_str().unwrap_or_default()])?;
        }
        drop(insert);
        Ok(Self(connection))
    }

    /// The best chunks that have any word of `text`, best first.
    pub fn best_chunks(&self, text: &str, limit: usize) -> Result<Vec<ChunkId>> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let Some(query) = FtsQuery::any(words.filter_map(FtsQuery::phrase)) else { return Ok(Vec::new()) };
        let mut statement = self.0.prepare_cached(BEST)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement
            .query_map(named_params! { ":query": query.as_str(), ":limit": limit }, |row| row.get(0).map(ChunkId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
