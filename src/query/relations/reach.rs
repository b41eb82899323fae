//! Dependents of definitions that change: references to them outside of the change, types that inherit from them, and
//! methods that override them.
//!
//! Owns which references are examined, so that common names do not take all the time. `resolve` owns what they refer
//! to.

use std::collections::{BTreeMap, HashSet};

use super::{Groups, Related, implementations, importers, kinds, means, modules, ranked, subtypes, written_names};
use super::{Resolution, ResolutionRule, Resolver};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{DefinitionNode, Reference};

/// A definition that changes.
pub struct Subject<'a> {
    /// The name by which it is referred to.
    pub name: &'a str,
    /// `None`: it is gone, or has another name now.
    pub node: Option<&'a DefinitionNode>,
    /// The file that defines it, or did.
    pub path: &'a str,
    pub language: &'a str,
    /// Whether it is reached through a value or type.
    pub is_member: bool,
}

/// The dependents of one definition.
#[derive(Debug, Default)]
pub struct Reach {
    /// Each definition that refers to it once; the most certain first.
    pub dependents: Vec<Related>,
    /// Types that inherit from it, and methods that override it.
    pub implementers: Vec<Related>,
    /// Files of tests that have its name, resolved or not.
    pub tests_naming: Vec<String>,
    /// References to the name that were not examined.
    pub unexamined: usize,
}

/// References that are resolved for one answer, and for one name: at least and at most.
const EXAMINED: usize = 4_000;
const EXAMINED_OF_NAME: std::ops::RangeInclusive<usize> = 20..=300;
const MAX_IMPLEMENTERS: usize = 50;

/// Finds the dependents of each subject. References at positions that `is_changed` are part of the change, and left
/// out.
pub fn of_changes(
    resolver: &mut Resolver,
    subjects: &[Subject],
    is_changed: &dyn Fn(&str, u32) -> bool,
) -> Result<Vec<Reach>> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, subject) in subjects.iter().enumerate() {
        by_name.entry(subject.name).or_default().push(at);
    }
    let share = EXAMINED / by_name.len().max(1);
    let most = share.clamp(*EXAMINED_OF_NAME.start(), *EXAMINED_OF_NAME.end());
    let mut reach: Vec<Reach> = subjects.iter().map(|_| Reach::default()).collect();
    let mut examined: Vec<(Reference, &[usize])> = Vec::new();
    for (name, numbers) in &by_name {
        let (mut references, _) = resolver.library.snapshot.references(name, 0, usize::MAX)?;
        references.retain(|used| !is_changed(&used.path, used.line) && kinds::is_use(&used.kind));
        // They come by path.
        let mut paths: Vec<&String> = references.iter().map(|used| &used.path).collect();
        paths.dedup();
        paths.retain(|path| resolver.library.is_test(path));
        let tests: Vec<String> = paths.into_iter().cloned().collect();
        let homes: Vec<&str> = numbers.iter().map(|at| subjects[*at].path).collect();
        let unexamined = references.len().saturating_sub(most);
        if unexamined > 0 {
            let near = |used: &Reference| homes.iter().map(|home| ranked::shared(home, &used.path)).max();
            references.sort_by_cached_key(|used| std::cmp::Reverse(near(used)));
            references.truncate(most);
        }
        for &at in numbers {
            reach[at].unexamined = unexamined;
            reach[at].tests_naming.clone_from(&tests);
        }
        examined.extend(references.into_iter().map(|used| (used, numbers.as_slice())));
    }
    // File by file, so that each text is read once.
    examined.sort_by(|a, b| (&a.0.path, a.0.line, a.0.column).cmp(&(&b.0.path, b.0.line, b.0.column)));
    let mut seen: HashSet<(usize, String, String)> = HashSet::new();
    let mut imports: Vec<Vec<Reference>> = subjects.iter().map(|_| Vec::new()).collect();
    for (used, numbers) in &examined {
        for (at, how) in referred(resolver, used, numbers, subjects)? {
            add(resolver, &mut reach[at], used, how, &mut |key| seen.insert((at, used.path.clone(), key.to_owned())))?;
            if used.kind == "import" {
                imports[at].push(used.clone());
            }
        }
    }
    for (at, imports) in imports.into_iter().enumerate() {
        let Some(node) = subjects[at].node else { continue };
        let aliased = resolver.references_under_other_names(node, &imports)?.references;
        for (used, how) in aliased.iter().filter(|(used, _)| !is_changed(&used.path, used.line)) {
            let mut is_new = |key: &str| seen.insert((at, used.path.clone(), key.to_owned()));
            add(resolver, &mut reach[at], used, *how, &mut is_new)?;
        }
    }
    for (subject, reach) in subjects.iter().zip(&mut reach) {
        without_mere_imports(&mut reach.dependents);
        reach.dependents.sort_by(|a, b| (a.how, &a.path, a.line).cmp(&(b.how, &b.path, b.line)));
        if let Some(node) = subject.node {
            implementers(resolver, node, reach)?;
            reach.implementers.retain(|found| !is_changed(&found.path, found.line));
        }
    }
    Ok(reach)
}

/// The subjects that a reference refers to, and by which rule.
fn referred(
    resolver: &mut Resolver,
    used: &Reference,
    numbers: &[usize],
    subjects: &[Subject],
) -> Result<Vec<(usize, ResolutionRule)>> {
    let Some(file) = resolver.library.open(&used.path)? else { return Ok(Vec::new()) };
    let is_seen = |at: &&usize| file.family.sees(&file.language, subjects[**at].language);
    let numbers: Vec<usize> = numbers.iter().filter(is_seen).copied().collect();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let found = resolver.resolve(used)?;
    let mut referred = Vec::new();
    for at in numbers {
        let subject = &subjects[at];
        let how = match (subject.node, &found) {
            (Some(node), Some(found)) if means(found, node) => Some(found.how),
            (Some(_), _) => None,
            (None, found) => to_what_is_gone(resolver, &file, used, subject, found.as_ref())?,
        };
        referred.extend(how.map(|how| (at, how)));
    }
    Ok(referred)
}

/// Whether a reference is to a definition that no longer exists, and how that is known.
fn to_what_is_gone(
    resolver: &mut Resolver,
    file: &super::opened::ParsedFile,
    used: &Reference,
    subject: &Subject,
    found: Option<&Resolution>,
) -> Result<Option<ResolutionRule>> {
    if found.is_some_and(|found| found.how.is_proof() && !found.targets.is_empty()) {
        return Ok(None);
    }
    for import in file.imports.iter().filter(|import| import.line.abs_diff(used.line) < 20 || used.kind != "import") {
        let names_it =
            import.name.as_deref().is_some_and(|name| name == subject.name || name == "*") || import.name.is_none();
        if !names_it {
            continue;
        }
        for module in resolver.library.modules(file, &import.target, import.line)? {
            if resolver.library.files_of(file, &module)?.iter().any(|path| path == subject.path)
                || module.is_at(file.family, subject.path)
            {
                return Ok(Some(ResolutionRule::Import));
            }
        }
    }
    Ok(match found {
        // An import takes the name from elsewhere.
        Some(found) if found.how.is_proof() => None,
        Some(_) => Some(ResolutionRule::Ambiguous),
        None if used.path == subject.path => Some(ResolutionRule::File),
        None if subject.is_member => Some(ResolutionRule::Name),
        None if modules::folder(&used.path) == modules::folder(subject.path) && file.imports.is_empty() => {
            Some(ResolutionRule::Name)
        }
        None => None,
    })
}

/// Adds what is around a reference, unless it is known already.
fn add(
    resolver: &mut Resolver,
    reach: &mut Reach,
    used: &Reference,
    how: ResolutionRule,
    is_new: &mut dyn FnMut(&str) -> bool,
) -> Result<()> {
    let Some(file) = resolver.library.open(&used.path)? else { return Ok(()) };
    let around = resolver.library.around(&file, used.line)?.into_iter().find(|d| !kinds::is_local(&d.definition.kind));
    let name = match &around {
        Some(around) => qualified(&around.definition),
        None => modules::stem(&used.path).to_owned(),
    };
    if is_new(&name) {
        let (path, line, kind) = (used.path.clone(), used.line, used.kind.clone());
        reach.dependents.push(Related { path, line, name, kind, how, column: 1 });
    }
    Ok(())
}

/// Removes imports in files that also refer to the definition otherwise.
fn without_mere_imports(dependents: &mut Vec<Related>) {
    let others: HashSet<String> =
        dependents.iter().filter(|found| found.kind != "import").map(|found| found.path.clone()).collect();
    dependents.retain(|found| found.kind != "import" || !others.contains(&found.path));
}

fn implementers(resolver: &mut Resolver, node: &DefinitionNode, reach: &mut Reach) -> Result<()> {
    let of_type = |resolver: &mut Resolver, node: &DefinitionNode| -> Result<Vec<Related>> {
        let mut groups = Groups::new(MAX_IMPLEMENTERS);
        for name in written_names(node) {
            subtypes(resolver, node, name, None, &mut groups)?;
        }
        Ok(groups.done(0).groups.into_iter().flat_map(|group| group.items).collect())
    };
    if kinds::is_type(&node.definition.kind) {
        reach.implementers = of_type(resolver, node)?;
    } else if kinds::is_overridable(node) {
        reach.implementers = implementations::overriding(resolver, node)?;
    }
    for found in implementations::stated(resolver, node, false)? {
        let item = super::related(&found, ResolutionRule::Scip);
        reach.implementers.retain(|known| !super::is_same(known, &item));
        reach.implementers.push(item);
    }
    reach.implementers.sort_by(|a, b| (a.how, &a.path, a.line).cmp(&(b.how, &b.path, b.line)));
    reach.implementers.truncate(MAX_IMPLEMENTERS);
    Ok(())
}

/// Files of tests that state an import of the file.
pub fn tests_importing(resolver: &mut Resolver, path: &str) -> Result<Vec<String>> {
    let Some(file) = resolver.library.open(path)? else { return Ok(Vec::new()) };
    Ok(importers(resolver, &file, true)?.into_iter().map(|(path, _)| path).collect())
}
