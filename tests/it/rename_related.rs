//! `rename_symbol`: what must be renamed along, because it is the same to Python: properties that `super()` reaches,
//! parameters of overloads, strings that spell a name.

use expect_test::expect;
use serde_json::json;

use crate::rename::{Project, edited, rename, unsure};
use crate::support::cursors::Cursors;
use crate::support::harness::Repo;

#[test]
fn a_property_is_renamed_with_those_that_super_reaches() {
    let mut project = Project::new(
        r"
//- /a.py
class A:
    @property
    def $0?p(self) -> int:
        return 1

    @$0p.setter
    def $0?p(self, value: int) -> None: ...


class B(A):
    @property
    def $0?p(self) -> int:
        return super().$0?$1?p + super(B, self).$0p


class Other:
    p = 1


b = B()
print(b.$0?p, Other().p)
A().$0p = 2
",
    );
    project.renamed_together(0);
    let (first, read) = (project.fixture.starts(0)[0].clone(), project.fixture.start(1).clone());
    project.restore();
    let found = project.call("goto_definition", &read);
    assert_eq!(found["definitions"][0]["line"], first.line, "{found}");
}

const OVERLOADED: &str = r#"
//- /a.py
from typing import overload


@overload
def over($0?v: int) -> int: ...
@overload
def over($0?v: str, $1?w: int = 1) -> str: ...
@overload
def over(x: bytes) -> bytes: ...
def over($0?v: object = None, *a: object, $1w: int = 1, x: object = None) -> object:
    return $0?v, $1w, a, x


def other(v: int) -> int:
    return v


class M:
    @overload
    def m(self, $2?q: int) -> int: ...
    @overload
    def m(self, $2q: str) -> str: ...
    def m(self, $2q: int | str) -> int | str:
        return $2q
//- /b.py
from a import M, other, over

print(over($0v=1), over($0v="", $1w=2), other(v=1), M().m($2q=1))
"#;

#[test]
fn a_parameter_is_renamed_in_all_overloads_and_what_implements_them() {
    let mut project = Project::new(OVERLOADED);
    for group in 0..=2 {
        project.renamed_together(group);
    }
}

const NAMED: &str = r#"
//- /a.py
import collections
import enum
import typing as t
from typing import NamedTuple, NewType, ParamSpec, TypedDict, TypeVar

$0?T = TypeVar("$0T", bound=int)
$1?K = t.TypeVar(name='$1K')
$2?P = ParamSpec("$2P")
$3?UserId = NewType("$3UserId", int)
$4?Old = collections.namedtuple(typename="$4Old", field_names="x y")
$5?New = NamedTuple("$5New", [("x", int)])
$6?Record = TypedDict("$6Record", {"Record": int})
$7?Color = enum.Enum("$7Color", "RED GREEN")


def same(one: $0T, other: "$1K", label: str = "T") -> tuple[$0T, $1K]:
    return one, other
"#;

#[test]
fn a_name_that_its_value_is_given_as_text_is_renamed_there_too() {
    let mut project = Project::new(NAMED);
    for (group, width) in (0..).zip([1, 1, 1, 6, 3, 3, 6, 5]) {
        let answer = project.renamed_together(group);
        assert_eq!(
            answer["edits"][1]["end_column"].as_u64().unwrap() - answer["edits"][1]["column"].as_u64().unwrap(),
            width
        );
    }
}

const KEYED: &str = r#"
//- /a.py
from typing import NotRequired, TypedDict, Unpack


class Movie(TypedDict):
    $0?title: str
    $1?year: NotRequired[int]


class Sub(Movie):
    $2?extra: int


class Other(TypedDict):
    title: str


def film(**kw: Unpack[Movie]) -> str:
    return kw["$0title"]


movie: Movie = {"$0title": "a", "$1year": 1}
sub: Sub = {'$0title': "b", "$2extra": 1}
other: Other = {"title": "title"}
plain = {"title": "x"}
print(movie["$0title"], movie.get("$1year"), movie.get("$1year", 0), "$1year" in movie, sub["$0title"])
print(Movie($0title="x"), film($0title="z"), other["title"], plain["title"], "title")
if "$1year" in movie:
    del movie["$1year"]
movie["$0title"] += "x"
movies: list[Movie] = [{"$0title": "x"}, Movie({"$0title": "y"})]
//- /b.py
def told(record):
    return record["title"], record.title
//- /c.py
import a

print(a.movie["$0title"])
"#;

#[test]
fn a_key_of_a_typed_dictionary_is_renamed_wherever_it_is_spelt() {
    let mut project = Project::new(KEYED);
    let answer = project.renamed_together(0);
    assert_eq!(unsure(&answer), ["b.py:2", "b.py:2"], "{answer}");
    project.renamed_together(1);
    project.renamed_together(2);
}

#[test]
fn of_an_import_with_another_name_each_name_is_renamed_by_itself() {
    let mut project = Project::new(
        r"
//- /lib.py
def $1?thing() -> int:
    return 1
//- /a.py
from lib import $1?thing as $0?other

print($0?other())
",
    );
    project.renamed_together(0);
    project.renamed_together(1);
    let same = Cursors::new(
        r"
//- /lib.py
def $0?thing() -> int:
    return 1
//- /a.py
from lib import $0thing as $0thing

print($0thing())
",
    );
    let start = same.starts(0)[0];
    let answer = rename(&Repo::new(&same.files), start, "zed");
    assert_eq!(edited(&answer), same.positions(0));
}

/// The call is right for the class alone: a subclass would be given an argument that its constructor does not take.
#[test]
fn an_argument_for_a_class_that_may_be_a_subclass_is_unsure() {
    let project = |subclass: &str| {
        Repo::new(&format!(
            "\
//- /shapes.py
class Shape:
    def __init__(self, size: int) -> None:
        self.dim = size

    def clone(self):
        return type(self)(size=self.dim)

    @classmethod
    def unit(cls):
        return cls(size=1)


class Circle(Shape):
    def __init__(self, {subclass}: int) -> None:
        super().__init__({subclass})
"
        ))
    };
    let given = json!({ "file": "shapes.py", "line": 2, "column": 24, "new_name": "extent" });
    let answer = project("size").call("rename_symbol", &given);
    assert_eq!(unsure(&answer), ["shapes.py:6", "shapes.py:10"], "{answer}");
    expect!["the class may be a subclass, whose constructor has a parameter of this name"]
        .assert_eq(answer["unsure"][0]["reason"].as_str().unwrap());
    assert_eq!(unsure(&project("width").call("rename_symbol", &given)), [""; 0]);
}

/// Where the module is installed, the import binds the name.
#[test]
fn an_import_of_the_name_from_a_module_that_is_not_found_is_unsure() {
    let repo = Repo::new(
        "\
//- /esc.py
try:
    from _speed import escape
except ImportError:
    def escape(s: str) -> str:
        return s.upper()


def render(s: str) -> str:
    from _other import escape
    return escape(s)


print(escape('a'))
",
    );
    let given = json!({ "file": "esc.py", "line": 4, "column": 9, "new_name": "quote" });
    let answer = repo.call("rename_symbol", &given);
    assert_eq!(unsure(&answer), ["esc.py:2"], "{answer}");
    expect!["it binds the name, too, from a module that is not found"]
        .assert_eq(answer["unsure"][0]["reason"].as_str().unwrap());
}
