//! How long a query takes, next to ripgrep: `cargo bench --bench query -- DIR…`.
//!
//! Asks the daemon of each repository over its socket, as a client does. Cold: the first query after the daemon was
//! started and its database put out of the page cache. Literals are asked for page by page until all lines are there,
//! which are compared with those of ripgrep, run in between on the same files. Prints a table for each repository;
//! judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};
use serde_json::{Value, json};

use self::queries::QUERIES;

#[path = "asked/queries.rs"]
mod queries;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
/// Rounds of each query; the cold one is not among them.
const ROUNDS: usize = 15;
/// Rounds of each literal, with a turn of ripgrep after each.
const ROUNDS_COMPARED: usize = 5;
const PAGE: u64 = 1_000;

/// Rare, frequent, everywhere, nowhere; and as regexes.
const PATTERNS: &[(&str, &str)] = &[
    ("literal", "get_or_create"),
    ("literal", "kmalloc_array"),
    ("literal", "raise ValueError"),
    ("literal", "mutex_lock("),
    ("literal", "return "),
    ("literal", "no such text is here"),
    ("regex", r"def get_\w+\(self"),
    ("regex", r"^static int \w+_probe\("),
    ("regex", r"(?i)todo|fixme"),
];

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    for root in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let root = Path::new(&root).canonicalize().expect("the repository");
        measure(&root);
    }
}

fn measure(root: &Path) {
    run(root, &["sync"]);
    let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut client = Client::start(root);
    let stats = client.ask("stats", &json!({})).1;
    let size = |key: &str| stats[key].as_u64().unwrap_or_default();
    println!(
        "## {name}\n\n{} files, {} chunks, database {} MB. {}\n",
        size("total_files"),
        size("total_chunks"),
        size("index_size_bytes") >> 20,
        load()
    );
    queries(root);
    patterns(root);
    run(root, &["daemon", "stop"]);
}

fn queries(root: &Path) {
    println!("| question | hits | cold | warm p50 | warm p99 |\n|---|---:|---:|---:|---:|");
    let (mut all, mut cold_all) = (Vec::new(), Vec::new());
    for text in QUERIES {
        let mut client = Client::start(root);
        let (cold, answer) = client.ask("query", &json!({ "text": text }));
        let mut warm: Vec<Duration> = (0..ROUNDS).map(|_| client.ask("query", &json!({ "text": text })).0).collect();
        warm.sort_unstable();
        let hits = answer["total"].as_u64().map_or_else(|| "many".to_owned(), |total| total.to_string());
        println!("| `{text}` | {hits} | {cold:.1?} | {:.1?} | {:.1?} |", at(&warm, 50), at(&warm, 99));
        all.extend(warm);
        cold_all.push(cold);
    }
    all.sort_unstable();
    cold_all.sort_unstable();
    println!(
        "| all of them, p50 and p99 | | {:.1?} | {:.1?} | {:.1?} |\n",
        at(&cold_all, 50),
        at(&all, 50),
        at(&all, 99)
    );
}

fn patterns(root: &Path) {
    println!(
        "| pattern | lines | cold | page of {PAGE} p50 | next page p50 | all pages | `rg` p50 | `rg` ÷ page | `rg` ÷ all | lines differ |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let mut client = Client::start(root);
    let files: BTreeSet<String> = client.ask("list_files", &json!({ "limit": 1_000_000 })).1["files"]
        .as_array()
        .map_or_else(BTreeSet::new, |files| files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect());
    for (mode, text) in PATTERNS {
        client = Client::start(root);
        let query = |offset: usize| json!({ "text": text, "mode": mode, "limit": PAGE, "offset": offset });
        let (cold, _) = client.ask("query", &query(0));
        let (mut first, mut second, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        let mut of_rg = BTreeSet::new();
        for _ in 0..ROUNDS_COMPARED {
            let (took, answer) = client.ask("query", &query(0));
            first.push(took);
            if let Some(next) = answer["next_offset"].as_u64() {
                second.push(client.ask("query", &query(usize::try_from(next).unwrap_or_default())).0);
            }
            let (took, found) = ripgrep(root, mode, text, &files);
            theirs.push(took);
            of_rg = found;
        }
        let (all, ours) = every_page(&mut client, query);
        let (first, theirs) = (median(first), median(theirs));
        let next = if second.is_empty() { String::new() } else { format!("{:.1?}", median(second)) };
        let ratio = |ours: Duration| theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "| {mode} `{}` | {} | {cold:.1?} | {first:.1?} | {next} | {all:.1?} | {theirs:.1?} | {:.1} | {:.1} | {} |",
            text.replace('|', "\\|"),
            ours.len(),
            ratio(first),
            ratio(all),
            ours.symmetric_difference(&of_rg).count()
        );
    }
    println!();
}

/// How long all pages take, one after the other, and their lines.
fn every_page(client: &mut Client, query: impl Fn(usize) -> Value) -> (Duration, BTreeSet<(String, u64)>) {
    let (mut all, mut lines, mut offset) = (Duration::ZERO, BTreeSet::new(), 0);
    loop {
        let (took, answer) = client.ask("query", &query(offset));
        all += took;
        for hit in answer["results"].as_array().into_iter().flatten() {
            lines.insert((hit["file_path"].as_str().unwrap_or_default().to_owned(), hit["line"].as_u64().unwrap_or(0)));
        }
        match answer["next_offset"].as_u64() {
            Some(next) => offset = usize::try_from(next).unwrap_or(usize::MAX),
            None => return (all, lines),
        }
    }
}

struct Client {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Client {
    /// A connection to a daemon that has just been started, with nothing of the database in memory.
    fn start(root: &Path) -> Self {
        run(root, &["daemon", "stop"]);
        let database = File::open(root.join(".ixmcp/index.db")).expect("the database");
        database.sync_all().expect("written");
        fadvise(&database, 0, None, Advice::DontNeed).expect("put out of the cache");
        run(root, &["daemon", "start"]);
        let writer = UnixStream::connect(socket(root)).expect("the daemon's socket");
        let reader = BufReader::new(writer.try_clone().expect("a second handle"));
        let mut client = Self { reader, writer };
        // The daemon looks at all files when it starts; that is not a part of a query.
        client.ask("list_files", &json!({ "limit": 1 }));
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> (Duration, Value) {
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string() + "\n";
        let begun = Instant::now();
        loop {
            self.writer.write_all(line.as_bytes()).expect("written");
            let mut reply = String::new();
            self.reader.read_line(&mut reply).expect("a reply");
            let took = begun.elapsed();
            let mut reply: Value = serde_json::from_str(&reply).expect("JSON");
            if reply["error"]["data"]["code"] == "BUSY" {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            assert!(reply.get("result").is_some(), "{reply}");
            return (took, reply["result"].take());
        }
    }
}

fn socket(root: &Path) -> PathBuf {
    let folder = root.join(".flashgrep");
    let pointer = std::fs::read_to_string(folder.join("mcp.sock.path"));
    pointer.map_or_else(|_| folder.join("mcp.sock"), |path| PathBuf::from(path.trim()))
}

/// The lines of files that are indexed, and how long it took to print those of all.
fn ripgrep(root: &Path, mode: &str, text: &str, files: &BTreeSet<String>) -> (Duration, BTreeSet<(String, u64)>) {
    let mut rg = Command::new("rg");
    rg.args(["--no-config", "--hidden", "--no-heading", "--with-filename", "-n", "--null", "-g", "!.git"]);
    if mode == "literal" {
        rg.arg("-F");
    }
    rg.arg("-e").arg(text).arg(".").current_dir(root);
    let begun = Instant::now();
    let output = rg.output().expect("rg runs");
    let took = begun.elapsed();
    let line = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let (path, rest) = line.split_once('\0')?;
        let path = path.strip_prefix("./").unwrap_or(path).to_owned();
        let number = rest.split(':').next()?.parse().ok()?;
        files.contains(&path).then_some((path, number))
    };
    (took, output.stdout.split(|byte| *byte == b'\n').filter_map(line).collect())
}

fn run(root: &Path, arguments: &[&str]) {
    let mut command = Command::new(PROGRAM);
    let output = command.arg("--repo").arg(root).args(arguments).env("IXMCP_TCP", "off").output();
    output.expect("the program runs");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    at(&times, 50)
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("Load average at the start: {}.", load.split(' ').take(3).collect::<Vec<_>>().join(" "))
}
