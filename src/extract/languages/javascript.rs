//! JavaScript, modules and CommonJS alike, with JSX.

use std::sync::OnceLock;

use super::Language;

pub(super) static JAVASCRIPT: Language = Language {
    name: "javascript",
    version: 1,
    extensions: &["js", "jsx", "mjs", "cjs", "es6"],
    file_names: &["Jakefile"],
    interpreters: &["node", "bun", "deno"],
    separator: ".",
    grammar: Some(|| tree_sitter_javascript::LANGUAGE.into()),
    query: concat!(include_str!("ecmascript.scm"), include_str!("javascript.scm"), include_str!("jsx.scm")),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
