//! Publishing to an organisation's server and searching there: `cargo bench --bench organisation -- FOLDER SOCKETS [FILES]`.
//!
//! FOLDER holds the repositories as folders, fifty for the figures in RESULTS.md; copies of them are committed and
//! published. SOCKETS is the folder of the socket of a PostgreSQL server on which `postgres` may make databases and
//! roles; `psql` must be in PATH. One further repository of FILES files (5,000), made of several, is published alone
//! first. Prints what publishing takes and sends, counted on the way to the server, how large the database becomes, and
//! the median of searches by one process that stays over ten and over all repositories. `IXMCP_BENCH_PROGRAM` names
//! another program than the one of this build. Judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::server::Server;

#[path = "asked/server.rs"]
mod server;

const DATABASE: &str = "ixmcp_bench";
const ROLE: &str = "ixmcp_bench_team";
const FEW: usize = 10;
const CHANGED: usize = 20;
/// Searches of each kind, after each was made once.
const QUERIES: usize = 60;
const PHRASES: &[&str] = &[
    "open a file",
    "parse the header",
    "send a request",
    "cache of values",
    "validate input",
    "render a template",
    "close the connection",
    "load settings",
    "write to disk",
    "connect to a server",
    "split a string",
    "iterate over entries",
    "compare versions",
    "hash of bytes",
    "decode text",
    "wait for a lock",
    "spawn a thread",
    "report an error",
    "format a number",
    "find the root",
];

struct Bench {
    sockets: PathBuf,
    port: u16,
    /// Bytes from clients to the server.
    sent: Arc<AtomicU64>,
    /// Home of the client.
    home: TempDir,
}

fn program() -> PathBuf {
    std::env::var_os("IXMCP_BENCH_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_ixmcp").into(), PathBuf::from)
}

fn done(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git(folder: &Path, arguments: &[&str]) {
    done(Command::new("git").args(["-c", "user.name=b", "-c", "user.email=b@b", "-C"]).arg(folder).args(arguments));
}

/// Passes bytes on, and counts those to the server.
fn counting_way(socket: PathBuf, sent: Arc<AtomicU64>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(server) = UnixStream::connect(&socket) else { continue };
            let sent = Arc::clone(&sent);
            std::thread::spawn(move || pass(stream, server, &sent));
        }
    });
    port
}

fn pass(mut client: TcpStream, mut server: UnixStream, sent: &AtomicU64) {
    let _ = client.set_nodelay(true);
    let (Ok(mut from), Ok(mut to)) = (server.try_clone(), client.try_clone()) else { return };
    let back = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = client.read(&mut piece) {
        sent.fetch_add(length as u64, Ordering::Relaxed);
        if server.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = back.join();
}

impl Bench {
    fn sql(&self, database: &str, statement: &str) -> String {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-A", "-t", "-U", "postgres", "-d", database, "-h"]).arg(&self.sockets);
        done(psql.args(["-c", statement]))
    }

    /// Bytes of the database after a vacuum.
    fn size(&self) -> u64 {
        self.sql(DATABASE, "VACUUM");
        self.sql(DATABASE, "SELECT pg_database_size(current_database())").parse().expect("a number")
    }

    fn command(&self, folder: &Path, role: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.current_dir(folder).args(arguments);
        command.env("IXMCP_ORG_URL", format!("postgresql://{role}@127.0.0.1:{}/{DATABASE}?sslmode=disable", self.port));
        command
            .env("HOME", self.home.path())
            .env_remove("XDG_CACHE_HOME")
            .env_remove("IXMCP_BENCH_PROGRAM")
            .env("IXMCP_TCP", "off");
        command
    }

    /// Publishes a folder; returns how long that takes, and the report with the bytes that were sent.
    fn publish(&self, folder: &Path, name: &str) -> (Duration, Value) {
        let before = self.sent.load(Ordering::Relaxed);
        let begun = Instant::now();
        let text = done(&mut self.command(folder, ROLE, &["publish", "--as", name, "--json"]));
        let took = begun.elapsed();
        let mut report: Value = serde_json::from_str(&text).expect("reports are JSON");
        report["on_the_way"] = json!(self.sent.load(Ordering::Relaxed) - before);
        (took, report)
    }
}

/// Asks until nothing is missing any more.
fn settle(server: &mut Server, repo: &str) {
    loop {
        let search = json!({ "repo": repo, "text": "settle", "timeout_ms": 600_000 });
        let (answer, _) = server.ask("query", &search);
        if ["indexing", "vectors_pending"].iter().all(|field| answer.get(*field).is_none()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != ".git" && entry.file_name() != ".ixmcp" {
                files.extend(files_below(&path));
            }
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    done(Command::new("cp").arg("-r").arg(from).arg(to));
}

fn commit(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A", "-f"]);
    git(folder, &["commit", "-qm", "first"]);
}

fn source_of(bench: &Bench, pattern: &str) -> u64 {
    let like = pattern.replace('*', "%");
    let bytes =
        bench.sql(DATABASE, &format!("SELECT coalesce(sum(bytes), 0) FROM ixmcp.repos WHERE name LIKE '{like}'"));
    bytes.parse().expect("a number")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64()
}

fn share(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    let ratio = part as f64 / whole.max(1) as f64;
    format!("{:.1} of {:.1} MB: {ratio:.3} x", megabytes(part), megabytes(whole))
}

#[expect(clippy::cast_precision_loss, reason = "a size that is shown")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let [folder, sockets, rest @ ..] = &given[..] else {
        println!("Give the folder of repositories and the folder of the server's socket.");
        return;
    };
    let files = rest.first().map_or(5000, |text| text.parse().expect("a number of files"));
    let sockets = PathBuf::from(sockets);
    let sent = Arc::new(AtomicU64::new(0));
    let port = counting_way(sockets.join(".s.PGSQL.5432"), Arc::clone(&sent));
    let home = tempfile::tempdir().expect("there is a folder for temporary files");
    let bench = Bench { sockets, port, sent, home };
    bench.sql("postgres", &format!("DROP DATABASE IF EXISTS {DATABASE}"));
    bench.sql("postgres", &format!("CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING UTF8"));
    done(&mut bench.command(bench.home.path(), "postgres", &["org", "init"]));
    bench.sql(
        DATABASE,
        &format!("DO $$ BEGIN CREATE ROLE {ROLE} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"),
    );
    done(&mut bench.command(bench.home.path(), "postgres", &["org", "grant", ROLE, "*", "--publish"]));

    let mut sources: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path()).collect();
    sources.retain(|path| path.is_dir());
    sources.sort();
    let work = tempfile::tempdir().expect("there is a folder for temporary files");
    let large = work.path().join("large");
    fs::create_dir(&large).expect("it is new");
    for source in &sources {
        if files_below(&large).len() >= files {
            break;
        }
        copy(source, &large.join(source.file_name().unwrap_or_default()));
    }
    files_below(&large).iter().skip(files).for_each(|file| drop(fs::remove_file(file)));
    commit(&large);
    publishing(&bench, &large);

    let names: Vec<String> = sources
        .iter()
        .enumerate()
        .map(|(at, source)| {
            let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("{}-{name}", if at < FEW { "few" } else { "more" })
        })
        .collect();
    for (source, name) in sources.iter().zip(&names) {
        let copied = work.path().join(name);
        copy(source, &copied);
        commit(&copied);
    }
    done(&mut bench.command(&large, ROLE, &["unpublish", "--as", "large"]));
    done(&mut bench.command(&large, ROLE, &["unpublish", "--as", "fork"]));
    done(&mut bench.command(bench.home.path(), "postgres", &["org", "sweep", "--older-than", "0"]));
    bench.sql(DATABASE, "VACUUM FULL");
    let empty = bench.size();
    let begun = Instant::now();
    names.iter().for_each(|name| drop(bench.publish(&work.path().join(name), name)));
    println!("{} repositories published one after the other in {:.1} s", names.len(), begun.elapsed().as_secs_f64());
    let source = source_of(&bench, "%");
    println!("database / source: {}", share(bench.size() - empty, source));
    for (part, what) in [("table", "texts, with their keys"), ("indexes", "trigrams, and keys")] {
        let size = format!("SELECT sum(pg_{part}_size(oid)) FROM pg_class WHERE relname ~ '^contents_[0-9]+$'");
        println!("- {what}: {}", share(bench.sql(DATABASE, &size).parse().expect("a number"), source));
    }
    searching(&bench, work.path(), &names);
    bench.sql("postgres", &format!("DROP DATABASE {DATABASE} WITH (FORCE)"));
}

fn publishing(bench: &Bench, large: &Path) {
    let begun = Instant::now();
    done(&mut bench.command(large, ROLE, &["sync"]));
    let built = begun.elapsed();
    let empty = bench.size();
    let (took, report) = bench.publish(large, "large");
    let source = source_of(bench, "large");
    println!(
        "first publication of {} files: {:.1} s, {:.2} x of `ixmcp sync` ({:.1} s)",
        report["files"],
        took.as_secs_f64(),
        took.as_secs_f64() / built.as_secs_f64(),
        built.as_secs_f64()
    );
    let bytes = |report: &Value, field: &str| report[field].as_u64().unwrap_or_default();
    println!(
        "sent: texts {}, all bytes {}",
        share(bytes(&report, "sent_bytes"), source),
        share(bytes(&report, "on_the_way"), source)
    );
    println!("database of it / source: {}", share(bench.size() - empty, source));
    let again = (0..5).map(|_| bench.publish(large, "large").0).collect();
    println!("unchanged: {:.2} s", median(again));
    let files = files_below(large);
    let change = |number: usize, count: usize| {
        let step = (files.len() / count).max(1);
        for file in files.iter().step_by(step).take(count) {
            let mut text = fs::read(file).expect("it can be read");
            text.extend(format!("\n// change {number}\n").bytes());
            fs::write(file, text).expect("it can be written");
        }
        git(large, &["add", "-A", "-f"]);
        git(large, &["commit", "-qm", "next"]);
    };
    let mut sent = 0;
    let changed = (0..5)
        .map(|number| {
            change(number, CHANGED);
            let (took, report) = bench.publish(large, "large");
            sent = bytes(&report, "on_the_way");
            took
        })
        .collect();
    println!("{CHANGED} changed files: {:.2} s, {:.2} MB sent", median(changed), megabytes(sent));
    let before = bench.size();
    change(9, files.len() / 100);
    bench.publish(large, "fork");
    println!("a fork that differs in 1 %: {}", share(bench.size().saturating_sub(before), source_of(bench, "fork")));
}

fn searching(bench: &Bench, work: &Path, names: &[String]) {
    let own = work.join("own");
    fs::create_dir_all(own.join(".git")).expect("it is new");
    fs::write(own.join("own.md"), "nothing\n").expect("it is new");
    let mut client = Server::start(bench.command(&own, ROLE, &["mcp", "--no-daemon"]));
    let begun = Instant::now();
    settle(&mut client, "org:*");
    println!("mirrors of all, with vectors: {:.1} s", begun.elapsed().as_secs_f64());
    // Names that the repositories define, evenly drawn.
    let mut symbols: BTreeSet<String> = BTreeSet::new();
    for name in names {
        for file in files_below(&work.join(name))
            .iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
            .take(4)
        {
            let text = fs::read_to_string(file).unwrap_or_default();
            let defined = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            symbols.extend(
                defined
                    .filter(|name| name.len() > 5 && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
                    .take(3)
                    .map(str::to_owned),
            );
        }
    }
    let symbols: Vec<String> =
        symbols.iter().step_by((symbols.len() / QUERIES).max(1)).take(QUERIES).cloned().collect();
    let phrases: Vec<String> = PHRASES.iter().map(|phrase| (*phrase).to_owned()).collect();
    for (kind, tool, texts) in
        [("get_symbol", "get_symbol", &symbols), ("literal", "query", &symbols), ("smart", "query", &phrases)]
    {
        for repo in ["org:few-*", "org:*"] {
            let mut times = Vec::new();
            let mut hits = 0;
            for round in 0..3 {
                for text in texts {
                    let mut arguments = if tool == "query" {
                        json!({ "text": text, "mode": kind })
                    } else {
                        json!({ "symbol_name": text })
                    };
                    arguments["repo"] = json!(repo);
                    let (answer, took) = client.ask(tool, &arguments);
                    if round > 0 {
                        times.push(took);
                        hits += answer["total"].as_u64().unwrap_or_default();
                    }
                }
            }
            let count = times.len() as u64;
            println!("{kind:<10} {repo:<10} p50 {:>6.1} ms, {} hits each", median(times) * 1e3, hits / count.max(1));
        }
    }
    // One repository, as its own index answers and as it is published.
    let name = &names[0];
    let local = work.join(name);
    done(&mut bench.command(&local, ROLE, &["sync"]));
    let mut at_home = Server::start(bench.command(&local, ROLE, &["mcp", "--no-daemon"]));
    settle(&mut at_home, local.to_str().unwrap_or_default());
    let (mut same, mut asked) = (0, 0);
    for mode in ["smart", "literal"] {
        for text in symbols.iter().chain(&phrases) {
            let search = json!({ "text": text, "mode": mode });
            let (here, _) = at_home.ask("query", &search);
            let mut there = search.clone();
            there["repo"] = json!(format!("org:{name}"));
            let (there, _) = client.ask("query", &there);
            asked += 1;
            same += usize::from(unnamed(&here) == unnamed(&there));
        }
    }
    println!("the same hits, scores included, as the local index of {name}: {same} of {asked} queries");
}

fn unnamed(answer: &Value) -> Vec<Value> {
    let mut hits = answer["results"].as_array().cloned().unwrap_or_default();
    for fields in hits.iter_mut().filter_map(Value::as_object_mut) {
        ["repo", "commit"].iter().for_each(|name| drop(fields.remove(*name)));
    }
    hits
}
