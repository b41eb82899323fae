//! The evidence for a type: returned values, defaults, assignments, and arguments of calls.
//!
//! Owns collecting it in one state of the text. Values of unknown type are ignored, or prevent a suggestion.

use std::collections::{BTreeSet, HashMap};

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, AnyNodeRef, Expr, ExprRef, Stmt};
use ruff_text_size::Ranged;
use ty_python_core::definition::{Definition, DefinitionKind};
use ty_python_semantic::types::{KnownClass, Type, TypeDefinition, UnionType};
use ty_python_semantic::{
    Db as _, HasDefinition, HasType, ImportAliasResolution, ResolvedDefinition, SemanticModel, contains_identifier,
};

use super::annotation::Annotation;
use super::flow::{Exits, exits, falls_through, is_placeholder};
use super::overridden::{self, Overridden};
use super::slots::{FunctionContext, Kind, Parameter, Slot, SlotSource, is_decorated};
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::ty::target::Target;

/// A type with an explanation of what it is based on.
pub(super) struct Evidence<'db> {
    pub inferred: Shape<'db>,
    pub explanation: String,
}

pub(super) enum Shape<'db> {
    Plain(Type<'db>),
    /// `Iterator[…]` or `AsyncIterator[…]` (true) of the type that a generator yields.
    Yields(Type<'db>, bool),
    /// The type of the receiver.
    Receiver,
    /// An annotation that is used as written.
    Written(Annotation),
}

/// The maximum number of files that are searched for calls.
const MAX_FILES: usize = 300;

/// The arguments of calls in the project, by function and parameter name.
pub(super) struct Calls<'db> {
    arguments: HashMap<(Definition<'db>, String), Vec<Option<Type<'db>>>>,
    files: HashMap<Definition<'db>, BTreeSet<File>>,
}

/// The evidence for one slot; the error says why there is none.
pub(super) fn of_slot<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    calls: &Calls<'db>,
) -> Result<Evidence<'db>, String> {
    match &slot.of {
        SlotSource::Function(function, context) => of_return(db, model, function, *context, false),
        SlotSource::Parameter(function, parameter) => of_parameter(db, model, slot, function, parameter, calls),
        SlotSource::Values(values) => of_values(db, model, slot.kind, values),
    }
}

/// The evidence from the returned values of known type, ignoring the others.
pub(super) fn of_known_returns<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    context: FunctionContext,
) -> Result<Evidence<'db>, String> {
    of_return(db, model, function, context, true)
}

/// `partly`: ignores values of unknown type.
fn of_return<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    context: FunctionContext,
    partly: bool,
) -> Result<Evidence<'db>, String> {
    if is_decorated(function, "overload") {
        return Err("an overload".to_owned());
    }
    if is_decorated(function, "abstractmethod") || is_placeholder(&function.body) {
        return Err("the body is a placeholder".to_owned());
    }
    if is_decorated(function, "contextmanager") || is_decorated(function, "asynccontextmanager") {
        return Err("a decorator changes the return type".to_owned());
    }
    let found = exits(function);
    if found.is_generator {
        return of_yields(db, model, function, &found);
    }
    if let Some(only) = own_receiver(function, &found, context) {
        return Ok(only);
    }
    let mut types = Vec::new();
    for value in &found.values {
        // `NotImplemented` is a signal to the interpreter; callers never see it.
        let is_refusal = matches!(value, Expr::Name(name) if name.id.as_str() == "NotImplemented");
        if is_refusal || (is_call_of_itself(value, function, context) && found.values.len() > 1) {
            continue;
        }
        let inferred = known(value.inferred_type(model));
        if partly {
            types.extend(inferred.and_then(|inferred| known_part(db, model, inferred)));
            continue;
        }
        let inferred = inferred.ok_or("a returned value has an unknown type")?;
        // It may be reachable on another platform or version.
        if matches!(inferred, Type::Never) {
            return Err("a return statement is unreachable here".to_owned());
        }
        types.push(inferred);
    }
    let never =
        |expression: &Expr| expression.is_call_expr() && matches!(expression.inferred_type(model), Some(Type::Never));
    let reaches_end = falls_through(&function.body, &never);
    let environment = model.program_environment();
    let nothing = reaches_end || found.returns_nothing;
    if nothing {
        types.push(Type::none(db, &environment));
    }
    if types.is_empty() {
        return Err("it never returns".to_owned());
    }
    let explanation = match (found.values.len(), nothing) {
        (0, _) => "no value is returned".to_owned(),
        (1, false) => "the returned value".to_owned(),
        (1, true) => "the returned value, and an implicit None".to_owned(),
        (number, false) => format!("{number} returned values"),
        (number, true) => format!("{number} returned values, and an implicit None"),
    };
    Ok(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)), explanation })
}

/// The evidence for a method that always returns its receiver.
fn own_receiver<'db>(
    function: &ast::StmtFunctionDef,
    found: &Exits<'_>,
    context: FunctionContext,
) -> Option<Evidence<'db>> {
    let is_bound =
        context.in_class && !is_decorated(function, "staticmethod") && !is_decorated(function, "classmethod");
    let receiver = function.parameters.posonlyargs.iter().chain(&function.parameters.args).next()?;
    let is_receiver = |value: &&Expr| matches!(value, Expr::Name(name) if name.id == receiver.parameter.name.id);
    let only = is_bound
        && !found.values.is_empty()
        && !found.returns_nothing
        && found.values.iter().all(is_receiver)
        && !falls_through(&function.body, &|_| false);
    only.then(|| Evidence { inferred: Shape::Receiver, explanation: "the receiver is returned".to_owned() })
}

fn of_yields<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    found: &Exits<'_>,
) -> Result<Evidence<'db>, String> {
    if found.yields_otherwise || !found.values.is_empty() || found.yields.is_empty() {
        return Err("a generator that does more than yield values".to_owned());
    }
    let types: Option<Vec<Type<'db>>> = found.yields.iter().map(|value| known(value.inferred_type(model))).collect();
    let types = types.ok_or("a yielded value has an unknown type")?;
    let yielded = UnionType::from_elements(db, &model.program_environment(), types);
    Ok(Evidence {
        inferred: Shape::Yields(yielded, function.is_async),
        explanation: match found.yields.len() {
            1 => "the yielded value".to_owned(),
            number => format!("{number} yielded values"),
        },
    })
}

fn is_call_of_itself(value: &Expr, function: &ast::StmtFunctionDef, context: FunctionContext) -> bool {
    let Expr::Call(call) = value else { return false };
    match &*call.func {
        Expr::Name(name) => !context.in_class && name.id == function.name.id,
        Expr::Attribute(attribute) => {
            context.in_class
                && attribute.attr.id == function.name.id
                && attribute.value.as_name_expr().is_some_and(|name| matches!(name.id.as_str(), "self" | "cls"))
        }
        _ => false,
    }
}

fn of_parameter<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
    parameter: &Parameter<'_>,
    calls: &Calls<'db>,
) -> Result<Evidence<'db>, String> {
    if parameter.is_variadic {
        return Err("it is variadic".to_owned());
    }
    let environment = model.program_environment();
    let default = parameter.default.and_then(|default| default.inferred_type(model));
    let is_optional = parameter.default.is_some_and(Expr::is_none_literal_expr);
    let default = if is_optional { None } else { known(default) };
    let above = overridden::find(db, model, function, &slot.name);
    if let Some(evidence) = of_above(db, model, above.as_ref(), default, is_optional) {
        return Ok(evidence);
    }
    if let Some(annotation) = overridden::of_language(function, &slot.name) {
        return Ok(Evidence {
            inferred: Shape::Written(annotation),
            explanation: "the signature that Python requires".to_owned(),
        });
    }
    // A call through the superclass reaches this method too.
    let own = (function.definition(model), slot.name.clone());
    let meant: Vec<_> = std::iter::once(own).chain(above.map(|above| (above.definition, above.name))).collect();
    let given: Vec<Option<Type<'db>>> =
        meant.iter().filter_map(|one| calls.arguments.get(one)).flatten().copied().collect();
    let arguments: Option<Vec<Type<'db>>> = given.iter().copied().collect();
    let arguments = arguments.unwrap_or_default();
    let is_none = |one: &Type<'db>| one.is_none(db);
    let adds_nothing = arguments.iter().all(|one| is_none(one) || matches!(one, Type::Never));
    let is_marker_default = default.is_some_and(|default| is_marker(db, model, default));
    if (default.is_none() || is_marker_default) && adds_nothing {
        return Err(match given {
            given if given.iter().any(Option::is_none) => "a call passes a value of unknown type".to_owned(),
            _ if is_marker_default => "its default is a marker, and no call passes another type".to_owned(),
            _ if is_optional => "its default is None, and no call passes another type".to_owned(),
            _ => "no default, and no call with a known type".to_owned(),
        });
    }
    let mut explanation = Vec::new();
    if let (Some(_), Some(default)) = (default, parameter.default) {
        let text = source_text(db, model.file());
        let written: String = text[default.range()].chars().take(40).collect();
        explanation.push(format!("its default {written}"));
    }
    if !arguments.is_empty() {
        let files: BTreeSet<&File> = meant.iter().filter_map(|(one, _)| calls.files.get(one)).flatten().collect();
        let plural =
            |number: usize, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
        explanation.push(format!("{} in {}", plural(arguments.len(), "call"), plural(files.len(), "file")));
    }
    let none = is_optional.then(|| Type::none(db, &environment));
    let types = default.into_iter().chain(arguments).chain(none);
    Ok(Evidence {
        inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)),
        explanation: explanation.join(", "),
    })
}

/// The evidence from the overridden method's declaration and the own default.
fn of_above<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    above: Option<&Overridden<'db>>,
    default: Option<Type<'db>>,
    is_optional: bool,
) -> Option<Evidence<'db>> {
    let above = above?;
    let declared = known(above.declared)?;
    let environment = model.program_environment();
    let explanation = format!("it overrides that of {}", above.class);
    // An explicitly declared `object` is meaningful, unlike an inferred one.
    if declared == KnownClass::Object.to_instance(db, &environment) {
        let annotation = Annotation { text: "object".to_owned(), imports: Vec::new() };
        return Some(Evidence { inferred: Shape::Written(annotation), explanation });
    }
    let none = is_optional.then(|| Type::none(db, &environment));
    let types = std::iter::once(declared).chain(default).chain(none);
    Some(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)), explanation })
}

/// Whether the default is an instance of a class without contents, which only serves as a marker, such as `NOT_GIVEN`.
fn is_marker<'db>(db: &'db Database, model: &SemanticModel<'db>, default: Type<'db>) -> bool {
    let environment = model.program_environment();
    let Some(TypeDefinition::StaticClass(definition)) = default.definition(db, &environment) else { return false };
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let DefinitionKind::Class(class) = definition.kind(db) else { return false };
    let class = class.node(&parsed);
    let is_bare = class.arguments.as_ref().is_none_or(|given| given.args.is_empty() && given.keywords.is_empty());
    let holds_nothing = |statement: &Stmt| match statement {
        Stmt::Pass(_) => true,
        Stmt::Expr(one) => one.value.is_string_literal_expr() || one.value.is_ellipsis_literal_expr(),
        Stmt::FunctionDef(method) => matches!(method.name.as_str(), "__repr__" | "__str__" | "__bool__"),
        _ => false,
    };
    is_bare && class.body.iter().all(holds_nothing)
}

fn of_values<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    kind: Kind,
    values: &[&Expr],
) -> Result<Evidence<'db>, String> {
    let types: Option<Vec<Type<'db>>> = values.iter().map(|value| known(value.inferred_type(model))).collect();
    let types = types.ok_or("an assigned value has an unknown type")?;
    if types.iter().all(|one| one.is_none(db)) {
        return Err("only None is assigned".to_owned());
    }
    // A single literal assignment makes the type obvious.
    let is_plain = |value: &&Expr| value.is_literal_expr() || value.is_f_string_expr();
    if kind == Kind::Variable && values.iter().all(is_plain) && values.len() == 1 {
        return Err("the literal's type is obvious".to_owned());
    }
    let explanation = match values.len() {
        1 => "the assigned value".to_owned(),
        number => format!("{number} assigned values"),
    };
    Ok(Evidence {
        inferred: Shape::Plain(UnionType::from_elements(db, &model.program_environment(), types)),
        explanation,
    })
}

/// The type unless it is unknown.
fn known(inferred: Option<Type<'_>>) -> Option<Type<'_>> {
    inferred.filter(|one| !matches!(one, Type::Dynamic(_) | Type::Divergent(_)))
}

/// The known members of a union.
fn known_part<'db>(db: &'db Database, model: &SemanticModel<'db>, inferred: Type<'db>) -> Option<Type<'db>> {
    let Type::Union(union) = inferred else { return Some(inferred) };
    let part: Vec<Type<'db>> = union.elements(db).iter().copied().filter(|one| known(Some(*one)).is_some()).collect();
    (!part.is_empty()).then(|| UnionType::from_elements(db, &model.program_environment(), part))
}

/// Searches the project for calls of these functions of one file.
pub(super) fn calls<'db>(
    db: &'db Database,
    own: File,
    functions: &[(Definition<'db>, &ast::StmtFunctionDef, Option<String>)],
) -> Calls<'db> {
    let mut calls = Calls { arguments: HashMap::new(), files: HashMap::new() };
    // A constructor is called by the name of its class.
    let (mut names, mut classes) = (BTreeSet::new(), BTreeSet::new());
    for (_, function, class) in functions {
        match function.name.as_str() {
            "__init__" | "__new__" => classes.extend(class.clone()),
            "__call__" => {}
            name => drop(names.insert(name.to_owned())),
        }
    }
    if names.is_empty() && classes.is_empty() {
        return calls;
    }
    let mut files: Vec<File> = db.project().files(db).iter().copied().filter(|file| *file != own).collect();
    // The settings may exclude it.
    files.push(own);
    files.sort_by_key(|file| (*file != own, file.path(db).as_str().to_owned()));
    let holding = |names: &BTreeSet<String>| {
        let holds = |file: &&File| {
            let text = source_text(db, **file);
            names.iter().any(|name| contains_identifier(&text, name))
        };
        files.iter().filter(holds).take(MAX_FILES).copied().collect::<Vec<_>>()
    };
    for _ in 0..MAX_SUBCLASS_DEPTH {
        let below: BTreeSet<String> =
            holding(&classes).into_iter().flat_map(|file| classes_below(db, file, &classes)).collect();
        let known = classes.len();
        classes.extend(below);
        if classes.len() == known {
            break;
        }
    }
    let has_classes = !classes.is_empty();
    names.append(&mut classes);
    let files = holding(&names);
    if has_classes {
        names.extend(CONSTRUCTING.iter().map(|&name| name.to_owned()));
    }
    for file in files {
        let program_file = db.program_file(file);
        let model = SemanticModel::new(db, program_file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let mut finder = CallFinder { model: &model, names: &names, functions, file, calls: &mut calls };
        AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut finder);
    }
    calls
}

/// The maximum depth of subclasses that are followed to find calls of an inherited constructor.
const MAX_SUBCLASS_DEPTH: usize = 4;

/// How a class is called without its name: `cls()`, `self.__class__()`, `type(self)()`, `super().__init__()`.
const CONSTRUCTING: &[&str] = &["cls", "__class__", "type", "__init__", "__new__"];

/// Classes of a file that may be subclasses of the given ones, judged by the names of their bases.
fn classes_below(db: &Database, file: File, above: &BTreeSet<String>) -> Vec<String> {
    struct Below<'n>(&'n BTreeSet<String>, Vec<String>);
    impl<'s> SourceOrderVisitor<'s> for Below<'_> {
        fn visit_stmt(&mut self, statement: &'s Stmt) {
            if let Stmt::ClassDef(class) = statement
                && class.bases().iter().filter_map(last_name).any(|base| self.0.contains(base))
            {
                self.1.push(class.name.to_string());
            }
            walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, _expression: &'s Expr) {}
    }
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let mut below = Below(above, Vec::new());
    below.visit_body(parsed.suite());
    below.1
}

/// The last name in a callee or base class: `C` in `module.C[int]`, `type` in `type(self)`.
pub(super) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Subscript(subscript) => last_name(&subscript.value),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}

struct CallFinder<'a, 'db> {
    model: &'a SemanticModel<'db>,
    names: &'a BTreeSet<String>,
    functions: &'a [(Definition<'db>, &'a ast::StmtFunctionDef, Option<String>)],
    file: File,
    calls: &'a mut Calls<'db>,
}

impl<'s> SourceOrderVisitor<'s> for CallFinder<'_, '_> {
    fn visit_expr(&mut self, expression: &'s Expr) {
        if let Expr::Call(call) = expression {
            self.call(call);
        }
        walk_expr(self, expression);
    }
}

impl<'db> CallFinder<'_, 'db> {
    fn call(&mut self, call: &ast::ExprCall) {
        if !last_name(&call.func).is_some_and(|name| self.names.contains(name)) {
            return;
        }
        let callee = ExprRef::from(&*call.func);
        let target = Target::Callee { callee, call, on_parenthesis: true };
        let meant = target.declared(self.model, ImportAliasResolution::ResolveAliases);
        for (definition, function, _) in self.functions {
            // Arguments that a function passes on to itself add no information.
            let is_own = definition.file(self.model.db()) == self.file && function.range().contains_range(call.range());
            if !is_own && meant.contains(&ResolvedDefinition::Definition(*definition)) {
                self.arguments(call, *definition, function);
            }
        }
    }

    /// Assigns the arguments of a call to parameters, as far as the call alone determines it.
    fn arguments(&mut self, call: &ast::ExprCall, definition: Definition<'db>, function: &ast::StmtFunctionDef) {
        let parameters = &function.parameters;
        let all: Vec<&ast::ParameterWithDefault> = parameters.posonlyargs.iter().chain(&parameters.args).collect();
        // A bound receiver takes the first parameter; a function called through its module has no receiver.
        let in_class =
            ty_python_core::scope::ScopeKind::Class == definition.scope(self.model.db()).scope(self.model.db()).kind();
        let takes_receiver = in_class && !is_decorated(function, "staticmethod");
        let bound = usize::from(takes_receiver && !self.gives_receiver(call, function));
        let mut given = BTreeSet::new();
        for (at, argument) in call.arguments.args.iter().enumerate() {
            if argument.is_starred_expr() {
                // An unpacked argument may fill any of the remaining parameters.
                for parameter in all.iter().skip(at + bound) {
                    self.note(definition, parameter.parameter.name.as_str(), None);
                }
                break;
            }
            if let Some(parameter) = all.get(at + bound) {
                given.insert(parameter.parameter.name.as_str());
                self.note(definition, parameter.parameter.name.as_str(), Some(argument));
            }
        }
        for keyword in &call.arguments.keywords {
            if let Some(name) = &keyword.arg {
                given.insert(name.as_str());
                self.note(definition, name.as_str(), Some(&keyword.value));
            }
        }
        if call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none()) {
            let named = parameters.args.iter().skip(bound).chain(&parameters.kwonlyargs);
            let names = named.map(|one| one.parameter.name.as_str());
            for name in names.filter(|name| !given.contains(name)) {
                self.note(definition, name, None);
            }
        }
        self.calls.files.entry(definition).or_default().insert(self.file);
    }

    /// Whether the receiver is an explicit argument: `Base.__init__(self, …)`, `super().__new__(cls, …)`.
    fn gives_receiver(&self, call: &ast::ExprCall, function: &ast::StmtFunctionDef) -> bool {
        let Expr::Attribute(attribute) = &*call.func else { return false };
        if attribute.attr.id != function.name.id || is_decorated(function, "classmethod") {
            return false;
        }
        let owner = attribute.value.inferred_type(self.model);
        function.name.as_str() == "__new__"
            || matches!(owner, Some(Type::ClassLiteral(_) | Type::GenericAlias(_) | Type::SubclassOf(_)))
    }

    fn note(&mut self, definition: Definition<'db>, parameter: &str, argument: Option<&Expr>) {
        let given = argument.and_then(|argument| known(argument.inferred_type(self.model)));
        self.calls.arguments.entry((definition, parameter.to_owned())).or_default().push(given);
    }
}
