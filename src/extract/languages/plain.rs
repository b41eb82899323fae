//! Plain text: any file that is text and of no other language. Chunks, no symbols.

use std::sync::OnceLock;

use super::Language;

pub(in crate::extract) static PLAIN: Language = Language {
    name: "text",
    version: 1,
    extensions: &["txt", "text", "log"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: None,
    query: "",
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
