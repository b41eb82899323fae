//! Renaming by types, and the project summary.

use expect_test::expect;
use serde_json::{Value, json};

use crate::rename::{apply, edited, rename};
use crate::support::cursors::{Cursors, Mark};
use crate::support::harness::{Repo, Server};

/// Renames and returns the edited positions, or the lines and reasons of the refusal.
fn renamed(repo: &Repo, start: &Mark, new_name: &str) -> Result<Vec<String>, Vec<String>> {
    let answer = rename(repo, start, new_name);
    if let Some(refused) = answer["refused"].as_array() {
        assert_eq!(answer["edits"], json!([]), "half a rename: {answer}");
        let shown = |one: &Value| {
            let [file, reason] = ["file", "reason"].map(|field| one[field].as_str().unwrap());
            format!("{file}:{} {reason}", one["line"])
        };
        return Err(refused.iter().map(shown).collect());
    }
    apply(repo, &answer);
    Ok(edited(&answer))
}

const SHOP: &str = r#"
//- /shop.py
__all__ = ["$0Cart", "$3pay"]


class $0?Cart:
    def $1total(self, tax: float = 0.0) -> float:
        return tax


class Basket($0Cart):
    def $1?total(self, tax: float = 0.0) -> float:
        return super().$1total(tax=tax)


class Other:
    def total(self) -> int:
        return 0


def $3?pay(cart: "$0Cart") -> float:
    return cart.$1total(tax=1.0)
//- /main.py
import shop
from shop import $0Cart, $3pay as $2?settle

$2settle($0Cart())
print(shop.Basket().$1total(tax=2.0), shop.Other().total(), "Cart")
"#;

#[test]
fn a_class_is_renamed_in_imports_and_strings() {
    let shop = Cursors::new(SHOP);
    let repo = Repo::new(&shop.files);
    assert_eq!(renamed(&repo, shop.start(0), "Trolley").unwrap(), shop.positions(0));
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn a_method_is_renamed_with_its_overrides_only() {
    let shop = Cursors::new(SHOP);
    let repo = Repo::new(&shop.files);
    assert_eq!(renamed(&repo, shop.start(1), "amount").unwrap(), shop.positions(1));
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn an_alias_is_renamed_alone() {
    let shop = Cursors::new(SHOP);
    let repo = Repo::new(&shop.files);
    assert_eq!(renamed(&repo, shop.start(2), "finish").unwrap(), shop.positions(2));
    assert_eq!(renamed(&repo, shop.start(3), "charge").unwrap(), shop.positions(3));
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn a_rename_that_would_capture_shadow_or_break_is_refused() {
    let fixture = Cursors::new(
        r"
//- /a.py
import $3?json

$1?limit = 1


def outer($0?size: int) -> int:
    def inner() -> int:
        $4return limit + $0size

    return inner()


class Decoder(json.JSONDecoder):
    def $2?decode(self, s: str) -> int:
        return 1


outer($0size=2)
",
    );
    let repo = Repo::new(&fixture.files);
    let [parameter, global, method, module] = [0, 1, 2, 3].map(|group| fixture.start(group));
    let reasons = |start: &Mark, new_name: &str| renamed(&repo, start, new_name).unwrap_err().join("\n");
    // The parameter would capture the global that `inner` refers to, and vice versa.
    let mut refused = String::new();
    for (start, new_name) in
        [(parameter, "limit"), (global, "size"), (global, "outer"), (method, "parse"), (module, "js")]
    {
        refused += &format!("{start} as {new_name}:\n{}\n", reasons(start, new_name));
    }
    expect![[r#"
        a.py:6:11 as limit:
        a.py:8 an existing `limit` would refer to the renamed symbol
        a.py:3:1 as size:
        a.py:8 `size` would refer to something else here
        a.py:3:1 as outer:
        a.py:6 an existing `outer` would refer to the renamed symbol
        a.py:8 it would cause a new diagnostic: Operator `+` is not supported between objects of type `def outer(size: int) -> int` and `int` (unsupported-operator)
        a.py:18 an existing `outer` would refer to the renamed symbol
        a.py:14:9 as parse:
        a.py:14 it overrides a member of a class outside the project: stdlib/json/decoder.pyi
        a.py:1:8 as js:
        stdlib/json/__init__.pyi:1 it is defined outside the project
    "#]].assert_eq(&refused);
    let calls = ["class", "a b", "1x", ""].map(|wrong| {
        let mut arguments = global.arguments();
        arguments["new_name"] = json!(wrong);
        ("rename_symbol", arguments)
    });
    expect![[r#"
        $ ixmcp call rename_symbol --args '{"column":1,"file":"a.py","line":3,"new_name":"class"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "class" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":1,"file":"a.py","line":3,"new_name":"a b"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "a b" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":1,"file":"a.py","line":3,"new_name":"1x"}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "1x" is not a valid Python identifier. Give an identifier that is not a keyword.
        $ ixmcp call rename_symbol --args '{"column":1,"file":"a.py","line":3,"new_name":""}'
        ixmcp: INVALID_ARGUMENT: argument `new_name`: "" is not a valid Python identifier. Give an identifier that is not a keyword.
    "#]].assert_eq(&repo.refusals(&calls, &[]));
    assert_eq!(renamed(&repo, parameter, "width").unwrap(), fixture.positions(0));
}

#[test]
fn a_project_summary() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "shop"
version = "1"
[project.scripts]
buy = "shop.a:main"
//- /shop/__init__.py
//- /shop/a.py
from shop import b


class A:
    size: int = 0

    def f(self, x: int, y):
        return y


def main() -> None:
    undefined_name


if __name__ == "__main__":
    main()
//- /shop/b.py
import shop.a
"#,
    );
    let answer = repo.call("analyze_project", &json!({}));
    assert_eq!(
        answer["totals"],
        json!({ "modules": 3, "classes": 1, "functions": 1, "methods": 1, "variables": 1, "lines": 17 })
    );
    assert_eq!(answer["imports"]["cycles"], json!([["shop.a", "shop.b"]]));
    assert_eq!(answer["annotated"], json!({ "parameters": 1, "of_parameters": 2, "returns": 1, "of_returns": 2 }));
    assert_eq!(answer["diagnostics"], json!([{ "code": "unresolved-reference", "count": 1 }]));
    assert_eq!(answer["entry_points"][0], json!({ "name": "buy", "target": "shop.a:main" }));
    assert_eq!(answer["entry_points"][1], json!({ "name": "shop.a", "target": "__main__" }));
    assert_eq!(answer["packages"], json!([{ "name": "shop", "modules": 3, "files": 3, "lines": 17 }]));
    assert_eq!(answer["largest"][0], json!({ "module": "shop.a", "lines": 16 }));
    assert!(answer["types"]["unknown"].as_u64().unwrap() >= 1 && answer["types"]["known"].as_u64().unwrap() >= 3);
}

#[test]
fn plugins_and_main_modules_are_entry_points() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project]
name = "shop"
version = "1"
[project.scripts]
buy = "shop.cart:main"
[project.entry-points.pytest11]
shop = "shop.testing"
[project.entry-points."shop.payments"]
card = "shop.cart:Card"
//- /shop/__init__.py
//- /shop/__main__.py
from shop.cart import main

if __name__ == "__main__":
    main()
//- /shop/cart.py
class Card: ...


def main() -> None: ...


if __name__ == "__main__":
    main()
//- /shop/testing.py
x = 1
"#,
    );
    let answer = repo.call("analyze_project", &json!({}));
    let expected = json!([
        { "name": "buy", "target": "shop.cart:main" },
        { "name": "shop.__main__", "target": "__main__" },
        { "name": "shop", "target": "shop.testing", "group": "pytest11" },
        { "name": "card", "target": "shop.cart:Card", "group": "shop.payments" },
        { "name": "shop.cart", "target": "__main__" },
    ]);
    assert_eq!(answer["entry_points"], expected);
    assert_eq!(answer["list_totals"]["entry_points"], 5);
}

#[test]
fn a_project_summary_is_bounded() {
    let repo = Repo::new("");
    for n in 0..60 {
        let text = format!(
            "import p{0}.m\n\n\ndef f{n}(a, b: int) -> None:\n    nobody{n}.x\n\n\nif __name__ == '__main__':\n    f{n}(1, 2)\n",
            (n + 1) % 60
        );
        repo.write(&format!("p{n}/m.py"), text);
    }
    let scripts: String = (0..50).map(|n| format!("    s{n} = p{n}.m:f{n}\n")).collect();
    repo.write("setup.cfg", format!("[options.entry_points]\nconsole_scripts =\n{scripts}"));
    let answer = repo.call("analyze_project", &json!({}));
    for list in ["packages", "entry_points", "diagnostics", "largest"] {
        assert!((1..=20).contains(&answer[list].as_array().unwrap().len()), "{list}: {}", answer[list]);
    }
    let cycles = answer["imports"]["cycles"].as_array().unwrap();
    assert_eq!((cycles.len(), &answer["imports"]["edges"]), (1, &json!(60)));
    assert!(cycles[0].as_array().unwrap().len() <= 12, "{cycles:?}");
    // Cuts are announced: the 50 scripts and the 60 modules with a guard, one rule, one cycle of 60 modules.
    let total =
        json!({ "packages": 60, "cycles": 1, "cycle_modules": [60], "imported": 60, "entry_points": 110, "rules": 1 });
    assert_eq!(answer["list_totals"], total);
    assert!(answer["imports"]["most_imported"].as_array().unwrap().len() <= 20);
    assert_eq!((&answer["totals"]["modules"], &answer["totals"]["functions"]), (&json!(60), &json!(60)));
    assert_eq!(answer["entry_points"][0], json!({ "name": "s0", "target": "p0.m:f0" }));
    assert!(answer.to_string().len() < 24_000);
}

#[test]
fn a_broken_project_has_a_summary() {
    let repo = Repo::new(
        r#"
//- /pyproject.toml
[project
//- /setup.cfg
[options.entry_points
x
//- /half.py
def f(:
class
//- /whole.py
from half import f


class A: ...
//- /inner/pyproject.toml
[project.scripts]
go = "a:b"
[tool.ty]
"#,
    );
    repo.write("bytes.py", b"x = \"\xff\"\n");
    repo.write("empty.py", "");
    let answer = repo.call("analyze_project", &json!({}));
    assert_eq!((&answer["totals"]["modules"], &answer["imports"]["edges"]), (&json!(4), &json!(1)), "{answer}");
    assert_eq!(answer["entry_points"], json!([{ "name": "go", "target": "a:b" }]));
    expect![[r#"
        [
          {
            "code": "invalid-syntax",
            "count": 4
          },
          {
            "code": "io",
            "count": 1
          }
        ]"#]]
    .assert_eq(&format!("{:#}", answer["diagnostics"]));
    let nothing = Repo::new("//- /a.rs\nfn main() {}\n").call("analyze_project", &json!({}));
    assert_eq!((&nothing["totals"]["modules"], &nothing["packages"]), (&json!(0), &json!([])));
}

#[test]
fn a_rename_past_its_deadline_completes_in_the_background() {
    const USERS: usize = 120;
    let fixture = Cursors::new(
        r#"
//- /lib.py
class Query:
    def $0?only(self, *names: str) -> "Query":
        return self
"#,
    );
    let repo = Repo::new(&fixture.files);
    for number in 0..USERS {
        let use_it =
            format!("from lib import Query\n\n\ndef f_{number}(q: Query) -> Query:\n    return q.only(\"a\")\n");
        repo.write(&format!("user_{number:03}.py"), use_it);
    }
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut rename = fixture.start(0).arguments();
    assert_eq!(server.call("type_at", &rename)["expression"], "only");
    rename["new_name"] = json!("just");
    // A second engine does not start within this time.
    rename["timeout_ms"] = json!(5);
    let answer = server.call("rename_symbol", &rename);
    assert_eq!(answer["status"], "running", "{answer}");
    rename["timeout_ms"] = json!(120_000);
    let answer = server.call("rename_symbol", &rename);
    assert_eq!(answer["total_edits"], USERS + 1, "{answer}");
}
