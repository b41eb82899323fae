//! Values that pytest passes to tests: a parameter of a test or fixture has the value of the fixture with its name.
//!
//! Owns the search for that fixture (in the classes around, in the module, in `conftest.py` of the folder and of those
//! above it) and what it returns or yields.

use super::super::class_members::Member;
use super::super::expressions::last_name;
use super::super::on_disk;
use super::super::run_time_names::{is_fixture, is_passed_fixtures};
use super::values::Values;
use super::{MemberDefinitions, Resolver};
use crate::pytypes::ty::api::{
    AnyNodeRef, Expr, File, HasType, ImportAliasResolution, ResolvedDefinition, SemanticModel, SourceDb as _,
    SourceOrderVisitor, Stmt, TextRange, Type, ast, covering_node, definitions_for_name, parsed_module, source_text,
    walk_expr, walk_stmt,
};

/// Generic types of what a generator yields.
const YIELDING: &[&str] = &["Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"];

impl<'db> Resolver<'db> {
    /// Calls `resolve` if the owner has an unknown type and gets its values from fixtures.
    pub(super) fn through_fixtures(
        &self,
        model: &SemanticModel<'db>,
        owner: &Expr,
        resolve: impl FnOnce() -> MemberDefinitions<'db>,
    ) -> Option<MemberDefinitions<'db>> {
        let is_unknown = matches!(owner.inferred_type(model), Some(Type::Dynamic(_)));
        if !is_unknown || !source_text(self.db, model.file()).contains("def test") && !self.is_conftest(model.file()) {
            return None;
        }
        let found = resolve();
        (self.has_fixture.get() && (found.is_complete || !found.definitions.is_empty())).then_some(found)
    }

    fn is_conftest(&self, file: File) -> bool {
        let path = file.path(self.db).as_str();
        path.ends_with("conftest.py") || source_text(self.db, file).contains("fixture")
    }

    /// The values of a parameter without an annotation.
    pub(super) fn of_fixtures(
        &self,
        model: &SemanticModel<'db>,
        function: &ast::StmtFunctionDef,
        parameter: TextRange,
        depth: usize,
    ) -> Values {
        let own = function.parameters.iter_non_variadic_params().find(|one| one.name().range == parameter);
        let Some(own) = own.filter(|own| own.default.is_none() && is_passed_fixtures(function)) else {
            return Values::unknown();
        };
        let found = self.fixtures(model, function, own.name().as_str());
        if found.is_empty() {
            return Values::unknown();
        }
        self.has_fixture.set(true);
        Values::all(found.into_iter().map(|fixture| self.of_fixture(fixture, depth)))
    }

    /// The nearest fixtures with the name, seen from a function.
    fn fixtures(&self, model: &SemanticModel<'db>, function: &ast::StmtFunctionDef, name: &str) -> Vec<Member> {
        let file = model.file();
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let nodes = covering_node(parsed.syntax().into(), function.name.range);
        for node in nodes.ancestors() {
            if let AnyNodeRef::StmtClassDef(class) = node {
                let found = in_body(file, &class.body, name, function);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        let found = self.in_file(file, name, function);
        if !found.is_empty() {
            return found;
        }
        let Some(path) = file.path(self.db).as_system_path() else { return Vec::new() };
        let root = self.db.system().current_directory().as_std_path();
        let folders = path.as_std_path().ancestors().skip(1).take_while(|folder| folder.starts_with(root));
        let others = folders.filter_map(|folder| on_disk(self.db, &folder.join("conftest.py")));
        others
            .filter(|other| *other != file)
            .map(|other| self.in_file(other, name, function))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// The fixtures of a module, imported ones as well.
    fn in_file(&self, file: File, name: &str, asking: &ast::StmtFunctionDef) -> Vec<Member> {
        let model = self.model(file);
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let found = in_body(file, parsed.suite(), name, asking);
        if !found.is_empty() {
            return found;
        }
        let tree = AnyNodeRef::from(parsed.syntax());
        let named = definitions_for_name(&model, name, tree, ImportAliasResolution::ResolveAliases);
        let members = named.iter().filter_map(|one| match one {
            ResolvedDefinition::Definition(definition) => Some(self.member_of(*definition)),
            _ => None,
        });
        let is_other = |member: &Member| {
            member.0 != file && self.with_function(*member, |_, function| is_fixture(function)).unwrap_or_default()
        };
        members.filter(is_other).collect()
    }

    /// Values that a fixture passes to tests.
    fn of_fixture(&self, fixture: Member, depth: usize) -> Values {
        let values = self.with_function(fixture, |model, function| {
            let mut given = Given::default();
            given.visit_body(&function.body);
            if let Some(returns) = function.returns.as_deref() {
                return match returns {
                    Expr::Subscript(subscript)
                        if given.yields && last_name(&subscript.value).is_some_and(|name| YIELDING.contains(&name)) =>
                    {
                        let first = match &*subscript.slice {
                            Expr::Tuple(tuple) => tuple.elts.first(),
                            other => Some(other),
                        };
                        first.map_or_else(Values::unknown, |first| self.of_annotation(model, first, depth))
                    }
                    returns => self.of_annotation(model, returns, depth),
                };
            }
            Values::all(given.values.into_iter().map(|value| self.of_expression(model, value, depth)))
        });
        values.unwrap_or_else(Values::unknown)
    }
}

/// The fixtures with the name in the body of a module or class, other than the function that asks for it.
fn in_body(file: File, body: &[Stmt], name: &str, asking: &ast::StmtFunctionDef) -> Vec<Member> {
    struct Fixtures<'n, 'a>(&'n str, Vec<&'a ast::StmtFunctionDef>);
    impl<'a> SourceOrderVisitor<'a> for Fixtures<'_, 'a> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            match statement {
                Stmt::FunctionDef(function) if is_fixture(function) && exposed(function) == self.0 => {
                    self.1.push(function);
                }
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                statement => walk_stmt(self, statement),
            }
        }

        fn visit_expr(&mut self, _expression: &'a Expr) {}
    }
    let mut found = Fixtures(name, Vec::new());
    found.visit_body(body);
    let others = found.1.into_iter().filter(|function| function.name.range != asking.name.range);
    others.map(|function| (file, function.name.range)).collect()
}

/// The name by which pytest knows a fixture.
fn exposed(function: &ast::StmtFunctionDef) -> &str {
    let given = function.decorator_list.iter().find_map(|decorator| match &decorator.expression {
        Expr::Call(call) => call.arguments.find_keyword("name").map(|keyword| &keyword.value),
        _ => None,
    });
    match given {
        Some(Expr::StringLiteral(text)) => text.value.to_str(),
        // A name that is not a literal is not known.
        Some(_) => "",
        None => function.name.as_str(),
    }
}

/// Values that a function returns or yields, without those of functions in it.
#[derive(Default)]
struct Given<'a> {
    values: Vec<&'a Expr>,
    yields: bool,
}

impl<'a> SourceOrderVisitor<'a> for Given<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Return(ast::StmtReturn { value: Some(value), .. }) => {
                if !self.yields {
                    self.values.push(value);
                }
                walk_stmt(self, statement);
            }
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Yield(one) = expression {
            self.yields = true;
            self.values.extend(one.value.as_deref());
        }
        if !expression.is_lambda_expr() {
            walk_expr(self, expression);
        }
    }
}
