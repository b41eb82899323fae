//! Smart search: words to ranked chunks, each shown by its best line.
//!
//! Owns the steps of a search: the query is parsed ([`parsed_query`]), each arm finds candidates
//! ([`candidates`]), loaded and filtered here, ranked ([`rank`]), spread over
//! files, and shown. The weights are in one table, in [`weights`].

mod background;
mod candidates;
mod commits;
mod copies;
mod expected;
mod filters;
mod listed;
mod load;
mod messages;
mod names;
mod parsed_query;
mod past;
mod path_category;
mod rank;
mod rarity;
pub mod relevance;
mod rerank;
mod scan;
mod search_scope;
mod semantic;
mod shown_line;
mod stop;
mod synonyms;
mod translations;
mod unspecific;
mod weights;

use self::candidates::Candidates;
use self::filters::ResolvedFilters;
use self::parsed_query::ParsedQuery;
use self::past::Past;
use self::rank::{LoadedCandidate, RankedCandidate};
use self::search_scope::SearchScope;
use super::corpus::{ChunkAt, Corpus, CorpusScope};
use super::qualified_name::qualified;
use super::{Hit, HitPage, Page, PathFilter, exact, near, preview};
use crate::budget::Budget;
use crate::error::Result;
use crate::model::printable;
use crate::store::{ChunkId, FtsQuery, Snapshot};
use crate::words;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::slice;

pub use commits::{CommitHit, CommitQuery, search_commits};
pub use expected::{Expectation, with_unindexed_matches};
pub(in crate::query) use path_category::PathCategory;
pub use rerank::{EmbeddedText, Reranker};
pub use stop::says_nothing;
pub use weights::{ARMS, Part, Ranking, RankingStage, Weights};

use exact::Pattern;
use rerank::{LOOKED_AT, reorder, shares};
use semantic::SemanticQuery;

/// Chunks that are ranked; the rest of a broad query's matches do not matter.
const CANDIDATES: usize = 200;
/// Chunks that are ranked, with those that are found by their vectors.
const MOST_LOADED: usize = CANDIDATES + 2 * candidates::NEAREST;
/// Chunks that are ranked with filters on the content of chunks, which exclude many candidates.
const FILTERED_CANDIDATES: usize = 4_000;
/// Words of a query that are checked for another spelling, and their least length.
const MOST_SUGGESTED: usize = 8;
const SHORTEST_SUGGESTED: usize = 4;
/// Lines containing the query that are reordered.
const SPREAD: usize = 300;
/// A search is one of documents if at most one in this many candidates is code.
const CODE_IN_DOCUMENTS: usize = 10;
/// Score that a file's second hit loses in the order of hits: first hits of other files come before it.
const SECOND: f64 = 0.3;
/// Hits of one file that come before every other file's.
const HITS_A_FILE: usize = 2;

/// The page at `offset` of what answers `text`, best first.
///
/// Filters alone list what they admit. If no chunk has its words, words may be beginnings of longer ones, then any line
/// that contains the query is found. Named filters are never dropped: where nothing passes, there are no hits and a
/// warning says why. The same holds for phrases and exclusions. In text that looks pasted, filters only raise the score
/// of hits that pass.
///
/// The selected model, if there is one, reranks the best hits.
pub fn search(
    corpus: &Corpus,
    reranker: Option<&Reranker>,
    text: &str,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<HitPage<Hit>> {
    search_by(&Ranking::default(), corpus, reranker, text, filter, context, page, budget)
}

/// Searches like [`search`], with a ranking of the caller.
#[expect(clippy::too_many_arguments, reason = "one more than `search`")]
pub fn search_by(
    ranking: &Ranking,
    corpus: &Corpus,
    reranker: Option<&Reranker>,
    text: &str,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<HitPage<Hit>> {
    if let Some(reranker) = reranker {
        reranker.begin();
    }
    let query = ParsedQuery::read(text, corpus)?;
    if query.is_of_filters_alone() {
        return listed(corpus, &query, slice::from_ref(filter), context, page, budget);
    }
    let reranker = reranker.filter(|_| ranking.has(RankingStage::Transformer));
    let among = SearchScope::new(filter, reranker);
    answer(ranking, corpus, query, among, || Ok(None), context, page, budget)
}

/// Searches the chunks of a scope, at `paths` of each source, which are listed if no word was found.
pub fn search_in(
    scope: &CorpusScope,
    paths: impl FnOnce() -> Result<Vec<HashSet<String>>>,
    corpus: &Corpus,
    reranker: Option<&Reranker>,
    text: &str,
    page: (usize, usize),
    budget: &Budget,
) -> Result<HitPage<Hit>> {
    if let Some(reranker) = reranker {
        reranker.begin();
    }
    let query = ParsedQuery::read(text, corpus)?;
    if query.is_of_filters_alone() {
        return listed(corpus, &query, &of_paths(paths()?), 0, page, budget);
    }
    let everywhere = PathFilter::default();
    let among = SearchScope { scope: Some(scope), ..SearchScope::new(&everywhere, reranker) };
    answer(&Ranking::default(), corpus, query, among, || paths().map(Some), 0, page, budget)
}

/// A filter for each source.
fn of_paths(paths: Vec<HashSet<String>>) -> Vec<PathFilter> {
    paths.into_iter().map(PathFilter::from_paths).collect()
}

/// The filter for a source: its own, or the shared one.
fn filter_of(filters: &[PathFilter], source: usize) -> &PathFilter {
    filters.get(source).unwrap_or(&filters[0])
}

fn listed(
    corpus: &Corpus,
    query: &ParsedQuery,
    filters: &[PathFilter],
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<HitPage<Hit>> {
    let page = listed::list(corpus, query, filters, context, page, budget)?;
    let warning = if page.total == Some(0) { nothing_passes(query) } else { None };
    Ok(HitPage { page, warning })
}

/// Runs a parsed query. `paths` returns the paths of the scope, if there is one.
#[expect(clippy::too_many_arguments, reason = "what `search_by` takes, and what is searched")]
fn answer(
    ranking: &Ranking,
    corpus: &Corpus,
    mut query: ParsedQuery,
    among: SearchScope,
    paths: impl FnOnce() -> Result<Option<Vec<HashSet<String>>>>,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<HitPage<Hit>> {
    let mut warnings = std::mem::take(&mut query.unmatched);
    if !warnings.is_empty() && !query.is_pasted {
        return Ok(HitPage { page: Page::from_list(Vec::new(), offset, limit), warning: Some(warnings.join(" ")) });
    }
    if let Some(last) = warnings.last_mut() {
        last.push_str(" It was read as text.");
    }
    let found = ranked(ranking, corpus, &mut query, among, budget)?;
    let page = if found.ranked.is_empty() {
        let at = paths()?.map(of_paths);
        let filters = at.as_deref().unwrap_or(slice::from_ref(among.filter));
        let page = containing(corpus, &query, filters, context, (offset, limit), budget)?;
        warnings.extend(nothing_passes(&query).filter(|_| page.total == Some(0)));
        page
    } else {
        shown(corpus, ranking, &query, found, context, (offset, limit))?
    };
    Ok(HitPage { page, warning: Some(warnings.join(" ")).filter(|warning| !warning.is_empty()) })
}

/// The warning where no hit passes all filters.
fn nothing_passes(query: &ParsedQuery) -> Option<String> {
    let filters = &query.filters;
    if filters.are_named() {
        let of_text = match (filters.require_phrases(), filters.exclude_words()) {
            (true, true) => ", the quoted phrases and the excluded words",
            (true, false) => ", the quoted phrases",
            (false, true) => ", the excluded words",
            (false, false) => "",
        };
        return Some(format!("No match passes the filters: {}{of_text}.", printable(&filters.written())));
    }
    let unquoted = "Without the quotes, any of the words matches.";
    match (filters.require_phrases(), filters.exclude_words()) {
        (true, true) => {
            Some(format!("No match contains the quoted phrases and none of the excluded words. {unquoted}"))
        }
        (true, false) => Some(format!("No match contains the quoted phrases. {unquoted}")),
        (false, true) => Some("Every match contains an excluded word.".to_owned()),
        (false, false) => None,
    }
}

/// Lines that contain the query: of the first ones, a few of each file come first, and code before the rest.
fn containing(
    corpus: &Corpus,
    query: &ParsedQuery,
    filters: &[PathFilter],
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let text = query.rest.trim();
    if text.is_empty() || query.filters.are_of_kinds() {
        return Ok(Page::from_list(Vec::new(), offset, limit));
    }
    let passing = if query.filters.are_named() { Some(passing(corpus, query, filters)?) } else { None };
    let filters = passing.as_deref().unwrap_or(filters);
    let multiline = text.contains('\n');
    let pattern = Pattern { text, is_regex: false, case_sensitive: false, word: false, multiline };
    if let Some(only) = corpus.only().filter(|_| offset >= SPREAD) {
        return exact::search(only, None, &pattern, filter_of(filters, 0), context, (offset, limit), budget);
    }
    let (mut items, mut total, mut is_cut) = (Vec::new(), Some(0), false);
    for at in 0..corpus.source_count() {
        let first = (0, SPREAD.max(offset.saturating_add(limit)));
        let filter = filter_of(filters, at);
        let page = corpus.ask(at, |source| exact::search(source, None, &pattern, filter, context, first, budget))?;
        total = total.zip(page.total).map(|(total, more)| total + more);
        is_cut |= page.is_cut;
        items.extend(page.items.into_iter().map(|hit| Hit { source: at, ..hit }));
    }
    let further = items.split_off(items.len().min(SPREAD));
    let mut code: HashMap<(usize, String), bool> = HashMap::new();
    for hit in &items {
        if let Entry::Vacant(unknown) = code.entry((hit.source, hit.path.clone())) {
            let file = corpus.ask(hit.source, |source| source.file(&hit.path))?;
            let language = file.map(|(_, language)| language).unwrap_or_default();
            unknown.insert(PathCategory::classify(&hit.path, &language) == PathCategory::Code);
        }
    }
    items.sort_by_key(|hit| !code[&(hit.source, hit.path.clone())]);
    let mut ordered = diverse(items, |hit| (hit.source, &hit.path));
    ordered.extend(further);
    let page = Page::from_list(ordered, offset, limit);
    Ok(Page { total, is_cut: page.is_cut || is_cut, ..page })
}

fn shown(
    corpus: &Corpus,
    ranking: &Ranking,
    query: &ParsedQuery,
    found: RankedCandidates,
    context: u32,
    (offset, limit): (usize, usize),
) -> Result<Page<Hit>> {
    let ranked = copies::collapse(found.ranked);
    let mut page = Page::from_list(spread(ranked), offset, limit);
    if !found.complete {
        page.total = None;
    }
    let (_, weights) = rank::weights(query, ranking);
    let past = &found.past;
    page.try_map(|found| {
        let spoke = past.spoke(found.id.source, &found.chunk.path);
        let hit = corpus.ask(found.id.source, |source| hit(source, query, weights, found, context))?;
        Ok(Hit { commit: spoke, ..hit })
    })
}

/// The query with each word that nothing has replaced by the nearest name that is defined somewhere; `None` where no
/// word has one. For a query that found nothing.
pub fn suggest(corpus: &Corpus, text: &str) -> Result<Option<String>> {
    let names = corpus.defined_names()?;
    let mut suggested = text.trim().to_owned();
    let of_words = text.split_whitespace().filter(|word| !filters::is_named(word)).collect::<Vec<_>>().join(" ");
    for token in words::tokens(&of_words).take(MOST_SUGGESTED) {
        let Some(asked) = FtsQuery::phrase(&words::plain(token)) else { continue };
        if token.chars().count() >= SHORTEST_SUGGESTED && !corpus.has_match(&asked)? {
            // Names of another length cannot be near.
            let long = token.len();
            let near = names.iter().map(String::as_str).filter(|name| name.len().abs_diff(long) <= long / 3);
            if let Some(name) = near::closest(token, near) {
                suggested = suggested.replacen(token, name, 1);
            }
        }
    }
    Ok((suggested != text.trim()).then_some(suggested))
}

/// A candidate as an evaluation sees it: its rank, and its parts before their weights.
pub struct WeighedCandidate {
    pub path: String,
    pub lines: (u32, u32),
    /// The weights of its score: `prose`, `messages`, `documents` or `code`.
    pub weights: &'static str,
    pub parts: Vec<(&'static str, f64)>,
}

/// All candidates of a query with the parts of their scores: for the choice of weights.
pub fn weighed(ranking: &Ranking, corpus: &Corpus, text: &str) -> Result<Vec<WeighedCandidate>> {
    let mut query = ParsedQuery::read(text, corpus)?;
    let everywhere = PathFilter::default();
    let among = SearchScope::new(&everywhere, None);
    let found = ranked(ranking, corpus, &mut query, among, &Budget::unlimited())?;
    let (weights, _) = rank::weights(&query, ranking);
    let of = |found: RankedCandidate| WeighedCandidate {
        lines: (found.chunk.start_line, found.chunk.end_line),
        path: found.chunk.path,
        weights,
        parts: Part::ALL.iter().map(|&part| (part.name(), found.parts.get(part))).collect(),
    };
    Ok(found.ranked.into_iter().map(of).collect())
}

/// Whether a candidate is neither prose nor data.
fn is_code(loaded: &LoadedCandidate) -> bool {
    !relevance::is_prose(&loaded.chunk.language) && loaded.category != PathCategory::Data
}

struct RankedCandidates {
    ranked: Vec<RankedCandidate>,
    /// Whether nothing was left out.
    complete: bool,
    past: Past,
}

fn ranked(
    ranking: &Ranking,
    corpus: &Corpus,
    query: &mut ParsedQuery,
    among: SearchScope,
    budget: &Budget,
) -> Result<RankedCandidates> {
    let most = if query.filters.leave_chunks_out() { FILTERED_CANDIDATES } else { CANDIDATES };
    let files = files_in_scope(corpus, query, among.filter)?;
    let both = match (among.scope, &files) {
        (Some(scope), Some(files)) => Some(scope.and(files)),
        _ => None,
    };
    let scope = both.as_ref().or(files.as_ref()).or(among.scope);
    let nearest = if query.filters.leave_chunks_out() { candidates::NEAREST_FILTERED } else { candidates::NEAREST };
    let semantic = if ranking.has(RankingStage::Semantic) { SemanticQuery::embed(query, corpus)? } else { None };
    let is_of_all = scope.is_none() && !query.filters.leave_chunks_out();
    let least = if is_of_all { among.least.max(corpus.least_near()) } else { among.least };
    let near = semantic.as_ref().map(|semantic| (semantic, (nearest, least)));
    let Candidates { chunks: mut candidates, read } = candidates::find(corpus, query, near, ranking, scope, most)?;
    let qualified =
        if ranking.has(RankingStage::Names) { candidates::qualified(corpus, query, scope)? } else { Vec::new() };
    let complete = candidates.len() < most;
    if among.by_rare_words
        && let Some(semantic) = SemanticQuery::embed_rare(query, corpus)?
    {
        candidates::add_new(&mut candidates, semantic.nearest(corpus, (nearest, among.least), scope)?);
    }
    // These come first, so that none is left out.
    candidates.retain(|id| !qualified.contains(id));
    candidates.splice(0..0, qualified.iter().copied());
    // Names are not searched for semantically. Each repository has its own model, so none reranks the hits of several.
    let reranker = among.reranker.filter(|_| !query.is_name()).zip(corpus.only());
    let written = query.written();
    if let Some((reranker, source)) = reranker {
        let near = reranker.nearest(source, &written, nearest, scope.map(|scope| scope.of_source(0)))?;
        candidates::add_new(&mut candidates, near.into_iter().map(|id| ChunkAt { source: 0, id }).collect());
    }
    let mut loaded = load::load(corpus, query, &candidates, read, &qualified, budget)?;
    let code = loaded.iter().filter(|loaded| is_code(loaded)).count();
    query.is_of_documents = !loaded.is_empty() && code * CODE_IN_DOCUMENTS <= loaded.len();
    let (_, weights) = rank::weights(query, ranking);
    let counts = ranking.has(RankingStage::History) && weights.get(Part::Votes) + weights.get(Part::Subjects) != 0.0;
    let past = if counts { Past::load(query, corpus)? } else { Past::default() };
    let is_known =
        |source: usize, path: &str| loaded.iter().any(|one| one.id.source == source && one.chunk.path == path);
    let more = past.candidates(corpus, is_known, scope, |ids| match &semantic {
        Some(semantic) => semantic.cosines(corpus, ids),
        None => Ok(vec![None; ids.len()]),
    })?;
    loaded.extend(load::load(corpus, query, &more, HashMap::new(), &[], budget)?);
    if let Some(semantic) = &semantic {
        let ids: Vec<ChunkAt> = loaded.iter().map(|loaded| loaded.id).collect();
        for (loaded, share) in loaded.iter_mut().zip(semantic.shares(corpus, &ids)?) {
            loaded.semantic = share;
        }
    }
    query.vector = semantic.and_then(|semantic| semantic.of_names(query));
    let complete = complete && loaded.len() < CANDIDATES;
    let mut ranked = rank::rank(corpus, query, ranking, ranking.has(RankingStage::Rerank), &past, loaded)?;
    let (_, weights) = rank::weights(query, ranking);
    if let Some((reranker, source)) = reranker.filter(|_| weights.get(Part::Transformer) != 0.0) {
        look_again(source, reranker, &written, weights, &mut ranked)?;
    }
    Ok(RankedCandidates { ranked, complete, past })
}

/// Reranks the best hits by a model, as far as there is time.
fn look_again(
    source: &Snapshot,
    reranker: &Reranker,
    text: &str,
    weights: &Weights,
    ranked: &mut Vec<RankedCandidate>,
) -> Result<()> {
    let ids: Vec<ChunkId> = ranked.iter().take(LOOKED_AT).map(|found| found.id.id).collect();
    let shares = shares(&reranker.cosines(source, text, &ids, LOOKED_AT)?);
    for (found, share) in ranked.iter_mut().zip(&shares) {
        if let Some(share) = share {
            found.parts.set(Part::Transformer, *share);
            found.score += share * weights.get(Part::Transformer);
        }
    }
    let scores: Vec<Option<f64>> =
        ranked.iter().zip(&shares).map(|(found, share)| share.map(|_| found.score)).collect();
    reorder(ranked, &scores);
    Ok(())
}

/// The chunks of the files that all filters admit; `None` where none asks for files.
fn files_in_scope(corpus: &Corpus, query: &ParsedQuery, filter: &PathFilter) -> Result<Option<CorpusScope>> {
    if filter.is_empty() && !query.filters.leave_files_out() {
        return Ok(None);
    }
    let by = format!("{} {}", filter.name(), query.filters.name());
    let passing = ResolvedFilters::resolve_all(corpus, &query.filters)?;
    let scope = corpus.scope(|at, source| {
        source.scope_of_files(&by, |path, language| filter.admits(path) && passing[at].holds(path, language))
    })?;
    Ok(Some(scope))
}

/// The paths of the same files, of each source.
fn passing(corpus: &Corpus, query: &ParsedQuery, filters: &[PathFilter]) -> Result<Vec<PathFilter>> {
    let passing = ResolvedFilters::resolve_all(corpus, &query.filters)?;
    let of_source = |(at, passing): (usize, &ResolvedFilters)| {
        let filter = filter_of(filters, at);
        let mut paths = corpus.ask(at, |source| source.paths(None))?;
        paths.retain(|(path, language)| filter.admits(path) && passing.holds(path, language));
        Ok(PathFilter::from_paths(paths.into_iter().map(|(path, _)| path).collect()))
    };
    passing.iter().enumerate().map(of_source).collect()
}

/// The hits of a search in the order of the list: by score, a file's second hit as if it scored less, and its further
/// hits after all others.
fn spread(ranked: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let mut of_file: HashMap<(usize, &str), usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (at, found) in ranked.iter().enumerate() {
        let count = of_file.entry(found.file()).or_default();
        *count += 1;
        match *count {
            1 => first.push((found.score, at)),
            2..=HITS_A_FILE => first.push((found.score - SECOND, at)),
            _ => rest.push(at),
        }
    }
    first.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    rank::in_order(ranked, first.into_iter().map(|(_, at)| at).chain(rest))
}

/// The first hits of each file before the rest, else in order. Translations of a file count as that file.
fn diverse<T>(ranked: Vec<T>, file: impl Fn(&T) -> (usize, &str)) -> Vec<T> {
    let translations: HashMap<String, String> = {
        let shared = translations::shared(ranked.iter().map(|found| file(found).1));
        shared.into_iter().map(|(path, common)| (path.to_owned(), common)).collect()
    };
    let mut of_file: HashMap<(usize, String), usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for found in ranked {
        let (source, path) = file(&found);
        let path = translations.get(path).map_or(path, String::as_str);
        let count = of_file.entry((source, path.to_owned())).or_default();
        *count += 1;
        if *count <= HITS_A_FILE { first.push(found) } else { rest.push(found) }
    }
    first.append(&mut rest);
    first
}

fn hit(source: &Snapshot, query: &ParsedQuery, weights: &Weights, found: RankedCandidate, context: u32) -> Result<Hit> {
    let chunk = &found.chunk;
    let line = shown_line::choose(source, query, &found)?;
    let symbol = source.symbol_around(&chunk.path, line)?.map(|symbol| qualified(&symbol));
    let context = context.min(exact::MAX_CONTEXT);
    let preview = if context == 0 {
        let offset = (line - chunk.start_line) as usize;
        let line = chunk.text.split_inclusive('\n').nth(offset).unwrap_or_default();
        preview::cut(line, query.first_match(line))
    } else {
        let first = line.saturating_sub(context).max(1);
        let around = source.lines(&chunk.path, first, line + context)?;
        around.iter().map(|line| preview::cut(line, query.first_match(line))).collect::<Vec<_>>().join("\n")
    };
    let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
    Ok(Hit {
        line,
        start_line: chunk.start_line,
        end_line: chunk.end_line,
        symbol,
        score: rounded(found.score),
        preview,
        parts: found.parts.shares(weights).into_iter().map(|(name, share)| (name, rounded(share))).collect(),
        similar: found.similar,
        similar_in: found.similar_in,
        source: found.id.source,
        path: found.chunk.path,
        commit: None,
    })
}
