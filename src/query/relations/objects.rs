//! Objects of scripts that no class describes: what constructor functions, prototypes and object literals have, what `exports` has, and
//! other names of `this`.
//!
//! Owns which definitions are members of them. `resolve` owns when they are asked for.

use super::families::Spelling;
use super::kinds;
use super::opened::ParsedFile;
use super::resolution::{Declarations, NameQuery, Resolver};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{Definition, DefinitionNode};

/// Lines before a use in which another name of `this` is looked for.
const LINES: u32 = 400;

impl Resolver<'_> {
    /// Whether a function or an object of a script has methods: those that it gives to `this`, or that its prototype has.
    pub(super) fn has_members(&self, file: &ParsedFile, of: &DefinitionNode) -> Result<bool> {
        let whole = Some(qualified(&of.definition));
        let symbols = self.library.symbols(file)?;
        Ok(symbols.iter().any(|d| d.definition.container == whole && kinds::is_member(d)))
    }

    /// Members of that name of the object around a line of a script, which has no name: `module.exports = { a() { this.b() } }`.
    pub(super) fn of_object(&mut self, asked: &NameQuery) -> Result<Declarations> {
        if asked.file.family.spelling != Spelling::Script {
            return Ok(Vec::new());
        }
        let around = self.library.around(asked.file, asked.line)?;
        let Some(outer) = around.iter().find(|outer| !kinds::is_local(&outer.definition.kind)) else {
            return Ok(Vec::new());
        };
        let mut found = self.candidates(asked)?;
        found.retain(|d| {
            let Definition { path, kind, container, .. } = &d.definition;
            *path == asked.file.path && kind == "method" && *container == outer.definition.container
        });
        Ok(found)
    }

    /// Definitions of that name that a script exports: those outside of others.
    pub(super) fn of_module(&mut self, asked: &NameQuery) -> Result<Declarations> {
        let mut found = self.candidates(asked)?;
        found.retain(|d| d.definition.path == asked.file.path && d.definition.container.is_none());
        Ok(found)
    }

    /// Whether a script gives an object a member of that name that the index does not have, such as a function that was passed to it.
    pub(super) fn is_assigned(&mut self, asked: &NameQuery) -> Result<bool> {
        if asked.file.family.spelling != Spelling::Script {
            return Ok(false);
        }
        let text = self.library.text(&asked.file.path)?;
        let member = format!(".{}", asked.name);
        let mut lines = text.backwards(1, text.count());
        Ok(lines.any(|line| {
            line.match_indices(&member).any(|(at, _)| {
                let after = line[at + member.len()..].trim_start();
                after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>")
            })
        }))
    }

    /// Whether a variable of a script is another name of `this`: `const that = this`.
    pub(super) fn is_this(&mut self, asked: &NameQuery, name: &str) -> Result<bool> {
        let text = self.library.text(&asked.file.path)?;
        let mut lines = text.backwards(asked.line.saturating_sub(LINES).max(1), asked.line);
        Ok(lines.any(|line| {
            line.match_indices(name).any(|(at, _)| {
                let (before, after) = (&line[..at], line[at + name.len()..].trim_start());
                let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
                let value = after.strip_prefix('=').map(str::trim_start);
                let rest = value.and_then(|value| value.strip_prefix("this"));
                is_whole
                    && rest
                        .is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with([';', ',']))
            })
        }))
    }

    /// Whether a function has methods.
    pub(super) fn constructs(&mut self, function: &DefinitionNode) -> Result<bool> {
        match self.library.open(&function.definition.path)? {
            Some(file) => self.has_members(&file, function),
            None => Ok(false),
        }
    }
}

/// Whether a path is that of the exports of a CommonJS module.
pub(super) fn is_exports(path: &[String]) -> bool {
    matches!(path, [only] if only == "exports")
        || matches!(path, [module, exports] if module == "module" && exports == "exports")
}
