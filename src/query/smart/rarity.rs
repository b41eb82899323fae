//! How rare a word is.
//!
//! Owns the measures of rarity, from which the weights of words follow. Does not own which words are looked for (`candidates`).

use super::parsed_query::Word;
use crate::embed::built_in;
use crate::error::Result;
use crate::query::corpus::Corpus;

/// A word in more chunks than this picks no candidates, and counts as common as a word in exactly this many.
pub(super) const COMMON: usize = 20_000;

/// Chunks elsewhere that an index is thought to be one with, where words are weighed alike for all indexes: of those a
/// word is in the fewer the more its vector weighs.
const ELSEWHERE: f64 = 500.0;
const STEEP: f64 = 4.0;
/// The weight of a word that the static embeddings do not know.
const UNKNOWN: f64 = 1.5;

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
pub(super) fn rarity(all: u64, chunks: usize) -> f64 {
    let (all, chunks) = (all as f64, chunks as f64);
    (((all - chunks).max(0.0) + 0.5) / (chunks + 0.5)).ln_1p()
}

/// Returns how rare a word is in the corpus, from almost 0 if all chunks have it to 1 if none has, and the number of chunks.
#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
pub(super) fn rarity_here(corpus: &Corpus, word: &Word) -> Result<(f64, f64)> {
    let Some(asked) = word.asked() else { return Ok((1.0, 0.0)) };
    let (chunks, all) = corpus.frequency(&asked, None, COMMON + 1)?;
    let (chunks, all) = (chunks as f64, all.max(1) as f64);
    Ok(((all / (1.0 + chunks)).ln_1p() / all.ln_1p(), all))
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
pub(super) fn rarity_anywhere(word: &str, all: u64, chunks: usize) -> f64 {
    let elsewhere = (-STEEP * built_in().weight(word).unwrap_or(UNKNOWN)).exp();
    let (all, mut here) = (all as f64, chunks as f64);
    if chunks > COMMON {
        // It was counted no further.
        here = here.max(all * elsewhere);
    }
    ((all + ELSEWHERE) / (here + ELSEWHERE * elsewhere)).ln()
}
