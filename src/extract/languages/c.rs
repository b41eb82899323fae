//! C: functions, prototypes, types, fields, macros and file-level variables, in kernel code too.

use std::sync::OnceLock;

use super::{Language, directives};

pub(super) static C: Language = Language {
    name: "c",
    version: 3,
    extensions: &["c", "h"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_c::LANGUAGE.into()),
    query: include_str!("c.scm"),
    overfills: None,
    shortcut: Some(directives::read),
    compiled: OnceLock::new(),
};
