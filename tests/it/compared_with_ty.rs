//! `ixmcp check` next to `ty check`: which files it takes, how it ends, what it writes for other programs.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::golden::{clients, package, with_environment};
use crate::support::harness::{Repo, Server};

fn theirs(repo: &Repo, folder: &str, arguments: &[&str]) -> Output {
    let mut command = with_environment(Command::new(clients().join("ty/bin/ty")));
    command.arg("check").args(arguments).current_dir(repo.path().join(folder)).output().unwrap()
}

fn ours(repo: &Repo, folder: &str, arguments: &[&str]) -> Output {
    let all: Vec<&str> = std::iter::once("check").chain(arguments.iter().copied()).collect();
    with_environment(repo.command(&all)).current_dir(repo.path().join(folder)).output().unwrap()
}

fn lines(output: &Output) -> BTreeSet<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// Without what theirs says of the whole.
fn found(output: &Output) -> BTreeSet<String> {
    lines(output).into_iter().filter(|line| !(line.starts_with("Found ") || line.starts_with("All checks"))).collect()
}

#[test]
fn broken_environments_and_unreadable_files_end_it_as_theirs() {
    let cases: [(&str, &[u8], i32); 10] = [
        ("book.ipynb", b"{nope", 2),
        ("book.ipynb", b"{\"cells\": 3}", 2),
        ("book.ipynb", b"", 2),
        ("book.ipynb", b"{\"worksheets\": [], \"metadata\": {}, \"nbformat\": 3, \"nbformat_minor\": 0}", 2),
        ("other.py", b"x = \"\xff\"\n", 2),
        ("ty.toml", b"environment.python = \"gone\"\n", 2),
        ("ty.toml", b"environment.python = \"main.py\"\n", 2),
        ("ty.toml", b"environment.python = \"empty\"\n", 2),
        (".venv/pyvenv.cfg", b"home = /nowhere\n", 2),
        (".venv/other", b"", 0),
    ];
    for (name, content, expected) in cases {
        let repo = Repo::new("//- /main.py\nx: int = 1\n//- /empty/keep.txt\n");
        repo.write(name, content);
        let mut theirs = Command::new(clients().join("ty/bin/ty"));
        let theirs = theirs.arg("check").current_dir(repo.path()).env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
        let said = theirs.output().unwrap();
        assert_eq!(said.status.code(), Some(expected), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        for options in [&[][..], &["--exit-zero-on-warning"], &["--severity", "warning"], &["--json"]] {
            let output = repo.run(&[&["check"], options].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(expected), "{name} {options:?}: {text}");
        }
    }
}

const WRONG: &str = r#"
//- /a.py
x: int = ""
//- /b.py
y: int = 1
//- /sub/c.py
x: int = ""
//- /docs/x.txt
words
"#;

#[test]
fn it_ends_as_theirs_whatever_the_settings() {
    let repo = Repo::new(WRONG);
    for settings in [
        "",
        "[project\n",
        "[tool.ty]\nnope = 1\n",
        "[tool.ty]\nrules = 3\n",
        "[tool.ty.rules]\nnope = \"warn\"\n",
        "[tool.ty.rules]\ninvalid-assignment = \"warn\"\n",
        "[tool.ty.rules]\ninvalid-assignment = \"loud\"\n",
        "[tool.ty.rules]\ninvalid-assignment = \"ignore\"\n",
        "[tool.ty.environment]\npython-version = \"9.9\"\n",
        "[tool.ty.environment]\npython = \"/nowhere\"\n",
        "[tool.ty.environment]\nroot = [\"nowhere\"]\n",
        "[tool.ty.environment]\nextra-paths = [\"nowhere\"]\n",
        "[tool.ty.environment]\ntypeshed = \"nowhere\"\n",
        "[tool.ty.src]\ninclude = [\"a b\"]\n",
        "[tool.ty.src]\ninclude = \"a\"\n",
        "[tool.ty.analysis]\nstrict-literal-narrowing = true\n",
        "[tool.ty.analysis]\nreturn-type-inference = \"always\"\n",
        "[tool.ty.analysis]\nreturn-type-inference = \"sometimes\"\n",
        "[tool.ty]\nbaseline = 3\n",
        "[tool.ty.analysis]\nallowed-unresolved-imports = [\"a..b\"]\n",
        "[tool.ty.terminal]\noutput-format = \"github\"\n",
        "[tool.ty.terminal]\nerror-on-warning = 3\n",
        "[[tool.ty.overrides]]\ninclude = [\"a.py\"]\n[tool.ty.overrides.rules]\ninvalid-assignment = \"ignore\"\n",
        "[[tool.ty.overrides]]\nnope = 1\n",
        "[project]\nrequires-python = \"x\"\n",
        "[project]\nrequires-python = 3\n",
        "[project]\nrequires-python = \"<3.12\"\n",
        "[project]\nrequires-python = \"\"\n",
        "[project]\nrequires-python = \"<3.12\"\n[tool.ty.environment]\npython-version = \"3.11\"\n",
        "[tool.ty.terminal]\noutput-format = \"nope\"\n",
        "[project]\nrequires-python = \">=3.9\"\n",
    ] {
        repo.write("pyproject.toml", settings);
        for arguments in [&[][..], &["a.py"], &["b.py"]] {
            let (ours, theirs) = (ours(&repo, "", arguments), theirs(&repo, "", arguments));
            assert_eq!(ours.status.code(), theirs.status.code(), "{settings:?} {arguments:?}: {ours:?} {theirs:?}");
        }
    }
}

#[test]
fn settings_without_effect_are_warned_of_as_theirs() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    for settings in [
        "[[tool.ty.overrides]]\n[tool.ty.overrides.rules]\ninvalid-assignment = \"ignore\"\n",
        "[tool.ty.src]\ninclude = [\"a.py\"]\n[[tool.ty.overrides]]\ninclude = [\"a.py\"]\n",
        "[[tool.ty.overrides]]\ninclude = [\"a.py\"]\nrules = {}\n",
        "[[tool.ty.overrides]]\ninclude = []\n[tool.ty.overrides.rules]\ninvalid-assignment = \"ignore\"\n",
        "[[tool.ty.overrides]]\nexclude = []\n[tool.ty.overrides.rules]\ninvalid-assignment = \"ignore\"\n",
        "[[tool.ty.overrides]]\nexclude = [\"b\"]\n[tool.ty.overrides.analysis]\nrespect-type-ignore-comments = false\n",
        "[[tool.ty.overrides]]\n",
    ] {
        repo.write("pyproject.toml", settings);
        let [ours, theirs] = [ours, theirs].map(|check| check(&repo, "", &["--output-format", "concise"]));
        let warnings = |output: &Output| -> Vec<String> {
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            text.lines().filter(|line| line.starts_with("pyproject.toml")).map(str::to_owned).collect()
        };
        assert_eq!(warnings(&ours), warnings(&theirs), "{settings:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{settings:?}");
    }
}

#[test]
fn it_takes_the_files_and_folders_that_theirs_takes() {
    let repo = Repo::new(WRONG);
    repo.write("ty.toml", "[src]\nexclude = [\"left.py\", \"out\"]\n");
    repo.write("left.py", "x: int = \"\"\n");
    repo.write("out/d.py", "x: int = \"\"\n");
    for (folder, arguments) in [
        ("", &["."][..]),
        ("", &["sub"]),
        ("", &["sub/", "a.py"]),
        ("", &["a.py", "b.py"]),
        ("", &["a.py", "a.py", "./a.py"]),
        ("", &["b.py"]),
        ("", &["docs"]),
        ("", &["left.py"]),
        ("", &["left.py", "b.py"]),
        ("", &["gone.py"]),
        ("sub", &["."]),
        ("sub", &[".."]),
        ("sub", &["c.py", "../a.py"]),
    ] {
        let with_format: Vec<&str> = arguments.iter().copied().chain(["--output-format", "concise"]).collect();
        let (ours, theirs) = (ours(&repo, folder, &with_format), theirs(&repo, folder, &with_format));
        assert_eq!(ours.status.code(), theirs.status.code(), "{folder} {arguments:?}: {ours:?}");
        // What is not there is an error of ours, and a line of theirs. Above the current folder, ours are absolute
        // paths.
        if folder.is_empty() && ours.status.code() != Some(2) {
            assert_eq!(found(&ours), found(&theirs), "{folder} {arguments:?}");
        }
    }
}

#[test]
fn a_file_that_the_settings_leave_out_is_checked_by_name_alone() {
    let repo = Repo::new(
        r#"
//- /ty.toml
[src]
exclude = ["left.py"]
//- /left.py
def f(x=1):
    return x


y: str = f("")
z: int = ""
"#,
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    for _ in 0..2 {
        assert_eq!(server.call("check", &json!({}))["total"], 0);
        assert_eq!(server.call("check", &json!({ "file": "left.py" }))["total"], 1);
    }
    // What is inferred of it is checked, too.
    let inferred = server.call("infer_types", &json!({ "file": "left.py" }));
    let kinds: Vec<&Value> = inferred["suggestions"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, [&json!("parameter")], "{inferred}");
}

#[test]
fn annotations_for_github_are_those_of_theirs() {
    for name in ["requests", "click"] {
        let repo = package(name);
        let arguments = ["--output-format", "github"];
        // Where ours can be read.
        let bundled = |line: String| line.replace(".ixmcp/typeshed/", "");
        let ours: BTreeSet<String> = lines(&ours(&repo, "", &arguments)).into_iter().map(bundled).collect();
        let theirs = found(&theirs(&repo, "", &arguments));
        let different: Vec<&String> = ours.symmetric_difference(&theirs).collect();
        assert!(theirs.len() > 10 && different.is_empty(), "{name}: {different:#?}");
    }
}

#[test]
fn sarif_has_what_its_readers_need() {
    let repo = Repo::new(
        r#"
//- /a b/ü.py
def f(x: int) -> None: ...


f(
    "é",
)
f("é" * 2)
//- /ty.toml
[rules]
nope = "warn"
"#,
    );
    let sarif: Value = serde_json::from_slice(&ours(&repo, "", &["--output-format", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"], json!([{ "executionSuccessful": true }]));
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules, &[json!({ "id": "invalid-argument-type" }), json!({ "id": "unknown-rule" })]);
    for one in run["results"].as_array().unwrap() {
        let at = usize::try_from(one["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], one["ruleId"]);
        assert!(["error", "warning", "note"].contains(&one["level"].as_str().unwrap()));
        assert!(!one["message"]["text"].as_str().unwrap().is_empty());
        for place in one["locations"].as_array().into_iter().chain(one["relatedLocations"].as_array()).flatten() {
            let artifact = &place["physicalLocation"]["artifactLocation"];
            assert!(["a%20b/%C3%BC.py", "ty.toml"].contains(&artifact["uri"].as_str().unwrap()), "{artifact}");
            assert_eq!(artifact["uriBaseId"], "%SRCROOT%");
            let region = &place["physicalLocation"]["region"];
            let number = |name: &str| region[name].as_u64().unwrap();
            assert!((1, 1) <= (number("startLine"), number("startColumn")));
            assert!((number("startLine"), number("startColumn")) < (number("endLine"), number("endColumn")));
        }
    }
    let first = &run["results"][0];
    assert_eq!(first["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    assert_eq!(first["relatedLocations"][0]["message"]["text"], "Function defined here");
    repo.write("ty.toml", "nope = 1\n");
    let broken = ours(&repo, "", &["--output-format", "sarif"]);
    assert_eq!(broken.status.code(), Some(2));
    let sarif: Value = serde_json::from_slice(&broken.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn errors_in_a_scripts_own_settings_are_reported_at_their_position() {
    let repo = Repo::new(
        r#"
//- /s.py
"""A script."""
# /// script
# requires-python = ">=3.11"
# [tool.ty]
# nope = 1
# ///
x = 1
"#,
    );
    let arguments = ["s.py", "--output-format", "concise"];
    let (ours, theirs) = (ours(&repo, "", &arguments), theirs(&repo, "", &arguments));
    assert_eq!(ours.status.code(), theirs.status.code());
    let place = |output: &Output| found(output).first().map(|line| line.split("] ").next().unwrap().to_owned());
    assert_eq!(place(&ours).as_deref(), Some("s.py:5:3: error[invalid-script-metadata"));
    assert_eq!(place(&ours), place(&theirs));
}

#[test]
fn settings_may_name_rules_as_newer_releases_do() {
    let repo = Repo::new(
        r#"
//- /a.py
import nowhere

x: int = nowhere.y
"".missing
(1)()
//- /ty.toml
[rules]
import-not-found = "ignore"
missing-attribute = "warn"
not-callable = "error"
renamed-rule-in-ignore-comment = "error"
"#,
    );
    let answer = repo.call("check", &json!({}));
    let found: Vec<String> = answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", one["file"], one["severity"], one["code"]).replace('"', ""))
        .collect();
    assert_eq!(found, ["a.py warning unresolved-attribute", "a.py error call-non-callable"], "{answer}");
    repo.write("ty.toml", "[rules]\nnot-a-rule = \"warn\"\nimport-not-found = \"ignore\"\n");
    assert!(repo.call("check", &json!({})).to_string().contains("Unknown rule `not-a-rule`"));
}
