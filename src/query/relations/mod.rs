//! Relations between definitions: the definition that a name refers to, and which definitions call, inherit, implement,
//! import or contain others.
//!
//! The index holds what each file states. Names are resolved here when asked, so that a change in one file never
//! touches the rows of another. Owns the queries; `resolve` has the rules, `families` the differences between
//! languages.

mod aliases;
mod bindings;
mod blocks;
pub(crate) mod call_graph;
mod chains;
mod declarations;
mod dotted;
mod exports;
mod expressions;
mod families;
mod fields;
mod forms;
mod implementations;
mod kinds;
mod modules;
mod objects;
mod occurrence;
mod opened;
mod packages;
mod ranked;
pub(crate) mod reach;
mod receiver;
mod resolution;
mod resolve;
mod rust_values;
mod scopes;
mod standard;
mod stated;
mod statements;
mod traits;
mod types;
mod variables;

use std::collections::HashSet;
use std::rc::Rc;

use super::qualified_name::qualified;
use crate::error::Result;
use crate::store::{DefinitionNode, Reference, Snapshot};

pub use self::aliases::Alias;
pub(crate) use self::aliases::MAX_NAMES;
use self::aliases::UnderOtherNames;
pub(crate) use self::kinds::is_test;
pub(crate) use self::occurrence::ITSELF;
pub use self::occurrence::{Occurrence, Wanted};
use self::opened::ParsedFile;
pub(crate) use self::opened::{read_words, words_of};
pub(crate) use self::resolution::package_of;
pub use self::resolution::{Resolution, ResolutionRule, Resolver};

/// A definition, or a position in one, that something relates to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub path: String,
    pub line: u32,
    /// Qualified.
    pub name: String,
    pub kind: String,
    pub how: ResolutionRule,
    /// The column of a reference; 1 for a definition.
    column: u32,
}

/// All that relates in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub relation: &'static str,
    /// The most certain first, then by position; at most as many as asked for.
    pub items: Vec<Related>,
    pub total: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relations {
    /// Without empty groups.
    pub groups: Vec<Group>,
    /// References to the name that were too many to look at.
    pub unexamined: usize,
    /// Why its implementers are unknown, if the language does not state them.
    pub unstated: Option<&'static str>,
}

/// References to one name that are resolved for one answer.
const EXAMINED: usize = 2_000;
/// Rows asked for of importers and subtypes.
const STATED: usize = 1_000;

/// Everything that relates to a definition, each group cut at `limit` items.
pub fn of_symbol(resolver: &mut Resolver, subject: &DefinitionNode, limit: usize) -> Result<Relations> {
    let mut groups = Groups::new(limit);
    let Some(file) = resolver.library.open(&subject.definition.path)? else { return Ok(groups.done(0)) };
    contained(resolver, &file, subject, &mut groups)?;
    calls(resolver, &file, subject, &mut groups)?;
    for (stated, found) in resolver.heritage(subject, 0)?.iter() {
        let relation = if stated.kind == "implements" { "implements" } else { "inherits" };
        match found {
            Some(found) => groups.add_best(relation, found),
            None => groups.add(relation, outside(&file.path, stated.line, &stated.target, "type")),
        }
    }
    for name in written_names(subject) {
        subtypes(resolver, subject, name, None, &mut groups)?;
    }
    implementations::implementations(resolver, subject, &mut groups)?;
    let unexamined = references(resolver, subject, &mut groups)?;
    let unstated = implementations::unstated(resolver, subject)?;
    Ok(Relations { unstated, ..groups.done(unexamined) })
}

/// Everything that relates to a file as a module.
pub fn of_file(snapshot: &Snapshot, path: &str, limit: usize) -> Result<Option<Relations>> {
    let mut resolver = Resolver::new(snapshot);
    let mut groups = Groups::new(limit);
    let Some(file) = resolver.library.open(path)? else { return Ok(None) };
    for declared in resolver.library.symbols(&file)?.iter().filter(|d| d.parent.is_none()) {
        groups.add("contains", related(declared, ResolutionRule::File));
    }
    for import in &file.imports {
        let name = import.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
        let written = format!("{}{name}", import.target);
        let mut paths: Vec<String> = Vec::new();
        for module in resolver.library.modules(&file, &import.target, import.line)? {
            // The name may be that of a module itself.
            let own: Vec<String> = import.name.iter().filter(|name| *name != "*").cloned().collect();
            for module in [module.child(&own), module] {
                paths.extend(resolver.library.files_of(&file, &module)?.first().cloned());
            }
        }
        let found = paths.into_iter().next();
        groups.add(
            "imports",
            match found {
                Some(path) => Related {
                    path,
                    line: 1,
                    name: written,
                    kind: "module".to_owned(),
                    how: ResolutionRule::Import,
                    column: 1,
                },
                None => outside(&file.path, import.line, &written, "module"),
            },
        );
    }
    for (importer, line) in importers(&mut resolver, &file, false)? {
        let name = modules::stem(&importer).to_owned();
        groups.add(
            "imported by",
            Related { path: importer, line, name, kind: "module".to_owned(), how: ResolutionRule::Import, column: 1 },
        );
    }
    Ok(Some(groups.done(0)))
}

/// Whether a reference refers to one of some definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It does: the code states it.
    Does,
    /// Nothing shows that it does not.
    May,
    /// It is imported from a module of this repository in which nothing of the name was found: it may.
    Unfollowed,
    /// It is known to refer to something else.
    Other,
}

/// Whether a reference may refer to one of these definitions: not if it is known to refer to something else.
pub fn may_refer_to(resolver: &mut Resolver, used: &Reference, wanted: &[(String, u32, u32)]) -> Result<bool> {
    Ok(reading(resolver, used, wanted)? != Reading::Other)
}

/// Says how a reference may refer to one of these definitions, and whether an import could not be followed.
pub fn reading(resolver: &mut Resolver, used: &Reference, wanted: &[(String, u32, u32)]) -> Result<Reading> {
    let Some(found) = resolver.resolve(used)? else {
        return Ok(if resolver.is_unreachable(used, wanted)? { Reading::Other } else { Reading::May });
    };
    let is_wanted = |target: &Rc<DefinitionNode>| {
        let definition = &target.definition;
        wanted.iter().any(|(path, line, column)| {
            *path == definition.path && *line == definition.line && *column == definition.column
        })
    };
    match (found.how.is_proof(), found.targets.iter().any(is_wanted)) {
        (false, is_target) => {
            let is_other = !is_target && resolver.is_unreachable(used, wanted)?;
            return Ok(if is_other { Reading::Other } else { Reading::May });
        }
        (true, true) => return Ok(Reading::Does),
        (true, false) => {}
    }
    let is_unfollowed = found.targets.is_empty() && resolver.imports_from_here(used)?;
    Ok(if is_unfollowed { Reading::Unfollowed } else { Reading::Other })
}

fn contained(
    resolver: &mut Resolver,
    file: &Rc<ParsedFile>,
    subject: &DefinitionNode,
    groups: &mut Groups,
) -> Result<()> {
    let whole = qualified(&subject.definition);
    let mut inside = resolver.library.snapshot.children(subject.id)?;
    if kinds::is_type(&subject.definition.kind) && file.family.open_types {
        let folder = modules::folder(&file.path);
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        inside.extend(resolver.library.snapshot.members_in_folder(&folder, &file.language, &whole, STATED)?);
    }
    inside.extend(
        resolver.library.symbols(file)?.iter().filter(|d| types::is_member_of(d, subject)).map(|d| (**d).clone()),
    );
    let mut seen = HashSet::from([subject.id]);
    for declared in inside.iter().filter(|d| seen.insert(d.id)) {
        groups.add("contains", related(declared, ResolutionRule::Container));
    }
    let around = match resolver.owner(file, subject)? {
        Some(owner) => related(&owner, ResolutionRule::Container),
        None => {
            let name = subject.definition.container.clone();
            let (kind, line) = if name.is_some() { ("container", subject.definition.line) } else { ("file", 1) };
            let name = name.unwrap_or_else(|| modules::stem(&file.path).to_owned());
            Related { path: file.path.clone(), line, name, kind: kind.to_owned(), how: ResolutionRule::File, column: 1 }
        }
    };
    groups.add("contained by", around);
    Ok(())
}

fn calls(resolver: &mut Resolver, file: &Rc<ParsedFile>, subject: &DefinitionNode, groups: &mut Groups) -> Result<()> {
    let mut called: Vec<Resolution> = Vec::new();
    for used in resolver.library.calls_within(file, subject)?.iter().take(EXAMINED) {
        let Some(found) = resolver.resolve(used)? else { continue };
        let Some(best) = found.targets.first() else { continue };
        match called.iter_mut().find(|known| known.targets[0].id == best.id) {
            Some(known) => known.how = known.how.min(found.how),
            None => called.push(found),
        }
    }
    for found in &called {
        groups.add_best("calls", found);
    }
    Ok(())
}

/// The names under which subtypes may state a definition: its own, and the last parts of the qualified names that aliases
/// give.
fn written_names(subject: &DefinitionNode) -> Vec<&str> {
    let name = subject.definition.name.as_str();
    let dots = name.match_indices('.').filter(|_| kinds::contains(&subject.definition.kind));
    std::iter::once(name).chain(dots.map(|(at, _)| &name[at + 1..])).collect()
}

/// Definitions that inherit from a definition under a name: its own, or the one that `only` this file gives it.
fn subtypes(
    resolver: &mut Resolver,
    subject: &DefinitionNode,
    name: &str,
    only: Option<&str>,
    groups: &mut Groups,
) -> Result<()> {
    let mut stated = resolver.library.snapshot.subtypes_of(name, STATED)?;
    stated.retain(|heir| only.is_none_or(|path| heir.path == path));
    for heir in stated {
        let relation = if heir.kind == "implements" { "implemented by" } else { "inherited by" };
        let declared = match heir.symbol {
            Some(symbol) => resolver.library.snapshot.declared(symbol)?,
            None => None,
        };
        let Some(declared) = declared else {
            // An implementation outside its type.
            let (path, line) = (heir.path.clone(), heir.line);
            let used = Reference { path, name: name.to_owned(), kind: heir.kind, line, column: 1 };
            let name = heir.name.unwrap_or_default();
            if let Some(found) = resolver.resolve(&used)?.filter(|found| means(found, subject)) {
                let kind = "implementation".to_owned();
                groups
                    .add(relation, Related { path: heir.path, line: heir.line, name, kind, how: found.how, column: 1 });
            }
            continue;
        };
        let found = resolver.base(&heir.path, heir.line, name, 0)?;
        if let Some(found) = found.filter(|found| declared.id != subject.id && means(found, subject)) {
            groups.add(relation, related(&declared, found.how));
        }
    }
    Ok(())
}

/// References to a definition; returns how many references to its name were too many to look at.
fn references(resolver: &mut Resolver, subject: &DefinitionNode, groups: &mut Groups) -> Result<usize> {
    // A reference has the last part of a qualified name.
    let name = written_names(subject).pop().unwrap_or_default();
    let (mut references, total) = resolver.library.snapshot.references(name, 0, EXAMINED)?;
    let unexamined = total - references.len();
    // Heirs are recognized by what their files state.
    references.retain(|used| kinds::is_use(&used.kind));
    let mut imports = Vec::new();
    for used in references {
        let Some(found) = resolver.resolve(&used)?.filter(|found| means(found, subject)) else { continue };
        groups.add_use(&used, found.how);
        if used.kind == "import" {
            imports.push(used);
        }
    }
    let UnderOtherNames { names, references } = resolver.references_under_other_names(subject, &imports)?;
    for alias in names {
        subtypes(resolver, subject, &alias.name, alias.only_in.as_deref(), groups)?;
    }
    for (used, how) in references.iter().filter(|(used, _)| kinds::is_use(&used.kind)) {
        groups.add_use(used, *how);
    }
    // Only what is shown is worth a name.
    for relation in ["called by", "used by", "imported by"] {
        let Some(group) = groups.cut(relation) else { continue };
        for item in &mut group.items {
            let Some(file) = resolver.library.open(&item.path)? else { continue };
            match resolver.library.around_position(&file, (item.line, item.column))?.first() {
                Some(around) => {
                    (item.name, item.kind) = (qualified(&around.definition), around.definition.kind.clone());
                }
                None => (item.name, item.kind) = (modules::stem(&item.path).to_owned(), "file".to_owned()),
            }
        }
    }
    Ok(unexamined)
}

/// Files that import this one, and where they say so: all, or those of tests.
fn importers(resolver: &mut Resolver, file: &Rc<ParsedFile>, only_tests: bool) -> Result<Vec<(String, u32)>> {
    let mut found: Vec<(String, u32)> = Vec::new();
    for (target, own) in modules::spellings(file.family, &file.path) {
        for (path, import) in resolver.library.snapshot.importers_of(&target, STATED)? {
            let named = own.as_ref().is_none_or(|own| import.name.as_ref() == Some(own));
            let named = named && (!only_tests || resolver.library.is_test(&path));
            if !named {
                continue;
            }
            let Some(importer) = resolver.library.open(&path)? else { continue };
            for module in resolver.library.modules(&importer, &import.target, import.line)? {
                let module = module.child(own.as_slice());
                if resolver.library.files_of(&importer, &module)?.first() == Some(&file.path) {
                    found.push((path.clone(), import.line));
                }
            }
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    Ok(found)
}

fn means(found: &Resolution, subject: &DefinitionNode) -> bool {
    found.targets.iter().any(|target| target.id == subject.id)
}

fn related(declared: &DefinitionNode, how: ResolutionRule) -> Related {
    let definition = &declared.definition;
    Related {
        path: definition.path.clone(),
        line: definition.line,
        name: qualified(&declared.definition),
        kind: definition.kind.clone(),
        how,
        column: 1,
    }
}

/// A relation to a name that the repository does not define.
fn outside(path: &str, line: u32, name: &str, kind: &str) -> Related {
    let kind = format!("{kind} elsewhere");
    Related { path: path.to_owned(), line, name: name.to_owned(), kind, how: ResolutionRule::Name, column: 1 }
}

fn is_same(one: &Related, other: &Related) -> bool {
    (&one.path, one.line, &one.name) == (&other.path, other.line, &other.name)
}

/// Groups as they are found, in the order in which answers show them.
struct Groups {
    found: Vec<Group>,
    limit: usize,
}

const ORDER: &[&str] = &[
    "contained by",
    "contains",
    "calls",
    "called by",
    "used by",
    "inherits",
    "inherited by",
    "implements",
    "implemented by",
    "imports",
    "imported by",
];

impl Groups {
    fn new(limit: usize) -> Self {
        let empty = |relation: &&'static str| Group { relation, items: Vec::new(), total: 0 };
        Self { found: ORDER.iter().map(empty).collect(), limit }
    }

    fn add(&mut self, relation: &str, item: Related) {
        if let Some(group) = self.found.iter_mut().find(|group| group.relation == relation) {
            group.total += 1;
            group.items.push(item);
        }
    }

    /// Adds what is not in the group yet.
    fn add_new(&mut self, relation: &str, item: Related) {
        let is_known = |group: &Group| group.items.iter().any(|known| is_same(known, &item));
        if !self.found.iter().any(|group| group.relation == relation && is_known(group)) {
            self.add(relation, item);
        }
    }

    /// Puts an item where the group has the same one, known by another rule; returns whether it has.
    fn replace(&mut self, relation: &str, item: &Related) -> bool {
        let group = self.found.iter_mut().find(|group| group.relation == relation);
        let known = group.and_then(|group| group.items.iter_mut().find(|known| is_same(known, item)));
        known.map(|known| known.how = item.how).is_some()
    }

    fn add_best(&mut self, relation: &str, found: &Resolution) {
        if let Some(best) = found.targets.first() {
            self.add(relation, related(best, found.how));
        }
    }

    fn add_use(&mut self, used: &Reference, how: ResolutionRule) {
        let relation = match used.kind.as_str() {
            "call" => "called by",
            "import" => "imported by",
            _ => "used by",
        };
        let (name, kind) = (used.name.clone(), used.kind.clone());
        self.add(relation, Related { path: used.path.clone(), line: used.line, name, kind, how, column: used.column });
    }

    /// The group in its order, with as many items as are shown.
    fn cut(&mut self, relation: &str) -> Option<&mut Group> {
        let group = self.found.iter_mut().find(|group| group.relation == relation)?;
        group.items.sort_by(|a, b| (a.how, &a.path, a.line).cmp(&(b.how, &b.path, b.line)));
        group.items.truncate(self.limit);
        Some(group)
    }

    fn done(mut self, unexamined: usize) -> Relations {
        for relation in ORDER {
            self.cut(relation);
        }
        self.found.retain(|group| group.total > 0);
        Relations { groups: self.found, unexamined, unstated: None }
    }
}
