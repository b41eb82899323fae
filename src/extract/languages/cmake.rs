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
    overfills: None,
    compiled: OnceLock::new(),
};
