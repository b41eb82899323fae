//! Vectors in memory: which ones, and when they are loaded.
//!
//! Owns the spaces that are kept in memory: that of the static embeddings, and that of the selected model. A query
//! loads the missing vectors itself if that takes a few milliseconds. Otherwise a long-running process loads them on a
//! background thread and answers from the loaded ones until then; a process that exits after its query waits.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::near::{QueryVector, Vectors};
use super::vectors::{NearChunk, SpaceId, SpaceKey, SpaceState};
use super::{Caches, ChunkId, Mode, Scope, Snapshot, in_snapshot, locked, open};
use crate::error::Result;

/// Vectors that a query waits for: some 25 ms.
const AT_ONCE: usize = 50_000;
/// When more than one in this many belongs to a deleted chunk, all are read again.
const TOO_MANY_GONE: usize = 10;

/// Spaces that are kept at once.
const MOST_SPACES: usize = 2;

/// The vectors of the spaces that were asked for last.
pub(super) struct LoadedVectors {
    /// The database file.
    path: PathBuf,
    /// Whether there will be later queries.
    stays: AtomicBool,
    vectors: Mutex<Vec<Vectors>>,
    is_loading: AtomicBool,
}

impl LoadedVectors {
    pub fn none(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            stays: AtomicBool::new(false),
            vectors: Mutex::default(),
            is_loading: AtomicBool::new(false),
        }
    }

    pub fn stay(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    pub fn forget(&self) {
        locked(&self.vectors).clear();
    }

    /// Keeps vectors that were read, unless another reader has read more of the same space meanwhile.
    fn keep(&self, vectors: &Vectors) {
        let mut kept = locked(&self.vectors);
        if kept.iter().any(|kept| kept.is_like(vectors) && kept.embedded > vectors.embedded) {
            return;
        }
        kept.retain(|kept| kept.space != vectors.space);
        kept.truncate(MOST_SPACES - 1);
        kept.insert(0, vectors.clone());
    }
}

/// A search for the chunks nearest to a vector. It reads only memory, so that another thread can run it.
pub struct VectorSearch {
    vectors: Vectors,
    vector: Vec<i8>,
    limit: usize,
}

impl VectorSearch {
    /// How many vectors are compared.
    pub fn vector_count(&self) -> usize {
        self.vectors.len()
    }

    /// Returns the chunks nearest in memory, for [`Snapshot::nearest_of`].
    pub fn run(&self, scope: Option<&Scope>) -> Vec<NearChunk> {
        self.vectors.nearest(&self.vector, self.limit, scope)
    }
}

/// Marks loading as finished when dropped.
struct LoadingGuard(Arc<Caches>);

impl Drop for LoadingGuard {
    fn drop(&mut self) {
        self.0.vectors.is_loading.store(false, Ordering::SeqCst);
    }
}

/// Reads what is missing in a thread, unless one is running.
fn load_in_background(caches: &Arc<Caches>, space: SpaceId) {
    if caches.vectors.is_loading.swap(true, Ordering::SeqCst) {
        return;
    }
    let loading = LoadingGuard(Arc::clone(caches));
    let load = move || {
        let caches = &loading.0;
        let load = || {
            let connection = open::connect(&caches.vectors.path, Mode::Read)?;
            in_snapshot(&connection, caches, |snapshot| {
                let state = snapshot.state(space)?;
                snapshot.read_on(snapshot.begun(space, &state), &state).map(drop)
            })
        };
        if let Err(error) = load() {
            tracing::warn!("queries are answered by their words only: {error}");
        }
    };
    // Without a thread the next query tries again.
    if let Err(error) = std::thread::Builder::new().name("vectors".to_owned()).spawn(load) {
        tracing::warn!("cannot start a thread: {error}");
    }
}

impl Snapshot<'_> {
    /// The chunks in scope nearest to a vector, nearest first; equally near ones by path and position. None while
    /// vectors are not in memory.
    pub fn nearest(
        &self,
        space: SpaceId,
        vector: &[i8],
        limit: usize,
        scope: Option<&Scope>,
    ) -> Result<Vec<NearChunk>> {
        let Some(search) = self.vector_search(space, vector, limit)? else { return Ok(Vec::new()) };
        self.nearest_of(&search, search.run(scope), scope)
    }

    /// The first of two steps of the same: the search, which needs no database.
    pub fn vector_search(&self, space: SpaceId, vector: &[i8], limit: usize) -> Result<Option<VectorSearch>> {
        let vectors = self.at_hand(space)?;
        Ok(vectors.map(|vectors| VectorSearch { vectors, vector: vector.to_owned(), limit }))
    }

    /// The second step: the nearest of the chunks that the search found and that still exist.
    pub fn nearest_of(
        &self,
        search: &VectorSearch,
        mut near: Vec<NearChunk>,
        scope: Option<&Scope>,
    ) -> Result<Vec<NearChunk>> {
        // Some of the nearest may belong to chunks that are gone.
        let mut more = search.limit;
        loop {
            let all = near.len() < more;
            let found = self.in_order(&near, search.limit)?;
            if found.len() == search.limit || all {
                return Ok(found);
            }
            more *= 2;
            near = search.vectors.nearest(&search.vector, more, scope);
        }
    }

    /// The first `limit` of those whose chunks exist; equally near ones in order of path and position.
    fn in_order(&self, near: &[NearChunk], limit: usize) -> Result<Vec<NearChunk>> {
        let existing = self.existing_chunks(near.iter().map(|near| near.id))?;
        let mut found = Vec::with_capacity(limit);
        for equal in near.chunk_by(|a, b| a.cosine.total_cmp(&b.cosine).is_eq()) {
            let ids: Vec<ChunkId> = equal.iter().map(|near| near.id).filter(|id| existing.contains(id)).collect();
            let cosine = equal[0].cosine;
            let first = if ids.len() > 1 { self.in_path_order(ids, limit - found.len())? } else { ids };
            found.extend(first.into_iter().map(|id| NearChunk { id, cosine }));
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }

    /// How near chunks are to a vector; `None` for those without one, and while vectors are not in memory.
    pub fn cosines(&self, space: SpaceId, vector: &[i8], chunks: &[ChunkId]) -> Result<Vec<Option<f64>>> {
        let Some(vectors) = self.at_hand(space)? else { return Ok(vec![None; chunks.len()]) };
        let slots: Vec<_> = chunks.iter().map(|&id| vectors.slot(id)).collect();
        let known: Vec<_> = slots.iter().copied().flatten().collect();
        let mut cosines = vectors.cosines(&known, &QueryVector::new(vector)).into_iter();
        Ok(slots.into_iter().map(|slot| slot.and_then(|_| cosines.next())).collect())
    }

    /// How near some chunks are to a vector, drawn evenly from all texts; none while vectors are not in memory.
    pub fn some_cosines(&self, space: SpaceId, vector: &[i8], most: usize) -> Result<Vec<f64>> {
        let drawn = self.drawn_chunks(most)?;
        Ok(self.cosines(space, vector, &drawn)?.into_iter().flatten().collect())
    }

    /// Chunks, of a scope or of all, that the queries to this snapshot found by their words alone: they have no vector
    /// yet, or it was not in memory yet.
    pub fn vectors_out_of_reach(&self, key: &SpaceKey, scope: Option<&Scope>) -> Result<u64> {
        self.vectors_missing(key, self.reached.get(), scope)
    }

    /// How many vectors of a space are in memory, and the bytes that were set aside for them.
    pub fn vectors_in_memory(&self, space: SpaceId) -> Result<(usize, usize)> {
        let begun = self.begun(space, &self.state(space)?);
        Ok((begun.len(), begun.bytes()))
    }

    /// The vectors of a space as far as they are in memory, or can be in a moment.
    fn at_hand(&self, space: SpaceId) -> Result<Option<Vectors>> {
        let state = self.state(space)?;
        let begun = self.begun(space, &state);
        let loaded = &self.caches.vectors;
        let is_much = || self.vectors_above(space, ChunkId(begun.embedded), AT_ONCE + 1).map(|more| more > AT_ONCE);
        if begun.embedded >= state.embedded {
            Ok(Some(begun))
        } else if loaded.stays.load(Ordering::Relaxed) && is_much()? {
            load_in_background(self.caches, space);
            // It describes the space that is searched first: that of the static embeddings.
            if self.reached.get().is_none_or(|(known, _)| known == space) {
                self.reached.set(Some((space, begun.embedded)));
            }
            Ok(Some(begun).filter(|begun| begun.len() > 0))
        } else {
            self.read_on(begun, &state).map(Some)
        }
    }

    /// The vectors of a space that are in memory; none if too many of them are outdated.
    fn begun(&self, space: SpaceId, state: &SpaceState) -> Vectors {
        let stored = usize::try_from(state.vectors).unwrap_or_default();
        let kept = locked(&self.caches.vectors.vectors);
        let known = kept.iter().find(|known| known.is_of(space, state));
        known
            .filter(|known| known.len().saturating_sub(stored) <= stored / TOO_MANY_GONE)
            .map_or_else(|| Vectors::new(space, state), Vectors::clone)
    }

    /// Loads new vectors.
    fn read_on(&self, mut vectors: Vectors, state: &SpaceState) -> Result<Vectors> {
        if vectors.embedded < state.embedded {
            let (space, above) = (vectors.space, ChunkId(vectors.embedded));
            // Counting them takes about as long as reading them.
            let more = match vectors.embedded {
                0 => usize::try_from(state.vectors).unwrap_or_default(),
                _ => self.vectors_above(space, above, usize::MAX)?,
            };
            vectors.reserve(more);
            self.each_vector_above(space, above, |id, vector| vectors.push(id, vector))?;
            vectors.embedded = state.embedded;
            self.caches.vectors.keep(&vectors);
        }
        Ok(vectors)
    }
}
