//! Nix: the attributes and functions of a file.

use std::sync::OnceLock;

use super::Language;

pub(super) static NIX: Language = Language {
    name: "nix",
    version: 1,
    extensions: &["nix"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_nix::LANGUAGE.into()),
    query: include_str!("nix.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
