//! Where candidates come from: chunks that hold the rarest words of a question, and the definitions of names.
//!
//! Owns what a question costs. Ranking in the FTS takes microseconds for every chunk that has any of the words; fetching
//! their ids takes a tenth of that, and how much of the question a chunk holds, by how rare the words are, picks the same
//! candidates. So the FTS is asked for ids alone, word by word, and BM25 is reckoned where the text is at hand (`rank`).
//! Words in too many chunks are left out here; the ranking still sees them in the text.

use std::collections::HashSet;

use super::meaning::Meaning;
use super::question::{self, Question, Shape, Term};
use super::weights::{Arm, Ranking};
use crate::embed::built_in;
use crate::error::Result;
use crate::query::symbols;
use crate::store::{ChunkId, FtsQuestion, Scope, Snapshot};

/// Ids that are fetched for one question, about.
const BUDGET: usize = 60_000;
/// A word in more chunks than this picks no candidates, and is as common as one that stands in so many.
const COMMON: usize = 20_000;
/// Nor does a word in more than one of so many chunks, where there are more than a few thousand, once rarer ones do.
const ONE_OF: u64 = 10;
const FEW_THOUSAND: usize = 3_000;
const RARER: u32 = 2;
/// Words that begin so are looked for only from this many characters on: shorter ones match half of everything.
const PREFIX_CHARS: usize = 3;
/// Fewer candidates than this and words may also be beginnings.
const FEW: usize = 10;
/// Definitions of one name.
const DEFINITIONS: usize = 50;
/// Chunks by their meaning alone.
pub(super) const NEAREST: usize = 100;
/// The same where some of them are left out by what stands in them.
pub(super) const NEAREST_FILTERED: usize = 1_000;
/// A name is written as at most so many words.
const WORDS_OF_NAME: usize = 4;
/// What a word counts in a defined name, beside what it counts in the chunk.
const IN_NAME: f64 = 1.0;
/// What another word for it counts.
const OTHER: f64 = 0.6;

/// Chunks elsewhere that an index is thought to be one with, where words are weighed for all indexes alike: of those a word
/// stands in the fewer the more its vector weighs.
const ELSEWHERE: f64 = 500.0;
const STEEP: f64 = 4.0;
/// What a word weighs that the table does not know.
const UNKNOWN: f64 = 1.5;

/// A word or name to look for.
struct Sought {
    asked: FtsQuestion,
    /// In how many chunks it stands.
    chunks: usize,
    is_common: bool,
    weight: f64,
    /// The words of the question that it stands for.
    words: u64,
}

/// Chunks that may answer, those that hold most of the question first, by all arms that are on. Weighs the question's
/// words on the way.
pub(super) fn find(
    snapshot: &Snapshot,
    question: &mut Question,
    meaning: Option<(&Meaning, (usize, f64))>,
    ranking: &Ranking,
    scope: Option<&Scope>,
    limit: usize,
) -> Result<Vec<ChunkId>> {
    if ranking.has(Arm::Alike) {
        question.add_others();
    }
    let sought = weigh(snapshot, question, scope)?;
    let mut found = Vec::new();
    if ranking.has(Arm::Words) {
        found = holding(snapshot, question, &sought, scope, limit)?;
        if found.len() < FEW
            && let Some(asked) = widened(question)
        {
            add_new(&mut found, matching(snapshot, &asked, scope, limit)?);
        }
    }
    if ranking.has(Arm::Names) {
        let named = named(snapshot, question)?;
        add_new(&mut found, named.into_iter().filter(|id| scope.is_none_or(|scope| scope.contains(*id))).collect());
    }
    if let Some((meaning, most)) = meaning {
        let near = meaning.nearest(snapshot, most, scope)?;
        add_new(&mut found, near.into_iter().map(|near| near.id).collect());
    }
    Ok(found)
}

/// The first chunks in path order that match, of those in scope.
fn matching(snapshot: &Snapshot, asked: &FtsQuestion, scope: Option<&Scope>, limit: usize) -> Result<Vec<ChunkId>> {
    let found = match scope {
        None => snapshot.chunks_with(asked, usize::MAX)?,
        Some(scope) => {
            let mut found = snapshot.chunks_with(&snapshot.narrowed(scope, asked)?, usize::MAX)?;
            found.retain(|id| scope.contains(*id));
            found
        }
    };
    snapshot.first_in_path_order(found, limit)
}

/// Sets what each word says by how rare it is, and gives what can be looked for, the rarest first.
fn weigh(snapshot: &Snapshot, question: &mut Question, scope: Option<&Scope>) -> Result<Vec<Sought>> {
    let mut sought = Vec::new();
    for (at, word) in question.words.iter_mut().enumerate().filter(|(_, word)| !word.is_stop) {
        let own = std::iter::once((word.text.as_str(), 1.0));
        for (text, counts) in own.chain(word.others.iter().map(|other| (other.as_str(), OTHER))) {
            let Some(asked) = question::asked(text) else { continue };
            let (chunks, all) = snapshot.frequency(&asked, COMMON + 1)?;
            if chunks > 0 {
                let rarity = rarity(all, chunks);
                if word.weight == 0.0 {
                    word.weight = rarity;
                }
                let (asked, chunks, is_common) = in_scope(snapshot, asked, (chunks, all), scope)?;
                sought.push(Sought { asked, chunks, is_common, weight: counts * rarity, words: 1 << at });
            }
        }
    }
    for term in question.terms.iter().filter(|term| term.is_compound()) {
        let Some(asked) = FtsQuestion::phrase(&term.whole()) else { continue };
        let (chunks, all) = snapshot.frequency(&asked, COMMON + 1)?;
        if chunks > 0 {
            let weight = rarity(all, chunks);
            let (asked, chunks, is_common) = in_scope(snapshot, asked, (chunks, all), scope)?;
            let words = term.words.iter().fold(0, |set, at| set | 1 << at);
            sought.push(Sought { asked, chunks, is_common, weight, words });
        }
    }
    sought.sort_by_key(|sought| sought.chunks);
    Ok(sought)
}

/// Sets what each word says by how rare it is anywhere, and the more by how rare it is here the larger the index is. Words
/// that nothing here has count, too.
pub(super) fn weigh_apart(snapshot: &Snapshot, question: &mut Question) -> Result<()> {
    for word in question.words.iter_mut().filter(|word| !word.is_stop) {
        let Some(asked) = word.asked() else { continue };
        let (chunks, all) = snapshot.frequency(&asked, COMMON + 1)?;
        word.weight = rarity_anywhere(&word.text, all, chunks);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
fn rarity_anywhere(word: &str, all: u64, chunks: usize) -> f64 {
    let elsewhere = (-STEEP * built_in().weight(word).unwrap_or(UNKNOWN)).exp();
    let (all, mut here) = (all as f64, chunks as f64);
    if chunks > COMMON {
        // It was counted no further.
        here = here.max(all * elsewhere);
    }
    ((all + ELSEWHERE) / (here + ELSEWHERE * elsewhere)).ln()
}

/// What to ask for a word of so many chunks of all, how many those are, and whether that is common. Where more of them lie
/// outside of the scope than it has, the FTS is to leave those out.
fn in_scope(
    snapshot: &Snapshot,
    asked: FtsQuestion,
    (chunks, all): (usize, u64),
    scope: Option<&Scope>,
) -> Result<(FtsQuestion, usize, bool)> {
    match scope {
        Some(scope) if scope.is_in_folders() && chunks > COMMON.min(2 * scope.len()) => {
            let asked = snapshot.narrowed(scope, &asked)?;
            let (chunks, _) = snapshot.frequency(&asked, COMMON + 1)?;
            Ok((asked, chunks, is_common(scope.len() as u64, chunks)))
        }
        _ => Ok((asked, chunks, is_common(all, chunks))),
    }
}

fn is_common(all: u64, chunks: usize) -> bool {
    chunks > usize::try_from(all / ONE_OF).unwrap_or(COMMON).clamp(FEW_THOUSAND, COMMON)
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more")]
fn rarity(all: u64, chunks: usize) -> f64 {
    let (all, chunks) = (all as f64, chunks as f64);
    (((all - chunks).max(0.0) + 0.5) / (chunks + 0.5)).ln_1p()
}

/// Chunks by how much of the question they hold; of a name, those that hold all of its words if there are any.
fn holding(
    snapshot: &Snapshot,
    question: &Question,
    sought: &[Sought],
    scope: Option<&Scope>,
    limit: usize,
) -> Result<Vec<ChunkId>> {
    let mut held: Vec<(ChunkId, f64, u64)> = Vec::new();
    let mut picked = 0_u64;
    for one in sought.iter().filter(|one| one.chunks <= COMMON) {
        if one.is_common && picked.count_ones() >= RARER {
            break;
        }
        if held.len() + one.chunks > BUDGET && !held.is_empty() {
            break;
        }
        picked |= one.words;
        held.extend(snapshot.chunks_with(&one.asked, COMMON)?.into_iter().map(|id| (id, one.weight, one.words)));
        let in_names = snapshot.chunks_with(&one.asked.clone().in_names(), COMMON)?;
        held.extend(in_names.into_iter().map(|id| (id, one.weight * IN_NAME, one.words)));
    }
    if held.is_empty() {
        // Nothing but common words: chunks that have them all.
        let all = FtsQuestion::all(sought.iter().map(|one| one.asked.clone()));
        return all.map_or_else(|| Ok(Vec::new()), |all| matching(snapshot, &all, scope, limit));
    }
    // Each word's chunks come in order, which this sort makes use of.
    held.sort_by_key(|(id, ..)| *id);
    held.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
            kept.2 |= next.2;
        }
        same
    });
    if let Some(scope) = scope {
        held.retain(|(id, ..)| scope.contains(*id));
    }
    if question.shape == Shape::Code && held.iter().any(|(.., words)| *words == picked) {
        held.retain(|(.., words)| *words == picked);
    }
    held.sort_by(|a, b| b.1.total_cmp(&a.1));
    // Of those that hold as much as the last that is picked, the ids must not choose.
    let Some(&(_, least, _)) = limit.checked_sub(1).and_then(|last| held.get(last)) else {
        return Ok(held.into_iter().map(|(id, ..)| id).collect());
    };
    let more = held.iter().take_while(|(_, weight, _)| *weight > least).count();
    let alike = held[more..].iter().take_while(|(_, weight, _)| *weight >= least).map(|(id, ..)| *id).collect();
    let mut best: Vec<ChunkId> = held[..more].iter().map(|(id, ..)| *id).collect();
    best.extend(snapshot.first_in_path_order(alike, limit - more)?);
    Ok(best)
}

/// Words that begin as those of the question do.
fn widened(question: &Question) -> Option<FtsQuestion> {
    let words = question.words.iter().filter(|word| !word.is_stop && word.text.chars().count() >= PREFIX_CHARS);
    let words = words.filter_map(|word| FtsQuestion::prefix(&word.text));
    let terms = question.terms.iter().filter(|term| term.is_compound());
    FtsQuestion::any(terms.filter_map(|term| FtsQuestion::prefix(&term.whole())).chain(words))
}

/// Chunks that define what the question means, read as a qualified name.
pub(super) fn meant(snapshot: &Snapshot, question: &Question, scope: Option<&Scope>) -> Result<Vec<ChunkId>> {
    let Some((name, qualifier)) = question.qualified() else { return Ok(Vec::new()) };
    let mut found = symbols::chunks_meant(snapshot, name, &qualifier)?;
    found.retain(|id| scope.is_none_or(|scope| scope.contains(*id)));
    Ok(found)
}

/// Chunks that define a name that is asked for.
fn named(snapshot: &Snapshot, question: &Question) -> Result<Vec<ChunkId>> {
    let is_asked = |term: &&Term| question.shape == Shape::Code || term.is_compound();
    let mut names: Vec<String> = question.terms.iter().filter(is_asked).map(Term::whole).collect();
    if (2..=WORDS_OF_NAME).contains(&question.terms.len()) {
        names.push(question.joined.clone());
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(snapshot.chunks_defining(&name, DEFINITIONS)?);
    }
    Ok(found)
}

pub(super) fn add_new(found: &mut Vec<ChunkId>, more: Vec<ChunkId>) {
    let mut known: HashSet<ChunkId> = found.iter().copied().collect();
    found.extend(more.into_iter().filter(|id| known.insert(*id)));
}
