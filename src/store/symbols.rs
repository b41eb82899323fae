//! `symbol_rows`, `reference_rows`, `edges`: what a file defines, references and relates to.
//!
//! Ids of symbols and references encode their file: its id times [`IDS_PER_FILE`], plus an index in the file. So the
//! rows of a file are a range of ids, and need no index. Queries ask the view `symbols`; where they ask by file, they
//! do so by that range.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, ToSql, named_params, params};

use super::by_name::{ByName, is_in_chunk_found};
use super::fts_query::FtsQuery;
use super::statements::statements;
use super::{Batch, FileId, Snapshot};
use crate::error::Result;
use crate::model::{Chunk, Extracted, MAX_SYMBOLS, References};

/// The number of ids for one file's symbols, and for its references; further ones are left out.
pub(super) const IDS_PER_FILE: i64 = MAX_SYMBOLS as i64;
/// A file with more symbols for each line that is asked about is not read from its first symbol to its last.
const SYMBOLS_EACH: usize = 40;
/// A file with more symbols is not scanned from its end.
const FEW_SYMBOLS: usize = 200;

/// Rows for [`Definition::from_row`], with or without their signatures.
macro_rules! definitions {
    ($signature:literal, $($rest:expr),*) => {
        concat!(
            "SELECT f.path, f.language, s.name, s.kind, s.container, ",
            $signature,
            ", s.line, s.column, s.start_line, s.end_line FROM symbols s JOIN files f ON f.id = s.file_id WHERE ",
            $($rest),*
        )
    };
}
macro_rules! named {
    () => {
        "s.name = :name COLLATE NOCASE AND s.name = :name"
    };
}
macro_rules! named_in_any_case {
    () => {
        "s.name = :name COLLATE NOCASE"
    };
}
macro_rules! begins_so {
    () => {
        "s.name >= :from COLLATE NOCASE AND s.name < :to COLLATE NOCASE"
    };
}
macro_rules! in_order {
    () => {
        " ORDER BY f.path, s.line, s.column"
    };
}

statements! {
    INSERT_SYMBOL = "INSERT INTO symbol_rows
        (id, parent, name_id, kind_id, container, signature, signature_offset, signature_length, line, column, above, below)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    INSERT_REFERENCES = "INSERT INTO reference_rows (id, name_id, kind_id, positions) VALUES (?1, ?2, ?3, ?4)";
    INSERT_EDGE = "INSERT INTO edges (file_id, symbol_id, kind, target, name, alias, line)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    DELETE_EDGES = "DELETE FROM edges WHERE file_id = ?1";
    DELETE_REFERENCES = "DELETE FROM reference_rows WHERE id BETWEEN ?1 << 20 AND (?1 << 20) + 1048575";
    DELETE_SYMBOLS = "DELETE FROM symbol_rows WHERE id BETWEEN ?1 << 20 AND (?1 << 20) + 1048575";
    COUNT = "SELECT count(*) FROM symbol_rows";
    COUNT_REFERENCES = "SELECT coalesce(sum(length(positions) - length(replace(positions, ' ', '')) + 1), 0) FROM reference_rows";
    DEFINITIONS = definitions!("s.signature", named!(), in_order!());
    DEFINITIONS_BY_FTS = definitions!("s.signature", is_in_chunk_found!(), named!(), in_order!());
    DEFINITIONS_ANY_CASE = definitions!("s.signature", named_in_any_case!(), in_order!());
    DEFINITIONS_ANY_CASE_BY_FTS = definitions!("s.signature", is_in_chunk_found!(), named_in_any_case!(), in_order!());
    UNSIGNED_ANY_CASE = definitions!("NULL", named_in_any_case!(), " LIMIT :most");
    UNSIGNED_ANY_CASE_BY_FTS = definitions!("NULL", is_in_chunk_found!(), named_in_any_case!(), " LIMIT :most");
    DEFINITIONS_BY_PREFIX = definitions!("s.signature", begins_so!(), in_order!());
    DEFINITIONS_BY_PREFIX_BY_FTS = definitions!("s.signature", is_in_chunk_found!(), begins_so!(), in_order!());
    DEFINED_NAMES = "SELECT n.name FROM names n WHERE EXISTS (SELECT 1 FROM symbol_rows r WHERE r.name_id = n.id)";
    DEFINED_NAMES_BY_SCAN = "SELECT n.name FROM names n WHERE n.id IN (SELECT r.name_id FROM symbol_rows r)";
    NAMES = "SELECT id, name FROM names";
    IS_DEFINED = "SELECT 1 FROM symbol_rows WHERE name_id = :id LIMIT 1";
    USING_FILES = "SELECT f.path, k.name, r.positions
        FROM names n CROSS JOIN reference_rows r ON r.name_id = n.id JOIN kinds k ON k.id = r.kind_id
        JOIN files f ON f.id = r.id >> 20
        WHERE n.name = :name COLLATE NOCASE AND n.name = :name ORDER BY f.path";
    USING_FILES_BY_FTS = "SELECT f.path, k.name, r.positions
        FROM (SELECT DISTINCT c.file_id FROM chunks_fts m JOIN chunks c ON c.id = m.rowid WHERE m.chunks_fts MATCH :query) found
        CROSS JOIN reference_rows r ON r.id BETWEEN found.file_id << 20 AND (found.file_id << 20) + 1048575
        CROSS JOIN names n ON n.id = r.name_id CROSS JOIN kinds k ON k.id = r.kind_id CROSS JOIN files f ON f.id = found.file_id
        WHERE n.name = :name ORDER BY f.path";
    FILE = "SELECT id FROM files WHERE path = :path";
    LAST_OF_FILE = "SELECT max(id) FROM symbol_rows WHERE id BETWEEN :file << 20 AND (:file << 20) + 1048575";
    STARTS_AT = "SELECT line - above FROM symbol_rows WHERE id = :id";
    BETWEEN = definitions!("s.signature", "s.id >= :from AND s.id < :to ORDER BY s.line, s.column");
    UNSIGNED_BETWEEN = definitions!("NULL", "s.id >= :from AND s.id < :to ORDER BY s.line, s.column");
    HAS_KIND = "SELECT 1 FROM kinds k JOIN symbol_rows r ON r.kind_id = k.id WHERE k.name = :kind LIMIT 1";
    /// Name of the innermost definition around a line, for files with few definitions: reading each is as quick as a
    /// search.
    NAME_AROUND = "SELECT n.name, r.container FROM symbol_rows r JOIN names n ON n.id = r.name_id
        WHERE r.id >= :file << 20 AND r.id < :before AND r.line + r.below >= :line AND r.line - r.above <= :line
        ORDER BY r.id DESC LIMIT 1";
    LANGUAGE = "SELECT language FROM files WHERE id = ?1";
    EXTENTS = "SELECT id, line - above, line + below FROM symbol_rows
        WHERE id BETWEEN :file << 20 AND (:file << 20) + 1048575 ORDER BY id";
    NAME_OF = "SELECT n.name, r.container FROM symbol_rows r JOIN names n ON n.id = r.name_id WHERE r.id = ?1";
    /// The last to begin of the definitions before an id that reach a line: the innermost.
    AROUND = definitions!("NULL", "s.id >= :file << 20 AND s.id < :before AND s.end_line >= :line ORDER BY s.id DESC LIMIT 1");
}

pub(super) const REFERENCES: ByName = ByName { indexed: USING_FILES, by_fts: USING_FILES_BY_FTS };
pub(super) const NAMED: ByName = ByName { indexed: DEFINITIONS, by_fts: DEFINITIONS_BY_FTS };
pub(super) const NAMED_IN_ANY_CASE: ByName =
    ByName { indexed: DEFINITIONS_ANY_CASE, by_fts: DEFINITIONS_ANY_CASE_BY_FTS };
pub(super) const UNSIGNED: ByName = ByName { indexed: UNSIGNED_ANY_CASE, by_fts: UNSIGNED_ANY_CASE_BY_FTS };
pub(super) const NAMED_BY_PREFIX: ByName =
    ByName { indexed: DEFINITIONS_BY_PREFIX, by_fts: DEFINITIONS_BY_PREFIX_BY_FTS };

/// A definition with its position.
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

/// Name of a definition, with its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub container: Option<String>,
    pub language: Arc<str>,
}

/// An occurrence of a name other than its definition, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
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

impl Reference {
    /// The references in a row of path, kind and positions.
    pub(super) fn from_row<'r>(row: &'r Row, name: &'r str) -> rusqlite::Result<impl Iterator<Item = Self> + 'r> {
        let (path, kind) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        let index = |index: &str| {
            let (line, column) = index.split_once(':')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        };
        Ok(row.get_ref(2)?.as_str()?.split(' ').filter_map(index).map(move |(line, column)| Self {
            path: path.to_owned(),
            name: name.to_owned(),
            kind: kind.to_owned(),
            line,
            column,
        }))
    }
}

/// Sorts references of one file, read kind by kind or name by name, by their position.
pub(super) fn in_order(mut references: Vec<Reference>) -> Vec<Reference> {
    references.sort_unstable_by_key(|found| (found.line, found.column));
    references
}

impl Snapshot<'_> {
    pub(super) fn symbol_count(&self) -> Result<u64> {
        self.number(COUNT, [])
    }

    pub(super) fn reference_count(&self) -> Result<u64> {
        self.number(COUNT_REFERENCES, [])
    }

    /// Definitions of exactly that name, in path and line order.
    pub fn definitions(&self, name: &str) -> Result<Vec<Definition>> {
        self.rows_by_name(&NAMED, FtsQuery::names(name), named_params! { ":name": name }, Definition::from_row)
    }

    /// Definitions of that name in any (ASCII) case.
    pub fn definitions_any_case(&self, name: &str) -> Result<Vec<Definition>> {
        self.rows_by_name(
            &NAMED_IN_ANY_CASE,
            FtsQuery::names(name),
            named_params! { ":name": name },
            Definition::from_row,
        )
    }

    /// Definitions of that name in any (ASCII) case, at most `most`, in no order, without their signatures, which are
    /// read from the text.
    pub fn unsigned_any_case(&self, name: &str, most: usize) -> Result<Vec<Definition>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let params: &[(&str, &dyn ToSql)] = named_params! { ":name": name, ":most": most };
        self.rows_by_name(&UNSIGNED, FtsQuery::names(name), params, Definition::from_row)
    }

    /// Definitions whose name begins with `prefix`, in any (ASCII) case.
    pub fn definitions_by_prefix(&self, prefix: &str) -> Result<Vec<Definition>> {
        let to = format!("{prefix}\u{10ffff}");
        let found_by = FtsQuery::prefix(prefix).map(FtsQuery::in_names);
        let params: &[(&str, &dyn ToSql)] = named_params! { ":from": prefix, ":to": to };
        self.rows_by_name(&NAMED_BY_PREFIX, found_by, params, Definition::from_row)
    }

    /// Every name that something defines, once each, in no order.
    pub fn defined_names(&self) -> Result<Vec<String>> {
        let statement = if self.has_indexes_by_name()? { DEFINED_NAMES } else { DEFINED_NAMES_BY_SCAN };
        self.rows(statement, [], |row| row.get(0))
    }

    /// Names that something defines and for which `is_wanted` returns a value, with that value, in no order.
    pub fn defined_names_where<T>(&self, mut is_wanted: impl FnMut(&str) -> Option<T>) -> Result<Vec<(T, String)>> {
        let is_indexed = self.has_indexes_by_name()?;
        let mut names = self.connection.prepare_cached(NAMES)?;
        let mut is_defined = self.connection.prepare_cached(IS_DEFINED)?;
        let mut rows = names.query([])?;
        let mut wanted = Vec::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            // Few names are wanted, and whether one is defined costs a search of its own.
            let Some(said) = is_wanted(name) else { continue };
            let is_defined = if is_indexed {
                is_defined.exists(named_params! { ":id": row.get::<_, i64>(0)? })?
            } else {
                !self.definitions(name)?.is_empty()
            };
            if is_defined {
                wanted.push((said, name.to_owned()));
            }
        }
        Ok(wanted)
    }

    /// References to a name, in path and line order: those from `offset` on, at most `limit`, and how many there are in
    /// all.
    pub fn references(&self, name: &str, offset: usize, limit: usize) -> Result<(Vec<Reference>, usize)> {
        let found_by = self.unless_indexed(FtsQuery::phrase(name))?;
        let statement = if found_by.is_some() { REFERENCES.by_fts } else { REFERENCES.indexed };
        let mut statement = self.connection.prepare_cached(statement)?;
        let mut rows = match &found_by {
            Some(query) => statement.query(named_params! { ":name": name, ":query": query.as_str() })?,
            None => statement.query(named_params! { ":name": name })?,
        };
        let (mut page, mut before): (Vec<Reference>, usize) = (Vec::new(), 0);
        // Those of one file: a row for each kind.
        let mut of_file: Vec<Reference> = Vec::new();
        let end = offset.saturating_add(limit);
        let mut close = |of_file: &mut Vec<Reference>, before: &mut usize| {
            let count = of_file.len();
            let (from, to) = (offset.clamp(*before, *before + count), end.clamp(*before, *before + count));
            if from < to {
                let references = in_order(std::mem::take(of_file));
                page.extend(references.into_iter().skip(from - *before).take(to - from));
            }
            of_file.clear();
            *before += count;
        };
        while let Some(row) = rows.next()? {
            if of_file
                .last()
                .is_some_and(|last| row.get_ref(0).is_ok_and(|path| path.as_str() != Ok(last.path.as_str())))
            {
                close(&mut of_file, &mut before);
            }
            of_file.extend(Reference::from_row(row, name)?);
        }
        close(&mut of_file, &mut before);
        Ok((page, before))
    }

    /// Definitions that begin on lines `from..=to` of a file, in order.
    pub fn definitions_between(&self, path: &str, from: u32, to: u32) -> Result<Vec<Definition>> {
        self.between(BETWEEN, path, from, to)
    }

    /// Definitions that begin on lines `from..=to` of a file, in order, without their signatures, which are read from
    /// the text.
    pub fn unsigned_between(&self, path: &str, from: u32, to: u32) -> Result<Vec<Definition>> {
        self.between(UNSIGNED_BETWEEN, path, from, to)
    }

    fn between(&self, statement: &str, path: &str, from: u32, to: u32) -> Result<Vec<Definition>> {
        let Some(file) = self.file_id(path)? else { return Ok(Vec::new()) };
        let (first, last) = (self.first_symbol_from(file, from)?, self.first_symbol_from(file, to.saturating_add(1))?);
        self.rows(statement, named_params! { ":from": first, ":to": last }, Definition::from_row)
    }

    fn file_id(&self, path: &str) -> Result<Option<FileId>> {
        self.row(FILE, named_params! { ":path": path }, |row| row.get(0).map(FileId))
    }

    /// The id of a file's first definition that begins on `line` or after; the id after its last where there is none.
    /// Definitions of a file have ids without gaps, in the order in which they begin.
    fn first_symbol_from(&self, file: FileId, line: u32) -> Result<i64> {
        let (mut low, mut high) = (file.0 * IDS_PER_FILE, self.end_of_symbols(file)?);
        let mut starts_at = self.connection.prepare_cached(STARTS_AT)?;
        while low < high {
            let middle = low + (high - low) / 2;
            let starts: u32 = starts_at.query_row(named_params! { ":id": middle }, |row| row.get(0))?;
            if starts < line { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The id after a file's last definition.
    fn end_of_symbols(&self, file: FileId) -> Result<i64> {
        let last: Option<i64> = self.value(LAST_OF_FILE, named_params! { ":file": file.0 })?;
        Ok(last.map_or(file.0 * IDS_PER_FILE, |last| last + 1))
    }

    /// The name and container of the innermost definition that contains each of these lines; lines must ascend.
    pub fn names_around(&self, file: FileId, lines: &[u32]) -> Result<Vec<Option<Named>>> {
        let end = self.end_of_symbols(file)?;
        let count = usize::try_from(end - file.0 * IDS_PER_FILE).unwrap_or_default();
        if count == 0 {
            return Ok(vec![None; lines.len()]);
        }
        let language = self.value::<Arc<str>>(LANGUAGE, [file.0])?;
        let named =
            |row: &Row| Ok(Named { name: row.get(0)?, container: row.get(1)?, language: Arc::clone(&language) });
        if count > lines.len() * SYMBOLS_EACH {
            let mut statement = self.connection.prepare_cached(NAME_AROUND)?;
            let mut found = Vec::with_capacity(lines.len());
            for &line in lines {
                let before =
                    if count > FEW_SYMBOLS { self.first_symbol_from(file, line.saturating_add(1))? } else { end };
                let parameters = named_params! { ":file": file.0, ":before": before, ":line": line };
                found.push(statement.query_row(parameters, named).optional()?);
            }
            return Ok(found);
        }
        let mut statement = self.connection.prepare_cached(EXTENTS)?;
        let mut name_of = self.connection.prepare_cached(NAME_OF)?;
        let mut rows = statement.query(named_params! { ":file": file.0 })?;
        let extent = |row: &Row| Ok::<_, rusqlite::Error>((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get(2)?));
        let mut next: Option<(i64, u32, u32)> = rows.next()?.map(extent).transpose()?;
        // Those that have begun, the innermost last, and the one whose name was asked for last.
        let mut open: Vec<(i64, u32)> = Vec::new();
        let mut last: Option<(i64, Named)> = None;
        let mut found = Vec::with_capacity(lines.len());
        for &line in lines {
            while let Some((id, _, end)) = next.filter(|(_, start, _)| *start <= line) {
                open.push((id, end));
                next = rows.next()?.map(extent).transpose()?;
            }
            while open.last().is_some_and(|(_, end)| *end < line) {
                open.pop();
            }
            let Some(&(id, _)) = open.last() else {
                found.push(None);
                continue;
            };
            if last.as_ref().is_none_or(|(known, _)| *known != id) {
                last = Some((id, name_of.query_row([id], named)?));
            }
            found.push(last.as_ref().map(|(_, named)| named.clone()));
        }
        Ok(found)
    }

    /// Whether any definition is of that kind.
    pub fn has_kind(&self, kind: &str) -> Result<bool> {
        Ok(self.connection.prepare_cached(HAS_KIND)?.exists(named_params! { ":kind": kind })?)
    }

    /// The innermost definition that contains a line, without its signature.
    pub fn symbol_around(&self, path: &str, line: u32) -> Result<Option<Definition>> {
        let Some(file) = self.file_id(path)? else { return Ok(None) };
        let before = self.first_symbol_from(file, line.saturating_add(1))?;
        let mut statement = self.connection.prepare_cached(AROUND)?;
        let mut rows = statement.query(named_params! { ":file": file.0, ":before": before, ":line": line })?;
        Ok(rows.next()?.map(Definition::from_row).transpose()?)
    }
}

impl Batch<'_> {
    pub(super) fn insert_symbols(&mut self, file: FileId, extracted: &Extracted) -> Result<()> {
        let first = file.0 * IDS_PER_FILE;
        let connection = self.snapshot.connection;
        let mut insert = connection.prepare_cached(INSERT_SYMBOL)?;
        for (index, symbol) in (0..IDS_PER_FILE).zip(&extracted.symbols) {
            let (name, kind) = (self.name_id(&symbol.name)?, self.kind_id(symbol.kind)?);
            let written = symbol.written.as_ref().filter(|range| is_in_one_piece(range, &extracted.chunks));
            insert.execute(params![
                first + index,
                symbol.parent.and_then(|parent| i64::try_from(parent).ok()),
                name,
                kind,
                symbol.container,
                symbol.signature.as_ref().filter(|_| written.is_none()),
                written.map(|range| range.start),
                written.map(|range| range.end - range.start),
                symbol.line,
                symbol.column,
                i64::from(symbol.line) - i64::from(symbol.start_line),
                i64::from(symbol.end_line) - i64::from(symbol.line),
            ])?;
        }
        self.insert_references(first, &extracted.references)?;
        let mut insert = connection.prepare_cached(INSERT_EDGE)?;
        for edge in &extracted.edges {
            let symbol = edge.symbol.and_then(|index| i64::try_from(index).ok()).filter(|index| *index < IDS_PER_FILE);
            let symbol = symbol.map(|index| first + index);
            insert.execute(params![file.0, symbol, edge.kind, edge.target, edge.name, edge.alias, edge.line])?;
        }
        Ok(())
    }

    /// A row for each name and kind, with its positions.
    fn insert_references(&mut self, first: i64, references: &[References]) -> Result<()> {
        let mut insert = self.snapshot.connection.prepare_cached(INSERT_REFERENCES)?;
        for (index, references) in (0..IDS_PER_FILE).zip(references) {
            let (name, kind) = (self.name_id(&references.name)?, self.kind_id(references.kind)?);
            insert.execute(params![first + index, name, kind, references.written()])?;
        }
        Ok(())
    }

    pub(super) fn delete_symbols(&self, file: FileId) -> Result<()> {
        for statement in [DELETE_EDGES, DELETE_REFERENCES, DELETE_SYMBOLS] {
            self.connection.prepare_cached(statement)?.execute([file.0])?;
        }
        Ok(())
    }

    fn name_id(&mut self, name: &str) -> Result<i64> {
        self.interned.name_id(name, self.snapshot.connection)
    }

    fn kind_id(&mut self, kind: &'static str) -> Result<i64> {
        self.interned.kind_id(kind, self.snapshot.connection)
    }
}

/// Whether a range of the text is in the last chunk that begins before it, from which the view reads it.
fn is_in_one_piece(range: &Range<u32>, chunks: &[Chunk]) -> bool {
    let next = chunks.partition_point(|chunk| chunk.start_offset <= range.start);
    let Some(chunk) = next.checked_sub(1).map(|at| &chunks[at]) else { return false };
    // To SQLite a text ends at NUL.
    chunks.get(next).is_none_or(|next| range.end <= next.start_offset) && !chunk.text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::model::{ContentHash, RepoPath, Stat, Symbol};
    use crate::store::{FileRow, Mode, Store};

    fn symbol(name: String, lines: Range<u32>) -> Symbol {
        Symbol {
            name,
            kind: "function",
            parent: None,
            container: lines.start.is_multiple_of(3).then(|| "Outer".to_owned()),
            signature: None,
            written: None,
            line: lines.start + 1,
            column: 5,
            start_line: lines.start,
            end_line: lines.end,
        }
    }

    /// Blocks of ten lines in blocks of a hundred, with lines between them that are in neither.
    #[test]
    fn names_around_lines_are_the_same_however_they_are_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let mut symbols = Vec::new();
        for outer in 0..30 {
            let first = outer * 110 + 3;
            symbols.push(symbol(format!("outer_{outer}"), first..first + 100));
            symbols.extend((0..8).map(|inner| {
                let first = first + 2 + inner * 12;
                symbol(format!("inner_{outer}_{inner}"), first..first + 10)
            }));
        }
        assert!(symbols.len() > FEW_SYMBOLS);
        let path = RepoPath::new("a.py").unwrap();
        for count in [0, 1, FEW_SYMBOLS / 2, symbols.len()] {
            let extracted =
                Extracted { language: "python", symbols: symbols[..count].to_vec(), ..Extracted::default() };
            let hash = ContentHash::compute(&count.to_le_bytes());
            let row =
                FileRow { path: &path, hash, stat: Stat::default(), seen_ns: 0, extracted: &extracted, force: false };
            store.write(|batch| batch.replace_file(&row)).unwrap();
            let ask = |snapshot: &Snapshot| {
                let file = snapshot.file_id("a.py")?.unwrap();
                let lines: Vec<u32> = (1..3_400).collect();
                let together = snapshot.names_around(file, &lines)?;
                for (line, found) in lines.into_iter().zip(together) {
                    assert_eq!(
                        snapshot.names_around(file, &[line])?,
                        std::slice::from_ref(&found),
                        "{line} of {count}"
                    );
                    let known = snapshot.symbol_around("a.py", line)?;
                    let known = known.map(|known| (known.name, known.container));
                    assert_eq!(found.map(|found| (found.name, found.container)), known, "{line} of {count}");
                }
                Ok(())
            };
            store.read(&Budget::unlimited(), ask).unwrap();
        }
    }

    #[test]
    fn a_first_build_ends_with_the_indexes_of_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("index.db"), Mode::Write).unwrap();
        let indexes = || -> Vec<(String, String)> {
            let query = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
            store
                .write(|batch| {
                    let mut statement = batch.connection.prepare(query)?;
                    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    Ok(rows.collect::<rusqlite::Result<_>>()?)
                })
                .unwrap()
        };
        let migrated = indexes();
        store.begin_first_build().unwrap();
        assert_eq!(indexes().len(), migrated.len() - 5);
        store.end_first_build().unwrap();
        assert_eq!(indexes(), migrated);
    }
}
