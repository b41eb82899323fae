//! Forms: the text around a word, as far as it shows what the word names.
//!
//! Owns those of each language. `occurrence` asks before it resolves a word.

use std::rc::Rc;

use super::kinds;
use super::occurrence::Wanted;
use super::opened::ParsedFile;
use super::resolution::{Resolution, Resolver};
use super::statements::opening;
use super::variables::is_part;
use crate::error::Result;
use crate::store::{DefinitionNode, Reference};

impl Resolver<'_> {
    /// Whether the text around a name shows a definition of another kind: in Java a method is called, a field is not, and
    /// imports name types.
    pub(super) fn has_other_form(&mut self, used: &Reference, wanted: &Wanted) -> Result<bool> {
        let Some(language) = wanted.nodes.first().map(|node| node.definition.language.as_str()) else {
            return Ok(false);
        };
        if !matches!(language, "java" | "rust") {
            return Ok(false);
        }
        let before = self.library.before(&used.path, used.line, used.column)?;
        let after = self.after(used)?;
        let kinds = |kinds: &[&str]| wanted.nodes.iter().all(|node| kinds.contains(&node.definition.kind.as_str()));
        if language == "rust" {
            return self.has_other_form_of_rust(used, &before, &after, wanted);
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

    /// Whether the text around a name of Rust shows a module, a macro `name!`, a method `.name(`, a field `.name` or a path,
    /// where something else is wanted.
    fn has_other_form_of_rust(&mut self, used: &Reference, before: &str, after: &str, wanted: &Wanted) -> Result<bool> {
        let bare = before.trim_end();
        let kinds = |kinds: &[&str]| wanted.nodes.iter().all(|node| kinds.contains(&node.definition.kind.as_str()));
        let has_arguments = after.starts_with("::<");
        let is_module = bare.ends_with("mod") || (after.starts_with("::") && !has_arguments);
        let is_of_value = bare.ends_with('.') && !bare.ends_with("..");
        let is_invoked = after.starts_with('!') && !after.starts_with("!=");
        if kinds(&["macro"]) {
            let is_import = used.kind == "import" || bare.split(' ').any(|word| word == "use");
            return Ok(!is_invoked && !is_import);
        }
        if is_invoked {
            let named = self.library.named(&used.name)?;
            // A function may be what a macro of its name calls.
            return Ok(!kinds(&["function"]) || named.iter().any(|node| node.definition.kind == "macro"));
        }
        let is_called = after.starts_with('(') || has_arguments;
        Ok((is_module && kinds(&["function", "method", "constant", "variable", "field"]))
            || (is_of_value && !is_called && kinds(&["method"]))
            || (is_of_value && !wanted.nodes.iter().any(kinds::is_member))
            || (bare.ends_with("Self::") && wanted.nodes.iter().all(|node| node.definition.container.is_none()))
            || ((bare.ends_with("::") || (is_of_value && is_called)) && kinds(&["field"]))
            || (bare.ends_with(">::") && bare.contains(" as ") && kinds(&["variant"])))
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
        let after = self.after(used)?;
        let bare = before.trim_end();
        let (bare, is_destructor) = bare.strip_suffix('~').map_or((bare, false), |bare| (bare.trim_end(), true));
        let of_itself =
            bare.strip_suffix("::").and_then(|bare| without_arguments(bare).strip_suffix(used.name.as_str()));
        Ok(match of_itself {
            Some(further) if !further.ends_with(is_part) => Some(further),
            _ => (is_destructor || after.starts_with("::")).then_some(bare),
        })
    }

    /// Whether the name of a type of C++ is that of a constructor which is called: `new Cart`, `Cart(1)`.
    pub(super) fn is_construction(&mut self, used: &Reference) -> Result<bool> {
        let before = self.library.before(&used.path, used.line, used.column)?;
        let bare = before.trim_end();
        let after = self.after(used)?;
        let is_new = bare.strip_suffix("new").is_some_and(|rest| !rest.ends_with(is_part));
        Ok(is_new || (used.kind != "inherits" && after.starts_with(['(', '{']) && !bare.ends_with('~')))
    }

    /// Keeps the fields of Rust where a name is not called, and the others where it is.
    pub(super) fn of_form(&mut self, used: &Reference, mut found: Resolution) -> Result<Resolution> {
        let is_called = self.after(used)?.starts_with('(');
        let fits = |of: &Rc<DefinitionNode>| (of.definition.kind == "field") != is_called;
        if used.path.ends_with(".rs") && found.targets.iter().any(|of| kinds::is_member(of) && fits(of)) {
            found.targets.retain(fits);
        }
        found.targets = self.inherent_first(found.targets)?;
        Ok(found)
    }

    /// The text of a line after a name in it.
    pub(super) fn after(&mut self, used: &Reference) -> Result<String> {
        let text = self.library.text(&used.path)?;
        let behind = (used.column.saturating_sub(1) as usize) + used.name.chars().count();
        Ok(text.line(used.line).chars().skip(behind).collect::<String>().trim_start().to_owned())
    }
}

/// Strips the arguments of the template that a text ends with.
fn without_arguments(text: &str) -> &str {
    opening(text, ('<', '>')).map_or(text, |start| &text[..start])
}
