//! What a panic leaves behind: the place in the source and no text of the repository, and the rest of an answer.

use std::process::Command;

use expect_test::expect;
use ixmcp::panics;

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
fn where_the_checker_panics_the_rest_is_annotated_and_renamed() {
    let repo = Repo::new(
        r#"
//- /typing.py
//- /library.py
def take(size=1):
    return str(size)
//- /use.py
from library import take


def table(rows):
    return "%(a)s" % dict(a=rows, b=1)


def make():
    return table(take(2))


make()
take(3)
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
    let (_, inferred) = run(&["infer"]);
    expect![[r#"
        library.py
        1  take -> str  (high: the returned value)
        1  take.size: int  (medium: its default 1, 2 calls in 1 file)
        2 annotations; 3 symbols without a suggestion (see --json)
        the type checker panicked at 1 file
    "#]]
    .assert_eq(&inferred);
    let (_, renamed) = run(&["rename", "library.py:1:5", "grab"]);
    let added: Vec<&str> = renamed.lines().filter(|line| line.starts_with('+')).collect();
    expect![[r#"
        +++ b/library.py
        +def grab(size=1):
        +++ b/use.py
        +from library import grab
        +    return table(grab(2))
        +grab(3)"#]]
    .assert_eq(&added.join("\n"));
    let (_, references) = run(&["refs", "library.py:1:5"]);
    expect![[r#"
        library.py:1:5  definition  def take(size=1):
        use.py:1:21  import  from library import take
        use.py:9:18  read  return table(take(2))
        use.py:13:1  read  take(3)
    "#]]
    .assert_eq(&references);
}
