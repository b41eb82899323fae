//! Arguments as clients and models write them: absent values, texts for numbers, unknown names, and every wrong type.

use expect_test::expect;
use ixmcp::tools::{Access, Declaration, TOOLS};
use serde_json::{Map, Value, json};

use crate::support::harness::Repo;
use crate::support::wire::Wire;
use crate::tool_surface::project;

/// A daemon of a repository in which every tool's example finds something.
fn served() -> (Repo, Wire) {
    let repo = project();
    repo.sync();
    repo.ok(&["daemon", "start"]);
    let wire = Wire::unix(&repo.socket());
    (repo, wire)
}

fn example(tool: &Declaration) -> Map<String, Value> {
    serde_json::from_str(tool.example).unwrap()
}

/// An argument, or one in the argument `around`.
struct Argument {
    around: Option<String>,
    name: String,
    schema: Value,
    is_required: bool,
}

impl Argument {
    /// All arguments of a tool.
    fn list(tool: &Declaration) -> Vec<Self> {
        let schema = tool.input_schema();
        let mut all = Self::within(&schema, None);
        for (name, property) in schema["properties"].as_object().unwrap() {
            all.extend(Self::within(property, Some(name)));
        }
        all
    }

    fn within(schema: &Value, around: Option<&str>) -> Vec<Self> {
        let required = schema["required"].as_array();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let argument = |(name, property): (&String, &Value)| Self {
            around: around.map(str::to_owned),
            name: name.clone(),
            schema: property.clone(),
            is_required: required.is_some_and(|required| required.iter().any(|one| one == name)),
        };
        properties.map(argument).collect()
    }

    fn put(&self, arguments: &mut Map<String, Value>, value: Value) {
        match &self.around {
            None => arguments.insert(self.name.clone(), value),
            Some(around) => {
                let object = arguments.entry(around).or_insert_with(|| json!({}));
                object.as_object_mut().unwrap().insert(self.name.clone(), value)
            }
        };
    }

    fn kind(&self) -> &str {
        self.schema["type"].as_str().unwrap()
    }
}

/// The code of the error that a call is answered with, and its text with the hint.
fn error(reply: &Value) -> Option<(String, String)> {
    let error = reply.get("error")?;
    let text = format!("{} {}", error["message"].as_str().unwrap(), error["data"]["hint"].as_str().unwrap_or_default());
    Some((error["data"]["code"].as_str().unwrap_or_default().to_owned(), text))
}

#[test]
fn null_and_empty_values_of_optional_arguments_count_as_absent() {
    let (_repo, mut wire) = served();
    for tool in TOOLS {
        let optional: Vec<Argument> =
            Argument::list(tool).into_iter().filter(|argument| !argument.is_required).collect();
        for empty in [json!(null), json!(""), json!([])] {
            let mut arguments = example(tool);
            for argument in &optional {
                let is_in_example = argument.around.is_none() && arguments.contains_key(&argument.name);
                if !is_in_example && argument.kind() != "object" {
                    argument.put(&mut arguments, empty.clone());
                }
            }
            let reply = wire.call(tool.name, Value::Object(arguments.clone()));
            assert_eq!(error(&reply), None, "{} {}", tool.name, Value::Object(arguments));
            assert_eq!(reply["result"]["warning"], Value::Null, "{}: {reply}", tool.name);
        }
    }
    let reply = wire.call("search_documents", json!({ "query": "index", "options": null }));
    assert_eq!(error(&reply), None);
}

#[test]
fn numbers_booleans_lists_and_objects_may_be_texts() {
    let (_repo, mut wire) = served();
    let mut answer = |tool: &str, arguments: Value| {
        let mut reply = wire.call(tool, arguments);
        assert_eq!(error(&reply), None, "{tool}");
        reply["result"].take()
    };
    let hits = answer("query", json!({ "text": "index", "limit": 2, "include": ["src/**"] }));
    assert_eq!(hits["results"].as_array().unwrap().len(), 2);
    for (limit, include) in [(json!("2"), json!("src/**")), (json!(" 2.0 "), json!("[\"src/**\"]"))] {
        assert_eq!(answer("query", json!({ "text": "index", "limit": limit, "include": include })), hits);
    }
    let exact = |case: Value| json!({ "text": "INDEX", "mode": "literal", "case_sensitive": case, "limit": 1 });
    assert_eq!(answer("query", exact(json!("False"))), answer("query", exact(json!(false))));
    assert_ne!(answer("query", exact(json!("true"))), answer("query", exact(json!(false))));
    let options = json!({ "minScore": 0.1, "limit": 3, "fileTypes": [".rs"] });
    let found = answer("search_documents", json!({ "query": "incremental update", "options": options }));
    assert!(!found["results"].as_array().unwrap().is_empty());
    for options in [
        json!({ "minScore": "0.1", "limit": "3", "fileTypes": ".rs" }),
        json!("{\"minScore\": 0.1, \"limit\": 3, \"fileTypes\": [\".rs\"]}"),
    ] {
        assert_eq!(answer("search_documents", json!({ "query": "incremental update", "options": options })), found);
    }
    let slice = answer("get_slice", json!({ "file_path": "README.md", "start_line": "1", "end_line": "2" }));
    assert_eq!(slice, answer("get_slice", json!({ "file_path": "README.md", "start_line": 1, "end_line": 2 })));
    answer("stats", json!({ "timeout_ms": "10000", "repo": "" }));
}

#[test]
fn a_reading_tool_ignores_unknown_arguments_and_names_them() {
    let (_repo, mut wire) = served();
    for tool in TOOLS.iter().filter(|tool| tool.access == Access::Read) {
        let mut arguments = example(tool);
        let plain = wire.call(tool.name, Value::Object(arguments.clone()));
        arguments.insert("wait_for_previous".to_owned(), json!(true));
        arguments.insert("explanation".to_owned(), json!("because"));
        let reply = wire.call(tool.name, Value::Object(arguments));
        assert_eq!(error(&reply), None, "{}", tool.name);
        let warning = reply["result"]["warning"].as_str().unwrap();
        assert!(warning.ends_with("Unknown arguments were ignored: `explanation`, `wait_for_previous`."), "{warning}");
        let fields = |reply: &Value| {
            let fields = reply["result"].as_object().unwrap().keys().filter(|name| *name != "warning");
            fields.cloned().collect::<Vec<_>>()
        };
        assert_eq!(fields(&reply), fields(&plain), "{}", tool.name);
    }
    let reply = wire.call("search_documents", json!({ "query": "index", "options": { "\u{1b}[31mcolour": 1 } }));
    let warning = reply["result"]["warning"].as_str().unwrap();
    assert_eq!(warning, "An unknown argument was ignored: `\\u{1b}[31mcolour`.");
}

#[test]
fn a_mistyped_argument_is_rejected_with_the_known_name() {
    let (_repo, mut wire) = served();
    for (tool, name, meant) in [
        ("query", "limits", "limit"),
        ("query", "limt", "limit"),
        ("query", "case_sensitve", "case_sensitive"),
        ("get_slice", "start_colum", "start_column"),
        ("find_references", "include_declarations", "include_declaration"),
        ("list_files", "languag", "language"),
        ("stats", "timeout_m", "timeout_ms"),
    ] {
        let mut arguments = example(ixmcp::tools::find(tool).unwrap());
        arguments.insert(name.to_owned(), json!(1));
        let (code, said) = error(&wire.call(tool, Value::Object(arguments))).unwrap();
        assert_eq!(code, "INVALID_ARGUMENT");
        assert_eq!(said, format!("unknown argument `{name}` Did you mean `{meant}`?"), "{tool}");
    }
    // Two edits are too many for a short name.
    let reply = wire.call("query", json!({ "text": "index", "limit": 1, "lmi": 3 }));
    expect!["An unknown argument was ignored: `lmi`."].assert_eq(reply["result"]["warning"].as_str().unwrap());
}

#[test]
fn a_writing_tool_rejects_unknown_arguments_that_no_client_adds() {
    let (_repo, mut wire) = served();
    let mut tried = 0;
    for tool in TOOLS.iter().filter(|tool| tool.access == Access::Write) {
        let mut arguments = example(tool);
        arguments.insert("wait_for_previous".to_owned(), json!(false));
        let reply = wire.call(tool.name, Value::Object(arguments.clone()));
        let warning = reply["result"]["warning"].as_str().unwrap_or_else(|| panic!("{reply}"));
        assert!(warning.ends_with("An unknown argument was ignored: `wait_for_previous`."), "{warning}");
        arguments.insert("explanation".to_owned(), json!("because"));
        let (code, said) = error(&wire.call(tool.name, Value::Object(arguments))).unwrap();
        assert_eq!(code, "INVALID_ARGUMENT");
        assert!(said.starts_with("unknown argument `explanation`"), "{said}");
        tried += 1;
    }
    assert_eq!(tried, 3);
    let options = json!({ "chunkSize": 500, "colour": 1 });
    let (_, said) = error(&wire.call("index_files", json!({ "folderPath": "src", "options": options }))).unwrap();
    expect!["unknown argument `colour` in `options` It takes: chunkSize, fileTypes, maxFiles, overlap."]
        .assert_eq(&said);
}

#[test]
fn every_wrong_type_in_every_argument_of_every_tool_is_answered() {
    let (_repo, mut wire) = served();
    let nested = (0..100).fold(json!("x"), |inner, _| json!([inner]));
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!("x"),
        json!("\0"),
        json!([]),
        json!([1]),
        json!({}),
        nested,
    ];
    let known = ["INVALID_ARGUMENT", "INVALID_PATH", "NOT_FOUND", "UNSUPPORTED_FORMAT", "INDEX_NOT_FOUND"];
    let mut tried = 0;
    for tool in TOOLS {
        for argument in Argument::list(tool) {
            for value in &values {
                let mut arguments = example(tool);
                // A rename and inference take a second engine, hundreds of times.
                let refused = match tool.name {
                    "rename_symbol" => Some(("new_name", "no name")),
                    "infer_types" => Some(("symbol", "no_symbol")),
                    _ => None,
                };
                if let Some((name, value)) = refused {
                    arguments.insert(name.to_owned(), json!(value));
                }
                argument.put(&mut arguments, value.clone());
                let shown = format!("{} {}", tool.name, Value::Object(arguments.clone()));
                let reply = wire.call(tool.name, Value::Object(arguments));
                tried += 1;
                let Some((code, said)) = error(&reply) else {
                    assert!(reply["result"].is_object(), "{shown}: {reply}");
                    continue;
                };
                // One millisecond may be too short.
                let is_timeout = argument.name == "timeout_ms" && code == "TIMEOUT";
                assert!(known.contains(&code.as_str()) || is_timeout, "{shown}: {reply}");
                assert!(said.len() < 1000, "{shown}: {said}");
                if code == "INVALID_ARGUMENT" && !value.is_object() {
                    assert!(said.contains(&argument.name) || said.contains("argument `"), "{shown}: {said}");
                }
            }
        }
    }
    assert!(tried > 1200, "{tried}");
}

#[test]
#[ignore = "needs `.ci/setup --clients`"]
fn converters_of_other_libraries_accept_the_schemas_of_all_tools() {
    let repo = Repo::new("");
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = std::process::Command::new(top.join("target/clients/converters/bin/python"))
        .arg(top.join("tests/clients/converters.py"))
        .args([env!("CARGO_BIN_EXE_ixmcp"), "mcp", "--no-daemon", "--repo"])
        .arg(repo.path())
        .env("IXMCP_TCP", "off")
        .output()
        .expect("run `.ci/setup --clients`");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(said["failures"], json!([]));
    let converted = said["converted"].as_object().unwrap();
    assert_eq!(converted.len(), 7);
    assert!(converted.values().all(|count| *count == json!(TOOLS.len())), "{shown}");
    assert!(output.status.success(), "{shown}");
}
