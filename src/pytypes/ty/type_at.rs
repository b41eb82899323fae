//! The type of an expression, and where it is defined.
//!
//! Owns the two queries about one position: `type_at` and `goto_definition`. `type_at` shows what ty shows on hover, without
//! its notes on variance and qualifiers: the signature of the constructor at a class that is called, the chosen overload
//! at a function that is called, all overloads at one that is not, the declaration of the parameter at a keyword argument.

use super::api::{
    ImportAliasResolution, ProgramFile, Ranged, ResolvedDefinition, SemanticDb as _, SemanticModel, TextSize, Type,
    ast, call_type_simplified_by_overloads, constructor_signature, map_stub_definition, resolved_call_signature,
    source_text, typed_dict_key_hover,
};
use super::by_syntax;
use super::db::Database;
use super::display::{PathDisplay, preview};
use super::expressions::unique;
use super::lines::Lines;
use super::target::{self, Target};
use crate::model::Definition;
use crate::pytypes::values::Typed;

pub(super) fn type_at(db: &Database, file: ProgramFile<'_>, at: TextSize, display: &PathDisplay) -> Option<Typed> {
    let found = target::at(db, file, at, |model, target| {
        let inferred = || {
            let inferred = target.inferred_type(model).or_else(|| of_definition(db, model, target))?;
            let environment = model.program_environment();
            let (one_line, by_line) =
                (inferred.display(db, &environment), inferred.display(db, &environment).multiline());
            let text = one_line.to_string();
            Some(if text.starts_with("Overload[") { one_line_each(&by_line.to_string()) } else { text })
        };
        let shown = signature(model, target).or_else(inferred)?;
        let range = target.range();
        let text = source_text(db, file.file(db));
        let span = Lines::from_source(&text).span(display.path(db, file.file(db)), range);
        let definitions = mapped(db, target.declared(model, ImportAliasResolution::ResolveAliases));
        let docstring =
            definitions.iter().find_map(|one| one.docstring(db).or_else(|| one.implementation_docstring(db)));
        Some(Typed {
            display: shown,
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

/// Signature shown instead of the type at callees, keyword arguments and keys of typed dictionaries.
fn signature(model: &SemanticModel<'_>, target: &Target<'_>) -> Option<String> {
    match target {
        Target::Callee { call, .. } => {
            let text = constructor_signature(model, call).or_else(|| call_type_simplified_by_overloads(model, call))?;
            Some(one_line_each(&text))
        }
        Target::Keyword { name, keyword, call } => parameter(model, name, keyword, call),
        Target::Key { subscript, .. } => {
            let found = typed_dict_key_hover(model, subscript)?;
            let environment = model.program_environment();
            let declared = found.declared_ty.display(model.db(), &environment);
            Some(format!("(key of {}) {}: {declared}", found.owner, found.key))
        }
        _ => None,
    }
}

/// The parameter that a keyword argument is passed to, as declared in the chosen signature.
fn parameter(
    model: &SemanticModel<'_>,
    name: &ast::Identifier,
    keyword: &ast::Keyword,
    call: &ast::ExprCall,
) -> Option<String> {
    let chosen = resolved_call_signature(model, call)?;
    let number = call.arguments.iter_source_order().position(|one| one.range() == keyword.range)?;
    if !chosen.argument_to_parameter_mapping.get(number)?.matched {
        return None;
    }
    let shown = chosen.argument_to_displayed_parameter_mapping.get(number).copied().flatten()?;
    let parameter = chosen.parameters.get(shown)?;
    if parameter.is_keyword_variadic {
        return Some(format!("(variadic keyword parameter) {}", parameter.label));
    }
    (parameter.name == name.as_str()).then(|| format!("(parameter) {}", parameter.label))
}

/// Signatures that have one parameter per line, with one line for each signature.
fn one_line_each(text: &str) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let is_continued = line.starts_with([' ', ')', ']']);
        let line = line.trim();
        if whole.is_empty() || whole.ends_with('(') || line.starts_with(')') {
            // Brackets have no space on their inner side.
        } else {
            whole.push(if is_continued { ' ' } else { '\n' });
        }
        whole.push_str(line);
    }
    whole
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signature_is_one_line() {
        assert_eq!(one_line_each("def f(\n    a: int,\n    b\n) -> str"), "def f(a: int, b) -> str");
        assert_eq!(one_line_each("class C(...)\nclass C(\n    a,\n    b\n)"), "class C(...)\nclass C(a, b)");
        assert_eq!(one_line_each("class C()"), "class C()");
    }
}
