//! Commits in the index: against git itself, in answers, and as evidence for ranking.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::update::rebuild;
use ixmcp::workspace::Workspace;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_same, number, sync};
use crate::support::tree::Random;

/// A repository without commits.
pub fn begun(files: &str) -> Repo {
    let repo = Repo::new(files);
    git(repo.path(), &["init", "-q", "-b", "main"]);
    repo
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    git_at(folder, arguments, 1_700_000_000)
}

/// Runs git at that time and returns what it prints.
pub fn git_at(folder: &Path, arguments: &[&str], time: u64) -> String {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "core.excludesFile=",
        "-c",
        "gc.auto=0",
    ]);
    git.args(["-c", "protocol.file.allow=always"]);
    let date = format!("{time} +0000");
    git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).env("GIT_EDITOR", "true");
    let output = git.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Commits everything, a second after the commit before.
fn commit(repo: &Repo, message: &str) -> String {
    let begun = 1_700_000_000;
    let before = git(repo.path(), &["rev-list", "--count", "--all"]).trim().parse::<u64>().unwrap();
    git(repo.path(), &["add", "-A"]);
    git_at(repo.path(), &["commit", "-q", "--allow-empty", "-m", message], begun + before);
    git(repo.path(), &["rev-parse", "HEAD"]).trim().to_owned()
}

/// Settings of no one's, with git.
fn sources(root: &Path) -> Arc<Sources> {
    let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
    let environment = Environment::new([path], root.join("../no-home"), root.to_owned());
    Arc::new(Sources { flags: Flags::default(), environment })
}

pub fn open(root: &Path) -> Workspace {
    Workspace::open(root, sources(root)).unwrap()
}

/// The rows of the history.
fn history(workspace: &Workspace) -> Vec<String> {
    workspace.commits.finish(&Budget::unlimited()).unwrap();
    let mut rows = Vec::new();
    workspace.read(&Budget::unlimited(), |snapshot| snapshot.dump(|line| rows.push(line.to_owned()))).unwrap();
    rows.retain(|row| row.starts_with("[\"commit"));
    rows
}

/// Returns what git says of each commit that is reached, as the index has it.
fn of_git(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    // Git's corrected commit dates, as its documentation of the commit graph defines them.
    let mut corrected: HashMap<String, u64> = HashMap::new();
    for row in git(root, &["rev-list", "--topo-order", "--reverse", "--timestamp", "--parents", "HEAD"]).lines() {
        let fields: Vec<&str> = row.split(' ').collect();
        let after = fields[2..].iter().filter_map(|parent| corrected.get(*parent)).map(|time| time + 1).max();
        corrected.insert(fields[1].to_owned(), after.unwrap_or(0).max(fields[0].parse().unwrap()));
    }
    for hash in git(root, &["rev-list", "HEAD"]).lines() {
        let parents = git(root, &["show", "-s", "--format=%P", hash]).split_whitespace().count();
        let shown =
            git(root, &["diff-tree", "-r", "--root", "--no-commit-id", "--name-status", "-M50%", "-l200", hash]);
        let boundary = fs::read_to_string(root.join(".git/shallow")).unwrap_or_default();
        let is_cut = boundary.lines().any(|line| line == hash);
        let of_merge = git(root, &["diff-tree", "-r", "-c", "--no-commit-id", "--name-status", "--no-renames", hash]);
        for line in of_merge.lines().filter(|_| parents > 1 && !is_cut) {
            let (letters, path) = line.split_once('\t').unwrap();
            let status = if letters.chars().all(|letter| letters.starts_with(letter)) { &letters[..1] } else { "M" };
            // What no parent has by that name, one may have by another.
            let renamed = (1..=parents).filter(|_| status == "A").find_map(|parent| {
                let parent = format!("{hash}^{parent}");
                let compared = git(root, &["diff-tree", "-r", "--name-status", "-M50%", "-l200", &parent, hash]);
                compared.lines().find_map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
                    [letter, from, to] if letter.starts_with('R') && to == path => Some(from.to_owned()),
                    _ => None,
                })
            });
            let status = if renamed.is_some() { "R" } else { status };
            lines.push(json!(["commit file", hash, path, status, renamed]).to_string());
        }
        for line in shown.lines().filter(|_| parents < 2 && !is_cut) {
            let fields: Vec<&str> = line.split('\t').collect();
            let (path, from) = match fields[..] {
                [_, path] => (path, Value::Null),
                [_, from, path] => (path, from.into()),
                _ => panic!("{line}"),
            };
            lines.push(json!(["commit file", hash, path, &fields[0][..1], from]).to_string());
        }
        let texts = git(root, &["show", "-s", "--format=%ct%x00%s", hash]);
        let (time, subject) = texts.trim_end().split_once('\0').unwrap();
        lines.push(format!("{hash} {time} {} {subject}", corrected[hash]));
    }
    lines.sort();
    lines
}

/// Returns the same lines of the index.
fn of_index(rows: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows {
        let row: Value = serde_json::from_str(row).unwrap();
        match row[0].as_str().unwrap() {
            "commit" => {
                let (hash, subject) = (row[1].as_str().unwrap(), row[5].as_str().unwrap());
                lines.push(format!("{hash} {} {} {subject}", row[2], row[3]));
            }
            "commit file" => lines.push(row.to_string()),
            _ => {}
        }
    }
    lines.sort();
    lines
}

/// Changes the history at random, and returns what was done.
fn step(repo: &Repo, random: &mut Random, time: u64) -> String {
    let root = repo.path();
    let run = |arguments: &[&str]| git_at(root, arguments, time);
    let file = format!("src/f{}.py", random.below(6));
    let other = format!("src/f{}.py", random.below(6));
    let branch = format!("b{}", random.below(3));
    let edit = || {
        let text = fs::read_to_string(root.join(&file)).unwrap_or_default();
        repo.write(&file, format!("{text}value_{time} = {time}\nother_{time} = {time}\n"));
    };
    let commit = |message: &str| {
        run(&["add", "-A"]);
        run(&["commit", "-q", "--allow-empty", "-m", message]);
    };
    match random.below(11) {
        0..=2 => {
            edit();
            commit(&format!("Edit {file}"));
            format!("edit {file}")
        }
        3 if root.join(&file).exists() && !root.join(&other).exists() => {
            run(&["mv", &file, &other]);
            commit(&format!("Move {file} to {other}"));
            format!("move {file} to {other}")
        }
        4 if root.join(&file).exists() => {
            run(&["rm", "-q", &file]);
            commit(&format!("Remove {file}"));
            format!("remove {file}")
        }
        5 => {
            edit();
            run(&["add", "-A"]);
            run(&["commit", "-q", "--amend", "--allow-empty", "-m", &format!("Amended at {time}")]);
            "amend".to_owned()
        }
        6 => {
            run(&["checkout", "-q", "-B", &branch]);
            format!("branch {branch}")
        }
        7 if run(&["branch", "--list", &branch]).contains(&branch) => {
            run(&["checkout", "-q", &branch]);
            format!("switch to {branch}")
        }
        8 => {
            // As after a force-push that others fetched.
            let count: u64 = run(&["rev-list", "--count", "--first-parent", "HEAD"]).trim().parse().unwrap();
            let back = random.below(count.min(4));
            run(&["reset", "-q", "--hard", &format!("HEAD~{back}")]);
            format!("reset by {back}")
        }
        9 => {
            run(&["reflog", "expire", "--expire=now", "--all"]);
            run(&["gc", "-q", "--prune=now"]);
            "gc".to_owned()
        }
        10 if run(&["branch", "--list", &branch]).contains(&branch) => {
            run(&["merge", "-q", "-X", "ours", "-m", &format!("Merge {branch}"), &branch]);
            format!("merge {branch}")
        }
        _ => {
            let count: u64 = run(&["rev-list", "--count", "--first-parent", "HEAD"]).trim().parse().unwrap();
            if count < 4 || !run(&["rev-list", "--merges", "HEAD~3..HEAD"]).is_empty() {
                return "nothing".to_owned();
            }
            // The same commits with other times.
            run(&["rebase", "-q", "--force-rebase", "--no-fork-point", "HEAD~2"]);
            "rebase".to_owned()
        }
    }
}

/// The random sequences of a run.
pub fn seeds(count: u64) -> Range<u64> {
    match number("IXMCP_SEED", u64::MAX) {
        u64::MAX => 0..number("IXMCP_SEQUENCES", count),
        seed => seed..seed + 1,
    }
}

#[test]
fn any_sequence_of_rewrites_leaves_the_history_of_a_fresh_build() {
    for seed in seeds(6) {
        let mut random = Random(seed);
        let repo = begun("");
        git_at(repo.path(), &["commit", "-q", "--allow-empty", "-m", "Begin"], 1_000_000_000);
        let workspace = open(repo.path());
        sync(&workspace);
        let mut log = Vec::new();
        for at in 0..14 {
            log.push(step(&repo, &mut random, 1_000_000_000 + 1_000 * at));
            if random.below(3) > 0 {
                history(&workspace);
            }
        }
        let context = format!("IXMCP_SEED={seed}: {log:#?}");
        let stepwise = history(&workspace);
        assert_eq!(of_index(&stepwise), of_git(repo.path()), "{context}");
        assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
        rebuild(repo.path(), sources(repo.path()), &Arc::default(), &Budget::unlimited()).unwrap();
        assert_same(&stepwise, &history(&workspace), &context);
    }
}

#[test]
fn a_shallow_clone_follows_what_is_pushed_by_force_to_its_origin() {
    for seed in seeds(4) {
        let mut random = Random(seed);
        let origin = begun("");
        git_at(origin.path(), &["commit", "-q", "--allow-empty", "-m", "Begin"], 1_000_000_000);
        let around = tempfile::tempdir().unwrap();
        let clone = around.path().join("clone");
        let from = format!("file://{}", origin.path().display());
        git(origin.path(), &["clone", "-q", "--depth=1", &from, clone.to_str().unwrap()]);
        let workspace = open(&clone);
        sync(&workspace);
        let mut log = Vec::new();
        for at in 0..16 {
            log.push(step(&origin, &mut random, 1_000_000_000 + 1_000 * at));
            let depth = format!("--depth={}", 1 + random.below(5));
            let fetched = match random.below(6) {
                0 | 1 => &["fetch", "-q", &depth, "origin", "HEAD"][..],
                2 => &["fetch", "-q", "origin", "HEAD"],
                3 if clone.join(".git/shallow").exists() => &["fetch", "-q", "--unshallow", "origin", "HEAD"],
                _ => continue,
            };
            git(&clone, fetched);
            git(&clone, &["reset", "-q", "--hard", "FETCH_HEAD"]);
            log.push(fetched.join(" "));
            if random.below(3) > 0 {
                assert_eq!(of_index(&history(&workspace)), of_git(&clone), "IXMCP_SEED={seed}: {log:#?}");
            }
        }
        let context = format!("IXMCP_SEED={seed}: {log:#?}");
        let stepwise = history(&workspace);
        assert_eq!(of_index(&stepwise), of_git(&clone), "{context}");
        rebuild(&clone, sources(&clone), &Arc::default(), &Budget::unlimited()).unwrap();
        assert_same(&stepwise, &history(&workspace), &context);
    }
}

#[test]
fn a_shallow_clone_is_followed_when_it_is_deepened() {
    let repo = begun("//- /a.py\nA = 1\n");
    for at in 0..5 {
        repo.write("a.py", format!("A = {at}\n"));
        repo.write("b.py", format!("B = {at}\n"));
        commit(&repo, &format!("Step {at}"));
    }
    let around = tempfile::tempdir().unwrap();
    let clone = around.path().join("clone");
    let from = format!("file://{}", repo.path().display());
    git(repo.path(), &["clone", "-q", "--depth=2", &from, clone.to_str().unwrap()]);
    let workspace = open(&clone);
    sync(&workspace);
    assert_eq!(of_index(&history(&workspace)), of_git(&clone));
    for (depth, commits) in [("--depth=4", 4), ("--unshallow", 5)] {
        git(&clone, &["fetch", "-q", depth]);
        let rows = history(&workspace);
        assert_eq!(of_index(&rows), of_git(&clone), "{depth}");
        assert_eq!(rows.iter().filter(|row| row.starts_with("[\"commit\"")).count(), commits, "{depth}");
    }
}

#[test]
fn a_partial_clone_has_its_history_without_the_network() {
    let repo = begun("//- /a.py\nA = 1\n//- /b.py\nB = 1\n");
    commit(&repo, "First");
    git(repo.path(), &["mv", "a.py", "c.py"]);
    commit(&repo, "Move");
    git(repo.path(), &["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", repo.path().display());
    let around = tempfile::tempdir().unwrap();
    for filter in ["blob:none", "tree:0"] {
        let clone = around.path().join(filter.replace(':', "-"));
        git(repo.path(), &["clone", "-q", &format!("--filter={filter}"), &from, clone.to_str().unwrap()]);
        // Whatever asks the other repository fails now.
        git(&clone, &["config", "remote.origin.url", "file:///none"]);
        let workspace = open(&clone);
        sync(&workspace);
        let rows = history(&workspace);
        let commits = rows.iter().filter(|row| row.starts_with("[\"commit\""));
        assert_eq!(commits.count(), 2, "{filter}: {rows:#?}");
        let moved = rows.iter().any(|row| row.contains("\"c.py\",\"R\",\"a.py\""));
        assert_eq!(moved, filter == "blob:none", "{rows:#?}");
    }
}

#[test]
fn a_branch_without_a_commit_has_no_history() {
    let repo = begun("//- /a.py\nA = 1\n");
    let workspace = open(repo.path());
    sync(&workspace);
    assert!(history(&workspace).iter().all(|row| row == "[\"commit fts rows\",0]"));
    commit(&repo, "First");
    let subjects = history(&workspace).into_iter().filter_map(|row| {
        let row: Value = serde_json::from_str(&row).unwrap();
        (row[0] == "commit").then(|| row[5].clone())
    });
    assert_eq!(subjects.collect::<Vec<_>>(), ["First"]);
    git(repo.path(), &["checkout", "-q", "--orphan", "empty"]);
    assert!(history(&workspace).iter().all(|row| row == "[\"commit fts rows\",0]"));
}

#[test]
fn messages_are_stored_without_addresses_and_secrets() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let repo = begun("//- /.mailmap\nAnn Best <ann@example.org> Ann <ann@example.org>\n//- /a.py\nA = 1\n");
    let message = format!(
        "Fix a@b.example for users\n\nThe token was {token}.\n\nCo-authored-by: Bob <bob@mail.example>\nSee <root@localhost>"
    );
    commit(&repo, &message);
    let workspace = open(repo.path());
    sync(&workspace);
    let rows = history(&workspace);
    let row: Value = serde_json::from_str(rows.iter().find(|row| row.starts_with("[\"commit\"")).unwrap()).unwrap();
    assert_eq!(row[4], "Ann Best");
    assert_eq!(row[5], "Fix  for users");
    expect![[r#"
        The token was ghp_************************************.

        Co-authored-by: Bob
        See"#]]
    .assert_eq(row[6].as_str().unwrap());
    assert!(!rows.iter().any(|row| row.contains('@')), "{rows:#?}");
}

/// A shop in which the file that takes coupons does not say so.
fn shop() -> Repo {
    let repo = begun(
        "//- /shop/cart.py\nclass Cart:\n    def total(self):\n        return 0\n//- /shop/rules.py\ndef apply(x):\n    return x\n\
         //- /shop/views.py\ndef show(cart):\n    return cart.total()\n",
    );
    commit(&repo, "Add a shop");
    repo.write("shop/rules.py", "def apply(x):\n    return x - 1\n");
    commit(&repo, "Accept voucher codes at checkout");
    repo.write("shop/rules.py", "def apply(x):\n    return max(x - 1, 0)\n");
    repo.write("shop/views.py", "def show(cart):\n    return cart.total() or None\n");
    commit(&repo, "Never let a voucher make a price negative");
    repo.write("shop/cart.py", "class Cart:\n    def total(self):\n        return sum([])\n");
    repo.write("shop/views.py", "def show(cart):\n    return cart.total()\n");
    commit(&repo, "Compute the total of a cart");
    repo
}

#[test]
fn a_file_that_no_word_matches_is_found_by_its_commits() {
    let repo = shop();
    repo.sync();
    let found = repo.call("query", &json!({ "text": "where is a voucher code accepted", "explain": true }));
    let first = &found["results"][0];
    assert_eq!(first["file_path"], "shop/rules.py", "{found:#}");
    assert!(first["parts"]["votes"].as_f64().unwrap() > 0.0, "{found:#}");
    assert_eq!(first["subject"], "Accept voucher codes at checkout", "{found:#}");
    let plain = repo.call("query", &json!({ "text": "where is a voucher code accepted" }));
    assert!(plain["results"][0]["commit"].is_null(), "{plain:#}");
    let elsewhere = json!({ "text": "where is a voucher code accepted", "include": ["shop/cart.py"] });
    let found = repo.call("query", &elsewhere);
    assert!(found["results"].as_array().unwrap().iter().all(|hit| hit["file_path"] != "shop/rules.py"), "{found:#}");
}

/// The subjects of the commits in a list of an answer.
fn subjects_of(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn commits_are_hits_when_they_are_asked_for() {
    let repo = shop();
    let last = git(repo.path(), &["rev-parse", "HEAD"]).trim().to_owned();
    repo.sync();
    let subjects = |text: &str| subjects_of(&repo.call("query", &json!({ "text": text }))["results"]);
    assert_eq!(subjects("kind:commit negative price")[0], "Never let a voucher make a price negative");
    assert_eq!(subjects("kind:commit").len(), 4);
    assert_eq!(subjects("kind:commit path:shop/cart.py"), ["Compute the total of a cart", "Add a shop"]);
    assert_eq!(subjects(&format!("kind:commit {}", &last[..9])), ["Compute the total of a cart"]);
    let found = repo.call("query", &json!({ "text": "kind:commit total cart", "limit": 1 }));
    let hit = &found["results"][0];
    assert_eq!((&hit["commit"], &hit["time"]), (&json!(last), &json!("2023-11-14T22:13:23.000Z")), "{found:#}");
    assert_eq!(hit["files"], json!(["shop/cart.py", "shop/views.py"]), "{found:#}");
    assert!(hit.get("file_path").is_none() && hit.get("line").is_none(), "{found:#}");
    // No file has the word.
    assert_eq!(subjects("negative")[0], "Never let a voucher make a price negative");
}

#[test]
fn a_commit_made_between_two_calls_is_found() {
    let repo = shop();
    repo.sync();
    repo.write("shop/views.py", "def show(cart):\n    return 1\n");
    commit(&repo, "Show a constant");
    let found = repo.call("query", &json!({ "text": "kind:commit constant" }));
    assert_eq!(found["results"][0]["subject"], "Show a constant", "{found:#}");
}

#[test]
fn a_process_that_stays_ranks_by_commits_made_since_the_last_query() {
    let repo = shop();
    repo.sync();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let asked = json!({ "text": "where is a voucher code accepted", "explain": true });
    assert_eq!(server.call("query", &asked)["results"][0]["file_path"], "shop/rules.py");
    fs::remove_file(repo.path().join("shop/rules.py")).unwrap();
    commit(&repo, "Remove rules");
    repo.write("shop/views.py", "def show(cart):\n    return cart.total() - 1\n");
    commit(&repo, "Accept each voucher code in views");
    // Waits until the commits are stored.
    server.call("query", &json!({ "text": "kind:commit voucher" }));
    let found = server.call("query", &asked);
    assert_eq!(found["results"][0]["file_path"], "shop/views.py", "{found:#}");
    assert_eq!(found["results"][0]["subject"], "Accept each voucher code in views", "{found:#}");
}

#[test]
fn the_history_of_a_definition_is_that_of_its_lines() {
    let repo = begun("//- /a.py\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n//- /b.py\nB = 1\n");
    commit(&repo, "Begin");
    repo.write("a.py", "def first():\n    return 10\n\n\ndef second():\n    return 2\n");
    repo.write("b.py", "B = 2\n");
    commit(&repo, "Ten");
    git(repo.path(), &["mv", "a.py", "c.py"]);
    commit(&repo, "Move");
    repo.write("c.py", "# New\n\n\ndef first():\n    return 10\n\n\ndef second():\n    return 20\n");
    repo.write("b.py", "B = 3\n");
    commit(&repo, "Twenty");
    repo.sync();
    for (name, line) in [("first", 4), ("second", 8)] {
        let found = repo.call("get_symbol", &json!({ "symbol_name": name, "history": true }));
        let listed: Vec<&str> =
            found["history"].as_array().unwrap().iter().map(|commit| commit["commit"].as_str().unwrap()).collect();
        let range = format!("-L{line},{}:c.py", line + 1);
        let of_git = git(repo.path(), &["log", "-s", "--format=%H", &range]);
        assert_eq!(listed, of_git.lines().collect::<Vec<_>>(), "{name}: {found:#}");
        assert_eq!(found["changes_with"][0]["file_path"], "b.py", "{found:#}");
        assert_eq!(found["changes_with"][0]["commits"], 3, "{found:#}");
        assert!(found["history"][0].get("author").is_none());
    }
    let printed = repo.transcript(&[&["history", "c.py", "--authors"], &["history", "second"]], &[]);
    expect![[r#"
        $ ixmcp history c.py --authors
        012b1e9cdfd1  2023-11-14  Ann  Twenty
        378d5c554e5e  2023-11-14  Ann  Move
        e9228a5bc383  2023-11-14  Ann  Ten
        a920c8cb6a8f  2023-11-14  Ann  Begin
        changes together with
            b.py  75 %, 3 commits
        $ ixmcp history second
        012b1e9cdfd1  2023-11-14  Twenty
        a920c8cb6a8f  2023-11-14  Begin
        changes together with
            b.py  75 %, 3 commits
    "#]]
    .assert_eq(&printed);
}

#[test]
fn changes_name_what_usually_changes_with_them() {
    let repo = shop();
    repo.sync();
    repo.write("shop/cart.py", "class Cart:\n    def total(self):\n        return 7\n");
    let found = repo.call("changes", &json!({ "history": true }));
    assert_eq!(found["history"][0]["subject"], "Compute the total of a cart", "{found:#}");
    assert_eq!(found["changes_with"][0]["file_path"], "shop/views.py", "{found:#}");
    let plain = repo.call("changes", &json!({}));
    assert!(plain.get("history").is_none() && plain.get("changes_with").is_none(), "{plain:#}");
}

#[test]
fn without_git_there_is_no_history_and_one_warning() {
    let repo = shop();
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = repo.command(arguments).env("PATH", folder.path()).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let found = run(&["call", "query", "--args", r#"{"text": "kind:commit total"}"#]);
    assert_eq!(found["results"], json!([]), "{found:#}");
    expect!["There is no history: the program `git` is not installed."].assert_eq(found["warning"].as_str().unwrap());
    let found = run(&["call", "query", "--args", r#"{"text": "cart total"}"#]);
    assert!(found.get("warning").is_none() && found["results"][0]["file_path"] == "shop/cart.py", "{found:#}");
}

#[test]
fn the_history_of_a_line_is_that_of_git() {
    let repo = shop();
    let listed = |of: &str| {
        let printed = repo.ok(&["history", of]);
        let commits = printed.lines().take_while(|line| *line != "changes together with");
        commits.map(|commit| commit.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let text = fs::read_to_string(repo.path().join("shop/cart.py")).unwrap();
    let lines = text.lines().count();
    for line in 1..=lines {
        let range = format!("-L{line},{line}:shop/cart.py");
        let by_git = git(repo.path(), &["log", "-s", "--abbrev=12", "--format=%h", &range]);
        assert_eq!(listed(&format!("shop/cart.py:{line}")), by_git.lines().collect::<Vec<_>>(), "line {line}");
    }
    expect![[r#"
        $ ixmcp history shop/cart.py:4
        ixmcp: INVALID_ARGUMENT: shop/cart.py has 3 lines. Give one of them, from 1, or the file alone.
    "#]]
    .assert_eq(&repo.failures(&[&["history", &format!("shop/cart.py:{}", lines + 1)]], &[]));
}

#[test]
fn outside_git_the_missing_history_is_explained() {
    let repo = Repo::new("//- /a.py\ndef first(): pass\n");
    fs::remove_dir_all(repo.path().join(".git")).unwrap();
    fs::create_dir(repo.path().join(".ixchel")).unwrap();
    for of in ["a.py", "first", "a.py:1"] {
        let printed = repo.run(&["history", of]);
        let said = String::from_utf8(printed.stderr).unwrap();
        assert_eq!(said, "There is no history: there is no git repository here.\n", "{of}");
    }
    expect![[r#"
        $ ixmcp changes
        ixmcp: INVALID_PATH: the history cannot be read: there is no git repository here. Only a git repository, a worktree or a submodule has a base to compare with.
    "#]].assert_eq(&repo.failures(&[&["changes"]], &[]));
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "first", "history": true }));
    assert_eq!(answer["warning"], "There is no history: there is no git repository here.");
}

#[test]
fn the_history_of_a_clone_says_what_the_clone_lacks() {
    let repo = begun("a = 1\n");
    for (number, text) in ["a = 2\n", "a = 3\n"].into_iter().enumerate() {
        repo.write("a.py", text);
        git(repo.path(), &["add", "a.py"]);
        git_at(repo.path(), &["commit", "-q", "-m", "Edit"], 1_000_000_000 + number as u64);
    }
    git(repo.path(), &["config", "uploadpack.allowFilter", "true"]);
    let address = format!("file://{}", repo.path().display());
    let folder = tempfile::tempdir().unwrap();
    for (name, option, lack) in [
        ("cut", "--depth=1", "This clone is shallow: older commits are missing."),
        (
            "partial",
            "--filter=blob:none",
            "This clone is partial: changes of files that it lacks, and renames with changes, are missing.",
        ),
    ] {
        let clone = folder.path().join(name);
        git(repo.path(), &["clone", "-q", option, &address, clone.to_str().unwrap()]);
        let printed = repo.run(&["--repo", clone.to_str().unwrap(), "history", "a.py"]);
        let said = String::from_utf8(printed.stderr).unwrap();
        assert!(said.lines().any(|line| line == lack), "{name}: {said}");
    }
}

#[test]
fn the_first_history_in_a_new_work_tree_is_its_own() {
    let repo = begun("");
    for number in 1..=8 {
        repo.write("a.py", format!("a = {number}\n"));
        git(repo.path(), &["add", "a.py"]);
        git_at(repo.path(), &["commit", "-q", "-m", &format!("Step {number}")], 1_000_000_000 + number);
    }
    repo.run(&["sync"]);
    repo.run(&["history", "a.py"]);
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    let tree = tree.to_str().unwrap();
    git(repo.path(), &["worktree", "add", "-q", tree, "HEAD~5"]);
    let printed = repo.run(&["--repo", tree, "history", "a.py"]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    let steps: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once("  Step ").map(|(_, step)| step)).collect();
    assert_eq!(steps, ["3", "2", "1"]);

    for (tool, asked) in [
        ("query", json!({ "text": "kind:commit step", "limit": 20 })),
        ("get_symbol", json!({ "symbol_name": "a", "history": true })),
    ] {
        let other = folder.path().join(tool);
        let other = other.to_str().unwrap();
        git(repo.path(), &["worktree", "add", "-q", other, "HEAD~5"]);
        let mut server = Server::start(repo.command(&["--repo", other, "mcp", "--no-daemon"]));
        let found = server.call(tool, &asked);
        let list = if tool == "query" { "results" } else { "history" };
        let mut steps = subjects_of(&found[list]);
        steps.sort_unstable();
        assert_eq!(steps, ["Step 1", "Step 2", "Step 3"], "{found:#}");
    }
}

/// The subjects that `ixmcp history` lists.
fn listed(repo: &Repo, of: &str) -> Vec<String> {
    let printed = repo.ok(&["history", of]);
    let commits = printed.lines().take_while(|line| *line != "changes together with");
    commits.map(|commit| commit.splitn(3, "  ").nth(2).unwrap().to_owned()).collect()
}

fn by_git(repo: &Repo, arguments: &[&str]) -> Vec<String> {
    let mut all = vec!["log", "--format=%s"];
    all.extend(arguments);
    git(repo.path(), &all).lines().map(str::to_owned).collect()
}

#[test]
fn commits_are_in_the_order_of_their_ancestry() {
    let repo = begun("");
    // A rebase makes commits in one second, and the clock of one machine is slow.
    for (number, time) in [5, 5, 5, 5, 1, 5, 5, 2, 5].into_iter().enumerate() {
        repo.write("a.py", format!("a = {number}\n"));
        git(repo.path(), &["add", "a.py"]);
        git_at(repo.path(), &["commit", "-q", "-m", &format!("Step {number}")], 1_000_000_000 + time);
    }
    let expected = by_git(&repo, &["--topo-order", "--", "a.py"]);
    assert_eq!(listed(&repo, "a.py"), expected);
    let found = repo.call("query", &json!({ "text": "kind:commit path:a.py" }));
    assert_eq!(subjects_of(&found["results"]), expected);
    assert_eq!(listed(&repo, "a.py:1"), by_git(&repo, &["-s", "-L1,1:a.py"]));
}

#[test]
fn a_merge_is_in_the_history_of_the_files_that_it_changed_itself() {
    let repo = begun("//- /a.py\na = 1\nb = 1\nc = 1\n//- /d.py\nd = 1\n");
    commit(&repo, "Begin");
    git(repo.path(), &["checkout", "-q", "-b", "side"]);
    repo.write("a.py", "a = 2\nb = 1\nc = 1\n");
    commit(&repo, "Change a");
    git(repo.path(), &["checkout", "-q", "main"]);
    repo.write("a.py", "a = 1\nb = 1\nc = 2\n");
    commit(&repo, "Change c");
    git(repo.path(), &["merge", "-q", "--no-commit", "side"]);
    repo.write("d.py", "d = 2\n");
    commit(&repo, "Merge side");
    for path in ["a.py", "d.py"] {
        let expected = by_git(&repo, &["--", path]);
        assert_eq!(expected.iter().filter(|subject| *subject == "Merge side").count(), 1, "{path}: {expected:?}");
        assert_eq!(listed(&repo, path).len(), expected.len(), "{path}");
        assert_eq!(listed(&repo, path)[0], "Merge side");
    }
    // The files that a merge joins say nothing of each other.
    let counted = repo.ok(&["sql", "SELECT file_count FROM commits WHERE subject = 'Merge side'"]);
    assert_eq!(counted, "file_count\n0\n");
}

#[test]
fn what_is_gone_or_renamed_has_its_history() {
    let repo = begun("//- /src/old.py\nimport os\n\ndef first():\n    return os.name\n//- /src/gone.py\ng = 1\n");
    commit(&repo, "Begin");
    git(repo.path(), &["mv", "src/old.py", "src/new.py"]);
    commit(&repo, "Rename old");
    git(repo.path(), &["rm", "-q", "src/gone.py"]);
    commit(&repo, "Remove gone");
    let say = |of: &str| String::from_utf8(repo.run(&["history", of]).stderr).unwrap();
    assert_eq!(listed(&repo, "src/gone.py"), by_git(&repo, &["--", "src/gone.py"]));
    assert_eq!(say("src/gone.py"), "src/gone.py is not in the repository any more.\n");
    assert_eq!(listed(&repo, "src/old.py"), by_git(&repo, &["--", "src/old.py"]));
    assert_eq!(say("src/old.py"), "src/old.py is not in the repository any more: it was renamed to src/new.py.\n");
    repo.write("logo.png", "\0");
    commit(&repo, "Add a logo");
    assert_eq!((listed(&repo, "logo.png"), say("logo.png")), (vec!["Add a logo".to_owned()], String::new()));
    // The path is that of another file now.
    repo.write("src/old.py", "other = True\n");
    commit(&repo, "Another old");
    assert_eq!(listed(&repo, "src/old.py"), by_git(&repo, &["--", "src/old.py"]));
    // A renaming that is not committed.
    git(repo.path(), &["mv", "src/new.py", "src/newer.py"]);
    assert_eq!(listed(&repo, "src/newer.py"), ["Rename old", "Begin"]);
    assert_eq!(say("src/newer.py"), "src/newer.py was renamed from src/new.py, which is not committed yet.\n");
    assert_eq!(listed(&repo, "first"), ["Begin"]);
    assert_eq!(listed(&repo, "src"), by_git(&repo, &["--", "src"]));
    assert_eq!(listed(&repo, "."), by_git(&repo, &[]));
    expect![[r#"
        ixmcp: NOT_FOUND: nothing.py is neither a file nor a symbol in the index. `ixmcp files` lists the files.
    "#]]
    .assert_eq(&say("nothing.py"));
}

#[test]
fn the_filters_of_a_query_for_commits_apply_to_messages_and_files() {
    let repo = shop();
    repo.write("notes.md", "# Notes\n");
    commit(&repo, "Write about vouchers");
    repo.sync();
    let found = |text: &str| repo.call("query", &json!({ "text": text }));
    let subjects = |text: &str| -> Vec<String> {
        let mut subjects = subjects_of(&found(text)["results"]);
        subjects.sort();
        subjects
    };
    let git = |arguments: &[&str]| {
        let mut subjects = by_git(&repo, arguments);
        subjects.sort();
        subjects
    };
    let mut with_word = git(&["-i", "--grep=voucher"]);
    with_word.retain(|subject| !subject.contains("negative"));
    assert_eq!(subjects("kind:commit voucher -negative"), with_word);
    assert_eq!(subjects("kind:commit -voucher -vouchers"), git(&["-i", "--invert-grep", "--grep=voucher"]));
    assert_eq!(subjects("kind:commit \"voucher codes\""), git(&["--grep=voucher codes"]));
    assert_eq!(subjects("kind:commit lang:markdown"), git(&["--", "*.md"]));
    assert_eq!(subjects("kind:commit lang:python path:rules"), git(&["--", "*rules*.py"]));
    for (text, warning) in [
        ("kind:commit tag:x voucher", "`tag:x` has no effect on commits."),
        ("kind:commit lang:pyhton", "`lang:pyhton` has no effect: there is no such language. Did you mean python?"),
        ("kind:commit -path:shop", "`-path:shop` has no effect on commits: only words can be excluded."),
    ] {
        assert_eq!(found(text)["warning"], warning);
    }
}

#[test]
fn the_history_of_a_name_says_which_definition_it_is_of() {
    let repo = begun("//- /a.py\ndef load():\n    return 1\n//- /b.py\n\ndef load():\n    return 2\n");
    commit(&repo, "Begin");
    let note = "The history is that of a.py:1, the first of 2 definitions with that name.";
    assert_eq!(String::from_utf8(repo.run(&["history", "load"]).stderr).unwrap().trim_end(), note);
    let found = repo.call("get_symbol", &json!({ "symbol_name": "load", "history": true }));
    assert_eq!(found["warning"], note, "{found:#}");
    let wrong: [&[&str]; 4] =
        [&["history", "a.py:0"], &["history", "a.py:9"], &["history", "a.py", "-n", "0"], &["history", "", "-n", "1"]];
    expect![[r#"
        $ ixmcp history a.py:0
        ixmcp: INVALID_ARGUMENT: a.py has 2 lines. Give one of them, from 1, or the file alone.
        $ ixmcp history a.py:9
        ixmcp: INVALID_ARGUMENT: a.py has 2 lines. Give one of them, from 1, or the file alone.
        $ ixmcp history a.py -n 0
        ixmcp: INVALID_ARGUMENT: option `--limit` is 0. Give a whole number of at least 1.
        $ ixmcp history '' -n 1
        ixmcp: INVALID_ARGUMENT: the path or name is empty. Give a file, a folder or a name.
    "#]]
    .assert_eq(&repo.failures(&wrong, &[]));
    let unborn = begun("//- /a.py\na = 1\n");
    let said = String::from_utf8(unborn.run(&["history", "a.py"]).stderr).unwrap();
    assert_eq!(said, "There is no history: nothing is committed yet.\n");
}

/// The subjects that `git log -L` lists for a line.
fn of_line(repo: &Repo, line: &str) -> Vec<String> {
    by_git(repo, &["-s", &format!("-L{line}")])
}

#[test]
fn a_commit_of_very_many_files_is_found_by_each_of_them() {
    let repo = begun("");
    for number in 0..5_001 {
        repo.write(&format!("data/{number}.txt"), "");
    }
    repo.write("z.py", "z = 1\n");
    commit(&repo, "Import all");
    let found = repo.call("query", &json!({ "text": "kind:commit path:z.py" }));
    assert_eq!(subjects_of(&found["results"]), by_git(&repo, &["--", "z.py"]));
}

#[test]
fn a_path_that_a_file_left_and_came_back_to_keeps_its_history() {
    let repo = begun("//- /a.py\nx = 100\ny = 101\nz = 102\n//- /old.py\no = 1\np = 2\nq = 3\n");
    commit(&repo, "Create");
    git(repo.path(), &["mv", "a.py", "b.py"]);
    commit(&repo, "Rename away");
    git(repo.path(), &["mv", "b.py", "a.py"]);
    commit(&repo, "Rename back");
    assert_eq!(listed(&repo, "a.py:1"), of_line(&repo, "1,1:a.py"));
    assert_eq!(listed(&repo, "a.py"), by_git(&repo, &["--follow", "--", "a.py"]));
    // One commit changes a file, and renames another that takes its path later.
    git(repo.path(), &["mv", "old.py", "mid.py"]);
    repo.write("a.py", "x = 100\ny = 1\nz = 102\n");
    commit(&repo, "Rename old, change a");
    git(repo.path(), &["rm", "-q", "a.py"]);
    commit(&repo, "Remove a");
    git(repo.path(), &["mv", "mid.py", "a.py"]);
    commit(&repo, "Rename mid");
    let all = listed(&repo, "a.py");
    for subject in by_git(&repo, &["--follow", "--", "a.py"]) {
        assert!(all.contains(&subject), "{subject}: {all:?}");
    }
    assert_eq!(listed(&repo, "a.py:2"), of_line(&repo, "2,2:a.py"));
}

#[test]
fn a_merge_that_moves_a_file_hands_it_to_its_parent() {
    let repo = begun("//- /d/f1.py\na = 1\n//- /d/f2.py\nb = 2\n//- /d/f3.py\nc = 3\n");
    commit(&repo, "Base");
    git(repo.path(), &["checkout", "-q", "-b", "side"]);
    git(repo.path(), &["mv", "d", "new"]);
    commit(&repo, "Rename folder");
    git(repo.path(), &["checkout", "-q", "main"]);
    repo.write("d/x.py", "def fresh():\n    return 42\n");
    commit(&repo, "Add x");
    // Git asks about the file that was added to a renamed folder.
    git(repo.path(), &["-c", "merge.directoryRenames=true", "merge", "-q", "-m", "Merge side", "side"]);
    assert!(repo.path().join("new/x.py").exists());
    assert_eq!(listed(&repo, "new/x.py:1"), of_line(&repo, "1,1:new/x.py"));
    assert_eq!(listed(&repo, "fresh"), of_line(&repo, "1,2:new/x.py"));
    assert_eq!(listed(&repo, "new/x.py"), ["Merge side", "Add x"]);
}

#[test]
fn what_a_history_lacks_is_said() {
    let inner = begun("//- /cart.py\nc = 1\n");
    commit(&inner, "Inner");
    let repo = begun("//- /sub/a.py\na = 1\n//- /top.py\nt = 1\n");
    commit(&repo, "Begin");
    git(repo.path(), &["submodule", "--quiet", "add", inner.path().to_str().unwrap(), "module"]);
    commit(&repo, "Add module");
    assert_eq!(listed(&repo, "module"), by_git(&repo, &["--", "module"]));
    let say = |of: &[&str]| String::from_utf8(repo.run(of).stderr).unwrap();
    expect![[r#"
        no known commit changed it
        module is a repository of its own: `ixmcp --repo module history …` has its history.
    "#]]
    .assert_eq(&say(&["history", "module/cart.py"]));
    let first = git(repo.path(), &["rev-parse", "HEAD~1"]).trim().to_owned();
    let other = git(inner.path(), &["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(say(&["history", "top.py"]), "");
    git(repo.path(), &["fetch", "-q", inner.path().to_str().unwrap()]);
    git(repo.path(), &["replace", &first, &other]);
    expect![[r#"
        Commits are shown as they were made: `git replace` has other ones in the place of some.
    "#]]
    .assert_eq(&say(&["history", "top.py"]));
    fs::create_dir(repo.path().join("sub/.ixchel")).unwrap();
    let below = repo.path().join("sub");
    let said = say(&["--repo", below.to_str().unwrap(), "history", "a.py"]);
    expect![[r#"
        This is a folder of a repository: commits and names of files outside of it are missing.
    "#]]
    .assert_eq(&repo.named(&said, &[]));
}
