//! The order of hits: what a chunk's score is made of.

use super::question::{Question, Term};
use super::weights::Weights;
use crate::store::{ChunkHit, Definition};

/// The line that shows best why a chunk was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BestLine {
    /// Lines from the chunk's start.
    pub offset: u32,
    /// Share of the question's words in it.
    share: f64,
}

/// The score of a chunk, the parts it is made of, and its best line.
pub(super) fn score(
    question: &Question,
    chunk: &ChunkHit,
    symbols: &[Definition],
    words: f64,
    weights: &Weights,
) -> (f64, Vec<(&'static str, f64)>, BestLine) {
    let best = best_line(question, chunk, symbols);
    let defines = symbols.iter().any(|symbol| is_asked_for(question, symbol));
    let names = symbols.iter().map(|symbol| name_share(question, &symbol.name)).fold(0.0, f64::max);
    let path = share(question, &chunk.path.to_lowercase());
    let parts = vec![
        ("words", weights.words * words),
        ("defines", weights.defines * f64::from(u8::from(defines))),
        ("names", weights.names * names),
        ("together", weights.together * best.share),
        ("path", weights.path * path),
    ];
    (parts.iter().map(|(_, part)| part).sum(), parts, best)
}

fn is_asked_for(question: &Question, symbol: &Definition) -> bool {
    question.terms.iter().any(|term| term.text == symbol.name.to_lowercase())
}

/// How much of a name the question's words make up: `get_user` for "user" is one half.
fn name_share(question: &Question, name: &str) -> f64 {
    let parts: Vec<String> = crate::words::parts(name).map(str::to_lowercase).collect();
    if parts.is_empty() {
        return 0.0;
    }
    let asked = |part: &String| question.terms.iter().any(|term| term.parts.contains(part));
    ratio(parts.iter().filter(|part| asked(part)).count(), parts.len())
}

/// Share of the question's terms that stand in a text (lower-case); a compound term also counts by its parts.
fn share(question: &Question, text: &str) -> f64 {
    if question.terms.is_empty() {
        return 0.0;
    }
    let weight = |term: &Term| {
        if text.contains(&term.text) {
            return 1.0;
        }
        0.5 * ratio(term.parts.iter().filter(|part| text.contains(part.as_str())).count(), term.parts.len())
    };
    #[expect(clippy::cast_precision_loss, reason = "a question has few terms")]
    let count = question.terms.len() as f64;
    question.terms.iter().map(weight).sum::<f64>() / count
}

fn best_line(question: &Question, chunk: &ChunkHit, symbols: &[Definition]) -> BestLine {
    let mut best = BestLine::default();
    let mut best_weight = 0.0;
    for (offset, line) in (0_u32..).zip(chunk.text.lines()) {
        let share = share(question, &line.to_lowercase());
        let number = chunk.start_line + offset;
        let defines = symbols.iter().any(|symbol| symbol.line == number && is_asked_for(question, symbol));
        let weight = share + f64::from(u8::from(defines));
        if weight > best_weight {
            best_weight = weight;
            best = BestLine { offset, share };
        }
    }
    best
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
