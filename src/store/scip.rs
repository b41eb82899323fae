//! Contents of SCIP files: their documents, symbols, occurrences and relationships.

use rusqlite::{Row, named_params};

use super::files::stat;
use super::statements::statements;
use super::{Batch, Snapshot};
use crate::error::Result;
use crate::model::Stat;

statements! {
    FILES = "SELECT path, size, mtime_ns, ctime_ns, inode, tool, problem,
        (SELECT count(*) FROM scip_documents d WHERE d.scip_file = s.id),
        (SELECT count(*) FROM scip_documents d JOIN scip_occurrences o ON o.document = d.id WHERE d.scip_file = s.id)
        FROM scip_files s ORDER BY path";
    STATS = "SELECT path, size, mtime_ns, ctime_ns, inode FROM scip_files ORDER BY path";
    /// The narrowest occurrence first; of those a definition.
    AT = "SELECT s.id, s.symbol, s.name, s.document, d.path, o.line, o.start_column, o.end_line, o.end_column, o.roles,
        d.hash IS NOT NULL AND d.hash = f.hash
        FROM scip_documents d JOIN scip_occurrences o ON o.document = d.id JOIN scip_symbols s ON s.id = o.symbol
        LEFT JOIN files f ON f.path = d.path
        WHERE d.path = :path AND o.line = :line AND o.end_line = :line AND o.start_column <= :column AND o.end_column >= :column
        ORDER BY o.end_column - o.start_column, o.start_column DESC, o.roles & 1 DESC, d.scip_file, s.id";
    /// Symbols that begin like another one, with their texts.
    BELOW = "SELECT id, symbol FROM scip_symbols WHERE symbol > :from AND symbol < :to AND document IS NULL";
    SAME = "SELECT id FROM scip_symbols WHERE symbol = :symbol AND document IS NULL";
    OF_SYMBOL = "SELECT s.id, s.symbol, s.name, s.document, d.path, o.line, o.start_column, o.end_line, o.end_column, o.roles,
        d.hash IS NOT NULL AND d.hash = f.hash
        FROM scip_occurrences o JOIN scip_symbols s ON s.id = o.symbol JOIN scip_documents d ON d.id = o.document
        LEFT JOIN files f ON f.path = d.path
        WHERE o.symbol = :symbol ORDER BY d.path, o.line, o.start_column";
    RELATED = "SELECT s.id, s.symbol, s.document IS NULL FROM scip_relationships r JOIN scip_symbols s ON s.id = r.related
        WHERE r.symbol = :symbol AND r.kinds & :kinds
        UNION SELECT s.id, s.symbol, s.document IS NULL FROM scip_relationships r JOIN scip_symbols s ON s.id = r.symbol
        WHERE r.related = :symbol AND r.kinds & :kinds";
    IMPLEMENTS = "SELECT s.id, s.symbol, s.document IS NULL FROM scip_relationships r JOIN scip_symbols s ON s.id = r.related
        WHERE r.symbol = :symbol AND r.kinds & :kinds";
    IMPLEMENTED_BY = "SELECT s.id, s.symbol, s.document IS NULL FROM scip_relationships r JOIN scip_symbols s ON s.id = r.symbol
        WHERE r.related = :symbol AND r.kinds & :kinds";
    HAS_ANY = "SELECT 1 FROM scip_documents LIMIT 1";
    FILE_ID = "SELECT id FROM scip_files WHERE path = :path";
    DELETE_OCCURRENCES = "DELETE FROM scip_occurrences WHERE document IN (SELECT id FROM scip_documents WHERE scip_file = :file)";
    DELETE_RELATIONSHIPS = "DELETE FROM scip_relationships WHERE symbol IN (SELECT id FROM scip_symbols WHERE scip_file = :file)";
    DELETE_SYMBOLS = "DELETE FROM scip_symbols WHERE scip_file = :file";
    DELETE_DOCUMENTS = "DELETE FROM scip_documents WHERE scip_file = :file";
    DELETE_FILE = "DELETE FROM scip_files WHERE id = :file";
    ADD_FILE = "INSERT INTO scip_files (path, size, mtime_ns, ctime_ns, inode, tool, problem)
        VALUES (:path, :size, :mtime, :ctime, :inode, :tool, :problem)";
    ADD_DOCUMENT = "INSERT INTO scip_documents (scip_file, path, hash) VALUES (:file, :path, :hash)";
    ADD_SYMBOL = "INSERT INTO scip_symbols (scip_file, symbol, name, document) VALUES (:file, :symbol, :name, :document)";
    ADD_OCCURRENCE = "INSERT OR IGNORE INTO scip_occurrences VALUES (:document, :line, :column, :end_line, :end_column, :symbol, :roles)";
    ADD_RELATIONSHIP = "INSERT OR IGNORE INTO scip_relationships VALUES (:symbol, :related, :kinds)";
}

/// A SCIP file and what is used of it.
#[derive(Clone, Debug)]
pub struct ScipFile {
    pub path: String,
    pub stat: Stat,
    pub tool: String,
    pub problem: Option<String>,
    pub documents: u64,
    pub occurrences: u64,
}

/// The rows of a SCIP file, as they are written.
#[derive(Debug, Default)]
pub struct ScipRows {
    pub tool: String,
    pub problem: Option<String>,
    pub documents: Vec<ScipDocumentRow>,
    /// Symbol, name, and the document of a local one.
    pub symbols: Vec<(String, String, Option<usize>)>,
    /// Symbol, related symbol, kinds.
    pub relationships: Vec<(usize, usize, u8)>,
}

#[derive(Debug)]
pub struct ScipDocumentRow {
    pub path: String,
    pub hash: Option<[u8; 32]>,
    pub occurrences: Vec<ScipRange>,
}

/// Lines and columns count from 1; the end column is behind the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScipRange {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    /// Index among the symbols.
    pub symbol: usize,
    pub roles: u32,
}

/// Where a symbol is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScipOccurrence {
    pub symbol_id: i64,
    pub symbol: String,
    pub name: String,
    pub is_local: bool,
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub roles: u32,
    /// Whether the file still has the text that the position is known to fit.
    pub is_current: bool,
}

fn occurrence(row: &Row) -> rusqlite::Result<ScipOccurrence> {
    Ok(ScipOccurrence {
        symbol_id: row.get(0)?,
        symbol: row.get(1)?,
        name: row.get(2)?,
        is_local: row.get::<_, Option<i64>>(3)?.is_some(),
        path: row.get(4)?,
        line: row.get(5)?,
        column: row.get(6)?,
        end_line: row.get(7)?,
        end_column: row.get(8)?,
        roles: row.get(9)?,
        is_current: row.get(10)?,
    })
}

impl Snapshot<'_> {
    pub fn scip_files(&self) -> Result<Vec<ScipFile>> {
        self.rows(FILES, [], |row| {
            Ok(ScipFile {
                path: row.get(0)?,
                stat: stat(row, 1)?,
                tool: row.get(5)?,
                problem: row.get(6)?,
                documents: row.get::<_, i64>(7)?.cast_unsigned(),
                occurrences: row.get::<_, i64>(8)?.cast_unsigned(),
            })
        })
    }

    /// The SCIP files that were loaded, as they were then.
    pub fn scip_stats(&self) -> Result<Vec<(String, Stat)>> {
        self.rows(STATS, [], |row| Ok((row.get(0)?, stat(row, 1)?)))
    }

    pub fn has_scip(&self) -> Result<bool> {
        Ok(self.row(HAS_ANY, [], |_| Ok(()))?.is_some())
    }

    /// The occurrences that a position is in or just behind.
    pub fn scip_at(&self, path: &str, line: u32, column: u32) -> Result<Vec<ScipOccurrence>> {
        self.rows(AT, named_params! { ":path": path, ":line": line, ":column": column }, occurrence)
    }

    /// The ids of a symbol that is not local, in all SCIP files.
    pub fn scip_symbols(&self, symbol: &str) -> Result<Vec<i64>> {
        self.rows(SAME, named_params! { ":symbol": symbol }, |row| row.get(0))
    }

    /// The ids and texts of symbols that begin with another symbol and are longer, in all SCIP files. None is local.
    pub fn scip_symbols_below(&self, symbol: &str) -> Result<Vec<(i64, String)>> {
        let to = format!("{symbol}\u{10ffff}");
        self.rows(BELOW, named_params! { ":from": symbol, ":to": to }, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    pub fn scip_occurrences(&self, symbol: i64) -> Result<Vec<ScipOccurrence>> {
        self.rows(OF_SYMBOL, named_params! { ":symbol": symbol }, occurrence)
    }

    /// The symbols that are related to one in these ways, in either direction: id, text, and whether it is not local.
    pub fn scip_related(&self, symbol: i64, kinds: u8) -> Result<Vec<(i64, String, bool)>> {
        let params = named_params! { ":symbol": symbol, ":kinds": kinds };
        self.rows(RELATED, params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// The symbols that one has such a relationship with, or those that have it with this one: id, text, and whether it is not
    /// local.
    pub fn scip_implementations(&self, symbol: i64, kinds: u8, is_above: bool) -> Result<Vec<(i64, String, bool)>> {
        let statement = if is_above { IMPLEMENTS } else { IMPLEMENTED_BY };
        let params = named_params! { ":symbol": symbol, ":kinds": kinds };
        self.rows(statement, params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }
}

impl Batch<'_> {
    pub fn remove_scip_file(&mut self, path: &str) -> Result<()> {
        let Some(file) = self.row(FILE_ID, named_params! { ":path": path }, |row| row.get::<_, i64>(0))? else {
            return Ok(());
        };
        for statement in [DELETE_OCCURRENCES, DELETE_RELATIONSHIPS, DELETE_SYMBOLS, DELETE_DOCUMENTS, DELETE_FILE] {
            self.connection.prepare_cached(statement)?.execute(named_params! { ":file": file })?;
        }
        Ok(())
    }

    /// Replaces the rows of a SCIP file.
    pub fn replace_scip_file(&mut self, path: &str, stat: &Stat, rows: &ScipRows) -> Result<()> {
        self.remove_scip_file(path)?;
        let connection = self.connection;
        connection.prepare_cached(ADD_FILE)?.execute(named_params! {
            ":path": path, ":size": stat.size.cast_signed(), ":mtime": stat.mtime_ns, ":ctime": stat.ctime_ns,
            ":inode": stat.inode.cast_signed(), ":tool": rows.tool, ":problem": rows.problem,
        })?;
        let file = connection.last_insert_rowid();
        let mut documents = Vec::with_capacity(rows.documents.len());
        for document in &rows.documents {
            let hash = document.hash.as_ref().map(|hash| &hash[..]);
            let params = named_params! { ":file": file, ":path": document.path, ":hash": hash };
            connection.prepare_cached(ADD_DOCUMENT)?.execute(params)?;
            documents.push(connection.last_insert_rowid());
        }
        let mut symbols = Vec::with_capacity(rows.symbols.len());
        let mut add = connection.prepare_cached(ADD_SYMBOL)?;
        for (symbol, name, document) in &rows.symbols {
            let document = document.and_then(|at| documents.get(at));
            add.execute(named_params! { ":file": file, ":symbol": symbol, ":name": name, ":document": document })?;
            symbols.push(connection.last_insert_rowid());
        }
        let mut add = connection.prepare_cached(ADD_OCCURRENCE)?;
        for (document, id) in rows.documents.iter().zip(&documents) {
            for range in &document.occurrences {
                let Some(symbol) = symbols.get(range.symbol) else { continue };
                add.execute(named_params! {
                    ":document": id, ":line": range.line, ":column": range.column, ":end_line": range.end_line,
                    ":end_column": range.end_column, ":symbol": symbol, ":roles": range.roles,
                })?;
            }
        }
        let mut add = connection.prepare_cached(ADD_RELATIONSHIP)?;
        for (symbol, related, kinds) in &rows.relationships {
            if let (Some(symbol), Some(related)) = (symbols.get(*symbol), symbols.get(*related)) {
                add.execute(named_params! { ":symbol": symbol, ":related": related, ":kinds": kinds })?;
            }
        }
        Ok(())
    }
}
