//! Symbols given by name instead of position: `find_references`, `goto_definition`, `type_at` and `rename_symbol`.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

const SHOP: &str = "\
//- /shop.py
from typing import overload


class Cart:
    def total(self) -> int:
        return 1


class Basket:
    def total(self) -> int:
        return 2


def checkout(cart: Cart, basket: Basket) -> int:
    return cart.total() + basket.total()


@overload
def parse(text: str) -> str: ...
@overload
def parse(text: int) -> int: ...
def parse(text):
    return text
//- /other.py
from shop import Cart, parse


def checkout() -> None:
    Cart()
    parse(1)
//- /lib.rs
pub mod store {
    pub fn open_index() {}
}
fn main() {
    store::open_index();
}
//- /notes.md
# Cart

A cart has a total.
";

const BY_NAME: &[&str] = &["find_references", "goto_definition", "type_at", "rename_symbol"];

/// The answer of a tool; `rename_symbol` gets a new name, too.
fn ask(server: &mut Server, tool: &str, mut arguments: Value) -> Value {
    if tool == "rename_symbol" {
        arguments["new_name"] = json!("renamed");
    }
    server.call(tool, &arguments)
}

/// The error as `CODE: message hint`.
fn refused(server: &mut Server, tool: &str, arguments: &Value) -> String {
    let error = server.response(tool, arguments)["error"].take();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    format!("{}: {}. {}", text(&error["data"]["code"]), text(&error["message"]), text(&error["data"]["hint"]))
}

fn served() -> (Repo, Server) {
    let repo = Repo::new(SHOP);
    repo.sync();
    let server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    (repo, server)
}

#[test]
fn a_name_that_one_symbol_has_stands_for_the_position_of_its_definition() {
    let (_repo, mut server) = served();
    for (name, file, line, column) in [
        ("Cart", "shop.py", 4, 7),
        ("Cart.total", "shop.py", 5, 9),
        ("shop::Basket", "shop.py", 9, 7),
        ("shop.Basket.total()", "shop.py", 10, 9),
        ("parse", "shop.py", 19, 5),
    ] {
        for tool in BY_NAME {
            let by_position = ask(&mut server, tool, json!({ "file": file, "line": line, "column": column }));
            let by_name = ask(&mut server, tool, json!({ "symbol_name": name }));
            assert_eq!(by_name, by_position, "{tool} {name}");
            assert_eq!(by_name["candidates"], Value::Null);
            assert_eq!(by_name["precision"], "types", "{tool} {name}: {by_name}");
        }
    }
    let found = server.call("find_references", &json!({ "symbol_name": "Cart.total", "include_declaration": false }));
    assert_eq!((&found["total"], &found["references"][0]["line"]), (&json!(1), &json!(15)), "{found}");
    let found = server.call("goto_definition", &json!({ "symbol_name": "store::open_index" }));
    assert_eq!(found["definitions"][0]["file"], "lib.rs", "{found}");
    let found = server.call("find_references", &json!({ "symbol": "open_index" }));
    assert_eq!((&found["total"], &found["precision"]), (&json!(2), &json!("syntax")), "{found}");
}

#[test]
fn a_name_that_several_symbols_have_gives_candidates_and_nothing_else() {
    let (_repo, mut server) = served();
    let positions = |answer: &Value| {
        let candidates = answer["candidates"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        let mut all: Vec<String> = candidates
            .map(|one| {
                let container = one["container"].as_str().unwrap_or("-");
                format!("{container} {} {} {}:{}:{}", one["kind"], one["name"], one["file"], one["line"], one["column"])
            })
            .collect();
        all.sort();
        all.join("; ").replace('"', "")
    };
    for tool in BY_NAME {
        let answer = ask(&mut server, tool, json!({ "symbol_name": "total" }));
        let expected = "Basket method total shop.py:10:9; Cart method total shop.py:5:9";
        assert_eq!(positions(&answer), expected, "{tool}");
        assert_eq!(answer["precision"], "name");
        for list in ["edits", "references", "definitions"] {
            assert!(answer[list].as_array().is_none_or(Vec::is_empty), "{tool}: {answer}");
        }
        assert!(answer["type"].is_null());
        let answer = ask(&mut server, tool, json!({ "symbol_name": "checkout" }));
        assert_eq!(positions(&answer), "- function checkout other.py:4:5; - function checkout shop.py:14:5", "{tool}");
        let one = ask(&mut server, tool, json!({ "symbol_name": "checkout", "file": "other.py" }));
        assert_eq!(one, ask(&mut server, tool, json!({ "file": "other.py", "line": 4, "column": 5 })), "{tool}");
    }
    let required = ixmcp::tools::find("type_at").unwrap().output_schema()["required"].clone();
    assert_eq!(required, json!(["precision"]), "clients check that");
}

#[test]
fn an_unknown_name_is_not_found_and_similar_ones_are_named() {
    let (_repo, mut server) = served();
    let mut said = String::new();
    for tool in BY_NAME {
        for mut given in [
            json!({ "symbol_name": "Cartt" }),
            json!({ "symbol_name": "qzqzqz" }),
            json!({ "symbol_name": "::" }),
            json!({ "symbol_name": "Cart", "file": "other.py" }),
            json!({}),
            json!({ "file": "shop.py", "line": 4 }),
        ] {
            said += &format!("{tool} {given}\n");
            given["new_name"] = json!("renamed");
            said += &format!("{}\n", refused(&mut server, tool, &given));
        }
    }
    expect![[r#"
        find_references {"symbol_name":"Cartt"}
        NOT_FOUND: no definition of `Cartt` is indexed. Did you mean Cart?
        find_references {"symbol_name":"qzqzqz"}
        NOT_FOUND: no definition of `qzqzqz` is indexed. Give `file`, `line` and `column`. Search with `query`.
        find_references {"symbol_name":"::"}
        INVALID_ARGUMENT: argument `symbol_name` contains no name. Give a name such as QuerySet.
        find_references {"file":"other.py","symbol_name":"Cart"}
        NOT_FOUND: no definition of `Cart` is indexed in other.py. Did you mean Cart?
        find_references {}
        INVALID_ARGUMENT: argument `file` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        find_references {"file":"shop.py","line":4}
        INVALID_ARGUMENT: argument `column` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        goto_definition {"symbol_name":"Cartt"}
        NOT_FOUND: no definition of `Cartt` is indexed. Did you mean Cart?
        goto_definition {"symbol_name":"qzqzqz"}
        NOT_FOUND: no definition of `qzqzqz` is indexed. Give `file`, `line` and `column`. Search with `query`.
        goto_definition {"symbol_name":"::"}
        INVALID_ARGUMENT: argument `symbol_name` contains no name. Give a name such as QuerySet.
        goto_definition {"file":"other.py","symbol_name":"Cart"}
        NOT_FOUND: no definition of `Cart` is indexed in other.py. Did you mean Cart?
        goto_definition {}
        INVALID_ARGUMENT: argument `file` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        goto_definition {"file":"shop.py","line":4}
        INVALID_ARGUMENT: argument `column` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        type_at {"symbol_name":"Cartt"}
        NOT_FOUND: no definition of `Cartt` is indexed. Did you mean Cart?
        type_at {"symbol_name":"qzqzqz"}
        NOT_FOUND: no definition of `qzqzqz` is indexed. Give `file`, `line` and `column`. Search with `query`.
        type_at {"symbol_name":"::"}
        INVALID_ARGUMENT: argument `symbol_name` contains no name. Give a name such as QuerySet.
        type_at {"file":"other.py","symbol_name":"Cart"}
        NOT_FOUND: no definition of `Cart` is indexed in other.py. Did you mean Cart?
        type_at {}
        INVALID_ARGUMENT: argument `file` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        type_at {"file":"shop.py","line":4}
        INVALID_ARGUMENT: argument `column` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        rename_symbol {"symbol_name":"Cartt"}
        NOT_FOUND: no definition of `Cartt` is indexed. Did you mean Cart?
        rename_symbol {"symbol_name":"qzqzqz"}
        NOT_FOUND: no definition of `qzqzqz` is indexed. Give `file`, `line` and `column`. Search with `query`.
        rename_symbol {"symbol_name":"::"}
        INVALID_ARGUMENT: argument `symbol_name` contains no name. Give a name such as QuerySet.
        rename_symbol {"file":"other.py","symbol_name":"Cart"}
        NOT_FOUND: no definition of `Cart` is indexed in other.py. Did you mean Cart?
        rename_symbol {}
        INVALID_ARGUMENT: argument `file` is missing. Give `file`, `line` and `column`, or `symbol_name`.
        rename_symbol {"file":"shop.py","line":4}
        INVALID_ARGUMENT: argument `column` is missing. Give `file`, `line` and `column`, or `symbol_name`.
    "#]]
    .assert_eq(&said);
}
