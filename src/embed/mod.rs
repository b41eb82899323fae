//! Turns text into vectors that can be compared.
//!
//! Owns the embedders: the built-in static embeddings, and the models that a user selects. Does not own where vectors are
//! stored (`store`) or when they are computed (`update`).

mod built_in;
mod calibration;
pub(crate) mod model_store;
pub mod transformer;
mod wordpiece;

use crate::error::Result;

pub use built_in::{Comparison, built_in};
pub(crate) use calibration::Calibration;

/// Vectors can be compared only within one space: the same model, the same version of its files, the same dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    pub model: String,
    /// Hash of the model's files, in hexadecimal.
    pub hash: String,
    pub dimension: usize,
}

/// The role of a text in a comparison. Some models embed queries and passages differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Query,
    Passage,
}

/// Turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    fn space(&self) -> &Space;

    /// One vector per text, in order.
    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>>;

    /// How to read the model's cosine similarities; `None` if they do not separate right answers from unrelated texts.
    fn calibration(&self) -> Option<&Calibration>;
}

/// A direction in a space: integers from -127 to 127, scaled so that the largest has the magnitude 127. All zero for a text
/// without known tokens; the similarity of a zero vector to any vector, itself included, is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// Quantizes the direction of `values`; their length is lost.
    #[expect(clippy::cast_possible_truncation, reason = "scaled to lie between -127 and 127")]
    pub fn quantized(values: &[f32]) -> Self {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest.is_normal() { 127.0 / largest } else { 0.0 };
        Self(values.iter().map(|value| (value * scale).round() as i8).collect())
    }

    pub fn from_components(components: Vec<i8>) -> Self {
        Self(components)
    }

    pub fn components(&self) -> &[i8] {
        &self.0
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&component| component == 0)
    }

    /// From -1 to 1; 0 if either vector is zero.
    #[expect(clippy::cast_precision_loss, reason = "sums of some thousand products of bytes")]
    pub fn cosine(&self, other: &Self) -> f32 {
        let dot = |a: &[i8], b: &[i8]| -> i32 { a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum() };
        let lengths = (dot(&self.0, &self.0) as f32 * dot(&other.0, &other.0) as f32).sqrt();
        if lengths > 0.0 { dot(&self.0, &other.0) as f32 / lengths } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_keeps_its_direction() {
        let vector = Vector::quantized(&[0.5, -1.0, 0.25]);
        assert_eq!(vector.components(), [64, -127, 32]);
        assert_eq!(Vector::quantized(&[1e-3, -2e-3, 5e-4]), vector);
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
        let opposite = Vector::quantized(&[-0.5, 1.0, -0.25]);
        assert!((vector.cosine(&opposite) + 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_zero_vector_is_similar_to_nothing() {
        for values in [[0.0, 0.0], [f32::NAN, 0.0], [f32::INFINITY, 1.0]] {
            let vector = Vector::quantized(&values);
            assert!(vector.is_zero(), "{values:?}");
            assert!(vector.cosine(&vector).abs() < 1e-6);
        }
    }
}
