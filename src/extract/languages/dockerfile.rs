//! Container build files: stages, arguments, base images.

use std::sync::OnceLock;

use super::Language;

pub(super) static DOCKERFILE: Language = Language {
    name: "dockerfile",
    version: 1,
    extensions: &["dockerfile", "containerfile"],
    file_names: &["Dockerfile", "Containerfile"],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_containerfile::LANGUAGE.into()),
    query: include_str!("dockerfile.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
