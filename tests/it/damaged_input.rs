//! Files and requests with damaged bytes: no process ends, no error is internal, and what is next to the damage is found.
//!
//! A round depends on its seed alone: a failure prints it, and `IXMCP_SEED=N` runs that round again. The suite runs one round
//! of each kind; `.ci/soak damaged` runs each kind for `IXMCP_DAMAGED_MINUTES`.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use protobuf::Message;
use scip::types::{Document, Index, Occurrence};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::support::harness::Repo;
use crate::support::sound::number;
use crate::support::tree::Random;
use crate::support::wire::{Wire, initialize, request};

/// Damaged files of one round.
const FILES: u64 = 12;

/// Some of the bytes changed, missing, repeated, or other numbers.
fn damaged(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.index(bytes.len());
        let end = at + random.index((bytes.len() - at).min(300) + 1);
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.pick(&[0, 0x7f, 0xff]),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let to = random.index(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(to..to, again);
            }
            5 if random.below(4) == 0 => bytes.truncate(at),
            _ => {
                let digits = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |digits| at + digits);
                let length = bytes[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = *random.pick(&["0", "-1", "7", "65536", "4294967295", "18446744073709551616", "1e300"]);
                bytes.splice(digits..digits + length, number.bytes());
            }
        }
    }
    bytes
}

/// An archive whose entries are damaged; the archive itself is valid.
fn damaged_entries(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut changed = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..archive.len() {
        let mut file = archive.by_index(number).unwrap();
        let (name, mut content) = (file.name().to_owned(), Vec::new());
        file.read_to_end(&mut content).unwrap();
        let content = if random.below(2) == 0 { damaged(random, content) } else { content };
        changed.start_file(name, SimpleFileOptions::default()).unwrap();
        changed.write_all(&content).unwrap();
    }
    changed.finish().unwrap().into_inner()
}

/// Runs rounds: one, or those of the minutes that are given.
fn rounds(round: impl Fn(&mut Random)) {
    let lasts = Duration::from_secs(60 * number("IXMCP_DAMAGED_MINUTES", 0));
    let (begun, first) = (Instant::now(), number("IXMCP_SEED", 1));
    for seed in first.. {
        println!("IXMCP_SEED={seed}");
        round(&mut Random(seed));
        if begun.elapsed() >= lasts {
            break;
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension != "expect"));
    found.sort();
    found
}

#[test]
fn damaged_documents_are_indexed_or_have_a_reason() {
    let sources = documents();
    rounds(|random| {
        let repo = Repo::new("//- /papers/good.rst\nHeron\n=====\n\nA heron waits.\n");
        let mut written = vec!["papers/good.rst".to_owned()];
        for number in 0..FILES {
            let source = random.pick(&sources);
            let extension = source.extension().unwrap().to_str().unwrap();
            let bytes = fs::read(source).unwrap();
            let is_archive = ["docx", "odt", "epub"].contains(&extension);
            let bytes = if is_archive && random.below(3) > 0 {
                damaged_entries(random, &bytes)
            } else {
                damaged(random, bytes)
            };
            written.push(format!("papers/{number}.{extension}"));
            repo.write(&written[written.len() - 1], bytes);
        }
        let indexed: Value = serde_json::from_str(&repo.ok(&["documents", "index", "papers", "--json"])).unwrap();
        assert!(!indexed.to_string().contains("INTERNAL"), "{indexed}");
        let paths = |answer: &Value, list: &str, key: &str| -> Vec<String> {
            let listed = answer[list].as_array().unwrap().iter();
            listed.map(|file| file.get(key).unwrap_or(file).as_str().unwrap().to_owned()).collect()
        };
        let files = |arguments: &[&str]| -> Value { serde_json::from_slice(&repo.run(arguments).stdout).unwrap() };
        let mut known = paths(&files(&["files", "--json"]), "files", "path");
        known.extend(paths(&files(&["files", "--skipped", "--json"]), "skipped", "path"));
        known.sort();
        written.sort();
        assert_eq!(known, written, "{indexed}");
        assert!(repo.ok(&["documents", "search", "heron"]).contains("good.rst"));
    });
}

const ENTITY: &str = "---
id: dec-000001
title: \"Herons: wait\"
status: accepted
tags: [birds, 'water', \"a: b\"]
created_at: 2026-01-31T12:00:00Z
relates_to:
  - dec-000002
  - {id: dec-000003}
aliases: &names [one, two]
more: *names
text: |
  A heron # waits.
   And waits.
---
# Herons

See [[dec-000002#Part|there]] and `src/a.rs`.
";

#[test]
fn damaged_notes_are_read_or_reported() {
    rounds(|random| {
        let repo = Repo::new("//- /.ixchel/decisions/dec-00000a.md\n---\nid: dec-00000a\ntitle: Whole\n---\nText.\n");
        for number in 0..4 * FILES {
            repo.write(
                &format!(".ixchel/decisions/dec-{number:06}.md"),
                damaged(random, ENTITY.replace("000001", &format!("{number:06}")).into_bytes()),
            );
        }
        let checked = repo.run(&["entity", "check", "--json"]);
        assert!(matches!(checked.status.code(), Some(0..=2)), "{checked:?}");
        let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
        assert!(report.get("errors").is_some(), "{report}");
        assert!(repo.ok(&["entity", "list"]).contains("dec-00000a"));
        assert!(repo.ok(&["entity", "show", "dec-00000a"]).contains("Whole"));
    });
}

#[test]
fn a_damaged_scip_file_hides_no_definition() {
    let occurrence = |range: &[i32], roles| Occurrence {
        range: range.to_vec(),
        symbol: "scip-typescript npm shop 1.0.0 `a.ts`/total().".to_owned(),
        symbol_roles: roles,
        ..Occurrence::default()
    };
    let document = Document {
        relative_path: "a.ts".to_owned(),
        occurrences: vec![occurrence(&[0, 16, 21], 1), occurrence(&[1, 0, 5], 8)],
        ..Document::default()
    };
    let whole = Index { documents: vec![document], ..Index::default() }.write_to_bytes().unwrap();
    rounds(|random| {
        let repo = Repo::new("//- /a.ts\nexport function total() { return 1 }\ntotal()\n");
        repo.sync();
        for _ in 0..FILES {
            repo.write("index.scip", damaged(random, whole.clone()));
            // A damaged file may still state valid positions, so only the definition is certain.
            let answer = repo.call("find_references", &json!({ "symbol_name": "total" }));
            let found = answer["references"].as_array().unwrap();
            assert!(found.iter().any(|one| one["line"] == 1), "{answer}");
        }
    });
}

#[test]
fn damaged_requests_are_answered_or_dropped() {
    let calls = [
        initialize(1),
        request(2, "tools/list", json!({ "cursor": "" })),
        request(
            3,
            "tools/call",
            json!({ "name": "query", "arguments": { "text": "heron", "limit": 10, "mode": "regex" } }),
        ),
        request(
            4,
            "tools/call",
            json!({ "name": "get_slice", "arguments": { "file": "a.py", "start_line": 1, "end_line": 2 } }),
        ),
        request(5, "resources/read", json!({ "uri": "ixmcp://entity/dec-1" })),
        json!([request(6, "ping", json!({})), request(7, "tools/list", json!({}))]),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3, "reason": "late" } }),
    ];
    rounds(|random| {
        let repo = Repo::new("//- /a.py\nheron = 1\n");
        repo.sync();
        let mut wire = Wire::relay(&repo, &["--no-daemon"]);
        wire.ask(&initialize("first"));
        for number in 0..20 * FILES {
            let call = random.pick(&calls).to_string();
            let mut line = damaged(random, call.into_bytes());
            line.retain(|byte| *byte != b'\n');
            // Replies repeat the id, and the parser of replies cannot represent such numbers.
            let parsed = serde_json::from_slice::<Value>(&line);
            if parsed.is_err_and(|error| error.to_string().starts_with("number out of range")) {
                continue;
            }
            line.push(b'\n');
            wire.write(&line);
            let whole = format!("whole {number}");
            wire.send(&request(whole.as_str(), "ping", json!({})));
            loop {
                let reply = wire.reply();
                assert_ne!(reply["error"]["code"], json!(-32603), "{}: {reply}", String::from_utf8_lossy(&line));
                if reply["id"] == json!(whole) {
                    break;
                }
            }
        }
    });
}
