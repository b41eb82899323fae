//! `entities`, `entity_names`, `tags`, `tagged`, and those `edges` that lead from entities.
//!
//! Owns the rows that a Markdown file gives and the queries for single entities. `graph` follows
//! several edges.

use rusqlite::{Row, named_params, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::statements::statements;
use super::{Batch, FileId, Snapshot};
use crate::error::Result;
use crate::model::{Entity, Extracted, RepoPath};

macro_rules! stored {
    ($rest:literal) => {
        concat!(
            "SELECT e.id, e.key, e.kind, e.title, f.path, e.status, e.date, e.created_at, e.updated_at, e.created_by,
            e.priority ",
            $rest
        )
    };
}

statements! {
    INSERT = "INSERT INTO entities
        (file_id, key, kind, title, status, date, created_at, updated_at, created_by, priority)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    INSERT_NAME = "INSERT OR IGNORE INTO entity_names (name, rank, path, entity_id) VALUES (?1, ?2, ?3, ?4)";
    INSERT_LINK = "INSERT INTO edges (file_id, entity_id, kind, target, name, certain, line)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    INTERN_TAG = "INSERT INTO tags (name) VALUES (?1) ON CONFLICT DO NOTHING";
    INSERT_TAGGED = "INSERT OR IGNORE INTO tagged (tag_id, file_id, entity_id, line, source)
        VALUES ((SELECT id FROM tags WHERE name = ?1), ?2, ?3, ?4, ?5)";
    /// Makes the first path count where several entities have one key.
    ELECT = "UPDATE entities SET live = (id = (
            SELECT entity_id FROM entity_names WHERE name = :key AND rank = 0 ORDER BY path LIMIT 1))
        WHERE key = :key";
    KEYS_OF_FILE = "SELECT id, key FROM entities WHERE file_id = :file";
    DELETE_TAGGED = "DELETE FROM tagged WHERE file_id = ?1";
    DELETE_NAMES = "DELETE FROM entity_names WHERE entity_id = ?1";
    DELETE = "DELETE FROM entities WHERE id = ?1";

    BY_NAME = stored!("FROM entity_names n JOIN entities e ON e.id = n.entity_id JOIN files f ON f.id = e.file_id
        WHERE n.name = :name AND e.live = 1 ORDER BY n.rank, n.path LIMIT 1");
    BY_PATH = stored!("FROM files f JOIN entities e ON e.file_id = f.id WHERE f.path = :path AND e.live = 1");
    ALL = stored!("FROM entities e JOIN files f ON f.id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind) ORDER BY e.key");
    PATHS = "SELECT f.path FROM entities e JOIN files f ON f.id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)";
    HAS_KIND = "SELECT 1 FROM entities WHERE kind = :kind AND live = 1 LIMIT 1";
    DOCUMENT_PATHS = "SELECT f.path FROM files f WHERE f.language = :language
        AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.file_id = f.id)";
    HEADING = "SELECT s.name FROM files f JOIN symbols s ON s.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575
        WHERE f.path = :path AND s.kind = 'heading' ORDER BY s.line LIMIT 1";
    TAGS_OF = "SELECT DISTINCT t.name FROM tagged g JOIN tags t ON t.id = g.tag_id JOIN files f ON f.id = g.file_id
        WHERE f.path = :path ORDER BY t.name";
    TAG_COUNTS = "SELECT t.name, g.count FROM (
            SELECT tag_id, count(DISTINCT file_id) AS count FROM tagged
            WHERE entity_id IS NOT NULL AND entity_id NOT IN (SELECT id FROM entities WHERE live = 0)
            GROUP BY tag_id) g
        CROSS JOIN tags t ON t.id = g.tag_id ORDER BY t.name";
    TAG_COUNTS_OF_KIND = "SELECT t.name, g.count FROM (
            SELECT tag_id, count(DISTINCT file_id) AS count FROM tagged
            WHERE entity_id IN (SELECT id FROM entities WHERE kind = :kind AND live = 1)
            GROUP BY tag_id) g
        CROSS JOIN tags t ON t.id = g.tag_id ORDER BY t.name";
    TAG_COUNTS_OF_DOCUMENTS = "SELECT t.name, g.count FROM (
            SELECT tag_id, count(DISTINCT file_id) AS count FROM tagged WHERE entity_id IS NULL
            GROUP BY tag_id) g
        CROSS JOIN tags t ON t.id = g.tag_id ORDER BY t.name";
    UNTAGGED = stored!("FROM entities e JOIN files f ON f.id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)
        AND NOT EXISTS (SELECT 1 FROM tagged g WHERE g.file_id = e.file_id) ORDER BY e.key");
    UNTAGGED_DOCUMENTS = "SELECT f.path, (
            SELECT s.name FROM symbols s WHERE s.id BETWEEN f.id << 20 AND (f.id << 20) + 1048575 AND s.kind = 'heading'
            ORDER BY s.line LIMIT 1)
        FROM files f WHERE f.language = :language
        AND NOT EXISTS (SELECT 1 FROM tagged g WHERE g.file_id = f.id)
        AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.file_id = f.id) ORDER BY f.path";
    PATHS_TAGGED = "SELECT DISTINCT f.path FROM tags t JOIN tagged g ON g.tag_id = t.id JOIN files f ON f.id = g.file_id
        WHERE t.name = :tag ORDER BY f.path";
    PATHS_BELOW = "SELECT path FROM files WHERE path > :from AND path < :to ORDER BY path";
    /// Problems are few, so the query scans them instead of the files.
    PROBLEMS_BELOW = "SELECT f.path, p.line, p.reason FROM problems p CROSS JOIN files f ON f.id = p.file_id
        WHERE f.path > :from AND f.path < :to ORDER BY f.path, p.line, p.reason";
    /// Each entity that does not count, with the one that does.
    DOUBLED = "SELECT f.path, e.key, w.path FROM entities e JOIN files f ON f.id = e.file_id
        JOIN entities o ON o.key = e.key AND o.live = 1 JOIN files w ON w.id = o.file_id
        WHERE e.live = 0 ORDER BY f.path";
    /// Links of entities that count and that lead nowhere, where they must lead somewhere. Each target is looked up
    /// once: most have several links.
    DANGLING = "SELECT f.path, e.line, e.kind, e.target
        FROM (SELECT DISTINCT target FROM edges INDEXED BY edges_certain WHERE certain = 1) d
        CROSS JOIN edges e INDEXED BY edges_certain ON e.target = d.target AND e.certain = 1
        CROSS JOIN files f ON f.id = e.file_id
        WHERE NOT EXISTS (SELECT 1 FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1
            WHERE n.name = d.target)
        AND NOT EXISTS (SELECT 1 FROM entity_names n JOIN entities o ON o.id = n.entity_id AND o.live = 1
            WHERE n.name = e.name AND (n.rank < 4 OR length(e.name) > length(e.target)))
        AND f.path > :from AND f.path < :to ORDER BY f.path, e.line, e.id";
    TEXT = "SELECT c.text FROM files f JOIN chunks c ON c.file_id = f.id WHERE f.path = :path ORDER BY c.start_offset";
}

/// Key of a row in `entities`. Valid inside one snapshot; never part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub(super) i64);

/// An entity with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntity {
    pub id: EntityId,
    pub key: String,
    pub kind: String,
    pub title: String,
    pub path: String,
    pub status: Option<String>,
    pub date: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub created_by: Option<String>,
    pub priority: Option<String>,
}

/// Something about a file that people should know.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
pub struct FileProblem {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub reason: String,
}

impl FileProblem {
    pub(super) fn from_row(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self { path: row.get(0)?, line: row.get(1)?, reason: row.get(2)? })
    }
}

/// A link whose target does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DanglingLink {
    pub path: String,
    pub line: u32,
    pub rel: String,
    pub target: String,
}

/// Which tags are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaggedKind<'k> {
    Entities,
    OfKind(&'k str),
    Documents,
}

pub(super) fn entity(row: &Row) -> rusqlite::Result<StoredEntity> {
    Ok(StoredEntity {
        id: EntityId(row.get(0)?),
        key: row.get(1)?,
        kind: row.get(2)?,
        title: row.get(3)?,
        path: row.get(4)?,
        status: row.get(5)?,
        date: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        created_by: row.get(9)?,
        priority: row.get(10)?,
    })
}

/// Sorts after every path below a folder.
fn end_of(folder: &str) -> String {
    format!("{folder}\u{10ffff}")
}

impl Snapshot<'_> {
    /// The entity that a link with that name refers to.
    pub fn entity_named(&self, name: &str) -> Result<Option<StoredEntity>> {
        self.row(BY_NAME, named_params! { ":name": name }, entity)
    }

    pub fn entity_at(&self, path: &str) -> Result<Option<StoredEntity>> {
        self.row(BY_PATH, named_params! { ":path": path }, entity)
    }

    /// All entities that count, or those of one kind, by key.
    pub fn entities(&self, kind: Option<&str>) -> Result<Vec<StoredEntity>> {
        self.rows(ALL, named_params! { ":kind": kind }, entity)
    }

    /// Files of entities that count, in no order.
    pub fn entity_paths(&self, kind: Option<&str>) -> Result<Vec<String>> {
        self.rows(PATHS, named_params! { ":kind": kind }, |row| row.get(0))
    }

    pub fn has_entity_of(&self, kind: &str) -> Result<bool> {
        Ok(self.connection.prepare_cached(HAS_KIND)?.exists(named_params! { ":kind": kind })?)
    }

    /// Files of `language` that are no entities, in no order.
    pub fn document_paths(&self, language: &str) -> Result<Vec<String>> {
        self.rows(DOCUMENT_PATHS, named_params! { ":language": language }, |row| row.get(0))
    }

    /// The first heading of a document.
    pub fn heading_of(&self, path: &str) -> Result<Option<String>> {
        self.row(HEADING, named_params! { ":path": path }, |row| row.get(0))
    }

    /// Entities that count and carry no tag, by key.
    pub fn untagged_entities(&self, kind: Option<&str>) -> Result<Vec<StoredEntity>> {
        self.rows(UNTAGGED, named_params! { ":kind": kind }, entity)
    }

    /// (path, first heading) of files of `language` that are no entities and carry no tag.
    pub fn untagged_documents(&self, language: &str) -> Result<Vec<(String, Option<String>)>> {
        self.rows(UNTAGGED_DOCUMENTS, named_params! { ":language": language }, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// (tag, how many carry it), in byte order.
    pub fn tag_counts(&self, of: TaggedKind) -> Result<Vec<(String, u64)>> {
        let pair = |row: &Row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        match of {
            TaggedKind::Entities => self.rows(TAG_COUNTS, [], pair),
            TaggedKind::Documents => self.rows(TAG_COUNTS_OF_DOCUMENTS, [], pair),
            TaggedKind::OfKind(kind) => self.rows(TAG_COUNTS_OF_KIND, named_params! { ":kind": kind }, pair),
        }
    }

    /// The tags of a file, in byte order.
    pub fn tags_of(&self, path: &str) -> Result<Vec<String>> {
        self.rows(TAGS_OF, named_params! { ":path": path }, |row| row.get(0))
    }

    /// The files that carry a tag, entities and documents alike.
    pub fn paths_tagged(&self, tag: &str) -> Result<Vec<String>> {
        self.rows(PATHS_TAGGED, named_params! { ":tag": tag }, |row| row.get(0))
    }

    /// Shows each indexed path below `folder`, which is empty or ends with `/`, to `visit`.
    pub fn each_path_below(&self, folder: &str, mut visit: impl FnMut(&str)) -> Result<()> {
        let mut statement = self.connection.prepare_cached(PATHS_BELOW)?;
        let mut rows = statement.query(named_params! { ":from": folder, ":to": end_of(folder) })?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str().unwrap_or_default());
        }
        Ok(())
    }

    /// Indexed paths below `folder`, which is empty or ends with `/`.
    pub fn paths_below(&self, folder: &str) -> Result<Vec<String>> {
        self.rows(PATHS_BELOW, named_params! { ":from": folder, ":to": end_of(folder) }, |row| row.get(0))
    }

    /// Problems that extraction reported for the files below `folder`, which is empty or ends with `/`.
    pub fn problems_below(&self, folder: &str) -> Result<Vec<FileProblem>> {
        self.rows(PROBLEMS_BELOW, named_params! { ":from": folder, ":to": end_of(folder) }, FileProblem::from_row)
    }

    /// (path, key, path of the one that counts) of every entity whose key an earlier path has.
    pub fn doubled_entities(&self) -> Result<Vec<(String, String, String)>> {
        self.rows(DOUBLED, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// Links in the files below `folder` to ids that nothing has.
    pub fn dangling_links(&self, folder: &str) -> Result<Vec<DanglingLink>> {
        self.rows(DANGLING, named_params! { ":from": folder, ":to": end_of(folder) }, |row| {
            Ok(DanglingLink { path: row.get(0)?, line: row.get(1)?, rel: row.get(2)?, target: row.get(3)? })
        })
    }

    /// The whole stored text of a file.
    pub fn text_of(&self, path: &str) -> Result<String> {
        let mut statement = self.connection.prepare_cached(TEXT)?;
        let mut rows = statement.query(named_params! { ":path": path })?;
        let mut text = String::new();
        while let Some(row) = rows.next()? {
            text.push_str(row.get_ref(0)?.as_str().unwrap_or_default());
        }
        Ok(text)
    }
}

impl Batch<'_> {
    /// Writes a file's rows of the graph.
    pub(super) fn insert_entity(&self, file: FileId, path: &RepoPath, extracted: &Extracted) -> Result<()> {
        let entity = match &extracted.entity {
            Some(entity) => Some(self.insert_one(file, path, entity)?),
            None => None,
        };
        let mut intern = self.connection.prepare_cached(INTERN_TAG)?;
        let mut insert = self.connection.prepare_cached(INSERT_TAGGED)?;
        for tag in &extracted.tags {
            intern.execute([&tag.name])?;
            insert.execute(params![tag.name, file.0, entity, tag.line, tag.source.as_str()])?;
        }
        Ok(())
    }

    fn insert_one(&self, file: FileId, path: &RepoPath, entity: &Entity) -> Result<i64> {
        self.connection.prepare_cached(INSERT)?.execute(params![
            file.0,
            entity.key,
            entity.kind,
            entity.title,
            entity.status,
            entity.date,
            entity.created_at,
            entity.updated_at,
            entity.created_by,
            entity.priority,
        ])?;
        let id = self.connection.last_insert_rowid();
        let mut insert = self.connection.prepare_cached(INSERT_NAME)?;
        for (rank, name) in &entity.names {
            insert.execute(params![name, rank, path.as_str(), id])?;
        }
        let mut insert = self.connection.prepare_cached(INSERT_LINK)?;
        for link in &entity.links {
            insert.execute(params![file.0, id, link.rel, link.target, link.otherwise, link.certain, link.line])?;
        }
        self.elect(&entity.key)?;
        Ok(id)
    }

    /// Removes a file's rows of the graph; its edges are removed before.
    pub(super) fn delete_entity(&self, file: FileId) -> Result<()> {
        self.connection.prepare_cached(DELETE_TAGGED)?.execute([file.0])?;
        let mut statement = self.connection.prepare_cached(KEYS_OF_FILE)?;
        let rows = statement.query_map(named_params! { ":file": file.0 }, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let entities: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
        for (id, key) in entities {
            self.connection.prepare_cached(DELETE_NAMES)?.execute([id])?;
            self.connection.prepare_cached(DELETE)?.execute([id])?;
            self.elect(&key)?;
        }
        Ok(())
    }

    fn elect(&self, key: &str) -> Result<()> {
        self.connection.prepare_cached(ELECT)?.execute(named_params! { ":key": key })?;
        Ok(())
    }
}
