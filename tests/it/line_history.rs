//! The history of lines, next to `git log -L`.

use std::fs;
use std::path::Path;
use std::process::Command;

use ixmcp::budget::Budget;
use ixmcp::query;
use ixmcp::repository::FileCommits;
use ixmcp::workspace::Workspace;

use crate::history::{begun, git, git_at, open, seeds};
use crate::support::harness::Repo;
use crate::support::sound::sync;
use crate::support::tree::Random;

/// The commits that touched lines of a file, as the index lists them.
fn listed(workspace: &Workspace, root: &Path, path: &str, lines: (u32, u32), most: usize) -> Vec<String> {
    let text = fs::read_to_string(root.join(path)).unwrap();
    let listed = workspace.read(&Budget::unlimited(), |snapshot| {
        let (commits, paths) = query::history::of_lines(snapshot, path)?;
        let of_file = FileCommits::new(commits.into_iter().map(|commit| commit.hash), paths);
        workspace.history.of_lines((path, &text), lines, &of_file, most, &Budget::unlimited())
    });
    listed.unwrap()
}

/// Changes lines of a file, renames one, branches or merges; returns what was done.
fn step(repo: &Repo, random: &mut Random, time: u64) -> String {
    let root = repo.path();
    let run = |arguments: &[&str]| git_at(root, arguments, time);
    let files = run(&["ls-files"]);
    let files: Vec<&str> = files.lines().collect();
    let file = *random.pick(&files);
    let branch = format!("b{}", random.below(3));
    let has_branch = run(&["branch", "--list", &branch]).contains(&branch);
    match random.below(12) {
        0 => {
            run(&["mv", file, &format!("moved_{time}.py")]);
            run(&["commit", "-q", "-m", "Move"]);
            format!("move {file}")
        }
        1 => {
            run(&["checkout", "-q", "-B", &branch]);
            format!("branch {branch}")
        }
        2 if has_branch => {
            run(&["checkout", "-q", &branch]);
            format!("switch to {branch}")
        }
        3 | 4 if has_branch => {
            let side = *random.pick(&["ours", "theirs"]);
            let strategy = if random.below(4) == 0 { ["-s", "ours"] } else { ["-X", side] };
            let mut git = Command::new("git");
            git.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "merge", "-q", "--no-ff"]);
            let date = format!("{time} +0000");
            git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).current_dir(root);
            if git.args(strategy).args(["-m", "Merge", &branch]).output().unwrap().status.success() {
                return format!("merge {branch} {strategy:?}");
            }
            // Both renamed a file.
            run(&["reset", "-q", "--hard"]);
            "nothing".to_owned()
        }
        _ => {
            let text = fs::read_to_string(root.join(file)).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let at = random.index(lines.len());
            let end = (at + random.index(4)).min(lines.len());
            // Few different lines, so that a comparison has a choice.
            let new: Vec<String> = (0..=random.index(4))
                .map(|_| format!("{}x = {}", "    ".repeat(random.index(3)), random.below(9)))
                .collect();
            lines.splice(at..end, new);
            repo.write(file, lines.join("\n") + "\n");
            run(&["commit", "-q", "-a", "--allow-empty", "-m", "Edit"]);
            format!("edit {file}:{at}")
        }
    }
}

#[test]
fn lines_of_any_history_are_followed_as_git_follows_them() {
    for seed in seeds(4) {
        let mut random = Random(seed);
        let repo = begun("");
        for file in ["one.py", "two.py"] {
            let lines: Vec<String> = (0..40).map(|at| format!("{}_{at} = {at}\n", &file[..3])).collect();
            repo.write(file, lines.concat());
        }
        git(repo.path(), &["add", "-A"]);
        git_at(repo.path(), &["commit", "-q", "-m", "Begin"], 1_000_000_000);
        let mut log = Vec::new();
        for at in 1..50 {
            // Clocks differ.
            let time = 1_000_000_000 + 1_000 * at - random.below(3) * 700;
            log.push(step(&repo, &mut random, time));
        }
        let workspace = open(repo.path());
        sync(&workspace);
        workspace.commits.finish(&Budget::unlimited()).unwrap();
        let files = git(repo.path(), &["ls-files"]);
        for path in files.lines() {
            let count = u32::try_from(fs::read_to_string(repo.path().join(path)).unwrap().lines().count()).unwrap();
            for first in (1..=count).step_by(6) {
                let last = (first + 4).min(count);
                let range = format!("-L{first},{last}:{path}");
                let of_git = git(repo.path(), &["log", "-s", "--format=%H", &range]);
                let listed = listed(&workspace, repo.path(), path, (first, last), usize::MAX);
                assert_eq!(listed, of_git.lines().collect::<Vec<_>>(), "IXMCP_SEED={seed} {range}: {log:#?}");
            }
        }
    }
}

#[test]
fn lines_are_followed_through_a_merge_that_changed_a_file_by_itself() {
    let repo = begun("");
    let lines = |first: &str| format!("{first}\n{}", "x = 1\n".repeat(9));
    let run = |arguments: &[&str], time: u64| git_at(repo.path(), arguments, 1_000_000_000 + time);
    repo.write("one.py", lines("a = 1"));
    repo.write("two.py", "b = 1\n");
    git(repo.path(), &["add", "-A"]);
    run(&["commit", "-q", "-m", "Begin"], 0);
    run(&["checkout", "-q", "-b", "side"], 1);
    repo.write("two.py", "b = 2\n");
    run(&["commit", "-q", "-a", "-m", "Side"], 2);
    run(&["checkout", "-q", "-"], 3);
    repo.write("one.py", lines("a = 2"));
    run(&["commit", "-q", "-a", "-m", "Edit"], 4);
    run(&["merge", "-q", "--no-ff", "-m", "Merge", "side"], 5);
    // Neither parent nor a commit has this text.
    repo.write("one.py", lines("a = 2").replacen("x = 1\n", "x = 1\n\n", 5));
    run(&["commit", "-q", "-a", "--amend", "--no-edit"], 6);
    let workspace = open(repo.path());
    sync(&workspace);
    workspace.commits.finish(&Budget::unlimited()).unwrap();
    let of_git = git(repo.path(), &["log", "-s", "--format=%H", "-L1,1:one.py"]);
    assert_eq!(of_git.lines().count(), 2);
    let listed = listed(&workspace, repo.path(), "one.py", (1, 1), usize::MAX);
    assert_eq!(listed, of_git.lines().collect::<Vec<_>>());
}

/// Functions whose history is compared, in all clones.
const FUNCTIONS: usize = 200;
/// Commits of each that are compared.
const COMMITS: usize = 10;

/// `.ci/soak history CLONE…` runs this on full clones.
#[test]
#[ignore = "needs clones with their whole history: `.ci/soak history CLONE…`"]
fn the_history_of_functions_in_clones_is_that_of_git() {
    let clones = std::env::var("IXMCP_HISTORY_CLONES").unwrap();
    let clones: Vec<&str> = clones.split(':').filter(|clone| !clone.is_empty()).collect();
    let (mut right, mut found, mut expected, mut times) = (0, 0, 0, Vec::new());
    for clone in &clones {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("clone");
        git(folder.path(), &["clone", "-q", clone, root.to_str().unwrap()]);
        let workspace = open(&root);
        sync(&workspace);
        workspace.commits.finish(&Budget::unlimited()).unwrap();
        let mut functions: Vec<(String, u32, u32)> = Vec::new();
        workspace
            .read(&Budget::unlimited(), |snapshot| {
                for (path, _) in snapshot.paths(None)? {
                    let defined = snapshot.unsigned_between(&path, 1, u32::MAX - 1)?;
                    let defined = defined.into_iter().filter(|one| matches!(one.kind.as_str(), "function" | "method"));
                    functions.extend(defined.map(|one| (path.clone(), one.start_line, one.end_line)));
                }
                Ok(())
            })
            .unwrap();
        let mut random = Random(7);
        for _ in 0..FUNCTIONS.div_ceil(clones.len()) {
            let (path, first, last) = random.pick(&functions).clone();
            let range = format!("-L{first},{last}:{path}");
            let of_git = git(&root, &["log", "-s", "--format=%H", &range]);
            let of_git: Vec<&str> = of_git.lines().take(COMMITS).collect();
            let begun = std::time::Instant::now();
            let listed = listed(&workspace, &root, &path, (first, last), COMMITS);
            times.push(begun.elapsed());
            let both = listed.iter().filter(|commit| of_git.contains(&commit.as_str())).count();
            if both < of_git.len() || both < listed.len() {
                println!("{clone} {range}: {both} of {} found, {} expected", listed.len(), of_git.len());
            }
            (right, found, expected) = (right + both, found + listed.len(), expected + of_git.len());
        }
    }
    times.sort();
    let share = |part: usize, all: usize| {
        f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(all.max(1)).unwrap())
    };
    let (precision, recall) = (share(right, found), share(right, expected));
    let p95 = times[times.len() * 95 / 100];
    println!("{} functions: precision {precision:.3}, recall {recall:.3}, p95 {p95:?}", times.len());
    assert!(precision >= 0.95 && recall >= 0.95);
}
