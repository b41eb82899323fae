//! OCaml implementations: values, types, modules, classes.

use std::sync::OnceLock;

use super::Language;

pub(super) static OCAML: Language = Language {
    name: "ocaml",
    version: 1,
    extensions: &["ml", "eliom"],
    file_names: &[".ocamlinit"],
    interpreters: &["ocaml"],
    separator: ".",
    grammar: Some(|| tree_sitter_ocaml::LANGUAGE_OCAML.into()),
    query: include_str!("ocaml.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
