//! The symbols of a file with their types.
//!
//! Owns the outline: classes, functions and methods, names bound at module and class level, and attributes that methods
//! assign to `self`.

use std::collections::HashSet;

use super::api::{
    Expr, HasType, Pattern, ProgramFile, Ranged, SemanticModel, SourceOrderVisitor, Stmt, TextRange, TextSize, Type,
    ast, parsed_module, source_text, walk_expr, walk_pattern, walk_stmt,
};
use super::db::Database;
use super::lines::{CellPosition, Lines};
use crate::pytypes::values::Outline;

pub(super) fn outline(db: &Database, file: ProgramFile<'_>) -> Vec<Outline> {
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let text = source_text(db, file.file(db));
    let model = SemanticModel::new(db, file);
    let writer = Writer { db, model: &model, text: &text, lines: Lines::from_source(&text) };
    let mut level = Level::new(&writer, Around::Module);
    level.visit_body(parsed.suite());
    level.found
}

struct Writer<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    text: &'a str,
    lines: Lines<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Module,
    Class,
    Function,
}

/// The symbols at one level, found in nested statements too.
struct Level<'w, 'a, 'db, 's> {
    writer: &'w Writer<'a, 'db>,
    around: Around,
    found: Vec<Outline>,
    names: HashSet<String>,
    /// The functions among them.
    methods: Vec<&'s ast::StmtFunctionDef>,
}

impl<'w, 'a, 'db, 's> Level<'w, 'a, 'db, 's> {
    fn new(writer: &'w Writer<'a, 'db>, around: Around) -> Self {
        Self { writer, around, found: Vec::new(), names: HashSet::new(), methods: Vec::new() }
    }

    fn class(&mut self, class: &'s ast::StmtClassDef) {
        let mut inner = Level::new(self.writer, Around::Class);
        inner.visit_body(&class.body);
        let mut attributes = Attributes { writer: self.writer, names: inner.names, found: Vec::new(), receiver: None };
        for method in inner.methods {
            attributes.receiver = method.parameters.iter_non_variadic_params().next().map(|p| p.name().to_string());
            attributes.visit_body(&method.body);
        }
        let mut children = inner.found;
        children.append(&mut attributes.found);
        let inferred = class.inferred_type(self.writer.model);
        let bases: Vec<&str> = class.arguments.iter().map(|arguments| self.writer.at(arguments.range())).collect();
        let signature = Some(format!("class {}{}", class.name, flat(&bases.concat())));
        let body = decorated(class.range(), &class.decorator_list);
        self.found.push(self.writer.symbol(
            class.name.as_str(),
            "class",
            inferred,
            class.name.range,
            body,
            signature,
            children,
        ));
    }

    fn function(&mut self, function: &'s ast::StmtFunctionDef) {
        self.methods.push(function);
        let mut inner = Level::new(self.writer, Around::Function);
        inner.visit_body(&function.body);
        let kind = if self.around == Around::Class { "method" } else { "function" };
        let inferred = function.inferred_type(self.writer.model);
        let asynchronous = if function.is_async { "async " } else { "" };
        let parameters = self.writer.at(function.parameters.range());
        let returns =
            function.returns.as_ref().map_or_else(String::new, |r| format!(" -> {}", self.writer.at(r.range())));
        let signature = Some(flat(&format!("{asynchronous}def {}{parameters}{returns}", function.name)));
        let body = decorated(function.range(), &function.decorator_list);
        let children = inner.found;
        self.found.push(self.writer.symbol(
            function.name.as_str(),
            kind,
            inferred,
            function.name.range,
            body,
            signature,
            children,
        ));
    }

    fn name(&mut self, name: &str, at: TextRange, inferred: Option<Type<'db>>, whole: TextRange) {
        if self.around != Around::Function && self.names.insert(name.to_owned()) {
            let kind = if self.around == Around::Class { "attribute" } else { "variable" };
            self.found.push(self.writer.symbol(name, kind, inferred, at, whole, None, Vec::new()));
        }
    }

    fn target(&mut self, target: &Expr, whole: TextRange) {
        match target {
            Expr::Name(name) => self.name(&name.id, name.range, name.inferred_type(self.writer.model), whole),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.target(element, whole));
            }
            Expr::Starred(starred) => self.target(&starred.value, whole),
            _ => {}
        }
    }
}

impl<'s> SourceOrderVisitor<'s> for Level<'_, '_, '_, 's> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::ClassDef(class) => self.class(class),
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.target(target, assign.range()));
                self.visit_expr(&assign.value);
            }
            Stmt::AnnAssign(assign) => {
                self.target(&assign.target, assign.range());
                assign.value.iter().for_each(|value| self.visit_expr(value));
            }
            Stmt::TypeAlias(alias) => self.target(&alias.name, alias.range()),
            whole @ Stmt::For(statement) => {
                self.target(&statement.target, statement.target.range());
                walk_stmt(self, whole);
            }
            Stmt::With(with) => {
                for target in with.items.iter().filter_map(|item| item.optional_vars.as_deref()) {
                    self.target(target, target.range());
                }
                walk_stmt(self, statement);
            }
            // Names in a conditional block belong to the enclosing module or class.
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            // Its names are its own.
            Expr::Lambda(_) => return,
            Expr::Named(named) => self.target(&named.target, named.range()),
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_pattern(&mut self, pattern: &'s Pattern) {
        let name = match pattern {
            Pattern::MatchAs(one) => one.name.as_ref(),
            Pattern::MatchStar(one) => one.name.as_ref(),
            Pattern::MatchMapping(one) => one.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.name(name.as_str(), name.range, None, pattern.range());
        }
        walk_pattern(self, pattern);
    }
}

/// The attributes that methods assign to their receiver.
struct Attributes<'w, 'a, 'db> {
    writer: &'w Writer<'a, 'db>,
    names: HashSet<String>,
    found: Vec<Outline>,
    receiver: Option<String>,
}

impl Attributes<'_, '_, '_> {
    fn target(&mut self, target: &Expr, whole: TextRange) {
        match target {
            Expr::Attribute(attribute) => {
                let is_own =
                    matches!(&*attribute.value, Expr::Name(name) if Some(name.id.as_str()) == self.receiver.as_deref());
                if is_own && self.names.insert(attribute.attr.to_string()) {
                    let (name, inferred) = (attribute.attr.as_str(), attribute.inferred_type(self.writer.model));
                    let range = attribute.attr.range;
                    self.found.push(self.writer.symbol(name, "attribute", inferred, range, whole, None, Vec::new()));
                }
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.target(element, whole));
            }
            Expr::Starred(starred) => self.target(&starred.value, whole),
            _ => {}
        }
    }
}

impl<'s> SourceOrderVisitor<'s> for Attributes<'_, '_, '_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target, assign.range())),
            Stmt::AnnAssign(assign) => self.target(&assign.target, assign.range()),
            Stmt::For(looping) => {
                self.target(&looping.target, looping.target.range());
                walk_stmt(self, statement);
            }
            Stmt::With(with) => {
                for target in with.items.iter().filter_map(|item| item.optional_vars.as_deref()) {
                    self.target(target, target.range());
                }
                walk_stmt(self, statement);
            }
            // Their `self` is a different object.
            Stmt::ClassDef(_) | Stmt::FunctionDef(_) => {}
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, _expression: &'s Expr) {}
}

impl<'db> Writer<'_, 'db> {
    fn at(&self, range: TextRange) -> &str {
        &self.text[range]
    }

    #[expect(clippy::too_many_arguments, reason = "one argument per field")]
    fn symbol(
        &self,
        name: &str,
        kind: &str,
        inferred: Option<Type<'db>>,
        at: TextRange,
        whole: TextRange,
        signature: Option<String>,
        children: Vec<Outline>,
    ) -> Outline {
        let CellPosition { cell, line, column } = self.lines.position(at.start());
        let end_line = self.lines.position(whole.end()).line;
        let environment = self.model.program_environment();
        let display =
            inferred.map_or_else(|| "Unknown".to_owned(), |one| one.display(self.db, &environment).to_string());
        Outline {
            name: name.to_owned(),
            kind: kind.to_owned(),
            display,
            cell,
            line,
            column,
            end_line,
            signature,
            children,
        }
    }
}

/// The range including the decorators.
fn decorated(range: TextRange, decorators: &[ast::Decorator]) -> TextRange {
    let start: TextSize = decorators.first().map_or(range.start(), Ranged::start);
    TextRange::new(start, range.end())
}

/// The text on one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
