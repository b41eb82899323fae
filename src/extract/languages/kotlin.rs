//! Kotlin: classes, objects, interfaces, functions, properties, scripts too.

use std::sync::OnceLock;

use super::Language;

pub(super) static KOTLIN: Language = Language {
    name: "kotlin",
    version: 1,
    extensions: &["kt", "kts"],
    file_names: &[],
    interpreters: &["kotlin"],
    separator: ".",
    grammar: Some(|| tree_sitter_kotlin_ng::LANGUAGE.into()),
    query: include_str!("kotlin.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
