//! Devicetree: nodes and their labels, macros, includes.

use std::sync::OnceLock;

use super::Language;

pub(super) static DEVICETREE: Language = Language {
    name: "devicetree",
    version: 1,
    extensions: &["dts", "dtsi", "dtso", "overlay"],
    file_names: &[],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_devicetree::LANGUAGE.into()),
    query: include_str!("devicetree.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
