//! Consistency checks, and a canonical dump of the database: everything that the repository's content determines,
//! without row ids, times of indexing and counts of changes. Two indexes of the same tree have equal dumps.

use super::statements::statements;
use super::{Snapshot, Store, locked, schema, terms};
use crate::error::Result;

statements! {
    FILES = "SELECT json_array('file', path, path_words, language, extractor, encoding, hex(hash), lines, size, chunking)
        FROM files ORDER BY path";
    SKIPPED = "SELECT json_array('skipped', path, reason) FROM skipped ORDER BY path";
    PROBLEMS = "SELECT json_array('problem', f.path, p.line, p.reason) FROM problems p JOIN files f ON f.id = p.file_id
        ORDER BY f.path, p.line, p.reason";
    CHUNKS = "SELECT json_array('chunk', f.path, c.ordinal, c.start_line, c.end_line, c.start_offset, hex(c.hash),
        c.text, c.first_symbol, c.symbol_count, c.terms_checksum, c.overlap, c.headings, c.page)
        FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY f.path, c.ordinal";
    SYMBOLS = "SELECT json_array('symbol', f.path, s.name, s.kind, s.container, s.signature, s.line, s.column,
        s.start_line, s.end_line, p.line, p.column)
        FROM symbols s JOIN files f ON f.id = s.file_id LEFT JOIN symbol_rows p ON p.id = s.parent_id
        ORDER BY f.path, s.line, s.column, s.name, s.kind";
    REFERENCES = "SELECT json_array('reference', f.path, r.line, r.column, n.name, r.kind)
        FROM refs r JOIN files f ON f.id = r.file_id JOIN names n ON n.id = r.name_id
        ORDER BY f.path, r.line, r.column, n.name";
    EDGES = "SELECT json_array('edge', f.path, e.line, e.kind, e.target, e.name, e.alias, s.line, s.column, t.key, e.certain)
        FROM edges e JOIN files f ON f.id = e.file_id LEFT JOIN symbol_rows s ON s.id = e.symbol_id
        LEFT JOIN entities t ON t.id = e.entity_id
        ORDER BY f.path, e.line, e.kind, e.target, e.name, e.alias";
    ENTITIES = "SELECT json_array('entity', f.path, e.key, e.kind, e.title, e.status, e.date, e.created_at, e.updated_at,
        e.created_by, e.priority, e.live) FROM entities e JOIN files f ON f.id = e.file_id ORDER BY f.path, e.key";
    NAMES = "SELECT json_array('name', n.path, n.rank, n.name, f.path, e.key) FROM entity_names n
        JOIN entities e ON e.id = n.entity_id JOIN files f ON f.id = e.file_id ORDER BY n.path, n.rank, n.name";
    TAGGED = "SELECT json_array('tag', f.path, g.line, t.name, g.source, e.key) FROM tagged g
        JOIN tags t ON t.id = g.tag_id JOIN files f ON f.id = g.file_id LEFT JOIN entities e ON e.id = g.entity_id
        ORDER BY f.path, g.line, t.name, g.source";
    VECTORS = "SELECT json_array('vector', s.model, s.hash, f.path, c.start_offset, hex(v.vector))
        FROM vectors v JOIN embedding_spaces s ON s.id = v.space_id
        JOIN chunks c ON c.id = v.chunk_id JOIN files f ON f.id = c.file_id
        ORDER BY s.model, s.hash, f.path, c.start_offset";
    COMMITS = "SELECT json_array('commit', hash, time, corrected_time, author, subject, body, words, file_count) FROM commits ORDER BY hash";
    COMMIT_FILES = "SELECT json_array('commit file', hash, path, status, from_path) FROM commit_files ORDER BY hash, path";
    COMMIT_PATHS = "SELECT json_array('commit path', path) FROM commit_paths ORDER BY path";
    ROWS_OF_COMMIT_FTS = "SELECT json_array('commit fts rows', count(*)) FROM commits_fts_docsize";
    /// The number of rows of the FTS: duplicate rows and rows of deleted chunks change it.
    ROWS_OF_FTS = "SELECT json_array('fts rows', count(*)) FROM chunks_fts_docsize";
    ROWS_OF_CHUNKS = "SELECT json_array('chunk rows', count(*)) FROM chunks";
    /// Invariants that no constraint of the schema enforces.
    DOUBLED = "SELECT 'the name ' || json_quote(name) || ' is stored more than once' FROM names GROUP BY name HAVING count(*) > 1 LIMIT 9";
    LEFT_BEHIND = "SELECT 'file ' || (id >> 20) || ' is gone, but its symbols or references are not'
        FROM (SELECT id FROM symbol_rows UNION ALL SELECT id FROM reference_rows)
        WHERE id >> 20 NOT IN (SELECT id FROM files) LIMIT 9";
    STRAY_VECTORS = "SELECT 'chunk ' || v.chunk_id || ' has a vector, but does not exist or is not embedded yet'
        FROM vectors v JOIN embedding_spaces s ON s.id = v.space_id
        WHERE v.chunk_id > s.embedded OR v.chunk_id NOT IN (SELECT id FROM chunks) LIMIT 9";
    MISCOUNTED_VECTORS = "SELECT 'there are ' || v.count || ' vectors, but the stored count is ' || s.vector_count
        FROM embedding_spaces s JOIN (SELECT e.id, count(v.chunk_id) AS count
            FROM embedding_spaces e LEFT JOIN vectors v ON v.space_id = e.id GROUP BY e.id) v ON v.id = s.id
        WHERE v.count <> s.vector_count";
}

/// Without the rank, FTS5 does not compare its index with the content: findings/fts5-lost-row.sh.
const CHECK_COMMITS: &str = "INSERT INTO commits_fts (commits_fts, rank) VALUES ('integrity-check', 1)";

impl Snapshot<'_> {
    /// The canonical dump, line by line. It contains vectors: call it when none is pending.
    pub fn dump(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        let families = [
            FILES,
            SKIPPED,
            PROBLEMS,
            CHUNKS,
            SYMBOLS,
            REFERENCES,
            EDGES,
            ENTITIES,
            NAMES,
            TAGGED,
            ROWS_OF_FTS,
            ROWS_OF_CHUNKS,
            VECTORS,
            COMMITS,
            COMMIT_FILES,
            COMMIT_PATHS,
            ROWS_OF_COMMIT_FTS,
        ];
        for family in families {
            let mut statement = self.connection.prepare_cached(family)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str().unwrap_or_default());
            }
        }
        Ok(())
    }
}

impl Store {
    /// Messages about problems of the database; empty if it is sound.
    pub fn faults(&self) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        self.write(|_| Ok(()))?;
        let slot = locked(&self.writer);
        let Some(writer) = slot.as_ref() else { return Ok(faults) };
        faults.extend(schema::faults(&Snapshot::new(&writer.connection, &self.caches))?);
        if !faults.is_empty() {
            // The queries below would name missing tables.
            return Ok(faults);
        }
        let mut statement = writer.connection.prepare("PRAGMA integrity_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let found: String = row.get(0)?;
            if found != "ok" {
                faults.push(found);
            }
        }
        let mut statement = writer.connection.prepare("PRAGMA foreign_key_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            faults.push(format!("a row of {} refers to a missing row", row.get::<_, String>(0)?));
        }
        for query in [DOUBLED, LEFT_BEHIND, STRAY_VECTORS, MISCOUNTED_VECTORS] {
            let mut statement = writer.connection.prepare(query)?;
            let found = statement.query_map([], |row| row.get::<_, String>(0))?;
            faults.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        let snapshot = Snapshot::new(&writer.connection, &self.caches);
        faults.extend(snapshot.faults_of_trigrams()?);
        if let Err(error) = terms::check(&writer.connection) {
            faults.push(format!("the FTS differs from the chunks ({error})"));
        }
        if let Err(error) = writer.connection.execute_batch(CHECK_COMMITS) {
            faults.push(format!("the FTS differs from the commits ({error})"));
        }
        Ok(faults)
    }
}
