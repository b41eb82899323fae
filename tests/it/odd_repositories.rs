//! Repositories in unusual states: the branch that is checked out, the files that differ, and which `.git` is followed. Git's own
//! answer is what is expected.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::Repo;
use crate::worktrees::{committed, git};

/// What git prints.
fn says(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn call(repo: &Repo, root: &Path, tool: &str) -> Value {
    serde_json::from_str(&repo.ok(&["--repo", root.to_str().unwrap(), "call", tool])).unwrap()
}

/// A repository with a commit, and a worktree of it.
fn with_worktree(arguments: &[&str]) -> (Repo, tempfile::TempDir, PathBuf) {
    let repo = Repo::new("//- /a.py\ndef a():\n    return 1\n");
    fs::remove_dir(repo.path().join(".git")).unwrap();
    git(repo.path(), &[&["init", "-q", "-b", "main"], arguments].concat());
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "first"]);
    let trees = tempfile::tempdir().unwrap();
    let tree = trees.path().canonicalize().unwrap().join("tree");
    git(repo.path(), &["worktree", "add", "-q", "-b", "topic/one", tree.to_str().unwrap()]);
    (repo, trees, tree)
}

fn assert_branch(repo: &Repo, root: &Path, context: &str) {
    let answer = call(repo, root, "stats");
    let branch = says(root, &["branch", "--show-current"]);
    assert!(answer["worktree"].is_object(), "{context}: {answer}");
    assert_eq!(answer["worktree"]["branch"].as_str().unwrap_or_default(), branch.trim(), "{context}: {answer}");
}

#[test]
fn the_branch_is_gits_where_references_are_kept_in_tables() {
    let (repo, _trees, tree) = with_worktree(&["--ref-format=reftable"]);
    for root in [repo.path(), &tree] {
        assert_branch(&repo, root, "a branch");
        git(root, &["checkout", "-q", "--detach"]);
        assert_branch(&repo, root, "detached");
        git(root, &["checkout", "-q", "--orphan", "new"]);
        assert_branch(&repo, root, "unborn");
        git(root, &["symbolic-ref", "refs/heads/alias", "refs/heads/topic/one"]);
        git(root, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
        assert_branch(&repo, root, "another name of a branch");
    }
    // Only git can say.
    let output = repo.command(&["call", "stats"]).env("PATH", "/nowhere").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["worktree"], json!({ "root": repo.path().canonicalize().unwrap() }), "{answer}");
}

#[test]
fn the_branch_is_gits_whatever_head_consists_of() {
    let (repo, _trees, tree) = with_worktree(&[]);
    let directory = repo.path().join(".git/worktrees/tree");
    let branches = |count: usize| {
        for at in 0..count {
            let target = if at == 0 { "main".to_owned() } else { format!("c{}", at - 1) };
            git(repo.path(), &["symbolic-ref", &format!("refs/heads/c{at}"), &format!("refs/heads/{target}")]);
        }
    };
    branches(5);
    git(repo.path(), &["symbolic-ref", "refs/heads/remote", "refs/remotes/origin/main"]);
    let id = says(&tree, &["rev-parse", "HEAD"]);
    let texts = [
        "ref: refs/heads/main\n",
        "ref:refs/heads/main  \n",
        "ref:\t refs/heads/main\r\n",
        "ref: refs/heads/no/commit\n",
        "ref: refs/heads/c0\n",
        "ref: refs/heads/c1\n",
        "ref: refs/heads/c2\n",
        "ref: refs/heads/c3\n",
        "ref: refs/heads/c4\n",
        "ref: refs/heads/remote\n",
        "ref: refs/remotes/origin/main\n",
        "ref: refs/heads/../heads/main\n",
        "ref: refs/heads/.hidden\n",
        "ref: refs/heads/\u{e9}\n",
        id.as_str(),
    ];
    for (root, head) in [(repo.path(), repo.path().join(".git/HEAD")), (&*tree, directory.join("HEAD"))] {
        for text in texts {
            fs::write(&head, text).unwrap();
            assert_branch(&repo, root, text);
        }
        // As older versions of git have it.
        for target in ["refs/heads/main", "refs/heads/c1", "refs/heads/unborn"] {
            fs::remove_file(&head).unwrap();
            symlink(target, &head).unwrap();
            assert_branch(&repo, root, target);
        }
        git(root, &["pack-refs", "--all"]);
        assert_branch(&repo, root, "packed");
        assert_eq!(call(&repo, root, "changes")["base"]["name"], "HEAD");
    }
}

#[test]
fn a_submodule_with_worktrees_names_its_branch_and_its_siblings() {
    let (other, _trees, _) = with_worktree(&[]);
    let outer = committed("//- /b.py\nB = 1\n");
    let url = other.path().to_str().unwrap();
    git(outer.path(), &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "sub"]);
    let sub = outer.path().canonicalize().unwrap().join("sub");
    let trees = tempfile::tempdir().unwrap();
    let tree = trees.path().canonicalize().unwrap().join("of-sub");
    git(&sub, &["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    outer.ok(&["--repo", sub.to_str().unwrap(), "sync"]);
    assert_branch(&outer, &sub, "the submodule");
    assert_branch(&outer, &tree, "its worktree");
    assert_eq!(call(&outer, &tree, "stats")["seeded_from"], json!(sub));
}

/// A repository with a submodule `sub`, and the directory of that.
fn with_submodule(other: &Repo) -> (Repo, PathBuf, PathBuf) {
    let outer = committed("//- /b.py\nB = 1\n");
    let url = other.path().to_str().unwrap();
    git(outer.path(), &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "with space"]);
    git(outer.path(), &["commit", "-qm", "submodule"]);
    let root = outer.path().canonicalize().unwrap();
    (outer, root.join("with space"), root.join(".git/modules/with space"))
}

#[test]
fn a_submodule_is_followed_if_git_finds_its_settings_to_name_it() {
    let other = committed("//- /a.py\ndef a():\n    return 1\n//- /deep/b.py\ndef b():\n    return 1\n");
    let (outer, sub, directory) = with_submodule(&other);
    fs::write(sub.join("a.py"), "def a():\n    return 2\n").unwrap();
    let config = directory.join("config");
    let before = fs::read_to_string(&config).unwrap();
    let named = "worktree = \"../../../with space\"";
    let settings = before.replace("worktree = ../../../with space", named);
    assert!(settings.contains(named), "{before}");
    let elsewhere = outer.home().to_str().unwrap();
    let other_quoted = settings.replace(named, "worktree = ../../../\"with\" space ; of the submodule");
    let texts = [
        before.clone(),
        settings.clone(),
        other_quoted,
        settings.replace(named, "WorkTree=\"../../../with space\" # here"),
        settings.replace(named, &format!("worktree = \"{}\"", sub.display())),
        settings.replace(named, "worktree = \"../../../with \\\n\tspace\""),
        settings.replace(named, "worktree = \"../../../with\\tspace\""),
        settings.replace(named, "worktree = ../../../with space"),
        settings.replace(named, &format!("worktree = {elsewhere}")),
        settings.replace(named, &format!("# {named}\n\tworktree = {elsewhere}")),
        settings.replace(named, &format!("{named}\n\tworktree = {elsewhere}")),
        settings.replace(named, &format!("worktree = {elsewhere}\n\t{named}")),
        settings.replace(named, &format!("worktree = {elsewhere}\n[other]\n\t{named}\n[core]\n")),
        settings.replace(named, &format!("worktree = {elsewhere}\n[core \"sub\"]\n\t{named}\n[core]\n")),
        settings.replace(named, &format!("worktree = {elsewhere}\n[CORE] {named}\n")),
        settings.replace(named, "worktree"),
        settings.replace(named, "worktree ="),
        settings.replace(named, "[include]\n\tpath = included\n[core]\n"),
        format!("{settings}[broken\n"),
        format!("{settings}[a]\n\tb = \"unclosed\n"),
        format!(
            "{settings}{}",
            "[branch \"some/branch\"]\n\tremote = origin\n\tmerge = refs/heads/some/branch\n".repeat(900)
        ),
    ];
    fs::write(directory.join("included"), format!("[core]\n\t{named}\n")).unwrap();
    let mut followed = 0;
    for text in texts {
        fs::write(&config, &text).unwrap();
        let shown: String = text.chars().take(600).collect();
        followed += usize::from(assert_followed_as_by_git(&outer, &sub, &shown));
    }
    assert!((8..20).contains(&followed), "{followed}");
    // Git moves the setting to the settings of the worktree.
    fs::write(&config, &before).unwrap();
    git(&sub, &["sparse-checkout", "set", "deep"]);
    assert!(!fs::read_to_string(&config).unwrap().contains("worktree = "));
    assert!(assert_followed_as_by_git(&outer, &sub, "sparse"));
    fs::write(&config, fs::read_to_string(&config).unwrap().replace("worktreeConfig = true", "")).unwrap();
    assert!(!assert_followed_as_by_git(&outer, &sub, "settings of the worktree that do not count"));
}

/// Whether `changes` answers, which it does where git takes the folder for the work tree of what its `.git` names.
fn assert_followed_as_by_git(outer: &Repo, sub: &Path, context: &str) -> bool {
    let top = says(sub, &["rev-parse", "--show-toplevel"]);
    // Git takes every folder for a work tree whose `.git` leads to a directory that names none. Any archive can have such a file.
    let is_named = !says(sub, &["config", "--no-includes", "core.worktree"]).is_empty() && Path::new(top.trim()) == sub;
    let output = outer.run(&["--repo", sub.to_str().unwrap(), "call", "changes"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), is_named, "{context}: git says {top:?}, ixmcp {error}");
    assert!(is_named || error.contains("the history cannot be read"), "{context}: {error}");
    is_named
}

#[test]
fn settings_that_never_end_or_are_too_large_stop_nothing() {
    let other = committed("//- /a.py\ndef a():\n    return 1\n");
    let (outer, sub, directory) = with_submodule(&other);
    for name in ["config", "config.worktree"] {
        let file = directory.join(name);
        let before = fs::read(&file).unwrap_or_default();
        let _ = fs::remove_file(&file);
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        outer.fails(&["--repo", sub.to_str().unwrap(), "call", "changes"]);
        outer.ok(&["--repo", sub.to_str().unwrap(), "files"]);
        fs::remove_file(&file).unwrap();
        if !before.is_empty() {
            fs::write(&file, [&before[..], &b"#".repeat(9 << 20)].concat()).unwrap();
            outer.fails(&["--repo", sub.to_str().unwrap(), "call", "changes"]);
            fs::write(&file, before).unwrap();
        }
    }
    outer.ok(&["--repo", sub.to_str().unwrap(), "call", "changes"]);
}
