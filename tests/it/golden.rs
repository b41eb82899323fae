//! The embedded engine compared with the released checker, on packages from PyPI.
//!
//! `.ci/soak golden` compares Django and twelve packages with their tests: the trees that `IXMCP_GOLDEN_TREES` lists.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

const PACKAGES: &[&str] = &["requests", "flask", "click", "attrs"];

pub fn clients() -> PathBuf {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    assert!(clients.join("ty/bin/ty").exists(), "run .ci/setup first: it installs what is compared with");
    clients
}

pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && entry.file_name() != "__pycache__" => copy(&path, &target),
            kind if kind.is_file() => drop(std::fs::copy(&path, &target).unwrap()),
            _ => {}
        }
    }
}

/// A repository with a package in it. Both checkers use the same environment, in which its dependencies are missing.
pub fn package(name: &str) -> Repo {
    let repo = Repo::new("");
    copy(&clients().join("packages").join(name), repo.path());
    repo
}

pub fn with_environment(mut command: Command) -> Command {
    command.env("VIRTUAL_ENV", clients().join("ty"));
    command
}

/// file:line:column, severity and rule.
fn ours(repo: &Repo) -> BTreeSet<String> {
    let output = with_environment(repo.command(&["check", "--json"])).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{}:{} {}[{}]", text("file"), one["line"], one["column"], text("severity"), text("code"))
    };
    answer["diagnostics"].as_array().unwrap().iter().map(shown).collect()
}

fn theirs(folder: &Path) -> BTreeSet<String> {
    let mut command = with_environment(Command::new(clients().join("ty/bin/ty")));
    let output = command.args(["check", "--output-format", "concise"]).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let shown = |line: &str| {
        let (position, rest) = line.split_once(": ")?;
        let (severity, _) = rest.split_once("] ")?;
        Some(format!("{position} {severity}]"))
    };
    text.lines().filter_map(shown).collect()
}

/// The diagnostics that only one of the two reports, and the number of ours.
fn differences(repo: &Repo) -> (BTreeSet<String>, usize) {
    let (ours, theirs) = (ours(repo), theirs(repo.path()));
    (ours.symmetric_difference(&theirs).cloned().collect(), ours.len())
}

/// Asserts that both report the same diagnostics. Returns their number. In cyclic definitions the result of the release
/// itself varies between runs (Django's `mutable_list.py`), so a difference counts if all runs show it.
fn assert_parity(repo: &Repo, name: &str) -> usize {
    const RUNS: usize = 4;
    let (mut different, count) = differences(repo);
    for _ in 1..RUNS {
        if different.is_empty() {
            break;
        }
        let (again, _) = differences(repo);
        different.retain(|one| again.contains(one));
    }
    assert!(different.is_empty(), "{name}: {different:#?}");
    count
}

#[test]
fn doctor_names_the_crates_and_the_release_that_is_compared_with() {
    let manifest = include_str!("../../Cargo.toml");
    let crates = manifest.lines().find_map(|line| line.strip_prefix("ty_python_semantic = \"=")?.split('"').next());
    let version = Command::new(clients().join("ty/bin/ty")).arg("--version").output().unwrap().stdout;
    let repo = Repo::new("//- /a.py\nx = 1\n");
    let said = String::from_utf8(repo.run(&["doctor", "python"]).stdout).unwrap();
    for named in [String::from_utf8(version).unwrap().trim(), &format!("crates {}", crates.unwrap())] {
        assert!(said.contains(named), "{named}: {said}");
    }
}

#[test]
fn diagnostics_match_the_release() {
    for name in PACKAGES {
        let count = assert_parity(&package(name), name);
        assert!(count > 10, "{name}: {count}");
    }
}

#[test]
fn nested_projects_are_checked_like_the_released_checker() {
    let repo = Repo::new("");
    let settings = [
        ("requests", "[environment]\npython-version = \"3.10\"\n[rules]\nall = \"warn\"\n"),
        ("click", "[src]\nexclude = [\"click/testing.py\", \"core.py\"]\n[rules]\nunresolved-import = \"ignore\"\n"),
    ];
    let mut theirs_in_all = BTreeSet::new();
    for (name, text) in settings {
        copy(&clients().join("packages").join(name), &repo.path().join(name));
        repo.write(&format!("{name}/ty.toml"), text);
        let found = theirs(&repo.path().join(name));
        assert!(!found.is_empty());
        theirs_in_all.extend(found.into_iter().map(|line| format!("{name}/{line}")));
    }
    let ours = ours(&repo);
    let different: Vec<&String> = ours.symmetric_difference(&theirs_in_all).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn patterns_match_the_same_files_as_the_released_checker() {
    let repo = Repo::new("");
    for file in ["t.py", "a/t.py", "a/b/t.py", "a/b/u.py", "c/t.py", "dist/d.py", "a/dist/d.py"] {
        repo.write(file, "x: int = \"\"\n");
    }
    for settings in [
        r#"[src]\nexclude = ["t.py", "b", "/c", "."]"#,
        r#"[src]\nexclude = ["*.py", "a/*", "!dist", "./c/"]"#,
        r#"[src]\nexclude = ["**/t.py", "!a/b/t.py", "!**/dist/"]"#,
        r#"[src]\nexclude = ["", "a/**/u.py", "[ab]/t.py", "a//b/./t.py"]"#,
        r#"[src]\ninclude = ["a", "t.py"]\nexclude = ["a/b/"]"#,
        r#"[src]\ninclude = ["**/u.py", "c*", "/a"]"#,
        r#"[src]\ninclude = [""]\nexclude = ["?.py"]"#,
        "[[overrides]]\ninclude = [\"a\"]\nexclude = [\"a/b\"]\n[overrides.rules]\ninvalid-assignment = \"warn\"",
        "[[overrides]]\ninclude = [\"t.py\", \"**/u.py\"]\n[overrides.rules]\ninvalid-assignment = \"ignore\"",
    ] {
        repo.write("ty.toml", settings.replace("\\n", "\n"));
        let theirs = theirs(repo.path());
        assert!(!theirs.is_empty(), "{settings}");
        assert_eq!(ours(&repo), theirs, "{settings}");
    }
}

#[test]
#[ignore = "takes minutes, and the trees to check"]
fn diagnostics_of_large_trees_match_the_release() {
    let trees = std::env::var_os("IXMCP_GOLDEN_TREES").expect("IXMCP_GOLDEN_TREES names the trees to check");
    for tree in std::env::split_paths(&trees) {
        let repo = Repo::new("");
        copy(&tree, repo.path());
        let name = tree.display().to_string();
        println!("{name}: {} diagnostics", assert_parity(&repo, &name));
    }
}

/// A sample of the identifiers in a package's files.
fn identifiers(repo: &Repo, name: &str, every: usize) -> Vec<Value> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![repo.path().join(name)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "py") {
                files.push(entry);
            }
        }
    }
    files.sort();
    let mut positions = Vec::new();
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let shown = file.strip_prefix(repo.path()).unwrap().to_str().unwrap().to_owned();
        for (number, line) in text.lines().enumerate() {
            let code = line.split('#').next().unwrap();
            let mut before = ' ';
            for (at, c) in code.chars().enumerate() {
                let begins = (c.is_alphabetic() || c == '_') && !(before.is_alphanumeric() || before == '_');
                before = c;
                count += usize::from(begins);
                if begins && count % every == 0 {
                    positions.push(json!({ "file": shown, "line": number + 1, "column": at + 1 }));
                }
            }
        }
    }
    positions
}

fn positions(answer: &Value, list: &str) -> BTreeSet<String> {
    let shown = |item: &Value| format!("{}:{}:{}", item["file"].as_str().unwrap(), item["line"], item["column"]);
    // Their references lack constructions and operators.
    let named = answer[list].as_array().unwrap().iter().filter(|item| item["role"] != "call");
    named.map(shown).collect()
}

/// The definitions and references that the released server reports for each of these positions.
fn their_answers(repo: &Repo, asked: &[Value]) -> Vec<[BTreeSet<String>; 2]> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/ty_server.py");
    let mut server = with_environment(Command::new("python3"))
        .arg(script)
        .arg(clients().join("ty/bin/ty"))
        .arg(repo.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines: String = asked.iter().map(|position| format!("{position}\n")).collect();
    let mut stdin = server.stdin.take().unwrap();
    // Read the answers while sending, so that neither pipe fills up.
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let reported = String::from_utf8(server.wait_with_output().unwrap().stdout).unwrap();
    writer.join().unwrap().unwrap();
    let answers: Vec<Value> = reported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), asked.len());
    let list = |answer: &Value, name: &str| {
        answer[name].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    answers.iter().map(|answer| ["definitions", "references"].map(|name| list(answer, name))).collect()
}

fn position(shown: &str) -> Value {
    let mut parts = shown.splitn(3, ':');
    let file = parts.next().unwrap();
    let mut number = || parts.next().unwrap().parse::<u32>().unwrap();
    json!({ "file": file, "line": number(), "column": number() })
}

/// A query sent to both servers, with the answers.
struct Compared {
    tool: &'static str,
    position: Value,
    ours: BTreeSet<String>,
    theirs: BTreeSet<String>,
    /// Where they say the name is defined.
    meant: BTreeSet<String>,
}

impl Compared {
    /// References that only we report.
    fn extra(&self) -> impl Iterator<Item = &String> {
        self.ours.difference(&self.theirs).filter(|_| self.tool == "find_references")
    }
}

fn compared(repo: &Repo, asked: &[Value]) -> Vec<Compared> {
    let mut server = Server::start(with_environment(repo.command(&["mcp", "--no-daemon"])));
    let mut compared = Vec::new();
    for (position, [definitions, references]) in asked.iter().zip(their_answers(repo, asked)) {
        let meant = definitions.clone();
        for (tool, list, theirs) in
            [("goto_definition", "definitions", definitions), ("find_references", "references", references)]
        {
            let ours = positions(&server.call(tool, position), list);
            // Their bundled stubs are in a cache of their own.
            let is_comparable = !theirs.iter().chain(&ours).any(|one| one.contains("typeshed") || one.starts_with('/'));
            if is_comparable && !(ours.is_empty() && theirs.is_empty()) {
                compared.push(Compared { tool, position: position.clone(), ours, theirs, meant: meant.clone() });
            }
        }
    }
    compared
}

/// The references of the released server leave out positions whose definition it resolves: attributes assigned to
/// `self`, in other files; components of `from .module import`. Such a reference of ours agrees with their definitions
/// and is not a difference.
#[test]
fn definitions_and_references_match_the_released_server() {
    let (mut asked, mut equal, mut vouched, mut different) = ([0, 0], [0, 0], 0, Vec::new());
    for (name, every) in [("requests", 53), ("click", 97)] {
        let repo = package(name);
        let mut compared = compared(&repo, &identifiers(&repo, name, every));
        let extra: BTreeSet<String> = compared.iter().flat_map(Compared::extra).cloned().collect();
        let extra: Vec<String> = extra.into_iter().collect();
        let at: Vec<Value> = extra.iter().map(|shown| position(shown)).collect();
        let answers: BTreeMap<String, BTreeSet<String>> =
            extra.into_iter().zip(their_answers(&repo, &at)).map(|(shown, [meant, _])| (shown, meant)).collect();
        for one in &mut compared {
            let right: Vec<String> =
                one.extra().filter(|shown| !answers[*shown].is_disjoint(&one.meant)).cloned().collect();
            vouched += right.len();
            one.theirs.extend(right);
            let at = usize::from(one.tool == "find_references");
            asked[at] += 1;
            if one.ours == one.theirs {
                equal[at] += 1;
            } else {
                different.push(format!("{} {}: ours {:?}, theirs {:?}", one.tool, one.position, one.ours, one.theirs));
            }
        }
    }
    println!("equal {equal:?} of {asked:?} definitions and references, {vouched} places by their own definitions");
    for at in 0..2 {
        assert!(asked[at] >= 60, "{asked:?}");
        assert!(equal[at] * 100 >= asked[at] * 99, "{equal:?} of {asked:?}: {different:#?}");
    }
}

const ODD: &str = include_str!("../../fixtures/types/odd.txt");

const OF_A_PATTERN: &str =
    "a keyword of a class pattern means the member, for them a name around it that reads the same";

/// Where our definitions differ from theirs, and why.
const DEFINED_OTHERWISE: &[(&str, &str)] = &[
    ("odd.py:56:24", "`super()` has the property of the base; they find no properties by it"),
    ("odd.py:73:37", "a keyword of `dataclasses.replace` means the member; they know nothing of it"),
    ("odd.py:77:20", OF_A_PATTERN),
    ("odd.py:77:26", OF_A_PATTERN),
    ("odd.py:92:20", OF_A_PATTERN),
    ("odd.py:92:25", OF_A_PATTERN),
    ("odd.py:94:19", OF_A_PATTERN),
    ("odd.py:169:32", "a keyword of `functools.partial` is one of the function; they know nothing of it"),
];

#[test]
fn definitions_in_unusual_constructs_match_the_released_server() {
    let repo = Repo::new(ODD);
    let asked = identifiers(&repo, "", 1);
    let mut server = Server::start(with_environment(repo.command(&["mcp", "--no-daemon"])));
    let is_own = |shown: &&String| !shown.contains("typeshed") && !shown.starts_with('/');
    let (mut named, mut different) = (0, Vec::new());
    for (position, [theirs, _]) in asked.iter().zip(their_answers(&repo, &asked)) {
        let ours = positions(&server.call("goto_definition", position), "definitions");
        named += usize::from(!theirs.is_empty());
        // Outside the repository, only compare whether there is a definition: their bundled stubs have another path.
        let reported = |all: &BTreeSet<String>| {
            let own: BTreeSet<String> = all.iter().filter(is_own).cloned().collect();
            (all.len() > own.len(), own)
        };
        if reported(&ours) != reported(&theirs) {
            let shown = format!("{}:{}:{}", position["file"].as_str().unwrap(), position["line"], position["column"]);
            different.push((shown, ours, theirs));
        }
    }
    assert!(named >= 700, "{named}");
    let differs: BTreeSet<&str> = different.iter().map(|(shown, ..)| shown.as_str()).collect();
    let expected: BTreeSet<&str> = DEFINED_OTHERWISE.iter().map(|(shown, _)| *shown).collect();
    assert_eq!(differs, expected, "{different:#?}");
}
