//! `infer_types`: suggestions that it must not make although the file itself would stay valid.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

fn types(answer: &Value) -> Vec<String> {
    let all = answer["suggestions"].as_array().unwrap().iter();
    all.map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["type"].as_str().unwrap())).collect()
}

/// Lists the symbols without a suggestion.
fn left_out(answer: &Value) -> Vec<String> {
    let all = answer["skipped"].as_array().unwrap().iter();
    all.map(|one| format!("{}: {}", one["name"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

#[test]
fn annotations_that_break_a_dependent_file_are_not_suggested() {
    // The default alone yields `int`; the annotated caller in another file passes a wider type.
    let repo = Repo::new(
        r"
//- /lib.py
class Box:
    def fill(self, size=1):
        return str(size)
//- /use.py
from lib import Box


def f(box: Box, **rest: str) -> str:
    return box.fill(**rest)
",
    );
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer), ["fill str"]);
    assert_eq!(left_out(&answer), ["Box.fill.size: `int` would cause a new diagnostic"]);
    // Without that caller it is suggested.
    repo.remove("use.py");
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer).len(), 2, "{answer}");
}

#[test]
fn a_file_that_gets_the_type_through_another_is_a_dependent_too() {
    // The caller names neither the module nor the class.
    let repo = Repo::new(
        r"
//- /lib.py
class Box:
    def fill(self, size=1):
        return str(size)
//- /between.py
from lib import Box


def make() -> Box:
    return Box()
//- /use.py
from between import make


def f(**rest: str) -> str:
    return make().fill(**rest)
",
    );
    let answer = repo.call("infer_types", &json!({ "file": "lib.py" }));
    assert_eq!(types(&answer), ["fill str"]);
    assert_eq!(left_out(&answer), ["Box.fill.size: `int` would cause a new diagnostic"]);
}

#[test]
fn an_exit_that_hides_no_exception_is_not_a_bool() {
    // The specification of Python's types has `Literal[False]` or `None` for one that hides nothing; with `bool`, type
    // checkers think that the code after the `with` statement is reached.
    let repo = Repo::new(
        r"
//- /a.py
class Always:
    def __exit__(self, *rest: object):
        return False


class Sometimes:
    def __exit__(self, *rest: object):
        if rest:
            return False


class Hides:
    def __exit__(self, *rest: object):
        return bool(rest)
",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["__exit__ Literal[False]", "__exit__ bool"]);
}

#[test]
fn an_empty_method_of_a_protocol_returns_what_its_implementations_do() {
    let repo = Repo::new(
        r"
//- /a.py
from typing import Protocol, TypeVar

T = TypeVar('T')


class Sized(Protocol):
    def size(self):
        pass


class Boxed(Protocol[T]):
    def open(self):
        '''Opens it.'''
        pass


class Plain:
    def close(self):
        pass
",
    );
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py" }))), ["close None"]);
}

/// Typeshed has the same types: `threading.Event.wait(timeout: float | None)`, `BaseServer.serve_forever(poll_interval: float)`.
#[test]
fn a_number_of_seconds_need_not_be_whole() {
    let repo = Repo::new(
        r"
//- /a.py
def wait(timeout=30):
    if timeout is None:
        return str(1)
    return str(timeout)


def serve(poll_interval=5, retry_count=2, delay_ms=10):
    return str(poll_interval) + str(retry_count) + str(delay_ms)


wait(3)
",
    );
    assert_eq!(
        types(&repo.call("infer_types", &json!({ "file": "a.py" }))),
        ["wait str", "timeout float | None", "serve str", "poll_interval float", "retry_count int", "delay_ms int"]
    );
}

#[test]
fn what_a_docstring_says_widens_what_calls_pass() {
    let repo = Repo::new(
        r"
//- /a.py
def wait(limit):
    '''Waits.

    :param limit: how long
    :type limit: int or None
    '''
    return str(limit)


def count(number=1):
    '''Counts.

    Args:
        number (int or None): where to begin
    '''
    return str(number)


wait(3)
wait(4)
",
    );
    assert_eq!(
        types(&repo.call("infer_types", &json!({ "file": "a.py" }))),
        ["wait str", "limit int | None", "count str", "number int | None"]
    );
}

#[test]
fn not_implemented_is_not_part_of_the_return_type() {
    let repo = Repo::new(
        r"
//- /a.py
class A:
    def __eq__(self, other: object):
        if not isinstance(other, A):
            return NotImplemented
        return self is other
",
    );
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py" }))), ["__eq__ bool"]);
}

#[test]
fn types_propagate_through_unannotated_files() {
    let repo = Repo::new(
        r#"
//- /a.py
from b import middle


def first():
    return middle()
//- /b.py
import c


def middle():
    return c.Last().name(), c.deep(2)
//- /c.py
from a import first


class Last:
    def name(self):
        return self.made()

    def made(self):
        return "x"


def deep(n=1):
    return n + 1
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["first tuple[str, int]"], "{answer}");
    // On the disk they are as they were: the edit is sound next to them.
    repo.write(
        "a.py",
        r"
from b import middle


def first() -> tuple[str, int]:
    return middle()
",
    );
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn one_symbol_is_inferred_with_the_help_of_all() {
    let repo = Repo::new(
        r#"
//- /a.py
def f():
    return g()


def g():
    return "x"
"#,
    );
    assert_eq!(types(&repo.call("infer_types", &json!({ "file": "a.py", "symbol": "f" }))), ["f str"]);
}

#[test]
fn parameters_take_the_types_of_overridden_methods() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "p"
requires-python = ">=3.12"
//- /base.py
class Reader:
    def read(self, name: str, size: int | None = None) -> str:
        return name * (size or 1)
//- /a.py
from base import Reader


class Loud(Reader):
    def read(self, name, size=None):
        return name.upper()

    def __eq__(self, other):
        return other is self
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["read str", "name str", "size int | None", "__eq__ bool", "other object"], "{answer}");
    assert_eq!(answer["suggestions"][1]["evidence"], "it overrides that of Reader");
}

#[test]
fn calls_through_the_superclass_count_for_overriding_methods() {
    let repo = Repo::new(
        r#"
//- /a.py
class Base:
    def put(self, key):
        return None


class Below(Base):
    def put(self, key):
        return None


def use(base: Base, below: Below) -> None:
    base.put(1)
    below.put("x")
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Below" }));
    assert!(types(&answer).iter().all(|one| one != "key str"), "narrower than what it overrides: {answer}");
}

#[test]
fn arguments_passed_by_python_have_known_types() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "p"
requires-python = ">=3.12"
//- /a.py
class Held:
    def __exit__(self, kind, value=None, traceback=None):
        return None

    def __getattr__(self, name):
        return name
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(
        types(&answer),
        [
            "__exit__ None",
            "kind type[BaseException] | None",
            "value BaseException | None",
            "traceback TracebackType | None",
            "__getattr__ str",
            "name str",
        ],
        "{answer}"
    );
}

#[test]
fn a_marker_default_alone_is_not_evidence() {
    let repo = Repo::new(
        r#"
//- /a.py
class NotGiven:
    """No value."""


class Limits:
    def __init__(self, most: int = 3) -> None:
        self.most = most


NOT_GIVEN = NotGiven()
LIMITS = Limits()


def get(timeout=NOT_GIVEN, limits=LIMITS, retries=NOT_GIVEN) -> None:
    return None


get(timeout=3)
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "get", "min_confidence": "low" }));
    assert_eq!(types(&answer), ["timeout int | NotGiven", "limits Limits"], "{answer}");
    assert_eq!(left_out(&answer), ["get.retries: its default is a marker, and no call passes another type"]);
}

#[test]
fn an_annotated_default_has_spaces_around_its_equals_sign() {
    let repo = Repo::new(
        r#"
//- /a.py
def f(tax=0.1, rate = 2, name=("x")) -> None:
    return None
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    let mut inserts: Vec<(u64, String)> = Vec::new();
    for one in answer["suggestions"].as_array().unwrap() {
        for edit in std::iter::once(&one["edit"]).chain(one["imports"].as_array().unwrap()) {
            inserts.push((edit["column"].as_u64().unwrap(), edit["insert"].as_str().unwrap().to_owned()));
        }
    }
    inserts.sort();
    let mut line = "def f(tax=0.1, rate = 2, name=(\"x\")) -> None:".to_owned();
    for (column, insert) in inserts.iter().rev() {
        line.insert_str(usize::try_from(*column).unwrap() - 1, insert);
    }
    assert_eq!(line, "def f(tax: float = 0.1, rate: int = 2, name: str = (\"x\")) -> None:");
}

const CALLED: &str = r#"
//- /a.py
class Box:
    def __init__(self, value, third=1):
        self.value = value
        self.third = third


class Leaf(Box): ...


Box(1)
Box("a")
"#;

#[test]
fn what_rests_on_an_annotation_that_cannot_stay_is_not_offered() {
    let repo = Repo::new(&format!(
        r"
{CALLED}

def f(**rest: str) -> Box:
    return Box(1, **rest)
"
    ));
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box" }));
    assert_eq!(types(&answer), ["__init__ None", "value int | str"], "{answer}");
    expect![[r#"
        Box.value: `int | str` has a lower confidence than requested
        Box.third: the type is partly unknown
        Box.__init__.third: `int` would cause a new diagnostic"#]]
    .assert_eq(&left_out(&answer).join("\n"));
    let asked = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box.third" }));
    assert_eq!(types(&asked), Vec::<String>::new(), "{asked}");
}

#[test]
fn every_kind_of_constructor_call_is_evidence() {
    for (call, value) in [
        ("Box(b\"\")\n", "int | str | bytes"),
        ("Leaf(b\"\")\n", "int | str | bytes"),
        ("Box.__init__(Box(1), b\"\")\n", "int | str | bytes"),
        ("type(Box(1))(b\"\")\n", "int | str | bytes"),
        (
            r#"
class Own(Box):
    def __init__(self) -> None:
        super().__init__(b"", third=2)
"#,
            "int | str | bytes",
        ),
        (
            r"
class Own(Box):
    def __init__(self, value) -> None:
        super().__init__(value)
",
            "int | str",
        ),
        (
            r"
from typing import Any


def f(x: Any) -> None:
    Leaf(x)
",
            "int | str",
        ),
        (
            r"
from typing import Any


def f(x: list[Any]) -> None:
    Box(*x)
",
            "int | str",
        ),
        (
            r"
from typing import Any


def f(x: dict[str, Any]) -> None:
    Box(**x)
",
            "int | str",
        ),
    ] {
        let repo = Repo::new(&format!("{CALLED}{call}"));
        let answer = repo.call("infer_types", &json!({ "file": "a.py", "symbol": "Box" }));
        let found: Vec<String> = types(&answer).into_iter().filter(|one| one.starts_with("value")).collect();
        let parts = |text: &str| text.split(" | ").map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let found: Vec<_> = found.iter().map(|one| parts(one.trim_start_matches("value "))).collect();
        // Arguments of unknown type do not veto the known ones. The attribute with several types has a low confidence.
        assert_eq!(found, [parts(value)], "{call}: {answer}");
    }
}

#[test]
fn a_symbol_that_is_not_there_is_not_found() {
    let repo = Repo::new(
        r"
//- /a.py
class A:
    def f(self, x=1):
        self.y = x
        return x
",
    );
    for symbol in ["A", "A.f", "A.f.x", "f", "y", "A.y"] {
        repo.call("infer_types", &json!({ "file": "a.py", "symbol": symbol }));
    }
    let said = ["nope", "A.nope", "f.A", "A.f.z"].map(|symbol| {
        let output = repo.run(&["infer", "a.py", symbol]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        output.stderr
    });
    expect![[r#"
        ixmcp: NOT_FOUND: no class, function or variable `nope` in this file. Name it as Class.method. `ixmcp call symbols` lists them.
        ixmcp: NOT_FOUND: no class, function or variable `A.nope` in this file. Name it as Class.method. `ixmcp call symbols` lists them.
        ixmcp: NOT_FOUND: no class, function or variable `f.A` in this file. Name it as Class.method. `ixmcp call symbols` lists them.
        ixmcp: NOT_FOUND: no class, function or variable `A.f.z` in this file. Name it as Class.method. `ixmcp call symbols` lists them.
    "#]].assert_eq(&String::from_utf8(said.concat()).unwrap());
}

#[test]
fn return_types_of_recursive_functions_are_inferred() {
    let repo = Repo::new(
        r#"
//- /a.py
def rec(n):
    return 1 if n == 0 else n * rec(n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def half(n):
    return 1 if n < 2 else half(n // 2) / 2


def depth(tree):
    return 1 + max([depth(one) for one in tree], default=0)


def after(n):
    return str(even(n)) + "!"


def lost(n, x):
    return x if n == 0 else lost(n - 1, x) or 1


def never(n):
    return never(n)


rec(5)
even(4)
half(9)
after(2)
never(1)
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    let returns: Vec<String> = answer["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == "return")
        .map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["type"].as_str().unwrap()))
        .collect();
    assert_eq!(returns, ["rec int", "even bool", "odd bool", "half float", "depth int", "after str"], "{answer}");
}

#[test]
fn unions_have_no_redundant_members() {
    let repo = Repo::new(
        r"
//- /a.py
def f(x=1):
    return x


def g(flag):
    if flag:
        return 0
    return False


def h(flag):
    return [1, 2.5] if flag else None


f(2.5)
f(True)
g(1)
h(1)
",
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(
        types(&answer),
        ["f float", "x float", "g int", "flag int", "h list[float] | None", "flag int"],
        "{answer}"
    );
}

/// The project whose Python version has unions and `Self`.
const MODERN: &str = r#"
//- /pyproject.toml
[project]
name = "p"
requires-python = ">=3.12"
"#;

fn inferred(texts: &str, file: &str) -> (Vec<String>, Value) {
    let repo = Repo::new(&format!("{MODERN}{texts}"));
    let answer = repo.call("infer_types", &json!({ "file": file }));
    (types(&answer), answer)
}

fn suggestion(answer: &Value, name: &str) -> Value {
    let all = answer["suggestions"].as_array().unwrap().iter();
    all.clone().find(|one| one["name"] == name).cloned().unwrap_or_else(|| panic!("{name}: {answer}"))
}

#[test]
fn a_parameter_has_the_declared_type_of_what_it_is_handed_on_to() {
    let (found, answer) = inferred(
        r#"
//- /a.py
class Cart:
    owner: str

    def __init__(self, owner):
        self.owner = owner


def show(name: str, size: int | None = None) -> None: ...


def outer(title, size=None, other=None, again=None):
    show(title, size=size)
    show(again or "x")
    if isinstance(other, str):
        show(other)
    again = 3
    show(again)
"#,
        "a.py",
    );
    assert_eq!(found, ["__init__ None", "owner str", "outer None", "title str", "size int | None"], "{answer}");
    assert_eq!(suggestion(&answer, "title")["evidence"], "what it is handed on to");
    assert_eq!(suggestion(&answer, "title")["confidence"], "medium");
}

#[test]
fn confidence_filters_suggestions_and_what_follows_from_them() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /a.py
def flag(on=False):
    return on


def same(size):
    return size


def low(name):
    """Do it.

    :type name: str
    """
    return name


same(3)
"#
    ));
    let at = |level: &str| {
        let answer = repo.call("infer_types", &json!({ "file": "a.py", "min_confidence": level }));
        (types(&answer), answer)
    };
    let (high, answer) = at("high");
    assert_eq!(high, ["flag bool", "on bool"], "{answer}");
    assert!(answer["suggestions"].as_array().unwrap().iter().all(|one| one["confidence"] == "high"));
    expect![[r#"
        same: a returned value has an unknown type
        same.size: `int` has a lower confidence than requested
        low: a returned value has an unknown type
        low.name: `str` has a lower confidence than requested"#]]
    .assert_eq(&left_out(&answer).join("\n"));
    let (medium, answer) = at("medium");
    assert_eq!(medium, ["flag bool", "on bool", "same int", "size int", "low str", "name str"], "{answer}");
    assert_eq!(suggestion(&answer, "on")["confidence"], "high");
    // It follows from a parameter that is only likely.
    assert_eq!(suggestion(&answer, "same")["confidence"], "medium");
    let rejected = repo.run(&["infer", "a.py", "--min-confidence", "certain"]);
    assert_eq!(rejected.status.code(), Some(2));
    let shown = repo.ok(&["infer", "a.py", "--min-confidence", "high"]);
    assert_eq!(shown, "1  flag -> bool  (high: the returned value)\n1  flag.on: bool  (high: its default False)\n");
}

#[test]
fn what_callers_pass_is_a_weak_sign_of_what_a_parameter_accepts() {
    let repo = Repo::new(&format!(
        "{MODERN}{}",
        r#"
//- /a.py
class Left: ...


class Right: ...


def f(names, key, kind, side) -> None: ...


f(["a"], 1, int, Left())
f(["b"], "x", int, Right())
"#
    ));
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["key int | str", "kind type[int]"], "{answer}");
    assert_eq!(suggestion(&answer, "key")["confidence"], "medium");
    let answer = repo.call("infer_types", &json!({ "file": "a.py", "min_confidence": "low" }));
    let all = ["names list[str]", "key int | str", "kind type[int]", "side Left | Right"];
    assert_eq!(types(&answer), all, "{answer}");
    assert_eq!(suggestion(&answer, "side")["confidence"], "low");
}

#[test]
fn overriding_methods_and_docstrings_say_what_a_placeholder_does_not() {
    let (found, answer) = inferred(
        r#"
//- /a.py
from abc import abstractmethod


class Shape:
    @abstractmethod
    def area(self, scale): ...

    def label(self):
        raise NotImplementedError

    def parts(self, depth):
        """Its parts.

        Args:
            depth (int): How deep.

        Returns:
            list[str]: The names.
        """
        raise NotImplementedError


class Square(Shape):
    def area(self, scale: float) -> float:
        return scale

    def label(self) -> str:
        return "square"


class Below(Square):
    def label(self):
        raise NotImplementedError
"#,
        "a.py",
    );
    assert_eq!(
        found,
        ["area float", "scale float", "label str", "parts list[str]", "depth int", "label str"],
        "{answer}"
    );
}

#[test]
fn known_types_are_written_however_the_checker_shows_them() {
    let (found, answer) = inferred(
        r#"
//- /a.py
import socket
from contextlib import asynccontextmanager, contextmanager


def connect():
    return socket.socket()


def kind():
    return int


def text(name: str, default: str):
    return name or default


def parsed(data):
    if isinstance(data, bytes):
        return data
    raise ValueError


def fail():
    raise ValueError("always")


@contextmanager
def held():
    yield


@asynccontextmanager
async def opened():
    yield 1


def counted():
    yield from [1, 2]


class Money:
    def __init__(self) -> None:
        self.parts = []
        self.by_name = {}

    @classmethod
    def make(cls):
        return cls()

    def put(self, part: str, size: int) -> None:
        self.parts.append(part)
        self.by_name[part] = size
"#,
        "a.py",
    );
    assert_eq!(
        found,
        [
            "connect socket.socket",
            "kind type[int]",
            "text str",
            "parsed bytes",
            "fail NoReturn",
            "held Generator[None, None, None]",
            "opened AsyncGenerator[int, None]",
            "counted Iterator[int]",
            "parts list[str]",
            "by_name dict[str, int]",
            "make Self",
        ],
        "{answer}"
    );
}

#[test]
fn before_python_3_11_the_class_is_named() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "p"
requires-python = ">=3.8"
//- /a.py
class Money:
    @classmethod
    def make(cls):
        return cls()

    def same(self):
        return self

    def maybe(self, flag: bool):
        return 1 if flag else None
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "a.py" }));
    assert_eq!(types(&answer), ["make Money", "same Money", "maybe int | None"], "{answer}");
    // Neither a class in its own body nor `X | Y` can be evaluated.
    let inserts: Vec<&str> =
        answer["suggestions"].as_array().unwrap().iter().map(|one| one["edit"]["insert"].as_str().unwrap()).collect();
    assert_eq!(inserts, [" -> \"Money\"", " -> \"Money\"", " -> \"int | None\""]);
}

#[test]
fn mocks_and_test_data_are_never_evidence() {
    let (found, answer) = inferred(
        r#"
//- /a.py
def send(client, size):
    return None


def receive(size):
    return None
//- /tests/test_a.py
from unittest.mock import MagicMock, Mock
from a import send

send(MagicMock(), 1)
send(Mock(), 1)
//- /tests/data/sample.py
from a import receive

receive("x")
"#,
        "a.py",
    );
    assert_eq!(found, ["send None", "size int", "receive None"], "{answer}");
}

#[test]
fn names_that_hide_builtins_are_not_suggested() {
    let (found, answer) = inferred(
        r#"
//- /a.py
class str: ...


def f(name):
    """Do it.

    :type name: int
    """
    return b"".decode()


def g():
    return str()
"#,
        "a.py",
    );
    assert_eq!(found, ["name int", "g str"], "the builtin is hidden: {answer}");
}

/// The assertion holds in Python, and the wrong annotation would make the checker skip what follows.
#[test]
fn a_method_that_is_there_to_be_overridden_does_not_return_none() {
    let repo = Repo::new(
        r#"
//- /h.py
class Base:
    def hook(self):
        pass

    def run(self):
        r = self.hook()
        if r:
            print(r.upper())
        return r

    def close(self):
        pass


class Impl(Base):
    def hook(self):
        return "hooked"

    def close(self):
        print("closed")


def main(b):
    return b.run()


assert main(Impl()) == "hooked"
"#,
    );
    let answer = repo.call("infer_types", &json!({ "file": "h.py" }));
    expect![[r#"
        close None
        hook str
        close None
        main str
        b Impl"#]]
    .assert_eq(&types(&answer).join("\n"));
    expect![[r#"
        Base.hook: `str` would cause a new diagnostic
        Base.run: a returned value has an unknown type"#]]
    .assert_eq(&left_out(&answer).join("\n"));
}

/// The stubs no longer tell which names Python 3.8 and 3.9 lack, and a name may be gone in a newer Python.
#[test]
fn an_import_that_some_versions_lack_is_for_the_checker_alone() {
    let repo = Repo::new(
        r#"
//- /a.py
import datetime
import importlib.resources


def files():
    return importlib.resources.files("email")


def sent(x=NotImplemented):
    return x


def handler():
    import logging.handlers

    return logging.handlers.QueueHandler


def day():
    from fractions import Fraction

    return Fraction(1)


def table():
    from collections import Counter

    return Counter("x")
"#,
    );
    let mut heads = String::new();
    for version in [">=3.9", ">=3.10", ">=3.12"] {
        repo.write("pyproject.toml", format!("[project]\nname = 'a'\nrequires-python = '{version}'\n"));
        let applied = Repo::new("");
        for path in ["a.py", "pyproject.toml"] {
            applied.write(path, std::fs::read(repo.path().join(path)).unwrap());
        }
        applied.ok(&["infer", "a.py", "--apply", "--min-confidence", "low"]);
        let text = std::fs::read_to_string(applied.path().join("a.py")).unwrap();
        let head = text.lines().take_while(|line| !line.starts_with("def ")).filter(|line| !line.is_empty());
        heads += &format!("# {version}\n");
        head.for_each(|line| heads += &format!("{line}\n"));
    }
    expect![[r#"
        # >=3.9
        import datetime
        import importlib.resources
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from collections import Counter
        if TYPE_CHECKING:
            from fractions import Fraction
        if TYPE_CHECKING:
            from importlib.abc import Traversable
        if TYPE_CHECKING:
            from logging.handlers import QueueHandler
        if TYPE_CHECKING:
            from types import NotImplementedType
        # >=3.10
        import datetime
        import importlib.resources
        from types import NotImplementedType
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from collections import Counter
        if TYPE_CHECKING:
            from fractions import Fraction
        if TYPE_CHECKING:
            from importlib.abc import Traversable
        if TYPE_CHECKING:
            from logging.handlers import QueueHandler
        # >=3.12
        import datetime
        import importlib.resources
        from types import NotImplementedType
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from collections import Counter
        if TYPE_CHECKING:
            from fractions import Fraction
        if TYPE_CHECKING:
            from importlib.resources.abc import Traversable
        if TYPE_CHECKING:
            from logging.handlers import QueueHandler
    "#]]
    .assert_eq(&heads);
}
