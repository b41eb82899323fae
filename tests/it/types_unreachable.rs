//! Code that the type checker holds unreachable: `rename_symbol` and `find_references` resolve it by its syntax.

use serde_json::Value;

use crate::rename::{Project, edited, positions, rename, unsure};
use crate::support::cursors::Cursors;
use crate::support::harness::Repo;

const BRANCHES: &str = r#"
//- /client.py
import sys
from typing import TYPE_CHECKING


class $2?Client:
    def $0?read(self, $1?size: int = 1) -> int:
        return $1size

    def again(self) -> int:
        raise NotImplementedError
        return self.$0read()


class Other:
    def read(self) -> int:
        return 0


def $3?connect($4?address: str) -> $2Client:
    return $2Client()


def platform(client: $2Client, other: Other) -> int:
    if sys.platform == "win32":
        own = $2Client()
        same = own
        other.read()
        same.$0read($1size=2)
        $3connect($4address="x").$0read()
        return client.$0?read()
    return client.$0read()


def version(client: "$2Client | None") -> int:
    if sys.version_info < (3, 6):
        assert client
        return client.$0read($1size=3)
    return 0


def checking(client: $2Client) -> int:
    if not TYPE_CHECKING:
        from client import $2Client as Again
        Again().$0read()
        with open("x") as file:
            file.read()
        return client.$0read()
    return 0


def raised(client: $2Client) -> int:
    raise ValueError
    return client.$0read()


def narrowed(client: $2Client) -> int:
    if not isinstance(client, $2Client):
        client.$0read()
    return 0


if sys.platform == "win32":
    class Windows($2Client):
        def $0?read(self, $1?size: int = 2) -> int:
            return super().$0read($1size)

    def start(client: Windows) -> int:
        return client.$0read() + Windows().$0read($1size=4)

    def stop(other: Other) -> int:
        return other.read()
//- /main.py
import sys

import client

if sys.platform == "win32":
    client.$3connect($4address="y").$0read()
    client.$2Client().$0read()
"#;

#[test]
fn members_are_renamed_in_unreachable_code() {
    let mut project = Project::new(BRANCHES);
    for group in 0..=4 {
        let answer = project.renamed_together(group);
        assert!(answer.get("unsure").is_none(), "{group}: {answer}");
    }
}

#[test]
fn references_in_unreachable_code_are_found_by_syntax() {
    let fixture = Cursors::new(BRANCHES);
    let repo = Repo::new(&fixture.files);
    let answer = repo.call("find_references", &fixture.starts(0)[0].arguments());
    let by_syntax = |line: &str| -> Vec<Option<&str>> {
        let all = answer["references"].as_array().unwrap().iter();
        all.filter(|one| one["preview"] == line).map(|one| one["precision"].as_str()).collect()
    };
    // Those of the override belong to it.
    let found = positions(&answer, "references");
    assert_eq!(found.len(), fixture.positions(0).len() - 3, "{answer}");
    assert!(found.iter().all(|one| fixture.positions(0).contains(one)), "{answer}");
    let syntax = Some("syntax");
    assert_eq!(by_syntax("return client.read()"), [syntax, None, syntax, syntax]);
    assert_eq!(by_syntax("client.read()"), [syntax]);
    assert_eq!(by_syntax("client.Client().read()"), [syntax]);
    assert_eq!(answer["precision"], "types");
}

#[test]
fn occurrences_that_the_syntax_does_not_resolve_are_reported() {
    let fixture = Cursors::new(
        r#"
//- /a.py
import sys


class A:
    def $0?go(self, $2?step: int = 1) -> int:
        return $2step


class B:
    def go(self, step: int = 1) -> int:
        return step


def find(x):
    return x


def f(a: A, b: B, c, d: list[A]) -> None:
    if sys.platform == "win32":
        $1$3c.go(step=1)
        $1$3find(a).go(step=2)
        $1$3d[0].go(step=3)
        b.go(step=4)
        "".go()
        a.$0go($2step=5)
"#,
    );
    let repo = Repo::new(&fixture.files);
    for (group, reported) in [(0, 1), (2, 3)] {
        let answer = rename(&repo, fixture.start(group), "walk");
        assert_eq!((edited(&answer), unsure(&answer)), (fixture.positions(group), fixture.lines(reported)), "{answer}");
    }
}

#[test]
fn assignments_that_refer_to_each_other_in_unreachable_code_end() {
    let names: Vec<String> = (0..24).map(|n| format!("n{n}")).collect();
    let calls: String = names.iter().map(|name| format!("        {name} = {}\n", names.join(" or "))).collect();
    let text = format!(
        "//- /a.py\nimport sys\n\n\nclass A:\n    def $0?go(self) -> int:\n        return 1\n\n\ndef f() -> None:\n    \
         if sys.platform == \"win32\":\n{calls}        n0.go()\n"
    );
    let fixture = Cursors::new(&text);
    let answer: Value = rename(&Repo::new(&fixture.files), fixture.start(0), "walk");
    assert_eq!((edited(&answer), unsure(&answer).len()), (fixture.positions(0), 1), "{answer}");
}
