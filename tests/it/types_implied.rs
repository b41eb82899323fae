//! Implicit references: keywords of class patterns, constructions, operators, member lists.

use serde_json::{Value, json};

use crate::harness::Repo;

const MONEY: &str = "
//- /money.py
class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __add__(self, other: \"Money\") -> \"Money\":
        return Money(self.cents + other.cents)

    def __neg__(self) -> \"Money\":
        return Money(-self.cents)

    def __len__(self) -> int:
        return self.cents


class Other:
    def __add__(self, other: \"Other\") -> \"Other\":
        return other
//- /main.py
import money
from money import Money, Other

total = Money(1) + -Money(2)
more = Other() + Other()
made = money.Money(cents=3)
print(len(made), 1 + 2, -3)


def show(one: object) -> int:
    match one:
        case Money(cents=amount):
            return amount
    return 0
";

fn references(repo: &Repo, line: u32, column: u32) -> (Vec<String>, Value) {
    let answer = repo.call("find_references", &json!({ "file": "money.py", "line": line, "column": column }));
    let all = answer["references"].as_array().unwrap().iter();
    let shown = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{}:{} {}", text("file"), one["line"], one["column"], text("role"))
    };
    (all.map(shown).collect(), answer["left_out"].clone())
}

#[test]
fn constructions_are_references_to_the_constructor() {
    let repo = Repo::new(MONEY);
    let (found, left_out) = references(&repo, 2, 9);
    assert_eq!(
        found,
        [
            "main.py:4:9 call",
            "main.py:4:21 call",
            "main.py:6:14 call",
            "money.py:2:9 definition",
            "money.py:6:16 call",
            "money.py:9:16 call",
        ]
    );
    assert!(left_out.as_str().unwrap().contains("`Money`"), "{left_out}");
}

#[test]
fn operators_are_references_to_their_methods() {
    let repo = Repo::new(MONEY);
    assert_eq!(references(&repo, 5, 9).0, ["main.py:4:18 call", "money.py:5:9 definition"]);
    assert_eq!(references(&repo, 8, 9).0, ["main.py:4:20 call", "money.py:8:9 definition"]);
    assert_eq!(references(&repo, 16, 9).0, ["main.py:5:16 call", "money.py:16:9 definition"]);
}

#[test]
fn implicit_calls_are_reported_as_left_out() {
    let repo = Repo::new(MONEY);
    let (found, left_out) = references(&repo, 11, 9);
    assert_eq!(found, ["money.py:11:9 definition"]);
    assert!(left_out.as_str().unwrap().contains("`__len__`"), "{left_out}");
    assert_eq!(references(&repo, 1, 7).1, Value::Null);
}

#[test]
fn keywords_of_class_patterns_are_references_to_members() {
    let repo = Repo::new(MONEY);
    let at = json!({ "file": "main.py", "line": 12, "column": 20 });
    let definitions = repo.call("goto_definition", &at);
    let found = &definitions["definitions"][0];
    assert_eq!((&found["file"], &found["line"]), (&json!("money.py"), &json!(3)), "{definitions}");
    assert_eq!(repo.call("type_at", &at)["expression"], "cents");
    let (found, _) = references(&repo, 3, 14);
    assert!(found.contains(&"main.py:12:20 read".to_owned()), "{found:?}");
}

const LISTED: &str = "
//- /shop.py
class Cart:
    __slots__ = (\"owner\", \"total\")
    __match_args__ = (\"owner\",)

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.total = len(\"owner\")


class Other:
    __slots__ = \"owner\"

    def __init__(self) -> None:
        self.owner = 1


class Told:
    __slots__ = {\"owner\": \"who pays\", \"more\": \"owner\"}
    owner: str
//- /main.py
from shop import Cart, Other

print(Cart(\"a\").owner, Other().owner)
";

#[test]
fn strings_in_member_lists_are_references_to_members() {
    let at = |file: &str, line: u32, column: u32| json!({ "file": file, "line": line, "column": column });
    let found = |place: &Value| {
        let answer = Repo::new(LISTED).call("find_references", place);
        let all = answer["references"].as_array().unwrap().iter();
        let shown = |one: &Value| format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"]);
        all.map(shown).collect::<Vec<_>>()
    };
    let of_cart = ["main.py:3:17", "shop.py:2:19", "shop.py:3:24", "shop.py:6:14"];
    assert_eq!(found(&at("shop.py", 6, 14)), of_cart);
    assert_eq!(found(&at("main.py", 3, 17)), of_cart);
    assert_eq!(found(&at("shop.py", 7, 14)), ["shop.py:2:28", "shop.py:7:14"]);
    assert_eq!(found(&at("shop.py", 14, 14)), ["main.py:3:32", "shop.py:11:18", "shop.py:14:14"]);
    assert_eq!(found(&at("shop.py", 19, 5)), ["shop.py:18:19", "shop.py:19:5"]);
    // The list is not a declaration.
    let mut references = at("shop.py", 6, 14);
    references["include_declaration"] = json!(false);
    assert_eq!(found(&references), ["main.py:3:17", "shop.py:2:19", "shop.py:3:24"]);
}
