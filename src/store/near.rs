//! The vectors of a space in memory, and the search for the nearest ones.
//!
//! Candidates are preselected by the Hamming distance of sign bits and rescored by int8 cosine similarity. The vector of an
//! id never changes (see `vectors`), so the loaded vectors can be outdated in two ways only: there are too many, which is noticed
//! when a chunk is gone, or too few, which the highest embedded id shows. `loaded` owns loading. The limit
//! of a search by sqlite-vec has other rules for each condition: findings/vec0-k.sh.

use std::sync::Arc;

use super::compare::{at_most, differ, distances, dot_products};
use super::vectors::{NearChunk, SpaceId, SpaceState};
use super::{ChunkId, Scope};

/// Candidates by bits: this many for each chunk that is asked for, at least `LEAST_CANDIDATES`, and one in `ONE_IN` of
/// all that are looked at: the more there are, the more crowd around the nearest (`benches/vectors.rs` says what is
/// found).
const CANDIDATES_EACH: usize = 20;
const LEAST_CANDIDATES: usize = 4_000;
const ONE_IN: usize = 50;
/// Where a scope has fewer than one in this many vectors, only its own are looked at.
const FEW: usize = 16;
/// More bits than a vector can differ in.
const OUT_OF_SCOPE: u16 = u16::MAX;
/// A part that has more takes no further vectors: adding some while it is read would copy all of it.
const LARGE_PART: usize = 4_096;

/// One space. Copies share their parts.
#[derive(Clone)]
pub(super) struct Vectors {
    pub space: SpaceId,
    build: [u8; 8],
    dimension: usize,
    /// Every chunk up to this id that has a vector is here.
    pub embedded: i64,
    /// Ids ascend through all of them.
    parts: Vec<Arc<VectorPart>>,
}

#[derive(Clone, Default)]
struct VectorPart {
    ids: Vec<i64>,
    components: Vec<i8>,
    /// A bit for each number that is above zero, in whole words a vector.
    bits: Vec<u64>,
    lengths: Vec<f32>,
}

/// Where a vector is stored: its part, and the index in that.
type VectorSlot = (usize, usize);

/// A vector that many are compared with.
pub struct QueryVector {
    /// Wider than stored, as numbers are multiplied.
    vector: Vec<i16>,
    length: f32,
}

impl QueryVector {
    pub fn new(vector: &[i8]) -> Self {
        Self { vector: vector.iter().copied().map(i16::from).collect(), length: length(vector) }
    }
}

impl Vectors {
    /// None yet.
    pub fn new(space: SpaceId, state: &SpaceState) -> Self {
        Self { space, build: state.build, dimension: state.dimension, embedded: 0, parts: Vec::new() }
    }

    pub fn is_of(&self, space: SpaceId, state: &SpaceState) -> bool {
        self.space == space && self.build == state.build
    }

    pub fn is_like(&self, other: &Self) -> bool {
        self.space == other.space && self.build == other.build
    }

    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.ids.len()).sum()
    }

    /// The bytes of its parts, with their unused capacity.
    pub fn bytes(&self) -> usize {
        let of_part = |part: &Arc<VectorPart>| {
            size_of::<VectorPart>()
                + part.ids.capacity() * size_of::<i64>()
                + part.components.capacity()
                + part.bits.capacity() * size_of::<u64>()
                + part.lengths.capacity() * size_of::<f32>()
        };
        self.parts.iter().map(of_part).sum()
    }

    /// Reserves capacity for `count` more vectors, which come next.
    pub fn reserve(&mut self, count: usize) {
        if self.parts.last().is_none_or(|last| last.ids.len() + count > LARGE_PART) {
            let words = self.dimension.div_ceil(64);
            self.parts.push(Arc::new(VectorPart {
                ids: Vec::with_capacity(count),
                components: Vec::with_capacity(count * self.dimension),
                bits: Vec::with_capacity(count * words),
                lengths: Vec::with_capacity(count),
            }));
        }
    }

    /// Ids must ascend.
    pub fn push(&mut self, id: ChunkId, vector: &[u8]) {
        if vector.len() != self.dimension {
            return;
        }
        if self.parts.is_empty() {
            self.parts.push(Arc::default());
        }
        if let Some(last) = self.parts.last_mut() {
            let part = Arc::make_mut(last);
            part.ids.push(id.0);
            let start = part.components.len();
            part.components.extend(vector.iter().map(|byte| byte.cast_signed()));
            let vector = &part.components[start..];
            part.bits.extend(bits(vector));
            part.lengths.push(length(vector));
        }
    }

    /// The nearest of those in scope, nearest first, and all that are as near as the last of them.
    pub fn nearest(&self, vector: &[i8], limit: usize, scope: Option<&Scope>) -> Vec<NearChunk> {
        let among = scope.map_or_else(|| self.len(), Scope::len);
        let most = limit.saturating_mul(CANDIDATES_EACH).max(LEAST_CANDIDATES).max(among / ONE_IN);
        let wanted: Vec<u64> = bits(vector).collect();
        let asked = QueryVector::new(vector);
        let candidates = match scope {
            Some(scope) if scope.len().saturating_mul(FEW) < self.len() => self.nearest_of_few(scope, &wanted, most),
            scope => self.nearest_of_all(scope, &wanted, most),
        };
        let cosines = self.cosines(&candidates, &asked);
        let id = |slot: VectorSlot| ChunkId(self.parts[slot.0].ids[slot.1]);
        let mut near: Vec<NearChunk> =
            candidates.into_iter().zip(cosines).map(|(slot, cosine)| NearChunk { id: id(slot), cosine }).collect();
        // Only those that are returned are sorted.
        if let Some(last) = limit.checked_sub(1).filter(|last| *last < near.len()) {
            let mut cosines: Vec<f64> = near.iter().map(|near| near.cosine).collect();
            let least = *cosines.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1;
            near.retain(|near| near.cosine >= least);
        }
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
        near
    }

    /// Compares every vector; those out of scope get a distance that no vector can have.
    fn nearest_of_all(&self, scope: Option<&Scope>, wanted: &[u64], most: usize) -> Vec<VectorSlot> {
        let mut differ_in: Vec<u16> = Vec::with_capacity(self.len());
        for part in &self.parts {
            let first = differ_in.len();
            distances(&part.bits, wanted, &mut differ_in);
            if let Some(scope) = scope {
                let mut seeker = scope.seeker();
                for (distance, id) in differ_in[first..].iter_mut().zip(&part.ids) {
                    if !seeker.holds(ChunkId(*id)) {
                        *distance = OUT_OF_SCOPE;
                    }
                }
            }
        }
        let farthest = farthest(&differ_in, self.dimension, most);
        let (mut found, mut first) = (Vec::with_capacity(most), 0);
        for (number, part) in self.parts.iter().enumerate() {
            let of_part = &differ_in[first..first + part.ids.len()];
            at_most(of_part, farthest, |at| found.push((number, at)));
            first += part.ids.len();
        }
        found
    }

    fn nearest_of_few(&self, scope: &Scope, wanted: &[u64], most: usize) -> Vec<VectorSlot> {
        let slots: Vec<VectorSlot> = scope.chunks().filter_map(|id| self.slot(id)).collect();
        let of_slot =
            |&(part, at): &VectorSlot| differ(&self.parts[part].bits[at * wanted.len()..][..wanted.len()], wanted);
        let differ_in: Vec<u16> = slots.iter().map(of_slot).collect();
        let farthest = farthest(&differ_in, self.dimension, most);
        slots.into_iter().zip(differ_in).filter(|(_, far)| *far <= farthest).map(|(slot, _)| slot).collect()
    }

    /// The cosine of each with the vector that is asked for.
    pub fn cosines(&self, slots: &[VectorSlot], asked: &QueryVector) -> Vec<f64> {
        let components =
            |&(part, at): &VectorSlot| &self.parts[part].components[at * self.dimension..][..self.dimension];
        let cosine = |(&(part, at), product): (&VectorSlot, i32)| {
            let lengths = f64::from(self.parts[part].lengths[at]) * f64::from(asked.length);
            if lengths > 0.0 { (f64::from(product) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
        };
        slots.iter().zip(dot_products(slots.iter().map(components), &asked.vector)).map(cosine).collect()
    }

    pub fn slot(&self, id: ChunkId) -> Option<VectorSlot> {
        let number = self.parts.partition_point(|part| part.ids.last().is_some_and(|&last| last < id.0));
        let at = self.parts.get(number)?.ids.binary_search(&id.0).ok()?;
        Some((number, at))
    }
}

/// The most bits in which the best `most` differ, given the differing bits of each; less than [`OUT_OF_SCOPE`].
fn farthest(differ_in: &[u16], dimension: usize, most: usize) -> u16 {
    let mut counts = vec![0_usize; dimension + 1];
    for far in differ_in {
        if *far != OUT_OF_SCOPE {
            counts[usize::from(*far)] += 1;
        }
    }
    let mut sum = 0;
    let within = counts.iter().take_while(|count| {
        sum += **count;
        sum < most
    });
    u16::try_from(within.count()).unwrap_or(u16::MAX).min(OUT_OF_SCOPE - 1)
}

fn bits(vector: &[i8]) -> impl Iterator<Item = u64> {
    vector.chunks(64).map(|part| part.iter().rev().fold(0, |bits, &component| bits << 1 | u64::from(component > 0)))
}

#[expect(clippy::cast_precision_loss, reason = "a sum of some thousand products of bytes")]
fn length(vector: &[i8]) -> f32 {
    (vector.iter().map(|&component| i32::from(component) * i32::from(component)).sum::<i32>() as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::compare::Random;

    impl Random {
        /// A number between -127 and 127.
        fn next(&mut self) -> i8 {
            let bits = self.bits();
            i8::try_from(bits % 255).map_or_else(|_| i8::try_from(bits % 255 % 127).unwrap(), |number| -number)
        }

        fn vector(&mut self) -> Vec<i8> {
            (0..100).map(|_| self.next()).collect()
        }
    }

    fn bytes(vector: &[i8]) -> Vec<u8> {
        vector.iter().map(|number| number.cast_unsigned()).collect()
    }

    fn none() -> Vectors {
        Vectors::new(SpaceId::default(), &SpaceState { embedded: 0, vectors: 0, dimension: 100, build: [0; 8] })
    }

    #[test]
    fn bits_find_what_a_look_at_everything_finds() {
        let (mut vectors, mut random) = (none(), Random(0x9e37_79b9_7f4a_7c15));
        // Around 50 centres, as texts cluster around topics.
        let middles: Vec<Vec<i8>> = (0..50).map(|_| random.vector()).collect();
        let near = |middle: &[i8], random: &mut Random| -> Vec<i8> {
            middle.iter().map(|&number| number / 2 + random.next() / 2).collect()
        };
        for id in 0..24_000 {
            let vector = near(&middles[id % 50], &mut random);
            vectors.push(ChunkId(i64::try_from(id).unwrap()), &bytes(&vector));
        }
        let slots: Vec<VectorSlot> = (0..24_000).map(|id| vectors.slot(ChunkId(id)).unwrap()).collect();
        let (mut found, mut wanted) = (0, 0);
        for middle in &middles {
            let query = near(middle, &mut random);
            let cosines = vectors.cosines(&slots, &QueryVector::new(&query));
            let mut all: Vec<NearChunk> =
                (0..).map(ChunkId).zip(cosines).map(|(id, cosine)| NearChunk { id, cosine }).collect();
            all.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            let by_bits: Vec<ChunkId> = vectors.nearest(&query, 10, None).iter().map(|near| near.id).collect();
            wanted += 10;
            found += all[..10].iter().filter(|near| by_bits.contains(&near.id)).count();
        }
        assert!(found * 100 >= wanted * 98, "{found} of {wanted}");
    }

    #[test]
    fn what_is_as_near_as_the_last_is_found_wherever_it_is() {
        let (mut vectors, mut random) = (none(), Random(0x2545_f491_4f6c_dd1d));
        let same = bytes(&random.vector());
        for id in 0..5_000 {
            vectors.reserve(1);
            if id % 5 == 0 {
                vectors.push(ChunkId(id), &same);
            } else {
                vectors.push(ChunkId(id), &bytes(&random.vector()));
            }
        }
        assert_eq!((vectors.len(), vectors.parts.len()), (5_000, 2));
        let query: Vec<i8> = same.iter().map(|byte| byte.cast_signed()).collect();
        let near = vectors.nearest(&query, 10, None);
        assert_eq!(near.len(), 1_000);
        assert!(near.iter().all(|near| near.id.0 % 5 == 0));
        let scope = Scope::from_chunks((0..5_000).filter(|id| id % 2 == 0).map(ChunkId));
        assert_eq!(vectors.nearest(&query, 10, Some(&scope)).len(), 500);
    }

    #[test]
    fn of_a_scope_of_any_size_the_very_nearest_are_found() {
        let (mut vectors, mut random) = (none(), Random(0x9e37_79b9_7f4a_7c15));
        for id in 0..20_000 {
            vectors.reserve(1);
            let vector: Vec<u8> = random.vector().iter().map(|number| number.cast_unsigned()).collect();
            // Some chunks have no vector.
            if id % 11 != 0 {
                vectors.push(ChunkId(id), &vector);
            }
        }
        let query = random.vector();
        for every in [1, 3, 15, 17, 100, 2_500] {
            let scope = Scope::from_chunks((0..20_000).filter(|id| id % every == 1 % every).map(ChunkId));
            let mut all: Vec<NearChunk> = (scope.chunks())
                .filter_map(|id| {
                    Some(NearChunk { id, cosine: vectors.cosines(&[vectors.slot(id)?], &QueryVector::new(&query))[0] })
                })
                .collect();
            all.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            let near = vectors.nearest(&query, 10, Some(&scope));
            let wanted = all.len().min(10);
            assert!(near.len() >= wanted && near.iter().all(|near| scope.contains(near.id)), "one in {every}");
            // Of vectors without any order the bits leave some out; of few they look at each.
            let found = all[..wanted].iter().filter(|one| near.iter().any(|near| near.id == one.id)).count();
            assert!(found * 10 >= wanted * if every < 50 { 7 } else { 10 }, "one in {every}: {found} of {wanted}");
        }
    }

    #[test]
    fn a_bit_is_set_for_each_number_above_zero() {
        let mut vector = vec![-1; 70];
        vector[0] = 1;
        vector[63] = 5;
        vector[64] = 127;
        assert_eq!(bits(&vector).collect::<Vec<_>>(), [1 | 1 << 63, 1]);
    }
}
