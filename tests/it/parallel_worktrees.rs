//! Minutes of twenty clients in five worktrees of a real repository, which edit, switch branches and query, while worktrees
//! are added and removed. `.ci/soak worktrees` runs it: `IXMCP_SOAK_TREE` names the sources, `IXMCP_SOAK_MINUTES` how long.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::number;
use crate::support::tree::Random;
use crate::worktrees::git;

const WORKTREES: usize = 5;
const CLIENTS: usize = 20;
const BRANCHES: u64 = 4;
/// Files in which two branches differ.
const CHANGED_FILES: usize = 200;

/// One worktree and what its clients agree on.
struct Worktree {
    root: PathBuf,
    /// The branch that is checked out. The holder of the lock may switch.
    branch: Mutex<u64>,
}

/// State that all clients share.
struct Shared {
    repo: Repo,
    worktrees: Vec<Worktree>,
    /// The number of the last save of each client.
    saves: Vec<AtomicU64>,
    until: Instant,
    faults: Mutex<Vec<String>>,
}

struct Client<'s> {
    shared: &'s Shared,
    worktree: &'s Worktree,
    number: usize,
    server: Server,
    random: Random,
    answers: u64,
}

fn token(client: usize, save: u64) -> String {
    format!("saved_by_{client}_as_{save}_end")
}

fn marker(branch: u64) -> String {
    format!("marker_of_branch_{branch}_end")
}

/// A copy of the sources with branches that differ in many files.
fn repository(sources: &str) -> Repo {
    let repo = Repo::new("");
    let mut copy = Command::new("cp");
    copy.args(["-a", "--no-preserve=ownership"]).arg(format!("{sources}/.")).arg(repo.path());
    assert!(copy.status().unwrap().success(), "{sources} cannot be copied");
    let root = repo.path();
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "sources"]);
    let listed = Command::new("git").args(["ls-files", "*.py"]).current_dir(root).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files: Vec<PathBuf> = listed.lines().step_by(7).take(CHANGED_FILES).map(|line| root.join(line)).collect();
    for branch in 0..BRANCHES {
        git(root, &["checkout", "-q", "-b", &format!("branch{branch}"), "main"]);
        for file in &files {
            let text = fs::read_to_string(file).unwrap();
            fs::write(file, format!("{text}\n# as in branch {branch}\n")).unwrap();
        }
        fs::write(root.join("marker.py"), format!("{} = {branch}\n", marker(branch))).unwrap();
        git(root, &["add", "."]);
        git(root, &["commit", "-qm", "branch"]);
    }
    repo
}

impl Client<'_> {
    fn fault(&self, what: String) {
        self.shared.faults.lock().unwrap().push(format!("client {}: {what}", self.number));
    }

    /// The files that an answer lists. It must come from the client's own worktree.
    fn ask(&mut self, text: &str, mode: &str) -> Vec<String> {
        let answer = self.server.tool("query", &json!({ "text": text, "mode": mode }));
        self.answers += 1;
        if answer["worktree"]["root"].as_str() != self.worktree.root.to_str() || answer.get("stale").is_some() {
            self.fault(format!("{text}: {answer}"));
        }
        let results = answer["results"].as_array().unwrap();
        results.iter().map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect()
    }

    fn expect(&mut self, text: &str, expected: &[String]) {
        let found = self.ask(text, "literal");
        if found != expected {
            self.fault(format!("{text} is in {expected:?}, found in {found:?}"));
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=9 => self.save_and_ask(),
            10..=13 => {
                // A save in another worktree is not seen here.
                let other = self.random.pick(&(0..CLIENTS).collect::<Vec<_>>()).to_owned();
                let save = self.shared.saves[other].load(Ordering::SeqCst);
                if other % WORKTREES != self.number % WORKTREES && save > 0 {
                    self.expect(&token(other, save), &[]);
                }
            }
            14..=18 => {
                if self.ask("where is a queryset filtered", "smart").is_empty() {
                    self.fault("a smart query finds nothing".to_owned());
                }
            }
            _ => self.switch_branch(),
        }
    }

    fn save_and_ask(&mut self) {
        let save = self.shared.saves[self.number].load(Ordering::SeqCst);
        let path = format!("agents/client{}.py", self.number);
        let file = self.worktree.root.join(&path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{} = 1\n", token(self.number, save + 1))).unwrap();
        self.shared.saves[self.number].store(save + 1, Ordering::SeqCst);
        self.expect(&token(self.number, save + 1), &[path]);
        if save > 0 {
            self.expect(&token(self.number, save), &[]);
        }
    }

    fn switch_branch(&mut self) {
        let worktree = self.worktree;
        let Ok(mut branch) = worktree.branch.try_lock() else { return };
        let before = *branch;
        *branch = (before + 1 + self.random.below(BRANCHES - 1)) % BRANCHES;
        git(&worktree.root, &["checkout", "-q", "--detach", &format!("branch{branch}")]);
        self.expect(&marker(*branch), &["marker.py".to_owned()]);
        self.expect(&marker(before), &[]);
    }
}

/// Adds and removes worktrees while a daemon serves them; returns how many.
fn come_and_go(shared: &Shared, folder: &Path) -> u64 {
    let mut rounds = 0;
    while Instant::now() < shared.until {
        let root = folder.join(format!("passing{rounds}"));
        let name = root.to_str().unwrap();
        git(shared.repo.path(), &["worktree", "add", "-q", "--detach", name, "branch0"]);
        let mut server = Server::start_mcp(shared.repo.command(&["--repo", name, "mcp"]));
        let answer = server.tool("query", &json!({ "text": marker(0), "mode": "literal" }));
        let is_right = answer["worktree"]["root"] == name && answer["results"][0]["file_path"] == "marker.py";
        git(shared.repo.path(), &["worktree", "remove", "--force", name]);
        if !is_right || root.exists() {
            shared.faults.lock().unwrap().push(format!("round {rounds}, {name}: {answer}"));
        }
        rounds += 1;
        std::thread::sleep(Duration::from_secs(3));
    }
    rounds
}

/// The proportional memory of the daemons in MB, where this system reports it.
fn memory(shared: &Shared) -> u64 {
    let of = |worktree: &Worktree| {
        let root = worktree.root.to_str().unwrap();
        let status: Value =
            serde_json::from_str(&shared.repo.ok(&["--repo", root, "daemon", "status", "--json"])).unwrap();
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", status["pid"])).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
        line.split_whitespace().next().map_or(0, |kilobytes| kilobytes.parse::<u64>().unwrap() / 1024)
    };
    shared.worktrees.iter().map(of).sum()
}

#[test]
#[ignore = "takes minutes, and sources to work on"]
fn twenty_clients_in_five_worktrees_see_their_own_and_nothing_stale() {
    let sources = std::env::var("IXMCP_SOAK_TREE").expect("IXMCP_SOAK_TREE names the sources to work on");
    let minutes = number("IXMCP_SOAK_MINUTES", 10);
    let repo = repository(&sources);
    repo.sync();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let worktrees = (0..WORKTREES).map(|number| {
        let root = folder.join(format!("tree{number}"));
        git(repo.path(), &["worktree", "add", "-q", "--detach", root.to_str().unwrap(), "branch0"]);
        Worktree { root, branch: Mutex::new(0) }
    });
    let worktrees = worktrees.collect();
    let saves = (0..CLIENTS).map(|_| AtomicU64::new(0)).collect();
    let until = Instant::now() + Duration::from_secs(minutes * 60);
    let shared = Shared { repo, worktrees, saves, until, faults: Mutex::default() };
    let mut samples = Vec::new();
    let (answers, rounds) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let shared = &shared;
                scope.spawn(move || {
                    let worktree = &shared.worktrees[number % WORKTREES];
                    let command = shared.repo.command(&["--repo", worktree.root.to_str().unwrap(), "mcp"]);
                    let (server, random) = (Server::start_mcp(command), Random(number as u64 + 1));
                    let mut client = Client { shared, worktree, number, server, random, answers: 0 };
                    while Instant::now() < shared.until {
                        client.step();
                        std::thread::sleep(Duration::from_millis(client.random.below(2_000)));
                    }
                    client.answers
                })
            })
            .collect();
        let passing = scope.spawn(|| come_and_go(&shared, &folder));
        while Instant::now() < until {
            std::thread::sleep(Duration::from_secs(30));
            samples.push(memory(&shared));
            println!(
                "{:>5.0?} left: {} MB",
                until.saturating_duration_since(Instant::now()),
                samples[samples.len() - 1]
            );
        }
        let answers: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
        (answers, passing.join().unwrap())
    });
    for worktree in &shared.worktrees {
        shared.repo.ok(&["--repo", worktree.root.to_str().unwrap(), "daemon", "stop"]);
    }
    let faults = shared.faults.into_inner().unwrap();
    println!("{answers} answers, {} faults, {rounds} worktrees added and removed, MB: {samples:?}", faults.len());
    assert!(faults.is_empty(), "{:#?}", &faults[..faults.len().min(5)]);
    assert!(rounds > 0 && answers > 0);
    let (early, late) = samples.split_at(samples.len() / 2);
    let (early, late) = (early.iter().max().copied().unwrap_or(0), late.iter().max().copied().unwrap_or(0));
    assert!(late <= early + early / 4 + 20, "memory grew from {early} to {late} MB");
}
