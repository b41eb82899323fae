//! What others see of the tools: the tables in `docs/`, descriptions, schemas, examples.

use std::fmt::Write;
use std::path::Path;

use ixmcp::tools::TOOLS;
use serde_json::Value;

use crate::harness::Repo;

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
        let first = tool.about.split(". ").next().unwrap();
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
        let where_else = if key.in_repository { "yes" } else { "no" };
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
            for unwanted in ["$ref", "$defs", "$schema", "\"format\"", "\"null\"", "\"default\":null"] {
                assert!(!text.contains(unwanted), "{}: {unwanted} in {text}", tool.name);
            }
        }
        assert_eq!(tool.input_schema()["additionalProperties"], false);
    }
}

#[test]
fn every_example_is_answered_on_this_very_project() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repo = Repo::new("");
    for file in
        ["README.md", "migrations/V1__schema.sql", "src/index/mod.rs", "src/lib.rs", "tests/clients/python_mcp.py"]
    {
        repo.write(file, std::fs::read(top.join(file)).unwrap());
    }
    let entity = std::fs::read(top.join("fixtures/entities/.ixchel/decisions/dec-1a2b3c.md")).unwrap();
    repo.write(".ixchel/decisions/dec-1a2b3c.md", entity);
    repo.write(".ixchel/issues/broken.md", "---\nid: iss-1\nblocks: iss-2\n---\n");
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
",
    );
    repo.sync();
    let queries = queries_of("sql");
    assert_eq!(queries.len(), 5);
    for query in queries {
        let output = std::process::Command::new("sqlite3").arg(repo.database()).arg(&query).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{query}\n{stderr}");
        assert!(!output.stdout.is_empty(), "{query} gives no row");
    }
}
