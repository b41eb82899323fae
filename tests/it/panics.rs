//! What a panic leaves behind: the place in the source and no text of the repository, and the rest of an answer.

use std::process::Command;

use expect_test::expect;
use ixmcp::panics;
use serde_json::Value;

use crate::harness::Repo;

const TEXT: &str = "größe = geheim";

#[test]
#[ignore = "it replaces the panic hook of its process: the test below starts one"]
fn a_slice_within_a_character() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    panics::log_locations();
    let error = panics::caught(|| Ok(TEXT[..3].len())).unwrap_err();
    println!("{error}");
}

#[test]
fn a_panic_is_logged_and_answered_with_its_location_alone() {
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--exact", "panics::a_slice_within_a_character", "--ignored", "--nocapture"]);
    let output = this.env_remove("RUST_LOG").env("RUST_BACKTRACE", "1").output().unwrap();
    let (answer, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(answer.contains("INTERNAL: the program panicked at tests/it/panics.rs:"), "{answer}");
    assert!(log.contains("a panic at tests/it/panics.rs:"), "{log}");
    for text in ["größe", "geheim", "byte index"] {
        assert!(!answer.contains(text) && !log.contains(text), "{answer}{log}");
    }
}

/// With a module `typing` of the project's own, ty 0.0.73 and 0.0.74 panic at calls of `dict` with keywords.
#[test]
fn code_at_which_the_checker_panics_is_left_out_and_the_rest_is_annotated() {
    let repo = Repo::new(
        r#"
//- /typing.py
//- /library.py
def take(size=1):
    return str(size)


def count(number=1):
    return number


class Base:
    def run(self, job):
        return job
//- /use.py
from library import Base, count, take

OPTIONS = dict(a=1)


class Heir(Base):
    def run(self, job: str) -> str:
        return job


def table(rows):
    count("x")
    return "%(a)s" % dict(a=rows, b=1)


def make(size):
    return take(size)


def name(parts: list[str]):
    return "".join(parts)
"#,
    );
    let run = |arguments: &[&str]| {
        let output = repo.command(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (code, checked) = run(&["check", "--output-format", "concise"]);
    assert_eq!(code, 101);
    assert!(checked.contains("use.py:1:1: fatal[panic]"), "{checked}");
    let inferred = repo.command(&["infer", "--json"]).output().unwrap().stdout;
    let inferred: Value = serde_json::from_slice(&inferred).unwrap();
    let mut found: Vec<String> = Vec::new();
    for one in inferred["suggestions"].as_array().unwrap() {
        let [file, name, kind, display, confidence] =
            ["file", "name", "kind", "type", "confidence"].map(|key| one[key].as_str().unwrap_or_default());
        found.push(format!("{file} {kind} {name}: {display} ({confidence})"));
    }
    for one in inferred["skipped"].as_array().unwrap() {
        let [file, name, kind, reason] = ["file", "name", "kind", "reason"].map(|key| one[key].as_str().unwrap());
        found.push(format!("{file} {kind} {name}: none, {reason}"));
    }
    expect![[r#"
        library.py return take: str (high)
        library.py parameter size: int (medium)
        library.py return count: int (medium)
        library.py parameter number: int (medium)
        library.py return Base.run: none, a returned value has an unknown type
        library.py parameter Base.run.job: none, no default, and no call with a known type
        use.py variable OPTIONS: none, the type checker panicked here
        use.py return table: none, the type checker panicked here
        use.py parameter table.rows: none, the type checker panicked here
        use.py return make: none, the type checker panicked here
        use.py parameter make.size: none, the type checker panicked here
        use.py return name: none, the type checker panicked here"#]]
    .assert_eq(&found.join("\n"));
    // A rename that misses a reference would be wrong, so the query fails.
    let (code, renamed) = run(&["rename", "library.py:1:5", "grab"]);
    assert_eq!(code, 2);
    assert!(renamed.contains("the type engine panicked"), "{renamed}");
}
