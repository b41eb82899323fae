//! Names in Python files as the type engine finds them: the outline next to Python's own parser, and keys of typed dictionaries.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::golden::{clients, copy};
use crate::support::harness::{Repo, Server};

fn position(one: &Value) -> String {
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


def latest(record: Record) -> str:
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
    let references: BTreeSet<String> = found["references"].as_array().unwrap().iter().map(position).collect();
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

/// Names that Python binds at module and class level, and attributes of the receiver, by its own parser.
const BOUND: &str = r#"
import ast, json, sys

def names(target):
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from names(one)
    elif isinstance(target, ast.Starred):
        yield from names(target.value)

def bound(body, prefix, found, receivers):
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(prefix + node.name)
            if receivers is not None:
                receivers.append(node)
            continue
        if isinstance(node, ast.ClassDef):
            found.add(prefix + node.name)
            methods = []
            bound(node.body, prefix + node.name + ".", found, methods)
            for method in methods:
                first = (method.args.posonlyargs + method.args.args)[:1]
                if first:
                    attributes(method.body, first[0].arg, prefix + node.name + ".", found)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            # Their own targets are theirs; a walrus binds outside.
            waiting.extend(one for one in ast.walk(node) if isinstance(one, ast.NamedExpr))
            continue
        targets = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.For, ast.AsyncFor, ast.NamedExpr)):
            targets = [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars:
            targets = [node.optional_vars]
        for target in targets:
            found.update(prefix + name for name in names(target))
        for field in ("name", "rest"):
            if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)) and getattr(node, field, None):
                found.add(prefix + getattr(node, field))
        waiting.extend(ast.iter_child_nodes(node))

def attributes(body, receiver, prefix, found):
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        is_own = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_own and isinstance(node.value, ast.Name) and node.value.id == receiver:
            found.add(prefix + node.attr)
        if isinstance(node, ast.AugAssign):
            continue
        waiting.extend(ast.iter_child_nodes(node))

found = set()
bound(ast.parse(open(sys.argv[1]).read()).body, "", found, None)
print(json.dumps(sorted(found)))
"#;

fn outlined(symbols: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    for one in symbols.as_array().unwrap() {
        let name = format!("{prefix}{}", one["name"].as_str().unwrap());
        if one["kind"] == "class" {
            outlined(&one["children"], &format!("{name}."), found);
        }
        found.insert(name);
    }
}

#[test]
fn symbols_are_the_names_that_python_binds() {
    let repo = Repo::new(
        r#"
//- /odd.py
import os
import sys

plain = chained = 1
a, (b, *c), [d] = 1, (2, 3), [4]
annotated: int
value: int = 2
if (walrus := len(sys.argv)) > 1:
    in_if = 1
    def function_in_if(): ...
elif sys.platform == "x":
    in_elif = 2
else:
    in_else = 3
try:
    import json
    in_try = 1
except ImportError as error:
    in_except = 2
else:
    in_try_else = 3
finally:
    in_finally = 4
for i, (j, *k) in []:
    in_for = 1
else:
    in_for_else = 2
while (n := 0):
    in_while = 1
with open("x") as handle, open("y") as (left, right):
    in_with = 1
listed = [m for m in [] if (found := m)]
called = print((given := 1))
ignored = lambda: (inner := 2)
match plain:
    case [first, *rest] if (guard := 1):
        in_case = 1
    case {"k": item, **others}:
        pass
    case str() as text:
        pass
    case (int() | float()) as number:
        pass
    case os.sep:
        pass
    case captured:
        pass
os.environ["x"] = "y"
plain += 1


class Outer:
    field: int = 1
    one, two = three = 1, 2
    if sys.version_info > (3,):
        conditional = 1
        def method_in_if(self):
            self.by_conditional = 1
    else:
        def other_method(self):
            self.by_other, [self.in_list, *self.in_starred] = 1, [2]

    def __init__(self, given):
        self.given = self.twice = given
        self.typed: int = 1
        if given:
            self.nested = 1
        with open("x") as self.handle:
            pass
        for self.index in []:
            pass
        local = 1
        given.other = 2

        def inner():
            self.by_closure = 1

    class Inner:
        x = 1


async def main():
    async with main() as session:
        local = session


@print
class Decorated(Outer): ...
"#,
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut compare = |file: &str| {
        let script = std::process::Command::new("python3").args(["-c", BOUND, file]).current_dir(repo.path()).output();
        let bound: BTreeSet<String> = serde_json::from_slice(&script.unwrap().stdout).unwrap();
        let mut ours = BTreeSet::new();
        outlined(&server.call("symbols", &json!({ "file": file }))["symbols"], "", &mut ours);
        let different: Vec<&String> = ours.symmetric_difference(&bound).collect();
        assert!(different.is_empty(), "{file}: {different:?}");
        bound.len()
    };
    assert!(compare("odd.py") > 60);
    for name in ["requests", "click"] {
        copy(&clients().join("packages").join(name), &repo.path().join(name));
        let mut open = vec![repo.path().join(name)];
        while let Some(folder) = open.pop() {
            for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "py") {
                    compare(path.strip_prefix(repo.path()).unwrap().to_str().unwrap());
                }
            }
        }
    }
}

#[test]
fn a_type_alias_is_a_symbol() {
    // https://docs.python.org/3/reference/simple_stmts.html#the-type-statement
    let repo = Repo::new(
        "//- /a.py\ntype Plain = int\ntype Pair[T] = tuple[T, T]\n\n\nclass C:\n    type Inner[*Ts] = tuple[*Ts]\n",
    );
    let symbols = repo.call("symbols", &json!({ "file": "a.py" }));
    let mut found = BTreeSet::new();
    outlined(&symbols["symbols"], "", &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["C", "C.Inner", "Pair", "Plain"]);
}
