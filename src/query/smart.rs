//! Smart search: words to ranked chunks, each shown by its best line.
//!
//! Owns how a question is answered, in this order: it is read ([`question`]), candidates are found by each arm
//! ([`candidates`]), loaded and filtered here, ranked by everything that is known of them ([`rank`]), spread over files,
//! and shown. The weights stand in one table, in [`weights`].

mod alike;
mod candidates;
mod deep;
mod filters;
mod listed;
mod meaning;
mod places;
mod question;
mod rank;
pub mod relevance;
mod scan;
mod stop;
mod usual;
mod weights;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use self::filters::Passing;
use self::question::Question;
use self::rank::{Loaded, Ranked};
use super::{Hit, Page, PathFilter, Searched, exact, near, preview};
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::languages;
use crate::model::printable;
use crate::store::{ChunkId, Definition, FtsQuestion, Scope, Snapshot};
use crate::words;

pub use deep::{Deep, Learnt};
pub(in crate::query) use places::Place;
pub use stop::says_nothing;
pub use weights::{ARMS, Arm, CODE, PROSE, Part, Ranking, Weights};

use deep::{LOOKED_AT, reorder, shares};
use exact::Pattern;
use meaning::Meaning;

/// Chunks that are ranked; beyond it a question is too wide for its tail to matter.
const CANDIDATES: usize = 200;
/// With filters that only a chunk itself can pass more are looked at, since many fall away.
const FILTERED_CANDIDATES: usize = 4_000;
/// Words of a question that are looked at for another spelling, and how long they must be.
const MOST_SUGGESTED: usize = 8;
const SHORTEST_SUGGESTED: usize = 4;
/// Lines that have the question inside among which some come first.
const SPREAD: usize = 300;
/// Hits of one file that come before every other file's.
const HITS_A_FILE: usize = 2;

/// The page at `offset` of what answers `text`, best first.
///
/// Filters alone list what they admit. If no chunk has its words, words may be beginnings of longer ones, then any text that
/// has it inside is found. Named filters are never dropped: where nothing passes, there are no hits and a warning says why.
/// The same holds for phrases and exclusions. In text that looks pasted, filters only raise the score of hits that pass.
///
/// With a model at hand the best hits are looked at by it, too.
pub fn search(
    snapshot: &Snapshot,
    deep: Option<&Deep>,
    text: &str,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<Searched<Hit>> {
    search_by(&Ranking::default(), snapshot, deep, text, filter, context, page, budget)
}

/// The same by a ranking of the caller's.
#[expect(clippy::too_many_arguments, reason = "one more than `search`")]
pub fn search_by(
    ranking: &Ranking,
    snapshot: &Snapshot,
    deep: Option<&Deep>,
    text: &str,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<Searched<Hit>> {
    if let Some(deep) = deep {
        deep.begin();
    }
    let question = Question::read(text, snapshot)?;
    if question.is_of_filters_alone() {
        return listed(snapshot, &question, filter, context, page, budget);
    }
    let deep = deep.filter(|_| ranking.has(Arm::Transformer));
    let among = Among { filter, scope: None, least: meaning::LEAST, deep };
    answer(ranking, snapshot, question, among, || Ok(None), context, page, budget)
}

/// The same among the chunks of a scope, at `paths`, which are asked for where no word was found.
pub fn search_in(
    scope: &Scope,
    paths: impl FnOnce() -> Result<HashSet<String>>,
    snapshot: &Snapshot,
    deep: Option<&Deep>,
    text: &str,
    page: (usize, usize),
    budget: &Budget,
) -> Result<Searched<Hit>> {
    if let Some(deep) = deep {
        deep.begin();
    }
    let question = Question::read(text, snapshot)?;
    if question.is_of_filters_alone() {
        return listed(snapshot, &question, &PathFilter::of_paths(paths()?), 0, page, budget);
    }
    let among = Among { filter: &PathFilter::default(), scope: Some(scope), least: meaning::LEAST, deep };
    answer(&Ranking::default(), snapshot, question, among, || paths().map(Some), 0, page, budget)
}

fn listed(
    snapshot: &Snapshot,
    question: &Question,
    filter: &PathFilter,
    context: u32,
    page: (usize, usize),
    budget: &Budget,
) -> Result<Searched<Hit>> {
    let page = listed::list(snapshot, question, filter, context, page, budget)?;
    let warning = if page.total == Some(0) { nothing_passes(question) } else { None };
    Ok(Searched { page, warning })
}

/// What is searched.
#[derive(Clone, Copy)]
struct Among<'a> {
    filter: &'a PathFilter,
    scope: Option<&'a Scope>,
    /// How near chunks must be that have no word of the question.
    least: f64,
    /// A model that looks at the best.
    deep: Option<&'a Deep<'a>>,
}

/// Runs a parsed query. `paths` returns the paths of the scope, if there is one.
#[expect(clippy::too_many_arguments, reason = "what `search_by` takes, and what is searched")]
fn answer(
    ranking: &Ranking,
    snapshot: &Snapshot,
    mut question: Question,
    among: Among,
    paths: impl FnOnce() -> Result<Option<HashSet<String>>>,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Searched<Hit>> {
    let mut warnings = std::mem::take(&mut question.unmatched);
    if !warnings.is_empty() && !question.is_pasted {
        return Ok(Searched { page: Page::of(Vec::new(), offset, limit), warning: Some(warnings.join(" ")) });
    }
    if let Some(last) = warnings.last_mut() {
        last.push_str(" It was read as text.");
    }
    let found = ranked(ranking, snapshot, &mut question, among, budget)?;
    let page = if found.ranked.is_empty() {
        let at = paths()?.map(PathFilter::of_paths);
        let filter = at.as_ref().unwrap_or(among.filter);
        let page = inside(snapshot, &question, filter, context, (offset, limit), budget)?;
        warnings.extend(nothing_passes(&question).filter(|_| page.total == Some(0)));
        page
    } else {
        shown(snapshot, ranking, &question, found, context, (offset, limit))?
    };
    Ok(Searched { page, warning: Some(warnings.join(" ")).filter(|warning| !warning.is_empty()) })
}

/// The warning where no hit passes all filters.
fn nothing_passes(question: &Question) -> Option<String> {
    let filters = &question.filters;
    match (filters.are_named(), filters.are_of_text()) {
        (true, false) => Some(format!("No match passes the filters: {}.", printable(&filters.written()))),
        (true, true) => {
            let named = printable(&filters.written());
            Some(format!("No match passes the filters: {named}, the quoted phrases and the excluded words."))
        }
        (false, true) => Some(
            "No match contains the quoted phrases and none of the excluded words. Without the quotes, any of the words \
             matches."
                .to_owned(),
        ),
        (false, false) => None,
    }
}

/// Text that has the question inside: of the first lines that do, a few of each file come first, and code before the rest.
fn inside(
    snapshot: &Snapshot,
    question: &Question,
    filter: &PathFilter,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let text = question.rest.trim();
    if text.is_empty() || question.filters.are_of_kinds() {
        return Ok(Page::of(Vec::new(), offset, limit));
    }
    let passing = if question.filters.are_named() { Some(passing(snapshot, question, filter)?) } else { None };
    let filter = passing.as_ref().unwrap_or(filter);
    let multiline = text.contains('\n');
    let pattern = Pattern { text, is_regex: false, case_sensitive: false, word: false, multiline };
    let search = |page| exact::search(snapshot, &pattern, filter, context, page, budget);
    if offset >= SPREAD {
        return search((offset, limit));
    }
    let Page { mut items, total, is_cut, .. } = search((0, SPREAD.max(offset.saturating_add(limit))))?;
    let further = items.split_off(items.len().min(SPREAD));
    let mut code: HashMap<String, bool> = HashMap::new();
    for hit in &items {
        if !code.contains_key(&hit.path) {
            let language = snapshot.file(&hit.path)?.map(|(_, language)| language).unwrap_or_default();
            code.insert(hit.path.clone(), Place::of(&hit.path, &language) == Place::Code);
        }
    }
    items.sort_by_key(|hit| !code[&hit.path]);
    let mut ordered = diverse(items, |hit| &hit.path);
    ordered.extend(further);
    let page = Page::of(ordered, offset, limit);
    Ok(Page { total, is_cut: page.is_cut || is_cut, ..page })
}

fn shown(
    snapshot: &Snapshot,
    ranking: &Ranking,
    question: &Question,
    found: Found,
    context: u32,
    (offset, limit): (usize, usize),
) -> Result<Page<Hit>> {
    let mut page = Page::of(diverse(found.ranked, |found| &found.chunk.path), offset, limit);
    if !found.complete {
        page.total = None;
    }
    let weights = rank::weights(question, ranking);
    page.try_map(|found| hit(snapshot, question, weights, found, context))
}

/// The question with each word that nothing has replaced by the nearest name that is defined somewhere; `None` where no
/// word has one. For a question that found nothing.
pub fn suggest(snapshot: &Snapshot, text: &str) -> Result<Option<String>> {
    let names = snapshot.defined_names()?;
    let mut suggested = text.trim().to_owned();
    let of_words = text.split_whitespace().filter(|word| !filters::is_named(word)).collect::<Vec<_>>().join(" ");
    for token in words::tokens(&of_words).take(MOST_SUGGESTED) {
        let Some(asked) = FtsQuestion::phrase(&words::plain(token)) else { continue };
        if token.chars().count() >= SHORTEST_SUGGESTED && snapshot.chunks_with(&asked, 1)?.is_empty() {
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

/// A candidate as an evaluation sees it: its place, and its parts before their weights.
pub struct Weighed {
    pub path: String,
    pub lines: (u32, u32),
    pub is_code: bool,
    pub parts: Vec<(&'static str, f64)>,
}

/// All candidates of a question with what their scores are made of: what weights are chosen from.
pub fn weighed(ranking: &Ranking, snapshot: &Snapshot, text: &str) -> Result<Vec<Weighed>> {
    let mut question = Question::read(text, snapshot)?;
    let among = Among { filter: &PathFilter::default(), scope: None, least: meaning::LEAST, deep: None };
    let found = ranked(ranking, snapshot, &mut question, among, &Budget::unlimited())?;
    let is_code = question.shape == question::Shape::Code;
    let of = |found: Ranked| Weighed {
        lines: (found.chunk.start_line, found.chunk.end_line),
        path: found.chunk.path,
        is_code,
        parts: Part::ALL.iter().map(|&part| (part.name(), found.parts.of(part))).collect(),
    };
    Ok(found.ranked.into_iter().map(of).collect())
}

struct Found {
    ranked: Vec<Ranked>,
    /// Whether nothing was left out.
    complete: bool,
}

fn ranked(
    ranking: &Ranking,
    snapshot: &Snapshot,
    question: &mut Question,
    among: Among,
    budget: &Budget,
) -> Result<Found> {
    let most = if question.filters.leave_chunks_out() { FILTERED_CANDIDATES } else { CANDIDATES };
    let files = files_in_scope(snapshot, question, among.filter)?;
    let both = match (among.scope, &files) {
        (Some(scope), Some(files)) => Some(scope.and(files)),
        _ => None,
    };
    let scope = both.as_ref().or(files.as_deref()).or(among.scope);
    let nearest = if question.filters.leave_chunks_out() { candidates::NEAREST_FILTERED } else { candidates::NEAREST };
    let meaning = if ranking.has(Arm::Meaning) { Meaning::of(question, snapshot)? } else { None };
    let near = meaning.as_ref().map(|meaning| (meaning, (nearest, among.least)));
    let mut candidates = candidates::find(snapshot, question, near, ranking, scope, most)?;
    let meant = if ranking.has(Arm::Names) { candidates::meant(snapshot, question, scope)? } else { Vec::new() };
    let complete = candidates.len() < most;
    // They come first, so that none is left out.
    candidates.retain(|id| !meant.contains(id));
    candidates.splice(0..0, meant.iter().copied());
    // Names are not asked for by meaning.
    let deep = among.deep.filter(|_| !question.is_name());
    let written = question.written();
    if let Some(deep) = deep {
        let near = deep.nearest(snapshot, &written, nearest, scope)?;
        candidates::add_new(&mut candidates, near);
    }
    let mut loaded = load(snapshot, question, candidates, &meant, budget)?;
    if let Some(meaning) = meaning {
        let ids: Vec<ChunkId> = loaded.iter().map(|loaded| loaded.id).collect();
        for (loaded, share) in loaded.iter_mut().zip(meaning.shares(snapshot, &ids)?) {
            loaded.meaning = share;
        }
    }
    let complete = complete && loaded.len() < CANDIDATES;
    let mut ranked = rank::rank(snapshot, question, ranking, ranking.has(Arm::Rerank), loaded)?;
    if let Some(deep) = deep.filter(|_| rank::weights(question, ranking).of(Part::Transformer) != 0.0) {
        look_again(snapshot, deep, &written, rank::weights(question, ranking), &mut ranked)?;
    }
    Ok(Found { ranked, complete })
}

/// Has a model look at the best, and puts those that it came to into their new order.
fn look_again(snapshot: &Snapshot, deep: &Deep, text: &str, weights: &Weights, ranked: &mut Vec<Ranked>) -> Result<()> {
    let ids: Vec<ChunkId> = ranked.iter().take(LOOKED_AT).map(|found| found.id).collect();
    let shares = shares(&deep.cosines(snapshot, text, &ids, LOOKED_AT)?);
    for (found, share) in ranked.iter_mut().zip(&shares) {
        if let Some(share) = share {
            found.parts.set(Part::Transformer, *share);
            found.score += share * weights.of(Part::Transformer);
        }
    }
    let scores: Vec<Option<f64>> =
        ranked.iter().zip(&shares).map(|(found, share)| share.map(|_| found.score)).collect();
    reorder(ranked, &scores);
    Ok(())
}

/// The chunks of the files that all filters admit; `None` where none asks for files.
fn files_in_scope(snapshot: &Snapshot, question: &Question, filter: &PathFilter) -> Result<Option<Arc<Scope>>> {
    if filter.is_empty() && !question.filters.leave_files_out() {
        return Ok(None);
    }
    let by = format!("{} {}", filter.name(), question.filters.name());
    let passing = Passing::of(snapshot, &question.filters)?;
    snapshot.scope_of_files(&by, |path, language| filter.admits(path) && passing.holds(path, language)).map(Some)
}

/// The paths of the same files.
fn passing(snapshot: &Snapshot, question: &Question, filter: &PathFilter) -> Result<PathFilter> {
    let passing = Passing::of(snapshot, &question.filters)?;
    let mut paths = snapshot.paths(None)?;
    paths.retain(|(path, language)| filter.admits(path) && passing.holds(path, language));
    Ok(PathFilter::of_paths(paths.into_iter().map(|(path, _)| path).collect()))
}

/// The texts of the first candidates that no filter of chunks leaves out; those that are meant by name are marked.
fn load(
    snapshot: &Snapshot,
    question: &Question,
    candidates: Vec<ChunkId>,
    meant: &[ChunkId],
    budget: &Budget,
) -> Result<Vec<Loaded>> {
    let filters = &question.filters;
    let of_kinds = filters.paths_of_kinds(snapshot)?;
    let raising = if question.raises.is_empty() { None } else { Some(Passing::of(snapshot, &question.raises)?) };
    let mut loaded = Vec::new();
    for id in candidates {
        if loaded.len() >= CANDIDATES + candidates::NEAREST {
            break;
        }
        budget.check()?;
        let mut chunk = snapshot.chunk(id)?;
        if !filters.admit_text(&chunk.text) {
            continue;
        }
        if filters.are_of_kinds() && !of_kinds.contains(&chunk.path) {
            // What it defines of other kinds is not asked for, and does not make it a better hit.
            let symbols = snapshot.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line)?;
            let names: HashSet<&str> =
                symbols.iter().filter(|symbol| filters.admit_kind(symbol)).map(|symbol| symbol.name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            chunk.names.retain(|name| names.contains(name.as_str()));
        }
        let passes = raising.as_ref().map_or(Ok(false), |raising| raising.admits(snapshot, &chunk))?;
        loaded.push(Loaded { id, chunk, meaning: 0.0, is_meant: meant.contains(&id), passes });
    }
    Ok(loaded)
}

/// The first hits of each file before the rest, else in order.
fn diverse<T>(ranked: Vec<T>, path: impl Fn(&T) -> &str) -> Vec<T> {
    let mut of_file: HashMap<String, usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for found in ranked {
        let count = of_file.entry(path(&found).to_owned()).or_default();
        *count += 1;
        if *count <= HITS_A_FILE { first.push(found) } else { rest.push(found) }
    }
    first.append(&mut rest);
    first
}

fn hit(snapshot: &Snapshot, question: &Question, weights: &Weights, found: Ranked, context: u32) -> Result<Hit> {
    let chunk = &found.chunk;
    let line = best_line(snapshot, question, &found)?;
    let symbol = snapshot.symbol_around(&chunk.path, line)?.map(|symbol| qualified(&symbol));
    let context = context.min(exact::MAX_CONTEXT);
    let preview = if context == 0 {
        let offset = (line - chunk.start_line) as usize;
        let line = chunk.text.split_inclusive('\n').nth(offset).unwrap_or_default();
        preview::cut(line, question.first_match(line))
    } else {
        let first = line.saturating_sub(context).max(1);
        let around = snapshot.lines(&chunk.path, first, line + context)?;
        around.iter().map(|line| preview::cut(line, question.first_match(line))).collect::<Vec<_>>().join("\n")
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
        path: found.chunk.path,
    })
}

/// The line that shows best why a chunk was found: that of the definition that is meant, else that with most of the words.
/// Where kinds are asked for it is that of a definition of such a kind.
fn best_line(snapshot: &Snapshot, question: &Question, found: &Ranked) -> Result<u32> {
    let chunk = &found.chunk;
    if found.name.is_some() || question.filters.are_of_kinds() {
        let defined = snapshot.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line)?;
        let of_kind =
            || defined.iter().filter(|symbol| symbol.line <= chunk.end_line && question.filters.admit_kind(symbol));
        let named = of_kind().find(|symbol| found.name.as_ref() == Some(&symbol.name));
        let meant = named.or_else(|| of_kind().next().filter(|_| question.filters.are_of_kinds()));
        if let Some(symbol) = meant {
            return Ok(symbol.line.max(chunk.start_line));
        }
    }
    let mut best = (0.0, None);
    for (line, set) in (chunk.start_line..=chunk.end_line).zip(&found.seen.lines) {
        let share = question.share_of(*set);
        if share > best.0 {
            best = (share, Some(line));
        }
    }
    // Beginnings of words, and letters without their accents, are in no line's set.
    let first = || question.first_line(&chunk.text).map_or(chunk.start_line, |at| chunk.start_line + at);
    Ok(best.1.unwrap_or_else(first).min(chunk.end_line))
}

/// A definition's name with its container, as its language writes it.
pub(super) fn qualified(symbol: &Definition) -> String {
    joined(symbol.container.as_deref(), &symbol.name, &symbol.language)
}

/// The same for one of that language.
pub(super) fn joined(container: Option<&str>, name: &str, language: &str) -> String {
    let separator = languages::by_name(language).map_or(".", |language| language.separator);
    container.map_or_else(|| name.to_owned(), |container| format!("{container}{separator}{name}"))
}
