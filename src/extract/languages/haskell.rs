//! Haskell: functions, data types, classes, instances.

use std::sync::OnceLock;

use super::Language;

pub(super) static HASKELL: Language = Language {
    name: "haskell",
    version: 1,
    extensions: &["hs", "hs-boot", "hsc"],
    file_names: &[],
    interpreters: &["runhaskell", "runghc", "stack"],
    separator: ".",
    grammar: Some(|| tree_sitter_haskell::LANGUAGE.into()),
    query: include_str!("haskell.scm"),
    overfills: Some(overfills),
    shortcut: None,
    compiled: OnceLock::new(),
};

/// Braces that never close are layouts within layouts, which take the grammar the square of their number.
fn overfills(text: &str) -> bool {
    text.matches('{').count().saturating_sub(text.matches('}').count()) > 2_000
}
