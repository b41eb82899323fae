//! Full-text search with plain BM25 over the same chunks, in memory: the baseline of an evaluation.

use std::borrow::Cow;

use rusqlite::{Connection, named_params, params};

use super::statements::statements;
use super::{ChunkId, FtsQuery, Snapshot};
use crate::error::Result;
use crate::words;

statements! {
    ALL = "SELECT id, text FROM chunks";
}

const INSERT: &str = "INSERT INTO plain (rowid, text) VALUES (?1, ?2)";
const BEST: &str = "SELECT rowid FROM plain WHERE plain MATCH :query ORDER BY rank, rowid LIMIT :limit";

/// How texts and queries become words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainWords {
    /// Words as a default FTS splits them.
    AsWritten,
    /// By their Porter stems, and identifiers by their parts as well.
    Stemmed,
}

impl PlainWords {
    const fn tokenizer(self) -> &'static str {
        match self {
            Self::AsWritten => "unicode61",
            Self::Stemmed => "porter unicode61",
        }
    }

    /// A text, with the parts of its identifiers where those count.
    fn expand(self, text: &str) -> Cow<'_, str> {
        if self == Self::AsWritten {
            return Cow::Borrowed(text);
        }
        let mut all = String::with_capacity(2 * text.len());
        for (token, may_be_compound) in words::shaped_tokens(text) {
            all.push_str(token);
            all.push(' ');
            let parts = words::parts(token).filter(|part| may_be_compound && part.len() < token.len());
            for part in parts {
                all.push_str(part);
                all.push(' ');
            }
        }
        Cow::Owned(all)
    }
}

/// The chunks of one snapshot in an FTS with BM25 over their texts: no path, no weights.
pub struct PlainSearch {
    connection: Connection,
    words: PlainWords,
}

impl PlainSearch {
    pub fn build(snapshot: &Snapshot, words: PlainWords) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        let tokenizer = words.tokenizer();
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE plain USING fts5 (text, content = '', tokenize = '{tokenizer}')"
        ))?;
        let mut insert = connection.prepare(INSERT)?;
        let mut all = snapshot.connection.prepare(ALL)?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let text = words.expand(row.get_ref(1)?.as_str().unwrap_or_default());
            insert.execute(params![row.get::<_, i64>(0)?, text])?;
        }
        drop(insert);
        Ok(Self { connection, words })
    }

    /// The best chunks that have any word of `text`, best first.
    pub fn best_chunks(&self, text: &str, limit: usize) -> Result<Vec<ChunkId>> {
        let text = self.words.expand(text);
        let words = text.split(|c: char| !c.is_alphanumeric());
        let Some(query) = FtsQuery::any(words.filter_map(FtsQuery::phrase)) else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(BEST)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement
            .query_map(named_params! { ":query": query.as_str(), ":limit": limit }, |row| row.get(0).map(ChunkId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
