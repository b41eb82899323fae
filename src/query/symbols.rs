//! Where a name is defined and used.

mod order;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::Page;
use super::relations::{Resolver, may_refer_to};
use crate::error::{Error, Result};
use crate::store::{ChunkId, Definition, DefinitionNode, Reference, Snapshot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Exact,
    Prefix,
    Fuzzy,
}

/// One occurrence of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub name: String,
    /// Of the definition; of a reference what it is used as: call, type, import, …
    pub kind: String,
    pub is_definition: bool,
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub end_line: Option<u32>,
    pub container: Option<String>,
    pub signature: Option<String>,
}

/// References that a qualified query resolves, to leave out those that mean something else; further ones all stay.
const RESOLVED: usize = 5_000;

/// Chunks that a qualified name may stand for in a search.
const MAX_QUALIFIED: usize = 20;

/// Definitions that one query by name may be about.
const SUBJECTS: usize = 2_000;

/// Every occurrence of a name: definitions first, likely ones before others, then references in path and line order.
/// Prefix and fuzzy: definitions alone, of the best names first. `Class.method`, `Class#method` and `module::name` ask
/// for definitions inside that container, and leave out references that are known to mean another.
pub fn occurrences(
    snapshot: &Snapshot,
    wanted: &str,
    kind: Option<&str>,
    how: Match,
    offset: usize,
    limit: usize,
) -> Result<Page<Occurrence>> {
    let (qualifier, name) = qualified(wanted);
    if name.is_empty() {
        return Err(
            Error::invalid_argument("argument `symbol_name`: no name in it").hint("Give a name such as QuerySet.")
        );
    }
    let fits = |found: &Definition| is_in(found, &qualifier) && kind.is_none_or(|kind| found.kind == kind);
    let mut definitions = match how {
        Match::Fuzzy => return fuzzy(snapshot, name, fits, offset, limit),
        Match::Prefix => return beginning_with(snapshot, name, fits).map(|found| Page::of(found, offset, limit)),
        Match::Exact => {
            let exact = snapshot.definitions(name)?;
            if exact.is_empty() { snapshot.definitions_any_case(name)? } else { exact }
        }
    };
    keep_qualified(&mut definitions, &qualifier, |definition| definition);
    let definitions = order::sort(snapshot, definitions)?;
    // The case in which the name is really written.
    let written = definitions.first().map_or_else(|| name.to_owned(), |first| first.name.clone());
    let is_of_kind = |found: &Occurrence| kind.is_none_or(|kind| found.kind == kind);
    let mut all: Vec<Occurrence> = definitions.iter().cloned().map(defined).filter(is_of_kind).collect();
    if definitions.is_empty() && !qualifier.is_empty() {
        return Ok(Page::of(all, offset, limit));
    }
    if qualifier.is_empty() && kind.is_none() {
        let (skipped, shown) = (offset.min(all.len()), limit.min(all.len().saturating_sub(offset)));
        let (references, total_references) = snapshot.references(&written, offset - skipped, limit - shown)?;
        let total = all.len() + total_references;
        let items: Vec<Occurrence> =
            all.into_iter().skip(skipped).take(shown).chain(references.into_iter().map(used)).collect();
        let is_cut = offset.saturating_add(items.len()) < total;
        return Ok(Page { items, offset, total: Some(total), is_cut });
    }
    let (mut references, _) = snapshot.references(&written, 0, usize::MAX)?;
    if !qualifier.is_empty() {
        references = that_may_refer_to(snapshot, references, &definitions)?;
    }
    all.extend(references.into_iter().map(used).filter(is_of_kind));
    Ok(Page::of(all, offset, limit))
}

fn defined(found: Definition) -> Occurrence {
    Occurrence {
        name: found.name,
        kind: found.kind,
        is_definition: true,
        path: found.path,
        line: found.line,
        column: found.column,
        end_line: Some(found.end_line),
        container: found.container,
        signature: found.signature,
    }
}

fn used(found: Reference) -> Occurrence {
    Occurrence {
        name: found.name,
        kind: found.kind,
        is_definition: false,
        path: found.path,
        line: found.line,
        column: found.column,
        end_line: None,
        container: None,
        signature: None,
    }
}

/// Definitions that an exact name, or `Class.method`, stands for.
pub fn subjects(snapshot: &Snapshot, wanted: &str) -> Result<Vec<DefinitionNode>> {
    let (qualifier, name) = qualified(wanted);
    let mut found = snapshot.declared_as(name, SUBJECTS)?;
    keep_qualified(&mut found, &qualifier, |declared| &declared.definition);
    Ok(found)
}

fn that_may_refer_to(
    snapshot: &Snapshot,
    mut references: Vec<Reference>,
    definitions: &[Definition],
) -> Result<Vec<Reference>> {
    let wanted: Vec<(String, u32, u32)> = definitions.iter().map(|d| (d.path.clone(), d.line, d.column)).collect();
    let mut resolver = Resolver::new(snapshot);
    let further = references.split_off(references.len().min(RESOLVED));
    let mut kept = Vec::with_capacity(references.len());
    for used in references {
        if may_refer_to(&mut resolver, &used, &wanted)? {
            kept.push(used);
        }
    }
    kept.extend(further);
    Ok(kept)
}

/// The chunks that define what a qualified name refers to.
pub(super) fn chunks_of_qualified(snapshot: &Snapshot, name: &str, qualifier: &[&str]) -> Result<Vec<ChunkId>> {
    let mut definitions = snapshot.unsigned_any_case(name, SUBJECTS)?;
    keep_qualified(&mut definitions, qualifier, |definition| definition);
    let mut found = Vec::new();
    for definition in definitions.iter().take(MAX_QUALIFIED) {
        found.extend(snapshot.chunk_at(&definition.path, definition.line)?);
    }
    Ok(found)
}

/// Those that are inside of the qualifier; where none does, those that people may call so: names are imported from the
/// packages around the module that defines them.
fn keep_qualified<T>(found: &mut Vec<T>, qualifier: &[&str], definition: impl Fn(&T) -> &Definition) {
    if found.iter().any(|item| is_in(definition(item), qualifier)) {
        found.retain(|item| is_in(definition(item), qualifier));
    } else {
        found.retain(|item| may_be_in(definition(item), qualifier));
    }
}

/// `a::b::C` and `a.b.C()` are ([a, b], C).
fn qualified(wanted: &str) -> (Vec<&str>, &str) {
    let wanted = wanted.trim();
    let mut parts: Vec<&str> = separated(wanted.strip_suffix("()").unwrap_or(wanted)).collect();
    let name = parts.pop().unwrap_or_default();
    (parts, name)
}

fn separated(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', ':', '#']).map(str::trim).filter(|part| !part.is_empty())
}

/// Whether the definition's container, or its file's path for a module, ends with the qualifier.
fn is_in(definition: &Definition, qualifier: &[&str]) -> bool {
    if qualifier.is_empty() {
        return true;
    }
    let around = around(definition);
    around.len() >= qualifier.len()
        && around[around.len() - qualifier.len()..].iter().zip(qualifier).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// Whether the qualifier's parts are around the definition in that order, and its type is among them if it has one.
fn may_be_in(definition: &Definition, qualifier: &[&str]) -> bool {
    let around = around(definition);
    let mut rest = around.iter();
    let in_order = qualifier.iter().all(|part| rest.any(|around| around.eq_ignore_ascii_case(part)));
    in_order && (definition.container.is_none() || rest.next().is_none())
}

/// Folders, modules and types around a definition, outermost first.
fn around(definition: &Definition) -> Vec<&str> {
    // A package of Go is a folder, whatever its files are called.
    let ends = if definition.language == "go" { '/' } else { '.' };
    let stem = definition.path.rsplit_once(ends).map_or(definition.path.as_str(), |(stem, _)| stem);
    let modules = stem.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "__init__" | "index" | "src"));
    modules.chain(separated(definition.container.as_deref().unwrap_or_default())).collect()
}

/// Definitions of the names that begin so: the whole name first, in any case.
fn beginning_with(snapshot: &Snapshot, prefix: &str, fits: impl Fn(&Definition) -> bool) -> Result<Vec<Occurrence>> {
    let mut found = snapshot.definitions_by_prefix(prefix)?;
    found.retain(fits);
    let (whole, longer) = found.into_iter().partition(|definition| definition.name.eq_ignore_ascii_case(prefix));
    let sorted = [order::sort(snapshot, whole)?, order::sort(snapshot, longer)?];
    Ok(sorted.into_iter().flatten().map(defined).collect())
}

/// The page at `offset` of the definitions whose names an editor's matcher would offer, best names first. How many
/// there are in all is known once the last of them is shown.
fn fuzzy(
    snapshot: &Snapshot,
    wanted: &str,
    fits: impl Fn(&Definition) -> bool,
    offset: usize,
    limit: usize,
) -> Result<Page<Occurrence>> {
    let end = offset.saturating_add(limit);
    let mut found: Vec<Occurrence> = Vec::new();
    let mut all = true;
    for name in names_like(snapshot, wanted)? {
        // One more than is shown means that there are more.
        if found.len() > end {
            all = false;
            break;
        }
        let mut definitions = snapshot.definitions(&name)?;
        definitions.retain(&fits);
        found.extend(order::sort(snapshot, definitions)?.into_iter().map(defined));
    }
    let mut page = Page::of(found, offset, limit);
    if !all {
        page.total = None;
    }
    Ok(page)
}

/// Defined names that have the letters of `wanted` in order, those at the beginnings of words counting most; best
/// first.
fn names_like(snapshot: &Snapshot, wanted: &str) -> Result<Vec<String>> {
    let pattern = Pattern::new(wanted, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut config = Config::DEFAULT;
    config.prefer_prefix = true;
    let mut matcher = Matcher::new(config);
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, String)> = Vec::new();
    for name in snapshot.defined_names()? {
        if let Some(score) = pattern.score(Utf32Str::new(&name, &mut buffer), &mut matcher) {
            scored.push((score, name));
        }
    }
    scored.sort_by(|(a, a_name), (b, b_name)| b.cmp(a).then(a_name.len().cmp(&b_name.len())).then(a_name.cmp(b_name)));
    Ok(scored.into_iter().map(|(_, name)| name).collect())
}
