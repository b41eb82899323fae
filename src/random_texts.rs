//! A fixed pseudo-random sequence for tests.

/// The state of the sequence.
pub struct Random(pub u64);

impl Random {
    /// From 0 up to `count`, which is not in it.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % count.max(1)
    }

    /// One of `texts`, in which up to four cuts, each of fewer than `cut` characters, are replaced by some of `pieces`.
    pub fn spliced(&mut self, texts: &[&str], pieces: &[&str], cut: usize) -> String {
        let mut text: Vec<char> = texts[self.below(texts.len())].chars().collect();
        for _ in 0..=self.below(4) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(cut)).min(text.len());
            text.splice(at..end, pieces[self.below(pieces.len())].chars());
        }
        text.into_iter().collect()
    }
}
