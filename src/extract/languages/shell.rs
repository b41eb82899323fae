//! Shell scripts, as bash reads them: functions, file-level variables, aliases, sourced files.

use std::sync::OnceLock;

use super::Language;

pub(super) static SHELL: Language = Language {
    name: "shell",
    version: 1,
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"],
    file_names: &[
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".kshrc",
        ".xinitrc",
        ".xprofile",
        ".envrc",
        "PKGBUILD",
        "APKBUILD",
        "bashrc",
        "zshrc",
    ],
    interpreters: &["sh", "bash", "zsh", "ksh", "dash", "ash", "bats"],
    separator: ".",
    grammar: Some(|| tree_sitter_bash::LANGUAGE.into()),
    query: include_str!("shell.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
