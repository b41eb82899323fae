//! Go: functions, methods by receiver, types, fields, package-level variables and constants.

use std::sync::OnceLock;

use super::Language;

pub(super) static GO: Language = Language {
    name: "go",
    version: 1,
    extensions: &["go"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_go::LANGUAGE.into()),
    query: include_str!("go.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
