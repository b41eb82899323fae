//! Elixir: modules, protocols, functions, macros, structs, types.

use std::sync::OnceLock;

use super::Language;

pub(super) static ELIXIR: Language = Language {
    name: "elixir",
    version: 1,
    extensions: &["ex", "exs"],
    file_names: &["mix.lock"],
    interpreters: &["elixir"],
    separator: ".",
    grammar: Some(|| tree_sitter_elixir::LANGUAGE.into()),
    query: include_str!("elixir.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
