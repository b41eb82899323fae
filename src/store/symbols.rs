//! `symbols`, `names`, `refs`, `edges`: what a file defines, uses and relates to.

use std::collections::BTreeMap;

use rusqlite::{Row, named_params, params};

use super::statements::statements;
use super::{Batch, FileId, Snapshot};
use crate::error::Result;
use crate::model::Extracted;

statements! {
    INSERT_SYMBOL = "INSERT INTO symbols
        (file_id, parent_id, name, kind, container, signature, line, column, start_line, end_line)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    INTERN = "INSERT INTO names (name) VALUES (?1) ON CONFLICT DO NOTHING";
    NAME_ID = "SELECT id FROM names WHERE name = ?1";
    INSERT_REF = "INSERT OR IGNORE INTO refs (file_id, line, column, name_id, kind) VALUES (?1, ?2, ?3, ?4, ?5)";
    /// Row by row: see `chunks`.
    INSERT_COUNT = "INSERT INTO used_in (name_id, file_id, uses) VALUES (?1, ?2, ?3)";
    DELETE_COUNTS = "DELETE FROM used_in
        WHERE file_id = ?1 AND name_id IN (SELECT DISTINCT name_id FROM refs WHERE file_id = ?1)";
    INSERT_EDGE = "INSERT INTO edges (file_id, symbol_id, kind, target, name, alias, line)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    DELETE_EDGES = "DELETE FROM edges WHERE file_id = ?1";
    DELETE_REFS = "DELETE FROM refs WHERE file_id = ?1";
    DELETE_SYMBOLS = "DELETE FROM symbols WHERE file_id = ?1";
    COUNT = "SELECT count(*) FROM symbols";
    COUNT_REFERENCES = "SELECT count(*) FROM refs";
    DEFINITIONS = "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line, s.end_line
        FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.name = :name COLLATE NOCASE AND s.name = :name ORDER BY f.path, s.line, s.column";
    DEFINITIONS_ANY_CASE = "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line,
        s.end_line FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.name = :name COLLATE NOCASE ORDER BY f.path, s.line, s.column";
    DEFINITIONS_BY_PREFIX = "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line,
        s.end_line FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.name >= :from COLLATE NOCASE AND s.name < :to COLLATE NOCASE ORDER BY f.path, s.line, s.column";
    DEFINED_NAMES = "SELECT DISTINCT name FROM symbols";
    USING_FILES = "SELECT u.file_id, u.uses FROM names n JOIN used_in u ON u.name_id = n.id
        JOIN files f ON f.id = u.file_id WHERE n.name = :name ORDER BY f.path";
    BETWEEN = "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line,
        s.end_line FROM files f JOIN symbols s ON s.file_id = f.id
        WHERE f.path = :path AND s.start_line BETWEEN :from AND :to ORDER BY s.line, s.column";
    HAS_KIND = "SELECT 1 FROM symbols WHERE kind = :kind LIMIT 1";
    /// The smallest definition around a line.
    AROUND = "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line, s.end_line
        FROM files f JOIN symbols s ON s.file_id = f.id
        WHERE f.path = :path AND s.start_line <= :line AND s.end_line >= :line
        ORDER BY s.start_line DESC, s.end_line, s.column DESC LIMIT 1";
}

/// A definition with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub path: String,
    pub language: String,
    pub name: String,
    pub kind: String,
    pub container: Option<String>,
    pub signature: Option<String>,
    pub line: u32,
    pub column: u32,
    pub start_line: u32,
    pub end_line: u32,
}

/// A use of a name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub path: String,
    pub name: String,
    pub kind: String,
    pub line: u32,
    pub column: u32,
}

impl Definition {
    pub(super) fn from_row(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self {
            path: row.get(0)?,
            language: row.get(1)?,
            name: row.get(2)?,
            kind: row.get(3)?,
            container: row.get(4)?,
            signature: row.get(5)?,
            line: row.get(6)?,
            column: row.get(7)?,
            start_line: row.get(8)?,
            end_line: row.get(9)?,
        })
    }
}

impl Use {
    pub(super) fn from_row(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self { path: row.get(0)?, name: row.get(1)?, kind: row.get(2)?, line: row.get(3)?, column: row.get(4)? })
    }
}

impl Snapshot<'_> {
    pub fn symbol_count(&self) -> Result<u64> {
        Ok(self.connection.prepare_cached(COUNT)?.query_row([], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    pub fn reference_count(&self) -> Result<u64> {
        let count: i64 = self.connection.prepare_cached(COUNT_REFERENCES)?.query_row([], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// Definitions of exactly that name, in path and line order.
    pub fn definitions(&self, name: &str) -> Result<Vec<Definition>> {
        let mut statement = self.connection.prepare_cached(DEFINITIONS)?;
        let rows = statement.query_map(named_params! { ":name": name }, Definition::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Definitions of that name in any (ASCII) case.
    pub fn definitions_any_case(&self, name: &str) -> Result<Vec<Definition>> {
        let mut statement = self.connection.prepare_cached(DEFINITIONS_ANY_CASE)?;
        let rows = statement.query_map(named_params! { ":name": name }, Definition::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Definitions whose name begins with `prefix`, in any (ASCII) case.
    pub fn definitions_by_prefix(&self, prefix: &str) -> Result<Vec<Definition>> {
        let mut statement = self.connection.prepare_cached(DEFINITIONS_BY_PREFIX)?;
        let to = format!("{prefix}\u{10ffff}");
        let rows = statement.query_map(named_params! { ":from": prefix, ":to": to }, Definition::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Every name that something defines, once each, in no order.
    pub fn defined_names(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(DEFINED_NAMES)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Uses of a name, in path and line order: those from `offset` on, at most `limit`, and how many there are in all.
    /// Of the files before and after the page only the count is read.
    pub fn uses(&self, name: &str, offset: usize, limit: usize) -> Result<(Vec<Use>, usize)> {
        let mut statement = self.connection.prepare_cached(USING_FILES)?;
        let mut rows = statement.query(named_params! { ":name": name })?;
        let (mut page, mut before) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let count = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
            if before + count > offset && page.len() < limit {
                let uses = self.uses_in_file(FileId(row.get(0)?), name)?;
                page.extend(uses.into_iter().skip(offset.saturating_sub(before)).take(limit - page.len()));
            }
            before += count;
        }
        Ok((page, before))
    }

    /// Definitions that begin on lines `from..=to` of a file, in order.
    pub fn definitions_between(&self, path: &str, from: u32, to: u32) -> Result<Vec<Definition>> {
        let mut statement = self.connection.prepare_cached(BETWEEN)?;
        let rows =
            statement.query_map(named_params! { ":path": path, ":from": from, ":to": to }, Definition::from_row)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether any definition is of that kind.
    pub fn has_kind(&self, kind: &str) -> Result<bool> {
        Ok(self.connection.prepare_cached(HAS_KIND)?.exists(named_params! { ":kind": kind })?)
    }

    /// The innermost definition that a line stands in.
    pub fn symbol_around(&self, path: &str, line: u32) -> Result<Option<Definition>> {
        let mut statement = self.connection.prepare_cached(AROUND)?;
        let mut rows = statement.query(named_params! { ":path": path, ":line": line })?;
        Ok(rows.next()?.map(Definition::from_row).transpose()?)
    }
}

impl Batch<'_> {
    pub(super) fn insert_symbols(&mut self, file: FileId, extracted: &Extracted) -> Result<()> {
        let mut ids: Vec<i64> = Vec::with_capacity(extracted.symbols.len());
        let mut insert = self.connection.prepare_cached(INSERT_SYMBOL)?;
        for symbol in &extracted.symbols {
            insert.execute(params![
                file.0,
                symbol.parent.map(|parent| ids[parent]),
                symbol.name,
                symbol.kind,
                symbol.container,
                symbol.signature,
                symbol.line,
                symbol.column,
                symbol.start_line,
                symbol.end_line,
            ])?;
            ids.push(self.connection.last_insert_rowid());
        }
        let mut uses: BTreeMap<i64, i64> = BTreeMap::new();
        let mut insert = self.snapshot.connection.prepare_cached(INSERT_REF)?;
        for reference in &extracted.references {
            let name = self.name_id(&reference.name)?;
            let inserted = insert.execute(params![file.0, reference.line, reference.column, name, reference.kind])?;
            *uses.entry(name).or_insert(0_i64) += i64::from(inserted > 0);
        }
        let mut insert = self.connection.prepare_cached(INSERT_COUNT)?;
        for (name, count) in uses {
            insert.execute(params![name, file.0, count])?;
        }
        let mut insert = self.connection.prepare_cached(INSERT_EDGE)?;
        for edge in &extracted.edges {
            let symbol = edge.symbol.map(|symbol| ids[symbol]);
            insert.execute(params![file.0, symbol, edge.kind, edge.target, edge.name, edge.alias, edge.line])?;
        }
        Ok(())
    }

    pub(super) fn delete_symbols(&self, file: FileId) -> Result<()> {
        for statement in [DELETE_EDGES, DELETE_COUNTS, DELETE_REFS, DELETE_SYMBOLS] {
            self.connection.prepare_cached(statement)?.execute([file.0])?;
        }
        Ok(())
    }

    fn name_id(&mut self, name: &str) -> Result<i64> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        let connection = self.snapshot.connection;
        let inserted = connection.prepare_cached(INTERN)?.execute([name])?;
        let id = match inserted {
            0 => connection.prepare_cached(NAME_ID)?.query_row([name], |row| row.get(0))?,
            _ => connection.last_insert_rowid(),
        };
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }
}
