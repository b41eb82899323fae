//! `rename_symbol`: its edits, applied to a copy, preserve the meaning of the project; otherwise it refuses.

use std::collections::BTreeMap;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::cursors::{Cursors, Mark, at};
use crate::support::harness::{Repo, Server};

const SHOP: &str = r#"
//- /shop/__init__.py
from .cart import $0Cart as $0Cart, Basket

__all__ = ["$0Cart", 'Basket']
//- /shop/cart.py
from collections.abc import Iterator


class $0?Cart:
    $6?kind: str = "cart"

    def __init__(self, $3?owner: str, size: int = 1) -> None:
        self.$5?owner = $3owner
        self.items: list[int] = [0] * size

    def $1?total(self, $2?tax: float = 0.0) -> float:
        $8?items = 2
        return sum(self.items) * (1 + $2tax) * $8items

    def __iter__(self) -> Iterator[int]:
        return iter(self.items)


class Basket($0Cart):
    def $1total(self, $2tax: float = 0.5) -> float:
        return super().$1total($2tax=$2tax)


class Other:
    def total(self) -> int:
        return 0


$7?RATE = 0.2


def rate($4?limit: int) -> float:
    global $7RATE
    $7RATE = $4limit / 10
    return $7RATE
//- /main.py
import shop
import shop.cart as $10?carts
from shop import Basket as $9?Box, $0Cart
from shop.cart import $7RATE, Other, rate


def pay(cart: "$0Cart", other: Other) -> float:
    # total is no reference here
    print(f"{cart.$1?total()} of {cart.$5owner}", other.total(), $10carts.$7RATE, $7RATE)
    return cart.$1total($2tax=rate($4limit=2)) + shop.Basket("x").$1total($2tax=1)


def build(basket: $9Box) -> "list[shop.$0Cart | $9Box]":
    items = [basket, $0Cart($3owner="me", size=2)]
    return [$11?one for $11one in items if $11one.items]
"#;

pub fn rename(repo: &Repo, at: &Mark, new_name: &str) -> Value {
    let mut arguments = at.arguments();
    arguments["new_name"] = json!(new_name);
    flat(repo.call("rename_symbol", &arguments))
}

/// Lists the reasons for which nothing is renamed, each with its position.
fn refusal(answer: &Value) -> String {
    let reasons = answer["refused"].as_array().unwrap().iter();
    reasons.map(|one| format!("{one}\n")).collect()
}

/// The answer with its edits as one list: each names its file.
pub fn flat(mut answer: Value) -> Value {
    let files = answer["edits"].take();
    let mut edits = Vec::new();
    for file in files.as_array().unwrap() {
        for edit in file["edits"].as_array().unwrap() {
            let mut edit = edit.clone();
            edit["file"] = file["file"].clone();
            edits.push(edit);
        }
    }
    answer["edits"] = Value::Array(edits);
    answer
}

/// Applies the edits to the files, from last to first.
pub fn apply(repo: &Repo, answer: &Value) {
    let mut by_file: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for edit in answer["edits"].as_array().unwrap() {
        by_file.entry(edit["file"].as_str().unwrap()).or_default().push(edit);
    }
    for (file, edits) in by_file {
        let text = std::fs::read_to_string(repo.path().join(file)).unwrap();
        let mut lines: Vec<Vec<char>> = text.split('\n').map(|line| line.chars().collect()).collect();
        for edit in edits.into_iter().rev() {
            let number = |field: &str| usize::try_from(edit[field].as_u64().unwrap()).unwrap() - 1;
            let new = edit["new_text"].as_str().unwrap().chars();
            lines[number("line")].splice(number("column")..number("end_column"), new);
        }
        let lines: Vec<String> = lines.into_iter().map(String::from_iter).collect();
        repo.write(file, lines.join("\n"));
    }
}

/// The positions of the items of a list.
pub fn positions(answer: &Value, list: &str) -> Vec<String> {
    answer[list].as_array().unwrap().iter().map(|item| Mark::from_item(item).to_string()).collect()
}

pub fn edited(answer: &Value) -> Vec<String> {
    positions(answer, "edits")
}

/// A fixture, with a process that answers for it.
pub struct Project {
    pub fixture: Cursors,
    repo: Repo,
    server: Server,
}

impl Project {
    pub fn new(text: &str) -> Self {
        let fixture = Cursors::new(text);
        let repo = Repo::new(&fixture.files);
        let server = Server::start(repo.without_python(&["mcp", "--no-daemon"]));
        Self { fixture, repo, server }
    }

    /// Undoes all edits.
    pub fn restore(&self) {
        self.repo.write_files(&self.fixture.files);
    }

    pub fn call(&mut self, tool: &str, at: &Mark) -> Value {
        self.server.call(tool, &at.arguments())
    }

    fn rename(&mut self, at: &Mark, new_name: &str) -> Value {
        let mut arguments = at.arguments();
        arguments["new_name"] = json!(new_name);
        flat(self.server.call("rename_symbol", &arguments))
    }

    fn findings(&mut self) -> Vec<String> {
        let answer = self.server.call("check", &json!({}));
        let found = answer["diagnostics"].as_array().unwrap().iter();
        found.map(|one| format!("{}:{} {}", one["file"], one["line"], one["code"])).collect()
    }

    /// Renames in the files of the fixture, and applies the edits: they are at the positions of the group, and the
    /// meaning is unchanged.
    fn renamed(&mut self, start: &Mark, group: u32) -> Value {
        self.restore();
        let before = self.findings();
        let answer = self.rename(start, "zed");
        assert!(answer.get("refused").is_none(), "{start}: {answer}");
        assert_eq!(edited(&answer), self.fixture.positions(group), "{start}: {answer}");
        apply(&self.repo, &answer);
        assert_eq!(self.findings(), before, "{start}");
        answer
    }

    /// Renames a group from each of its starts: every time all its positions are edited, and nothing else. The last
    /// answer.
    pub fn renamed_together(&mut self, group: u32) -> Value {
        let starts: Vec<Mark> = self.fixture.starts(group).into_iter().cloned().collect();
        starts.iter().map(|start| self.renamed(start, group)).last().unwrap()
    }
}

#[test]
fn edits_preserve_the_semantics_of_a_project() {
    let mut shop = Project::new(SHOP);
    assert_eq!(shop.findings(), Vec::<String>::new());
    for (group, what) in (0..).zip([
        "a class, its re-exports, quoted, in __all__",
        "a method with its overrides, asked at the definition and at a use",
        "a parameter of a method with those of overrides",
        "a parameter of __init__",
        "a parameter of a function",
        "an attribute that __init__ gives",
        "a variable of a class",
        "a global variable",
        "a local variable",
        "an alias alone",
        "an alias of a module",
        "a variable of a comprehension",
    ]) {
        println!("{what}");
        let answer = shop.renamed_together(group);
        // The first of them is where it was: nothing before it has changed.
        let back = shop.rename(&Mark::from_item(&answer["edits"][0]), "renamed2");
        assert_eq!(edited(&back).len(), edited(&answer).len(), "{what}, again: {back}");
    }
}

#[test]
fn renames_that_capture_shadow_or_break_are_refused() {
    let mut shop = Project::new(SHOP);
    let mut reasons = String::new();
    for (what, marked, new_name) in [
        ("a name of the module", "class $0Cart:", "Other"),
        ("a member of a subclass", "$0kind: str", "total"),
        ("a member of a class above", "def $0total(self, tax: float = 0.5)", "items"),
        ("a builtin that is used", "def $0rate(", "sum"),
        ("a parameter beside", "def __init__(self, $0owner", "size"),
        ("a local name where it is used", "import Basket as Box, Cart$0", "items"),
        ("a local name that hides a global one", "$0items = 2", "tax"),
        ("a name that Python looks for", "def $0__iter__", "walk"),
        ("to such a name", "def $0total(self, tax: float = 0.0)", "__len__"),
        ("a class of the library", "from collections.abc import $0Iterator", "Walker"),
        ("a module", "import $0shop\n", "store"),
        ("a private name", "def $0total(self, tax: float = 0.0)", "__total"),
    ] {
        let answer = shop.rename(&at(&shop.fixture.files, marked), new_name);
        assert_eq!(answer["edits"], json!([]), "{what}: {answer}");
        reasons += &format!("{what}\n{}", refusal(&answer));
    }
    expect![[r#"
        a name of the module
        {"file":"main.py","line":4,"reason":"an existing `Other` would refer to the renamed symbol"}
        {"file":"main.py","line":7,"reason":"an existing `Other` would refer to the renamed symbol"}
        {"file":"main.py","line":9,"reason":"it would cause a new diagnostic: Object of type `Other` has no attribute `owner` (unresolved-attribute)"}
        {"file":"main.py","line":10,"reason":"it would cause a new diagnostic: Argument `tax` does not match any known parameter of bound method `Other.total` (unknown-argument)"}
        {"file":"main.py","line":14,"reason":"it would cause a new diagnostic: Argument `owner` does not match any known parameter of `object.__init__` (unknown-argument)"}
        {"file":"main.py","line":14,"reason":"it would cause a new diagnostic: Argument `size` does not match any known parameter of `object.__init__` (unknown-argument)"}
        {"file":"main.py","line":15,"reason":"it would cause a new diagnostic: Attribute `items` is not defined on `Other` in union `Basket | Other` (unresolved-attribute)"}
        {"file":"shop/cart.py","line":24,"reason":"an existing `Other` would refer to the renamed symbol"}
        a member of a subclass
        {"file":"main.py","line":9,"reason":"an existing `total` would refer to the renamed symbol"}
        {"file":"main.py","line":10,"reason":"an existing `total` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":11,"reason":"an existing `total` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":20,"reason":"an existing `total` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":21,"reason":"an existing `total` would refer to the renamed symbol"}
        a member of a class above
        {"file":"main.py","line":9,"reason":"it would cause a new diagnostic: No argument provided for required parameter `self` of function `Cart.items` (missing-argument)"}
        {"file":"main.py","line":10,"reason":"it would cause a new diagnostic: No argument provided for required parameter `self` of function `Cart.items` (missing-argument)"}
        {"file":"main.py","line":15,"reason":"an existing `items` would refer to the renamed symbol"}
        {"file":"main.py","line":15,"reason":"it would cause a new diagnostic: Object of type `(bound method Cart.items(tax: float = ...) -> float) | (def items(self, tax: float = ...) -> float)` is always truthy (redundant-condition)"}
        {"file":"shop/cart.py","line":9,"reason":"an existing `items` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":13,"reason":"an existing `items` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":13,"reason":"it would cause a new diagnostic: No overload of function `sum` matches arguments (no-matching-overload)"}
        {"file":"shop/cart.py","line":16,"reason":"an existing `items` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":16,"reason":"it would cause a new diagnostic: No overload of function `iter` matches arguments (no-matching-overload)"}
        a builtin that is used
        {"file":"shop/cart.py","line":13,"reason":"an existing `sum` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":13,"reason":"it would cause a new diagnostic: Argument to function `sum` is incorrect: Expected `int`, found `list[int]` (invalid-argument-type)"}
        a parameter beside
        {"file":"main.py","line":14,"reason":"an existing `size` would refer to the renamed symbol"}
        {"file":"main.py","line":14,"reason":"it would cause a new diagnostic: Argument to `Cart.__init__` is incorrect: Expected `str`, found `Literal[2]` (invalid-argument-type)"}
        {"file":"main.py","line":14,"reason":"it would cause a new diagnostic: Duplicate keyword argument `size` (invalid-syntax)"}
        {"file":"shop/cart.py","line":7,"reason":"an existing `size` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":7,"reason":"it would cause a new diagnostic: Duplicate parameter \"size\" (invalid-syntax)"}
        {"file":"shop/cart.py","line":9,"reason":"an existing `size` would refer to the renamed symbol"}
        a local name where it is used
        {"file":"main.py","line":14,"reason":"`items` would refer to something else here"}
        {"file":"main.py","line":14,"reason":"it would cause a new diagnostic: Name `items` used when not defined (unresolved-reference)"}
        a local name that hides a global one
        {"file":"shop/cart.py","line":11,"reason":"an existing `tax` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":13,"reason":"an existing `tax` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":20,"reason":"an existing `tax` would refer to the renamed symbol"}
        {"file":"shop/cart.py","line":21,"reason":"an existing `tax` would refer to the renamed symbol"}
        a name that Python looks for
        {"file":"shop/cart.py","line":15,"reason":"Python looks up `__iter__` by this name"}
        to such a name
        {"file":"shop/cart.py","line":11,"reason":"Python looks up `__len__` by this name"}
        a class of the library
        {"file":"stdlib/typing.pyi","line":1,"reason":"it is defined outside the project"}
        a module
        {"file":"shop/__init__.py","line":1,"reason":"it is a module: rename its file instead"}
        a private name
        {"file":"shop/cart.py","line":11,"reason":"names that start with two underscores are private to their class: the visibility would change"}
    "#]].assert_eq(&reasons);
}

#[test]
fn invalid_identifiers_are_rejected() {
    let files = Cursors::new(SHOP).files;
    let repo = Repo::new(&files);
    let function = at(&files, "def $0pay");
    let call = |at: &Mark, new_name: &str| {
        let mut arguments = at.arguments();
        arguments["new_name"] = json!(new_name);
        ("rename_symbol", arguments)
    };
    let invalid = ["", "class", "None", "a b", "1a", "a.b", " a", "(a)", "a\n"];
    expect![[r#"
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":""}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"class"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "class" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"None"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "None" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"a b"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "a b" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"1a"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "1a" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"a.b"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "a.b" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":" a"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: " a" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"(a)"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "(a)" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":5,"file":"main.py","line":7,"new_name":"a\n"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "a\u{a}" is not a valid Python identifier. Give an identifier that is not a keyword.
    "#]].assert_eq(&repo.refusals(&invalid.map(|new_name| call(&function, new_name)), &[]));
    let (tool, arguments) = call(&at(&files, "# t$0otal is no reference here"), "x");
    let said = repo.run(&["call", tool, "--args", &arguments.to_string()]).stderr;
    expect![[r#"
        ixmcp: NOT_FOUND: there is no name at this position. Give the position of a name in code, not in a comment.
    "#]]
    .assert_eq(&String::from_utf8(said).unwrap());
    assert_eq!(rename(&repo, &function, "pay")["edits"], json!([]));
}

#[test]
fn a_member_of_a_library_class_is_not_renamed() {
    let fixture = Cursors::new(
        r"
//- /a.py
import threading


class Work(threading.Thread):
    def $0?run(self) -> None: ...

    def $1?stop(self) -> None: ...
",
    );
    let repo = Repo::new(&fixture.files);
    let refused = |group: u32, new_name: &str| refusal(&rename(&repo, fixture.start(group), new_name));
    // Nor may a rename create an override of a library member.
    expect![[r#"
          {"file":"a.py","line":5,"reason":"it overrides a member of a class outside the project: stdlib/threading.pyi"}
          {"file":"a.py","line":7,"reason":"as `join`: it overrides a member of a class outside the project: stdlib/threading.pyi"}
          {"file":"a.py","line":7,"reason":"it would cause a new diagnostic: Invalid override of method `join`: Definition is incompatible with `Thread.join` (invalid-method-override)"}
    "#]].assert_eq(&(refused(0, "go") + &refused(1, "join")));
    assert_eq!(edited(&rename(&repo, fixture.start(1), "halt")), fixture.positions(1));
}

#[test]
fn occurrences_of_unknown_type_are_reported_and_not_edited() {
    let fixture = Cursors::new(
        r#"
//- /a.py
class A:
    def $0?go(self) -> None: ...


def f(x):
    x.$1go()
    return getattr(x, "$1go")
"#,
    );
    let answer = rename(&Repo::new(&fixture.files), fixture.start(0), "walk");
    assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(1)));
}

#[test]
fn interchangeable_classes_are_renamed_together() {
    let mut project = Project::new(
        r"
//- /a.py
class A:
    def $0?go(self) -> int: return 1


class B:
    def $0go(self) -> int: return 2


def f(x: A | B) -> int:
    return x.$0go()
",
    );
    project.renamed_together(0);
}

pub fn unsure(answer: &Value) -> Vec<String> {
    let all = answer["unsure"].as_array().map_or(&[][..], Vec::as_slice).iter();
    all.map(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"])).collect()
}

#[test]
fn a_member_is_renamed_in_the_lists_of_its_class() {
    let mut project = Project::new(
        r#"
//- /a.py
class Base:
    __slots__ = ("$0x", "y")


class Point(Base):
    __slots__: tuple[str, ...] = ()
    __match_args__ = ("$0x", 'y')

    def __init__(self, x: int) -> None:
        self.$0?x = x
        self.y = 1


class Other:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = 1


def f(p: Point) -> int:
    match p:
        case Point(0, 1):
            return 1
    return p.$0x
"#,
    );
    project.renamed_together(0);
    let text = std::fs::read_to_string(project.repo.path().join("a.py")).unwrap();
    assert!(
        text.contains("__slots__ = (\"zed\", \"y\")") && text.contains("__match_args__ = (\"zed\", 'y')"),
        "{text}"
    );
}

#[test]
fn member_lists_in_one_string_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
class Point:
    $1__slots__ = "x y".split()

    def __init__(self, x: int) -> None:
        self.$0?x = x
"#,
    );
    let answer = rename(&Repo::new(&fixture.files), fixture.start(0), "zed");
    assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(1)), "{answer}");
}

#[test]
fn a_member_is_renamed_in_class_patterns() {
    let mut project = Project::new(
        r"
//- /a.py
from dataclasses import dataclass


@dataclass
class Point:
    $0?x: int


class Plain:
    def __init__(self) -> None:
        self.$1x = 1


# A local variable with the same name is a different symbol.
def f(p: object, $2?x: int) -> int:
    match p:
        case Point($0x=0) | Plain($1?x=1):
            return $2x
        case Point($0x=$2x):
            return $2x
    return 0
",
    );
    for group in 0..=2 {
        project.renamed_together(group);
    }
}

#[test]
fn a_member_is_renamed_in_copying_calls() {
    let mut project = Project::new(
        r#"
//- /ty.toml
[environment]
python-version = "3.13"
//- /a.py
import copy
import dataclasses
from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass
class Point:
    $0?x: int


class Pair(NamedTuple):
    $1?x: int


p = Point($0x=1)
q = dataclasses.replace(p, $0x=2), replace(p, $0x=3), copy.replace(p, $0x=4)
r = Pair($1x=1)._replace($1x=2), copy.replace(Pair(1), $1x=3)
text = "a".replace("x", "y")
"#,
    );
    project.renamed_together(0);
    project.renamed_together(1);
}

#[test]
fn fields_declared_in_strings_are_refused() {
    let fixture = Cursors::new(
        r#"
//- /a.py
from collections import namedtuple
from typing import NamedTuple, TypedDict

Old = namedtuple("Old", "x y")
New = NamedTuple("New", [("x", int)])


class Record(TypedDict):
    x: int


print(Old(1, 2).$0?x, New(1).$0?x)
record: Record = {"x": 1}
print(record["x"])
"#,
    );
    let repo = Repo::new(&fixture.files);
    let mut reasons = String::new();
    for start in fixture.starts(0) {
        let answer = rename(&repo, start, "zed");
        assert_eq!(answer["edits"], json!([]), "{answer}");
        reasons += &refusal(&answer);
    }
    expect![[r#"
          {"file":"a.py","line":12,"reason":"the definition of `x` cannot be resolved: it is created at run time, or looked up by its name"}
          {"file":"a.py","line":12,"reason":"the definition of `x` cannot be resolved: it is created at run time, or looked up by its name"}
    "#]].assert_eq(&reasons);
}

#[test]
fn lookups_by_string_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
import functools
import operator


class A:
    $0?go: int = 1


class B:
    $2?go: int = 1


def $4?run($6?step: int) -> int:
    return $6step


a = A()
$1$3print(getattr(a, "go"), getattr(B(), "go"), operator.attrgetter("go")(a))
$1print(vars(a)["go"], a.__dict__["go"], {"go": 1}["go"], "go")
$5print(globals()["run"], globals().get("run"), vars()["run"], functools.partial(run, $6step=1))
//- /b.py
from unittest import mock

$1$5with mock.patch("a.run"), mock.patch("a.A.go", 2), mock.patch("other.run"):
    pass
"#,
    );
    let repo = Repo::new(&fixture.files);
    for (group, reported) in [(0, 1), (2, 3), (4, 5)] {
        assert_eq!(unsure(&rename(&repo, fixture.start(group), "zed")), fixture.lines(reported));
    }
    // A forwarded keyword is a reference.
    assert_eq!(edited(&rename(&repo, fixture.start(6), "zed")), fixture.positions(6));
}

#[test]
fn keyword_arguments_of_unknown_callees_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
import dataclasses
import functools
from typing import NamedTuple


class Base:
    def __init_subclass__(cls, $0?tag: str = "", **kw: object) -> None:
        cls.label = tag


class B(Base, $1tag="b"):
    pass


@functools.lru_cache(maxsize=None)
def h($2?q: int) -> int:
    return q


print(h($3q=2))


@dataclasses.dataclass
class A:
    $4?name: str


kw = {"$5name": "z"}
other = {"name": "z"}
a = A(**kw), A(**{"$4name": "y"})
print(dataclasses.asdict(a[0])["$5name"], other["name"])


class N(NamedTuple):
    $6?aa: int


print(N(1)._asdict()["$7aa"])
"#,
    );
    let repo = Repo::new(&fixture.files);
    for (group, reported) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
        assert_eq!(unsure(&rename(&repo, fixture.start(group), "zed")), fixture.lines(reported));
    }
    // A dictionary that is written in the call holds keyword arguments.
    assert_eq!(edited(&rename(&repo, fixture.start(4), "zed")), fixture.positions(4));
}

#[test]
fn names_that_would_be_mangled_are_refused() {
    let fixture = Cursors::new(
        r"
//- /a.py
def $0?helper() -> int:
    return 1


def $1?alone() -> int:
    return 2


class A:
    def m(self) -> int:
        return helper()


print($1alone())
",
    );
    let repo = Repo::new(&fixture.files);
    let answer = rename(&repo, fixture.start(0), "__zed");
    assert_eq!(answer["edits"], json!([]), "{answer}");
    expect![[r#"
          {"file":"a.py","line":11,"reason":"inside a class, `__zed` would be mangled to a private name"}
    "#]]
    .assert_eq(&refusal(&answer));
    assert_eq!(edited(&rename(&repo, fixture.start(1), "__zed")), fixture.positions(1));
}

const STUBBED: &str = r"
//- /shop.pyi
class $0?Cart:
    $3?size: int
    def __init__(self, size: int) -> None: ...
    def $1?total(self, $2?tax: float = ...) -> float: ...

def $4?pay(cart: $0Cart) -> float: ...
//- /shop.py
class $0?Cart:
    def __init__(self, size):
        self.$3?size = size

    def $1?total(self, $2?tax=0.0):
        return self.$3size * (1 + $2tax)


def $4?pay(cart):
    return cart.total(tax=1)
//- /main.py
from shop import $0?Cart, $4pay

cart = $0Cart(size=3)
print($4?pay(cart), cart.$1?total($2?tax=0.5), cart.$3?size)
";

#[test]
fn a_stub_and_its_module_are_renamed_together() {
    let mut project = Project::new(STUBBED);
    for (group, what) in (0..).zip(["a class", "a method", "a parameter", "an attribute", "a function"]) {
        project.renamed_together(group);
        project.restore();
        let expected = project.fixture.positions(group);
        for start in project.fixture.starts(group).into_iter().cloned().collect::<Vec<_>>() {
            let answer = project.call("find_references", &start);
            assert_eq!(positions(&answer, "references"), expected, "{what} asked at {start}: {answer}");
        }
    }
}

#[test]
fn a_stub_definition_and_its_re_export_are_renamed_together() {
    let mut project = Project::new(
        r#"
//- /pack/__init__.py
from ._impl import $0?field, other

__all__ = ["$0field", "other"]
//- /pack/__init__.pyi
def $0?field(x: int = ...) -> int: ...
def other() -> int: ...
//- /pack/_impl.py
def $0?field(x=1):
    return x


def other():
    return $0field()
//- /more.py
from pack import $0field

print($0?field(x=2))
"#,
    );
    project.renamed_together(0);
}

#[test]
fn lookups_of_enum_members_by_string_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
from enum import Enum


class Color(Enum):
    $0?RED = 1


class Shade(Enum):
    RED = 2


$1print(Color.$0RED, Color["RED"], Shade["RED"])
print(Shade["RED"])
"#,
    );
    let answer = rename(&Repo::new(&fixture.files), fixture.start(0), "zed");
    assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(1)));
}

#[test]
fn the_diff_of_a_rename_makes_the_same_changes_as_its_edits() {
    let fixture = Cursors::new(SHOP);
    let (edited, patched) = (Repo::new(&fixture.files), Repo::new(&fixture.files));
    apply(&edited, &rename(&edited, fixture.start(0), "Trolley"));
    let mut asked = fixture.start(0).arguments();
    asked["new_name"] = json!("Trolley");
    asked["format"] = json!("diff");
    let answer = patched.call("rename_symbol", &asked);
    assert_eq!((&answer["edits"], &answer["total"], &answer["total_edits"]), (&json!([]), &json!(3), &json!(9)));
    patched.write("rename.patch", answer["diff"].as_str().unwrap());
    let git = std::process::Command::new("git")
        .args(["apply", "rename.patch"])
        .current_dir(patched.path())
        .env("GIT_CEILING_DIRECTORIES", patched.path().parent().unwrap())
        .output()
        .unwrap();
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    for file in ["shop/__init__.py", "shop/cart.py", "main.py"] {
        let text = |repo: &Repo| std::fs::read_to_string(repo.path().join(file)).unwrap();
        assert_eq!(text(&edited), text(&patched), "{file}");
        assert!(text(&patched).contains("Trolley"), "{file}");
    }
    let page = patched.call("rename_symbol", &json!({ "symbol_name": "Basket", "new_name": "Bag", "limit": 1 }));
    assert_eq!(
        (&page["truncated"], &page["next_offset"], &page["total"]),
        (&json!(true), &json!(1), &json!(3)),
        "{page}"
    );
}

#[test]
fn a_rename_with_many_edits_is_paged_by_file() {
    const FILES: usize = 30;
    let repo = Repo::new("//- /lib.py\nclass Query:\n    pass\n");
    for number in 0..FILES {
        let body = "x: Query = Query()\n".repeat(20);
        repo.write(
            &format!("package/with/a/long/path/user_{number:03}.py"),
            format!("from lib import Query\n\n{body}"),
        );
    }
    repo.write("huge.py", format!("from lib import Query\n\n{}", "x: Query = Query()\n".repeat(60)));
    let total = 1 + FILES * 41 + 121;
    let mut server = Server::start_mcp(repo.command(&["mcp", "--no-daemon"]));
    for (format, entries) in [("edits", FILES + 3), ("diff", FILES + 2)] {
        let (mut offset, mut pages, mut edits, mut lines) = (json!(0), 0, 0, 0);
        while !offset.is_null() {
            let asked = json!({ "symbol_name": "Query", "new_name": "Request", "offset": offset, "format": format });
            let answer = server.tool("rename_symbol", &asked);
            assert!(answer.to_string().len() <= 10_000, "{}", answer.to_string().len());
            assert_eq!((&answer["total_edits"], &answer["total"]), (&json!(total), &json!(entries)));
            let files = answer["edits"].as_array().unwrap().iter();
            assert!(files.clone().all(|file| file["edits"].as_array().unwrap().len() <= 101));
            edits += files.map(|file| file["edits"].as_array().unwrap().len()).sum::<usize>();
            let diff = answer["diff"].as_str().unwrap_or_default();
            lines += diff.lines().filter(|line| line.starts_with('+') && line.contains("Request")).count();
            offset = answer["next_offset"].clone();
            assert_eq!(answer["truncated"], !offset.is_null());
            pages += 1;
        }
        assert!(pages > 3, "{pages}");
        let expected = if format == "edits" { (total, 0) } else { (0, 1 + FILES * 21 + 61) };
        assert_eq!((edits, lines), expected, "{format}");
    }
}

#[test]
fn the_command_prints_a_patch_and_applies_it_on_request() {
    let repo = Repo::new(&Cursors::new(SHOP).files);
    let text = || std::fs::read_to_string(repo.path().join("shop/cart.py")).unwrap();
    let before = text();
    let patch = repo.ok(&["rename", "Cart.total", "sum_up"]);
    expect![[r#"
        --- a/main.py
        +++ b/main.py
        @@ -6,8 +6,8 @@

         def pay(cart: "Cart", other: Other) -> float:
             # total is no reference here
        -    print(f"{cart.total()} of {cart.owner}", other.total(), carts.RATE, RATE)
        -    return cart.total(tax=rate(limit=2)) + shop.Basket("x").total(tax=1)
        +    print(f"{cart.sum_up()} of {cart.owner}", other.total(), carts.RATE, RATE)
        +    return cart.sum_up(tax=rate(limit=2)) + shop.Basket("x").sum_up(tax=1)


         def build(basket: Box) -> "list[shop.Cart | Box]":
        --- a/shop/cart.py
        +++ b/shop/cart.py
        @@ -8,7 +8,7 @@
                 self.owner = owner
                 self.items: list[int] = [0] * size

        -    def total(self, tax: float = 0.0) -> float:
        +    def sum_up(self, tax: float = 0.0) -> float:
                 items = 2
                 return sum(self.items) * (1 + tax) * items

        @@ -17,8 +17,8 @@


         class Basket(Cart):
        -    def total(self, tax: float = 0.5) -> float:
        -        return super().total(tax=tax)
        +    def sum_up(self, tax: float = 0.5) -> float:
        +        return super().sum_up(tax=tax)


         class Other:
    "#]]
    .assert_eq(&patch.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>());
    assert_eq!(patch, repo.ok(&["rename", "shop/cart.py:11:9", "sum_up"]));
    assert_eq!(text(), before, "nothing is written without --apply");
    assert_eq!(repo.ok(&["rename", "Cart.total", "sum_up", "--apply"]), "6 edits in 2 files\n");
    let renamed = before.replace("total(self, tax", "sum_up(self, tax").replace("super().total(", "super().sum_up(");
    assert_eq!(text(), renamed);
    assert_eq!(repo.call("check", &json!({}))["diagnostics"], json!([]));
    assert_eq!(repo.run(&["rename", "Cart.total", "again", "--apply"]).status.code(), Some(1), "that name is gone");
    let several = repo.run(&["rename", "sum_up", "again", "--apply"]);
    assert_eq!(several.status.code(), Some(1));
    let shown = String::from_utf8(several.stdout).unwrap();
    assert_eq!(shown, "shop/cart.py:11:9  method sum_up\nshop/cart.py:20:9  method sum_up\n");
    let refused = repo.run(&["rename", "Cart", "Other", "--apply"]);
    assert_eq!(refused.status.code(), Some(1));
    expect![[r#"
        main.py:4  an existing `Other` would refer to the renamed symbol
        main.py:7  an existing `Other` would refer to the renamed symbol
        main.py:9  it would cause a new diagnostic: Object of type `Other` has no attribute `owner` (unresolved-attribute)
        main.py:9  it would cause a new diagnostic: Object of type `Other` has no attribute `sum_up` (unresolved-attribute)
        main.py:10  it would cause a new diagnostic: Object of type `Other` has no attribute `sum_up` (unresolved-attribute)
        main.py:14  it would cause a new diagnostic: Argument `owner` does not match any known parameter of `object.__init__` (unknown-argument)
        main.py:14  it would cause a new diagnostic: Argument `size` does not match any known parameter of `object.__init__` (unknown-argument)
        main.py:15  it would cause a new diagnostic: Attribute `items` is not defined on `Other` in union `Basket | Other` (unresolved-attribute)
        shop/cart.py:24  an existing `Other` would refer to the renamed symbol
    "#]].assert_eq(&String::from_utf8(refused.stdout).unwrap());
}

/// The root of a project is a search path of the type checker, which never sees it as a package (`findings/ty-root-package.sh`).
#[test]
fn a_rename_says_which_relative_imports_are_not_resolved() {
    let repo = Repo::new(
        "\
//- /__init__.py
//- /brewing.py
def brew(minutes: int) -> int:
    return minutes
//- /kitchen.py
import math

from .brewing import brew

print(brew(math.floor(2.5)))
//- /garden.py
from .brewing import missing
",
    );
    let given = json!({ "file": "brewing.py", "line": 1, "column": 5, "new_name": "steep" });
    let answer = repo.call("rename_symbol", &given);
    let unsure: Vec<_> = answer["unsure"].as_array().unwrap().iter().map(|one| (&one["file"], &one["line"])).collect();
    assert_eq!(unsure, [(&json!("kitchen.py"), &json!(3))], "{answer}");
    expect!["the type checker cannot resolve this relative import, so that names in this file may be of the symbol; it does if the project root is above the folder of the package"].assert_eq(answer["unsure"][0]["reason"].as_str().unwrap());
}
