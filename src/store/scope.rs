//! Scopes: the chunks that a search is narrowed to, of entities or of documents.
//!
//! Owns which chunks those are, and how the FTS is told to look at little else. Remembered until the index changes: ten
//! thousand entities take longer to list than to search.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use rusqlite::{Params, named_params};

use super::statements::statements;
use super::{ChunkId, Fact, FtsQuestion, Snapshot, locked};
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
    /// Of all entities, whatever is asked of them: a few folders.
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

/// Chunks to search among.
#[derive(Debug, Default)]
pub struct Scope {
    /// Ascending.
    chunks: Vec<ChunkId>,
    of_entities: bool,
    /// What matches in all of them, and in little else; `None` where nothing says so. Made when it is needed: where there is
    /// much else.
    around: OnceLock<Option<FtsQuestion>>,
}

/// Scopes that were asked for since the index changed.
#[derive(Default)]
pub(super) struct Scopes {
    as_of: Option<String>,
    known: HashMap<String, Arc<Scope>>,
}

/// Of each a number a chunk is kept.
const REMEMBERED: usize = 32;
/// More folders than this are no help to the FTS.
const MOST_FOLDERS: usize = 8;

impl Scope {
    /// Of chunks in order.
    #[cfg(test)]
    pub(super) fn of(chunks: Vec<ChunkId>) -> Self {
        Self { chunks, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The one that came last.
    pub fn last(&self) -> Option<ChunkId> {
        self.chunks.last().copied()
    }

    /// In order.
    pub(super) fn chunks(&self) -> &[ChunkId] {
        &self.chunks
    }

    /// How many came after this one.
    pub(super) fn count_above(&self, chunk: ChunkId) -> usize {
        self.chunks.len() - self.chunks.partition_point(|known| *known <= chunk)
    }

    pub fn contains(&self, chunk: ChunkId) -> bool {
        self.chunks.binary_search(&chunk).is_ok()
    }
}

impl Snapshot<'_> {
    /// The chunks that a search of these is among.
    pub fn scope(&self, of: ScopeOf) -> Result<Arc<Scope>> {
        let (now, key) = (self.fact(Fact::LastChange)?, format!("{of:?}"));
        {
            let mut scopes = locked(&self.caches.scopes);
            if scopes.as_of != now || scopes.known.len() >= REMEMBERED {
                *scopes = Scopes { as_of: now.clone(), ..Scopes::default() };
            }
            if let Some(scope) = scopes.known.get(&key) {
                return Ok(Arc::clone(scope));
            }
        }
        let chunks = match of {
            ScopeOf::Entities { kind, tag: None } => self.gather(OF_ENTITIES, named_params! { ":kind": kind })?,
            ScopeOf::Entities { kind, tag } => {
                self.gather(OF_ENTITIES_TAGGED, named_params! { ":kind": kind, ":tag": tag })?
            }
            ScopeOf::Documents { language, tag } => {
                self.gather(OF_DOCUMENTS, named_params! { ":language": language, ":tag": tag })?
            }
        };
        let of_entities = matches!(of, ScopeOf::Entities { .. });
        let scope = Arc::new(Scope { chunks, of_entities, around: OnceLock::new() });
        let mut scopes = locked(&self.caches.scopes);
        // Another reader may have seen another state meanwhile.
        if scopes.as_of == now {
            scopes.known.insert(key, Arc::clone(&scope));
        }
        Ok(scope)
    }

    fn gather(&self, statement: &str, parameters: impl Params) -> Result<Vec<ChunkId>> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let rows = statement.query_map(parameters, |row| row.get(0).map(ChunkId))?;
        let mut chunks = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        chunks.sort_unstable();
        Ok(chunks)
    }

    /// The same question of little more than the chunks of a scope.
    pub fn narrowed(&self, scope: &Scope, question: &FtsQuestion) -> Result<FtsQuestion> {
        let around = match scope.around.get() {
            Some(known) => known.clone(),
            None => {
                let around = if scope.of_entities { self.folders_of_entities()? } else { None };
                scope.around.get_or_init(|| around).clone()
            }
        };
        let both = [Some(question.clone()), around].into_iter().flatten();
        Ok(FtsQuestion::all(both).unwrap_or_else(|| question.clone()))
    }

    /// Where the paths of entities begin, if those are few folders.
    fn folders_of_entities(&self) -> Result<Option<FtsQuestion>> {
        let mut statement = self.connection.prepare_cached(PATHS_OF_ENTITIES)?;
        let mut rows = statement.query([])?;
        // Empty for a file that stands in none.
        let mut folders: BTreeSet<String> = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str().unwrap_or_default();
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            if folders.len() <= MOST_FOLDERS && !folders.contains(folder) {
                folders.insert(folder.to_owned());
            }
        }
        let at_start = |folder: &String| FtsQuestion::phrase(folder).map(FtsQuestion::at_start_of_path);
        let around: Option<Vec<FtsQuestion>> = folders.iter().map(at_start).collect();
        Ok(around.filter(|around| around.len() <= MOST_FOLDERS).and_then(FtsQuestion::any))
    }
}
