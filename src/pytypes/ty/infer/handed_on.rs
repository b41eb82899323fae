//! Parameters that a function hands on to declared parameters and attributes.
//!
//! Owns reading the body of the function up to where the name is bound again. A use after a type check is not evidence: there the parameter
//! is narrower than its annotation.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::annotation::Annotation;
use super::slots::{self, Slot};
use super::values::known_part;
use crate::pytypes::ty::api::{
    ArgOrKeyword, CmpOp, DefinitionKind, Expr, File, HasType, KnownClass, ProgramEnvironment, ProgramFile,
    ResolvedDefinition, SemanticDb as _, SemanticModel, SourceOrderVisitor, Stmt, Type, TypeDefinition, UnionType, ast,
    definitions_for_attribute, operands, parsed_module, resolved_call_signature, walk_expr, walk_stmt,
};
use crate::pytypes::ty::checker_panics::caught_in_query;
use crate::pytypes::ty::db::{Database, Db};

/// Declarations that a parameter is handed on to.
#[derive(Clone, Debug, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct HandedOn<'db> {
    /// Declarations of the project.
    own: Vec<Type<'db>>,
    /// Declarations of libraries, which accept more than a caller usually has.
    library: Vec<Type<'db>>,
    /// The body compares the parameter with `None`.
    pub is_tested_for_none: bool,
    /// Evidence in the body of arguments of more types than one.
    pub tested: Tested,
}

/// Evidence that a function accepts more types than its callers pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct Tested {
    /// `isinstance(name, …)`
    is_for_class: bool,
    /// The classes that it is converted to: `str(name)`.
    converted: BTreeSet<String>,
}

impl Tested {
    /// Whether a function that only accepts `annotation` would not do this.
    pub fn accepts_more_than(&self, annotation: &Annotation) -> bool {
        let only = annotation.only_class();
        only.is_some_and(|class| self.is_for_class || self.converted.contains(class))
    }
}

impl<'db> HandedOn<'db> {
    /// The declaration of the project that satisfies all others.
    pub fn declared(&self, db: &'db Database, environment: &ProgramEnvironment<'db>) -> Option<Type<'db>> {
        narrowest(db, environment, &self.own)
    }

    /// The class that a library requires.
    pub fn of_library(&self, db: &'db Database, environment: &ProgramEnvironment<'db>) -> Option<Type<'db>> {
        let only = narrowest(db, environment, &self.library)?;
        matches!(only, Type::NominalInstance(_)).then_some(only)
    }
}

/// The type that is within all others.
fn narrowest<'db>(db: &'db Database, environment: &ProgramEnvironment<'db>, types: &[Type<'db>]) -> Option<Type<'db>> {
    let is_within = |one: Type<'db>, other: Type<'db>| {
        one == other || UnionType::from_elements(db, environment, [other, one]) == other
    };
    types.iter().copied().find(|one| types.iter().all(|other| is_within(*one, *other)))
}

/// Returns the declarations that the parameter of this slot is handed on to.
pub(super) fn of_parameter<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
) -> Cow<'db, HandedOn<'db>> {
    let known = (!slot.is_annotated).then(|| in_file(db, model.program_file()).get(&slot.range.start().to_u32()));
    known.flatten().map_or_else(|| Cow::Owned(find(db, model, function, &slot.name)), Cow::Borrowed)
}

/// Finds the declarations that the parameters without annotations in a file are handed on to, by the offset of their
/// names. Memoized until a type that it depends on changes.
#[salsa::tracked(returns(ref))]
fn in_file<'db>(db: &'db dyn Db, file: ProgramFile<'db>) -> BTreeMap<u32, HandedOn<'db>> {
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let model = SemanticModel::new(db, file);
    slots::open_parameters(parsed.suite())
        .filter_map(|(at, function, name)| {
            Some((at, caught_in_query(db, || find(db.itself(), &model, function, &name))?))
        })
        .collect()
}

fn find<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    name: &str,
) -> HandedOn<'db> {
    let found = HandedOn { own: Vec::new(), library: Vec::new(), is_tested_for_none: false, tested: Tested::default() };
    let mut finder = Finder { db, model, name, is_bound_again: false, is_replacing_none: false, found };
    finder.visit_body(&function.body);
    finder.found
}

struct Finder<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    name: &'a str,
    is_bound_again: bool,
    /// In the body of `if name is None`.
    is_replacing_none: bool,
    found: HandedOn<'db>,
}

impl<'db> Finder<'_, 'db> {
    fn is_it(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Name(name) if name.id.as_str() == self.name)
    }

    /// Whether a check made the parameter narrower here.
    fn is_narrowed(&self, expression: &Expr) -> bool {
        match expression.inferred_type(self.model) {
            Some(Type::Intersection(all)) => all.iter_positive(self.db).any(|one| {
                !matches!(one, Type::Dynamic(_))
                    && one != KnownClass::Object.to_instance(self.db, &self.model.program_environment())
            }),
            _ => false,
        }
    }

    fn note(&mut self, declared: Type<'db>, is_own: bool) {
        let environment = self.model.program_environment();
        let is_specific = known_part(self.db, &environment, declared) == Some(declared)
            && !matches!(declared, Type::TypeVar(_) | Type::Never)
            && declared != KnownClass::Object.to_instance(self.db, &environment);
        if is_specific {
            if is_own { &mut self.found.own } else { &mut self.found.library }.push(declared);
        }
    }

    /// Notes `isinstance(name, …)` and `str(name)`.
    fn test(&mut self, call: &ast::ExprCall) {
        let called = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        if !call.arguments.args.first().is_some_and(|first| self.is_it(first)) {
            return;
        }
        let tested = &mut self.found.tested;
        let converted: &[&str] = match called {
            "isinstance" => {
                tested.is_for_class = true;
                &[]
            }
            "str" => &["str"],
            "bytes" => &["bytes"],
            "float" => &["float", "int"],
            // A path or a text.
            "fspath" | "fsdecode" => &["str"],
            _ => &[],
        };
        tested.converted.extend(converted.iter().map(|class| (*class).to_owned()));
    }

    fn call(&mut self, call: &ast::ExprCall) {
        self.test(call);
        let value = |argument: ArgOrKeyword<'_>| match argument {
            ArgOrKeyword::Arg(value) => self.is_it(value) && !self.is_narrowed(value),
            ArgOrKeyword::Keyword(keyword) => {
                keyword.arg.is_some() && self.is_it(&keyword.value) && !self.is_narrowed(&keyword.value)
            }
        };
        let handed: Vec<usize> =
            call.arguments.iter_source_order().enumerate().filter(|(_, one)| value(*one)).map(|(at, _)| at).collect();
        if handed.is_empty() {
            return;
        }
        let Some(signature) = resolved_call_signature(self.model, call) else { return };
        let environment = self.model.program_environment();
        let called = call.func.inferred_type(self.model).and_then(|called| called.definition(self.db, &environment));
        let file = match (signature.definition, called) {
            (Some(definition), _) | (None, Some(TypeDefinition::StaticClass(definition))) => definition.file(self.db),
            _ => return,
        };
        let is_own = self.is_own(file);
        for at in handed {
            let place = signature.argument_to_displayed_parameter_mapping.get(at).copied().flatten();
            let Some(parameter) = place.and_then(|place| signature.parameters.get(place)) else { continue };
            if !parameter.is_variadic && !parameter.is_keyword_variadic {
                self.note(parameter.ty, is_own);
            }
        }
    }

    fn is_own(&self, file: File) -> bool {
        self.db.project().files(self.db).contains(&file) || file == self.model.file()
    }

    /// `self.a = name`, where `a` is declared.
    fn attribute(&mut self, attribute: &ast::ExprAttribute) {
        for found in definitions_for_attribute(self.model, attribute) {
            let ResolvedDefinition::Definition(definition) = found else { continue };
            let DefinitionKind::AnnotatedAssignment(declaration) = definition.kind(self.db) else { continue };
            let parsed = parsed_module(self.db, definition.python_file(self.db)).load(self.db);
            let model = SemanticModel::new(self.db, self.db.program_file(definition.file(self.db)));
            if let Some(declared) = declaration.annotation(&parsed).inferred_type(&model) {
                self.note(declared, self.is_own(definition.file(self.db)));
            }
        }
    }

    fn bind(&mut self, target: &Expr) {
        match target {
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.bind(element));
            }
            Expr::Starred(starred) => self.bind(&starred.value),
            target => self.is_bound_again |= self.is_it(target) && !self.is_replacing_none,
        }
    }

    /// Whether an expression is `name is None`, or with `negated`, `name is not None`.
    fn tests_none(&self, test: &Expr) -> Option<CmpOp> {
        let Expr::Compare(compare) = test else { return None };
        match (&compare.ops[..], operands(compare)) {
            ([op @ (CmpOp::Is | CmpOp::IsNot)], [left, Expr::NoneLiteral(_)]) if self.is_it(left) => Some(*op),
            _ => None,
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.is_bound_again {
            return;
        }
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::If(one) => {
                self.visit_expr(&one.test);
                let is_not = matches!(&*one.test, Expr::UnaryOp(unary) if unary.op == ast::UnaryOp::Not && self.is_it(&unary.operand));
                let replaces = is_not || self.tests_none(&one.test) == Some(CmpOp::Is);
                let outer = self.is_replacing_none;
                self.is_replacing_none |= replaces;
                self.visit_body(&one.body);
                self.is_replacing_none = outer;
                for clause in &one.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.visit_expr(test));
                    self.visit_body(&clause.body);
                }
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                for target in &assign.targets {
                    if let (Expr::Attribute(attribute), true) = (target, self.is_it(&assign.value))
                        && !self.is_narrowed(&assign.value)
                    {
                        self.attribute(attribute);
                    }
                    self.bind(target);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                    if let (Expr::Attribute(attribute), true) = (&*assign.target, self.is_it(value)) {
                        self.attribute(attribute);
                    }
                }
                self.bind(&assign.target);
            }
            Stmt::AugAssign(assign) => {
                self.visit_expr(&assign.value);
                self.bind(&assign.target);
            }
            Stmt::For(one) => {
                self.visit_expr(&one.iter);
                self.bind(&one.target);
                self.visit_body(&one.body);
                self.visit_body(&one.orelse);
            }
            Stmt::With(one) => {
                for item in &one.items {
                    self.visit_expr(&item.context_expr);
                    item.optional_vars.iter().for_each(|target| self.bind(target));
                }
                self.visit_body(&one.body);
            }
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(_) => return,
            Expr::Call(call) => self.call(call),
            Expr::Compare(_) => self.found.is_tested_for_none |= self.tests_none(expression).is_some(),
            Expr::Named(named) => self.bind(&named.target),
            _ => {}
        }
        walk_expr(self, expression);
    }
}
