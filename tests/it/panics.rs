//! Traces of a panic: the place in the source and no text of the repository, and the rest of an answer.

use std::process::Command;

use expect_test::expect;
use ixmcp::panics;
use serde_json::Value;

use crate::support::harness::Repo;

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

/// A typeshed in which builtins have no base other than `object` and no module `typing`: ty 0.0.94 panics at subclasses.
#[test]
fn code_at_which_the_checker_panics_is_left_out_and_the_rest_is_annotated() {
    let repo = Repo::new(
        r#"
//- /ty.toml
environment.typeshed = "stubs"
src.exclude = ["stubs"]
//- /stubs/stdlib/VERSIONS
builtins: 3.0-
types: 3.0-
//- /stubs/stdlib/types.pyi
class NoneType: ...
class ModuleType: ...
class FunctionType: ...
class MethodType: ...
//- /stubs/stdlib/builtins.pyi
class object:
    def __init__(self) -> None: ...
class type: ...
class int: ...
class bool(int): ...
class BaseException: ...
class str:
    def __init__(self, value: object = ...) -> None: ...
    def join(self, parts: list) -> str: ...
class list: ...
class dict: ...
class function: ...
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

OPTIONS = str(1)


class Heir(Base):
    def run(self, job: str) -> str:
        return job


def table(rows):
    count("x")
    return str(rows)


def make(size):
    return take(size)


def name(parts: list):
    return "".join(parts)
"#,
    );
    let run = |arguments: &[&str]| {
        let output = repo.without_python(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (code, checked) = run(&["check", "--output-format", "concise"]);
    assert_eq!(code, 101);
    // The location is that of a dependency's source on this machine.
    assert!(checked.contains("use.py:1:1: fatal[panic]"), "{checked}");
    let inferred = repo.without_python(&["infer", "--json"]).output().unwrap().stdout;
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
        library.py parameter number: str | int (medium)
        use.py return table: str (high)
        use.py return make: str (high)
        library.py parameter take.size: none, a call passes a value of unknown type
        library.py return count: none, `"str | int"` has a lower confidence than requested
        library.py return Base.run: none, a returned value has an unknown type
        library.py parameter Base.run.job: none, no default, and no call with a known type
        use.py variable OPTIONS: none, the type checker panicked here
        use.py parameter table.rows: none, no default, and no call with a known type
        use.py parameter make.size: none, no default, and no call with a known type
        use.py return name: none, the type checker panicked here"#]]
    .assert_eq(&found.join("\n"));
    // A rename that misses a reference would be wrong, so the query fails.
    let (code, renamed) = run(&["rename", "library.py:10:9", "go"]);
    assert_eq!(code, 2);
    let (said, _) = renamed.split_once("/salsa-").unwrap_or_else(|| panic!("{renamed}"));
    assert!(said.starts_with("ixmcp: INTERNAL: the type engine panicked at /"), "{renamed}");
    assert!(renamed.ends_with(". Try another position, or report a bug.\n"), "{renamed}");
}
