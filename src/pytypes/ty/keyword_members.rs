//! The items that keywords name: a parameter, or a member in class patterns and in calls that return a modified copy.
//!
//! Owns the resolution of such a keyword, also of one that `functools.partial` forwards to another function.

use super::api::{
    DefinitionKind, Expr, ExprRef, HasDefinition, HasType, ImportAliasResolution, ResolvedDefinition, SemanticModel,
    Type, ast, definitions_for_keyword_argument, parsed_module,
};
use super::display::module_name;
use super::expressions::{keep_of_class, of_callee, of_expression};
use super::super_members::member;

/// Functions that return a copy of their first argument, modified by their keyword arguments, by module.
const COPYING: &[(&str, &str)] =
    &[("dataclasses", "replace"), ("copy", "replace"), ("attr", "evolve"), ("attr", "assoc"), ("attrs", "evolve")];

/// Functions that store arguments for their first argument.
const HANDING_ON: &[(&str, &str)] = &[("functools", "partial"), ("functools", "partialmethod")];

/// The parameters that a keyword argument sets.
pub(super) fn of_argument<'db>(
    model: &SemanticModel<'db>,
    keyword: &ast::Keyword,
    call: &ast::ExprCall,
) -> Vec<ResolvedDefinition<'db>> {
    let found = definitions_for_keyword_argument(model, keyword, call);
    match &keyword.arg {
        Some(name) if found.is_empty() => of_constructor(model, name, call),
        _ => found,
    }
}

/// The parameters of that name of a class's constructor. For the checker the one of an exception is `BaseException.__new__`,
/// which takes any argument.
fn of_constructor<'db>(
    model: &SemanticModel<'db>,
    name: &ast::Identifier,
    call: &ast::ExprCall,
) -> Vec<ResolvedDefinition<'db>> {
    if !matches!(call.func.inferred_type(model), Some(Type::ClassLiteral(_))) {
        return Vec::new();
    }
    let db = model.db();
    let callee = ExprRef::from(&*call.func);
    let parameter = |one: &ResolvedDefinition<'db>| {
        let definition = one.definition()?;
        let DefinitionKind::Function(function) = definition.kind(db) else { return None };
        let parsed = parsed_module(db, definition.python_file(db)).load(db);
        let parameters = &function.node(&parsed).parameters;
        let named = parameters.iter_non_variadic_params().find(|one| one.parameter.name.id == name.id)?;
        let own = SemanticModel::new(db, definition.program_file(db));
        Some(ResolvedDefinition::Definition(named.definition(&own)))
    };
    let mut found = of_callee(model, callee, call, ImportAliasResolution::ResolveAliases);
    keep_of_class(&mut found, model, callee, true);
    found.iter().filter_map(parameter).collect()
}

/// The definitions of a keyword in a call that copies its first argument.
pub(super) fn of_copy<'db>(
    model: &SemanticModel<'db>,
    call: &ast::ExprCall,
    name: &ast::Identifier,
) -> Vec<ResolvedDefinition<'db>> {
    match call.arguments.args.first() {
        Some(first) if !first.is_starred_expr() && is_call_of(model, call, COPYING) => member(model, first, name),
        _ => Vec::new(),
    }
}

/// The definitions of a keyword that `functools.partial` forwards.
pub(super) fn handed_on<'db>(
    model: &SemanticModel<'db>,
    keyword: &ast::Keyword,
    call: &ast::ExprCall,
) -> Vec<ResolvedDefinition<'db>> {
    match call.arguments.args.first() {
        Some(first) if !first.is_starred_expr() && is_call_of(model, call, HANDING_ON) => {
            let later = ast::ExprCall { func: Box::new(first.clone()), ..call.clone() };
            of_argument(model, keyword, &later)
        }
        _ => Vec::new(),
    }
}

/// The name of the called function, and the expression before its dot.
pub(super) fn called(function: &Expr) -> Option<(&str, Option<&Expr>)> {
    match function {
        Expr::Name(name) => Some((name.id.as_str(), None)),
        Expr::Attribute(attribute) => Some((attribute.attr.as_str(), Some(&*attribute.value))),
        _ => None,
    }
}

/// Whether a call is of one of these functions, given with the last component of their modules.
pub(super) fn is_call_of(model: &SemanticModel<'_>, call: &ast::ExprCall, functions: &[(&str, &str)]) -> bool {
    let Some((called, _)) = called(&call.func) else { return false };
    let found = of_expression(model, (&*call.func).into(), ImportAliasResolution::ResolveAliases);
    found.iter().any(|one| {
        let path = one.focus_range(model.db()).file().path(model.db()).as_str();
        // The call may use an alias.
        let name = one.definition().and_then(|definition| definition.name(model.db()));
        functions.contains(&(module_name(path).as_str(), name.as_deref().unwrap_or(called)))
    })
}
