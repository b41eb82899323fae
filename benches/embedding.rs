//! How fast texts are embedded: `cargo bench --bench embedding -- DIR [MODEL [LIBRARY]]`.
//!
//! Takes the chunks that the index would make of the files in DIR: all of them by the built-in table, or some by the
//! model in the folder MODEL, which LIBRARY (ONNX Runtime's) runs, or rten. Prints chunks a second of wall time and of
//! CPU time, on one thread and on two, in rounds that take turns, and for a model how long it takes to read it and its
//! memory.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ixmcp::embed::transformer::{Gpu, RunnerConfig, Transformer};
use ixmcp::embed::{Embedder, Purpose, built_in};
use ixmcp::extract::{Options, extract};
use ixmcp::model::RepoPath;

const ROUNDS: usize = 5;
/// Texts handed over at once.
const BATCH: usize = 256;
const MOST_CHUNKS: usize = 60_000;
/// Chunks for a model, drawn from the whole index: a model needs a hundredth of a second or more for each.
const CHUNKS_OF_A_MODEL: usize = 200;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench speaks on stdout")]
fn main() -> ExitCode {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let [folder, model @ ..] = given.as_slice() else {
        eprintln!("usage: cargo bench --bench embedding -- DIR [MODEL [LIBRARY]]");
        return ExitCode::FAILURE;
    };
    let mut chunks = Vec::new();
    gather(Path::new(folder), Path::new(folder), &mut chunks);
    let started = Instant::now();
    let opened = model.first().map(|folder| open(folder, model.get(1)));
    let embedder: &dyn Embedder = opened.as_ref().map_or(built_in(), |model| model);
    println!("space {:?}, read in {:.1?}", embedder.space(), started.elapsed());
    if opened.is_some() {
        println!("memory {} MB, at most {} MB", memory("VmRSS:"), memory("VmHWM:"));
        let every = (chunks.len() / CHUNKS_OF_A_MODEL).max(1);
        chunks = chunks.into_iter().step_by(every).take(CHUNKS_OF_A_MODEL).collect();
    }
    let bytes: usize = chunks.iter().map(String::len).sum();
    println!("{} chunks, {} bytes each on average", chunks.len(), bytes / chunks.len().max(1));
    for round in 1..=ROUNDS {
        for threads in [1, 2] {
            let (wall, cpu) = embed(embedder, &chunks, threads);
            let count = u32::try_from(chunks.len()).expect("MOST_CHUNKS and a file");
            let a_second = |time: Duration| f64::from(count) / time.as_secs_f64();
            println!(
                "round {round}, {threads} threads: {:.1} chunks/s, {:.1} a second of CPU time",
                a_second(wall),
                a_second(cpu)
            );
        }
    }
    if opened.is_some() {
        println!("memory {} MB, at most {} MB", memory("VmRSS:"), memory("VmHWM:"));
    }
    ExitCode::SUCCESS
}

fn open(folder: &str, library: Option<&String>) -> Transformer {
    let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_ixmcp")));
    let config =
        RunnerConfig { gpu: Gpu::Off, library: library.map(PathBuf::from), program, ..RunnerConfig::default() };
    Transformer::open("model", Path::new(folder), &config).expect("a model that can be run")
}

fn embed(embedder: &dyn Embedder, chunks: &[String], threads: usize) -> (Duration, Duration) {
    let (started, cpu) = (Instant::now(), cpu_time());
    std::thread::scope(|scope| {
        for part in chunks.chunks(chunks.len().div_ceil(threads).max(1)) {
            scope.spawn(move || {
                for batch in part.chunks(BATCH) {
                    let texts: Vec<&str> = batch.iter().map(String::as_str).collect();
                    let vectors = embedder.embed(Purpose::Passage, &texts).expect("texts can be embedded");
                    std::hint::black_box(vectors);
                }
            });
        }
    });
    (started.elapsed(), cpu_time() - cpu)
}

/// Lists this process and those that it started, as Linux reports them.
fn family() -> Vec<PathBuf> {
    let own = std::process::id().to_string();
    let is_of_us =
        |folder: &PathBuf| folder.ends_with(&own) || fields(folder).get(1).is_some_and(|parent| *parent == own);
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(is_of_us).collect()
}

/// Fields of `stat` after the process name.
fn fields(process: &Path) -> Vec<String> {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().split(' ').map(str::to_owned).collect()
}

/// CPU time of all threads, in steps of a hundredth of a second.
fn cpu_time() -> Duration {
    let ticks = |process: PathBuf| -> u64 {
        fields(&process).iter().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
    };
    Duration::from_millis(family().into_iter().map(ticks).sum::<u64>() * 10)
}

/// In megabytes.
fn memory(what: &str) -> u64 {
    let of = |process: PathBuf| -> Option<u64> {
        let status = std::fs::read_to_string(process.join("status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix(what))?.trim().strip_suffix(" kB")?.parse().ok()
    };
    family().into_iter().filter_map(of).sum::<u64>() >> 10
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
