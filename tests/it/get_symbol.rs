//! `get_symbol`: which definition of a name comes first, and which names are near one.

use serde_json::{Value, json};

use crate::support::harness::Repo;

const TREE: &str = "\
//- /aaa/legacy.py
load = None

class Rarely:
    def open(self):
        pass
//- /app/reader.py
from app.source import Source

def load(path):
    source = Source()
    return source.open(path)
//- /app/source.py
class Source:
    def open(self, path):
        pass

    def _open(self):
        pass
//- /app/user.py
from app.source import Source
from app import reader

def get_user_by_id(user_id):
    return Source()

def gather_users():
    return Source()
//- /app/more.py
from app.source import Source

def budget():
    return Source()
//- /core.rs
mod inner {
    pub fn load() {
        1;
    }
}
struct Hidden;
impl Hidden {
    fn load(&self) {
        2;
    }
}
//- /a_test.go
package main

func Load() {
}
//- /src/shape.rb
class Shape
  def area
    1
  end
end
//- /tests/test_load.py
def load():
    return 1
";

fn symbols(repo: &Repo, arguments: &Value) -> Vec<String> {
    let answer = repo.call("get_symbol", arguments);
    let shown = |symbol: &Value| {
        let text = |key: &str| symbol[key].as_str().unwrap_or_default().to_owned();
        let around = symbol["container"].as_str().map_or_else(String::new, |container| format!(" in {container}"));
        format!("{} {}{around} {}:{}", text("kind"), text("name"), text("file_path"), symbol["line"])
    };
    let definitions = answer["symbols"].as_array().unwrap().iter().filter(|symbol| symbol["role"] == "definition");
    definitions.map(shown).collect()
}

#[test]
fn the_definition_that_is_likely_referenced_comes_first() {
    let repo = Repo::new(TREE);
    let found = symbols(&repo, &json!({ "symbol_name": "load" }));
    assert_eq!(
        found,
        [
            "function load app/reader.py:3",
            "function load in inner core.rs:2",
            "method load in Hidden core.rs:8",
            "function load tests/test_load.py:1",
            "variable load aaa/legacy.py:1",
        ]
    );
    // Of two alike, the one of the class that is used.
    let found = symbols(&repo, &json!({ "symbol_name": "open" }));
    assert_eq!(found, ["method open in Source app/source.py:2", "method open in Rarely aaa/legacy.py:4"]);
}

#[test]
fn a_container_may_be_written_as_any_language_writes_it() {
    let repo = Repo::new(TREE);
    for (asked, found) in [
        ("Source.open", "method open in Source app/source.py:2"),
        ("app.source.Source.open", "method open in Source app/source.py:2"),
        ("Source::open", "method open in Source app/source.py:2"),
        ("Shape#area", "method area in Shape src/shape.rb:2"),
        ("inner::load", "function load in inner core.rs:2"),
        ("core::inner::load", "function load in inner core.rs:2"),
        ("reader.load", "function load app/reader.py:3"),
        ("Hidden::load", "method load in Hidden core.rs:8"),
    ] {
        assert_eq!(symbols(&repo, &json!({ "symbol_name": asked })), [found], "{asked}");
    }
    assert_eq!(symbols(&repo, &json!({ "symbol_name": "Nowhere.open" })), [""; 0]);
}

#[test]
fn letters_at_the_beginnings_of_words_count_most() {
    let repo = Repo::new(TREE);
    let found = symbols(&repo, &json!({ "symbol_name": "gubi", "match": "fuzzy" }));
    assert_eq!(found, ["function get_user_by_id app/user.py:4"]);
    let found = symbols(&repo, &json!({ "symbol_name": "gu", "match": "fuzzy" }));
    assert_eq!(found[..2], ["function get_user_by_id app/user.py:4", "function gather_users app/user.py:7"]);
    let found = symbols(&repo, &json!({ "symbol_name": "load", "match": "prefix", "kind": "function" }));
    assert_eq!(found[0], "function load app/reader.py:3");
}

#[test]
fn what_is_near_a_name_is_paged_to_its_end_and_counted_there() {
    let repo = Repo::new("");
    let names: String = (0..300).map(|at| format!("def some_name_{at}():\n    pass\n\n")).collect();
    repo.write("names.py", names);
    let (mut offset, mut seen) = (0, Vec::new());
    loop {
        let asked = json!({ "symbol_name": "sname", "match": "fuzzy", "limit": 70, "offset": offset });
        let answer = repo.call("get_symbol", &asked);
        seen.extend(answer["symbols"].as_array().unwrap().iter().map(|found| found["name"].to_string()));
        let Some(next) = answer["next_offset"].as_u64() else {
            assert_eq!(answer["total"], 300);
            break;
        };
        assert!(answer.get("total").is_none_or(|total| *total == 300), "{}", answer["total"]);
        assert_eq!(next, seen.len() as u64);
        offset = next;
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 300);
}

#[test]
fn references_near_the_definition_come_first_and_twenty_without_a_limit() {
    let repo = Repo::new("//- /src/store/open.py\ndef acquire():\n    pass\n\n\nacquire()\n");
    let uses = "from store.open import acquire\n\nacquire()\nacquire()\n";
    for file in ["a/first.py", "src/other.py", "src/store/zebra.py", "tests/deep/er/test_it.py"] {
        repo.write(file, uses);
    }
    for number in 0..20 {
        repo.write(&format!("z/use_{number:02}.py"), uses);
    }
    let files = |answer: &Value| {
        let found = answer["symbols"].as_array().unwrap().iter();
        let mut files: Vec<String> = found.map(|one| one["file_path"].as_str().unwrap().to_owned()).collect();
        files.dedup();
        files
    };
    let first = repo.call("get_symbol", &json!({ "symbol_name": "acquire" }));
    let near = ["src/store/open.py", "src/store/zebra.py", "src/other.py", "a/first.py", "z/use_00.py"];
    assert_eq!(files(&first)[..5], near);
    assert_eq!((first["symbols"].as_array().unwrap().len(), &first["truncated"]), (21, &json!(true)), "{first}");
    assert_eq!(first["next_offset"], 21);
    let total = first["total"].as_u64().unwrap();
    assert_eq!(total, 1 + 1 + 24 * 3);
    let rest = repo.call("get_symbol", &json!({ "symbol_name": "acquire", "offset": 21, "limit": 1000 }));
    assert_eq!(rest["symbols"].as_array().unwrap().len() as u64, total - 21);
    assert_eq!(files(&rest).last().unwrap(), "tests/deep/er/test_it.py");
}

#[test]
fn an_unknown_name_gets_similar_ones() {
    let repo = Repo::new("//- /a.py\nclass QuerySet:\n    pass\n");
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "QuerySte" }));
    assert_eq!((&answer["symbols"], &answer["suggestions"]), (&json!([]), &json!(["QuerySet"])), "{answer}");
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "QuerySet" }));
    assert_eq!(answer["suggestions"], Value::Null);
}

#[test]
fn an_outline_has_methods_under_their_types_wherever_they_are_written() {
    let repo = Repo::new(
        "\
//- /store.rs
impl Store {
    pub fn first(&self) {}
}
pub struct Store {
    items: Vec<u8>,
}
impl std::fmt::Display for Store {
    fn fmt(&self) {}
}
impl Elsewhere {
    fn stray(&self) {}
}
fn alone() {}
//- /store.go
package store

func (s *Store) Get() error { return nil }

type Store struct {
	size int
}

func (o *Other) Stray() {}
//- /store.cpp
class Store {
    void get();
};
void Store::get() {}
",
    );
    fn shown(symbols: &Value) -> Vec<String> {
        let one = |symbol: &Value| {
            let container =
                symbol["container"].as_str().map_or_else(String::new, |container| format!(" of {container}"));
            let inner = shown(&symbol["children"]);
            let inner = if inner.is_empty() { String::new() } else { format!(" [{}]", inner.join(", ")) };
            format!("{}{container}{inner}", symbol["name"].as_str().unwrap())
        };
        symbols.as_array().unwrap().iter().map(one).collect()
    }
    let outline = |file: &str| shown(&repo.call("symbols", &json!({ "file": file }))["symbols"]);
    assert_eq!(outline("store.rs"), ["Store [first, items, fmt]", "stray of Elsewhere", "alone"]);
    assert_eq!(outline("store.go"), ["Store [Get, size]", "Stray of Other"]);
    assert_eq!(outline("store.cpp"), ["Store [get, get]"]);
}
