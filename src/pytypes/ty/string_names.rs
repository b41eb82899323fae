//! Names in strings: in `__all__`, in `__slots__` and `__match_args__`, and where a program looks up a name at run
//! time.
//!
//! Owns which strings certainly refer to a name, and which may.

mod shared_names;

use std::collections::HashSet;

use self::shared_names::SharedNames;
use super::api::{
    AnyNodeRef, DefinitionKind, Expr, File, HasType, ImportAliasResolution, Ranged, ResolvedDefinition,
    SemanticDb as _, SemanticModel, SourceOrderVisitor, Stmt, TextRange, TextSize, TraversalSignal, Type,
    TypeDefinition, ast, definitions_for_attribute, definitions_for_name, parsed_module, source_text,
};
use super::by_syntax;
use super::class_members::{Class, class_of, function_of};
use super::db::Database;
use super::display::module_name;
use super::family;
use super::keyword_members;
use super::name_literals;
use super::quoted_names::{Quoted, is_name, members_listed};
use super::run_time_names;
use super::search_target::SearchTarget;
use super::super_members;
use super::target::Target;

/// The strings in `__all__` that refer to the symbol, without their quotes.
pub(super) fn listed(
    db: &Database,
    file: File,
    name: &str,
    wanted: &SearchTarget<'_>,
    aliases: ImportAliasResolution,
) -> Vec<TextRange> {
    let text = source_text(db, file);
    if !text.contains("__all__") {
        return Vec::new();
    }
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let model = SemanticModel::new(db, program_file);
    let is_all = |target: &Expr| is_name(target, &["__all__"]);
    let mut names = Quoted { name, text: &text, found: Vec::new() };
    for statement in parsed.suite() {
        match statement {
            Stmt::Assign(assign) if assign.targets.iter().any(is_all) => names.visit_expr(&assign.value),
            Stmt::AugAssign(assign) if is_all(&assign.target) => names.visit_expr(&assign.value),
            Stmt::AnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) if is_all(target) => {
                names.visit_expr(value);
            }
            Stmt::Expr(ast::StmtExpr { value, .. }) => {
                if let Expr::Call(call) = &**value
                    && let Expr::Attribute(method) = &*call.func
                    && is_all(&method.value)
                {
                    names.visit_arguments(&call.arguments);
                }
            }
            _ => {}
        }
    }
    let means = |node: AnyNodeRef<'_>| {
        definitions_for_name(&model, name, node, aliases).iter().any(|one| wanted.definitions.contains(one))
    };
    names.found.into_iter().filter(|(node, _)| means(*node)).map(|(_, range)| range).collect()
}

/// The search for occurrences that may refer to a symbol, although that is not certain.
pub(super) struct UncertainSearch<'w, 'db> {
    pub wanted: &'w SearchTarget<'db>,
    /// The symbol is a member of a class.
    pub is_member: bool,
    /// The modules and classes that contain it.
    pub owners: Vec<String>,
    /// The symbol is a key of a typed dictionary.
    is_key: bool,
    /// The superclasses of its classes.
    above: HashSet<Class>,
    shared: SharedNames<'w, 'db>,
}

impl<'w, 'db> UncertainSearch<'w, 'db> {
    pub fn new(db: &Database, wanted: &'w SearchTarget<'db>, is_member: bool) -> Self {
        let mut owners = Vec::new();
        let mut is_key = false;
        let mut above = HashSet::new();
        for one in &wanted.definitions {
            let focus = one.focus_range(db);
            owners.push(module_name(focus.file().path(db).as_str()));
            if let Some((file, range)) = class_of(db, one) {
                owners.push(source_text(db, file)[range].to_owned());
                is_key |= name_literals::is_typed_dictionary(db, (file, range));
                above.extend(family::above(db, (file, range)));
            }
        }
        Self { wanted, is_member, owners, is_key, above, shared: SharedNames::new(db, wanted) }
    }

    /// The uncertain occurrences in a file, each with the reason. `edited` are the certain ones.
    pub fn unsure(&self, db: &Database, file: File, edited: &[TextSize]) -> Vec<(TextSize, &'static str)> {
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let model = SemanticModel::new(db, program_file);
        let mut unpacked = Unpacked(HashSet::new());
        AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut unpacked);
        let mut unknown = Unknown { db, model: &model, search: self, unpacked: &unpacked.0, found: Vec::new() };
        AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut unknown);
        let mut found = unknown.found;
        let listed: HashSet<TextSize> = found.iter().map(|(at, _)| *at).collect();
        let named = run_time_names::find(parsed.syntax().into(), &self.named_symbol(db, file));
        found.extend(named.into_iter().filter(|(at, _)| !listed.contains(at)));
        // An edit in a string is within its quotes.
        let tokens = edited.iter().flat_map(|at| parsed.tokens().at_offset(*at));
        let edited: HashSet<TextSize> = tokens.map(|token| token.start()).collect();
        found.retain(|(at, _)| !edited.contains(at));
        found.extend(self.shared.find(db, file, &edited));
        found
    }

    fn named_symbol(&self, db: &Database, file: File) -> run_time_names::NamedSymbol<'_> {
        let kinds = || self.wanted.definitions.iter().filter_map(|one| one.definition()).map(|one| (one, one.kind(db)));
        let is_fixture = kinds().any(|(definition, kind)| match kind {
            DefinitionKind::Function(function) => {
                let parsed = parsed_module(db, definition.python_file(db)).load(db);
                run_time_names::is_fixture(function.node(&parsed))
            }
            _ => false,
        });
        let functions = self.wanted.definitions.iter().filter_map(|one| function_of(db, one));
        run_time_names::NamedSymbol {
            name: &self.wanted.name,
            is_callable: kinds()
                .any(|(_, kind)| matches!(kind, DefinitionKind::Function(_) | DefinitionKind::Class(_))),
            is_class: kinds().any(|(_, kind)| matches!(kind, DefinitionKind::Class(_))),
            is_fixture,
            functions: functions.filter(|(own, _)| *own == file).map(|(_, range)| range).collect(),
        }
    }
}

const BY_TEXT: &str = "it is looked up by its name as a string";
const NO_OWNER: &str = "the type of its owner is unknown";
const NO_MEMBER: &str = "the type of its owner has no such member, but a subclass has";
const NO_FUNCTION: &str = "the callee is unknown";
const UNREACHABLE: &str =
    "the type checker holds this code unreachable, and the syntax does not show the type of its owner";

/// Functions that return a namespace indexed by name.
const NAMESPACES: &[&str] = &["globals", "locals", "vars"];

/// Variables and attributes that calls unpack into keyword arguments: `**name`, `**self.name`.
struct Unpacked<'a>(HashSet<&'a str>);

impl<'a> SourceOrderVisitor<'a> for Unpacked<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::Keyword(ast::Keyword { arg: None, value, .. }) = node {
            self.0.extend(last_name(value));
        }
        TraversalSignal::Traverse
    }
}

/// The last name of `name` and `owner.name`.
fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

struct Unknown<'m, 'db> {
    db: &'m Database,
    model: &'m SemanticModel<'db>,
    search: &'m UncertainSearch<'m, 'm>,
    unpacked: &'m HashSet<&'m str>,
    found: Vec<(TextSize, &'static str)>,
}

impl<'a> SourceOrderVisitor<'a> for Unknown<'_, '_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprAttribute(attribute) if self.search.is_member && self.is_it(&attribute.attr) => {
                self.found.extend(self.why_unsure(attribute).map(|reason| (attribute.attr.start(), reason)));
            }
            AnyNodeRef::ExprCall(call) => self.call(call),
            AnyNodeRef::ExprSubscript(subscript) => {
                if let Expr::StringLiteral(text) = &*subscript.slice
                    && text.value.to_str() == self.name()
                    && (self.may_name(&subscript.value) || (self.search.is_key && self.is_unknown(&subscript.value)))
                {
                    self.text(text);
                }
            }
            AnyNodeRef::PatternMatchClass(pattern) if self.search.is_member && self.is_unknown(&pattern.cls) => {
                let names = pattern.arguments.keywords.iter().map(|keyword| &keyword.attr);
                let found = names.filter(|name| self.is_it(name)).map(|name| (name.start(), NO_OWNER));
                self.found.extend(found.collect::<Vec<_>>());
            }
            AnyNodeRef::StmtClassDef(class) => {
                for value in class.body.iter().filter_map(members_listed) {
                    self.words(value);
                }
                // The base classes or the metaclass take them.
                self.keywords(class.keywords(), |_, _| true);
            }
            AnyNodeRef::Keyword(ast::Keyword { arg: None, value: Expr::Dict(dict), .. }) => self.keys(dict),
            // What is passed on as keyword arguments, here or in another file.
            AnyNodeRef::Keyword(ast::Keyword { arg: Some(name), value: Expr::Dict(dict), .. })
                if self.is_unpacked(name.as_str()) =>
            {
                self.keys(dict);
            }
            AnyNodeRef::StmtAssign(ast::StmtAssign { targets, value, .. }) => {
                let is_unpacked = |target: &Expr| last_name(target).is_some_and(|name| self.is_unpacked(name));
                if let Expr::Dict(dict) = &**value
                    && targets.iter().any(is_unpacked)
                {
                    self.keys(dict);
                }
            }
            AnyNodeRef::StmtAnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) => {
                if let Expr::Dict(dict) = &**value
                    && last_name(target).is_some_and(|name| self.is_unpacked(name))
                {
                    self.keys(dict);
                }
            }
            AnyNodeRef::ExprBinOp(ast::ExprBinOp { left, op: ast::Operator::Mod, right, .. })
                if self.may_name(right) =>
            {
                self.template(left);
            }
            AnyNodeRef::ExprStringLiteral(text) if self.is_path(text.value.to_str()) => {
                self.found.push((text.start(), BY_TEXT));
            }
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

impl Unknown<'_, '_> {
    fn name(&self) -> &str {
        &self.search.wanted.name
    }

    fn is_it(&self, name: &ast::Identifier) -> bool {
        name.as_str() == self.name()
    }

    /// Whether a dictionary of this name becomes the keyword arguments of a call, in this file or by its name.
    fn is_unpacked(&self, name: &str) -> bool {
        self.unpacked.contains(name) || name.ends_with("kwargs")
    }

    fn is_unknown(&self, expression: &Expr) -> bool {
        matches!(expression.inferred_type(self.model), None | Some(Type::Dynamic(_)))
    }

    /// Why it is not known whether an attribute is the member; `None` if it is known.
    fn why_unsure(&self, attribute: &ast::ExprAttribute) -> Option<&'static str> {
        match by_syntax::definitions(self.db, self.model, &Target::Expression(attribute.into())) {
            Some(found) => (!found.is_complete).then_some(UNREACHABLE),
            None if self.is_unknown(&attribute.value) => Some(NO_OWNER),
            None => {
                let is_missing = || definitions_for_attribute(self.model, attribute).is_empty();
                (self.is_of_superclass(&attribute.value) && is_missing()).then_some(NO_MEMBER)
            }
        }
    }

    /// Whether the type of an expression is a superclass of one with the member, or a type variable: the object may have the member.
    fn is_of_superclass(&self, owner: &Expr) -> bool {
        let is_one = |one: Type<'_>| match one {
            Type::TypeVar(_) => true,
            one => match one.definition(self.db, &self.model.program_environment()) {
                Some(TypeDefinition::StaticClass(class)) => {
                    let focus = ResolvedDefinition::Definition(class).focus_range(self.db);
                    self.search.above.contains(&(focus.file(), focus.range()))
                }
                _ => false,
            },
        };
        match owner.inferred_type(self.model) {
            Some(Type::Union(union)) => union.elements(self.db).iter().copied().any(is_one),
            Some(one) => is_one(one),
            None => false,
        }
    }

    fn text(&mut self, text: &ast::ExprStringLiteral) {
        if text.value.to_str() == self.name() {
            self.found.push((text.start(), BY_TEXT));
        }
    }

    fn call(&mut self, call: &ast::ExprCall) {
        let Some((called, owner)) = keyword_members::called(&call.func) else { return };
        if run_time_names::BY_NAME.contains(&called) {
            let is_text = |argument: &&Expr| argument.is_string_literal_expr();
            // `attrgetter("a", "b")` applies to a later argument.
            let (of, texts) = match &*call.arguments.args {
                [of, rest @ ..] if !of.is_string_literal_expr() => (Some(of), rest),
                all => (None, all),
            };
            if !of.is_some_and(|of| self.is_of_another(of)) {
                let max = if of.is_some() { 1 } else { texts.len() };
                let texts = texts.iter().take_while(is_text).take(max);
                texts.filter_map(Expr::as_string_literal_expr).for_each(|text| self.text(text));
            }
        } else if let Some(Expr::StringLiteral(text)) = call.arguments.args.first()
            && owner.is_some_and(|owner| self.may_name(owner))
        {
            self.text(text);
        }
        // `"{name}".format(**globals())`
        if let (Expr::Attribute(method), "format" | "format_map") = (&*call.func, called) {
            let unpacked = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_none());
            let mut given = unpacked.map(|keyword| &keyword.value).chain(&call.arguments.args);
            if given.any(|namespace| self.may_name(namespace)) {
                self.template(&method.value);
            }
        }
        let db = self.db;
        self.keywords(&call.arguments.keywords, |model, keyword| {
            let Some(name) = &keyword.arg else { return false };
            match by_syntax::definitions(db, model, &Target::Keyword { name, keyword, call }) {
                Some(found) => !found.is_complete && found.definitions.is_empty(),
                None => keyword_members::of_argument(model, keyword, call).is_empty(),
            }
        });
    }

    /// Records a template that has a field with the name: `{name}`, `%(name)s`.
    fn template(&mut self, template: &Expr) {
        let Expr::StringLiteral(text) = template else { return };
        let is_end = |c: char| !(c.is_alphanumeric() || c == '_');
        let whole = text.value.to_str();
        let names_it = |start: &str| {
            whole.match_indices(start).any(|(at, _)| {
                let field = whole[at + start.len()..].split(is_end).next().unwrap_or_default();
                field == self.name()
            })
        };
        if ["{", "%("].into_iter().any(names_it) {
            self.found.push((text.start(), BY_TEXT));
        }
    }

    /// Records keywords with the name whose callee is unknown.
    fn keywords(&mut self, keywords: &[ast::Keyword], is_unknown: impl Fn(&SemanticModel<'_>, &ast::Keyword) -> bool) {
        for keyword in keywords {
            if let Some(name) = &keyword.arg
                && self.is_it(name)
                && is_unknown(self.model, keyword)
            {
                self.found.push((name.start(), NO_FUNCTION));
            }
        }
    }

    /// Records keys of a dictionary that becomes the keyword arguments of a call.
    fn keys(&mut self, dict: &ast::ExprDict) {
        dict.iter_keys().flatten().filter_map(Expr::as_string_literal_expr).for_each(|key| self.text(key));
    }

    /// Whether a namespace such as `globals()`, `vars(x)`, `x.__dict__` or an enumeration may contain the symbol.
    fn may_name(&self, namespace: &Expr) -> bool {
        let by_text = match namespace {
            Expr::Call(call) => match keyword_members::called(&call.func) {
                Some((function, None)) if NAMESPACES.contains(&function) => Some(call.arguments.args.first()),
                Some(("asdict", _)) => Some(call.arguments.args.first()),
                Some(("_asdict", owner)) => Some(owner),
                _ => None,
            },
            Expr::Attribute(attribute) if matches!(attribute.attr.as_str(), "__dict__" | "__annotations__") => {
                Some(Some(&*attribute.value))
            }
            _ => None,
        };
        let is_class = || matches!(namespace.inferred_type(self.model), Some(Type::ClassLiteral(_)));
        let Some(owner) = by_text.or_else(|| is_class().then_some(Some(namespace))) else { return false };
        owner.map_or(!self.search.is_member, |owner| !self.is_of_another(owner))
    }

    /// Whether the owner has a different member with the name.
    fn is_of_another(&self, owner: &Expr) -> bool {
        let name = ast::Identifier::new(self.name(), owner.range());
        let found = super_members::member(self.model, owner, &name);
        !found.is_empty() && !self.search.wanted.is_any_of(self.model, self.db, &found)
    }

    /// Whether a string such as `package.module.name` or `module:Class.name` names the symbol after one of its owners.
    fn is_path(&self, text: &str) -> bool {
        let parts: Vec<&str> = text.split(['.', ':']).collect();
        let is_word = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        parts.len() > 1
            && parts.iter().all(is_word)
            && parts.windows(2).any(|two| two[1] == self.name() && self.search.owners.iter().any(|one| one == two[0]))
    }

    /// Records strings that contain the name as one of several words.
    fn words(&mut self, value: &Expr) {
        struct Texts<'a>(Vec<&'a ast::ExprStringLiteral>);
        impl<'a> SourceOrderVisitor<'a> for Texts<'a> {
            fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
                if let AnyNodeRef::ExprStringLiteral(text) = node {
                    self.0.push(text);
                }
                TraversalSignal::Traverse
            }
        }
        let mut texts = Texts(Vec::new());
        texts.visit_expr(value);
        for text in texts.0 {
            let text_of = text.value.to_str();
            let is_word = |part: &str| part == self.name();
            if text_of != self.name() && text_of.split(|c: char| c.is_whitespace() || c == ',').any(is_word) {
                self.found.push((text.start(), BY_TEXT));
            }
        }
    }
}
