//! The control flow of a function body: returned values, yields, and whether its end is reachable.
//!
//! Owns reading the statements. The callers handle types.

use crate::pytypes::ty::api::{Expr, SourceOrderVisitor, Stmt, ast, walk_expr, walk_stmt};

/// The exits of a function's own body, without those of nested functions.
#[derive(Default)]
pub(super) struct Exits<'a> {
    pub values: Vec<&'a Expr>,
    /// A `return` without a value.
    pub returns_nothing: bool,
    pub yields: Vec<&'a Expr>,
    /// `yield` without a value.
    pub yields_nothing: bool,
    /// The values of `yield from` whose result is unused.
    pub delegated: Vec<&'a Expr>,
    /// A `yield` or `yield from` whose result is used.
    pub yields_otherwise: bool,
    pub is_generator: bool,
}

pub(super) fn exits(function: &ast::StmtFunctionDef) -> Exits<'_> {
    let mut exits = Exits::default();
    exits.visit_body(&function.body);
    exits
}

impl<'a> SourceOrderVisitor<'a> for Exits<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Return(one) => {
                match &one.value {
                    Some(value) => {
                        self.values.push(value);
                        self.visit_expr(value);
                    }
                    None => self.returns_nothing = true,
                };
            }
            // A `yield` whose result is unused.
            Stmt::Expr(ast::StmtExpr { value, .. }) if value.is_yield_expr() => {
                if let Expr::Yield(one) = &**value {
                    self.is_generator = true;
                    match &one.value {
                        Some(value) => self.yields.push(value),
                        None => self.yields_nothing = true,
                    }
                }
            }
            Stmt::Expr(ast::StmtExpr { value, .. }) if value.is_yield_from_expr() => {
                if let Expr::YieldFrom(one) = &**value {
                    self.is_generator = true;
                    self.delegated.push(&one.value);
                }
            }
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(_) => {}
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.is_generator = true;
                self.yields_otherwise = true;
            }
            expression => walk_expr(self, expression),
        }
    }
}

/// Whether control can reach the end of these statements. `never` reports whether an expression never returns.
pub(super) fn falls_through(body: &[Stmt], never: &dyn Fn(&Expr) -> bool) -> bool {
    body.iter().all(|statement| passes(statement, never))
}

fn passes(statement: &Stmt, never: &dyn Fn(&Expr) -> bool) -> bool {
    match statement {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_) => false,
        Stmt::Expr(one) => !never(&one.value),
        Stmt::If(one) => {
            let has_else = one.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none());
            !has_else
                || falls_through(&one.body, never)
                || one.elif_else_clauses.iter().any(|clause| falls_through(&clause.body, never))
        }
        Stmt::While(one) => {
            let is_endless = match &*one.test {
                Expr::BooleanLiteral(literal) => literal.value,
                Expr::NumberLiteral(literal) => matches!(&literal.value, ast::Number::Int(number) if *number != 0),
                _ => false,
            };
            !is_endless || breaks(&one.body)
        }
        // A context manager may suppress an exception raised in its body, but not a return.
        Stmt::With(one) => falls_through(&one.body, never) || raises(&one.body),
        Stmt::Try(one) => {
            if !one.finalbody.is_empty() && !falls_through(&one.finalbody, never) {
                return false;
            }
            let body = falls_through(&one.body, never) && falls_through(&one.orelse, never);
            let handled = one.handlers.iter().any(|handler| {
                let ast::ExceptHandler::ExceptHandler(handler) = handler;
                falls_through(&handler.body, never)
            });
            body || handled
        }
        Stmt::Match(one) => {
            let is_whole = one.cases.iter().any(|case| case.guard.is_none() && is_wildcard(&case.pattern));
            !is_whole || one.cases.iter().any(|case| falls_through(&case.body, never))
        }
        _ => true,
    }
}

fn is_wildcard(pattern: &ast::Pattern) -> bool {
    matches!(pattern, ast::Pattern::MatchAs(ast::PatternMatchAs { pattern: None, .. }))
}

fn raises(body: &[Stmt]) -> bool {
    body.iter().any(|statement| matches!(statement, Stmt::Raise(_)))
}

/// Whether the body of a loop contains a `break` of that loop.
fn breaks(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Break(_) => true,
        Stmt::If(one) => breaks(&one.body) || one.elif_else_clauses.iter().any(|clause| breaks(&clause.body)),
        Stmt::With(one) => breaks(&one.body),
        Stmt::Try(one) => {
            let handled = one.handlers.iter().any(|handler| {
                let ast::ExceptHandler::ExceptHandler(handler) = handler;
                breaks(&handler.body)
            });
            breaks(&one.body) || breaks(&one.orelse) || breaks(&one.finalbody) || handled
        }
        Stmt::Match(one) => one.cases.iter().any(|case| breaks(&case.body)),
        // A `break` in the `else` clause of an inner loop belongs to the outer one.
        Stmt::For(one) => breaks(&one.orelse),
        Stmt::While(one) => breaks(&one.orelse),
        _ => false,
    })
}

/// Whether a body is only a placeholder: a docstring, `...`, `pass`, or `raise NotImplementedError`.
pub(super) fn is_placeholder(body: &[Stmt]) -> bool {
    let rest = match body {
        [Stmt::Expr(first), rest @ ..] if first.value.is_string_literal_expr() => rest,
        all => all,
    };
    let is_not_implemented = |raised: &Expr| {
        let name = match raised {
            Expr::Call(call) => &*call.func,
            raised => raised,
        };
        matches!(name, Expr::Name(name) if name.id.as_str() == "NotImplementedError")
    };
    match rest {
        [] => body.len() == 1,
        [Stmt::Expr(only)] => only.value.is_ellipsis_literal_expr(),
        [Stmt::Raise(only)] => only.exc.as_deref().is_some_and(is_not_implemented),
        _ => false,
    }
}
