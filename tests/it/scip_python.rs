//! scip-python on packages from PyPI: what it states, compared with what the type engine answers, which wins in Python.
//! Two reasons for differences: findings/scip-python-one-definition.sh.
//!
//! `UPDATE_EXPECT=1 cargo test scip_python` rewrites the lists of differences; read the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use protobuf::Message;
use scip::types::{Index, Occurrence};
use serde_json::{Value, json};

use crate::golden::{clients, package};
use crate::support::harness::{Repo, Server};

const DEFINITION: i32 = 1;

/// A package with its SCIP file.
fn indexed(name: &str, version: &str) -> (Repo, Index) {
    let indexer = clients().join("scip-python/node_modules/.bin/scip-python");
    assert!(indexer.exists(), "{} is missing: run .ci/setup", indexer.display());
    let repo = package(name);
    // Without the packages that this machine has.
    let environment = repo.home().join("environment.json");
    fs::write(&environment, "[]").unwrap();
    let node = clients().join("node/node_modules/.bin");
    let path = format!("{}:{}", node.display(), std::env::var("PATH").unwrap());
    let output = Command::new(&indexer)
        .args(["index", ".", "--quiet", "--project-name", name, "--project-version", version, "--environment"])
        .arg(&environment)
        .current_dir(repo.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let written = repo.path().join("index.scip");
    assert!(written.exists(), "{}", String::from_utf8_lossy(&output.stderr));
    let index = Index::parse_from_bytes(&fs::read(written).unwrap()).unwrap();
    (repo, index)
}

/// Line and columns from 0, in code points, which scip-python counts as UTF-16 does.
fn position(one: &Occurrence, text: &str) -> Option<(usize, usize, String)> {
    let range: Vec<usize> = one.range.iter().map(|number| usize::try_from(*number).unwrap()).collect();
    let &[line, from, to] = range.as_slice() else { return None };
    let units: Vec<u16> = text.lines().nth(line)?.encode_utf16().collect();
    let column = String::from_utf16(units.get(..from)?).ok()?.chars().count();
    Some((line, column, String::from_utf16(units.get(from..to)?).ok()?))
}

/// `file:line` of what is in the repository.
fn positions(answer: &Value) -> BTreeSet<String> {
    let of = |one: &Value| {
        let file = one["file"].as_str().unwrap();
        // The stubs of the standard library are a copy that the index keeps.
        (!file.starts_with('/') && !file.starts_with(".ixmcp/")).then(|| format!("{file}:{}", one["line"]))
    };
    answer["definitions"].as_array().unwrap().iter().filter_map(of).collect()
}

/// Compares the two for each global symbol that a file references: counts the equal ones, and lists the others.
fn compared(repo: &Repo, index: &Index) -> (usize, BTreeMap<&'static str, BTreeSet<String>>) {
    let text = |path: &str| fs::read_to_string(repo.path().join(path)).unwrap();
    let texts: BTreeMap<&str, String> = index
        .documents
        .iter()
        .map(|document| (document.relative_path.as_str(), text(&document.relative_path)))
        .collect();
    let mut defined: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for document in &index.documents {
        for one in document.occurrences.iter().filter(|one| one.symbol_roles & DEFINITION != 0) {
            let line = one.range[0] + 1;
            defined.entry(&one.symbol).or_default().insert(format!("{}:{line}", document.relative_path));
        }
    }
    let mut server = Server::start_mcp(repo.command(&["mcp"]));
    let (mut equal, mut others) = (0, BTreeMap::<&str, BTreeSet<String>>::new());
    for document in &index.documents {
        let path = document.relative_path.as_str();
        let mut seen = BTreeSet::new();
        for one in &document.occurrences {
            let is_use = one.symbol_roles & DEFINITION == 0
                && !one.symbol.starts_with("local ")
                && !one.symbol.starts_with("scip-python python python-stdlib ");
            let Some((line, column, held)) = position(one, &texts[path]).filter(|_| is_use) else { continue };
            let is_name = !held.is_empty() && held.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !is_name || !seen.insert((&one.symbol, held.clone())) {
                continue;
            }
            let given = json!({ "file": path, "line": line + 1, "column": column + 1 });
            let answer = server.tool("goto_definition", &given);
            assert_eq!(answer["precision"], "types", "{given}: {answer}");
            let by_types = positions(&answer);
            let stated = defined.get(one.symbol.as_str()).cloned().unwrap_or_default();
            let kind = match (stated.is_empty(), by_types.is_empty()) {
                _ if stated == by_types => {
                    equal += 1;
                    continue;
                }
                (true, _) => "defined by types alone",
                (_, true) => "defined by scip-python alone",
                _ if stated.is_subset(&by_types) => "types have more",
                _ if by_types.is_subset(&stated) => "scip-python has more",
                _ => "different",
            };
            let list = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(" ");
            let shown = format!(
                "{path}:{}:{} {held}  types: {}  scip-python: {}",
                line + 1,
                column + 1,
                list(&by_types),
                list(&stated)
            );
            others.entry(kind).or_default().insert(shown);
        }
    }
    (equal, others)
}

fn is_as_expected(name: &str, version: &str, symbol: &str) {
    let (repo, index) = indexed(name, version);
    let (equal, others) = compared(&repo, &index);
    let mut shown = format!("{name} {version}: {equal} names have the same definitions\n");
    for (kind, lines) in &others {
        shown += &format!("\n{kind}: {}\n{}\n", lines.len(), lines.iter().cloned().collect::<Vec<_>>().join("\n"));
    }
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/scip/{name}.expect"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expected, &shown).unwrap();
    }
    same_lines(&fs::read_to_string(&expected).unwrap_or_default(), &shown);
    // Relations, which have no types, use what it states.
    let called = repo.call("get_symbol", &json!({ "symbol_name": symbol, "relations": true }));
    let groups = called["relations"][0]["groups"].as_array().unwrap();
    let callers = groups.iter().find(|group| group["relation"] == "called_by").unwrap();
    assert_eq!(callers["items"][0]["how"], "scip", "{callers}");
}

fn same_lines(expected: &str, found: &str) {
    let (expected, found): (BTreeSet<&str>, BTreeSet<&str>) = (expected.lines().collect(), found.lines().collect());
    let gone: Vec<&&str> = expected.difference(&found).collect();
    let new: Vec<&&str> = found.difference(&expected).collect();
    assert!(gone.is_empty() && new.is_empty(), "gone: {gone:#?}\nnew: {new:#?}");
}

#[test]
#[ignore = "most of it is the time of scip-python: `.ci/soak golden` runs it"]
fn its_definitions_in_requests_differ_from_those_by_types_only_where_listed() {
    is_as_expected("requests", "2.32.5", "merge_setting");
}

#[test]
#[ignore = "takes half a minute: `.ci/soak golden` runs it"]
fn its_definitions_in_flask_differ_from_those_by_types_only_where_listed() {
    is_as_expected("flask", "3.1.2", "get_root_path");
}
