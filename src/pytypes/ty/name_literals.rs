//! Strings that repeat the name of a symbol: `TypeVar("T")`, and the keys of typed dictionaries.
//!
//! Owns which strings those are. The checker decides what they refer to: a string that merely has the same text is
//! ignored.

use super::api::{
    AnyNodeRef, DefinitionKind, Expr, ExprContext, File, Ranged, SemanticDb as _, SemanticModel, SourceOrderVisitor,
    TextRange, TraversalSignal, ast, contains_identifier, operands, parsed_module, source_text,
    typed_dict_key_definition,
};
use super::class_members::{Class, Member, class_at};
use super::db::Database;
use super::family;
use super::keyword_members;
use super::quoted_names::within_literal;
use super::search_target::{SearchTarget, role_of};
use crate::pytypes::values::Role;

/// Calls whose first argument must be the name that their value is assigned to, by module.
const NAMING: &[(&str, &str)] = &[
    ("typing", "TypeVar"),
    ("typing", "TypeVarTuple"),
    ("typing", "ParamSpec"),
    ("typing", "NewType"),
    ("typing", "NamedTuple"),
    ("typing", "TypedDict"),
    ("typing", "TypeAliasType"),
    ("typing_extensions", "TypeVar"),
    ("typing_extensions", "TypeVarTuple"),
    ("typing_extensions", "ParamSpec"),
    ("typing_extensions", "NewType"),
    ("typing_extensions", "NamedTuple"),
    ("typing_extensions", "TypedDict"),
    ("typing_extensions", "TypeAliasType"),
    ("collections", "namedtuple"),
    ("enum", "Enum"),
    ("enum", "IntEnum"),
    ("enum", "StrEnum"),
    ("enum", "Flag"),
    ("enum", "IntFlag"),
];

/// Methods whose first argument is a key.
const BY_KEY: &[&str] = &["get", "pop", "setdefault", "__getitem__", "__setitem__", "__delitem__", "__contains__"];

/// Where the assigned values of the definitions repeat their own name.
pub(super) fn repeated(db: &Database, wanted: &SearchTarget<'_>) -> Vec<Member> {
    let mut found = Vec::new();
    for definition in wanted.definitions.iter().filter_map(|one| one.definition()) {
        let file = definition.file(db);
        let parsed = parsed_module(db, definition.python_file(db)).load(db);
        let value = match definition.kind(db) {
            DefinitionKind::Assignment(one) => Some(one.value(&parsed)),
            DefinitionKind::AnnotatedAssignment(one) => one.value(&parsed),
            _ => None,
        };
        let Some(Expr::Call(call)) = value else { continue };
        let by_keyword = ["name", "typename"].iter().find_map(|name| call.arguments.find_keyword(name));
        let first = call.arguments.args.first().or_else(|| by_keyword.map(|keyword| &keyword.value));
        let Some(Expr::StringLiteral(text)) = first else { continue };
        let model = SemanticModel::new(db, db.program_file(file));
        if keyword_members::is_call_of(&model, call, NAMING) {
            found.extend(within_literal(&source_text(db, file), text, &wanted.name).map(|range| (file, range)));
        }
    }
    found
}

/// The keys of typed dictionaries that refer to the symbol, without their quotes, and whether they are read or written.
pub(super) fn keys(db: &Database, file: File, wanted: &SearchTarget<'_>) -> Vec<(TextRange, Role)> {
    let text = source_text(db, file);
    if !contains_identifier(&text, &wanted.name) {
        return Vec::new();
    }
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let model = SemanticModel::new(db, program_file);
    let mut keys = Keys { db, model: &model, wanted, text: &text, found: Vec::new() };
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut keys);
    keys.found
}

/// Whether a class is a typed dictionary, judged by the names of its base classes.
pub(super) fn is_typed_dictionary(db: &Database, class: Class) -> bool {
    let mut seen: Vec<Class> = Vec::new();
    let mut waiting = vec![class];
    while let Some((file, range)) = waiting.pop() {
        if seen.contains(&(file, range)) {
            continue;
        }
        seen.push((file, range));
        let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
        let Some(node) = class_at(parsed.syntax().into(), range) else { continue };
        let is_it = |base: &Expr| match base {
            Expr::Name(name) => name.id.as_str() == "TypedDict",
            Expr::Attribute(attribute) => attribute.attr.as_str() == "TypedDict",
            _ => false,
        };
        if node.bases().iter().any(is_it) {
            return true;
        }
        waiting.extend(family::bases(db, (file, range)));
    }
    false
}

struct Keys<'m> {
    db: &'m Database,
    model: &'m SemanticModel<'m>,
    wanted: &'m SearchTarget<'m>,
    text: &'m str,
    found: Vec<(TextRange, Role)>,
}

impl<'a> SourceOrderVisitor<'a> for Keys<'_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprSubscript(subscript) => {
                self.key(&subscript.value, &subscript.slice, role_of(subscript.ctx));
            }
            AnyNodeRef::ExprCompare(compare) => {
                let is_membership = |op: &ast::CmpOp| matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn);
                if compare.ops.first().is_some_and(is_membership)
                    && let [key, owner, ..] = operands(compare)
                {
                    self.key(owner, key, Role::Read);
                }
            }
            AnyNodeRef::ExprCall(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && let Some(first) = call.arguments.args.first()
                {
                    match first {
                        key if BY_KEY.contains(&method.attr.as_str()) => self.key(&method.value, key, Role::Read),
                        Expr::Dict(dict) if method.attr.as_str() == "update" => self.dict(&method.value, dict),
                        _ => {}
                    }
                }
            }
            AnyNodeRef::ExprDict(dict) => self.dict(&Expr::Dict(dict.clone()), dict),
            AnyNodeRef::StmtMatch(statement) => {
                for case in &statement.cases {
                    if let ast::Pattern::MatchMapping(mapping) = &case.pattern {
                        mapping.keys.iter().for_each(|key| self.key(&statement.subject, key, Role::Read));
                    }
                }
            }
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

impl Keys<'_> {
    fn dict(&mut self, owner: &Expr, dict: &ast::ExprDict) {
        dict.iter_keys().flatten().for_each(|key| self.key(owner, key, Role::Read));
    }

    /// Records a key that is looked up in `owner`, by resolving it as a subscript.
    fn key(&mut self, owner: &Expr, key: &Expr, role: Role) {
        let Expr::StringLiteral(literal) = key else { return };
        let range = within_literal(self.text, literal, &self.wanted.name);
        let Some(range) = range.filter(|range| self.found.iter().all(|(known, _)| known != range)) else { return };
        let subscript = ast::ExprSubscript {
            node_index: ast::AtomicNodeIndex::NONE,
            range: owner.range(),
            value: Box::new(owner.clone()),
            slice: Box::new(key.clone()),
            ctx: ExprContext::Load,
        };
        let meant = typed_dict_key_definition(self.model, &subscript, &self.wanted.name);
        if meant.is_some_and(|one| self.wanted.is_any_of(self.model, self.db, &[one])) {
            self.found.push((range, role));
        }
    }
}
