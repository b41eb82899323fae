//! How fast the built-in table embeds: `cargo bench --bench embedding -- DIR`.
//!
//! Takes the chunks that the index would make of the files in DIR. Prints chunks a second of wall time and of CPU time, on
//! one thread and on two, in rounds that take turns.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ixmcp::embed::{Embedder, Purpose, built_in};
use ixmcp::extract::{Options, extract};
use ixmcp::model::RepoPath;

const ROUNDS: usize = 5;
/// Texts handed over at once.
const BATCH: usize = 256;
const MOST_CHUNKS: usize = 60_000;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench speaks on stdout")]
fn main() -> ExitCode {
    let Some(folder) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        eprintln!("usage: cargo bench --bench embedding -- DIR");
        return ExitCode::FAILURE;
    };
    let mut chunks = Vec::new();
    gather(Path::new(&folder), Path::new(&folder), &mut chunks);
    let bytes: usize = chunks.iter().map(String::len).sum();
    println!("{} chunks, {} bytes each on average", chunks.len(), bytes / chunks.len().max(1));
    let started = Instant::now();
    println!("space {:?}, read in {:.1?}", built_in().space(), started.elapsed());
    for round in 1..=ROUNDS {
        for threads in [1, 2] {
            let (wall, cpu) = embed(&chunks, threads);
            let count = u32::try_from(chunks.len()).expect("MOST_CHUNKS and a file");
            let a_second = |time: Duration| f64::from(count) / time.as_secs_f64();
            println!(
                "round {round}, {threads} threads: {:.0} chunks/s, {:.0} a second of CPU time",
                a_second(wall),
                a_second(cpu)
            );
        }
    }
    ExitCode::SUCCESS
}

fn embed(chunks: &[String], threads: usize) -> (Duration, Duration) {
    let (started, cpu) = (Instant::now(), cpu_time());
    std::thread::scope(|scope| {
        for part in chunks.chunks(chunks.len().div_ceil(threads).max(1)) {
            scope.spawn(move || {
                for batch in part.chunks(BATCH) {
                    let texts: Vec<&str> = batch.iter().map(String::as_str).collect();
                    let vectors = built_in().embed(Purpose::Passage, &texts).expect("the table embeds anything");
                    std::hint::black_box(vectors);
                }
            });
        }
    });
    (started.elapsed(), cpu_time() - cpu)
}

/// Of this process, all threads, as Linux tells it: in hundredths of a second.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

fn gather(root: &Path, folder: &Path, chunks: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if chunks.len() >= MOST_CHUNKS {
            return;
        }
        if path.is_dir() && !path.is_symlink() {
            gather(root, &path, chunks);
        } else if let (Some(name), Ok(bytes)) = (RepoPath::under(root, &path), std::fs::read(&path))
            && let Ok(extracted) = extract(&name, &bytes, &Options::default())
        {
            chunks.extend(extracted.chunks.into_iter().map(|chunk| chunk.text));
        }
    }
}
