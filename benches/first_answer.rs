//! How long the first answer takes in a tree that was never indexed, and in a new worktree, over stdio:
//! `cargo bench --bench first_answer -- SOURCES…`.
//!
//! `--program=FILE` measures another build of the program. Each of the sources is copied into a repository of its own
//! under the temporary folder. Every first answer comes from a new daemon without an index, next to ripgrep on the same
//! files. Then the answers of those first moments are compared with those of the finished index. Prints tables; judges
//! nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::queries::QUERIES;
use self::server::Server;

#[path = "asked/queries.rs"]
mod queries;
#[path = "asked/server.rs"]
mod server;

fn program() -> String {
    let named = std::env::args().find_map(|argument| argument.strip_prefix("--program=").map(str::to_owned));
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_ixmcp").to_owned())
}

const ROUNDS: usize = 3;
/// Hits of which the first answer and that of the finished index should agree.
const TOP: usize = 5;
const WORKTREES: usize = 6;

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    for sources in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().canonicalize().expect("the folder");
        let root = repository(Path::new(&sources), &folder.join("main"));
        println!("## {sources}\n\n{}\n\n| | {ROUNDS} rounds |\n|---|---:|", load());
        first_answers(&root);
        next_to_a_build(&root);
        builds(&root);
        worktrees(&root, &folder);
        println!();
        agreement(&root);
        run(&root, &["daemon", "stop"]);
    }
}

fn repository(sources: &Path, root: &Path) -> PathBuf {
    let mut copy = Command::new("cp");
    copy.args(["-a", "--no-preserve=ownership"]).arg(sources).arg(root);
    assert!(copy.status().expect("cp runs").success(), "the sources are copied");
    for folder in [".git", ".ixmcp", ".flashgrep"] {
        let _is_missing = std::fs::remove_dir_all(root.join(folder));
    }
    git(root, &["init", "-q"]);
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "sources"]);
    root.to_owned()
}

/// The first call of a client, from its start on, where no index exists.
fn first_answers(root: &Path) {
    let word = "mutex_lock";
    let calls = [
        ("literal query", "query", json!({ "text": word, "mode": "literal" })),
        ("regex query", "query", json!({ "text": r"def get_\w+\(self", "mode": "regex" })),
        ("smart query", "query", json!({ "text": "how are migrations applied to the database" })),
        ("`get_symbol`", "get_symbol", json!({ "symbol_name": "get_queryset" })),
    ];
    let ripgrep = || {
        let begun = Instant::now();
        Command::new("rg").args(["-nF", word, "."]).current_dir(root).output().expect("rg runs");
        begun.elapsed()
    };
    for (name, tool, arguments) in calls {
        let once = |_| {
            forget(root);
            let begun = Instant::now();
            start(root).ask(tool, &arguments);
            begun.elapsed()
        };
        let mut rounds: Vec<(Duration, Duration)> = (0..ROUNDS).map(|round| (once(round), ripgrep())).collect();
        rounds.sort_unstable();
        let mut theirs: Vec<Duration> = rounds.iter().map(|(_, theirs)| *theirs).collect();
        theirs.sort_unstable();
        let theirs = theirs[theirs.len() / 2];
        let ours: Vec<Duration> = rounds.into_iter().map(|(ours, _)| ours).collect();
        let times = ratio(ours[ours.len() / 2], theirs);
        row(&format!("never indexed, first {name} ({times:.1} × `rg -nF {word}` in between: {theirs:.2?})"), ours);
    }
}

/// The first line that a command prints, and its end, while `ixmcp sync` of another process builds the first index.
fn next_to_a_build(root: &Path) {
    let commands: [&[&str]; 7] = [
        &["query", "-m", "literal", "mutex_lock"],
        &["query", "-m", "regex", r"def get_\w+\(self"],
        &["query", "how are migrations applied to the database"],
        &["symbol", "get_queryset"],
        &["files", "--include", "**/README*"],
        &["documents", "search", "how are migrations applied to the database"],
        &["entity", "search", "database"],
    ];
    for arguments in commands {
        let once = |round: u64| {
            forget(root);
            let mut builder =
                command(root, &["sync"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
            // In the first round it lists the tree, in later ones it writes.
            std::thread::sleep(Duration::from_millis(500) + Duration::from_secs(2 * round));
            let begun = Instant::now();
            let asked = command(root, arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
            let mut asked = asked.expect("the program runs");
            let mut first = String::new();
            let mut lines = BufReader::new(asked.stdout.take().expect("stdout"));
            lines.read_line(&mut first).expect("a line");
            let answered = begun.elapsed();
            std::io::copy(&mut lines, &mut std::io::sink()).expect("the rest");
            asked.wait().expect("it ends");
            let ended = begun.elapsed();
            let is_building = builder.try_wait().is_ok_and(|status| status.is_none());
            let _it_may_have_ended = builder.kill();
            builder.wait().expect("it ends");
            (answered, ended, is_building)
        };
        let rounds: Vec<(Duration, Duration, bool)> = (0..ROUNDS as u64).map(once).collect();
        let building = rounds.iter().filter(|(.., is_building)| *is_building).count();
        let most = rounds.iter().map(|(answered, ..)| *answered).max().unwrap_or_default();
        let ended = rounds.iter().map(|(_, ended, _)| *ended).max().unwrap_or_default();
        let name = arguments.join(" ");
        println!(
            "| next to the first build of another process ({building} of {ROUNDS} ended before it): `ixmcp {name}`, the slowest: first line, end | {most:.2?}, {ended:.2?} |"
        );
    }
}

/// The time until the index is complete, alone and with queries: a smart one each second, a literal one each 30 s.
fn builds(root: &Path) {
    let alone = build(root, |_, _| {});
    let mut asked = 0;
    let with_queries = build(root, |client, seconds| {
        client.ask("query", &json!({ "text": QUERIES[asked % QUERIES.len()] }));
        if seconds % 30 == 0 {
            client.ask("query", &json!({ "text": "return", "mode": "literal" }));
        }
        asked += 1;
    });
    row("whole build", vec![alone]);
    row(&format!("the same with {asked} smart queries ({:.2} ×)", ratio(with_queries, alone)), vec![with_queries]);
}

fn build(root: &Path, mut each_second: impl FnMut(&mut Server, u64)) -> Duration {
    forget(root);
    let begun = Instant::now();
    let (mut client, mut seconds) = (start(root), 0);
    loop {
        if is_complete(&mut client) {
            return begun.elapsed();
        }
        if begun.elapsed() >= Duration::from_secs(seconds) {
            each_second(&mut client, seconds);
            seconds += 1;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// New worktrees next to a complete index, each with a client that stays.
fn worktrees(root: &Path, folder: &Path) {
    run(root, &["--wait", "sync"]);
    let (mut first, mut complete, mut clients, mut trees) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..WORKTREES {
        let tree = folder.join(format!("tree{number}"));
        git(root, &["worktree", "add", "-q", "--detach", &tree.to_string_lossy()]);
        let begun = Instant::now();
        let mut client = start(&tree);
        client.ask("query", &json!({ "text": "get_queryset" }));
        first.push(begun.elapsed());
        while !is_complete(&mut client) {
            std::thread::sleep(Duration::from_millis(20));
        }
        complete.push(begun.elapsed());
        clients.push(client);
        trees.push(tree);
    }
    row("new worktree, first answer", first);
    row("new worktree, complete", complete);
    std::thread::sleep(Duration::from_secs(60));
    let megabytes: u64 = trees.iter().map(|tree| memory(tree)).sum();
    println!("| {WORKTREES} worktrees with a client each, after a minute: PSS of the daemons | {megabytes} MB |");
    for client in &mut clients {
        client.ask("query", &json!({ "text": "get_queryset", "mode": "literal" }));
    }
    drop(clients);
    let mut removed = 0;
    for tree in trees {
        git(root, &["worktree", "remove", "--force", &tree.to_string_lossy()]);
        removed += usize::from(!tree.exists());
    }
    println!("| `git worktree remove` with a running daemon | {removed} of {WORKTREES} succeed |");
}

/// How much of the first answers of a tree that was never indexed the finished index gives as well.
fn agreement(root: &Path) {
    let hits = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().into_iter().flatten().take(TOP);
        results.map(|hit| format!("{}:{}", hit["file_path"], hit["line"])).collect()
    };
    let early: Vec<(Vec<String>, bool)> = QUERIES
        .iter()
        .map(|text| {
            forget(root);
            let answer = start(root).ask("query", &json!({ "text": text })).0;
            (hits(&answer), answer["indexing"].is_object())
        })
        .collect();
    run(root, &["--wait", "sync"]);
    let mut client = start(root);
    let (mut same_first, mut same, mut all, mut partial) = (0, 0, 0, 0);
    for (text, (early, is_partial)) in QUERIES.iter().zip(&early) {
        let late = hits(&with_vectors(&mut client, text));
        same_first += usize::from(early.first() == late.first());
        let common = late.iter().filter(|hit| early.contains(hit)).count();
        if early.first() != late.first() || common < late.len() {
            println!("- `{text}`: {common} of {}, first {:?}, later {:?}", late.len(), early.first(), late.first());
        }
        same += common;
        all += late.len();
        partial += usize::from(*is_partial);
    }
    println!(
        "Of {} queries, {partial} were answered before the index was complete. The first hit is the same as later in {same_first}, \
         {same} of the {all} top {TOP} hits are.\n",
        QUERIES.len()
    );
}

/// The answer of the finished index once its vectors are in memory: a daemon that has just started reads them while it answers.
fn with_vectors(client: &mut Server, text: &str) -> Value {
    loop {
        let answer = client.ask("query", &json!({ "text": text })).0;
        if answer.get("vectors_pending").is_none() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// `ixmcp mcp`, which starts the daemon.
fn start(root: &Path) -> Server {
    Server::start(command(root, &["mcp"]))
}

fn is_complete(server: &mut Server) -> bool {
    server.ask("stats", &json!({})).0.get("indexing").is_none()
}

/// The proportional memory of a daemon in MB.
fn memory(root: &Path) -> u64 {
    let status: Value = serde_json::from_str(&run(root, &["daemon", "status", "--json"])).expect("JSON");
    let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", status["pid"])).unwrap_or_default();
    let kilobytes = rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes / 1024)
}

/// Makes the tree one that was never indexed. Its files stay in the page cache.
fn forget(root: &Path) {
    run(root, &["daemon", "stop"]);
    for folder in [".ixmcp", ".flashgrep"] {
        let _is_missing = std::fs::remove_dir_all(root.join(folder));
    }
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.arg("--repo").arg(root).args(arguments).env("IXMCP_TCP", "off");
    command
}

fn run(root: &Path, arguments: &[&str]) -> String {
    let output = command(root, arguments).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn git(root: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]).args(arguments);
    assert!(git.current_dir(root).status().expect("git runs").success(), "git {arguments:?}");
}

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    println!("| {name} | {:.2?} |", times[times.len() / 2]);
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("Load average at the start: {}.", load.split(' ').take(3).collect::<Vec<_>>().join(" "))
}
