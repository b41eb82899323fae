//! Ranking: the score of each candidate and its parts.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::names::{NameReader, likely};
use super::parsed_query::{ParsedQuery, QueryShape};
use super::past::Past;
use super::path_category::PathCategory;
use super::scan::{Scanner, WordMatches};
use super::semantic;
use super::weights::{Part, Parts, Ranking, Weights};
use crate::error::Result;
use crate::query::corpus::{ChunkAt, Corpus};
use crate::store::ChunkHit;

/// Fewer candidates are read before another thread has begun.
const MANY: usize = 64;
/// Candidates for whose names references are counted.
const LOOKED_UP: usize = 40;
/// BM25's k1 and b, as the FTS has them, and what a defined name counts.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
const IN_NAMES: f64 = 3.0;
/// A name that this many files reference has the highest centrality.
const CENTRAL: usize = 200;
/// Sum of the scores of a file's other chunks at which they count half of their maximum.
const HALF: f64 = 1.5;

/// A candidate with its text.
pub(super) struct LoadedCandidate {
    pub id: ChunkAt,
    pub chunk: ChunkHit,
    /// Category of its path.
    pub category: PathCategory,
    /// See [`Part::Semantic`].
    pub semantic: f64,
    /// See [`Part::Inside`].
    pub is_qualified: bool,
    /// See [`Part::Filter`].
    pub passes: bool,
}

/// A candidate with its score.
pub(super) struct RankedCandidate {
    pub id: ChunkAt,
    pub chunk: ChunkHit,
    pub parts: Parts,
    pub score: f64,
    pub seen: WordMatches,
    /// Words of the query in the path.
    pub path: u64,
    /// Words of the query in names that the chunk defines.
    pub names: u64,
    /// The defined name that fits best.
    pub name: Option<String>,
    /// Other chunks with the same text.
    pub similar: usize,
    /// The folder that has all of them.
    pub similar_in: Option<String>,
}

impl RankedCandidate {
    /// The file of the candidate: the source, and the path in it.
    pub fn file(&self) -> (usize, &str) {
        (self.id.source, &self.chunk.path)
    }
}

/// Candidates, best first.
pub(super) fn rank(
    corpus: &Corpus,
    query: &ParsedQuery,
    ranking: &Ranking,
    rerank: bool,
    past: &Past,
    candidates: Vec<LoadedCandidate>,
) -> Result<Vec<RankedCandidate>> {
    let (_, weights) = weights(query, ranking);
    let mut ranked = look_at_each(query, candidates);
    ranked.iter_mut().for_each(|found| past.set(found.id.source, &found.chunk.path, &mut found.parts));
    let fused = weights.only(&[Part::Words, Part::Semantic]);
    let score = |found: &mut RankedCandidate| {
        found.score = if rerank { found.parts.score(weights) } else { found.parts.score(&fused) };
    };
    ranked.iter_mut().for_each(score);
    sort(&mut ranked);
    // Parts that read further tables are computed only for the best, if they count.
    if rerank && weights.get(Part::Central) + weights.get(Part::Kind) != 0.0 {
        let mut central: HashMap<String, f64> = HashMap::new();
        for found in ranked.iter_mut().take(LOOKED_UP) {
            let Some(name) = found.name.clone() else { continue };
            let known = central.get(&name).copied();
            let value = known.map_or_else(|| corpus.files_using(&name, CENTRAL).map(centrality), Ok)?;
            found.parts.set(Part::Central, value);
            central.insert(name.clone(), value);
            if found.parts.get(Part::Defines) > 0.0 {
                found.parts.set(Part::Kind, kind_of(query, &found.chunk, &name));
            }
            score(found);
        }
        sort(&mut ranked);
    }
    Ok(ranked)
}

/// Candidates with all parts of their scores that need no index.
pub(super) fn look_at_each(query: &ParsedQuery, candidates: Vec<LoadedCandidate>) -> Vec<RankedCandidate> {
    let mut ranked = look_at_all(query, candidates);
    by_words(query, &mut ranked);
    of_files(query, &mut ranked);
    by_similarity_of_names(query, &mut ranked);
    ranked
}

/// Reading the texts is the largest part of a query, so that two threads do it where there are many.
fn look_at_all(query: &ParsedQuery, mut candidates: Vec<LoadedCandidate>) -> Vec<RankedCandidate> {
    let look = |candidates: Vec<LoadedCandidate>| -> Vec<RankedCandidate> {
        let (mut scanner, mut names) = (Scanner::new(query), NameReader::new(query));
        candidates.into_iter().map(|candidate| look_at(query, &mut scanner, &mut names, candidate)).collect()
    };
    if candidates.len() < MANY {
        return look(candidates);
    }
    let rest = candidates.split_off(candidates.len() / 2);
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| look(rest));
        let mut ranked = look(candidates);
        ranked.extend(rest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ranked
    })
}

/// The weights for a query, and their name.
pub(super) fn weights<'r>(query: &ParsedQuery, ranking: &'r Ranking) -> (&'static str, &'r Weights) {
    match query.shape {
        QueryShape::Code => ("code", &ranking.code),
        QueryShape::Prose | QueryShape::Message if query.is_long_of_documents() => ("long", &ranking.long),
        QueryShape::Prose | QueryShape::Message if query.is_of_documents => ("documents", &ranking.documents),
        QueryShape::Message => ("messages", &ranking.messages),
        QueryShape::Prose => ("prose", &ranking.prose),
    }
}

fn sort(ranked: &mut Vec<RankedCandidate>) {
    let mut order: Vec<usize> = (0..ranked.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&ranked[*a], &ranked[*b]);
        let by_place = || a.file().cmp(&b.file()).then(a.chunk.start_line.cmp(&b.chunk.start_line));
        b.score.total_cmp(&a.score).then_with(by_place)
    });
    *ranked = in_order(std::mem::take(ranked), order);
}

/// The candidates with these indexes. They are so large that moving them takes longer than comparing them.
pub(super) fn in_order(
    candidates: Vec<RankedCandidate>,
    order: impl IntoIterator<Item = usize>,
) -> Vec<RankedCandidate> {
    let mut left: Vec<Option<RankedCandidate>> = candidates.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| left[at].take()).collect()
}

/// How likely a name refers to the chunk's definition of it.
fn kind_of(query: &ParsedQuery, chunk: &ChunkHit, name: &str) -> f64 {
    let named = chunk.names.iter().filter(|known| known.text == name && known.kind.is_some());
    named.map(|known| likely(query, known.kind.as_deref())).fold(0.0, f64::max)
}

#[expect(clippy::cast_precision_loss, reason = "counts of files are small")]
fn centrality(files: usize) -> f64 {
    (files as f64).ln_1p() / (CENTRAL as f64).ln_1p()
}

/// Everything that a candidate's score is made of, except what depends on other candidates.
fn look_at(
    query: &ParsedQuery,
    scanner: &mut Scanner,
    names: &mut NameReader,
    candidate: LoadedCandidate,
) -> RankedCandidate {
    let LoadedCandidate { id, chunk, category, semantic, is_qualified, passes } = candidate;
    let mut parts = Parts::default();
    parts.set(Part::Semantic, semantic);
    parts.set(Part::Inside, f64::from(u8::from(is_qualified)));
    parts.set(Part::Filter, f64::from(u8::from(passes)));
    if let Some(verbatim) = &query.verbatim {
        parts.set(Part::Verbatim, f64::from(u8::from(chunk.text.to_lowercase().contains(verbatim.as_str()))));
    }
    let seen = scanner.scan(&chunk.text);
    let names = names.read(scanner, &chunk.names);
    parts.set(Part::Defines, names.defines);
    parts.set(Part::Cased, names.cased);
    parts.set(Part::Name, names.best);
    parts.set(Part::Names, query.share_of(names.all));
    parts.set(Part::Type, names.of_type);
    parts.set(Part::NameSimilarity, names.similarity);
    parts.set(Part::Definition, f64::from(u8::from(!chunk.names.is_empty())));
    let path = look_at_path(query, scanner, &chunk.path, &mut parts);
    parts.set(Part::Path, query.share_of(path));
    let area = query.weight_of(query.area);
    if area > 0.0 {
        parts.set(Part::Area, query.weight_of(path & query.area) / area);
    }
    parts.set(Part::Covers, query.share_of(seen.all | names.all | path));
    parts.set(Part::Line, seen.best_line_share(query));
    parts.set(Part::Window, seen.best_window_share(query));
    let pairs = scanner.pairs().count_ones();
    if pairs > 0 {
        parts.set(Part::Phrase, f64::from(seen.pairs.count_ones()) / f64::from(pairs));
    }
    look_at_category(query, category, &mut parts);
    RankedCandidate {
        id,
        chunk,
        parts,
        score: 0.0,
        path,
        seen,
        names: names.all,
        name: names.name,
        similar: 0,
        similar_in: None,
    }
}

/// Words of the query in the path; what the names of the file and of its folders add.
pub(super) fn look_at_path(query: &ParsedQuery, scanner: &mut Scanner, path: &str, parts: &mut Parts) -> u64 {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    // An index file is named by its folder.
    let names_folder = matches!(stem, "mod" | "lib" | "index" | "main" | "__init__");
    let named = if names_folder { folders.rsplit('/').next().unwrap_or(stem) } else { stem };
    let (set, matched, count) = scanner.words_of(named);
    let fit = (f64::from(matched) / f64::from(count.max(1)) * query.share_of(set)).sqrt();
    parts.set(Part::FileName, fit);
    let plain: String = named.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    parts.set(Part::StemJoined, f64::from(u8::from(query.adjacent.contains(&plain))));
    let mut all = set;
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        let (set, matched, count) = scanner.words_of(folder);
        all |= set;
        if set != 0 && matched == count {
            parts.set(Part::Folder, 1.0);
        }
    }
    all | scanner.words_of(file).0
}

pub(super) fn look_at_category(query: &ParsedQuery, category: PathCategory, parts: &mut Parts) {
    let wanted = (category == PathCategory::Test && query.about_tests)
        || (category == PathCategory::Document && query.about_documents);
    let part = match category {
        _ if wanted => Part::Wanted,
        PathCategory::Code => return,
        PathCategory::Test => Part::Test,
        PathCategory::Document => Part::Document,
        PathCategory::Example => Part::Example,
        PathCategory::Foreign => Part::Foreign,
        PathCategory::Data => Part::Data,
    };
    parts.set(part, 1.0);
}

/// BM25 of each, of the best one's: a name counts as often as [`IN_NAMES`] words of the text, the path as one.
fn by_words(query: &ParsedQuery, ranked: &mut [RankedCandidate]) {
    let length: f64 = ranked.iter().map(|found| f64::from(found.seen.length)).sum();
    let mean = length / f64::from(u32::try_from(ranked.len()).unwrap_or(u32::MAX)).max(1.0);
    let mut best = f64::MIN_POSITIVE;
    for found in &mut *ranked {
        let long = 1.0 - LENGTH + LENGTH * f64::from(found.seen.length) / mean.max(1.0);
        let said = query.words.iter().enumerate().map(|(at, word)| {
            let has = |set: u64| if set >> at & 1 == 1 { 1.0 } else { 0.0 };
            let count = f64::from(found.seen.counts[at]) + IN_NAMES * has(found.names) + has(found.path);
            word.weight * count * (SATURATION + 1.0) / (count + SATURATION * long)
        });
        let words = said.sum();
        found.parts.set(Part::Words, words);
        best = f64::max(best, words);
    }
    ranked.iter_mut().for_each(|found| found.parts.set(Part::Words, found.parts.get(Part::Words) / best));
}

/// How near the nearest name of each is, as a share of the nearest of all; less if fewer words say something.
fn by_similarity_of_names(query: &ParsedQuery, ranked: &mut [RankedCandidate]) {
    let nearest = ranked.iter().map(|found| found.parts.get(Part::NameSimilarity)).fold(0.0, f64::max);
    let words = query.words.iter().filter(|word| word.weight > 0.0).count();
    let most = semantic::sentence(u32::try_from(words).unwrap_or(u32::MAX));
    if nearest > 0.0 {
        let share = |found: &mut RankedCandidate| {
            found.parts.set(Part::NameSimilarity, found.parts.get(Part::NameSimilarity) / nearest * most);
        };
        ranked.iter_mut().for_each(share);
    }
}

/// Parts that depend on other candidates of the file.
fn of_files(query: &ParsedQuery, ranked: &mut [RankedCandidate]) {
    let mut numbers: HashMap<(usize, &str), usize, RandomState> = HashMap::default();
    let mut files: Vec<(f64, u64, u64)> = Vec::new();
    let mut of_candidate = Vec::with_capacity(ranked.len());
    for found in ranked.iter() {
        let number = *numbers.entry(found.file()).or_insert(files.len());
        if number == files.len() {
            files.push((0.0, 0, 0));
        }
        let (words, all, names) = &mut files[number];
        *words += found.parts.get(Part::Words);
        *all |= found.seen.all;
        *names |= found.names;
        of_candidate.push(number);
    }
    for (found, number) in ranked.iter_mut().zip(of_candidate) {
        let (words, all, names) = files[number];
        let others = words - found.parts.get(Part::Words);
        found.parts.set(Part::File, others / (others + HALF));
        found.parts.set(Part::FileCovers, query.share_of(all));
        found.parts.set(Part::FileNames, query.share_of(names));
    }
}
