//! Members of one name across classes that inherit from each other: what is renamed together.
//!
//! Owns the walk from class to class, over the classes of candidate files and their bases.

use std::collections::{HashMap, HashSet};

use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{self as ast, AnyNodeRef, Expr, ExprRef, Stmt};
use ty_python_core::definition::{Definition, DefinitionKind};
use ty_python_core::scope::{NodeWithScopeKind, ScopeKind};
use ty_python_core::semantic_index;
use ty_python_semantic::{
    Db as _, HasDefinition, ImportAliasResolution, ResolvedDefinition, SemanticModel, definitions_for_name,
};

use super::db::{Database, Db as _};
use super::references::Wanted;
use super::target::{Target, unique};

/// Adds to what is wanted the members of the same name that it overrides or that override it, of classes in `files`.
/// Gives the name of a class outside the project that defines one too.
pub(super) fn widen<'db>(db: &'db Database, wanted: &mut Wanted<'db>, files: &[File]) -> Option<String> {
    let mut family: HashSet<Definition<'db>> = HashSet::new();
    for one in &wanted.definitions {
        family.extend(one.definition().and_then(|one| class_of(db, one)));
    }
    if family.is_empty() {
        return None;
    }
    let mut ancestry = Ancestry { db, known: HashMap::new() };
    let defining: Vec<(Definition<'db>, Vec<ResolvedDefinition<'db>>)> =
        files.iter().flat_map(|file| classes_defining(db, *file, &wanted.name)).collect();
    loop {
        let before = family.len();
        for (class, members) in &defining {
            if family.contains(class) {
                continue;
            }
            let is_heir = ancestry.of(*class).iter().any(|above| family.contains(above));
            let is_above = !is_heir && family.clone().iter().any(|own| ancestry.of(*own).contains(class));
            if is_heir || is_above {
                family.insert(*class);
                wanted.definitions.extend(members.iter().cloned());
            }
        }
        if family.len() == before {
            break;
        }
    }
    unique(&mut wanted.definitions);
    let own = db.project().files(db);
    let mut outside =
        family.iter().flat_map(|class| ancestry.of(*class)).filter(|class| !own.contains(&class.file(db)));
    outside.find(|class| defines(db, *class, &wanted.name)).and_then(|class| class.name(db))
}

/// The class that a member is of: by its body, or by a method that gives it to the receiver.
fn class_of<'db>(db: &'db Database, member: Definition<'db>) -> Option<Definition<'db>> {
    let scope = member.scope(db);
    let parsed = parsed_module(db, member.python_file(db)).load(db);
    if let NodeWithScopeKind::Class(class) = scope.node(db) {
        let index = semantic_index(db, member.program_file(db));
        return Some(index.expect_single_definition(class.node(&parsed)));
    }
    let is_attribute = match member.kind(db) {
        DefinitionKind::Assignment(one) => one.target(&parsed).is_attribute_expr(),
        DefinitionKind::AnnotatedAssignment(one) => one.target(&parsed).is_attribute_expr(),
        _ => false,
    };
    (is_attribute && scope.scope(db).kind() == ScopeKind::Function).then(|| scope.class_definition_of_method(db))?
}

/// What each class inherits from, all the way up, itself left out.
struct Ancestry<'db> {
    db: &'db Database,
    known: HashMap<Definition<'db>, HashSet<Definition<'db>>>,
}

impl<'db> Ancestry<'db> {
    fn of(&mut self, class: Definition<'db>) -> HashSet<Definition<'db>> {
        if let Some(known) = self.known.get(&class) {
            return known.clone();
        }
        let mut above = HashSet::new();
        let mut open = bases(self.db, class);
        while let Some(base) = open.pop() {
            if base != class && above.insert(base) {
                open.extend(bases(self.db, base));
            }
        }
        self.known.insert(class, above.clone());
        above
    }
}

fn bases<'db>(db: &'db Database, class: Definition<'db>) -> Vec<Definition<'db>> {
    let parsed = parsed_module(db, class.python_file(db)).load(db);
    let DefinitionKind::Class(node) = class.kind(db) else { return Vec::new() };
    let model = SemanticModel::new(db, class.program_file(db));
    let mut found = Vec::new();
    for base in node.node(&parsed).bases() {
        // `Base[int]` inherits from `Base`.
        let named = match base {
            Expr::Subscript(subscript) => &*subscript.value,
            base => base,
        };
        let target = Target::Expression(ExprRef::from(named));
        for one in target.definitions(&model, ImportAliasResolution::ResolveAliases) {
            found.extend(one.definition().filter(|one| one.kind(db).as_class().is_some()));
        }
    }
    found
}

fn defines(db: &Database, class: Definition<'_>, name: &str) -> bool {
    let parsed = parsed_module(db, class.python_file(db)).load(db);
    let DefinitionKind::Class(node) = class.kind(db) else { return false };
    node.node(&parsed).body.iter().any(|statement| match statement {
        Stmt::FunctionDef(function) => function.name.as_str() == name,
        Stmt::AnnAssign(assign) => is_named(&assign.target, name),
        Stmt::Assign(assign) => assign.targets.iter().any(|target| is_named(target, name)),
        _ => false,
    })
}

fn is_named(target: &Expr, name: &str) -> bool {
    matches!(target, Expr::Name(target) if target.id.as_str() == name)
}

type Defining<'db> = (Definition<'db>, Vec<ResolvedDefinition<'db>>);

/// Classes of a file whose bodies define a name, with what they define.
fn classes_defining<'db>(db: &'db Database, file: File, name: &str) -> Vec<Defining<'db>> {
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let model = SemanticModel::new(db, program_file);
    let mut finder = Finder { model: &model, name, found: Vec::new() };
    finder.visit_body(parsed.suite());
    finder.found
}

struct Finder<'a, 'db> {
    model: &'a SemanticModel<'db>,
    name: &'a str,
    found: Vec<Defining<'db>>,
}

impl<'s> SourceOrderVisitor<'s> for Finder<'_, '_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        if let Stmt::ClassDef(class) = statement {
            self.class(class);
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, _expression: &'s Expr) {}
}

impl Finder<'_, '_> {
    fn class(&mut self, class: &ast::StmtClassDef) {
        let mut members = Vec::new();
        for statement in &class.body {
            match statement {
                Stmt::FunctionDef(function) if function.name.as_str() == self.name => {
                    members.push(ResolvedDefinition::Definition(function.definition(self.model)));
                }
                Stmt::AnnAssign(assign) if is_named(&assign.target, self.name) => {
                    self.name_of(&assign.target, &mut members);
                }
                Stmt::Assign(assign) => {
                    for target in assign.targets.iter().filter(|target| is_named(target, self.name)) {
                        self.name_of(target, &mut members);
                    }
                }
                _ => {}
            }
        }
        if !members.is_empty() {
            self.found.push((class.definition(self.model), members));
        }
    }
}

impl<'db> Finder<'_, 'db> {
    fn name_of(&self, target: &Expr, members: &mut Vec<ResolvedDefinition<'db>>) {
        let node = AnyNodeRef::from(target);
        let aliases = ImportAliasResolution::PreserveAliases;
        members.extend(definitions_for_name(self.model, self.name, node, aliases));
    }
}
