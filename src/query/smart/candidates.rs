//! The candidates of a search: chunks that contain the rarest words of a query, and the definitions of names.
//!
//! Owns the cost of a query. Ranking in the FTS takes microseconds for every chunk that has any of the words; fetching
//! their ids takes a tenth of that, and how much of the query a chunk holds, by how rare the words are, picks the same
//! candidates. So the FTS is asked for ids alone, word by word, and BM25 is computed where the text is loaded (`rank`).
//! Words in too many chunks are left out here; the ranking still sees them in the text.
//! While an index is being built, [`search_words`] says what to look for in files without chunks: the choice there (`unindexed::needed`)
//! follows the one here.

use std::collections::{HashMap, HashSet};

use super::MOST_LOADED;
use super::parsed_query::{self, ParsedQuery, QueryShape, Term};
use super::rarity::{COMMON, rarity, rarity_anywhere};
use super::semantic::{self, SemanticQuery};
use super::weights::{Ranking, RankingStage};
use crate::embed::Vector;
use crate::error::Result;
use crate::extract::kinds;
use crate::query::corpus::{ChunkAt, Corpus, CorpusScope};
use crate::store::{ChunkHit, ChunkId, FtsQuery};
use crate::words::search_words::{LastPicked, MAX_SEARCH_WORDS, SearchWord, SearchWords};

/// Ids that are fetched for one query, about.
const BUDGET: usize = 60_000;
/// Words in more than one of this many chunks are not looked for, in indexes of more than a few thousand chunks, if
/// rarer words are.
const ONE_OF: u64 = 10;
const FEW_THOUSAND: usize = 3_000;
const RARER: u32 = 2;
/// Words that begin so are looked for only from this many characters on: shorter ones match half of everything.
const PREFIX_CHARS: usize = 3;
/// With fewer candidates than this, words may also be prefixes.
const FEW: usize = 10;
/// Definitions of one name.
const DEFINITIONS: usize = 50;
/// Types of one name that a plain word may be.
const TYPES: usize = 10;
/// Chunks that are found only by their vectors.
pub(super) const NEAREST: usize = 100;
/// Chunks that are found only by their vectors, with filters on the content of chunks.
pub(super) const NEAREST_FILTERED: usize = 1_000;
/// The most words that a name is written as.
const WORDS_OF_NAME: usize = 4;
/// Weight of a word in a defined name, relative to its weight in the chunk.
const IN_NAME: f64 = 1.0;
/// Weight of another word for it.
const OTHER: f64 = 0.6;

/// Pieces of files that are not indexed differ somewhat from chunks.
const NEARLY: f64 = 0.98;

/// Weight of a value (number, path, id) in a message, relative to a word of equal rarity.
const VALUE: f64 = 0.3;

/// A word or name to look for.
struct SearchTerm {
    asked: FtsQuery,
    /// Whether only the scope is searched for it.
    is_narrowed: bool,
    /// In how many chunks it occurs.
    chunks: usize,
    is_common: bool,
    weight: f64,
    /// The words of the query that it represents.
    words: u64,
}

/// Chunks that may answer, and the texts of those that were read already.
pub(super) struct Candidates {
    pub chunks: Vec<ChunkAt>,
    pub read: HashMap<ChunkAt, ChunkHit>,
}

/// Chunks that may answer, those that hold most of the query first, by all arms that are on. Weighs the query's
/// words on the way.
pub(super) fn find(
    corpus: &Corpus,
    query: &mut ParsedQuery,
    semantic: Option<(&SemanticQuery, (usize, f64))>,
    ranking: &Ranking,
    scope: Option<&CorpusScope>,
    limit: usize,
) -> Result<Candidates> {
    if ranking.has(RankingStage::Synonyms) {
        query.add_others();
    }
    let Some((semantic, most)) = semantic else {
        let chunks = by_words_and_names(corpus, query, ranking, scope, limit)?;
        return Ok(Candidates { chunks, read: HashMap::new() });
    };
    // The comparison with all vectors reads only memory, the rest reads the database.
    let (near, mut found) = semantic.nearest_while(corpus, most, scope, || {
        let chunks = by_words_and_names(corpus, query, ranking, scope, limit)?;
        let first = if query.filters.leave_chunks_out() { &[][..] } else { &chunks[..chunks.len().min(MOST_LOADED)] };
        let read = first.iter().copied().zip(corpus.chunks(first)?).collect();
        Ok(Candidates { chunks, read })
    })?;
    add_new(&mut found.chunks, near);
    Ok(found)
}

fn by_words_and_names(
    corpus: &Corpus,
    query: &mut ParsedQuery,
    ranking: &Ranking,
    scope: Option<&CorpusScope>,
    limit: usize,
) -> Result<Vec<ChunkAt>> {
    let terms = weigh(corpus, query, scope)?;
    let mut found = Vec::new();
    if ranking.has(RankingStage::Words) {
        found = holding(corpus, query, &terms, scope, limit)?;
        if found.len() < FEW
            && let Some(asked) = widened(query)
        {
            add_new(&mut found, matching(corpus, &asked, scope, limit)?);
        }
    }
    if ranking.has(RankingStage::Names) {
        let named = named(corpus, query)?;
        add_new(&mut found, named.into_iter().filter(|id| scope.is_none_or(|scope| scope.contains(*id))).collect());
    }
    Ok(found)
}

/// The first chunks in path order that match, of those in scope.
fn matching(corpus: &Corpus, asked: &FtsQuery, scope: Option<&CorpusScope>, limit: usize) -> Result<Vec<ChunkAt>> {
    let mut found = corpus.chunks_with(asked, scope, false, usize::MAX)?;
    if let Some(scope) = scope {
        found.retain(|chunk| scope.contains(*chunk));
    }
    corpus.first_in_path_order(found, limit)
}

/// Words to look for in files that have no chunks yet. `vector`: that of the query, unless it is a name.
pub(super) fn search_words(corpus: &Corpus, query: &mut ParsedQuery, vector: Option<&Vector>) -> Result<SearchWords> {
    query.add_others();
    let mut words: Vec<SearchWord> = Vec::new();
    let is_name = query.is_name();
    let mut add = |text: String, asked: Option<FtsQuery>, counts: f64, represents: u64, is_name: bool| -> Result<()> {
        if let Some(asked) = asked.filter(|_| words.len() < MAX_SEARCH_WORDS) {
            let (chunks, _) = corpus.frequency(&asked, None, usize::MAX)?;
            let near = vector.map_or(0.0, |vector| semantic::nearer_by(&text, vector));
            words.push(SearchWord { text, counts, represents, chunks, is_name, near });
        }
        Ok(())
    };
    for (at, word) in query.words.iter().enumerate().filter(|(_, word)| !word.is_stop) {
        let counts = if word.is_value { VALUE } else { 1.0 };
        let is_term = || query.terms.iter().any(|term| term.words == [at]);
        add(word.text.clone(), parsed_query::asked(&word.text), counts, 1 << at, is_name && is_term())?;
        for other in &word.others {
            let counts = if other.is_same { counts } else { counts * OTHER };
            add(other.text.clone(), parsed_query::asked(&other.text), counts, 1 << at, false)?;
        }
    }
    for term in query.terms.iter().filter(|term| term.is_compound()) {
        let represents = term.words.iter().fold(0, |set, at| set | 1 << at);
        add(term.whole(), FtsQuery::phrase(&term.whole()), 1.0, represents, true)?;
    }
    if (2..=WORDS_OF_NAME).contains(&query.terms.len()) {
        // Definitions of that name are candidates; the word itself has no weight.
        add(query.joined.clone(), FtsQuery::phrase(&query.joined), 0.0, 0, true)?;
    }
    Ok(SearchWords { words, needs_all: query.shape == QueryShape::Code, chunks: corpus.chunk_count()? })
}

/// Sets the weight of each word. `counts`: the number of unindexed chunks that contain each word; `chunks`: the number of all unindexed
/// chunks.
pub(super) fn weigh_search_words(query: &mut ParsedQuery, search_words: &SearchWords, counts: &[usize], chunks: u64) {
    let all = search_words.chunks + chunks;
    for (one, unindexed) in search_words.words.iter().zip(counts) {
        let chunks = one.chunks + unindexed;
        let is_one_word = one.represents.count_ones() == 1;
        let at = one.represents.trailing_zeros() as usize;
        if let Some(word) = query.words.get_mut(at).filter(|word| is_one_word && chunks > 0 && word.weight == 0.0) {
            word.weight = rarity(all, chunks) * if word.is_value { VALUE } else { 1.0 };
        }
    }
}

/// The query of the FTS for a word of [`search_words`].
pub(super) fn asked_for(word: &SearchWord) -> Option<FtsQuery> {
    parsed_query::asked(&word.text)
}

/// Sets the weight of each word by its rarity, and returns the words and names to look for, the rarest first.
fn weigh(corpus: &Corpus, query: &mut ParsedQuery, scope: Option<&CorpusScope>) -> Result<Vec<SearchTerm>> {
    let mut terms = Vec::new();
    for (at, word) in query.words.iter_mut().enumerate().filter(|(_, word)| !word.is_stop) {
        let own = std::iter::once((word.text.as_str(), 1.0));
        let others = word.others.iter().map(|other| (other.text.as_str(), if other.is_same { 1.0 } else { OTHER }));
        for (text, counts) in own.chain(others) {
            let Some(asked) = parsed_query::asked(text) else { continue };
            let (chunks, all) = corpus.frequency(&asked, None, COMMON + 1)?;
            if chunks > 0 {
                let rarity = rarity(all, chunks) * if word.is_value { VALUE } else { 1.0 };
                if word.weight == 0.0 {
                    word.weight = rarity;
                }
                let (is_narrowed, chunks, is_common) = in_scope(corpus, &asked, (chunks, all), scope)?;
                let weight = counts * rarity;
                terms.push(SearchTerm { asked, is_narrowed, chunks, is_common, weight, words: 1 << at });
            }
        }
    }
    for term in query.terms.iter().filter(|term| term.is_compound()) {
        let Some(asked) = FtsQuery::phrase(&term.whole()) else { continue };
        let (chunks, all) = corpus.frequency(&asked, None, COMMON + 1)?;
        if chunks > 0 {
            let weight = rarity(all, chunks);
            let (is_narrowed, chunks, is_common) = in_scope(corpus, &asked, (chunks, all), scope)?;
            let words = term.words.iter().fold(0, |set, at| set | 1 << at);
            terms.push(SearchTerm { asked, is_narrowed, chunks, is_common, weight, words });
        }
    }
    terms.sort_by_key(|term| term.chunks);
    Ok(terms)
}

/// Sets what each word says by how rare it is anywhere, and the more by how rare it is here the larger the index is.
/// Words that nothing here has count, too.
pub(super) fn weigh_by_static_embeddings(corpus: &Corpus, query: &mut ParsedQuery) -> Result<()> {
    for word in query.words.iter_mut().filter(|word| !word.is_stop) {
        let Some(asked) = word.asked() else { continue };
        let (chunks, all) = corpus.frequency(&asked, None, COMMON + 1)?;
        word.weight = rarity_anywhere(&word.text, all, chunks);
    }
    Ok(())
}

/// For a word in `chunks` of `all` chunks: whether the FTS is asked for the scope alone, because far more chunks have
/// the word than the scope has; then how many chunks count, and whether the word is common in them.
fn in_scope(
    corpus: &Corpus,
    asked: &FtsQuery,
    (chunks, all): (usize, u64),
    scope: Option<&CorpusScope>,
) -> Result<(bool, usize, bool)> {
    match scope {
        Some(scope) if scope.is_in_folders() && chunks > COMMON.min(2 * scope.chunk_count()) => {
            let (chunks, _) = corpus.frequency(asked, Some(scope), COMMON + 1)?;
            Ok((true, chunks, is_common(scope.chunk_count() as u64, chunks)))
        }
        _ => Ok((false, chunks, is_common(all, chunks))),
    }
}

fn is_common(all: u64, chunks: usize) -> bool {
    chunks > usize::try_from(all / ONE_OF).unwrap_or(COMMON).clamp(FEW_THOUSAND, COMMON)
}

/// Chunks by how much of the query they hold; of a name, those that hold all of its words if there are any.
fn holding(
    corpus: &Corpus,
    query: &ParsedQuery,
    terms: &[SearchTerm],
    scope: Option<&CorpusScope>,
    limit: usize,
) -> Result<Vec<ChunkAt>> {
    let mut held: Vec<(ChunkAt, f64, u64)> = Vec::new();
    let mut picked = 0_u64;
    for one in terms.iter().filter(|one| one.chunks <= COMMON) {
        if one.is_common && picked.count_ones() >= RARER {
            break;
        }
        if held.len() + one.chunks > BUDGET && !held.is_empty() {
            break;
        }
        picked |= one.words;
        let within = scope.filter(|_| one.is_narrowed);
        let anywhere = corpus.chunks_with(&one.asked, within, false, COMMON)?;
        held.extend(anywhere.into_iter().map(|id| (id, one.weight, one.words)));
        let in_names = corpus.chunks_with(&one.asked, within, true, COMMON)?;
        held.extend(in_names.into_iter().map(|id| (id, one.weight * IN_NAME, one.words)));
    }
    if held.is_empty() {
        // Only common words: chunks that have them all.
        let all = FtsQuery::all(terms.iter().map(|one| one.asked.clone()));
        let Some(all) = all else { return Ok(Vec::new()) };
        let first = match corpus.only().filter(|_| scope.is_none()) {
            Some(source) => source.first_of_many(&all, limit)?,
            None => None,
        };
        let of_source = |ids: Vec<ChunkId>| ids.into_iter().map(|id| ChunkAt { source: 0, id }).collect();
        let found = first.map_or_else(|| matching(corpus, &all, scope, limit), |first| Ok(of_source(first)))?;
        return match corpus.last_picked().filter(|_| scope.is_none()) {
            Some(last) => up_to(corpus, last, found),
            None => Ok(found),
        };
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
    let are_whole = query.shape == QueryShape::Code && held.iter().any(|(.., words)| *words == picked);
    if are_whole {
        held.retain(|(.., words)| *words == picked);
    }
    let most_first = |a: &(ChunkAt, f64, u64), b: &(ChunkAt, f64, u64)| b.1.total_cmp(&a.1);
    if !corpus.held_by_unindexed().is_empty() && scope.is_none() && !query.filters.leave_chunks_out() {
        // Where chunks that are not indexed yet hold more, those would be picked.
        let unindexed = corpus.held_by_unindexed().iter().filter(|one| one.is_whole || !are_whole);
        let unindexed: Vec<f64> = unindexed.map(|one| one.weight * NEARLY).collect();
        held.sort_by(most_first);
        let is_picked = |weight: f64| {
            let more = held.partition_point(|one| one.1 > weight) + unindexed.partition_point(|one| *one > weight);
            more < limit
        };
        let picked = held.partition_point(|one| is_picked(one.1));
        held.truncate(picked);
        if let Some(last) = corpus.last_picked() {
            let is_as_good = |one: &(ChunkAt, f64, u64)| (one.1 / last.weight - 1.0).abs() < 1.0 - NEARLY;
            let as_good = held.iter().filter(|one| is_as_good(one)).map(|(id, ..)| *id).collect();
            let kept: HashSet<ChunkAt> = up_to(corpus, last, as_good)?.into_iter().collect();
            held.retain(|one| !is_as_good(one) || kept.contains(&one.0));
        }
    }
    // Among those that hold as much as the last one picked, ids must not decide. Thousands hold less.
    let mut weights: Vec<f64> = held.iter().map(|(_, weight, _)| *weight).collect();
    let Some(last) = limit.checked_sub(1).filter(|last| *last < weights.len()) else {
        held.sort_by(most_first);
        return Ok(held.into_iter().map(|(id, ..)| id).collect());
    };
    let least = *weights.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1;
    held.retain(|(_, weight, _)| *weight >= least);
    held.sort_by(most_first);
    let more = held.partition_point(|(_, weight, _)| *weight > least);
    let alike = held[more..].iter().map(|(id, ..)| *id).collect();
    let mut best: Vec<ChunkAt> = held[..more].iter().map(|(id, ..)| *id).collect();
    best.extend(corpus.first_in_path_order(alike, limit - more)?);
    Ok(best)
}

/// Filters equally good chunks to those that would be picked if all files were indexed: up to the last one in path
/// order.
fn up_to(corpus: &Corpus, last: &LastPicked, chunks: Vec<ChunkAt>) -> Result<Vec<ChunkAt>> {
    let paths: Vec<String> = corpus.chunks(&chunks)?.into_iter().map(|chunk| chunk.path).collect();
    Ok(chunks.into_iter().zip(paths).filter(|(_, path)| *path <= last.path).map(|(chunk, _)| chunk).collect())
}

/// Words that begin as those of the query do.
fn widened(query: &ParsedQuery) -> Option<FtsQuery> {
    let words = query.words.iter().filter(|word| !word.is_stop && word.text.chars().count() >= PREFIX_CHARS);
    let words = words.filter_map(|word| FtsQuery::prefix(&word.text));
    let terms = query.terms.iter().filter(|term| term.is_compound());
    FtsQuery::any(terms.filter_map(|term| FtsQuery::prefix(&term.whole())).chain(words))
}

/// Chunks that define what the query refers to, read as a qualified name.
pub(super) fn qualified(corpus: &Corpus, query: &ParsedQuery, scope: Option<&CorpusScope>) -> Result<Vec<ChunkAt>> {
    let Some(written) = query.qualified() else { return Ok(Vec::new()) };
    let mut found = corpus.chunks_of_qualified(&written)?;
    found.retain(|id| scope.is_none_or(|scope| scope.contains(*id)));
    Ok(found)
}

/// Chunks that define a name that is asked for.
fn named(corpus: &Corpus, query: &ParsedQuery) -> Result<Vec<ChunkAt>> {
    let is_asked = |term: &&Term| query.shape == QueryShape::Code || term.is_compound();
    let mut names: Vec<String> = query.terms.iter().filter(is_asked).map(Term::whole).collect();
    if (2..=WORDS_OF_NAME).contains(&query.terms.len()) {
        names.push(query.joined.clone());
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(corpus.chunks_defining(&name, DEFINITIONS)?);
    }
    // Among few words, even a common one may be a type.
    if query.is_of_few_words() {
        for term in query.terms.iter().filter(|term| !term.is_compound()) {
            found.extend(corpus.chunks_defining_kinds(&term.whole(), kinds::TYPES, TYPES)?);
        }
    }
    Ok(found)
}

pub(super) fn add_new(found: &mut Vec<ChunkAt>, more: Vec<ChunkAt>) {
    let mut known: HashSet<ChunkAt> = found.iter().copied().collect();
    found.extend(more.into_iter().filter(|id| known.insert(*id)));
}
