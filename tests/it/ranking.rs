//! Order of search results: definitions, forms of words, messages of programs, copies.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

fn hits(repo: &Repo, text: &str) -> Vec<Value> {
    repo.call("query", &json!({ "text": text }))["results"].as_array().unwrap().clone()
}

fn first(repo: &Repo, text: &str) -> (String, u64) {
    let hits = hits(repo, text);
    let hit = hits.first().unwrap_or_else(|| panic!("{text} finds nothing"));
    (hit["file_path"].as_str().unwrap().to_owned(), hit["line"].as_u64().unwrap())
}

#[test]
fn a_noun_is_found_in_both_numbers() {
    let repo = Repo::new(
        "//- /one.py\ndef alias_of(name):\n    return name\n//- /many.py\ndef resolve_aliases(names):\n    return names\n\
        //- /sql.py\ndef rebuild_indices(tables):\n    return tables\n",
    );
    for text in ["alias", "aliases", "what is an alias called", "are aliases followed"] {
        let answer = repo.call("query", &json!({ "text": text, "explain": true }));
        let by_words = answer["results"].as_array().unwrap().iter().filter(|hit| hit["parts"].get("words").is_some());
        let mut found: Vec<&Value> = by_words.map(|hit| &hit["file_path"]).collect();
        found.sort_by_key(|path| path.to_string());
        assert_eq!(found, ["many.py", "one.py"], "{text}: {answer}");
    }
    assert_eq!(first(&repo, "rebuild an index").0, "sql.py");
}

/// A type that is defined once, and a word in many other files.
fn drivers() -> Repo {
    let mut tree = String::from(
        "//- /include/fs.h\n#ifndef FS_H\n#define FS_H\n\nstruct file_operations {\n    int (*open)(void);\n};\n\n#endif\n",
    );
    for name in ["char", "disk", "mouse", "serial", "tape"] {
        tree.push_str(&format!(
            "//- /drivers/file_operations/{name}.c\n#include \"fs.h\"\n\nstatic int {name}_open(void) {{ return 0; }}\n\n\
            static const struct file_operations {name}_file_operations = {{\n    .open = {name}_open,\n}};\n\n\
            struct file_operations *{name}_operations(struct file_operations *file_operations) {{\n    \
            return file_operations ? file_operations : &{name}_file_operations;\n}}\n"
        ));
    }
    Repo::new(&tree)
}

#[test]
fn a_keyword_next_to_a_name_asks_for_its_definition() {
    let repo = drivers();
    let definition = ("include/fs.h".to_owned(), 4);
    for text in ["struct file_operations", "file_operations", "file_operations struct"] {
        assert_eq!(first(&repo, text), definition, "{text}");
    }
    let repo = Repo::new("//- /a.py\ndef Task():\n    pass\n//- /b.py\nclass Task:\n    pass\n");
    assert_eq!(first(&repo, "class Task").0, "b.py");
    assert_eq!(first(&repo, "def Task").0, "a.py");
}

#[test]
fn a_second_word_does_not_hide_a_type_with_the_exact_name() {
    let mut tree =
        String::from("//- /runtime.py\nclass Undefined:\n    def fail(self):\n        raise TypeError(self)\n");
    for number in 0..60 {
        tree.push_str(&format!(
            "//- /visit{number:02}.py\ndef visit_{number}(node):\n    # an undefined variable; a variable may be undefined\n    \
            variable = node.variable_{number}\n    return undefined(variable)\n\
            //- /other{number:02}.py\nnumber_{number} = {number}\n"
        ));
    }
    let repo = Repo::new(&tree);
    let found = hits(&repo, "undefined variable");
    assert!(found.iter().any(|hit| hit["symbol_name"] == "Undefined"), "{found:?}");
    assert_eq!(first(&repo, "undefined").0, "runtime.py");
}

#[test]
fn a_type_comes_before_a_field_of_the_same_name() {
    let repo = Repo::new(
        "//- /a.py\nclass Store:\n    cache = None\n\n    def open(self):\n        self.cache = open_cache(self.cache)\n\
        //- /b.py\nclass Cache:\n    entries = None\n",
    );
    assert_eq!(first(&repo, "cache"), ("b.py".to_owned(), 1));
}

#[test]
fn the_last_component_of_a_dotted_name_counts_as_the_name() {
    let repo = Repo::new(
        "//- /lib/a.ex\ndefmodule Store.Adapter do\n  def run(query), do: all(query, query)\nend\n\
        //- /lib/b.ex\ndefmodule Store.Query do\n  def from(source), do: source\nend\n",
    );
    assert_eq!(first(&repo, "Query"), ("lib/b.ex".to_owned(), 1));
}

#[test]
fn words_for_a_folder_prefer_what_is_in_it() {
    let mut tree = String::new();
    for part in ["arm", "mips", "x86"] {
        tree.push_str(&format!(
            "//- /arch/{part}/mm/fault.c\n/* Handles a page fault. */\nvoid do_page_fault(void) {{\n}}\n"
        ));
    }
    let repo = Repo::new(&tree);
    assert_eq!(first(&repo, "page fault handler x86").0, "arch/x86/mm/fault.c");
    assert_eq!(first(&repo, "page fault handler mips").0, "arch/mips/mm/fault.c");
}

#[test]
fn words_for_a_backend_a_version_or_a_platform_prefer_its_file() {
    let mut tree = String::new();
    for backend in ["memcached", "redis", "sqlite"] {
        tree.push_str(&format!(
            "//- /cache/backends/{backend}.py\nclass Cache:\n    def expire_keys(self):\n        \"\"\"Keys expire in the backend.\"\"\"\n        \
            self.client.expire(self.keys)\n"
        ));
    }
    for version in ["v2", "v3"] {
        tree.push_str(&format!(
            "//- /api/{version}/client.go\npackage client\n\n// Opens a connection to the server.\nfunc OpenConnection(server string) error {{\n\treturn nil\n}}\n"
        ));
    }
    for platform in ["unix", "windows"] {
        tree.push_str(&format!(
            "//- /term/size_{platform}.go\npackage term\n\n// Reads the size of the terminal.\nfunc TerminalSize() (int, int) {{\n\treturn 80, 25\n}}\n"
        ));
    }
    let repo = Repo::new(&tree);
    for (text, path) in [
        ("expire keys in the redis backend", "cache/backends/redis.py"),
        ("expire keys in the sqlite backend", "cache/backends/sqlite.py"),
        ("open a connection to the server v2", "api/v2/client.go"),
        ("open a connection to the server v3", "api/v3/client.go"),
        ("size of the terminal on unix", "term/size_unix.go"),
        ("size of the terminal on windows", "term/size_windows.go"),
    ] {
        assert_eq!(first(&repo, text).0, path, "{text}");
    }
}

#[test]
fn the_area_of_a_subject_prefers_what_is_in_it() {
    let mut tree = String::new();
    for area in ["lexer", "parser", "printer"] {
        tree.push_str(&format!(
            "//- /src/{area}/limits.py\ndef check_depth(tree, limit):\n    if tree.depth > limit:\n        raise {area}_error(tree)\n"
        ));
    }
    let repo = Repo::new(&tree);
    for text in
        ["parser: check the depth of the tree", "fix(parser)!: check the depth", "[parser] check the depth limit"]
    {
        assert_eq!(first(&repo, text).0, "src/parser/limits.py", "{text}");
    }
    assert_eq!(first(&repo, "feat(printer): check the depth limit").0, "src/printer/limits.py");
}

#[test]
fn a_sentence_finds_the_method_whose_name_its_words_make_up() {
    let mut tree = String::from(
        "//- /src/JsonBuilder.java\npublic final class JsonBuilder {\n    public JsonBuilder registerTypeAdapter(Type type, Object adapter) {\n        \
        this.factories.add(adapter);\n        return this;\n    }\n}\n",
    );
    for number in 0..12 {
        tree.push_str(&format!(
            "//- /src/adapters/TypeAdapter{number:02}.java\n/** A custom type adapter; custom adapters are for custom types. */\n\
            public class TypeAdapter{number:02} {{\n    // An adapter of a type is where custom types are adapted.\n    \
            TypeAdapter{number:02} adapter;\n}}\n"
        ));
    }
    let repo = Repo::new(&tree);
    let found = hits(&repo, "where are custom type adapters registered");
    assert!(found.iter().any(|hit| hit["file_path"] == "src/JsonBuilder.java"), "{found:?}");
}

#[test]
fn tests_changelogs_guards_and_closing_braces_are_not_first() {
    let repo = Repo::new(
        "//- /src/token_bucket.c\n#include \"token_bucket.h\"\n\nint token_bucket_take(struct token_bucket *bucket)\n{\n    return bucket->tokens--;\n}\n\
        //- /src/token_bucket.h\n#ifndef TOKEN_BUCKET_H\n#define TOKEN_BUCKET_H\n\nstruct token_bucket {\n    int tokens;\n};\n\nint token_bucket_take(struct token_bucket *bucket);\n\n\
        #endif /* TOKEN_BUCKET_H */\n\
        //- /tests/test_token_bucket.c\n/* Take a token from the token bucket. */\nstatic void test_token_bucket_take(void)\n{\n    \
        token_bucket_take(&token_bucket);\n} /* take a token from the token bucket */\n\
        //- /CHANGELOG.md\n# Changelog\n\n- Take a token from the token bucket.\n- The token bucket: take a token.\n",
    );
    for text in ["take a token from the token bucket", "token bucket", "token_bucket_take"] {
        let (path, line) = first(&repo, text);
        assert!(path.starts_with("src/"), "{text}: {path}");
        let source = std::fs::read_to_string(repo.path().join(&path)).unwrap();
        let shown = source.lines().nth(usize::try_from(line).unwrap() - 1).unwrap();
        assert!(shown.contains("token_bucket") && !shown.starts_with('#'), "{text}: {path}:{line}: {shown}");
    }
}

#[test]
fn a_line_that_imports_a_name_is_not_shown_for_it() {
    let repo = Repo::new("//- /a.py\nfrom queues import worker\n\n\nif True:\n    print(worker)\n");
    assert_eq!(first(&repo, "worker"), ("a.py".to_owned(), 5));
}

#[test]
fn a_pasted_message_is_found_by_the_text_around_its_values() {
    let repo = Repo::new(
        "//- /src/archive.py\ndef read(path, count):\n    raise ValueError(f\"cannot open {path!r}: {count} records are left\")\n\
        //- /src/kestrel.py\n# kestrel 4711 kestrel.bin in /srv/data\nKESTREL = 4711\nPATH = '/srv/data/kestrel.bin'\nkestrel = open(PATH)\n\
        //- /data/kestrel.txt\n4711 kestrel srv data kestrel.bin records\n",
    );
    for text in [
        "ValueError: cannot open '/srv/data/kestrel.bin': 4711 records are left",
        "2026-02-03 10:11:12 ERROR cannot open '/srv/data/kestrel.bin': 4711 records are left",
    ] {
        assert_eq!(first(&repo, text), ("src/archive.py".to_owned(), 2), "{text}");
    }
}

#[test]
fn copies_of_a_text_are_one_hit() {
    let text = "# Zebra crossings\n\nA zebra crossing is painted every third year, by the town, at the cost of its neighbours.\n";
    let mut tree = String::new();
    for version in ["v2", "v9", "v10"] {
        tree.push_str(&format!("//- /www/versioned_docs/{version}/crossing.md\n{text}"));
    }
    tree.push_str("//- /www/other.md\nA zebra.\n");
    let repo = Repo::new(&tree);
    let found = hits(&repo, "how is a zebra crossing painted");
    let paths: Vec<&str> = found.iter().map(|hit| hit["file_path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["www/versioned_docs/v10/crossing.md", "www/other.md"]);
    assert_eq!((&found[0]["similar"], found[1].get("similar")), (&json!(2), None), "{found:?}");
    assert_eq!(
        (&found[0]["similar_in"], found[1].get("similar_in")),
        (&json!("www/versioned_docs"), None),
        "{found:?}"
    );
    expect![[r#"
        www/versioned_docs/v10/crossing.md:1  [Zebra crossings]  (and 2 copies) in www/versioned_docs
            # Zebra crossings
        www/other.md:1
            A zebra.
    "#]]
    .assert_eq(&repo.ok(&["query", "zebra", "crossing"]));
}
