//! Members of a value that an expression does not read: of a keyword's owner, and those reached through `super()`.
//!
//! Owns their resolution to definitions.

use super::api::{
    AnyNodeRef, Expr, ExprContext, HasType, Ranged, ResolvedDefinition, SemanticModel, Type, TypeDefinition, ast,
    covering_node, definitions_for_attribute, parsed_module,
};

/// The definitions of `super().name`, which the attribute lookup of the checker does not resolve.
pub(super) fn through_super<'db>(
    model: &SemanticModel<'db>,
    attribute: &ast::ExprAttribute,
) -> Vec<ResolvedDefinition<'db>> {
    if !matches!(attribute.value.inferred_type(model), Some(Type::BoundSuper(_))) {
        return Vec::new();
    }
    let found = attribute.inferred_type(model);
    let found = found.and_then(|found| found.definition(model.db(), &model.program_environment()));
    match found {
        Some(TypeDefinition::Function(definition)) => vec![ResolvedDefinition::Definition(definition)],
        // A property access has the type of the value, not of the property.
        _ => of_bases(model, attribute),
    }
}

/// The definitions of the attribute in the first base of the enclosing class that has it.
fn of_bases<'db>(model: &SemanticModel<'db>, attribute: &ast::ExprAttribute) -> Vec<ResolvedDefinition<'db>> {
    let Expr::Call(call) = &*attribute.value else { return Vec::new() };
    let parsed = parsed_module(model.db(), model.python_file()).load(model.db());
    let nodes = covering_node(parsed.syntax().into(), attribute.range());
    let class = nodes.ancestors().find_map(|node| match node {
        AnyNodeRef::StmtClassDef(class) => Some(class),
        _ => None,
    });
    let Some(class) = class else { return Vec::new() };
    // `super(Other, self)` starts the lookup after another class.
    let is_own = match call.arguments.args.first() {
        None => true,
        Some(Expr::Name(name)) => name.id == class.name.id,
        Some(_) => false,
    };
    let bases = class.bases().iter().filter(|_| is_own);
    let found = bases.map(|base| member(model, base, &attribute.attr)).find(|found| !found.is_empty());
    found.unwrap_or_default()
}

/// The definitions of `owner.name`.
pub(super) fn member<'db>(
    model: &SemanticModel<'db>,
    owner: &Expr,
    name: &ast::Identifier,
) -> Vec<ResolvedDefinition<'db>> {
    definitions_for_attribute(model, &dotted(owner, name))
}

/// A synthetic `owner.name`. The owner keeps its node in the tree, through which its type is known.
fn dotted(owner: &Expr, name: &ast::Identifier) -> ast::ExprAttribute {
    ast::ExprAttribute {
        node_index: ast::AtomicNodeIndex::NONE,
        range: owner.range(),
        value: Box::new(owner.clone()),
        attr: name.clone(),
        ctx: ExprContext::Load,
    }
}
