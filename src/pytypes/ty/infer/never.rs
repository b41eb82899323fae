//! Calls that never return.
//!
//! Owns following them into functions that are not annotated yet. Code after such a call is not evidence that the
//! function around it returns.

use super::flow::{exits, falls_through, is_placeholder};
use crate::pytypes::ty::api::{
    DefinitionKind, Expr, HasType, SemanticDb as _, SemanticModel, Type, TypeDefinition, ast, parsed_module,
};
use crate::pytypes::ty::db::Database;

/// How far calls are followed.
const MAX_DEPTH: usize = 4;

/// Whether an expression is a call that never returns.
pub(super) fn is_endless_call(db: &Database, model: &SemanticModel<'_>, expression: &Expr) -> bool {
    follow(db, model, expression, MAX_DEPTH)
}

fn follow(db: &Database, model: &SemanticModel<'_>, expression: &Expr, depth: usize) -> bool {
    let Expr::Call(call) = expression else { return false };
    if matches!(expression.inferred_type(model), Some(Type::Never)) {
        return true;
    }
    if depth == 0 {
        return false;
    }
    let called = call.func.inferred_type(model);
    let called = called.and_then(|called| called.definition(db, &model.program_environment()));
    let Some(TypeDefinition::Function(definition)) = called else { return false };
    let DefinitionKind::Function(function) = definition.kind(db) else { return false };
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let function = function.node(&parsed);
    let model = SemanticModel::new(db, db.program_file(definition.file(db)));
    raises_always(function, &|inner| follow(db, &model, inner, depth - 1))
}

/// Whether a function without a declared return type always raises. An abstract method does not say what those that override it do.
fn raises_always(function: &ast::StmtFunctionDef, never: &dyn Fn(&Expr) -> bool) -> bool {
    let is_plain = |decorator: &ast::Decorator| matches!(&decorator.expression, Expr::Name(name) if matches!(name.id.as_str(), "staticmethod" | "classmethod"));
    if function.returns.is_some()
        || function.is_async
        || !function.decorator_list.iter().all(is_plain)
        || is_placeholder(&function.body)
    {
        return false;
    }
    let found = exits(function);
    found.values.is_empty() && !found.returns_nothing && !found.is_generator && !falls_through(&function.body, never)
}
