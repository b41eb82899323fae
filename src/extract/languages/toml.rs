//! TOML: tables and keys.

use std::sync::OnceLock;

use super::Language;

pub(super) static TOML: Language = Language {
    name: "toml",
    version: 1,
    extensions: &["toml"],
    file_names: &["Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Gopkg.lock"],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_toml_ng::LANGUAGE.into()),
    query: include_str!("toml.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
