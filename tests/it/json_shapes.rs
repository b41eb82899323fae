//! Output of `--json`: as each command's `--help` says, and as it was in the version before.

use std::collections::BTreeSet;
use std::process::Command;

use expect_test::expect_file;
use ixmcp::tools;
use serde_json::{Value, json};

use crate::organisation::server::Organisation;
use crate::support::harness::Repo;

/// Shape of an answer in `--help`.
#[derive(Debug)]
enum Shape {
    Object(Vec<Field>),
    List(Box<Self>),
    /// Nothing more is said of it.
    Any,
}

#[derive(Debug)]
struct Field {
    name: String,
    is_optional: bool,
    shape: Shape,
}

impl Shape {
    /// `{a, b?: [{c}]}`
    fn read(text: &str) -> Self {
        let mut rest = text;
        let shape = Self::read_from(&mut rest);
        assert_eq!(rest, "", "{text}");
        shape
    }

    fn read_from(rest: &mut &str) -> Self {
        if let Some(inside) = rest.strip_prefix('[') {
            *rest = inside;
            let items = Self::read_from(rest);
            *rest = rest.strip_prefix(']').unwrap();
            return Self::List(Box::new(items));
        }
        *rest = rest.strip_prefix('{').unwrap_or_else(|| panic!("{rest}"));
        let mut fields = Vec::new();
        loop {
            let end = rest.find([':', ',', '}']).unwrap();
            let name = &rest[..end];
            *rest = &rest[end..];
            let shape = rest.strip_prefix(": ").map_or(Self::Any, |below| {
                *rest = below;
                Self::read_from(rest)
            });
            let is_optional = name.ends_with('?');
            fields.push(Field { name: name.trim_end_matches('?').to_owned(), is_optional, shape });
            if let Some(after) = rest.strip_prefix('}') {
                *rest = after;
                return Self::Object(fields);
            }
            *rest = rest.strip_prefix(", ").unwrap();
        }
    }

    fn check(&self, value: &Value, place: &str) {
        match self {
            Self::Any => {}
            _ if value.is_null() => {}
            Self::List(items) => {
                let values = value.as_array().unwrap_or_else(|| panic!("{place}: no list: {value}"));
                values.iter().for_each(|value| items.check(value, &format!("{place}[]")));
            }
            Self::Object(fields) => {
                let object = value.as_object().unwrap_or_else(|| panic!("{place}: no object: {value}"));
                for field in fields {
                    let place = format!("{place}.{}", field.name);
                    match object.get(&field.name) {
                        Some(value) => field.shape.check(value, &place),
                        None => assert!(field.is_optional, "{place} is missing: {value}"),
                    }
                }
                let reported: BTreeSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let there: BTreeSet<&str> = object.keys().map(String::as_str).collect();
                assert!(there.is_subset(&reported), "{place} has more than help says: {:?}", &there - &reported);
            }
        }
    }
}

/// Shapes of a command's JSON in its help: in general, and with an option.
fn reported(repo: &Repo, command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    let help = repo.ok(&words);
    let heading =
        if command.is_empty() { "JSON of `ixmcp --json`:\n" } else { "JSON (a ? marks what may be absent):\n" };
    let section = help.split(heading).nth(1).unwrap_or_else(|| panic!("{command}: {help}"));
    let section = section.split("\n\n").next().unwrap();
    let joined = section.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.split(" with --").map(str::to_owned).collect()
}

/// Commands that print one JSON object, each as it is called here; where an option makes it another, both.
const ASKED: &[(&str, &[&str])] = &[
    ("", &[]),
    ("setup", &["cursor", "zed", "--print"]),
    ("sync", &[]),
    ("doctor", &[]),
    ("query", &["checkout", "--explain"]),
    ("query", &["zzzz_not_there"]),
    ("documents index", &["docs"]),
    ("documents update", &["docs"]),
    ("documents search", &["how are orders paid", "--min-score", "0"]),
    ("documents show", &["docs/notes.md", "--chunk", "0"]),
    ("documents list", &[]),
    ("documents remove", &["docs"]),
    ("symbol", &["Cart.checkout"]),
    ("symbol", &["Cart.checkout", "--relations"]),
    ("slice", &["shop.py", "1", "2"]),
    ("files", &[]),
    ("files", &["--skipped"]),
    ("stats", &[]),
    ("check", &[]),
    ("type-at", &["shop.py:5:5"]),
    ("def", &["shop.py:3:16"]),
    ("refs", &["shop.py:5:5"]),
    ("changes", &[]),
    ("rename", &["shop.py:5:5", "renamed"]),
    ("infer", &["shop.py"]),
    ("init", &[]),
    ("entity init", &[]),
    ("entity create", &["issue", "Pay by card"]),
    ("entity link", &["iss-1", "blocks", "iss-2"]),
    ("entity unlink", &["iss-1", "blocks", "iss-2"]),
    ("entity tag", &["add", "iss-1", "money"]),
    ("entity edit", &["iss-1", "--status", "open"]),
    ("entity check", &[]),
    ("entity list", &[]),
    ("entity show", &["iss-1"]),
    ("entity search", &["pay"]),
    ("entity context", &["iss-1"]),
    ("entity tags", &[]),
    ("entity sync", &[]),
    ("entity path", &["iss-1", "iss-2"]),
    ("entity cycles", &[]),
    ("entity ready", &[]),
    ("graph", &[]),
    ("model list", &[]),
    ("model info", &[]),
    ("repos", &[]),
    ("repos", &["--prune"]),
    ("deps", &[]),
    ("scip load", &["empty.scip"]),
    ("scip make", &[]),
    ("scip list", &[]),
    ("scip remove", &["empty.scip"]),
    ("rebuild", &[]),
    ("snapshot save", &["index.snapshot"]),
    ("snapshot load", &["index.snapshot"]),
    ("daemon status", &[]),
    ("daemon start", &[]),
    ("daemon status", &[]),
    ("daemon stop", &[]),
    ("org init", &[]),
    ("org grant", &["postgres", "*", "--publish"]),
    ("publish", &["--as", "shop"]),
    ("org status", &[]),
    ("unpublish", &["--as", "shop"]),
    ("org sweep", &[]),
];

#[test]
fn every_command_prints_the_json_that_its_help_says() {
    let repo = Repo::new(concat!(
        r"
//- /shop.py
class Cart:
    def checkout(self):
        return pay(self)

def pay(cart):
    return 1
",
        "pay(missing)\n",
        "//- /docs/notes.md\n# Paying\n\nOrders are paid at checkout.\n",
        "//- /.env\nKEY=x\n",
        "//- /empty.scip\n",
        "//- /.ixchel/issues/iss-1.md\n---\nid: iss-1\nkind: issue\ntitle: Pay\ntags: [a]\ndepends_on: iss-2\n---\nPay.\n",
        "//- /.ixchel/issues/iss-2.md\n---\nid: iss-2\nkind: issue\ntitle: Earn\nblocks: iss-9\n---\n",
    ));
    crate::worktrees::git(repo.path(), &["init", "-q"]);
    let organisation = Organisation::new();
    let mut listed = String::new();
    for (command, arguments) in ASKED {
        let words: Vec<&str> = command.split_whitespace().chain(arguments.iter().copied()).chain(["--json"]).collect();
        if *command == "publish" {
            crate::worktrees::git(repo.path(), &["add", "."]);
            crate::worktrees::git(repo.path(), &["commit", "-qm", "first"]);
        }
        let is_of_organisation = matches!(words[0], "publish" | "unpublish" | "org");
        let mut run = if is_of_organisation {
            organisation.command(&repo, organisation.administrator(), &words)
        } else {
            repo.command(&words)
        };
        let output = run.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(!stdout.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(stdout.lines().count(), 1, "{words:?}: {stdout}");
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        let shapes = reported(&repo, command);
        let other = shapes[1..].iter().find_map(|shape| {
            let (option, shape) = shape.split_once(": ").unwrap();
            arguments.contains(&&*format!("--{option}")).then_some(shape)
        });
        let shape = other.unwrap_or(&shapes[0]);
        Shape::read(shape).check(&answer, command);
        let line = format!("{}: {}\n", format!("ixmcp {command}").trim_end(), shapes.join("\n    with --"));
        if !listed.contains(&line) {
            listed += &line;
        }
    }
    let tried: BTreeSet<String> =
        ASKED.iter().map(|(command, _)| format!("ixmcp {command}").trim().replace(' ', "-")).collect();
    repo.ok(&["man", "--output", "man1"]);
    let pages = std::fs::read_dir(repo.path().join("man1")).unwrap().map(|page| page.unwrap().path());
    let with_json = pages.filter(|page| std::fs::read_to_string(page).unwrap().contains("JSON (a ?"));
    let with_json: BTreeSet<String> =
        with_json.map(|page| page.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert!(with_json.is_subset(&tried), "not tried: {:?}", &with_json - &tried);
    // Programs read it: a field that goes, or means something else, is announced in CHANGELOG.md.
    expect_file!["../../fixtures/cli/shapes.txt"].assert_eq(&listed);
}

/// Whether a value is what a JSON Schema declares, and has no field that it does not declare. Notes the fields of the answer.
fn conforms(value: &Value, schema: &Value, place: &str) -> Result<(), String> {
    if let Some(choices) = schema["anyOf"].as_array() {
        let all: Vec<String> = choices.iter().filter_map(|choice| conforms(value, choice, place).err()).collect();
        return if all.len() < choices.len() { Ok(()) } else { Err(all.join(", ")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let admits = |declared: &Value| declared == kind || declared == "number" && kind == "integer";
    let is_admitted = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(admits),
        one => admits(one),
    };
    let is_chosen = schema["enum"].as_array().is_none_or(|choices| choices.contains(value));
    if !is_admitted || !is_chosen {
        return Err(format!("{place} is {value}, declared as {schema}"));
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(item, &schema["items"], &format!("{place}[]"))?;
    }
    let (Some(fields), Some(declared)) = (value.as_object(), schema["properties"].as_object()) else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        fields.get(name).ok_or_else(|| format!("{place}.{name} is missing"))?;
    }
    for (name, field) in fields {
        let place = format!("{place}.{name}");
        conforms(field, declared.get(name).ok_or_else(|| format!("{place} is not declared"))?, &place)?;
    }
    Ok(())
}

/// Commands that print the answer of a tool, on what gives the answer a field that it has at times: the tool, the field, and
/// what the field is like.
const AT_TIMES: &[(&[&str], &str, &str, &str)] = &[
    (&["query", "kind:commits checkout"], "query", "warning", "string"),
    (&["query", "Cart", "--explain"], "query", "results", "list"),
    (&["--repo", ".", "--repo", "gone", "query", "Cart"], "query", "problems", "{reason, repo}"),
    (&["--repo", ".", "--repo", "gone", "stats"], "stats", "problems", "{reason, repo}"),
    (&["symbol", "Kart.checkout"], "get_symbol", "suggestions", "list"),
    (&["symbol", "Cart.checkout", "--relations"], "", "", ""),
    (&["slice", "docs/stray.txt", "1", "9"], "get_slice", "lossy", "boolean"),
    (&["documents", "index", "docs"], "index_files", "skipped", "{path, reason}"),
    (&["documents", "index", "docs"], "index_files", "problems", "{path, reason}"),
    (&["documents", "index", "none", "--types", "md"], "index_files", "warning", "string"),
    (&["documents", "update", "docs"], "update_index", "problems", "{path, reason}"),
    (&["documents", "show", "docs/stray.txt"], "get_file_details", "problems", "{path, reason}"),
    (&["documents", "show", "docs/stray.txt", "--chunk", "0"], "get_file_details", "problems", "{path, reason}"),
    (&["documents", "show", "docs/empty.md"], "get_file_details", "problems", "{path, reason}"),
    (&["documents", "search", "paying", "--types", "md,xyz"], "search_documents", "warning", "string"),
    (&["documents", "list"], "", "", ""),
    (&["stats"], "stats", "document_folders", "list"),
    (&["check"], "check", "diagnostics", "list"),
    (&["type-at", "shop.py:1:7"], "type_at", "definition", "{"),
    (&["def", "shop.py:3:16"], "goto_definition", "definitions", "list"),
    (&["refs", "shop.py:5:5"], "find_references", "references", "list"),
    (&["changes"], "changes", "problems", "{path, reason}"),
    (&["infer", "box.py"], "infer_types", "skipped", "{kind, name, reason}"),
    (&["rename", "help.py:1:5", "__zed"], "rename_symbol", "refused", "{file, line, reason}"),
    (&["entity", "sync"], "ixchel_sync", "problems", "{line, path, reason}"),
    (&["entity", "show", "iss-1"], "ixchel_show", "raw", "string"),
    (&["entity", "context", "iss-1"], "ixchel_context", "items", "list"),
    (&["entity", "search", "pay"], "ixchel_search", "hits", "list"),
    (&["entity", "tags", "--untagged"], "ixchel_tags", "items", "list"),
];

/// The answer of each tool on input that it has something to say of: as the tool declares it, and as a command prints it.
#[test]
fn every_command_prints_answers_with_fields_that_are_there_at_times() {
    let repo = Repo::new(
        r"
//- /shop.py
class Cart:
    def checkout(self):
        return pay(self)

def pay(cart):
    return 1

pay(missing)
//- /sold.py
def sell(): pass
//- /box.py
class Box:
    def fill(self, size=1):
        return str(size)
//- /use.py
from box import Box


def f(box: Box, **rest: str) -> str:
    return box.fill(**rest)
//- /help.py
def helper() -> int:
    return 2


class A:
    def m(self) -> int:
        return helper()


class B:
    def m(self) -> int:
        return helper()
//- /docs/notes.md
# Paying

Orders are paid at checkout.
//- /docs/empty.md
//- /docs/.env
KEY=x
//- /none/.env
KEY=x
//- /.ixchel/issues/iss-1.md
---
id: iss-1
kind: issue
title: Pay
tags: [a]
blocks: iss-9
---
Pay in `Cart.checkout`.
//- /.ixchel/issues/iss-2.md
---
id: iss-2
kind: issue
title: Earn
---
",
    );
    let german = "Grüße aus München: schöne Wörter überall.\n".repeat(3);
    repo.write("docs/stray.txt", [german.as_bytes(), b"stray \xff byte, M\xc3\xbcll\n"].concat());
    crate::worktrees::git(repo.path(), &["init", "-q"]);
    crate::worktrees::git(repo.path(), &["add", "."]);
    crate::worktrees::git(repo.path(), &["commit", "-qm", "first"]);
    let blob = Command::new("git").args(["rev-parse", "HEAD:sold.py"]).current_dir(repo.path()).output().unwrap();
    let (folder, name) = std::str::from_utf8(&blob.stdout).unwrap().trim().split_at(2);
    std::fs::remove_file(repo.path().join(".git/objects").join(folder).join(name)).unwrap();
    repo.write("sold.py", "def sell(): return 1\n");
    for (arguments, tool, field, like) in AT_TIMES {
        let text = repo.run(arguments);
        let shown = String::from_utf8_lossy(&text.stderr);
        assert!(matches!(text.status.code(), Some(0 | 1)), "{arguments:?}: {shown}");
        let output = repo.run(&[arguments, &["--json"][..]].concat());
        assert_eq!(output.status.code(), text.status.code(), "{arguments:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        if tool.is_empty() {
            continue;
        }
        let schema = tools::find(tool).unwrap().output_schema();
        conforms(&answer, &schema, tool).unwrap_or_else(|reason| panic!("{arguments:?}: {reason}\n{answer}"));
        let shape = match &answer[field] {
            Value::String(_) => "string".to_owned(),
            Value::Bool(_) => "boolean".to_owned(),
            Value::Array(items) => match items.first().and_then(Value::as_object) {
                _ if *like == "list" => "list".to_owned(),
                Some(item) => format!("{{{}}}", item.keys().cloned().collect::<Vec<_>>().join(", ")),
                None => format!("{items:?}"),
            },
            Value::Object(_) => "{".to_owned(),
            other => other.to_string(),
        };
        assert_eq!(shape, *like, "{arguments:?} {field}: {answer}");
        if *field == "problems" {
            let reason = answer["problems"][0]["reason"].as_str().unwrap();
            let printed = String::from_utf8_lossy(&text.stdout);
            assert!(shown.contains(reason) || printed.contains(reason), "{arguments:?}: {shown}{printed}");
        }
    }
    let schema = json!({ "properties": { "problems": { "type": "array", "items": { "type": "object" } } } });
    assert!(conforms(&json!({ "problems": ["text"] }), &schema, "").is_err(), "the check finds a wrong form");
}

#[test]
fn rows_of_sql_are_objects_by_column() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.sync();
    let rows = repo.ok(&["sql", "SELECT path, language FROM files", "--json"]);
    assert_eq!(rows, "{\"language\":\"python\",\"path\":\"a.py\"}\n");
    assert!(repo.ok(&["sql", "--help"]).contains("JSON: one object a row"));
}
