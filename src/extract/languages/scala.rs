//! Scala, both versions: classes, traits, objects, enums, givens, members.

use std::sync::OnceLock;

use super::Language;

pub(super) static SCALA: Language = Language {
    name: "scala",
    version: 1,
    extensions: &["scala", "sc", "sbt"],
    file_names: &[],
    interpreters: &["scala"],
    separator: ".",
    grammar: Some(|| tree_sitter_scala::LANGUAGE.into()),
    query: include_str!("scala.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
