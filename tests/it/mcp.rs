//! The real program over stdin and stdout: official clients, malformed lines, a tree never synced.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::waiting::until;
use crate::support::wire::{Wire, request};

const SMALL: &str = "\
//- /src/shop.py
class Cart:
    def total_price(self):
        return sum(self.items)
//- /README.md
# Shop

How to check out.
//- /.ixchel/decisions/dec-1a2b3c.md
---
id: dec-1a2b3c
title: Carts sum their items
tags: [shop]
supersedes: dec-0f0f0f
---
See `Cart` in src/shop.py.
";

/// Sends lines to `ixmcp mcp`, closes its input, and gives the lines that came back.
fn talk(repo: &Repo, lines: &[&str]) -> Vec<Value> {
    let mut command = repo.command(&["mcp", "--no-daemon"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// [`SMALL`] before the first commit.
fn small() -> Repo {
    let repo = Repo::new(SMALL);
    crate::worktrees::git(repo.path(), &["init", "-q"]);
    repo
}

/// A call of every tool that works on [`small`].
fn calls() -> Value {
    json!({
        "query": { "text": "total price" },
        "get_slice": { "file_path": "src/shop.py", "start_line": 1, "end_line": 2 },
        "get_symbol": { "symbol_name": "Cart" },
        "list_files": {},
        "stats": {},
        "check": {},
        "type_at": { "file": "src/shop.py", "line": 1, "column": 7 },
        "symbols": { "file": "src/shop.py" },
        "goto_definition": { "file": "src/shop.py", "line": 1, "column": 7 },
        "find_references": { "file": "src/shop.py", "line": 1, "column": 7 },
        "changes": {},
        "analyze_project": {},
        "infer_types": { "file": "src/shop.py" },
        "rename_symbol": { "file": "src/shop.py", "line": 1, "column": 7, "new_name": "Basket" },
        "ixchel_search": { "query": "carts" },
        "ixchel_show": { "id": "dec-1a2b3c" },
        "ixchel_context": { "id": "dec-1a2b3c" },
        "ixchel_graph": { "id": "dec-1a2b3c", "direction": "both", "depth": 2 },
        "ixchel_tags": {},
        "ixchel_sync": {},
        "index_files": { "folderPath": "src" },
        "search_documents": { "query": "total price", "options": { "minScore": 0 } },
        "get_file_details": { "filePath": "src/shop.py" },
        "update_index": { "folderPath": "src" },
    })
}

/// One plain call.
fn plain(repo: &Repo, method: &str, params: &Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    talk(repo, &[&request.to_string()]).pop().unwrap()
}

#[test]
fn the_official_python_clients_can_use_every_tool() {
    let repo = small();
    let plan = json!({
        "calls": calls(),
        "faults": [
            { "tool": "query", "arguments": {}, "code": "INVALID_ARGUMENT" },
            { "tool": "query", "arguments": { "text": 5 }, "code": "INVALID_ARGUMENT" },
            { "tool": "query", "arguments": { "text": "x", "limt": 5 }, "code": "INVALID_ARGUMENT" },
            { "tool": "query", "arguments": { "text": "(", "mode": "regex" }, "code": "INVALID_ARGUMENT" },
            { "tool": "get_slice", "arguments": { "file_path": "no.py", "start_line": 1, "end_line": 2 },
              "code": "INVALID_PATH" },
            { "tool": "get_slice", "arguments": { "file_path": "src/shop.py", "start_line": 9, "end_line": 9 },
              "code": "INVALID_ARGUMENT" },
            { "tool": "stats", "arguments": { "repo": "/" }, "code": "INVALID_PATH" },
        ],
    });
    let plan_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(plan_file.path(), plan.to_string()).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (client, way) in [
        ("python-mcp1", &["mcp", "--no-daemon", "--repo"][..]),
        ("python-mcp2", &["mcp", "--no-daemon", "--repo"]),
        ("python-mcp1", &["mcp", "--repo"]),
        ("python-mcp2", &["mcp", "--repo"]),
    ] {
        let python = top.join("target/clients").join(client).join("bin/python");
        assert!(python.exists(), "{} is missing: run .ci/setup", python.display());
        let output = std::process::Command::new(python)
            .arg(top.join("tests/clients/python_mcp.py"))
            .arg("--calls")
            .arg(plan_file.path())
            .arg(env!("CARGO_BIN_EXE_ixmcp"))
            .args(way)
            .arg(repo.path())
            .env("IXMCP_TCP", "off")
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client}: {shown}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["failures"], json!([]), "{client}");
        assert!(!said["runs"].as_array().unwrap().is_empty());
    }
}

#[test]
fn the_official_typescript_clients_can_use_every_tool() {
    let repo = small();
    let plan_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(plan_file.path(), json!({ "calls": calls() }).to_string()).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for client in ["sdk", "client"] {
        let output = node(&top.join("tests/clients/typescript_mcp.cjs"))
            .args([top.join("target/clients/node").as_os_str(), client.as_ref(), plan_file.path().as_os_str()])
            .args([env!("CARGO_BIN_EXE_ixmcp"), "mcp", "--repo"])
            .arg(repo.path())
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client}: {shown}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["failures"], json!([]), "{client}");
        assert!(!said["runs"].as_array().unwrap().is_empty());
    }
}

#[test]
fn the_inspector_finds_nothing_to_say_about_the_tools() {
    let repo = Repo::new(SMALL);
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inspect = |arguments: &[&str]| {
        let output = node(&top.join("target/clients/inspector/node_modules/.bin/mcp-inspector"))
            .args(["--cli", env!("CARGO_BIN_EXE_ixmcp"), "mcp", "--repo"])
            .arg(repo.path())
            .args(arguments)
            .args(["--format", "json"])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr} {}", String::from_utf8_lossy(&output.stdout));
        assert!(!stderr.contains("warning"), "{stderr}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap().to_string()
    };
    let tools = inspect(&["--method", "tools/list", "--strict"]);
    assert!(ixmcp::tools::TOOLS.iter().all(|tool| tools.contains(tool.name)), "{tools}");
    let arguments = r#"{"symbol_name":"Cart"}"#;
    let found = inspect(&["--method", "tools/call", "--tool-name", "get_symbol", "--tool-args-json", arguments]);
    assert!(found.contains("src/shop.py"), "{found}");
}

/// Node as the clients want it, which may be newer than the machine's.
fn node(script: &Path) -> std::process::Command {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients/node/node_modules/.bin");
    assert!(programs.join("node").exists() && script.exists(), "{} is missing: run .ci/setup", script.display());
    let mut node = std::process::Command::new(programs.join("node"));
    node.arg(script).env("IXMCP_TCP", "off").env("IXMCP_IDLE", "60s");
    node
}

#[test]
fn malformed_lines_get_their_errors_and_the_connection_lives_on() {
    let repo = Repo::new(SMALL);
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "a".repeat(5 << 20)
    );
    let replies = talk(
        &repo,
        &[
            "{ not json",
            r#"{"jsonrpc":"2.0","method":"stats","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            &long,
            r#"{"jsonrpc":"2.0","id":1,"method":"no_such_method"}"#,
            r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":"text id","method":"ping","params":{}}"#,
        ],
    );
    let code_of = |id: Value| {
        let found: Vec<i64> =
            replies.iter().filter(|r| r["id"] == id).filter_map(|r| r["error"]["code"].as_i64()).collect();
        found
    };
    assert_eq!(code_of(Value::Null), [-32700, -32600, -32600]);
    assert_eq!(code_of(json!(1)), [-32601]);
    assert!(replies.iter().any(|reply| reply["id"] == "text id" && reply["result"] == json!({})));
    assert!(replies.iter().any(|reply| reply.as_array().is_some_and(|batch| batch.len() == 2)));
    assert_eq!(replies.len(), 6);
}

#[test]
fn the_first_read_of_a_tree_never_synced_builds_its_index() {
    let repo = Repo::new(SMALL);
    let reply = plain(&repo, "query", &json!({ "text": "total_price", "mode": "literal" }));
    assert_eq!(reply["result"]["results"][0]["line"], 2);
    assert!(repo.database().exists());
}

#[test]
fn faults_of_plain_methods_have_code_and_hint() {
    let repo = Repo::new(SMALL);
    let missing = plain(&repo, "get_slice", &json!({ "file_path": "src/shp.py", "start_line": 1, "end_line": 1 }));
    assert_eq!(missing["error"]["code"], 1001);
    assert_eq!(missing["error"]["data"]["code"], "INVALID_PATH");
    assert_eq!(missing["error"]["data"]["hint"], "Did you mean src/shop.py?");
    let wrong = plain(&repo, "query", &json!({ "text": "x", "limit": -1 }));
    assert_eq!(wrong["error"]["code"], -32602);
    assert_eq!(wrong["error"]["data"]["code"], "INVALID_ARGUMENT");
}

#[test]
fn an_mcp_answer_stays_small_and_says_so() {
    let repo = Repo::new("");
    let names: Vec<String> = (0..3000).map(|i| format!("folder/with/a/long/name/file_number_{i:05}.txt")).collect();
    for name in &names {
        repo.write(name, "x\n");
    }
    repo.sync();
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "list_files", "arguments": {},
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                   "io.modelcontextprotocol/clientCapabilities": {} } },
    });
    let reply = talk(&repo, &[&call.to_string()]).pop().unwrap();
    let data = &reply["result"]["structuredContent"];
    assert!(data.to_string().len() <= 10_000);
    assert_eq!((&data["total"], &data["truncated"]), (&json!(3000), &json!(true)));
    assert_eq!(data["next_offset"], data["files"].as_array().unwrap().len());
    assert_eq!(serde_json::from_str::<Value>(reply["result"]["content"][0]["text"].as_str().unwrap()).unwrap(), *data);
    let mut sized = call;
    sized["params"]["arguments"] = json!({ "limit": 3000 });
    let reply = talk(&repo, &[&sized.to_string()]).pop().unwrap();
    let size = reply["result"]["structuredContent"].to_string().len();
    assert!((30_000..=40 * 1024).contains(&size), "an explicit limit allows more: {size}");
    let all = plain(&repo, "list_files", &json!({}));
    assert_eq!(all["result"]["files"].as_array().unwrap().len(), 3000);
}

#[test]
fn default_answers_fit_what_clients_pass_to_a_model() {
    let repo = Repo::new("");
    let method =
        |number: usize| format!("    def method_{number}(self, value: int) -> Shared:\n        return Shared()\n");
    for file in 0..40 {
        let methods: String = (0..20).map(method).collect();
        let wrong = "wrong: int = \"a text that is not a number\"\n".repeat(5);
        repo.write(
            &format!("package/module_{file:02}.py"),
            format!("from package.shared import Shared\n\n\nclass Class{file}:\n{methods}\n\n{wrong}"),
        );
        let prose = format!("The harbour of town {file} has pilots and tugs. ").repeat(40);
        repo.write(&format!("docs/harbour_{file:02}.md"), format!("# Harbour {file}\n\n{prose}\n"));
        repo.write(
            &format!(".ixchel/issues/iss-{file:06x}.md"),
            format!(
                "---\nid: iss-{file:06x}\ntitle: The harbour of town {file}\ndepends_on: [iss-000000]\n---\n\n{prose}"
            ),
        );
    }
    repo.write("package/shared.py", "class Shared:\n    pass\n");
    repo.sync();
    let mut server = crate::support::harness::Server::start_mcp(repo.command(&["mcp", "--no-daemon"]));
    let shared = json!({ "symbol_name": "Shared" });
    for (tool, arguments, most) in [
        ("query", json!({ "text": "harbour" }), 10_000),
        ("query", json!({ "text": "harbour", "context": 20 }), 10_000),
        ("query", json!({ "text": "harbour", "mode": "literal", "limit": 1000 }), 40 << 10),
        ("get_slice", json!({ "file_path": "package/module_01.py", "start_line": 1, "end_line": 500 }), 40 << 10),
        ("get_symbol", shared.clone(), 10_000),
        ("list_files", json!({}), 10_000),
        ("stats", json!({}), 10_000),
        ("check", json!({}), 10_000),
        ("check", json!({ "limit": 1000 }), 40 << 10),
        ("symbols", json!({ "file": "package/module_01.py" }), 10_000),
        ("find_references", shared, 10_000),
        ("rename_symbol", json!({ "symbol_name": "Shared", "new_name": "Common" }), 10_000),
        ("rename_symbol", json!({ "symbol_name": "Shared", "new_name": "Common", "format": "diff" }), 10_000),
        ("infer_types", json!({ "file": "package/module_01.py" }), 10_000),
        ("analyze_project", json!({}), 10_000),
        ("ixchel_search", json!({ "query": "harbour" }), 10_000),
        ("ixchel_context", json!({ "id": "iss-000000" }), 10_000),
        ("ixchel_context", json!({ "id": "iss-000000", "budget_tokens": 100_000 }), 40 << 10),
        ("ixchel_graph", json!({ "id": "iss-000000", "direction": "both" }), 10_000),
        ("ixchel_tags", json!({ "untagged": true }), 10_000),
        ("search_documents", json!({ "query": "which harbour has pilots and tugs" }), 10_000),
        ("get_file_details", json!({ "filePath": "docs/harbour_01.md" }), 10_000),
        ("index_files", json!({ "folderPath": "docs" }), 10_000),
    ] {
        let answer = server.tool(tool, &arguments);
        assert!(answer.is_object(), "{tool} {arguments}: {answer}");
        let size = answer.to_string().len();
        assert!(size <= most, "{tool} {arguments}: {size}");
    }
}

#[test]
fn faults_of_huge_and_wrong_arguments_are_reported_in_a_few_words() {
    let repo = Repo::new(SMALL);
    repo.write(".env", "TOKEN=1\n");
    let huge = "A".repeat(1_000_000);
    let faults = [
        ("stats", json!({ "repo": huge })),
        ("stats", json!({ "repo": 5 })),
        ("stats", json!({ "timeout_ms": 1.5 })),
        ("query", json!({ "text": "x", "limit": 1.5 })),
        ("query", json!({ "text": "x", "offset": -1.0 })),
        ("query", json!({ "text": "x", "context": "three" })),
        ("get_symbol", json!({ "symbol_name": "Cart", "limit": -5 })),
        ("get_symbol", json!({ "symbol_name": "Cart", "kind": "clas" })),
        ("get_symbol", json!({ "symbol_name": "Cart", "kind": " " })),
        ("get_symbol", json!({ "symbol_name": "Cart", "kind": huge })),
        ("get_symbol", json!({ "symbol_name": "Cart", "match": "most" })),
        ("query", json!({ "text": "x", "mode": 5 })),
        ("query", json!({ "text": ["x"] })),
        ("query", json!({ "text": "x", "include": [huge] })),
        ("query", json!({ "text": "x", "exclude": vec!["x"; 20_000] })),
        ("list_files", json!({ "include": ["!*.py"] })),
        ("search_documents", json!({ "query": "x", "options": 5 })),
        ("search_documents", json!({ "query": "x", "options": { "minScore": "a" } })),
        ("search_documents", json!({ "query": "x", "options": { "offset": 2 } })),
        ("search_documents", json!({ "query": "x", "minScore": 0.5 })),
        ("search_documents", json!({ "query": "x", "options": { "minscore": 0 } })),
        ("search_documents", json!({ "query": "x", "options": { "limit": -5 } })),
        ("index_files", json!({ "folderPath": 7 })),
        ("query", json!({ "text": "x", "mode": "most" })),
        ("get_slice", json!({ "file_path": ".env", "start_line": 1, "end_line": 1 })),
    ];
    let mut reported = String::new();
    for (tool, arguments) in faults {
        let error = plain(&repo, tool, &arguments)["error"].clone();
        let fault = format!("{}. {}", error["message"].as_str().unwrap(), error["data"]["hint"].as_str().unwrap());
        assert!(fault.len() < 700, "{tool}: {fault:.1000}");
        let given = arguments.to_string();
        let given = if given.len() < 200 { given } else { "…".to_owned() };
        reported += &format!("{tool} {given}\n  {fault}\n");
    }
    expect![[r#"
        stats …
          argument `repo` is longer than 4096 bytes. Give the path of a repository.
        stats {"repo":5}
          argument `repo`: expected the path of a repository, got a number. See the tool's input schema.
        stats {"timeout_ms":1.5}
          argument `timeout_ms`: expected a whole number of milliseconds above 0, got a fraction. See the tool's input schema.
        query {"limit":1.5,"text":"x"}
          argument `limit` must be a whole number of 0 or more, not 1.5. Hits to return (default 10, at most 1000).
        query {"offset":-1.0,"text":"x"}
          argument `offset` must be a whole number of 0 or more, not -1. Hits to skip (default 0).
        query {"context":"three","text":"x"}
          argument `context` must be a whole number of 0 or more, not text. Lines around the match in the preview (default 0, at most 20).
        get_symbol {"limit":-5,"symbol_name":"Cart"}
          argument `limit` must be a whole number of 0 or more, not -5. Default: definitions and 20 references.
        get_symbol {"kind":"clas","symbol_name":"Cart"}
          argument `kind`: there is no kind "clas". Did you mean class? Kinds are: class, struct, enum, union, interface, trait, protocol, object, record, mixin, extension, instance, exception, module, namespace, package, function, method, constructor, macro, type, constant, variable, field, attribute, property, variant, event, heading, key, table, section, selector, rule, target, stage, service, message, resource, view, index, trigger, element, id, label, operator, call, use, implementation, signature, block, import, inherits, implements.
        get_symbol {"kind":" ","symbol_name":"Cart"}
          argument `kind`: there is no kind " ". Kinds are: class, struct, enum, union, interface, trait, protocol, object, record, mixin, extension, instance, exception, module, namespace, package, function, method, constructor, macro, type, constant, variable, field, attribute, property, variant, event, heading, key, table, section, selector, rule, target, stage, service, message, resource, view, index, trigger, element, id, label, operator, call, use, implementation, signature, block, import, inherits, implements.
        get_symbol …
          argument `kind` is longer than 10000 bytes. Give a shorter one.
        get_symbol {"match":"most","symbol_name":"Cart"}
          argument `match` must be one of `exact`, `prefix`, `fuzzy`, not `most`. Default exact; the others find definitions only.
        query {"mode":5,"text":"x"}
          argument `mode` must be text, not 5. Default smart.
        query {"text":["x"]}
          argument `text` must be text, not a list. Text to look for.
        query …
          argument `include`: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA…" is longer than 1000 bytes. Patterns are like those of .gitignore: *.py, src/**, {a,b}/*.rs.
        query …
          argument `exclude`: 20000 patterns are more than 500. Patterns are like those of .gitignore: *.py, src/**, {a,b}/*.rs.
        list_files {"include":["!*.py"]}
          argument `include`: "!*.py" begins with !, which takes nothing back here. Name what to leave out in `exclude`. Escape a leading ! as \!.
        search_documents {"options":5,"query":"x"}
          argument `options` must be an object, not 5. See the tool's input schema.
        search_documents {"options":{"minScore":"a"},"query":"x"}
          argument `options.minScore` must be a number, not text. Least score, 0 to 1 (default 0.7).
        search_documents {"options":{"offset":2},"query":"x"}
          argument `offset` is in `options`, where it does not belong. Give `offset` next to `options`.
        search_documents {"minScore":0.5,"query":"x"}
          argument `minScore` belongs in `options`. Give `options` as an object with `minScore` in it.
        search_documents {"options":{"minscore":0},"query":"x"}
          unknown argument `minscore` in `options`. Did you mean `minScore`?
        search_documents {"options":{"limit":-5},"query":"x"}
          argument `options.limit` must be a whole number of 0 or more, not -5. Results to return (default 10, at most 100).
        index_files {"folderPath":7}
          argument `folderPath` must be text, not 7. Absolute, or relative to the repository.
        query {"mode":"most","text":"x"}
          argument `mode` must be one of `smart`, `literal`, `regex`, not `most`. Default smart.
        get_slice {"end_line":1,"file_path":".env","start_line":1}
          .env may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
    "#]].assert_eq(&reported);
}

#[test]
fn numbers_may_be_written_as_fractions_and_above_every_bound() {
    let repo = Repo::new(SMALL);
    repo.ok(&["daemon", "start"]);
    let mut wire = Wire::unix(&repo.socket());
    for (tool, arguments, path) in [
        ("query", r#"{"text":"Cart","limit":1.0,"offset":0.0,"context":2e1,"timeout_ms":1e4}"#, "/results/0/file_path"),
        ("query", r#"{"text":"Cart","limit":18446744073709551616,"context":1e300}"#, "/results/0/file_path"),
        ("get_symbol", r#"{"symbol_name":"Cart","limit":1e30,"offset":0}"#, "/symbols/0/file_path"),
        ("get_slice", r#"{"file_path":"src/shop.py","start_line":1.0,"end_line":1e300}"#, "/file_path"),
        ("list_files", r#"{"limit":9007199254740993.0,"timeout_ms":18446744073709551615}"#, "/files/2"),
    ] {
        let params: Value = serde_json::from_str(arguments).unwrap();
        let reply = wire.call(tool, params);
        assert_eq!(reply["result"].pointer(path), Some(&json!("src/shop.py")), "{tool} {arguments}: {reply}");
    }
    let none = wire.call("query", json!({ "text": "Cart", "offset": 1e300 }));
    assert_eq!(none["result"]["results"], json!([]), "{none}");
}

#[test]
fn a_slice_shows_the_text_that_a_search_found() {
    let repo = Repo::new("");
    let text = "first line\nclass Größe: pass\nlast";
    let utf16: Vec<u8> = "\u{feff}".chars().chain(text.chars()).flat_map(|c| (c as u16).to_le_bytes()).collect();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    repo.write("utf16.py", utf16);
    repo.write("latin.py", latin);
    repo.write("mark.py", format!("\u{feff}{text}"));
    repo.write("noise.bin", [0_u8, 255, 10, 254, 10]);
    for (file, encoding, first) in [
        ("utf16.py", json!("UTF-16LE"), "first"),
        ("latin.py", json!("windows-1252"), "first"),
        ("mark.py", json!(null), "\u{feff}first"),
    ] {
        let hit =
            repo.call("query", &json!({ "text": "Größe", "mode": "literal", "include": [file] }))["results"][0].clone();
        let slice =
            repo.call("get_slice", &json!({ "file_path": file, "start_line": hit["line"], "end_line": hit["line"] }));
        assert_eq!(
            (&slice["content"], &slice["encoding"], &slice["lossy"]),
            (&json!("class Größe: pass\n"), &encoding, &json!(null))
        );
        let opening = repo.call("get_slice", &json!({ "file_path": file, "start_line": 1, "end_line": 9 }));
        assert!(opening["content"].as_str().unwrap().starts_with(first), "{opening}");
        assert_eq!(opening["total_lines"], 3);
    }
    let noise = repo.call("get_slice", &json!({ "file_path": "noise.bin", "start_line": 1, "end_line": 2 }));
    assert_eq!((&noise["lossy"], &noise["content"]), (&json!(true), &json!("\0\u{fffd}\n\u{fffd}\n")));
}

/// Files enough that a debug build is busy with them for a while.
fn large() -> Repo {
    let repo = Repo::new("");
    for number in 0..800 {
        let functions: String =
            (0..20).map(|at| format!("def function_{number}_{at}(a, b):\n    return call_{at}(a) + b\n\n")).collect();
        repo.write(&format!("src/d{}/m{number}.py", number % 30), functions);
    }
    repo
}

#[test]
fn a_first_build_that_a_call_waits_for_is_reported_in_both_protocol_eras() {
    for is_modern in [false, true] {
        let repo = large();
        let mut wire = Wire::relay(&repo, &[]);
        let mut meta = json!({ "progressToken": "build" });
        if is_modern {
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        } else {
            wire.ask(&crate::support::wire::initialize(0));
        }
        let mut reported = Vec::new();
        // An answer from a part of the index does not end the build, nor the reports of it.
        let answer = loop {
            wire.send(&request(1, "tools/call", json!({ "name": "stats", "arguments": {}, "_meta": meta })));
            let mut last = 0;
            let reply = loop {
                let line = wire.reply();
                if line["id"] == 1 {
                    break line;
                }
                assert_eq!(
                    (&line["method"], &line["params"]["progressToken"]),
                    (&json!("notifications/progress"), &json!("build"))
                );
                let done = line["params"]["progress"].as_u64().unwrap();
                assert!(done >= last && line["params"]["total"] == 800, "{line}");
                last = done;
                reported.push(done);
            };
            assert_eq!(reply["result"]["isError"], false, "{reply}");
            if !reply["result"]["structuredContent"]["indexing"].is_object() {
                break reply;
            }
        };
        assert_eq!(answer["result"]["structuredContent"]["total_files"], 800);
        assert!(!reported.is_empty(), "nothing was told");
        // A client that did not ask receives nothing.
        wire.send(&request(2, "tools/call", json!({ "name": "stats", "arguments": {} })));
        assert_eq!(wire.reply()["id"], 2);
    }
}

#[test]
fn a_long_call_says_that_it_runs_and_the_same_call_joins_it() {
    let repo = large();
    for number in 0..2_000 {
        let text = format!("---\nid: issue-{number}\ntype: issue\ntitle: Number {number}\n---\nText.\n");
        repo.write(&format!(".ixchel/issues/issue-{number}.md"), text);
    }
    let mut wire = Wire::relay(&repo, &[]);
    wire.ask(&crate::support::wire::initialize(0));
    let mut sync = |arguments: Value| {
        let reply = wire.call("tools/call", json!({ "name": "ixchel_sync", "arguments": arguments }));
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"]["structuredContent"].clone()
    };
    let running = sync(json!({ "timeout_ms": 1 }));
    assert_eq!(running["status"], "running", "{running}");
    assert!(running["done"].is_u64() && running["total"].is_u64(), "{running}");
    let counts = sync(json!({}));
    assert_eq!((&counts["scanned"], &counts["added"], &counts["status"]), (&json!(2_000), &json!(2_000), &json!(null)));
    let again = sync(json!({}));
    assert_eq!(
        (&again["scanned"], &again["added"]),
        (&json!(2_000), &json!(0)),
        "what was told once is not told again"
    );
}

/// Clock ticks of processor time that a process has used.
fn ticks(pid: &Value) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_cancelled_call_stops_working() {
    let repo = large();
    repo.write("long.txt", "a".repeat(1_900_000));
    repo.ok(&["daemon", "start"]);
    let pid = repo.status()["pid"].clone();
    repo.sync();
    let search = json!({ "text": "(a{50}){200}b", "mode": "regex", "timeout_ms": 600_000 });
    let build = json!({ "thoroughness": "everything", "_meta": { "progressToken": 1 } });
    for (method, params) in
        [("tools/call", json!({ "name": "query", "arguments": search })), ("query", search), ("ixmcp/sync", build)]
    {
        let mut wire = Wire::unix(&repo.socket());
        let before = ticks(&pid);
        wire.send(&request(7, method, params));
        until("it is at work", || ticks(&pid) > before + 10);
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }));
        if method != "tools/call" {
            let reply = std::iter::repeat_with(|| wire.reply()).find(|line| line["id"] == 7).unwrap();
            assert_eq!(reply["error"]["data"]["code"], "CANCELLED", "{reply}");
        }
        // What was begun may be put in order first: an interrupted build is taken up by the next read.
        until("it rests", || {
            let before = ticks(&pid);
            std::thread::sleep(std::time::Duration::from_millis(300));
            ticks(&pid) <= before + 3
        });
        assert_eq!(wire.call("ping", json!({}))["result"], json!({}), "and MCP is not answered");
    }
    assert_eq!(repo.call("stats", &json!({}))["total_files"], 801);
}

#[test]
fn a_search_ends_with_its_deadline_whatever_the_pattern() {
    let repo = Repo::new("");
    repo.write("long.txt", "a".repeat(1_900_000));
    repo.sync();
    let query = json!({ "text": "(a{50}){200}b", "mode": "regex", "timeout_ms": 1000 });
    let started = std::time::Instant::now();
    let mut command = repo.command(&["call", "query", "--args", &query.to_string()]);
    let output = command.output().unwrap();
    expect![[r#"
        ixmcp: TIMEOUT: the call ran past its deadline. Narrow the query, or pass a larger timeout_ms.
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
    assert!(started.elapsed() < std::time::Duration::from_secs(25), "{:?}", started.elapsed());
}

/// The official client's models, made from each revision's `schema.json`, judge what the program really wrote.
#[test]
fn what_is_written_on_the_wire_fits_the_published_schemas() {
    let repo = small();
    let exchanges = [old_revision(&repo), new_revision(&repo), progress(&repo)].concat();
    let captured = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(captured.path(), exchanges.iter().map(|exchange| format!("{exchange}\n")).collect::<String>())
        .unwrap();

    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = top.join("target/clients/python-mcp2/bin/python");
    assert!(python.exists(), "{} is missing: run .ci/setup", python.display());
    let mut judge = std::process::Command::new(python);
    let output = judge.arg(top.join("tests/clients/wire_schemas.py")).arg(captured.path()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let seen = |revision: &str| said["validated"][revision].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let common = ["error -32600", "error -32601", "error -32602", "error -32700"];
    let calls = ["tools/call", "tools/call isError", "tools/list"];
    let old = [&common[..], &["initialize", "notifications/progress", "ping"], &calls].concat();
    assert_eq!(seen("2025-11-25"), old, "{said}");
    let new = [&["error -32022"], &common[..], &["notifications/progress", "server/discover"], &calls].concat();
    assert_eq!(seen("2026-07-28"), new, "{said}");
}

/// One query to a relay, and every line up to its answer.
fn exchange(wire: &mut Wire, revision: &str, query: &Value) -> Value {
    wire.send(query);
    captured(wire, revision, query["method"].as_str().unwrap_or(""))
}

fn captured(wire: &mut Wire, revision: &str, method: &str) -> Value {
    let mut lines = vec![wire.line()];
    let is_asked = |line: &String| serde_json::from_str::<Value>(line).unwrap()["method"].is_string();
    while is_asked(lines.last().unwrap()) {
        lines.push(wire.line());
    }
    json!({ "revision": revision, "method": method, "lines": lines })
}

/// Messages that are errors in every revision: broken JSON, no request, no such method.
fn faults(wire: &mut Wire, revision: &str) -> Vec<Value> {
    let broken = ["{ not json\n", "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"tools/list\"}\n"];
    let exchanges = broken.iter().map(|line| {
        wire.write(line.as_bytes());
        captured(wire, revision, "")
    });
    exchanges.collect()
}

fn old_revision(repo: &Repo) -> Vec<Value> {
    let revision = "2025-11-25";
    let mut wire = Wire::relay(repo, &[]);
    let client = json!({ "name": "t", "version": "1" });
    let open = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    let mut exchanges = vec![exchange(&mut wire, revision, &request(0, "initialize", open))];
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for (method, params) in [
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "query", "arguments": {} })),
        ("tools/call", json!({ "name": "no_such_tool", "arguments": {} })),
        ("no/such_method", json!({})),
    ] {
        exchanges.push(exchange(&mut wire, revision, &request("text id", method, params)));
    }
    for (tool, arguments) in calls().as_object().unwrap() {
        let params = json!({ "name": tool, "arguments": arguments });
        exchanges.push(exchange(&mut wire, revision, &request(1, "tools/call", params)));
    }
    exchanges.extend(faults(&mut wire, revision));
    exchanges
}

fn new_revision(repo: &Repo) -> Vec<Value> {
    let revision = "2026-07-28";
    let mut wire = Wire::relay(repo, &[]);
    let stateless = |spoken: &str, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": spoken,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} });
        request("text id", method, params)
    };
    let tool_calls = calls();
    let calls = tool_calls.as_object().unwrap().iter();
    let calls = calls.map(|(tool, arguments)| ("tools/call", json!({ "name": tool, "arguments": arguments })));
    let others = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "query", "arguments": {} })),
        ("tools/call", json!({ "name": "no_such_tool", "arguments": {} })),
        ("no/such_method", json!({})),
    ];
    let queries: Vec<_> = others.into_iter().chain(calls).collect();
    let mut exchanges: Vec<_> = queries
        .into_iter()
        .map(|(method, params)| exchange(&mut wire, revision, &stateless(revision, method, params)))
        .collect();
    exchanges.push(exchange(&mut wire, revision, &stateless("2030-01-01", "tools/list", json!({}))));
    exchanges.extend(faults(&mut wire, revision));
    exchanges
}

/// Only controls take long enough to tell it, and they are the daemon's own: it is the notifications that count here.
fn progress(repo: &Repo) -> Vec<Value> {
    let mut wire = Wire::unix(&repo.socket());
    let params = json!({ "thoroughness": "everything", "_meta": { "progressToken": "token" } });
    let mut reported = exchange(&mut wire, "2025-11-25", &request(1, "ixmcp/sync", params));
    let lines = reported["lines"].as_array_mut().unwrap();
    assert!(lines.pop().unwrap().as_str().unwrap().contains("\"result\""), "{reported}");
    let mut again = reported.clone();
    again["revision"] = json!("2026-07-28");
    vec![reported, again]
}
