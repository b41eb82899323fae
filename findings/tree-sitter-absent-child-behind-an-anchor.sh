#!/usr/bin/env bash
# A query of tree-sitter with an optional first child matches only nodes that have that child.
#
# Guess: `(a . (b)? . (c))` matches a node whose first child is `c`, because the optional child may be absent.
# What happens: tree-sitter 0.26.3 matches it. tree-sitter 0.27.1 matches only a node that has the child `b`, without an error. It does
# match if the first anchor is left out.
# Tool: tree-sitter 0.26.3 and 0.27.1, tree-sitter-scala 0.26.4 (crates.io).
# Seen on 2026-11-28:
#   0.26.3: 1 match of (extension_definition . (type_parameters)? . (parameters) @p)
#   0.26.3: 1 match of (extension_definition (type_parameters)? . (parameters) @p)
#   0.27.1: 0 match of (extension_definition . (type_parameters)? . (parameters) @p)
#   0.27.1: 1 match of (extension_definition (type_parameters)? . (parameters) @p)
# In ixmcp: src/extract/languages/scala.scm has a pattern for each form.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir src
cat >src/main.rs <<'RUST'
use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};

fn main() {
    let language: Language = tree_sitter_scala::LANGUAGE.into();
    let mut parser = Parser::new();
    parser.set_language(&language).unwrap();
    let text = "extension (s: String)\n  def f: Int = 1\n";
    let tree = parser.parse(text, None).unwrap();
    assert!(!tree.root_node().has_error());
    for anchor in [". ", ""] {
        let pattern = format!("(extension_definition {anchor}(type_parameters)? . (parameters) @p)");
        let query = Query::new(&language, &pattern).unwrap();
        let mut cursor = QueryCursor::new();
        let mut found = cursor.matches(&query, tree.root_node(), text.as_bytes());
        let mut count = 0;
        while found.next().is_some() {
            count += 1;
        }
        println!("{}: {count} match of {pattern}", std::env::args().nth(1).unwrap());
    }
}
RUST
for version in 0.26.3 0.27.1; do
    cat >Cargo.toml <<TOML
[package]
name = "probe"
version = "0.1.0"
edition = "2021"

[dependencies]
tree-sitter = "=$version"
tree-sitter-scala = "=0.26.4"
TOML
    rm -f Cargo.lock
    cargo build --quiet 2>/dev/null || { echo 'the crates cannot be built'; exit 2; }
    target/debug/probe "$version"
done | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
