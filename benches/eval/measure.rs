//! How good and how fast answers are: NDCG@10, MRR@10, Recall@10, percentiles of the time.

use std::collections::HashSet;
use std::time::Duration;

/// The number of results that are measured.
const DEPTH: usize = 10;

/// Hits that are asked for: where files are judged, several of one file count once.
pub const ASKED: usize = 3 * DEPTH;

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
        // A fixed pseudo-random sequence, so that results are reproducible.
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            gains[usize::try_from(random >> 33).unwrap_or_default() % count]
        };
        let mut means: Vec<f64> =
            (0..DRAWS).map(|_| (0..count).map(|_| draw()).sum::<f64>() * ratio(1, count)).collect();
        means.sort_unstable_by(f64::total_cmp);
        let mean = gains.iter().sum::<f64>() * ratio(1, count);
        Self { mean, low: means[DRAWS / 40], high: means[DRAWS - 1 - DRAWS / 40] }
    }
}
