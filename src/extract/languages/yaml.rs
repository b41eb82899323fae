//! YAML: keys of the first two levels, anchors.

use std::sync::OnceLock;

use super::Language;

pub(super) static YAML: Language = Language {
    name: "yaml",
    version: 1,
    extensions: &["yaml", "yml", "cff"],
    file_names: &[".clang-format", ".clang-tidy", ".clangd", ".gemrc", ".yamllint"],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_yaml::LANGUAGE.into()),
    query: include_str!("yaml.scm"),
    compiled: OnceLock::new(),
};
