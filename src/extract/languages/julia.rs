//! Julia: modules, types, functions, macros, constants.

use std::sync::OnceLock;

use super::Language;

pub(super) static JULIA: Language = Language {
    name: "julia",
    version: 1,
    extensions: &["jl"],
    file_names: &[],
    interpreters: &["julia"],
    separator: ".",
    grammar: Some(|| tree_sitter_julia::LANGUAGE.into()),
    query: include_str!("julia.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
