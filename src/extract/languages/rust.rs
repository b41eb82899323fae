//! Rust: items of every kind, `impl` blocks as containers, macros.

use std::sync::OnceLock;

use super::Language;

pub(super) static RUST: Language = Language {
    name: "rust",
    version: 1,
    extensions: &["rs"],
    file_names: &[],
    interpreters: &[],
    separator: "::",
    grammar: Some(|| tree_sitter_rust::LANGUAGE.into()),
    query: include_str!("rust.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
