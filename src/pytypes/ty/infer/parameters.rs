//! The evidence for a parameter: its default, the arguments of calls, the declarations that it is handed on to, related
//! methods, its docstring.
//!
//! Owns weighing these against each other. The annotated text is verified elsewhere, so evidence may be incomplete, not
//! wrong.

use std::collections::BTreeSet;

use super::annotation::Annotation;
use super::docstring;
use super::handed_on;
use super::overridden::{self, Overridden};
use super::shape::{Context, Evidence, Shape};
use super::slots::{Parameter, Slot};
use super::values::{is_mock, known};
use crate::pytypes::ty::api::{
    DefinitionKind, Expr, File, HasDefinition, HasType, KnownClass, ProgramEnvironment, Ranged, SemanticModel, Stmt,
    Type, TypeDefinition, UnionType, ast, parsed_module, source_text,
};
use crate::pytypes::ty::db::Database;
use crate::pytypes::values::Confidence;

/// Why nothing is known of a parameter: an argument of unknown type.
pub(super) const UNKNOWN_ARGUMENT: &str = "a call passes a value of unknown type";

/// Why nothing is known of a parameter: nothing says what it is.
pub(super) const NO_ARGUMENT: &str = "no default, and no call with a known type";

pub(super) fn of_parameter<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    slot: &Slot<'_>,
    function: &ast::StmtFunctionDef,
    parameter: &Parameter<'_>,
    context: &Context<'db>,
) -> Result<Evidence<'db>, String> {
    if parameter.is_variadic {
        return Err("it is variadic".to_owned());
    }
    let environment = model.program_environment();
    let default = parameter.default.and_then(|default| default.inferred_type(model));
    let is_optional = parameter.default.is_some_and(Expr::is_none_literal_expr);
    let default = if is_optional { None } else { known(db, model, default) };
    let above = overridden::of_parameter(db, model, slot, function);
    if let Some(evidence) = of_above(db, model, above.as_deref(), default, is_optional) {
        return Ok(evidence);
    }
    if let Some(annotation) = overridden::of_language(function, &slot.name) {
        return Ok(Evidence {
            inferred: Shape::Written(annotation),
            explanation: "the signature that Python requires".to_owned(),
            confidence: Confidence::High,
        });
    }
    // A call through the superclass reaches this method too.
    let own = (function.definition(model), slot.name.clone());
    let meant: Vec<_> = std::iter::once(own).chain(above.map(|above| (above.definition, above.name.clone()))).collect();
    let given: Vec<Option<Type<'db>>> =
        meant.iter().filter_map(|one| context.calls.arguments.get(one)).flatten().copied().collect();
    let has_unknown = given.iter().any(Option::is_none);
    // Arguments of unknown type do not contradict the known ones. A marker that is passed on says no more than as the default.
    let marker = default.filter(|default| is_marker(db, model, *default));
    let arguments: Vec<Type<'db>> =
        given.iter().flatten().filter_map(|one| without(db, &environment, *one, marker)).collect();
    let is_none = |one: &Type<'db>| one.is_none(db);
    let adds_nothing = arguments.iter().all(|one| is_none(one) || matches!(one, Type::Never));
    let has_own = (default.is_some() && marker.is_none()) || !adds_nothing;
    let handed = handed_on::of_parameter(db, model, slot, function);
    // What is documented widens what calls pass.
    let is_optional = is_optional || docstring::allows_none(function, &slot.name);
    let may_be_none = is_optional || arguments.iter().any(is_none) || (default.is_none() && handed.is_tested_for_none);
    let none = may_be_none.then(|| Type::none(db, &environment));
    let union = |types: &mut dyn Iterator<Item = Type<'db>>| UnionType::from_elements(db, &environment, types);
    let declared = handed.declared(db, &environment);
    let says_more = |declared: &Type<'db>| {
        marker.is_none() || without(db, &environment, *declared, marker).is_some_and(|rest| !is_none(&rest))
    };
    if let Some(declared) = declared.filter(says_more) {
        let whole = union(&mut std::iter::once(declared).chain(none));
        let with_own = union(&mut std::iter::once(whole).chain(default).chain(arguments.iter().copied()));
        if with_own == whole {
            return Ok(Evidence {
                inferred: Shape::Plain(whole),
                explanation: "what it is handed on to".to_owned(),
                confidence: if has_own && !has_unknown { Confidence::High } else { Confidence::Medium },
            });
        }
    }
    let medium = |inferred: Shape<'db>, explanation: &str| Evidence {
        inferred,
        explanation: explanation.to_owned(),
        confidence: Confidence::Medium,
    };
    if !has_own {
        if let Some(annotation) = docstring::of_parameter(db, model, function, &slot.name, may_be_none) {
            return Ok(medium(Shape::Written(annotation), "its docstring"));
        }
        if let Some(library) = handed.of_library(db, &environment) {
            let whole = union(&mut std::iter::once(library).chain(none));
            return Ok(medium(Shape::Plain(whole), "what it is handed on to"));
        }
        let class = slot.container.as_deref().and_then(|container| container.rsplit_once('.'));
        let below = class.and_then(|(class, method)| context.below.parameter(model.file(), class, method, &slot.name));
        if let Some(below) = below {
            let whole = union(&mut below.iter().copied().chain(none));
            return Ok(medium(Shape::Plain(whole), "methods that override it"));
        }
        return Err(match given {
            given if given.iter().any(Option::is_none) => UNKNOWN_ARGUMENT.to_owned(),
            _ if marker.is_some() => "its default is a marker, and no call passes another type".to_owned(),
            _ if is_optional => "its default is None, and no call passes another type".to_owned(),
            _ => NO_ARGUMENT.to_owned(),
        });
    }
    let mut explanation = Vec::new();
    if let (Some(_), Some(default)) = (default, parameter.default) {
        let text = source_text(db, model.file());
        let written: String = text[default.range()].chars().take(40).collect();
        explanation.push(format!("its default {written}"));
    }
    // One call in one file is often the only one there is, and says little more than the default.
    let mut is_confirmed = false;
    if !arguments.is_empty() {
        let files: BTreeSet<&File> =
            meant.iter().filter_map(|(one, _)| context.calls.files.get(one)).flatten().collect();
        let plural =
            |number: usize, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
        is_confirmed = arguments.len() > 1 || files.len() > 1;
        explanation.push(format!("{} in {}", plural(arguments.len(), "call"), plural(files.len(), "file")));
    }
    let accepts_none = is_optional || handed.is_tested_for_none;
    let is_whole = matches!(parameter.default, Some(Expr::NumberLiteral(number)) if number.value.is_int());
    let is_seconds = is_whole && is_of_seconds(&slot.name);
    if is_seconds {
        explanation.push("its name says seconds".to_owned());
    }
    let fractions = is_seconds.then(|| KnownClass::Float.to_instance(db, &environment));
    let types = default.filter(|_| marker.is_none()).into_iter().chain(arguments.iter().copied()).chain(fractions);
    let inferred = union(&mut types.chain(accepts_none.then(|| Type::none(db, &environment))));
    if is_mock(db, &environment, inferred) {
        return Err("only a mock is passed".to_owned());
    }
    let is_bool = default == Some(KnownClass::Bool.to_instance(db, &environment))
        || parameter.default.is_some_and(Expr::is_boolean_literal_expr);
    let agrees = default.is_some() && marker.is_none() && is_confirmed && !has_unknown;
    let is_single = !matches!(inferred, Type::Union(_));
    let confidence = if is_bool || (agrees && is_single) { Confidence::High } else { Confidence::Medium };
    let inferred = match marker {
        Some(marker) => Shape::PassedOr(inferred, marker),
        None if arguments.is_empty() => Shape::Default(inferred, handed.tested.clone()),
        None => Shape::Passed(inferred, handed.tested.clone()),
    };
    Ok(Evidence { inferred, explanation: explanation.join(", "), confidence })
}

/// Words of a name that stands for a number of seconds, which need not be whole.
const SECONDS: [&str; 8] = ["backoff", "delay", "duration", "interval", "seconds", "secs", "sleep", "timeout"];
/// Words of a name that has another unit.
const OTHER_UNITS: [&str; 10] =
    ["count", "days", "hours", "millis", "milliseconds", "minutes", "ms", "ns", "steps", "us"];

fn is_of_seconds(name: &str) -> bool {
    let is_any = |words: &[&str]| name.split('_').any(|word| words.contains(&word.to_ascii_lowercase().as_str()));
    is_any(&SECONDS) && !is_any(&OTHER_UNITS)
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
    let declared = known(db, model, above.declared)?;
    let environment = model.program_environment();
    let explanation = format!("it overrides that of {}", above.class);
    // An explicitly declared `object` is meaningful, unlike an inferred one.
    if declared == KnownClass::Object.to_instance(db, &environment) {
        let annotation = Annotation { text: "object".to_owned(), imports: Vec::new() };
        return Some(Evidence { inferred: Shape::Written(annotation), explanation, confidence: Confidence::Medium });
    }
    let none = is_optional.then(|| Type::none(db, &environment));
    let types = std::iter::once(declared).chain(default).chain(none);
    let inferred = Shape::Plain(UnionType::from_elements(db, &environment, types));
    Some(Evidence { inferred, explanation, confidence: Confidence::Medium })
}

/// A type without one of its members; `None` if nothing is left.
fn without<'db>(
    db: &'db Database,
    environment: &ProgramEnvironment<'db>,
    whole: Type<'db>,
    member: Option<Type<'db>>,
) -> Option<Type<'db>> {
    match whole {
        Type::Union(union) if member.is_some() => {
            let rest: Vec<Type<'db>> = union.elements(db).iter().copied().filter(|one| Some(*one) != member).collect();
            (!rest.is_empty()).then(|| UnionType::from_elements(db, environment, rest))
        }
        whole => (Some(whole) != member).then_some(whole),
    }
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
