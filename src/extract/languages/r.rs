//! R: functions and variables of the file level, S4 and R6 classes by their calls.

use std::sync::OnceLock;

use super::Language;

pub(super) static R: Language = Language {
    name: "r",
    version: 1,
    extensions: &["r"],
    file_names: &[".Rprofile"],
    interpreters: &["Rscript"],
    separator: "::",
    grammar: Some(|| tree_sitter_r::LANGUAGE.into()),
    query: include_str!("r.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
