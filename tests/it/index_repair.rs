//! The next request rebuilds a damaged index, and the damaged file is kept.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use ixmcp::budget::Budget;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_sound, open, watched};

const FILES: u64 = 60;

fn repository() -> Repo {
    let repo = Repo::new("");
    for at in 0..FILES {
        repo.write(&format!("src/m{at}.py"), format!("def f{at}(x):\n    return g{at}(x)\n").repeat(20));
    }
    repo
}

// A process that stays may be writing what it finishes in the background.
fn sqlite3(database: &Path, statements: &str) {
    let output =
        Command::new("sqlite3").args(["-cmd", ".timeout 10000"]).arg(database).arg(statements).output().unwrap();
    assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Replaces the database by another file, as a restored backup does. Its log and its shared memory go as well: a
/// process that maps the shared memory of the old file must not find it truncated by a connection to the new one, which
/// SQLite cannot prevent within one process.
fn replace(database: &Path, bytes: &[u8]) {
    let other = database.with_extension("other");
    fs::write(&other, bytes).unwrap();
    for suffix in ["-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        let _absent = fs::remove_file(name);
    }
    fs::rename(&other, database).unwrap();
}

/// The bytes of the database, with all that its log holds.
fn whole(database: &Path) -> Vec<u8> {
    sqlite3(database, "PRAGMA wal_checkpoint(TRUNCATE)");
    fs::read(database).unwrap()
}

type Damage = (&'static str, fn(&Path));

const DAMAGES: &[Damage] = &[
    ("other text", |database| replace(database, b"this is a diary")),
    ("a hole", |database| {
        let mut bytes = whole(database);
        // All but the schema: which pages a query reads is not for a test to say.
        let from = bytes.len() / 8;
        bytes[from..].fill(0x5a);
        replace(database, &bytes);
    }),
    ("half of it", |database| {
        let bytes = whole(database);
        replace(database, &bytes[..bytes.len() / 2]);
    }),
    ("no header", |database| {
        let mut bytes = whole(database);
        bytes[..100].fill(0);
        replace(database, &bytes);
    }),
    ("another table", |database| {
        sqlite3(database, "DROP TABLE files; CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT)");
    }),
    ("no text", |database| sqlite3(database, "UPDATE files SET path = CAST(x'ff' || id AS TEXT)")),
    ("no table", |database| sqlite3(database, "DROP TABLE chunks")),
    ("a folder", |database| {
        fs::remove_file(database).unwrap();
        fs::create_dir(database).unwrap();
        fs::write(database.join("note"), "x").unwrap();
    }),
];

fn kept(repo: &Repo) -> Vec<String> {
    let names = fs::read_dir(repo.path().join(".ixmcp")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.contains("bad") && !name.ends_with("-wal"));
    names
}

/// Asserts that an agent is informed of the repair.
fn assert_reported(repo: &Repo, answer: &Value, context: &str) {
    assert_is_report(repo, answer["warning"].as_str().unwrap_or_default(), context);
}

/// The cause depends on the damage.
fn assert_is_report(repo: &Repo, text: &str, context: &str) {
    let kept = repo.path().canonicalize().unwrap().join(".ixmcp/index.db.bad");
    let report = format!("The index was damaged and is built again; the damaged file is kept as {}.", kept.display());
    assert_eq!(text.split(" What was wrong: ").next(), Some(report.as_str()), "{context}: {text}");
}

#[test]
fn a_damaged_index_is_built_again_by_a_command() {
    for (name, damage) in DAMAGES {
        let repo = repository();
        repo.sync();
        damage(&repo.database());
        let query = json!({ "text": "f7(", "mode": "literal" });
        let answer = repo.call("query", &query);
        assert_eq!(answer["results"][0]["file_path"], "src/m7.py", "{name}: {answer}");
        assert_reported(&repo, &answer, name);
        assert_eq!(kept(&repo), ["index.db.bad"], "{name}");
        assert_eq!(repo.call("query", &query).get("warning"), None, "{name}: it is told once");
        assert_sound(&open(repo.path()), name);
    }
}

#[test]
fn a_damaged_index_is_built_again_by_a_process_that_stays() {
    for (name, damage) in DAMAGES {
        let repo = repository();
        let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
        assert_eq!(server.finds("f7(").unwrap(), "src/m7.py");
        damage(&repo.database());
        // Not by `call`, which drops answers from before the end of a build: the damage is reported once.
        let answer = server.response("query", &json!({ "text": "f8(", "mode": "literal" }))["result"].take();
        assert_eq!(answer["results"][0]["file_path"], "src/m8.py", "{name}: {answer}");
        assert_reported(&repo, &answer, name);
        assert_eq!(kept(&repo), ["index.db.bad"], "{name}");
        repo.write("src/new.py", "def brand_new(): pass\n");
        assert_eq!(server.finds("brand_new").unwrap(), "src/new.py", "{name}");
        drop(server);
        repo.sync();
        assert_sound(&open(repo.path()), name);
    }
}

#[test]
fn a_damaged_index_is_built_again_by_commands_that_call_no_tool() {
    for arguments in [&["sync"][..], &["entity", "list"], &["graph"], &["symbol", "f7", "--relations"]] {
        let repo = repository();
        repo.write(".ixchel/a.md", "---\nid: iss-1\n---\n# A\n");
        repo.sync();
        fs::write(repo.database(), "this is a diary").unwrap();
        let output = repo.run(arguments);
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {reported}");
        assert_is_report(&repo, reported.trim_end().rsplit("WARN ").next().unwrap(), &format!("{arguments:?}"));
        assert_eq!(fs::read(repo.path().join(".ixmcp/index.db.bad")).unwrap(), b"this is a diary");
    }
}

#[test]
fn many_processes_that_find_it_damaged_rebuild_it_once() {
    let repo = repository();
    repo.sync();
    fs::write(repo.database(), "this is a diary").unwrap();
    let ask = || {
        let mut command = repo.command(&["call", "query", "--args", r#"{"text": "f7(", "mode": "literal"}"#]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| ask()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["results"][0]["file_path"], "src/m7.py", "{answer}");
    }
    assert_eq!(fs::read(repo.path().join(".ixmcp/index.db.bad")).unwrap(), b"this is a diary");
    assert_eq!(fs::read_to_string(repo.path().join(".ixmcp/repairs")).unwrap().lines().count(), 1);
}

/// A process that reads while another replaces the index must not take that for a damaged one.
#[test]
fn many_calls_of_one_process_build_it_again_once() {
    let repo = repository();
    let workspace = watched(repo.path());
    for round in 0..3 {
        let _ = fs::remove_file(repo.path().join(".ixmcp/repairs"));
        replace(&repo.database(), format!("diary {round}").as_bytes());
        std::thread::scope(|scope| {
            let count = || {
                workspace.with_repair(|| {
                    workspace.freshen(Some(Duration::from_secs(120)), &Budget::unlimited())?;
                    workspace.read(&Budget::unlimited(), |snapshot| snapshot.file_count())
                })
            };
            let counts: Vec<_> = (0..8).map(|_| scope.spawn(count)).collect();
            for counted in counts {
                assert_eq!(counted.join().unwrap().unwrap(), FILES, "round {round}");
            }
        });
        let repairs = fs::read_to_string(repo.path().join(".ixmcp/repairs")).unwrap();
        assert_eq!(repairs.lines().count(), 1, "round {round}");
        let kept = fs::read_to_string(repo.path().join(".ixmcp/index.db.bad")).unwrap();
        assert_eq!(kept, format!("diary {round}"));
    }
    assert_sound(&workspace, "after three repairs");
}

#[test]
fn an_index_that_is_damaged_time_and_again_is_left_to_a_person() {
    let repo = Repo::new("//- /a.py\ndef only_one(): pass\n//- /b.rs\nfn f() {}\n");
    repo.sync();
    let damage = |text: &str| fs::write(repo.database(), text).unwrap();
    for round in 1..=3 {
        damage(&format!("diary {round}"));
        assert_eq!(repo.call("stats", &json!({}))["total_files"], 2, "{round}");
        assert_eq!(kept(&repo), ["index.db.bad"]);
        let text = fs::read_to_string(repo.path().join(".ixmcp/index.db.bad")).unwrap();
        assert_eq!(text, format!("diary {round}"), "the last one is kept");
    }
    damage("diary 4");
    // The second one opens an index only for a file that is not Python.
    expect![[r#"
        $ ixmcp call stats
        ixmcp: CORRUPT_INDEX: REPOSITORY/.ixmcp/index.db is not an index of ixmcp, or is damaged; it was built again 3 times within the last hour. Check whether the disk is failing, then run `ixmcp rebuild`.
        $ ixmcp def b.rs:1:4
        ixmcp: CORRUPT_INDEX: REPOSITORY/.ixmcp/index.db is not an index of ixmcp, or is damaged; it was built again 3 times within the last hour. Check whether the disk is failing, then run `ixmcp rebuild`.
    "#]].assert_eq(&repo.failures(&[&["call", "stats"], &["def", "b.rs:1:4"]], &[]));
    assert_eq!(fs::read_to_string(repo.database()).unwrap(), "diary 4", "nothing is done about it");
    repo.ok(&["rebuild"]);
    damage("diary 5");
    assert_eq!(repo.call("stats", &json!({}))["total_files"], 2, "a person has looked at it");
}
