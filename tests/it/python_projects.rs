//! Which settings apply to a Python file: several projects in one repository, scripts, notebooks.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

/// `file:line:column severity[rule]` of every diagnostic.
fn found(answer: &Value) -> Vec<String> {
    let shown = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{}:{} {}[{}]", text("file"), one["line"], one["column"], text("severity"), text("code"))
    };
    answer["diagnostics"].as_array().unwrap().iter().map(shown).collect()
}

fn positions(answer: &Value, list: &str) -> Vec<String> {
    let items = answer[list].as_array().unwrap().iter();
    items.map(|item| format!("{}:{}:{}", item["file"].as_str().unwrap(), item["line"], item["column"])).collect()
}

const TWO: &str = "
//- /a/pyproject.toml
[project]
name = \"a\"
requires-python = \">=3.9\"
//- /a/src/shop/__init__.py
match 1:
    case _:
        pass

total: int = \"\"
//- /a/tests/test_shop.py
from shop import total
//- /b/ty.toml
[environment]
extra-paths = [\"../a/src\"]
[rules]
invalid-assignment = \"warn\"
[src]
exclude = [\"vendor\"]
[terminal]
error-on-warning = false
//- /b/main.py
from shop import total

paid: int = \"\"
print(total)
//- /b/vendor/x.py
wrong: int = \"\"
//- /loose.py
import shop
";

#[test]
fn each_project_of_a_repository_has_its_own_settings() {
    let repo = Repo::new(TWO);
    let expected = [
        "a/src/shop/__init__.py:1:1 error[invalid-syntax]",
        "a/src/shop/__init__.py:5:14 error[invalid-assignment]",
        "b/main.py:3:13 warning[invalid-assignment]",
        "loose.py:1:8 error[unresolved-import]",
    ];
    assert_eq!(found(&repo.call("check", &json!({}))), expected);
    let of_one = repo.call("check", &json!({ "file": "b/main.py" }));
    assert_eq!((found(&of_one), &of_one["passed"]), (vec![expected[2].to_owned()], &json!(true)));
    assert_eq!(repo.call("check", &json!({ "file": "a/tests/test_shop.py" }))["total"], 0);
}

#[test]
fn a_definition_is_shared_between_projects() {
    let repo = Repo::new(TWO);
    let total = json!({ "file": "a/src/shop/__init__.py", "line": 5, "column": 1 });
    let everywhere = ["a/src/shop/__init__.py:5:1", "a/tests/test_shop.py:1:18", "b/main.py:1:18", "b/main.py:4:7"];
    assert_eq!(positions(&repo.call("find_references", &total), "references"), everywhere);
    let from_afar = json!({ "file": "b/main.py", "line": 4, "column": 7 });
    assert_eq!(positions(&repo.call("find_references", &from_afar), "references"), everywhere);
    assert_eq!(positions(&repo.call("goto_definition", &from_afar), "definitions"), everywhere[..1]);
    let renamed = json!({ "file": "b/main.py", "line": 4, "column": 7, "new_name": "whole" });
    assert_eq!(positions(&crate::rename::flat(repo.call("rename_symbol", &renamed)), "edits"), everywhere);
}

#[test]
fn folders_without_checker_settings_inherit_them() {
    let repo = Repo::new(TWO);
    repo.write("pyproject.toml", "[project]\nname = \"whole\"\nrequires-python = \">=3.12\"\n");
    let expected = [
        "a/src/shop/__init__.py:5:14 error[invalid-assignment]",
        "a/tests/test_shop.py:1:6 error[unresolved-import]",
        // It has settings of its own.
        "b/main.py:3:13 warning[invalid-assignment]",
        "loose.py:1:8 error[unresolved-import]",
    ];
    assert_eq!(found(&repo.call("check", &json!({}))), expected);
}

#[test]
fn members_of_a_uv_workspace_have_their_own_python_version() {
    let match_statement = "match 1:\n    case _: ...\n";
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "whole"
version = "1"
requires-python = ">=3.12"
[tool.uv.workspace]
members = ["packages/*", "./tool/"]
exclude = ["packages/out"]
//- /packages/new/pyproject.toml
[project]
name = "new"
requires-python = ">=3.12"
//- /packages/old/pyproject.toml
[project]
name = "old"
requires-python = ">=3.9"
//- /packages/out/pyproject.toml
[project]
name = "out"
requires-python = ">=3.9"
//- /tool/pyproject.toml
[project]
name = "tool"
requires-python = ">=3.9"
"#,
    );
    let files = ["main.py", "packages/new/new.py", "packages/old/old.py", "packages/out/out.py", "tool/tool.py"];
    for file in files {
        repo.write(file, match_statement);
    }
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut check = || found(&server.call("check", &json!({})));
    let old = "packages/old/old.py:1:1 error[invalid-syntax]";
    assert_eq!(check(), [old, "tool/tool.py:1:1 error[invalid-syntax]"]);
    repo.write("tool/pyproject.toml", "[project]\nname = \"tool\"\nrequires-python = \">=3.10\"\n");
    assert_eq!(check(), [old]);
    repo.write("tool/pyproject.toml", "[project]\nname = \"tool\"\nrequires-python = 3\n");
    assert_eq!(check(), [old, "tool/pyproject.toml:3:19 error[invalid-setting]"]);
    // A version in the settings for the checker applies to all members.
    repo.write("ty.toml", "[environment]\npython-version = \"3.12\"\n");
    assert_eq!(check(), ["tool/pyproject.toml:3:19 error[invalid-setting]"]);
}

#[test]
fn added_changed_and_removed_projects_are_noticed() {
    let repo = Repo::new(
        r#"
//- /lib.py
x: int = ""
//- /b/main.py
y: int = ""
"#,
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut check = |expected: &str| {
        let answer = server.call("check", &json!({}));
        let severity = |file: &str| {
            let of = answer["diagnostics"].as_array().unwrap().iter().find(|one| one["file"] == file);
            of.map_or("none", |one| one["severity"].as_str().unwrap()).to_owned()
        };
        assert_eq!(severity("b/main.py"), expected);
        assert_eq!(severity("lib.py"), "error");
    };
    check("error");
    repo.write("b/ty.toml", "[rules]\ninvalid-assignment = \"warn\"\n");
    check("warning");
    repo.write("b/ty.toml", "[rules]\ninvalid-assignment = \"ignore\"\n");
    check("none");
    repo.remove("b/ty.toml");
    check("error");
}

#[test]
fn invalid_settings_are_reported_at_their_position() {
    let repo = Repo::new(
        r"
//- /b/pyproject.toml
[tool.ty.src]
including = []
//- /b/main.py
x = 1
",
    );
    assert_eq!(found(&repo.call("check", &json!({}))), ["b/pyproject.toml:2:1 error[invalid-setting]"]);
}

#[test]
fn projects_without_an_environment_use_the_enclosing_one() {
    let repo = Repo::new(
        r"
//- /a/ty.toml
[rules]
//- /a/main.py
import box

box.lid()
",
    );
    let site = ".venv/lib/python3.12/site-packages/box/__init__.py";
    repo.write(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.1\n");
    repo.write(site, "def lid() -> int: ...\n");
    assert_eq!(found(&repo.call("check", &json!({}))), Vec::<String>::new());
    let lid = json!({ "file": "a/main.py", "line": 3, "column": 5 });
    assert_eq!(positions(&repo.call("goto_definition", &lid), "definitions"), [format!("{site}:1:5")]);
    // Its own environment takes precedence.
    repo.write("a/.venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.1\n");
    repo.write("a/.venv/lib/python3.12/site-packages/other.py", "");
    assert_eq!(found(&repo.call("check", &json!({}))), ["a/main.py:1:8 error[unresolved-import]"]);
}

const SCRIPT: &str = "# /// script
# requires-python = \">=3.9\"
# dependencies = []
# [tool.ty.rules]
# invalid-assignment = \"warn\"
# ///
import beside

x: int = \"\"
match x:
    case _:
        pass
";

#[test]
fn a_script_is_a_program_of_its_own() {
    let repo = Repo::new(
        r#"
//- /ty.toml
[environment]
python-version = "3.13"
//- /beside.py
"#,
    );
    repo.write("tool.py", SCRIPT);
    let of_script = [
        "tool.py:7:8 error[unresolved-import]",
        "tool.py:9:10 warning[invalid-assignment]",
        "tool.py:10:1 error[invalid-syntax]",
    ];
    assert_eq!(found(&repo.call("check", &json!({}))), of_script);
    // Excluded from the project, but checked by name.
    repo.write("ty.toml", "[src]\nexclude-scripts = true\n");
    let whole = repo.call("check", &json!({}));
    assert_eq!((found(&whole), &whole["files_checked"]), (Vec::new(), &json!(1)));
    assert_eq!(found(&repo.call("check", &json!({ "file": "tool.py" }))), of_script);
    // An invalid block is a comment.
    repo.write("tool.py", SCRIPT.replace("# ///\nimport", "import"));
    assert_eq!(repo.call("check", &json!({}))["files_checked"], 2);
}

/// A notebook with these cells.
fn notebook(cells: &[(&str, &str)]) -> String {
    let cell = |(kind, text): &(&str, &str)| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        match *kind {
            "code" => {
                json!({ "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": lines })
            }
            _ => json!({ "cell_type": kind, "metadata": {}, "source": lines }),
        }
    };
    let cells: Vec<Value> = cells.iter().map(cell).collect();
    let language = json!({ "language_info": { "name": "python" } });
    json!({ "cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5 }).to_string()
}

#[test]
fn notebook_lines_are_relative_to_cells() {
    let repo = Repo::new(
        r"
//- /lib.py
def f(n: int) -> str:
    return str(n)
",
    );
    let cells =
        [("markdown", "# Title\n"), ("code", "from lib import f\n%matplotlib inline\n"), ("code", "\nf(\"x\")\n")];
    repo.write("book.ipynb", notebook(&cells));
    let answer = repo.call("check", &json!({}));
    assert_eq!(found(&answer), ["book.ipynb:2:3 error[invalid-argument-type]"]);
    assert_eq!(answer["diagnostics"][0]["cell"], 3);
    // Positions in it are given and reported by cell.
    let at = json!({ "file": "book.ipynb", "cell": 3, "line": 2, "column": 1 });
    let typed = repo.call("type_at", &at);
    assert_eq!(
        (&typed["type"], &typed["cell"], &typed["line"]),
        (&json!("def f(n: int) -> str"), &json!(3), &json!(2))
    );
    let whole = repo.call("type_at", &json!({ "file": "book.ipynb", "line": 5, "column": 1 }));
    assert_eq!(whole, typed, "without a cell, lines count through the code of all");
    assert_eq!(repo.call("goto_definition", &at)["definitions"][0]["file"], "lib.py");
    let references = repo.call("find_references", &json!({ "file": "lib.py", "line": 1, "column": 5 }));
    let position = |one: &Value| format!("{} {} {}:{}", one["file"], one["cell"], one["line"], one["column"]);
    let positions: Vec<String> = references["references"].as_array().unwrap().iter().map(position).collect();
    assert_eq!(positions, [r#""book.ipynb" 2 1:17"#, r#""book.ipynb" 3 2:1"#, r#""lib.py" null 1:5"#]);
    assert_eq!(repo.ok(&["refs", "book.ipynb:cell 2:1:17"]), repo.ok(&["refs", "lib.py:1:5"]));
    expect![[r#"
        book.ipynb:cell 2:1:17  import  from lib import f
        book.ipynb:cell 3:2:1  read  f("x")
        lib.py:1:5  definition  def f(n: int) -> str:
    "#]]
    .assert_eq(&repo.ok(&["refs", "lib.py:1:5"]));
    assert!(repo.ok(&["type-at", "book.ipynb:cell3:2:1"]).starts_with("f: def f"));
    let refused = |given: &Value| {
        let output = repo.run(&["call", "type_at", "--args", &given.to_string()]);
        assert!(!output.status.success() && output.stdout.is_empty(), "{given}");
        String::from_utf8(output.stderr).unwrap()
    };
    let mut reasons = String::new();
    for (file, cell, line, column) in [
        ("book.ipynb", 1, 1, 1),
        ("book.ipynb", 9, 1, 1),
        ("book.ipynb", 2, 4, 1),
        ("book.ipynb", 2, 1, 99),
        ("lib.py", 1, 1, 1),
    ] {
        let at = json!({ "file": file, "cell": cell, "line": line, "column": column });
        reasons += &format!("{at}\n{}", refused(&at));
    }
    expect![[r#"
        {"cell":1,"column":1,"file":"book.ipynb","line":1}
        ixmcp: NOT_FOUND: cell 1 is not a code cell; the code cells are 2, 3. Lines and columns are 1-based; columns count characters.
        {"cell":9,"column":1,"file":"book.ipynb","line":1}
        ixmcp: NOT_FOUND: cell 9 is not a code cell; the code cells are 2, 3. Lines and columns are 1-based; columns count characters.
        {"cell":2,"column":1,"file":"book.ipynb","line":4}
        ixmcp: NOT_FOUND: line 4 is past the end; cell 2 has 3 lines. Lines and columns are 1-based; columns count characters.
        {"cell":2,"column":99,"file":"book.ipynb","line":1}
        ixmcp: NOT_FOUND: column 99 is past the end of line 1. Lines and columns are 1-based; columns count characters.
        {"cell":1,"column":1,"file":"lib.py","line":1}
        ixmcp: INVALID_ARGUMENT: argument `cell`: only notebooks have cells. Omit it.
    "#]].assert_eq(&reasons);
    // An invalid notebook.
    repo.write("book.ipynb", "{ \"cells\": 1 }");
    let answer = repo.call("check", &json!({}));
    assert_eq!((&answer["total"], &answer["diagnostics"][0]["file"]), (&json!(1), &json!("book.ipynb")));
}
