//! A daemon's metrics: calls per tool, and the latencies of the latest ones.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::locked::locked;
use crate::panics;

/// Latencies that are kept per tool: enough for a 99th percentile, and little memory.
const MAX_LATENCIES: usize = 1000;

#[derive(Default)]
pub struct Meters(Mutex<BTreeMap<String, Meter>>);

#[derive(Default)]
struct Meter {
    calls: u64,
    errors: u64,
    /// A ring buffer of the latest latencies.
    micros: Vec<u64>,
}

impl Meters {
    /// Runs a call and counts it; one that panics has failed.
    pub fn counted<T>(&self, tool: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let answer = panics::caught(work);
        self.count(tool, begun.elapsed(), answer.is_err());
        answer
    }

    fn count(&self, tool: &str, took: Duration, is_error: bool) {
        let mut meters = locked(&self.0);
        let meter = meters.entry(tool.to_owned()).or_default();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if meter.micros.len() < MAX_LATENCIES {
            meter.micros.push(micros);
        } else {
            let next = usize::try_from(meter.calls).unwrap_or(0) % MAX_LATENCIES;
            meter.micros[next] = micros;
        }
        meter.calls += 1;
        meter.errors += u64::from(is_error);
    }

    pub fn by_tool(&self) -> BTreeMap<String, ToolStatus> {
        let meters = locked(&self.0);
        let of_tool = |(tool, meter): (&String, &Meter)| {
            let mut micros = meter.micros.clone();
            micros.sort_unstable();
            let at = |percent: usize| {
                micros.get((micros.len() * percent / 100).min(micros.len().saturating_sub(1))).copied()
            };
            let status = ToolStatus { calls: meter.calls, errors: meter.errors, p50_us: at(50), p99_us: at(99) };
            (tool.clone(), status)
        };
        meters.iter().map(of_tool).collect()
    }
}

/// The calls of one tool, and the percentiles of their latencies.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct ToolStatus {
    pub calls: u64,
    pub errors: u64,
    pub p50_us: Option<u64>,
    pub p99_us: Option<u64>,
}

/// Bytes of a process, if the system reports them.
#[derive(Debug, Deserialize, Serialize)]
pub struct Memory {
    pub rss_bytes: Option<u64>,
    pub peak_bytes: Option<u64>,
    /// Not mapped from files. Mapped pages of the index are the rest; the system can reclaim them at any time.
    pub own_bytes: Option<u64>,
}

/// The memory of this process.
pub fn memory() -> Memory {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
    };
    Memory { rss_bytes: line("VmRSS:"), peak_bytes: line("VmHWM:"), own_bytes: line("RssAnon:") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn calls_that_fail_or_panic_are_counted_as_errors() {
        let meters = Meters::default();
        meters.counted("query", || Ok(1)).unwrap();
        meters.counted("query", || Err::<(), _>(Error::not_found("nothing"))).unwrap_err();
        meters.counted("query", || -> Result<()> { panic!("on purpose") }).unwrap_err();
        let status = &meters.by_tool()["query"];
        assert_eq!((status.calls, status.errors), (3, 2));
    }

    #[test]
    fn percentiles_cover_the_latest_calls() {
        let meters = Meters::default();
        for micros in 0..u64::try_from(MAX_LATENCIES).unwrap() {
            meters.count("query", Duration::from_micros(micros + 1_000_000), false);
        }
        for micros in 1..=u64::try_from(MAX_LATENCIES).unwrap() {
            meters.count("query", Duration::from_micros(micros), micros == 7);
        }
        let status = ToolStatus { calls: 2000, errors: 1, p50_us: Some(501), p99_us: Some(991) };
        assert_eq!(meters.by_tool()["query"], status);
    }
}
