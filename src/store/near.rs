//! The vectors of a space in memory: what questions are answered from where there are many.
//!
//! vec0 looks at each byte of each vector, page by page. Here a bit of each number is looked at first, and only the best by
//! those are compared whole. An id's vector never changes (see `vectors`), so what is here is only ever too much, which is
//! noticed when a chunk is no longer there, or too little, which the highest embedded id tells.

use std::collections::BinaryHeap;
use std::sync::Arc;

use super::vectors::{NearChunk, SpaceId, State};
use super::{ChunkId, Snapshot, locked};
use crate::error::Result;

/// Below, a question goes to vec0: that takes about two milliseconds.
const WORTH_IT: u64 = 5_000;
/// Candidates by bits for each chunk that is asked for, and at least so many.
const CANDIDATES_EACH: usize = 20;
const LEAST_CANDIDATES: usize = 400;
/// When more than one in so many belongs to no chunk any more, all are read anew.
const TOO_MANY_GONE: u64 = 10;
/// Vectors that came since are read one by one; more than one in so many, all anew.
const TOO_MANY_NEW: usize = 4;

/// One space. Ids ascend.
#[derive(Clone)]
pub(super) struct Vectors {
    made: [u8; 8],
    dimension: usize,
    embedded: i64,
    ids: Vec<i64>,
    components: Vec<i8>,
    /// A bit for each number that is above zero, in whole words a vector.
    bits: Vec<u64>,
    lengths: Vec<f32>,
}

impl Vectors {
    /// None yet, with room for as many as there are.
    fn new(state: &State) -> Self {
        let room = usize::try_from(state.vectors).unwrap_or_default();
        Self {
            made: state.made,
            dimension: state.dimension,
            embedded: state.embedded,
            ids: Vec::with_capacity(room),
            components: Vec::with_capacity(room * state.dimension),
            bits: Vec::with_capacity(room * state.dimension.div_ceil(64)),
            lengths: Vec::with_capacity(room),
        }
    }

    fn push(&mut self, id: ChunkId, vector: &[u8]) {
        if vector.len() != self.dimension {
            return;
        }
        self.ids.push(id.0);
        let start = self.components.len();
        self.components.extend(vector.iter().map(|byte| byte.cast_signed()));
        let vector = &self.components[start..];
        self.bits.extend(bits(vector));
        self.lengths.push(length(vector));
    }

    /// The nearest of those that `admits` takes, nearest first; equals by id.
    fn nearest(&self, vector: &[i8], limit: usize, admits: &dyn Fn(ChunkId) -> bool) -> Vec<NearChunk> {
        let wanted: Vec<u64> = bits(vector).collect();
        let most = (limit * CANDIDATES_EACH).max(LEAST_CANDIDATES);
        let mut best: BinaryHeap<(u32, usize)> = BinaryHeap::with_capacity(most + 1);
        for (at, bits) in self.bits.chunks_exact(wanted.len()).enumerate() {
            let differ = bits.iter().zip(&wanted).map(|(a, b)| (a ^ b).count_ones()).sum();
            if (best.len() < most || best.peek().is_some_and(|worst| differ < worst.0)) && admits(ChunkId(self.ids[at]))
            {
                best.push((differ, at));
                if best.len() > most {
                    best.pop();
                }
            }
        }
        let mut near: Vec<NearChunk> = best
            .into_iter()
            .map(|(_, at)| NearChunk { id: ChunkId(self.ids[at]), cosine: self.cosine(at, vector) })
            .collect();
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id)));
        near.truncate(limit);
        near
    }

    fn cosine(&self, at: usize, vector: &[i8]) -> f64 {
        let own = &self.components[at * self.dimension..][..self.dimension];
        cosine(own, self.lengths[at], vector)
    }

    fn of(&self, id: ChunkId) -> Option<usize> {
        self.ids.binary_search(&id.0).ok()
    }
}

fn bits(vector: &[i8]) -> impl Iterator<Item = u64> {
    vector.chunks(64).map(|part| part.iter().rev().fold(0, |bits, &component| bits << 1 | u64::from(component > 0)))
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b))).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a sum of some thousand products of bytes")]
fn length(vector: &[i8]) -> f32 {
    (dot(vector, vector) as f32).sqrt()
}

fn cosine(a: &[i8], length_of_a: f32, b: &[i8]) -> f64 {
    let lengths = f64::from(length_of_a) * f64::from(length(b));
    if lengths > 0.0 { (f64::from(dot(a, b)) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

impl Snapshot<'_> {
    /// The chunks nearest to a vector of those that `admits` takes, nearest first.
    pub fn nearest(
        &self,
        space: SpaceId,
        vector: &[i8],
        limit: usize,
        admits: Option<&dyn Fn(ChunkId) -> bool>,
    ) -> Result<Vec<NearChunk>> {
        let vectors = match (self.in_memory(space)?, admits) {
            (None, None) => return self.nearest_in_table(space, vector, limit),
            (None, Some(_)) => self.load(space)?,
            (Some(vectors), _) => vectors,
        };
        let admits = admits.unwrap_or(&|_| true);
        // Some of the nearest may belong to chunks that are gone.
        let mut more = limit;
        loop {
            let near = vectors.nearest(vector, more, admits);
            let all = near.len() < more;
            let mut found = Vec::with_capacity(limit);
            for near in near {
                if found.len() < limit && self.has_chunk(near.id)? {
                    found.push(near);
                }
            }
            if found.len() == limit || all {
                return Ok(found);
            }
            more *= 2;
        }
    }

    /// How near chunks are to a vector; `None` for those without one.
    pub fn cosines(&self, space: SpaceId, vector: &[i8], chunks: &[ChunkId]) -> Result<Vec<Option<f64>>> {
        if let Some(vectors) = self.in_memory(space)? {
            return Ok(chunks.iter().map(|&id| vectors.of(id).map(|at| vectors.cosine(at, vector))).collect());
        }
        let mut cosines = Vec::with_capacity(chunks.len());
        for &chunk in chunks {
            let own: Option<Vec<i8>> =
                self.vector(space, chunk)?.map(|bytes| bytes.into_iter().map(u8::cast_signed).collect());
            cosines.push(own.map(|own| cosine(&own, length(&own), vector)));
        }
        Ok(cosines)
    }

    /// The vectors of a space that has enough of them.
    fn in_memory(&self, space: SpaceId) -> Result<Option<Arc<Vectors>>> {
        if self.vector_count(space)? < WORTH_IT { Ok(None) } else { self.load(space).map(Some) }
    }

    /// All vectors of a space: those that are in memory, and what came since.
    fn load(&self, space: SpaceId) -> Result<Arc<Vectors>> {
        let mut slot = locked(&self.caches.vectors);
        let state = self.state(space)?;
        let stored = state.vectors.cast_unsigned();
        if let Some(known) = slot.as_mut().filter(|known| known.made == state.made)
            && (known.ids.len() as u64).saturating_sub(stored) <= stored / TOO_MANY_GONE
        {
            let new = self.chunks_between(known.embedded, state.embedded)?;
            if new.len() <= known.ids.len() / TOO_MANY_NEW {
                if known.embedded < state.embedded {
                    // Who reads them now keeps them as they were.
                    let vectors = Arc::make_mut(known);
                    for chunk in new {
                        if let Some(vector) = self.vector(space, chunk)? {
                            vectors.push(chunk, &vector);
                        }
                    }
                    vectors.embedded = state.embedded;
                }
                return Ok(Arc::clone(known));
            }
        }
        let mut vectors = Vectors::new(&state);
        self.each_vector(space, |id, vector| vectors.push(id, vector))?;
        let vectors = Arc::new(vectors);
        *slot = Some(Arc::clone(&vectors));
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -127 and 127, always the same.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> i8 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            i8::try_from(self.0 % 255).map_or_else(|_| i8::try_from(self.0 % 255 % 127).unwrap(), |number| -number)
        }

        fn vector(&mut self) -> Vec<i8> {
            (0..100).map(|_| self.next()).collect()
        }
    }

    #[test]
    fn bits_find_what_a_look_at_everything_finds() {
        let state = State { embedded: 0, vectors: 0, dimension: 100, made: [0; 8] };
        let (mut vectors, mut random) = (Vectors::new(&state), Random(0x9e37_79b9_7f4a_7c15));
        // Around 50 middles, as texts are around what they are about.
        let middles: Vec<Vec<i8>> = (0..50).map(|_| random.vector()).collect();
        let near = |middle: &[i8], random: &mut Random| -> Vec<i8> {
            middle.iter().map(|&number| number / 2 + random.next() / 2).collect()
        };
        for id in 0..6_000 {
            let vector = near(&middles[id % 50], &mut random);
            let bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
            vectors.push(ChunkId(i64::try_from(id).unwrap()), &bytes);
        }
        let (mut found, mut wanted) = (0, 0);
        for middle in &middles {
            let question = near(middle, &mut random);
            let mut all: Vec<NearChunk> = (0..6_000)
                .map(|at| NearChunk { id: ChunkId(vectors.ids[at]), cosine: vectors.cosine(at, &question) })
                .collect();
            all.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            let by_bits: Vec<ChunkId> = vectors.nearest(&question, 10, &|_| true).iter().map(|near| near.id).collect();
            wanted += 10;
            found += all[..10].iter().filter(|near| by_bits.contains(&near.id)).count();
        }
        assert!(found * 100 >= wanted * 98, "{found} of {wanted}");
    }

    #[test]
    fn a_bit_stands_for_each_number_above_zero() {
        let mut vector = vec![-1; 70];
        vector[0] = 1;
        vector[63] = 5;
        vector[64] = 127;
        assert_eq!(bits(&vector).collect::<Vec<_>>(), [1 | 1 << 63, 1]);
    }
}
