//! Every language against its golden files: `fixtures/languages/<language>/<case>` next to `<case>.expect`.
//!
//! `UPDATE_EXPECT=1 cargo test languages` rewrites the expectations; read the difference.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use expect_test::expect_file;
use ixmcp::budget::Budget;
use ixmcp::extract::{self, LANGUAGES, Language, Options};
use ixmcp::model::{Extracted, References, RepoPath};

use crate::support::harness::{Repo, processor_time};
use crate::support::sound::{number, open, sync};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages")
}

/// Fixture files of a language, without the expectations.
fn cases(language: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder().join(language)) else { return Vec::new() };
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_none_or(|extension| extension != "expect"));
    cases.sort();
    cases
}

/// Place, kind and name of each use, in order of the text.
fn references(extracted: &Extracted) -> Vec<String> {
    let each = |found: &References| -> Vec<((u32, u32), String)> {
        let reported = |place: (u32, u32)| (place, format!("{}:{} {} {}", place.0, place.1, found.kind, found.name));
        found.positions().map(reported).collect()
    };
    let mut all: Vec<_> = extracted.references.iter().flat_map(each).collect();
    all.sort();
    all.into_iter().map(|(_, reported)| reported).collect()
}

/// The whole of an extraction as a person would want to read it.
fn render(extracted: &Extracted) -> String {
    let mut text = format!("{}, {} lines\n", extracted.language, extracted.lines);
    text.push_str("\nsymbols\n");
    for symbol in &extracted.symbols {
        let container = symbol.container.as_deref().map_or_else(String::new, |container| format!(" in {container}"));
        let signature = symbol.signature.as_deref().unwrap_or("");
        writeln!(
            text,
            "  {}:{} {} {}{container} [{}-{}] {signature}",
            symbol.line, symbol.column, symbol.kind, symbol.name, symbol.start_line, symbol.end_line
        )
        .unwrap();
    }
    text.push_str("\nreferences\n");
    for reference in references(extracted) {
        writeln!(text, "  {reference}").unwrap();
    }
    text.push_str("\nedges\n");
    for edge in &extracted.edges {
        let source = edge.symbol.map_or("file", |at| extracted.symbols[at].name.as_str());
        let name = edge.name.as_deref().map_or_else(String::new, |name| format!(" name {name}"));
        let alias = edge.alias.as_deref().map_or_else(String::new, |alias| format!(" as {alias}"));
        writeln!(text, "  {} {source} {} {}{name}{alias}", edge.line, edge.kind, edge.target).unwrap();
    }
    text.push_str("\nchunks\n");
    for chunk in &extracted.chunks {
        let first = chunk.text.lines().next().unwrap_or_default();
        writeln!(text, "  {}-{} @{} {first}", chunk.start_line, chunk.end_line, chunk.start_offset).unwrap();
    }
    for problem in &extracted.problems {
        writeln!(text, "problem {:?} {}", problem.line, problem.reason).unwrap();
    }
    text
}

#[test]
fn every_language_gives_its_golden_rows() {
    // Small chunks, so that short fixtures show where cuts are made.
    let options = Options { chunk_bytes: 400, ..Options::default() };
    for language in LANGUAGES {
        let cases = cases(language.name);
        assert!(!cases.is_empty(), "{} has no fixture in fixtures/languages/", language.name);
        for case in cases {
            let bytes = std::fs::read(&case).unwrap();
            let name = case.file_name().unwrap().to_str().unwrap();
            let path = RepoPath::new(name).unwrap();
            let extracted = extract::extract(&path, &bytes, &options).unwrap();
            assert_eq!(extracted.language, language.name, "{name} is taken for another language");
            let whole: String = extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            assert_eq!(whole.as_bytes(), bytes, "the chunks of {name} do not cover it");
            let expectation = case.with_file_name(format!("{name}.expect"));
            expect_file![expectation].assert_eq(&render(&extracted));
        }
    }
}

/// The index returns all that was extracted, although names are stored once and signatures are read off the text.
#[test]
fn the_index_gives_back_the_symbols_and_references_of_every_fixture() {
    let repo = Repo::new("");
    let cases: Vec<PathBuf> = LANGUAGES.iter().flat_map(|language| cases(language.name)).collect();
    for (at, case) in cases.iter().enumerate() {
        let name = case.file_name().unwrap().to_str().unwrap();
        repo.write(&format!("d{at}/{name}"), std::fs::read(case).unwrap());
    }
    repo.write("d/wide.py", "é = 'é'\n\n\ndef größe(\n\tbreite,\n\n    höhe):\n    return breite * höhe\n");
    let workspace = open(repo.path());
    sync(&workspace);
    let mut seen = 0;
    let paths = workspace.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)).unwrap();
    for (path, _) in paths {
        let bytes = std::fs::read(repo.path().join(&path)).unwrap();
        let extracted = extract::extract(&RepoPath::new(&*path).unwrap(), &bytes, &Options::default()).unwrap();
        let (stored, uses) = workspace
            .read(&Budget::unlimited(), |snapshot| {
                let (file, _) = snapshot.file(&path)?.unwrap();
                Ok((snapshot.declared_in(file)?, snapshot.references_within(file, 0, u32::MAX)?))
            })
            .unwrap();
        let row = |name: &str, kind: &str, container: Option<&str>, signature: Option<&str>, at: [u32; 4]| {
            format!("{name} {kind} {container:?} {signature:?} {at:?}")
        };
        let (mut stored, mut wanted): (Vec<String>, Vec<String>) = (
            stored
                .iter()
                .map(|found| &found.definition)
                .map(|d| {
                    let at = [d.line, d.column, d.start_line, d.end_line];
                    row(&d.name, &d.kind, d.container.as_deref(), d.signature.as_deref(), at)
                })
                .collect(),
            extracted
                .symbols
                .iter()
                .map(|s| {
                    let at = [s.line, s.column, s.start_line, s.end_line];
                    row(&s.name, s.kind, s.container.as_deref(), s.signature.as_deref(), at)
                })
                .collect(),
        );
        stored.sort();
        wanted.sort();
        assert_eq!(stored, wanted, "{path}");
        let uses: Vec<String> = uses.iter().map(|u| format!("{}:{} {} {}", u.line, u.column, u.kind, u.name)).collect();
        assert_eq!(uses, references(&extracted), "{path}");
        seen += stored.len() + uses.len();
    }
    assert!(seen > 1000, "only {seen} symbols and references");
}

#[test]
fn no_two_languages_claim_one_file() {
    let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    assert!(names.is_sorted(), "LANGUAGES is not in order of names: {names:?}");
    let claims: [fn(&Language) -> &'static [&'static str]; 3] =
        [|language| language.extensions, |language| language.file_names, |language| language.interpreters];
    for claim in claims {
        let mut taken = HashSet::new();
        for language in LANGUAGES {
            for word in claim(language) {
                assert!(taken.insert(*word), "{} claims {word}, which another language has", language.name);
            }
        }
    }
    for language in LANGUAGES {
        let lower = language.extensions.iter().all(|extension| extension.to_lowercase() == **extension);
        assert!(lower, "extensions of {} are compared in lower case", language.name);
    }
}

#[test]
fn headers_are_of_the_language_that_their_text_shows() {
    let language = |text: &str| extract::languages::of_file(&RepoPath::new("x.h").unwrap(), text).name;
    assert_eq!(
        language("#ifdef __cplusplus\nextern \"C\" {\n#endif\nstruct a;\n/* a class of\n * class things */\n"),
        "c"
    );
    assert_eq!(language("int class_of(int x);\n// class Old {};\n"), "c");
    assert_eq!(language("#pragma once\n  class A;\n"), "cpp");
    assert_eq!(language("template <typename T> T id(T);\n"), "cpp");
    assert_eq!(language("namespace a { int b; }\n"), "cpp");
    assert_eq!(language("void f(const std::string &);\n"), "cpp");
    assert_eq!(language("struct Vec { float length() const { return 0; } };\n"), "cpp");
    assert_eq!(language("struct Vec {\n  Vec operator+(const Vec &o);\n};\n"), "cpp");
    assert_eq!(language("float dot(const Vec &a, const Vec &b);\n"), "cpp");
    assert_eq!(language("enum class Color { Red };\n"), "cpp");
    assert_eq!(language("#ifdef __cplusplus\nclass A;\nvoid f(const A &a);\n#else\nstruct A;\n#endif\n"), "c");
    assert_eq!(language("/*\nclass comment {\n*/\nint f(int a, int *const b);\n#define AND(a) (x & (a))\n"), "c");
    assert_eq!(language("@protocol Sail;\n"), "objc");
    assert_eq!(language("NS_ASSUME_NONNULL_BEGIN\n"), "objc");
    assert_eq!(language("#import <Foundation/Foundation.h>\n"), "objc");
}

/// By MATLAB's manual, `%` begins a comment, and `function` and `classdef` begin a file; in Objective-C none of them does.
#[test]
fn a_text_shows_whether_it_is_matlab_or_objective_c() {
    let language = |text: &str| extract::languages::of_file(&RepoPath::new("x.m").unwrap(), text).name;
    assert_eq!(language("% fits\nx = 1;\n"), "matlab");
    assert_eq!(language("function [a, b] = fit(x)\nend\n"), "matlab");
    assert_eq!(language("classdef Boat < handle\nend\n"), "matlab");
    assert_eq!(language("\nx = zeros(3);\n"), "matlab");
    assert_eq!(language("#import \"Sail.h\"\n"), "objc");
    assert_eq!(language("// x\n@implementation Sail\n@end\n"), "objc");
    assert_eq!(language("int x = 3;\n"), "objc");
    assert_eq!(language("int main(void) {\n  return 0;\n}\n"), "objc");
}

/// A file with Flow's types is parsed with types, and is JavaScript nevertheless.
#[test]
fn javascript_with_types_has_its_types() {
    let types = |text: &str| {
        let extracted =
            extract::extract(&RepoPath::new("x.js").unwrap(), text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(extracted.language, "javascript");
        let all = extracted.symbols.iter().filter(|symbol| symbol.kind == "type");
        all.map(|symbol| symbol.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(types("// @flow\ntype A = string;\n"), ["A"]);
    assert_eq!(types("/**\n * @flow strict-local\n */\nexport opaque type B: string = string;\n"), ["B"]);
    assert_eq!(types("export type C<T> = { +a: T };\n"), ["C"]);
    assert_eq!(types("const type = 1;\nlet flow = '@flow';\ntype = 2;\n"), Vec::<String>::new());
}

/// An unclosed bracket takes what follows it, as far as the grammar is concerned.
#[test]
fn definitions_after_a_syntax_error_are_symbols() {
    let lines = |name: &str, text: &str| {
        let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &Options::default()).unwrap();
        let all = extracted.symbols.iter().map(|symbol| format!("{} {} {}", symbol.line, symbol.kind, symbol.name));
        all.collect::<Vec<_>>()
    };
    let python = "class Good:\n    def two(self, x\n        return x\n\n    def three(self):\n        return 3\n\n\n\
                  def later():\n    return [1, 2\n\n\nclass Last:\n    def four(self):\n        pass\n";
    let found = lines("b.py", python);
    for wanted in ["1 class Good", "5 method three", "9 function later", "13 class Last", "14 method four"] {
        assert!(found.iter().any(|line| line == wanted), "{wanted}: {found:?}");
    }
    let go = "package a\n\nfunc Broken( {\n\treturn\n}\n\nfunc Next() {}\n\ntype T struct{ A int }\n";
    let found = lines("a.go", go);
    for wanted in ["7 function Next", "9 struct T"] {
        assert!(found.iter().any(|line| line == wanted), "{wanted}: {found:?}");
    }
}

/// Generates equal numbers on every machine, from one seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// Texts of about `size` bytes that no person would write, some of them made from what a person did write in that language.
fn hostile(sample: &str, size: usize, random: &mut Random) -> Vec<(&'static str, String)> {
    let bytes: Vec<u8> = (0..size).map(|_| u8::try_from(random.next() & 0xff).unwrap()).collect();
    let words: Vec<&str> = sample.split_whitespace().collect();
    let line = if words.is_empty() { "word ".to_owned() } else { sample.replace(['\r', '\n'], " ") };
    let mut shuffled = String::new();
    while shuffled.len() < size {
        shuffled.push_str(words.get(random.below(words.len().max(1))).unwrap_or(&"word"));
        shuffled.push_str([" ", "\n", "", "\t"][random.below(4)]);
    }
    let cut = sample.floor_char_boundary(random.below(sample.len().max(1)));
    vec![
        ("empty", String::new()),
        ("only newlines", "\n".repeat(size)),
        ("only braces", "{".repeat(size)),
        ("only parentheses", "(".repeat(size)),
        ("only brackets", "[".repeat(size)),
        ("only tags", "<a>".repeat(size / 4)),
        ("only indents", (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("random bytes", String::from_utf8_lossy(&bytes).into_owned()),
        ("one long line", line.repeat(size * 10 / line.len().max(1) + 1)),
        ("CRLF", sample.replace('\n', "\r\n")),
        ("cut off", sample[..cut].to_owned()),
        ("shuffled words", shuffled),
        ("unfinished strings", "x = \"open\n'half \"\"\" `tick ${ #{ <<EOF\n".repeat(size / 40)),
        ("unfinished comments", "/* (* <!-- --[[ {- #| =begin\n".repeat(size / 40)),
        ("deep definitions", "function a() { class b { ".repeat(size / 10)),
    ]
}

/// A parser is given up after a number of steps that takes some seconds on a good machine and several times that on a
/// busy one.
const SECONDS_NOT_HOURS: Duration = Duration::from_secs(20);

#[test]
fn hostile_texts_are_covered_in_bounded_time() {
    let seed = 0x1234_5678;
    let size = usize::try_from(number("IXMCP_HOSTILE_BYTES", 3_000)).unwrap();
    println!("seed {seed:#x}, {size} bytes");
    let options = Options { skip_minified: false, skip_generated: false, ..Options::default() };
    for language in LANGUAGES {
        let mut random = Random(seed);
        let case = cases(language.name).into_iter().next().unwrap();
        let sample = std::fs::read_to_string(&case).unwrap();
        // The grammar is taken by name, so that no text chooses another.
        let name = case.file_name().unwrap().to_str().unwrap();
        for (kind, text) in hostile(&sample, size, &mut random) {
            let before = processor_time("thread-self");
            let path = RepoPath::new(name).unwrap();
            let Ok(extracted) = extract::extract(&path, text.as_bytes(), &options) else { continue };
            let took = processor_time("thread-self") - before;
            let whole: String = extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            assert_eq!(whole, text, "{}: the chunks of '{kind}' do not cover it", language.name);
            let total = u32::try_from(text.split_inclusive('\n').count()).unwrap();
            for symbol in &extracted.symbols {
                assert!(!symbol.name.is_empty(), "{}: a symbol of '{kind}' has no name", language.name);
                let inside = symbol.start_line <= symbol.end_line && symbol.end_line <= total.max(1);
                assert!(inside, "{}: '{kind}' has {symbol:?} in {total} lines", language.name);
            }
            assert!(took < SECONDS_NOT_HOURS, "{}: '{kind}' took {took:?}", language.name);
            if took > Duration::from_millis(500) {
                println!("{}: '{kind}' took {took:?}", language.name);
            }
        }
    }
}

/// Data files and generated code come in one line. Work for each node that grows with the node's distance from the
/// start of its line takes 64 times as long for 8 times the text.
#[test]
fn a_file_of_one_line_takes_time_that_grows_with_its_size() {
    let options = Options { skip_minified: false, skip_generated: false, ..Options::default() };
    // Nodes without symbols, and symbols behind characters of several bytes.
    for (name, before, unit, after) in [("a.py", "x=[", "1,", "]"), ("a.py", "", "é=1;", "")] {
        let [small, large] = [50_000, 400_000].map(|size: usize| {
            let text = format!("{before}{}{after}", unit.repeat(size / unit.len()));
            let begun = processor_time("thread-self");
            let extracted = extract::extract(&RepoPath::new(name).unwrap(), text.as_bytes(), &options).unwrap();
            let took = processor_time("thread-self") - begun;
            assert_eq!((extracted.lines, extracted.chunks.last().unwrap().end_line), (1, 1));
            assert!(extracted.problems.is_empty(), "{:?}", extracted.problems);
            took
        });
        assert!(large < small * 24, "{unit}: {small:?} for an eighth of what took {large:?}");
    }
}
