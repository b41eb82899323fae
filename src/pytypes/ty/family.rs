//! Members that share a name because one overrides the other.
//!
//! Owns finding the members of the same name in the superclasses and subclasses of a class.

use std::collections::{HashMap, HashSet};

use super::api::{
    AnyNodeRef, File, HasType, ProgramFile, SemanticDb as _, SemanticModel, SourceOrderVisitor, TextRange,
    TraversalSignal, contains_identifier, parsed_module, source_text, type_hierarchy_supertypes,
};
use super::by_syntax;
use super::class_members::{Class, Member, class_at, members_of};
use super::db::{Database, Db};
use super::quoted_names;

/// Finds the related members of one name.
pub(super) struct Families<'a> {
    db: &'a Database,
    name: &'a str,
    /// Files that contain the name.
    files: &'a [File],
    supers: HashMap<Class, HashSet<Class>>,
    naming: Option<Vec<NamingClass>>,
}

/// A class that declares the name.
#[derive(Clone)]
struct NamingClass {
    class: Class,
    members: Vec<Member>,
    /// Occurrences as strings, in `__slots__` or `__match_args__`.
    quoted: Vec<Member>,
}

impl<'a> Families<'a> {
    pub fn new(db: &'a Database, name: &'a str, files: &'a [File]) -> Self {
        Self { db, name, files, supers: HashMap::new(), naming: None }
    }

    /// The declarations of the member in all related classes, and its occurrences as strings in them.
    pub fn members(&mut self, class: Class) -> (Vec<Member>, Vec<Member>) {
        let mut family = HashSet::from([class]);
        let naming = self.naming();
        loop {
            let before = family.len();
            for NamingClass { class: other, .. } in &naming {
                let is_related = family.contains(other)
                    || self.supers(*other).iter().any(|above| family.contains(above))
                    || family.clone().iter().any(|one| self.supers(*one).contains(other));
                if is_related {
                    family.insert(*other);
                }
            }
            if family.len() == before {
                break;
            }
        }
        let (mut members, mut quoted) = (Vec::new(), Vec::new());
        for one in naming.into_iter().filter(|one| family.contains(&one.class)) {
            members.extend(one.members);
            quoted.extend(one.quoted);
        }
        (members, quoted)
    }

    /// Superclasses outside the searched files, including library classes, that have a member of that name.
    pub fn foreign(&mut self, class: Class) -> Vec<Class> {
        let above = self.supers(class);
        let own: HashSet<File> = self.files.iter().copied().collect();
        let (db, name) = (self.db, self.name);
        let foreign = above.into_iter().filter(|(file, _)| !own.contains(file));
        let names_it = |class: &Class| {
            !members_of(db, *class, name).is_empty() || !quoted_names::of_class(db, *class, name).is_empty()
        };
        foreign.filter(names_it).collect()
    }

    fn naming(&mut self) -> Vec<NamingClass> {
        let (db, name, files) = (self.db, self.name, self.files);
        let find = || {
            let mut naming = Vec::new();
            for file in files.iter().filter(|file| contains_identifier(&source_text(db, **file), name)) {
                for class in classes(db, *file) {
                    let (members, quoted) = (members_of(db, class, name), quoted_names::of_class(db, class, name));
                    if !(members.is_empty() && quoted.is_empty()) {
                        naming.push(NamingClass { class, members, quoted });
                    }
                }
            }
            naming
        };
        self.naming.get_or_insert_with(find).clone()
    }

    fn supers(&mut self, class: Class) -> HashSet<Class> {
        if let Some(known) = self.supers.get(&class) {
            return known.clone();
        }
        let found = above(self.db, class);
        self.supers.insert(class, found.clone());
        found
    }
}

/// All superclasses.
pub(super) fn above(db: &Database, class: Class) -> HashSet<Class> {
    let mut found = HashSet::new();
    let mut waiting = vec![class];
    while let Some(next) = waiting.pop() {
        waiting.extend(bases(db, next).iter().copied().filter(|base| found.insert(*base)));
    }
    found
}

/// The direct base classes.
pub(super) fn bases(db: &Database, (file, range): Class) -> &[Class] {
    bases_of(db, db.program_file(file), range)
}

/// Memoized until a type that it depends on changes.
#[salsa::tracked(returns(deref))]
fn bases_of<'db>(db: &'db dyn Db, file: ProgramFile<'db>, range: TextRange) -> Vec<Class> {
    let db = db.itself();
    let parsed = parsed_module(db, file.python_file(db)).load(db);
    let Some(class) = class_at(parsed.syntax().into(), range) else { return Vec::new() };
    let model = SemanticModel::new(db, file);
    let Some(inferred) = class.inferred_type(&model) else { return Vec::new() };
    let above = type_hierarchy_supertypes(db, &model.program_environment(), inferred);
    let mut found: Vec<Class> = above.into_iter().map(|one| (one.file.file(db), one.selection_range)).collect();
    let untyped = class.bases().iter().filter(|base| by_syntax::is_untyped(db, &model, base));
    found.extend(untyped.flat_map(|base| by_syntax::classes(db, &model, base)));
    found
}

pub(super) fn classes(db: &Database, file: File) -> Vec<Class> {
    struct Names(Vec<TextRange>);
    impl<'a> SourceOrderVisitor<'a> for Names {
        fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
            if let AnyNodeRef::StmtClassDef(class) = node {
                self.0.push(class.name.range);
            }
            if node.is_expression() { TraversalSignal::Skip } else { TraversalSignal::Traverse }
        }
    }
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let mut names = Names(Vec::new());
    AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut names);
    names.0.into_iter().map(|range| (file, range)).collect()
}
