//! Makefiles: targets, variables, includes.

use std::sync::OnceLock;

use super::Language;

pub(super) static MAKE: Language = Language {
    name: "make",
    version: 1,
    extensions: &["mk", "mak", "make"],
    file_names: &["Makefile", "makefile", "GNUmakefile", "Kbuild", "BSDmakefile"],
    interpreters: &["make"],
    separator: "::",
    grammar: Some(|| tree_sitter_make::LANGUAGE.into()),
    query: include_str!("make.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
