//! From text to vectors that can be compared.
//!
//! Owns the embedders: what is built in, and models that a person names. Does not own where vectors are kept
//! (`store`) nor when they are made (`index`).

mod built_in;
mod scale;
pub mod shelf;
pub mod transformer;
mod wordpiece;

use crate::error::Result;

pub use built_in::{BuiltIn, built_in};
pub use scale::Scale;

/// Vectors can be compared only within one space: one model, the very same file of it, one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    pub model: String,
    /// Hexadecimal, of the model's files.
    pub hash: String,
    pub dimension: usize,
}

/// What a text is to be compared as: some models want to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Question,
    Passage,
}

/// Turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    fn space(&self) -> &Space;

    /// One vector a text, in order.
    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>>;

    /// What its cosines say; `None` where they say nothing.
    fn scale(&self) -> Option<&Scale>;
}

/// A direction in a space: whole numbers from -127 to 127, the largest of them one of the two. All zero for a text that
/// the model knows nothing of; that is like no other, itself included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// The direction of `values`, whatever their length.
    #[expect(clippy::cast_possible_truncation, reason = "scaled to lie between -127 and 127")]
    pub fn pointing(values: &[f32]) -> Self {
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

    /// From -1 to 1; 0 when either says nothing.
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
        let vector = Vector::pointing(&[0.5, -1.0, 0.25]);
        assert_eq!(vector.components(), [64, -127, 32]);
        assert_eq!(Vector::pointing(&[1e-3, -2e-3, 5e-4]), vector);
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
        let opposite = Vector::pointing(&[-0.5, 1.0, -0.25]);
        assert!((vector.cosine(&opposite) + 1.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_like_nothing() {
        for values in [[0.0, 0.0], [f32::NAN, 0.0], [f32::INFINITY, 1.0]] {
            let vector = Vector::pointing(&values);
            assert!(vector.is_zero(), "{values:?}");
            assert!(vector.cosine(&vector).abs() < 1e-6);
        }
    }
}
