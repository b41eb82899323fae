//! Uses where a name does not stand as such: keywords of class patterns, constructions, operators.

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

fn uses(repo: &Repo, line: u32, column: u32) -> (Vec<String>, Value) {
    let answer = repo.call("find_references", &json!({ "file": "money.py", "line": line, "column": column }));
    let all = answer["references"].as_array().unwrap().iter();
    let shown = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{}:{} {}", text("file"), one["line"], one["column"], text("role"))
    };
    (all.map(shown).collect(), answer["left_out"].clone())
}

#[test]
fn constructions_are_references_of_the_constructor() {
    let repo = Repo::new(MONEY);
    let (found, left_out) = uses(&repo, 2, 9);
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
fn operators_are_references_of_their_methods() {
    let repo = Repo::new(MONEY);
    assert_eq!(uses(&repo, 5, 9).0, ["main.py:4:18 call", "money.py:5:9 definition"]);
    assert_eq!(uses(&repo, 8, 9).0, ["main.py:4:20 call", "money.py:8:9 definition"]);
    assert_eq!(uses(&repo, 16, 9).0, ["main.py:5:16 call", "money.py:16:9 definition"]);
}

#[test]
fn what_python_calls_itself_is_said_to_be_left_out() {
    let repo = Repo::new(MONEY);
    let (found, left_out) = uses(&repo, 11, 9);
    assert_eq!(found, ["money.py:11:9 definition"]);
    assert!(left_out.as_str().unwrap().contains("`__len__`"), "{left_out}");
    assert_eq!(uses(&repo, 1, 7).1, Value::Null);
}

#[test]
fn a_keyword_of_a_class_pattern_is_the_member() {
    let repo = Repo::new(MONEY);
    let at = json!({ "file": "main.py", "line": 12, "column": 20 });
    let definitions = repo.call("goto_definition", &at);
    let found = &definitions["definitions"][0];
    assert_eq!((&found["file"], &found["line"]), (&json!("money.py"), &json!(3)), "{definitions}");
    assert_eq!(repo.call("type_at", &at)["expression"], "cents");
    let (found, _) = uses(&repo, 3, 14);
    assert!(found.contains(&"main.py:12:20 read".to_owned()), "{found:?}");
}
