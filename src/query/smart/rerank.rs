//! Reranking of the best hits by the embedding model.
//!
//! Owns the deadline (one for all reranking of a query, from its beginning) and the result: hits whose vectors are
//! known or computed in time are reordered among the ranks that they had; all others keep theirs. The caller stores
//! vectors: it receives those that were computed here, and the chunks that there was no time for.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::background;
use crate::embed::{Embedder, Purpose, Vector, built_in};
use crate::error::Result;
use crate::store::{ChunkId, Scope, Snapshot, SpaceId, SpaceKey, Unembedded};
use crate::threads::{WorkList, on_threads};

/// Maximum number of hits that are reranked: as many as there is time for, not all that could answer.
pub const LOOKED_AT: usize = 50;
/// Threads that embed for one query.
const MOST_THREADS: usize = 2;

/// The similarity of a chunk to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Similarity {
    /// On the scale of the static embeddings.
    pub cosine: f64,
    /// How far the cosine is above the background similarity.
    pub beyond: f64,
    /// Computed by the selected model, not by the static embeddings.
    pub by_model: bool,
}

/// A hash of a text, and its vector.
pub type EmbeddedText = (Vec<u8>, Vector);

/// The embedding model during one query.
pub struct Reranker<'m> {
    model: &'m dyn Embedder,
    time: Duration,
    /// The known time to embed one text.
    each: Duration,
    /// The deadline, if there is one.
    end: Cell<Option<Instant>>,
    query: RefCell<Option<(String, Vector)>>,
    learnt: RefCell<Vec<EmbeddedText>>,
    wanted: RefCell<Vec<ChunkId>>,
}

impl<'m> Reranker<'m> {
    /// `time` is the timeout for all texts of a query, and `each` the known time for one.
    pub fn new(model: &'m dyn Embedder, time: Duration, each: Duration) -> Self {
        let (learnt, wanted) = (RefCell::default(), RefCell::default());
        let end = Cell::new(Instant::now().checked_add(time));
        Self { model, time, each, end, query: RefCell::default(), learnt, wanted }
    }

    /// Begins a query: everything done for it from now on counts against its time.
    pub(super) fn begin(&self) {
        self.end.set(Instant::now().checked_add(self.time));
    }

    /// Begins a query whose answers are scored. The time for values that the process computes only once does not count.
    pub(super) fn begin_scored(&self) {
        self.model.calibration();
        built_in().calibration();
        self.begin();
    }

    /// Vectors that were computed, and chunks that there was no time for.
    pub fn taken(self) -> (Vec<EmbeddedText>, Vec<ChunkId>) {
        (self.learnt.into_inner(), self.wanted.into_inner())
    }

    fn query(&self, text: &str) -> Result<Option<Vector>> {
        let mut known = self.query.borrow_mut();
        if known.as_ref().is_none_or(|(asked, _)| asked != text) {
            let vector = self.model.embed(Purpose::Query, &[text])?.into_iter().next();
            *known = vector.map(|vector| (text.to_owned(), vector));
        }
        Ok(known.as_ref().map(|(_, vector)| vector.clone()).filter(|vector| !vector.is_zero()))
    }

    fn space(&self, source: &Snapshot) -> Result<Option<SpaceId>> {
        let space = self.model.space();
        source.space(&SpaceKey { model: &space.model, hash: &space.hash, dimension: space.dimension })
    }

    /// Chunks that are nearest by this model; none until its embedding space is complete.
    pub(super) fn nearest(
        &self,
        source: &Snapshot,
        text: &str,
        limit: usize,
        scope: Option<&Scope>,
    ) -> Result<Vec<ChunkId>> {
        let Some(space) = self.space(source)? else { return Ok(Vec::new()) };
        if !source.is_whole(space)? {
            return Ok(Vec::new());
        }
        let Some(vector) = self.query(text)? else { return Ok(Vec::new()) };
        let near = source.nearest(space, vector.components(), limit, scope)?;
        Ok(near.into_iter().map(|near| near.id).collect())
    }

    /// Scores chunks by the model, in order; `None` for all if its cosines do not separate answers from unrelated
    /// texts. `table` is the background similarity by the static embeddings, used while the index has too few vectors
    /// of the model.
    pub(super) fn likeness(
        &self,
        source: &Snapshot,
        text: &str,
        chunks: &[ChunkId],
        most: usize,
        table: Option<f64>,
    ) -> Result<Vec<Option<Similarity>>> {
        let Some(brought) = onto_table(self.model) else { return Ok(vec![None; chunks.len()]) };
        let cosines = self.cosines(source, text, chunks, most)?;
        let background = self.background(source, text, &cosines)?.map(&brought).or(table).unwrap_or_default();
        let likeness = |cosine: f64| {
            let cosine = brought(cosine);
            Similarity { cosine, beyond: cosine - background, by_model: true }
        };
        Ok(cosines.into_iter().map(|cosine| cosine.map(likeness)).collect())
    }

    /// The background similarity by the model, if it has embedded the whole index, or if these cosines cover most of
    /// it.
    fn background(&self, source: &Snapshot, text: &str, cosines: &[Option<f64>]) -> Result<Option<f64>> {
        let Some(query) = self.query(text)? else { return Ok(None) };
        let known: Vec<f64> = cosines.iter().flatten().copied().collect();
        if (known.len() * 2) as u64 >= source.all_chunks()? {
            return Ok(background::cosine(&query, self.model, &known));
        }
        match self.space(source)? {
            Some(space) if source.is_whole(space)? => {
                let here = source.some_cosines(space, query.components(), background::HERE)?;
                Ok(background::cosine(&query, self.model, &here).filter(|_| !here.is_empty()))
            }
            _ => Ok(None),
        }
    }

    /// Cosines of chunks to the query. The first `most` chunks are embedded in order while there is time; the others
    /// have a cosine once the model's space is complete. `None` without a vector.
    pub(super) fn cosines(
        &self,
        source: &Snapshot,
        text: &str,
        chunks: &[ChunkId],
        most: usize,
    ) -> Result<Vec<Option<f64>>> {
        let mut cosines = vec![None; chunks.len()];
        let Some(query) = self.query(text)? else { return Ok(cosines) };
        let space = self.space(source)?;
        let cosine = |vector: &Vector| f64::from(query.cosine(vector));
        // What was embedded earlier for the same query is known.
        let learnt = |hash: &[u8]| {
            self.learnt.borrow().iter().find(|(known, _)| known == hash).map(|(_, vector)| vector.clone())
        };
        let (first, rest) = chunks.split_at(most.min(chunks.len()));
        if let Some(space) = space.filter(|_| !rest.is_empty())
            && source.is_whole(space)?
        {
            cosines.splice(first.len().., source.cosines(space, query.components(), rest)?);
        }
        let texts = source.to_embed(first)?;
        let mut missing = Vec::new();
        for text in texts {
            let at = chunks.iter().position(|&chunk| chunk == text.id).unwrap_or_default();
            let known = match space {
                Some(space) => source.known_vector(space, text.id, &text.hash)?.map(Vector::from_components),
                None => None,
            };
            match known.or_else(|| learnt(&text.hash)) {
                Some(vector) => cosines[at] = Some(cosine(&vector)),
                None => missing.push((at, text)),
            }
        }
        let made = self.made(&missing)?;
        let mut wanted = self.wanted.borrow_mut();
        for ((at, text), vector) in missing.into_iter().zip(made) {
            match vector {
                Some(vector) => {
                    cosines[at] = Some(cosine(&vector));
                    self.learnt.borrow_mut().push((text.hash, vector));
                }
                None => wanted.push(text.id),
            }
        }
        Ok(cosines)
    }

    /// Embeds as many texts as there is time for, in order.
    fn made(&self, texts: &[(usize, Unembedded)]) -> Result<Vec<Option<Vector>>> {
        let (model, each, end, list) = (self.model, self.each, self.end.get(), WorkList::new(texts));
        // The longest time of one of these texts, in nanoseconds: the time of earlier texts may not be known.
        let slowest = AtomicU64::new(0);
        let work = || -> Result<Vec<(usize, Option<Vector>)>> {
            let mut own = Vec::new();
            loop {
                let begun = Instant::now();
                // No text is begun that would exceed the deadline.
                let takes = each.max(Duration::from_nanos(slowest.load(Ordering::Relaxed)));
                if end.is_some_and(|end| begun + takes >= end) {
                    break;
                }
                let Some((at, (_, text))) = list.take() else { break };
                let vector = model.embed(Purpose::Passage, &[&text.text])?.into_iter().next();
                let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                slowest.fetch_max(took, Ordering::Relaxed);
                own.push((at, vector));
            }
            Ok(own)
        };
        let mut made = vec![None; texts.len()];
        for own in on_threads(list.threads().min(MOST_THREADS), work)? {
            for (at, vector) in own? {
                made[at] = vector;
            }
        }
        Ok(made)
    }
}

/// Maps a model's cosines to the scale of the static embeddings, which scores are fitted to.
fn onto_table(model: &dyn Embedder) -> Option<impl Fn(f64) -> f64 + use<>> {
    let (own, table) = (model.calibration()?.levels(), built_in().calibration()?.levels());
    Some(move |cosine| own.map_to(&table, cosine))
}

/// Maps cosines to 0 for the farthest and 1 for the nearest, linearly between.
pub(super) fn shares(cosines: &[Option<f64>]) -> Vec<Option<f64>> {
    let known = || cosines.iter().flatten().copied();
    let (least, most) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
    let share = |cosine: f64| if most > least { (cosine - least) / (most - least) } else { 1.0 };
    cosines.iter().map(|cosine| cosine.map(share)).collect()
}

/// Sorts the items that have a score, best first, among the ranks that they have; the others keep their ranks.
pub(super) fn reorder<T>(items: &mut Vec<T>, scores: &[Option<f64>]) {
    let scored: Vec<usize> = (0..items.len()).filter(|&at| scores.get(at).copied().flatten().is_some()).collect();
    let mut best = scored.clone();
    let score = |at: usize| scores[at].unwrap_or_default();
    best.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    let mut taken: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    let mut order: Vec<usize> = (0..taken.len()).collect();
    for (at, from) in scored.into_iter().zip(best) {
        order[at] = from;
    }
    items.extend(order.into_iter().filter_map(|from| taken[from].take()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::{Calibration, Space};

    #[test]
    fn what_is_not_ready_keeps_its_rank() {
        let mut items = vec!['a', 'b', 'c', 'd', 'e', 'f'];
        reorder(&mut items, &[Some(1.0), None, Some(3.0), Some(2.0), None]);
        assert_eq!(items, ['c', 'b', 'd', 'a', 'e', 'f']);
        reorder(&mut items, &[]);
        assert_eq!(items, ['c', 'b', 'd', 'a', 'e', 'f']);
    }

    /// The static embeddings, slowed down.
    struct Slow;

    const TAKES: Duration = Duration::from_millis(20);

    impl Embedder for Slow {
        fn space(&self) -> &Space {
            built_in().space()
        }

        fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
            std::thread::sleep(TAKES);
            built_in().embed(purpose, texts)
        }

        fn calibration(&self) -> Option<&Calibration> {
            built_in().calibration()
        }
    }

    /// Counts the texts that are made, out of `count`.
    fn made(reranker: &Reranker, count: usize) -> usize {
        let text = |at: usize| Unembedded { id: ChunkId::default(), hash: Vec::new(), text: format!("open file {at}") };
        let texts: Vec<(usize, Unembedded)> = (0..count).map(|at| (at, text(at))).collect();
        let made = reranker.made(&texts).unwrap();
        let count = made.iter().flatten().count();
        assert!(made[..count].iter().all(Option::is_some), "the first come first");
        count
    }

    #[test]
    fn a_text_that_would_not_be_ready_is_not_begun() {
        // Each thread begins one text, because no time is known yet; then another would take too long.
        let reranker = Reranker::new(&Slow, TAKES * 3 / 2, Duration::ZERO);
        reranker.begin();
        assert!(made(&reranker, 100) <= MOST_THREADS);
        let reranker = Reranker::new(&Slow, TAKES, TAKES * 2);
        reranker.begin();
        assert_eq!(made(&reranker, 100), 0, "earlier ones took longer");
    }

    #[test]
    fn all_looks_of_a_query_share_its_time_and_the_next_has_its_own() {
        let reranker = Reranker::new(&Slow, TAKES, Duration::ZERO);
        reranker.begin();
        let end = reranker.end.get().unwrap();
        std::thread::sleep(TAKES);
        assert_eq!(made(&reranker, 100), 0, "other work took the time");
        assert_eq!(reranker.end.get(), Some(end));
        reranker.begin();
        assert!(reranker.end.get().unwrap() > end);
        let unhurried = Reranker::new(&Slow, Duration::MAX, Duration::ZERO);
        unhurried.begin();
        assert_eq!(made(&unhurried, 5), 5);
    }

    #[test]
    fn shares_go_from_nothing_to_one() {
        assert_eq!(shares(&[Some(0.25), None, Some(0.75), Some(0.5)]), [Some(0.0), None, Some(1.0), Some(0.5)]);
        assert_eq!(shares(&[Some(0.3)]), [Some(1.0)]);
    }
}
