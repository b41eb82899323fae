//! Rows of `symbols`, `reference_rows` and `edges` as the resolver asks for them: by name, by file, by lines around
//! them.
//!
//! Owns statements and row mapping. `query::relations` decides what a name refers to.

use rusqlite::{Row, ToSql, named_params};

use super::by_name::{ByName, is_in_chunk_found};
use super::fts_query::FtsQuery;
use super::statements::statements;
use super::symbols::{Definition, Reference, in_order};
use super::{FileId, Snapshot};
use crate::error::Result;

/// Key of a row in `symbols`. Valid inside one snapshot; never part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(i64);

/// A definition with its position in the tree of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionNode {
    pub id: SymbolId,
    pub file: FileId,
    pub parent: Option<SymbolId>,
    pub definition: Definition,
}

/// An import that a file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module, as written.
    pub target: String,
    /// The name taken from it; `*` for all of them.
    pub name: Option<String>,
    /// The name under which the file knows it.
    pub alias: Option<String>,
    pub line: u32,
}

/// A type that a definition says it inherits from or implements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heritage {
    pub kind: String,
    pub target: String,
    pub line: u32,
}

/// A definition that states that it inherits from or implements a type of some name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtype {
    pub path: String,
    pub kind: String,
    pub line: u32,
    /// The subtype's own name, if its definition is elsewhere.
    pub name: Option<String>,
    pub symbol: Option<SymbolId>,
}

macro_rules! declared {
    ($($rest:expr),*) => {
        concat!(
            "SELECT f.path, f.language, s.name, s.kind, s.container, s.signature, s.line, s.column, s.start_line, s.end_line,
            s.id, s.file_id, s.parent_id ",
            $($rest),*
        )
    };
}

statements! {
    FILE = "SELECT id, language FROM files WHERE path = :path";
    STARTS = "SELECT 1 FROM files WHERE path >= :from AND path < :to LIMIT 1";
    NAMED = declared!("FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.name = :name COLLATE NOCASE AND s.name = :name ORDER BY f.path, s.line, s.column LIMIT :limit");
    NAMED_BY_FTS = declared!("FROM symbols s JOIN files f ON f.id = s.file_id WHERE ", is_in_chunk_found!(),
        "s.name = :name ORDER BY f.path, s.line, s.column LIMIT :limit");
    IN_FILE = declared!("FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.id BETWEEN :file << 20 AND (:file << 20) + 1048575 ORDER BY s.start_line, s.line, s.column");
    BY_ID = declared!("FROM symbols s JOIN files f ON f.id = s.file_id WHERE s.id = :symbol");
    /// Members of a symbol: they come after it in its file.
    CHILDREN = declared!("FROM symbols s JOIN files f ON f.id = s.file_id
        WHERE s.id BETWEEN :symbol AND (:symbol >> 20 << 20) + 1048575 AND s.parent_id = :symbol ORDER BY s.line, s.column");
    /// Members that are next to their type: in the files of one folder.
    MEMBERS_IN_FOLDER = declared!("FROM files f CROSS JOIN symbols s ON s.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575
        WHERE f.path > :from AND f.path < :to AND f.language = :language
        AND instr(substr(f.path, length(:from) + 1), '/') = 0 AND s.container = :container
        ORDER BY f.path, s.line, s.column LIMIT :limit");
    IMPORTS = "SELECT target, name, alias, line FROM edges WHERE file_id = :file AND kind = 'imports'
        ORDER BY line, target, name";
    HERITAGE = "SELECT kind, target, line FROM edges
        WHERE symbol_id = :symbol AND kind IN ('inherits', 'implements') ORDER BY line, target";
    HEIRS = "SELECT f.path, e.kind, e.line, e.name, e.symbol_id FROM edges e JOIN files f ON f.id = e.file_id
        WHERE e.target = :target AND e.kind IN ('inherits', 'implements') ORDER BY f.path, e.line LIMIT :limit";
    IMPORTERS = "SELECT f.path, e.target, e.name, e.alias, e.line FROM edges e JOIN files f ON f.id = e.file_id
        WHERE e.target = :target AND e.kind = 'imports' ORDER BY f.path, e.line LIMIT :limit";
    REFERENCES_IN_FILE = "SELECT f.path, k.name, r.positions, n.name
        FROM reference_rows r JOIN kinds k ON k.id = r.kind_id JOIN names n ON n.id = r.name_id
        JOIN files f ON f.id = r.id >> 20
        WHERE r.id BETWEEN :file << 20 AND (:file << 20) + 1048575";
    /// Without the index by name, a look at each row of the file.
    REFERENCES_OF_NAME_BY_SCAN = "SELECT f.path, k.name, r.positions
        FROM reference_rows r CROSS JOIN names n ON n.id = r.name_id CROSS JOIN kinds k ON k.id = r.kind_id
        CROSS JOIN files f ON f.id = r.id >> 20
        WHERE r.id BETWEEN :file << 20 AND (:file << 20) + 1048575 AND n.name = :name";
    REFERENCES_OF_NAME = "SELECT f.path, k.name, r.positions
        FROM names n CROSS JOIN reference_rows r ON r.name_id = n.id JOIN kinds k ON k.id = r.kind_id
        JOIN files f ON f.id = r.id >> 20
        WHERE n.name = :name COLLATE NOCASE AND n.name = :name
        AND r.id BETWEEN :file << 20 AND (:file << 20) + 1048575";
}

pub(super) const DECLARED_AS: ByName = ByName { indexed: NAMED, by_fts: NAMED_BY_FTS };

fn declared(row: &Row) -> rusqlite::Result<DefinitionNode> {
    Ok(DefinitionNode {
        definition: Definition::from_row(row)?,
        id: SymbolId(row.get(10)?),
        file: FileId(row.get(11)?),
        parent: row.get::<_, Option<i64>>(12)?.map(SymbolId),
    })
}

impl Snapshot<'_> {
    /// Key and language of an indexed file.
    pub fn file(&self, path: &str) -> Result<Option<(FileId, String)>> {
        self.row(FILE, named_params! { ":path": path }, |row| Ok((FileId(row.get(0)?), row.get(1)?)))
    }

    /// Whether any indexed path begins with `start`.
    pub fn any_path_from(&self, start: &str) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(STARTS)?;
        Ok(statement.exists(named_params! { ":from": start, ":to": format!("{start}\u{10ffff}") })?)
    }

    /// Definitions of exactly that name, in path and line order, at most `limit`.
    pub fn declared_as(&self, name: &str, limit: usize) -> Result<Vec<DefinitionNode>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params: &[(&str, &dyn ToSql)] = named_params! { ":name": name, ":limit": limit };
        self.rows_by_name(&DECLARED_AS, FtsQuery::names(name), params, declared)
    }

    /// All definitions of a file, outer before inner.
    pub fn declared_in(&self, file: FileId) -> Result<Vec<DefinitionNode>> {
        self.rows(IN_FILE, named_params! { ":file": file.0 }, declared)
    }

    pub fn declared(&self, symbol: SymbolId) -> Result<Option<DefinitionNode>> {
        self.row(BY_ID, named_params! { ":symbol": symbol.0 }, declared)
    }

    /// Definitions directly inside another.
    pub fn children(&self, symbol: SymbolId) -> Result<Vec<DefinitionNode>> {
        self.rows(CHILDREN, named_params! { ":symbol": symbol.0 }, declared)
    }

    /// Definitions of that container in the files directly in `folder`, which is empty or ends with `/`.
    pub fn members_in_folder(
        &self,
        folder: &str,
        language: &str,
        container: &str,
        limit: usize,
    ) -> Result<Vec<DefinitionNode>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let to = format!("{folder}\u{10ffff}");
        self.rows(
            MEMBERS_IN_FOLDER,
            named_params! { ":from": folder, ":to": to, ":language": language, ":container": container, ":limit": limit },
            declared,
        )
    }

    /// Imports of a file, in order of lines.
    pub fn imports_of(&self, file: FileId) -> Result<Vec<Import>> {
        self.rows(IMPORTS, named_params! { ":file": file.0 }, |row| {
            Ok(Import { target: row.get(0)?, name: row.get(1)?, alias: row.get(2)?, line: row.get(3)? })
        })
    }

    /// The types that a definition says it inherits from or implements.
    pub fn heritage_of(&self, symbol: SymbolId) -> Result<Vec<Heritage>> {
        self.rows(HERITAGE, named_params! { ":symbol": symbol.0 }, |row| {
            Ok(Heritage { kind: row.get(0)?, target: row.get(1)?, line: row.get(2)? })
        })
    }

    /// Definitions that state that they inherit from or implement `target`, as written.
    pub fn subtypes_of(&self, target: &str, limit: usize) -> Result<Vec<Subtype>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.rows(HEIRS, named_params! { ":target": target, ":limit": limit }, |row| {
            Ok(Subtype {
                path: row.get(0)?,
                kind: row.get(1)?,
                line: row.get(2)?,
                name: row.get(3)?,
                symbol: row.get::<_, Option<i64>>(4)?.map(SymbolId),
            })
        })
    }

    /// Files that import `target`, as written, with what they say.
    pub fn importers_of(&self, target: &str, limit: usize) -> Result<Vec<(String, Import)>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.rows(IMPORTERS, named_params! { ":target": target, ":limit": limit }, |row| {
            let import = Import { target: row.get(1)?, name: row.get(2)?, alias: row.get(3)?, line: row.get(4)? };
            Ok((row.get(0)?, import))
        })
    }

    /// All references to names on lines `from..=to` of a file.
    pub fn references_within(&self, file: FileId, from: u32, to: u32) -> Result<Vec<Reference>> {
        let mut statement = self.connection.prepare_cached(REFERENCES_IN_FILE)?;
        let mut rows = statement.query(named_params! { ":file": file.0 })?;
        let mut references = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(3)?;
            references.extend(Reference::from_row(row, &name)?.filter(|found| (from..=to).contains(&found.line)));
        }
        Ok(in_order(references))
    }

    /// References to one name in one file.
    pub fn references_in_file(&self, file: FileId, name: &str) -> Result<Vec<Reference>> {
        let is_indexed = self.has_indexes_by_name()?;
        let statement = if is_indexed { REFERENCES_OF_NAME } else { REFERENCES_OF_NAME_BY_SCAN };
        let mut statement = self.connection.prepare_cached(statement)?;
        let mut rows = statement.query(named_params! { ":file": file.0, ":name": name })?;
        let mut references = Vec::new();
        while let Some(row) = rows.next()? {
            references.extend(Reference::from_row(row, name)?);
        }
        Ok(in_order(references))
    }
}
