//! The program as a person runs it.

use std::fs;

use expect_test::expect;
use serde_json::json;

use crate::support::harness::{Repo, shown_run};

const SMALL: &str = "\
//- /src/shop.py
class Cart:
    def total_price(self):
        return sum(self.items)

def checkout(cart):
    return cart.total_price()
//- /README.md
# Shop

How to check out.
//- /notes.txt
nothing here
";

#[test]
fn a_sync_counts_what_changed_since_the_last_one() {
    let repo = Repo::new(SMALL);
    let first = repo.sync();
    assert_eq!((&first["added"], &first["modified"], &first["deleted"]), (&json!(3), &json!(0), &json!(0)));
    assert_eq!(repo.sync()["unchanged"], 3);

    repo.write("src/shop.py", "def checkout(cart):\n    return 1\n");
    repo.write("src/new.py", "x = 1\n");
    repo.remove("notes.txt");
    let second = repo.sync();
    assert_eq!((&second["added"], &second["modified"], &second["deleted"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(second["unchanged"], 1);
}

#[test]
fn advice_names_only_what_the_command_takes_also_if_a_daemon_answers() {
    let repo = Repo::new(SMALL);
    let said = || {
        let commands: [&[&str]; 3] =
            [&["rename", "qzqzqz", "x"], &["slice", "src/shop.py", "5", "2"], &["symbol", "Cart", "--kind", "cartoon"]];
        let stderr = commands.map(|words| String::from_utf8(repo.run(words).stderr).unwrap());
        stderr.map(|text| text.split_inclusive("cartoon\"").next().unwrap().trim_end().to_owned()).join("\n")
    };
    let alone = said();
    expect![[r#"
        ixmcp: NOT_FOUND: no definition of `qzqzqz` is indexed. Give `FILE:LINE:COLUMN`. Search with `ixmcp query`.
        ixmcp: INVALID_ARGUMENT: `END` 2 is before `START` 5; the file has 6 lines. Give 1-based lines with `START` ≤ `END`.
        ixmcp: INVALID_ARGUMENT: option `--kind`: there is no kind "cartoon""#]]
    .assert_eq(&alone);
    repo.ok(&["daemon", "start"]);
    assert_eq!(said(), alone);
}

#[test]
fn a_symbol_that_is_not_there_has_the_suggestions_of_the_answer() {
    let repo = Repo::new(SMALL);
    expect![[r#"
        $ ixmcp symbol Carts
        nothing is named Carts
        did you mean: Cart
        exit code 1
    "#]]
    .assert_eq(&repo.transcript(&[&["symbol", "Carts"]], &[]));
    let answer: serde_json::Value = serde_json::from_slice(&repo.run(&["symbol", "Carts", "--json"]).stdout).unwrap();
    assert_eq!(answer["suggestions"], json!(["Cart"]));
}

#[test]
fn errors_name_commands_to_people_and_tools_to_clients() {
    let (repo, empty) = (Repo::new(SMALL), Repo::new(""));
    let commands = repo.failures(
        &[
            &["documents", "update", "src"],
            &["documents", "remove", "src"],
            &["documents", "show", "src"],
            &["type-at", "notes.txt:1:1"],
            &["slice", "/etc/passwd", "1"],
            &["slice", "src/shp.py", "1"],
        ],
        &[],
    );
    expect![[r#"
        $ ixmcp documents update src
        ixmcp: INDEX_NOT_FOUND: the folder REPOSITORY/src was never indexed. Index it with `ixmcp documents index` first.
        $ ixmcp documents remove src
        ixmcp: INDEX_NOT_FOUND: the folder REPOSITORY/src is not indexed as documents. No folder is indexed. Index one with `ixmcp documents index`.
        $ ixmcp documents show src
        ixmcp: INVALID_PATH: src is a folder. Name one of its files. `ixmcp files` shows them.
        $ ixmcp type-at notes.txt:1:1
        ixmcp: INVALID_ARGUMENT: argument `POSITION`: only Python files have types. For other languages use `ixmcp def` or `ixmcp symbol`.
        $ ixmcp slice /etc/passwd 1
        ixmcp: INVALID_PATH: /etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `ixmcp documents index` first.
        $ ixmcp slice src/shp.py 1
        ixmcp: INVALID_PATH: src/shp.py does not exist. Did you mean src/shop.py?
    "#]].assert_eq(&commands);
    expect![[r#"
        $ ixmcp documents search x
        ixmcp: INDEX_NOT_FOUND: nothing is indexed. Index a folder with `ixmcp documents index`.
    "#]]
    .assert_eq(&empty.failures(&[&["documents", "search", "x"]], &[]));
    expect![[r#"
        $ ixmcp call update_index --args '{"folderPath":"src"}'
        ixmcp: INDEX_NOT_FOUND: the folder src was never indexed. Index it with `index_files` first.
    "#]]
    .assert_eq(&repo.refusals(&[("update_index", json!({ "folderPath": "src" }))], &[]));
}

#[test]
fn a_change_that_a_read_applied_first_is_counted_by_the_next_sync() {
    let repo = Repo::new(SMALL);
    repo.sync();
    repo.write("src/new.py", "fresh_name = 1\n");
    assert_eq!(repo.call("query", &json!({ "text": "fresh_name" }))["results"][0]["file_path"], "src/new.py");
    assert_eq!(repo.sync()["added"], 1);
    assert_eq!(repo.sync()["added"], 0);
}

#[test]
fn a_rewrite_of_the_same_length_with_the_old_time_is_noticed() {
    let repo = Repo::new(SMALL);
    repo.sync();
    let path = repo.path().join("notes.txt");
    let old = fs::metadata(&path).unwrap().modified().unwrap();
    repo.write("notes.txt", "something ok\n");
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(repo.sync()["modified"], 1);
}

#[test]
fn force_makes_every_row_again_and_changes_nothing() {
    let repo = Repo::new(SMALL);
    let first = repo.sync();
    let text = repo.ok(&["sync", "--json", "--force"]);
    let forced: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(forced["unchanged"], 3);
    assert_eq!(forced["chunks"], first["chunks"]);
    assert_eq!(repo.call("get_symbol", &json!({ "symbol_name": "checkout" }))["total"], 1);
}

#[test]
fn a_symbol_is_found_with_its_references() {
    let repo = Repo::new(SMALL);
    let answer = repo.call("get_symbol", &json!({ "symbol_name": "Cart.total_price" }));
    assert_eq!(
        answer["symbols"],
        json!([
            {"name": "total_price", "kind": "method", "role": "definition", "file_path": "src/shop.py", "line": 2,
             "column": 9, "end_line": 3, "container": "Cart", "signature": "def total_price(self)"},
            {"name": "total_price", "kind": "call", "role": "reference", "file_path": "src/shop.py", "line": 6,
             "column": 17},
        ])
    );
}

#[test]
fn a_slice_has_the_bytes_of_the_file() {
    let repo = Repo::new("");
    repo.write("crlf.txt", "one\r\ntwo\r\nthree");
    assert_eq!(repo.ok(&["slice", "crlf.txt", "2", "3"]), "two\r\nthree");
    assert_eq!(
        repo.call("get_slice", &json!({"file_path": "crlf.txt", "start_line": 1, "end_line": 99}))["end_line"],
        3
    );
}

#[test]
fn a_file_is_named_from_the_current_folder_or_from_the_root() {
    let repo = Repo::new(SMALL);
    repo.write("src/deep/only.py", "def alone(): pass\n");
    repo.write("src/both.txt", "below\n");
    repo.write("both.txt", "at the root\n");
    let from_src = |arguments: &[&str]| {
        let output = repo.command(arguments).current_dir(repo.path().join("src")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(from_src(&["slice", "deep/only.py", "1"]), "def alone(): pass\n");
    assert_eq!(from_src(&["slice", "src/deep/only.py", "1"]), "def alone(): pass\n");
    assert_eq!(from_src(&["slice", "deep/../deep/only.py", "1"]), "def alone(): pass\n");
    // As a shell completes names.
    assert_eq!(from_src(&["slice", "both.txt", "1"]), "below\n");
    let commands = [
        &["type-at", "deep/only.py:1:5"][..],
        &["def", "deep/only.py:1:5"],
        &["documents", "show", "deep/only.py"],
        &["slice", "../../etc/passwd", "1"],
    ];
    let printed = commands
        .map(|words| shown_run(words, &repo.command(words).current_dir(repo.path().join("src")).output().unwrap()));
    expect![[r#"
        $ ixmcp type-at deep/only.py:1:5
        alone: def alone() -> Unknown
            deep/only.py:1:5  def alone(): pass
        $ ixmcp def deep/only.py:1:5
        deep/only.py:1:5  function  def alone(): pass
        $ ixmcp documents show deep/only.py
        def alone(): pass
        $ ixmcp slice ../../etc/passwd 1
        ixmcp: INVALID_PATH: ../../etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `ixmcp documents index` first.
        exit code 2
    "#]].assert_eq(&printed.concat());
}

#[test]
fn nothing_outside_the_repository_is_read() {
    let repo = Repo::new(SMALL);
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", repo.path().join("etc")).unwrap();
    let absolute = outside.path().to_str().unwrap();
    let paths = ["../../etc/passwd", "/etc/passwd", "etc/passwd", "link.txt", absolute, "src/../../x", "\0", "", "src"];
    let calls = paths.map(|path| ("get_slice", json!({ "file_path": path, "start_line": 1, "end_line": 2 })));
    expect![[r#"
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"../../etc/passwd","start_line":1}'
        ixmcp: INVALID_PATH: ../../etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"/etc/passwd","start_line":1}'
        ixmcp: INVALID_PATH: /etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"etc/passwd","start_line":1}'
        ixmcp: INVALID_PATH: etc/passwd lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"link.txt","start_line":1}'
        ixmcp: INVALID_PATH: link.txt lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"OUTSIDE","start_line":1}'
        ixmcp: INVALID_PATH: OUTSIDE lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"src/../../x","start_line":1}'
        ixmcp: INVALID_PATH: src/../../x lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `index_files` first.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"\u0000","start_line":1}'
        ixmcp: INVALID_PATH: \u{0} holds a NUL character, which no path does. Give a path relative to the repository.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"","start_line":1}'
        ixmcp: INVALID_PATH: the path is empty. Give a path relative to the repository.
        $ ixmcp call get_slice --args '{"end_line":2,"file_path":"src","start_line":1}'
        ixmcp: INVALID_PATH: src is a folder. Name a file.
    "#]].assert_eq(&repo.refusals(&calls, &[(absolute, "OUTSIDE")]));
}

#[test]
fn skipped_files_are_listed_with_their_reasons() {
    let repo = Repo::new(SMALL);
    repo.write("image.bin", [0_u8, 159, 146, 150]);
    repo.write(".env", "PASSWORD=1\n");
    repo.write("app.min.js", "x");
    let answer: serde_json::Value = serde_json::from_str(&repo.ok(&["files", "--skipped", "--json"])).unwrap();
    let pairs: Vec<_> =
        answer["skipped"].as_array().unwrap().iter().map(|file| (&file["path"], &file["reason"])).collect();
    assert_eq!(
        pairs,
        [
            (&json!(".env"), &json!("secret")),
            (&json!("app.min.js"), &json!("minified")),
            (&json!("image.bin"), &json!("binary")),
        ]
    );
    expect![[r#"
        $ ixmcp slice .env 1
        ixmcp: INVALID_PATH: .env may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
    "#]].assert_eq(&repo.failures(&[&["slice", ".env", "1"]], &[]));
}

#[test]
fn exit_codes_distinguish_found_nothing_and_error() {
    let repo = Repo::new(SMALL);
    assert_eq!(repo.run(&["query", "checkout"]).status.code(), Some(0));
    assert_eq!(repo.run(&["query", "zzzz_not_there"]).status.code(), Some(1));
    assert_eq!(repo.run(&["query", "-m", "regex", "("]).status.code(), Some(2));
}

#[test]
fn a_file_that_is_not_an_index_is_kept() {
    let repo = Repo::new(SMALL);
    repo.write(".ixmcp/index.db", "this is a diary");
    expect![[r#"
        $ ixmcp sql 'SELECT 1'
        ixmcp: CORRUPT_INDEX: the index is damaged (file is not a database). Run `ixmcp rebuild` to build it again.
    "#]]
    .assert_eq(&repo.failures(&[&["sql", "SELECT 1"]], &[]));
    assert_eq!(fs::read(repo.database()).unwrap(), b"this is a diary");

    repo.ok(&["rebuild"]);
    assert_eq!(fs::read(repo.path().join(".ixmcp/index.db.bad")).unwrap(), b"this is a diary");
    assert_eq!(repo.sync()["unchanged"], 3);
}

#[test]
fn an_index_of_a_newer_version_is_left_alone() {
    let repo = Repo::new(SMALL);
    repo.sync();
    let newer = "INSERT INTO refinery_schema_history VALUES (999, 'future', '2099-01-01T00:00:00Z', '0')";
    let status = std::process::Command::new("sqlite3").arg(repo.database()).arg(newer).status().unwrap();
    assert!(status.success());
    expect![[r#"
        $ ixmcp query checkout
        ixmcp: NEWER_INDEX: REPOSITORY/.ixmcp/index.db has schema 999, this ixmcp knows up to 7. Use the newer ixmcp, or run `ixmcp rebuild` to build the index again with this one.
    "#]].assert_eq(&repo.failures(&[&["query", "checkout"]], &[]));
}

fn sqlite3(repo: &Repo, statements: &str) -> String {
    let output = std::process::Command::new("sqlite3").arg(repo.database()).arg(statements).output().unwrap();
    assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_index_with_another_schema_of_the_same_version_is_built_again() {
    let repo = Repo::new(SMALL);
    repo.sync();
    sqlite3(&repo, "UPDATE refinery_schema_history SET checksum = '1' WHERE version = 1; DROP TABLE reference_rows");
    assert_eq!(repo.sync()["added"], 3);
    assert_eq!(repo.sync()["unchanged"], 3);
}

/// The history that builds before the first release wrote: numbers up to 14, with gaps.
const OLD_NUMBERING: &str = "
    CREATE TABLE refinery_schema_history
        (version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255));
    INSERT INTO refinery_schema_history VALUES
        (1, 'init', '2026-11-20T00:00:00Z', '6842024445770290412'),
        (2, 'compact', '2026-11-20T00:00:00Z', '13826547754792540952'),
        (3, 'entities', '2026-11-20T00:00:00Z', '17212952266754301991'),
        (4, 'names_in_fts', '2026-11-20T00:00:00Z', '12594025681358705845'),
        (6, 'vectors', '2026-11-20T00:00:00Z', '206924444986449036'),
        (9, 'certain_links', '2026-11-20T00:00:00Z', '18307375012707971709'),
        (10, 'trigrams', '2026-11-20T00:00:00Z', '15301140852285469924'),
        (11, 'documents', '2026-11-20T00:00:00Z', '14202531692125083124'),
        (12, 'text_vectors', '2026-11-20T00:00:00Z', '18061721476058145570'),
        (13, 'terms_not_stored', '2026-11-20T00:00:00Z', '1489251886670858176'),
        (14, 'same_text', '2026-11-20T00:00:00Z', '4467449123732394402');
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('built', '1'), ('baseline:sync', '1');
    CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, path_words TEXT NOT NULL, language TEXT NOT NULL,
        extractor INTEGER NOT NULL, encoding TEXT, hash BLOB NOT NULL, lines INTEGER NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, seen_ns INTEGER NOT NULL,
        segment INTEGER, place INTEGER, chunking TEXT) STRICT;
";

#[test]
fn an_index_with_the_old_numbering_is_built_again_by_whatever_is_asked_first() {
    let repo = Repo::new(SMALL);
    repo.sync();
    let application = sqlite3(&repo, "PRAGMA application_id");
    // As if all had been indexed: a program that trusted these rows would not read the files again.
    let files = sqlite3(
        &repo,
        "SELECT 'INSERT INTO files VALUES (' || id || ',' || quote(path) || ','''',' || quote(language) || ',' || extractor ||
         ',NULL,' || quote(hash) || ',' || lines || ',' || size || ',' || mtime_ns || ',' || ctime_ns || ',' || inode || ',' ||
         seen_ns || ',NULL,NULL,NULL);' FROM files",
    );
    let asked = [
        &["query", "checkout"][..],
        &["sql", "SELECT count(*) FROM chunks"],
        &["call", "get_symbol", "--args", r#"{"symbol_name": "Cart"}"#],
    ];
    let expected = asked.map(|arguments| repo.ok(arguments));
    let becomes_old = || {
        fs::remove_dir_all(repo.path().join(".ixmcp")).unwrap();
        fs::create_dir(repo.path().join(".ixmcp")).unwrap();
        sqlite3(&repo, &format!("PRAGMA application_id = {application}; {OLD_NUMBERING} {files}"));
    };
    let oldest = || sqlite3(&repo, "SELECT min(version), name FROM refinery_schema_history");
    for (arguments, expected) in asked.into_iter().zip(expected) {
        becomes_old();
        assert_eq!(repo.ok(arguments), expected, "{arguments:?}");
        assert_eq!(oldest(), "1|schema\n", "{arguments:?}");
    }
    becomes_old();
    assert_eq!(repo.sync()["added"], 3);
    assert_eq!(oldest(), "1|schema\n");
    assert_eq!(repo.sync()["unchanged"], 3);
}

#[test]
fn the_index_can_be_asked_in_sql_but_not_changed() {
    let repo = Repo::new(SMALL);
    repo.sync();
    assert_eq!(repo.ok(&["sql", "SELECT path FROM files ORDER BY path"]), "path\nREADME.md\nnotes.txt\nsrc/shop.py\n");
    assert_eq!(repo.ok(&["sql", "SELECT vec_version() IS NOT NULL AS vec"]), "vec\n1\n");
    expect![[r#"
        $ ixmcp sql 'SELECT embed(NULL)'
        ixmcp: INVALID_ARGUMENT: SQL: Invalid type.
        $ ixmcp sql 'DELETE FROM files'
        ixmcp: READ_ONLY: `ixmcp sql` only reads the index: this statement changes, attaches or sets something. To change a copy, save one by `sqlite3 .ixmcp/index.db ".backup copy.db"` and open that.
    "#]].assert_eq(&repo.failures(&[&["sql", "SELECT embed(NULL)"], &["sql", "DELETE FROM files"]], &[]));
}

#[test]
fn sql_makes_no_file_and_sets_nothing() {
    let repo = Repo::new(SMALL);
    repo.sync();
    let before = fs::read(repo.database()).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("y.db");
    let path = file.to_str().unwrap();
    let statements = [
        format!("VACUUM INTO '{path}'"),
        format!("vacuum main into '{path}'"),
        "VACUUM".to_owned(),
        format!("ATTACH '{path}' AS y"),
        format!("ATTACH 'file:{path}?mode=rwc' AS y; CREATE TABLE y.t (a)"),
        format!("ATTACH '{}' AS other", repo.database().display()),
        "ATTACH ':memory:' AS m".to_owned(),
        "DETACH main".to_owned(),
        "CREATE TABLE t (a)".to_owned(),
        "CREATE TEMP TABLE t (a)".to_owned(),
        "CREATE VIRTUAL TABLE t USING fts5 (a)".to_owned(),
        "INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')".to_owned(),
        "DROP TABLE files".to_owned(),
        "ALTER TABLE files ADD COLUMN x".to_owned(),
        "REINDEX".to_owned(),
        "ANALYZE".to_owned(),
        "PRAGMA user_version = 7".to_owned(),
        "PRAGMA query_only = OFF".to_owned(),
        "PRAGMA journal_mode = DELETE".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "PRAGMA wal_checkpoint(TRUNCATE)".to_owned(),
        "PRAGMA incremental_vacuum".to_owned(),
        "PRAGMA optimize".to_owned(),
        format!("PRAGMA temp_store_directory = '{}'", outside.path().display()),
        "SELECT load_extension('/tmp/x')".to_owned(),
        // What precedes it may run; what follows it must not.
        format!("SELECT 1; VACUUM INTO '{path}'"),
        format!("SELECT writefile('{path}', 'x')"),
    ];
    let mut refused = std::collections::BTreeMap::<String, Vec<String>>::new();
    for statement in statements {
        refused.entry(repo.fails(&["sql", &statement])).or_default().push(statement);
    }
    let refused: String = refused.iter().map(|(error, given)| format!("{error}  {}\n", given.join("\n  "))).collect();
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: SQL: no such function: writefile in SELECT writefile('OUTSIDE/y.db', 'x') at offset 7.
          SELECT writefile('OUTSIDE/y.db', 'x')
        ixmcp: INVALID_ARGUMENT: SQL: not authorized to use function: load_extension in SELECT load_extension('/tmp/x') at offset 7.
          SELECT load_extension('/tmp/x')
        ixmcp: READ_ONLY: `ixmcp sql` only reads the index: this statement changes, attaches or sets something. To change a copy, save one by `sqlite3 .ixmcp/index.db ".backup copy.db"` and open that.
          VACUUM INTO 'OUTSIDE/y.db'
          vacuum main into 'OUTSIDE/y.db'
          VACUUM
          ATTACH 'OUTSIDE/y.db' AS y
          ATTACH 'file:OUTSIDE/y.db?mode=rwc' AS y; CREATE TABLE y.t (a)
          ATTACH 'REPOSITORY/.ixmcp/index.db' AS other
          ATTACH ':memory:' AS m
          DETACH main
          CREATE TABLE t (a)
          CREATE TEMP TABLE t (a)
          CREATE VIRTUAL TABLE t USING fts5 (a)
          INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')
          DROP TABLE files
          ALTER TABLE files ADD COLUMN x
          REINDEX
          ANALYZE
          PRAGMA user_version = 7
          PRAGMA query_only = OFF
          PRAGMA journal_mode = DELETE
          PRAGMA writable_schema = ON
          PRAGMA wal_checkpoint(TRUNCATE)
          PRAGMA incremental_vacuum
          PRAGMA optimize
          PRAGMA temp_store_directory = 'OUTSIDE'
          SELECT 1; VACUUM INTO 'OUTSIDE/y.db'
    "#]].assert_eq(&repo.named(&refused, &[(outside.path().to_str().unwrap(), "OUTSIDE")]));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(fs::read(repo.database()).unwrap() == before, "the index is what it was");
    for (admitted, first) in [
        ("BEGIN; SELECT count(*) FROM files; COMMIT", "count(*)"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n", "sum(i)"),
        ("SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH 'checkout'", "count(*)"),
        ("PRAGMA user_version", "user_version"),
        ("PRAGMA table_info(files)", "cid\tname\ttype\tnotnull\tdflt_value\tpk"),
        ("SELECT name FROM pragma_table_info('files') LIMIT 1", "name"),
        ("SELECT value FROM json_each('[1, 2]')", "value"),
        ("EXPLAIN QUERY PLAN SELECT * FROM files", "id\tparent\tnotused\tdetail"),
        ("VALUES (1)", "column1"),
    ] {
        assert_eq!(repo.ok(&["sql", admitted]).lines().next(), Some(first), "{admitted}");
    }
}

#[test]
fn two_programs_may_sync_at_once() {
    let repo = Repo::new(SMALL);
    for i in 0..200 {
        repo.write(&format!("many/f{i}.py"), format!("def f{i}(): return {i}\n"));
    }
    let children: Vec<_> = (0..4).map(|_| repo.command(&["sync", "--json"]).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(repo.ok(&["sql", "SELECT count(*) FROM files"]), "count(*)\n203\n");
    assert_eq!(repo.ok(&["sql", "PRAGMA integrity_check"]), "integrity_check\nok\n");
}

#[test]
fn links_among_the_files_of_the_index_are_never_written_through() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(repo.path().join(".ixmcp")).unwrap();
    for name in ["index.db", "index.db-wal", "index.db.new", "update.lock", "update.queue", "rebuild.lock", "open.lock"]
    {
        std::os::unix::fs::symlink(outside.path().join(name), repo.path().join(".ixmcp").join(name)).unwrap();
    }
    repo.sync();
    repo.ok(&["rebuild"]);
    assert_eq!(repo.ok(&["files"]), "a.py\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_rebuild_leaves_no_file_of_the_new_index_behind() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    repo.sync();
    repo.ok(&["rebuild"]);
    let left = fs::read_dir(repo.path().join(".ixmcp")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    left.sort();
    assert_eq!(
        left,
        [".gitignore", "build.lock", "index.db", "open.lock", "rebuild.lock", "update.lock", "update.queue"]
    );
}

#[test]
fn white_space_is_a_pattern_but_not_a_query() {
    let repo = Repo::new("//- /a.py\nx\n\ty\n");
    let found = repo.call("query", &json!({ "text": "\t", "mode": "literal" }));
    assert_eq!(found["results"][0]["line"], 2);
    assert_eq!(repo.call("query", &json!({ "text": " ", "mode": "regex" }))["total"], 0);
    expect![[r#"
        $ ixmcp query ' '
        ixmcp: INVALID_ARGUMENT: argument `TEXT` is empty. Give a query.
    "#]]
    .assert_eq(&repo.failures(&[&["query", " "]], &[]));
}

#[test]
fn blank_patterns_name_nothing() {
    let repo = Repo::new(
        r"
//- /a.py
x
//- /b/c.py
y
",
    );
    for arguments in [json!({ "include": [""] }), json!({ "exclude": ["", " "] }), json!({ "include": ["."] })] {
        assert_eq!(repo.call("list_files", &arguments)["total"], 2, "{arguments}");
    }
}

#[test]
fn a_limit_that_is_no_number_is_refused_with_what_to_give() {
    let repo = Repo::new(SMALL);
    let commands: [&[&str]; 5] = [
        &["query", "-n", "-1", "x"],
        &["query", "-n", "many", "x"],
        &["query", "--offset", "-2", "x"],
        &["symbol", "--limit", "-3", "x"],
        &["entity", "search", "-n", "-3", "x"],
    ];
    expect![[r#"
        $ ixmcp query -n -1 x
        error: invalid value '-1' for '--limit <LIMIT>': give a whole number of at least 1

        For more information, try '--help'.
        $ ixmcp query -n many x
        error: invalid value 'many' for '--limit <LIMIT>': give a whole number of at least 1

        For more information, try '--help'.
        $ ixmcp query --offset -2 x
        error: invalid value '-2' for '--offset <OFFSET>': give a whole number of at least 0

        For more information, try '--help'.
        $ ixmcp symbol --limit -3 x
        error: invalid value '-3' for '--limit <LIMIT>': give a whole number of at least 1

        For more information, try '--help'.
        $ ixmcp entity search -n -3 x
        error: invalid value '-3' for '--limit <LIMIT>': give a whole number of at least 1

        For more information, try '--help'.
    "#]]
    .assert_eq(&repo.failures(&commands, &[]));
    assert_eq!(repo.run(&["query", "-n", "99999999999999999999", "checkout"]).status.code(), Some(0));
}

#[test]
fn one_line_is_one_line_in_errors() {
    let repo = Repo::new("//- /one.py\nx = 1\n");
    let commands = [&["slice", "one.py", "9"][..], &["type-at", "one.py:9:1"], &["history", "one.py:9"]];
    expect![[r#"
        $ ixmcp slice one.py 9
        ixmcp: INVALID_ARGUMENT: line 9 is past the end; the file has 1 line. Give 1-based lines with `START` ≤ `END`.
        exit code 2
        $ ixmcp type-at one.py:9:1
        ixmcp: NOT_FOUND: line 9 is past the end; the file has 1 line. Lines and columns are 1-based; columns count characters.
        exit code 1
        $ ixmcp history one.py:9
        ixmcp: INVALID_ARGUMENT: one.py has 1 line. Give one of them, from 1, or the file alone.
        exit code 2
    "#]].assert_eq(&repo.transcript(&commands, &[]));
}
