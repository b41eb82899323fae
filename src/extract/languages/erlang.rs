//! Erlang: modules, functions, records, types, macros, callbacks.

use std::sync::OnceLock;

use super::Language;

pub(super) static ERLANG: Language = Language {
    name: "erlang",
    version: 1,
    extensions: &["erl", "hrl", "escript"],
    file_names: &[],
    interpreters: &["escript"],
    separator: ":",
    grammar: Some(|| tree_sitter_erlang::LANGUAGE.into()),
    query: include_str!("erlang.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
