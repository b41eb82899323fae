//! How good and how fast answers are, by queries whose relevant spans are known.
//!
//! Owns the measures (NDCG@10, MRR@10, Recall@10, percentiles of the time) and the plain search to compare with. `cli`
//! owns the source of queries and the tables.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::corpus::Corpus;
use super::smart::relevance::{self, Relevant};
use super::{PathFilter, smart};
use crate::budget::Budget;
use crate::error::Result;
use crate::store::{PlainSearch, Snapshot};

/// The number of results that are measured.
pub const DEPTH: usize = 10;

/// Hits that are asked for: where files are judged, several of one file count once.
const ASKED: usize = 3 * DEPTH;

/// Chunks of the plain search from which the best of each file are taken.
const PLAIN_CHUNKS: usize = 1_000;

/// A span that answers a query: a file, or lines of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub path: String,
    pub lines: Option<(u32, u32)>,
}

/// One span of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedSpan {
    pub path: String,
    pub lines: (u32, u32),
}

impl Target {
    pub fn is_met_by(&self, span: &RankedSpan) -> bool {
        self.path == span.path && self.lines.is_none_or(|(first, last)| span.lines.0 <= last && first <= span.lines.1)
    }
}

/// How good one answer is, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judgment {
    pub ndcg: f64,
    pub reciprocal_rank: f64,
    pub recall: f64,
}

/// Judges an answer, best span first. A target counts where it is met first; if all targets are whole files, a file's
/// further spans take no rank.
pub fn judge(targets: &[Target], answer: &[RankedSpan]) -> Judgment {
    let by_file = targets.iter().all(|target| target.lines.is_none());
    let mut seen = HashSet::new();
    let ranked = answer.iter().filter(|span| !by_file || seen.insert(span.path.as_str())).take(DEPTH);
    let mut open: Vec<&Target> = targets.iter().collect();
    let (mut gain, mut first) = (0.0, 0.0);
    for (rank, span) in (1_u32..).zip(ranked) {
        let before = open.len();
        open.retain(|target| !target.is_met_by(span));
        if open.len() < before {
            gain += discount(rank);
            first = f64::max(first, 1.0 / f64::from(rank));
        }
    }
    let ideal: f64 = (1_u32..).take(targets.len().min(DEPTH)).map(discount).sum();
    let met = targets.len() - open.len();
    Judgment {
        ndcg: if ideal > 0.0 { (gain / ideal).min(1.0) } else { 0.0 },
        reciprocal_rank: first,
        recall: ratio(met, targets.len().min(DEPTH)).min(1.0),
    }
}

fn discount(rank: u32) -> f64 {
    1.0 / f64::from(rank + 1).log2()
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A row of the table: means over queries, and how long an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    pub queries: usize,
    pub ndcg: f64,
    pub mrr: f64,
    pub recall: f64,
    pub p50: Duration,
    pub p99: Duration,
}

impl Summary {
    pub fn compute(outcomes: &[(Judgment, Duration)]) -> Self {
        let count = outcomes.len();
        let mean = |part: fn(&Judgment) -> f64| {
            let sum: f64 = outcomes.iter().map(|(judged, _)| part(judged)).sum();
            sum * ratio(1, count)
        };
        let mut times: Vec<Duration> = outcomes.iter().map(|(_, time)| *time).collect();
        times.sort_unstable();
        let at = |percent: usize| times.get((count * percent / 100).min(count.saturating_sub(1))).copied();
        Self {
            queries: count,
            ndcg: mean(|judged| judged.ndcg),
            mrr: mean(|judged| judged.reciprocal_rank),
            recall: mean(|judged| judged.recall),
            p50: at(50).unwrap_or_default(),
            p99: at(99).unwrap_or_default(),
        }
    }
}

/// By how much one ranking is better than another on the same queries: the mean, and its 95 % bootstrap confidence
/// interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// A fixed pseudo-random sequence, so that results are reproducible.
pub struct Random(pub u64);

impl Random {
    /// From 0 up to `count`, which is not in it.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % count.max(1)
    }

    /// One of `texts`, in which up to four cuts, each of fewer than `cut` characters, are replaced by some of `pieces`.
    #[cfg(test)]
    pub fn spliced(&mut self, texts: &[&str], pieces: &[&str], cut: usize) -> String {
        let mut text: Vec<char> = texts[self.below(texts.len())].chars().collect();
        for _ in 0..=self.below(4) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(cut)).min(text.len());
            text.splice(at..end, pieces[self.below(pieces.len())].chars());
        }
        text.into_iter().collect()
    }
}

/// Bootstrap resamples.
const DRAWS: usize = 2_000;

impl Gain {
    /// Compares pairs: one number per query before and after, in the same order.
    pub fn compute(before: &[f64], after: &[f64]) -> Self {
        let gains: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
        let count = gains.len();
        if count == 0 {
            return Self::default();
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut draw = || gains[random.below(count)];
        let mut means: Vec<f64> =
            (0..DRAWS).map(|_| (0..count).map(|_| draw()).sum::<f64>() * ratio(1, count)).collect();
        means.sort_unstable_by(f64::total_cmp);
        let mean = gains.iter().sum::<f64>() * ratio(1, count);
        Self { mean, low: means[DRAWS / 40], high: means[DRAWS - 1 - DRAWS / 40] }
    }
}

/// Asks as `query` does, by a ranking of the caller's.
pub fn ask_smart(
    snapshot: &Snapshot,
    ranking: &smart::Ranking,
    deep: Option<&smart::Reranker>,
    text: &str,
) -> Result<(Vec<RankedSpan>, Duration)> {
    let begun = Instant::now();
    let everywhere = PathFilter::default();
    let budget = Budget::unlimited();
    let page =
        smart::search_by(ranking, &Corpus::single(snapshot), deep, text, &everywhere, 0, (0, ASKED), &budget)?.page;
    let took = begun.elapsed();
    let spans = page.items.into_iter().map(|hit| RankedSpan { path: hit.path, lines: (hit.start_line, hit.end_line) });
    Ok((spans.collect(), took))
}

/// Asks as `search_documents` does, whatever the score.
pub fn ask_documents(
    snapshot: &Snapshot,
    deep: Option<&smart::Reranker>,
    text: &str,
) -> Result<(Vec<RankedSpan>, Duration)> {
    let begun = Instant::now();
    let found =
        relevance::relevant(&Corpus::single(snapshot), deep, text, &PathFilter::default(), &Budget::unlimited())?
            .chunks;
    let took = begun.elapsed();
    let span = |one: &Relevant| {
        let chunk = snapshot.chunk(one.id.id)?;
        Ok(RankedSpan { path: chunk.path, lines: (chunk.start_line, chunk.end_line) })
    };
    Ok((found.iter().take(ASKED).map(span).collect::<Result<_>>()?, took))
}

/// Asks the plain search: BM25 over the words, any of them, the best chunk of each file.
pub fn ask_plain(snapshot: &Snapshot, plain: &PlainSearch, text: &str) -> Result<(Vec<RankedSpan>, Duration)> {
    let begun = Instant::now();
    let mut files = HashSet::new();
    let mut spans = Vec::new();
    for id in plain.best_chunks(text, PLAIN_CHUNKS)? {
        if spans.len() >= ASKED {
            break;
        }
        let chunk = snapshot.chunk(id)?;
        if files.insert(chunk.path.clone()) {
            spans.push(RankedSpan { path: chunk.path, lines: (chunk.start_line, chunk.end_line) });
        }
    }
    Ok((spans, begun.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str, lines: Option<(u32, u32)>) -> Target {
        Target { path: path.to_owned(), lines }
    }

    fn spans(all: &[(&str, u32, u32)]) -> Vec<RankedSpan> {
        all.iter().map(|&(path, first, last)| RankedSpan { path: path.to_owned(), lines: (first, last) }).collect()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn a_file_counts_once_and_takes_one_rank() {
        let answer = spans(&[("a", 1, 5), ("a", 9, 12), ("b", 1, 3), ("c", 1, 1)]);
        let judged = judge(&[target("b", None), target("c", None)], &answer);
        close(judged.reciprocal_rank, 0.5);
        close(judged.recall, 1.0);
        close(judged.ndcg, (1.0 / 3.0_f64.log2() + 0.5) / (1.0 + 1.0 / 3.0_f64.log2()));
    }

    #[test]
    fn lines_are_met_by_a_span_that_shares_one_with_them() {
        let answer = spans(&[("a", 1, 5), ("a", 9, 12)]);
        close(judge(&[target("a", Some((12, 20)))], &answer).reciprocal_rank, 0.5);
        close(judge(&[target("a", Some((6, 8)))], &answer).ndcg, 0.0);
        let both = judge(&[target("a", Some((1, 2))), target("a", Some((4, 4)))], &answer);
        close(both.recall, 1.0);
        close(both.ndcg, 1.0 / (1.0 + 1.0 / 3.0_f64.log2()));
    }

    #[test]
    fn only_the_first_ten_ranks_count() {
        let many: Vec<(String, u32, u32)> = (0..12).map(|number| (format!("f{number}"), 1, 1)).collect();
        let answer: Vec<(&str, u32, u32)> = many.iter().map(|(path, a, b)| (path.as_str(), *a, *b)).collect();
        close(judge(&[target("f9", None)], &spans(&answer)).reciprocal_rank, 0.1);
        assert_eq!(judge(&[target("f10", None)], &spans(&answer)), Judgment::default());
    }

    #[test]
    fn a_gain_is_reported_with_its_noise() {
        let before = vec![0.5; 100];
        let better: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 0.5 } else { 0.7 }).collect();
        let gain = Gain::compute(&before, &better);
        close(gain.mean, 0.1);
        assert!(gain.low > 0.07 && gain.low < 0.1 && gain.high > 0.1 && gain.high < 0.13, "{gain:?}");
        let mixed: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 0.3 } else { 0.7 }).collect();
        let gain = Gain::compute(&before, &mixed);
        assert!(gain.low < -0.02 && gain.high > 0.02, "{gain:?}");
        assert_eq!(Gain::compute(&[], &[]), Gain::default());
    }

    #[test]
    fn a_summary_is_the_mean_of_its_queries() {
        let outcome = |ndcg, millis| (Judgment { ndcg, ..Judgment::default() }, Duration::from_millis(millis));
        let summary = Summary::compute(&[outcome(1.0, 30), outcome(0.5, 10), outcome(0.0, 20)]);
        close(summary.ndcg, 0.5);
        assert_eq!((summary.p50, summary.p99), (Duration::from_millis(20), Duration::from_millis(30)));
        assert_eq!(Summary::compute(&[]).queries, 0);
    }
}
