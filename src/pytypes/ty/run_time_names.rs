//! Strings that a program looks up as names at run time, in code that is not next to the string.
//!
//! Owns the recognition of such strings: constants and arguments that reach `getattr`, parametrized tests, keys of
//! dispatch dictionaries, and class names in representations. None of them certainly names the symbol.

use std::collections::HashSet;

use super::api::{
    AnyNodeRef, Expr, Ranged, SourceOrderVisitor, Stmt, TextRange, TextSize, TraversalSignal, ast, operands,
};
use super::expressions::last_name;

/// The symbol that strings may name.
pub(super) struct NamedSymbol<'w> {
    pub name: &'w str,
    /// Whether it is a function or class.
    pub is_callable: bool,
    pub is_class: bool,
    pub is_fixture: bool,
    /// The functions in the searched file that have it as a parameter: the ranges of their names.
    pub functions: Vec<TextRange>,
}

const LOOKED_UP: &str = "the string may be looked up as a name at run time";
const KEY: &str = "the key of a dictionary has this name, and so does its value";
const CALLED: &str = "the value under this key of a dictionary is called";
const PARAMETRIZED: &str = "pytest passes the parameter by this name";
const FIXTURE: &str = "pytest passes the fixture by this name";
const REPRESENTED: &str = "the string is compared with a representation that contains the name of the class";

/// Functions that take the name of a member as a string, alone or after its owner.
pub(super) const BY_NAME: &[&str] = &[
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "__getattr__",
    "__getattribute__",
    "__setattr__",
    "__delattr__",
    "getattr_static",
    "attrgetter",
    "methodcaller",
    "object",
    "delitem",
];
/// Functions and attributes that give the representation or name of a class.
const REPRESENTING: &[&str] = &["repr", "str", "ascii", "format", "pformat", "__repr__", "__str__"];
const NAMING: &[&str] = &["__name__", "__qualname__"];

/// The strings in a syntax tree, each with one reason.
pub(super) fn find(tree: AnyNodeRef<'_>, symbol: &NamedSymbol<'_>) -> Vec<(TextSize, &'static str)> {
    let mut lookups = Lookups { symbol, names: HashSet::new(), dispatching: HashSet::new() };
    tree.visit_source_order(&mut lookups);
    let mut strings = Strings { symbol, lookups: &lookups, found: Vec::new() };
    tree.visit_source_order(&mut strings);
    let mut found = strings.found;
    found.sort_unstable_by_key(|(at, _)| *at);
    found.dedup_by_key(|(at, _)| *at);
    found
}

/// Variables of a file that contain names, or dictionaries of functions by name.
struct Lookups<'w, 'a> {
    symbol: &'w NamedSymbol<'w>,
    /// Names of variables that are passed to functions that look up names.
    names: HashSet<&'a str>,
    /// Dictionaries with the name as key of a value with that name.
    dispatching: HashSet<&'a str>,
}

impl<'a> SourceOrderVisitor<'a> for Lookups<'_, 'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprCall(call) if last_name(&call.func).is_some_and(|name| BY_NAME.contains(&name)) => {
                let positional = call.arguments.args.iter().take(2);
                self.names.extend(positional.filter_map(variable));
            }
            AnyNodeRef::ExprSubscript(subscript) if is_namespace(&subscript.value) => {
                self.names.extend(variable(&subscript.slice));
            }
            AnyNodeRef::StmtAssign(assign) => {
                let is_entry = |(key, value): (Option<&Expr>, &Expr)| {
                    key.is_some_and(|key| is_text(key, self.symbol.name)) && last_name(value) == Some(self.symbol.name)
                };
                if let Expr::Dict(dict) = &*assign.value
                    && dict.items.iter().any(|item| is_entry((item.key.as_ref(), &item.value)))
                {
                    self.dispatching.extend(assign.targets.iter().filter_map(variable));
                }
                for target in &assign.targets {
                    if let Expr::Subscript(subscript) = target
                        && is_entry((Some(&subscript.slice), &assign.value))
                    {
                        self.dispatching.extend(variable(&subscript.value));
                    }
                }
            }
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

struct Strings<'w, 'a> {
    symbol: &'w NamedSymbol<'w>,
    lookups: &'w Lookups<'w, 'a>,
    found: Vec<(TextSize, &'static str)>,
}

impl<'a> SourceOrderVisitor<'a> for Strings<'_, 'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::StmtAssign(assign) => {
                if assign.targets.iter().any(|target| self.is_looked_up(target)) {
                    self.texts(&assign.value, LOOKED_UP);
                }
                for target in &assign.targets {
                    if let Expr::Subscript(subscript) = target
                        && last_name(&assign.value) == Some(self.symbol.name)
                    {
                        self.text(&subscript.slice, KEY);
                    }
                }
            }
            AnyNodeRef::StmtAnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. })
                if self.is_looked_up(target) =>
            {
                self.texts(value, LOOKED_UP);
            }
            AnyNodeRef::StmtFor(one) if self.is_looked_up(&one.target) => self.texts(&one.iter, LOOKED_UP),
            AnyNodeRef::Comprehension(one) if self.is_looked_up(&one.target) => self.texts(&one.iter, LOOKED_UP),
            AnyNodeRef::ParameterWithDefault(ast::ParameterWithDefault {
                parameter, default: Some(default), ..
            }) if self.lookups.names.contains(parameter.name.as_str()) => {
                self.texts(default, LOOKED_UP);
            }
            AnyNodeRef::Keyword(ast::Keyword { arg: Some(name), value, .. })
                if self.lookups.names.contains(name.as_str()) =>
            {
                self.text(value, LOOKED_UP);
            }
            AnyNodeRef::StmtFunctionDef(function) => self.function(function),
            AnyNodeRef::ExprDict(dict) => {
                let named = dict.items.iter().filter(|item| last_name(&item.value) == Some(self.symbol.name));
                for key in named.filter_map(|item| item.key.as_ref()) {
                    self.text(key, KEY);
                }
            }
            AnyNodeRef::ExprSubscript(subscript) if self.is_dispatching(&subscript.value) => {
                self.text(&subscript.slice, KEY);
            }
            AnyNodeRef::ExprCall(call) => self.call(call),
            AnyNodeRef::ExprCompare(compare) if self.symbol.is_class => self.compared(compare),
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

impl Strings<'_, '_> {
    fn is_looked_up(&self, target: &Expr) -> bool {
        match target {
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().any(|one| self.is_looked_up(one))
            }
            target => variable(target).is_some_and(|name| self.lookups.names.contains(name)),
        }
    }

    fn is_dispatching(&self, owner: &Expr) -> bool {
        variable(owner).is_some_and(|name| self.lookups.dispatching.contains(name))
    }

    fn text(&mut self, expression: &Expr, reason: &'static str) {
        if is_text(expression, self.symbol.name) {
            self.found.push((expression.start(), reason));
        }
    }

    /// Records all strings in an expression that equal the name.
    fn texts(&mut self, expression: &Expr, reason: &'static str) {
        let name = self.symbol.name;
        self.found.extend(literals(expression, |text| text == name).into_iter().map(|at| (at, reason)));
    }

    fn function(&mut self, function: &ast::StmtFunctionDef) {
        let is_own = self.symbol.functions.contains(&function.name.range);
        if self.symbol.is_fixture && is_passed_fixtures(function) {
            let parameters = function.parameters.iter_non_variadic_params();
            let named = parameters.filter(|one| one.name().as_str() == self.symbol.name && one.default.is_none());
            self.found.extend(named.map(|one| (one.name().start(), FIXTURE)));
        }
        for decorator in &function.decorator_list {
            let Expr::Call(call) = &decorator.expression else { continue };
            if last_name(&call.func) != Some("parametrize") {
                continue;
            }
            let names: Vec<&Expr> = match call.arguments.args.first() {
                Some(Expr::Tuple(tuple)) => tuple.elts.iter().collect(),
                Some(Expr::List(list)) => list.elts.iter().collect(),
                other => other.into_iter().collect(),
            };
            let texts = names.into_iter().filter_map(Expr::as_string_literal_expr);
            let words: Vec<(&str, TextSize)> =
                texts.flat_map(|text| text.value.to_str().split(',').map(|word| (word.trim(), text.start()))).collect();
            if is_own {
                let own = words.iter().filter(|(word, _)| *word == self.symbol.name);
                self.found.extend(own.map(|(_, at)| (*at, PARAMETRIZED)));
            }
            if words.iter().any(|(word, _)| self.lookups.names.contains(word)) {
                call.arguments.args.iter().skip(1).for_each(|values| self.texts(values, LOOKED_UP));
            }
        }
    }

    fn call(&mut self, call: &ast::ExprCall) {
        if self.symbol.is_callable
            && let Expr::Subscript(subscript) = &*call.func
        {
            self.text(&subscript.slice, CALLED);
        }
        let Expr::Attribute(method) = &*call.func else { return };
        let Some(first) = call.arguments.args.first() else { return };
        match method.attr.as_str() {
            "get" | "pop" if self.is_dispatching(&method.value) => self.text(first, KEY),
            "getfixturevalue" | "usefixtures" if self.symbol.is_fixture => {
                call.arguments.args.iter().for_each(|argument| self.text(argument, FIXTURE));
            }
            _ => {}
        }
    }

    /// Records strings that contain the name of the class and are compared with a representation.
    fn compared(&mut self, compare: &ast::ExprCompare) {
        let sides = operands(compare);
        if !sides.iter().any(is_representation) {
            return;
        }
        let name = self.symbol.name;
        let is_word = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        for side in sides.iter().filter(|side| !is_representation(side)) {
            self.found.extend(literals(side, is_word).into_iter().map(|at| (at, REPRESENTED)));
        }
    }
}

/// Whether pytest passes fixtures to the function: a test, or a fixture itself.
pub(super) fn is_passed_fixtures(function: &ast::StmtFunctionDef) -> bool {
    function.name.starts_with("test") || is_fixture(function)
}

pub(super) fn is_fixture(function: &ast::StmtFunctionDef) -> bool {
    let names = function.decorator_list.iter().filter_map(|one| last_name(&one.expression));
    names.into_iter().any(|name| matches!(name, "fixture" | "yield_fixture"))
}

fn is_representation(side: &Expr) -> bool {
    match side {
        Expr::Call(call) => last_name(&call.func).is_some_and(|name| REPRESENTING.contains(&name)),
        Expr::Attribute(attribute) => NAMING.contains(&attribute.attr.as_str()),
        Expr::FString(_) => true,
        _ => false,
    }
}

/// Whether an expression is a namespace that is indexed by name.
fn is_namespace(owner: &Expr) -> bool {
    match owner {
        Expr::Call(call) => matches!(last_name(&call.func), Some("globals" | "locals" | "vars")),
        Expr::Attribute(attribute) => attribute.attr.as_str() == "__dict__",
        _ => false,
    }
}

fn is_text(expression: &Expr, name: &str) -> bool {
    matches!(expression, Expr::StringLiteral(text) if text.value.to_str() == name)
}

/// The name of a variable or attribute.
fn variable(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(_) | Expr::Attribute(_) => last_name(expression),
        _ => None,
    }
}

/// The positions of the wanted string literals in an expression.
fn literals(expression: &Expr, is_wanted: impl Fn(&str) -> bool) -> Vec<TextSize> {
    struct Texts<'a>(Vec<&'a ast::ExprStringLiteral>);
    impl<'a> SourceOrderVisitor<'a> for Texts<'a> {
        fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
            if let AnyNodeRef::ExprStringLiteral(text) = node {
                self.0.push(text);
            }
            TraversalSignal::Traverse
        }

        // Strings in functions are their own.
        fn visit_stmt(&mut self, _statement: &'a Stmt) {}
    }
    let mut texts = Texts(Vec::new());
    texts.visit_expr(expression);
    texts.0.into_iter().filter(|text| is_wanted(text.value.to_str())).map(Ranged::start).collect()
}
