//! Worktrees in unusual states: on another file system, moved, locked, without their branch, of a bare repository, and next to a
//! sibling that disappears. And the central promise in such repositories: whatever happens to their worktrees, each index is
//! what a fresh build makes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use expect_test::expect;
use ixmcp::budget::Budget;
use serde_json::{Value, json};

use crate::support::harness::{Repo, repeatedly};
use crate::support::sound::{freshen, number, open, sync, watched};
use crate::support::tree::Random;
use crate::worktrees::{assert_as_rebuilt, committed, git, seeded_from};

fn many() -> Repo {
    let file = |at: u64| format!("//- /d{}/m{at}.py\ndef f{at}(): return g{at}()\n", at % 5);
    committed(&(0..40).map(file).collect::<String>())
}

/// Calls a tool in the tree at `root`.
fn call(repo: &Repo, root: &Path, tool: &str, arguments: &Value) -> Value {
    let output = repo.ok(&["--repo", root.to_str().unwrap(), "call", tool, "--args", &arguments.to_string()]);
    serde_json::from_str(&output).unwrap()
}

fn stats(repo: &Repo, root: &Path) -> Value {
    call(repo, root, "stats", &json!({}))
}

fn finds(repo: &Repo, root: &Path, text: &str) -> Vec<String> {
    let answer = call(repo, root, "query", &json!({ "text": text, "mode": "literal" }));
    answer["results"].as_array().unwrap().iter().map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_worktree_on_another_file_system_begins_with_a_copy_too() {
    let repo = many();
    let device = |folder: &Path| fs::metadata(folder).unwrap().dev();
    let elsewhere = [env!("CARGO_TARGET_TMPDIR"), "/dev/shm"].map(Path::new);
    let elsewhere = elsewhere.into_iter().find(|folder| folder.is_dir() && device(folder) != device(repo.path()));
    let Some(elsewhere) = elsewhere else { return };
    let trees = tempfile::tempdir_in(elsewhere).unwrap();
    repo.sync();
    let tree = trees.path().join("tree");
    git(repo.path(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
    fs::write(tree.join("d1/m1.py"), "def walrus(): pass\n").unwrap();
    let workspace = open(&tree);
    sync(&workspace);
    assert_eq!(seeded_from(&workspace), Some(repo.path().canonicalize().unwrap().join(".ixmcp/index.db")));
    assert_as_rebuilt(&workspace, "a copy from another file system");
}

#[test]
fn a_sibling_that_disappears_while_it_is_copied_costs_a_build_at_most() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    let comes_and_goes = |_| {
        sync(&open(repo.path()));
        // Whole folders and single files, as people and tools remove them.
        for name in ["index.db", "index.db-wal", "index.db-shm"] {
            let _ = fs::remove_file(repo.path().join(".ixmcp").join(name));
        }
        let _ = fs::remove_dir_all(repo.path().join(".ixmcp"));
    };
    repeatedly(comes_and_goes, || {
        for at in 0..number("IXMCP_ROUNDS", 6) {
            let tree = trees.path().join(format!("tree{at}"));
            git(repo.path(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
            let workspace = open(&tree);
            sync(&workspace);
            assert_as_rebuilt(&workspace, "next to a sibling that comes and goes");
        }
    });
}

#[test]
fn a_worktree_that_git_moves_takes_its_index_along() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    let trees = trees.path().canonicalize().unwrap();
    let (old, new) = (trees.join("old"), trees.join("new"));
    git(repo.path(), &["worktree", "add", "-q", "-b", "topic", old.to_str().unwrap()]);
    fs::write(old.join("own.py"), "def walrus(): pass\n").unwrap();
    assert_eq!(finds(&repo, &old, "walrus"), ["own.py"]);
    git(repo.path(), &["worktree", "move", old.to_str().unwrap(), new.to_str().unwrap()]);
    fs::write(new.join("d1/m1.py"), "def pelican(): pass\n").unwrap();
    assert_eq!(finds(&repo, &new, "pelican"), ["d1/m1.py"]);
    let answer = stats(&repo, &new);
    assert_eq!(answer["worktree"], json!({ "root": new, "branch": "topic" }), "{answer}");
    assert_as_rebuilt(&open(&new), "moved by git");
    // A path in it is answered from there, a path at the old position is not.
    let slice = |path: PathBuf| json!({ "file_path": path, "start_line": 1, "end_line": 1, "repo": repo.path() });
    repo.fails(&["call", "get_slice", "--args", &slice(old.join("own.py")).to_string()]);
}

#[test]
fn a_worktree_that_was_moved_behind_gits_back_keeps_its_index_and_loses_its_siblings() {
    let repo = many();
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let trees = trees.path().canonicalize().unwrap();
    let (old, new) = (trees.join("old"), trees.join("new"));
    git(repo.path(), &["worktree", "add", "-q", "--detach", old.to_str().unwrap()]);
    assert!(stats(&repo, &old)["seeded_from"].is_string());
    fs::rename(&old, &new).unwrap();
    fs::write(new.join("d1/m1.py"), "def walrus(): pass\n").unwrap();
    assert_eq!(finds(&repo, &new, "walrus"), ["d1/m1.py"]);
    assert!(stats(&repo, &new).get("worktree").is_none(), "git's record names another folder");
    assert_as_rebuilt(&open(&new), "moved behind git's back");
    // Without its index it is not seeded: the links do not agree.
    fs::remove_dir_all(new.join(".ixmcp")).unwrap();
    assert!(stats(&repo, &new).get("seeded_from").is_none());
    git(&new, &["worktree", "repair"]);
    fs::remove_dir_all(new.join(".ixmcp")).unwrap();
    assert!(stats(&repo, &new)["seeded_from"].is_string(), "repaired");
}

#[test]
fn a_locked_worktree_and_one_without_its_branch_answer_like_any_other() {
    let repo = many();
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let trees = trees.path().canonicalize().unwrap();
    let (locked, lost) = (trees.join("locked"), trees.join("lost"));
    git(repo.path(), &["worktree", "add", "-q", "--lock", "-b", "kept", locked.to_str().unwrap()]);
    git(repo.path(), &["worktree", "add", "-q", "-b", "gone", lost.to_str().unwrap()]);
    git(repo.path(), &["update-ref", "-d", "refs/heads/gone"]);
    for (tree, branch) in [(&locked, "kept"), (&lost, "gone")] {
        let answer = stats(&repo, tree);
        assert!(answer["seeded_from"].is_string() && answer["total_files"] == 40, "{answer}");
        assert_eq!(answer["worktree"]["branch"], branch, "{answer}");
        assert_eq!(finds(&repo, tree, "def f7"), ["d2/m7.py"]);
        assert_as_rebuilt(&open(tree), branch);
    }
    // Everything is new on a branch without a commit.
    let changes = call(&repo, &lost, "changes", &json!({}));
    assert!(changes["changes"].as_array().is_some_and(|changes| !changes.is_empty()), "{changes}");
}

#[test]
fn worktrees_of_a_bare_repository_are_siblings() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    let trees = trees.path().canonicalize().unwrap();
    let project = trees.join("project");
    git(&trees, &["clone", "-q", "--bare", repo.path().to_str().unwrap(), "project/.bare"]);
    // As many set it up: the folder around the worktrees leads to the bare repository.
    fs::write(project.join(".git"), "gitdir: ./.bare\n").unwrap();
    for name in ["one", "two"] {
        git(&project.join(".bare"), &["worktree", "add", "-q", "--detach", project.join(name).to_str().unwrap()]);
    }
    let one = stats(&repo, &project.join("one"));
    assert!(one.get("seeded_from").is_none() && one["total_files"] == 40, "{one}");
    assert_eq!(one["worktree"]["root"], json!(project.join("one")), "{one}");
    let two = stats(&repo, &project.join("two"));
    assert_eq!(two["seeded_from"], json!(project.join("one")), "{two}");
    // In the folder around them there is nothing to index, and each answer says why.
    let around = stats(&repo, &project);
    let files = call(&repo, &project, "list_files", &json!({}));
    assert_eq!(files["files"], json!([]), "{files}");
    expect!["The index of TREES/project contains no files: skipped: worktree 2. `ixmcp files --skipped` lists them."]
        .assert_eq(&around["warning"].as_str().unwrap().replace(trees.to_str().unwrap(), "TREES"));
    assert_as_rebuilt(&open(&project.join("two")), "a worktree of a bare repository");
}

/// Random changes to a repository and its worktrees, nested ones and others.
#[test]
fn indexes_of_worktrees_equal_fresh_builds_whatever_happens_to_worktrees() {
    for seed in 0..number("IXMCP_SEQUENCES", 4) {
        let mut random = Random(number("IXMCP_SEED", 9_000_000 + seed));
        let repo = many();
        let trees = tempfile::tempdir().unwrap();
        let trees = trees.path().canonicalize().unwrap();
        let main = watched(repo.path());
        freshen(&main);
        let (mut nested, mut outside, mut log): (Vec<PathBuf>, Vec<PathBuf>, Vec<String>) = Default::default();
        for step in 0..14 {
            let name = format!("w{step}");
            let did = match random.below(9) {
                0 | 1 => {
                    let tree = repo.path().join(["", ".claude/worktrees", "d1"][step % 3]).join(&name);
                    git(repo.path(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
                    nested.push(tree);
                    "adds a nested worktree"
                }
                2 => {
                    let tree = trees.join(&name);
                    git(repo.path(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
                    outside.push(tree);
                    "adds a worktree"
                }
                3 if !nested.is_empty() => {
                    let tree = nested.swap_remove(step % nested.len());
                    git(repo.path(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
                    "removes a nested worktree"
                }
                4 if !nested.is_empty() => {
                    // It stays as a copy that git has forgotten: an ordinary folder, but for its dangling `.git`.
                    let tree = nested.swap_remove(step % nested.len());
                    fs::remove_file(tree.join(".git")).unwrap();
                    git(repo.path(), &["worktree", "prune"]);
                    // What happens in a nested worktree is not watched.
                    sync(&main);
                    "forgets a nested worktree"
                }
                5 if !nested.is_empty() => {
                    let tree = &mut nested[0];
                    let moved = tree.with_file_name(format!("moved{step}"));
                    git(repo.path(), &["worktree", "move", tree.to_str().unwrap(), moved.to_str().unwrap()]);
                    *tree = moved;
                    "moves a nested worktree"
                }
                6 if !nested.is_empty() => {
                    fs::write(nested[0].join("d1/m1.py"), format!("def nested{step}(): pass\n")).unwrap();
                    "edits a nested worktree"
                }
                7 => {
                    repo.write(&format!("d{}/m{step}.py", step % 5), format!("def changed{step}(): pass\n"));
                    "edits the main worktree"
                }
                _ => {
                    if let Some(tree) = outside.last() {
                        fs::write(tree.join("d2/m2.py"), format!("def outside{step}(): pass\n")).unwrap();
                        let _ = fs::remove_file(tree.join("d3/m3.py"));
                    }
                    "edits another worktree"
                }
            };
            log.push(format!("{step} {did}"));
            freshen(&main);
            if random.below(3) == 0 {
                let tree = outside.last().cloned();
                tree.into_iter().for_each(|tree| sync(&open(&tree)));
            }
        }
        let context = format!("seed {seed}: {log:#?}");
        assert_as_rebuilt(&main, &context);
        for tree in &outside {
            let workspace = open(tree);
            sync(&workspace);
            assert_as_rebuilt(&workspace, &context);
            let files = workspace.read(&Budget::unlimited(), |snapshot| snapshot.file_count()).unwrap();
            assert!(files >= 39, "{context}");
        }
    }
}
