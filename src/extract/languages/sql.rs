//! SQL: tables and columns, views, functions, indexes, types, triggers.

use std::sync::OnceLock;

use super::Language;

pub(super) static SQL: Language = Language {
    name: "sql",
    version: 1,
    extensions: &["sql", "ddl", "dml", "psql", "pgsql"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_sequel::LANGUAGE.into()),
    query: include_str!("sql.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
