//! Snapshots: an index that one clone saves and another begins with.

use std::fs;
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use crate::support::harness::Repo;
use crate::support::sound::{assert_sound, dump, open};

fn clone_of(repo: &Repo) -> Repo {
    let clone = Repo::new("");
    for entry in fs::read_dir(repo.path()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.file_name().is_some_and(|name| name != ".ixmcp" && name != ".git") {
            // Without `-a`: a clone's files have times and numbers of their own.
            assert!(Command::new("cp").arg("-r").arg(&entry).arg(clone.path()).status().unwrap().success());
        }
    }
    clone
}

fn repository() -> Repo {
    let repo = Repo::new(
        r"
//- /.ixchel/a.md
---
id: iss-1
tags: [t]
blocks: iss-2
---
# A
//- /.env
KEY=secret-word
",
    );
    for at in 0..60 {
        repo.write(&format!("src/m{at}.py"), format!("def f{at}(x):\n    return g{at}(x)\n"));
    }
    repo
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn a_clone_reads_again_only_what_differs() {
    let repo = repository();
    let saved = json(&repo.ok(&["snapshot", "save", "index.snapshot", "--json"]));
    assert_eq!(saved["files"], 61);
    let clone = clone_of(&repo);
    clone.write("src/m3.py", "def other(): ...\n");
    clone.write("src/new.py", "def fresh(): ...\n");
    clone.remove("src/m4.py");
    clone.remove("index.snapshot");
    let file = repo.path().join("index.snapshot");
    let report = json(&clone.ok(&["snapshot", "load", file.to_str().unwrap(), "--json"]));
    assert_eq!(
        (&report["added"], &report["modified"], &report["deleted"], &report["unchanged"]),
        (&1.into(), &1.into(), &1.into(), &59.into()),
        "{report}"
    );
    assert_eq!(clone.call("get_symbol", &serde_json::json!({ "symbol_name": "fresh" }))["total"], 1);
    let workspace = open(clone.path());
    assert_sound(&workspace, "a loaded snapshot, brought up to date");
    assert!(!dump(&workspace).iter().any(|line| line.contains("secret-word")));
}

#[test]
fn secrets_stay_where_they_are_and_paths_say_nothing_of_the_machine() {
    let repo = repository();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("letter.txt"), "A pelicanword is here.\n").unwrap();
    repo.call("index_files", &serde_json::json!({ "folderPath": outside.path() }));
    let mut sync = repo.command(&["snapshot", "save", "index.snapshot"]);
    assert!(sync.env("IXMCP_SKIP_SECRETS", "false").status().unwrap().success());
    let file = repo.path().join("index.snapshot");
    let bytes = fs::read(&file).unwrap();
    let body = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    let mut gunzip = Command::new("gunzip");
    let mut gunzip = gunzip.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = gunzip.stdin.take().unwrap();
    let packed = bytes[body..].to_vec();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &packed));
    let database = gunzip.wait_with_output().unwrap().stdout;
    writer.join().unwrap().unwrap();
    assert!(database.starts_with(b"SQLite format 3\0"));
    let holds = |words: &str| database.windows(words.len()).any(|window| window == words.as_bytes());
    assert!(holds("def f7") && !holds("secret-word"), "secrets are in nobody's snapshot");
    assert!(!holds("pelicanword"), "nor is a folder outside the repository");
    assert!(!holds(repo.path().to_str().unwrap()), "nor is the folder that it was made in");
}

#[test]
fn an_incomplete_snapshot_is_refused_and_changes_nothing() {
    let repo = repository();
    repo.ok(&["snapshot", "save", "good"]);
    let good = fs::read(repo.path().join("good")).unwrap();
    let before = fs::read(repo.database()).unwrap();
    let text = |from: &str, to: &str| {
        let end = good.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
        let head = String::from_utf8(good[..end].to_vec()).unwrap();
        assert!(head.contains(from), "{head}");
        [head.replacen(from, to, 1).as_bytes(), &good[end..]].concat()
    };
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let mut refused = String::new();
    for (name, bytes) in [
        ("none", b"something else\n".to_vec()),
        ("cut", good[..good.len() / 2].to_vec()),
        ("flipped", flipped),
        ("newer", text("\"schema\":", "\"schema\":9")),
        ("older", text("\"schema\":", "\"schema\":0,\"was\":")),
        ("longer", text("\"bytes\":", "\"bytes\":1")),
    ] {
        repo.write("bad", bytes);
        refused += &format!("{name}: {}", repo.fails(&["snapshot", "load", "bad"]));
        assert_eq!(fs::read(repo.database()).unwrap(), before, "{name}");
        assert!(!repo.path().join(".ixmcp/index.db.new").exists(), "{name}");
    }
    expect![[r#"
        none: ixmcp: UNSUPPORTED_FORMAT: bad is not a snapshot of ixmcp. Create one with `ixmcp snapshot save`.
        cut: ixmcp: CORRUPT_INDEX: the snapshot is damaged: its content does not match its header. Copy it again, or build the index with `ixmcp sync`.
        flipped: ixmcp: CORRUPT_INDEX: the snapshot is damaged: its content does not match its header. Copy it again, or build the index with `ixmcp sync`.
        newer: ixmcp: NEWER_INDEX: the snapshot has schema 97, this ixmcp knows up to 7. Use the newer ixmcp.
        older: ixmcp: UNSUPPORTED_FORMAT: the snapshot has schema 0, this ixmcp creates 7. Create it with this release, or build the index with `ixmcp sync`.
        longer: ixmcp: CORRUPT_INDEX: the snapshot is damaged: its content does not match its header. Copy it again, or build the index with `ixmcp sync`.
    "#]].assert_eq(&refused);
}

#[test]
fn a_snapshot_of_another_repository_is_named_as_such() {
    let repo = repository();
    repo.write("README.md", "# The same in many repositories\n");
    repo.ok(&["snapshot", "save", "index.snapshot"]);
    let file = repo.path().join("index.snapshot");
    let file = file.to_str().unwrap();
    let other = Repo::new("//- /README.md\n# The same in many repositories\n");
    for at in 0..60 {
        // Of the same names, even.
        other.write(&format!("src/m{at}.py"), format!("class C{at}:\n    pass\n"));
    }
    let output = other.run(&["snapshot", "load", file, "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warning = report["warning"].as_str().unwrap();
    expect!["Of the 62 files in the snapshot 1 are the same here: it seems to be of another repository. The index is correct nevertheless, but the snapshot did not make it faster."].assert_eq(warning);
    let output = other.run(&["snapshot", "load", file]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("{warning}\n"));
    assert_sound(&open(other.path()), "of another repository");
    // A clone that has changed much.
    let clone = clone_of(&repo);
    for at in 0..40 {
        clone.write(&format!("src/m{at}.py"), "def other(): ...\n");
    }
    let report = json(&clone.ok(&["snapshot", "load", file, "--json"]));
    assert_eq!(report.get("warning"), None, "{report}");
}
