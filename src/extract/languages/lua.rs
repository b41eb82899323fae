//! Lua: functions however they are assigned, methods, module-level variables.

use std::sync::OnceLock;

use super::Language;

pub(super) static LUA: Language = Language {
    name: "lua",
    version: 1,
    extensions: &["lua", "luau", "rockspec"],
    file_names: &[".luacheckrc"],
    interpreters: &["lua", "luajit"],
    separator: ".",
    grammar: Some(|| tree_sitter_lua::LANGUAGE.into()),
    query: include_str!("lua.scm"),
    overfills: None,
    shortcut: None,
    compiled: OnceLock::new(),
};
