//! `rename_symbol`: its edits, applied to a copy, preserve the meaning of the project; otherwise it refuses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::Repo;

const SHOP: &str = "
//- /shop/__init__.py
from .cart import Cart as Cart, Basket

__all__ = [\"Cart\", 'Basket']
//- /shop/cart.py
from collections.abc import Iterator


class Cart:
    kind: str = \"cart\"

    def __init__(self, owner: str, size: int = 1) -> None:
        self.owner = owner
        self.items: list[int] = [0] * size

    def total(self, tax: float = 0.0) -> float:
        items = 2
        return sum(self.items) * (1 + tax) * items

    def __iter__(self) -> Iterator[int]:
        return iter(self.items)


class Basket(Cart):
    def total(self, tax: float = 0.5) -> float:
        return super().total(tax=tax)


class Other:
    def total(self) -> int:
        return 0


RATE = 0.2


def rate(limit: int) -> float:
    global RATE
    RATE = limit / 10
    return RATE
//- /main.py
import shop
import shop.cart as carts
from shop import Basket as Box, Cart
from shop.cart import RATE, Other, rate


def pay(cart: \"Cart\", other: Other) -> float:
    # total is no reference here
    print(f\"{cart.total()} of {cart.owner}\", other.total(), carts.RATE, RATE)
    return cart.total(tax=rate(limit=2)) + shop.Basket(\"x\").total(tax=1)


def build(basket: Box) -> \"list[shop.Cart | Box]\":
    items = [basket, Cart(owner=\"me\", size=2)]
    return [one for one in items if one.items]
";

pub fn rename(repo: &Repo, file: &str, line: u32, column: u32, new_name: &str) -> Value {
    flat(repo.call("rename_symbol", &json!({ "file": file, "line": line, "column": column, "new_name": new_name })))
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
fn apply(repo: &Repo, answer: &Value) {
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

pub fn findings(repo: &Repo) -> Vec<String> {
    let answer = repo.call("check", &json!({}));
    let found = answer["diagnostics"].as_array().unwrap().iter();
    found.map(|one| format!("{}:{} {}", one["file"], one["line"], one["code"])).collect()
}

pub fn edited(answer: &Value) -> Vec<String> {
    let edits = answer["edits"].as_array().unwrap().iter();
    edits.map(|one| format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"])).collect()
}

#[test]
fn edits_preserve_the_semantics_of_a_project() {
    for (what, file, line, column, count) in [
        ("a class, its re-exports, quoted, in __all__", "shop/cart.py", 4, 7, 9),
        ("a method with its overrides", "shop/cart.py", 11, 9, 6),
        ("a method, asked at a use", "main.py", 9, 19, 6),
        ("a parameter of a method with those of overrides", "shop/cart.py", 11, 21, 7),
        ("a parameter of __init__", "shop/cart.py", 7, 24, 3),
        ("a parameter of a function", "shop/cart.py", 32, 10, 3),
        ("an attribute that __init__ gives", "shop/cart.py", 8, 14, 2),
        ("a variable of a class", "shop/cart.py", 5, 5, 1),
        ("a global variable", "shop/cart.py", 29, 1, 7),
        ("a local variable", "shop/cart.py", 12, 9, 2),
        ("an alias alone", "main.py", 3, 28, 3),
        ("an alias of a module", "main.py", 2, 22, 2),
        ("a variable of a comprehension", "main.py", 15, 13, 3),
    ] {
        let repo = Repo::new(SHOP);
        assert_eq!(findings(&repo), Vec::<String>::new());
        let answer = rename(&repo, file, line, column, "renamed");
        assert!(answer.get("refused").is_none(), "{what}: {answer}");
        assert_eq!(edited(&answer).len(), count, "{what}: {:?}", edited(&answer));
        apply(&repo, &answer);
        assert_eq!(findings(&repo), Vec::<String>::new(), "{what}");
        // Rename it back: the same number of edits.
        let first = &answer["edits"][0];
        let place = |field: &str| u32::try_from(first[field].as_u64().unwrap()).unwrap();
        let back = rename(&repo, first["file"].as_str().unwrap(), place("line"), place("column"), "renamed2");
        assert_eq!(edited(&back).len(), edited(&answer).len(), "{what}: {back}");
    }
}

#[test]
fn renames_that_capture_shadow_or_break_are_refused() {
    for (what, file, line, column, new_name, said) in [
        ("a name of the module", "shop/cart.py", 4, 7, "Other", "an existing"),
        ("a member of a subclass", "shop/cart.py", 5, 5, "total", "an existing"),
        ("a member of a class above", "shop/cart.py", 20, 9, "items", "an existing"),
        ("a builtin that is used", "shop/cart.py", 32, 5, "sum", "an existing"),
        ("a parameter beside", "shop/cart.py", 7, 24, "size", "an existing"),
        ("a local name where it is used", "main.py", 3, 37, "items", "items"),
        ("a local name that hides a global one", "shop/cart.py", 12, 9, "tax", "an existing"),
        ("a name that Python looks for", "shop/cart.py", 15, 9, "walk", "Python looks up"),
        ("to such a name", "shop/cart.py", 11, 9, "__len__", "Python looks up"),
        ("a class of the library", "shop/cart.py", 1, 29, "Walker", "outside the project"),
        ("a module", "main.py", 1, 8, "store", "module"),
        ("a private name", "shop/cart.py", 11, 9, "__total", "underscores"),
    ] {
        let answer = rename(&Repo::new(SHOP), file, line, column, new_name);
        assert_eq!(answer["edits"], json!([]), "{what}: {answer}");
        let reasons = answer["refused"].to_string();
        assert!(reasons.contains(said), "{what}: {reasons}");
    }
}

#[test]
fn invalid_identifiers_are_rejected() {
    let repo = Repo::new(SHOP);
    for new_name in ["", "class", "None", "a b", "1a", "a.b", " a", "(a)", "a\n"] {
        let arguments = json!({ "file": "main.py", "line": 7, "column": 5, "new_name": new_name }).to_string();
        assert!(
            repo.fails(&["call", "rename_symbol", "--args", &arguments]).contains("INVALID_ARGUMENT"),
            "{new_name:?}"
        );
    }
    let nothing = json!({ "file": "main.py", "line": 8, "column": 8, "new_name": "x" }).to_string();
    let said = repo.run(&["call", "rename_symbol", "--args", &nothing]).stderr;
    assert!(String::from_utf8(said).unwrap().contains("NOT_FOUND"));
    assert_eq!(rename(&repo, "main.py", 7, 5, "pay")["edits"], json!([]));
}

#[test]
fn a_member_of_a_library_class_is_not_renamed() {
    let repo = Repo::new(
        r"
//- /a.py
import threading


class Work(threading.Thread):
    def run(self) -> None: ...

    def stop(self) -> None: ...
",
    );
    assert!(rename(&repo, "a.py", 5, 9, "go")["refused"].to_string().contains("outside the project"));
    // Nor may a rename create an override of a library member.
    assert!(rename(&repo, "a.py", 7, 9, "join")["refused"].to_string().contains("outside the project"));
    assert_eq!(edited(&rename(&repo, "a.py", 7, 9, "halt")), ["a.py:7:9"]);
}

#[test]
fn occurrences_of_unknown_type_are_reported_and_not_edited() {
    let repo = Repo::new(
        r#"
//- /a.py
class A:
    def go(self) -> None: ...


def f(x):
    x.go()
    return getattr(x, "go")
"#,
    );
    let answer = rename(&repo, "a.py", 2, 9, "walk");
    assert_eq!(edited(&answer), ["a.py:2:9"]);
    let lines: Vec<&Value> = answer["unsure"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!(lines, [&json!(6), &json!(7)]);
}

#[test]
fn interchangeable_classes_are_renamed_together() {
    let repo = Repo::new(
        r"
//- /a.py
class A:
    def go(self) -> int: return 1


class B:
    def go(self) -> int: return 2


def f(x: A | B) -> int:
    return x.go()
",
    );
    let answer = rename(&repo, "a.py", 2, 9, "walk");
    assert_eq!(edited(&answer), ["a.py:2:9", "a.py:6:9", "a.py:10:14"]);
    apply(&repo, &answer);
    assert_eq!(findings(&repo), Vec::<String>::new());
}

/// Renames, applies the edits, and checks that the meaning is unchanged.
pub fn renamed(files: &str, file: &str, line: u32, column: u32, expected: &[&str]) -> (Repo, Value) {
    let repo = Repo::new(files);
    let before = findings(&repo);
    let answer = rename(&repo, file, line, column, "zed");
    assert_eq!(edited(&answer), expected, "{answer}");
    apply(&repo, &answer);
    assert_eq!(findings(&repo), before);
    (repo, answer)
}

pub fn unsure(answer: &Value) -> Vec<String> {
    let all = answer["unsure"].as_array().map_or(&[][..], Vec::as_slice).iter();
    all.map(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"])).collect()
}

const NEWEST: &str = "//- /ty.toml\n[environment]\npython-version = \"3.13\"\n";

#[test]
fn a_member_is_renamed_in_the_lists_of_its_class() {
    let class = r#"
//- /a.py
class Base:
    __slots__ = ("x", "y")


class Point(Base):
    __slots__: tuple[str, ...] = ()
    __match_args__ = ("x", 'y')

    def __init__(self, x: int) -> None:
        self.x = x
        self.y = 1


class Other:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = 1


def f(p: Point) -> int:
    match p:
        case Point(0, 1):
            return 1
    return p.x
"#;
    let (repo, _) = renamed(class, "a.py", 10, 14, &["a.py:2:19", "a.py:7:24", "a.py:10:14", "a.py:25:14"]);
    let text = std::fs::read_to_string(repo.path().join("a.py")).unwrap();
    assert!(
        text.contains("__slots__ = (\"zed\", \"y\")") && text.contains("__match_args__ = (\"zed\", 'y')"),
        "{text}"
    );
}

#[test]
fn member_lists_in_one_string_are_reported() {
    let repo = Repo::new(
        r#"
//- /a.py
class Point:
    __slots__ = "x y".split()

    def __init__(self, x: int) -> None:
        self.x = x
"#,
    );
    let answer = rename(&repo, "a.py", 5, 14, "zed");
    assert_eq!(
        (edited(&answer), unsure(&answer)),
        (vec!["a.py:5:14".to_owned()], vec!["a.py:2".to_owned()]),
        "{answer}"
    );
}

#[test]
fn a_member_is_renamed_in_class_patterns() {
    let files = r"
//- /a.py
from dataclasses import dataclass


@dataclass
class Point:
    x: int


class Plain:
    def __init__(self) -> None:
        self.x = 1


def f(p: object, x: int) -> int:
    match p:
        case Point(x=0) | Plain(x=1):
            return x
        case Point(x=x):
            return x
    return 0
";
    renamed(files, "a.py", 6, 5, &["a.py:6:5", "a.py:16:20", "a.py:18:20"]);
    renamed(files, "a.py", 16, 33, &["a.py:11:14", "a.py:16:33"]);
    // A local variable with the same name is a different symbol.
    renamed(files, "a.py", 14, 18, &["a.py:14:18", "a.py:17:20", "a.py:18:22", "a.py:19:20"]);
}

#[test]
fn a_member_is_renamed_in_copying_calls() {
    let files = format!(
        "{NEWEST}//- /a.py\nimport copy\nimport dataclasses\nfrom dataclasses import dataclass, replace\nfrom typing import NamedTuple\n\n\n@dataclass\nclass Point:\n    x: int\n\n\nclass Pair(NamedTuple):\n    x: int\n\n\np = Point(x=1)\nq = dataclasses.replace(p, x=2), replace(p, x=3), copy.replace(p, x=4)\nr = Pair(x=1)._replace(x=2), copy.replace(Pair(1), x=3)\ntext = \"a\".replace(\"x\", \"y\")\n"
    );
    renamed(&files, "a.py", 9, 5, &["a.py:9:5", "a.py:16:11", "a.py:17:28", "a.py:17:45", "a.py:17:67"]);
    renamed(&files, "a.py", 13, 5, &["a.py:13:5", "a.py:18:10", "a.py:18:24", "a.py:18:52"]);
}

#[test]
fn fields_declared_in_strings_are_refused() {
    let files = r#"
//- /a.py
from collections import namedtuple
from typing import NamedTuple, TypedDict

Old = namedtuple("Old", "x y")
New = NamedTuple("New", [("x", int)])


class Record(TypedDict):
    x: int


print(Old(1, 2).x, New(1).x)
record: Record = {"x": 1}
print(record["x"])
"#;
    let repo = Repo::new(files);
    for (line, column, said) in [(12, 17, "looked up by its name"), (12, 27, "looked up by its name")] {
        let answer = rename(&repo, "a.py", line, column, "zed");
        assert_eq!(answer["edits"], json!([]), "{answer}");
        assert!(answer["refused"].to_string().contains(said), "{line}: {answer}");
    }
}

#[test]
fn lookups_by_string_are_reported() {
    let repo = Repo::new(
        r#"
//- /a.py
import functools
import operator


class A:
    go: int = 1


class B:
    go: int = 1


def run(step: int) -> int:
    return step


a = A()
print(getattr(a, "go"), getattr(B(), "go"), operator.attrgetter("go")(a))
print(vars(a)["go"], a.__dict__["go"], {"go": 1}["go"], "go")
print(globals()["run"], globals().get("run"), vars()["run"], functools.partial(run, step=1))
//- /b.py
from unittest import mock

with mock.patch("a.run"), mock.patch("a.A.go", 2), mock.patch("other.run"):
    pass
"#,
    );
    let lines = |line: u32, column: u32| unsure(&rename(&repo, "a.py", line, column, "zed"));
    assert_eq!(lines(6, 5), ["a.py:18", "a.py:19", "b.py:3"]);
    assert_eq!(lines(10, 5), ["a.py:18"]);
    assert_eq!(lines(13, 5), ["a.py:20", "b.py:3"]);
    // A forwarded keyword is a reference.
    assert_eq!(edited(&rename(&repo, "a.py", 13, 9, "zed")), ["a.py:13:9", "a.py:14:12", "a.py:20:85"]);
}

#[test]
fn keyword_arguments_of_unknown_callees_are_reported() {
    let repo = Repo::new(
        r#"
//- /a.py
import dataclasses
import functools
from typing import NamedTuple


class Base:
    def __init_subclass__(cls, tag: str = "", **kw: object) -> None:
        cls.label = tag


class B(Base, tag="b"):
    pass


@functools.lru_cache(maxsize=None)
def h(q: int) -> int:
    return q


print(h(q=2))


@dataclasses.dataclass
class A:
    name: str


kw = {"name": "z"}
other = {"name": "z"}
a = A(**kw), A(**{"name": "y"})
print(dataclasses.asdict(a[0])["name"], other["name"])


class N(NamedTuple):
    aa: int


print(N(1)._asdict()["aa"])
"#,
    );
    let lines = |line: u32, column: u32| unsure(&rename(&repo, "a.py", line, column, "zed"));
    assert_eq!(lines(7, 32), ["a.py:11"]);
    assert_eq!(lines(16, 7), ["a.py:20"]);
    assert_eq!(lines(25, 5), ["a.py:28", "a.py:30", "a.py:31"]);
    assert_eq!(lines(35, 5), ["a.py:38"]);
}

#[test]
fn names_that_would_be_mangled_are_refused() {
    let repo = Repo::new(
        r"
//- /a.py
def helper() -> int:
    return 1


def alone() -> int:
    return 2


class A:
    def m(self) -> int:
        return helper()


print(alone())
",
    );
    let answer = rename(&repo, "a.py", 1, 5, "__zed");
    assert_eq!(answer["edits"], json!([]), "{answer}");
    assert!(answer["refused"].to_string().contains("inside a class"), "{answer}");
    assert_eq!(edited(&rename(&repo, "a.py", 5, 5, "__zed")), ["a.py:5:5", "a.py:14:7"]);
}

const STUBBED: &str = r"
//- /shop.pyi
class Cart:
    size: int
    def __init__(self, size: int) -> None: ...
    def total(self, tax: float = ...) -> float: ...

def pay(cart: Cart) -> float: ...
//- /shop.py
class Cart:
    def __init__(self, size):
        self.size = size

    def total(self, tax=0.0):
        return self.size * (1 + tax)


def pay(cart):
    return cart.total(tax=1)
//- /main.py
from shop import Cart, pay

cart = Cart(size=3)
print(pay(cart), cart.total(tax=0.5), cart.size)
";

#[test]
fn a_stub_and_its_module_are_renamed_together() {
    for (what, places, expected) in [
        (
            "a class",
            &[("shop.pyi", 1, 7), ("shop.py", 1, 7), ("main.py", 1, 18)][..],
            &["main.py:1:18", "main.py:3:8", "shop.py:1:7", "shop.pyi:1:7", "shop.pyi:6:15"][..],
        ),
        (
            "a method",
            &[("shop.pyi", 4, 9), ("shop.py", 5, 9), ("main.py", 4, 23)],
            &["main.py:4:23", "shop.py:5:9", "shop.pyi:4:9"],
        ),
        (
            "a parameter",
            &[("shop.pyi", 4, 21), ("shop.py", 5, 21), ("main.py", 4, 29)],
            &["main.py:4:29", "shop.py:5:21", "shop.py:6:33", "shop.pyi:4:21"],
        ),
        (
            "an attribute",
            &[("shop.pyi", 2, 5), ("shop.py", 3, 14), ("main.py", 4, 44)],
            &["main.py:4:44", "shop.py:3:14", "shop.py:6:21", "shop.pyi:2:5"],
        ),
        (
            "a function",
            &[("shop.pyi", 6, 5), ("shop.py", 9, 5), ("main.py", 4, 7)],
            &["main.py:1:24", "main.py:4:7", "shop.py:9:5", "shop.pyi:6:5"],
        ),
    ] {
        for (file, line, column) in places {
            let (repo, _) = renamed(STUBBED, file, *line, *column, expected);
            drop(repo);
            let repo = Repo::new(STUBBED);
            let answer = repo.call("find_references", &json!({ "file": file, "line": line, "column": column }));
            let found = answer["references"].as_array().unwrap().iter();
            let found: Vec<String> = found
                .map(|one| format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"]))
                .collect();
            assert_eq!(found, expected, "{what} asked in {file}: {answer}");
        }
    }
}

#[test]
fn a_stub_definition_and_its_re_export_are_renamed_together() {
    let files = r#"
//- /pack/__init__.py
from ._impl import field, other

__all__ = ["field", "other"]
//- /pack/__init__.pyi
def field(x: int = ...) -> int: ...
def other() -> int: ...
//- /pack/_impl.py
def field(x=1):
    return x


def other():
    return field()
//- /more.py
from pack import field

print(field(x=2))
"#;
    let expected = [
        "more.py:1:18",
        "more.py:3:7",
        "pack/__init__.py:1:20",
        "pack/__init__.py:3:13",
        "pack/__init__.pyi:1:5",
        "pack/_impl.py:1:5",
        "pack/_impl.py:6:12",
    ];
    for (file, line, column) in
        [("pack/_impl.py", 1, 5), ("pack/__init__.pyi", 1, 5), ("more.py", 3, 7), ("pack/__init__.py", 1, 20)]
    {
        renamed(files, file, line, column, &expected);
    }
}

#[test]
fn lookups_of_enum_members_by_string_are_reported() {
    let repo = Repo::new(
        r#"
//- /a.py
from enum import Enum


class Color(Enum):
    RED = 1


class Shade(Enum):
    RED = 2


print(Color.RED, Color["RED"], Shade["RED"])
print(Shade["RED"])
"#,
    );
    let answer = rename(&repo, "a.py", 5, 5, "zed");
    assert_eq!(edited(&answer), ["a.py:5:5", "a.py:12:13"]);
    assert_eq!(unsure(&answer), ["a.py:12"]);
}

#[test]
fn the_diff_of_a_rename_makes_the_same_changes_as_its_edits() {
    let (edited, patched) = (Repo::new(SHOP), Repo::new(SHOP));
    let asked = json!({ "file": "shop/cart.py", "line": 4, "column": 7, "new_name": "Trolley" });
    apply(&edited, &flat(edited.call("rename_symbol", &asked)));
    let mut asked = asked;
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
    const FILES: usize = 60;
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
    let mut server = crate::harness::Server::start_mcp(repo.command(&["mcp", "--no-daemon"]));
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
    let repo = Repo::new(SHOP);
    let text = || std::fs::read_to_string(repo.path().join("shop/cart.py")).unwrap();
    let before = text();
    let patch = repo.ok(&["rename", "Cart.total", "sum_up"]);
    assert!(
        patch.contains("--- a/shop/cart.py\n") && patch.contains("\n+    def sum_up(self, tax: float = 0.0)"),
        "{patch}"
    );
    assert_eq!(patch, repo.ok(&["rename", "shop/cart.py:11:9", "sum_up"]));
    assert_eq!(text(), before, "nothing is written without --apply");
    assert_eq!(repo.ok(&["rename", "Cart.total", "sum_up", "--apply"]), "6 edits in 2 files\n");
    assert!(text().contains("return super().sum_up(tax=tax)"));
    assert_eq!(findings(&repo), Vec::<String>::new());
    assert_eq!(repo.run(&["rename", "Cart.total", "again", "--apply"]).status.code(), Some(1), "that name is gone");
    let several = repo.run(&["rename", "sum_up", "again", "--apply"]);
    assert_eq!(several.status.code(), Some(1));
    let shown = String::from_utf8(several.stdout).unwrap();
    assert_eq!(shown, "shop/cart.py:11:9  method sum_up\nshop/cart.py:20:9  method sum_up\n");
    let refused = repo.run(&["rename", "Cart", "Other", "--apply"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stdout).unwrap().contains("an existing"));
}
