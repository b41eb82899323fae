//! A query over several repositories, next to each alone and to one index over their parent:
//! `cargo bench --bench scopes -- PARENT`.
//!
//! PARENT holds the repositories as folders; a copy of all of them, without an index, is indexed as one. One process that
//! stays is asked, as a client of MCP asks it, after every query was asked once. Prints the median and the 95th percentile
//! of a query over the first five and over all repositories, the slowest of the five alone, the peak memory, and how many of
//! the top ten hits over five are those of the one index. Judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use self::server::Server;

#[path = "asked/server.rs"]
mod server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const ROUNDS: usize = 5;
const FEW: usize = 5;

/// Verbs and things that texts of programs are about: each pair is a query.
const VERBS: &[&str] = &["open", "parse", "send", "cache", "validate", "render", "close", "load", "write", "connect"];
const THINGS: &[&str] = &[
    "file",
    "request header",
    "user session",
    "template",
    "database",
    "error message",
    "config",
    "queue",
    "token",
    "path",
];

fn start(folder: &Path) -> Server {
    let mut command = Command::new(PROGRAM);
    command.args(["mcp", "--no-daemon"]).current_dir(folder).env("IXMCP_TCP", "off");
    Server::start(command)
}

fn search(server: &mut Server, repo: &Value, text: &str) -> (Value, Duration) {
    server.ask("query", &json!({ "repo": repo, "text": text, "timeout_ms": 600_000 }))
}

fn peak_memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    size.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

fn sync(root: &Path) {
    let status = Command::new(PROGRAM).arg("--repo").arg(root).arg("sync").stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{}", root.display());
}

/// The 50th and the 95th percentile.
fn percentiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Copies files and folders, but no index.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(status.is_ok_and(|status| status.success()));
    for index in [".ixmcp", ".git", ".flashgrep"] {
        let _ = fs::remove_dir_all(to.join(index));
    }
}

fn timed(server: &mut Server, repo: &Value, queries: &[String]) -> (Duration, Duration) {
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        for query in queries {
            let (_, took) = search(server, repo, query);
            if round > 0 {
                times.push(took);
            }
        }
    }
    percentiles(&mut times)
}

fn main() {
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Some(parent) = parent.map(PathBuf::from) else {
        println!("Give the folder that holds the repositories.");
        return;
    };
    let parent = parent.canonicalize().expect("the folder exists");
    let mut roots: Vec<PathBuf> = fs::read_dir(&parent)
        .expect("it can be read")
        .flatten()
        .map(|entry| entry.path())
        .filter(|p| p.is_dir())
        .collect();
    roots.sort();
    for root in &roots {
        let _ = fs::create_dir(root.join(".git"));
        sync(root);
    }
    let queries: Vec<String> =
        VERBS.iter().flat_map(|verb| THINGS.iter().map(move |thing| format!("{verb} {thing}"))).collect();
    let few = &roots[..FEW.min(roots.len())];
    let ms = |time: Duration| time.as_secs_f64() * 1e3;

    let mut slowest = Duration::ZERO;
    for root in few {
        let mut server = start(root);
        let (median, _) = timed(&mut server, &json!(root), &queries);
        println!("{:<40} p50 {:>6.1} ms", root.file_name().unwrap_or_default().to_string_lossy(), ms(median));
        slowest = slowest.max(median);
    }
    let mut server = start(&roots[0]);
    let (median, high) = timed(&mut server, &json!(few), &queries);
    println!(
        "{:<40} p50 {:>6.1} ms  p95 {:>6.1} ms  {:.2} x the slowest alone",
        "five",
        ms(median),
        ms(high),
        ms(median) / ms(slowest)
    );
    println!("{:<40} {} MB", "peak memory", peak_memory(&server));
    let of_few: Vec<BTreeSet<String>> = queries
        .iter()
        .map(|query| {
            let (answer, _) = search(&mut server, &json!(few), query);
            let hits = answer["results"].as_array().cloned().unwrap_or_default();
            let name = |hit: &Value| {
                let root = PathBuf::from(hit["repo"].as_str().unwrap_or_default());
                let name = root.strip_prefix(&parent).unwrap_or(&root).to_string_lossy().into_owned();
                format!("{name}/{}:{}", hit["file_path"].as_str().unwrap_or_default(), hit["line"])
            };
            hits.iter().map(name).collect()
        })
        .collect();
    drop(server);

    let mut server = start(&roots[0]);
    let (median, high) = timed(&mut server, &json!(roots), &queries);
    let all = format!("{} repositories", roots.len());
    println!("{all:<40} p50 {:>6.1} ms  p95 {:>6.1} ms", ms(median), ms(high));
    println!("{:<40} {} MB", "peak memory", peak_memory(&server));
    drop(server);

    let one = tempfile::tempdir().expect("there is a folder for temporary files");
    fs::create_dir(one.path().join(".git")).expect("it is empty");
    for root in few {
        copy(root, &one.path().join(root.file_name().unwrap_or_default()));
    }
    sync(one.path());
    let mut server = start(one.path());
    let (mut same, mut wanted) = (0, 0);
    for (query, found) in queries.iter().zip(&of_few) {
        let (answer, _) = search(&mut server, &json!(one.path()), query);
        let hits = answer["results"].as_array().cloned().unwrap_or_default();
        let whole: BTreeSet<String> = hits
            .iter()
            .map(|hit| format!("{}:{}", hit["file_path"].as_str().unwrap_or_default(), hit["line"]))
            .collect();
        wanted += whole.len();
        same += whole.intersection(found).count();
    }
    println!("the same top ten as one index over all five: {same} of {wanted} hits of {} queries", queries.len());
}
