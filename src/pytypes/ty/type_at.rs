//! The type of an expression, and where it is defined.
//!
//! Owns the two queries about one position: `type_at` and `goto_definition`.

use ruff_db::source::source_text;
use ruff_text_size::{Ranged, TextSize};
use ty_python_core::ProgramFile;
use ty_python_semantic::types::Type;
use ty_python_semantic::{Db as _, ImportAliasResolution, ResolvedDefinition, SemanticModel, map_stub_definition};

use super::by_syntax;
use super::db::Database;
use super::display::{PathDisplay, preview};
use super::lines::Lines;
use super::target::{self, Target, unique};
use crate::pytypes::values::{Definition, Typed};

pub(super) fn type_at(db: &Database, file: ProgramFile<'_>, at: TextSize, display: &PathDisplay) -> Option<Typed> {
    let found = target::at(db, file, at, |model, target| {
        let inferred = target.inferred_type(model).or_else(|| of_definition(db, model, target))?;
        let range = target.range();
        let text = source_text(db, file.file(db));
        let span = Lines::of_source(&text).span(display.path(db, file.file(db)), range);
        let definitions = mapped(db, target.declared(model, ImportAliasResolution::ResolveAliases));
        let docstring =
            definitions.iter().find_map(|one| one.docstring(db).or_else(|| one.implementation_docstring(db)));
        Some(Typed {
            display: inferred.display(db, &model.program_environment()).to_string(),
            expression: preview(text[range].lines().next().unwrap_or_default()),
            span,
            definition: definitions.first().map(|one| display.definition(db, one)),
            docstring: docstring.map(|text| dedented(&text)),
        })
    });
    found.flatten()
}

pub(super) fn definitions(
    db: &Database,
    file: ProgramFile<'_>,
    at: TextSize,
    display: &PathDisplay,
) -> Vec<Definition> {
    let found = target::at(db, file, at, |model, target| {
        let mut found = target.declared(model, ImportAliasResolution::ResolveAliases);
        if found.is_empty() {
            found
                .extend(by_syntax::through_fixtures(db, model, target).into_iter().flat_map(|found| found.definitions));
        }
        mapped(db, found).iter().map(|one| display.definition(db, one)).collect()
    });
    found.unwrap_or_default()
}

/// The type that a keyword in a class pattern has where its member is defined. The pattern itself has no type for it.
fn of_definition<'db>(db: &'db Database, model: &SemanticModel<'db>, target: &Target<'_>) -> Option<Type<'db>> {
    if !matches!(target, Target::PatternKeyword { .. }) {
        return None;
    }
    let found = target.declared(model, ImportAliasResolution::ResolveAliases);
    let range = found.first()?.focus_range(db);
    // For an attribute, the name is at the end of the range.
    let program_file = db.program_file(range.file());
    target::at(db, program_file, range.range().end(), |model, target| target.inferred_type(model)).flatten()
}

/// Replaces definitions in stubs by those in the source, if it is available.
fn mapped<'db>(db: &'db Database, found: Vec<ResolvedDefinition<'db>>) -> Vec<ResolvedDefinition<'db>> {
    let mut mapped: Vec<_> =
        found.into_iter().flat_map(|one| map_stub_definition(db, &one, None).unwrap_or_else(|| vec![one])).collect();
    unique(&mut mapped);
    mapped
}

/// A docstring without its indentation.
fn dedented(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim().to_owned();
    let rest: Vec<&str> = lines.collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = rest.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut whole = first;
    for line in rest {
        whole.push('\n');
        whole.push_str(line.get(common..).unwrap_or_default().trim_end());
    }
    whole.trim().to_owned()
}
