//! Full-text search with plain BM25 over the same chunks, in memory: the baseline of an evaluation.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use ixmcp::words;
use rusqlite::{Connection, OpenFlags, named_params, params};

use super::measure::RankedSpan;

const ALL: &str =
    "SELECT chunks.id, text, path, start_line, end_line FROM chunks JOIN files ON files.id = chunks.file_id";
const INSERT: &str = "INSERT INTO plain (rowid, text) VALUES (?1, ?2)";
const BEST: &str = "SELECT rowid FROM plain WHERE plain MATCH :query ORDER BY rank, rowid LIMIT :limit";
/// Chunks of which the best of each file are taken.
const CHUNKS: u32 = 1_000;

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

/// The chunks of an index in an FTS with BM25 over their texts: no path, no weights.
pub struct PlainSearch {
    connection: Connection,
    words: PlainWords,
    spans: HashMap<i64, RankedSpan>,
}

impl PlainSearch {
    pub fn build(database: &Path, words: PlainWords) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        let tokenizer = words.tokenizer();
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE plain USING fts5 (text, content = '', tokenize = '{tokenizer}')"
        ))?;
        let index = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let (mut insert, mut all) = (connection.prepare(INSERT)?, index.prepare(ALL)?);
        let (mut rows, mut spans) = (all.query([])?, HashMap::new());
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            insert.execute(params![id, words.expand(row.get_ref(1)?.as_str().unwrap_or_default())])?;
            spans.insert(id, RankedSpan { path: row.get(2)?, lines: (row.get(3)?, row.get(4)?) });
        }
        drop(insert);
        Ok(Self { connection, words, spans })
    }

    /// The best chunk of each file that has any word of `text`, best first.
    pub fn best_of_files(&self, text: &str, limit: usize) -> rusqlite::Result<Vec<RankedSpan>> {
        let text = self.words.expand(text);
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let query = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(BEST)?;
        let rows = statement.query_map(named_params! { ":query": query, ":limit": CHUNKS }, |row| row.get(0))?;
        let (mut files, mut best) = (HashSet::new(), Vec::new());
        for id in rows {
            let span = &self.spans[&id?];
            if best.len() < limit && files.insert(&span.path) {
                best.push(span.clone());
            }
        }
        Ok(best)
    }
}
