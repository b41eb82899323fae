//! The languages: one row of `table`, one `.scm` and one fixture folder each.
//!
//! Owns how a file's language is found and when its grammar is loaded. What a query may capture is
//! described in `captures`.

mod compile;
mod gaps;
pub(super) mod heads;
pub(super) mod nesting;
mod parts;
mod table;
mod texts;

use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use self::compile::fault_of;
use super::captures::Compiled;
use super::gaps::Gap;
use crate::model::RepoPath;

/// The language whose files may be entities, and carry tags.
pub const MARKDOWN: &str = "markdown";

/// Finds the parts of a text that the grammar reads, in order.
pub(super) type Parts = fn(&str) -> Vec<Range<usize>>;

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
    /// Whether a text would overfill the buffer for the state of the grammar's scanner, which aborts the process, or
    /// make it run without bound.
    pub(super) overfills: Option<fn(&str) -> bool>,
    /// How lines show definitions, for texts that the grammar fails to parse.
    pub(super) heads: Option<&'static heads::Heads>,
    /// Valid syntax that the grammar does not know.
    pub(super) gaps: &'static [Gap],
    /// Whether a declaration without a body ends where its syntax ends. In other languages it ends with its line.
    pub(super) whole_heads: bool,
    /// Finds the parts of a text that the grammar reads, if it does not read all of it.
    pub(super) parts: Option<Parts>,
    /// The language outside of those parts.
    pub(super) outside: Option<fn() -> &'static Self>,
    /// Patterns of local bindings: files of `scopes`, one after the other. Empty for a language without such patterns.
    pub(super) scopes: &'static [&'static str],
    /// Compiled for the first file of the language.
    pub(super) compiled: OnceLock<Compiled>,
    /// Compiled for the first text whose words are needed.
    pub(super) compiled_scopes: OnceLock<Option<super::local_scopes::Compiled>>,
}

impl Language {
    const fn new(name: &'static str, grammar: fn() -> tree_sitter::Language, query: &'static str) -> Self {
        let mut language = Self::without_syntax(name);
        language.grammar = Some(grammar);
        language.query = query;
        language
    }

    const fn without_syntax(name: &'static str) -> Self {
        Self {
            name,
            version: 1,
            extensions: &[],
            file_names: &[],
            interpreters: &[],
            separator: ".",
            grammar: None,
            query: "",
            overfills: None,
            heads: None,
            gaps: &[],
            whole_heads: false,
            parts: None,
            outside: None,
            scopes: &[],
            compiled: OnceLock::new(),
            compiled_scopes: OnceLock::new(),
        }
    }

    const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    const fn extensions(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    const fn file_names(mut self, names: &'static [&'static str]) -> Self {
        self.file_names = names;
        self
    }

    const fn interpreters(mut self, programs: &'static [&'static str]) -> Self {
        self.interpreters = programs;
        self
    }

    const fn separator(mut self, separator: &'static str) -> Self {
        self.separator = separator;
        self
    }

    const fn heads(mut self, heads: &'static heads::Heads) -> Self {
        self.heads = Some(heads);
        self
    }

    const fn gaps(mut self, gaps: &'static [Gap]) -> Self {
        self.gaps = gaps;
        self
    }

    const fn whole_heads(mut self) -> Self {
        self.whole_heads = true;
        self
    }

    const fn parts(mut self, parts: Parts) -> Self {
        self.parts = Some(parts);
        self
    }

    const fn outside(mut self, language: fn() -> &'static Self) -> Self {
        self.outside = Some(language);
        self
    }

    const fn scopes(mut self, scopes: &'static [&'static str]) -> Self {
        self.scopes = scopes;
        self
    }

    const fn overfills(mut self, overfills: fn(&str) -> bool) -> Self {
        self.overfills = Some(overfills);
        self
    }
}

/// All languages, by name.
pub static LANGUAGES: &[Language] = table::ALL;

/// Text of no other language: chunks, no symbols.
pub(super) fn plain() -> &'static Language {
    by_name("text").expect("it is in the table")
}

/// The language of a file: by its name, its extension, its `#!` line; else plain text.
pub fn of_file(path: &RepoPath, text: &str) -> &'static Language {
    let name = path.file_name();
    let first = |fits: &dyn Fn(&Language) -> bool| LANGUAGES.iter().find(|language| fits(language));
    let by_name = || first(&|language| language.file_names.contains(&name));
    let extension = path.extension().map(str::to_lowercase);
    let by_extension = || {
        let extension = extension.as_deref()?;
        // Where several languages have one extension, the text decides.
        let shown = match extension {
            "h" => texts::of_header(text),
            "mm" => return Some(&table::OBJECTIVE_CPP),
            "m" if texts::is_matlab(text) => Some("matlab"),
            "js" | "jsx" | "mjs" | "cjs" if texts::is_flow(text) => return Some(&table::FLOW),
            _ => None,
        };
        if let Some(shown) = shown {
            return self::by_name(shown);
        }
        first(&|language| language.extensions.contains(&extension))
    };
    let by_interpreter = || {
        let interpreter = interpreter(text)?;
        first(&|language| language.interpreters.contains(&interpreter))
    };
    by_name().or_else(by_extension).or_else(by_interpreter).unwrap_or_else(plain)
}

/// Whether a language with syntax claims the file by its name or extension.
pub fn claims(path: &RepoPath) -> bool {
    of_file(path, "").grammar.is_some()
}

pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name.eq_ignore_ascii_case(name))
}

/// The program of a `#!` line: `python` for `#!/usr/bin/env -S python3.11 -u`.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let program = words.next()?.rsplit('/').next()?;
    let program = if program == "env" { words.next()?.rsplit('/').next()? } else { program };
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
