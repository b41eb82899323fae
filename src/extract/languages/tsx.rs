//! TypeScript with JSX: the patterns of TypeScript, on its own grammar.

use std::sync::OnceLock;

use super::Language;

pub(super) static TSX: Language = Language {
    name: "tsx",
    version: 1,
    extensions: &["tsx"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_typescript::LANGUAGE_TSX.into()),
    query: concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm"), include_str!("jsx.scm")),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
