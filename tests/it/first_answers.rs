//! Answers while the index is being built: from the files themselves, never stale, the same as later.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ixmcp::budget::{Budget, Progress};
use ixmcp::error::ErrorKind;
use ixmcp::model::RepoPath;
use ixmcp::workspace::Workspace;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_sound, freshen, number, open, sync};
use crate::support::tree::Random;
use crate::support::waiting::until;
use crate::worktrees::git;

/// Number of files that keep a build busy while some requests are answered.
fn many() -> u64 {
    number("IXMCP_FIRST_FILES", 2_500)
}

/// The definitions of each.
const FUNCTIONS: u64 = 6;

fn large(files: u64) -> Repo {
    let repo = Repo::new("");
    for number in 0..files {
        let functions: String = (0..FUNCTIONS)
            .map(|at| format!("def function_{number}_{at}(a, b):\n    return call_{at}(a) + b\n\n"))
            .collect();
        repo.write(&format!("src/d{}/m{number}.py", number % 30), functions);
    }
    for at in [0, 1] {
        repo.write(
            &format!("zoo/keeper{at}.py"),
            format!("class Enclosure{at}:\n    def feedPenguins(self):\n        pass\n"),
        );
    }
    // What is left out later is left out now.
    repo.write("zoo/.env", "TOKEN=feedPenguins\n");
    repo.write("zoo/penguin.bin", b"feedPenguins\0".as_slice());
    repo.write("zoo/latin.txt", b"feedPenguins caf\xe9 d\xe9j\xe0 vu na\xefve\n".as_slice());
    repo
}

/// An answer without what depends on how far the index is.
fn bare(mut answer: Value) -> Value {
    for field in ["total", "indexing", "vectors_pending"] {
        answer.as_object_mut().unwrap().remove(field);
    }
    answer
}

#[test]
fn reads_during_a_first_build_answer_as_later() {
    let repo = large(many());
    let calls = [
        ("query", json!({ "text": "feedPenguins", "mode": "literal" })),
        ("query", json!({ "text": "feed(Pen)guins", "mode": "regex", "limit": 2 })),
        ("list_files", json!({ "include": ["zoo/**"] })),
        ("get_symbol", json!({ "symbol_name": "feedPenguins" })),
    ];
    let mut server = Server::start(repo.command(&["mcp"]));
    let mut ask = |tool: &str, arguments: &Value| {
        let mut response = server.response(tool, arguments);
        assert!(response.get("error").is_none(), "{tool} {arguments}: {response}");
        response["result"].take()
    };
    let first: Vec<Value> = calls.iter().map(|(tool, arguments)| ask(tool, arguments)).collect();
    let smart = ask("query", &json!({ "text": "feed penguins enclosure" }));
    let stats = ask("stats", &json!({}));
    assert!(first[0]["indexing"]["total"].as_u64().is_some_and(|total| total > many()), "{}", first[0]);
    assert!(stats["indexing"].is_object() || stats["total_files"] == many() + 3, "{stats}");
    for answer in first.iter().filter(|answer| answer["indexing"].is_object()) {
        assert!(answer.get("total").is_none(), "more may come: {answer}");
    }
    let finished: Vec<Value> = calls
        .iter()
        .map(|(tool, arguments)| {
            loop {
                let answer = ask(tool, arguments);
                if answer.get("indexing").is_none() {
                    break answer;
                }
            }
        })
        .collect();
    for ((first, finished), call) in first.into_iter().zip(finished).zip(&calls) {
        // Only the content of a file shows that it is binary.
        let mut first = bare(first);
        if let Some(files) = first.get_mut("files").and_then(Value::as_array_mut) {
            files.retain(|path| path != "zoo/penguin.bin");
        }
        assert_eq!(first, bare(finished), "{call:?}");
    }
    // The first hit is the best one by words and vectors of all files.
    let finished = server.call("query", &json!({ "text": "feed penguins enclosure" }));
    for at in [0, 1] {
        assert!(smart["results"][at]["file_path"].as_str().unwrap().starts_with("zoo/keeper"), "{smart}");
        assert_eq!(smart["results"][at]["file_path"], finished["results"][at]["file_path"], "{smart} {finished}");
    }
}

/// The names around lines need their files parsed: where they are many, those of the first ones are there, and all lines.
#[test]
fn a_first_answer_from_many_files_has_the_lines_of_the_finished_index() {
    let repo = large(many());
    let mut server = Server::start(repo.command(&["mcp"]));
    let mut ask = || {
        server.response("query", &json!({ "text": "return call_3(", "mode": "literal", "limit": 900 }))["result"].take()
    };
    let lines = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        results.iter().map(|hit| format!("{}:{} {}", hit["file_path"], hit["line"], hit["preview"])).collect()
    };
    let first = ask();
    assert!(first["indexing"].is_object(), "the build was over before the first read");
    let finished = loop {
        let answer = ask();
        if answer.get("indexing").is_none() {
            break answer;
        }
    };
    assert_eq!(lines(&first).len(), 900);
    assert_eq!(lines(&first), lines(&finished));
    for (hit, later) in first["results"].as_array().unwrap().iter().zip(finished["results"].as_array().unwrap()) {
        assert!(hit.get("symbol_name").is_none() || hit["symbol_name"] == later["symbol_name"], "{hit} {later}");
    }
    assert!(first["results"][9]["symbol_name"].is_string(), "{first}");
}

#[test]
fn what_is_saved_during_a_build_is_found_at_once() {
    let repo = large(many());
    let mut server = Server::start(repo.command(&["mcp"]));
    let mut seen = 0;
    for round in 0..6 {
        let word = format!("walrus{round}");
        repo.write("src/d0/m0.py", format!("def {word}(): pass\n"));
        repo.write(&format!("new/n{round}.py"), format!("def {word}(): pass\n"));
        let mut find = |text: &str, mode: &str| {
            let answer = server.response("query", &json!({ "text": text, "mode": mode }))["result"].take();
            seen += usize::from(answer["indexing"].is_object());
            let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
            let of_text = results.iter().filter(|hit| hit["preview"].as_str().unwrap().contains(text));
            of_text.map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        let expected = BTreeSet::from([format!("new/n{round}.py"), "src/d0/m0.py".to_owned()]);
        assert_eq!(find(&word, "literal"), expected, "round {round}");
        assert_eq!(find(&word, "smart"), expected, "round {round}");
        if round > 0 {
            let before = format!("walrus{}", round - 1);
            assert!(!find(&before, "literal").contains("src/d0/m0.py"), "round {round}: a stale line");
            assert!(!find(&before, "smart").contains("src/d0/m0.py"), "round {round}: a stale hit");
        }
    }
    assert!(seen > 0, "the build was over before the first read");
}

/// Rows that an older extractor made are replaced after an upgrade. Until then they answer, except for what was saved since.
#[test]
fn the_index_of_an_older_extractor_answers_while_it_is_replaced() {
    let repo = large(many());
    repo.sync();
    let older = "UPDATE files SET extractor = 0; \
                 UPDATE names SET name = 'old_' || name WHERE name = 'feedPenguins'; \
                 DELETE FROM meta WHERE key = 'listing_fingerprint'";
    let changed = Command::new("sqlite3").arg(repo.database()).arg(older).status().unwrap();
    assert!(changed.success());
    repo.write("src/d0/m0.py", "def walrus(): pass\n");
    let mut server = Server::start(repo.command(&["mcp"]));
    let mut ask = |tool: &str, arguments: &Value| server.response(tool, arguments)["result"].take();
    let old = ask("get_symbol", &json!({ "symbol_name": "old_feedPenguins" }));
    assert!(old["indexing"]["done"].is_u64(), "{old}");
    assert_eq!(old["symbols"].as_array().map(Vec::len), Some(2), "{old}");
    let saved = ask("get_symbol", &json!({ "symbol_name": "walrus" }));
    assert_eq!(saved["symbols"].as_array().map(Vec::len), Some(1), "{saved}");
    let gone = ask("query", &json!({ "text": "function_0_1", "mode": "literal" }));
    let results = gone["results"].as_array().unwrap_or_else(|| panic!("{gone}"));
    assert!(results.iter().all(|hit| hit["file_path"] != "src/d0/m0.py"), "a stale line: {gone}");
    loop {
        let answer = ask("get_symbol", &json!({ "symbol_name": "feedPenguins" }));
        if answer.get("indexing").is_none() {
            assert_eq!(answer["symbols"].as_array().map(Vec::len), Some(2), "{answer}");
            break;
        }
    }
    let old = ask("get_symbol", &json!({ "symbol_name": "old_feedPenguins" }));
    assert!(old["symbols"].as_array().is_none_or(Vec::is_empty), "{old}");
}

#[test]
fn a_command_answers_first_and_leaves_a_complete_index() {
    let repo = large(many());
    for (tool, arguments) in [
        ("query", json!({ "text": "feedPenguins", "mode": "literal" })),
        ("get_symbol", json!({ "symbol_name": "feedPenguins" })),
    ] {
        let _ = std::fs::remove_dir_all(repo.path().join(".ixmcp"));
        let output = repo.plain_command(&["call", tool, "--args", &arguments.to_string()]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let items = answer["results"].as_array().or_else(|| answer["symbols"].as_array()).unwrap();
        assert_eq!(items.len(), if tool == "query" { 3 } else { 2 }, "{answer}");
        let built = Command::new("sqlite3")
            .arg(repo.database())
            .arg("SELECT count(*) FROM files WHERE (SELECT value FROM meta WHERE key = 'built') = '1'")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(built.stdout).unwrap().trim(), (many() + 3).to_string(), "{tool}");
    }
}

/// Counts the files that another process has written of the first build, and whether it is complete.
fn written(repo: &Repo) -> (usize, bool) {
    let query = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM meta WHERE key = 'built')";
    let output = Command::new("sqlite3").arg("-readonly").arg(repo.database()).arg(query).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (files, built) = text.trim().split_once('|').unwrap_or(("0", "0"));
    (files.parse().unwrap(), built == "1")
}

/// Another process of the program that is stopped in the middle of its work.
struct Stopped(Child);

impl Stopped {
    fn start(repo: &Repo, arguments: &[&str], is_in_the_middle: impl Fn() -> bool) -> Self {
        let child = repo.plain_command(arguments).stdout(Stdio::null()).spawn().unwrap();
        until("it is in the middle", is_in_the_middle);
        rustix::process::kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
        Self(child)
    }

    /// Lets it go on to its end.
    fn end(mut self) {
        rustix::process::kill_process(Pid::from_child(&self.0), Signal::CONT).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Answers show the files as they are while another process updates most of an index.
#[test]
fn a_command_answers_and_ends_while_another_process_updates_much_of_the_index() {
    let repo = large(many());
    repo.sync();
    for number in 0..many() {
        repo.write(&format!("src/d{}/m{number}.py", number % 30), format!("def other_{number}(a):\n    return a\n"));
    }
    let count = |names: &str| {
        let query = format!("SELECT count(*) FROM symbols WHERE name GLOB '{names}'");
        let output = Command::new("sqlite3").arg("-readonly").arg(repo.database()).arg(query).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap_or(0_u64)
    };
    let other = Stopped::start(&repo, &["sync"], || count("other_*") > 0);
    assert!(count("function_*") > 0, "it ended before it was stopped");
    let found = |arguments: &[&str]| -> Vec<String> {
        let output = repo.plain_command(&[arguments, &["--json"]].concat()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let items = answer["results"].as_array().or_else(|| answer["symbols"].as_array());
        items.into_iter().flatten().map(|item| item["file_path"].as_str().unwrap().to_owned()).collect()
    };
    let last = many() - 1;
    let (name, path) = (format!("other_{last}"), format!("src/d{}/m{last}.py", last % 30));
    for arguments in [&["query", "-m", "literal", &name][..], &["query", &name], &["symbol", &name]] {
        assert_eq!(found(arguments).first(), Some(&path), "{arguments:?}");
    }
    assert!(found(&["query", "-m", "literal", &format!("function_{last}_1")]).is_empty());
    assert!(count("function_*") > 0, "the other process is still there");
    other.end();
    assert_eq!(found(&["symbol", &name]), [path]);
}

/// The other process is stopped, so that it gives up no lock: commands do not wait for it.
#[test]
fn a_command_answers_and_ends_while_another_process_builds_the_first_index() {
    let repo = large(many());
    repo.write_files(
        r"
//- /src/shop.rs
pub fn price() -> u8 { 1 }
pub fn sum() -> u8 { price() + price() }
//- /docs/food.md
# Feeding

Penguins eat herring twice a day.
//- /.ixchel/issues/iss-1.md
---
id: iss-1
kind: issue
title: Herring
tags: [fish]
---
Buy more.
",
    );
    let builder = Stopped::start(&repo, &["sync"], || written(&repo).0 > 0);
    assert!(!written(&repo).1, "it ended before it was stopped");
    let commands: &[&[&str]] = &[
        &["query", "-m", "literal", "feedPenguins"],
        &["query", "-m", "regex", "feed(Pen)guins"],
        &["query", "feed penguins enclosure"],
        &["symbol", "feedPenguins"],
        &["symbol", "price", "--relations"],
        &["files", "--include", "zoo/**"],
        &["slice", "src/shop.rs", "1", "2"],
        &["def", "src/shop.rs:2:23"],
        &["refs", "src/shop.rs:1:8"],
        &["def", "src/d0/m0.py:1:5"],
        &["documents", "search", "what do penguins eat"],
        &["documents", "show", "docs/food.md"],
        &["entity", "search", "herring"],
        &["entity", "show", "iss-1"],
        &["entity", "list"],
        &["entity", "tags"],
        &["entity", "context", "iss-1"],
        &["entity", "check"],
        &["graph"],
        &["graph", "--symbol", "price"],
    ];
    let ask = |command: &[&str]| {
        let output = repo.plain_command(&[command, &["--json"]].concat()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        bare(serde_json::from_slice(&output.stdout).unwrap())
    };
    let first: Vec<Value> = commands.iter().map(|command| ask(command)).collect();
    let said = String::from_utf8(repo.plain_command(&["stats"]).output().unwrap().stdout).unwrap();
    assert!(said.contains(&format!("stored in   {}", repo.database().canonicalize().unwrap().display())), "{said}");
    assert!(!written(&repo).1, "the other process is still building");
    assert_eq!(std::fs::read_dir(repo.path().join(".ixmcp/asking")).unwrap().count(), 0, "nothing is left");
    builder.end();
    assert!(written(&repo).1);
    for (first, command) in first.into_iter().zip(commands) {
        let mut finished = ask(command);
        let mut first = first;
        for answer in [&mut first, &mut finished] {
            // Only the content of a file shows that it is binary.
            if let Some(files) = answer.get_mut("files").and_then(Value::as_array_mut) {
                files.retain(|path| path != "zoo/penguin.bin");
            }
            // What only vectors find is counted once they are there, and scores depend on them.
            answer.as_object_mut().unwrap().remove("belowMinScore");
            if let Some(results) = answer.get_mut("results").and_then(Value::as_array_mut) {
                results.truncate(2);
                results.iter_mut().for_each(|hit| drop(hit.as_object_mut().unwrap().remove("score")));
            }
        }
        assert_eq!(first, finished, "{command:?}");
    }
    let workspace = open(repo.path());
    sync(&workspace);
    assert_sound(&workspace, "commands answered during the build");
}

/// A provisional index that a killed command left is removed by the next command that needs one.
#[test]
fn a_provisional_index_that_was_left_is_removed() {
    let repo = Repo::new("//- /a.py\ndef walrus(): pass\n//- /.ixmcp/asking/1-0/index.db\nnothing\n");
    let lock = std::fs::File::create(repo.path().join(".ixmcp/build.lock")).unwrap();
    lock.lock().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("keep"), "").unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join(".ixmcp/asking/link")).unwrap();
    let output = repo.plain_command(&["query", "-m", "literal", "walrus"]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.starts_with("a.py:1 "), "{shown}");
    assert_eq!(std::fs::read_dir(repo.path().join(".ixmcp/asking")).unwrap().count(), 0);
    assert!(outside.path().join("keep").exists());
    assert!(!repo.database().exists(), "the other process makes it");
    lock.unlock().unwrap();
    let output = repo.plain_command(&["query", "-m", "literal", "walrus"]).output().unwrap();
    assert!(output.status.success() && written(&repo).1, "without another process the index is built");
}

#[test]
fn a_command_leaves_vectors_to_a_process_that_is_making_them() {
    let repo = large(40);
    repo.sync();
    let lock = std::fs::File::open(repo.path().join(".ixmcp/build.lock")).unwrap();
    lock.lock().unwrap();
    repo.write("zoo/keeper9.py", "def carry_fish(bucket):\n    return bucket.fish\n");
    let ask = || -> Value {
        let output = repo.plain_command(&["query", "carry fish", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(ask()["results"][0]["file_path"], "zoo/keeper9.py");
    let pending = ask();
    assert!(pending["vectors_pending"].as_u64().is_some_and(|chunks| chunks > 0), "{pending}");
    lock.unlock().unwrap();
    ask();
    assert_eq!(ask()["vectors_pending"], Value::Null);
}

#[test]
fn a_process_that_asks_all_the_time_does_not_stop_a_build() {
    let repo = large(400);
    std::fs::create_dir(repo.path().join(".ixmcp")).unwrap();
    let lock = std::fs::File::create(repo.path().join(".ixmcp/asking.lock")).unwrap();
    lock.lock_shared().unwrap();
    repo.sync();
    assert!(written(&repo).1);
}

#[test]
fn a_command_makes_the_vectors_after_its_answer() {
    let repo = large(40);
    let ask = |waits: &[&str]| -> Value {
        let text = json!({ "text": "where the penguins get their food" }).to_string();
        let output = repo.plain_command(&[waits, &["call", "query", "--args", &text]].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let assert_complete = |when: &str| {
        let answer = ask(&[]);
        assert_eq!((&answer["vectors_pending"], &answer["indexing"]), (&Value::Null, &Value::Null), "{when}: {answer}");
        assert!(answer["results"].as_array().is_some_and(|hits| !hits.is_empty()), "{when}: {answer}");
    };
    ask(&[]);
    assert_complete("after a first build");
    repo.write("zoo/keeper9.py", "def carry_fish(bucket):\n    return bucket.fish\n");
    ask(&[]);
    assert_complete("after a change");
    std::fs::remove_dir_all(repo.path().join(".ixmcp")).unwrap();
    let answer = ask(&["--wait"]);
    assert_eq!(answer["vectors_pending"], Value::Null, "with --wait: {answer}");
}

/// After its answer, a command makes vectors for some seconds only: the prompt came back half a minute after the answer.
#[test]
fn what_no_answer_waits_for_is_left_when_its_time_is_over() {
    let repo = large(40);
    let (budget, progress) = (Budget::unlimited(), Progress::default());
    let workspace = open(repo.path());
    begin(&workspace);
    let finish = |time| workspace.finish_unless_others_do(time, &progress, &budget).unwrap();
    assert!(!finish(Duration::ZERO));
    assert!(written(&repo).1, "an index that was never built is built all the same");
    assert!(finish(Duration::MAX));
    let text = json!({ "text": "where the penguins get their food" }).to_string();
    let output = repo.plain_command(&["call", "query", "--args", &text]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["vectors_pending"], Value::Null, "{answer}");
}

#[test]
fn a_command_that_reads_the_disk_alone_builds_no_index() {
    let repo = Repo::new(
        r"
//- /shop.py
def price() -> int:
    return 1

def tax():
    return 1
//- /lib.rs
pub fn price() -> u8 { 1 }
",
    );
    let files = || {
        let counted = Command::new("sqlite3").arg(repo.database()).arg("SELECT count(*) FROM files").output().unwrap();
        String::from_utf8(counted.stdout).unwrap()
    };
    for arguments in [&["check"][..], &["infer"], &["type-at", "shop.py:1:5"], &["def", "shop.py:1:5"]] {
        let output = repo.plain_command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!repo.path().join(".ixmcp").exists(), "{arguments:?}");
    }
    // A definition in the standard library is shown in a copy of that file, which is kept in the folder of the index.
    repo.write("paper.py", "size: int = 4\n");
    let output = repo.plain_command(&["def", "paper.py:1:7"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(repo.path().join(".ixmcp/.gitignore")).unwrap(), "*\n");
    assert!(!repo.database().exists());
    // A folder that is there without an index stays as it is.
    std::fs::remove_dir_all(repo.path().join(".ixmcp")).unwrap();
    std::fs::create_dir(repo.path().join(".ixmcp")).unwrap();
    assert!(repo.plain_command(&["check"]).output().unwrap().status.success());
    assert_eq!(std::fs::read_dir(repo.path().join(".ixmcp")).unwrap().count(), 0);
    // Definitions in other languages come from the index.
    let output = repo.plain_command(&["def", "lib.rs:1:8"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(), "3\n");
}

/// Starts a build, or goes on with it, without waiting for it.
fn begin(workspace: &Arc<Workspace>) {
    let begun = workspace.freshen(Some(Duration::from_millis(1)), &Budget::unlimited());
    assert!(begun.as_ref().is_ok() || begun.is_err_and(|error| error.kind == ErrorKind::Busy));
}

#[test]
fn a_build_that_indexes_some_files_first_equals_any_other() {
    let repo = large(1_600);
    let workspace = open(repo.path());
    workspace.watch();
    begin(&workspace);
    let mut random = Random(7);
    for round in 0..12 {
        let some: Vec<RepoPath> = (0..40)
            .map(|_| random.below(1_600))
            .map(|number| RepoPath::new(format!("src/d{}/m{number}.py", number % 30)).unwrap())
            .collect();
        // Some of them change, and some are gone.
        for path in &some[..5] {
            repo.write(path.as_str(), format!("def changed_{round}(): pass\n"));
        }
        let _ = std::fs::remove_file(some[5].to_path(repo.path()));
        let missing = RepoPath::new("src/none.py").unwrap();
        let wanted: Vec<(RepoPath, u64)> = some.into_iter().chain([missing]).map(|path| (path, 100)).collect();
        workspace.updates.index_first(&wanted, std::time::Instant::now(), &Budget::unlimited()).unwrap();
        begin(&workspace);
    }
    freshen(&workspace);
    assert_sound(&workspace, "files that were indexed first");
}

/// The process dies while it indexes what a query needs. The next one goes on, and indexes nothing twice.
#[test]
fn a_build_that_is_killed_while_queries_need_files_first_leaves_a_sound_index() {
    let repo = large(1_600);
    let mut random = Random(11);
    let mut unfinished = 0;
    for _ in 0..number("IXMCP_KILLS", 6) {
        let mut server = Server::start(repo.plain_command(&["mcp", "--no-daemon"]));
        let pid = server.pid();
        for _ in 0..random.below(3) {
            let text = format!("function {} {}", random.below(1_600), random.below(FUNCTIONS));
            let answer = server.response("query", &json!({ "text": text }));
            unfinished += u64::from(answer["result"]["indexing"].is_object());
        }
        std::thread::sleep(Duration::from_millis(random.below(200)));
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }
    let workspace = open(repo.path());
    let files = || workspace.read(&Budget::unlimited(), |snapshot| snapshot.file_count()).unwrap();
    println!("{unfinished} answers came before the end of a build, {} files are indexed", files());
    sync(&workspace);
    assert_sound(&workspace, "killed while queries needed files first");
}

/// Names of folders and files are words, too, and words that many files have say less.
#[test]
fn the_first_answer_has_the_hits_of_the_finished_index() {
    let repo = large(many());
    for at in 0..40 {
        repo.write(&format!("shop/invoice{at}.py"), "def total(items):\n    return call_1(items)\n");
    }
    repo.write("shop/refund/policy.py", "def is_allowed(order):\n    return call_2(order)\n");
    repo.write("shop/reminder.py", "def send_reminder_of_overdue_invoice(customer):\n    pass\n");
    repo.write("lib/text.py", "class Reminder:\n    def of(self, invoice):\n        pass\n");
    let hits = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        results.iter().take(3).map(|hit| format!("{}:{}", hit["file_path"], hit["line"])).collect()
    };
    repo.write("desk/letter.py", "def post_letter(stamp):\n    return call_3(stamp)\n");
    let queries = [
        "refund policy",
        "remind customers of an overdue invoice",
        "is_allowed",
        "class Reminder",
        "return a letter by post",
    ];
    let first: Vec<Vec<String>> = queries
        .iter()
        .map(|text| {
            let _ = std::fs::remove_dir_all(repo.path().join(".ixmcp"));
            let mut server = Server::start(repo.plain_command(&["mcp", "--no-daemon"]));
            hits(&server.response("query", &json!({ "text": text }))["result"])
        })
        .collect();
    let mut server = Server::start(repo.plain_command(&["mcp", "--no-daemon"]));
    for (text, first) in queries.iter().zip(first) {
        assert_eq!(first, hits(&server.call("query", &json!({ "text": text }))), "{text}");
    }
}

/// A switch to a branch in which most files differ: answers are of the new branch from the first one on. `.ci/soak answers`
/// switches 20,000 files.
#[test]
fn after_a_branch_switch_of_many_files_no_answer_is_of_the_old_branch() {
    let files = number("IXMCP_SWITCHED_FILES", 1_000);
    let repo = large(files);
    let commit = |message: &str| {
        git(repo.path(), &["add", "-A"]);
        git(repo.path(), &["commit", "-qm", message]);
    };
    git(repo.path(), &["init", "-q", "-b", "main"]);
    commit("first");
    git(repo.path(), &["checkout", "-q", "-b", "other"]);
    for number in 0..files {
        let functions: String =
            (0..FUNCTIONS).map(|at| format!("def other_{number}_{at}(a):\n    return changed_{at}(a)\n\n")).collect();
        repo.write(&format!("src/d{}/m{number}.py", number % 30), functions);
    }
    commit("second");
    git(repo.path(), &["checkout", "-q", "main"]);
    let mut server = Server::start(repo.plain_command(&["mcp", "--no-daemon"]));
    server.call("stats", &json!({}));
    let mut partial = 0;
    for (branch, name, gone) in
        [("other", "other", "function"), ("main", "function", "other"), ("other", "other", "function")]
    {
        git(repo.path(), &["checkout", "-q", branch]);
        for number in [7, files - 1, files / 2] {
            let path = format!("src/d{}/m{number}.py", number % 30);
            let mut ask = |tool: &str, arguments: Value| {
                let answer = server.response(tool, &arguments)["result"].take();
                partial += u64::from(answer["indexing"].is_object());
                answer
            };
            let mut literal = |text: String| {
                let answer = ask("query", json!({ "text": text, "mode": "literal" }));
                answer["results"].as_array().map(Vec::len).unwrap_or_else(|| panic!("{answer}"))
            };
            assert_eq!(literal(format!("def {name}_{number}_3(")), 1, "{branch} {number}");
            assert_eq!(literal(format!("def {gone}_{number}_3(")), 0, "{branch} {number}");
            let symbol = ask("get_symbol", json!({ "symbol_name": format!("{name}_{number}_5") }));
            assert_eq!(symbol["symbols"][0]["file_path"], path, "{branch}: {symbol}");
            let smart = ask("query", json!({ "text": format!("{name}_{number}_5") }));
            assert_eq!(smart["results"][0]["file_path"], path, "{branch}: {smart}");
            let old = format!("{gone}_{number}_5");
            let gone = ask("query", json!({ "text": old }));
            let is_stale = |hit: &Value| hit["preview"].as_str().unwrap().contains(&old);
            assert!(!gone["results"].as_array().unwrap().iter().any(is_stale), "{branch}: {gone}");
        }
    }
    println!("{partial} answers came before the end of an update");
    drop(server);
    let workspace = open(repo.path());
    sync(&workspace);
    assert_sound(&workspace, "after branch switches");
}

/// A client that has said hello asks for nothing yet, and the build has begun.
#[test]
fn a_process_without_a_daemon_builds_before_the_first_request() {
    let repo = Repo::new("//- /a.py\ndef walrus(): pass\n");
    let _server = Server::start_mcp(repo.plain_command(&["mcp", "--no-daemon"]));
    until("the index is built", || {
        let built = Command::new("sqlite3")
            .arg(repo.database())
            .arg("SELECT count(*) FROM meta WHERE key = 'built'")
            .output()
            .unwrap();
        built.stdout == b"1\n"
    });
    // A folder that is not a repository stays as it is.
    let folder = tempfile::tempdir().unwrap();
    let mut command = repo.plain_command(&["mcp", "--no-daemon"]);
    command.current_dir(folder.path());
    let mut server = Server::start_mcp(command);
    server.response("tools/list", &json!({}));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
