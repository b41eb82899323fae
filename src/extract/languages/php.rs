//! PHP: classes, interfaces, traits, enums, functions, and the HTML around them.

use std::sync::OnceLock;

use super::Language;

pub(super) static PHP: Language = Language {
    name: "php",
    version: 1,
    extensions: &["php", "phtml", "php3", "php4", "php5", "php7", "php8", "phps"],
    file_names: &[],
    interpreters: &["php"],
    separator: "::",
    grammar: Some(|| tree_sitter_php::LANGUAGE_PHP.into()),
    query: include_str!("php.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
