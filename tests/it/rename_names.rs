//! `rename_symbol`: decorated functions and aliases are renamed; names that a program gets at run time are reported;
//! what pytest passes to tests has the type of its fixture.

use std::process::Command;

use serde_json::Value;

use crate::rename::{Project, edited, positions, rename, unsure};
use crate::support::cursors::Cursors;
use crate::support::harness::Repo;

#[test]
fn a_file_that_is_not_utf8_is_listed_and_not_edited() {
    let repo = Repo::new("//- /m.py\ndef total(): return 1\n");
    repo.write("u.py", b"# -*- coding: latin-1 -*-\nfrom m import total  # \xe9\nprint(total())\n");
    repo.write("v.py", b"# -*- coding: latin-1 -*-\nprint('\xe9')\n");
    let answer: Value = serde_json::from_str(&repo.ok(&["rename", "m.py:1:5", "summe", "--json"])).unwrap();
    let listed: Vec<_> = answer["unsure"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(listed, ["u.py"], "{answer}");
}

#[test]
fn a_patch_of_a_file_with_an_odd_name_is_one_that_git_applies() {
    let repo = Repo::new("//- /m.py\ndef total(): return 1\n//- /z.py\n1\n");
    for name in ["n\nl.py", "t\tb.py", "s p.py", "q/n\n--- a/z.py\n+++ b/z.py"] {
        repo.write(name, "from m import total\nprint(total())\n");
    }
    repo.write("patch", repo.ok(&["rename", "m.py:1:5", "summe"]));
    let git = |arguments: &[&str]| Command::new("git").args(arguments).current_dir(repo.path()).status().unwrap();
    assert!(git(&["apply", "patch"]).success());
    assert_eq!(std::fs::read_to_string(repo.path().join("z.py")).unwrap(), "1\n");
    let edited = std::fs::read_to_string(repo.path().join("q/n\n--- a/z.py\n+++ b/z.py")).unwrap();
    assert_eq!(edited, "from m import summe\nprint(summe())\n");
}

#[test]
fn functions_behind_wrapping_decorators_are_renamed() {
    let mut project = Project::new(
        r#"
//- /a.py
import functools
from functools import cache, lru_cache, singledispatch


@cache
def $0?cached(step: int) -> int:
    return step


@lru_cache(maxsize=None)
def $1?limited(step: int) -> int:
    return step


@singledispatch
def $2?show(value: object) -> str:
    return "x"


@$2show.register
def _(value: int) -> str:
    return "int"


class A:
    @functools.lru_cache
    def $3?meth(self, step: int) -> int:
        return step


print($0?cached(1), $1?limited(1), $2?show(1), A().$3?meth(1))
$0cached.cache_clear()
//- /b.py
from a import $0cached, $1limited as lim, $2show
import a as mod

print($0?cached(1), lim(2), $2show(3), mod.$1limited(1), mod.$2show(2))
"#,
    );
    for group in 0..=3 {
        project.renamed_together(group);
    }
}

#[test]
fn an_alias_in_a_package_is_renamed_with_references_through_the_package() {
    let mut project = Project::new(
        r"
//- /p/__init__.py
from .core import run as $0?start
from . import core as $1?engine
import os.path as $2?osp
//- /p/core.py
def $3?run(a: int) -> int:
    return a
//- /main.py
import p
from p import $0?start, $1engine

print($0?start(1), p.$0start(2), $1engine.$3run(1), p.$1engine.$3run(2), p.$2osp.join('a'))
",
    );
    for group in 0..=2 {
        project.renamed_together(group);
    }
}

#[test]
fn an_attribute_behind_a_hasattr_guard_is_renamed() {
    let fixture = Cursors::new(
        r#"
//- /a.py
class A:
    def json(self) -> object:
        $1if not hasattr(self, "_json"):
            self.$0?_json = {"a": 1}
        return self.$0_json
"#,
    );
    let answer = rename(&Repo::new(&fixture.files), fixture.start(0), "_parsed");
    assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(1)), "{answer}");
}

#[test]
fn names_that_reach_a_lookup_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
import pytest

$1NAME = "go"
OTHER = "go"


class $2?A:
    def $0?go(self) -> int:
        return 1

    def stop(self) -> int:
        return 2


def look(a: A) -> None:
    getattr(a, NAME)
    $1for one in ["go", "stop"]:
        print(getattr(a, one))
    $1table = {"go": a.$0go, "stop": a.stop}
    $1table["go"]()
    print("go", {"go": 1}, OTHER)


$1@pytest.mark.parametrize("wanted", ["go", "stop"])
def test_a(wanted):
    assert getattr(A(), wanted)


$1@pytest.mark.parametrize(("name", "value"), [("go", 1)])
def test_b(name, value):
    getattr(A(), name)


$5@pytest.mark.parametrize("step,value", [(1, 2)])
def test_d($4?step, value):
    assert $4step


def test_c():
    $3assert repr(A()) == "<A 1>"
    $3assert A.__name__ == "A"
    assert "A" != "b"
"#,
    );
    let repo = Repo::new(&fixture.files);
    for (group, reported) in [(0, 1), (2, 3), (4, 5)] {
        let answer = rename(&repo, fixture.start(group), "zed");
        assert_eq!(unsure(&answer), fixture.lines(reported), "{answer}");
    }
}

const FIXTURES: &str = r#"
//- /shop.py
class Cart:
    def $0?total(self, $1?tax: int = 0) -> int:
        return $1tax


class Other:
    def total(self, tax: int = 0) -> int:
        return tax
//- /tests/conftest.py
import pytest

from shop import Cart, Other


@pytest.fixture
def cart():
    return Cart()


@pytest.fixture(name="given")
def make_given():
    one = Cart()
    yield one


@pytest.fixture
def other(cart):
    cart.$0total()
    return Other()
//- /tests/inner/conftest.py
from collections.abc import Iterator

import pytest

from shop import Cart, Other


@pytest.fixture
def other() -> Iterator[Cart]:
    yield Cart()
//- /tests/test_a.py
def test_a(cart, given, other):
    assert cart.$0total($1tax=1) == given.$0total()
    other.total(tax=2)


def test_b(missing):
    $2missing.total()


def helper(cart):
    $2cart.total()
//- /tests/inner/test_b.py
import pytest

from shop import Other


class TestB:
    @pytest.fixture
    def cart(self):
        return Other()

    def test_a(self, cart, other):
        cart.total()
        same = other
        assert same.$0?total($1tax=3)
"#;

#[test]
fn parameters_of_tests_have_the_type_of_their_fixture() {
    let fixture = Cursors::new(FIXTURES);
    let repo = Repo::new(&fixture.files);
    for start in fixture.starts(0) {
        let answer = rename(&repo, start, "zed");
        assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(2)), "{start}: {answer}");
    }
    assert_eq!(edited(&rename(&repo, fixture.start(1), "zed")), fixture.positions(1));
    let found = repo.call("find_references", &fixture.starts(0)[0].arguments());
    assert_eq!(positions(&found, "references"), fixture.positions(0), "{found}");
    let defined = repo.call("goto_definition", &fixture.starts(0)[1].arguments());
    assert_eq!(positions(&defined, "definitions"), fixture.positions(0)[..1], "{defined}");
}

#[test]
fn requests_for_a_renamed_fixture_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /conftest.py
import pytest


@pytest.fixture
def $0?cart():
    return 1
//- /test_a.py
import pytest


def test_a($1cart):
    assert cart


$1@pytest.mark.usefixtures("cart")
def test_b(request):
    $1request.getfixturevalue("cart")


def helper(cart): ...
"#,
    );
    let answer = rename(&Repo::new(&fixture.files), fixture.start(0), "zed");
    assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(0), fixture.lines(1)), "{answer}");
}

#[test]
fn names_that_templates_and_object_setattr_look_up_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
$0?part = "[0-9]"
whole = (
    $1r"HTTP/{part}"
    r" {other}".format(**globals(), other=1)
)
$1older = "%(part)s" % globals()
$1mapped = "{part.real}".format_map(vars())
apart = "{part}".format(1)
odd = "{parts}".format(**globals())
//- /b.py
class Event:
    version: str

    def __init__(self, $2?version: str) -> None:
        $3object.__setattr__(self, "version", version)

    def read(self) -> object:
        $3return super().__getattribute__("version")


def of(event: Event) -> str:
    return event.$4?version
"#,
    );
    let repo = Repo::new(&fixture.files);
    let answer = rename(&repo, fixture.start(0), "piece");
    assert_eq!(unsure(&answer), fixture.lines(1), "{answer}");
    let answer = rename(&repo, fixture.start(4), "release");
    assert_eq!(unsure(&answer), fixture.lines(3), "{answer}");
}

#[test]
fn keyword_arguments_of_an_exceptions_constructor_are_its_parameters() {
    let mut project = Project::new(
        r#"
//- /a.py
class Bad(Exception):
    def __init__(self, message: str, $0?cause: object = None) -> None:
        super().__init__(message)
        self.cause = $0?cause


class Worse(Exception):
    def __init__(self, message: str, $1?cause: object = None) -> None:
        super().__init__(message, $1?cause)


def f() -> None:
    try:
        print()
    except OSError as error:
        raise Bad("x", $0?cause=error) from error
//- /b.py
from a import Bad, Worse

Bad("x", $0?cause=1)
Worse("x", $1?cause=1)
"#,
    );
    for group in 0..=1 {
        project.renamed_together(group);
    }
}

#[test]
fn members_that_a_declared_type_lacks_and_keys_of_passed_on_arguments_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
from typing import Any


class Base:
    def made(self) -> "Base":
        return self


class Item(Base):
    def $0?show(self) -> str:
        return "x"


def of(item: Item) -> None:
    item.$0show()
    $1item.made().show()  # ty: ignore


def factory(*, $2?method: str = "x") -> str:
    return method


class Holder:
    def __init__(self, more_kwargs: dict[str, Any] | None = None) -> None:
        self.given = more_kwargs or {}
        $3self.given = {"method": "z"}

    def run(self) -> str:
        return factory(**self.given)
//- /b.py
from a import Holder

$3Holder(more_kwargs={"method": "y"}).run()
print({"method": "no"})
"#,
    );
    let repo = Repo::new(&fixture.files);
    let answer = rename(&repo, fixture.start(0), "shown");
    assert_eq!(unsure(&answer), fixture.lines(1), "{answer}");
    let answer = rename(&repo, fixture.start(2), "way");
    assert_eq!(unsure(&answer), fixture.lines(3), "{answer}");
}
