//! Where candidates come from: the FTS, and the definitions of names.
//!
//! Owns what a question costs. The FTS takes time for every chunk that has any of the words asked for, so words that
//! stand in too many chunks are left out there; the ranking still sees them in the text.

use std::collections::HashSet;

use super::meaning::Meaning;
use super::question::{Question, Shape};
use super::weights::{Arm, Ranking};
use crate::error::Result;
use crate::store::{FtsQuestion, ScoredChunk, Snapshot};

/// Chunks that the FTS ranks for one question, about.
const BUDGET: usize = 25_000;
/// A word that stands in more chunks than this is as common as one that stands in so many.
const COMMON: usize = 20_000;
/// Words that begin so are looked for only from this many characters on: shorter ones match half of everything.
const PREFIX_CHARS: usize = 3;
/// Fewer candidates than this and words may also be beginnings.
const FEW: usize = 10;
/// Definitions of one name.
const DEFINITIONS: usize = 50;
/// Chunks by their meaning alone.
pub(super) const NEAREST: usize = 100;
/// A name is written as at most so many words.
const WORDS_OF_NAME: usize = 4;

/// A part of the question for the FTS, and in how many chunks it stands.
struct Sought {
    question: FtsQuestion,
    chunks: usize,
}

/// The best chunks, best first, by all arms that are on; weighs the question's words on the way.
pub(super) fn find(
    snapshot: &Snapshot,
    question: &mut Question,
    meaning: Option<&Meaning>,
    ranking: &Ranking,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    let sought = weigh(snapshot, question)?;
    let mut found = Vec::new();
    if ranking.has(Arm::Words) {
        if let Some(asked) = narrow(question, sought) {
            found = snapshot.best_chunks(&asked, limit)?;
        }
        if found.len() < FEW
            && let Some(asked) = widened(question)
        {
            add_new(&mut found, snapshot.best_chunks(&asked, limit)?);
        }
    }
    if ranking.has(Arm::Names) {
        add_new(&mut found, named(snapshot, question)?);
    }
    if let Some(meaning) = meaning {
        let near = meaning.nearest(snapshot, NEAREST)?;
        add_new(&mut found, near.into_iter().map(|near| ScoredChunk { id: near.id, score: 0.0 }).collect());
    }
    Ok(found)
}

/// Sets what each word says by how rare it is, and gives what the FTS can be asked for.
fn weigh(snapshot: &Snapshot, question: &mut Question) -> Result<Vec<Sought>> {
    let all = snapshot.chunk_count()?;
    let mut sought = Vec::new();
    for word in question.words.iter_mut().filter(|word| !word.is_stop) {
        let Some(asked) = FtsQuestion::phrase(&word.text) else { continue };
        let chunks = snapshot.frequency(&asked, COMMON)?;
        if chunks > 0 {
            word.weight = rarity(all, chunks);
            sought.push(Sought { question: asked, chunks });
        }
    }
    for term in question.terms.iter().filter(|term| term.is_compound()) {
        let Some(asked) = FtsQuestion::phrase(&term.text) else { continue };
        let chunks = snapshot.frequency(&asked, COMMON)?;
        if chunks > 0 {
            sought.push(Sought { question: asked, chunks });
        }
    }
    sought.sort_by_key(|sought| sought.chunks);
    Ok(sought)
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
fn rarity(all: u64, chunks: usize) -> f64 {
    let (all, chunks) = (all as f64, chunks as f64);
    (((all - chunks).max(0.0) + 0.5) / (chunks + 0.5)).ln_1p()
}

/// What the FTS is asked: of a name all its words, of a sentence any, but the common ones.
fn narrow(question: &Question, sought: Vec<Sought>) -> Option<FtsQuestion> {
    let name = (question.shape == Shape::Code).then(|| {
        let terms = question.terms.iter().filter_map(|term| {
            let parts = term.words.iter().filter_map(|&at| FtsQuestion::phrase(&question.words[at].text));
            FtsQuestion::any(FtsQuestion::phrase(&term.text).into_iter().chain(FtsQuestion::all(parts)))
        });
        FtsQuestion::all(terms)
    });
    if let Some(name) = name.flatten() {
        return Some(name);
    }
    let mut sum = 0;
    let mut any = Vec::new();
    let mut common = Vec::new();
    for one in sought {
        sum += one.chunks;
        if sum <= BUDGET { any.push(one.question) } else { common.push(one.question) }
    }
    if any.is_empty() { FtsQuestion::all(common.into_iter().take(3)) } else { FtsQuestion::any(any) }
}

/// Any of the words, or words that begin so.
fn widened(question: &Question) -> Option<FtsQuestion> {
    let words = question.words.iter().filter(|word| !word.is_stop && word.text.chars().count() >= PREFIX_CHARS);
    let words = words.filter_map(|word| FtsQuestion::prefix(&word.text));
    let terms = question.terms.iter().filter(|term| term.is_compound());
    FtsQuestion::any(terms.filter_map(|term| FtsQuestion::prefix(&term.text)).chain(words))
}

/// Chunks that define a name that is asked for.
fn named(snapshot: &Snapshot, question: &Question) -> Result<Vec<ScoredChunk>> {
    let mut names: Vec<&str> = match question.shape {
        Shape::Code => question.terms.iter().map(|term| term.text.as_str()).collect(),
        Shape::Prose => {
            question.terms.iter().filter(|term| term.is_compound()).map(|term| term.text.as_str()).collect()
        }
    };
    if (2..=WORDS_OF_NAME).contains(&question.terms.len()) {
        names.push(&question.joined);
    }
    let mut found = Vec::new();
    for name in names {
        for id in snapshot.chunks_defining(name, DEFINITIONS)? {
            found.push(ScoredChunk { id, score: 0.0 });
        }
    }
    Ok(found)
}

fn add_new(found: &mut Vec<ScoredChunk>, more: Vec<ScoredChunk>) {
    let mut known: HashSet<_> = found.iter().map(|chunk| chunk.id).collect();
    found.extend(more.into_iter().filter(|chunk| known.insert(chunk.id)));
}
