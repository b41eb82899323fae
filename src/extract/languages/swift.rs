//! Swift: types, protocols, extensions, functions, properties.

use std::sync::OnceLock;

use super::Language;

pub(super) static SWIFT: Language = Language {
    name: "swift",
    version: 2,
    extensions: &["swift"],
    file_names: &[],
    interpreters: &["swift"],
    separator: ".",
    grammar: Some(|| tree_sitter_swift::LANGUAGE.into()),
    query: include_str!("swift.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
