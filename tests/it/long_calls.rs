//! Long calls over a real connection: a folder is indexed or updated, reported, cancelled, and resumed.

use std::fs;

use ixmcp::budget::Budget;
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::sound::open;
use crate::support::waiting::until;
use crate::support::wire::{Wire, initialize, request};

/// Enough that a debug build is busy with them for some seconds.
const FILES: usize = 3_000;

fn write(folder: &tempfile::TempDir, word: &str) {
    for number in 0..FILES {
        let text: String = (0..20).map(|at| format!("Parcel {number} is kept {word} for {at} days.\n\n")).collect();
        fs::write(folder.path().join(format!("n{number}.md")), text).unwrap();
    }
}

/// Sends a call and gives it up as soon as progress reports at least so many files.
fn give_up(wire: &mut Wire, id: i64, call: &Value, least: u64) {
    wire.send(&request(id, "tools/call", call.clone()));
    let mut reported = Vec::new();
    loop {
        let line = wire.reply();
        if line["result"]["structuredContent"]["status"] == "running" {
            // So slow a machine that it would not wait: the same call joins what goes on.
            wire.send(&request(id, "tools/call", call.clone()));
            continue;
        }
        assert_eq!(
            (&line["method"], &line["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("folder")),
            "{line}"
        );
        let (done, total) = (line["params"]["progress"].as_u64().unwrap(), line["params"]["total"].as_u64().unwrap());
        assert!(reported.last().is_none_or(|last| *last <= done) && done <= total, "{line} after {reported:?}");
        reported.push(done);
        if done > 0 && total >= least {
            assert!(done < total, "it was done before it could be given up: {line}");
            break;
        }
    }
    let reason = json!({ "requestId": id, "reason": "nobody waits any more" });
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason }));
    wire.send(&request(id + 1, "ping", json!({})));
    // Notifications from before the cancellation may still come, but no answer.
    let pong = std::iter::repeat_with(|| wire.reply()).find(|line| line["method"] != "notifications/progress").unwrap();
    assert_eq!(pong["id"], id + 1, "{pong}");
}

fn answer(wire: &mut Wire, id: i64, tool: &str, arguments: &Value) -> Value {
    // On a slow machine the answer is that it runs; the same call joins it.
    loop {
        wire.send(&request(id, "tools/call", json!({ "name": tool, "arguments": arguments })));
        let reply = wire.reply();
        assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(id), &json!(false)), "{reply}");
        if reply["result"]["structuredContent"]["status"] != "running" {
            return reply["result"]["structuredContent"].clone();
        }
    }
}

#[test]
fn a_folder_that_is_given_up_keeps_what_was_done_and_is_done_by_the_next_call() {
    let (repo, papers) = (Repo::new("//- /README.md\n# Readme\n"), tempfile::tempdir().unwrap());
    write(&papers, "here");
    let at = papers.path().canonicalize().unwrap();
    let folder = json!({ "folderPath": at });
    let call = |tool: &str| json!({ "name": tool, "arguments": folder, "_meta": { "progressToken": "folder" } });
    let mut wire = Wire::relay(&repo, &["--no-daemon"]);
    wire.ask(&initialize(0));
    // The build that starts with the connection would take the folder over from the call.
    until("the repository is indexed", || answer(&mut wire, 0, "stats", &json!({}))["indexing"].is_null());

    give_up(&mut wire, 1, &call("index_files"), FILES as u64);
    let index = open(repo.path());
    // A moment later, the update that the watch asks for goes on with the rest.
    let kept = index.read(&Budget::unlimited(), |snapshot| snapshot.file_count()).unwrap();
    assert!(kept > 0 && kept < FILES as u64, "{kept} files are kept");
    let state = fs::read_to_string(repo.path().join(".ixmcp/state.toml")).unwrap();
    assert!(state.contains(at.to_str().unwrap()), "{state}");

    let indexed = answer(&mut wire, 3, "index_files", &folder);
    assert_eq!((&indexed["totalFiles"], &indexed["processedFiles"]), (&json!(FILES), &json!(FILES)), "{indexed}");
    assert_eq!(indexed["skipped"], json!([]));

    // A cancelled update reported no changes: the next one counts them.
    // The process watches: some files may be done before it is asked.
    write(&papers, "elsewhere");
    give_up(&mut wire, 4, &call("update_index"), 1);
    let updated = answer(&mut wire, 6, "update_index", &folder);
    assert_eq!(
        ["added", "updated", "removed", "unchanged"].map(|key| updated[key].clone()),
        [json!(0), json!(FILES), json!(0), json!(0)],
        "{updated}"
    );
    let query = json!({ "query": "parcel 2999 is kept elsewhere", "options": { "limit": 1 } });
    let found = answer(&mut wire, 7, "search_documents", &query);
    assert_eq!(found["results"][0]["filePath"], json!(at.join("n2999.md")), "{found}");
    assert_eq!(index.faults().unwrap(), Vec::<String>::new());
}
