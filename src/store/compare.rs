//! One vector compared with many: Hamming distances of sign bits, and int8 dot products.
//!
//! A baseline x86-64 has no instruction that counts bits, and multiplies eight numbers at a time. Each comparison is
//! compiled for the wider instruction sets as well, and the widest that the processor has runs. The results are
//! integers, so that they are the same on every processor.
//!
//! Loops are written out, with indexes for two slices at once: closures may be compiled for the baseline, and without link-time
//! optimization `zip` may be a call for each vector.

use rten_simd::{Isa, SimdOp};

/// Words of a vector's bits in the static embeddings, for which the compiler needs no loop.
const WORDS: usize = 4;
/// Distances that are compared at once.
const AT_ONCE: usize = 32;

/// Appends the distance of each vector, whose bits are `wanted.len()` words, to `distances`.
pub(super) fn distances(bits: &[u64], wanted: &[u64], distances: &mut Vec<u16>) {
    if wanted.is_empty() {
        return;
    }
    let first = distances.len();
    distances.resize(first + bits.len() / wanted.len(), 0);
    Distances { bits, wanted, distances: &mut distances[first..] }.dispatch();
}

/// The indexes of those that are at most `most`, in order.
pub(super) fn at_most(distances: &[u16], most: u16, found: impl FnMut(usize)) {
    AtMost { distances, most, found }.dispatch();
}

/// The dot product of each vector with one that is wider, as numbers are multiplied.
pub(super) fn dot_products<'v>(vectors: impl Iterator<Item = &'v [i8]>, wanted: &[i16]) -> Vec<i32> {
    DotProducts { vectors, wanted }.dispatch()
}

struct Distances<'a> {
    bits: &'a [u64],
    wanted: &'a [u64],
    distances: &'a mut [u16],
}

impl SimdOp for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _: I) {
        if let Ok(wanted) = <&[u64; WORDS]>::try_from(self.wanted) {
            for (distance, bits) in self.distances.iter_mut().zip(self.bits.as_chunks::<WORDS>().0) {
                *distance = differ(bits, wanted);
            }
        } else {
            for (distance, bits) in self.distances.iter_mut().zip(self.bits.chunks_exact(self.wanted.len())) {
                *distance = differ(bits, self.wanted);
            }
        }
    }
}

struct AtMost<'a, F> {
    distances: &'a [u16],
    most: u16,
    found: F,
}

impl<F: FnMut(usize)> SimdOp for AtMost<'_, F> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, _: I) {
        for (block, distances) in self.distances.chunks(AT_ONCE).enumerate() {
            // Most blocks have none.
            let mut least = u16::MAX;
            for distance in distances {
                least = least.min(*distance);
            }
            if least > self.most {
                continue;
            }
            for (at, distance) in distances.iter().enumerate() {
                if *distance <= self.most {
                    (self.found)(block * AT_ONCE + at);
                }
            }
        }
    }
}

struct DotProducts<'a, V> {
    vectors: V,
    wanted: &'a [i16],
}

impl<'v, V: Iterator<Item = &'v [i8]>> SimdOp for DotProducts<'_, V> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn eval<I: Isa>(self, _: I) -> Vec<i32> {
        let mut products = Vec::with_capacity(self.vectors.size_hint().0);
        for vector in self.vectors {
            // There is an instruction for products of 16 bits that are added in pairs.
            let mut sum = 0;
            let numbers = vector.len().min(self.wanted.len());
            let (vector, wanted) = (&vector[..numbers], &self.wanted[..numbers]);
            for at in 0..numbers {
                sum += i32::from(i16::from(vector[at])) * i32::from(wanted[at]);
            }
            products.push(sum);
        }
        products
    }
}

/// In how many bits two vectors differ.
#[inline(always)]
pub(super) fn differ(a: &[u64], b: &[u64]) -> u16 {
    let mut count = 0;
    let words = a.len().min(b.len());
    let (a, b) = (&a[..words], &b[..words]);
    for at in 0..words {
        count += u64::from((a[at] ^ b[at]).count_ones());
    }
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Random bits, the same in each run.
#[cfg(test)]
pub(super) struct Random(pub u64);

#[cfg(test)]
impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_compares_as_one_by_one() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for words in [1, 2, WORDS, 6, 12] {
            let bits: Vec<u64> = (0..words * 1_001).map(|_| random.bits()).collect();
            let wanted: Vec<u64> = (0..words).map(|_| random.bits()).collect();
            let one_by_one: Vec<u16> = bits.chunks_exact(words).map(|bits| differ(bits, &wanted)).collect();
            let mut all = vec![7];
            distances(&bits, &wanted, &mut all);
            assert_eq!(all[1..], one_by_one);
            let mut sorted = one_by_one.clone();
            sorted.sort_unstable();
            for most in [0, sorted[0], sorted[10], sorted[500], u16::MAX] {
                let mut found = Vec::new();
                at_most(&one_by_one, most, |at| found.push(at));
                let expected: Vec<usize> = (0..1_001).filter(|at| one_by_one[*at] <= most).collect();
                assert_eq!(found, expected);
            }
            let mut vector =
                || (0..64 * words).map(|_| random.bits().to_le_bytes()[7].cast_signed()).collect::<Vec<i8>>();
            let vectors: Vec<Vec<i8>> = (0..33).map(|_| vector()).collect();
            let wanted: Vec<i16> = vectors[0].iter().copied().map(i16::from).collect();
            let one_by_one: Vec<i32> = (vectors.iter())
                .map(|vector| vector.iter().zip(&vectors[0]).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
                .collect();
            assert_eq!(dot_products(vectors.iter().map(Vec::as_slice), &wanted), one_by_one);
        }
    }
}
