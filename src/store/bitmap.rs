//! Sets of chunks: a bit for each id, in blocks, so that gaps between ids cost nothing.

use super::ChunkId;

/// Bits of a block.
const BITS: i64 = 4_096;
const WORDS: usize = 64;

/// Chunks, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bitmap {
    /// By the number of the block, ascending; none is empty.
    blocks: Vec<(i64, Box<[u64; WORDS]>)>,
    len: usize,
}

/// The position of a bit: the number of its block, its word in the block, and a word with only this bit.
fn bit_position(id: ChunkId) -> (i64, usize, u64) {
    let within = id.0.rem_euclid(BITS).cast_unsigned();
    (id.0.div_euclid(BITS), usize::try_from(within / 64).unwrap_or_default(), 1 << (within % 64))
}

impl FromIterator<ChunkId> for Bitmap {
    /// In any order.
    fn from_iter<I: IntoIterator<Item = ChunkId>>(ids: I) -> Self {
        let mut bitmap = Self::default();
        // Those of one file follow each other.
        let mut last = 0;
        for id in ids {
            let (number, word, bit) = bit_position(id);
            if bitmap.blocks.get(last).is_none_or(|(known, _)| *known != number) {
                last = bitmap.blocks.binary_search_by_key(&number, |(known, _)| *known).unwrap_or_else(|at| {
                    bitmap.blocks.insert(at, (number, Box::new([0; WORDS])));
                    at
                });
            }
            let held = &mut bitmap.blocks[last].1[word];
            bitmap.len += usize::from(*held & bit == 0);
            *held |= bit;
        }
        bitmap
    }
}

impl Bitmap {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn contains(&self, id: ChunkId) -> bool {
        self.seeker().holds(id)
    }

    /// For many queries of ascending ids.
    pub fn seeker(&self) -> BitmapSeeker<'_> {
        BitmapSeeker { bitmap: self, at: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = ChunkId> {
        self.blocks.iter().flat_map(|(number, words)| {
            (0_i64..).zip(words.iter()).flat_map(move |(at, &word)| {
                let mut left = word;
                std::iter::from_fn(move || {
                    let bit = (left != 0).then(|| i64::from(left.trailing_zeros()))?;
                    left &= left - 1;
                    Some(ChunkId(number * BITS + at * 64 + bit))
                })
            })
        })
    }

    pub fn last(&self) -> Option<ChunkId> {
        let (number, words) = self.blocks.last()?;
        let (at, word) = (0_i64..).zip(words.iter()).filter(|(_, word)| **word != 0).last()?;
        Some(ChunkId(number * BITS + at * 64 + i64::from(63 - word.leading_zeros())))
    }

    /// How many have a higher id.
    pub fn count_above(&self, id: ChunkId) -> usize {
        let (number, word, bit) = bit_position(id);
        let later = self.blocks.partition_point(|(known, _)| *known <= number);
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let of_later = self.blocks[later..].iter().map(|(_, words)| ones(&words[..])).sum::<usize>();
        let own = later.checked_sub(1).map(|at| &self.blocks[at]).filter(|(known, _)| *known == number);
        let of_own = own.map_or(0, |(_, words)| {
            let above = words[word] & !(bit | (bit - 1));
            above.count_ones() as usize + ones(&words[word + 1..])
        });
        of_later + of_own
    }

    /// Intersects two bitmaps.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for (number, words) in &self.blocks {
            let Ok(at) = other.blocks.binary_search_by_key(number, |(known, _)| *known) else { continue };
            let mut shared = words.clone();
            shared.iter_mut().zip(other.blocks[at].1.iter()).for_each(|(word, other)| *word &= other);
            let count: usize = shared.iter().map(|word| word.count_ones() as usize).sum();
            if count > 0 {
                both.len += count;
                both.blocks.push((*number, shared));
            }
        }
        both
    }
}

/// Looks up one id after the other.
pub(super) struct BitmapSeeker<'b> {
    bitmap: &'b Bitmap,
    at: usize,
}

impl BitmapSeeker<'_> {
    pub fn holds(&mut self, id: ChunkId) -> bool {
        let (number, word, bit) = bit_position(id);
        let blocks = &self.bitmap.blocks;
        if blocks.get(self.at).is_none_or(|(known, _)| *known != number) {
            self.at = blocks.partition_point(|(known, _)| *known < number);
        }
        blocks.get(self.at).is_some_and(|(known, words)| *known == number && words[word] & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn bitmap_from(ids: &BTreeSet<i64>) -> Bitmap {
        ids.iter().rev().map(|&id| ChunkId(id)).collect()
    }

    /// Runs, gaps, boundaries of words and blocks, and the smallest and largest ids.
    fn sets() -> Vec<BTreeSet<i64>> {
        vec![
            BTreeSet::new(),
            (1..=200).collect(),
            (0..30_000).filter(|id| id % 7 == 3).collect(),
            [63, 64, 4_095, 4_096, 8_191, 1 << 40, i64::MAX].into(),
            [i64::MIN, -4_097, -1, 0, 5_000].into(),
        ]
    }

    #[test]
    fn it_is_the_set_that_it_was_made_of() {
        for ids in sets() {
            let bitmap = bitmap_from(&ids);
            assert_eq!(bitmap.iter().map(|id| id.0).collect::<Vec<_>>(), ids.iter().copied().collect::<Vec<_>>());
            assert_eq!((bitmap.len(), bitmap.last().map(|id| id.0)), (ids.len(), ids.last().copied()));
            let mut seeker = bitmap.seeker();
            let sorted: Vec<i64> = ids.iter().copied().collect();
            for id in ids.iter().flat_map(|&id| [id.saturating_sub(1), id, id.saturating_add(1)]) {
                assert_eq!(bitmap.contains(ChunkId(id)), ids.contains(&id), "{id}");
                assert_eq!(seeker.holds(ChunkId(id)), ids.contains(&id), "{id}");
                let above = sorted.len() - sorted.partition_point(|known| *known <= id);
                assert_eq!(bitmap.count_above(ChunkId(id)), above, "{id}");
            }
        }
    }

    #[test]
    fn what_is_in_both_is_what_each_has() {
        for a in sets() {
            for b in sets() {
                let both: BTreeSet<i64> = a.intersection(&b).copied().collect();
                assert_eq!(bitmap_from(&a).and(&bitmap_from(&b)), bitmap_from(&both));
            }
        }
    }
}
