//! `python.engine = "ty"`: an installed ty checks, by its command line, and the embedded engine answers everything else.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect;
use serde_json::{Value, json};

use crate::golden::{clients, package, with_environment};
use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;

/// A release that is newer than the embedded engine, and the newest on PyPI if `.ci/soak golden` has installed it.
fn releases() -> Vec<PathBuf> {
    let programs = ["ty-newer", "ty-newest"].map(|name| clients().join(name).join("bin/ty"));
    assert!(programs[0].exists(), "run .ci/setup first: it installs what is compared with");
    programs.into_iter().filter(|program| program.exists()).collect()
}

fn newer() -> PathBuf {
    releases().swap_remove(0)
}

fn with(mut command: Command, program: &Path) -> Command {
    command.env("IXMCP_PYTHON_ENGINE", "ty").env("IXMCP_PYTHON_TY", program);
    with_environment(command)
}

fn ours_in(repo: &Repo, folder: &str, program: &Path, arguments: &[&str]) -> Output {
    let command = repo.command(&[&["check"], arguments].concat());
    with(command, program).current_dir(repo.path().join(folder)).output().unwrap()
}

fn theirs_in(repo: &Repo, folder: &str, program: &Path, arguments: &[&str]) -> Output {
    let mut command = with_environment(Command::new(program));
    command.arg("check").args(arguments).current_dir(repo.path().join(folder)).output().unwrap()
}

/// The lines of a report without the one that counts.
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let is_count = |line: &&str| line.starts_with("Found ") || line.starts_with("All checks");
    text.lines().filter(|line| !is_count(line)).map(str::to_owned).collect()
}

/// Compares both in a format, and how they exit.
fn assert_equal(repo: &Repo, folder: &str, program: &Path, arguments: &[&str]) -> Vec<String> {
    let (ours, theirs) = (ours_in(repo, folder, program, arguments), theirs_in(repo, folder, program, arguments));
    let said = String::from_utf8_lossy(&ours.stderr);
    assert_eq!(lines(&ours), lines(&theirs), "{folder} {arguments:?}: {said}");
    assert_eq!(ours.status.code(), theirs.status.code(), "{folder} {arguments:?}: {said}");
    lines(&theirs)
}

const CONCISE: [&str; 2] = ["--output-format", "concise"];

/// A program for a ty that misbehaves.
fn script(repo: &Repo, text: &str) -> PathBuf {
    let path = repo.home().join("bin/ty");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn diagnostics_of_packages_are_those_of_the_installed_release() {
    for program in releases() {
        for name in ["requests", "flask", "click", "attrs"] {
            let found = assert_equal(&package(name), "", &program, &CONCISE);
            assert!(found.len() > 10, "{name}: {}", found.len());
        }
    }
}

const MIXED: &str = r#"
//- /shop/cart.py
class Cart:
    def total(self, discount: int = 1) -> int:
        return (
            "é𝒳" +
            1
        )


class Big(Cart):
    def total(self, discount: str = "") -> int:
        return 1


Cart().total("a")
print(gone)  # ty: ignore[nothing]
//- /shop/book.ipynb
{"cells": [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["words"]}, {"cell_type": "code", "execution_count": null, "id": "b", "metadata": {}, "outputs": [], "source": ["import os\n", "w = 1\n"]}, {"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": ["x: int = 1\n", "y: int = 'é'\n"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
//- /a b/é#%.py
z: int = ""
//- /fine.py
x = 1
"#;

#[test]
fn every_format_shows_what_the_installed_release_shows() {
    let repo = Repo::new(MIXED);
    for program in releases() {
        assert_equal(&repo, "", &program, &CONCISE);
        let text = assert_equal(&repo, "", &program, &[]);
        assert!(text.iter().any(|line| line.contains("--> shop/book.ipynb:cell 3:2:10")), "{text:#?}");
        assert!(text.iter().any(|line| line.starts_with("info: ")), "{text:#?}");
    }
}

#[test]
fn an_answer_has_ranges_cells_notes_and_the_number_of_files() {
    let repo = Repo::new(MIXED);
    let mut server = Server::start(with(repo.command(&["mcp", "--no-daemon"]), &newer()));
    let answer = server.call("check", &json!({ "notes": true }));
    assert_eq!((&answer["files_checked"], &answer["precision"]), (&json!(4), &json!("types")));
    let of = |answer: &Value, code: &str| {
        let all = answer["diagnostics"].as_array().unwrap();
        all.iter().find(|one| one["code"] == code).unwrap_or_else(|| panic!("{code}: {answer}")).clone()
    };
    let range = |one: &Value| ["line", "column", "end_line", "end_column"].map(|name| one[name].as_u64().unwrap());
    assert_eq!(range(&of(&answer, "unsupported-operator")), [4, 13, 5, 14]);
    let overriding = of(&answer, "incompatible-method-override");
    let noted = overriding["notes"].as_array().unwrap();
    assert_eq!((&noted[0]["file"], &noted[0]["line"]), (&json!("shop/cart.py"), &json!(2)), "{overriding}");
    assert!(noted.iter().any(|note| note["kind"] == "info"), "{overriding}");
    let in_book = server.call("check", &json!({ "file": "shop/book.ipynb" }));
    let in_cell = &in_book["diagnostics"][0];
    assert_eq!((&in_cell["cell"], range(in_cell)), (&json!(3), [2, 10, 2, 13]));
    assert_eq!(in_book["files_checked"], 1);
    let fine = server.call("check", &json!({ "files": ["fine.py", "a b"] }));
    assert_eq!((&fine["files_checked"], &fine["total"]), (&json!(2), &json!(1)));
    // Filters and pages are the same as without it.
    let warnings = server.call("check", &json!({ "severity": "warning" }));
    assert_eq!((&warnings["total"], &warnings["errors"]), (&json!(1), &answer["errors"]));
    let page = server.call("check", &json!({ "limit": 2, "offset": 1 }));
    assert_eq!(
        page["diagnostics"].as_array().unwrap()[..],
        answer["diagnostics"].as_array().unwrap()[1..3]
            .iter()
            .map(|one| {
                let mut one = one.clone();
                one.as_object_mut().unwrap().remove("notes");
                one
            })
            .collect::<Vec<_>>()[..]
    );
    assert_eq!((&page["truncated"], &page["next_offset"]), (&json!(true), &json!(3)));
}

#[test]
fn everything_else_is_answered_by_the_embedded_engine() {
    let repo = Repo::new(
        r#"
//- /shop.py
class Cart:
    def total(self):
        return 1

    def sum(self):
        return 2


class Big(Cart):
    def total(self):
        return 3


cart = Cart()
getattr(cart, "total")
"#,
    );
    for program in releases() {
        let mut server = Server::start(with(repo.command(&["mcp", "--no-daemon"]), &program));
        let at = json!({ "file": "shop.py", "line": 2, "column": 9 });
        let refused =
            server.call("rename_symbol", &json!({ "file": "shop.py", "line": 2, "column": 9, "new_name": "sum" }));
        assert!(!refused["refused"].as_array().unwrap().is_empty(), "{refused}");
        let renamed =
            server.call("rename_symbol", &json!({ "file": "shop.py", "line": 2, "column": 9, "new_name": "count" }));
        assert_eq!(renamed["total_edits"], 2, "the override too: {renamed}");
        assert_eq!(renamed["unsure"][0]["line"], 15, "{renamed}");
        let roles = server.call("find_references", &json!({ "file": "shop.py", "line": 14, "column": 1 }));
        assert_eq!(roles["references"][0]["role"], "definition", "{roles}");
        assert_eq!(server.call("type_at", &at)["type"], "def total(self) -> Unknown");
        let inferred = server.call("infer_types", &json!({ "file": "shop.py" }));
        assert!(!inferred["suggestions"].as_array().unwrap().is_empty(), "{inferred}");
    }
}

#[test]
fn named_files_and_folders_are_those_that_it_checks() {
    let repo = Repo::new(
        r#"
//- /ty.toml
[src]
exclude = ["left_out", "**/never.py"]
//- /left_out/a.py
x: int = ""
//- /left_out/never.py
x: int = ""
//- /left_out/sub/b.py
x: int = ""
//- /in.py
x: int = ""
"#,
    );
    let embedded = |arguments: &[&str]| with_environment(repo.command(arguments)).output().unwrap();
    for named in
        [&["left_out/a.py"][..], &["left_out"], &["left_out/sub"], &["left_out/never.py", "in.py"], &["."], &[]]
    {
        let found = assert_equal(&repo, "", &newer(), &[&CONCISE[..], named].concat());
        assert!(!found.is_empty(), "{named:?}");
        let without = embedded(&[&["check", "--output-format", "concise"], named].concat());
        assert_eq!(lines(&without), found, "{named:?}");
        let counted = String::from_utf8(without.stderr).unwrap();
        assert!(counted.starts_with(&format!("{} file", found.len())), "{named:?}: {counted}");
    }
}

#[test]
fn members_of_a_workspace_and_nested_projects_are_checked_in_their_folder() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "whole"
version = "0"
requires-python = ">=3.12"
[tool.uv.workspace]
members = ["packages/*"]
//- /top.py
x: int = ""
//- /packages/one/pyproject.toml
[project]
name = "one"
version = "0"
requires-python = ">=3.9"
//- /packages/one/src/one/__init__.py
import sys
from typing import reveal_type
x: int = ""
reveal_type(sys.version_info[:2])
//- /packages/one/tests/test_one.py
import one
y: str = one.x
//- /packages/two/pyproject.toml
[project]
name = "two"
version = "0"
requires-python = ">=3.12"
//- /packages/two/two.py
x: int = ""
"#,
    );
    for program in releases() {
        for folder in ["", "packages/one", "packages/one/src", "packages/two"] {
            let found = assert_equal(&repo, folder, &program, &CONCISE);
            assert!(!found.is_empty(), "{folder}");
        }
    }
    // A folder with settings for the checker has them wherever the check begins.
    repo.write("nested/ty.toml", "[rules]\nall = \"warn\"\n");
    repo.write("nested/n.py", "x: int = \"\"\n");
    let alone = theirs_in(&repo, "nested", &newer(), &CONCISE);
    let whole = lines(&ours_in(&repo, "", &newer(), &CONCISE));
    let nested: Vec<&String> = whole.iter().filter(|line| line.starts_with("nested/")).collect();
    assert_eq!(
        nested,
        lines(&alone).iter().map(|line| format!("nested/{line}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert!(whole.iter().any(|line| line.starts_with("top.py:")), "{whole:#?}");
}

#[test]
fn without_paths_the_embedded_engine_checks_the_project_of_the_current_folder() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "whole"
version = "0"
[tool.uv.workspace]
members = ["packages/*"]
//- /top.py
x: int = ""
//- /packages/one/pyproject.toml
[project]
name = "one"
version = "0"
//- /packages/one/one.py
x: int = ""
//- /packages/one/inner/deep.py
x: int = ""
//- /packages/two/pyproject.toml
[project]
name = "two"
version = "0"
//- /packages/two/two.py
x: int = ""
//- /loose/l.py
x: int = ""
"#,
    );
    let program = clients().join("ty/bin/ty");
    for settings in ["", "[tool.ty.rules]\ndivision-by-zero = \"warn\"\n"] {
        let project = "[project]\nname = \"whole\"\nversion = \"0\"\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n";
        repo.write("pyproject.toml", format!("{project}{settings}"));
        for folder in ["", "packages", "packages/one", "packages/one/inner", "loose"] {
            let theirs: BTreeSet<String> = lines(&theirs_in(&repo, folder, &program, &CONCISE)).into_iter().collect();
            let command = with_environment(repo.command(&["check", "--output-format", "concise"]));
            let mut command = command;
            let ours = command.current_dir(repo.path().join(folder)).output().unwrap();
            let ours: BTreeSet<String> = lines(&ours).into_iter().collect();
            let root = repo.path().canonicalize().unwrap();
            let relative = |lines: BTreeSet<String>| {
                lines.into_iter().map(|line| line.replace(&format!("{}/", root.display()), "")).collect::<BTreeSet<_>>()
            };
            assert_eq!(relative(ours), relative(theirs), "{folder} {settings}");
        }
    }
}

#[test]
fn a_failure_is_reported_in_its_words() {
    let repo = Repo::new("//- /a.py\nx: int = \"\"\n");
    let run = |command: Command| {
        let output = { command }.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let mut command = with(repo.command(&["check"]), &newer());
    command.env("VIRTUAL_ENV", "/nowhere");
    let (code, said) = run(command);
    assert_eq!(code, Some(2), "{said}");
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: ty failed Cause: Failed to discover local Python environment Cause: Invalid `VIRTUAL_ENV` environment variable `/nowhere`: points to a broken venv with no pyvenv.cfg file Cause: No such file or directory (os error 2). Correct what ty names, or set python.engine = "embedded". `ixmcp doctor python` shows the environment.
    "#]].assert_eq(&said);
    repo.write("ty.toml", "[rules]\nunresolved-reference = \"loud\"\n");
    let (code, said) = run(with(repo.command(&["check"]), &newer()));
    assert_eq!(code, Some(2), "{said}");
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: ty failed Cause: REPOSITORY/ty.toml is not a valid `ty.toml` Cause: TOML parse error at line 2, column 24 | 2 | unresolved-reference = "loud" |                        ^^^^^^ unknown variant `loud`, expected one of `ignore`, `warn`, `error`. Correct what ty names, or set python.engine = "embedded". `ixmcp doctor python` shows the environment.
    "#]].assert_eq(&said.replace(repo.path().canonicalize().unwrap().to_str().unwrap(), "REPOSITORY"));
    repo.remove("ty.toml");
    let mut reasons = String::new();
    for missing in ["/nowhere/ty", "no-such-program", "relative/ty"] {
        let mut server = Server::start(with(repo.command(&["mcp", "--no-daemon"]), Path::new(missing)));
        let refused = server.response("check", &json!({}))["error"].take();
        assert_eq!(refused["data"]["code"], "INVALID_ARGUMENT", "{refused}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        reasons += &format!("{}. {}\n", text(&refused["message"]), text(&refused["data"]["hint"]));
        assert_eq!(server.call("symbols", &json!({ "file": "a.py" }))["symbols"][0]["name"], "x");
    }
    expect![[r#"
        the program /nowhere/ty is not there, and python.engine is "ty". Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = "embedded".
        the program no-such-program is not there, and python.engine is "ty". Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = "embedded".
        the program relative/ty is not there, and python.engine is "ty". Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = "embedded".
    "#]].assert_eq(&reasons);
    let folder = repo.home().join("no-program");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("ty"), "not a program").unwrap();
    let (code, said) = run(with(repo.command(&["check"]), &folder.join("ty")));
    assert_eq!(code, Some(2), "{said}");
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: cannot start FOLDER/ty: Permission denied (os error 13). Set python.ty to the full path of ty, or python.engine to "embedded".
    "#]].assert_eq(&said.replace(folder.to_str().unwrap(), "FOLDER"));
}

#[test]
fn exit_codes_other_than_its_own_and_strange_output_are_errors() {
    let repo = Repo::new("//- /a.py\nx: int = \"\"\n");
    let mut transcript = String::new();
    for text in [
        "exit 0",
        "echo words",
        "echo '{}'",
        "echo 'a bug' >&2; exit 101",
        "echo 'what is that' >&2; exit 2",
        "kill -9 $$",
        "echo half; kill -9 $$",
        "yes | head -c 300000000",
    ] {
        let output = ours_in(&repo, "", &script(&repo, text), &CONCISE);
        let said = String::from_utf8(output.stderr).unwrap();
        transcript += &format!("{text}\n{said}exit code {}\n", output.status.code().unwrap());
    }
    expect![[r#"
        exit 0
        ixmcp: INTERNAL: HOME/bin/ty exited with 0: ty failed without a reason. Correct what ty names, or set python.engine = "embedded". `ixmcp doctor python` shows the environment.
        exit code 2
        echo words
        ixmcp: INVALID_ARGUMENT: HOME/bin/ty printed something other than SARIF. Set python.ty to ty 0.0.94 or newer, or python.engine to "embedded".
        exit code 2
        echo '{}'
        ixmcp: INVALID_ARGUMENT: HOME/bin/ty printed something other than SARIF. Set python.ty to ty 0.0.94 or newer, or python.engine to "embedded".
        exit code 2
        echo 'a bug' >&2; exit 101
        1 file checked: 1 diagnostic
        the type checker panicked at 1 file
        exit code 101
        echo 'what is that' >&2; exit 2
        ixmcp: INVALID_ARGUMENT: what is that. Correct what ty names, or set python.engine = "embedded". `ixmcp doctor python` shows the environment.
        exit code 2
        kill -9 $$
        ixmcp: INTERNAL: HOME/bin/ty crashed. Check a single file, or set python.engine = "embedded".
        exit code 2
        echo half; kill -9 $$
        ixmcp: INTERNAL: HOME/bin/ty crashed. Check a single file, or set python.engine = "embedded".
        exit code 2
        yes | head -c 300000000
        ixmcp: INTERNAL: HOME/bin/ty printed more than 256 MiB. Check fewer files, or only errors, by the rules in the project's settings.
        exit code 2
    "#]].assert_eq(&transcript.replace(repo.home().to_str().unwrap(), "HOME"));
}

/// Processes whose command line contains a word.
fn running(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let texts = processes.filter_map(|path| std::fs::read(path).ok());
    texts.filter(|text| String::from_utf8_lossy(text).contains(word)).count()
}

#[test]
fn a_check_that_does_not_end_is_killed_with_its_children() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    let program = script(&repo, "sleep 86399.25 & exec sleep 86399.25");
    let mut command = with(repo.command(&["mcp", "--no-daemon"]), &program);
    command.env("IXMCP_PYTHON_LONGEST", "10s");
    let mut server = Server::start(command);
    let refused = server.response("check", &json!({}))["error"].take();
    let message = refused["message"].as_str().unwrap().replace(program.to_str().unwrap(), "PROGRAM");
    assert_eq!(message, "PROGRAM did not finish within 10 s and was killed");
    assert_eq!(refused["data"]["code"], "TIMEOUT", "{refused}");
    until("both are gone", || running("86399.25") == 0);
}

#[test]
fn a_daemon_checks_again_only_after_a_change() {
    let repo = Repo::new("//- /a.py\nx: int = \"\"\ny: int = \"\"\n");
    let log = repo.home().join("runs");
    let program = script(&repo, &format!("echo run >> {}\nexec {} \"$@\"", log.display(), newer().display()));
    let mut server = Server::start(with(repo.command(&["mcp", "--no-daemon"]), &program));
    let runs = || std::fs::read_to_string(&log).unwrap().lines().count();
    // The first answers may come while nothing is watched yet.
    until("changes are noticed", || {
        let before = server.call("check", &json!({}));
        let known = runs();
        server.call("check", &json!({ "limit": 1, "offset": 1 }));
        before["errors"] == 2 && runs() == known
    });
    repo.write("a.py", "x: int = 1\ny: int = \"\"\n");
    assert_eq!(server.call("check", &json!({}))["errors"], 1);
}

#[test]
fn nothing_of_the_repository_is_run() {
    let repo = Repo::new(
        r#"
//- /ty.toml
[project-manager]
script = "uv"
//- /job.py
# /// script
# requires-python = ">=3.11"
# dependencies = ["requests"]
# ///
import requests
//- /.ixmcp.toml
[python]
engine = "ty"
ty = "bin/ty"
"#,
    );
    let log = repo.home().join("log");
    for name in ["bin/ty", "bin/uv", ".venv/bin/ty"] {
        repo.write(name, format!("#!/bin/sh\necho {name} >> {}\nexit 1\n", log.display()));
        let path = repo.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    repo.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    let path = |command: &mut Command| {
        let folders =
            [repo.path().join("bin"), repo.path().join(".venv/bin"), "bin".into(), "/usr/bin".into(), "/bin".into()];
        command.env("PATH", std::env::join_paths(folders).unwrap());
    };
    // A repository may not choose the engine.
    let mut command = repo.command(&["check"]);
    path(&mut command);
    let _checked_by_the_embedded_engine = command.output().unwrap();
    // The user may, and a name on PATH does not lead into the repository.
    let mut command = repo.command(&["check"]);
    path(&mut command);
    let output = command.env("IXMCP_PYTHON_ENGINE", "ty").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let expected = "ixmcp: INVALID_ARGUMENT: the program ty is not there, and python.engine is \"ty\". Install ty, and set python.ty to its full path or a name on PATH outside of the repository; or set python.engine = \"embedded\".";
    assert_eq!(said.lines().last(), Some(expected));
    // Its settings can make ty run uv, which would install what they name.
    let mut theirs = with_environment(Command::new(newer()));
    path(&mut theirs);
    theirs.arg("check").current_dir(repo.path()).output().unwrap();
    assert!(std::fs::read_to_string(&log).unwrap().contains("bin/uv"), "ty has changed: this shows nothing any more");
    std::fs::remove_file(&log).unwrap();
    let mut command = with(repo.command(&["check", "--output-format", "concise"]), &newer());
    path(&mut command);
    let output = command.output().unwrap();
    expect!["job.py:5:8: error[import-not-found] Cannot resolve imported module `requests`"]
        .assert_eq(&lines(&output).join("\n"));
    assert!(!log.exists(), "{}", std::fs::read_to_string(&log).unwrap_or_default());
}

#[test]
fn the_former_name_of_the_setting_is_accepted() {
    let repo = Repo::new("//- /a.py\nx: int = \"\"\nx.gone\n");
    let mut command = with(repo.command(&["check", "--output-format", "concise"]), &newer());
    let output = command.env("IXMCP_PYTHON_ENGINE", "ty-server").output().unwrap();
    expect![[r#"
        a.py:1:10: error[invalid-assignment] Object of type `Literal[""]` is not assignable to `int`
        a.py:2:1: error[missing-attribute] Object of type `int` has no attribute `gone`"#]]
    .assert_eq(&lines(&output).join("\n"));
}

#[test]
fn ignore_comments_may_name_rules_as_newer_releases_do() {
    let repo = Repo::new(
        r#"
//- /a.py
import gone  # type: ignore[ty:import-not-found]
"".nope  # ty: ignore[missing-attribute]
"".old  # ty: ignore[unresolved-attribute]
"".other  # ty: ignore[import-not-found]
# ty: ignore[missing-attribute]
"".below
"".kept
values = [
    # ty: ignore[missing-attribute]

    "".inner,
    "".kept,  # reason # ty: ignore[not-callable, missing-attribute]
    "".kept,
]
# ty: ignore[missing-attribute]
more = (
    "".first,
    "".second,
)


def f(x: int) -> int:
    return """
"""  # ty: ignore[invalid-explicit-return]


f("")  # ty: ignore[redundant-condition, invalid-argument-type]
3()  # ty: ignore[ not-callable , ]
3()  # ty: ignore[nothing]
//- /top.py
# ty: ignore[missing-attribute]
"".nope
"".nope
3()
//- /quiet.py
"".nope  # ty: ignore[missing-attribute]
3()  # ty: ignore[not-callable]
"#,
    );
    let errors = |lines: Vec<String>| -> BTreeSet<String> {
        let position = |line: String| line.split_once(": error[").map(|(position, _)| position.to_owned());
        lines.into_iter().filter_map(position).collect()
    };
    let ours = with_environment(repo.command(&["check", "--output-format", "concise"])).output().unwrap();
    let reported = lines(&ours);
    assert_eq!(errors(reported.clone()), errors(lines(&theirs_in(&repo, "", &newer(), &CONCISE))), "{reported:#?}");
    let unknown: Vec<&String> = reported.iter().filter(|line| line.contains("[ignore-comment-unknown-rule]")).collect();
    assert_eq!(unknown, ["a.py:29:19: warning[ignore-comment-unknown-rule] Unknown rule `nothing`"]);
    assert!(!reported.iter().any(|line| line.starts_with("quiet.py")), "{reported:#?}");
}

#[test]
fn settings_and_comments_may_name_every_rule_of_a_newer_release() {
    let explained = Command::new(newer()).args(["explain", "rule", "--output-format", "json"]).output().unwrap();
    let rules: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let names: Vec<&str> = rules.as_array().unwrap().iter().map(|rule| rule["name"].as_str().unwrap()).collect();
    assert!(names.len() > 150, "{}", names.len());
    let repo = Repo::new("");
    repo.write(
        "ty.toml",
        format!("[rules]\n{}", names.iter().map(|name| format!("{name} = \"warn\"\n")).collect::<String>()),
    );
    repo.write("a.py", names.iter().map(|name| format!("x = 1  # ty: ignore[{name}]\n")).collect::<String>());
    let answer = repo.call("check", &json!({}));
    let unknown = |one: &&Value| one["code"].as_str().unwrap().contains("unknown-rule");
    let unknown: Vec<&Value> = answer["diagnostics"].as_array().unwrap().iter().filter(unknown).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Newer releases split rules: the level of one part says nothing of the others.
#[test]
fn a_level_or_comment_for_a_part_of_a_rule_leaves_its_other_parts() {
    let repo = Repo::new(
        r#"
//- /a.py
from enum import Enum
from typing import NewType, TypedDict, TypeVar


class A:
    here = 1


class T(TypedDict):
    a: int


def f(x: A | int, t: T, key: str) -> None:
    x.here
    A().nope
    A().nope  # ty: ignore[missing-union-attribute]
    x.here  # ty: ignore[missing-union-attribute]
    t["b"]
    t[key]


def g() -> int:
    return ""


def h(x: bool) -> int:
    if x:
        return 1


def numbers() -> int:
    yield 1


S = TypeVar("U")
N = NewType("M", int)
//- /sub/b.py
class B: ...


B().nope
"#,
    );
    for rules in [
        "missing-union-attribute = 'ignore'",
        "missing-attribute = 'ignore'",
        "missing-attribute = 'ignore'\nmissing-union-attribute = 'ignore'",
        "missing-attribute = 'warn'\nmissing-union-attribute = 'error'",
        "invalid-implicit-return = 'ignore'",
        "invalid-explicit-return = 'warn'",
        "non-literal-typed-dict-key = 'ignore'",
        "mismatched-newtype-name = 'ignore'\nmismatched-typevar-name = 'warn'",
        "all = 'warn'\nmissing-attribute = 'error'",
        "missing-attribute = 'ignore'\n[[overrides]]\ninclude = ['sub']\n[overrides.rules]\nmissing-attribute = 'warn'",
    ] {
        repo.write("ty.toml", format!("[rules]\n{rules}\n"));
        let levels = |lines: Vec<String>| -> BTreeSet<String> {
            let position = |line: String| Some(line.split_once('[')?.0.to_owned());
            let is_of_rule = |line: &String| line.contains(".py:") && !line.contains("[unused-ignore-comment]");
            lines.into_iter().filter(is_of_rule).filter_map(position).collect()
        };
        let ours = with_environment(repo.command(&["check", "--output-format", "concise"])).output().unwrap();
        let theirs = theirs_in(&repo, "", &newer(), &CONCISE);
        assert_eq!(levels(lines(&ours)), levels(lines(&theirs)), "{rules}: {:#?}", lines(&ours));
    }
}
