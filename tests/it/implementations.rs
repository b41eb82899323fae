//! Which definitions implement or override which, by SCIP files and by what types state.

use std::process::Command;

use expect_test::expect;
use protobuf::{EnumOrUnknown, Message};
use scip::types::{Document, Index, Occurrence, PositionEncoding, Relationship, SymbolInformation};
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// The items of a group of the first definition of a name: `path:line name how`.
fn group(repo: &Repo, name: &str, relation: &str) -> Vec<String> {
    let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
    let groups = answer["relations"][0]["groups"].as_array().cloned().unwrap_or_default();
    let found = groups.into_iter().find(|group| group["relation"] == relation);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = |item: &Value| {
        format!("{}:{} {} {}", text(&item["file_path"]), item["line"], text(&item["name"]), text(&item["how"]))
    };
    found.map_or_else(Vec::new, |group| group["items"].as_array().unwrap().iter().map(shown).collect())
}

#[test]
fn members_that_override_one_another_are_connected_through_what_their_types_state() {
    let repo = Repo::new(
        "
//- /shape.ts
export interface Shape { area(): number }
export class Base implements Shape {
  area() { return 0; }
}
//- /circle.ts
import { Base } from './shape';
export class Circle extends Base {
  area() { return 3; }
}
//- /other.ts
export class Field {
  area() { return 1; }
}
//- /Store.java
public interface Store {
    void keep(String key);
}
//- /Disk.java
public class Disk implements Store {
    public void keep(String key) {}
}
//- /base.py
class Base:
    def render(self):
        pass
//- /page.py
from base import Base

class Page(Base):
    def render(self):
        return 1

class Alone:
    def render(self):
        return 2
//- /src/lib.rs
pub trait Speak {
    fn speak(&self);
}
pub struct Dog;
impl Speak for Dog {
    fn speak(&self) {}
}
impl Dog {
    fn sit(&self) {}
}
",
    );
    let below = group(&repo, "Shape.area", "implemented_by");
    assert_eq!(below, ["shape.ts:3 Base.area file", "circle.ts:3 Circle.area import"]);
    assert_eq!(group(&repo, "Base.area", "implements"), ["shape.ts:1 Shape.area file"]);
    assert_eq!(group(&repo, "Field.area", "implements"), [""; 0]);
    assert_eq!(group(&repo, "Store.keep", "implemented_by"), ["Disk.java:2 Disk.keep package"]);
    assert_eq!(group(&repo, "Page.render", "implements"), ["base.py:2 Base.render import"]);
    assert_eq!(group(&repo, "Alone.render", "implements"), [""; 0]);
    assert_eq!(group(&repo, "Speak.speak", "implemented_by"), ["src/lib.rs:6 Dog::speak file"]);
}

fn symbol(name: &str) -> String {
    format!("scip-go gomod shop v1 `shop`/{name}")
}

/// Go states nowhere that a type implements an interface: its indexer finds that out.
fn shop() -> (Repo, Index) {
    let repo = Repo::new(
        "
//- /go.mod
module shop
//- /store.go
package shop

type Store interface {
	Keep(key string)
}
//- /disk.go
package shop

type Disk struct{}

func (d *Disk) Keep(key string) {}
",
    );
    let definition = |line: i32, from: i32, name: &str| {
        let described = match name {
            "Keep" if line == 3 => "Store#Keep.",
            "Keep" => "Disk#Keep().",
            name => name,
        };
        let length = i32::try_from(name.trim_end_matches('#').len()).unwrap();
        Occurrence {
            range: vec![line, from, from + length],
            symbol: symbol(described),
            symbol_roles: 1,
            ..Occurrence::default()
        }
    };
    let document = |path: &str, occurrences: Vec<Occurrence>, related: &[(&str, &str)]| Document {
        relative_path: path.to_owned(),
        position_encoding: EnumOrUnknown::new(PositionEncoding::UTF8CodeUnitOffsetFromLineStart),
        occurrences,
        symbols: related
            .iter()
            .map(|(one, other)| SymbolInformation {
                symbol: symbol(one),
                relationships: vec![Relationship {
                    symbol: symbol(other),
                    is_implementation: true,
                    ..Relationship::default()
                }],
                ..SymbolInformation::default()
            })
            .collect(),
        ..Document::default()
    };
    let index = Index {
        documents: vec![
            // A mistake: that an interface implements its own implementation.
            document("store.go", vec![definition(2, 5, "Store#"), definition(3, 1, "Keep")], &[("Store#", "Disk#")]),
            document(
                "disk.go",
                vec![definition(2, 5, "Disk#"), definition(4, 15, "Keep")],
                &[("Disk#", "Store#"), ("Disk#Keep().", "Store#Keep.")],
            ),
        ],
        ..Index::default()
    };
    (repo, index)
}

#[test]
fn implementations_that_a_scip_file_states_are_a_relation_also_in_cycles() {
    let (repo, index) = shop();
    assert_eq!(group(&repo, "Store", "implemented_by"), [""; 0]);
    repo.write("index.scip", index.write_to_bytes().unwrap());
    assert_eq!(group(&repo, "Store", "implemented_by"), ["disk.go:3 Disk scip"]);
    assert_eq!(group(&repo, "Disk", "implements"), ["store.go:3 Store scip"]);
    assert_eq!(group(&repo, "Store.Keep", "implemented_by"), ["disk.go:5 Disk.Keep scip"]);
    expect![[r#"
        store.go:3:6  interface Store
          contained by 1
            store.go:1  file store [file]
          contains 1
            store.go:4  method Store.Keep [container]
          implements 1
            disk.go:3  struct Disk [scip]
          implemented by 1
            disk.go:3  struct Disk [scip]
    "#]]
    .assert_eq(&repo.ok(&["symbol", "Store", "--relations"]));
}

#[test]
fn an_interface_of_go_without_a_scip_file_says_why_it_has_no_implementers() {
    let (repo, index) = shop();
    let why = "Go does not state which types implement an interface: only a SCIP file does (`ixmcp scip make`)";
    let relations = |name: &str| {
        let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
        (answer["relations"][0]["complete"].clone(), answer["relations"][0]["reason"].clone())
    };
    assert_eq!(relations("Store"), (json!(false), json!(why)));
    assert_eq!(relations("Disk"), (Value::Null, Value::Null), "no interface");
    let shown = repo.ok(&["symbol", "Store", "--relations"]);
    assert!(shown.ends_with(&format!("\n  {why}\n")), "{shown}");
    let printed: Value = serde_json::from_str(&repo.ok(&["symbol", "Store", "--relations", "--json"])).unwrap();
    assert_eq!(printed["symbols"][0]["reason"], why);

    repo.write("index.scip", index.write_to_bytes().unwrap());
    assert_eq!(relations("Store"), (Value::Null, Value::Null), "the file describes it");
}

#[test]
fn the_implementers_of_what_changes_are_those_that_a_scip_file_states() {
    let (repo, index) = shop();
    std::fs::remove_dir_all(repo.path().join(".git")).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(repo.path()).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    repo.write("store.go", "package shop\n\ntype Store interface {\n	Keep(key string) error\n}\n");
    repo.write("index.scip", index.write_to_bytes().unwrap());
    let answer = repo.call("changes", &json!({}));
    let change = answer["changes"].as_array().unwrap().iter().find(|one| one["name"] == "Store.Keep").unwrap();
    let implementer = &change["implementers"][0];
    assert_eq!((&implementer["name"], &implementer["how"]), (&json!("Disk.Keep"), &json!("scip")), "{change}");
}

/// The variant of an enumeration may have the name of a type from elsewhere; only a type implements.
#[test]
fn what_implements_a_trait_is_a_type_and_not_a_namesake() {
    let repo = Repo::new(
        "\
//- /lib.rs
enum Text {
    String,
    bool(bool),
}
trait Weigh {
    fn weigh(&self) -> usize;
}
impl Weigh for String {
    fn weigh(&self) -> usize {
        self.len()
    }
}
impl Weigh for bool {
    fn weigh(&self) -> usize {
        1
    }
}
impl Weigh for Text {
    fn weigh(&self) -> usize {
        0
    }
}
",
    );
    assert_eq!(
        group(&repo, "Weigh", "implemented_by"),
        ["lib.rs:1 Text file", "lib.rs:8 String file", "lib.rs:13 bool file"]
    );
    assert_eq!(
        group(&repo, "Weigh.weigh", "implemented_by"),
        ["lib.rs:9 String::weigh file", "lib.rs:14 bool::weigh file", "lib.rs:19 Text::weigh file"]
    );
}
