//! Implicit references: keywords of class patterns, constructions, operators, member lists.

use expect_test::expect;
use serde_json::{Value, json};

use crate::rename::positions;
use crate::support::cursors::Cursors;
use crate::support::harness::Repo;

const MONEY: &str = r#"
//- /money.py
class $6?Money:
    def $0?__init__(self, cents: int) -> None:
        self.$5?cents = cents

    def $1?__add__(self, other: "Money") -> "Money":
        return $0Money(self.$5cents + other.$5cents)

    def $2?__neg__(self) -> "Money":
        return $0Money(-self.$5cents)

    def $4?__len__(self) -> int:
        return self.$5cents


class Other:
    def $3?__add__(self, other: "Other") -> "Other":
        return other
//- /main.py
import money
from money import Money, Other

total = $0Money(1) $1+ $2-$0Money(2)
more = Other() $3+ Other()
made = money.$0Money(cents=3)
print(len(made), 1 + 2, -3)


def show(one: object) -> int:
    match one:
        case Money($5?cents=amount):
            return amount
    return 0
"#;

/// The roles of the references of a group, which are at its positions; and what the answer leaves out.
fn references(fixture: &Cursors, group: u32) -> (Vec<String>, Value) {
    let answer = Repo::new(&fixture.files).call("find_references", &fixture.starts(group)[0].arguments());
    assert_eq!(positions(&answer, "references"), fixture.positions(group));
    let roles = answer["references"].as_array().unwrap().iter();
    (roles.map(|one| one["role"].as_str().unwrap().to_owned()).collect(), answer["left_out"].clone())
}

#[test]
fn constructions_are_references_to_the_constructor() {
    let (roles, left_out) = references(&Cursors::new(MONEY), 0);
    assert_eq!(roles, ["call", "call", "call", "definition", "call", "call"]);
    expect![
        "Calls of `Money` by that name are listed; calls of subclasses, through aliases and through `cls` are not."
    ]
    .assert_eq(left_out.as_str().unwrap());
}

#[test]
fn operators_are_references_to_their_methods() {
    let fixture = Cursors::new(MONEY);
    for operator in 1..=3 {
        assert_eq!(references(&fixture, operator).0, ["call", "definition"]);
    }
}

#[test]
fn implicit_calls_are_reported_as_left_out() {
    let fixture = Cursors::new(MONEY);
    let (roles, left_out) = references(&fixture, 4);
    assert_eq!(roles, ["definition"]);
    expect!["Python calls `__len__` implicitly; implicit calls are not listed."].assert_eq(left_out.as_str().unwrap());
    let class = Repo::new(&fixture.files).call("find_references", &fixture.start(6).arguments());
    assert_eq!(class["left_out"], Value::Null);
}

#[test]
fn keywords_of_class_patterns_are_references_to_members() {
    let fixture = Cursors::new(MONEY);
    let repo = Repo::new(&fixture.files);
    let [keyword, member] = fixture.starts(5)[..] else { panic!("a keyword and a member") };
    let definitions = repo.call("goto_definition", &keyword.arguments());
    let found = &definitions["definitions"][0];
    assert_eq!((&found["file"], &found["line"]), (&json!(member.file), &json!(member.line)), "{definitions}");
    assert_eq!(repo.call("type_at", &keyword.arguments())["expression"], "cents");
    assert_eq!(references(&fixture, 5).0[0], "read");
}

#[test]
fn strings_in_member_lists_are_references_to_members() {
    let fixture = Cursors::new(
        r#"
//- /shop.py
class Cart:
    __slots__ = ("$0$4owner", "$1total")
    __match_args__ = ("$0$4owner",)

    def __init__(self, owner: str) -> None:
        self.$0?owner = owner
        self.$1?total = len("owner")


class Other:
    __slots__ = "$2owner"

    def __init__(self) -> None:
        self.$2?owner = 1


class Told:
    __slots__ = {"$3owner": "who pays", "more": "owner"}
    $3?owner: str
//- /main.py
from shop import Cart, Other

print(Cart("a").$0?$4owner, Other().$2owner)
"#,
    );
    let repo = Repo::new(&fixture.files);
    for group in 0..=3 {
        for start in fixture.starts(group) {
            let answer = repo.call("find_references", &start.arguments());
            assert_eq!(positions(&answer, "references"), fixture.positions(group), "{start}");
        }
    }
    // The list is not a declaration.
    let mut without = fixture.starts(0)[1].arguments();
    without["include_declaration"] = json!(false);
    assert_eq!(positions(&repo.call("find_references", &without), "references"), fixture.positions(4));
}
