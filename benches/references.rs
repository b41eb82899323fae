//! How long `find_references` takes: `cargo bench --bench references -- DIR…`.
//!
//! Draws fifty definitions of each repository evenly from the sorted list of their names, and fifty more weighted by the references
//! to them. Asks twice about each in a warm process and prints the times of the second answers, those that
//! read all files apart from the first answers about a common name. Judges nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use self::server::Server;

#[path = "asked/server.rs"]
mod server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ixmcp");
const NAMES: usize = 50;
/// One definition of each name.
const DEFINITIONS: &str = "
    SELECT name, min(path) AS file, line, column FROM symbols
    WHERE kind IN ('function', 'method', 'class', 'struct') AND length(name) > 2 GROUP BY name ORDER BY name";
/// References to each name.
const REFERENCES: &str = "
    SELECT n.name, sum(length(r.positions) - length(replace(r.positions, ' ', '')) + 1) AS count
    FROM reference_rows r JOIN names n ON n.id = r.name_id GROUP BY r.name_id";

fn main() {
    if cfg!(debug_assertions) {
        panic!("a program that checks itself takes longer: measure by `cargo bench`");
    }
    println!("| repository | names | answer | of {NAMES} | p50 | p95 | worst |\n|---|---|---|---:|---:|---:|---:|");
    for root in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        measure(Path::new(&root));
    }
}

fn measure(root: &Path) {
    let mut sync = Command::new(PROGRAM);
    sync.arg("sync").current_dir(root).output().expect("the program runs");
    let definitions = rows(root, DEFINITIONS);
    let references: HashMap<String, u64> = rows(root, REFERENCES)
        .into_iter()
        .filter_map(|row| Some((row["name"].as_str()?.to_owned(), row["count"].as_u64()?)))
        .collect();
    let evenly = |_: &Value| 1;
    let by_references =
        |row: &Value| row["name"].as_str().and_then(|name| references.get(name)).copied().unwrap_or_default();
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    report(&format!("{name} | evenly"), root, &drawn(&definitions, &evenly));
    report(&format!("{name} | by references"), root, &drawn(&definitions, &by_references));
}

fn rows(root: &Path, query: &str) -> Vec<Value> {
    let output = Command::new(PROGRAM).args(["sql", "--json", query]).current_dir(root).output();
    let output = output.expect("the program runs").stdout;
    let row = |line: &str| serde_json::from_str(line).expect("one JSON object a line");
    String::from_utf8_lossy(&output).lines().map(row).collect()
}

/// Definitions in equal steps along the list, each of which is as long as its weight.
fn drawn<'d>(definitions: &'d [Value], weight: &dyn Fn(&Value) -> u64) -> Vec<&'d Value> {
    let all: u64 = definitions.iter().map(weight).sum();
    let passes = |passed: u64, steps: u64| passed * 2 * NAMES as u64 > all * (2 * steps + 1);
    let (mut passed, mut steps) = (0, 0);
    let mut found = Vec::new();
    for definition in definitions {
        passed += weight(definition);
        if passes(passed, steps) {
            found.push(definition);
        }
        while passes(passed, steps) {
            steps += 1;
        }
    }
    found
}

fn report(label: &str, root: &Path, definitions: &[&Value]) {
    let mut command = Command::new(PROGRAM);
    command.args(["mcp", "--no-daemon"]).current_dir(root).env("IXMCP_TCP", "off");
    let mut server = Server::start(command);
    server.ask("stats", &json!({}));
    let (mut whole, mut first) = (Vec::new(), Vec::new());
    for definition in definitions {
        let position =
            json!({ "file": definition["file"], "line": definition["line"], "column": definition["column"] });
        server.ask("find_references", &position);
        let (answer, took) = server.ask("find_references", &position);
        let is_first = answer["reason"].as_str().is_some_and(|reason| reason.contains("files with the name were read"));
        if is_first { &mut first } else { &mut whole }.push(took);
        if std::env::var_os("IXMCP_EACH").is_some() {
            println!("{took:.1?} {} {}", definition["name"], answer["total"]);
        }
    }
    print(label, "all files read", whole);
    print(label, "first answer", first);
}

fn print(label: &str, answer: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else { return };
    let at = |percent: usize| times[last * percent / 100];
    println!("| {label} | {answer} | {} | {:.1?} | {:.1?} | {:.1?} |", times.len(), at(50), at(95), at(100));
}
