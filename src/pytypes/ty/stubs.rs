//! A stub and the module that it describes: the same name in both is one symbol.
//!
//! Owns the mapping of a name from one to the other.

use super::api::{
    AnyNodeRef, File, SemanticDb as _, Stmt, TextRange, covering_node, file_to_module, parsed_module,
    resolve_module_confident, resolve_real_module_confident, source_text,
};
use super::class_members::{Member, members_of, named, names_of};
use super::db::Database;

/// Where the counterpart declares the same name; empty if there is no counterpart.
pub(super) fn find(db: &Database, (file, range): Member) -> Vec<Member> {
    let Some(other) = other(db, file) else { return Vec::new() };
    let Some(path) = path(db, file, range) else { return Vec::new() };
    let parsed = parsed_module(db, db.program_file(other).python_file(db)).load(db);
    let mut bodies: Vec<(Option<TextRange>, &[Stmt])> = vec![(None, parsed.suite())];
    for class in &path.classes {
        let inner = bodies.iter().flat_map(|(_, body)| named(body, class));
        bodies = inner.filter_map(Stmt::as_class_def_stmt).map(|one| (Some(one.name.range), &*one.body)).collect();
    }
    let mut found = Vec::new();
    for (class, body) in bodies {
        match &path.function {
            Some(function) => {
                let functions = named(body, function).into_iter().filter_map(Stmt::as_function_def_stmt);
                let parameters = functions.flat_map(|one| one.parameters.iter_source_order());
                let names = parameters.map(|one| &one.as_parameter().name);
                found.extend(names.filter(|name| name.as_str() == path.name).map(|name| (other, name.range)));
            }
            None => match class {
                Some(class) => found.extend(members_of(db, (other, class), &path.name)),
                None => found.extend(names_of(body, &path.name).into_iter().map(|range| (other, range))),
            },
        }
    }
    found
}

/// Finds the definitions in a stub for a name bound by an import: the stub may define what the module re-exports.
pub(super) fn of_import(db: &Database, (file, range): Member) -> Vec<Member> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    let is_given = nodes.ancestors().take(2).any(|node| match node {
        AnyNodeRef::Alias(alias) => alias.asname.as_ref().unwrap_or(&alias.name).range == range,
        _ => false,
    });
    if is_given { find(db, (file, range)) } else { Vec::new() }
}

/// The stub of a module, or the module of a stub.
fn other(db: &Database, file: File) -> Option<File> {
    let resolver_file = db.program_file(file).resolver_file(db);
    let environment = resolver_file.environment(db);
    let name = file_to_module(db, resolver_file)?.name(db);
    let other = if file.is_stub(db) {
        resolve_real_module_confident(db, environment, name)
    } else {
        resolve_module_confident(db, environment, name)
    };
    let other = other?.file(db)?;
    (other != file && other.is_stub(db) != file.is_stub(db)).then_some(other)
}

/// The path of a name from the top of its file.
struct Path {
    classes: Vec<String>,
    /// The function whose parameter it is.
    function: Option<String>,
    name: String,
}

/// The path of the name; `None` for local names of functions, which stubs do not declare.
fn path(db: &Database, file: File, range: TextRange) -> Option<Path> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    // The range of an attribute starts at its owner.
    let name = source_text(db, file)[range].rsplit('.').next()?.trim().to_owned();
    let is_parameter = nodes.ancestors().take(3).any(|node| matches!(node, AnyNodeRef::Parameter(_)));
    let is_attribute = nodes.ancestors().take(2).any(|node| matches!(node, AnyNodeRef::ExprAttribute(_)));
    let mut path = Path { classes: Vec::new(), function: None, name };
    let mut functions = Vec::new();
    for node in nodes.ancestors() {
        match node {
            AnyNodeRef::StmtClassDef(class) if class.name.range != range => path.classes.push(class.name.to_string()),
            AnyNodeRef::StmtFunctionDef(function) if function.name.range != range => {
                // A class inside a function is as local as its members.
                if !path.classes.is_empty() {
                    return None;
                }
                functions.push(function.name.to_string());
            }
            AnyNodeRef::ExprLambda(_) => return None,
            _ => {}
        }
    }
    path.classes.reverse();
    match functions.as_slice() {
        [] => {}
        [function] if is_parameter => path.function = Some(function.clone()),
        [_] if is_attribute && !path.classes.is_empty() => {}
        _ => return None,
    }
    Some(path)
}
