//! The embedder that is always available: static embeddings, one vector per token, compiled into the program.
//!
//! Owns the reading of the embedding table and the pooling: the sum of a text's token vectors, in which a token that
//! occurs n times counts √n. The length of a row is the weight of its token. `table/` contains the table, how it was
//! made, and from which sources.

use std::sync::OnceLock;

use super::wordpiece::{self, VOCABULARY};
use super::{Calibration, Embedder, Purpose, Space, Vector};
use crate::error::Result;

const MODEL: &str = "ixmcp-static";

/// The first half of the blake3 hash of the table and the vocabulary. A test checks it.
const HASH: &str = "e191c5b212c364ca55c092e3e5eeb887";

/// Little-endian: number of rows and dimension (u32 each), a scale per row (f32), then the rows (i8).
static TABLE: &[u8] = include_bytes!("table/table.bin");
const HEADER_BYTES: usize = 8;
const SCALE_BYTES: usize = 4;

/// The length of a common word's vector.
const COMMON_LENGTH: f64 = 150.0;

/// Square roots that are computed ahead. A token that occurs more often in one text counts no more than that.
const ROOTS: usize = 256;

/// Components that are multiplied at once; the dimension is a multiple.
const LANES: usize = 8;

/// The built-in embedder. Nothing is read before a text is embedded.
pub fn built_in() -> &'static StaticEmbeddings {
    static BUILT_IN: OnceLock<StaticEmbeddings> = OnceLock::new();
    BUILT_IN.get_or_init(StaticEmbeddings::compiled_in)
}

pub struct StaticEmbeddings {
    space: Space,
    scales: &'static [u8],
    rows: &'static [u8],
    roots: Vec<f32>,
}

impl StaticEmbeddings {
    #[expect(clippy::cast_precision_loss, reason = "numbers below ROOTS")]
    fn compiled_in() -> Self {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| TABLE[at + byte]));
        let (count, dimension) = (number(0) as usize, number(4) as usize);
        let (scales, rows) = TABLE[HEADER_BYTES..].split_at(count * SCALE_BYTES);
        assert!(
            rows.len() == count * dimension && count == wordpiece::COUNT,
            "the compiled-in embedding table is complete"
        );
        Self {
            space: Space { model: MODEL.to_owned(), hash: HASH.to_owned(), dimension },
            scales,
            rows,
            roots: (0..ROOTS).map(|count| (count as f32).sqrt()).collect(),
        }
    }

    fn scale(&self, row: usize) -> f32 {
        f32::from_le_bytes(std::array::from_fn(|byte| self.scales[row * SCALE_BYTES + byte]))
    }

    /// How informative a word is, by how far it moves a text's vector: about 1 for a common word; `None` for a word
    /// without known tokens.
    pub fn weight(&self, word: &str) -> Option<f64> {
        let (mut tokens, mut sum) = (Vec::new(), vec![0.0; self.space.dimension]);
        self.pool(word, &mut tokens, &mut sum);
        let length = sum.iter().map(|value| f64::from(value * value)).sum::<f64>().sqrt();
        (length > 0.0).then_some(length / COMMON_LENGTH)
    }

    /// The vector of words that count as much as their weights say.
    pub fn embed_weighed(&self, words: &[(&str, f32)]) -> Vector {
        let (mut tokens, mut sum) = (Vec::new(), vec![0.0; self.space.dimension]);
        let mut own = sum.clone();
        for (word, weight) in words {
            own.fill(0.0);
            self.pool(word, &mut tokens, &mut own);
            sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum += weight * own);
        }
        Vector::quantized(&sum)
    }

    /// Compares texts with a vector.
    pub fn comparison(&self, vector: &Vector) -> Comparison<'_> {
        let components: Vec<f32> = vector.components().iter().map(|&component| f32::from(component)).collect();
        let length = products(&components, &components);
        Comparison { embeddings: self, components, length, tokens: Vec::new(), sum: vec![0.0; self.space.dimension] }
    }

    /// Adds the weighted rows of a text's tokens to `sum`, which must be zero. `tokens` is a reused buffer.
    fn pool(&self, text: &str, tokens: &mut Vec<u32>, sum: &mut [f32]) {
        tokens.clear();
        VOCABULARY.tokens(text, tokens);
        tokens.sort_unstable();
        for same in tokens.chunk_by(|a, b| a == b) {
            let row = same[0] as usize;
            let weight = self.scale(row) * self.roots[same.len().min(ROOTS - 1)];
            let row = &self.rows[row * sum.len()..][..sum.len()];
            for (sum, &component) in sum.iter_mut().zip(row) {
                *sum += weight * f32::from(component.cast_signed());
            }
        }
    }
}

/// A vector that many texts are compared with.
pub struct Comparison<'e> {
    embeddings: &'e StaticEmbeddings,
    components: Vec<f32>,
    /// Square of the vector's length.
    length: f64,
    // Buffers.
    tokens: Vec<u32>,
    sum: Vec<f32>,
}

impl Comparison<'_> {
    /// How near a text is to the vector: its cosine, or 0 where either is empty.
    pub fn cosine(&mut self, text: &str) -> f64 {
        let Self { embeddings, components, length, tokens, sum } = self;
        sum.fill(0.0);
        embeddings.pool(text, tokens, sum);
        let own = products(sum, sum);
        if own > 0.0 && *length > 0.0 { products(sum, components) / (own * *length).sqrt() } else { 0.0 }
    }
}

/// The sum of the products of components.
fn products(one: &[f32], other: &[f32]) -> f64 {
    // Side by side, so that the compiler may compute them so.
    let mut lanes = [0.0_f32; LANES];
    for (one, other) in one.chunks_exact(LANES).zip(other.chunks_exact(LANES)) {
        for at in 0..LANES {
            lanes[at] += one[at] * other[at];
        }
    }
    f64::from(lanes.iter().sum::<f32>())
}

impl Embedder for StaticEmbeddings {
    fn space(&self) -> &Space {
        &self.space
    }

    /// Static embeddings treat queries and passages the same.
    fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
        let (mut tokens, mut sum) = (Vec::new(), vec![0.0; self.space.dimension]);
        let vector = |text: &&str| {
            sum.fill(0.0);
            self.pool(text, &mut tokens, &mut sum);
            Vector::quantized(&sum)
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn calibration(&self) -> Option<&Calibration> {
        static CALIBRATION: OnceLock<Option<Calibration>> = OnceLock::new();
        CALIBRATION.get_or_init(|| Calibration::measure(self).ok().flatten()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embed(text: &str) -> Vector {
        built_in().embed(Purpose::Passage, &[text]).unwrap().remove(0)
    }

    fn similarity(a: &str, b: &str) -> f32 {
        embed(a).cosine(&embed(b))
    }

    /// The script that made the table wrote `references.jsonl`.
    #[test]
    fn vectors_equal_those_of_the_training_script() {
        for line in include_str!("table/references.jsonl").lines() {
            let reference: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = reference["text"].as_str().unwrap();
            let mut tokens = Vec::new();
            VOCABULARY.tokens(text, &mut tokens);
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
    fn paraphrases_are_more_similar_than_other_texts() {
        let code = "pub fn remove_dir_all(path: &Path) -> io::Result<()> { for entry in fs::read_dir(path)? { unlink(entry) } }";
        assert!(
            similarity("delete a folder and everything in it", code) > similarity("parse a date from text", code) + 0.1
        );
        assert!(similarity("erase the file", "delete a document") > similarity("erase the file", "draw a circle"));
    }

    #[test]
    fn a_text_is_as_near_to_a_vector_as_its_own_is() {
        let query = embed("delete a folder");
        for text in ["remove_dir_all", "parse the date", ""] {
            let near = f64::from(query.cosine(&embed(text)));
            assert!((built_in().comparison(&query).cosine(text) - near).abs() < 0.01, "{text}");
        }
        let words = [("delete", 1.0), ("folder", 1.0)];
        assert!(built_in().embed_weighed(&words).cosine(&embed("delete folder")) > 0.999);
        assert!(built_in().embed_weighed(&[("delete", 1.0), ("folder", 0.0)]).cosine(&embed("delete")) > 0.999);
    }

    #[test]
    fn a_text_without_known_words_has_a_zero_vector() {
        assert!(embed("漢字 --- !!!").is_zero());
        assert!(embed("").is_zero());
    }

    #[test]
    fn the_space_identifies_the_table() {
        let space = built_in().space();
        let mut hasher = blake3::Hasher::new();
        hasher.update(TABLE).update(include_bytes!("table/vocabulary.txt"));
        assert_eq!(space.hash, hasher.finalize().to_hex()[..32]);
        assert_eq!(embed("word").components().len(), space.dimension);
        assert!(space.dimension.is_multiple_of(8), "one bit per component fills whole bytes");
    }
}
