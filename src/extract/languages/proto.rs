//! Protocol buffers: messages, fields, enums, services and their calls.

use std::sync::OnceLock;

use super::Language;

pub(super) static PROTO: Language = Language {
    name: "proto",
    version: 1,
    extensions: &["proto"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_proto::LANGUAGE.into()),
    query: include_str!("proto.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
