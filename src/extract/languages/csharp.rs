//! C#: types, members, namespaces, attributes.

use std::sync::OnceLock;

use super::Language;

pub(super) static CSHARP: Language = Language {
    name: "csharp",
    version: 1,
    extensions: &["cs", "csx", "cake"],
    file_names: &[],
    interpreters: &["dotnet-script"],
    separator: ".",
    grammar: Some(|| tree_sitter_c_sharp::LANGUAGE.into()),
    query: include_str!("csharp.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
