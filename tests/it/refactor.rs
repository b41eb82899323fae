//! Renaming by types, and the project summary.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Repo, Server};

/// Renames and returns the edited positions, or the reasons for the refusal.
fn renamed(repo: &Repo, file: &str, line: u32, column: u32, new_name: &str) -> Result<Vec<String>, Vec<String>> {
    let arguments = json!({ "file": file, "line": line, "column": column, "new_name": new_name });
    let answer = crate::rename::flat(repo.call("rename_symbol", &arguments));
    let shown = |item: &Value, rest: &str| format!("{}:{}{rest}", item["file"].as_str().unwrap(), item["line"]);
    if let Some(refused) = answer["refused"].as_array() {
        assert_eq!(answer["edits"], json!([]), "half a rename: {answer}");
        return Err(refused.iter().map(|one| shown(one, &format!(" {}", one["reason"].as_str().unwrap()))).collect());
    }
    apply(repo, &answer);
    Ok(answer["edits"].as_array().unwrap().iter().map(|one| shown(one, &format!(":{}", one["column"]))).collect())
}

fn apply(repo: &Repo, answer: &Value) {
    let mut by_file: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for edit in answer["edits"].as_array().unwrap() {
        by_file.entry(edit["file"].as_str().unwrap()).or_default().push(edit);
    }
    for (file, edits) in by_file {
        let text = std::fs::read_to_string(repo.path().join(file)).unwrap();
        let mut lines: Vec<Vec<char>> = text.split('\n').map(|line| line.chars().collect()).collect();
        for edit in edits.into_iter().rev() {
            let number = |name: &str| usize::try_from(edit[name].as_u64().unwrap()).unwrap() - 1;
            let new: Vec<char> = edit["new_text"].as_str().unwrap().chars().collect();
            lines[number("line")].splice(number("column")..number("end_column"), new);
        }
        let text: Vec<String> = lines.into_iter().map(|line| line.into_iter().collect()).collect();
        repo.write(file, text.join("\n"));
    }
}

const SHOP: &str = "
//- /shop.py
__all__ = [\"Cart\", \"pay\"]


class Cart:
    def total(self, tax: float = 0.0) -> float:
        return tax


class Basket(Cart):
    def total(self, tax: float = 0.0) -> float:
        return super().total(tax=tax)


class Other:
    def total(self) -> int:
        return 0


def pay(cart: \"Cart\") -> float:
    return cart.total(tax=1.0)
//- /main.py
import shop
from shop import Cart, pay as settle

settle(Cart())
print(shop.Basket().total(tax=2.0), shop.Other().total(), \"Cart\")
";

#[test]
fn a_class_is_renamed_in_imports_and_strings() {
    let repo = Repo::new(SHOP);
    let places = renamed(&repo, "shop.py", 4, 7, "Trolley").unwrap();
    let expected = ["main.py:2:18", "main.py:4:8", "shop.py:1:13", "shop.py:4:7", "shop.py:9:14", "shop.py:19:16"];
    assert_eq!(places, expected);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn a_method_is_renamed_with_its_overrides_only() {
    let repo = Repo::new(SHOP);
    let places = renamed(&repo, "shop.py", 10, 9, "amount").unwrap();
    assert_eq!(places, ["main.py:5:21", "shop.py:5:9", "shop.py:10:9", "shop.py:11:24", "shop.py:20:17"]);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn an_alias_is_renamed_alone() {
    let repo = Repo::new(SHOP);
    assert_eq!(renamed(&repo, "main.py", 2, 31, "finish").unwrap(), ["main.py:2:31", "main.py:4:1"]);
    assert_eq!(renamed(&repo, "shop.py", 19, 5, "charge").unwrap(), ["main.py:2:24", "shop.py:1:21", "shop.py:19:5"]);
    assert_eq!(repo.call("check", &json!({}))["total"], 0);
}

#[test]
fn a_rename_that_would_capture_shadow_or_break_is_refused() {
    let repo = Repo::new(
        r"
//- /a.py
import json

limit = 1


def outer(size: int) -> int:
    def inner() -> int:
        return limit + size

    return inner()


class Decoder(json.JSONDecoder):
    def decode(self, s: str) -> int:
        return 1


outer(size=2)
",
    );
    let reasons = |line, column, new_name| renamed(&repo, "a.py", line, column, new_name).unwrap_err();
    // The parameter would capture the global that `inner` refers to, and vice versa.
    assert!(reasons(6, 11, "limit").iter().any(|reason| reason.contains("a.py:8")), "{:?}", reasons(6, 11, "limit"));
    assert!(reasons(3, 1, "size").iter().any(|reason| reason.contains("a.py:8")));
    assert!(reasons(3, 1, "outer").iter().any(|reason| reason.contains("an existing")));
    assert!(reasons(14, 9, "parse")[0].contains("outside the project"));
    assert!(reasons(1, 8, "js")[0].contains("outside the project"));
    for wrong in ["class", "a b", "1x", ""] {
        let arguments = json!({ "file": "a.py", "line": 3, "column": 1, "new_name": wrong }).to_string();
        assert!(repo.fails(&["call", "rename_symbol", "--args", &arguments]).contains("INVALID_ARGUMENT"), "{wrong:?}");
    }
    assert_eq!(renamed(&repo, "a.py", 6, 11, "width").unwrap(), ["a.py:6:11", "a.py:8:24", "a.py:18:7"]);
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
    assert!(answer["imports"]["most_imported"].as_array().unwrap().len() <= 20);
    assert_eq!((&answer["totals"]["modules"], &answer["totals"]["functions"]), (&json!(60), &json!(60)));
    assert_eq!(answer["entry_points"][0], json!({ "name": "s0", "target": "p0.m:f0" }));
    assert!(answer.to_string().len() < 24_000);
}

#[test]
fn a_broken_project_has_a_summary() {
    let repo = Repo::new(
        "//- /pyproject.toml\n[project\n//- /setup.cfg\n[options.entry_points\nx\n//- /half.py\ndef f(:\nclass\n//- /whole.py\nfrom half import f\n\n\nclass A: ...\n//- /inner/pyproject.toml\n[project.scripts]\ngo = \"a:b\"\n[tool.ty]\n",
    );
    repo.write("bytes.py", b"x = \"\xff\"\n");
    repo.write("empty.py", "");
    let answer = repo.call("analyze_project", &json!({}));
    assert_eq!((&answer["totals"]["modules"], &answer["imports"]["edges"]), (&json!(4), &json!(1)), "{answer}");
    assert_eq!(answer["entry_points"], json!([{ "name": "go", "target": "a:b" }]));
    assert!(answer["diagnostics"].to_string().contains("invalid-syntax"), "{answer}");
    let nothing = Repo::new("//- /a.rs\nfn main() {}\n").call("analyze_project", &json!({}));
    assert_eq!((&nothing["totals"]["modules"], &nothing["packages"]), (&json!(0), &json!([])));
}

#[test]
fn a_rename_past_its_deadline_completes_in_the_background() {
    const USERS: usize = 120;
    let repo =
        Repo::new("//- /lib.py\nclass Query:\n    def only(self, *names: str) -> \"Query\":\n        return self\n");
    for number in 0..USERS {
        let use_it =
            format!("from lib import Query\n\n\ndef f_{number}(q: Query) -> Query:\n    return q.only(\"a\")\n");
        repo.write(&format!("user_{number:03}.py"), use_it);
    }
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut rename = json!({ "file": "lib.py", "line": 2, "column": 9, "new_name": "just" });
    assert_eq!(server.call("type_at", &json!({ "file": "lib.py", "line": 2, "column": 9 }))["expression"], "only");
    // A second engine does not start within this time.
    rename["timeout_ms"] = json!(5);
    let answer = server.call("rename_symbol", &rename);
    assert_eq!(answer["status"], "running", "{answer}");
    rename["timeout_ms"] = json!(120_000);
    let answer = server.call("rename_symbol", &rename);
    assert_eq!(answer["total_edits"], USERS + 1, "{answer}");
}
