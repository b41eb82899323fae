//! Implicit references to a method: a call of its class, or an operator.
//!
//! Owns which of them are searched for, and where: in files that name the class. What is left out is stated in the
//! answer.

use super::api::{AnyNodeRef, Expr, ExprRef, Ranged, ResolvedDefinition, TextRange, Tokens, ast, source_text};
use super::class_members::class_of;
use super::db::Database;
use super::target::Target;

/// How a method is referenced implicitly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ImplicitReferences {
    form: Form,
    /// The classes that have the method.
    pub classes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    None,
    /// By calling the class.
    Construction,
    Operator,
    /// By statements and built-in functions, which the syntax does not identify.
    Otherwise,
}

const UNARY: &[(ast::UnaryOp, &str)] =
    &[(ast::UnaryOp::Invert, "__invert__"), (ast::UnaryOp::UAdd, "__pos__"), (ast::UnaryOp::USub, "__neg__")];

const BINARY: &[ast::Operator] = &[
    ast::Operator::Add,
    ast::Operator::Sub,
    ast::Operator::Mult,
    ast::Operator::MatMult,
    ast::Operator::Div,
    ast::Operator::Mod,
    ast::Operator::Pow,
    ast::Operator::LShift,
    ast::Operator::RShift,
    ast::Operator::BitOr,
    ast::Operator::BitXor,
    ast::Operator::BitAnd,
    ast::Operator::FloorDiv,
];

/// Whether a name is a dunder name, which Python itself looks up: `__init__`.
pub(super) fn is_special(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

impl ImplicitReferences {
    pub fn new(db: &Database, name: &str, definitions: &[ResolvedDefinition<'_>]) -> Self {
        if !is_special(name) {
            return Self::default();
        }
        let classes = definitions.iter().filter_map(|one| class_of(db, one));
        let mut classes: Vec<String> = classes.map(|(file, range)| source_text(db, file)[range].to_owned()).collect();
        classes.sort();
        classes.dedup();
        if classes.is_empty() {
            return Self::default();
        }
        let is_binary = |one: &ast::Operator| one.dunder() == name || one.reflected_dunder() == name;
        let form = match name {
            "__init__" | "__new__" => Form::Construction,
            _ if BINARY.iter().any(is_binary) || UNARY.iter().any(|(_, own)| *own == name) => Form::Operator,
            _ => Form::Otherwise,
        };
        // Do not search files that merely name the class.
        let classes = if form == Form::Otherwise { Vec::new() } else { classes };
        Self { form, classes }
    }

    /// A sentence about what is not searched for.
    pub fn left_out(&self, name: &str) -> Option<String> {
        let classes = self.classes.iter().map(|class| format!("`{class}`")).collect::<Vec<_>>().join(", ");
        match self.form {
            Form::None => None,
            Form::Construction => Some(format!(
                "Calls of {classes} by that name are listed; calls of subclasses, through aliases and through `cls` are not."
            )),
            Form::Operator => {
                Some(format!("Operators are listed in files that name {classes}; those in other files are not."))
            }
            Form::Otherwise => Some(format!("Python calls `{name}` implicitly; implicit calls are not listed.")),
        }
    }

    /// The implicit reference in a node, and the range that represents it.
    pub fn used<'a>(&self, node: AnyNodeRef<'a>, name: &str, tokens: &Tokens) -> Option<(Target<'a>, TextRange)> {
        match (self.form, node) {
            (Form::Construction, AnyNodeRef::ExprCall(call)) => {
                let (called, range) = match &*call.func {
                    Expr::Name(name) => (name.id.as_str(), name.range),
                    Expr::Attribute(attribute) => (attribute.attr.as_str(), attribute.attr.range),
                    _ => return None,
                };
                let callee = ExprRef::from(&*call.func);
                let is_named = self.classes.iter().any(|class| class == called);
                is_named.then_some((Target::Callee { callee, call, on_parenthesis: true }, range))
            }
            (Form::Operator, AnyNodeRef::ExprBinOp(operation)) => {
                if operation.op.dunder() != name && operation.op.reflected_dunder() != name {
                    return None;
                }
                let between = TextRange::new(operation.left.end(), operation.right.start().max(operation.left.end()));
                let mut operators = tokens.in_range(between).iter();
                let range = operators.find(|token| token.kind().as_binary_operator().is_some())?.range();
                Some((Target::Binary { operation, range }, range))
            }
            (Form::Operator, AnyNodeRef::ExprUnaryOp(operation)) => {
                let is_it = UNARY.iter().any(|(op, own)| *op == operation.op && *own == name);
                let range = TextRange::at(operation.start(), 1.into());
                is_it.then_some((Target::Unary { operation, range }, range))
            }
            _ => None,
        }
    }
}
