//! The cost of the index:
//! `cargo bench --bench index -- --tree DIR [--tree NAME=DIR] [--rounds N] [--saves N] [--only syncs]`.
//!
//! Prints the figures for `benches/RESULTS.md` as Markdown tables. Every piece of work runs in a process of its own,
//! and one round runs each once, so that a busy machine slows all alike: trust the ratios. Programs to compare with
//! that are not installed are named and left out.
//!
//! DIR is worked on in place, so give a copy of your own (git refuses what belongs to others): its `.ixmcp` is made
//! again, and it becomes a git repository if it is not one. All its files must be committed, so that git and ixmcp look at as many.
//! `--only syncs --rounds 3` compares nine syncs with nothing changed with as many `git status`, and nothing else.

mod in_process;
mod process;
mod report;
mod samples;
mod threads;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use samples::Samples;
use threads::Threads;

/// The allocator of installed programs, so that builds and parses run as they do there.
#[cfg(all(feature = "jemalloc", unix))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: cargo bench --bench index -- --tree [NAME=]DIR [--tree …] [--rounds N] [--saves N] [--only syncs]

Works on DIR in place: give a copy. --rounds is 5, --saves (files saved one by one) is 50 unless said. --only syncs builds the index
once, and measures only what a sync with nothing changed takes.
";

/// Syncs with nothing changed in a round: they are short.
const SYNCS_A_ROUND: usize = 3;
/// One-shot queries after a save.
const ONE_SHOTS: usize = 10;

struct Arguments {
    trees: Vec<(String, PathBuf)>,
    rounds: usize,
    saves: usize,
    only_syncs: bool,
}

/// A tree as it was measured.
pub struct Measured {
    pub name: String,
    pub rounds: usize,
    pub counts: Counts,
    /// Until words, symbols and references answer.
    pub build: Samples,
    /// Until the vectors are complete, too.
    pub with_vectors: Samples,
    /// The threads of the last of these.
    pub threads: Threads,
    pub parse: Samples,
    pub ctags: Samples,
    pub cindex: Samples,
    pub listing: Samples,
    pub sync: Samples,
    pub git_status: Samples,
    pub one_shot: Samples,
    /// Sorted.
    pub saved_quiet: Vec<Duration>,
    pub saved_crowded: Vec<Duration>,
    pub literal: Vec<Duration>,
}

/// Rows and bytes in the index of a tree.
#[derive(Default)]
pub struct Counts {
    pub files: u64,
    pub source_bytes: u64,
    pub database_bytes: u64,
    /// The part of `database_bytes` that vectors take.
    pub vector_bytes: u64,
    pub chunks: u64,
    pub symbols: u64,
    pub references: u64,
}

fn main() -> ExitCode {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--parse-only", root] => in_process::parse_only(Path::new(root)),
        ["--build", root] => in_process::build(Path::new(root)),
        ["--watched", root, saves] => {
            saves.parse().map_err(Into::into).and_then(|saves| in_process::watched(Path::new(root), saves))
        }
        _ => measure_all(&arguments),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    // A closed standard error cannot be reported.
    let _ = writeln!(std::io::stderr(), "{error}");
    ExitCode::from(2)
}

fn read(arguments: &[String]) -> Outcome<Arguments> {
    let mut read = Arguments { trees: Vec::new(), rounds: 5, saves: 50, only_syncs: false };
    let mut arguments = arguments.iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--tree" => {
                let (name, folder) = value.rsplit_once('=').unwrap_or(("", value));
                let folder = Path::new(folder).canonicalize().map_err(|error| format!("{folder}: {error}"))?;
                let own = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                read.trees.push((if name.is_empty() { own } else { name.to_owned() }, folder));
            }
            "--rounds" => read.rounds = value.parse()?,
            "--saves" => read.saves = value.parse()?,
            "--only" if value == "syncs" => read.only_syncs = true,
            _ => return Err(USAGE.into()),
        }
    }
    if read.trees.is_empty() || read.rounds == 0 { Err(USAGE.into()) } else { Ok(read) }
}

fn measure_all(arguments: &[String]) -> Outcome<()> {
    let arguments = read(arguments)?;
    let mut stdout = std::io::stdout();
    write!(stdout, "{}", report::machine())?;
    for (name, root) in &arguments.trees {
        let measured = measure(name, root, &arguments)?;
        write!(stdout, "{}", report::tree(&measured))?;
    }
    Ok(())
}

fn measure(name: &str, root: &Path, arguments: &Arguments) -> Outcome<Measured> {
    let rounds = arguments.rounds;
    let mut measured = Measured {
        name: name.to_owned(),
        rounds,
        counts: Counts::default(),
        build: Samples::default(),
        with_vectors: Samples::default(),
        threads: Threads::default(),
        parse: Samples::default(),
        ctags: Samples::default(),
        cindex: Samples::default(),
        listing: Samples::default(),
        sync: Samples::default(),
        git_status: Samples::default(),
        one_shot: Samples::default(),
        saved_quiet: Vec::new(),
        saved_crowded: Vec::new(),
        literal: Vec::new(),
    };
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-index");
    fs::create_dir_all(&scratch)?;
    make_repository(root)?;
    for round in 1..=if arguments.only_syncs { 0 } else { rounds } {
        note(&format!("{name}: builds, round {round} of {rounds}"));
        build_round(&mut measured, root, &scratch)?;
    }
    // Files that were saved moments ago are read again by both: once, so that it is behind us.
    process::run(&mut sync(root))?;
    process::run(&mut git_status(root))?;
    note(&format!("{name}: syncs"));
    for _ in 0..rounds * SYNCS_A_ROUND {
        measured.sync.add(process::run(&mut sync(root))?.0);
        if process::is_installed("git") {
            measured.git_status.add(process::run(&mut git_status(root))?.0);
        }
    }
    measured.counts = counts(root)?;
    if arguments.only_syncs {
        return Ok(measured);
    }
    note(&format!("{name}: saves"));
    let (_, reported) = process::run(itself().arg("--watched").arg(root).arg(arguments.saves.to_string()))?;
    measured.saved_quiet = latencies(&reported, "quiet ")?;
    measured.saved_crowded = latencies(&reported, "crowded ")?;
    measured.literal = latencies(&reported, "literal ")?;
    one_shots(&mut measured, root)?;
    fs::remove_dir_all(&scratch)?;
    Ok(measured)
}

/// One full build, next to what others take for the same tree.
fn build_round(measured: &mut Measured, root: &Path, scratch: &Path) -> Outcome<()> {
    without_index(root)?;
    measured.build.add(process::run(itself().arg("--build").arg(root))?.0);
    without_index(root)?;
    let (cost, threads) = process::run_with_threads(&mut sync(root))?;
    measured.with_vectors.add(cost);
    measured.threads = threads;
    measured.parse.add(process::run(itself().arg("--parse-only").arg(root))?.0);
    if process::is_installed("ctags") {
        let mut ctags = Command::new("ctags");
        ctags.args(["-R", "--exclude=.ixmcp", "--exclude=.git", "-f"]).arg(scratch.join("tags")).arg(root);
        measured.ctags.add(process::run(&mut ctags)?.0);
    }
    if process::is_installed("cindex") {
        let mut cindex = Command::new("cindex");
        cindex.arg("-reset").arg(root).env("CSEARCHINDEX", scratch.join("csearchindex"));
        measured.cindex.add(process::run(&mut cindex)?.0);
    }
    if process::is_installed("rg") {
        measured.listing.add(process::run(Command::new("rg").args(["--files", "--hidden"]).arg(root))?.0);
    }
    Ok(())
}

fn without_index(root: &Path) -> Outcome<()> {
    let folder = root.join(".ixmcp");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// A query by the command line right after a save: the whole process, update included.
fn one_shots(measured: &mut Measured, root: &Path) -> Outcome<()> {
    let (_, reported) = process::run(ixmcp(root).args(["sql", "--json", "SELECT path FROM files"]))?;
    let mut paths = Vec::new();
    for line in reported.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        paths.extend(row["path"].as_str().map(str::to_owned));
    }
    for (number, path) in in_process::of_all_sizes(&paths, root, ONE_SHOTS)?.into_iter().enumerate() {
        let word = format!("zqasked{}x{number}", std::process::id());
        let save = in_process::Save::make(root, &path, &word)?;
        let (cost, reported) = process::run(ixmcp(root).args(["query", &word]))?;
        if !reported.contains(&path) {
            return Err(format!("{path} was saved with a new word, which was not found").into());
        }
        drop(save);
        measured.one_shot.add(cost);
    }
    process::run(&mut sync(root))?;
    Ok(())
}

fn counts(root: &Path) -> Outcome<Counts> {
    let (_, stats) = process::run(ixmcp(root).args(["stats", "--json"]))?;
    let stats: serde_json::Value = serde_json::from_str(&stats)?;
    let (_, sum) = process::run(ixmcp(root).args(["sql", "--json", "SELECT sum(size) AS bytes FROM files"]))?;
    let sum: serde_json::Value = serde_json::from_str(&sum)?;
    let pages = "SELECT coalesce(sum(pgsize), 0) AS bytes FROM dbstat WHERE name = 'vectors'";
    let (_, vectors) = process::run(ixmcp(root).args(["sql", "--json", pages]))?;
    let vectors: serde_json::Value = serde_json::from_str(&vectors)?;
    let number = |value: &serde_json::Value| value.as_u64().ok_or("the answer of ixmcp lacks a number");
    Ok(Counts {
        files: number(&stats["total_files"])?,
        source_bytes: number(&sum["bytes"])?,
        database_bytes: number(&stats["index_size_bytes"])?,
        vector_bytes: number(&vectors["bytes"])?,
        chunks: number(&stats["total_chunks"])?,
        symbols: number(&stats["total_symbols"])?,
        references: number(&stats["total_references"])?,
    })
}

/// Durations in microseconds after `kind`, one per line, sorted.
fn latencies(reported: &str, kind: &str) -> Outcome<Vec<Duration>> {
    let micros = reported.lines().filter_map(|line| line.strip_prefix(kind)).map(str::parse);
    let mut latencies: Vec<Duration> =
        micros.map(|micros| micros.map(Duration::from_micros)).collect::<Result<_, _>>()?;
    latencies.sort_unstable();
    Ok(latencies)
}

fn make_repository(root: &Path) -> Outcome<()> {
    if !process::is_installed("git") {
        return Ok(());
    }
    if !root.join(".git").exists() {
        note("making a git repository");
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "as measured"]] {
            process::run(git(root).args(arguments))?;
        }
    }
    let (_, changed) = process::run(&mut git_status(root))?;
    if changed.is_empty() { Ok(()) } else { Err(format!("{}: commit all files first", root.display()).into()) }
}

fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(root);
    git.args(["-c", "gc.auto=0", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
    git
}

fn git_status(root: &Path) -> Command {
    let mut command = git(root);
    command.args(["status", "--porcelain"]);
    command
}

fn ixmcp(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ixmcp"));
    command.arg("--repo").arg(root);
    command
}

fn sync(root: &Path) -> Command {
    let mut command = ixmcp(root);
    command.arg("sync");
    command
}

/// This program, for work that is measured from outside.
fn itself() -> Command {
    Command::new(std::env::current_exe().unwrap_or_else(|_| PathBuf::from(env!("CARGO_CRATE_NAME"))))
}

fn note(text: &str) {
    // Only for a waiting user.
    let _ = writeln!(std::io::stderr(), "{text}");
}
