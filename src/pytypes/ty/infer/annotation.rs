//! A type as an annotation that can be written to a file.
//!
//! Owns the conversion from the checker's display form, which is meant for people, to an expression with the same
//! meaning in the file, or the reason why there is none. Literal types are widened.

use std::collections::{BTreeSet, HashMap};

use ruff_db::parsed::parsed_module;
use ruff_python_ast::{self as ast, AnyNodeRef, Expr};
use ruff_text_size::{Ranged, TextSize};
use ty_module_resolver::file_to_module;
use ty_python_core::definition::Definition;
use ty_python_core::scope::ScopeKind;
use ty_python_semantic::types::{Type, TypeDefinition, TypeDetail};
use ty_python_semantic::{ImportAliasResolution, ResolvedDefinition, SemanticModel, definitions_for_name};

use crate::pytypes::ty::db::Database;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Annotation {
    pub text: String,
    pub imports: Vec<Import>,
}

impl Annotation {
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
fn members(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let is_separator = move |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '|' && depth == 0
    };
    text.trim_matches('"').split(is_separator).map(str::trim)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub module: String,
    pub name: String,
    /// The import is from the project itself: at run time it could be circular.
    pub is_own: bool,
}

/// Larger unions are rejected as too unspecific.
const MAX_MEMBERS: usize = 5;

/// Classes that `typing` only re-exports.
const ABSTRACT: &[&str] = &[
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "Collection",
    "Container",
    "Coroutine",
    "Generator",
    "Hashable",
    "ItemsView",
    "Iterable",
    "Iterator",
    "KeysView",
    "Mapping",
    "MappingView",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Reversible",
    "Sequence",
    "Sized",
    "ValuesView",
];

/// The annotation for a type at an offset of the model's file; the error says why there is none.
pub(super) fn of_type<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    inferred: Type<'db>,
    at: TextSize,
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
    // A literal has the exact type `float*`, whose annotation is `float`. Spaces keep the offsets.
    let label = parts.label.replace("float*", "float ").replace("complex*", "complex ");
    let parsed = ruff_python_parser::parse_expression(&label).map_err(|_| not_expressible(&parts.label))?;
    let mut writer = Writer { db, model, types, at, label: &parts.label, imports: Vec::new(), is_forward: false };
    let members = writer.members(parsed.expr())?;
    if members.len() > MAX_MEMBERS {
        return Err(format!("{} different types", members.len()));
    }
    let mut text = members.join(" | ");
    let is_own = writer.imports.iter().any(|import| import.is_own);
    let is_old = model.program().python_version(db) < ast::PythonVersion::PY310 && members.len() > 1;
    if !has_future_annotations(db, model) && (is_own || is_old || writer.is_forward) {
        text = format!("\"{text}\"");
    }
    Ok(Annotation { text, imports: writer.imports })
}

fn not_expressible(label: &str) -> String {
    let label: String = label.chars().take(80).collect();
    format!("`{label}` cannot be written as an annotation")
}

/// Whether annotations are not evaluated at import time.
pub(super) fn has_future_annotations(db: &Database, model: &SemanticModel<'_>) -> bool {
    ty_python_core::semantic_index(db, model.program_file()).has_future_annotations()
}

struct Writer<'a, 'db> {
    db: &'db Database,
    model: &'a SemanticModel<'db>,
    /// The types by their offset in the display form.
    types: HashMap<TextSize, Type<'db>>,
    at: TextSize,
    label: &'a str,
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
            Expr::Subscript(subscript) if is_name(&subscript.value, "Literal") => self.widened(&subscript.slice),
            expression => Ok(vec![self.written(expression)?]),
        }
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
            return Ok(name.to_owned());
        }
        if !here.is_empty() || own_file {
            return Err(format!("`{name}` refers to something else here"));
        }
        let module = file_to_module(db, definition.program_file(db).resolver_file(db));
        let module = module.ok_or_else(|| not_expressible(self.label))?;
        let (module, name) = public(module.name(db).as_str(), name)?;
        let is_own = !definition.file(db).path(db).is_vendored_path() && db_is_own(db, definition);
        let import = Import { module, name: name.clone(), is_own };
        if !self.imports.contains(&import) {
            self.imports.push(import);
        }
        Ok(name)
    }
}

fn db_is_own(db: &Database, definition: Definition<'_>) -> bool {
    use crate::pytypes::ty::db::Db as _;
    db.project().files(db).contains(&definition.file(db))
}

/// The public module of a class that a stub defines elsewhere.
fn public(module: &str, name: &str) -> Result<(String, String), String> {
    let module = match module {
        "typing" if ABSTRACT.contains(&name) => "collections.abc",
        "_io" => "io",
        "_collections_abc" => "collections.abc",
        "_socket" => "socket",
        "_thread" => "threading",
        module => module,
    };
    let is_private = name.starts_with('_') || module.split('.').any(|part| part.starts_with('_'));
    if is_private {
        return Err(format!("`{name}` has no public name"));
    }
    Ok((module.to_owned(), name.to_owned()))
}

fn is_name(expression: &Expr, wanted: &str) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == wanted)
}
