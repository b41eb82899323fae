//! The evidence for a type: returned and yielded values, assignments.
//!
//! Owns collecting it in one state of the text. Values of unknown type prevent a suggestion, or lower its confidence. The evidence for
//! parameters is in `parameters`.

use super::annotation::{Annotation, Import};
use super::docstring;
use super::flow::{Exits, exits, falls_through, is_placeholder};
use super::never::is_endless_call;
use super::overridden;
use super::parameters;
use super::shape::{Context, Evidence, Generated, Shape};
use super::slots::{Filling, FunctionContext, Kind, Slot, SlotSource, is_decorated};
use super::values::{is_mock, known, known_part};
use crate::pytypes::ty::api::{Expr, HasType, SemanticModel, Type, UnionType, ast};
use crate::pytypes::ty::db::Database;
use crate::pytypes::values::Confidence;

/// The evidence for one slot; the error says why there is none.
pub(super) fn of_slot<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    context: &Context<'db>,
) -> Result<Evidence<'db>, String> {
    match &slot.of {
        SlotSource::Function(function, around) => {
            let own = of_return(db, model, function, *around, false)
                .and_then(|own| require_no_returning_override(db, model, slot, function, own, context));
            own.or_else(|reason| of_declared_return(db, model, slot, function, *around, context).ok_or(reason))
        }
        SlotSource::Parameter(function, parameter) => {
            parameters::of_parameter(db, model, slot, function, parameter, context)
        }
        SlotSource::Values(values, filled) => of_values(db, model, slot.kind, values, filled),
    }
}

/// Refuses `None` for a method if methods below it return values: the method is there to be overridden.
fn require_no_returning_override<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
    own: Evidence<'db>,
    context: &Context<'db>,
) -> Result<Evidence<'db>, String> {
    let is_none = matches!(&own.inferred, Shape::Returned(inferred) if inferred.is_none(db));
    let class = slot.container.as_deref().filter(|_| is_none);
    match class.filter(|class| context.below.returns_values(model.file(), class, function.name.as_str())) {
        Some(_) => Err("it returns None, but methods that override it return values".to_owned()),
        None => Ok(own),
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

/// Evidence of related methods and the docstring for a function whose own values give none.
fn of_declared_return<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
    around: FunctionContext,
    context: &Context<'db>,
) -> Option<Evidence<'db>> {
    // The values of a generator are not what it returns.
    if is_decorated(function, "overload") || exits(function).is_generator {
        return None;
    }
    let environment = model.program_environment();
    if around.in_class {
        if let Some(above) = overridden::return_above(db, model, function) {
            let known = above.declared.filter(|declared| known_part(db, &environment, *declared) == Some(*declared));
            if let Some(declared) = known {
                let explanation = format!("it overrides that of {}", above.class);
                return Some(Evidence {
                    inferred: Shape::Plain(declared),
                    explanation,
                    confidence: Confidence::Medium,
                });
            }
        }
        if let Some(annotation) = overridden::return_of_language(function) {
            let explanation = "the signature that Python requires".to_owned();
            return Some(Evidence {
                inferred: Shape::Written(annotation),
                explanation,
                confidence: Confidence::Medium,
            });
        }
        let below = slot
            .container
            .as_deref()
            .and_then(|class| context.below.returned(model.file(), class, function.name.as_str()));
        if let Some(declared) = below {
            let inferred = UnionType::from_elements(db, &environment, declared.iter().copied());
            let explanation = "methods that override it".to_owned();
            return Some(Evidence { inferred: Shape::Plain(inferred), explanation, confidence: Confidence::Medium });
        }
    }
    let documented = docstring::returned(db, model, function)?;
    let explanation = "its docstring".to_owned();
    Some(Evidence { inferred: Shape::Written(documented), explanation, confidence: Confidence::Medium })
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
    // The specification of Python's types counts an empty method of a protocol as not implemented.
    let is_empty = context.in_protocol
        && function.body.iter().all(|one| is_placeholder(std::slice::from_ref(one)) || one.is_pass_stmt());
    if is_decorated(function, "abstractmethod") || is_placeholder(&function.body) || is_empty {
        return Err("the body is a placeholder".to_owned());
    }
    let found = exits(function);
    if let Some(written) = of_exit(function, &found) {
        return written;
    }
    if found.is_generator {
        return of_yields(db, model, function, &found);
    }
    if let Some(only) = own_receiver(function, &found, context) {
        return Ok(only);
    }
    let environment = model.program_environment();
    let mut types = Vec::new();
    for value in &found.values {
        // `NotImplemented` is a signal to the interpreter; callers never see it.
        let is_refusal = matches!(value, Expr::Name(name) if name.id.as_str() == "NotImplemented");
        if is_refusal || (is_call_of_itself(value, function, context) && found.values.len() > 1) {
            continue;
        }
        let inferred = value.inferred_type(model);
        let part = inferred.and_then(|inferred| known_part(db, &environment, inferred));
        if partly {
            types.extend(part);
            continue;
        }
        let part = part.ok_or("a returned value has an unknown type")?;
        // `Unknown & str` is what a check made certain; `Unknown | str` is not.
        let inferred =
            if inferred.is_some_and(|one| matches!(one, Type::Intersection(_))) { Some(part) } else { inferred };
        let inferred = inferred.ok_or("a returned value has an unknown type")?;
        // It may be reachable on another platform or version.
        if matches!(inferred, Type::Never) {
            return Err("a return statement is unreachable here".to_owned());
        }
        types.push(inferred);
    }
    let reaches_end = falls_through(&function.body, &|expression| is_endless_call(db, model, expression));
    let nothing = reaches_end || found.returns_nothing;
    if nothing {
        types.push(Type::none(db, &environment));
    }
    if types.is_empty() {
        let is_overriding = context.in_class && overridden::return_above(db, model, function).is_some();
        if is_overriding || !found.values.is_empty() || partly {
            return Err("it never returns".to_owned());
        }
        let import = Import { module: "typing".to_owned(), name: "NoReturn".to_owned(), is_for_checking: false };
        return Ok(Evidence {
            inferred: Shape::Written(Annotation { text: "NoReturn".to_owned(), imports: vec![import] }),
            explanation: "it never returns".to_owned(),
            confidence: Confidence::Medium,
        });
    }
    let explanation = match (found.values.len(), nothing) {
        (0, _) => "no value is returned".to_owned(),
        (1, false) => "the returned value".to_owned(),
        (1, true) => "the returned value, and an implicit None".to_owned(),
        (number, false) => format!("{number} returned values"),
        (number, true) => format!("{number} returned values, and an implicit None"),
    };
    let inferred = UnionType::from_elements(db, &environment, types);
    // A value is not returned to say None: an override of what is called may return more.
    if inferred.is_none(db) && found.values.iter().any(|value| !value.is_none_literal_expr()) {
        return Err("a returned value is None as far as is known".to_owned());
    }
    // The author may mean the common base of several classes.
    let is_several =
        matches!(inferred, Type::Union(union) if union.elements(db).iter().filter(|one| !one.is_none(db)).count() > 1);
    let confidence = if partly || is_several { Confidence::Medium } else { Confidence::High };
    Ok(Evidence { inferred: Shape::Returned(inferred), explanation, confidence })
}

/// The evidence for a method that leaves a `with` statement: `bool` would say that it may hide exceptions, so that a type checker
/// thinks that the code after the statement is reached without a value.
fn of_exit<'db>(function: &ast::StmtFunctionDef, found: &Exits<'_>) -> Option<Result<Evidence<'db>, String>> {
    let is_false = |value: &&Expr| value.as_boolean_literal_expr().is_some_and(|literal| !literal.value);
    let is_exit = matches!(function.name.as_str(), "__exit__" | "__aexit__");
    if !is_exit || found.values.is_empty() || !found.values.iter().all(is_false) {
        return None;
    }
    if found.returns_nothing || falls_through(&function.body, &|_| false) {
        return Some(Err("it returns False or None".to_owned()));
    }
    let import = Import { module: "typing".to_owned(), name: "Literal".to_owned(), is_for_checking: false };
    Some(Ok(Evidence {
        inferred: Shape::Written(Annotation { text: "Literal[False]".to_owned(), imports: vec![import] }),
        explanation: "it always returns False".to_owned(),
        confidence: Confidence::High,
    }))
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
    only.then(|| Evidence {
        inferred: Shape::Receiver,
        explanation: "the receiver is returned".to_owned(),
        confidence: Confidence::Medium,
    })
}

fn of_yields<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    function: &ast::StmtFunctionDef,
    found: &Exits<'_>,
) -> Result<Evidence<'db>, String> {
    if let ([], [only], false) = (&found.yields[..], &found.delegated[..], found.yields_otherwise || function.is_async)
    {
        let delegated = known(db, model, only.inferred_type(model)).ok_or("a yielded value has an unknown type")?;
        return Ok(Evidence {
            inferred: Shape::YieldsFrom(delegated, Generated::new(function)),
            explanation: "what it delegates to".to_owned(),
            confidence: Confidence::Medium,
        });
    }
    if found.yields_otherwise || !found.values.is_empty() || !found.delegated.is_empty() {
        return Err("a generator that does more than yield values".to_owned());
    }
    let environment = model.program_environment();
    let types: Option<Vec<Type<'db>>> =
        found.yields.iter().map(|value| known(db, model, value.inferred_type(model))).collect();
    let mut types = types.ok_or("a yielded value has an unknown type")?;
    if found.yields_nothing {
        types.push(Type::none(db, &environment));
    }
    Ok(Evidence {
        inferred: Shape::Yields(UnionType::from_elements(db, &environment, types), Generated::new(function)),
        explanation: match found.yields.len() {
            0 => "no value is yielded".to_owned(),
            1 => "the yielded value".to_owned(),
            number => format!("{number} yielded values"),
        },
        confidence: Confidence::Medium,
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

fn of_values<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    kind: Kind,
    values: &[&Expr],
    filled: &[Filling<'_>],
) -> Result<Evidence<'db>, String> {
    if let Some(evidence) = of_filled(db, model, values, filled) {
        return Ok(evidence);
    }
    let types: Option<Vec<Type<'db>>> =
        values.iter().map(|value| known(db, model, value.inferred_type(model))).collect();
    let types = types.ok_or("an assigned value has an unknown type")?;
    if types.iter().all(|one| one.is_none(db)) {
        return Err("only None is assigned".to_owned());
    }
    // With an annotation it would no longer be an alias of the class.
    if kind == Kind::Variable && types.iter().any(|one| matches!(one, Type::ClassLiteral(_) | Type::GenericAlias(_))) {
        return Err("it is an alias of a class".to_owned());
    }
    // A single literal assignment makes the type obvious.
    let is_plain = |value: &&Expr| value.is_literal_expr() || value.is_f_string_expr();
    if kind == Kind::Variable && values.iter().all(is_plain) && values.len() == 1 {
        return Err("the literal's type is obvious".to_owned());
    }
    let environment = model.program_environment();
    if types.iter().any(|one| is_mock(db, &environment, *one)) {
        return Err("a mock is assigned".to_owned());
    }
    let explanation = match values.len() {
        1 => "the assigned value".to_owned(),
        number => format!("{number} assigned values"),
    };
    Ok(Evidence {
        inferred: Shape::Returned(UnionType::from_elements(db, &environment, types)),
        explanation,
        confidence: Confidence::Medium,
    })
}

/// The evidence for an attribute that begins as an empty container and is filled by methods of its class.
fn of_filled<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    values: &[&Expr],
    filled: &[Filling<'_>],
) -> Option<Evidence<'db>> {
    let [first, rest @ ..] = values else { return None };
    let container = empty_container(first)?;
    if filled.is_empty() || !rest.iter().all(|value| empty_container(value) == Some(container)) {
        return None;
    }
    let environment = model.program_environment();
    let (mut keys, mut elements) = (Vec::new(), Vec::new());
    for one in filled {
        match (container, one) {
            ("list", Filling::Element("append" | "insert", value)) | ("set", Filling::Element("add", value)) => {
                elements.push(known(db, model, value.inferred_type(model))?);
            }
            ("dict", Filling::Item(key, value)) => {
                keys.push(known(db, model, key.inferred_type(model))?);
                elements.push(known(db, model, value.inferred_type(model))?);
            }
            _ => return None,
        }
    }
    let union = |types: Vec<Type<'db>>| UnionType::from_elements(db, &environment, types);
    let inner = if keys.is_empty() { vec![union(elements)] } else { vec![union(keys), union(elements)] };
    Some(Evidence {
        inferred: Shape::Filled(container, inner),
        explanation: "the values that it is filled with".to_owned(),
        confidence: Confidence::Medium,
    })
}

fn empty_container(value: &Expr) -> Option<&'static str> {
    match value {
        Expr::List(list) if list.elts.is_empty() => Some("list"),
        Expr::Dict(dict) if dict.items.is_empty() => Some("dict"),
        Expr::Call(call) if call.arguments.args.is_empty() && call.arguments.keywords.is_empty() => {
            match call.func.as_name_expr()?.id.as_str() {
                "list" => Some("list"),
                "set" => Some("set"),
                "dict" => Some("dict"),
                _ => None,
            }
        }
        _ => None,
    }
}
