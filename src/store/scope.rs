//! Scopes: the chunks that a search is narrowed to, of entities or of documents.
//!
//! Owns which chunks those are, and how the FTS is told to look at little else. Remembered until the index changes: ten
//! thousand entities take longer to list than to search.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rusqlite::{Params, named_params};

use super::statements::statements;
use super::{ChunkId, Fact, FtsQuestion, Snapshot, locked};
use crate::error::Result;

statements! {
    OF_ENTITIES = "SELECT c.id, f.path FROM entities e JOIN files f ON f.id = e.file_id
        JOIN chunks c ON c.file_id = e.file_id WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)";
    OF_ENTITIES_TAGGED = "SELECT c.id, f.path
        FROM (SELECT DISTINCT g.entity_id AS id FROM tags t JOIN tagged g ON g.tag_id = t.id
            WHERE t.name = :tag AND g.entity_id IS NOT NULL) g
        CROSS JOIN entities e ON e.id = g.id JOIN files f ON f.id = e.file_id JOIN chunks c ON c.file_id = e.file_id
        WHERE e.live = 1 AND (:kind IS NULL OR e.kind = :kind)";
    OF_DOCUMENTS = "SELECT c.id, f.path FROM files f JOIN chunks c ON c.file_id = f.id
        WHERE f.language = :language AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.file_id = f.id)
        AND (:tag IS NULL OR f.id IN (SELECT g.file_id FROM tags t JOIN tagged g ON g.tag_id = t.id WHERE t.name = :tag))";
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
    /// What matches in all of them, and in little else; `None` where nothing says so.
    around: Option<FtsQuestion>,
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
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn contains(&self, chunk: ChunkId) -> bool {
        self.chunks.binary_search(&chunk).is_ok()
    }

    /// The same question of little more than these chunks.
    pub fn narrowed(&self, question: &FtsQuestion) -> FtsQuestion {
        let both = [Some(question.clone()), self.around.clone()].into_iter().flatten();
        FtsQuestion::all(both).unwrap_or_else(|| question.clone())
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
        let scope = Arc::new(match of {
            ScopeOf::Entities { kind, tag: None } => self.gather(OF_ENTITIES, named_params! { ":kind": kind })?,
            ScopeOf::Entities { kind, tag } => {
                self.gather(OF_ENTITIES_TAGGED, named_params! { ":kind": kind, ":tag": tag })?
            }
            ScopeOf::Documents { language, tag } => {
                self.gather(OF_DOCUMENTS, named_params! { ":language": language, ":tag": tag })?
            }
        });
        let mut scopes = locked(&self.caches.scopes);
        // Another reader may have seen another state meanwhile.
        if scopes.as_of == now {
            scopes.known.insert(key, Arc::clone(&scope));
        }
        Ok(scope)
    }

    fn gather(&self, statement: &str, parameters: impl Params) -> Result<Scope> {
        let mut statement = self.connection.prepare_cached(statement)?;
        let mut rows = statement.query(parameters)?;
        let mut chunks = Vec::new();
        // The topmost folder of each path; empty for a file that stands in none.
        let mut folders: BTreeSet<String> = BTreeSet::new();
        while let Some(row) = rows.next()? {
            chunks.push(ChunkId(row.get(0)?));
            let path = row.get_ref(1)?.as_str().unwrap_or_default();
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            if folders.len() <= MOST_FOLDERS && !folders.contains(folder) {
                folders.insert(folder.to_owned());
            }
        }
        chunks.sort_unstable();
        let at_start = |folder: &String| FtsQuestion::phrase(folder).map(FtsQuestion::at_start_of_path);
        let around: Option<Vec<FtsQuestion>> = folders.iter().map(at_start).collect();
        let around = around.filter(|around| around.len() <= MOST_FOLDERS).and_then(FtsQuestion::any);
        Ok(Scope { chunks, around })
    }
}
