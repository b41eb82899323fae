//! Reading the texts of candidates.
//!
//! Owns which candidates the filters of a query leave out by their texts, and how many are read at once.

use std::collections::{HashMap, HashSet};

use super::MOST_LOADED;
use super::filters::ResolvedFilters;
use super::parsed_query::ParsedQuery;
use super::path_category::PathCategory;
use super::rank::LoadedCandidate;
use crate::budget::Budget;
use crate::error::Result;
use crate::query::corpus::{ChunkAt, Corpus};
use crate::store::{ChunkHit, Snapshot};

/// The fewest candidates whose texts are read at once.
const READ_AT_ONCE: usize = 64;

/// Loads the first candidates that pass the filters of chunks; `read` are the texts that were read before. Marks
/// candidates that a qualified name refers to.
pub(super) fn load(
    corpus: &Corpus,
    query: &ParsedQuery,
    candidates: &[ChunkAt],
    mut read: HashMap<ChunkAt, ChunkHit>,
    qualified: &[ChunkAt],
    budget: &Budget,
) -> Result<Vec<LoadedCandidate>> {
    let filters = &query.filters;
    let of_kinds: Vec<HashSet<String>> = (0..corpus.source_count())
        .map(|at| corpus.ask(at, |source| filters.paths_of_kinds(source)))
        .collect::<Result<_>>()?;
    let raising =
        if query.raises.is_empty() { None } else { Some(ResolvedFilters::resolve_all(corpus, &query.raises)?) };
    // Whether a chunk passes the filters; its names that do not are removed.
    let admits = |id: ChunkAt, chunk: &mut ChunkHit| -> Result<bool> {
        if !filters.admit_text(&chunk.text) {
            return Ok(false);
        }
        if filters.are_of_kinds() && !of_kinds[id.source].contains(&chunk.path) {
            // What it defines of other kinds is not asked for, and does not make it a better hit.
            let defined = |source: &Snapshot| source.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line);
            let symbols = corpus.ask(id.source, defined)?;
            let names: HashSet<&str> =
                symbols.iter().filter(|symbol| filters.admit_kind(symbol)).map(|symbol| symbol.name.as_str()).collect();
            chunk.names.retain(|name| names.contains(name.text.as_str()));
            return Ok(!names.is_empty());
        }
        Ok(true)
    };
    let mut loaded = Vec::new();
    let mut left = candidates;
    while !left.is_empty() && loaded.len() < MOST_LOADED {
        let (some, rest) = left.split_at(left.len().min((MOST_LOADED - loaded.len()).max(READ_AT_ONCE)));
        left = rest;
        let unread: Vec<ChunkAt> = some.iter().copied().filter(|id| !read.contains_key(id)).collect();
        let chunks = corpus.chunks(&unread)?;
        read.extend(unread.into_iter().zip(chunks));
        for &id in some {
            budget.check()?;
            let Some(mut chunk) = read.remove(&id) else { continue };
            if loaded.len() < MOST_LOADED && admits(id, &mut chunk)? {
                let passes = raising.as_ref().map_or(Ok(false), |raising| {
                    corpus.ask(id.source, |source| raising[id.source].admits(source, &chunk))
                })?;
                let category = PathCategory::classify(&chunk.path, &chunk.language);
                let is_qualified = qualified.contains(&id);
                loaded.push(LoadedCandidate { id, chunk, category, semantic: 0.0, is_qualified, passes });
            }
        }
    }
    Ok(loaded)
}
