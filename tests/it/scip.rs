//! SCIP files: what they state about unchanged files is what the tools answer, and what does not fit any more is not used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use protobuf::{EnumOrUnknown, Message, MessageField};
use scip::types::{Document, Index, Metadata, Occurrence, PositionEncoding, Relationship, SymbolInformation, ToolInfo};
use serde_json::{Value, json};

use crate::golden::copy;
use crate::support::harness::{Repo, Server};

pub const DEFINITION: i32 = 1;
pub const READ: i32 = 8;

/// A project in which syntax alone cannot tell the two methods `find` from each other.
const PROJECT: &str = r"
//- /users.ts
export class Users {
  find(id: string) { return id; }
}
//- /orders.ts
export class Orders {
  find(id: string) { return id; }
}
//- /app.ts
import { users, orders } from './setup';
const größe = 1; users.find('a');
orders.find('b');
";

const USERS_FIND: &str = "scip-typescript npm app 1.0.0 `users.ts`/Users#find().";
const ORDERS_FIND: &str = "scip-typescript npm app 1.0.0 `orders.ts`/Orders#find().";
const EXTERNAL: &str = "scip-typescript npm lodash 4.17.21 `index.d.ts`/debounce().";

pub fn occurrence(range: &[i32], symbol: &str, roles: i32) -> Occurrence {
    Occurrence { range: range.to_vec(), symbol: symbol.to_owned(), symbol_roles: roles, ..Occurrence::default() }
}

pub fn document(path: &str, encoding: PositionEncoding, occurrences: Vec<Occurrence>) -> Document {
    Document {
        relative_path: path.to_owned(),
        position_encoding: EnumOrUnknown::new(encoding),
        occurrences,
        ..Document::default()
    }
}

pub fn index(documents: Vec<Document>) -> Index {
    let tool = ToolInfo { name: "scip-typescript".to_owned(), version: "0.4.0".to_owned(), ..ToolInfo::default() };
    Index {
        metadata: MessageField::some(Metadata { tool_info: MessageField::some(tool), ..Metadata::default() }),
        documents,
        ..Index::default()
    }
}

/// The SCIP file of the project, with the columns of each document in another unit.
fn of_project() -> Index {
    use PositionEncoding::{
        UTF8CodeUnitOffsetFromLineStart as Utf8, UTF16CodeUnitOffsetFromLineStart as Utf16,
        UTF32CodeUnitOffsetFromLineStart as Utf32,
    };
    index(vec![
        document("users.ts", Utf16, vec![occurrence(&[1, 2, 6], USERS_FIND, DEFINITION)]),
        document("orders.ts", Utf32, vec![occurrence(&[1, 2, 1, 6], ORDERS_FIND, DEFINITION)]),
        document(
            "app.ts",
            Utf8,
            vec![
                occurrence(&[1, 6, 13], "local 1", DEFINITION),
                // Behind two letters of two bytes.
                occurrence(&[1, 25, 29], USERS_FIND, READ),
                occurrence(&[2, 7, 11], ORDERS_FIND, READ),
            ],
        ),
    ])
}

pub fn write(repo: &Repo, path: &str, index: &Index) {
    repo.write(path, index.write_to_bytes().unwrap());
}

/// `file:line:column` and, if it is not that of the whole answer, the precision.
pub fn positions(answer: &Value, list: &str) -> Vec<String> {
    let of = |one: &Value| {
        let precision = one["precision"].as_str().map_or_else(String::new, |precision| format!(" {precision}"));
        format!("{}:{}:{}{precision}", one["file"].as_str().unwrap(), one["line"], one["column"])
    };
    answer[list].as_array().unwrap().iter().map(of).collect()
}

pub fn definition(repo: &Repo, file: &str, line: u32, column: u32) -> Value {
    repo.call("goto_definition", &json!({ "file": file, "line": line, "column": column }))
}

pub fn references(repo: &Repo, file: &str, line: u32, column: u32) -> Value {
    repo.call("find_references", &json!({ "file": file, "line": line, "column": column }))
}

#[test]
fn a_scip_file_distinguishes_symbols_of_the_same_name() {
    let repo = Repo::new(PROJECT);
    let by_syntax = references(&repo, "users.ts", 2, 3);
    assert_eq!(by_syntax["precision"], "syntax");
    write(&repo, "index.scip", &of_project());
    let users = references(&repo, "users.ts", 2, 3);
    assert_eq!(users["precision"], "scip", "{users}");
    assert_eq!(positions(&users, "references"), ["app.ts:2:24", "users.ts:2:3"], "{users}");
    assert_eq!(
        (&users["references"][0]["role"], &users["references"][1]["role"]),
        (&json!("read"), &json!("definition"))
    );
    assert_eq!(users["complete"], Value::Null, "{users}");
    let orders = definition(&repo, "app.ts", 3, 9);
    assert_eq!(
        (positions(&orders, "definitions"), &orders["precision"]),
        (vec!["orders.ts:2:3".to_owned()], &json!("scip"))
    );
    assert_eq!(orders["definitions"][0]["kind"], "method", "{orders}");
    let local = references(&repo, "app.ts", 2, 8);
    assert_eq!((positions(&local, "references"), &local["precision"]), (vec!["app.ts:2:7".to_owned()], &json!("scip")));
    // A position about which it states nothing.
    assert_eq!(definition(&repo, "app.ts", 1, 10)["precision"], "syntax");
    let unlisted = repo
        .call("find_references", &json!({ "file": "users.ts", "line": 2, "column": 3, "include_declaration": false }));
    assert_eq!(positions(&unlisted, "references"), ["app.ts:2:24"]);
}

/// scip-typescript does so where one project refers to another one of the same package.
#[test]
fn references_that_name_a_definition_by_its_package_are_those_of_the_definition() {
    let repo = Repo::new(
        r#"
//- /package.json
{ "name": "zoo" }
//- /src/util.ts
export function feed() {}
//- /tests/app.ts
import { feed } from '../src/util';
feed();
"#,
    );
    let by_package = "scip-typescript npm zoo 1.2.3 src/`util.ts`/feed().";
    // The file of another package has the same path in it.
    let foreign = "scip-typescript npm lodash 4.17.21 src/`util.ts`/feed().";
    let uses = |symbol: &str| vec![occurrence(&[0, 9, 13], symbol, READ), occurrence(&[1, 0, 4], symbol, READ)];
    for (symbol, found) in [(by_package, 3), (foreign, 1)] {
        let defined = occurrence(&[0, 16, 20], "scip-typescript npm . . `util.ts`/feed().", DEFINITION);
        let documents = vec![
            document("src/util.ts", PositionEncoding::UTF16CodeUnitOffsetFromLineStart, vec![defined]),
            document("tests/app.ts", PositionEncoding::UTF16CodeUnitOffsetFromLineStart, uses(symbol)),
        ];
        write(&repo, "index.scip", &index(documents));
        let answer = references(&repo, "src/util.ts", 1, 17);
        assert_eq!((&answer["precision"], positions(&answer, "references").len()), (&json!("scip"), found), "{answer}");
        let answer = definition(&repo, "tests/app.ts", 2, 1);
        let expected = if symbol == by_package { vec!["src/util.ts:1:17".to_owned()] } else { Vec::new() };
        assert_eq!(positions(&answer, "definitions"), expected, "{answer}");
    }
}

#[test]
fn relations_and_changes_use_what_a_scip_file_states() {
    let repo = Repo::new(PROJECT);
    let called_by = |repo: &Repo| {
        let answer = repo.call("get_symbol", &json!({ "symbol_name": "Users.find", "relations": true }));
        let groups = answer["relations"][0]["groups"].as_array().unwrap().clone();
        let callers = groups.iter().find(|group| group["relation"] == "called_by");
        let items = callers.map_or_else(Vec::new, |group| group["items"].as_array().unwrap().clone());
        items
            .iter()
            .map(|item| format!("{}:{} {}", item["file_path"].as_str().unwrap(), item["line"], item["how"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(called_by(&repo), [""; 0]);
    write(&repo, "index.scip", &of_project());
    assert_eq!(called_by(&repo), ["app.ts:2 \"scip\""]);
}

#[test]
fn in_files_that_changed_only_what_still_fits_counts_and_the_rest_is_by_syntax() {
    let repo = Repo::new(
        "//- /lib.ts\nexport function charge() {}\n//- /app.ts\nimport { charge } from './lib';\ncharge();\ncharge();\n",
    );
    let symbol = "scip-typescript npm app 1.0.0 `lib.ts`/charge().";
    let uses = [&[0, 9, 15], &[1, 0, 6], &[2, 0, 6]].map(|range| occurrence(range, symbol, READ));
    let unit = PositionEncoding::UnspecifiedPositionEncoding;
    let stated = index(vec![
        document("lib.ts", unit, vec![occurrence(&[0, 16, 22], symbol, DEFINITION)]),
        document("app.ts", unit, uses.to_vec()),
    ]);
    write(&repo, "index.scip", &stated);
    let all = ["app.ts:1:10", "app.ts:2:1", "app.ts:3:1", "lib.ts:1:17"];
    assert_eq!(positions(&references(&repo, "lib.ts", 1, 17), "references"), all);
    // One line more above them: nothing is where it was but one.
    let text = fs::read_to_string(repo.path().join("app.ts")).unwrap();
    repo.write("app.ts", format!("// moved\n{text}"));
    let moved = references(&repo, "lib.ts", 1, 17);
    let expected = ["app.ts:2:10 syntax", "app.ts:3:1", "app.ts:4:1 syntax", "lib.ts:1:17"];
    assert_eq!(positions(&moved, "references"), expected, "{moved}");
    assert_eq!(moved["complete"], false, "{moved}");
    expect!["2 references, marked `syntax` or `name`, are where the SCIP file says nothing, or in files that changed since the SCIP file was written or that it does not cover."].assert_eq(moved["reason"].as_str().unwrap());
    assert_eq!(definition(&repo, "app.ts", 4, 1)["precision"], "syntax");
    assert_eq!(definition(&repo, "app.ts", 3, 1)["precision"], "scip");
    // A new file that it does not cover.
    repo.write("app.ts", &text);
    repo.write("more.ts", "import { charge } from './lib';\n");
    let more = references(&repo, "lib.ts", 1, 17);
    assert_eq!(positions(&more, "references"), [&all[..], &["more.ts:1:10 syntax"]].concat(), "{more}");
    repo.remove("more.ts");
    // What is as it was again counts again.
    assert_eq!(positions(&references(&repo, "lib.ts", 1, 17), "references"), all);
    // A new SCIP file replaces the old one; without one, syntax answers.
    let mut other = stated;
    other.documents.remove(0);
    write(&repo, "index.scip", &other);
    assert_eq!(definition(&repo, "app.ts", 3, 1)["definitions"], json!([]));
    fs::remove_file(repo.path().join("index.scip")).unwrap();
    assert_eq!(definition(&repo, "app.ts", 3, 1)["precision"], "syntax");
}

#[test]
fn a_daemon_sees_a_scip_file_that_comes_changes_and_goes() {
    let repo = Repo::new(PROJECT);
    let mut server = Server::start_mcp(repo.command(&["mcp"]));
    let mut precision =
        || server.tool("goto_definition", &json!({ "file": "app.ts", "line": 3, "column": 9 }))["precision"].clone();
    assert_eq!(precision(), "syntax");
    write(&repo, "index.scip", &of_project());
    assert_eq!(precision(), "scip");
    fs::remove_file(repo.path().join("index.scip")).unwrap();
    assert_eq!(precision(), "syntax");
    write(&repo, "index.scip", &of_project());
    assert_eq!(precision(), "scip");
}

#[test]
fn relationships_connect_symbols_also_in_cycles_and_external_ones_keep_their_package() {
    let repo = Repo::new(PROJECT);
    let mut related = of_project();
    let relation =
        |symbol: &str| Relationship { symbol: symbol.to_owned(), is_reference: true, ..Relationship::default() };
    for (symbol, other) in [(USERS_FIND, ORDERS_FIND), (ORDERS_FIND, USERS_FIND), (USERS_FIND, USERS_FIND)] {
        related.documents[0].symbols.push(SymbolInformation {
            symbol: symbol.to_owned(),
            relationships: vec![relation(other)],
            ..SymbolInformation::default()
        });
    }
    related.documents[2].occurrences.push(occurrence(&[0, 9, 14], EXTERNAL, READ));
    write(&repo, "index.scip", &related);
    let all = references(&repo, "users.ts", 2, 3);
    assert_eq!(positions(&all, "references"), ["app.ts:2:24", "app.ts:3:8", "orders.ts:2:3", "users.ts:2:3"], "{all}");
    let external = definition(&repo, "app.ts", 1, 11);
    assert_eq!(external["definitions"], json!([]));
    assert_eq!(external["external"], "npm lodash 4.17.21 `index.d.ts`/debounce().", "{external}");
}

#[test]
fn documents_with_another_text_or_commit_and_hostile_ones_state_nothing() {
    let repo = Repo::new(PROJECT);
    let outside = repo.home().join("outside.ts");
    fs::write(&outside, "export function find() {}\n").unwrap();
    let mut hostile = of_project();
    // Its text is another one: only positions that hold the name count, and of those none is off.
    hostile.documents[0].text = "something else".to_owned();
    let far = |path: &str| {
        let occurrences = vec![
            occurrence(&[900_000, 0, 4], USERS_FIND, READ),
            occurrence(&[0, 900_000, 900_004], USERS_FIND, READ),
            occurrence(&[-1, 0, 4], USERS_FIND, READ),
            occurrence(&[1, 9, 3], USERS_FIND, READ),
            occurrence(&[1], USERS_FIND, READ),
            occurrence(&[0, 0, i32::MAX, i32::MAX], USERS_FIND, READ),
            occurrence(&[0, 0, 4], "\0not a symbol\n", READ),
            occurrence(&[0, 0, 4], "", READ),
        ];
        document(path, PositionEncoding::UnspecifiedPositionEncoding, occurrences)
    };
    for path in [
        "../outside.ts",
        outside.to_str().unwrap(),
        "missing.ts",
        "",
        ".git/config",
        "orders.ts/../users.ts",
        "setup\n.ts",
    ] {
        hostile.documents.push(far(path));
    }
    hostile.documents.push(far("app.ts"));
    write(&repo, "index.scip", &hostile);
    let found = references(&repo, "orders.ts", 2, 3);
    assert_eq!(positions(&found, "references"), ["app.ts:3:8", "orders.ts:2:3"], "{found}");
    let users = references(&repo, "users.ts", 2, 3);
    expect![[r#"
        app.ts:2:24
        users.ts:2:3"#]]
    .assert_eq(&positions(&users, "references").join("\n"));
    assert!(!users.to_string().contains("outside"), "{users}");
    let file = || {
        let listed: Value = serde_json::from_str(&repo.ok(&["scip", "list", "--json"])).unwrap();
        listed["files"][0].clone()
    };
    assert_eq!(file()["tool"], "scip-typescript 0.4.0");
    let mut listed = format!("hostile: {}", repo.ok(&["scip", "list"]));
    // What cannot be read as SCIP is reported, and nothing of it is used.
    let whole = of_project().write_to_bytes().unwrap();
    for (kind, bytes) in [("cut off", &whole[..whole.len() - 7]), ("garbage", &b"\xff\xff\xff"[..])] {
        repo.write("index.scip", bytes);
        assert_eq!(definition(&repo, "app.ts", 3, 9)["precision"], "syntax");
        assert_eq!(file()["problem"], "it is not a SCIP file: Unexpected EOF");
        listed += &format!("{kind}: {}", repo.ok(&["scip", "list"]));
    }
    let large = fs::File::create(repo.path().join("index.scip")).unwrap();
    large.set_len(2 << 30).unwrap();
    assert_eq!(definition(&repo, "app.ts", 3, 9)["precision"], "syntax");
    listed += &format!("large: {}", repo.ok(&["scip", "list"]));
    expect![[r#"
        hostile: index.scip  (scip-typescript 0.4.0, 11 documents, 5 occurrences)
        cut off: index.scip  (not used: it is not a SCIP file: Unexpected EOF)
        garbage: index.scip  (not used: it is not a SCIP file: Unexpected EOF)
        large: index.scip  (not used: it has 2048 MB; at most 256 MB are read)
    "#]]
    .assert_eq(&listed);
    // Nothing is followed out of the repository.
    fs::remove_file(repo.path().join("index.scip")).unwrap();
    fs::write(repo.home().join("x.scip"), of_project().write_to_bytes().unwrap()).unwrap();
    std::os::unix::fs::symlink(repo.home().join("x.scip"), repo.path().join("index.scip")).unwrap();
    assert_eq!(definition(&repo, "app.ts", 3, 9)["precision"], "syntax");
    std::os::unix::fs::symlink(repo.home(), repo.path().join("link")).unwrap();
    repo.write(".ixmcp.toml", "[scip]\nfiles = [\"link/x.scip\"]\n");
    let listed: Value = serde_json::from_str(&repo.ok(&["scip", "list", "--json"])).unwrap_or_default();
    assert!(listed["files"].as_array().is_none_or(|files| files.iter().all(|file| file["documents"] == 0)), "{listed}");
}

#[test]
fn files_of_the_setting_and_loaded_ones_are_used_and_removed() {
    let repo = Repo::new(PROJECT);
    for (name, text) in [("users.ts", "users"), ("orders.ts", "orders"), ("app.ts", "app")] {
        let text = format!("// {text}\n{}", fs::read_to_string(repo.path().join(name)).unwrap());
        repo.write(&format!("packages/shop/{name}"), text.split_once('\n').unwrap().1);
    }
    // Paths in it are relative to the folder that it is in.
    write(&repo, "packages/shop/shop.scip", &of_project());
    repo.write(".ixmcp.toml", "[scip]\nfiles = [\"packages/shop/shop.scip\"]\n");
    let shop = definition(&repo, "packages/shop/app.ts", 3, 9);
    assert_eq!(positions(&shop, "definitions"), ["packages/shop/orders.ts:2:3"], "{shop}");
    assert_eq!(shop["precision"], "scip");
    // A file from elsewhere is copied.
    let elsewhere = repo.home().join("built.scip");
    fs::write(&elsewhere, of_project().write_to_bytes().unwrap()).unwrap();
    let loaded = repo.ok(&["scip", "load", elsewhere.to_str().unwrap()]);
    expect![[r#"
        built.scip  (scip-typescript 0.4.0, 3 documents, 5 occurrences)
    "#]]
    .assert_eq(&loaded);
    fs::remove_file(&elsewhere).unwrap();
    assert_eq!(positions(&definition(&repo, "app.ts", 3, 9), "definitions"), ["orders.ts:2:3"]);
    let all = references(&repo, "orders.ts", 2, 3);
    assert!(
        positions(&all, "references").contains(&"packages/shop/app.ts:3:8".to_owned()),
        "one symbol of two files: {all}"
    );
    repo.ok(&["scip", "remove", "built.scip"]);
    assert_eq!(definition(&repo, "app.ts", 3, 9)["precision"], "syntax");
    expect![[r#"
        $ ixmcp scip remove ../index.db
        ixmcp: INVALID_ARGUMENT: no SCIP file ../index.db was loaded. `ixmcp scip list` lists them.
        $ ixmcp scip load missing.scip
        ixmcp: INVALID_PATH: cannot read missing.scip: No such file or directory (os error 2). Check the path: the file does not exist.
        $ ixmcp scip load app.ts
        ixmcp: UNSUPPORTED_FORMAT: app.ts: it is not a SCIP file: Unexpected wire type. Have its indexer write it again.
    "#]].assert_eq(&repo.failures(
        &[&["scip", "remove", "../index.db"], &["scip", "load", "missing.scip"], &["scip", "load", "app.ts"]],
        &[],
    ));
}

#[test]
fn the_rows_are_those_of_a_new_index_whatever_came_before() {
    let repo = Repo::new(PROJECT);
    let rows = || {
        repo.sync();
        let query =
            "SELECT d.path, d.hash IS NULL, o.line, o.start_column, o.end_line, o.end_column, s.symbol, s.name, o.roles
            FROM scip_documents d JOIN scip_occurrences o ON o.document = d.id JOIN scip_symbols s ON s.id = o.symbol
            ORDER BY 1, 3, 4, 7";
        repo.ok(&["sql", query])
    };
    write(&repo, "index.scip", &of_project());
    rows();
    repo.write("app.ts", "// nothing\n");
    write(&repo, "index.scip", &index(Vec::new()));
    repo.sync();
    write(&repo, "index.scip", &of_project());
    let incremental = rows();
    assert!(incremental.lines().count() >= 2, "{incremental}");
    fs::remove_dir_all(repo.path().join(".ixmcp")).unwrap();
    assert_eq!(rows(), incremental);
}

/// Runs scip-typescript in a repository.
pub fn indexed_by_scip_typescript(repo: &Repo) -> Index {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    let indexer = clients.join("scip/node_modules/.bin/scip-typescript");
    assert!(indexer.exists(), "{} is missing: run .ci/setup", indexer.display());
    let node = clients.join("node/node_modules/.bin/node");
    let path = format!("{}:{}", node.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new(&indexer).arg("index").current_dir(repo.path()).env("PATH", path).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Index::parse_from_bytes(&fs::read(repo.path().join("index.scip")).unwrap()).unwrap()
}

/// Compares what a SCIP file states with what the tools answer, for each symbol of each file. Returns how many.
fn is_answered(repo: &Repo, index: &Index) -> usize {
    let mut uses: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let key = |document: &Document, symbol: &str| match symbol.starts_with("local ") {
        true => format!("{} {symbol}", document.relative_path),
        false => symbol.to_owned(),
    };
    for document in &index.documents {
        let mut seen = BTreeSet::new();
        for one in &document.occurrences {
            // One symbol may be stated twice at one position.
            if seen.insert((&one.range, &one.symbol)) {
                let count = uses.entry(key(document, &one.symbol)).or_default();
                count.0 += 1;
                count.1 += usize::from(one.symbol_roles & DEFINITION != 0);
            }
        }
    }
    let mut server = Server::start_mcp(repo.command(&["mcp"]));
    let mut compared = 0;
    for document in &index.documents {
        let text = fs::read_to_string(repo.path().join(&document.relative_path)).unwrap();
        let shared = |range: &[i32]| document.occurrences.iter().filter(|one| one.range == range).count() > 1;
        let mut symbols = BTreeSet::new();
        for one in &document.occurrences {
            let range: Vec<usize> = one.range.iter().map(|number| usize::try_from(*number).unwrap()).collect();
            let &[at, from, to] = range.as_slice() else { continue };
            let line: Vec<u16> = text.lines().nth(at).unwrap().encode_utf16().collect();
            let column = String::from_utf16(&line[..from]).unwrap().chars().count() + 1;
            let held = String::from_utf16(&line[from..to]).unwrap();
            // The path of an import is not a name.
            let is_name = !held.is_empty() && held.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            if !is_name || !symbols.insert(&one.symbol) {
                continue;
            }
            let given = json!({ "file": document.relative_path, "line": at + 1, "column": column });
            let answer = server.tool("find_references", &given);
            assert_eq!(answer["precision"], "scip", "{held} at {given}: {answer}");
            let defined = server.tool("goto_definition", &given);
            let (uses, definitions) = uses[&key(document, &one.symbol)];
            let total = usize::try_from(answer["total"].as_u64().unwrap()).unwrap();
            assert!(total >= uses, "{held} at {given}: {uses} of {answer}");
            let found = defined["definitions"].as_array().unwrap().len();
            // A shorthand property has the definitions of both of its symbols, and a reference that names its definition by
            // the package finds the definition that is named by its project.
            let has_more = shared(&one.range) || definitions == 0;
            let is_whole = if has_more { found >= definitions } else { found == definitions };
            assert!(is_whole, "{held} at {given}: {definitions} of {defined}");
            compared += 1;
        }
    }
    compared
}

/// A library with tests, which are a project of their own that references that of the library.
#[test]
#[ignore = "most of it is the time of scip-typescript: `.ci/soak golden` runs it"]
fn statements_about_all_files_of_a_typescript_library_are_answered() {
    let sources =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients/typescript-library/node_modules/zod/src/v3");
    assert!(sources.exists(), "{} is missing: run .ci/setup", sources.display());
    let settings =
        r#"{"composite": true, "target": "es2022", "module": "nodenext", "moduleResolution": "nodenext", "types": []}"#;
    let repo = Repo::new("//- /package.json\n{\"name\": \"zod\", \"version\": \"3.25.76\", \"type\": \"module\"}\n");
    copy(&sources, &repo.path().join("src"));
    fs::remove_dir_all(repo.path().join("src/benchmarks")).unwrap();
    repo.write("tsconfig.json", r#"{"files": [], "references": [{"path": "./src"}, {"path": "./src/tests"}]}"#);
    repo.write(
        "src/tsconfig.json",
        format!(r#"{{"compilerOptions": {settings}, "include": ["."], "exclude": ["tests"]}}"#),
    );
    let tests = format!(r#"{{"compilerOptions": {settings}, "include": ["."], "references": [{{"path": ".."}}]}}"#);
    repo.write("src/tests/tsconfig.json", tests);
    let index = indexed_by_scip_typescript(&repo);
    assert!(index.documents.len() > 70, "{}", index.documents.len());
    let compared = is_answered(&repo, &index);
    assert!(compared > 2_500, "{compared}");
}

/// Statements of scip-typescript, compared with the tools' answers.
#[test]
fn every_statement_of_scip_typescript_about_unchanged_files_is_answered() {
    let repo = Repo::new(
        r#"
//- /package.json
{"name": "shop", "version": "1.0.0"}
//- /tsconfig.json
{"compilerOptions": {"target": "es2020", "module": "commonjs", "strict": true}, "include": ["src"]}
//- /src/price.ts
export interface Priced { price(): number }
export class Item implements Priced {
  constructor(private readonly cents: number, readonly name: string) {}
  price(): number { return this.cents / 100; }
}
export class Gift implements Priced {
  price(): number { return 0; }
}
export default function sum(all: Priced[]): number {
  let total = 0;
  for (const one of all) total += one.price();
  return total;
}
//- /src/user.service.ts
import add, { Item, Gift as Present } from './price';
export { Item } from './price';
const größe = new Item(250, '😀'); const again = größe;
export const whole = add([größe, new Present(), again]);
//- /src/nameless.ts
export const one = { email: 'a', length: 1 };
export const two = { email: 'b', nested: { email: 'c' } };
export type Three = { email: string } | { email: number };
export class Account {
  get owner() { return one.email; }
  set owner(value: string) { one.email = value; }
}
export const owner = new Account().owner + two.nested.email;
"#,
    );
    let index = indexed_by_scip_typescript(&repo);
    let compared = is_answered(&repo, &index);
    assert!(compared > 30, "{compared}");
}

#[test]
fn indexers_run_only_from_outside_of_the_repository_and_after_a_yes() {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    let programs = clients.join("scip/node_modules/.bin");
    assert!(programs.join("scip-typescript").exists(), "{} is missing: run .ci/setup", programs.display());
    let repo = Repo::new(
        "//- /tsconfig.json\n{\"include\": [\"*.ts\"]}\n//- /lib.ts\nexport function charge() {}\ncharge();\n//- /package.json\n{\"name\": \"shop\"}\n",
    );
    let mark = repo.home().join("it-ran");
    repo.write("node_modules/.bin/scip-typescript", format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let own = repo.path().join("node_modules/.bin");
    fs::set_permissions(own.join("scip-typescript"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let make = |path: &[&Path], arguments: &[&str]| {
        let system = std::env::var_os("PATH").unwrap();
        let path =
            std::env::join_paths(path.iter().map(|path| path.to_path_buf()).chain(std::env::split_paths(&system)));
        let output =
            repo.command(&[&["scip", "make"], arguments].concat()).env("PATH", path.unwrap()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    // A repository that puts a program of that name on the path.
    let (code, _, shadowed) = make(&[&own], &["--yes"]);
    assert_eq!((code, mark.exists()), (1, false), "{shadowed}");
    let node = clients.join("node/node_modules/.bin");
    let (code, _, unconfirmed) = make(&[&programs, &node], &[]);
    assert_eq!(code, 2, "{unconfirmed}");
    let (code, stdout, stderr) = make(&[&programs, &node], &["--yes"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("scip-typescript index --output") && stdout.contains("scip-typescript.scip  (1 documents"),
        "{stdout}{stderr}"
    );
    assert_eq!(positions(&references(&repo, "lib.ts", 2, 1), "references"), ["lib.ts:1:17", "lib.ts:2:1"]);
    assert_eq!(references(&repo, "lib.ts", 2, 1)["precision"], "scip");
    let (code, _, unknown) = make(&[], &["scip-cobol"]);
    assert_eq!(code, 2, "{unknown}");
    let refused = format!("shadowed: {shadowed}unconfirmed: {unconfirmed}unknown: {unknown}");
    let root = repo.path().canonicalize().unwrap();
    let refused = refused.replace(root.to_str().unwrap(), "REPOSITORY").replace(clients.to_str().unwrap(), "CLIENTS");
    expect![[r#"
        shadowed: scip-typescript is not on PATH
        unconfirmed: ixmcp: INVALID_ARGUMENT: not run: CLIENTS/scip/node_modules/.bin/scip-typescript index --output REPOSITORY/.ixmcp/made/scip-typescript.scip. An indexer runs build scripts of the repository. Give --yes if you trust it.
        unknown: ixmcp: INVALID_ARGUMENT: ixmcp knows no indexer scip-cobol. There are: scip-typescript, rust-analyzer, scip-go, scip-java, scip-clang, scip-ruby, scip-dotnet. Load the file of another one with `ixmcp scip load`.
    "#]].assert_eq(&refused);
}
