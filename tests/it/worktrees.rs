//! Repositories with several worktrees: nested ones are no part of the index, and removed ones leave nothing behind.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ixmcp::budget::Budget;
use ixmcp::index::{Workspace, rebuild};
use serde_json::json;

use crate::harness::Repo;
use crate::sound::{assert_same, dump, freshen, number, sources, sync, watched};

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.excludesFile="]);
    let output = git.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a commit of its files.
fn committed(files: &str) -> Repo {
    let repo = Repo::new(files);
    git(repo.path(), &["init", "-q", "-b", "main"]);
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "first"]);
    repo
}

fn paths(workspace: &Workspace) -> Vec<String> {
    let paths = workspace.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)).unwrap();
    paths.into_iter().map(|(path, _)| path).collect()
}

fn ask(workspace: &Arc<Workspace>) -> Vec<String> {
    freshen(workspace);
    paths(workspace)
}

/// The index is what a build from nothing makes of the same tree.
fn assert_as_rebuilt(workspace: &Workspace) {
    let stepwise = dump(workspace);
    rebuild(workspace.root(), sources(workspace.root()), &Arc::default(), &Budget::unlimited()).unwrap();
    assert_same(&stepwise, &dump(workspace), "after the last step");
}

#[test]
fn a_nested_worktree_is_neither_indexed_nor_watched() {
    let repo = committed("//- /a.py\ndef inline_callbacks(): pass\n//- /deep/b.py\nx: int = ''\n");
    let workspace = watched(repo.path());
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    for nested in [".claude/worktrees/x", "y"] {
        git(repo.path(), &["worktree", "add", "-q", "--detach", nested]);
        assert_eq!(ask(&workspace), ["a.py", "deep/b.py"], "{nested}");
    }
    // What happens in there concerns another index.
    let before = workspace.pending_changes();
    repo.write("y/deep/b.py", "x = 2\n");
    repo.write("y/new/c.py", "x = 2\n");
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(workspace.pending_changes(), before, "an event of a folder that is not watched");
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    git(repo.path(), &["worktree", "move", "y", "deep/z"]);
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    git(repo.path(), &["worktree", "remove", "--force", "deep/z"]);
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    assert_as_rebuilt(&workspace);
}

#[test]
fn a_folder_that_becomes_a_worktree_leaves_the_index() {
    let repo = committed("//- /a.py\nA = 1\n");
    git(repo.path(), &["worktree", "add", "-q", "--detach", "x"]);
    let pointer = fs::read(repo.path().join("x/.git")).unwrap();
    fs::remove_file(repo.path().join("x/.git")).unwrap();
    repo.write("x/in/b.py", "B = 1\n");
    let workspace = watched(repo.path());
    assert_eq!(ask(&workspace), ["a.py", "x/a.py", "x/in/b.py"]);
    fs::write(repo.path().join("x/.git"), pointer).unwrap();
    assert_eq!(ask(&workspace), ["a.py"]);
    repo.write("x/in/b.py", "B = 2\n");
    assert_eq!(ask(&workspace), ["a.py"]);
    assert_as_rebuilt(&workspace);
}

#[test]
fn a_sync_that_compares_times_notices_a_folder_that_stops_being_a_worktree() {
    let repo = committed("//- /a.py\nA = 1\n");
    git(repo.path(), &["worktree", "add", "-q", "--detach", "x"]);
    std::thread::sleep(Duration::from_millis(100));
    let workspace = crate::sound::open(repo.path());
    sync(&workspace);
    std::thread::sleep(Duration::from_millis(100));
    sync(&workspace);
    assert_eq!(paths(&workspace), ["a.py"]);
    fs::remove_file(repo.path().join("x/.git")).unwrap();
    sync(&workspace);
    assert_eq!(paths(&workspace), ["a.py", "x/a.py"]);
}

#[test]
fn a_nested_worktree_is_counted_and_not_type_checked() {
    let repo = committed("//- /a.py\nx: int = ''\n//- /pyproject.toml\n[project]\nname = 'a'\n");
    git(repo.path(), &["worktree", "add", "-q", "--detach", ".claude/worktrees/x"]);
    let checked = repo.call("check", &json!({}));
    assert_eq!((&checked["files_checked"], &checked["total"]), (&json!(1), &json!(1)), "{checked}");
    assert_eq!(repo.call("stats", &json!({}))["skipped"], json!({ "worktree": 1 }));
    let skipped = repo.ok(&["files", "--skipped"]);
    assert!(skipped.contains(".claude/worktrees/x") && skipped.contains("worktree"), "{skipped}");
    let found = repo.call("query", &json!({ "text": "int", "mode": "literal" }));
    assert_eq!(found["total"], 1, "{found}");
    let nested = repo.path().join(".claude/worktrees/x");
    let own = repo.ok(&["--repo", nested.to_str().unwrap(), "call", "list_files"]);
    assert!(own.contains("\"a.py\""), "the worktree has an index of its own: {own}");
}

/// Whether a process has ended.
fn has_ended(process: u64) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn a_worktree_is_removed_while_its_daemon_runs_and_updates() {
    let files: String = (0..200).map(|at| format!("//- /d{}/m{at}.py\ndef f{at}(): pass\n", at % 10)).collect();
    let repo = committed(&files);
    let trees = tempfile::tempdir().unwrap();
    for round in 0..number("IXMCP_ROUNDS", 5) {
        let tree = trees.path().join(format!("tree{round}"));
        let root = tree.to_str().unwrap();
        git(repo.path(), &["worktree", "add", "-q", "--detach", root]);
        repo.ok(&["--repo", root, "daemon", "start"]);
        repo.ok(&["--repo", root, "query", "f1"]);
        let status: serde_json::Value =
            serde_json::from_str(&repo.ok(&["--repo", root, "daemon", "status", "--json"])).unwrap();
        let daemon = status["pid"].as_u64().unwrap();
        fs::write(tree.join("d1/m1.py"), "def changed(): pass\n").unwrap();
        // The background update begins 300 ms after the save: before, during and after it.
        std::thread::sleep(Duration::from_millis(100 * (round % 10)));
        git(repo.path(), &["worktree", "remove", "--force", root]);
        for _ in 0..100 {
            if has_ended(daemon) {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(has_ended(daemon), "round {round}: the daemon of a removed repository stays");
        assert!(!tree.exists(), "round {round}: the daemon created {root} again");
    }
}
