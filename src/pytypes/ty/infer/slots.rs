//! The slots of a file: where an annotation can be added.
//!
//! Owns finding them, in an order that annotations do not change: a slot keeps its index while others are filled.

use std::collections::HashSet;

use strum_macros::IntoStaticStr;

use crate::pytypes::ty::api::{Expr, Ranged, SourceOrderVisitor, Stmt, TextRange, TextSize, ast, walk_expr, walk_stmt};

/// Kind of a slot for an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Kind {
    Parameter,
    Return,
    Variable,
    Attribute,
}

impl Kind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A slot for an annotation, with offsets of the text it was found in.
#[derive(Clone, Debug)]
pub(super) struct Slot<'a> {
    pub kind: Kind,
    pub name: String,
    /// The qualified name of the enclosing symbol.
    pub container: Option<String>,
    /// The range of the name.
    pub range: TextRange,
    /// Where the annotation is inserted.
    pub at: TextSize,
    pub is_annotated: bool,
    /// The statement in which a wrong annotation would cause a diagnostic.
    pub body: TextRange,
    pub of: SlotSource<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum SlotSource<'a> {
    Function(&'a ast::StmtFunctionDef, FunctionContext),
    /// A parameter of a function.
    Parameter(&'a ast::StmtFunctionDef, Parameter<'a>),
    /// The values assigned to a name or an attribute, everywhere in its class or module, and what methods put into it.
    Values(Vec<&'a Expr>, Vec<Filling<'a>>),
}

/// An element that a method of the class puts into a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Filling<'a> {
    /// `self.a.append(value)`: the method and its last argument.
    Element(&'a str, &'a Expr),
    /// `self.a[key] = value`
    Item(&'a Expr, &'a Expr),
}

/// Methods that change what a container holds.
const FILLING: &[&str] = &["append", "insert", "extend", "add", "update", "setdefault"];

#[derive(Clone, Debug)]
pub(super) struct Parameter<'a> {
    pub default: Option<&'a Expr>,
    pub is_variadic: bool,
}

/// The context of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FunctionContext {
    pub in_class: bool,
    /// The range of the name of the class.
    pub class: Option<TextRange>,
    /// The class states a protocol.
    pub in_protocol: bool,
}

/// Every slot, annotated or not, in text order.
pub(super) fn find(body: &[Stmt]) -> Vec<Slot<'_>> {
    let mut finder = Finder {
        around: Vec::new(),
        in_class: false,
        class: None,
        in_protocol: false,
        overloaded: HashSet::new(),
        slots: Vec::new(),
    };
    finder.names(body, Kind::Variable, false);
    finder.visit_body(body);
    finder.slots
}

/// The parameters without annotations, except `*args` and `**kwargs`: the offset of the name, the function, and the name.
pub(super) fn open_parameters(body: &[Stmt]) -> impl Iterator<Item = (u32, &ast::StmtFunctionDef, String)> {
    find(body).into_iter().filter(|slot| !slot.is_annotated).filter_map(|slot| match slot.of {
        SlotSource::Parameter(function, parameter) if !parameter.is_variadic => {
            Some((slot.range.start().to_u32(), function, slot.name))
        }
        _ => None,
    })
}

struct Finder<'a> {
    around: Vec<String>,
    in_class: bool,
    class: Option<TextRange>,
    in_protocol: bool,
    /// The qualified names of functions with overloads.
    overloaded: HashSet<String>,
    slots: Vec<Slot<'a>>,
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                self.around.push(class.name.to_string());
                let outer = std::mem::replace(&mut self.in_class, true);
                let outer_class = self.class.replace(class.name.range);
                let generic = |base: &'a Expr| base.as_subscript_expr().map_or(base, |subscript| &*subscript.value);
                let is_protocol = class.bases().iter().any(|base| is_named(generic(base), "Protocol"));
                let outer_protocol = std::mem::replace(&mut self.in_protocol, is_protocol);
                // There, an annotation makes a variable a field.
                let has_fields =
                    !class.decorator_list.is_empty() || class.bases().iter().any(|base| is_named(base, "NamedTuple"));
                self.names(&class.body, Kind::Variable, has_fields);
                self.attributes(class);
                self.visit_body(&class.body);
                self.in_class = outer;
                self.class = outer_class;
                self.in_protocol = outer_protocol;
                self.around.pop();
            }
            statement => walk_stmt(self, statement),
        }
    }

    // Expressions contain no slots.
    fn visit_expr(&mut self, _expression: &'a Expr) {}
}

impl<'a> Finder<'a> {
    fn container(&self) -> Option<String> {
        (!self.around.is_empty()).then(|| self.around.join("."))
    }

    fn function(&mut self, function: &'a ast::StmtFunctionDef) {
        let context = FunctionContext {
            in_class: self.in_class,
            class: self.class.filter(|_| self.in_class),
            in_protocol: self.in_protocol && self.in_class,
        };
        let qualified = format!("{}.{}", self.around.join("."), function.name);
        if is_decorated(function, "overload") {
            self.overloaded.insert(qualified.clone());
        }
        // The implementation accepts what all overloads do.
        let has_overloads = self.overloaded.contains(&qualified);
        self.slots.push(Slot {
            kind: Kind::Return,
            name: function.name.to_string(),
            container: self.container(),
            range: function.name.range(),
            at: function.parameters.range().end(),
            is_annotated: function.returns.is_some() || has_overloads,
            body: function.range(),
            of: SlotSource::Function(function, context),
        });
        self.around.push(function.name.to_string());
        self.parameters(function, context, has_overloads);
        let outer = std::mem::replace(&mut self.in_class, false);
        self.visit_body(&function.body);
        self.in_class = outer;
        self.around.pop();
    }

    fn parameters(&mut self, function: &'a ast::StmtFunctionDef, context: FunctionContext, has_overloads: bool) {
        let is_static = is_decorated(function, "staticmethod");
        let has_receiver = context.in_class && !is_static;
        let parameters = &function.parameters;
        let by_position = parameters.posonlyargs.iter().chain(&parameters.args);
        // The receiver needs no annotation.
        let by_position = by_position.skip(usize::from(has_receiver));
        for parameter in by_position.chain(&parameters.kwonlyargs) {
            let default = parameter.default.as_deref();
            self.parameter(function, &parameter.parameter, Parameter { default, is_variadic: false }, has_overloads);
        }
        for parameter in parameters.vararg.iter().chain(&parameters.kwarg) {
            self.parameter(function, parameter, Parameter { default: None, is_variadic: true }, has_overloads);
        }
    }

    fn parameter(
        &mut self,
        function: &'a ast::StmtFunctionDef,
        parameter: &'a ast::Parameter,
        of: Parameter<'a>,
        has_overloads: bool,
    ) {
        self.slots.push(Slot {
            kind: Kind::Parameter,
            name: parameter.name.to_string(),
            container: self.container(),
            range: parameter.name.range(),
            at: parameter.name.range().end(),
            is_annotated: parameter.annotation.is_some() || has_overloads,
            body: function.range(),
            of: SlotSource::Parameter(function, of),
        });
    }

    /// Names assigned at one level of a module or class. The annotation goes to the first assignment. `are_fixed`: none may be added.
    fn names(&mut self, body: &'a [Stmt], kind: Kind, are_fixed: bool) {
        let mut found: Vec<(&'a ast::ExprName, Option<TextRange>, Vec<&'a Expr>)> = Vec::new();
        for statement in body {
            let (target, value, whole) = match statement {
                Stmt::Assign(ast::StmtAssign { targets, value, range, .. }) => match targets.as_slice() {
                    [Expr::Name(name)] => (name, Some(&**value), Some(*range)),
                    _ => continue,
                },
                Stmt::AnnAssign(ast::StmtAnnAssign { target, value, .. }) => match &**target {
                    Expr::Name(name) => (name, value.as_deref(), None),
                    _ => continue,
                },
                _ => continue,
            };
            match found.iter_mut().find(|(name, ..)| name.id == target.id) {
                Some((_, _, values)) => values.extend(value),
                None => found.push((target, whole, value.into_iter().collect())),
            }
        }
        for (name, whole, values) in found {
            self.slots.push(Slot {
                kind,
                name: name.id.to_string(),
                container: self.container(),
                range: name.range(),
                at: name.range().end(),
                is_annotated: whole.is_none() || are_fixed,
                body: whole.unwrap_or(name.range()),
                of: SlotSource::Values(values, Vec::new()),
            });
        }
    }

    /// Attributes that methods assign to their receiver. The annotation goes to the first assignment.
    fn attributes(&mut self, class: &'a ast::StmtClassDef) {
        let mut finder = Attributes { receiver: String::new(), found: Vec::new(), fillings: Vec::new() };
        for statement in &class.body {
            let Stmt::FunctionDef(method) = statement else { continue };
            let receiver = method.parameters.posonlyargs.iter().chain(&method.parameters.args).next();
            let Some(receiver) = receiver.filter(|_| !is_decorated(method, "staticmethod")) else { continue };
            finder.receiver = receiver.parameter.name.to_string();
            finder.visit_body(&method.body);
        }
        let declared: Vec<&str> = class.body.iter().filter_map(declared_name).collect();
        for Attribute { attribute, whole, values, is_simple } in std::mem::take(&mut finder.found) {
            if declared.contains(&attribute.attr.as_str()) {
                continue;
            }
            let fillings = finder.fillings.iter().filter(|(name, _)| *name == attribute.attr.as_str());
            let fillings = fillings.map(|(_, filling)| *filling).collect();
            self.slots.push(Slot {
                kind: Kind::Attribute,
                name: attribute.attr.to_string(),
                container: self.container(),
                range: attribute.attr.range(),
                at: attribute.range().end(),
                is_annotated: whole.is_none() || !is_simple,
                body: whole.unwrap_or(attribute.range()),
                of: SlotSource::Values(values, fillings),
            });
        }
    }
}

/// The name that a statement in a class body binds or declares.
fn declared_name(statement: &Stmt) -> Option<&str> {
    match statement {
        Stmt::AnnAssign(assign) => assign.target.as_name_expr().map(|name| name.id.as_str()),
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Name(name)] => Some(name.id.as_str()),
            _ => None,
        },
        Stmt::FunctionDef(function) => Some(function.name.as_str()),
        _ => None,
    }
}

struct Attribute<'a> {
    attribute: &'a ast::ExprAttribute,
    /// The statement of the first assignment; `None` if that is annotated.
    whole: Option<TextRange>,
    values: Vec<&'a Expr>,
    /// Whether it is only assigned directly, never by unpacking.
    is_simple: bool,
}

struct Attributes<'a> {
    receiver: String,
    found: Vec<Attribute<'a>>,
    fillings: Vec<(&'a str, Filling<'a>)>,
}

impl<'a> Attributes<'a> {
    fn own(&self, target: &'a Expr) -> Option<&'a ast::ExprAttribute> {
        let attribute = target.as_attribute_expr()?;
        let is_own = attribute.value.as_name_expr().is_some_and(|name| name.id.as_str() == self.receiver);
        is_own.then_some(attribute)
    }

    fn note(
        &mut self,
        attribute: &'a ast::ExprAttribute,
        whole: Option<TextRange>,
        value: Option<&'a Expr>,
        is_simple: bool,
    ) {
        match self.found.iter_mut().find(|one| one.attribute.attr.id == attribute.attr.id) {
            Some(one) => {
                one.values.extend(value);
                one.is_simple &= is_simple;
            }
            None => self.found.push(Attribute { attribute, whole, values: value.into_iter().collect(), is_simple }),
        }
    }

    fn unpacked(&mut self, target: &'a Expr) {
        match target {
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.unpacked(element));
            }
            Expr::Starred(starred) => self.unpacked(&starred.value),
            target => {
                if let Some(attribute) = self.own(target) {
                    self.note(attribute, None, None, false);
                }
            }
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Attributes<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Subscript(target)] => {
                    if let Some(attribute) = self.own(&target.value) {
                        let item = Filling::Item(&target.slice, &assign.value);
                        self.fillings.push((attribute.attr.as_str(), item));
                    }
                    walk_expr(self, &assign.value);
                }
                [target] if self.own(target).is_some() => {
                    if let Some(attribute) = self.own(target) {
                        self.note(attribute, Some(assign.range()), Some(&assign.value), true);
                    }
                }
                targets => targets.iter().for_each(|target| self.unpacked(target)),
            },
            Stmt::AnnAssign(assign) => {
                if let Some(attribute) = self.own(&assign.target) {
                    self.note(attribute, None, assign.value.as_deref(), true);
                }
            }
            Stmt::AugAssign(assign) => self.unpacked(&assign.target),
            Stmt::For(statement) => {
                self.unpacked(&statement.target);
                self.visit_body(&statement.body);
                self.visit_body(&statement.orelse);
            }
            Stmt::With(with) => {
                with.items.iter().filter_map(|item| item.optional_vars.as_deref()).for_each(|one| self.unpacked(one));
                self.visit_body(&with.body);
            }
            // Their receiver is a different object.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            statement => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(method) = &*call.func
            && FILLING.contains(&method.attr.as_str())
            && let Some(attribute) = self.own(&method.value)
            && let Some(value) = call.arguments.args.last()
        {
            self.fillings.push((attribute.attr.as_str(), Filling::Element(method.attr.as_str(), value)));
        }
        walk_expr(self, expression);
    }
}

pub(super) fn is_decorated(function: &ast::StmtFunctionDef, name: &str) -> bool {
    function.decorator_list.iter().any(|decorator| is_named(&decorator.expression, name))
}

fn is_named(expression: &Expr, name: &str) -> bool {
    match expression {
        Expr::Name(one) => one.id.as_str() == name,
        Expr::Attribute(one) => one.attr.as_str() == name,
        _ => false,
    }
}

/// The start of a default that follows the name with only `=` between them.
pub(super) fn tight_default(text: &str, slot: &Slot<'_>) -> Option<TextSize> {
    let SlotSource::Parameter(_, Parameter { default: Some(default), .. }) = &slot.of else { return None };
    let between = text.get(slot.at.to_usize()..default.start().to_usize())?;
    // A parenthesis around the default is part of what follows.
    let is_tight = between.starts_with('=') && !between[1..].starts_with(char::is_whitespace);
    is_tight.then(|| slot.at + TextSize::new(1))
}

/// Whether a slot is the symbol, or is contained in it.
pub(super) fn is_within(slot: &Slot<'_>, symbol: &str) -> bool {
    let qualified = match &slot.container {
        Some(container) => format!("{container}.{}", slot.name),
        None => slot.name.clone(),
    };
    let is_at = |name: &str| name == symbol || name.strip_prefix(symbol).is_some_and(|rest| rest.starts_with('.'));
    is_at(&qualified) || slot.container.as_deref().is_some_and(is_at) || slot.name == symbol
}
