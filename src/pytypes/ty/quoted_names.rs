//! Names written as string literals.
//!
//! Owns where in a literal the name is, and the literals in the member lists of classes. Does not own which of them refer to a symbol
//! (`string_names`, `name_literals`).

use super::api::{
    AnyNodeRef, Expr, Ranged, SemanticDb as _, SourceOrderVisitor, Stmt, TextRange, TextSize, TraversalSignal, ast,
    parsed_module, source_text,
};
use super::class_members::{Class, Member, class_at};
use super::db::Database;

/// The strings with the name in the member lists of a class.
pub(super) fn of_class(db: &Database, (file, range): Class, name: &str) -> Vec<Member> {
    let text = source_text(db, file);
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let Some(class) = class_at(parsed.syntax().into(), range) else { return Vec::new() };
    let mut names = Quoted { name, text: &text, found: Vec::new() };
    for statement in &class.body {
        if let Some(value) = members_listed(statement) {
            names.visit_expr(value);
        }
    }
    names.found.into_iter().map(|(_, range)| (file, range)).collect()
}

/// The value that a statement assigns to `__slots__` or `__match_args__`.
pub(super) fn members_listed(statement: &Stmt) -> Option<&Expr> {
    let is_list = |target: &Expr| is_name(target, &["__slots__", "__match_args__"]);
    match statement {
        Stmt::Assign(assign) => assign.targets.iter().any(is_list).then_some(&assign.value),
        Stmt::AugAssign(assign) => is_list(&assign.target).then_some(&assign.value),
        Stmt::AnnAssign(assign) => assign.value.as_deref().filter(|_| is_list(&assign.target)),
        _ => None,
    }
}

pub(super) fn is_name(expression: &Expr, names: &[&str]) -> bool {
    matches!(expression, Expr::Name(name) if names.contains(&name.id.as_str()))
}

/// String literals that consist of the name.
pub(super) struct Quoted<'t, 'a> {
    pub name: &'t str,
    pub text: &'t str,
    pub found: Vec<(AnyNodeRef<'a>, TextRange)>,
}

impl<'a> SourceOrderVisitor<'a> for Quoted<'_, 'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::ExprDict(dict) = node {
            // The values of the dictionary document the members.
            dict.iter_keys().flatten().for_each(|key| self.visit_expr(key));
            return TraversalSignal::Skip;
        }
        if let AnyNodeRef::ExprStringLiteral(literal) = node
            && let Some(range) = within_literal(self.text, literal, self.name)
        {
            self.found.push((node, range));
        }
        TraversalSignal::Traverse
    }
}

/// The range of the name between the quotes of a literal; `None` if the literal has other text.
pub(super) fn within_literal(text: &str, literal: &ast::ExprStringLiteral, name: &str) -> Option<TextRange> {
    if literal.value.to_str() != name {
        return None;
    }
    let written = &text[literal.range()];
    let at = written.rfind(name)?;
    let is_quoted = |rest: &str| rest.starts_with(['"', '\'']);
    let before = written[..at].chars().next_back().is_some_and(|quote| matches!(quote, '"' | '\''));
    let start = literal.start() + TextSize::try_from(at).ok()?;
    (before && is_quoted(&written[at + name.len()..])).then(|| TextRange::at(start, TextSize::of(name)))
}
