//! PowerShell: functions, classes, enums, variables of the script.

use std::sync::OnceLock;

use super::Language;

pub(super) static POWERSHELL: Language = Language {
    name: "powershell",
    version: 2,
    extensions: &["ps1", "psm1", "psd1"],
    file_names: &[],
    interpreters: &["pwsh", "powershell"],
    separator: ".",
    grammar: Some(|| tree_sitter_powershell::LANGUAGE.into()),
    query: include_str!("powershell.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
