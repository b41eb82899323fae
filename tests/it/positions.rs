//! Positions in files of every language: a name is what the language's syntax tree has there, whatever characters it is made of.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ixmcp::extract::{self, Options};
use ixmcp::model::{RepoPath, Symbol};
use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

/// The fixtures of all languages, without their expectations: paths in a repository, and where they are.
fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages");
    let mut files = Vec::new();
    for language in fs::read_dir(&root).unwrap() {
        for file in fs::read_dir(language.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "expect") {
                files.push((file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), file));
            }
        }
    }
    files.sort();
    files
}

/// Whether an answer lists a position as a definition or a candidate.
fn lists(answer: &Value, path: &str, symbol: &Symbol) -> bool {
    ["definitions", "candidates", "symbols"].iter().filter_map(|list| answer[list].as_array()).flatten().any(|one| {
        let file = one.get("file").unwrap_or(&one["file_path"]);
        (file.as_str(), one["line"].as_u64(), one["column"].as_u64())
            == (Some(path), Some(symbol.line.into()), Some(symbol.column.into()))
    })
}

/// The authority for what is defined where is extraction, whose results the golden files of each language show.
#[test]
fn every_definition_is_found_at_its_own_name_and_by_its_printed_name() {
    let repo = Repo::new("");
    let fixtures = fixtures();
    for (path, file) in &fixtures {
        repo.write(path, fs::read(file).unwrap());
    }
    repo.sync();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let (mut wrong, mut walked) = (Vec::new(), 0);
    // Many languages define the same names.
    let mut answers: HashMap<String, Value> = HashMap::new();
    for (path, file) in &fixtures {
        let bytes = fs::read(file).unwrap();
        let extracted = extract::extract(&RepoPath::new(path.as_str()).unwrap(), &bytes, &Options::default()).unwrap();
        let separator =
            extract::LANGUAGES.iter().find(|one| one.name == extracted.language).map_or(".", |one| one.separator);
        for symbol in &extracted.symbols {
            walked += 1;
            let at = json!({ "file": path, "line": symbol.line, "column": symbol.column });
            let mut calls = vec![("goto_definition", at)];
            let name = &symbol.name;
            let container = symbol.container.as_ref().map(|container| format!("{container}{separator}{name}"));
            for name in [Some(name.clone()), container].into_iter().flatten() {
                calls.push(("goto_definition", json!({ "symbol_name": name, "file": path })));
                calls.push(("get_symbol", json!({ "symbol_name": name, "limit": 1000 })));
            }
            for (tool, arguments) in calls {
                let key = format!("{tool} {arguments}");
                let answer: &Value = answers.entry(key).or_insert_with(|| server.response(tool, &arguments));
                let answer = answer.get("result").unwrap_or(answer);
                // Of several definitions of one symbol a name stands for the first one.
                let is_first = tool == "get_symbol" || arguments.get("symbol_name").is_none();
                let found = lists(answer, path, symbol)
                    || (!is_first && ["definitions", "candidates"].iter().any(|list| answer[list][0].is_object()));
                if !found {
                    wrong.push(format!("{tool} {arguments} {} {answer}", symbol.kind));
                }
            }
        }
    }
    assert!(walked > 1000, "{walked}");
    assert!(wrong.is_empty(), "{} of {walked} definitions:\n{}", wrong.len(), wrong.join("\n"));
}

/// Files of many languages in which `▲` precedes each place that names what `●` precedes.
const NAMED: &[(&str, &str)] = &[
    ("a.php", "<?php\nclass A {\n    private int $●count = 0;\n    function run() { return $this->▲count; }\n}\n"),
    ("b.php", "<?php\n$●total = 1;\necho ▲$total;\necho $▲total;\n"),
    (
        "c.php",
        "<?php\nclass P {\n    function __construct(private int $●size) {}\n    function s() { return $this->▲size; }\n}\n",
    ),
    ("a.ps1", "function ●Get-Berth { param($n) $n }\nG▲et-Berth 1\nGet▲-Berth 2\nGet-▲Berth 3\n"),
    ("b.ps1", "$●limit = 3\nWrite-Output ▲$limit\nWrite-Output $▲limit\n"),
    ("a.js", "class Vault {\n  ●#key = 1;\n  open() { return this.▲#key + this.#▲key; }\n}\n"),
    ("a.ex", "defmodule Depot do\n  def ●save!(x), do: x\n  def ●run(x), do: ▲save!(x)\nend\n"),
    ("b.ex", "defmodule Pump do\n  def ●on?(x), do: x\n  def run(x), do: on▲?(x)\nend\n"),
    ("a.rb", "class Jar\n  def ●full?\n    true\n  end\n\n  def check\n    ▲full?\n    full▲?\n  end\nend\n"),
    ("b.rb", "class Lid\n  def ●shut!\n    true\n  end\n\n  def check\n    shut▲!\n  end\nend\n"),
    ("a.cpp", "struct Buoy { ●~Buoy(); };\n"),
    ("b.cpp", "struct V { int x; V ●operator+(const V &o) const; };\n"),
    ("a.css", ":root { ●--gap: 1px; }\n.a { margin: var(▲--gap); padding: var(--g▲ap); }\n"),
    ("a.sh", "●log-it() { echo; }\n▲log-it one\nlog▲-it two\nlog-▲it three\n"),
    ("b.sh", "●VERSION=1\necho \"▲$VERSION\"\necho \"$▲VERSION\"\necho ▲${VERSION}\necho ${▲VERSION}\n"),
    ("a.nix", "let\n  ●my-name = 1;\nin\n  ▲my-name + my-▲name\n"),
    ("a.kt", "fun `●my name`() {}\nfun run() { `▲my name`() }\n"),
    ("a.scala", "object A {\n  def `●type-of`(n: Int) = n\n  def run() = `▲type-of`(1)\n}\n"),
    ("a.swift", "func `●default`() {}\nfunc run() { `▲default`() }\n"),
    ("a.R", "●print.widget <- function(x) x\n▲print.widget(1)\nprint.▲widget(2)\n"),
    (
        "a.tf",
        "variable \"●region\" {}\nlocals {\n  ●zone = var.▲region\n}\noutput \"o\" { value = \"${local.▲zone}\" }\n",
    ),
    ("a.mk", "●OUT := out\nall:\n\techo $(▲OUT)\n"),
    ("a.erl", "-module(a).\n'●big name'() -> ok.\nrun() -> '▲big name'().\n"),
    ("c.rb", "class Can\n  def ●lid=(x)\n    @lid = x\n  end\n\n  def go\n    self.▲lid = 1\n  end\nend\n"),
    (
        "d.php",
        "<?php\nclass S {\n    static int $●count = 0;\n    function run() {\n        return self::$▲count + self::▲$count;\n    }\n}\n",
    ),
    ("a.zig", "const ●@\"my name\" = 1;\npub fn f() void {\n    _ = @\"▲my name\";\n}\n"),
    ("a.sql", "CREATE TABLE \"●Order Lines\" (id int);\nSELECT * FROM \"▲Order Lines\";\n"),
    ("a.hs", "module A where\n●step' :: Int -> Int\nstep' x = x\nrun = ▲step' 1\n"),
    (
        "a.proto",
        "syntax = \"proto3\";\npackage a.b;\nmessage ●Mast {}\nmessage N {\n  ▲Mast m = 1;\n  a.b.▲Mast k = 2;\n}\n",
    ),
    ("Dockerfile", "FROM a AS ●build\nFROM b\nCOPY --from=▲build /x /y\n"),
    ("a.cmake", "set(●MY_VAR 1)\nmessage(${▲MY_VAR})\n"),
    ("a.jl", "function ●push!(x)\n  x\nend\n▲push!(1)\npush▲!(2)\n"),
];

#[test]
fn a_name_with_punctuation_or_a_sigil_is_found_where_it_is_used() {
    let repo = Repo::new("");
    let mut asked = Vec::new();
    for (path, marked) in NAMED {
        let text: String = marked.chars().filter(|c| !matches!(c, '●' | '▲')).collect();
        repo.write(path, text);
        let (mut line, mut column) = (1, 1);
        let (mut definitions, mut uses) = (Vec::new(), Vec::new());
        for character in marked.chars() {
            match character {
                '●' => definitions.push((line, column)),
                '▲' => uses.push((line, column)),
                '\n' => (line, column) = (line + 1, 1),
                _ => column += 1,
            }
        }
        asked.push((*path, definitions, uses));
    }
    repo.sync();
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut wrong = Vec::new();
    for (path, definitions, uses) in asked {
        for position in definitions.iter().chain(&uses) {
            let (line, column) = position;
            let answer = server.call("goto_definition", &json!({ "file": path, "line": line, "column": column }));
            let found = &answer["definitions"][0];
            let found = (found["file"].as_str().unwrap_or_default(), found["line"].as_u64(), found["column"].as_u64());
            let is_expected = |(line, column): &(u64, u64)| found == (path, Some(*line), Some(*column));
            let own = [*position];
            let expected: &[(u64, u64)] = if uses.contains(position) { &definitions } else { &own };
            if !expected.iter().any(is_expected) {
                wrong.push(format!("{path}:{line}:{column} is {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `var.region`, `each.key`, comments, numbers and keywords.
#[test]
fn what_is_not_a_name_has_no_definition() {
    let repo = Repo::new("//- /a.rs\nfn value() -> i32 {\n    return 12 + 3;\n}\n//- /b.sh\nlog() { :; }\necho 1\n");
    for (file, line, column) in [("a.rs", 2, 6), ("a.rs", 2, 12), ("a.rs", 2, 15), ("b.sh", 2, 6)] {
        let answer = repo.call("goto_definition", &json!({ "file": file, "line": line, "column": column }));
        assert_eq!(answer["definitions"], json!([]), "{file}:{line}:{column} {answer}");
    }
}
