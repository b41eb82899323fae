//! The embedder that is always there: one vector a token, from a table compiled into the program.
//!
//! Owns the reading of the table and the pooling: the sum of a text's token vectors, in which a token that comes n times
//! counts √n. A row's length is its token's weight. `table/` holds the table, how it was made, and of what.

use std::sync::OnceLock;

use super::wordpiece::Vocabulary;
use super::{Embedder, Purpose, Scale, Space, Vector};
use crate::error::Result;

const MODEL: &str = "ixmcp-static";
const VOCABULARY: &str = include_str!("table/vocabulary.txt");

/// Little-endian: rows and dimension (u32 each), a scale for each row (f32), then the rows (i8).
const TABLE: &[u8] = include_bytes!("table/table.bin");
const HEAD: usize = 8;

/// How long the row of a common word is.
const COMMON: f64 = 150.0;

/// How often a token may come in one text before it counts no more: its root is looked up.
const ROOTS: usize = 256;

/// The built-in embedder; read once, when first asked for.
pub fn built_in() -> &'static BuiltIn {
    static BUILT_IN: OnceLock<BuiltIn> = OnceLock::new();
    BUILT_IN.get_or_init(|| BuiltIn::read(VOCABULARY, TABLE))
}

pub struct BuiltIn {
    space: Space,
    vocabulary: Vocabulary,
    scales: Vec<f32>,
    rows: &'static [u8],
    roots: Vec<f32>,
}

impl BuiltIn {
    #[expect(clippy::cast_precision_loss, reason = "numbers below ROOTS")]
    fn read(vocabulary: &str, table: &'static [u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| table[at + byte]));
        let (count, dimension) = (number(0) as usize, number(4) as usize);
        let (scales, rows) = table[HEAD..].split_at(count * 4);
        assert!(
            rows.len() == count * dimension && vocabulary.lines().count() == count,
            "the table that was compiled in is whole"
        );
        let scales = scales.chunks_exact(4).map(|bytes| f32::from_le_bytes(std::array::from_fn(|byte| bytes[byte])));
        let mut hasher = blake3::Hasher::new();
        hasher.update(table).update(vocabulary.as_bytes());
        let hash = hasher.finalize().to_hex()[..32].to_owned();
        Self {
            space: Space { model: MODEL.to_owned(), hash, dimension },
            vocabulary: Vocabulary::new(vocabulary),
            scales: scales.collect(),
            rows,
            roots: (0..ROOTS).map(|count| (count as f32).sqrt()).collect(),
        }
    }

    /// How much a word says, by how far it moves a text's vector: about 1 for a common word; `None` for one of no known token.
    pub fn weight(&self, word: &str) -> Option<f64> {
        let (mut tokens, mut sum) = (Vec::new(), vec![0.0; self.space.dimension]);
        self.pool(word, &mut tokens, &mut sum);
        let length = sum.iter().map(|value| f64::from(value * value)).sum::<f64>().sqrt();
        (length > 0.0).then_some(length / COMMON)
    }

    /// Adds the weighted rows of a text's tokens to `sum`, which is zero. `tokens` is room to work in.
    fn pool(&self, text: &str, tokens: &mut Vec<u32>, sum: &mut [f32]) {
        tokens.clear();
        self.vocabulary.tokens(text, tokens);
        tokens.sort_unstable();
        for same in tokens.chunk_by(|a, b| a == b) {
            let row = same[0] as usize;
            let weight = self.scales[row] * self.roots[same.len().min(ROOTS - 1)];
            let row = &self.rows[row * sum.len()..][..sum.len()];
            for (sum, &component) in sum.iter_mut().zip(row) {
                *sum += weight * f32::from(component.cast_signed());
            }
        }
    }
}

impl Embedder for BuiltIn {
    fn space(&self) -> &Space {
        &self.space
    }

    /// Questions and passages are alike to a table.
    fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
        let (mut tokens, mut sum) = (Vec::new(), vec![0.0; self.space.dimension]);
        let vector = |text: &&str| {
            sum.fill(0.0);
            self.pool(text, &mut tokens, &mut sum);
            Vector::pointing(&sum)
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn scale(&self) -> Option<&Scale> {
        static SCALE: OnceLock<Option<Scale>> = OnceLock::new();
        SCALE.get_or_init(|| Scale::of(self).ok().flatten()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embed(text: &str) -> Vector {
        built_in().embed(Purpose::Passage, &[text]).unwrap().remove(0)
    }

    fn likeness(a: &str, b: &str) -> f32 {
        embed(a).cosine(&embed(b))
    }

    /// `references.jsonl` was written by the script that made the table.
    #[test]
    fn vectors_are_those_that_the_training_had() {
        for line in include_str!("table/references.jsonl").lines() {
            let reference: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = reference["text"].as_str().unwrap();
            let mut tokens = Vec::new();
            built_in().vocabulary.tokens(text, &mut tokens);
            let expected: Vec<u32> = serde_json::from_value(reference["tokens"].clone()).unwrap();
            assert_eq!(tokens, expected, "{text:?}");
            let expected: Vec<f32> = serde_json::from_value(reference["vector"].clone()).unwrap();
            let vector = embed(text);
            if expected.iter().all(|&value| value == 0.0) {
                assert!(vector.is_zero(), "{text:?}");
                continue;
            }
            let components: Vec<f32> = vector.components().iter().map(|&component| f32::from(component)).collect();
            let dot: f32 = components.iter().zip(&expected).map(|(a, b)| a * b).sum();
            let length: f32 = components.iter().map(|a| a * a).sum::<f32>().sqrt();
            assert!(dot / length > 0.9995, "{text:?}: {}", dot / length);
        }
    }

    #[test]
    fn what_means_the_same_is_nearer_than_what_does_not() {
        let code = "pub fn remove_dir_all(path: &Path) -> io::Result<()> { for entry in fs::read_dir(path)? { unlink(entry) } }";
        assert!(
            likeness("delete a folder and everything in it", code) > likeness("parse a date from text", code) + 0.1
        );
        assert!(likeness("erase the file", "delete a document") > likeness("erase the file", "draw a circle"));
    }

    #[test]
    fn a_text_of_no_known_word_is_like_nothing() {
        assert!(embed("漢字 --- !!!").is_zero());
        assert!(embed("").is_zero());
    }

    #[test]
    fn the_space_names_this_very_table() {
        let space = built_in().space();
        assert_eq!(space.hash.len(), 32);
        assert_eq!(embed("word").components().len(), space.dimension);
        assert!(space.dimension.is_multiple_of(8), "a bit for each component fills whole bytes");
    }
}
