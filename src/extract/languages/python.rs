//! Python: modules, classes, functions, methods, and assignments to names at module and class level.

use std::sync::OnceLock;

use super::Language;

pub(super) static PYTHON: Language = Language {
    name: "python",
    version: 1,
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy"],
    separator: ".",
    grammar: Some(|| tree_sitter_python::LANGUAGE.into()),
    query: include_str!("python.scm"),
    compiled: OnceLock::new(),
};
