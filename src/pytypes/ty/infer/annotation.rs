//! A type as an annotation that can be written to a file.
//!
//! Owns the conversion from the checker's display form, which is meant for people, to an expression with the same
//! meaning in the file, or the reason why there is none. Literal types are widened.

use std::collections::{BTreeSet, HashMap};

use super::importing::{
    ABSTRACT, OLD_MODULES, imported_module, is_always_bound, is_builtin, is_imported_conditionally, is_of_project,
    is_of_some_versions, public,
};
use super::values::{Receivers, own_variable};
use crate::pytypes::ty::api::{
    AnyNodeRef, Definition, Expr, ImportAliasResolution, ProgramEnvironment, Ranged, ResolvedDefinition, ScopeKind,
    SemanticModel, TextSize, Type, TypeDefinition, TypeDetail, ast, definitions_for_name, file_to_module,
    parse_expression, parsed_module, semantic_index,
};
use crate::pytypes::ty::db::Database;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Annotation {
    pub text: String,
    pub imports: Vec<Import>,
}

impl Annotation {
    /// `name[inner, …]`; `module` is where the name is imported from.
    pub fn generic(name: &str, module: Option<&str>, inner: Vec<Self>) -> Self {
        let import =
            module.map(|module| Import { module: module.to_owned(), name: name.to_owned(), is_for_checking: false });
        let mut imports: Vec<Import> = import.into_iter().collect();
        let is_quoted = inner.iter().any(|one| one.text.starts_with('"'));
        let texts: Vec<String> = inner.iter().map(|one| one.text.trim_matches('"').to_owned()).collect();
        imports.extend(inner.into_iter().flat_map(|one| one.imports));
        let text = format!("{name}[{}]", texts.join(", "));
        Self { text: if is_quoted { format!("\"{text}\"") } else { text }, imports }
    }

    /// Whether a parameter with arguments of this type probably accepts more: another container, another class as `type[…]`, or the base
    /// of several classes.
    pub fn is_narrow(&self) -> bool {
        let is_class = |member: &str| member.starts_with("type[") && !is_basic(member);
        let is_concrete = |member: &str| member.rsplit('.').next().is_some_and(|class| CONCRETE.contains(&class));
        self.text.replace("type[", "").contains('[')
            || members(&self.text).any(is_concrete)
            || members(&self.text).any(is_class)
            || self.is_of_several_classes()
    }

    /// The only class next to `None`, if there is only one.
    pub fn only_class(&self) -> Option<&str> {
        let mut classes = without_none(&self.text);
        classes.next().filter(|_| classes.next().is_none())
    }

    /// Whether it lists types that the author probably did not write out: those of several values, also in a container.
    pub fn is_union_of_values(&self) -> bool {
        let is_several = |union: &str| without_none(union).count() > 1;
        let inside = self.text.split_once('[').map_or("", |(_, inside)| inside);
        is_several(&self.text) || inside.split(['[', ',', ']']).any(is_several) || self.is_of_several_classes()
    }

    pub fn is_generic(&self) -> bool {
        self.text.contains('[')
    }

    /// Whether the author probably wrote the base of several classes. Basic values have no base in common.
    pub fn is_of_several_classes(&self) -> bool {
        let is_several = |union: &str| {
            let several: Vec<&str> = without_none(union).collect();
            several.len() > 1 && !several.into_iter().all(is_basic)
        };
        // Also in brackets: `dict[str, A | B]`.
        is_several(&self.text) || self.text.split(['[', ',', ']']).any(is_several)
    }

    /// Whether it names a class that is private to its module: the author probably wrote a public base.
    pub fn is_private(&self) -> bool {
        self.text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.starts_with('_'))
    }

    /// The elements of an iterable as written.
    pub fn element(&self) -> Option<Self> {
        let text = self.text.trim_matches('"');
        if text == "str" {
            return Some(Self { text: "str".to_owned(), imports: Vec::new() });
        }
        let (outer, inner) = text.strip_suffix(']')?.split_once('[')?;
        let outer = outer.rsplit('.').next()?;
        let is_iterable = matches!(outer, "list" | "set" | "frozenset" | "dict" | "tuple" | "deque" | "Generator")
            || (ABSTRACT.contains(&outer) && !matches!(outer, "Callable" | "Awaitable" | "Coroutine" | "ItemsView"));
        let mut arguments = split(inner, ',').map(str::trim);
        let first = arguments.next()?;
        if !is_iterable || (outer == "tuple" && arguments.next() != Some("...")) {
            return None;
        }
        let text = if self.text.starts_with('"') { format!("\"{first}\"") } else { first.to_owned() };
        let imports = self.imports.iter().filter(|import| first.contains(&import.name)).cloned().collect();
        Some(Self { text, imports })
    }

    /// Whether the other annotation covers everything that this one does.
    pub fn is_within(&self, other: &Self) -> bool {
        let parts = |one: &Self| members(&one.text).map(str::to_owned).collect::<Vec<_>>();
        let (own, other) = (parts(self), parts(other));
        let mut all: Vec<String> = own.into_iter().chain(other.iter().cloned()).collect();
        absorb(&mut all);
        let set = |parts: Vec<String>| parts.into_iter().collect::<BTreeSet<_>>();
        set(all) == set(other)
    }
}

/// Whether a type is one of the basic values, or a class of them as a value.
fn is_basic(member: &str) -> bool {
    let class = member.strip_prefix("type[").and_then(|inner| inner.strip_suffix(']')).unwrap_or(member);
    matches!(class, "str" | "bytes" | "int" | "float" | "bool" | "complex")
}

/// Types that include others as annotations: `float` accepts `int`, and `int` accepts `bool`.
const COVERS: &[(&str, &[&str])] =
    &[("complex", &["float", "int", "bool"]), ("float", &["int", "bool"]), ("int", &["bool"])];

fn absorb(members: &mut Vec<String>) {
    for (wider, narrower) in COVERS {
        if members.iter().any(|member| member == wider) {
            members.retain(|member| !narrower.contains(&member.as_str()));
        }
    }
}

/// The members of a union as written.
pub(super) fn members(text: &str) -> impl Iterator<Item = &str> {
    split(text.trim_matches('"'), '|').map(str::trim)
}

/// The members of a union next to `None`.
fn without_none(union: &str) -> impl Iterator<Item = &str> {
    members(union).filter(|member| *member != "None" && !member.is_empty())
}

/// The parts of a text between separators outside brackets.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let is_separator = move |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == separator && depth == 0
    };
    text.split(is_separator)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub module: String,
    pub name: String,
    /// Only the type checker may import it: at run time it could be circular, or missing.
    pub is_for_checking: bool,
}

/// Larger unions are rejected as too unspecific.
const MAX_MEMBERS: usize = 5;

/// Classes that callers pass where a function accepts any stream, buffer or sequence.
const CONCRETE: &[&str] = &["BytesIO", "StringIO", "bytearray", "range"];

/// Classes whose names exist only in stubs, or are not meant for annotations, and those of `collections.abc` above them.
const VIEWS: &[(&str, &str)] = &[
    ("dict_items", "ItemsView"),
    ("dict_keys", "KeysView"),
    ("dict_values", "ValuesView"),
    ("GeneratorType", "Iterator"),
    ("AsyncGeneratorType", "AsyncIterator"),
];

/// The annotation for a type at an offset of the model's file; the error says why there is none.
pub(super) fn of_type<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    inferred: Type<'db>,
    at: TextSize,
    receivers: &Receivers<'db>,
) -> Result<Annotation, String> {
    let environment = model.program_environment();
    let parts = inferred.display(db, &environment).to_string_parts();
    let types: HashMap<TextSize, Type<'db>> = parts
        .targets
        .iter()
        .zip(&parts.details)
        .filter_map(|(range, detail)| match detail {
            TypeDetail::Type(one) => Some((range.start(), *one)),
            _ => None,
        })
        .collect();
    // A literal has the exact type `float*`, whose annotation is `float`. A class is an instance of `type[…]`. Spaces keep the offsets.
    let label = parts.label.replace("float*", "float ").replace("complex*", "complex ");
    let label = label.replace("<class '", "   type[").replace("'>", "] ");
    let label = label.trim_end();
    let lead = label.len() - label.trim_start().len();
    let types: HashMap<TextSize, Type<'db>> = types
        .into_iter()
        .filter_map(|(at, one)| Some((TextSize::try_from(at.to_usize().checked_sub(lead)?).ok()?, one)))
        .collect();
    let label = label.trim_start();
    let parsed = parse_expression(label).map_err(|_| not_expressible(&parts.label))?;
    let receivers = receivers_in(db, &environment, inferred, receivers);
    let (text, label) = (label, &*parts.label);
    let mut writer = Writer { db, model, types, receivers, at, label, text, imports: Vec::new(), is_forward: false };
    let members = writer.members(parsed.expr())?;
    if members.len() > MAX_MEMBERS {
        return Err(format!("{} different types", members.len()));
    }
    let mut text = members.join(" | ");
    let is_own = writer.imports.iter().any(|import| import.is_for_checking);
    if !has_future_annotations(db, model) && (is_own || writer.is_forward) {
        text = format!("\"{text}\"");
    }
    Ok(Annotation { text, imports: writer.imports })
}

/// The annotation with quotes, if the file's Python version cannot evaluate it.
pub(super) fn for_version(db: &Database, model: &SemanticModel<'_>, annotation: Annotation) -> Annotation {
    let Annotation { text, imports } = annotation;
    let version = oldest_version(db, model);
    let is_too_new = (version < ast::PythonVersion::PY310 && text.contains('|'))
        || (version < ast::PythonVersion::PY39 && text.contains('['));
    let is_quoted = is_too_new && !text.starts_with('"') && !has_future_annotations(db, model);
    Annotation { text: if is_quoted { format!("\"{text}\"") } else { text }, imports }
}

/// The oldest Python version that evaluates the annotations of a file.
fn oldest_version(db: &Database, model: &SemanticModel<'_>) -> ast::PythonVersion {
    let version = model.program().python_version(db);
    let supported = db.settings_of(model.file()).oldest_python;
    supported.map_or(version, |supported| supported.min(version))
}

/// The class around an offset: `Self` if the Python version has it, otherwise the name of the class.
pub(super) fn of_receiver(db: &Database, model: &SemanticModel<'_>, at: TextSize) -> Result<Annotation, String> {
    if oldest_version(db, model) >= ast::PythonVersion::PY311 {
        let import = Import { module: "typing".to_owned(), name: "Self".to_owned(), is_for_checking: false };
        return Ok(Annotation { text: "Self".to_owned(), imports: vec![import] });
    }
    let (name, is_nested) = class_around(db, model, at).ok_or("it is not in a class")?;
    if is_nested {
        return Err(format!("`{name}` is not defined at the top level of its module"));
    }
    let text = if has_future_annotations(db, model) { name } else { format!("\"{name}\"") };
    Ok(Annotation { text, imports: Vec::new() })
}

/// Classes that `Self@method` refers to among the members of a type, by the text that the checker shows.
fn receivers_in<'db>(
    db: &'db Database,
    environment: &ProgramEnvironment<'db>,
    inferred: Type<'db>,
    receivers: &Receivers<'db>,
) -> HashMap<String, Option<Definition<'db>>> {
    let members = match inferred {
        Type::Union(union) => union.elements(db).to_vec(),
        inferred => vec![inferred],
    };
    let mut found: HashMap<String, Option<Definition<'db>>> = HashMap::new();
    for member in members {
        let variable = own_variable(db, environment, member);
        if let Some((variable, class)) = variable.and_then(|one| Some((one, *receivers.get(&one)?))) {
            let shown = variable.display(db, environment).to_string();
            found
                .entry(shown)
                .and_modify(|known| *known = known.filter(|known| *known == class))
                .or_insert(Some(class));
        }
    }
    found
}

fn not_expressible(label: &str) -> String {
    let label: String = label.chars().take(80).collect();
    format!("`{label}` cannot be written as an annotation")
}

/// Whether annotations are not evaluated at import time.
pub(super) fn has_future_annotations(db: &Database, model: &SemanticModel<'_>) -> bool {
    semantic_index(db, model.program_file()).has_future_annotations()
}

struct Writer<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    /// The types by their offset in the display form.
    types: HashMap<TextSize, Type<'db>>,
    /// Classes that `Self@method` refers to if it came from another method; `None`: several classes.
    receivers: HashMap<String, Option<Definition<'db>>>,
    at: TextSize,
    label: &'a str,
    /// The text that was parsed.
    text: &'a str,
    imports: Vec<Import>,
    /// The annotation names a class that is defined after it.
    is_forward: bool,
}

impl<'db> Writer<'_, 'db> {
    /// The members of a union without duplicates, `None` last.
    fn members(&mut self, expression: &Expr) -> Result<Vec<String>, String> {
        let mut members: Vec<String> = Vec::new();
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            match expression {
                Expr::BinOp(ast::ExprBinOp { left, op: ast::Operator::BitOr, right, .. }) => {
                    open.push(right);
                    open.push(left);
                }
                expression => {
                    for member in self.alternatives(expression)? {
                        if !members.contains(&member) {
                            members.push(member);
                        }
                    }
                }
            }
        }
        absorb(&mut members);
        members.sort_by_key(|member| member == "None");
        Ok(members)
    }

    fn alternatives(&mut self, expression: &Expr) -> Result<Vec<String>, String> {
        match expression {
            // `str & ~AlwaysFalsy`: what a check excludes has no annotation.
            Expr::BinOp(ast::ExprBinOp { op: ast::Operator::BitAnd, left, right, .. }) => {
                let is_excluded = |one: &Expr| matches!(one, Expr::UnaryOp(unary) if unary.op == ast::UnaryOp::Invert);
                match (is_excluded(left), is_excluded(right)) {
                    (false, true) => self.alternatives(left),
                    (true, false) => self.alternatives(right),
                    _ => Err(not_expressible(self.label)),
                }
            }
            Expr::Subscript(subscript) if is_name(&subscript.value, "Literal") => self.widened(&subscript.slice),
            expression => Ok(vec![self.written(expression)?]),
        }
    }

    fn receiver(&mut self) -> Result<String, String> {
        let Annotation { text, imports } = of_receiver(self.db, self.model, self.at)?;
        self.is_forward |= text.starts_with('"');
        self.imports.extend(imports);
        Ok(text.trim_matches('"').to_owned())
    }

    /// The types of literal values.
    fn widened(&mut self, values: &Expr) -> Result<Vec<String>, String> {
        let values = match values {
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut widened = Vec::new();
        for value in values {
            let name = match value {
                Expr::StringLiteral(_) => "str",
                Expr::BytesLiteral(_) => "bytes",
                Expr::BooleanLiteral(_) => "bool",
                Expr::NumberLiteral(_) | Expr::UnaryOp(_) => "int",
                Expr::NoneLiteral(_) => "None",
                // A member of an enumeration.
                Expr::Attribute(attribute) => match &*attribute.value {
                    Expr::Name(name) => {
                        widened.push(self.member_of(name, attribute)?);
                        continue;
                    }
                    _ => return Err(not_expressible(self.label)),
                },
                _ => return Err(not_expressible(self.label)),
            };
            widened.push(name.to_owned());
        }
        Ok(widened)
    }

    fn member_of(&mut self, name: &ast::ExprName, attribute: &ast::ExprAttribute) -> Result<String, String> {
        let known = [name.start(), attribute.start()].iter().find_map(|at| self.types.get(at).copied());
        let definition = known.and_then(|one| self.definition(one));
        // The type may be that of the member; then its class is the enclosing one.
        match definition {
            Some(definition) if definition.name(self.db).as_deref() == Some(name.id.as_str()) => {
                self.named(name.id.as_str(), definition)
            }
            _ => Err(not_expressible(self.label)),
        }
    }

    fn written(&mut self, expression: &Expr) -> Result<String, String> {
        match expression {
            Expr::NoneLiteral(_) => Ok("None".to_owned()),
            Expr::EllipsisLiteral(_) => Ok("...".to_owned()),
            Expr::Name(name) => self.name(name),
            Expr::Subscript(subscript) => {
                let outer = self.written(&subscript.value)?;
                let inner = match &*subscript.slice {
                    Expr::Tuple(tuple) if tuple.elts.is_empty() => {
                        return Err("an empty tuple is not specific enough".to_owned());
                    }
                    // The public class has one of them.
                    Expr::Tuple(tuple)
                        if ["dict_keys", "GeneratorType", "AsyncGeneratorType"]
                            .iter()
                            .any(|own| is_name(&subscript.value, own)) =>
                    {
                        self.members(&tuple.elts[0])?.join(" | ")
                    }
                    Expr::Tuple(tuple) if is_name(&subscript.value, "dict_values") => {
                        self.members(tuple.elts.last().unwrap_or(&subscript.value))?.join(" | ")
                    }
                    Expr::Tuple(tuple) => {
                        let inner: Result<Vec<String>, String> =
                            tuple.elts.iter().map(|one| self.members(one).map(|members| members.join(" | "))).collect();
                        inner?.join(", ")
                    }
                    one => self.members(one)?.join(" | "),
                };
                Ok(format!("{outer}[{inner}]"))
            }
            Expr::BinOp(ast::ExprBinOp { op: ast::Operator::BitOr, .. }) => Ok(self.members(expression)?.join(" | ")),
            Expr::BinOp(ast::ExprBinOp { op: ast::Operator::MatMult, left, .. }) => match &**left {
                Expr::Name(name) if name.id.as_str() == "Self" => {
                    let shown = self.text.get(expression.range().to_std_range());
                    match shown.and_then(|shown| self.receivers.get(shown).copied()) {
                        Some(Some(class)) => {
                            let name = class.name(self.db).ok_or_else(|| not_expressible(self.label))?;
                            self.named(&name, class)
                        }
                        Some(None) => Err(not_expressible(self.label)),
                        None => self.receiver(),
                    }
                }
                _ => Err(not_expressible(self.label)),
            },
            _ => Err(not_expressible(self.label)),
        }
    }

    fn name(&mut self, name: &ast::ExprName) -> Result<String, String> {
        match name.id.as_str() {
            "Unknown" | "Any" | "Todo" | "Divergent" | "Never" => return Err("the type is partly unknown".to_owned()),
            "LiteralString" => return Ok("str".to_owned()),
            "object" => return Err("`object` is not specific enough".to_owned()),
            _ => {}
        }
        let known = self.types.get(&name.start()).copied();
        // The display form of a class has no position for its name.
        let before = name.start().checked_sub(TextSize::new(8));
        let known = known.or_else(|| before.and_then(|at| self.types.get(&at).copied()));
        // In `type[…]` of the display form of a class, `type` is text.
        if name.id.as_str() == "type"
            && known.and_then(|one| self.definition(one)).is_none_or(|one| one.name(self.db).as_deref() != Some("type"))
        {
            return Ok("type".to_owned());
        }
        if matches!(known, Some(Type::Dynamic(_))) {
            return Err("the type is partly unknown".to_owned());
        }
        let definition = known.and_then(|one| self.definition(one)).ok_or_else(|| not_expressible(self.label))?;
        self.named(name.id.as_str(), definition)
    }

    fn definition(&self, named: Type<'db>) -> Option<Definition<'db>> {
        match named.definition(self.db, &self.model.program_environment())? {
            TypeDefinition::StaticClass(one)
            | TypeDefinition::TypeAlias(one)
            | TypeDefinition::NewType(one)
            | TypeDefinition::SpecialForm(one) => Some(one),
            _ => None,
        }
    }

    /// The name of a class in this file, imported if necessary.
    fn named(&mut self, name: &str, definition: Definition<'db>) -> Result<String, String> {
        let db = self.db;
        if definition.scope(db).scope(db).kind() != ScopeKind::Module {
            return Err(format!("`{name}` is not defined at the top level of its module"));
        }
        let own_file = definition.file(db) == self.model.file();
        let here = definitions_for_name(
            self.model,
            name,
            AnyNodeRef::from(parsed_module(db, self.model.python_file()).load(db).syntax()),
            ImportAliasResolution::ResolveAliases,
        );
        if here.contains(&ResolvedDefinition::Definition(definition)) {
            let parsed = parsed_module(db, definition.python_file(db)).load(db);
            self.is_forward |= own_file && definition.full_range(db, &parsed).range().end() > self.at;
            // A built-in name needs no binding.
            self.is_forward |= !is_builtin(db, definition) && !is_always_bound(db, self.model, name);
            return Ok(name.to_owned());
        }
        let is_view = VIEWS.iter().any(|(own, _)| *own == name);
        if let Some(module) = imported_module(db, self.model, definition).filter(|_| !is_view) {
            // The module may not be complete yet when the annotation is evaluated.
            self.is_forward |= is_of_project(db, definition);
            return Ok(format!("{module}.{name}"));
        }
        if !here.is_empty() || own_file {
            return Err(format!("`{name}` refers to something else here"));
        }
        let module = file_to_module(db, definition.program_file(db).resolver_file(db));
        let module = module.ok_or_else(|| not_expressible(self.label))?;
        let view = VIEWS.iter().find(|(own, _)| *own == name);
        let (module, name) = match view {
            Some((_, view)) => ("collections.abc".to_owned(), (*view).to_owned()),
            None => public(module.name(db).as_str(), name)?,
        };
        // A library may be optional, and a name of the standard library may be there in some versions only.
        let is_for_checking = !definition.file(db).path(db).is_vendored_path()
            || is_imported_conditionally(db, self.model, &module)
            || is_of_some_versions(db, definition)
            || (oldest_version(db, self.model) < ast::PythonVersion::PY310 && !OLD_MODULES.contains(&&*module));
        let import = Import { module, name: name.clone(), is_for_checking };
        if !self.imports.contains(&import) {
            self.imports.push(import);
        }
        Ok(name)
    }
}

/// The name of the class around an offset, and whether it is nested.
fn class_around(db: &Database, model: &SemanticModel<'_>, at: TextSize) -> Option<(String, bool)> {
    let parsed = parsed_module(db, model.python_file()).load(db);
    let mut found = None;
    let mut body = parsed.suite();
    let mut depth = 0;
    while let Some(around) = body.iter().find(|statement| statement.range().contains_inclusive(at)) {
        body = match around {
            ast::Stmt::ClassDef(class) => {
                found = Some((class.name.to_string(), depth > 0));
                &class.body
            }
            ast::Stmt::FunctionDef(function) => &function.body,
            _ => break,
        };
        depth += 1;
    }
    found
}

fn is_name(expression: &Expr, wanted: &str) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == wanted)
}
