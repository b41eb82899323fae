//! `infer_types` of a folder and `ixmcp infer` of several files: one pass over all of them, whose edits are valid together.

use std::fmt::Write;
use std::iter;
use std::process::Command;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};
use crate::support::sound::number;

/// file: name type
fn suggested(answer: &Value) -> Vec<String> {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let all = answer["suggestions"].as_array().unwrap().iter();
    all.map(|one| format!("{}: {} {}", text(one, "file"), text(one, "name"), text(one, "type"))).collect()
}

/// Lists the suggestions, then the symbols and files that are left out with the reason.
fn outcome(answer: &Value) -> String {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let left_out = answer["skipped"].as_array().unwrap().iter().map(|one| {
        let slot = format!("{} {}", text(one, "file"), text(one, "name"));
        format!("{}: {}", slot.trim_end(), text(one, "reason"))
    });
    suggested(answer).into_iter().chain(left_out).collect::<Vec<_>>().join("\n")
}

/// Infers the types of all files.
fn outcome_of_all(repo: &Repo) -> String {
    outcome(&repo.call("infer_types", &json!({ "file": "." })))
}

fn read(repo: &Repo, file: &str) -> String {
    std::fs::read_to_string(repo.path().join(file)).unwrap()
}

#[test]
fn a_folder_is_annotated_in_one_pass_and_its_edits_fit_together() {
    // Circular imports, and a chain of calls through four files.
    let repo = Repo::new(
        r#"
//- /shop/__init__.py
//- /shop/cart.py
from shop.item import Item, price_of


class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        return item

    def total(self):
        return price_of(self.first())

    def first(self):
        return Item("x", 2)
//- /shop/item.py
import shop.rate


class Item:
    def __init__(self, name, amount=1):
        self.name = name
        self.amount = amount

    def into(self, cart):
        return cart.add(self)


def price_of(item):
    return shop.rate.rated(item.amount)
//- /shop/rate.py
from shop.deep import deep


def rated(amount):
    return deep(amount)
//- /shop/deep.py
def deep(amount):
    return amount * 2.5
//- /main.py
from shop.cart import Cart
from shop.item import Item

cart = Cart()
Item("x").into(cart)
total: float = cart.total()
"#,
    );
    expect![[r#"
        shop/cart.py: items list[Item]
        shop/cart.py: __init__ None
        shop/cart.py: add Item
        shop/cart.py: item Item
        shop/cart.py: total float
        shop/cart.py: first Item
        shop/deep.py: deep float
        shop/deep.py: amount int
        shop/item.py: name str
        shop/item.py: amount int
        shop/item.py: __init__ None
        shop/item.py: name str
        shop/item.py: amount int
        shop/item.py: into Item
        shop/item.py: cart Cart
        shop/item.py: price_of float
        shop/item.py: item Item
        shop/rate.py: rated float
        shop/rate.py: amount int"#]]
    .assert_eq(&outcome(&repo.call("infer_types", &json!({ "file": "shop" }))));
    expect![[r#"
        19 annotations in 4 files
    "#]]
    .assert_eq(&repo.ok(&["infer", "shop", "--apply"]));
    let rate = "from shop.deep import deep\n\n\ndef rated(amount: int) -> float:\n    return deep(amount)\n";
    assert_eq!(read(&repo, "shop/rate.py"), rate);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
    // The program still runs: `Cart` is imported for the checker only.
    let run = Command::new("python3").arg("main.py").current_dir(repo.path()).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let left = repo.run(&["infer", "shop", "--diff"]);
    assert_eq!(left.status.code(), Some(1), "{left:?}");
}

#[test]
fn several_files_and_the_whole_project_are_patches_that_git_applies() {
    let files = r"
//- /a.py
def f(x=1):
    return [x]
//- /b.py
from a import f


def g():
    return f()
//- /c.py
def h():
    return 'x'
";
    for (arguments, changed) in [(&["a.py", "b.py"][..], 2), (&[], 3), (&["."], 3)] {
        let repo = Repo::new(files);
        let all: Vec<&str> = ["infer", "--diff"].into_iter().chain(arguments.iter().copied()).collect();
        let patch = repo.ok(&all);
        assert_eq!(patch.matches("+++ b/").count(), changed, "{arguments:?} {patch}");
        repo.write("p.diff", &patch);
        let git = Command::new("git").args(["apply", "p.diff"]).current_dir(repo.path()).output().unwrap();
        assert!(git.status.success(), "{patch}\n{git:?}");
        assert_eq!(read(&repo, "b.py"), "from a import f\n\n\ndef g() -> list[int]:\n    return f()\n");
    }
}

#[test]
fn annotations_that_only_together_cause_a_diagnostic_are_not_all_suggested() {
    // `pass_on` hands its argument to `take`, whose default says `int`; an annotated caller gives it a text.
    let repo = Repo::new(
        r#"
//- /lib.py
def take(size=1):
    return str(size)


def make(flag=False):
    if flag:
        return None
    return "x"
//- /between.py
from lib import make, take


def pass_on(**rest: str):
    return take(**rest)


def length():
    return len(make())
"#,
    );
    expect![[r#"
        between.py: pass_on str
        between.py: length int
        lib.py: take str
        lib.py: flag bool
        lib.py take.size: `int` would cause a new diagnostic
        lib.py make: `str | None` would cause a new diagnostic"#]]
    .assert_eq(&outcome_of_all(&repo));
    repo.ok(&["infer", "--apply"]);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn an_object_that_passes_itself_has_its_own_class() {
    let repo = Repo::new(
        r"
//- /runner.py
from result import Result, keep


class Runner:
    charset = 'utf-8'

    def run(self):
        return Result(self)

    @classmethod
    def register(cls):
        keep(cls)
//- /other.py
from result import note


class Other:
    def run(self):
        note(self)


class Runner:
    def run(self):
        note(self)
//- /result.py
class Result:
    def __init__(self, runner):
        self.runner = runner

    def charset(self):
        return self.runner.charset


def keep(kind):
    print(kind)


def note(either):
    print(either)
",
    );
    let answer = repo.call("infer_types", &json!({ "file": ".", "min_confidence": "low" }));
    expect![[r#"
        other.py: run None
        other.py: run None
        result.py: runner Runner
        result.py: __init__ None
        result.py: runner Runner
        result.py: charset str
        result.py: keep None
        result.py: kind type[Runner]
        result.py: note None
        runner.py: run Result
        runner.py: register None
        result.py note.either: `Self@run | Self@run` cannot be written as an annotation
        runner.py Runner.charset: the literal's type is obvious"#]]
    .assert_eq(&outcome(&answer));
    repo.ok(&["infer", "--apply"]);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn arguments_belong_to_the_function_that_a_call_runs() {
    let repo = Repo::new(
        r#"
//- /calls.py
import sys
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


class Event:
    def __init__(self, source):
        self.source = source


@dataclass
class Click(Event):
    x: int


class Converting(type):
    def __call__(cls, raw):
        return super().__call__(str(raw))


class Parsed(metaclass=Converting):
    def __init__(self, text):
        self.text = text


class Made:
    def __new__(cls, size):
        return super().__new__(cls)

    def __init__(self, size):
        pass


class Plain:
    def __init__(self, amount):
        self.amount = amount


class Below(Plain):
    pass


class Box(Generic[T]):
    def __init__(self, limit=None):
        self.limit = limit


class Port:
    if sys.platform == "win32":
        def send(self, handle):
            return 1
    else:
        def send(self, number):
            return 2


Click(3)
Parsed(1)
Parsed(2)
Made(4)
Below(1.5)
Below(2.5)
Box[int](5)
Box[str](limit=6)
Port().send(7)
Port().send(8)
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": ".", "min_confidence": "low" }));
    let parameters = answer["suggestions"].as_array().unwrap().iter().filter(|one| one["kind"] == "parameter");
    let shown: Vec<String> = parameters
        .map(|one| {
            format!("{}.{}: {}\n", one["container"].as_str().unwrap(), one["name"].as_str().unwrap(), one["type"])
        })
        .collect();
    expect![[r#"
        Converting.__call__.raw: "int"
        Made.__new__.size: "int"
        Plain.__init__.amount: "float"
        Box.__init__.limit: "int | None"
        Port.send.handle: "int"
        Port.send.number: "int"
    "#]]
    .assert_eq(&shown.concat());
}

#[test]
fn a_call_of_an_overridden_method_is_evidence_even_if_that_method_is_not_annotated() {
    let repo = Repo::new(
        r"
//- /lib.py
class Shape:
    def grow(self, amount):
        return amount.units


def use(shape: Shape):
    shape.grow(1)
    shape.grow(2)
//- /square.py
from lib import Shape


class Square(Shape):
    def grow(self, amount):
        return amount + 1
",
    );
    expect![[r#"
        lib.py: grow int
        lib.py: use None
        square.py: grow int
        square.py: amount int
        lib.py Shape.grow.amount: `int` would cause a new diagnostic"#]]
    .assert_eq(&outcome_of_all(&repo));
}

#[test]
fn a_function_that_calls_itself_is_annotated_once_the_rest_of_its_values_are_known() {
    let repo = Repo::new(
        r"
//- /count.py
class Node:
    def __init__(self):
        self.size = 1


def weigh(node):
    return node.size


def total(number):
    if number == 0:
        return 1
    return total(number - 1) + weigh(Node())


total(3)
",
    );
    expect![[r#"
        count.py: size int
        count.py: __init__ None
        count.py: weigh int
        count.py: node Node
        count.py: total int
        count.py: number int"#]]
    .assert_eq(&outcome_of_all(&repo));
}

#[test]
fn a_marker_as_default_is_not_the_type_of_a_parameter() {
    let repo = Repo::new(
        r"
//- /a.py
class Unset:
    pass


UNSET = Unset()


def outer(size=UNSET, name=UNSET):
    return inner(size=size, name=name)


def inner(size=UNSET, name=UNSET):
    return [size, name]


outer(size=1)
",
    );
    expect![[r#"
        a.py: UNSET Unset
        a.py: size int | Unset
        a.py: size int | Unset
        a.py outer: a returned value has an unknown type
        a.py outer.name: its default is a marker, and no call passes another type
        a.py inner: the type is partly unknown
        a.py inner.name: a call passes a value of unknown type"#]]
    .assert_eq(&outcome_of_all(&repo));
    repo.ok(&["infer", "--apply"]);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn aliases_of_classes_are_left_alone_and_generators_are_iterators() {
    let repo = Repo::new(
        r"
//- /a.py
Pairs = dict[str, int]
Name = str


def nothing():
    print()


def generated(limit: int):
    return (one for one in range(limit))
",
    );
    let found = suggested(&repo.call("infer_types", &json!({ "file": "." })));
    assert_eq!(found, ["a.py: nothing None", "a.py: generated Iterator[int]"]);
}

#[test]
fn variables_do_not_become_fields_and_implementations_keep_what_their_overloads_accept() {
    let repo = Repo::new(
        r#"
//- /a.py
from dataclasses import dataclass
from typing import overload


@dataclass
class Point:
    x: int
    limits = int("1")


class Plain:
    limits = int("1")


@overload
def size(of: str) -> int: ...
@overload
def size(of: bytes) -> str: ...
def size(of):
    return len(of)


size('a')
"#,
    );
    let found = suggested(&repo.call("infer_types", &json!({ "file": "." })));
    assert_eq!(found, ["a.py: limits int"]);
    let unannotated = read(&repo, "a.py");
    repo.ok(&["infer", "--apply"]);
    let annotated = unannotated.replace("class Plain:\n    limits =", "class Plain:\n    limits: int =");
    assert_eq!(read(&repo, "a.py"), annotated);
}

#[test]
fn views_of_a_dictionary_have_their_public_names() {
    let repo = Repo::new(
        r"
//- /a.py
def pairs():
    return {'a': 1}.items()


def keys():
    return {'a': 1}.keys()


def values():
    return {'a': 1}.values()
",
    );
    let found = suggested(&repo.call("infer_types", &json!({ "file": "." })));
    assert_eq!(found, ["a.py: pairs ItemsView[str, int]", "a.py: keys KeysView[str]", "a.py: values ValuesView[int]"]);
    repo.ok(&["infer", "--apply"]);
    expect![[r#"
        from collections.abc import ItemsView
        from collections.abc import KeysView
        from collections.abc import ValuesView
        def pairs() -> ItemsView[str, int]:
            return {'a': 1}.items()


        def keys() -> KeysView[str]:
            return {'a': 1}.keys()


        def values() -> ValuesView[int]:
            return {'a': 1}.values()
    "#]]
    .assert_eq(&read(&repo, "a.py"));
}

#[test]
fn files_that_cannot_be_annotated_are_named_and_the_others_are() {
    let repo = Repo::new(
        r#"
//- /good.py
from stubbed import made


def f():
    return made()
//- /broken.py
def g(:
    return 1
//- /deep.py
x = DEEP
//- /stubbed.py
def made():
    return 1
//- /stubbed.pyi
def made() -> str: ...
//- /book.ipynb
{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
"#,
    );
    repo.write("deep.py", format!("x = {}{}\n", "[".repeat(300), "]".repeat(300)));
    repo.write("latin.py", b"# \xe9\ndef g():\n    return 1\n");
    let answer = repo.call("infer_types", &json!({ "file": "." }));
    // Importers see the stub.
    expect![[r#"
        good.py: f str
        stubbed.py: made int
        broken.py: it has syntax errors
        deep.py: its brackets are nested too deeply
        latin.py: it cannot be read"#]]
    .assert_eq(&outcome(&answer));
    // One file by itself is left out for the same reason, and commands say so.
    let alone = repo.call("infer_types", &json!({ "file": "broken.py" }));
    assert_eq!(alone["skipped"], json!([{ "name": "", "kind": "file", "reason": "it has syntax errors" }]), "{alone}");
    let noted = String::from_utf8(repo.run(&["infer", "broken.py"]).stderr).unwrap();
    expect![[r#"
        broken.py is left out: it has syntax errors
        0 annotations; 0 symbols without a suggestion (see --json)
    "#]]
    .assert_eq(&noted);
    repo.ok(&["infer", "--apply"]);
    assert_eq!(read(&repo, "stubbed.pyi"), "def made() -> str: ...\n");
}

#[test]
fn pages_over_mcp_hold_whole_files_and_add_up_to_all() {
    let repo = Repo::new("");
    for file in 0..12 {
        let functions: String =
            (0..5).map(|at| format!("def f_{at}(first=1, second='x'):\n    return first\n\n\n")).collect();
        repo.write(&format!("m_{file:02}.py"), functions);
    }
    let all = suggested(&repo.call("infer_types", &json!({ "file": "." })));
    assert_eq!(all.len(), 12 * 5 * 3);
    let mut server = Server::start_mcp(repo.command(&["mcp", "--no-daemon"]));
    let (mut pages, mut offset) = (Vec::new(), json!(0));
    while !offset.is_null() {
        let answer = server.tool("infer_types", &json!({ "file": ".", "offset": offset }));
        assert!(answer.to_string().len() <= 10_700, "{}", answer.to_string().len());
        assert_eq!(answer["total"], all.len());
        let page = suggested(&answer);
        let last = page.last().unwrap().split(':').next().unwrap().to_owned();
        pages.extend(page);
        offset = answer["next_offset"].clone();
        assert_eq!(answer["truncated"], !offset.is_null());
        // No file is on two pages.
        let next = all.get(pages.len()).map_or("", |one| one.split(':').next().unwrap());
        assert_ne!(next, last);
    }
    assert_eq!(pages, all);
}

#[test]
fn a_symbol_belongs_to_one_file_and_a_path_must_exist() {
    let repo = Repo::new("//- /a.py\ndef f():\n    return 1\n//- /sub/b.py\n//- /c.txt\nx\n");
    let calls = [
        json!({ "file": "sub", "symbol": "f" }),
        json!({ "file": "sub", "files": ["nope.py"] }),
        json!({ "file": "sub", "files": ["c.txt"] }),
    ];
    expect![[r#"
        $ ixmcp call infer_types --args '{"file":"sub","symbol":"f"}'
        ixmcp: INVALID_ARGUMENT: argument `symbol`: a symbol is in one file. Name its file in `file`, or leave `symbol` out.
        $ ixmcp call infer_types --args '{"file":"sub","files":["nope.py"]}'
        ixmcp: INVALID_PATH: nope.py does not exist. `list_files` lists the indexed files.
        $ ixmcp call infer_types --args '{"file":"sub","files":["c.txt"]}'
        ixmcp: INVALID_ARGUMENT: argument `file`: only Python files have annotations. Name a .py file.
    "#]].assert_eq(&repo.refusals(&calls.map(|arguments| ("infer_types", arguments)), &[]));
    assert_eq!(repo.call("infer_types", &json!({ "file": "sub" }))["total"], 0);
}

#[test]
fn annotations_are_valid_in_the_projects_python_version() {
    let source = r#"
//- /a.py
import re


def numbers():
    return [1, 2]


def pattern():
    return re.compile("x")


def either(flag: bool):
    return 1 if flag else None


def nested(flag: bool):
    return [1 if flag else None]


def each():
    yield 1


def plain():
    return 1
"#;
    let of = |version: &str, future: &str| {
        let repo = Repo::new(source);
        repo.write(
            "pyproject.toml",
            format!("[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \">={version}\"\n"),
        );
        repo.write("a.py", format!("{future}{}", read(&repo, "a.py")));
        repo.ok(&["infer", "a.py", "--apply"]);
        assert_eq!(repo.call("check", &json!({}))["total"], 0, "{version}");
        let text = read(&repo, "a.py");
        text.lines()
            .filter_map(|line| Some(line.split_once(" -> ")?.1.trim_end_matches(':').to_owned()))
            .collect::<Vec<_>>()
    };
    let quoted =
        ["\"list[int]\"", "\"re.Pattern[str]\"", "\"int | None\"", "\"list[int | None]\"", "\"Iterator[int]\"", "int"];
    assert_eq!(of("3.8", ""), quoted);
    let unquoted = quoted.map(|one| one.trim_matches('"').to_owned());
    assert_eq!(of("3.8", "from __future__ import annotations\n"), unquoted);
    let mut of_39 = unquoted.clone();
    of_39[2] = quoted[2].to_owned();
    of_39[3] = quoted[3].to_owned();
    assert_eq!(of("3.9", ""), of_39);
    assert_eq!(of("3.12", ""), unquoted);
}

#[test]
fn names_that_exist_for_the_checker_only_are_quoted() {
    let repo = Repo::new(
        r#"
//- /a.py
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from b import Box

try:
    import fractions
except ImportError:
    fractions = None


def f(box: "Box"):
    return box


def half():
    assert fractions
    return fractions.Fraction(1, 2)
//- /b.py
class Box:
    pass
"#,
    );
    let before = repo.call("check", &json!({}))["total"].clone();
    repo.ok(&["infer", "a.py", "--apply"]);
    let text = read(&repo, "a.py");
    expect![[r#"
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from fractions import Fraction

        if TYPE_CHECKING:
            from b import Box

        try:
            import fractions
        except ImportError:
            fractions = None


        def f(box: "Box") -> "Box":
            return box


        def half() -> "Fraction":
            assert fractions
            return fractions.Fraction(1, 2)
    "#]]
    .assert_eq(&text);
    assert_eq!(repo.call("check", &json!({}))["total"], before, "{text}");
    let without = "import sys\nsys.modules['fractions'] = None\nimport a\n";
    let run = Command::new("python3").args(["-c", without]).current_dir(repo.path()).output().unwrap();
    assert!(run.status.success(), "{text}\n{run:?}");
}

#[test]
fn a_file_of_thousands_of_generated_lines_is_annotated() {
    use std::fmt::Write;

    let classes = number("IXMCP_GENERATED_CLASSES", 800);
    let mut text = String::new();
    for at in 0..classes {
        write!(
            text,
            "class Node{at}:\n    def __init__(self, value, parent=None):\n        self.value = value\n        self.children = []\n\n    \
             def add(self, child):\n        self.children.append(child)\n        return self\n\n\ndef call_{at}():\n    \
             return Node{at}({at}).add(Node{at}(1, None))\n\n\n"
        )
        .unwrap();
    }
    assert!(text.len() > 200_000, "{}", text.len());
    let repo = Repo::new("");
    repo.write("generated.py", text);
    let answer: Value = serde_json::from_str(&repo.ok(&["infer", "generated.py", "--json"])).unwrap();
    let wanted = (0..classes).flat_map(|at| {
        [
            "value int".to_owned(),
            format!("children list[Node{at}]"),
            "__init__ None".to_owned(),
            "value int".to_owned(),
            "add Self".to_owned(),
            format!("child Node{at}"),
            format!("call_{at} Node{at}"),
        ]
        .map(|one| format!("generated.py: {one}"))
    });
    assert_eq!(suggested(&answer), wanted.collect::<Vec<_>>());
}

/// The project whose Python version has unions and `Self`.
const MODERN: &str = r#"
//- /pyproject.toml
[project]
name = "p"
requires-python = ">=3.12"
"#;

#[test]
fn a_call_that_always_raises_ends_the_function() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /a.py
class Frozen:
    def __setitem__(self, key: str, value: int):
        refuse(self)

    def clear(self):
        refuse(self)


def refuse(what: object):
    raise TypeError(what)
"#
    ));
    expect![[r#"
        a.py: __setitem__ NoReturn
        a.py: clear NoReturn
        a.py: refuse NoReturn"#]]
    .assert_eq(&outcome_of_all(&repo));
}

#[test]
fn a_parameter_that_is_tested_for_another_class_accepts_more_than_callers_pass() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /a.py
def load(path):
    if isinstance(path, bytes):
        return 1
    return 2


def write(value):
    return str(value)


def count(size):
    return size + 1
//- /b.py
import a

a.load("x")
a.write("x")
a.count(1)
"#
    ));
    expect![[r#"
        a.py: load int
        a.py: write str
        a.py: count int
        a.py: size int
        a.py load.path: `str` has a lower confidence than requested
        a.py write.value: `str` has a lower confidence than requested"#]]
    .assert_eq(&outcome_of_all(&repo));
}

#[test]
fn a_name_stands_for_the_class_that_all_others_of_that_name_have() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /frame.py
class Frame:
    depth: int = 0
//- /visit.py
from frame import Frame


def one(frame: Frame) -> int:
    return frame.depth


def two(frame: Frame, other: int) -> int:
    return frame.depth


def three(frame: Frame, other: Frame) -> int:
    return frame.depth
//- /more.py
def visit_name(node, frame):
    return None


def visit_other(node, other):
    return None
"#
    ));
    expect![[r#"
        more.py: visit_name None
        more.py: frame Frame
        more.py: visit_other None
        more.py visit_name.node: no default, and no call with a known type
        more.py visit_other.node: no default, and no call with a known type
        more.py visit_other.other: no default, and no call with a known type"#]]
    .assert_eq(&outcome_of_all(&repo));
}

#[test]
fn build_files_decide_whether_annotations_may_use_newer_names() {
    let of_receiver = |settings: &str| {
        let chain = "//- /a.py\nclass Chain:\n    def add(self, item: int):\n        return self\n";
        let repo = Repo::new(&format!("{settings}{chain}"));
        suggested(&repo.call("infer_types", &json!({ "file": "." })))
    };
    assert_eq!(of_receiver(MODERN), ["a.py: add Self"]);
    for old in [
        "//- /pyproject.toml\n[tool.poetry.dependencies]\npython = \"^3.8\"\n",
        "//- /setup.cfg\n[options]\npython_requires = >=3.8\n",
        "//- /setup.py\nfrom setuptools import setup\nsetup(python_requires=\">=3.8\")\n",
    ] {
        assert_eq!(of_receiver(old), ["a.py: add Chain"], "{old}");
    }
}

#[test]
fn a_stream_in_memory_and_several_values_are_less_than_the_author_would_write() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /a.py
def dump(fp):
    fp.write("x")


def either(size: int):
    return pick(size)


def pick(size: int) -> int | str:
    return size
//- /b.py
import io

import a

a.dump(io.StringIO())
"#
    ));
    expect![[r#"
        a.py: dump None
        a.py dump.fp: `StringIO` has a lower confidence than requested
        a.py either: `int | str` has a lower confidence than requested"#]]
    .assert_eq(&outcome_of_all(&repo));
    expect![[r#"
        a.py: dump None
        a.py: fp StringIO
        a.py: either int | str"#]]
    .assert_eq(&outcome(&repo.call("infer_types", &json!({ "file": ".", "min_confidence": "low" }))));
}

#[test]
fn the_cause_of_a_diagnostic_that_names_nothing_is_found_among_many() {
    // The attribute of a value that came through three functions: neither the line nor the message names the one that is annotated.
    let mut module = String::from(
        "//- /a.py\ndef make():\n    return open_source()\n\n\ndef open_source():\n    return Source()\n\n\n",
    );
    module.push_str("class Source:\n    pass\n\n\n");
    for number in 0..40 {
        writeln!(module, "def plain{number}():\n    return {number}\n\n").unwrap();
    }
    let used = "//- /b.py\nimport a\n\nvalue = a.make()\nother = value\nother.missing\n";
    let repo = Repo::new(&format!("{MODERN}{module}{used}"));
    let plain = (0..40).map(|number| format!("a.py: plain{number} int"));
    let wanted: Vec<String> = iter::once("a.py: open_source Source".to_owned()).chain(plain).collect();
    assert_eq!(suggested(&repo.call("infer_types", &json!({ "file": "." }))), wanted);
}
