//! Places where a name is shared with something that is not renamed along, although every reference is certain.
//!
//! Owns two kinds: an import that binds the name of a definition in the same module, and a call of a class that may be a
//! subclass with a parameter of its own. Does not own strings (`string_names`).

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::pytypes::ty::api::{
    AnyNodeRef, ExprRef, File, HasType, SemanticDb as _, SemanticModel, SourceOrderVisitor, TextSize, TraversalSignal,
    Type, ast, contains_identifier, parsed_module, source_text,
};
use crate::pytypes::ty::class_members::{self, Class, Member, class_around, function_of, members_of};
use crate::pytypes::ty::db::{Database, Db as _};
use crate::pytypes::ty::family;
use crate::pytypes::ty::search_target::{SearchTarget, location};

const IMPORTED: &str = "it binds the name, too, from a module that is not found";
const OF_SUBCLASS: &str = "the class may be a subclass, whose constructor has a parameter of this name";
const CONSTRUCTORS: &[&str] = &["__init__", "__new__"];

/// The search for such places of one symbol.
pub(super) struct SharedNames<'w, 'db> {
    wanted: &'w SearchTarget<'db>,
    /// Classes of the methods whose parameter the symbol is.
    classes: Vec<Class>,
    /// Whether a constructor in a subclass of theirs has such a parameter of its own. All files are searched for it.
    is_taken_below: OnceCell<bool>,
}

impl<'w, 'db> SharedNames<'w, 'db> {
    pub fn new(db: &Database, wanted: &'w SearchTarget<'db>) -> Self {
        let parameters = wanted.definitions.iter().filter(|one| function_of(db, one).is_some());
        let class = |one| {
            let (file, range) = location(db, one);
            class_around(db, file, range)
        };
        Self { wanted, classes: parameters.filter_map(class).collect(), is_taken_below: OnceCell::new() }
    }

    /// The places in a file, each with the reason. `edited` are the certain references in it.
    pub fn find(&self, db: &Database, file: File, edited: &HashSet<TextSize>) -> Vec<(TextSize, &'static str)> {
        let program_file = db.program_file(file);
        let parsed = parsed_module(db, program_file.python_file(db)).load(db);
        let model = SemanticModel::new(db, program_file);
        let name = &self.wanted.name;
        let mut found = Vec::new();
        let mut own = self.wanted.locations.iter().filter(|(own, _)| *own == file).peekable();
        if own.peek().is_some() {
            let of_module = class_members::names_of(parsed.suite(), name);
            if own.any(|(_, range)| of_module.contains(range)) {
                let mut imports = Imports { model: &model, name, found: Vec::new() };
                imports.visit_body(parsed.suite());
                found.extend(imports.found.into_iter().filter(|at| !edited.contains(at)).map(|at| (at, IMPORTED)));
            }
        }
        if !self.classes.is_empty() {
            let mut calls = CallsOfSubclasses { model: &model, name, edited, found: Vec::new() };
            AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut calls);
            if !calls.found.is_empty() && *self.is_taken_below.get_or_init(|| self.find_below(db)) {
                found.extend(calls.found.into_iter().map(|at| (at, OF_SUBCLASS)));
            }
        }
        found
    }

    fn find_below(&self, db: &Database) -> bool {
        let is_other = |member: Member| !self.wanted.locations.contains(&member);
        let takes_it = |class: &Class| {
            let constructors = CONSTRUCTORS.iter().flat_map(|name| members_of(db, *class, name));
            constructors.filter_map(|one| class_members::parameter(db, one, &self.wanted.name)).any(is_other)
        };
        let files = db.project().files(db).iter().copied();
        let mut files = files.filter(|file| contains_identifier(&source_text(db, *file), &self.wanted.name));
        files.any(|file| {
            let mut classes = family::classes(db, file).into_iter().filter(takes_it);
            classes.any(|class| family::above(db, class).iter().any(|above| self.classes.contains(above)))
        })
    }
}

/// Imports at the top level of a module, conditional ones included, that bind the name and find nothing.
struct Imports<'m, 'db> {
    model: &'m SemanticModel<'db>,
    name: &'m str,
    found: Vec<TextSize>,
}

impl<'a> SourceOrderVisitor<'a> for Imports<'_, '_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::StmtClassDef(_) => return TraversalSignal::Skip,
            AnyNodeRef::StmtImportFrom(import) => {
                let is_it = |alias: &&ast::Alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str() == self.name;
                let is_unknown =
                    |alias: &&ast::Alias| matches!(alias.inferred_type(self.model), None | Some(Type::Dynamic(_)));
                let bound = import.names.iter().filter(is_it).filter(is_unknown);
                self.found.extend(bound.map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).range.start()));
            }
            _ => {}
        }
        if node.is_expression() { TraversalSignal::Skip } else { TraversalSignal::Traverse }
    }
}

/// Certain keyword arguments in calls of a class that is known only as some subclass: `type(self)(size=1)`, `cls(size=1)`.
struct CallsOfSubclasses<'m, 'db> {
    model: &'m SemanticModel<'db>,
    name: &'m str,
    edited: &'m HashSet<TextSize>,
    found: Vec<TextSize>,
}

impl<'a> SourceOrderVisitor<'a> for CallsOfSubclasses<'_, '_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::ExprCall(call) = node {
            let names = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref());
            let names = names.filter(|name| name.as_str() == self.name && self.edited.contains(&name.range.start()));
            let named: Vec<TextSize> = names.map(|name| name.range.start()).collect();
            let is_subclass =
                || matches!(ExprRef::from(&*call.func).inferred_type(self.model), Some(Type::SubclassOf(_)));
            if !named.is_empty() && is_subclass() {
                self.found.extend(named);
            }
        }
        TraversalSignal::Traverse
    }
}
