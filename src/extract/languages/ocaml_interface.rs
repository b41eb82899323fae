//! OCaml interfaces: what a module offers.

use std::sync::OnceLock;

use super::Language;

pub(super) static OCAML_INTERFACE: Language = Language {
    name: "ocaml_interface",
    version: 1,
    extensions: &["mli", "eliomi"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into()),
    query: include_str!("ocaml_interface.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
