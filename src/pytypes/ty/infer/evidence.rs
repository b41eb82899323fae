//! What speaks for a type: values that are returned, defaults, assignments, and arguments of calls.
//!
//! Owns gathering it in one state of the text. Unknown evidence is no evidence: what is not wholly known is left out, or
//! nothing is said.

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

use super::above::{self, Overridden};
use super::annotation::Annotation;
use super::flow::{Exits, exits, falls_through, is_promise};
use super::slots::{Kind, Of, Parameter, Place, Slot, is_decorated};
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::ty::target::Target;

/// A type, and in words why.
pub(super) struct Evidence<'db> {
    pub inferred: Shape<'db>,
    pub words: String,
}

pub(super) enum Shape<'db> {
    Plain(Type<'db>),
    /// `Iterator[…]`, `AsyncIterator[…]` of what a generator yields.
    Yields(Type<'db>, bool),
    /// The receiver itself.
    Receiver,
    /// What needs no reading.
    Written(Annotation),
}

/// Files with calls that are looked into.
const MOST_FILES: usize = 300;

/// The arguments that calls in the project give to parameters, by function and the parameter's name.
pub(super) struct Calls<'db> {
    arguments: HashMap<(Definition<'db>, String), Vec<Option<Type<'db>>>>,
    files: HashMap<Definition<'db>, BTreeSet<File>>,
}

/// What is known of one slot; the error says why nothing is.
pub(super) fn of_slot<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    calls: &Calls<'db>,
) -> Result<Evidence<'db>, String> {
    match &slot.of {
        Of::Function(function, place) => of_return(db, model, function, *place, false),
        Of::Parameter(function, parameter) => of_parameter(db, model, slot, function, parameter, calls),
        Of::Values(values) => of_values(db, model, slot.kind, values),
    }
}

/// What is known of what a function gives back, though there is more.
pub(super) fn of_known_returns<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    place: Place,
) -> Result<Evidence<'db>, String> {
    of_return(db, model, function, place, true)
}

/// `partly`: what is not known is passed over.
fn of_return<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    place: Place,
    partly: bool,
) -> Result<Evidence<'db>, String> {
    if is_decorated(function, "overload") {
        return Err("an overload".to_owned());
    }
    if is_decorated(function, "abstractmethod") || is_promise(&function.body) {
        return Err("the body is only promised".to_owned());
    }
    if is_decorated(function, "contextmanager") || is_decorated(function, "asynccontextmanager") {
        return Err("a decorator makes something else of it".to_owned());
    }
    let found = exits(function);
    if found.is_generator {
        return of_yields(db, model, function, &found);
    }
    if let Some(only) = own_receiver(function, &found, place) {
        return Ok(only);
    }
    let mut types = Vec::new();
    for value in &found.values {
        // `NotImplemented` is for the interpreter: whoever calls never sees it.
        let is_refusal = matches!(value, Expr::Name(name) if name.id.as_str() == "NotImplemented");
        if is_refusal || (is_call_of_itself(value, function, place) && found.values.len() > 1) {
            continue;
        }
        let inferred = known(value.inferred_type(model));
        if partly {
            types.extend(inferred.and_then(|inferred| known_part(db, model, inferred)));
            continue;
        }
        let inferred = inferred.ok_or("a returned value is of unknown type")?;
        // On another platform or version it may be.
        if matches!(inferred, Type::Never) {
            return Err("a returned value cannot be reached here".to_owned());
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
    let words = match (found.values.len(), nothing) {
        (0, _) => "no value is returned".to_owned(),
        (1, false) => "the returned value".to_owned(),
        (1, true) => "the returned value, and the end without one".to_owned(),
        (number, false) => format!("{number} returned values"),
        (number, true) => format!("{number} returned values, and the end without one"),
    };
    Ok(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)), words })
}

/// A method that gives back its receiver and nothing else.
fn own_receiver<'db>(function: &ast::StmtFunctionDef, found: &Exits<'_>, place: Place) -> Option<Evidence<'db>> {
    let is_bound = place.in_class && !is_decorated(function, "staticmethod") && !is_decorated(function, "classmethod");
    let receiver = function.parameters.posonlyargs.iter().chain(&function.parameters.args).next()?;
    let is_receiver = |value: &&Expr| matches!(value, Expr::Name(name) if name.id == receiver.parameter.name.id);
    let only = is_bound
        && !found.values.is_empty()
        && !found.returns_nothing
        && found.values.iter().all(is_receiver)
        && !falls_through(&function.body, &|_| false);
    only.then(|| Evidence { inferred: Shape::Receiver, words: "the receiver is returned".to_owned() })
}

fn of_yields<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    found: &Exits<'_>,
) -> Result<Evidence<'db>, String> {
    if found.yields_otherwise || !found.values.is_empty() || found.yields.is_empty() {
        return Err("a generator that does more than yield".to_owned());
    }
    let types: Option<Vec<Type<'db>>> = found.yields.iter().map(|value| known(value.inferred_type(model))).collect();
    let types = types.ok_or("a yielded value is of unknown type")?;
    let yielded = UnionType::from_elements(db, &model.program_environment(), types);
    Ok(Evidence {
        inferred: Shape::Yields(yielded, function.is_async),
        words: match found.yields.len() {
            1 => "the yielded value".to_owned(),
            number => format!("{number} yielded values"),
        },
    })
}

fn is_call_of_itself(value: &Expr, function: &ast::StmtFunctionDef, place: Place) -> bool {
    let Expr::Call(call) = value else { return false };
    match &*call.func {
        Expr::Name(name) => !place.in_class && name.id == function.name.id,
        Expr::Attribute(attribute) => {
            place.in_class
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
        return Err("it takes any number of arguments".to_owned());
    }
    let environment = model.program_environment();
    let default = parameter.default.and_then(|default| default.inferred_type(model));
    let is_optional = parameter.default.is_some_and(Expr::is_none_literal_expr);
    let default = if is_optional { None } else { known(default) };
    let above = above::overridden(db, model, function, &slot.name);
    if let Some(evidence) = of_above(db, model, above.as_ref(), default, is_optional) {
        return Ok(evidence);
    }
    if let Some(annotation) = above::of_language(function, &slot.name) {
        return Ok(Evidence { inferred: Shape::Written(annotation), words: "the language calls it so".to_owned() });
    }
    // Who calls a method by the class above means this one too.
    let own = (function.definition(model), slot.name.clone());
    let meant: Vec<_> = std::iter::once(own).chain(above.map(|above| (above.definition, above.name))).collect();
    let given: Vec<Option<Type<'db>>> =
        meant.iter().filter_map(|one| calls.arguments.get(one)).flatten().copied().collect();
    let arguments: Option<Vec<Type<'db>>> = given.iter().copied().collect();
    let arguments = arguments.unwrap_or_default();
    let is_none = |one: &Type<'db>| one.is_none(db);
    let tells_nothing = arguments.iter().all(|one| is_none(one) || matches!(one, Type::Never));
    let stands_for_nothing = default.is_some_and(|default| is_marker(db, model, default));
    if (default.is_none() || stands_for_nothing) && tells_nothing {
        return Err(match given {
            given if given.iter().any(Option::is_none) => "a call gives it something of unknown type".to_owned(),
            _ if stands_for_nothing => "its default stands for no value, and no call says more".to_owned(),
            _ if is_optional => "its default is None, and no call says more".to_owned(),
            _ => "no default, and no call that says more".to_owned(),
        });
    }
    let mut words = Vec::new();
    if let (Some(_), Some(default)) = (default, parameter.default) {
        let text = source_text(db, model.file());
        let shown: String = text[default.range()].chars().take(40).collect();
        words.push(format!("its default {shown}"));
    }
    if !arguments.is_empty() {
        let files: BTreeSet<&File> = meant.iter().filter_map(|(one, _)| calls.files.get(one)).flatten().collect();
        let plural =
            |number: usize, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
        words.push(format!("{} in {}", plural(arguments.len(), "call"), plural(files.len(), "file")));
    }
    let none = is_optional.then(|| Type::none(db, &environment));
    let types = default.into_iter().chain(arguments).chain(none);
    Ok(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)), words: words.join(", ") })
}

/// What the method above declares, and the default beside it.
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
    let words = format!("it overrides the one of {}", above.class);
    // An `object` that somebody declared is more than one that nobody could tell apart.
    if declared == KnownClass::Object.to_instance(db, &environment) {
        let annotation = Annotation { text: "object".to_owned(), imports: Vec::new() };
        return Some(Evidence { inferred: Shape::Written(annotation), words });
    }
    let none = is_optional.then(|| Type::none(db, &environment));
    let types = std::iter::once(declared).chain(default).chain(none);
    Some(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &environment, types)), words })
}

/// An instance of a class that holds nothing: it can only be told from others, as `NOT_GIVEN` can.
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
    let types = types.ok_or("an assigned value is of unknown type")?;
    if types.iter().all(|one| one.is_none(db)) {
        return Err("only None is assigned".to_owned());
    }
    // What is assigned once says its type itself; a declaration would only repeat it.
    let is_plain = |value: &&Expr| value.is_literal_expr() || value.is_f_string_expr();
    if kind == Kind::Variable && values.iter().all(is_plain) && values.len() == 1 {
        return Err("a literal says its type itself".to_owned());
    }
    let words = match values.len() {
        1 => "the assigned value".to_owned(),
        number => format!("{number} assigned values"),
    };
    Ok(Evidence { inferred: Shape::Plain(UnionType::from_elements(db, &model.program_environment(), types)), words })
}

/// A type that says something; what cannot be reached says nothing either.
fn known(inferred: Option<Type<'_>>) -> Option<Type<'_>> {
    inferred.filter(|one| !matches!(one, Type::Dynamic(_) | Type::Divergent(_)))
}

/// Of a union, the types that are known.
fn known_part<'db>(db: &'db Database, model: &SemanticModel<'db>, inferred: Type<'db>) -> Option<Type<'db>> {
    let Type::Union(union) = inferred else { return Some(inferred) };
    let part: Vec<Type<'db>> = union.elements(db).iter().copied().filter(|one| known(Some(*one)).is_some()).collect();
    (!part.is_empty()).then(|| UnionType::from_elements(db, &model.program_environment(), part))
}

/// Looks through the project for calls of these functions of one file.
pub(super) fn calls<'db>(
    db: &'db Database,
    own: File,
    functions: &[(Definition<'db>, &ast::StmtFunctionDef, Option<String>)],
) -> Calls<'db> {
    let mut calls = Calls { arguments: HashMap::new(), files: HashMap::new() };
    // A constructor is called by its class's name.
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
    // The settings may leave it out.
    files.push(own);
    files.sort_by_key(|file| (*file != own, file.path(db).as_str().to_owned()));
    let holding = |names: &BTreeSet<String>| {
        let holds = |file: &&File| {
            let text = source_text(db, **file);
            names.iter().any(|name| contains_identifier(&text, name))
        };
        files.iter().filter(holds).take(MOST_FILES).copied().collect::<Vec<_>>()
    };
    for _ in 0..MOST_BELOW {
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

/// How deep classes stand below the one whose constructor they have.
const MOST_BELOW: usize = 4;

/// How a class is called that is not named: `cls()`, `self.__class__()`, `type(self)()`, `super().__init__()`.
const CONSTRUCTING: &[&str] = &["cls", "__class__", "type", "__init__", "__new__"];

/// Classes of a file that may stand below one of these: their names alone say so.
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

/// The last name of what is called or inherited: `C` of `module.C[int]`, `type` of `type(self)`.
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
            // What a function hands on to itself says nothing new.
            let is_own = definition.file(self.model.db()) == self.file && function.range().contains_range(call.range());
            if !is_own && meant.contains(&ResolvedDefinition::Definition(*definition)) {
                self.arguments(call, *definition, function);
            }
        }
    }

    /// Which argument goes to which parameter, as far as that can be told from the call alone.
    fn arguments(&mut self, call: &ast::ExprCall, definition: Definition<'db>, function: &ast::StmtFunctionDef) {
        let parameters = &function.parameters;
        let all: Vec<&ast::ParameterWithDefault> = parameters.posonlyargs.iter().chain(&parameters.args).collect();
        // A bound receiver takes the first place; a plain function called through its module has none.
        let in_class =
            ty_python_core::scope::ScopeKind::Class == definition.scope(self.model.db()).scope(self.model.db()).kind();
        let takes_receiver = in_class && !is_decorated(function, "staticmethod");
        let bound = usize::from(takes_receiver && !self.gives_receiver(call, function));
        let mut given = BTreeSet::new();
        for (at, argument) in call.arguments.args.iter().enumerate() {
            if argument.is_starred_expr() {
                // What is unpacked may go to any of the rest.
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

    /// `Base.__init__(self, …)`, `super().__new__(cls, …)`: the receiver is one of the arguments.
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
