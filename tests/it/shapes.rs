//! What `--json` prints: as each command's `--help` says, and as it was in the version before.

use std::collections::BTreeSet;

use expect_test::expect_file;
use serde_json::Value;

use crate::harness::Repo;
use crate::organisation::server::Organisation;

/// What `--help` says of an answer.
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

/// What the help of a command says of its JSON: in general, and with an option.
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
    ("eval", &["questions.jsonl"]),
    ("eval", &["questions.jsonl", "--cost"]),
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
        "//- /questions.jsonl\n{\"query\": \"checkout\", \"relevant\": [\"shop.py\"]}\n",
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
        let mut run =
            if is_of_organisation { organisation.command(&repo, "postgres", &words) } else { repo.command(&words) };
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

#[test]
fn rows_of_sql_are_objects_by_column() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.sync();
    let rows = repo.ok(&["sql", "SELECT path, language FROM files", "--json"]);
    assert_eq!(rows, "{\"language\":\"python\",\"path\":\"a.py\"}\n");
    assert!(repo.ok(&["sql", "--help"]).contains("JSON: one object a row"));
}
