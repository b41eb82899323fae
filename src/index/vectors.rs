//! Vectors for chunks that have none, in batches, after words and symbols answer.
//!
//! Needs no update lock: a batch is stored only as far as its chunks are still the next to be embedded, so that two processes that
//! do the same work store it once, and one that is overtaken by a change stores nothing wrong.

use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use super::Workspace;
use crate::budget::Budget;
use crate::embed::transformer::Transformer;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::{Error, Result};
use crate::store::{ChunkId, ScopeOf, SpaceKey, Store, Unembedded};

/// Chunks embedded and stored at once: a few milliseconds of writing, between which others write.
const BATCH: usize = 1_000;
/// How often one who waits for vectors looks.
const LOOK_FOR_VECTORS: Duration = Duration::from_millis(1);
/// Fewer are not worth a thread.
const PER_THREAD: usize = 100;

impl Workspace {
    /// Returns when every chunk has its vector.
    pub fn embed(&self, budget: &Budget) -> Result<()> {
        self.embed_up_to(None, budget)
    }

    /// The same for those of entities, while a build goes on that brings more chunks of code all the time.
    pub(super) fn embed_entities(&self, budget: &Budget) -> Result<()> {
        if self.progress().is_none() {
            return self.embed(budget);
        }
        let all = ScopeOf::Entities { kind: None, tag: None };
        match self.read(budget, |snapshot| Ok(snapshot.scope(all)?.last()))? {
            Some(last) => self.embed_up_to(Some(last), budget),
            None => Ok(()),
        }
    }

    /// Returns when no chunk up to `last` is without its vector; `None` stands for all there are.
    fn embed_up_to(&self, last: Option<ChunkId>, budget: &Budget) -> Result<()> {
        loop {
            budget.check()?;
            if let Some(_alone) = if_free(&self.embedding) {
                return catch_up(&self.store, self.embedder(), last, budget);
            }
            std::thread::sleep(LOOK_FOR_VECTORS);
            let key = self.space();
            let next = self.read(budget, |snapshot| match snapshot.space(&key)? {
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

    /// Sees to it that every chunk gets its vector, here or in the thread that is at it.
    pub(super) fn embed_soon(&self) -> Result<()> {
        self.embed_again.store(true, Ordering::SeqCst);
        while self.embed_again.load(Ordering::SeqCst) {
            let Some(_alone) = if_free(&self.embedding) else { return Ok(()) };
            self.embed_again.store(false, Ordering::SeqCst);
            catch_up(&self.store, self.embedder(), None, &Budget::unlimited())?;
        }
        Ok(())
    }

    /// What questions are to be embedded with.
    pub fn embedder(&self) -> &'static dyn Embedder {
        built_in()
    }

    /// The model that finds chunks: the chosen one once it has embedded all of them; `None` for the built-in one, and where
    /// the chosen one cannot run.
    pub fn searching_model(&self) -> Result<Option<Arc<Transformer>>> {
        let model = match self.transformer() {
            Ok(Some(model)) => model,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::warn!("{error}");
                return Ok(None);
            }
        };
        let space = key(model.as_ref());
        let is_complete = self.read(&Budget::unlimited(), |snapshot| match snapshot.space(&space)? {
            Some(space) => snapshot.is_whole(space),
            None => Ok(false),
        })?;
        Ok(is_complete.then_some(model))
    }

    /// The space that answers come from.
    pub fn space(&self) -> SpaceKey<'static> {
        key(self.embedder())
    }
}

/// The lock, unless another has it.
pub(super) fn if_free<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// What the space of an embedder is called in the store.
pub(super) fn key(embedder: &dyn Embedder) -> SpaceKey<'_> {
    let space = embedder.space();
    SpaceKey { model: &space.model, hash: &space.hash, dimension: space.dimension }
}

/// Embeds what is not embedded yet, until nothing up to `last` is left.
fn catch_up(store: &Store, embedder: &dyn Embedder, last: Option<ChunkId>, budget: &Budget) -> Result<()> {
    let key = key(embedder);
    loop {
        let batch = store.read(budget, |snapshot| match snapshot.space(&key)? {
            Some(space) => snapshot.unembedded(space, BATCH).map(Some),
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
            // Another file may have come in the place of this one: its space has another number.
            let space = changes.use_space(&key)?;
            let vectors = batch.iter().zip(&vectors).map(|(chunk, vector)| (chunk, Some(vector).filter(|v| known(v))));
            let vectors: Vec<_> = vectors.map(|(chunk, vector)| (chunk, vector.map(Vector::components))).collect();
            changes.add_vectors(space, &vectors)
        })?;
        budget.check()?;
    }
}

/// The vectors of a batch, by as many threads as are worth it.
fn embed(embedder: &dyn Embedder, batch: &[Unembedded]) -> Result<Vec<Vector>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(batch.len().div_ceil(PER_THREAD)).max(1);
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
