//! HTML: elements with an id, headings, scripts and style sheets.

use std::sync::OnceLock;

use super::Language;

pub(super) static HTML: Language = Language {
    name: "html",
    version: 1,
    extensions: &["html", "htm", "xhtml"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_html::LANGUAGE.into()),
    query: include_str!("html.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// Elements that never close take the grammar the square of their number.
fn overfills(text: &str) -> bool {
    text.matches('<').count().saturating_sub(2 * text.matches("</").count() + text.matches("/>").count()) > 20_000
}
