//! Types of Python code through the program: the tools, their shapes, and freshness.

use expect_test::expect;
use serde_json::{Value, json};

use crate::rename::positions;
use crate::support::cursors::{Cursors, at};
use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;

const SHOP: &str = r#"
//- /shop/__init__.py
from .cart import Cart as Cart
//- /shop/cart.py
class Cart:
    """What somebody wants to buy."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.items: list[int] = []

    def total(self, tax: float = 0.0) -> float:
        return sum(self.items) * (1 + tax)


class Basket:
    def total(self) -> int:
        return 0
//- /main.py
from shop import Cart


def pay(cart: "Cart") -> float:
    # total is no reference here
    return cart.total(tax=0.2)


def maybe(cart: Cart | None) -> str:
    if cart is None:
        return ""
    return cart.owner


pay(Cart(1))
"#;

fn shop() -> Repo {
    Repo::new(SHOP)
}

/// The arguments for the position that `$0` marks in a piece of the shop.
fn here(marked: &str) -> Value {
    at(SHOP, marked).arguments()
}

#[test]
fn check_reports_rule_position_and_message() {
    let answer = shop().call("check", &json!({}));
    assert_eq!(answer["files_checked"], 3);
    assert_eq!((&answer["errors"], &answer["warnings"], &answer["precision"]), (&json!(1), &json!(0), &json!("types")));
    let found = &answer["diagnostics"][0];
    assert_eq!(found["code"], "invalid-argument-type");
    assert_eq!(positions(&answer, "diagnostics"), [at(SHOP, "pay(Cart($01))").to_string()]);
    assert_eq!((&found["end_line"], &found["end_column"]), (&json!(15), &json!(11)));
}

#[test]
fn check_filters_by_file_and_severity() {
    let repo = shop();
    assert_eq!(repo.call("check", &json!({ "file": "shop/cart.py" }))["total"], 0);
    assert_eq!(repo.call("check", &json!({ "file": "main.py", "severity": "error" }))["total"], 1);
    assert_eq!(repo.call("check", &json!({ "severity": "warning" }))["total"], 0);
    repo.write("notes.txt", "no code");
    let calls = ["notes.txt", "gone.py"].map(|file| ("check", json!({ "file": file })));
    expect![[r#"
        $ ixmcp call check --args '{"file":"notes.txt"}'
        ixmcp: INVALID_ARGUMENT: argument `file`: only Python files have types to check. Name a .py, .pyi or .ipynb file, or a folder.
        $ ixmcp call check --args '{"file":"gone.py"}'
        ixmcp: INVALID_PATH: gone.py does not exist. `list_files` lists the indexed files.
    "#]].assert_eq(&repo.refusals(&calls, &[]));
}

#[test]
fn type_at_narrows_and_explains() {
    let repo = shop();
    let answer = repo.call("type_at", &here("return $0cart.owner"));
    assert_eq!((&answer["type"], &answer["expression"]), (&json!("Cart"), &json!("cart")));
    // Just past the name.
    assert_eq!(repo.call("type_at", &here("return cart$0.owner"))["type"], "Cart");
    assert_eq!(repo.call("type_at", &here("if $0cart is None"))["type"], "Cart | None");
    let class = repo.call("type_at", &here("from shop import $0Cart"));
    assert_eq!(class["docstring"], "What somebody wants to buy.");
    assert_eq!(class["definition"]["file"], "shop/cart.py");
    // A keyword argument, a parameter, an attribute, a quoted annotation.
    assert_eq!(repo.call("type_at", &here("cart.total($0tax=0.2)"))["type"], "(parameter) tax: float = ...");
    assert_eq!(repo.call("type_at", &here("total(self, $0tax"))["type"], "float");
    assert_eq!(repo.call("type_at", &here("self.$0items: list[int]"))["type"], "list[int]");
    assert_eq!(repo.call("type_at", &here(r#"pay(cart: "$0Cart"#))["expression"], "Cart");
}

const CALLS: &str = r#"
//- /calls.py
import re
from dataclasses import dataclass
from typing import Any, TypedDict, overload


@dataclass
class Pair:
    left: int


class Point:
    def __init__(self, x: int, *, y: int = 0) -> None: ...


class Plain: ...


class Movie(TypedDict):
    name: str


@overload
def convert(value: int) -> str: ...
@overload
def convert(value: str, base: int = 10) -> int: ...
def convert(value: int | str, base: int = 10) -> int | str:
    return 0


def options(first: str, **rest: int) -> None: ...


def uses(movie: Movie, unknown: Any) -> None:
    Point(1, y=2)
    Plain()
    convert("7", base=2)
    convert(7)
    options("a", depth=3)
    re.sub("a", "b", "c", count=1)
    movie["name"]
    options(nothing=1)
    unknown(key=5)
    held = convert
    held_class = Point
    ValueError("x")
"#;

/// The type at the position that `$0` marks in `CALLS`.
fn shown(server: &mut Server, marked: &str) -> Value {
    server.call("type_at", &at(CALLS, marked).arguments())["type"].clone()
}

#[test]
fn a_class_that_is_called_shows_its_constructor() {
    let repo = Repo::new(CALLS);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(shown(&mut server, "    P$0oint(1"), "class Point(x: int, *, y: int = 0)");
    assert_eq!(shown(&mut server, "    P$0lain()"), "class Plain()");
    // Several signatures, and none chosen.
    assert_eq!(shown(&mut server, "    V$0alueError("), "class ValueError(...)\nclass ValueError(*args: object)");
    // A class that is not called.
    assert_eq!(shown(&mut server, "held_class = P$0oint"), "<class 'Point'>");
}

#[test]
fn a_call_shows_the_chosen_overload() {
    let repo = Repo::new(CALLS);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(shown(&mut server, "    c$0onvert(\"7\""), "def convert(value: str, base: int = 10) -> int");
    assert_eq!(shown(&mut server, "    c$0onvert(7)"), "def convert(value: int) -> str");
    expect!["def sub(pattern: str | Pattern[str], repl: str | ((Match[str], /) -> str), string: str, count: int = 0, flags: int = 0) -> str"].assert_eq(shown(&mut server, "re.s$0ub(").as_str().unwrap());
    // A function that is not called has all of them, as on hover in ty 0.0.94.
    let all = "def convert(value: int) -> str\ndef convert(value: str, base: int = 10) -> int";
    assert_eq!(shown(&mut server, "held = c$0onvert"), all);
    let decorator = shown(&mut server, "@d$0ataclass").as_str().unwrap().to_owned();
    let lines: Vec<&str> = decorator.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("def dataclass[_T](cls: type[_T], /"), "{decorator}");
    assert!(lines[1].starts_with("def dataclass(cls: None = None, /"), "{decorator}");
}

#[test]
fn a_keyword_argument_shows_the_declared_parameter() {
    let repo = Repo::new(CALLS);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(shown(&mut server, "Point(1, $0y=2)"), "(parameter) y: int = 0");
    assert_eq!(shown(&mut server, "convert(\"7\", $0base=2)"), "(parameter) base: int = 10");
    assert_eq!(shown(&mut server, "\"c\", $0count=1)"), "(parameter) count: int = 0");
    assert_eq!(shown(&mut server, "options(\"a\", $0depth=3)"), "(variadic keyword parameter) **rest: int");
    // Without a signature it has the type of its value.
    assert_eq!(shown(&mut server, "unknown($0key=5)"), "Literal[5]");
}

#[test]
fn a_key_of_a_typed_dictionary_shows_its_declaration() {
    let repo = Repo::new(CALLS);
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(shown(&mut server, "movie[\"$0name\"]"), "(key of Movie) name: str");
}

#[test]
fn positions_without_an_expression_are_not_found() {
    let repo = shop();
    let beyond = |line: u32, column: u32| json!({ "file": "main.py", "line": line, "column": column });
    let empty_line = here("from shop import Cart\n$0\n\ndef pay");
    let mut refused = String::new();
    for nowhere in [here("# t$0otal is no reference"), empty_line, beyond(99, 1), beyond(1, 99), beyond(0, 1)] {
        let output = repo.run(&["call", "type_at", "--args", &nowhere.to_string()]);
        refused += &String::from_utf8(output.stderr).unwrap();
    }
    expect![[r#"
        ixmcp: NOT_FOUND: no expression at main.py:5:8. Point at a name. `symbols` lists those of the file.
        ixmcp: NOT_FOUND: no expression at main.py:2:1. Point at a name. `symbols` lists those of the file.
        ixmcp: NOT_FOUND: line 99 is past the end; the file has 15 lines. Lines and columns are 1-based; columns count characters.
        ixmcp: NOT_FOUND: column 99 is past the end of line 1. Lines and columns are 1-based; columns count characters.
        ixmcp: INVALID_ARGUMENT: argument `line`: cells, lines and columns are 1-based. Give 1 or more.
    "#]].assert_eq(&refused);
}

#[test]
fn definitions_follow_imports_into_the_standard_library() {
    let repo = shop();
    for (asked, expected) in [
        ("from shop import $0Cart", "class $0Cart"),
        (r#"pay(cart: "$0Cart"#, "class $0Cart"),
        ("return cart.$0total", "def $0total(self, tax"),
        ("cart.total($0tax=0.2)", "def total(self, $0tax"),
        ("return cart.$0owner", "$0self.owner = owner"),
        ("$0pay(Cart(1))", "def $0pay"),
        ("pay(Cart$0(1))", "def $0__init__"),
        ("class $0Cart", "class $0Cart"),
    ] {
        let answer = repo.call("goto_definition", &here(asked));
        assert_eq!(positions(&answer, "definitions"), [at(SHOP, expected).to_string()], "{asked}");
        assert_eq!(answer["precision"], "types");
    }
    let nowhere = here("from shop import Cart\n$0\n\ndef pay");
    assert_eq!(repo.call("goto_definition", &nowhere)["definitions"], json!([]));
    let builtin = repo.call("goto_definition", &here("return $0sum("));
    let file = builtin["definitions"][0]["file"].as_str().unwrap();
    let slice = json!({ "file_path": file, "start_line": builtin["definitions"][0]["line"], "end_line": 1_000_000 });
    let definition = repo.call("get_slice", &slice)["content"].as_str().unwrap().lines().next().unwrap().to_owned();
    expect!["def sum(iterable: Iterable[bool | _LiteralInteger], /, start: int = 0) -> int:"].assert_eq(&definition);
}

#[test]
fn a_process_without_a_daemon_has_its_own_virtual_environment() {
    let repo = Repo::new("//- /a.py\nfrom box import lid\n\nlid()\n");
    let environment = tempfile::tempdir().unwrap();
    let package = environment.path().join("lib/python3.12/site-packages/box");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(environment.path().join("pyvenv.cfg"), "home = /usr/bin\nversion = 3.12.1\n").unwrap();
    std::fs::write(package.join("__init__.py"), "def lid(size: int = 1): ...\n").unwrap();
    let codes = |with: bool| {
        let mut command = repo.command(&["mcp", "--no-daemon"]);
        command.env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
        if with {
            command.env("VIRTUAL_ENV", environment.path());
        }
        let answer = Server::start(command).call("check", &json!({}));
        let found = answer["diagnostics"].as_array().unwrap().iter();
        found.map(|one| one["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(false), ["unresolved-import"]);
    assert_eq!(codes(true), Vec::<String>::new());
}

#[test]
fn only_sources_of_the_callers_environment_can_be_read() {
    let fixture = Cursors::new(
        r"
//- /a.py
import box

box.l$0?id()
",
    );
    let (repo, lid) = (Repo::new(&fixture.files), fixture.start(0).arguments());
    let environment = tempfile::tempdir().unwrap();
    let package = environment.path().join("lib/python3.12/site-packages/box");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(environment.path().join("pyvenv.cfg"), "home = /usr/bin\nversion = 3.12.1\n").unwrap();
    std::fs::write(package.join("__init__.py"), "def lid(): ...\n").unwrap();
    std::fs::write(package.join("secret.txt"), "no code\n").unwrap();
    let call = |tool: &str, arguments: &Value| {
        let arguments = arguments.to_string();
        let mut command = repo.command(&["call", tool, "--args", &arguments]);
        command.env("VIRTUAL_ENV", environment.path()).output().unwrap()
    };
    let found: Value = serde_json::from_slice(&call("goto_definition", &lid).stdout).unwrap();
    let file = found["definitions"][0]["file"].as_str().unwrap();
    assert_eq!(file, package.canonicalize().unwrap().join("__init__.py").to_str().unwrap());
    let slice = |file: &str| call("get_slice", &json!({ "file_path": file, "start_line": 1, "end_line": 1 }));
    let read: Value = serde_json::from_slice(&slice(file).stdout).unwrap();
    assert_eq!(read["content"], "def lid(): ...\n");
    let neighbour = file.replace("__init__.py", "secret.txt");
    let gone = file.replace("__init__.py", "gone.py");
    let refused = ["/etc/passwd", "/etc/x.py", &neighbour, &gone].map(|outside| slice(outside).stderr).concat();
    let package = package.canonicalize().unwrap();
    expect![[r#"
        ixmcp: INVALID_PATH: /etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        ixmcp: INVALID_PATH: /etc/x.py lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        ixmcp: INVALID_PATH: PACKAGE/secret.txt lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        ixmcp: INVALID_PATH: PACKAGE/gone.py does not exist. `list_files` lists the indexed files.
    "#]].assert_eq(&String::from_utf8(refused).unwrap().replace(package.to_str().unwrap(), "PACKAGE"));
}

#[test]
fn references_are_resolved_by_type() {
    let marked = Cursors::new(
        r#"
//- /shop/__init__.py
from .cart import $1Cart as $1Cart
//- /shop/cart.py
class $0?Cart:
    def __init__(self, owner: str) -> None:
        self.$4?owner = owner

    def $2?total(self, $3?tax: float = 0.0) -> float:
        return 1 + $3tax


class Basket:
    def total(self) -> int:
        return 0
//- /main.py
from shop import $1Cart


def pay(cart: "$1Cart") -> float:
    # total is no reference here
    return cart.$2total($3tax=0.2)


def maybe(cart: $1Cart | None) -> str:
    return cart.$4owner if cart else ""


pay($1Cart(1))
"#,
    );
    let repo = Repo::new(&marked.files);
    // A method; a parameter, by the name of an argument in another file; an attribute of `self`.
    for group in 2..=4 {
        let all = repo.call("find_references", &marked.start(group).arguments());
        assert_eq!(positions(&all, "references"), marked.positions(group));
        assert_eq!(all["total"], marked.positions(group).len());
    }
    let mut arguments = marked.start(0).arguments();
    arguments["include_declaration"] = json!(false);
    assert_eq!(positions(&repo.call("find_references", &arguments), "references"), marked.positions(1));
}

#[test]
fn references_in_files_that_are_not_indexed_are_found() {
    let fixture = Cursors::new(
        r#"
//- /lib.py
def $0?n(): ...
//- /.ixmcp.toml
[index]
exclude = ["big.py"]
//- /big.py
import lib

lib.$0n()
"#,
    );
    let answer = Repo::new(&fixture.files).call("find_references", &fixture.start(0).arguments());
    assert_eq!(positions(&answer, "references"), fixture.positions(0));
}

#[test]
fn symbols_form_a_tree_with_types() {
    let answer = shop().call("symbols", &json!({ "file": "shop/cart.py" }));
    let cart = &answer["symbols"][0];
    assert_eq!((&cart["name"], &cart["kind"], &cart["end_line"]), (&json!("Cart"), &json!("class"), &json!(9)));
    let names: Vec<&str> = cart["children"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["__init__", "total", "owner", "items"]);
    assert_eq!(cart["children"][1]["signature"], "def total(self, tax: float = 0.0) -> float");
    assert_eq!(cart["children"][3]["type"], "list[int]");
}

#[test]
fn other_languages_use_the_syntax_index() {
    let fixture = Cursors::new(
        r"
//- /src/lib.rs
pub struct $1?Cart {
    pub items: u32,
}

impl Cart {
    pub fn $0?total(&self) -> u32 {
        self.items
    }
}
//- /src/main.rs
use shop::Cart;

fn main() {
    Cart { items: 1 }.$0$2?total();
}
",
    );
    let repo = Repo::new(&fixture.files);
    let found = repo.call("goto_definition", &fixture.start(2).arguments());
    let defined = fixture.start(0);
    assert_eq!((positions(&found, "definitions"), &found["precision"]), (vec![defined.to_string()], &json!("syntax")));
    let uses = repo.call("find_references", &defined.arguments());
    assert_eq!(positions(&uses, "references"), fixture.positions(0));
    let outline = repo.call("symbols", &json!({ "file": "src/lib.rs" }));
    assert_eq!((&outline["precision"], &outline["symbols"][0]["name"]), (&json!("syntax"), &json!("Cart")));
    expect![[r#"
        $ ixmcp call type_at --args '{"column":12,"file":"src/lib.rs","line":1}'
        ixmcp: INVALID_ARGUMENT: argument `file`: only Python files have types. For other languages use `goto_definition` or `get_symbol`.
    "#]].assert_eq(&repo.refusals(&[("type_at", fixture.start(1).arguments())], &[]));
}

#[test]
fn answers_reflect_the_last_save() {
    let repo = shop();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let third_line = json!({ "file": "main.py", "line": 3, "column": 1 });
    assert_eq!(server.call("check", &json!({}))["errors"], 1);
    for round in 0..6 {
        let argument = if round % 2 == 0 { "\"me\"" } else { "1" };
        repo.write("main.py", format!("from shop import Cart\n\ntill = Cart({argument})\n"));
        assert_eq!(server.call("check", &json!({}))["errors"], round % 2, "round {round}");
        let shown = server.call("type_at", &third_line);
        assert_eq!(shown["type"], "Cart", "round {round}");
    }
    // A module is added, changed and removed.
    repo.write("main.py", "import later\n\nx = later.value\n");
    assert_eq!(server.call("check", &json!({}))["diagnostics"][0]["code"], "unresolved-import");
    for (text, shown) in [("value: int = 1\n", "int"), ("value: str = \"a\"\n", "str")] {
        repo.write("later.py", text);
        assert_eq!(server.call("check", &json!({}))["total"], 0);
        assert_eq!(server.call("type_at", &third_line)["type"], shown);
    }
    repo.remove("later.py");
    assert_eq!(server.call("check", &json!({}))["diagnostics"][0]["code"], "unresolved-import");
}

#[test]
fn exit_codes_match_those_of_the_checker() {
    let repo = shop();
    let root = repo.path().canonicalize().unwrap();
    let run = |arguments: &[&str]| {
        let output = repo.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text.replace(root.to_str().unwrap(), "REPOSITORY"))
    };
    let (code, text) = run(&["check"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        error[invalid-argument-type]: Argument to `Cart.__init__` is incorrect
          --> main.py:15:10
           |
        15 | pay(Cart(1))
           |          ^ Expected `str`, found `Literal[1]`
        info: Method defined here
         --> shop/cart.py:4:9
          |
        2 |     """What somebody wants to buy."""
        3 |
        4 |     def __init__(self, owner: str) -> None:
          |         ^^^^^^^^       ---------- Parameter declared here
        5 |         self.owner = owner
        6 |         self.items: list[int] = []
          |

    "#]]
    .assert_eq(&text);
    let (_, github) = run(&["check", "--output-format", "github"]);
    expect![[r#"
        ::error title=ty (invalid-argument-type),file=REPOSITORY/main.py,line=15,col=10,endLine=15,endColumn=11::main.py:15:10: invalid-argument-type: Argument to `Cart.__init__` is incorrect: Expected `str`, found `Literal[1]`%0A  shop/cart.py:4:9: info: Method defined here%0A    shop/cart.py:4:24: Parameter declared here
    "#]].assert_eq(&github);
    let (_, sarif) = run(&["check", "--output-format", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let found = &sarif["runs"][0]["results"][0];
    assert_eq!((&found["ruleId"], &found["level"]), (&json!("invalid-argument-type"), &json!("error")));
    assert_eq!(run(&["check", "shop/cart.py"]).0, Some(0));
    assert_eq!(run(&["check", "gone.py"]).0, Some(2));
    repo.write("main.py", "x = 1  # ty: ignore[unresolved-import]\n");
    assert_eq!(run(&["check"]).0, Some(1), "a warning");
    assert_eq!(run(&["check", "--exit-zero-on-warning"]).0, Some(0));
    repo.write("ty.toml", "[terminal]\nerror-on-warning = false\n");
    assert_eq!(run(&["check"]).0, Some(0));
    repo.write("ty.toml", "[terminal]\nno-such-setting = 1\n");
    let (code, text) = run(&["check", "--output-format", "concise"]);
    assert_eq!(code, Some(2), "settings that are not taken");
    expect![[r#"
        main.py:1:8: warning[unused-ignore-comment] Unused `ty: ignore` directive
        ty.toml:2:1: error[invalid-setting] unknown setting `no-such-setting` in `terminal`; valid settings: `output-format`, `error-on-warning`
    "#]].assert_eq(&text);
}

#[test]
fn positions_on_the_command_line() {
    let repo = shop();
    let [definition, reference, variable] =
        ["def $0total(self, tax", "return cart.$0total", "return $0cart.owner"].map(|text| at(SHOP, text).to_string());
    assert_eq!(
        repo.ok(&["def", &reference]),
        format!("{definition}  method  def total(self, tax: float = 0.0) -> float:\n")
    );
    assert_eq!(
        repo.ok(&["refs", &definition, "--no-declaration"]),
        format!("{reference}  read  return cart.total(tax=0.2)\n")
    );
    assert!(repo.ok(&["type-at", &variable]).starts_with("cart: Cart\n"));
    assert_eq!(repo.run(&["def", "main.py:2:1"]).status.code(), Some(1));
    assert_eq!(repo.run(&["type-at", "main.py:2:1"]).status.code(), Some(1));
}

#[test]
fn hostile_files_do_not_affect_others() {
    let fixture = Cursors::new(
        r#"
//- /ok.py
x: int = $0""
//- /a.py
from b import y
x = y
//- /b.py
from a import x
y = x
//- /half.py
def f($0:
  x =
class
//- /pyproject.toml
[project$0
name ="#,
    );
    let repo = Repo::new(&fixture.files);
    repo.write("sum.py", format!("x = {}\n", vec!["1"; 20_000].join(" + ")));
    repo.write("bytes.py", b"x = \"\xff\xfe\"\n");
    repo.write("deep.py", format!("x = {}{}\n", "(".repeat(2_000), ")".repeat(2_000)));
    std::os::unix::fs::symlink("/nowhere", repo.path().join(".venv")).unwrap();
    let answer = repo.call("check", &json!({}));
    let found = positions(&answer, "diagnostics");
    expect![[r#"
        bytes.py:1:1
        deep.py:1:205
        half.py:1:7
        half.py:2:6
        half.py:3:1
        half.py:3:1
        half.py:3:6
        ok.py:1:10
        pyproject.toml:1:9"#]]
    .assert_eq(&found.join("\n"));
}

/// Process ids of the engines started by a server.
fn engines(server: &Server) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid().as_raw_nonzero())).unwrap();
    let of = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let lists: Vec<String> = tasks.flatten().map(of).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn a_crashed_engine_is_restarted() {
    let repo = shop();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(server.call("type_at", &here("return $0cart.owner"))["type"], "Cart");
    let engines = engines(&server);
    assert_eq!(engines.len(), 1);
    let pid = rustix::process::Pid::from_raw(engines[0]).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(server.call("type_at", &here("return $0cart.owner"))["type"], "Cart");
}

#[test]
fn an_idle_engine_stops_and_restarts() {
    let repo = shop();
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    command.env("IXMCP_PYTHON_IDLE", "1s");
    let mut server = Server::start(command);
    assert_eq!(server.call("type_at", &here("return $0cart.owner"))["type"], "Cart");
    assert_eq!(engines(&server).len(), 1);
    until("the engine stops", || engines(&server).is_empty());
    assert_eq!(server.call("type_at", &here("return $0cart.owner"))["type"], "Cart");
}

/// The file with the suggestions of `infer_types` applied.
fn annotated(repo: &Repo, file: &str) -> String {
    let answer = repo.call("infer_types", &json!({ "file": file }));
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for suggestion in answer["suggestions"].as_array().unwrap() {
        for edit in std::iter::once(&suggestion["edit"]).chain(suggestion["imports"].as_array().unwrap()) {
            let number = |name: &str| usize::try_from(edit[name].as_u64().unwrap()).unwrap();
            edits.push((number("line"), number("column"), edit["insert"].as_str().unwrap().to_owned()));
        }
    }
    edits.sort();
    edits.dedup();
    let text = std::fs::read_to_string(repo.path().join(file)).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    lines.push(String::new());
    for (line, column, insert) in edits.into_iter().rev() {
        let at = lines[line - 1].char_indices().nth(column - 1).map_or(lines[line - 1].len(), |(at, _)| at);
        lines[line - 1].insert_str(at, &insert);
    }
    lines.concat()
}

#[test]
fn annotations_are_inferred_across_calls_and_files() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "shop"
requires-python = ">=3.12"
//- /item.py
class Item:
    name: str = ""
//- /main.py
from cart import Cart

Cart("me", 2).add(None)
//- /cart.py
"""Carts."""
import os
import item


class Cart:
    def __init__(self, owner, size=3, *rest):
        self.owner = owner
        self.items = [item.Item()]
        self.last = None

    def add(self, other):
        self.last = other
        return self

    def names(self):
        for one in self.items:
            yield one.name

    def first(self):
        if self.items:
            return self.items[0]

    def path(self):
        return os.path.join("a", label() or "b")

    def todo(self):
        raise NotImplementedError


def label():
    return deep(3)


def deep(n):
    if n == 0:
        return None
    if n == 1:
        return "x"
    return deep(n - 1)
"#,
    );
    let text = annotated(&repo, "cart.py");
    expect![[r#"
        """Carts."""
        import os
        import item
        from collections.abc import Iterator
        from typing import Self


        class Cart:
            def __init__(self, owner: str, size: int = 3, *rest) -> None:
                self.owner: str = owner
                self.items: "list[item.Item]" = [item.Item()]
                self.last = None

            def add(self, other) -> Self:
                self.last = other
                return self

            def names(self) -> Iterator[str]:
                for one in self.items:
                    yield one.name

            def first(self) -> "item.Item | None":
                if self.items:
                    return self.items[0]

            def path(self) -> str:
                return os.path.join("a", label() or "b")

            def todo(self):
                raise NotImplementedError


        def label() -> str | None:
            return deep(3)


        def deep(n: int) -> str | None:
            if n == 0:
                return None
            if n == 1:
                return "x"
            return deep(n - 1)
    "#]]
    .assert_eq(&text);
    repo.write("cart.py", &text);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
    let one = repo.call("infer_types", &json!({ "file": "cart.py", "symbol": "label" }));
    assert_eq!(one["total"], 0, "it has its annotation: {one}");
}

#[test]
fn annotations_that_cause_a_diagnostic_are_not_suggested() {
    let repo = Repo::new(
        r#"
//- /a.py
class Base:
    def size(self) -> int:
        return 0


class Odd(Base):
    def size(self):
        return "large"
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(answer["total"], 0);
    assert!(
        answer["skipped"][0]["reason"].as_str().unwrap().contains("`str` would cause a new diagnostic"),
        "{answer}"
    );
}

#[test]
fn inferred_annotations_form_a_patch_that_git_applies() {
    let repo = Repo::new(
        r"
//- /a.py
def f(x=1):
    return [x]


def g():
    return f()",
    );
    let patch = repo.ok(&["infer", "a.py", "--diff"]);
    repo.write("p.diff", &patch);
    let git = std::process::Command::new("git").args(["apply", "p.diff"]).current_dir(repo.path()).output();
    assert!(git.as_ref().unwrap().status.success(), "{patch}\n{git:?}");
    let text = std::fs::read_to_string(repo.path().join("a.py")).unwrap();
    assert_eq!(text, "def f(x: int = 1) -> list[int]:\n    return [x]\n\n\ndef g() -> list[int]:\n    return f()");
}

#[test]
fn answers_are_unchanged_after_trees_are_evicted() {
    // More files than the engine keeps syntax trees for.
    const USERS: usize = 230;
    let repo = Repo::new(
        r"
//- /lib.py
def f(n: int) -> str:
    return str(n)
",
    );
    for number in 0..USERS {
        let text = format!("from lib import f\n\nx_{number}: int = f({number})\n");
        repo.write(&format!("user_{number:03}.py"), text);
    }
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let checked = server.call("check", &json!({ "limit": 1 }));
    assert_eq!(checked["total"], USERS);
    let at = json!({ "file": "lib.py", "line": 1, "column": 5, "limit": 1 });
    for _ in 0..2 {
        assert_eq!(server.call("find_references", &at)["total"], 2 * USERS + 1);
    }
    for number in 0..USERS {
        let at = json!({ "file": format!("user_{number:03}.py"), "line": 3, "column": 1 });
        assert_eq!(server.call("type_at", &at)["type"], "str");
    }
    assert_eq!(server.call("check", &json!({ "limit": 1 })), checked);
    repo.write("lib.py", "def f(n: int) -> int:\n    return n\n");
    assert_eq!(server.call("check", &json!({}))["total"], 0);
    assert_eq!(server.call("find_references", &at)["total"], 2 * USERS + 1);
}

#[test]
fn one_entry_that_is_too_large_for_an_answer_is_cut() {
    let methods: String = (0..3_000).map(|at| format!("    def method_{at}(self) -> None: ...\n")).collect();
    let repo = Repo::new("");
    repo.write("large.py", format!("class Large:\n{methods}"));
    let mut server = Server::start_mcp(repo.command(&["mcp", "--no-daemon"]));
    let answer = server.tool("symbols", &json!({ "file": "large.py" }));
    let size = answer.to_string().len();
    assert!((5_000..=10_700).contains(&size), "{size}");
    assert_eq!(answer["symbols"][0]["name"], "Large");
    expect!["One entry alone is too large: its longest texts and lists are cut."]
        .assert_eq(answer["warning"].as_str().unwrap());
}
