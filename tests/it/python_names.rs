//! Names in Python files as the type engine finds them: the outline next to Python's own parser, and keys of typed dictionaries.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Repo, Server};

fn place(one: &Value) -> String {
    format!("{}:{}:{}", one["file"].as_str().unwrap(), one["line"], one["column"])
}

#[test]
fn the_references_of_a_typed_dictionary_key_are_what_a_rename_edits() {
    let repo = Repo::new(
        r#"
//- /records.py
from typing import NotRequired, TypedDict


class Record(TypedDict):
    title: str
    size: NotRequired[int]


class Signed(Record):
    by: str


def longest(record: Record) -> str:
    record["title"] = "b"
    if "title" in record:
        return record.get("title") or record["title"]
    return "title"


first: Record = {"title": "a"}
second = Record(title="b")
other = {"title": 1}
other["title"] = 2
//- /use.py
from records import Record, Signed


def show(signed: Signed, plain: dict[str, str], record: Record) -> None:
    signed["title"] = plain["title"]
    del record["title"]
    match record:
        case {"title": text}:
            print(text)
//- /none.py
words = {"title": 1}
"#,
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let at = json!({ "file": "records.py", "line": 5, "column": 5 });
    let found = server.call("find_references", &at);
    let references: BTreeSet<String> = found["references"].as_array().unwrap().iter().map(place).collect();
    let mut rename = at.clone();
    rename["new_name"] = json!("heading");
    let renamed = server.call("rename_symbol", &rename);
    let mut edits = BTreeSet::new();
    for file in renamed["edits"].as_array().unwrap() {
        for edit in file["edits"].as_array().unwrap() {
            edits.insert(format!("{}:{}:{}", file["file"].as_str().unwrap(), edit["line"], edit["column"]));
        }
    }
    assert!(edits.len() >= 9, "{renamed}");
    assert_eq!(references, edits);
    let roles = |line: u64| {
        let all = found["references"].as_array().unwrap();
        all.iter()
            .filter(|one| one["line"] == line && one["file"] == "records.py")
            .map(|one| one["role"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (roles(5), roles(14), roles(15)),
        (vec![json!("definition")], vec![json!("write")], vec![json!("read")])
    );
    // From an occurrence in a string, too.
    let from_key = server.call("find_references", &json!({ "file": "use.py", "line": 5, "column": 13 }));
    assert_eq!(from_key["total"], found["total"], "{from_key}");
    let from_key = json!({ "file": "use.py", "line": 5, "column": 13, "new_name": "heading" });
    assert_eq!(server.call("rename_symbol", &from_key)["edits"], renamed["edits"]);
}
