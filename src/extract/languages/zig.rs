//! Zig: functions, containers, fields, constants, tests.

use std::sync::OnceLock;

use super::Language;

pub(super) static ZIG: Language = Language {
    name: "zig",
    version: 2,
    extensions: &["zig", "zon"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_zig::LANGUAGE.into()),
    query: include_str!("zig.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
