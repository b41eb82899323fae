//! The central promise: after any sequence of changes, updated step by step, the index is what a fresh build makes.
//!
//! Sequences are random and reproducible: a failure prints its seed, and `IXMCP_SEED=N cargo test incremental` runs
//! that one alone. `IXMCP_SEQUENCES=N` runs N in each test (`.ci/soak` does).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ixmcp::budget::{Budget, Progress};
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::repository::Thoroughness;
use ixmcp::tools::{Request, Tools};
use ixmcp::update::{IndexWait, rebuild};
use ixmcp::workspace::{Watching, Workspace, Workspaces};
use serde_json::json;

use crate::support::harness::Repo;
use crate::support::sound::{assert_same, assert_sound, dump, freshen, number, open, sources, sync};
use crate::support::tree::{Random, Tree};
use crate::support::waiting::settle;

/// Sequences of each test here. `.ci/soak` runs 2000.
const SEQUENCES: u64 = 14;
const STEPS: u64 = 12;

/// Compares what the steps left with a fresh build of the same tree.
fn check(tree: &Tree, workspace: &Workspace, seed: u64) {
    let context = format!("IXMCP_SEED={seed}: {:#?}", tree.log);
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
    let stepwise = dump(workspace);
    rebuild(tree.repo.path(), sources(tree.repo.path()), &Arc::default(), &Budget::unlimited()).unwrap();
    assert_same(&stepwise, &dump(workspace), &context);
}

fn seeds(test: u64) -> Vec<u64> {
    match number("IXMCP_SEED", u64::MAX) {
        u64::MAX => (0..number("IXMCP_SEQUENCES", SEQUENCES)).map(|at| test * 1_000_000 + at).collect(),
        seed => vec![seed],
    }
}

/// A sync after every step.
fn swept(test: u64) {
    for seed in seeds(test) {
        let mut tree = Tree::new(seed);
        let workspace = Arc::new(Workspace::open(tree.repo.path(), sources(tree.repo.path())).unwrap());
        for _ in 0..STEPS {
            tree.step();
            workspace.sync(Thoroughness::Changed, &Arc::<Progress>::default(), &Budget::unlimited()).unwrap();
        }
        check(&tree, &workspace, seed);
    }
}

#[test]
fn swept_sequences_equal_a_fresh_build_1() {
    swept(1);
}

#[test]
fn swept_sequences_equal_a_fresh_build_2() {
    swept(2);
}

#[test]
fn swept_sequences_equal_a_fresh_build_3() {
    swept(3);
}

#[test]
fn swept_sequences_equal_a_fresh_build_4() {
    swept(4);
}

/// Long enough for times of the file system to tell a later change from an earlier.
const PAUSE: Duration = Duration::from_millis(70);

/// Changes come at the pace of people: then a sync that finds all times as they were does not walk the tree.
#[test]
fn slow_sequences_equal_a_fresh_build() {
    for seed in seeds(6).into_iter().take(usize::try_from(number("IXMCP_SLOW_SEQUENCES", 3)).unwrap()) {
        let mut tree = Tree::new(seed);
        let workspace = open(tree.repo.path());
        for _ in 0..STEPS {
            tree.step();
            sync(&workspace);
            std::thread::sleep(PAUSE);
            sync(&workspace);
        }
        check(&tree, &workspace, seed);
    }
}

#[test]
fn a_sync_that_walks_no_more_misses_nothing() {
    let repo = Repo::new(
        "//- /a.py\nA = 1\n//- /deep/er/b.py\nB = 1\n//- /deep/.gitignore\nbuild/\n//- /deep/build/c.py\nC = 1\n//- /big.bin\n\0\n",
    );
    let below = repo.path().join("below");
    let root = below.join("tree");
    fs::create_dir_all(&below).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-a").args(["a.py", "deep", "big.bin", ".git"].map(|name| repo.path().join(name)));
    fs::create_dir(&root).unwrap();
    assert!(copy.arg(&root).status().unwrap().success());
    let git = |arguments: &[&str]| {
        let git = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(&root)
            .output();
        assert!(git.unwrap().status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let a = root.join("a.py");
    let changes: &[(&str, &dyn Fn())] = &[
        ("an edit", &|| write("a.py", "A = 2\n")),
        ("an edit of the same length with the old time", &|| {
            let time = fs::metadata(&a).unwrap().modified().unwrap();
            write("a.py", "A = 3\n");
            fs::File::options().write(true).open(&a).unwrap().set_modified(time).unwrap();
        }),
        ("a new file deep down", &|| write("deep/er/new.py", "N = 1\n")),
        ("a new folder", &|| write("fresh/folder/new.py", "N = 2\n")),
        ("a file gone", &|| fs::remove_file(root.join("deep/er/new.py")).unwrap()),
        ("a rename", &|| fs::rename(root.join("fresh"), root.join("older")).unwrap()),
        ("an ignore file edited in place", &|| write("deep/.gitignore", "built/\n")),
        ("a new ignore file", &|| write("older/.ignore", "new.py\n")),
        ("an ignore file gone", &|| fs::remove_file(root.join("older/.ignore")).unwrap()),
        ("git's own exclusions", &|| write(".git/info/exclude", "/older\n")),
        ("a tracked file that is ignored", &|| git(&["add", "-f", "older/folder/new.py"])),
        ("that file gone", &|| fs::remove_file(root.join("older/folder/new.py")).unwrap()),
        ("and here again", &|| write("older/folder/new.py", "N = 3\n")),
        ("an ignore file above the root", &|| fs::write(below.join(".ignore"), "er\n").unwrap()),
        ("gone again", &|| fs::remove_file(below.join(".ignore")).unwrap()),
        ("settings", &|| write(".ixmcp.toml", "[index]\nexclude = [\"a.py\"]\n")),
        ("no settings", &|| fs::remove_file(root.join(".ixmcp.toml")).unwrap()),
        ("a file that was left out", &|| write("big.bin", "text now\n")),
        ("a folder in the place of a file", &|| {
            fs::remove_file(&a).unwrap();
            write("a.py/x.py", "X = 1\n");
        }),
        ("an entity where git ignores it", &|| write(".ixchel/decisions/d.md", "---\nid: dec-1\n---\nText.\n")),
        ("one more", &|| write(".ixchel/decisions/e.md", "---\nid: dec-2\n---\nText.\n")),
        ("a repository within", &|| git(&["init", "-q", "older/inner"])),
        ("its exclusions", &|| write("older/inner/.git/info/exclude", "no.py\n")),
    ];
    let workspace = open(&root);
    for (what, change) in changes {
        // What cannot be compared by times is walked: then the next sync has to find the change all the same.
        let is_walked = ["here again", "within", "its exclusions"].iter().any(|end| what.ends_with(end));
        if is_walked {
            sync(&workspace);
        } else {
            settle(&workspace);
        }
        change();
        sync(&workspace);
        let found = dump(&workspace);
        // In its place: what is above the root counts.
        rebuild(&root, sources(&root), &Arc::default(), &Budget::unlimited()).unwrap();
        assert_same(&found, &dump(&workspace), what);
    }
}

#[test]
fn exclusions_count_when_their_folder_becomes_a_repository() {
    let repo = Repo::new("//- /a/one.py\nA = 1\n");
    repo.write(".git/info/exclude", "/a\n");
    let workspace = open(repo.path());
    let files = || {
        sync(&workspace);
        settle(&workspace);
        assert_sound(&workspace, "exclusions");
        workspace.read(&Budget::unlimited(), |snapshot| snapshot.file_count()).unwrap()
    };
    assert_eq!(files(), 1, "without HEAD, objects and refs, git takes it for nothing");
    let init = Command::new("git").args(["init", "-q"]).current_dir(repo.path()).status();
    assert!(init.unwrap().success());
    assert_eq!(files(), 0);
    repo.write(".git/info/exclude", "notes/\n");
    assert_eq!(files(), 1);
}

#[test]
fn watched_sequences_equal_a_fresh_build() {
    for seed in seeds(5).into_iter().step_by(4) {
        let mut tree = Tree::new(seed);
        let workspace = Arc::new(Workspace::open(tree.repo.path(), sources(tree.repo.path())).unwrap());
        workspace.watch();
        workspace.freshen(None, &Budget::unlimited()).unwrap();
        for _ in 0..3 {
            for _ in 0..=tree.random.below(6) {
                tree.step();
            }
            workspace.freshen(None, &Budget::unlimited()).unwrap();
        }
        check(&tree, &workspace, seed);
    }
}

/// Reads that do not wait for updates, of all kinds; an answer may be incomplete, but there is one.
fn ask_at_once(tools: &Tools, root: &Path, random: &mut Random) {
    let name = format!("function_{}", random.below(MANY));
    let (tool, arguments) = match random.below(6) {
        0 => ("query", json!({ "text": name, "mode": "literal" })),
        1 => ("query", json!({ "text": "how is a value returned" })),
        2 => ("query", json!({ "text": name })),
        3 => ("get_symbol", json!({ "symbol_name": name })),
        4 => ("list_files", json!({})),
        _ => ("search_documents", json!({ "query": "call the function" })),
    };
    let at_once = IndexWait { partial_after: Duration::ZERO, ..IndexWait::TO_THE_END };
    let request = Request { index_wait: at_once, ..Request::new(tool, arguments.clone(), root.to_owned()) };
    if let Err(error) = tools.call(request) {
        panic!("{tool} {arguments}: {error}");
    }
}

const MANY: u64 = 200;

/// Callers that do not wait for updates ask during builds: files that they need are indexed first, and builds pause.
#[test]
fn sequences_with_queries_during_builds_equal_a_fresh_build() {
    for seed in seeds(7).into_iter().step_by(4) {
        let mut tree = Tree::new(seed);
        for at in 0..MANY {
            tree.repo.write_if_possible(
                &format!("many/d{}/f{at}.py", at % 7),
                &format!("def function_{at}(x):\n    return function_{}(x)\n", at / 2),
            );
        }
        let root = tree.repo.path().to_owned();
        let environment = Environment::new(
            [("IXMCP_TRIGRAMS_FROM".to_owned(), "0".to_owned())],
            tree.repo.home().to_owned(),
            root.clone(),
        );
        let sources = Sources { flags: Flags::default(), environment };
        let workspaces = Arc::new(Workspaces::new(sources, Watching::Yes));
        let (workspace, tools) = (workspaces.at(&root).unwrap(), Tools::new(Arc::clone(&workspaces)));
        for round in 0..4 {
            for _ in 0..=tree.random.below(6) {
                tree.step();
            }
            if round == 2 {
                // Every row is made again while queries are answered.
                tree.repo.write_if_possible(".ixmcp.toml", "[index]\nchunk_size = 700\n");
            }
            std::thread::scope(|scope| {
                for client in 0..3 {
                    let (tools, root) = (&tools, &root);
                    let mut random = Random(seed + 100 * round + client);
                    scope.spawn(move || (0..4).for_each(|_| ask_at_once(tools, root, &mut random)));
                }
            });
        }
        freshen(&workspace);
        check(&tree, &workspace, seed);
    }
}

#[test]
fn a_rename_under_other_options_keeps_no_old_rows() {
    let repo = Repo::new("");
    repo.write("a.py", "def function(): return 1\n".repeat(200));
    let workspace = open(repo.path());
    sync(&workspace);
    repo.write(".ixmcp.toml", "[index]\nchunk_size = 500\n");
    fs::rename(repo.path().join("a.py"), repo.path().join("b.py")).unwrap();
    sync(&workspace);
    assert_sound(&workspace, "renamed while the options changed");
}
