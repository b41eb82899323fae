//! Classes and functions, and the names that they declare.
//!
//! Owns finding them in the syntax of their file. Does not own which classes are related (`family`).

use super::api::{
    AnyNodeRef, DefinitionKind, Expr, File, Ranged, ResolvedDefinition, ScopeKind, SemanticDb as _, SourceOrderVisitor,
    Stmt, TextRange, ast, covering_node, parsed_module, walk_stmt,
};
use super::db::Database;

/// A class, identified by its file and the range of its name.
pub(super) type Class = (File, TextRange);

/// An occurrence of a name that declares a member.
pub(super) type Member = (File, TextRange);

/// The class that a definition is a member of: bound in its body, or assigned to an attribute of `self`.
pub(super) fn class_of(db: &Database, found: &ResolvedDefinition<'_>) -> Option<Class> {
    let definition = found.definition()?;
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let is_attribute = match definition.kind(db) {
        DefinitionKind::Assignment(one) => one.target(&parsed).is_attribute_expr(),
        DefinitionKind::AnnotatedAssignment(one) => one.target(&parsed).is_attribute_expr(),
        _ => false,
    };
    if !is_attribute && definition.scope(db).scope(db).kind() != ScopeKind::Class {
        return None;
    }
    let range = found.focus_range(db).range();
    class_around(db, definition.file(db), range)
}

/// The function whose parameter a definition is.
pub(super) fn function_of(db: &Database, found: &ResolvedDefinition<'_>) -> Option<(File, TextRange)> {
    let definition = found.definition()?;
    if !matches!(definition.kind(db), DefinitionKind::Parameter(_)) {
        return None;
    }
    let file = definition.file(db);
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), found.focus_range(db).range());
    let function = nodes.ancestors().find_map(|node| match node {
        AnyNodeRef::StmtFunctionDef(function) => Some(function.name.range),
        _ => None,
    })?;
    Some((file, function))
}

/// The class that encloses a range, other than one whose own name is the range.
pub(super) fn class_around(db: &Database, file: File, range: TextRange) -> Option<Class> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    let class = nodes.ancestors().find_map(|node| match node {
        AnyNodeRef::StmtClassDef(class) if class.name.range != range => Some(class.name.range),
        _ => None,
    })?;
    Some((file, class))
}

/// The name of the parameter `name` of the function whose own name is at this range.
pub(super) fn parameter(db: &Database, (file, range): Member, name: &str) -> Option<Member> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    let function = nodes.ancestors().find_map(|node| match node {
        AnyNodeRef::StmtFunctionDef(function) if function.name.range == range => Some(function),
        _ => None,
    })?;
    let parameters = function.parameters.iter_source_order();
    let found = parameters.map(|one| &one.as_parameter().name).find(|own| own.as_str() == name);
    found.map(|own| (file, own.range))
}

/// The names of the other functions of the same name, if the function is overloaded.
pub(super) fn overloads(db: &Database, (file, range): Member) -> Vec<Member> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    let is_own = |node: &AnyNodeRef<'_>| matches!(node, AnyNodeRef::StmtFunctionDef(one) if one.name.range == range);
    let mut around = nodes.ancestors().skip_while(|node| !is_own(node));
    let Some(AnyNodeRef::StmtFunctionDef(own)) = around.next() else { return Vec::new() };
    let body = around.find_map(|node| match node {
        AnyNodeRef::StmtClassDef(class) => Some(&class.body),
        AnyNodeRef::StmtFunctionDef(function) => Some(&function.body),
        AnyNodeRef::ModModule(module) => Some(&module.body),
        _ => None,
    });
    let functions = body.map(|body| named(body, own.name.as_str())).unwrap_or_default();
    let functions: Vec<_> = functions.into_iter().filter_map(Stmt::as_function_def_stmt).collect();
    let is_choice = |function: &&ast::StmtFunctionDef| {
        function.decorator_list.iter().any(|decorator| match &decorator.expression {
            Expr::Name(name) => name.id.as_str() == "overload",
            Expr::Attribute(attribute) => attribute.attr.as_str() == "overload",
            _ => false,
        })
    };
    if !functions.iter().any(is_choice) {
        return Vec::new();
    }
    functions.iter().filter(|one| one.name.range != range).map(|one| (file, one.name.range)).collect()
}

/// Classes and functions with that name in a body, including nested blocks.
pub(super) fn named<'a>(body: &'a [Stmt], name: &str) -> Vec<&'a Stmt> {
    struct Named<'n, 'a>(&'n str, Vec<&'a Stmt>);
    impl<'a> SourceOrderVisitor<'a> for Named<'_, 'a> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            match statement {
                Stmt::ClassDef(class) if class.name.as_str() == self.0 => self.1.push(statement),
                Stmt::FunctionDef(function) if function.name.as_str() == self.0 => self.1.push(statement),
                Stmt::ClassDef(_) | Stmt::FunctionDef(_) => {}
                statement => walk_stmt(self, statement),
            }
        }
    }
    let mut found = Named(name, Vec::new());
    found.visit_body(body);
    found.1
}

pub(super) fn class_at(tree: AnyNodeRef<'_>, range: TextRange) -> Option<&ast::StmtClassDef> {
    covering_node(tree, range).ancestors().find_map(|node| match node {
        AnyNodeRef::StmtClassDef(class) if class.name.range == range => Some(class),
        _ => None,
    })
}

/// Where a class itself declares a member: in its body, or by `self.name = …` in a method.
pub(super) fn members_of(db: &Database, (file, range): Class, name: &str) -> Vec<Member> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let Some(class) = class_at(parsed.syntax().into(), range) else { return Vec::new() };
    let mut members = Members { name, has_methods: true, receiver: None, is_in_method: false, found: Vec::new() };
    members.visit_body(&class.body);
    members.found.into_iter().map(|range| (file, range)).collect()
}

/// Where the top level of a module binds a name.
pub(super) fn names_of(body: &[Stmt], name: &str) -> Vec<TextRange> {
    let mut names = Members { name, has_methods: false, receiver: None, is_in_method: false, found: Vec::new() };
    names.visit_body(body);
    names.found
}

struct Members<'n> {
    name: &'n str,
    /// Whether functions are methods, whose receiver attributes count.
    has_methods: bool,
    receiver: Option<String>,
    is_in_method: bool,
    found: Vec<TextRange>,
}

impl Members<'_> {
    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) if !self.is_in_method && name.id.as_str() == self.name => self.found.push(name.range),
            Expr::Attribute(attribute) if attribute.attr.as_str() == self.name => {
                if matches!(&*attribute.value, Expr::Name(name) if Some(name.id.as_str()) == self.receiver.as_deref()) {
                    self.found.push(attribute.attr.range);
                }
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.target(element));
            }
            _ => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Members<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target)),
            Stmt::AnnAssign(assign) => self.target(&assign.target),
            Stmt::FunctionDef(function) if !self.is_in_method => {
                if function.name.as_str() == self.name {
                    self.found.push(function.name.range());
                }
                if !self.has_methods {
                    return;
                }
                self.receiver = function.parameters.iter_non_variadic_params().next().map(|one| one.name().to_string());
                self.is_in_method = true;
                self.visit_body(&function.body);
                self.is_in_method = false;
                self.receiver = None;
            }
            Stmt::ClassDef(class) => {
                if !self.is_in_method && class.name.as_str() == self.name {
                    self.found.push(class.name.range);
                }
            }
            Stmt::Import(ast::StmtImport { names, .. }) | Stmt::ImportFrom(ast::StmtImportFrom { names, .. }) => {
                if !self.is_in_method {
                    let given = names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name));
                    let given = given.filter(|name| name.as_str() == self.name);
                    self.found.extend(given.map(|name| name.range));
                }
            }
            Stmt::FunctionDef(_) => {}
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, _expression: &'a Expr) {}
}
