//! Markdown: headings, nested as sections.

use std::sync::OnceLock;

use super::Language;

pub(super) static MARKDOWN: Language = Language {
    name: super::MARKDOWN,
    version: 3,
    extensions: &["md", "markdown", "mdown", "mkd", "mdx", "qmd"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_md::LANGUAGE.into()),
    query: include_str!("markdown.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
