//! Python: modules, classes, functions, methods, and assignments to names at module and class level.

use std::sync::OnceLock;

use super::{Language, nesting};

pub(super) static PYTHON: Language = Language {
    name: "python",
    version: 1,
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript"],
    interpreters: &["python", "pypy"],
    separator: ".",
    grammar: Some(|| tree_sitter_python::LANGUAGE.into()),
    query: include_str!("python.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// The scanner writes its indents into a fixed buffer, and aborts where they overfill it; Python itself takes 100.
fn overfills(text: &str) -> bool {
    nesting::deepest_indent(text, &[]) > 100
}
