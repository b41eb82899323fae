//! HCL (Terraform and kin): blocks by their labels, and attributes of `locals`.

use std::sync::OnceLock;

use super::Language;

pub(super) static HCL: Language = Language {
    name: "hcl",
    version: 1,
    extensions: &["hcl", "tf", "tfvars", "nomad"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_hcl::LANGUAGE.into()),
    query: include_str!("hcl.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
