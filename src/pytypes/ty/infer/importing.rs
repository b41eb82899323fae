//! The names under which a file can use a class: what it imports already, and the public module of a class.
//!
//! Owns whether a name exists when an annotation is evaluated.

use crate::pytypes::ty::api::{
    Definition, Expr, Ranged, SemanticModel, SourceOrderVisitor, ast, file_to_module, parsed_module, walk_stmt,
};
use crate::pytypes::ty::db::{Database, Db as _};

/// Classes that `typing` only re-exports.
pub(super) const ABSTRACT: &[&str] = &[
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "Collection",
    "Container",
    "Coroutine",
    "Generator",
    "Hashable",
    "ItemsView",
    "Iterable",
    "Iterator",
    "KeysView",
    "Mapping",
    "MappingView",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Reversible",
    "Sequence",
    "Sized",
    "ValuesView",
];

/// Modules of the standard library whose classes are as old as Python 3.8. Of others, the stubs no longer say which versions before
/// 3.10 have a name: typeshed has dropped those versions.
pub(super) const OLD_MODULES: &[&str] = &[
    "argparse",
    "collections",
    "collections.abc",
    "datetime",
    "decimal",
    "io",
    "logging",
    "pathlib",
    "re",
    "socket",
    "subprocess",
    "threading",
    "typing",
];

/// Whether a stub defines it under a condition, such as a version of Python.
pub(super) fn is_of_some_versions(db: &Database, definition: Definition<'_>) -> bool {
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let at = definition.full_range(db, &parsed).range();
    let holds = parsed.suite().iter().find(|statement| statement.range().contains_range(at));
    holds.is_some_and(ast::Stmt::is_if_stmt)
}

/// The name by which the file has imported the public module of a class as a whole: `socket` after `import socket`.
pub(super) fn imported_module(db: &Database, model: &SemanticModel<'_>, definition: Definition<'_>) -> Option<String> {
    let module = file_to_module(db, definition.program_file(db).resolver_file(db))?;
    let (module, _) = public(module.name(db).as_str(), definition.name(db)?.as_str()).ok()?;
    let parsed = parsed_module(db, model.python_file()).load(db);
    let imports = parsed.suite().iter().filter_map(ast::Stmt::as_import_stmt).flat_map(|import| &import.names);
    imports
        .filter(|alias| alias.name.as_str() == module)
        .map(|alias| alias.asname.as_ref().unwrap_or(&alias.name))
        .map(ToString::to_string)
        .next()
}

/// Whether it is defined without an import.
pub(super) fn is_builtin(db: &Database, definition: Definition<'_>) -> bool {
    let path = definition.file(db).path(db);
    path.is_vendored_path() && path.as_str().ends_with("builtins.pyi")
}

/// Whether the module binds a name at run time, whatever conditions hold.
pub(super) fn is_always_bound(db: &Database, model: &SemanticModel<'_>, name: &str) -> bool {
    let parsed = parsed_module(db, model.python_file()).load(db);
    let is_it = |identifier: &ast::Identifier| identifier.as_str() == name;
    let binds = |alias: &ast::Alias| match &alias.asname {
        Some(given) => is_it(given),
        None => is_it(&alias.name),
    };
    let is_target = |target: &Expr| target.as_name_expr().is_some_and(|target| target.id.as_str() == name);
    parsed.suite().iter().any(|statement| match statement {
        ast::Stmt::ClassDef(class) => is_it(&class.name),
        ast::Stmt::Import(import) => import.names.iter().any(binds),
        ast::Stmt::ImportFrom(import) => import.names.iter().any(|alias| binds(alias) || alias.name.as_str() == "*"),
        ast::Stmt::Assign(assign) => assign.targets.iter().any(is_target),
        ast::Stmt::AnnAssign(assign) => is_target(&assign.target),
        ast::Stmt::TypeAlias(alias) => is_target(&alias.name),
        _ => false,
    })
}

/// Whether the file imports a module, or something from it, but never without a condition.
pub(super) fn is_imported_conditionally(db: &Database, model: &SemanticModel<'_>, module: &str) -> bool {
    struct Imports<'m>(&'m str, bool);
    impl<'a> SourceOrderVisitor<'a> for Imports<'_> {
        fn visit_stmt(&mut self, statement: &'a ast::Stmt) {
            self.1 |= imports(statement, self.0);
            walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, _expression: &'a Expr) {}
    }
    fn imports(statement: &ast::Stmt, module: &str) -> bool {
        match statement {
            ast::Stmt::Import(import) => import.names.iter().any(|alias| alias.name.as_str() == module),
            ast::Stmt::ImportFrom(import) => import.module.as_ref().is_some_and(|from| from.as_str() == module),
            _ => false,
        }
    }
    let parsed = parsed_module(db, model.python_file()).load(db);
    if parsed.suite().iter().any(|statement| imports(statement, module)) {
        return false;
    }
    let mut found = Imports(module, false);
    found.visit_body(parsed.suite());
    found.1
}

/// Whether a file of the project defines it.
pub(super) fn is_of_project(db: &Database, definition: Definition<'_>) -> bool {
    db.project().files(db).contains(&definition.file(db))
}

/// The public module of a class that a stub defines elsewhere.
pub(super) fn public(module: &str, name: &str) -> Result<(String, String), String> {
    let module = match module {
        "typing" if ABSTRACT.contains(&name) => "collections.abc",
        "_io" => "io",
        "_collections_abc" => "collections.abc",
        "_socket" => "socket",
        "_thread" => "threading",
        "_asyncio" | "asyncio.events" | "asyncio.futures" | "asyncio.locks" | "asyncio.queues" | "asyncio.streams"
        | "asyncio.tasks" => "asyncio",
        "_contextvars" => "contextvars",
        "_csv" => "csv",
        "_decimal" => "decimal",
        "_queue" => "queue",
        "_random" => "random",
        "_struct" => "struct",
        "_weakref" => "weakref",
        "concurrent.futures._base" => "concurrent.futures",
        module => module,
    };
    let is_private = name.starts_with('_') || module.split('.').any(|part| part.starts_with('_'));
    if is_private {
        return Err(format!("`{name}` has no public name"));
    }
    Ok((module.to_owned(), name.to_owned()))
}
