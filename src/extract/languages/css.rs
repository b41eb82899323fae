//! CSS: classes and ids of selectors, custom properties, keyframes.

use std::sync::OnceLock;

use super::Language;

pub(super) static CSS: Language = Language {
    name: "css",
    version: 1,
    extensions: &["css"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_css::LANGUAGE.into()),
    query: include_str!("css.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
