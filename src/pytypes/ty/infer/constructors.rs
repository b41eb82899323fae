//! The `__init__` that a call of a class runs.
//!
//! Owns finding it for plain classes of the project. A class is not plain if something else may determine how it is
//! called: a metaclass, a decorator, `__new__`, several bases, or a base outside the project. Does not own calls of
//! other classes: the checker knows those.

use std::collections::HashMap;

use crate::pytypes::ty::api::{
    Definition, DefinitionKind, Expr, HasDefinition, HasType, SemanticDb as _, SemanticModel, Stmt, Type, ast,
    parsed_module,
};
use crate::pytypes::ty::class_members::{Class, class_at};
use crate::pytypes::ty::db::Database;
use crate::pytypes::ty::family;

/// The maximum number of superclasses that are followed.
const MAX_DEPTH: usize = 20;

/// Something else may determine how a class is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undetermined;

/// Constructors that were found, by class. It holds for one version of the files.
#[derive(Default)]
pub(super) struct Constructors<'db>(HashMap<Definition<'db>, Result<Option<Definition<'db>>, Undetermined>>);

impl<'db> Constructors<'db> {
    /// The `__init__` that a call of this class runs; `None` if it is that of `object`.
    pub fn resolve(
        &mut self,
        db: &'db Database,
        class: Definition<'db>,
    ) -> Result<Option<Definition<'db>>, Undetermined> {
        *self.0.entry(class).or_insert_with(|| {
            let DefinitionKind::Class(node) = class.kind(db) else { return Err(Undetermined) };
            let parsed = parsed_module(db, class.python_file(db)).load(db);
            find(db, (class.file(db), node.node(&parsed).name.range), MAX_DEPTH)
        })
    }
}

fn find<'db>(db: &'db Database, (file, range): Class, depth: usize) -> Result<Option<Definition<'db>>, Undetermined> {
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let class = class_at(parsed.syntax().into(), range).ok_or(Undetermined)?;
    let has_keywords = class.arguments.as_ref().is_some_and(|given| !given.keywords.is_empty());
    let is_bare = class.decorator_list.is_empty() && !has_keywords;
    if depth == 0 || !db.is_own(file) || !is_bare || !class.body.iter().all(is_plain) {
        return Err(Undetermined);
    }
    let model = SemanticModel::new(db, program_file);
    // Where an import may fail, a base is a union.
    let is_class =
        |base: &Expr| matches!(base.inferred_type(&model), Some(Type::ClassLiteral(_) | Type::GenericAlias(_)));
    let above = match (class.bases(), family::bases(db, (file, range))) {
        ([], _) => None,
        ([base], [found]) if is_class(base) => find(db, *found, depth - 1)?,
        _ => return Err(Undetermined),
    };
    let methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
    let mut own = methods.filter(|method| method.name.as_str() == "__init__");
    match (own.next(), own.next()) {
        (None, _) => Ok(above),
        (Some(only), None) => Ok(Some(only.definition(&model))),
        _ => Err(Undetermined),
    }
}

/// Whether a statement in the body of a class binds neither `__new__` nor, other than by a plain `def`, `__init__`.
fn is_plain(statement: &Stmt) -> bool {
    let is_special = |name: &str| matches!(name, "__init__" | "__new__" | "__call__");
    let binds = |target: &Expr| matches!(target, Expr::Name(name) if !is_special(name.id.as_str()));
    match statement {
        Stmt::FunctionDef(method) => match method.name.as_str() {
            "__init__" => method.decorator_list.is_empty(),
            name => name != "__new__",
        },
        Stmt::Assign(ast::StmtAssign { targets, .. }) => targets.iter().all(binds),
        Stmt::AnnAssign(assign) => binds(&assign.target),
        Stmt::ClassDef(_) | Stmt::Expr(_) | Stmt::Pass(_) => true,
        _ => false,
    }
}
