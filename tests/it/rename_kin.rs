//! `rename_symbol`: related names that must be renamed together: properties reached through `super()`, parameters of
//! overloads, strings that repeat a name.

use serde_json::json;

use crate::harness::Repo;
use crate::rename::{edited, rename, renamed, unsure};

#[test]
fn a_property_is_renamed_through_super() {
    let files = "//- /a.py\nclass A:\n    @property\n    def p(self) -> int:\n        return 1\n\n    @p.setter\n    def p(self, value: int) -> None: ...\n\n\nclass B(A):\n    @property\n    def p(self) -> int:\n        return super().p + super(B, self).p\n\n\nclass Other:\n    p = 1\n\n\nb = B()\nprint(b.p, Other().p)\nA().p = 2\n";
    let expected =
        ["a.py:3:9", "a.py:6:6", "a.py:7:9", "a.py:12:9", "a.py:13:24", "a.py:13:43", "a.py:21:9", "a.py:22:5"];
    for (line, column) in [(3, 9), (7, 9), (12, 9), (13, 24), (21, 9)] {
        renamed(files, "a.py", line, column, &expected);
    }
    let repo = Repo::new(files);
    let meant = repo.call("goto_definition", &json!({ "file": "a.py", "line": 13, "column": 24 }));
    assert_eq!(meant["definitions"][0]["line"], 3, "{meant}");
}

#[test]
fn a_parameter_is_renamed_in_all_overloads_and_the_implementation() {
    let files = "//- /a.py\nfrom typing import overload\n\n\n@overload\ndef over(v: int) -> int: ...\n@overload\ndef over(v: str, w: int = 1) -> str: ...\n@overload\ndef over(x: bytes) -> bytes: ...\ndef over(*a: object, v: object = None, w: int = 1, x: object = None) -> object:\n    return v, w, a, x\n\n\ndef other(v: int) -> int:\n    return v\n\n\nclass M:\n    @overload\n    def m(self, q: int) -> int: ...\n    @overload\n    def m(self, q: str) -> str: ...\n    def m(self, q: int | str) -> int | str:\n        return q\n//- /b.py\nfrom a import M, other, over\n\nprint(over(v=1), over(v=\"\", w=2), other(v=1), M().m(q=1))\n";
    let files = files.replace("*a: object, v: object = None", "v: object = None, *a: object");
    for (line, column) in [(5, 10), (7, 10), (10, 10), (11, 12)] {
        renamed(
            &files,
            "a.py",
            line,
            column,
            &["a.py:5:10", "a.py:7:10", "a.py:10:10", "a.py:11:12", "b.py:3:12", "b.py:3:23"],
        );
    }
    renamed(&files, "a.py", 7, 18, &["a.py:7:18", "a.py:10:40", "a.py:11:15", "b.py:3:29"]);
    renamed(&files, "a.py", 20, 17, &["a.py:20:17", "a.py:22:17", "a.py:23:17", "a.py:24:16", "b.py:3:53"]);
}

const NAMED: &str = "//- /a.py
import collections
import enum
import typing as t
from typing import NamedTuple, NewType, ParamSpec, TypedDict, TypeVar

T = TypeVar(\"T\", bound=int)
K = t.TypeVar(name='K')
P = ParamSpec(\"P\")
UserId = NewType(\"UserId\", int)
Old = collections.namedtuple(typename=\"Old\", field_names=\"x y\")
New = NamedTuple(\"New\", [(\"x\", int)])
Record = TypedDict(\"Record\", {\"Record\": int})
Color = enum.Enum(\"Color\", \"RED GREEN\")


def same(one: T, other: \"K\", label: str = \"T\") -> tuple[T, K]:
    return one, other
";

#[test]
fn a_name_repeated_as_a_string_is_renamed_there_too() {
    for (line, width, expected) in [
        (6, 1, &["a.py:6:1", "a.py:6:14", "a.py:16:15", "a.py:16:57"][..]),
        (7, 1, &["a.py:7:1", "a.py:7:21", "a.py:16:26", "a.py:16:60"]),
        (8, 1, &["a.py:8:1", "a.py:8:16"]),
        (9, 6, &["a.py:9:1", "a.py:9:19"]),
        (10, 3, &["a.py:10:1", "a.py:10:40"]),
        (11, 3, &["a.py:11:1", "a.py:11:19"]),
        (12, 6, &["a.py:12:1", "a.py:12:21"]),
        (13, 5, &["a.py:13:1", "a.py:13:20"]),
    ] {
        let (_, answer) = renamed(NAMED, "a.py", line, 1, expected);
        assert_eq!(
            answer["edits"][1]["end_column"].as_u64().unwrap() - answer["edits"][1]["column"].as_u64().unwrap(),
            width
        );
    }
}

const KEYED: &str = "//- /a.py
from typing import NotRequired, TypedDict, Unpack


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Sub(Movie):
    extra: int


class Other(TypedDict):
    title: str


def film(**kw: Unpack[Movie]) -> str:
    return kw[\"title\"]


movie: Movie = {\"title\": \"a\", \"year\": 1}
sub: Sub = {'title': \"b\", \"extra\": 1}
other: Other = {\"title\": \"title\"}
plain = {\"title\": \"x\"}
print(movie[\"title\"], movie.get(\"year\"), movie.get(\"year\", 0), \"year\" in movie, sub[\"title\"])
print(Movie(title=\"x\"), film(title=\"z\"), other[\"title\"], plain[\"title\"], \"title\")
if \"year\" in movie:
    del movie[\"year\"]
movie[\"title\"] += \"x\"
movies: list[Movie] = [{\"title\": \"x\"}, Movie({\"title\": \"y\"})]
//- /b.py
def told(record):
    return record[\"title\"], record.title
//- /c.py
import a

print(a.movie[\"title\"])
";

#[test]
fn a_typed_dictionary_key_is_renamed_everywhere() {
    let expected = [
        "a.py:5:5",
        "a.py:18:16",
        "a.py:21:18",
        "a.py:22:14",
        "a.py:25:14",
        "a.py:25:86",
        "a.py:26:13",
        "a.py:26:30",
        "a.py:29:8",
        "a.py:30:26",
        "a.py:30:48",
        "c.py:3:16",
    ];
    let (_, answer) = renamed(KEYED, "a.py", 5, 5, &expected);
    assert!(unsure(&answer).contains(&"b.py:2".to_owned()), "{answer}");
    renamed(
        KEYED,
        "a.py",
        6,
        5,
        &["a.py:6:5", "a.py:21:32", "a.py:25:34", "a.py:25:53", "a.py:25:65", "a.py:27:5", "a.py:28:16"],
    );
    renamed(KEYED, "a.py", 10, 5, &["a.py:10:5", "a.py:22:28"]);
}

#[test]
fn an_import_and_its_alias_are_renamed_independently() {
    let files =
        "//- /lib.py\ndef thing() -> int:\n    return 1\n//- /a.py\nfrom lib import thing as other\n\nprint(other())\n";
    renamed(files, "a.py", 1, 26, &["a.py:1:26", "a.py:3:7"]);
    renamed(files, "a.py", 3, 7, &["a.py:1:26", "a.py:3:7"]);
    for (file, line, column) in [("lib.py", 1, 5), ("a.py", 1, 17)] {
        renamed(files, file, line, column, &["a.py:1:17", "lib.py:1:5"]);
    }
    let same =
        "//- /lib.py\ndef thing() -> int:\n    return 1\n//- /a.py\nfrom lib import thing as thing\n\nprint(thing())\n";
    let answer = rename(&Repo::new(same), "lib.py", 1, 5, "zed");
    assert_eq!(edited(&answer), ["a.py:1:17", "a.py:1:26", "a.py:3:7", "lib.py:1:5"]);
}
