//! A SCIP file of 100,000 occurrences in 200 files: `cargo bench --bench scip`.
//!
//! Prints how long the first answer takes that has to load it, and the peak memory of the process, next to a later answer.
//! Judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use protobuf::Message;
use scip::types::{Document, Index, Occurrence};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const FILES: i32 = 200;
const LINES: i32 = 250;
const ROUNDS: usize = 7;

/// Each line of a file defines a function and calls that of the line before in the next file: two occurrences.
fn write_project(root: &Path) -> Vec<u8> {
    let mut index = Index::new();
    let symbol =
        |file: i32, line: i32| format!("scip-typescript npm bench 1.0.0 `f{file:03}.ts`/f{file:03}_{line:03}().");
    for file in 0..FILES {
        let next = (file + 1) % FILES;
        let (mut text, mut occurrences) = (String::new(), Vec::new());
        for line in 0..LINES {
            let before = (line + LINES - 1) % LINES;
            let _ = writeln!(text, "export function f{file:03}_{line:03}() {{ return f{next:03}_{before:03}(); }}");
            for (range, symbol, role) in
                [(vec![line, 16, 24], symbol(file, line), 1), (vec![line, 36, 44], symbol(next, before), 8)]
            {
                occurrences.push(Occurrence { range, symbol, symbol_roles: role, ..Occurrence::default() });
            }
        }
        let path = format!("f{file:03}.ts");
        fs::write(root.join(&path), text).expect("a file is written");
        index.documents.push(Document { relative_path: path, occurrences, ..Document::default() });
    }
    index.write_to_bytes().expect("it can be encoded")
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(".git")).expect("a folder");
    let scip = write_project(folder.path());
    let sync = Command::new(PROGRAM).arg("sync").current_dir(folder.path()).stdout(Stdio::null()).status();
    assert!(sync.is_ok_and(|status| status.success()));
    let mut command = Command::new(PROGRAM);
    command.args(["mcp", "--no-daemon"]).current_dir(folder.path()).env("IXMCP_TCP", "off");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut ask = || {
        let params = json!({ "file": "f000.ts", "line": 2, "column": 40 });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "goto_definition", "params": params });
        let begun = Instant::now();
        writeln!(stdin, "{request}").expect("the server reads");
        let mut line = String::new();
        answers.read_line(&mut line).expect("the server answers");
        let answer: Value = serde_json::from_str(&line).expect("answers are JSON");
        (begun.elapsed(), answer["result"].clone())
    };
    assert_eq!(ask().1["precision"], "syntax");
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        fs::write(folder.path().join("index.scip"), &scip).expect("a file is written");
        let (took, answer) = ask();
        assert_eq!(
            (&answer["precision"], &answer["definitions"][0]["file"]),
            (&json!("scip"), &json!("f001.ts")),
            "{answer}"
        );
        first.push(took);
        later.push(ask().0);
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default().trim();
    println!("SCIP file {} bytes, {} occurrences", scip.len(), FILES * LINES * 2);
    println!("first answer, loading it   {:>8.1} ms", median(first).as_secs_f64() * 1e3);
    println!("later answer               {:>8.1} ms", median(later).as_secs_f64() * 1e3);
    println!("peak memory of the process {peak}");
    let _ = child.kill();
    let _ = child.wait();
}
