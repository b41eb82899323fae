//! Columns of a chunk's row that are computed from its text.
//!
//! Owns the key of a chunk's vector, and the sum of its terms. Does not own the terms (`terms`) or the rows (`chunks`).

use super::terms::Terms;
use crate::model::Chunk;

/// Values of a chunk's row that follow from its text.
pub(super) struct ChunkKey {
    pub(super) hash: [u8; 16],
    pub(super) terms_checksum: u32,
}

impl ChunkKey {
    pub(super) fn compute(chunk: &Chunk, terms: &Terms) -> Self {
        Self { hash: embedded_hash(chunk), terms_checksum: terms.sum }
    }
}

/// Hash of all that is embedded of a chunk, which is the key of its vector.
fn embedded_hash(chunk: &Chunk) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(chunk.text.as_bytes());
    for context in [&chunk.lead, &chunk.headings].into_iter().filter(|context| !context.is_empty()) {
        // No text holds a NUL.
        hasher.update(&[0]).update(context.as_bytes());
    }
    let mut hash = [0; 16];
    hasher.finalize_xof().fill(&mut hash);
    hash
}
