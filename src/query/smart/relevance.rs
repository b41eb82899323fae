//! How sure a hit is: a number from 0 to 1 that means the same for every question and every index.
//!
//! A ranking's score orders the hits of one question and says nothing of another's. Here only what stands on its own
//! counts: how much of the question a chunk holds, words that nothing has included, and how near its meaning is. The
//! weights were chosen by hand: they are not yet fitted to known answers.

use super::meaning::Meaning;
use super::question::Question;
use super::rank::Ranked;
use super::weights::{Arm, Part, Ranking};
use super::{Among, Found, ranked};
use crate::budget::Budget;
use crate::error::Result;
use crate::query::PathFilter;
use crate::store::{ChunkId, Snapshot};

/// What is known of a question and a chunk: how much of the question it covers, all of it, in a window of text, and in one
/// line; whether it has it as a phrase or as a name; and the cosine of their meanings.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Evidence([f64; 6]);

/// By the built-in table, in the order of an [`Evidence`].
const WEIGHTS: [f64; 6] = [6.0, 2.0, 1.0, 1.0, 1.5, 5.0];
const BIAS: f64 = -4.5;

impl Evidence {
    /// How likely it is that the chunk answers the question.
    fn score(&self) -> f64 {
        let sum: f64 = self.0.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
        1.0 / (1.0 + (-(sum + BIAS)).exp())
    }
}

/// A chunk that may answer a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevant {
    pub id: ChunkId,
    pub score: f64,
}

/// Where documents are asked for, they are no lesser hits than code.
fn ranking() -> Ranking {
    let mut ranking = Ranking::default();
    for part in [Part::Document, Part::Test, Part::Example, Part::Definition] {
        ranking.set(part.name(), 0.0);
    }
    ranking
}

/// What may answer `text`, the surest first, and of what is as sure the best by all weights.
pub fn relevant(snapshot: &Snapshot, text: &str, filter: &PathFilter, budget: &Budget) -> Result<Vec<Relevant>> {
    let mut question = Question::of_words(text);
    let Found { ranked, .. } = ranked(&ranking(), snapshot, &mut question, Among { filter, scope: None, deep: None }, budget)?;
    let scores = judged(snapshot, &question, &ranked)?;
    // Two places say enough, and leave the order of what is as good to the ranking.
    let rounded = |score: f64| (score * 100.0).round() / 100.0;
    let scored = ranked.iter().zip(scores);
    let mut relevant: Vec<Relevant> =
        scored.map(|(found, evidence)| Relevant { id: found.id, score: rounded(evidence.score()) }).collect();
    relevant.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(relevant)
}

/// What is known of a question and each of what was found for it.
fn judged(snapshot: &Snapshot, question: &Question, ranked: &[Ranked]) -> Result<Vec<Evidence>> {
    let ids: Vec<ChunkId> = ranked.iter().map(|found| found.id).collect();
    let cosines = match Meaning::of(question, snapshot)? {
        Some(meaning) if ranking().has(Arm::Meaning) => meaning.cosines(snapshot, &ids)?,
        _ => vec![0.0; ids.len()],
    };
    let known = question.known_share(snapshot.chunk_count()?);
    let of = |(found, cosine): (&Ranked, f64)| {
        let part = |part| found.parts.of(part);
        Evidence([
            part(Part::Covers) * known,
            part(Part::Window) * known,
            part(Part::Line) * known,
            part(Part::Phrase) * known,
            part(Part::Name).max(part(Part::Defines)) * known,
            cosine.max(0.0),
        ])
    };
    Ok(ranked.iter().zip(cosines).map(of).collect())
}
