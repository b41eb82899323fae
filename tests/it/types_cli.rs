//! The commands for types as used in a terminal and in CI: relative paths, exit codes, unusual texts.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

fn check_in(repo: &Repo, folder: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut all = vec!["check"];
    all.extend(arguments);
    let output = repo.without_python(&all).current_dir(repo.path().join(folder)).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn at(file: &str, line: u32, column: u32) -> Value {
    json!({ "file": file, "line": line, "column": column })
}

const WARNED: &str = r"
//- /a.py
def f() -> int:
    # ty: ignore[nope]
    return 1
";

#[test]
fn a_check_without_the_packages_of_the_project_says_what_to_do() {
    let imports: String = ["attrs", "httpx", "numpy", "rich", "yaml"].map(|name| format!("import {name}\n")).concat();
    let repo = Repo::new("");
    repo.write("a.py", format!("{imports}x: int = ''\n"));
    let (_, _, said) = check_in(&repo, "", &["--output-format", "concise"]);
    let hint = "5 of 6 are modules that are not found: install the project's packages in `.venv`; `ixmcp doctor python` \
        shows where they are looked for";
    assert_eq!(said.lines().collect::<Vec<_>>(), ["1 file checked: 6 diagnostics", hint]);
    repo.write("a.py", "x: int = ''\nimport numpy\n");
    let (_, _, said) = check_in(&repo, "", &["--output-format", "concise"]);
    assert_eq!(said.trim(), "1 file checked: 2 diagnostics");
}

#[test]
fn warnings_do_not_fail_a_check_for_errors_only() {
    let repo = Repo::new(WARNED);
    let code = |arguments: &[&str]| check_in(&repo, "", arguments).0;
    assert_eq!(code(&[]), Some(1));
    assert_eq!(code(&["--exit-zero-on-warning"]), Some(0));
    assert_eq!(code(&["--severity", "warning"]), Some(1));
    assert_eq!(code(&["--severity", "error"]), Some(0));
    let (_, shown, said) = check_in(&repo, "", &["--severity", "error"]);
    assert_eq!(
        (shown.as_str(), said.trim()),
        ("", "1 file checked: no diagnostics of this severity; 0 errors, 1 warning")
    );
    repo.write("b.py", "x: int = \"\"\n");
    assert_eq!(code(&["--severity", "error"]), Some(1));
    assert_eq!(code(&["--severity", "info"]), Some(1), "errors that are not listed are errors");
    assert_eq!(code(&["--exit-zero-on-warning"]), Some(1));
}

#[test]
fn paths_are_printed_relative_to_the_current_folder() {
    let repo = Repo::new(
        r#"
//- /top.py
x: int = ""
//- /sub/low.py
from top import x

y: str = x
"#,
    );
    let root = repo.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let (_, shown, _) = check_in(&repo, "sub", &["--output-format", "concise"]);
    let places: Vec<&str> = shown.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["low.py:3:10", format!("{root}/top.py:1:10").as_str()]);
    let (_, shown, _) = check_in(&repo, "sub", &["low.py"]);
    expect![[r#"
        error[invalid-assignment]: Object of type `int` is not assignable to `str`
         --> low.py:3:10
          |
        1 | from top import x
        2 |
        3 | y: str = x
          |    ---   ^ Incompatible value of type `int`
          |    |
          |    Declared type

    "#]]
    .assert_eq(&shown.replace(root, "REPOSITORY"));
    // In JSON, paths are relative to the repository, as in every tool.
    let (_, shown, _) = check_in(&repo, "sub", &["low.py", "--json"]);
    let answer: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(answer["diagnostics"][0]["file"], "sub/low.py");
    let (_, shown, _) = check_in(&repo, "sub", &["--output-format", "github"]);
    expect![[r#"
        ::error title=ty (invalid-assignment),file=REPOSITORY/sub/low.py,line=3,col=10,endLine=3,endColumn=11::low.py:3:10: invalid-assignment: Object of type `int` is not assignable to `str`%0A  low.py:3:4: Declared type
        ::error title=ty (invalid-assignment),file=REPOSITORY/top.py,line=1,col=10,endLine=1,endColumn=12::REPOSITORY/top.py:1:10: invalid-assignment: Object of type `Literal[""]` is not assignable to `int`%0A  REPOSITORY/top.py:1:4: Declared type
    "#]].assert_eq(&shown.replace(root, "REPOSITORY"));
    // A file is found relative to the current folder and to the repository.
    assert_eq!(check_in(&repo, "sub", &["sub/low.py"]).0, Some(1));
    let mut command = repo.command(&["def", "low.py:3:10"]);
    let output = command.current_dir(repo.path().join("sub")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with(&format!("{root}/top.py:1:1")));
    let mut command = repo.command(&["refs", "low.py:3:1"]);
    let output = command.current_dir(repo.path().join("sub")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("low.py:3:1 "));
}

#[test]
fn what_cannot_be_read_is_not_counted_as_checked() {
    let repo = Repo::new("//- /good.py\nx: int = 1\n");
    repo.write("latin.py", b"# \xe9\n");
    let (code, _, said) = check_in(&repo, "", &["--output-format", "concise"]);
    assert_eq!(code, Some(2));
    assert_eq!(said.lines().collect::<Vec<_>>(), ["1 file checked: 1 diagnostic", "1 file could not be read"]);
}

#[test]
fn a_line_past_the_end_is_named_as_a_reader_counts_in_every_language() {
    let repo = Repo::new("//- /a.py\nx = 1\ny = 2\n//- /a.rs\nfn f() {}\nfn g() {}\n");
    let reported = ["a.py:999:1", "a.rs:999:1"].map(|at| repo.run(&["def", at]).stderr);
    expect![[r#"
        ixmcp: NOT_FOUND: line 999 is past the end; the file has 2 lines. Lines and columns are 1-based; columns count characters.
        ixmcp: NOT_FOUND: line 999 is past the end; the file has 2 lines. Lines and columns are 1-based; columns count characters.
    "#]].assert_eq(&String::from_utf8(reported.concat()).unwrap());
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_line() {
    let repo = Repo::new("");
    repo.write("a.py", "\u{feff}x: int = \"\"\ny: int = \"\"\n\n\ndef f(a=1):\n    return a\n");
    let answer = repo.call("check", &json!({}));
    let columns: Vec<&Value> = answer["diagnostics"].as_array().unwrap().iter().map(|one| &one["column"]).collect();
    assert_eq!(columns, [&json!(10), &json!(10)]);
    assert_eq!(repo.call("type_at", &at("a.py", 1, 1))["expression"], "x");
    // Text inserted at the start goes after the byte order mark.
    repo.write("b.py", "\u{feff}def f(a=1): return a\n");
    let patch = repo.ok(&["infer", "b.py", "--diff"]);
    expect![[r#"
        --- a/b.py
        +++ b/b.py
        @@ -1 +1 @@
        -BOM def f(a=1): return a
        +BOM def f(a: int = 1) -> int: return a
    "#]]
    .assert_eq(&patch.replace('\u{feff}', "BOM "));
}

/// The code is that of `ty check | head -1`.
#[test]
fn a_reader_that_goes_away_does_not_change_the_exit_code() {
    let repo = Repo::new("");
    let wrong: String = (0..20_000).map(|at| format!("x{at}: int = ''\n")).collect();
    repo.write("a.py", wrong);
    for (text, code) in [("", 1), ("# type: ignore\n", 0)] {
        let path = repo.path().join("a.py");
        let source = std::fs::read_to_string(&path).unwrap();
        repo.write("a.py", format!("{text}{source}"));
        let mut child = repo
            .without_python(&["check", "--output-format", "concise"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}
