//! Resolution by syntax where the checker infers no types: in code that it holds unreachable, and for what pytest
//! passes to tests.
//!
//! Owns the values that an expression can have as far as annotations, calls of classes and assignments show them, and
//! the members and parameters that are found through these values. Names resolve through the checker, which knows their
//! scopes in unreachable code, too.

mod fixtures;
mod values;

use std::cell::Cell;

use self::values::{Value, Values};
use super::class_members::{self, Class, Member};
use super::db::Database;
use super::expressions::{last_name, unique};
use super::target::Target;
use crate::pytypes::ty::api::{
    AnyNodeRef, Definition, DefinitionKind, Expr, ExprRef, File, HasType, ImportAliasResolution, Ranged,
    ResolvedDefinition, SemanticDb as _, SemanticModel, TargetKind, TextRange, Type, TypeDefinition, ast,
    covering_node, definitions_for_name, file_to_module, parsed_module, unreachable_ranges,
};

/// How many expressions and definitions one resolution looks at.
const MAX_STEPS: u32 = 400;
/// How many expressions and definitions may follow from each other.
const MAX_DEPTH: usize = 12;

/// Base classes that have no members of their own that a program names.
const FORMS: &[&str] = &["Generic", "Protocol", "object"];

/// The definitions of a member or parameter.
pub(super) struct MemberDefinitions<'db> {
    pub definitions: Vec<ResolvedDefinition<'db>>,
    /// Every value of the owner is known, so there are no other definitions.
    pub is_complete: bool,
}

/// The definitions of a target that the checker has no types for; `None` if it has.
pub(super) fn definitions<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    target: &Target<'_>,
) -> Option<MemberDefinitions<'db>> {
    let resolver = Resolver::new(db);
    let unreachable = match target {
        Target::Expression(ExprRef::Attribute(attribute))
        | Target::Callee { callee: ExprRef::Attribute(attribute), .. } => {
            is_untyped(db, model, &attribute.value).then(|| resolver.attribute(model, attribute))
        }
        Target::Keyword { name, call, .. } => {
            is_untyped(db, model, &call.func).then(|| resolver.keyword(model, call, name.as_str()))
        }
        Target::PatternKeyword { name, class } => is_untyped(db, model, class).then(|| {
            let owner = resolver.of_expression(model, class, MAX_DEPTH);
            resolver.members(&owner, name.as_str())
        }),
        _ => None,
    };
    unreachable.or_else(|| through_fixtures(db, model, target))
}

/// The definitions of a target whose owner gets its values from fixtures of pytest; `None` for other targets.
pub(super) fn through_fixtures<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    target: &Target<'_>,
) -> Option<MemberDefinitions<'db>> {
    let resolver = Resolver::new(db);
    match target {
        Target::Expression(ExprRef::Attribute(attribute))
        | Target::Callee { callee: ExprRef::Attribute(attribute), .. } => {
            resolver.through_fixtures(model, &attribute.value, || resolver.attribute(model, attribute))
        }
        Target::Keyword { name, call, .. } => {
            resolver.through_fixtures(model, &call.func, || resolver.keyword(model, call, name.as_str()))
        }
        _ => None,
    }
}

/// Whether the checker infers no type because it holds the code unreachable.
pub(super) fn is_untyped(db: &Database, model: &SemanticModel<'_>, expression: &Expr) -> bool {
    match expression.inferred_type(model) {
        None | Some(Type::Never) => true,
        // In the body of a function or class in unreachable code, its annotations and base classes are unknown.
        Some(Type::Dynamic(_) | Type::BoundSuper(_)) => {
            let is_around = |range: TextRange| range.contains_range(expression.range());
            unreachable_ranges(db, model.program_file()).iter().any(|one| is_around(one.range))
        }
        Some(_) => false,
    }
}

/// The classes that a base class expression can be.
pub(super) fn classes<'db>(db: &'db Database, model: &SemanticModel<'db>, base: &Expr) -> Vec<Class> {
    let resolver = Resolver::new(db);
    let values = resolver.of_expression(model, base, MAX_DEPTH);
    values.known.into_iter().filter_map(|one| if let Value::Class(class) = one { Some(class) } else { None }).collect()
}

struct Resolver<'db> {
    db: &'db Database,
    steps: Cell<u32>,
    /// A value came from a fixture.
    has_fixture: Cell<bool>,
}

impl<'db> Resolver<'db> {
    const fn new(db: &'db Database) -> Self {
        Self { db, steps: Cell::new(0), has_fixture: Cell::new(false) }
    }

    fn may_step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.steps.get() <= MAX_STEPS
    }

    fn model(&self, file: File) -> SemanticModel<'db> {
        SemanticModel::new(self.db, self.db.program_file(file))
    }

    fn attribute(&self, model: &SemanticModel<'db>, attribute: &ast::ExprAttribute) -> MemberDefinitions<'db> {
        let owner = self.of_expression(model, &attribute.value, MAX_DEPTH);
        self.members(&owner, attribute.attr.as_str())
    }

    /// The definitions of a member of these values.
    fn members(&self, owner: &Values, name: &str) -> MemberDefinitions<'db> {
        let mut found = MemberDefinitions { definitions: Vec::new(), is_complete: owner.is_complete };
        for value in &owner.known {
            match *value {
                Value::Instance(class) | Value::Class(class) => {
                    let (members, is_complete) = self.lookup(class, name);
                    found.is_complete &= is_complete;
                    found.definitions.extend(members.into_iter().filter_map(|member| definition_at(self.db, member)));
                }
                Value::Module(file) => found.definitions.extend(self.in_module(file, name)),
                Value::Function(_) => {}
            }
        }
        unique(&mut found.definitions);
        found
    }

    /// The parameters that a keyword of a call can be.
    fn keyword(&self, model: &SemanticModel<'db>, call: &ast::ExprCall, name: &str) -> MemberDefinitions<'db> {
        let callee = self.of_expression(model, &call.func, MAX_DEPTH);
        let mut found = MemberDefinitions { definitions: Vec::new(), is_complete: callee.is_complete };
        for value in &callee.known {
            let mut members = Vec::new();
            match *value {
                Value::Function(function) => members.extend(class_members::parameter(self.db, function, name)),
                Value::Class(class) => {
                    let (constructors, is_complete) = self.lookup(class, "__init__");
                    found.is_complete &= is_complete;
                    let own: Vec<Member> = constructors.into_iter().filter(|(file, _)| self.db.is_own(*file)).collect();
                    members.extend(own.iter().filter_map(|one| class_members::parameter(self.db, *one, name)));
                    // The constructor of a data class has its fields as parameters.
                    if own.is_empty() {
                        members.extend(self.lookup(class, name).0);
                    }
                }
                Value::Instance(_) | Value::Module(_) => found.is_complete = false,
            }
            found.definitions.extend(members.into_iter().filter_map(|member| definition_at(self.db, member)));
        }
        found
    }

    /// Where the first class in the order of inheritance declares the member, and whether all its classes are known.
    fn lookup(&self, class: Class, name: &str) -> (Vec<Member>, bool) {
        let (mut seen, mut waiting, mut is_complete) = (Vec::new(), vec![class], true);
        while let Some(next) = waiting.pop() {
            if seen.contains(&next) {
                continue;
            }
            if !self.may_step() {
                return (Vec::new(), false);
            }
            seen.push(next);
            let members = class_members::members_of(self.db, next, name);
            if !members.is_empty() {
                return (members, true);
            }
            let bases = self.bases(next);
            is_complete &= bases.is_complete;
            let above = bases.known.iter().rev().filter_map(|one| match one {
                Value::Class(class) => Some(*class),
                _ => None,
            });
            waiting.extend(above);
        }
        (Vec::new(), is_complete)
    }

    fn bases(&self, (file, range): Class) -> Values {
        let model = self.model(file);
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let Some(class) = class_members::class_at(parsed.syntax().into(), range) else { return Values::unknown() };
        let of_base = |base: &Expr| {
            let named = if let Expr::Subscript(subscript) = base { &*subscript.value } else { base };
            if last_name(named).is_some_and(|name| FORMS.contains(&name)) {
                return Values::nothing();
            }
            let found = self.of_expression(&model, base, MAX_DEPTH);
            if found.known.is_empty() { self.of_expression(&model, named, MAX_DEPTH) } else { found }
        };
        Values::all(class.bases().iter().map(of_base))
    }

    /// The definitions of a name of a module, or the module of that name in a package.
    fn in_module(&self, file: File, name: &str) -> Vec<ResolvedDefinition<'db>> {
        let model = self.model(file);
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let tree = AnyNodeRef::from(parsed.syntax());
        let mut found = definitions_for_name(&model, name, tree, ImportAliasResolution::ResolveAliases);
        // Without one in the module, the name would be that of a built-in object.
        found.retain(|one| one.focus_range(self.db).file().path(self.db).as_system_path().is_some());
        if found.is_empty()
            && let Some(module) = file_to_module(self.db, self.db.program_file(file).resolver_file(self.db))
            && let Some(inner) = model.resolve_module(Some(&format!("{}.{name}", module.name(self.db))), 0)
            && let Some(file) = inner.file(self.db)
        {
            found.push(ResolvedDefinition::Module(self.db.program_file(file)));
        }
        found
    }

    fn of_expression(&self, model: &SemanticModel<'db>, expression: &Expr, depth: usize) -> Values {
        if depth == 0 || !self.may_step() {
            return Values::unknown();
        }
        let depth = depth - 1;
        if let Some(values) = expression.inferred_type(model).and_then(|found| self.of_type(model, found, false)) {
            return values;
        }
        match expression {
            Expr::Name(name) => {
                let node = AnyNodeRef::from(name);
                let found = definitions_for_name(model, name.id.as_str(), node, ImportAliasResolution::ResolveAliases);
                self.of_definitions(&found, depth)
            }
            Expr::Attribute(attribute) => {
                let owner = self.of_expression(model, &attribute.value, depth);
                let found = self.members(&owner, attribute.attr.as_str());
                if found.definitions.is_empty() {
                    return Values::unknown();
                }
                let mut values = Values::all(found.definitions.iter().map(|one| self.of_member(one, depth)));
                values.is_complete &= found.is_complete;
                values
            }
            Expr::Call(call) => self.of_call(model, call, depth, false),
            Expr::Await(awaited) => match &*awaited.value {
                Expr::Call(call) => self.of_call(model, call, depth, true),
                _ => Values::unknown(),
            },
            Expr::If(choice) => {
                Values::all([&*choice.body, &*choice.orelse].map(|one| self.of_expression(model, one, depth)))
            }
            Expr::BoolOp(operation) => {
                Values::all(operation.values.iter().map(|one| self.of_expression(model, one, depth)))
            }
            Expr::Named(named) => self.of_expression(model, &named.value, depth),
            Expr::FString(_)
            | Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::Tuple(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
            | Expr::Lambda(_) => Values::nothing(),
            literal if literal.is_literal_expr() => Values::nothing(),
            _ => Values::unknown(),
        }
    }

    /// The values of a type; `None` if it says nothing about them.
    fn of_type(&self, model: &SemanticModel<'db>, found: Type<'db>, is_annotation: bool) -> Option<Values> {
        let is_class = match found {
            Type::Never | Type::Dynamic(_) | Type::BoundSuper(_) => return None,
            Type::Union(union) => {
                let of_element =
                    |one: &Type<'db>| self.of_type(model, *one, is_annotation).unwrap_or_else(Values::unknown);
                return Some(Values::all(union.elements(self.db).iter().map(of_element)));
            }
            Type::ClassLiteral(_) | Type::GenericAlias(_) => !is_annotation,
            Type::SubclassOf(_) => true,
            _ => false,
        };
        let value = match found.definition(self.db, &model.program_environment())? {
            TypeDefinition::Module(module) => Value::Module(module.file(self.db)?),
            TypeDefinition::StaticClass(definition) => {
                let class = self.member_of(definition);
                if is_class { Value::Class(class) } else { Value::Instance(class) }
            }
            TypeDefinition::Function(definition) => Value::Function(self.member_of(definition)),
            _ => return None,
        };
        Some(Values::one(value))
    }

    /// The name that a definition gives.
    fn member_of(&self, definition: Definition<'db>) -> Member {
        let focus = ResolvedDefinition::Definition(definition).focus_range(self.db);
        (focus.file(), focus.range())
    }

    fn of_definitions(&self, found: &[ResolvedDefinition<'db>], depth: usize) -> Values {
        if found.is_empty() {
            return Values::unknown();
        }
        Values::all(found.iter().map(|one| self.of_definition(one, depth)))
    }

    /// The values of a name with this definition.
    fn of_definition(&self, found: &ResolvedDefinition<'db>, depth: usize) -> Values {
        let definition = match found {
            ResolvedDefinition::Module(file) => return Values::one(Value::Module(file.file(self.db))),
            ResolvedDefinition::FileWithRange(_) => return Values::unknown(),
            ResolvedDefinition::Definition(definition) => *definition,
        };
        let model = SemanticModel::new(self.db, definition.program_file(self.db));
        let parsed = parsed_module(self.db, definition.python_file(self.db)).load(self.db);
        match definition.kind(self.db) {
            DefinitionKind::Class(_) => Values::one(Value::Class(self.member_of(definition))),
            DefinitionKind::Function(_) => Values::one(Value::Function(self.member_of(definition))),
            DefinitionKind::Assignment(one) if one.unpack().is_none() => {
                self.of_expression(&model, one.value(&parsed), depth)
            }
            DefinitionKind::AnnotatedAssignment(one) => self.of_annotation(&model, one.annotation(&parsed), depth),
            DefinitionKind::NamedExpression(one) => self.of_expression(&model, &one.node(&parsed).value, depth),
            DefinitionKind::WithItem(one) if matches!(one.target_kind(), TargetKind::Single) => {
                let context = self.of_expression(&model, one.context_expr(&parsed), depth);
                let entered = context.known.iter().map(|value| self.entered(*value, one.is_async(), depth));
                let mut values = Values::all(entered);
                values.is_complete &= context.is_complete;
                values
            }
            DefinitionKind::Parameter(_) => self.of_parameter(&model, self.member_of(definition).1, depth),
            _ => Values::unknown(),
        }
    }

    /// The values that a `with` statement binds to its name.
    fn entered(&self, context: Value, is_async: bool, depth: usize) -> Values {
        let Value::Instance(class) = context else { return Values::unknown() };
        let (methods, _) = self.lookup(class, if is_async { "__aenter__" } else { "__enter__" });
        if methods.is_empty() {
            return Values::unknown();
        }
        let returns_itself = |_: &SemanticModel<'db>, function: &ast::StmtFunctionDef| match &function.returns {
            Some(returns) => last_name(returns) == Some("Self"),
            None => matches!(function.body.last(), Some(ast::Stmt::Return(last))
                if matches!(last.value.as_deref(), Some(Expr::Name(name)) if name.id.as_str() == "self")),
        };
        Values::all(methods.into_iter().map(|method| {
            if self.with_function(method, returns_itself).unwrap_or_default() {
                return Values::one(context);
            }
            self.returned(method, depth, is_async)
        }))
    }

    /// The values of a member with this definition: a property has those of its getter.
    fn of_member(&self, found: &ResolvedDefinition<'db>, depth: usize) -> Values {
        let values = self.of_definition(found, depth);
        let property = values.known.iter().find_map(|one| match one {
            Value::Function(function) if self.is_property(*function) => Some(*function),
            _ => None,
        });
        property.map_or(values, |getter| self.returned(getter, depth, false))
    }

    fn is_property(&self, function: Member) -> bool {
        self.with_function(function, |_, function| {
            let names = function.decorator_list.iter().filter_map(|one| last_name(&one.expression));
            names.into_iter().any(|name| matches!(name, "property" | "cached_property" | "setter" | "deleter"))
        })
        .unwrap_or_default()
    }

    fn of_call(&self, model: &SemanticModel<'db>, call: &ast::ExprCall, depth: usize, is_awaited: bool) -> Values {
        if call.arguments.is_empty() && last_name(&call.func) == Some("super") {
            let class = class_members::class_around(self.db, model.file(), call.range());
            return class.map_or_else(Values::unknown, |class| self.bases(class).instances());
        }
        let callee = self.of_expression(model, &call.func, depth);
        let mut values = Values::all(callee.known.iter().map(|one| match *one {
            Value::Class(class) if !is_awaited => Values::one(Value::Instance(class)),
            Value::Function(function) => self.returned(function, depth, is_awaited),
            _ => Values::unknown(),
        }));
        values.is_complete &= callee.is_complete;
        values
    }

    /// The values that a function is declared to return.
    fn returned(&self, function: Member, depth: usize, is_awaited: bool) -> Values {
        let of_function = |model: &SemanticModel<'db>, function: &ast::StmtFunctionDef| {
            let returns = function.returns.as_deref().filter(|_| function.is_async == is_awaited);
            returns.map_or_else(Values::unknown, |returns| self.of_annotation(model, returns, depth))
        };
        self.with_function(function, of_function).unwrap_or_else(Values::unknown)
    }

    fn of_parameter(&self, model: &SemanticModel<'db>, range: TextRange, depth: usize) -> Values {
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let nodes = covering_node(parsed.syntax().into(), range);
        let parameter = nodes.ancestors().find_map(|node| match node {
            AnyNodeRef::Parameter(parameter) => Some(parameter),
            _ => None,
        });
        let mut scopes = nodes.ancestors().filter(|node| {
            matches!(node, AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::ExprLambda(_) | AnyNodeRef::StmtClassDef(_))
        });
        let (Some(parameter), Some(AnyNodeRef::StmtFunctionDef(function))) = (parameter, scopes.next()) else {
            return Values::unknown();
        };
        let is_own = |one: Option<&ast::Parameter>| one.is_some_and(|one| one.name.range == range);
        if is_own(function.parameters.vararg.as_deref()) || is_own(function.parameters.kwarg.as_deref()) {
            return Values::nothing();
        }
        if let Some(annotation) = &parameter.annotation {
            return self.of_annotation(model, annotation, depth);
        }
        let first = function.parameters.iter_non_variadic_params().next();
        match scopes.next() {
            Some(AnyNodeRef::StmtClassDef(class)) if first.is_some_and(|first| first.name().range == range) => {
                let is_decorated =
                    |name: &str| function.decorator_list.iter().any(|one| last_name(&one.expression) == Some(name));
                let class = (model.file(), class.name.range);
                match function.name.as_str() {
                    _ if is_decorated("staticmethod") => Values::unknown(),
                    "__new__" | "__init_subclass__" | "__class_getitem__" => Values::one(Value::Class(class)),
                    _ if is_decorated("classmethod") => Values::one(Value::Class(class)),
                    _ => Values::one(Value::Instance(class)),
                }
            }
            _ => self.of_fixtures(model, function, range, depth),
        }
    }

    fn of_annotation(&self, model: &SemanticModel<'db>, annotation: &Expr, depth: usize) -> Values {
        if depth == 0 || !self.may_step() {
            return Values::unknown();
        }
        let depth = depth - 1;
        if let Expr::StringLiteral(text) = annotation {
            return match model.enter_string_annotation(text) {
                Some((quoted, inner)) => self.of_annotation(&inner, quoted.expr(), depth),
                None => self.of_quoted(model, text, depth),
            };
        }
        if let Some(values) = annotation.inferred_type(model).and_then(|found| self.of_type(model, found, true)) {
            return values;
        }
        match annotation {
            Expr::NoneLiteral(_) => Values::nothing(),
            Expr::Name(name) if name.id.as_str() == "Self" => {
                let class = class_members::class_around(self.db, model.file(), name.range);
                // It can be a subclass.
                let known = class.map(Value::Instance).into_iter().collect();
                Values { known, is_complete: false }
            }
            Expr::Name(_) | Expr::Attribute(_) => self.of_expression(model, annotation, depth).instances(),
            Expr::BinOp(operation) if operation.op == ast::Operator::BitOr => {
                Values::all([&*operation.left, &*operation.right].map(|one| self.of_annotation(model, one, depth)))
            }
            Expr::Subscript(subscript) => {
                let parts = match &*subscript.slice {
                    Expr::Tuple(tuple) => &*tuple.elts,
                    other => std::slice::from_ref(other),
                };
                let of_part = |one: &Expr| self.of_annotation(model, one, depth);
                match last_name(&subscript.value) {
                    Some("Optional" | "Union") => Values::all(parts.iter().map(of_part)),
                    Some("Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired") => {
                        parts.first().map_or_else(Values::unknown, of_part)
                    }
                    Some("type" | "Type") => Values::all(parts.iter().map(of_part)).classes(),
                    _ => self.of_annotation(model, &subscript.value, depth),
                }
            }
            _ => Values::unknown(),
        }
    }

    /// The values of names in a string annotation that the checker has not parsed.
    fn of_quoted(&self, model: &SemanticModel<'db>, text: &ast::ExprStringLiteral, depth: usize) -> Values {
        let of_name = |name: &str| match name.trim() {
            "None" => Values::nothing(),
            name => {
                let aliases = ImportAliasResolution::ResolveAliases;
                let found = definitions_for_name(model, name, AnyNodeRef::from(text), aliases);
                self.of_definitions(&found, depth).instances()
            }
        };
        Values::all(text.value.to_str().split('|').map(of_name))
    }

    fn with_function<T>(
        &self,
        (file, range): Member,
        ask: impl FnOnce(&SemanticModel<'db>, &ast::StmtFunctionDef) -> T,
    ) -> Option<T> {
        let model = self.model(file);
        let parsed = parsed_module(self.db, model.python_file()).load(self.db);
        let nodes = covering_node(parsed.syntax().into(), range);
        let function = nodes.ancestors().find_map(|node| match node {
            AnyNodeRef::StmtFunctionDef(function) if function.name.range == range => Some(function),
            _ => None,
        })?;
        Some(ask(&model, function))
    }
}

/// The definition that a name in this range gives.
fn definition_at(db: &Database, (file, range): Member) -> Option<ResolvedDefinition<'_>> {
    let model = SemanticModel::new(db, db.program_file(file));
    let parsed = parsed_module(db, model.python_file()).load(db);
    let nodes = covering_node(parsed.syntax().into(), range);
    model.first_local_definition(&nodes).map(ResolvedDefinition::Definition)
}
