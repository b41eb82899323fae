//! Queries about one position in a file, answered from syntax alone: the name there, its definition and its references.
//!
//! Owns the fallback for languages without a type engine, and which files an engine has to look into.

use std::collections::HashMap;

use serde::Serialize;

use super::qualified_name::qualified;
use super::relations::Resolver;
use crate::error::Result;
use crate::extract::kinds::TYPES;
use crate::extract::position::Named;
use crate::store::{Definition, DefinitionNode, FtsQuery, Reference, Snapshot};

/// A symbol with those inside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NestedSymbol {
    pub name: String,
    pub kind: String,
    /// The type or namespace that it belongs to, if the file does not define that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub children: Vec<Self>,
}

/// Definitions that a name at a position refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Referred {
    pub definitions: Vec<Definition>,
    /// Whether the code states it, and not only the name.
    pub is_certain: bool,
}

/// Resolves a name at a position of a file: to itself, if it is defined there. If the position has several readings, the first that
/// refers to something counts.
pub fn definitions_at(snapshot: &Snapshot, path: &str, line: u32, readings: &[Named]) -> Result<Referred> {
    let own: Vec<Definition> =
        snapshot.definitions_between(path, 0, line)?.into_iter().filter(|one| one.line == line).collect();
    for named in readings {
        let mut own = own.clone();
        own.retain(|one| one.column == named.column && one.name == named.name);
        if !own.is_empty() {
            return Ok(Referred { definitions: own, is_certain: true });
        }
    }
    let mut resolver = Resolver::new(snapshot);
    for named in readings {
        let (used, is_known) = used_at(snapshot, path, line, named)?;
        if !is_known && is_declared(snapshot, path, line, named)? {
            continue;
        }
        let Some(found) = resolver.resolve_at(&used)?.filter(|found| !found.targets.is_empty()) else { continue };
        let definitions = found.targets.iter().map(|target| target.definition.clone()).collect();
        return Ok(Referred { definitions, is_certain: found.how.is_proof() });
    }
    Ok(Referred::default())
}

pub(super) fn is_script(language: &str) -> bool {
    matches!(language, "astro" | "javascript" | "svelte" | "tsx" | "typescript" | "vue")
}

/// The symbols of a file, nested; `None` when it is not indexed. A method is under its type, also where it is written outside
/// of it: in a Rust `impl`, with a Go receiver, as `A::b`.
pub fn outline(snapshot: &Snapshot, path: &str) -> Result<Option<Vec<NestedSymbol>>> {
    let Some((file, _)) = snapshot.file(path)? else { return Ok(None) };
    Ok(Some(nested(&snapshot.declared_in(file)?)))
}

/// Builds the tree of an outline from the definitions of a file.
fn nested(declared: &[DefinitionNode]) -> Vec<NestedSymbol> {
    let at: HashMap<_, usize> = declared.iter().enumerate().map(|(at, one)| (one.id, at)).collect();
    let qualified: Vec<String> = declared.iter().map(|one| qualified(&one.definition)).collect();
    let mut types: HashMap<&str, usize> = HashMap::new();
    for (at, one) in declared.iter().enumerate() {
        if one.definition.kind == "type" || TYPES.contains(&one.definition.kind.as_str()) {
            types.entry(&qualified[at]).or_insert(at);
        }
    }
    let mut parents: Vec<Option<usize>> =
        declared.iter().map(|one| one.parent.and_then(|parent| at.get(&parent).copied())).collect();
    let mut strays: Vec<bool> = vec![false; declared.len()];
    for (at, one) in declared.iter().enumerate() {
        let Some(container) = &one.definition.container else { continue };
        if parents[at].is_some_and(|parent| qualified[parent] == *container) {
            continue;
        }
        match types.get(container.as_str()).copied() {
            Some(owner) if !is_below(&parents, owner, at) => parents[at] = Some(owner),
            _ => strays[at] = parents[at].is_none(),
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); declared.len()];
    let mut roots: Vec<usize> = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(at),
            None => roots.push(at),
        }
    }
    // Outer before inner. What is built in the opposite order needs no recursion.
    let mut order = roots.clone();
    let mut next = 0;
    while let Some(at) = order.get(next) {
        order.extend(&children[*at]);
        next += 1;
    }
    let mut built: HashMap<usize, NestedSymbol> = HashMap::new();
    let sorted = |mut symbols: Vec<NestedSymbol>| {
        symbols.sort_by_key(|symbol| (symbol.line, symbol.column));
        symbols
    };
    for at in order.into_iter().rev() {
        let children = sorted(children[at].iter().filter_map(|child| built.remove(child)).collect());
        let Definition { name, kind, container, signature, line, column, end_line, .. } =
            declared[at].definition.clone();
        let container = container.filter(|_| strays[at]);
        built.insert(at, NestedSymbol { name, kind, container, signature, line, column, end_line, children });
    }
    sorted(built.into_values().collect())
}

/// Whether `at` is `owner` or contains it.
fn is_below(parents: &[Option<usize>], owner: usize, at: usize) -> bool {
    let steps = std::iter::successors(Some(owner), |one| parents[*one]);
    steps.take(parents.len() + 1).any(|one| one == at)
}

/// Indexed files of a language that hold a name as a word, in code, strings or comments: every one that could mean it.
pub fn files_naming(snapshot: &Snapshot, name: &str, language: &str) -> Result<Vec<String>> {
    match FtsQuery::phrase(name) {
        Some(query) => snapshot.files_matching(&query, language),
        None => Ok(Vec::new()),
    }
}

/// The reference that the index has at a position, or one made up for a name that it left out; and whether the index has it.
fn used_at(snapshot: &Snapshot, path: &str, line: u32, named: &Named) -> Result<(Reference, bool)> {
    let known = match snapshot.file(path)? {
        Some((file, _)) => snapshot.references_within(file, line, line)?,
        None => Vec::new(),
    };
    let known = known.into_iter().find(|used| used.column == named.column && used.name == named.name);
    let (path, name, kind) = (path.to_owned(), named.name.clone(), "use".to_owned());
    let is_known = known.is_some();
    Ok((known.unwrap_or(Reference { path, name, kind, line, column: named.column }), is_known))
}

/// Whether a script declares a name here that the index leaves out: a local variable, the key of an object literal, a property of a
/// type, a parameter. It is not what else has the name.
fn is_declared(snapshot: &Snapshot, path: &str, line: u32, named: &Named) -> Result<bool> {
    let is_in_script = snapshot.file(path)?.is_some_and(|(_, language)| is_script(&language));
    let Some(text) = snapshot.lines(path, line, line)?.pop().filter(|_| is_in_script) else { return Ok(false) };
    let before: String = text.chars().take(named.column.saturating_sub(1) as usize).collect();
    let after: String = text.chars().skip(before.chars().count() + named.name.chars().count()).collect();
    let before = before.trim_end();
    let after = after.trim_start().trim_start_matches('?');
    let is_first = before.is_empty() || before.ends_with(['{', ',', ';']) || before.ends_with("readonly");
    let is_key = is_first && after.starts_with(':') && !after.starts_with("::");
    let is_variable = ["const", "let", "var"].iter().any(|word| before.ends_with(word));
    Ok(is_key || is_variable)
}
