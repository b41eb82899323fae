//! Static embeddings of the chunks that have none, in batches, when words and symbols are already searchable.
//!
//! Needs no update lock: a batch is stored only as far as its chunks are still the next to embed. Two processes that do the
//! same work store it once, and one that is overtaken by a change stores nothing wrong.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::store::{ChunkId, ScopeOf, SpaceKey, Store, Unembedded};
use crate::threads::cores;

/// Chunks embedded and stored at once: a few milliseconds of writing, then others can write.
const BATCH: usize = 1_000;
/// Chunks embedded and stored at once where a read waits.
const SMALL_BATCH: usize = 400;
/// About as many chunks as are embedded while a read waits.
const MAX_PENDING: u64 = 12_000;
/// How often a caller that waits for vectors looks.
const POLL: Duration = Duration::from_millis(1);
/// Fewer chunks are not worth a thread.
const PER_THREAD: usize = 100;

/// Keeps the static embeddings of one repository.
pub struct StaticEmbeddings {
    repository: Arc<Repository>,
    /// Held by the thread that embeds, which looks again if another thread asked for it in the meantime.
    embedding: Mutex<()>,
    embed_again: AtomicBool,
}

impl StaticEmbeddings {
    pub(in crate::update) fn new(repository: Arc<Repository>) -> Self {
        Self { repository, embedding: Mutex::new(()), embed_again: AtomicBool::new(false) }
    }

    /// Returns when every chunk has its vector.
    pub fn embed(&self, budget: &Budget) -> Result<()> {
        self.embed_up_to(None, budget)
    }

    /// Returns when every chunk of an entity has its vector, even while a build keeps adding chunks of code.
    pub(in crate::update) fn embed_entities(&self, budget: &Budget) -> Result<()> {
        if self.repository.in_flight.progress().is_none() {
            return self.embed(budget);
        }
        let all = ScopeOf::Entities { kind: None, tag: None };
        match self.repository.read(budget, |snapshot| Ok(snapshot.scope(all)?.last()))? {
            Some(last) => self.embed_up_to(Some(last), budget),
            None => Ok(()),
        }
    }

    /// Embeds chunks without a vector for about `time`, unless another thread is embedding. If there are too many to reach
    /// the last ones, which the caller needs, it embeds none.
    pub(in crate::update) fn embed_for(&self, time: Duration, budget: &Budget) -> Result<()> {
        let Some(_alone) = if_free(&self.embedding) else { return Ok(()) };
        if self.repository.read(budget, |snapshot| snapshot.vectors_pending(&self.space()))? > MAX_PENDING {
            return Ok(());
        }
        embed_missing(self.repository.store()?, None, Instant::now().checked_add(time), budget)
    }

    /// Returns when no chunk up to `last` lacks its vector; `None` means all chunks.
    fn embed_up_to(&self, last: Option<ChunkId>, budget: &Budget) -> Result<()> {
        loop {
            budget.check()?;
            if let Some(_alone) = if_free(&self.embedding) {
                return embed_missing(self.repository.store()?, last, None, budget);
            }
            std::thread::sleep(POLL);
            let key = self.space();
            let next = self.repository.read(budget, |snapshot| match snapshot.space(&key)? {
                Some(space) => snapshot.next_unembedded(space).map(Some),
                None => Ok(None),
            })?;
            if let (Some(next), Some(last)) = (next, last)
                && next.is_none_or(|next| next > last)
            {
                return Ok(());
            }
        }
    }

    /// Ensures that every chunk gets its vector, on this thread or on the one that is embedding.
    pub(in crate::update) fn embed_soon(&self) -> Result<()> {
        self.embed_again.store(true, Ordering::SeqCst);
        while self.embed_again.load(Ordering::SeqCst) {
            let Some(_alone) = if_free(&self.embedding) else { return Ok(()) };
            self.embed_again.store(false, Ordering::SeqCst);
            embed_missing(self.repository.store()?, None, None, &Budget::unlimited())?;
        }
        Ok(())
    }

    /// Embeds queries.
    pub fn embedder(&self) -> &'static dyn Embedder {
        built_in()
    }

    /// The vector space of the static embeddings.
    pub fn space(&self) -> SpaceKey<'static> {
        key(built_in())
    }
}

/// The lock, unless another thread holds it.
pub(super) fn if_free<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The name of an embedder's vector space in the store.
pub(super) fn key(embedder: &dyn Embedder) -> SpaceKey<'_> {
    let space = embedder.space();
    SpaceKey { model: &space.model, hash: &space.hash, dimension: space.dimension }
}

/// Embeds chunks without a vector, until none up to `last` is left, or the time is over.
fn embed_missing(store: &Store, last: Option<ChunkId>, end: Option<Instant>, budget: &Budget) -> Result<()> {
    let embedder = built_in();
    let key = key(embedder);
    let size = if end.is_some() { SMALL_BATCH } else { BATCH };
    while end.is_none_or(|end| Instant::now() < end) {
        let batch = store.read(budget, |snapshot| match snapshot.space(&key)? {
            Some(space) => snapshot.unembedded(space, size).map(Some),
            None => Ok(None),
        })?;
        let Some(batch) = batch else {
            store.write(|changes| changes.use_space(&key))?;
            continue;
        };
        if batch.first().is_none_or(|chunk| last.is_some_and(|last| chunk.id > last)) {
            return Ok(());
        }
        let vectors = embed(embedder, &batch)?;
        let known = |vector: &'_ Vector| !vector.is_zero();
        store.write(|changes| {
            // The database file may have been replaced: the space has another number there.
            let space = changes.use_space(&key)?;
            let vectors = batch.iter().zip(&vectors).map(|(chunk, vector)| (chunk, Some(vector).filter(|v| known(v))));
            let vectors: Vec<_> = vectors.map(|(chunk, vector)| (chunk, vector.map(Vector::components))).collect();
            changes.add_vectors(space, &vectors)
        })?;
        budget.check()?;
    }
    Ok(())
}

/// The vectors of a batch, computed on as many threads as are worth it.
fn embed(embedder: &dyn Embedder, batch: &[Unembedded]) -> Result<Vec<Vector>> {
    let threads = cores().min(batch.len().div_ceil(PER_THREAD)).max(1);
    let work = |part: &[Unembedded]| {
        let texts: Vec<&str> = part.iter().map(|chunk| chunk.text.as_str()).collect();
        embedder.embed(Purpose::Passage, &texts)
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            batch.chunks(batch.len().div_ceil(threads)).map(|part| scope.spawn(move || work(part))).collect();
        let mut vectors = Vec::with_capacity(batch.len());
        for part in parts {
            vectors.extend(part.join().map_err(|_| Error::internal("an embedder failed"))??);
        }
        Ok(vectors)
    })
}
