//! The references to a definition, across the project.
//!
//! Owns the search in the syntax trees of candidate files. Every name with the same text is resolved and compared; a
//! match of the text alone is never enough. What unreachable code refers to is left to [`by_syntax`].

use std::collections::HashSet;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::TREES_KEPT;
use super::api::{
    AnyNodeRef, CoveringNode, Definition, DefinitionKind, File, HasType, ImportAliasResolution, ProgramFile, Ranged,
    ResolvedDefinition, ScopeKind, SemanticDb as _, SemanticModel, SourceOrderVisitor, TextRange, TextSize, Tokens,
    TraversalSignal, Type, ast, covering_node, parsed_module, source_text,
};
use super::by_syntax;
use super::check;
use super::class_members::{Class, class_of};
use super::db::Database;
use super::display::{PathDisplay, preview};
use super::expressions::{of_expression, unique};
use super::implicit::ImplicitReferences;
use super::imports;
use super::lines::Lines;
use super::name_literals;
use super::quoted_names::{self, within_literal};
use super::search_target::{Scope, SearchTarget, location, role_of};
use super::stubs;
use super::target::{self, Target, module_part};
use crate::model::Reference;
use crate::pytypes::values::{Role, Subject};

/// An occurrence of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub range: TextRange,
    pub role: Role,
    /// Whether it declares the name; `include_declaration` refers to this.
    pub is_declaration: bool,
    /// The checker holds the code unreachable; the syntax shows what it refers to.
    pub is_by_syntax: bool,
}

/// The symbol at a position; `None` if there is no name or no definition.
pub(super) fn search_target<'db>(
    db: &'db Database,
    file: ProgramFile<'db>,
    at: TextSize,
    aliases: ImportAliasResolution,
) -> Option<SearchTarget<'db>> {
    let found = target::at(db, file, at, |model, target| {
        let name = match target {
            Target::Key { key, .. } => *key,
            _ => target.name()?,
        };
        let name = name.to_owned();
        let mut all = target.definitions(model, aliases);
        let mut definitions = declared(db, model, target, aliases).0;
        if definitions.is_empty() {
            return None;
        }
        let stubs: Vec<_> = definitions.iter().flat_map(|one| stubs::find(db, location(db, one))).collect();
        for (file, range) in stubs {
            let declared =
                target::at(db, db.program_file(file), range.start(), |model, target| target.declared(model, aliases));
            definitions.extend(declared.into_iter().flatten());
        }
        unique(&mut definitions);
        all.extend(definitions.iter().cloned());
        let scope = if all.iter().any(|one| is_reachable(db, one)) {
            Scope::Project
        } else if definitions.iter().any(|one| is_parameter_of_reachable(db, one)) {
            Scope::Arguments
        } else {
            Scope::File
        };
        let locations = definitions.iter().map(|one| location(db, one)).collect();
        let implicit = ImplicitReferences::new(db, &name, &definitions);
        Some(SearchTarget { name, definitions, scope, implicit, aliases, program: model.program(), locations })
    });
    found.flatten()
}

/// The definitions of a target, and whether only the syntax shows them.
pub(super) fn declared<'db>(
    db: &'db Database,
    model: &SemanticModel<'db>,
    target: &Target<'_>,
    aliases: ImportAliasResolution,
) -> (Vec<ResolvedDefinition<'db>>, bool) {
    let mut found = target.declared(model, aliases);
    if let Target::Callee { callee, on_parenthesis: false, .. } = target {
        // The name of a callable object does not refer to what its call runs: `__call__`, or the wrapper that a
        // decorator returns.
        let named = of_expression(model, *callee, aliases);
        let name_of = |one: &ResolvedDefinition<'db>| one.definition().and_then(|definition| definition.name(db));
        let names: Vec<_> = named.iter().map(name_of).collect();
        found.retain(|one| named.is_empty() || named.contains(one) || names.contains(&name_of(one)));
    }
    if found.is_empty()
        && let Some(found) = by_syntax::definitions(db, model, target)
    {
        return (found.definitions, true);
    }
    (found, false)
}

pub(super) fn subject(wanted: &SearchTarget<'_>) -> Subject {
    Subject {
        name: wanted.name.clone(),
        is_local: wanted.scope == Scope::File,
        classes: wanted.implicit.classes.clone(),
        left_out: wanted.implicit.left_out(&wanted.name),
    }
}

/// The references in `files`, and the number of these files whose relative imports cannot be resolved, so that some may be missing.
/// `own` is the file that contains the position of the query.
pub(super) fn find_all<'db>(
    db: &'db Database,
    own: File,
    wanted: &SearchTarget<'db>,
    files: &[File],
    display: &PathDisplay,
    include_declaration: bool,
) -> (Vec<Reference>, usize) {
    let mut others: Vec<File> = files.iter().copied().filter(|file| *file != own).collect();
    if wanted.scope == Scope::File {
        others.clear();
    }
    let keep = |found: &Occurrence| include_declaration || !found.is_declaration;
    let mut classes = wanted.definitions.iter().filter_map(|one| class_of(db, one));
    let is_key = classes.any(|class| name_literals::is_typed_dictionary(db, class));
    let occurrences = |db: &Database, file: File, scope: Scope| {
        let mut found = in_file(db, file, wanted, scope);
        if is_key {
            let keys = name_literals::keys(db, file, wanted).into_iter();
            found.extend(keys.map(|(range, role)| Occurrence {
                range,
                role,
                is_declaration: false,
                is_by_syntax: false,
            }));
        }
        found
    };
    let mut references = to_references(db, own, &occurrences(db, own, Scope::Project), display, keep);
    let are_many = others.len() > TREES_KEPT;
    let defining: Vec<File> = wanted.locations.iter().map(|(file, _)| *file).collect();
    // Passed to the threads as ids: the definitions themselves belong to this thread's handle.
    let further: Vec<(Vec<Reference>, bool)> = others
        .into_par_iter()
        .map_with(db.clone(), |db, file| {
            salsa::attach_allow_change(&*db, || {
                if db.is_over() || !wanted.may_be_in(&source_text(db, file)) {
                    return (Vec::new(), false);
                }
                let is_defining = defining.contains(&file);
                let scope = if is_defining { Scope::Project } else { wanted.scope };
                let found = to_references(db, file, &occurrences(db, file, scope), display, keep);
                let is_unresolved = !is_defining && imports::first_unresolved(db, file).is_some();
                if are_many {
                    check::drop_tree(db, file);
                }
                (found, is_unresolved)
            })
        })
        .collect();
    let unresolved = further.iter().filter(|(_, is_unresolved)| *is_unresolved).count();
    references.extend(further.into_iter().flat_map(|(found, _)| found));
    references.extend(quoted(db, wanted, display, |file| file == own || files.contains(&file)));
    references.sort_by(|a, b| a.span.cmp(&b.span));
    references.dedup_by(|a, b| a.span == b.span);
    (references, unresolved)
}

/// The string occurrences in the member lists of the classes that have the symbol.
fn quoted(
    db: &Database,
    wanted: &SearchTarget<'_>,
    display: &PathDisplay,
    is_looked_at: impl Fn(File) -> bool,
) -> Vec<Reference> {
    let classes: HashSet<Class> = wanted.definitions.iter().filter_map(|one| class_of(db, one)).collect();
    let texts = classes.into_iter().filter(|(file, _)| is_looked_at(*file));
    let texts = texts.flat_map(|class| quoted_names::of_class(db, class, &wanted.name));
    let found = |range| Occurrence { range, role: Role::Read, is_declaration: false, is_by_syntax: false };
    texts.flat_map(|(file, range)| to_references(db, file, &[found(range)], display, |_| true)).collect()
}

fn to_references(
    db: &Database,
    file: File,
    found: &[Occurrence],
    display: &PathDisplay,
    keep: impl Fn(&Occurrence) -> bool,
) -> Vec<Reference> {
    if found.is_empty() {
        return Vec::new();
    }
    let (text, path) = (source_text(db, file), display.path(db, file));
    let lines = Lines::from_source(&text);
    let convert = |found: &Occurrence| {
        let span = lines.span(path.clone(), found.range);
        let preview = preview(lines.line_at(found.range.start()));
        let precision = found.is_by_syntax.then(|| "syntax".to_owned());
        Reference { span, role: found.role.name().to_owned(), preview, precision }
    };
    found.iter().filter(|found| keep(found)).map(convert).collect()
}

/// Every occurrence in one file.
pub(super) fn in_file(db: &Database, file: File, wanted: &SearchTarget<'_>, scope: Scope) -> Vec<Occurrence> {
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let model = SemanticModel::new(db, program_file);
    let mut finder = Finder {
        db,
        model: &model,
        tokens: parsed.tokens(),
        wanted,
        only_arguments: scope == Scope::Arguments,
        around: Vec::new(),
        found: Vec::new(),
    };
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut finder);
    finder.found
}

/// Whether another file can refer to it.
fn is_reachable(db: &Database, found: &ResolvedDefinition<'_>) -> bool {
    match found {
        ResolvedDefinition::Definition(definition) => {
            // An attribute assigned to `self` is visible to all users of the instance.
            matches!(definition.scope(db).scope(db).kind(), ScopeKind::Module | ScopeKind::Class)
                || is_attribute(db, *definition)
        }
        ResolvedDefinition::Module(_) | ResolvedDefinition::FileWithRange(_) => true,
    }
}

fn is_attribute(db: &Database, definition: Definition<'_>) -> bool {
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    match definition.kind(db) {
        DefinitionKind::Assignment(one) => one.target(&parsed).is_attribute_expr(),
        DefinitionKind::AnnotatedAssignment(one) => one.target(&parsed).is_attribute_expr(),
        _ => false,
    }
}

/// Whether it is a parameter of a top-level function, or of a method of a top-level class.
fn is_parameter_of_reachable(db: &Database, found: &ResolvedDefinition<'_>) -> bool {
    let ResolvedDefinition::Definition(definition) = found else { return false };
    let range = found.focus_range(db);
    let parsed = parsed_module(db, definition.python_file(db)).load(db);
    let nodes = covering_node(parsed.syntax().into(), range.range());
    let Ok(parameter) = nodes.find_last(|node| matches!(node, AnyNodeRef::Parameter(_))) else { return false };
    let is_scope = |node: &AnyNodeRef| {
        matches!(node, AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::ExprLambda(_) | AnyNodeRef::StmtClassDef(_))
    };
    let mut around = parameter.ancestors().filter(is_scope);
    let owner_is_function = matches!(around.next(), Some(AnyNodeRef::StmtFunctionDef(_)));
    let rest: Vec<AnyNodeRef> = around.collect();
    owner_is_function && matches!(rest.as_slice(), [] | [AnyNodeRef::StmtClassDef(_)])
}

/// Visits a syntax tree and resolves each name with the text of the wanted one.
struct Finder<'a, 'm, 'db, 'w> {
    db: &'db Database,
    model: &'m SemanticModel<'db>,
    tokens: &'m Tokens,
    wanted: &'w SearchTarget<'w>,
    only_arguments: bool,
    around: Vec<AnyNodeRef<'a>>,
    found: Vec<Occurrence>,
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a, '_, '_, '_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        self.around.push(node);
        if self.only_arguments {
            match node {
                AnyNodeRef::Keyword(ast::Keyword { arg: Some(name), .. }) => {
                    self.identifier(name, Role::Read, false);
                }
                AnyNodeRef::ExprCall(call) => self.unpacked(call),
                _ => {}
            }
            return TraversalSignal::Traverse;
        }
        if let Some((target, range)) = self.wanted.implicit.used(node, &self.wanted.name, self.tokens)
            && let Some(is_by_syntax) = self.means(&target)
        {
            self.found.push(Occurrence { range, role: Role::Call, is_declaration: false, is_by_syntax });
        }
        match node {
            AnyNodeRef::ExprName(name) if name.id.as_str() == self.wanted.name => {
                let nodes = CoveringNode::from_ancestors(self.around.clone());
                self.node(&nodes, role_of(name.ctx), false);
            }
            AnyNodeRef::ExprAttribute(attribute) if attribute.attr.as_str() == self.wanted.name => {
                if !self.identifier(&attribute.attr, role_of(attribute.ctx), false) {
                    self.dotted_module(attribute);
                }
            }
            AnyNodeRef::ExprStringLiteral(text) => self.quoted(text),
            AnyNodeRef::ExprCall(call) => self.unpacked(call),
            AnyNodeRef::StmtImportFrom(from) => {
                if let Some(module) = &from.module {
                    self.module_parts(module, from.level);
                }
            }
            AnyNodeRef::Alias(alias) => {
                if let Some(name) = &alias.asname {
                    self.identifier(name, Role::Import, false);
                }
                self.identifier(&alias.name, Role::Import, false);
                if alias.name.contains('.') {
                    self.module_parts(&alias.name, 0);
                }
            }
            _ => self.declaring(node),
        }
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.around.pop();
    }
}

impl<'a> Finder<'a, '_, '_, '_> {
    /// Names that are part of statements and patterns.
    fn declaring(&mut self, node: AnyNodeRef<'a>) {
        match node {
            AnyNodeRef::StmtFunctionDef(function) => drop(self.identifier(&function.name, Role::Definition, true)),
            AnyNodeRef::StmtClassDef(class) => drop(self.identifier(&class.name, Role::Definition, true)),
            AnyNodeRef::Parameter(parameter) => drop(self.identifier(&parameter.name, Role::Definition, true)),
            AnyNodeRef::TypeParamTypeVar(one) => drop(self.identifier(&one.name, Role::Definition, true)),
            AnyNodeRef::TypeParamParamSpec(one) => drop(self.identifier(&one.name, Role::Definition, true)),
            AnyNodeRef::TypeParamTypeVarTuple(one) => drop(self.identifier(&one.name, Role::Definition, true)),
            AnyNodeRef::Keyword(ast::Keyword { arg: Some(name), .. }) => drop(self.identifier(name, Role::Read, false)),
            AnyNodeRef::PatternKeyword(ast::PatternKeyword { attr, .. }) => {
                self.identifier(attr, Role::Read, false);
            }
            AnyNodeRef::StmtGlobal(ast::StmtGlobal { names, .. })
            | AnyNodeRef::StmtNonlocal(ast::StmtNonlocal { names, .. }) => {
                for name in names {
                    self.identifier(name, Role::Read, false);
                }
            }
            AnyNodeRef::ExceptHandlerExceptHandler(ast::ExceptHandlerExceptHandler { name: Some(name), .. })
            | AnyNodeRef::PatternMatchAs(ast::PatternMatchAs { name: Some(name), .. })
            | AnyNodeRef::PatternMatchStar(ast::PatternMatchStar { name: Some(name), .. })
            | AnyNodeRef::PatternMatchMapping(ast::PatternMatchMapping { rest: Some(name), .. }) => {
                self.identifier(name, Role::Write, false);
            }
            _ => {}
        }
    }

    /// Adds the identifier, a child of the current node, if it refers to the symbol. Returns whether it does.
    fn identifier(&mut self, name: &'a ast::Identifier, role: Role, is_declaration: bool) -> bool {
        if name.as_str() != self.wanted.name {
            return false;
        }
        let mut around = self.around.clone();
        around.push(AnyNodeRef::from(name));
        self.node(&CoveringNode::from_ancestors(around), role, is_declaration)
    }

    fn node(&mut self, nodes: &CoveringNode<'a>, role: Role, is_declaration: bool) -> bool {
        let node = nodes.node();
        let Some(target) = Target::from_node(nodes, node.start(), self.tokens) else { return false };
        let Some(is_by_syntax) = self.means(&target) else { return false };
        // The first assignment to a name declares it.
        let first = role == Role::Write && self.is_own_definition(node.range());
        let role = if first { Role::Definition } else { role };
        let is_declaration = is_declaration || first;
        self.found.push(Occurrence { range: node.range(), role, is_declaration, is_by_syntax });
        true
    }

    /// Whether the target refers to the symbol, and if so, whether only the syntax shows it.
    fn means(&self, target: &Target<'_>) -> Option<bool> {
        let (found, is_by_syntax) = declared(self.db, self.model, target, self.wanted.aliases);
        self.wanted.is_any_of(self.model, self.db, &found).then_some(is_by_syntax)
    }

    /// Whether the first of the wanted definitions is at this range.
    fn is_own_definition(&self, range: TextRange) -> bool {
        self.wanted.definitions.first().is_some_and(|first| {
            let focus = first.focus_range(self.db);
            focus.file() == self.model.file() && focus.range().contains_range(range)
        })
    }

    /// The keys of a dictionary that is written in a call after `**` are keyword arguments.
    fn unpacked(&mut self, call: &ast::ExprCall) {
        let unpacked = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_none());
        for item in unpacked.filter_map(|keyword| keyword.value.as_dict_expr()).flat_map(|dict| &dict.items) {
            let Some(ast::Expr::StringLiteral(key)) = &item.key else { continue };
            if key.value.to_str() != self.wanted.name {
                continue;
            }
            let text = source_text(self.db, self.model.file());
            let Some(range) = within_literal(&text, key, &self.wanted.name) else { continue };
            let name = ast::Identifier::new(self.wanted.name.as_str(), range);
            let (arg, value, node_index) = (Some(name.clone()), item.value.clone(), ast::AtomicNodeIndex::NONE);
            let keyword = ast::Keyword { range: item.range(), node_index, arg, value };
            if let Some(is_by_syntax) = self.means(&Target::Keyword { name: &name, keyword: &keyword, call }) {
                self.found.push(Occurrence { range, role: Role::Read, is_declaration: false, is_by_syntax });
            }
        }
    }

    /// `package.module` where the module is not bound in the package: resolved like an import.
    fn dotted_module(&mut self, attribute: &'a ast::ExprAttribute) {
        let Some(name) = dotted(attribute) else { return };
        let mut root = &*attribute.value;
        while let ast::Expr::Attribute(inner) = root {
            root = &inner.value;
        }
        if !matches!(root.inferred_type(self.model), Some(Type::ModuleLiteral(_))) {
            return;
        }
        let range = attribute.attr.range;
        if let Some(is_by_syntax) = self.means(&Target::Module { name, level: 0, range }) {
            self.found.push(Occurrence { range, role: Role::Read, is_declaration: false, is_by_syntax });
        }
    }

    fn module_parts(&mut self, module: &'a ast::Identifier, level: u32) {
        let mut start = 0;
        for part in module.as_str().split('.') {
            let end = start + part.len();
            if part == self.wanted.name
                && let Some(target) = module_part(module, level, start, end)
                && let Some(is_by_syntax) = self.means(&target)
            {
                let (range, role) = (target.range(), Role::Import);
                self.found.push(Occurrence { range, role, is_declaration: false, is_by_syntax });
            }
            start = end + 1;
        }
    }

    /// A string annotation has a syntax tree of its own.
    fn quoted(&mut self, text: &'a ast::ExprStringLiteral) {
        if !text.value.to_str().contains(self.wanted.name.as_str()) {
            return;
        }
        let Some((quoted, model)) = self.model.enter_string_annotation(text) else { return };
        let mut inner = Finder {
            db: self.db,
            model: &model,
            tokens: quoted.tokens(),
            wanted: self.wanted,
            only_arguments: false,
            around: Vec::new(),
            found: Vec::new(),
        };
        inner.visit_expr(quoted.expr());
        self.found.append(&mut inner.found);
    }
}

/// `a.b.c` as written; `None` if it contains anything except names.
fn dotted(attribute: &ast::ExprAttribute) -> Option<String> {
    let before = match &*attribute.value {
        ast::Expr::Name(name) => name.id.to_string(),
        ast::Expr::Attribute(inner) => dotted(inner)?,
        _ => return None,
    };
    Some(format!("{before}.{}", attribute.attr))
}
