//! Parameter types from overridden methods, and from the language for methods that Python calls itself.
//!
//! Owns the mapping of a parameter to that of the overridden method. The caller checks whether its type is known.

use std::collections::VecDeque;

use ruff_db::parsed::parsed_module;
use ruff_python_ast::{self as ast, Stmt};
use ty_python_core::definition::Definition;
use ty_python_core::scope::ScopeKind;
use ty_python_semantic::types::Type;
use ty_python_semantic::{Db as _, HasDefinition, HasType, SemanticModel};

use super::annotation::{Annotation, Import};
use crate::pytypes::ty::db::Database;
use crate::pytypes::ty::family;

/// The maximum number of superclasses that are searched.
const MAX_CLASSES: usize = 50;

/// An overridden method.
pub(super) struct Overridden<'db> {
    pub definition: Definition<'db>,
    pub class: String,
    /// The declared type of its parameter.
    pub declared: Option<Type<'db>>,
    /// The name of its parameter.
    pub name: String,
}

/// The method in the nearest superclass that has the parameter too.
pub(super) fn find<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    name: &str,
) -> Option<Overridden<'db>> {
    let is_method = function.definition(model).scope(db).scope(db).kind() == ScopeKind::Class;
    // Constructors need not be compatible with those of the superclass.
    if !is_method || matches!(function.name.as_str(), "__init__" | "__new__" | "__init_subclass__" | "__post_init__") {
        return None;
    }
    let own = family::class_around(db, model.file(), function.name.range)?;
    let at = index_of(function, name);
    let mut waiting = VecDeque::from(family::bases(db, own));
    let mut seen = Vec::new();
    while let Some(class) = waiting.pop_front() {
        if seen.contains(&class) || seen.len() >= MAX_CLASSES {
            continue;
        }
        seen.push(class);
        let (file, range) = class;
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let Some(node) = family::class_at(parsed.syntax().into(), range) else { continue };
        let methods = node.body.iter().filter_map(Stmt::as_function_def_stmt);
        let mut methods = methods.filter(|method| method.name.id == function.name.id);
        let (Some(method), None) = (methods.next(), methods.next()) else {
            waiting.extend(family::bases(db, class));
            continue;
        };
        let parameter = parameter_at(method, name, at)?;
        let above = SemanticModel::new(db, program_file);
        let declared = parameter.parameter.annotation.is_some().then(|| parameter.inferred_type(&above)).flatten();
        return Some(Overridden {
            definition: method.definition(&above),
            class: node.name.to_string(),
            declared,
            name: parameter.parameter.name.to_string(),
        });
    }
    None
}

/// The position of a parameter among the positional ones.
fn index_of(function: &ast::StmtFunctionDef, name: &str) -> Option<usize> {
    let parameters = &function.parameters;
    parameters.posonlyargs.iter().chain(&parameters.args).position(|one| one.parameter.name.as_str() == name)
}

/// The parameter of the same name, or a positional-only one at the same position.
fn parameter_at<'m>(
    method: &'m ast::StmtFunctionDef,
    name: &str,
    at: Option<usize>,
) -> Option<&'m ast::ParameterWithDefault> {
    let parameters = &method.parameters;
    let named = parameters.iter_non_variadic_params().find(|one| one.parameter.name.as_str() == name);
    named.or_else(|| parameters.posonlyargs.get(at?))
}

/// The annotation of a parameter whose argument Python itself passes.
pub(super) fn of_language(function: &ast::StmtFunctionDef, name: &str) -> Option<Annotation> {
    let plain = |text: &str| Annotation { text: text.to_owned(), imports: Vec::new() };
    match (function.name.as_str(), index_of(function, name)?) {
        ("__exit__" | "__aexit__", 1) => Some(plain("type[BaseException] | None")),
        ("__exit__" | "__aexit__", 2) => Some(plain("BaseException | None")),
        ("__exit__" | "__aexit__", 3) => {
            let traceback = Import { module: "types".to_owned(), name: "TracebackType".to_owned(), is_own: false };
            Some(Annotation { text: "TracebackType | None".to_owned(), imports: vec![traceback] })
        }
        ("__getattr__", 1) => Some(plain("str")),
        _ => None,
    }
}
