//! Smart search: words to ranked chunks, each shown by its best line.
//!
//! Owns how a question is read, how candidates are found and widened, and the order of hits. The weights stand in one
//! table, [`WEIGHTS`].

mod question;
mod rank;
mod weights;

use std::collections::HashMap;

use self::question::Question;
use super::exact::{self, Pattern};
use super::{Hit, Page, PathFilter, preview};
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::languages;
use crate::store::{Definition, ScoredChunk, Snapshot};

pub use weights::{Arm, Ranking, WEIGHTS, Weights};

/// Chunks that are ranked; beyond it a question is too wide for its tail to matter.
const CANDIDATES: usize = 400;
/// With filters more are looked at, since many fall away.
const FILTERED_CANDIDATES: usize = 4_000;
/// Fewer hits than this and the question is widened from all its words to any of them.
const FEW: usize = 10;
/// Hits of one file that come before every other file's.
const HITS_A_FILE: usize = 2;

/// The page at `offset` of what answers `text`, best first.
///
/// Words must all be there; if that finds little, any of them may; then words that begin so; then the text as it stands
/// inside longer words. Filters in the text hold until they leave nothing: then they are text too.
pub fn search(
    snapshot: &Snapshot,
    text: &str,
    filter: &PathFilter,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    search_by(&Ranking::default(), snapshot, text, filter, context, (offset, limit), budget)
}

/// The same by a ranking of the caller's.
pub fn search_by(
    ranking: &Ranking,
    snapshot: &Snapshot,
    text: &str,
    filter: &PathFilter,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let question = Question::read(text, snapshot)?;
    let mut ranked = ranked(ranking, snapshot, &question, filter)?;
    let unfiltered;
    let question = if ranked.is_empty() && question.has_filters() {
        unfiltered = Question::of_words(text);
        ranked = self::ranked(ranking, snapshot, &unfiltered, filter)?;
        &unfiltered
    } else {
        &question
    };
    if ranked.is_empty() {
        let pattern =
            Pattern { text: text.trim(), is_regex: false, case_sensitive: false, word: false, multiline: false };
        return exact::search(snapshot, &pattern, filter, context, (offset, limit), budget);
    }
    let complete = ranked.len() < CANDIDATES;
    let mut page = Page::of(diverse(ranked), offset, limit);
    if !complete {
        page.total = None;
    }
    let next_offset = page.next_offset;
    let total = page.total;
    let items = page.items.into_iter().map(|found| hit(snapshot, question, found, context)).collect::<Result<_>>()?;
    Ok(Page { items, total, next_offset })
}

/// A candidate with its place in the order.
struct Ranked {
    path: String,
    start_line: u32,
    end_line: u32,
    text: String,
    score: f64,
    parts: Vec<(&'static str, f64)>,
    best: rank::BestLine,
}

fn ranked(ranking: &Ranking, snapshot: &Snapshot, question: &Question, filter: &PathFilter) -> Result<Vec<Ranked>> {
    let mut found: Vec<ScoredChunk> = Vec::new();
    let wide = !filter.is_empty() || question.has_filters();
    let limit = if wide { FILTERED_CANDIDATES } else { CANDIDATES };
    let mut ranked: Vec<Ranked> = Vec::new();
    for step in question.steps() {
        add_new(&mut found, snapshot.best_chunks(&step, limit)?);
        ranked = rank_all(ranking, snapshot, question, filter, &found)?;
        if ranked.len() >= FEW {
            break;
        }
    }
    ranked.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)).then(a.start_line.cmp(&b.start_line))
    });
    ranked.truncate(CANDIDATES);
    Ok(ranked)
}

/// Chunks of a wider question come behind those of a narrower one, whatever their score.
fn add_new(found: &mut Vec<ScoredChunk>, wider: Vec<ScoredChunk>) {
    let known: std::collections::HashSet<_> = found.iter().map(|chunk| chunk.id).collect();
    let step = if found.is_empty() { 1.0 } else { 0.3 };
    found.extend(wider.into_iter().filter(|chunk| !known.contains(&chunk.id)).map(|mut chunk| {
        chunk.score *= step;
        chunk
    }));
}

fn rank_all(
    ranking: &Ranking,
    snapshot: &Snapshot,
    question: &Question,
    filter: &PathFilter,
    found: &[ScoredChunk],
) -> Result<Vec<Ranked>> {
    let best_score = found.iter().map(|chunk| chunk.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut ranked = Vec::new();
    for scored in found {
        if ranked.len() >= CANDIDATES {
            break;
        }
        let chunk = snapshot.chunk(scored.id)?;
        if !filter.admits(&chunk.path) || !question.admits_file(&chunk.path, &chunk.language) {
            continue;
        }
        let symbols = snapshot.definitions_between(&chunk.path, chunk.start_line, chunk.end_line)?;
        if !question.admits_kinds(&symbols) {
            continue;
        }
        let words = scored.score / best_score;
        let (mut score, parts, best) = rank::score(question, &chunk, &symbols, words, &ranking.weights);
        if !ranking.has(Arm::Rerank) {
            score = words;
        }
        ranked.push(Ranked {
            path: chunk.path,
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            text: chunk.text,
            score,
            parts,
            best,
        });
    }
    Ok(ranked)
}

/// The first hits of each file before the rest, else in order.
fn diverse(ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut of_file: HashMap<String, usize> = HashMap::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for found in ranked {
        let count = of_file.entry(found.path.clone()).or_default();
        *count += 1;
        if *count <= HITS_A_FILE { first.push(found) } else { rest.push(found) }
    }
    first.append(&mut rest);
    first
}

fn hit(snapshot: &Snapshot, question: &Question, found: Ranked, context: u32) -> Result<Hit> {
    let line = found.start_line + found.best.offset;
    let symbol = snapshot.symbol_around(&found.path, line)?.map(|symbol| qualified(&symbol));
    let context = context.min(exact::MAX_CONTEXT);
    let preview = if context == 0 {
        let line = found.text.split_inclusive('\n').nth(found.best.offset as usize).unwrap_or_default();
        preview::cut(line, question.first_match(line))
    } else {
        let first = line.saturating_sub(context).max(1);
        let around = snapshot.lines(&found.path, first, line + context)?;
        around.iter().map(|line| preview::cut(line, question.first_match(line))).collect::<Vec<_>>().join("\n")
    };
    Ok(Hit {
        path: found.path,
        line,
        start_line: found.start_line,
        end_line: found.end_line,
        symbol,
        score: (found.score * 1000.0).round() / 1000.0,
        preview,
        parts: found.parts,
    })
}

/// A definition's name with its container, as its language writes it.
pub(super) fn qualified(symbol: &Definition) -> String {
    let separator = languages::by_name(&symbol.language).map_or(".", |language| language.separator);
    match &symbol.container {
        Some(container) => format!("{container}{separator}{}", symbol.name),
        None => symbol.name.clone(),
    }
}
