//! The cost of Python types:
//! `cargo bench --bench types -- --tree [NAME=]DIR [--ty PROGRAM] [--ixmcp PROGRAM] [--rounds N]`.
//!
//! Prints the figures for `benches/RESULTS.md`. The cold checks of both programs are run in turns, so that a busy
//! machine slows both alike: trust the ratios. DIR is worked on in place: give a copy. `--ty` is what `.ci/setup`
//! installs unless said.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[expect(dead_code, reason = "it serves another bench too")]
#[path = "index/process.rs"]
mod process;
#[path = "index/samples.rs"]
mod samples;
#[expect(dead_code, reason = "it serves another bench too")]
#[path = "index/threads.rs"]
mod threads;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use process::{Cost, run_to_any_end};
use samples::{Samples, quantile};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Positions whose types and definitions are asked for, and symbols whose references are.
const POSITIONS: usize = 200;
const SUBJECTS: usize = 60;
/// After this time without a query the engine must have gone.
const IDLE: Duration = Duration::from_secs(20);
/// Time after which the daemon must have given back its own memory, too.
const REST: Duration = Duration::from_secs(80);

struct Arguments {
    name: String,
    root: PathBuf,
    ty: PathBuf,
    program: PathBuf,
    rounds: usize,
}

fn main() -> ExitCode {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    let done = arguments().and_then(|arguments| measure(&arguments));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Outcome<Arguments> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut tree, mut ty, mut rounds) = (None, own.join("target/clients/ty/bin/ty"), 3);
    let mut program = PathBuf::from(env!("CARGO_BIN_EXE_ixmcp"));
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = given.next() {
        let value = given.next().ok_or("every option takes a value: --tree, --ty, --ixmcp, --rounds")?;
        match name.as_str() {
            "--tree" => tree = Some(value),
            "--ty" => ty = PathBuf::from(value),
            "--ixmcp" => program = PathBuf::from(value),
            "--rounds" => rounds = value.parse()?,
            _ => return Err(format!("{name} is no option: --tree, --ty, --ixmcp, --rounds").into()),
        }
    }
    let tree = tree.ok_or("--tree [NAME=]DIR is needed: a copy, which is worked on in place")?;
    let (name, root) = tree.split_once('=').unwrap_or((&tree, &tree));
    Ok(Arguments { name: name.to_owned(), root: PathBuf::from(root).canonicalize()?, ty, program, rounds })
}

/// A command with the same environment for both programs: the only Python is the python3 on the path.
fn command(program: &Path, root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).env("IXMCP_TCP", "off");
    command.env("IXMCP_PYTHON_IDLE", format!("{}s", IDLE.as_secs()));
    for variable in ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"] {
        command.env_remove(variable);
    }
    command
}

fn measure(arguments: &Arguments) -> Outcome<()> {
    let Arguments { name, root, program, rounds, .. } = arguments;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("\n## {name}\n\nLoad average at the start {}.\n", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
    let _none_runs = command(program, root, &["daemon", "stop"]).output();
    let (ours, theirs) = cold(arguments)?;
    println!("| work | wall | CPU | peak memory |\n|---|---|---|---|");
    row("`ixmcp check`, cold, a process of its own", &ours);
    row("`ty check`", &theirs);
    let cpu = |samples: &Samples| samples.cpu().map_or(0.0, |spread| spread.median.as_secs_f64());
    let wall = |samples: &Samples| samples.wall().map_or(0.0, |spread| spread.median.as_secs_f64());
    println!("\nMedians of {rounds} rounds in turns (least–most).\n");
    println!("| limit | | came out | |\n|---|---|---|---|");
    let ratio = wall(&ours) / wall(&theirs);
    let by_cpu = cpu(&ours) / cpu(&theirs);
    let came_out = format!("{ratio:.2} × ({by_cpu:.2} × by CPU time)");
    verdict("check cold ÷ `ty`", "≤ 1.3 ×", &came_out, ratio <= 1.3 && by_cpu <= 1.3);
    same_diagnostics(arguments)?;

    let started = command(program, root, &["daemon", "start"]).output()?;
    if !started.status.success() {
        return Err(String::from_utf8_lossy(&started.stderr).into());
    }
    let measured = in_daemon(arguments);
    let _ended = command(program, root, &["daemon", "stop"]).output();
    measured
}

fn row(name: &str, samples: &Samples) {
    let (Some(wall), Some(cpu), Some(peak)) = (samples.wall(), samples.cpu(), samples.peak_bytes()) else { return };
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let spread =
        |s: samples::Spread<Duration>| format!("{} ({}–{})", seconds(s.median), seconds(s.least), seconds(s.most));
    println!("| {name} | {} | {} | {} MB |", spread(wall), spread(cpu), peak.median / 1_000_000);
}

fn verdict(what: &str, limit: &str, came_out: &str, holds: bool) {
    println!("| {what} | {limit} | {came_out} | {} |", if holds { "held" } else { "**missed**" });
}

fn cold(arguments: &Arguments) -> Outcome<(Samples, Samples)> {
    let Arguments { root, ty, program, rounds, .. } = arguments;
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let once = |command: &mut Command| -> Outcome<Cost> { Ok(run_to_any_end(command)?.1) };
    // One of each first, which no one counts: the files come into memory.
    for round in 0..=*rounds {
        let own = once(&mut command(program, root, &["check", "--output-format", "concise"]))?;
        let other = once(&mut command(ty, root, &["check", "--output-format", "concise"]))?;
        if round > 0 {
            ours.add(own);
            theirs.add(other);
        }
    }
    Ok((ours, theirs))
}

fn same_diagnostics(arguments: &Arguments) -> Outcome<()> {
    let said = |program: &Path| -> Outcome<BTreeSet<String>> {
        let output =
            run_to_any_end(&mut command(program, &arguments.root, &["check", "--output-format", "concise"]))?.2;
        let place = |line: &str| Some(format!("{}]", line.split_once("] ")?.0));
        Ok(output.lines().filter_map(place).collect())
    };
    let (ours, theirs) = (said(&arguments.program)?, said(&arguments.ty)?);
    let different: Vec<&String> = ours.symmetric_difference(&theirs).collect();
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let share = different.len() as f64 / theirs.len().max(1) as f64;
    let came_out = format!("{} of {}, {} ours", different.len(), theirs.len(), ours.len());
    verdict("diagnostics that differ from those of `ty`", "≤ 0.1 %", &came_out, share <= 0.001);
    for line in different {
        let whose = if ours.contains(line) { "ours" } else { "`ty`" };
        println!("| only {whose}: `{line}` | | | |");
    }
    Ok(())
}

/// A connection to the daemon, by the plain methods.
struct Daemon {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Daemon {
    fn ask(&mut self, method: &str, params: &Value) -> Outcome<(Duration, Value)> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let begun = Instant::now();
        self.writer.write_all(format!("{request}\n").as_bytes())?;
        let mut reply = String::new();
        self.reader.read_line(&mut reply)?;
        Ok((begun.elapsed(), serde_json::from_str(&reply)?))
    }

    /// How long each of these takes, sorted.
    fn times(&mut self, method: &str, asked: &[Value]) -> Outcome<Vec<Duration>> {
        let mut times = Vec::new();
        for params in asked {
            times.push(self.ask(method, params)?.0);
        }
        times.sort_unstable();
        Ok(times)
    }
}

fn in_daemon(arguments: &Arguments) -> Outcome<()> {
    let root = &arguments.root;
    let socket = UnixStream::connect(root.join(".flashgrep/mcp.sock"))?;
    let mut daemon = Daemon { reader: BufReader::new(socket.try_clone()?), writer: socket };
    // The index precedes the engine is looked at.
    daemon.ask("list_files", &json!({ "limit": 1, "timeout_ms": 600_000 }))?;
    let page = json!({ "limit": 100 });
    let (cold, whole) = daemon.ask("check", &page)?;
    if whole["result"]["total"].as_u64().is_none() {
        return Err(format!("the check failed: {whole}").into());
    }
    let mut unchanged = daemon.times("check", &vec![page.clone(); 20])?;
    limit("check again, unchanged", "p50", 50, &mut unchanged, 50.0);

    let positions = identifiers(root, POSITIONS);
    for method in ["type_at", "goto_definition"] {
        daemon.times(method, &positions)?;
        let mut warm = daemon.times(method, &positions)?;
        limit(&format!("`{method}`, {POSITIONS} places, warm"), "p50", 50, &mut warm, 1.0);
    }
    let subjects = &positions[..SUBJECTS.min(positions.len())];
    let mut cold_references = daemon.times("find_references", subjects)?;
    cold_references.sort_unstable();
    let mut references = daemon.times("find_references", subjects)?;
    limit(&format!("`find_references`, {} places", subjects.len()), "p50", 50, &mut references, 20.0);
    limit("the same", "p95", 95, &mut references, 500.0);
    limit("the same places asked for the first time", "p95", 95, &mut cold_references, 500.0);

    for (what, file) in edited(root)? {
        let (mut of_file, mut of_project) = (Vec::new(), Vec::new());
        let path = root.join(&file);
        let before = std::fs::read_to_string(&path)?;
        for round in 0..arguments.rounds {
            let more = format!("\n\ndef added_{round}(x: int) -> str:\n    return str(x + {round})\n");
            std::fs::write(&path, format!("{before}{more}"))?;
            of_file.push(daemon.ask("check", &json!({ "file": file }))?.0);
            of_project.push(daemon.ask("check", &page)?.0);
        }
        std::fs::write(&path, &before)?;
        daemon.ask("check", &page)?;
        limit(&format!("after an edit of {what}: the file's diagnostics"), "p50", 50, &mut of_file, 100.0);
        limit(
            &format!("after an edit of {what}: the project's, of {:.2} s cold", cold.as_secs_f64()),
            "p50",
            50,
            &mut of_project,
            cold.as_secs_f64() * 1000.0 * 0.2,
        );
    }
    let (now, peak) = engine(&arguments.program, root).ok_or("there is no engine")?;
    let megabytes = |kib: u64| kib * 1024 / 1_000_000;
    let came_out = format!("{} MB, at most {} MB", megabytes(now), megabytes(peak));
    verdict("memory of the engine after all this", "≤ 900 MB", &came_out, megabytes(peak) <= 900);
    std::thread::sleep(IDLE + Duration::from_secs(2));
    let is_gone = engine(&arguments.program, root).is_none();
    verdict("the engine after its idle time", "gone", if is_gone { "gone" } else { "there" }, is_gone);
    std::thread::sleep(REST.saturating_sub(IDLE));
    let status = daemon.ask("ixmcp/status", &json!({}))?.1;
    let memory = |name: &str| status["result"]["memory"][name].as_u64().unwrap_or(u64::MAX) / 1_000_000;
    let came_out = format!("{} MB, of which {} MB its own", memory("rss_bytes"), memory("own_bytes"));
    verdict("the idle daemon then", "≤ 60 MB", &came_out, memory("rss_bytes") <= 60);
    Ok(())
}

fn limit(what: &str, which: &str, percent: usize, times: &mut [Duration], most: f64) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let got = quantile(times, percent).map_or(f64::MAX, milliseconds);
    let longest = times.last().copied().map_or(0.0, milliseconds);
    let came_out = format!("{which} {got:.2} ms, at most {longest:.1} ms of {}", times.len());
    verdict(what, &format!("{which} ≤ {most:.0} ms"), &came_out, got <= most);
}

/// Places of identifiers, spread over the tree's Python files, the same ones each time.
fn identifiers(root: &Path, number: usize) -> Vec<Value> {
    let mut files = python_files(root);
    files.sort();
    let mut state: u64 = 42;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    };
    let mut positions = Vec::new();
    for _ in 0..number * 50 {
        let Some(file) = files.get(random(files.len())) else { break };
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let at = random(lines.len());
        let Some(line) = lines.get(at).and_then(|line| line.split('#').next()) else { continue };
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let starts: Vec<usize> = line
            .char_indices()
            .filter(|(at, c)| (c.is_alphabetic() || *c == '_') && !line[..*at].ends_with(is_part))
            .map(|(at, _)| line[..at].chars().count() + 1)
            .collect();
        if let Some(column) = starts.get(random(starts.len())) {
            let file = file.strip_prefix(root).unwrap_or(file);
            positions.push(json!({ "file": file, "line": at + 1, "column": column }));
        }
        if positions.len() == number {
            break;
        }
    }
    positions
}

fn python_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && !name.to_string_lossy().starts_with('.') {
            files.extend(python_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
    files
}

/// A file that many import, and one that few do: by how often files name their modules.
fn edited(root: &Path) -> Outcome<Vec<(&'static str, String)>> {
    let files = python_files(root);
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect();
    let mut counted: Vec<(usize, String)> = files
        .iter()
        .zip(&texts)
        .filter(|(file, text)| text.lines().count() > 200 && !file.iter().any(|part| part == "tests" || part == "test"))
        .filter_map(|(file, _)| {
            let relative = file.strip_prefix(root).ok()?.to_str()?;
            let module = relative.strip_suffix(".py")?.replace('/', ".");
            let uses = texts.iter().filter(|text| text.contains(&format!("from {module} import"))).count();
            Some((uses, relative.to_owned()))
        })
        .collect();
    counted.sort();
    let leaf = counted.iter().find(|(uses, _)| *uses >= 1).ok_or("no file is imported by another")?;
    let hub = counted.last().ok_or("there are no files")?;
    Ok(vec![("a leaf", leaf.1.clone()), ("a hub", hub.1.clone())])
}

/// Memory of the engine below the daemon of `root`, in KiB: now, and at most.
fn engine(program: &Path, root: &Path) -> Option<(u64, u64)> {
    let name = program.file_name()?.to_str()?;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let folder = entry.path();
        let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        let words: Vec<&str> =
            words.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
        let [first, "engine", of, ..] = words[..] else { continue };
        if !first.ends_with(name) || Path::new(of) != root {
            continue;
        }
        let status = std::fs::read_to_string(folder.join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        return Some((field("VmRSS:")?, field("VmHWM:")?));
    }
    None
}
