//! CMake: functions, macros, targets, options and set variables.

use std::sync::OnceLock;

use super::Language;

pub(super) static CMAKE: Language = Language {
    name: "cmake",
    version: 1,
    extensions: &["cmake"],
    file_names: &["CMakeLists.txt"],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_cmake::LANGUAGE.into()),
    query: include_str!("cmake.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// Blank lines in a row take the grammar the square of their number.
fn overfills(text: &str) -> bool {
    text.split(|c: char| c != '\n' && c != '\r').any(|blank| blank.len() > 10_000)
}
