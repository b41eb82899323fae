//! The time to find what a change affects: `cargo bench --bench changes -- OLD NEW`, two releases of one project.
//!
//! Commits OLD in a repository, copies 20 of the source files that differ in NEW over it, and prints how long `changes` takes in a warm
//! process, then `get_symbol` with relations for names from all over the project. Judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use self::server::Server;

#[path = "asked/server.rs"]
mod server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const CHANGED: usize = 20;
const ROUNDS: usize = 21;
const NAMES: usize = 200;

fn files_in(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_some_and(|name| name != ".git" && name != ".ixmcp") {
            files_in(&path, all);
        } else if path.is_file() {
            all.push(path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder is made");
    fs::copy(from, to).expect("a file is copied");
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "git {arguments:?}");
}

fn start(folder: &Path) -> Server {
    let mut command = Command::new(PROGRAM);
    command.args(["mcp", "--no-daemon"]).current_dir(folder).env("IXMCP_TCP", "off");
    Server::start(command)
}

/// Names of definitions, evenly from the sorted list of those that are longer than three letters.
fn names(folder: &Path) -> Vec<String> {
    let query = "SELECT DISTINCT name FROM symbols WHERE kind IN ('class', 'function', 'method', 'interface', 'struct')
        AND length(name) > 3 ORDER BY 1";
    let output = Command::new(PROGRAM).args(["sql", query, "--json"]).current_dir(folder).output().expect("it runs");
    let row = |line: &str| serde_json::from_str::<Value>(line).ok()?["name"].as_str().map(str::to_owned);
    let all: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().filter_map(row).collect();
    (0..NAMES).filter_map(|at| all.get(at * all.len() / NAMES).cloned()).collect()
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("{what:<44} p50 {:>7.1} ms  p95 {:>7.1} ms  worst {:>7.1} ms", at(50), at(95), at(100));
}

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|one| !one.starts_with("--")).map(PathBuf::from).collect();
    let [old, new] = given.as_slice() else { panic!("give the folders of two releases") };
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    files_in(old, &mut files);
    for file in &files {
        copy(file, &folder.path().join(file.strip_prefix(old).expect("it is in the folder")));
    }
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    let mut changed = 0;
    for file in &files {
        let relative = file.strip_prefix(old).expect("it is in the folder");
        let newer = new.join(relative);
        let is_source = relative.extension().is_some_and(|extension| {
            extension.to_str().is_some_and(|extension| ["py", "ts", "go", "rs", "java", "c", "h"].contains(&extension))
        });
        if changed < CHANGED && is_source && newer.is_file() && fs::read(file).ok() != fs::read(&newer).ok() {
            copy(&newer, &folder.path().join(relative));
            changed += 1;
        }
    }
    let sync = Command::new(PROGRAM).arg("sync").current_dir(folder.path()).stdout(Stdio::null()).status();
    assert!(sync.is_ok_and(|status| status.success()));
    let names = names(folder.path());
    let mut server = start(folder.path());
    let (answer, first) = server.ask("changes", &json!({}));
    println!(
        "{changed} files differ, {} definitions, first answer {:.1} ms",
        answer["total"],
        first.as_secs_f64() * 1e3
    );
    print("changes", (0..ROUNDS).map(|_| server.ask("changes", &json!({})).1).collect());
    let ask = |server: &mut Server, name: &String| {
        server.ask("get_symbol", &json!({ "symbol_name": name, "relations": true })).1
    };
    for name in &names {
        ask(&mut server, name);
    }
    print(
        &format!("get_symbol with relations, {} names", names.len()),
        names.iter().map(|name| ask(&mut server, name)).collect(),
    );
}
