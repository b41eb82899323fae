//! The references to definitions of real packages, against a service or compiler of the language.
//!
//! `.ci/soak references` names the packages and the programs, which are in `tests/authorities`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::harness::Server;

/// The least recall and precision for functions, types and values of modules, and for members whose receivers have stated types.
const LEAST_RECALL: f64 = 0.90;
const LEAST_PRECISION: f64 = 0.95;
const MEMBERS: &[&str] = &["method", "field"];

/// The part of a package that a language's own program reads: the first line of its output.
#[derive(Default)]
struct Scope {
    files: BTreeSet<String>,
    /// The lines of those files that it does not read.
    unread: BTreeSet<(String, u64)>,
    /// The names of members that are reached through values of stated types, if it says which these are.
    declared: Option<BTreeSet<Position>>,
}

impl Scope {
    fn from_line(line: &str) -> Self {
        let said: Value = serde_json::from_str(line).unwrap();
        let files = said["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_owned()).collect();
        let lines = said["unread"].as_object().into_iter().flatten().flat_map(|(file, lines)| {
            lines.as_array().unwrap().iter().map(move |line| (file.clone(), line.as_u64().unwrap()))
        });
        Self {
            files,
            unread: lines.collect(),
            declared: said["declared"].is_array().then(|| positions(&said["declared"])),
        }
    }

    fn keep(&self, found: &mut BTreeSet<Position>, definition: &Position, is_member: bool) {
        found.retain(|one| {
            let is_read = self.files.contains(&one.0) && !self.unread.contains(&(one.0.clone(), one.1));
            let is_measured =
                !is_member || self.declared.as_ref().is_none_or(|all| all.contains(one) || one == definition);
            is_read && is_measured
        });
    }
}

type Position = (String, u64, u64);

#[derive(Default)]
struct Counts {
    definitions: usize,
    wanted: usize,
    right: usize,
    found: usize,
    complete: usize,
    /// Definitions whose answer claims to be complete, and is not.
    wrongly_complete: usize,
}

impl Counts {
    fn recall(&self) -> f64 {
        share(self.right, self.wanted)
    }

    fn precision(&self) -> f64 {
        share(self.right, self.found)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap()) }
}

fn positions(list: &Value) -> BTreeSet<Position> {
    let one = |one: &Value| Some((one[0].as_str()?.to_owned(), one[1].as_u64()?, one[2].as_u64()?));
    list.as_array().unwrap().iter().map(|item| one(item).unwrap()).collect()
}

/// All pages of an answer, and whether it claims to be complete.
fn found(server: &mut Server, definition: &Value) -> (BTreeSet<Position>, bool) {
    let (mut all, mut is_complete, mut offset) = (BTreeSet::new(), true, 0);
    loop {
        let (file, line, column) = (&definition["file"], &definition["line"], &definition["column"]);
        let given = json!({ "file": file, "line": line, "column": column, "limit": 1000, "offset": offset });
        let answer = server.call("find_references", &given);
        let items = answer["references"].as_array().unwrap_or_else(|| panic!("{given}: {answer}"));
        all.extend(positions(&items.iter().map(|one| json!([one["file"], one["line"], one["column"]])).collect()));
        is_complete &= answer["complete"] != json!(false);
        match answer["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => return (all, is_complete),
        }
    }
}

/// Each line of `IXMCP_REFERENCES` is a language, a folder, and the command that prints its definitions with their references.
#[test]
#[ignore = "`.ci/soak references` installs the programs and the packages"]
fn references_are_those_of_each_languages_own_service() {
    let table = std::env::var("IXMCP_REFERENCES").expect("IXMCP_REFERENCES lists packages");
    let mut languages: BTreeMap<String, BTreeMap<String, Counts>> = BTreeMap::new();
    for row in table.lines().filter(|row| !row.trim().is_empty()) {
        let columns: Vec<&str> = row.trim().split('|').map(str::trim).collect();
        let [language, folder, command] = columns[..] else { panic!("three columns: {row}") };
        let output = Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let mut server = Server::start(program(folder));
        let output = String::from_utf8_lossy(&output.stdout);
        let mut lines = output.lines();
        let scope = Scope::from_line(lines.next().unwrap());
        assert!(!scope.files.is_empty(), "{command} reads no files");
        let mut lines = lines.peekable();
        assert!(lines.peek().is_some(), "{command} has no definitions");
        for line in lines {
            let definition: Value = serde_json::from_str(line).unwrap();
            let kind = definition["kind"].as_str().unwrap().to_owned();
            let is_member = MEMBERS.contains(&kind.as_str());
            let own = positions(&json!([[definition["file"], definition["line"], definition["column"]]]))
                .pop_first()
                .unwrap();
            let mut wanted = positions(&definition["references"]);
            wanted.insert(own.clone());
            let (mut found, is_complete) = found(&mut server, &definition);
            scope.keep(&mut wanted, &own, is_member);
            scope.keep(&mut found, &own, is_member);
            // Without that list, members whose types are inferred are counted, too, and are not measured.
            let kind = if is_member && scope.declared.is_none() { format!("any {kind}") } else { kind };
            let counts = languages.entry(language.to_owned()).or_default().entry(kind).or_default();
            counts.definitions += 1;
            counts.wanted += wanted.len();
            counts.right += wanted.intersection(&found).count();
            counts.found += found.len();
            counts.complete += usize::from(is_complete);
            counts.wrongly_complete += usize::from(is_complete && !wanted.is_subset(&found));
            for (sign, one, other) in [("missing", &wanted, &found), ("extra", &found, &wanted)] {
                for (file, line, column) in one.difference(other).take(3) {
                    println!("{sign} {} of {folder}: {file}:{line}:{column}", definition["name"]);
                }
            }
        }
    }
    let mut faults = Vec::new();
    for (language, kinds) in &languages {
        for (kind, counts) in kinds {
            println!(
                "{language} {kind:<9} {:>4} definitions, recall {:.3}, precision {:.3}, {} complete, {} of them wrongly",
                counts.definitions,
                counts.recall(),
                counts.precision(),
                counts.complete,
                counts.wrongly_complete
            );
            let is_fault = counts.recall() < LEAST_RECALL || counts.precision() < LEAST_PRECISION;
            if is_fault && !kind.starts_with("any ") {
                faults.push(format!("{language} {kind}"));
            }
        }
    }
    assert!(faults.is_empty(), "too few or too many references: {faults:?}");
}

fn program(folder: &str) -> Command {
    if !Path::new(folder).join(".git").exists() {
        let made = Command::new("git").args(["init", "--quiet", folder]).status().unwrap();
        assert!(made.success());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_ixmcp"));
    command.args(["mcp", "--no-daemon", "--repo", folder]).env("IXMCP_TCP", "off");
    command
}
