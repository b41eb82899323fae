//! GraphQL: types of schemas and their fields, operations, fragments.

use std::sync::OnceLock;

use super::Language;

pub(super) static GRAPHQL: Language = Language {
    name: "graphql",
    version: 1,
    extensions: &["graphql", "gql", "graphqls"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_graphql::LANGUAGE.into()),
    query: include_str!("graphql.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
