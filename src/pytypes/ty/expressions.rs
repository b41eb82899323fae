//! The definitions that an expression refers to.
//!
//! Owns the definitions of names, attributes and what is called. Does not own which expression is at a position (`target`).

use super::api::{
    Expr, ExprRef, HasType, ImportAliasResolution, ProgramFile, ResolvedDefinition, SemanticModel, Type,
    TypeDefinition, ast, call_signature_details, definitions_for_attribute, definitions_for_name, parsed_module,
};
use super::super_members;

/// Removes duplicates. The lists are short, and definitions do not implement `Hash`.
pub(super) fn unique(found: &mut Vec<ResolvedDefinition<'_>>) {
    for at in (1..found.len()).rev() {
        if found[..at].contains(&found[at]) {
            found.remove(at);
        }
    }
}

pub(super) fn of_expression<'db>(
    model: &SemanticModel<'db>,
    expression: ExprRef<'_>,
    aliases: ImportAliasResolution,
) -> Vec<ResolvedDefinition<'db>> {
    match expression {
        ExprRef::Name(name) => definitions_for_name(model, name.id.as_str(), expression.into(), aliases),
        ExprRef::Attribute(attribute) => {
            let found = definitions_for_attribute(model, attribute);
            if found.is_empty() {
                return super_members::through_super(model, attribute);
            }
            let preserved = (aliases == ImportAliasResolution::PreserveAliases)
                .then(|| of_module(model, attribute, aliases))
                .flatten();
            preserved.unwrap_or(found)
        }
        _ => Vec::new(),
    }
}

/// The definitions of a name of a module, which may be the alias of an import there; `None` for other attributes.
fn of_module<'db>(
    model: &SemanticModel<'db>,
    attribute: &ast::ExprAttribute,
    aliases: ImportAliasResolution,
) -> Option<Vec<ResolvedDefinition<'db>>> {
    let (db, owner) = (model.db(), attribute.value.inferred_type(model)?);
    let Some(TypeDefinition::Module(module)) = owner.definition(db, &model.program_environment()) else { return None };
    let model = SemanticModel::new(db, ProgramFile::new(db, module.file(db)?, model.program()));
    let parsed = parsed_module(db, model.python_file()).load(db);
    Some(definitions_for_name(&model, attribute.attr.as_str(), parsed.syntax().into(), aliases))
}

/// The definitions of what is called. For a call of a class, they include `__init__` and `__new__`.
pub(super) fn of_callee<'db>(
    model: &SemanticModel<'db>,
    callee: ExprRef<'_>,
    call: &ast::ExprCall,
    aliases: ImportAliasResolution,
) -> Vec<ResolvedDefinition<'db>> {
    let mut found = Vec::new();
    // The selected overload. This always follows aliases.
    if aliases == ImportAliasResolution::ResolveAliases {
        let signatures = call_signature_details(model, call).into_iter();
        found.extend(signatures.filter_map(|one| one.definition.map(ResolvedDefinition::Definition)));
    }
    found.extend(of_expression(model, callee, aliases));
    unique(&mut found);
    found
}

/// Drops the definitions of a called class that do not apply: its name refers to the class, its opening parenthesis to the
/// constructor.
pub(super) fn keep_of_class(
    found: &mut Vec<ResolvedDefinition<'_>>,
    model: &SemanticModel<'_>,
    callee: ExprRef<'_>,
    on_parenthesis: bool,
) {
    if !callee.inferred_type(model).is_some_and(|called| matches!(called, Type::ClassLiteral(_))) {
        return;
    }
    let is_constructor = |one: &ResolvedDefinition<'_>| {
        one.definition().is_some_and(|definition| {
            definition.kind(model.db()).is_function_def()
                && definition.name(model.db()).is_some_and(|name| name == "__init__" || name == "__new__")
        })
    };
    if !on_parenthesis {
        found.retain(|one| !is_constructor(one));
    } else if found.iter().any(is_constructor) {
        found.retain(is_constructor);
    }
}

/// The last component of a name, or of the name that is called.
pub(super) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}
