//! Repositories with several worktrees: nested ones are no part of the index, removed ones leave nothing
//! behind, and new ones begin with the index of a sibling.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::store::Fact;
use ixmcp::tools::{Request, Tools};
use ixmcp::update::rebuild;
use ixmcp::workspace::{Watching, Workspace, Workspaces};
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server, repeatedly};
use crate::support::normalized::sizes;
use crate::support::sound::{assert_same, dump, freshen, number, open, sources, sync, watched};
use crate::support::waiting::{has_ended, settle, until};

pub fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.excludesFile="]);
    let output = git.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a commit of its files.
pub fn committed(files: &str) -> Repo {
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
pub fn assert_as_rebuilt(workspace: &Workspace, context: &str) {
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
    let stepwise = dump(workspace);
    rebuild(workspace.root(), sources(workspace.root()), &Arc::default(), &Budget::unlimited()).unwrap();
    assert_same(&stepwise, &dump(workspace), context);
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
    // Events come in order: one that is watched comes after them.
    repo.write("last.py", "x = 3\n");
    until("the last change is noticed", || workspace.pending_changes() > before);
    assert_eq!(workspace.pending_changes(), before + 1, "an event of a folder that is not watched");
    repo.remove("last.py");
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    git(repo.path(), &["worktree", "move", "y", "deep/z"]);
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    git(repo.path(), &["worktree", "remove", "--force", "deep/z"]);
    assert_eq!(ask(&workspace), ["a.py", "deep/b.py"]);
    assert_as_rebuilt(&workspace, "after the last step");
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
    assert_as_rebuilt(&workspace, "after the last step");
}

#[test]
fn a_sync_that_compares_times_notices_a_folder_that_stops_being_a_worktree() {
    let repo = committed("//- /a.py\nA = 1\n");
    git(repo.path(), &["worktree", "add", "-q", "--detach", "x"]);
    let workspace = open(repo.path());
    settle(&workspace);
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
    expect![[r#"
        worktree          .claude/worktrees/x
    "#]]
    .assert_eq(&repo.ok(&["files", "--skipped"]));
    let found = repo.call("query", &json!({ "text": "int", "mode": "literal" }));
    assert_eq!(found["total"], 1, "{found}");
    let nested = repo.path().join(".claude/worktrees/x");
    let own: Value =
        serde_json::from_str(&repo.ok(&["--repo", nested.to_str().unwrap(), "call", "list_files"])).unwrap();
    assert_eq!(own["files"], json!(["a.py", "pyproject.toml"]), "the worktree has an index of its own");
}

#[test]
fn a_worktree_is_removed_while_its_daemon_runs_and_updates() {
    let files: String = (0..200).map(|at| format!("//- /d{}/m{at}.py\ndef f{at}(): pass\n", at % 10)).collect();
    let repo = committed(&files);
    let trees = tempfile::tempdir().unwrap();
    for round in 0..number("IXMCP_ROUNDS", 3) {
        let tree = trees.path().join(format!("tree{round}"));
        let root = tree.to_str().unwrap();
        git(repo.path(), &["worktree", "add", "-q", "--detach", root]);
        repo.ok(&["--repo", root, "daemon", "start"]);
        repo.ok(&["--repo", root, "query", "f1"]);
        let status: Value = serde_json::from_str(&repo.ok(&["--repo", root, "daemon", "status", "--json"])).unwrap();
        let daemon = status["pid"].as_u64().unwrap();
        fs::write(tree.join("d1/m1.py"), "def changed(): pass\n").unwrap();
        // The background update begins 300 ms after the save: before, during and after it.
        std::thread::sleep(Duration::from_millis(100 * (round % 10)));
        git(repo.path(), &["worktree", "remove", "--force", root]);
        until("the daemon of a removed repository ends", || has_ended(daemon));
        assert!(!tree.exists(), "round {round}: the daemon created {root} again");
    }
}

/// A worktree of `repo`, next to others in `trees`.
fn add_worktree(repo: &Repo, trees: &tempfile::TempDir, name: &str) -> PathBuf {
    let tree = trees.path().canonicalize().unwrap().join(name);
    git(repo.path(), &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
    tree
}

/// The index that this one began as a copy of.
pub fn seeded_from(workspace: &Workspace) -> Option<PathBuf> {
    let from = workspace.read(&Budget::unlimited(), |snapshot| snapshot.fact(Fact::SeededFrom)).unwrap();
    from.map(PathBuf::from)
}

/// Statistics of the tree at `root`, whose index is built first.
fn stats_of(repo: &Repo, root: &Path) -> Value {
    serde_json::from_str(&repo.ok(&["--repo", root.to_str().unwrap(), "call", "stats"])).unwrap()
}

fn many() -> Repo {
    committed(
        &(0..40).map(|at| format!("//- /d{}/m{at}.py\ndef f{at}(): return g{at}()\n", at % 5)).collect::<String>(),
    )
}

fn paths_of_many() -> BTreeSet<String> {
    (0..40).map(|at| format!("d{}/m{at}.py", at % 5)).collect()
}

#[test]
fn a_new_worktree_begins_with_a_copy_of_the_newest_index_and_equals_a_build_from_nothing() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    assert!(stats_of(&repo, repo.path()).get("seeded_from").is_none());
    let first = add_worktree(&repo, &trees, "first");
    fs::write(first.join("d1/m1.py"), "def other(): pass\n").unwrap();
    fs::write(first.join("new.md"), "# A heading\n").unwrap();
    fs::remove_file(first.join("d2/m2.py")).unwrap();
    let stats = stats_of(&repo, &first);
    assert_eq!(stats["seeded_from"], repo.path().canonicalize().unwrap().to_str().unwrap(), "{stats}");
    assert_eq!(stats["total_files"], 40, "{stats}");
    let workspace = open(&first);
    assert_as_rebuilt(&workspace, "after the last step");
    drop(workspace);
    // The index of the first worktree is the newest now.
    let second = add_worktree(&repo, &trees, "second");
    assert_eq!(stats_of(&repo, &second)["seeded_from"], first.to_str().unwrap());
    let workspace = open(&second);
    assert_eq!(paths(&workspace).into_iter().collect::<BTreeSet<_>>(), paths_of_many());
    assert_as_rebuilt(&workspace, "after the last step");
    // The sibling counts its own changes only.
    assert_eq!(repo.sync()["added"], 40);
}

#[test]
fn documents_that_the_sibling_registered_stay_out_of_the_copy() {
    let repo = many();
    repo.write(".gitignore", "/private/\n");
    repo.write("private/plan.md", "# Walrusplan\n\nThe walrusword is here.\n");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("letter.txt"), "A pelicanword is here.\n").unwrap();
    for folder in ["private", outside.path().to_str().unwrap()] {
        let answer = repo.call("index_files", &json!({ "folderPath": folder }));
        assert_eq!(answer["processedFiles"], 1, "{answer}");
    }
    repo.sync();
    let holds = |root: &Path, words: &str| {
        let folder = root.join(".ixmcp");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let bytes: Vec<Vec<u8>> = files.map(|file| fs::read(file).unwrap()).collect();
        bytes.iter().any(|bytes| bytes.windows(words.len()).any(|window| window == words.as_bytes()))
    };
    assert!(holds(repo.path(), "walrusword") && holds(repo.path(), "pelicanword"));
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    let stats = stats_of(&repo, &tree);
    assert!(stats["seeded_from"].is_string() && stats["total_files"] == 40, "{stats}");
    for words in ["walrusword", "Walrusplan", "pelicanword"] {
        assert!(!holds(&tree, words), "{words}");
    }
    assert_as_rebuilt(&open(&tree), "without registered folders");
}

#[test]
fn a_new_worktree_answers_from_the_index_of_its_sibling_while_that_is_copied() {
    let repo = many();
    repo.write(".gitignore", "/private/\n");
    repo.write("private/plan.md", "# Walrusplan\n\nThe walrusword is here.\n");
    assert_eq!(repo.call("index_files", &json!({ "folderPath": "private" }))["processedFiles"], 1);
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    fs::write(tree.join("d1/m1.py"), "def other(): return g1()\n").unwrap();
    fs::write(tree.join("new.py"), "def newest(): return g3()\n").unwrap();
    fs::remove_file(tree.join("d2/m2.py")).unwrap();

    let environment = Environment::new([], repo.home().to_owned(), tree.clone());
    let workspaces = Arc::new(Workspaces::new(Sources { flags: Flags::default(), environment }, Watching::Yes));
    let (workspace, tools) = (workspaces.at(&tree).unwrap(), Tools::new(Arc::clone(&workspaces)));
    // The copy is made under this lock.
    let lock = fs::File::options().write(true).open(tree.join(".ixmcp/update.lock")).unwrap();
    lock.lock().unwrap();
    let ask = |tool: &str, arguments: Value| tools.call(Request::new(tool, arguments, tree.clone())).unwrap();
    let files = |answer: &Value, list: &str| -> BTreeSet<String> {
        let items = answer[list].as_array().unwrap().iter();
        items.map(|item| item["file_path"].as_str().unwrap().to_owned()).collect()
    };
    let smart = ask("query", json!({ "text": "f7" }));
    assert_eq!(files(&smart, "results"), BTreeSet::from(["d2/m7.py".to_owned()]), "{smart}");
    // Two of 40 files have changed since, and a third is gone.
    assert_eq!(smart["indexing"], json!({ "done": 38, "total": 40 }), "{smart}");
    for (gone, text) in [("d1/m1.py", "f1"), ("d2/m2.py", "f2"), ("private/plan.md", "walrusword")] {
        let smart = ask("query", json!({ "text": text }));
        assert!(!files(&smart, "results").contains(gone), "{smart}");
        let documents = ask("search_documents", json!({ "query": text, "min_similarity": 0 }));
        assert!(!documents.to_string().contains(gone), "{documents}");
        let symbol = ask("get_symbol", json!({ "symbol_name": text }));
        assert!(!symbol.to_string().contains(gone), "{symbol}");
    }
    let literal = ask("query", json!({ "text": "return g", "mode": "literal", "limit": 100 }));
    let found = files(&literal, "results");
    let mut expected = paths_of_many();
    expected.remove("d2/m2.py");
    expected.insert("new.py".to_owned());
    assert_eq!(found, expected);

    drop(lock);
    freshen(&workspace);
    let smart = ask("query", json!({ "text": "newest" }));
    assert_eq!(smart.get("indexing"), None, "{smart}");
    assert_eq!(smart["results"][0]["file_path"], "new.py", "{smart}");
    assert!(ask("stats", json!({}))["seeded_from"].is_string());
    assert_as_rebuilt(&workspace, "after the copy");
}

#[test]
fn a_copy_ends_and_leaves_nothing_if_its_worktree_is_removed_meanwhile() {
    let repo = many();
    repo.sync();
    // A copy is made in steps of 8 MB, and rests between them.
    sqlite3(&repo.database(), "INSERT INTO meta (key, value) VALUES ('padding', hex(zeroblob(20000000)))");
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    let environment = Environment::new([], repo.home().to_owned(), tree.clone());
    let workspaces = Arc::new(Workspaces::new(Sources { flags: Flags::default(), environment }, Watching::Yes));
    let (workspace, tools) = (workspaces.at(&tree).unwrap(), Tools::new(Arc::clone(&workspaces)));
    let lock = fs::File::options().write(true).open(tree.join(".ixmcp/update.lock")).unwrap();
    lock.lock().unwrap();
    let query = Request::new("query", json!({ "text": "f7" }), tree.clone());
    assert_eq!(tools.call(query).unwrap()["results"][0]["file_path"], "d2/m7.py");
    let pause = workspace.updates.pause().expect("an update waits for the lock");
    drop(lock);
    let copy = tree.join(".ixmcp/index.db.seed");
    until("a part is copied", || fs::metadata(&copy).is_ok_and(|copy| copy.len() > 0));
    git(repo.path(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    drop(pause);
    until("the update ends", || workspace.updates.pause().is_none());
    assert!(!tree.exists());
}

#[test]
fn a_file_that_differs_from_the_siblings_is_read_after_the_copy() {
    let repo = committed("//- /same.js\nfunction same() {}\n//- /changed.js\nfunction before() {}\n");
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    fs::write(tree.join("changed.js"), "function after() {}\n").unwrap();
    let environment = Environment::new([], repo.home().to_owned(), tree.clone());
    let workspaces = Arc::new(Workspaces::new(Sources { flags: Flags::default(), environment }, Watching::Yes));
    let (_workspace, tools) = (workspaces.at(&tree).unwrap(), Tools::new(Arc::clone(&workspaces)));
    // The copy is made under this lock.
    let lock = fs::File::options().write(true).open(tree.join(".ixmcp/update.lock")).unwrap();
    lock.lock().unwrap();
    let symbols = |path: &str| {
        let answer = tools.call(Request::new("symbols", json!({ "file": path }), tree.clone())).unwrap();
        answer["symbols"].as_array().unwrap().iter().map(|symbol| symbol["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(symbols("same.js"), ["same"], "a file that is the same is answered from the sibling's index");
    std::thread::scope(|scope| {
        let changed = scope.spawn(|| symbols("changed.js"));
        std::thread::sleep(Duration::from_secs(1));
        assert!(!changed.is_finished(), "its symbols are known once it is indexed");
        drop(lock);
        assert_eq!(changed.join().unwrap(), ["after"]);
    });
}

fn sqlite3(database: &Path, statements: &str) {
    let output = Command::new("sqlite3").arg(database).arg(statements).output().unwrap();
    assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_index_that_cannot_be_copied_costs_a_build_and_nothing_else() {
    type Damage = (&'static str, fn(&Path));
    let damages: &[Damage] = &[
        ("other text", |database| fs::write(database, "this is a diary, not a database").unwrap()),
        ("nothing", |database| fs::write(database, "").unwrap()),
        ("half of it", |database| {
            let bytes = fs::read(database).unwrap();
            fs::write(database, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("a folder", |database| {
            fs::remove_file(database).unwrap();
            fs::create_dir(database).unwrap();
        }),
        ("a link", |database| {
            let other = database.with_extension("other");
            fs::rename(database, &other).unwrap();
            std::os::unix::fs::symlink(&other, database).unwrap();
        }),
        ("newer", |database| {
            let newer = "INSERT INTO refinery_schema_history SELECT version + 1, name, applied_on, checksum \
                FROM refinery_schema_history ORDER BY version DESC LIMIT 1";
            sqlite3(database, newer);
        }),
        ("another build's", |database| sqlite3(database, "UPDATE refinery_schema_history SET checksum = '1'")),
        ("under construction", |database| sqlite3(database, "DELETE FROM meta WHERE key = 'built'")),
        ("of other settings", |database| sqlite3(database, "UPDATE meta SET value = 'x' WHERE key = 'options'")),
        ("without a table", |database| sqlite3(database, "DROP TABLE chunks")),
        ("gone", |database| fs::remove_file(database).unwrap()),
    ];
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    for (at, (what, damage)) in damages.iter().enumerate() {
        let _ = fs::remove_dir_all(repo.path().join(".ixmcp"));
        repo.sync();
        sqlite3(&repo.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
        damage(&repo.database());
        let tree = add_worktree(&repo, &trees, &format!("tree{at}"));
        let stats = stats_of(&repo, &tree);
        assert!(stats.get("seeded_from").is_none() && stats["total_files"] == 40, "{what}: {stats}");
        assert!(!tree.join(".ixmcp/index.db.seed").exists(), "{what}");
        git(repo.path(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    }
}

#[test]
fn an_archive_that_names_a_repository_as_its_sibling_receives_nothing_of_it() {
    let repo = many();
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    let fake = trees.path().canonicalize().unwrap().join("fake");
    fs::create_dir(&fake).unwrap();
    fs::write(fake.join("a.py"), "A = 1\n").unwrap();
    // The very file of a worktree that exists: the repository names that one, not this one.
    fs::copy(tree.join(".git"), fake.join(".git")).unwrap();
    let stats = stats_of(&repo, &fake);
    assert!(stats.get("seeded_from").is_none() && stats["total_files"] == 1, "{stats}");
}

/// The user of no one. These tests run as root.
const OTHER_USER: u32 = 65_534;

#[test]
fn nothing_of_another_user_is_copied_or_answered_from() {
    let repo = many();
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let own =
        |path: &Path, user: u32| std::os::unix::fs::chown(path, Some(user), None).expect("this test needs to be root");
    // The database, its folder, the tree, and git's directory each make the sibling one that is not trusted.
    for (at, part) in [".ixmcp/index.db", ".ixmcp", "", ".git"].into_iter().enumerate() {
        let tree = add_worktree(&repo, &trees, &format!("tree{at}"));
        let foreign = repo.path().join(part);
        own(&foreign, OTHER_USER);
        let stats = stats_of(&repo, &tree);
        own(&foreign, 0);
        assert!(stats.get("seeded_from").is_none() && stats["total_files"] == 40, "{part:?}: {stats}");
        git(repo.path(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    }
    // Of several siblings the newest of this user is copied.
    let newest = add_worktree(&repo, &trees, "newest");
    stats_of(&repo, &newest);
    let tree = add_worktree(&repo, &trees, "tree");
    own(&newest.join(".ixmcp/index.db"), OTHER_USER);
    let stats = stats_of(&repo, &tree);
    assert_eq!(stats["seeded_from"], repo.path().canonicalize().unwrap().to_str().unwrap(), "{stats}");
    // Nor is a path in another user's tree answered.
    let path = newest.join("d1/m1.py");
    let mut server = Server::start(repo.plain_command(&["mcp", "--no-daemon"]));
    let mut slice = || server.response("get_slice", &json!({ "file_path": path, "start_line": 1, "end_line": 1 }));
    let answer = slice();
    assert_eq!(answer["result"]["content"], "def f1(): return g1()\n", "{answer}");
    own(&newest, OTHER_USER);
    let refused = slice();
    assert_eq!(refused["error"]["data"]["code"], "INVALID_PATH", "{refused}");
}

#[test]
fn an_index_that_is_being_written_is_copied_in_one_state() {
    let repo = many();
    repo.sync();
    let trees = tempfile::tempdir().unwrap();
    let sibling = open(repo.path());
    let writes = |round| {
        for at in 0..20 {
            repo.write(&format!("d{}/m{at}.py", at % 5), format!("def g{round}_{at}(): return {round}\n"));
        }
        sync(&sibling);
    };
    repeatedly(writes, || {
        for at in 0..number("IXMCP_ROUNDS", 4) {
            let tree = add_worktree(&repo, &trees, &format!("tree{at}"));
            let workspace = open(&tree);
            sync(&workspace);
            assert_eq!(seeded_from(&workspace), Some(repo.path().canonicalize().unwrap().join(".ixmcp/index.db")));
            assert_eq!(workspace.faults().unwrap(), Vec::<String>::new());
            assert_as_rebuilt(&workspace, "after the last step");
            // The next one would copy its index if that were the newest.
            drop(workspace);
            git(repo.path(), &["worktree", "remove", "--force", tree.to_str().unwrap()]);
        }
    });
}

#[test]
fn doctor_lists_worktrees_and_deletes_indexes_of_forgotten_ones() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    let other = add_worktree(&repo, &trees, "other");
    for name in ["kept", "lost"] {
        git(repo.path(), &["worktree", "add", "-q", "--detach", name]);
        repo.ok(&["--repo", repo.path().join(name).to_str().unwrap(), "sync"]);
    }
    repo.sync();
    let root = repo.path().canonicalize().unwrap();
    let listed = || {
        let printed = sizes(&repo.ok(&["doctor", "worktrees"]));
        printed.replace(root.to_str().unwrap(), "REPOSITORY").replace(other.to_str().unwrap(), "OTHER")
    };
    expect![[r#"
        worktrees  ok       OTHER: no index
        worktrees  ok       REPOSITORY/kept: index SIZE
        worktrees  ok       REPOSITORY/lost: index SIZE
    "#]]
    .assert_eq(&listed());
    // What `git worktree prune` does to a worktree that was moved away for a while.
    fs::remove_dir_all(repo.path().join(".git/worktrees/lost")).unwrap();
    expect![[r#"
        worktrees  ok       OTHER: no index
        worktrees  ok       REPOSITORY/kept: index SIZE
        worktrees  note     git has forgotten 1 worktree with an index (SIZE): REPOSITORY/lost
                            Delete the folder .ixmcp in each of them.
                            `ixmcp doctor --fix` does that
    "#]]
    .assert_eq(&listed());
    assert!(repo.path().join("lost/.ixmcp").exists(), "only --fix deletes");
    repo.ok(&["doctor", "worktrees", "--fix"]);
    assert!(!repo.path().join("lost/.ixmcp").exists() && repo.path().join("lost/d1/m1.py").exists());
    assert!(repo.path().join("kept/.ixmcp/index.db").exists());
}

#[test]
fn answers_name_the_worktree_where_there_are_several() {
    let repo = many();
    let stats = repo.call("stats", &json!({}));
    assert!(stats.get("worktree").is_none(), "{stats}");
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    git(&tree, &["checkout", "-q", "-b", "feature/x"]);
    let own = repo.path().canonicalize().unwrap();
    for (tool, arguments) in [
        ("query", json!({ "text": "f1" })),
        ("get_symbol", json!({ "symbol_name": "f1" })),
        ("search_documents", json!({ "query": "f1" })),
        ("stats", json!({})),
        ("find_references", json!({ "symbol_name": "f1" })),
    ] {
        let arguments = arguments.to_string();
        let ask = |root: &Path| -> Value {
            let answer = repo.ok(&["--repo", root.to_str().unwrap(), "call", tool, "--args", &arguments]);
            serde_json::from_str(&answer).unwrap()
        };
        assert_eq!(ask(&own)["worktree"], json!({ "root": own, "branch": "main" }), "{tool}");
        assert_eq!(ask(&tree)["worktree"], json!({ "root": tree, "branch": "feature/x" }), "{tool}");
    }
    git(&tree, &["checkout", "-q", "--detach"]);
    assert_eq!(stats_of(&repo, &tree)["worktree"], json!({ "root": tree }));
}

#[test]
fn a_path_in_another_worktree_is_answered_from_that_worktree() {
    let repo = many();
    let trees = tempfile::tempdir().unwrap();
    let tree = add_worktree(&repo, &trees, "tree");
    fs::write(tree.join("d1/m1.py"), "def of_the_tree(): pass\n").unwrap();
    git(repo.path(), &["worktree", "add", "-q", "--detach", ".claude/worktrees/x"]);
    let nested = repo.path().canonicalize().unwrap().join(".claude/worktrees/x");
    fs::write(nested.join("d1/m1.py"), "def of_the_nested(): pass\n").unwrap();
    let foreign = trees.path().canonicalize().unwrap().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::copy(tree.join(".git"), foreign.join(".git")).unwrap();
    fs::write(foreign.join("a.py"), "A = 1\n").unwrap();
    for arguments in [&["mcp"][..], &["mcp", "--no-daemon"]] {
        let mut server = Server::start(repo.command(arguments));
        let mut slice =
            |path: &str| server.response("get_slice", &json!({ "file_path": path, "start_line": 1, "end_line": 1 }));
        let own = slice("d1/m1.py");
        assert_eq!(
            (&own["result"]["content"], own["result"].get("worktree")),
            (&json!("def f1(): return g1()\n"), None)
        );
        for (path, root, content) in [
            (tree.join("d1/m1.py"), &tree, "def of_the_tree(): pass\n"),
            (nested.join("d1/m1.py"), &nested, "def of_the_nested(): pass\n"),
        ] {
            let answer = slice(path.to_str().unwrap());
            assert_eq!(
                (&answer["result"]["content"], &answer["result"]["file_path"], &answer["result"]["worktree"]["root"]),
                (&json!(content), &json!("d1/m1.py"), &json!(root)),
                "{arguments:?} {path:?}: {answer}"
            );
        }
        let refused = slice(foreign.join("a.py").to_str().unwrap());
        assert_eq!(refused["error"]["data"]["code"], "INVALID_PATH", "{refused}");
    }
    for root in [&tree, &nested] {
        repo.command(&["--repo", root.to_str().unwrap(), "daemon", "stop"]).output().unwrap();
    }
}
