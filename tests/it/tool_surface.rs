//! Public surface of the tools: the tables in `docs/`, descriptions, schemas, examples.

use std::fmt::Write;
use std::path::Path;

use ixmcp::tools::{Declaration, InOrder, TOOLS};
use serde_json::{Value, json};

use crate::support::harness::Repo;

/// The text between `<!-- NAME -->` and `<!-- /NAME -->` in a page of the documentation.
fn section(page: &str, name: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let rest =
        text.split(&format!("<!-- {name} -->\n")).nth(1).unwrap_or_else(|| panic!("no section {name} in {page}"));
    rest.split(&format!("<!-- /{name} -->")).next().unwrap().to_owned()
}

#[test]
fn the_table_of_tools_in_the_documentation_lists_the_declarations() {
    let mut table = String::from("| tool | what it is for |\n|---|---|\n");
    for tool in TOOLS {
        let first = tool.about.split(". ").next().unwrap().trim_end_matches('.');
        writeln!(table, "| `{}` | {first} |", tool.name).unwrap();
    }
    let page = "docs/mcp-clients.md";
    assert_eq!(
        section(page, "tools"),
        table,
        "put this into {page} between <!-- tools --> and <!-- /tools -->:\n{table}"
    );
}

#[test]
fn the_table_of_settings_in_the_documentation_lists_the_keys() {
    let mut table = String::from("| key | variable | default | in `.ixmcp.toml` | meaning |\n|---|---|---|---|---|\n");
    for key in ixmcp::config::KEYS {
        let where_else = key.in_repository.described();
        writeln!(table, "| `{}` | `{}` | `{}` | {where_else} | {} |", key.name, key.variable, key.default, key.about)
            .unwrap();
    }
    let page = "docs/settings.md";
    assert_eq!(
        section(page, "settings"),
        table,
        "put this into {page} between <!-- settings --> and <!-- /settings -->:\n{table}"
    );
}

#[test]
fn declarations_fit_what_clients_allow() {
    for tool in TOOLS {
        assert!(tool.name.len() <= 32 && tool.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        assert!(tool.about.chars().count() <= 400, "{}: {} characters", tool.name, tool.about.chars().count());
        for schema in [tool.input_schema(), tool.output_schema()] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let text = schema.to_string();
            for unwanted in [
                "$ref",
                "$defs",
                "$schema",
                "\"format\":\"",
                "\"null\"",
                "null]",
                "null,",
                "\"default\":null",
                "additionalProperties",
            ] {
                assert!(!text.contains(unwanted), "{}: {unwanted} in {text}", tool.name);
            }
        }
    }
}

/// The names of the arguments of an object in the text of its schema, in their order, with what the schema says of each.
fn listed(schema: &str) -> Vec<(String, Value)> {
    struct InTextOrder;

    impl<'de> serde::de::Visitor<'de> for InTextOrder {
        type Value = Vec<(String, Value)>;

        fn expecting(&self, expected: &mut std::fmt::Formatter) -> std::fmt::Result {
            expected.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(field) = fields.next_entry()? {
                all.push(field);
            }
            Ok(all)
        }
    }

    let properties = schema.split_once("\"properties\":").unwrap().1;
    let mut reader = serde_json::Deserializer::from_str(properties);
    serde::Deserializer::deserialize_map(&mut reader, InTextOrder).unwrap()
}

/// Tokens of a tool as a model sees it: its name, description and arguments.
fn tokens(tool: &Declaration) -> usize {
    let schema = tool.input_schema();
    let names = tool.argument_names();
    let schema = InOrder { schema: schema.as_object().unwrap(), names: &names };
    let schema = serde_json::to_string(&schema).unwrap();
    let shown = format!(r#"{{"name":"{}","description":{},"input_schema":{schema}}}"#, tool.name, json!(tool.about));
    tiktoken_rs::o200k_base_singleton().encode_ordinary(&shown).len()
}

#[test]
fn the_list_of_tools_costs_a_model_at_most_5000_tokens_and_the_core_2500() {
    let rows: Vec<(&str, usize, bool)> = TOOLS.iter().map(|tool| (tool.name, tokens(tool), tool.core)).collect();
    let all: usize = rows.iter().map(|(_, tokens, _)| tokens).sum();
    let core: usize = rows.iter().filter(|(.., is_core)| *is_core).map(|(_, tokens, _)| tokens).sum();
    println!("{all} tokens, {core} of them for the core");
    assert!(all <= 5_000 && core <= 2_500, "{all} tokens, {core} of them for the core: {rows:?}");
}

#[test]
fn descriptions_say_when_to_use_another_tool() {
    for (tool, others) in [
        ("query", &["get_symbol", "search_documents"][..]),
        ("search_documents", &["query", "get_file_details"]),
        ("get_symbol", &["find_references", "query"]),
        ("find_references", &["get_symbol"]),
        ("changes", &["find_references"]),
        ("goto_definition", &["get_symbol"]),
        ("type_at", &["goto_definition"]),
        ("get_slice", &["get_file_details"]),
        ("get_file_details", &["get_slice"]),
        ("list_files", &["query"]),
        ("ixchel_search", &["query", "ixchel_context"]),
    ] {
        let about = ixmcp::tools::find(tool).unwrap().about;
        for other in others {
            assert!(about.contains(other), "{tool}: {about}");
        }
    }
}

#[test]
fn arguments_are_listed_in_the_order_of_their_declaration_required_ones_first() {
    let repo = Repo::new("");
    let mut server = crate::support::wire::Wire::relay(&repo, &["--no-daemon"]);
    server.ask(&crate::support::wire::initialize(1));
    server.send(&crate::support::wire::request(2, "tools/list", json!({})));
    let line = server.line();
    let start = |tool: &str| line.find(&format!("\"name\":\"{tool}\"")).unwrap();
    for tool in TOOLS {
        let schema = &line[start(tool.name)..];
        let schema = &schema[schema.find("\"inputSchema\":").unwrap()..];
        let listed = listed(schema);
        let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
        let schema = tool.input_schema();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
        let optional = tool
            .argument_names()
            .into_iter()
            .filter(|name| !required.contains(name) && schema["properties"].get(name).is_some());
        let mut expected = required.clone();
        expected.extend(optional);
        expected.dedup();
        assert_eq!(names, expected, "{}", tool.name);
        assert!(names.ends_with(&["repo", "timeout_ms"]), "{}: {names:?}", tool.name);
        for (name, property) in listed {
            let has_options = property["properties"].is_object();
            assert!(has_options || property["description"].is_string(), "{}.{name} has no description", tool.name);
        }
    }
    let expected = ["text", "mode", "include", "exclude", "limit", "offset", "context"];
    let listed = listed(&line[start("query")..]);
    assert_eq!(listed.iter().map(|(name, _)| name.as_str()).take(7).collect::<Vec<_>>(), expected);
}

/// A repository in which every tool's example finds something: files of this project.
pub fn project() -> Repo {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repo = Repo::new("");
    // Before the first commit, every definition is a change.
    crate::worktrees::git(repo.path(), &["init", "-q"]);
    for file in [
        "README.md",
        "migrations/V1__schema.sql",
        "src/update/mod.rs",
        "src/workspace/mod.rs",
        "src/lib.rs",
        "tests/clients/python_mcp.py",
    ] {
        repo.write(file, std::fs::read(top.join(file)).unwrap());
    }
    let entity = std::fs::read(top.join("fixtures/entities/.ixchel/decisions/dec-1a2b3c.md")).unwrap();
    repo.write(".ixchel/decisions/dec-1a2b3c.md", entity);
    repo.write(".ixchel/issues/broken.md", "---\nid: iss-1\nblocks: iss-2\n---\n");
    repo
}

#[test]
fn every_example_is_answered_on_this_very_project() {
    let repo = project();
    for tool in TOOLS {
        let arguments: Value = serde_json::from_str(tool.example).unwrap();
        let answer = repo.call(tool.name, &arguments);
        if let Some(list) = tool.list {
            assert!(!answer[list].as_array().unwrap().is_empty(), "{}: {answer}", tool.name);
        }
    }
}

fn queries_of(section_name: &str) -> Vec<String> {
    let section = section("docs/operations.md", section_name);
    section.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_vector_search_of_the_documentation_lists_the_nearest_chunks_first() {
    let repo = Repo::new(
        "\
//- /guard.rs
/// Blocks while somebody else holds the file.
pub fn acquire(file: &File) -> io::Result<Guard> {
    flock(file, Operation::Exclusive)
}
//- /net.go
func Dial(host string) (*Conn, error) {
	return connectSocket(host)
}
//- /notes.md
# Cooking

Boil the pasta in salted water.
",
    );
    repo.sync();
    let queries = queries_of("vector-sql");
    assert_eq!(queries.len(), 1);
    let rows = repo.ok(&["sql", "--json", &queries[0]]);
    let row = |row: &str| serde_json::from_str::<Value>(row).unwrap();
    let (paths, distances): (Vec<Value>, Vec<f64>) =
        rows.lines().map(row).map(|mut row| (row["path"].take(), row["distance"].as_f64().unwrap())).unzip();
    assert_eq!((paths.len(), &paths[0]), (3, &Value::from("guard.rs")), "{rows}");
    assert!(distances.is_sorted(), "{rows}");
}

#[test]
fn the_stock_sqlite3_runs_the_queries_of_the_documentation() {
    let repo = Repo::new(
        r"
//- /a.py
import os

class Base: pass

class User(Base):
    def save(self):
        os.sync()


User().save()
//- /b.md
# Notes

save the user
//- /.ixchel/issues/a.md
---
id: iss-1
title: Save
blocks: [iss-gone]
---
",
    );
    crate::worktrees::git(repo.path(), &["init", "-q"]);
    crate::worktrees::git(repo.path(), &["add", "."]);
    crate::worktrees::git(repo.path(), &["commit", "-qm", "Save the user"]);
    repo.sync();
    let queries = queries_of("sql");
    assert_eq!(queries.len(), 12);
    for query in queries {
        let rows = stock_sqlite3(&repo, &query);
        assert!(!rows.is_empty(), "{query} gives no row");
        // A name, a path or a text is looked up by an index, so that the time grows with the rows found.
        if ["name = ", "path = ", "MATCH "].iter().any(|looked_up| query.contains(looked_up)) {
            let plan = stock_sqlite3(&repo, &format!("EXPLAIN QUERY PLAN {query}"));
            let scans = plan.lines().filter(|line| line.contains("SCAN") && !line.contains("VIRTUAL TABLE INDEX"));
            assert_eq!(scans.count(), 0, "{query}\n{plan}");
        }
    }
    assert_eq!(stock_sqlite3(&repo, "SELECT count(*) FROM symbols WHERE name = 'SAVE'").trim(), "0");
}

fn stock_sqlite3(repo: &Repo, query: &str) -> String {
    let output = std::process::Command::new("sqlite3").arg(repo.database()).arg(query).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{query}\n{stderr}");
    String::from_utf8(output.stdout).unwrap()
}
