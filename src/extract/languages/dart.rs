//! Dart: classes, mixins, extensions, enums, functions and top-level variables.

use std::sync::OnceLock;

use super::Language;

pub(super) static DART: Language = Language {
    name: "dart",
    version: 1,
    extensions: &["dart"],
    file_names: &[],
    interpreters: &["dart"],
    separator: ".",
    grammar: Some(|| tree_sitter_dart::LANGUAGE.into()),
    query: include_str!("dart.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
