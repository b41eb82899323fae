//! A read that begins after a write returned sees that write, through the daemon and without one.
//!
//! `IXMCP_FRESH_ROUNDS=N` makes N rounds (`.ci/soak` thousands); `IXMCP_SOAK_TREE` has them made in a copy of that tree,
//! and how long reads took is printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::number;
use crate::support::tree::Random;
use crate::watch::with_watches;

const CLIENTS: u64 = 2;

/// Results of a client's calls.
#[derive(Default)]
struct Asked {
    stale: Vec<String>,
    took: Vec<Duration>,
}

/// One client with files of its own in the repository.
struct Client<'r> {
    server: Server,
    repo: &'r Repo,
    number: u64,
    random: Random,
    asked: Asked,
}

impl Client<'_> {
    /// Writes what was not there, asks, takes it away, asks.
    fn round(&mut self, round: u64) {
        let token = format!("fresh_{}_{round}", self.number);
        let text = format!("def {token}():\n    return {round}\n");
        let home = format!("client{}", self.number);
        let (path, goes) = match self.random.below(6) {
            0 => self.saved(format!("{home}/new_{round}.py"), &text),
            1 => {
                let folder = format!("{home}/folder_{round}");
                let (path, _) = self.saved(format!("{folder}/deep/er/f.py"), &text);
                (path, folder)
            }
            2 => self.saved(format!("{home}/kept.py"), &text),
            3 => {
                let path = format!("{home}/kept.py");
                let (other, _) = self.saved(format!("{home}/kept.py.tmp"), &text);
                fs::rename(self.at(&other), self.at(&path)).unwrap();
                (path.clone(), path)
            }
            4 => {
                let (old, new) = (format!("{home}/old_{round}"), format!("{home}/renamed_{round}"));
                self.saved(format!("{old}/sub/f.py"), &text);
                fs::rename(self.at(&old), self.at(&new)).unwrap();
                (format!("{new}/sub/f.py"), new)
            }
            // A folder that is removed and made again, with another file in it.
            _ => {
                let folder = format!("{home}/again");
                let _ = fs::remove_dir_all(self.at(&folder));
                (self.saved(format!("{folder}/f_{round}.py"), &text).0, folder)
            }
        };
        self.expect(&token, Some(&path), round);
        let goes = self.at(&goes);
        match self.random.below(2) {
            0 if goes.is_dir() => fs::remove_dir_all(&goes).unwrap(),
            0 => fs::remove_file(&goes).unwrap(),
            _ => fs::write(self.at(&path), "nothing = 0\n").unwrap(),
        }
        self.expect(&token, None, round);
    }

    fn at(&self, path: &str) -> PathBuf {
        self.repo.path().join(path)
    }

    fn saved(&self, path: String, text: &str) -> (String, String) {
        self.repo.write(&path, text);
        (path.clone(), path)
    }

    fn expect(&mut self, token: &str, path: Option<&str>, round: u64) {
        let (tool, arguments, list) = match self.random.below(3) {
            0 => ("query", json!({ "text": token, "mode": "literal" }), "results"),
            1 => ("query", json!({ "text": token }), "results"),
            _ => ("get_symbol", json!({ "symbol_name": token }), "symbols"),
        };
        let begun = Instant::now();
        let answer = self.server.tool(tool, &arguments);
        self.asked.took.push(begun.elapsed());
        let hits = answer[list].as_array().unwrap_or_else(|| panic!("{tool} {arguments}: {answer}"));
        // Words that look alike may be hits of a smart search as well.
        let holds = |hit: &&Value| [&hit["preview"], &hit["name"]].iter().any(|text| says(text, token));
        let found = hits.iter().find(holds).map(|hit| hit["file_path"].as_str().unwrap());
        if found != path || answer.get("stale").is_some() {
            self.asked.stale.push(format!("round {round}: {tool} {arguments} found {found:?}, not {path:?}"));
        }
    }
}

fn says(text: &Value, token: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.as_str().unwrap_or_default().split(|c| !is_word(c)).any(|word| word == token)
}

fn copy(tree: &Path, repo: &Repo) {
    let from = format!("{}/.", tree.display());
    assert!(Command::new("cp").args(["-a", &from]).arg(repo.path()).status().unwrap().success());
}

fn rounds() -> u64 {
    number("IXMCP_FRESH_ROUNDS", 30)
}

fn write_and_ask(name: &str, rounds: u64, command: impl Fn(&Repo) -> Option<Command> + Sync) {
    let repo = Repo::new(
        r"
//- /lib.py
value = 1
//- /src/shop.py
class Cart: pass
",
    );
    if let Some(tree) = std::env::var_os("IXMCP_SOAK_TREE") {
        copy(Path::new(&tree), &repo);
        repo.sync();
    }
    let asked: Vec<Asked> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (repo, command) = (&repo, &command);
                scope.spawn(move || {
                    let Some(command) = command(repo) else { return Asked::default() };
                    let server = Server::start_mcp(command);
                    let mut client =
                        Client { server, repo, number, random: Random(number + 1), asked: Asked::default() };
                    // The first read waits for the build.
                    client.server.tool("stats", &json!({}));
                    (0..rounds).for_each(|round| client.round(round));
                    client.asked
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut took: Vec<Duration> = asked.iter().flat_map(|asked| &asked.took).copied().collect();
    took.sort_unstable();
    let stale: Vec<&String> = asked.iter().flat_map(|asked| &asked.stale).collect();
    if took.is_empty() {
        return;
    }
    let at = |percent: usize| took[(took.len() - 1) * percent / 100];
    println!("{name}: {} answers, {} stale, p50 {:?}, p95 {:?}", took.len(), stale.len(), at(50), at(95));
    assert!(
        stale.is_empty(),
        "{} of {} answers are stale: {:#?}",
        stale.len(),
        took.len(),
        &stale[..stale.len().min(5)]
    );
}

#[test]
fn the_daemon_shows_every_write_that_returned_before_the_read() {
    write_and_ask("mcp", rounds(), |repo| Some(repo.command(&["mcp"])));
}

#[test]
fn a_process_without_a_daemon_shows_every_write_that_returned_before_the_read() {
    write_and_ask("mcp --no-daemon", rounds(), |repo| Some(repo.command(&["mcp", "--no-daemon"])));
}

#[test]
fn without_watches_every_read_shows_every_write_that_returned_before_it() {
    // Each of these reads compares all files.
    write_and_ask("mcp --no-daemon, no watches", rounds().min(250), |repo| with_watches(repo, 1));
}
