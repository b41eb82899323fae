#!/usr/bin/env bash
# A regular expression on bytes finds nothing where it matches.
#
# Guess: `meta::Regex` of regex-automata finds each match that its own PikeVM finds; only its speed depends on the pattern.
# What happens: with `unicode(false)`, `\w\([^()]*\)\w\(` is not found in `a(b)c(d)`, nor `[a-z]+\([^()]*\) [a-z]+\(` in
# `pf(1, 2) one(`. With Unicode both are found, and without it by regex-automata 0.4.19.
# Tool: regex-automata 0.4.18 (crates.io).
# Seen on 2026-11-28:
#   \w\([^()]*\)\w\(, Unicode: meta 0..6, PikeVM 0..6
#   \w\([^()]*\)\w\(, bytes: meta none, PikeVM 0..6
#   [a-z]+\([^()]*\) [a-z]+\(, Unicode: meta 0..13, PikeVM 0..13
#   [a-z]+\([^()]*\) [a-z]+\(, bytes: meta none, PikeVM 0..13
# In ixmcp: gaps of languages are such patterns (src/extract/languages/gaps.rs), and Cargo.lock has 0.4.19.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "probe"
version = "0.1.0"
edition = "2021"

[dependencies]
regex-automata = "=0.4.18"
TOML
cat >src/main.rs <<'RUST'
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::{meta::Regex, util::syntax};

fn main() {
    for (pattern, text) in [(r"\w\([^()]*\)\w\(", "a(b)c(d)"), (r"[a-z]+\([^()]*\) [a-z]+\(", "pf(1, 2) one(")] {
        for (name, unicode) in [("Unicode", true), ("bytes", false)] {
            let syntax = syntax::Config::new().unicode(unicode).utf8(unicode);
            let meta = Regex::builder().syntax(syntax).build(pattern).unwrap();
            let nfa = thompson::Config::new().utf8(unicode);
            let pike = PikeVM::builder().syntax(syntax).thompson(nfa).build(pattern).unwrap();
            let shown = |found: Option<regex_automata::Match>| found.map_or("none".to_owned(), |found| format!("{:?}", found.range()));
            let slow = pike.find(&mut pike.create_cache(), text);
            println!("{pattern}, {name}: meta {}, PikeVM {}", shown(meta.find(text)), shown(slow));
        }
    }
}
RUST
cargo build --quiet 2>/dev/null || { echo 'the crate cannot be built'; exit 2; }
target/debug/probe | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
