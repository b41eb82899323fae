//! Forms: the text around a word, as far as it shows what the word names.
//!
//! Owns those of each language. `occurrence` asks before it resolves a word.

use super::kinds;
use super::occurrence::{Wanted, opening};
use super::opened::ParsedFile;
use super::resolution::Resolver;
use super::variables::is_part;
use crate::error::Result;
use crate::store::{DefinitionNode, Reference};

impl Resolver<'_> {
    /// Whether the text around a name shows a definition of another kind: a module of Rust; in Java a method is called, a
    /// field is not, and imports name types.
    pub(super) fn has_other_form(&mut self, used: &Reference, wanted: &Wanted) -> Result<bool> {
        let Some(language) = wanted.nodes.first().map(|node| node.definition.language.as_str()) else {
            return Ok(false);
        };
        if !matches!(language, "java" | "rust") {
            return Ok(false);
        }
        let before = self.library.before(&used.path, used.line, used.column)?;
        let after = self.after(used, &before)?;
        let kinds = |kinds: &[&str]| wanted.nodes.iter().all(|node| kinds.contains(&node.definition.kind.as_str()));
        if language == "rust" {
            let is_module =
                before.trim_end().ends_with("mod") || (after.starts_with("::") && !after.starts_with("::<"));
            return Ok(is_module && kinds(&["function", "method", "constant", "variable"]));
        }
        if !used.path.ends_with(".java") || !wanted.nodes.iter().all(kinds::is_member) {
            return Ok(false);
        }
        let words = before.trim_start();
        if words.starts_with("import ") || words.starts_with("package ") {
            return Ok(!words.starts_with("import static "));
        }
        let is_called = after.starts_with('(') || before.trim_end().ends_with("::");
        // A component of a record is called.
        let is_field = |node: &DefinitionNode| {
            let signature = node.definition.signature.as_deref().unwrap_or_default();
            node.definition.kind == "field" && signature.contains([';', '='])
        };
        Ok((after.starts_with('(') && wanted.nodes.iter().all(is_field))
            || (!after.is_empty() && !is_called && kinds(&["method"])))
    }

    /// The text before the name of a type of C++, without what repeats that name: before `Cart::total`, `~Cart` and the
    /// constructor `Cart::Cart`. `None` where the word may name something else.
    pub(super) fn type_named_before<'t>(
        &mut self,
        file: &ParsedFile,
        used: &Reference,
        before: &'t str,
    ) -> Result<Option<&'t str>> {
        if file.language != "cpp" {
            return Ok(None);
        }
        let after = self.after(used, before)?;
        let bare = before.trim_end();
        let (bare, is_destructor) = bare.strip_suffix('~').map_or((bare, false), |bare| (bare.trim_end(), true));
        let of_itself =
            bare.strip_suffix("::").and_then(|bare| without_arguments(bare).strip_suffix(used.name.as_str()));
        Ok(match of_itself {
            Some(further) if !further.ends_with(is_part) => Some(further),
            _ => (is_destructor || after.starts_with("::")).then_some(bare),
        })
    }

    /// The text of a line after a name in it.
    fn after(&mut self, used: &Reference, before: &str) -> Result<String> {
        let text = self.library.text(&used.path)?;
        let after = text.line(used.line).get(before.len() + used.name.len()..).unwrap_or_default();
        Ok(after.trim_start().to_owned())
    }
}

/// Strips the arguments of the template that a text ends with.
fn without_arguments(text: &str) -> &str {
    opening(text, ('<', '>')).map_or(text, |start| &text[..start])
}
