//! Every language against its golden files: `fixtures/languages/<language>/<case>` beside `<case>.expect`.
//!
//! `UPDATE_EXPECT=1 cargo test languages` rewrites the expectations; read the difference.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use ixmcp::extract::{self, LANGUAGES, Options};
use ixmcp::model::{Extracted, RepoPath};

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
    for reference in &extracted.references {
        writeln!(text, "  {}:{} {} {}", reference.line, reference.column, reference.kind, reference.name).unwrap();
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
