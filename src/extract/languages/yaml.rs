//! YAML: keys of the first two levels, anchors.

use std::sync::OnceLock;

use super::{Language, nesting};

pub(super) static YAML: Language = Language {
    name: "yaml",
    version: 1,
    extensions: &["yaml", "yml", "cff"],
    file_names: &[".clang-format", ".clang-tidy", ".clangd", ".gemrc", ".yamllint"],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_yaml::LANGUAGE.into()),
    query: include_str!("yaml.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// The scanner writes two numbers for each open block into a fixed buffer, and aborts where they overfill it.
fn overfills(text: &str) -> bool {
    nesting::deepest_indent(text, &['-', '?', ':']) > 100
}
