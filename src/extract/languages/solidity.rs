//! Solidity: contracts, libraries, functions, events, errors, types.

use std::sync::OnceLock;

use super::Language;

pub(super) static SOLIDITY: Language = Language {
    name: "solidity",
    version: 1,
    extensions: &["sol"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_solidity::LANGUAGE.into()),
    query: include_str!("solidity.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
