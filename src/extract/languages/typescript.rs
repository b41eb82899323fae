//! TypeScript: what JavaScript has, and types, interfaces, namespaces, signatures.

use std::sync::OnceLock;

use super::Language;

pub(super) static TYPESCRIPT: Language = Language {
    name: "typescript",
    version: 1,
    extensions: &["ts", "mts", "cts"],
    file_names: &[],
    interpreters: &["ts-node", "tsx"],
    separator: ".",
    grammar: Some(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    query: concat!(include_str!("ecmascript.scm"), include_str!("typescript.scm")),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
