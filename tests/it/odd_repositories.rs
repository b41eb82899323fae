//! Repositories in unusual states: the branch that is checked out, the files that differ, and which `.git` is followed. Git's own
//! answer is what is expected.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::worktrees::{committed, git};

/// Runs git; returns its output.
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

/// The files of the definitions that differ, and those that git says differ from the commit.
fn assert_changed_as_git_has_it(repo: &Repo, expected: &[&str]) {
    let answer = call(repo, repo.path(), "changes");
    let changes = answer["changes"].as_array().unwrap();
    let paths = changes.iter().flat_map(|change| [&change["file_path"], &change["old_path"]]);
    let ours: BTreeSet<&str> = paths.filter_map(Value::as_str).collect();
    let status = says(repo.path(), &["status", "--porcelain", "-z", "-uall", "--no-renames"]);
    let gits: BTreeSet<&str> =
        status.split('\0').filter_map(|line| line.get(3..)).filter(|path| path.ends_with(".py")).collect();
    assert_eq!(gits, expected.iter().copied().collect(), "git: {status}");
    assert_eq!(ours, gits, "{answer}");
    assert_eq!(answer["files"], gits.len(), "{answer}");
}

/// Files with a definition each.
fn defining(paths: &[&str]) -> Repo {
    let file = |path: &&str| {
        let name: String = path.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("//- /{path}\ndef {name}():\n    return call_{name}('{name}')\n")
    };
    committed(&paths.iter().map(file).collect::<String>())
}

#[test]
fn a_source_file_that_became_something_else_was_removed() {
    let repo = defining(&["folder.py", "link.py", "lost.py", "pipe.py", "nested.py", "in/a.py", "gone.py", "kept.py"]);
    let path = |name: &str| repo.path().join(name);
    symlink("kept.py", path("was_link.py")).unwrap();
    git(repo.path(), &["add", "was_link.py"]);
    git(repo.path(), &["commit", "-qm", "link"]);
    assert_changed_as_git_has_it(&repo, &[]);
    for name in ["folder.py", "link.py", "lost.py", "pipe.py", "nested.py", "gone.py", "was_link.py"] {
        fs::remove_file(path(name)).unwrap();
    }
    repo.write("folder.py/deep/new.py", "def new():\n    return 1\n");
    symlink("kept.py", path("link.py")).unwrap();
    symlink("nowhere.py", path("lost.py")).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe.py")).status().unwrap().success());
    git(repo.path(), &["init", "-q", "nested.py"]);
    repo.write("nested.py/own.py", "def own():\n    return 3\n");
    git(&path("nested.py"), &["add", "."]);
    git(&path("nested.py"), &["commit", "-qm", "own"]);
    fs::rename(path("in"), path("moved")).unwrap();
    symlink("moved", path("in")).unwrap();
    repo.write("was_link.py", "def was_link():\n    return 5\n");
    let expected =
        ["folder.py", "folder.py/deep/new.py", "gone.py", "in/a.py", "link.py", "lost.py", "moved/a.py", "nested.py"];
    assert_changed_as_git_has_it(&repo, &[&expected[..], &["pipe.py", "was_link.py"]].concat());
}

#[test]
fn what_is_only_intended_in_conflict_or_removed_from_gits_index_is_compared() {
    let repo = defining(&["ours.py", "theirs.py", "cached.py", "kept.py"]);
    git(repo.path(), &["checkout", "-qb", "side"]);
    repo.write("ours.py", "def side():\n    return 'side'\n");
    repo.write("theirs.py", "def other_side():\n    return 'other'\n");
    git(repo.path(), &["commit", "-qam", "side"]);
    git(repo.path(), &["checkout", "-q", "main"]);
    repo.write("ours.py", "def main():\n    return 'main'\n");
    git(repo.path(), &["rm", "-q", "theirs.py"]);
    git(repo.path(), &["commit", "-qam", "main"]);
    let merged = Command::new("git").args(["merge", "side"]).current_dir(repo.path()).output().unwrap();
    assert!(!merged.status.success());
    repo.write("intended.py", "def intended():\n    return 9\n");
    git(repo.path(), &["add", "-N", "intended.py"]);
    git(repo.path(), &["rm", "-q", "--cached", "cached.py"]);
    repo.write("cached.py", "def cached_again():\n    return 8\n");
    assert_changed_as_git_has_it(&repo, &["cached.py", "intended.py", "ours.py", "theirs.py"]);
}

#[test]
fn files_that_git_does_not_look_at_do_not_differ() {
    let names = ["assumed.py", "assumed_gone.py", "skipped.py", "skipped_gone.py", "seen.py", "deep/sparse.py"];
    let repo = defining(&names);
    git(repo.path(), &["update-index", "--assume-unchanged", "assumed.py", "assumed_gone.py"]);
    git(repo.path(), &["update-index", "--skip-worktree", "skipped.py", "skipped_gone.py"]);
    for name in ["assumed.py", "skipped.py", "seen.py"] {
        repo.write(name, "def written():\n    return 77\n");
    }
    repo.remove("assumed_gone.py");
    repo.remove("skipped_gone.py");
    assert_changed_as_git_has_it(&repo, &["seen.py"]);
    // In a sparse checkout, what is there counts.
    git(repo.path(), &["config", "core.sparseCheckout", "true"]);
    git(repo.path(), &["config", "sparse.expectFilesOutsideOfPatterns", "true"]);
    assert_changed_as_git_has_it(&repo, &["seen.py"]);
    git(repo.path(), &["config", "sparse.expectFilesOutsideOfPatterns", "false"]);
    assert_changed_as_git_has_it(&repo, &["seen.py", "skipped.py"]);
}

#[test]
fn the_files_of_a_nested_repository_are_no_change() {
    let repo = defining(&["a.py", "tracked/b.py"]);
    for nested in ["clone", "empty", "tracked"] {
        git(repo.path(), &["init", "-q", nested]);
        repo.write(&format!("{nested}/own.py"), format!("def of_{nested}():\n    return '{nested}'\n"));
    }
    git(&repo.path().join("clone"), &["add", "."]);
    git(&repo.path().join("clone"), &["commit", "-qm", "own"]);
    fs::create_dir_all(repo.path().join("no_repository/.git")).unwrap();
    repo.write("no_repository/own.py", "def of_none():\n    return 4\n");
    assert_changed_as_git_has_it(&repo, &["no_repository/own.py", "tracked/own.py"]);
}

#[test]
fn settings_that_git_would_wait_for_are_named() {
    let repo = committed("//- /a.py\ndef a():\n    return 1\n");
    let pipe = repo.home().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::write(repo.home().join(".gitconfig"), "[include]\n\tpath = pipe\n").unwrap();
    let output = repo.run(&["call", "changes"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let expected = format!(
        "ixmcp: INVALID_PATH: git cannot read its settings: {} is not read: not a regular file. Repair that file, or remove the setting that includes it.",
        pipe.display()
    );
    assert_eq!(error.lines().last(), Some(expected.as_str()));
    // All else goes on without that file.
    assert_eq!(repo.ok(&["files"]), "a.py\n");
    fs::write(repo.home().join(".gitconfig"), "").unwrap();
    fs::remove_file(repo.path().join(".git/index")).unwrap();
    assert!(Command::new("mkfifo").arg(repo.path().join(".git/index")).status().unwrap().success());
    assert_eq!(repo.ok(&["files"]), "a.py\n");
}
