//! The tables: what was measured, and which limits hold.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use crate::samples::{Samples, Spread, quantile};
use crate::threads::MAIN;
use crate::{Counts, Measured};

/// Date and machine, without anything that names it.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let date = jiff::Timestamp::now().to_string();
    let date = date.split('T').next().unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let memory = kib.map_or_else(|| "unknown".to_owned(), |kib: u64| format!("{} GiB", (kib + (1 << 19)) >> 20));
    format!("Measured {date}: {cores} cores, {memory} of memory, load average at the start {load}.\n")
}

pub fn tree(measured: &Measured) -> String {
    let mut text = format!("\n## {}\n\n", measured.name);
    work(&mut text, measured);
    threads(&mut text, measured);
    holdings(&mut text, &measured.counts);
    limits(&mut text, measured);
    text
}

fn work(text: &mut String, measured: &Measured) {
    line(text, &format!("Medians of {} rounds (least–most).\n", measured.rounds));
    line(text, "| work | wall | CPU | peak memory |\n|---|---|---|---|");
    let rows = [
        ("full build: words, symbols and references", &measured.build),
        ("with vectors: `ixmcp sync` without an index", &measured.with_vectors),
        ("the same walk, reads and parses alone", &measured.parse),
        ("`ctags -R`", &measured.ctags),
        ("codesearch's `cindex`", &measured.cindex),
        ("`rg --files`", &measured.listing),
        ("second sync: `ixmcp sync`, nothing changed", &measured.sync),
        ("`git status`", &measured.git_status),
        ("one file saved, then one-shot `ixmcp query`", &measured.one_shot),
    ];
    for (name, samples) in rows {
        match (samples.wall(), samples.cpu(), samples.peak_bytes()) {
            (Some(wall), Some(cpu), Some(peak)) => {
                line(text, &format!("| {name} | {} | {} | {} |", times(wall), times(cpu), megabytes(peak.median)));
            }
            _ => line(text, &format!("| {name} | not measured | | |")),
        }
    }
    let saved = [
        ("one file saved → found, watched", &measured.saved_quiet),
        ("the same right after another read", &measured.saved_crowded),
        ("literal scan of all text, watched", &measured.literal),
    ];
    for (name, latencies) in saved {
        if let (Some(half), Some(most)) = (quantile(latencies, 50), quantile(latencies, 95)) {
            let figures = format!("p50 {}, p95 {} of {}", seconds(half), seconds(most), latencies.len());
            line(text, &format!("| {name} | {figures} | | |"));
        }
    }
}

/// CPU time by threads, of the last build with vectors.
fn threads(text: &mut String, measured: &Measured) {
    let groups = measured.threads.groups();
    let all: Duration = groups.values().sum();
    line(text, "\n| threads of the build with vectors | CPU | share |\n|---|---|---|");
    for (name, cpu) in groups {
        line(text, &format!("| {name} | {} | {:.2} |", seconds(cpu), cpu.as_secs_f64() / all.as_secs_f64()));
    }
}

fn holdings(text: &mut String, counts: &Counts) {
    let Counts { files, chunks, symbols, references, .. } = counts;
    line(
        text,
        &format!(
            "\n{files} files of {} together: {chunks} chunks, {symbols} symbols, {references} references; database {}, of \
             it {} vectors.\n",
            megabytes(counts.source_bytes),
            megabytes(counts.database_bytes),
            megabytes(counts.vector_bytes),
        ),
    );
}

/// A limit, what came out, and whether it holds. Rows group the limits of one kind of work.
struct Limit {
    row: u8,
    what: &'static str,
    got: Option<f64>,
    /// CPU time, where the limit is one of wall time.
    by_cpu: Option<f64>,
    limit: f64,
    unit: &'static str,
}

fn limits(text: &mut String, measured: &Measured) {
    let Measured { build, with_vectors, parse, ctags, cindex, sync, git_status, counts, .. } = measured;
    let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
    let writer = with_vectors.cpu().map(|_| share_of_writer(measured));
    let peak = build.peak_bytes().map(|peak| float(peak.median) / 1e6);
    let is_large = counts.files > LARGE_FILES;
    let of_source = |bytes: u64| (counts.source_bytes > 0).then(|| float(bytes) / float(counts.source_bytes));
    let database = of_source(counts.database_bytes);
    let without_vectors = of_source(counts.database_bytes - counts.vector_bytes);
    let mut saved = [&measured.saved_quiet[..], &measured.saved_crowded].concat();
    saved.sort_unstable();
    let saved = quantile(&saved, 95).map(|latency| latency.as_secs_f64() * 1e3);
    let times = |row, what, (ours, peers): (&Samples, [&Samples; 2]), limit| {
        let peer = |of: fn(&Samples) -> Option<f64>| {
            if std::ptr::eq(peers[0], peers[1]) { of(peers[0]) } else { both(of(peers[0]), of(peers[1])) }
        };
        Limit { row, what, got: ratio(wall(ours), peer(wall)), by_cpu: ratio(cpu(ours), peer(cpu)), limit, unit: "×" }
    };
    let alone = |row, what, got, limit, unit| Limit { row, what, got, by_cpu: None, limit, unit };
    let rows = if is_large {
        vec![
            times(3, "full build ÷ parse alone", (build, [parse, parse]), 1.8),
            alone(3, "peak memory of the full build", peak, 1000.0, "MB"),
            alone(3, "CPU time of the thread that writes ÷ all, with vectors", writer, 0.15, "×"),
            alone(3, "database without vectors ÷ source", without_vectors, 2.2, "×"),
            alone(3, "database with vectors ÷ source", database, 2.8, "×"),
            times(4, "second sync ÷ `git status`", (sync, [git_status, git_status]), 1.1),
            alone(5, "saved → searchable, p95", saved, 150.0, "ms"),
        ]
    } else {
        vec![
            times(1, "full build ÷ (`ctags -R` + `cindex`)", (build, [ctags, cindex]), 2.0),
            alone(1, "peak memory of the full build", peak, 300.0, "MB"),
            alone(1, "CPU time of the thread that writes ÷ all, with vectors", writer, 0.15, "×"),
            alone(2, "CPU time with vectors ÷ without", ratio(cpu(with_vectors), cpu(build)), 2.5, "×"),
            times(3, "full build ÷ parse alone (asked of a large tree)", (build, [parse, parse]), 1.8),
            alone(3, "database without vectors ÷ source (asked of a large tree)", without_vectors, 2.2, "×"),
            alone(3, "database with vectors ÷ source (asked of a large tree)", database, 2.8, "×"),
            times(4, "second sync ÷ `git status`", (sync, [git_status, git_status]), 1.1),
            alone(5, "saved → searchable, p95", saved, 150.0, "ms"),
        ]
    };
    line(text, "| row | what | limit | came out | by CPU time | |\n|---|---|---|---|---|---|");
    for Limit { row, what, got, by_cpu, limit, unit } in rows {
        let shown = |number: Option<f64>| number.map_or_else(String::new, |number| quantity(number, unit));
        let verdict = match got {
            None => "not measured",
            Some(got) if got <= limit => "held",
            Some(_) => "**missed**",
        };
        let limit = quantity(limit, unit);
        line(text, &format!("| {row} | {what} | ≤ {limit} | {} | {} | {verdict} |", shown(got), shown(by_cpu)));
    }
}

fn share_of_writer(measured: &Measured) -> f64 {
    let groups = measured.threads.groups();
    let all: Duration = groups.values().sum();
    groups.get(MAIN).map_or(0.0, |writer| writer.as_secs_f64() / all.as_secs_f64())
}

/// Trees above this are held to the rows for a Linux-size tree.
const LARGE_FILES: u64 = 40_000;

fn wall(samples: &Samples) -> Option<f64> {
    samples.wall().map(|spread| spread.median.as_secs_f64())
}

fn cpu(samples: &Samples) -> Option<f64> {
    samples.cpu().map(|spread| spread.median.as_secs_f64())
}

fn line(text: &mut String, line: &str) {
    // A string takes every write.
    let _ = writeln!(text, "{line}");
}

fn times(spread: Spread<Duration>) -> String {
    format!("{} ({}–{})", seconds(spread.median), seconds(spread.least), seconds(spread.most))
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", float(bytes) / 1e6)
}

fn quantity(number: f64, unit: &str) -> String {
    if unit == "×" { format!("{number:.2} ×") } else { format!("{number:.0} {unit}") }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn float(number: u64) -> f64 {
    number as f64
}
