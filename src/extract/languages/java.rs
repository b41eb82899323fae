//! Java: types, members, records, enums, annotations.

use std::sync::OnceLock;

use super::Language;

pub(super) static JAVA: Language = Language {
    name: "java",
    version: 1,
    extensions: &["java", "jav"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_java::LANGUAGE.into()),
    query: include_str!("java.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
