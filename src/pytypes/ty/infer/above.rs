//! What stands above a method says of its parameters: the methods that it overrides, and the language, which calls some.
//!
//! Owns the way from a parameter to its like in the classes above. Whether that is known is the caller's to see.

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

/// Classes that are looked into; no hierarchy that a person wrote has more above one class.
const MOST_CLASSES: usize = 50;

/// The method that a method overrides.
pub(super) struct Overridden<'db> {
    pub definition: Definition<'db>,
    pub class: String,
    /// What the parameter is declared to be there.
    pub declared: Option<Type<'db>>,
    /// What it is called there.
    pub name: String,
}

/// The nearest method above that has the parameter too.
pub(super) fn overridden<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    name: &str,
) -> Option<Overridden<'db>> {
    let is_method = function.definition(model).scope(db).scope(db).kind() == ScopeKind::Class;
    // Nobody holds a constructor to the one above.
    if !is_method || matches!(function.name.as_str(), "__init__" | "__new__" | "__init_subclass__" | "__post_init__") {
        return None;
    }
    let own = family::class_around(db, model.file(), function.name.range)?;
    let at = place(function, name);
    let mut waiting = VecDeque::from(family::bases(db, own));
    let mut seen = Vec::new();
    while let Some(class) = waiting.pop_front() {
        if seen.contains(&class) || seen.len() >= MOST_CLASSES {
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
        let parameter = like(method, name, at)?;
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

/// Which of the parameters by position it is.
fn place(function: &ast::StmtFunctionDef, name: &str) -> Option<usize> {
    let parameters = &function.parameters;
    parameters.posonlyargs.iter().chain(&parameters.args).position(|one| one.parameter.name.as_str() == name)
}

/// The parameter of the same name; or at the same place, where its name is nobody's business.
fn like<'m>(method: &'m ast::StmtFunctionDef, name: &str, at: Option<usize>) -> Option<&'m ast::ParameterWithDefault> {
    let parameters = &method.parameters;
    let named = parameters.iter_non_variadic_params().find(|one| one.parameter.name.as_str() == name);
    named.or_else(|| parameters.posonlyargs.get(at?))
}

/// What the language gives to a method that it calls itself.
pub(super) fn of_language(function: &ast::StmtFunctionDef, name: &str) -> Option<Annotation> {
    let plain = |text: &str| Annotation { text: text.to_owned(), imports: Vec::new() };
    match (function.name.as_str(), place(function, name)?) {
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
