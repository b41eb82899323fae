//! The symbol whose references are searched for.
//!
//! Owns what is known of it, and whether a definition is one of its own. Does not own the search (`references`).

use super::api::{
    File, ImportAliasResolution, Program, Ranged, ResolvedDefinition, SemanticModel, TextRange, ast,
    contains_identifier,
};
use super::db::Database;
use super::implicit::ImplicitReferences;
use crate::pytypes::values::Role;

/// The symbol whose references are searched for.
#[derive(Clone)]
pub(super) struct SearchTarget<'db> {
    pub name: String,
    pub definitions: Vec<ResolvedDefinition<'db>>,
    pub scope: Scope,
    pub implicit: ImplicitReferences,
    pub aliases: ImportAliasResolution,
    /// The program of the definitions. Another program has different definitions for the same locations.
    pub program: Program<'db>,
    pub locations: Vec<(File, TextRange)>,
}

impl<'db> SearchTarget<'db> {
    /// Adds another definition of the same symbol.
    pub fn add(&mut self, db: &Database, one: ResolvedDefinition<'db>) {
        if !self.definitions.contains(&one) {
            self.locations.push(location(db, &one));
            self.definitions.push(one);
        }
    }

    /// Whether a text may contain a reference.
    pub fn may_be_in(&self, text: &str) -> bool {
        contains_identifier(text, &self.name)
            || self.implicit.classes.iter().any(|class| contains_identifier(text, class))
    }

    pub fn is_any_of(&self, model: &SemanticModel<'_>, db: &Database, found: &[ResolvedDefinition<'_>]) -> bool {
        found.iter().any(|one| self.definitions.contains(one))
            || (model.program() != self.program && found.iter().any(|one| self.locations.contains(&location(db, one))))
    }
}

pub(super) fn location(db: &Database, one: &ResolvedDefinition<'_>) -> (File, TextRange) {
    let focus = one.focus_range(db);
    (focus.file(), focus.range())
}

/// Where a symbol can be referenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Only in its own file.
    File,
    /// A parameter: in other files only as the name of a keyword argument.
    Arguments,
    Project,
}

/// Whether a name is read or written there.
pub(super) const fn role_of(context: ast::ExprContext) -> Role {
    match context {
        ast::ExprContext::Load | ast::ExprContext::Invalid => Role::Read,
        ast::ExprContext::Store | ast::ExprContext::Del => Role::Write,
    }
}
