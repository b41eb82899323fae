//! Compiles a language's grammar, patterns and heads.
//!
//! Owns when that happens, which is at the first file of the language, and the error for a language that cannot be
//! compiled. Does not own what the patterns may capture (`captures`).

use super::{Language, heads};
use crate::extract::captures::{Capture, Compiled};
use crate::extract::patterns::Patterns;
use crate::extract::{gaps, local_scopes, syntax};

/// A message why a language's grammar cannot be used.
pub fn fault_of(language: &Language) -> Option<String> {
    let grammar = (language.grammar?)();
    if let Err(error) = tree_sitter::Parser::new().set_language(&grammar) {
        return Some(format!("the grammar of {} does not load: {error}", language.name));
    }
    Compiled::new(language, grammar).err().or_else(|| scopes(language).and_then(Result::err))
}

impl Language {
    /// The language's grammar and patterns; `None` for text without syntax.
    pub(in crate::extract) fn compiled(&self) -> Option<&Compiled> {
        let grammar = self.grammar?;
        let compile = || Compiled::new(self, grammar()).unwrap_or_else(|fault| panic!("{fault}"));
        Some(self.compiled.get_or_init(compile))
    }

    /// The language's grammar and the patterns of its scopes; `None` if it has no such patterns.
    pub(in crate::extract) fn compiled_scopes(&self) -> Option<&local_scopes::Compiled> {
        let compile = || scopes(self).map(|read| read.unwrap_or_else(|fault| panic!("{fault}")));
        self.compiled_scopes.get_or_init(compile).as_ref()
    }
}

/// The patterns of a language's scopes; `None` if it has none.
fn scopes(language: &Language) -> Option<Result<local_scopes::Compiled, String>> {
    let grammar = language.grammar.filter(|_| !language.scopes.is_empty())?();
    Some(local_scopes::Compiled::read(language.name, grammar, language.scopes))
}

impl Compiled {
    fn new(language: &Language, grammar: tree_sitter::Language) -> Result<Self, String> {
        let patterns = Patterns::read(&grammar, language.query)
            .map_err(|fault| format!("the patterns of {} cannot be read: {fault}", language.name))?;
        let known = |name: &String| {
            Capture::from_name(name)
                .ok_or_else(|| format!("the patterns of {} have an unknown capture @{name}", language.name))
        };
        let captures = patterns.captures().iter().map(known).collect::<Result<_, _>>()?;
        let body = grammar.field_id_for_name("body");
        let heads = language.heads.map(heads::Heads::compile).transpose();
        let heads = heads.map_err(|fault| format!("the heads of {} cannot be read: {fault}", language.name))?;
        let gaps = gaps::Compiled::new(language.gaps);
        let gaps = gaps.map_err(|fault| format!("the gaps of {} cannot be read: {fault}", language.name))?;
        let comments = syntax::named_like(&grammar, &["comment", "description"]);
        Ok(Self { grammar, patterns, heads, gaps, captures, body, comments, whole_heads: language.whole_heads })
    }
}
