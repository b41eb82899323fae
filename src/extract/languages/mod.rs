//! The languages: one file, one `.scm`, one fixture folder and one row of `LANGUAGES` each.
//!
//! Owns how a file's language is found and when its grammar is loaded. What a query may capture is
//! described in `parse`.

mod c;
mod cmake;
mod cpp;
mod csharp;
mod css;
mod dart;
mod devicetree;
mod directives;
mod dockerfile;
mod elixir;
mod erlang;
mod go;
mod graphql;
mod haskell;
mod hcl;
mod html;
mod java;
mod javascript;
mod json;
mod julia;
mod kotlin;
mod lua;
mod make;
mod markdown;
mod nesting;
mod nix;
mod objc;
mod ocaml;
mod ocaml_interface;
mod php;
pub(super) mod plain;
mod powershell;
mod proto;
mod python;
mod r;
mod ruby;
mod rust;
mod scala;
mod shell;
mod solidity;
mod sql;
mod swift;
mod toml;
mod tsx;
mod typescript;
mod yaml;
mod zig;

use std::sync::OnceLock;

use super::syntax::Syntax;
use crate::model::RepoPath;

/// The language whose files may be entities, and carry tags.
pub const MARKDOWN: &str = "markdown";

/// All languages, by name. `plain` takes what no other does.
pub static LANGUAGES: &[&Language] = &[
    &c::C,
    &cmake::CMAKE,
    &cpp::CPP,
    &csharp::CSHARP,
    &css::CSS,
    &dart::DART,
    &devicetree::DEVICETREE,
    &dockerfile::DOCKERFILE,
    &elixir::ELIXIR,
    &erlang::ERLANG,
    &go::GO,
    &graphql::GRAPHQL,
    &haskell::HASKELL,
    &hcl::HCL,
    &html::HTML,
    &java::JAVA,
    &javascript::JAVASCRIPT,
    &json::JSON,
    &julia::JULIA,
    &kotlin::KOTLIN,
    &lua::LUA,
    &make::MAKE,
    &markdown::MARKDOWN,
    &nix::NIX,
    &objc::OBJC,
    &ocaml::OCAML,
    &ocaml_interface::OCAML_INTERFACE,
    &php::PHP,
    &powershell::POWERSHELL,
    &proto::PROTO,
    &python::PYTHON,
    &r::R,
    &ruby::RUBY,
    &rust::RUST,
    &scala::SCALA,
    &shell::SHELL,
    &solidity::SOLIDITY,
    &sql::SQL,
    &swift::SWIFT,
    &plain::PLAIN,
    &toml::TOML,
    &tsx::TSX,
    &typescript::TYPESCRIPT,
    &yaml::YAML,
    &zig::ZIG,
];

/// One language, as data.
pub struct Language {
    /// Lower-case, as answers and filters say it.
    pub name: &'static str,
    /// Raised when this language's query or grammar would give other rows.
    pub version: u32,
    /// Without the dot, lower-case.
    pub extensions: &'static [&'static str],
    /// Whole file names.
    pub file_names: &'static [&'static str],
    /// Programs named in a `#!` line, without version numbers.
    pub interpreters: &'static [&'static str],
    /// Between the parts of a qualified name: `.` or `::`.
    pub separator: &'static str,
    /// `None`: text without syntax.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// The `.scm` next to the language's file.
    pub query: &'static str,
    /// Whether a text would overfill what the grammar's scanner sets aside for its state, which aborts the process, or
    /// make it take time without measure.
    pub(super) overfills: Option<fn(&str) -> bool>,
    /// The tree of a text that is so plain that no parser is needed; `None` for every other.
    pub(super) shortcut: Option<fn(&str) -> Option<Syntax>>,
    /// Read when the first file of the language comes.
    pub(super) compiled: OnceLock<super::parse::Compiled>,
}

/// The language of a file: by its name, its extension, its `#!` line; else plain text.
pub fn of_file(path: &RepoPath, text: &str) -> &'static Language {
    let name = path.file_name();
    let first = |fits: &dyn Fn(&Language) -> bool| LANGUAGES.iter().copied().find(|language| fits(language));
    let by_name = || first(&|language| language.file_names.contains(&name));
    let extension = path.extension().map(str::to_lowercase);
    let by_extension = || {
        let extension = extension.as_deref()?;
        // Headers are named alike in both; the text decides.
        if extension == "h" && cpp::shows_in(text) {
            return Some(&cpp::CPP);
        }
        first(&|language| language.extensions.contains(&extension))
    };
    let by_interpreter = || {
        let interpreter = interpreter(text)?;
        first(&|language| language.interpreters.contains(&interpreter))
    };
    by_name().or_else(by_extension).or_else(by_interpreter).unwrap_or(&plain::PLAIN)
}

/// Whether a language with syntax claims the file by its name or extension.
pub fn claims(path: &RepoPath) -> bool {
    of_file(path, "").grammar.is_some()
}

pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name.eq_ignore_ascii_case(name)).copied()
}

/// The program of a `#!` line: `python` for `#!/usr/bin/env -S python3.11 -u`.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let program = words.next()?.rsplit('/').next()?;
    let program = if program == "env" { words.next()?.rsplit('/').next()? } else { program };
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
