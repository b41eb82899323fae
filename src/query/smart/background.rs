//! Background similarity: how similar a query is to unrelated texts. Scores are calibrated with it.
//!
//! A query about cooking is similar to no text of a program; a query about files is somewhat similar to all of them;
//! and two texts of one program are more similar than a lease and a recipe. So the cosine of a text counts by how far
//! it is above the mean cosine of this query and the texts of the index. Most of these do not answer the query: a
//! sample, drawn evenly, is the background. A few foreign texts are added for an index of three files, one of which may
//! be the answer.

use crate::embed::{Embedder, Vector};

/// Texts of an index that are compared.
pub(super) const HERE: usize = 128;

/// The mean cosine of the query with texts of the index, which are `here`, and foreign texts; `None` for a model
/// without calibration.
pub(super) fn cosine(query: &Vector, model: &dyn Embedder, here: &[f64]) -> Option<f64> {
    let elsewhere = model.calibration()?.background().iter().map(|vector| f64::from(query.cosine(vector)));
    let all: Vec<f64> = here.iter().copied().chain(elsewhere).collect();
    #[expect(clippy::cast_precision_loss, reason = "some hundred")]
    let count = all.len().max(1) as f64;
    Some(all.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::{Purpose, built_in};

    #[test]
    fn background_similarity_follows_the_index_and_exists_without_one() {
        let query = built_in().embed(Purpose::Query, &["how are files opened"]).unwrap().remove(0);
        let background = |here: &[f64]| cosine(&query, built_in(), here).unwrap();
        assert!(background(&[]).abs() < 0.2, "{}", background(&[]));
        assert!(background(&[0.4; HERE]) > background(&[0.2; HERE]) && background(&[0.4; HERE]) < 0.4);
        // If there are few texts, each may be the answer.
        assert!(background(&[0.9]) - background(&[]) < 0.05);
    }
}
