//! How near a question is to what does not answer it: what makes its cosines comparable with another question's.
//!
//! A question about cooking has little in common with any text of a program, one about files a little with all of them, and
//! the texts of one program are nearer to each other than a lease is to a recipe. So a cosine is told by how far it lies
//! above the usual one of this question among these texts. Most texts of an index do not answer: some of them, drawn evenly,
//! tell what is usual here. A few texts of elsewhere stand beside them, for an index of three files, of which one may answer.

use crate::embed::{Embedder, Vector};

/// Texts of an index that are asked.
pub(super) const HERE: usize = 128;

/// The mean cosine of a question that is so near to texts of the index; `None` for a model whose cosines say nothing.
pub(super) fn cosine(question: &Vector, model: &dyn Embedder, here: &[f64]) -> Option<f64> {
    let elsewhere = model.calibration()?.background().iter().map(|vector| f64::from(question.cosine(vector)));
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
    fn what_is_usual_follows_the_index_and_is_told_without_one() {
        let question = built_in().embed(Purpose::Query, &["how are files opened"]).unwrap().remove(0);
        let usual = |here: &[f64]| cosine(&question, built_in(), here).unwrap();
        assert!(usual(&[]).abs() < 0.2, "{}", usual(&[]));
        assert!(usual(&[0.4; HERE]) > usual(&[0.2; HERE]) && usual(&[0.4; HERE]) < 0.4);
        // Of a few texts each may answer.
        assert!(usual(&[0.9]) - usual(&[]) < 0.05);
    }
}
