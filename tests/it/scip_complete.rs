//! With a SCIP file no answer lacks a reference that it has without one: constructors, accessors, positions about which it says nothing,
//! ranges and roots as the schema of the format has them.

use std::collections::BTreeSet;

use expect_test::expect;
use protobuf::MessageField;
use scip::types::{Index, MultiLineRange, Occurrence, PositionEncoding, SingleLineRange};
use serde_json::{Value, json};

use crate::scip::{
    DEFINITION, READ, document, index, indexed_by_scip_typescript, occurrence, positions, references, write,
};
use crate::support::harness::Repo;

/// `file:line` of the references to what is at a position.
fn lines(repo: &Repo, file: &str, line: u32, column: u32) -> BTreeSet<String> {
    let answer = references(repo, file, line, column);
    let found = answer["references"].as_array().unwrap().iter();
    found.map(|one| format!("{}:{}", one["file"].as_str().unwrap(), one["line"])).collect()
}

fn callers(repo: &Repo, name: &str) -> BTreeSet<String> {
    let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "relations": true }));
    let groups = answer["relations"].as_array().unwrap().iter().flat_map(|one| one["groups"].as_array().unwrap());
    let items = groups.filter(|one| one["relation"] == "called_by").flat_map(|one| one["items"].as_array().unwrap());
    items.map(|item| format!("{}:{}", item["file_path"].as_str().unwrap(), item["line"])).collect()
}

/// scip-typescript 0.4.0 states the constructor alone at `new Pump`, and each accessor alone at its definition.
#[test]
fn with_an_index_of_scip_typescript_no_reference_is_lost() {
    let repo = Repo::new(
        r#"
//- /package.json
{ "name": "zoo", "version": "1.0.0" }
//- /tsconfig.json
{ "compilerOptions": { "target": "es2022", "module": "esnext", "strict": true } }
//- /pump.ts
export class Pump {
  constructor(private size: number) {}

  get level() { return this.size; }
  set level(n: number) { this.size = n; }
}
//- /use.ts
import { Pump } from './pump';

export function build() {
  const one = new Pump(1);
  one.level = 2;
  return one.level;
}

export function again(pump: Pump) {
  return new Pump(pump.level);
}
"#,
    );
    let asked = [
        ("pump.ts", 1, 14),
        ("use.ts", 4, 19),
        ("use.ts", 9, 29),
        ("pump.ts", 4, 7),
        ("pump.ts", 5, 7),
        ("use.ts", 5, 7),
    ];
    let without = asked.map(|(file, line, column)| lines(&repo, file, line, column));
    let callers_without = callers(&repo, "Pump");
    indexed_by_scip_typescript(&repo);
    for ((file, line, column), without) in asked.into_iter().zip(without) {
        let with = lines(&repo, file, line, column);
        assert!(with.is_superset(&without), "{file}:{line}:{column}: {with:?}, without {without:?}");
    }
    let class = lines(&repo, "pump.ts", 1, 14);
    expect![[r#"{"pump.ts:1", "use.ts:1", "use.ts:10", "use.ts:4", "use.ts:9"}"#]].assert_eq(&format!("{class:?}"));
    let (getter, setter) = (lines(&repo, "pump.ts", 4, 7), lines(&repo, "pump.ts", 5, 7));
    assert_eq!(getter, setter);
    expect![[r#"{"pump.ts:4", "pump.ts:5", "use.ts:10", "use.ts:5", "use.ts:6"}"#]].assert_eq(&format!("{getter:?}"));
    let callers = callers(&repo, "Pump");
    assert!(callers.is_superset(&callers_without), "{callers:?}");
    expect![[r#"{"use.ts:10", "use.ts:4"}"#]].assert_eq(&format!("{callers:?}"));
}

/// Symbols as scip-java 0.12 and scip-dotnet 0.2 write them; a class without a written constructor has one, too.
#[test]
fn a_constructor_alone_is_a_reference_to_its_class() {
    for (file, class, constructor) in [
        ("A.java", "semanticdb maven . . A#", "semanticdb maven . . A#`<init>`()."),
        ("A.cs", "scip-dotnet nuget . . A#", "scip-dotnet nuget . . A#`.ctor`()."),
    ] {
        for is_written in [false, true] {
            let repo = Repo::new("");
            let body = if is_written { "A() {}" } else { "" };
            repo.write(file, format!("class A {{\n  {body}\n  A make() {{\n    return new A();\n  }}\n}}\n"));
            let mut occurrences = vec![
                occurrence(&[0, 6, 7], class, DEFINITION),
                occurrence(&[2, 2, 3], class, READ),
                occurrence(&[3, 15, 16], constructor, READ),
            ];
            if is_written {
                occurrences.push(occurrence(&[1, 2, 3], constructor, DEFINITION));
            }
            write(
                &repo,
                "index.scip",
                &index(vec![document(file, PositionEncoding::UTF16CodeUnitOffsetFromLineStart, occurrences)]),
            );
            for (line, column) in [(1, 7), (4, 16)] {
                let found = positions(&references(&repo, file, line, column), "references");
                let constructor = (is_written && line == 4).then_some("2:3");
                let expected = ["1:7"].into_iter().chain(constructor).chain(["3:3", "4:16"]);
                let expected: Vec<String> = expected.map(|position| format!("{file}:{position}")).collect();
                assert_eq!(found, expected, "{file}:{line} {is_written}");
            }
            let goto = repo.call("goto_definition", &json!({ "file": file, "line": 4, "column": 16 }));
            assert_eq!(goto["definitions"][0]["line"], if is_written { 2 } else { 1 }, "{goto}");
        }
    }
}

/// The schema of the crate `scip` 0.10: `typed_range` takes precedence over `range`, which new producers should not write.
#[test]
fn typed_ranges_are_read() {
    let repo = Repo::new("//- /a.ts\nexport function one() {}\none();\n");
    const ONE: &str = "scip-typescript npm app 1.0.0 `a.ts`/one().";
    let typed = |line: i32, from: i32, to: i32, roles: i32, is_single: bool| {
        let mut one = Occurrence { symbol: ONE.to_owned(), symbol_roles: roles, ..Occurrence::default() };
        if is_single {
            one.set_single_line_range(SingleLineRange {
                line,
                start_character: from,
                end_character: to,
                ..SingleLineRange::default()
            });
        } else {
            one.range = vec![0, 0, 1];
            one.set_multi_line_range(MultiLineRange {
                start_line: line,
                start_character: from,
                end_line: line,
                end_character: to,
                ..MultiLineRange::default()
            });
        }
        one
    };
    let occurrences = vec![typed(0, 16, 19, DEFINITION, true), typed(1, 0, 3, READ, false)];
    write(
        &repo,
        "index.scip",
        &index(vec![document("a.ts", PositionEncoding::UTF8CodeUnitOffsetFromLineStart, occurrences)]),
    );
    let found = references(&repo, "a.ts", 1, 17);
    assert_eq!(
        (positions(&found, "references"), &found["precision"]),
        (vec!["a.ts:1:17".into(), "a.ts:2:1".into()], &json!("scip"))
    );
}

/// RFC 3986, 2.1: percent-encoding. `project_root` is an address.
#[test]
fn a_project_root_with_encoded_characters_is_found() {
    let repo = Repo::new("//- /my größe/a.ts\nexport function one() {}\none();\n");
    const ONE: &str = "scip-typescript npm app 1.0.0 `a.ts`/one().";
    let occurrences = vec![occurrence(&[0, 16, 19], ONE, DEFINITION), occurrence(&[1, 0, 3], ONE, READ)];
    let mut stated: Index =
        index(vec![document("a.ts", PositionEncoding::UTF8CodeUnitOffsetFromLineStart, occurrences)]);
    let mut metadata = stated.metadata.take().unwrap();
    metadata.project_root = format!("file://{}/my%20gr%C3%B6%C3%9Fe", repo.path().canonicalize().unwrap().display());
    stated.metadata = MessageField::some(metadata);
    write(&repo, "index.scip", &stated);
    let found: Value = references(&repo, "my größe/a.ts", 1, 17);
    assert_eq!(found["precision"], "scip", "{found}");
    assert_eq!(positions(&found, "references").len(), 2, "{found}");
}

/// A position about which the SCIP file says nothing is answered by syntax, next to what it states.
#[test]
fn where_a_scip_file_says_nothing_syntax_answers() {
    let repo = Repo::new("//- /a.ts\nexport function one() {}\none();\nexport const all = [one];\n");
    const ONE: &str = "scip-typescript npm app 1.0.0 `a.ts`/one().";
    let occurrences = vec![occurrence(&[0, 16, 19], ONE, DEFINITION), occurrence(&[1, 0, 3], ONE, READ)];
    write(
        &repo,
        "index.scip",
        &index(vec![document("a.ts", PositionEncoding::UTF8CodeUnitOffsetFromLineStart, occurrences)]),
    );
    let found = references(&repo, "a.ts", 1, 17);
    assert_eq!(positions(&found, "references"), ["a.ts:1:17", "a.ts:2:1", "a.ts:3:21 syntax"], "{found}");
}
