//! Scopes: the chunks that a search is narrowed to, of entities, of documents or of files that filters admit.
//!
//! Owns which chunks those are, a bit for each, and how the FTS is restricted to little else. Remembered until the
//! index changes: ten thousand entities, or the files of a folder, take longer to list than to search.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use rusqlite::{Params, named_params};

use super::bitmap::{Bitmap, BitmapSeeker};
use super::statements::statements;
use super::{ChunkId, FtsQuery, Snapshot, locked};
use crate::error::Result;

statements! {
    OF_ENTITIES = "SELECT c.id FROM entities e CROSS JOIN chunks c ON c.file_id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)";
    OF_ENTITIES_TAGGED = "SELECT c.id
        FROM (SELECT DISTINCT g.entity_id AS id FROM tags t JOIN tagged g ON g.tag_id = t.id
            WHERE t.name = :tag AND g.entity_id IS NOT NULL) g
        CROSS JOIN entities e ON e.id = g.id CROSS JOIN chunks c ON c.file_id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)";
    OF_DOCUMENTS = "SELECT c.id FROM files f JOIN chunks c ON c.file_id = f.id
        WHERE f.language = :language AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.file_id = f.id)
        AND (:tag IS NULL OR f.id IN (SELECT g.file_id FROM tags t JOIN tagged g ON g.tag_id = t.id WHERE t.name = :tag))";
    FILES = "SELECT id, path, language FROM files ORDER BY id";
    OF_FILE = "SELECT id FROM chunks WHERE file_id = ?1";
    /// Served by an index without text.
    OF_ALL_FILES = "SELECT file_id, id FROM chunks ORDER BY file_id";
    /// Paths of all entities, whatever is asked of them: a few folders.
    PATHS_OF_ENTITIES = "SELECT f.path FROM entities e CROSS JOIN files f ON f.id = e.file_id";
}

/// Whose chunks a scope has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeOf<'a> {
    /// Entities that count.
    Entities { kind: Option<&'a str>, tag: Option<&'a str> },
    /// Files of that language that are no entities.
    Documents { language: &'a str, tag: Option<&'a str> },
}

/// Chunks to search among. No query of the FTS lists them: findings/fts5-rowid-in.sh.
#[derive(Debug, Default)]
pub struct Scope {
    chunks: Bitmap,
    of_entities: bool,
    /// A query that matches in all of the chunks and in little else; `None` if there is no such query. Made when it is
    /// needed: where there is much else.
    around: OnceLock<Option<FtsQuery>>,
}

/// Scopes that were asked for since the index changed.
#[derive(Default)]
pub(super) struct Scopes {
    as_of: Option<String>,
    known: HashMap<String, Arc<Scope>>,
}

/// Scopes that are cached: each takes a bit per chunk.
const REMEMBERED: usize = 32;
/// If less than one in this many files is admitted, chunks are looked up file by file.
const FEW: usize = 16;
/// More folders than this are no help to the FTS.
const MOST_FOLDERS: usize = 8;

impl Scope {
    #[cfg(test)]
    pub(super) fn from_chunks(chunks: impl IntoIterator<Item = ChunkId>) -> Self {
        Self { chunks: chunks.into_iter().collect(), ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.len() == 0
    }

    /// The one that came last.
    pub fn last(&self) -> Option<ChunkId> {
        self.chunks.last()
    }

    /// In order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = ChunkId> {
        self.chunks.iter()
    }

    /// For chunks that are asked for in order.
    pub(super) fn seeker(&self) -> BitmapSeeker<'_> {
        self.chunks.seeker()
    }

    /// How many came after this one.
    pub(super) fn count_above(&self, chunk: ChunkId) -> usize {
        self.chunks.count_above(chunk)
    }

    pub fn contains(&self, chunk: ChunkId) -> bool {
        self.chunks.contains(chunk)
    }

    /// Whether the FTS can be restricted to little else.
    pub fn is_in_folders(&self) -> bool {
        self.of_entities
    }

    /// The chunks of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let chunks = self.chunks.and(&other.chunks);
        Self { chunks, of_entities: self.of_entities || other.of_entities, around: OnceLock::new() }
    }
}

impl Snapshot<'_> {
    /// The chunks to search among.
    pub fn scope(&self, of: ScopeOf) -> Result<Arc<Scope>> {
        let of_entities = matches!(of, ScopeOf::Entities { .. });
        self.remembered(&format!("{of:?}"), || {
            let chunks = match of {
                ScopeOf::Entities { kind, tag: None } => self.gather(OF_ENTITIES, named_params! { ":kind": kind })?,
                ScopeOf::Entities { kind, tag } => {
                    self.gather(OF_ENTITIES_TAGGED, named_params! { ":kind": kind, ":tag": tag })?
                }
                ScopeOf::Documents { language, tag } => {
                    self.gather(OF_DOCUMENTS, named_params! { ":language": language, ":tag": tag })?
                }
            };
            Ok(Scope { chunks, of_entities, around: OnceLock::new() })
        })
    }

    /// The chunks of the files whose path and language are admitted; `by` is the cache key of the filter.
    pub fn scope_of_files(&self, by: &str, admits: impl Fn(&str, &str) -> bool) -> Result<Arc<Scope>> {
        self.remembered(&format!("Files {by}"), || {
            let mut statement = self.connection.prepare_cached(FILES)?;
            let (mut rows, mut admitted, mut all) = (statement.query([])?, Vec::new(), 0_usize);
            while let Some(row) = rows.next()? {
                all += 1;
                if admits(row.get_ref(1)?.as_str().unwrap_or_default(), row.get_ref(2)?.as_str().unwrap_or_default()) {
                    admitted.push(row.get::<_, i64>(0)?);
                }
            }
            let chunks = if admitted.len().saturating_mul(FEW) < all {
                let mut chunks = Vec::new();
                for file in admitted {
                    chunks.extend(self.rows(OF_FILE, [file], |row| row.get(0).map(ChunkId))?);
                }
                chunks.into_iter().collect()
            } else {
                self.gather_of(&admitted)?
            };
            Ok(Scope { chunks, of_entities: false, around: OnceLock::new() })
        })
    }

    /// The chunks of many files, which come in order.
    fn gather_of(&self, files: &[i64]) -> Result<Bitmap> {
        let mut statement = self.connection.prepare_cached(OF_ALL_FILES)?;
        let (mut rows, mut chunks, mut next) = (statement.query([])?, Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let file = row.get::<_, i64>(0)?;
            while files.get(next).is_some_and(|known| *known < file) {
                next += 1;
            }
            if files.get(next) == Some(&file) {
                chunks.push(ChunkId(row.get(1)?));
            }
        }
        Ok(chunks.into_iter().collect())
    }

    /// A scope by its name, made where it is not known.
    fn remembered(&self, name: &str, make: impl FnOnce() -> Result<Scope>) -> Result<Arc<Scope>> {
        let now = self.last_change()?;
        {
            let mut scopes = locked(&self.caches.scopes);
            if scopes.as_of != now || scopes.known.len() >= REMEMBERED {
                *scopes = Scopes { as_of: now.clone(), ..Scopes::default() };
            }
            if let Some(scope) = scopes.known.get(name) {
                return Ok(Arc::clone(scope));
            }
        }
        let scope = Arc::new(make()?);
        let mut scopes = locked(&self.caches.scopes);
        // Another reader may have seen another state meanwhile.
        if scopes.as_of == now {
            scopes.known.insert(name.to_owned(), Arc::clone(&scope));
        }
        Ok(scope)
    }

    fn gather(&self, statement: &str, parameters: impl Params) -> Result<Bitmap> {
        Ok(self.rows(statement, parameters, |row| row.get(0).map(ChunkId))?.into_iter().collect())
    }

    /// The query, narrowed to little more than the chunks of a scope.
    pub fn narrowed(&self, scope: &Scope, query: &FtsQuery) -> Result<FtsQuery> {
        let around = match scope.around.get() {
            Some(known) => known.clone(),
            None => {
                let around = if scope.of_entities { self.folders_of_entities()? } else { None };
                scope.around.get_or_init(|| around).clone()
            }
        };
        let both = [Some(query.clone()), around].into_iter().flatten();
        Ok(FtsQuery::all(both).unwrap_or_else(|| query.clone()))
    }

    /// Where the paths of entities begin, if those are few folders.
    fn folders_of_entities(&self) -> Result<Option<FtsQuery>> {
        let mut statement = self.connection.prepare_cached(PATHS_OF_ENTITIES)?;
        let mut rows = statement.query([])?;
        // Empty for a file that is in none.
        let mut folders: BTreeSet<String> = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str().unwrap_or_default();
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            if folders.len() <= MOST_FOLDERS && !folders.contains(folder) {
                folders.insert(folder.to_owned());
            }
        }
        let at_start = |folder: &String| FtsQuery::phrase(folder).map(FtsQuery::at_start_of_path);
        let around: Option<Vec<FtsQuery>> = folders.iter().map(at_start).collect();
        Ok(around.filter(|around| around.len() <= MOST_FOLDERS).and_then(FtsQuery::any))
    }
}
