//! Objective-C: interfaces, protocols, methods, properties, and what C has.

use std::sync::OnceLock;

use super::Language;

pub(super) static OBJC: Language = Language {
    name: "objc",
    version: 2,
    extensions: &["m", "mm"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_objc::LANGUAGE.into()),
    query: include_str!("objc.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
