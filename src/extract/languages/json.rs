//! JSON: keys of the first two levels.

use std::sync::OnceLock;

use super::Language;

pub(super) static JSON: Language = Language {
    name: "json",
    version: 1,
    extensions: &["json", "jsonc", "json5", "geojson", "jsonld", "webmanifest"],
    file_names: &[
        ".babelrc",
        ".eslintrc",
        ".jshintrc",
        ".prettierrc",
        ".swcrc",
        "composer.lock",
        "flake.lock",
        "Pipfile.lock",
        "deno.lock",
    ],
    interpreters: &[],
    separator: ".",
    grammar: Some(|| tree_sitter_json::LANGUAGE.into()),
    query: include_str!("json.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
