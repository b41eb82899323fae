//! The order of candidates: what the score of each is made of.

use std::collections::HashMap;

use super::places::Place;
use super::question::{Question, Shape};
use super::scan::{Scanner, Seen};
use super::weights::{Part, Parts, Ranking, Weights};
use crate::error::Result;
use crate::store::{ChunkHit, ChunkId, Snapshot};
use crate::words;

/// Fewer candidates are read before another thread has begun.
const MANY: usize = 64;
/// Candidates whose names are looked up for how much they are used.
const LOOKED_UP: usize = 40;
/// BM25's k1 and b, as the FTS has them, and what a defined name counts.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
const IN_NAMES: f64 = 3.0;
/// A name that so many files use is as central as can be.
const CENTRAL: usize = 200;
/// What other chunks of a file must add up to, for half of what they can count.
const HALF: f64 = 1.5;
/// A defined name of which less is asked for does not show where the hit is.
const SHOWS: f64 = 0.5;

/// A candidate with its text.
pub(super) struct Loaded {
    pub id: ChunkId,
    pub chunk: ChunkHit,
    /// See [`Part::Meaning`].
    pub meaning: f64,
    /// See [`Part::Inside`].
    pub is_meant: bool,
    /// See [`Part::Filter`].
    pub passes: bool,
}

/// A candidate with its place in the order.
pub(super) struct Ranked {
    pub id: ChunkId,
    pub chunk: ChunkHit,
    pub parts: Parts,
    pub score: f64,
    pub seen: Seen,
    /// Words of the question in the path.
    pub path: u64,
    /// Words of the question in names that the chunk defines.
    pub names: u64,
    /// The defined name that fits best.
    pub name: Option<String>,
}

/// Candidates, best first.
pub(super) fn rank(
    snapshot: &Snapshot,
    question: &Question,
    ranking: &Ranking,
    rerank: bool,
    candidates: Vec<Loaded>,
) -> Result<Vec<Ranked>> {
    let weights = weights(question, ranking);
    let mut ranked = look_at_all(question, candidates);
    by_words(question, &mut ranked);
    of_files(question, &mut ranked);
    let fused = weights.of_alone(&[Part::Words, Part::Meaning]);
    let score = |found: &mut Ranked| {
        found.score = if rerank { found.parts.score(weights) } else { found.parts.score(&fused) };
    };
    ranked.iter_mut().for_each(score);
    sort(&mut ranked);
    // What takes a look at further tables is asked for the best alone, and where it counts.
    if rerank && weights.of(Part::Central) + weights.of(Part::Kind) != 0.0 {
        let mut central: HashMap<String, f64> = HashMap::new();
        for found in ranked.iter_mut().take(LOOKED_UP) {
            let Some(name) = found.name.clone() else { continue };
            let known = central.get(&name).copied();
            let value = known.map_or_else(|| snapshot.files_using(&name, CENTRAL).map(centrality), Ok)?;
            found.parts.set(Part::Central, value);
            central.insert(name.clone(), value);
            if found.parts.of(Part::Defines) > 0.0 {
                found.parts.set(Part::Kind, kind_of(snapshot, &found.chunk, &name)?);
            }
            score(found);
        }
        sort(&mut ranked);
    }
    Ok(ranked)
}

/// Reading the texts is the largest part of a question, so that two threads do it where there are many.
fn look_at_all(question: &Question, mut candidates: Vec<Loaded>) -> Vec<Ranked> {
    let look = |candidates: Vec<Loaded>| -> Vec<Ranked> {
        let mut scanner = Scanner::new(question);
        candidates.into_iter().map(|candidate| look_at(question, &mut scanner, candidate)).collect()
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

pub(super) fn weights<'r>(question: &Question, ranking: &'r Ranking) -> &'r Weights {
    match question.shape {
        Shape::Code => &ranking.code,
        Shape::Prose => &ranking.prose,
    }
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let by_place = || a.chunk.path.cmp(&b.chunk.path).then(a.chunk.start_line.cmp(&b.chunk.start_line));
        b.score.total_cmp(&a.score).then_with(by_place)
    });
}

/// How much a definition of that kind is what people mean by a name.
fn kind_of(snapshot: &Snapshot, chunk: &ChunkHit, name: &str) -> Result<f64> {
    let defined = snapshot.unsigned_between(&chunk.path, chunk.start_line, chunk.end_line)?;
    let kinds = defined.iter().filter(|symbol| symbol.name == name).map(|symbol| match symbol.kind.as_str() {
        "variable" | "field" | "attribute" | "property" | "key" | "variant" => 0.2,
        "constant" => 0.6,
        "method" => 0.8,
        _ => 1.0,
    });
    Ok(kinds.fold(0.0, f64::max))
}

#[expect(clippy::cast_precision_loss, reason = "counts of files are small")]
fn centrality(files: usize) -> f64 {
    (files as f64).ln_1p() / (CENTRAL as f64).ln_1p()
}

/// Everything that a candidate's score is made of, but for what other candidates tell of it.
pub(super) fn look_at(question: &Question, scanner: &mut Scanner, candidate: Loaded) -> Ranked {
    let Loaded { id, chunk, meaning, is_meant, passes } = candidate;
    let mut parts = Parts::default();
    parts.set(Part::Meaning, meaning);
    parts.set(Part::Inside, f64::from(u8::from(is_meant)));
    parts.set(Part::Filter, f64::from(u8::from(passes)));
    if let Some(verbatim) = &question.verbatim {
        parts.set(Part::Verbatim, f64::from(u8::from(chunk.text.to_lowercase().contains(verbatim.as_str()))));
    }
    let seen = scanner.scan(&chunk.text);
    let names = look_at_names(question, scanner, &chunk.names);
    parts.set(Part::Defines, names.defines);
    parts.set(Part::Cased, names.cased);
    parts.set(Part::Name, names.best);
    parts.set(Part::Names, question.share_of(names.all));
    parts.set(Part::Definition, f64::from(u8::from(!chunk.names.is_empty())));
    let (path, file_name) = look_at_path(question, scanner, &chunk.path);
    parts.set(Part::Path, question.share_of(path));
    parts.set(Part::FileName, file_name);
    parts.set(Part::Covers, question.share_of(seen.all | names.all | path));
    parts.set(Part::Line, seen.best_line_share(question));
    parts.set(Part::Window, seen.best_window_share(question));
    let pairs = scanner.pairs().count_ones();
    if pairs > 0 {
        parts.set(Part::Phrase, f64::from(seen.pairs.count_ones()) / f64::from(pairs));
    }
    look_at_place(question, &chunk, &mut parts);
    Ranked { id, chunk, parts, score: 0.0, path, seen, names: names.all, name: names.name }
}

#[derive(Default)]
struct Names {
    all: u64,
    best: f64,
    defines: f64,
    cased: f64,
    name: Option<String>,
}

fn look_at_names(question: &Question, scanner: &mut Scanner, names: &[String]) -> Names {
    let mut found = Names::default();
    let heaviest = question.words.iter().map(|word| word.weight).fold(0.0, f64::max);
    let last = question.terms.len().saturating_sub(1);
    for name in names {
        let (set, matched, count) = scanner.words_of(name);
        if set == 0 && question.shape == Shape::Prose {
            continue;
        }
        found.all |= set;
        let fit = (f64::from(matched) / f64::from(count.max(1)) * question.share_of(set)).sqrt();
        let lower = words::plain(name).to_lowercase();
        let mut defines = if lower.replace(['_', '-'], "") == question.joined { 1.0 } else { 0.0 };
        for (at, term) in question.terms.iter().enumerate().filter(|(_, term)| term.text == lower) {
            let says = match question.shape {
                // Of `Class.method` the method is asked for.
                Shape::Code => {
                    if at == last {
                        1.0
                    } else {
                        0.3
                    }
                }
                Shape::Prose if term.is_compound() => 1.0,
                Shape::Prose if heaviest > 0.0 => 0.5 * question.weight_of(set) / heaviest,
                Shape::Prose => 0.0,
            };
            defines = f64::max(defines, says);
            if term.written == *name {
                found.cased = f64::max(found.cased, says);
            }
        }
        if found.name.is_none() || fit + defines > found.best + found.defines {
            found.name = (fit + defines > SHOWS).then(|| name.clone()).or(found.name);
        }
        found.best = found.best.max(fit);
        found.defines = found.defines.max(defines);
    }
    found
}

/// Words of the question in the path, and how well the file's name fits.
fn look_at_path(question: &Question, scanner: &mut Scanner, path: &str) -> (u64, f64) {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    // A file that stands for its folder is called by that.
    let stands_for = matches!(stem, "mod" | "lib" | "index" | "main" | "__init__");
    let named = if stands_for { folders.rsplit('/').next().unwrap_or(stem) } else { stem };
    let (set, matched, count) = scanner.words_of(named);
    let fit = (f64::from(matched) / f64::from(count.max(1)) * question.share_of(set)).sqrt();
    (set | scanner.words_of(path).0, fit)
}

fn look_at_place(question: &Question, chunk: &ChunkHit, parts: &mut Parts) {
    let place = Place::of(&chunk.path, &chunk.language);
    let wanted =
        (place == Place::Test && question.about_tests) || (place == Place::Document && question.about_documents);
    let part = match place {
        _ if wanted => Part::Wanted,
        Place::Code => return,
        Place::Test => Part::Test,
        Place::Document => Part::Document,
        Place::Example => Part::Example,
        Place::Foreign => Part::Foreign,
        Place::Data => Part::Data,
    };
    parts.set(part, 1.0);
}

/// BM25 of each, of the best one's: a name counts as often as [`IN_NAMES`] words of the text, the path as one.
fn by_words(question: &Question, ranked: &mut [Ranked]) {
    let length: f64 = ranked.iter().map(|found| f64::from(found.seen.length)).sum();
    let mean = length / f64::from(u32::try_from(ranked.len()).unwrap_or(u32::MAX)).max(1.0);
    let mut best = f64::MIN_POSITIVE;
    for found in &mut *ranked {
        let long = 1.0 - LENGTH + LENGTH * f64::from(found.seen.length) / mean.max(1.0);
        let said = question.words.iter().enumerate().map(|(at, word)| {
            let has = |set: u64| if set >> at & 1 == 1 { 1.0 } else { 0.0 };
            let count = f64::from(found.seen.counts[at]) + IN_NAMES * has(found.names) + has(found.path);
            word.weight * count * (SATURATION + 1.0) / (count + SATURATION * long)
        });
        let words = said.sum();
        found.parts.set(Part::Words, words);
        best = f64::max(best, words);
    }
    ranked.iter_mut().for_each(|found| found.parts.set(Part::Words, found.parts.of(Part::Words) / best));
}

/// What the candidates of one file tell of each other.
fn of_files(question: &Question, ranked: &mut [Ranked]) {
    let mut files: HashMap<String, (f64, u64, u64)> = HashMap::new();
    for found in ranked.iter() {
        let file = files.entry(found.chunk.path.clone()).or_default();
        file.0 += found.parts.of(Part::Words);
        file.1 |= found.seen.all;
        file.2 |= found.names;
    }
    for found in ranked {
        let (words, all, names) = files[&found.chunk.path];
        let others = words - found.parts.of(Part::Words);
        found.parts.set(Part::File, others / (others + HALF));
        found.parts.set(Part::FileCovers, question.share_of(all));
        found.parts.set(Part::FileNames, question.share_of(names));
    }
}
