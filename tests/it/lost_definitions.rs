//! Definitions that grammars lose in valid files, and names that define nothing, each with the answer of the language's own
//! parser, by the scripts of `tests/authorities`. `.ci/soak symbols` compares whole packages.

use ixmcp::extract::{self, Options};
use ixmcp::model::RepoPath;

/// The line, kind and name of each symbol.
fn symbols(name: &str, text: &str) -> Vec<String> {
    let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
    let row = |symbol: &ixmcp::model::Symbol| format!("{} {} {}", symbol.line, symbol.kind, symbol.name);
    extracted.symbols.iter().map(row).collect()
}

/// kotlin-compiler 2.4.20: the class, its property, and its method.
#[test]
fn a_kotlin_constructor_with_an_annotation_and_a_modifier_may_have_its_own_line() {
    let text = "package a\n\nclass Sail\n@VisibleForTesting\ninternal constructor(\n    @get:JvmName(\"area\") internal val area: Int,\n\
                \x20   name: String,\n) : Canvas(name) {\n    fun hoist() = area\n}\n";
    assert_eq!(symbols("Sail.kt", text), ["1 package a", "3 class Sail", "6 property area", "9 method hoist"]);
}

/// libclang 18.1.1, with `-DLIB_API=`: the macro, the class and its method. This file does not contain what the macro makes.
#[test]
fn the_text_of_a_macro_defines_nothing_but_the_macro() {
    let text = "#define FORMAT_AS(Type, Base) \\\n  template <typename Char> \\\n  struct formatter<Type, Char> : formatter<Base, Char> { \\\n\
                \x20   int parsed; \\\n  }\n\nclass LIB_API Pilot final : public Base { void steer(); };\n";
    assert_eq!(symbols("format.hpp", text), ["1 macro FORMAT_AS", "7 class Pilot", "7 method steer"]);
}

/// libclang 18.1.1, with `-DLIB_CONSTEXPR=constexpr -DLIB_EXPORT=`: one constructor, its fields, and two functions.
#[test]
fn macros_before_cpp_declarations_hide_no_definition() {
    let text = "struct rgb {\n  LIB_CONSTEXPR rgb(unsigned hex) : r((hex >> 16) & 0xFF), g((hex >> 8) & 0xFF) {}\n  unsigned char r;\n\
                \x20 unsigned char g;\n};\n\nLIB_EXPORT template <typename T>\nT first(T value) { return value; }\n\n\
                LIB_EXPORT LIB_CONSTEXPR inline int last() { return 1; }\n";
    let found = symbols("rgb.hpp", text);
    for wanted in ["1 struct rgb", "2 method rgb", "3 field r", "4 field g", "8 function first", "10 function last"] {
        assert!(found.contains(&wanted.to_owned()), "{wanted}: {found:?}");
    }
    assert_eq!(found.len(), 6, "{found:?}");
}

/// typescript 5.9.3: every bound name is a declaration; a parameter in a default value is not.
#[test]
fn names_bound_deep_in_a_pattern_are_defined() {
    let text = "export const { a, b: { c: first, d, e = 1 }, ...rest } = load();\nexport let [{ f }, [g], h = ({ inner }) => inner] = load();\n\
                export const { i: [j, { k }], l: { m } = {} } = load();\nvar { n: { o: { p = 2 } }, q = 3 } = load();\n";
    let wanted = [
        "1 constant a",
        "1 constant first",
        "1 constant d",
        "1 constant e",
        "1 constant rest",
        "2 variable f",
        "2 variable g",
        "2 variable h",
        "3 constant j",
        "3 constant k",
        "3 constant m",
        "4 variable q",
    ];
    for file in ["bound.ts", "bound.js"] {
        let found = symbols(file, text);
        let missing: Vec<&&str> = wanted.iter().filter(|wanted| !found.contains(&(**wanted).to_owned())).collect();
        assert!(
            missing.is_empty() && !found.iter().any(|one| one.ends_with(" inner")),
            "{file}: {missing:?} of {found:?}"
        );
    }
}

/// typescript 5.9.3: `file`, `lock`, `open` with its local `inner`, and `after`.
#[test]
fn resources_are_defined() {
    let text = "using file = open();\nawait using lock = take();\nfunction open() {\n    using inner = take();\n}\nconst after = 1;\n";
    for name in ["resource.ts", "resource.js"] {
        let found = symbols(name, text);
        for wanted in ["1 constant file", "2 constant lock", "3 function open", "6 constant after"] {
            assert!(found.contains(&wanted.to_owned()), "{name} {wanted}: {found:?}");
        }
    }
}

/// libpg-query 18.1.5: `average` and `top`.
#[test]
fn aggregates_are_functions() {
    let text = "CREATE AGGREGATE average(int) (SFUNC = add, STYPE = int);\n\n\
                CREATE OR REPLACE AGGREGATE s.top(text)  (\n    SFUNC = larger,\n    STYPE = text\n);\n";
    assert_eq!(symbols("aggregates.sql", text), ["1 function average", "3 function top"]);
}

/// libpg-query 18.1.5: a schema, a table with two columns, and an index. Neither `harbour`, `ON`, `boats` nor `EXCLUDE` is defined.
#[test]
fn options_of_sql_statements_define_nothing() {
    let text = "CREATE SCHEMA fleet AUTHORIZATION harbour;\n\nCREATE TABLE berths (\n    id int,\n    during tsrange,\n\
                \x20   EXCLUDE USING gist (during WITH &&)\n);\n\nCREATE INDEX ON berths USING gist (during range_ops(siglen = 2));\n\n\
                CREATE INDEX by_id ON berths (id);\n\nCREATE OPERATOR CLASS boat_ops\n    DEFAULT FOR TYPE boats USING gist AS\n\
                \x20   FUNCTION 1 boat_consistent(internal, boats);\n";
    let wanted = ["1 namespace fleet", "3 table berths", "4 field id", "5 field during", "11 index by_id"];
    assert_eq!(symbols("options.sql", text), wanted);
}
