//! Where a name is defined and used.

mod order;

use std::borrow::Cow;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::relations::{Resolver, may_refer_to};
use super::{Page, near};
use crate::error::{Error, Result};
use crate::store::{ChunkId, Definition, DefinitionNode, Reference, Snapshot};
use crate::wording::Argument;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    #[default]
    Exact,
    Prefix,
    Fuzzy,
}

/// Whether an index has the files of a repository that do not contain what is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtherFiles {
    #[default]
    Indexed,
    MayBeAbsent,
}

/// One occurrence of a name.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Occurrence {
    pub name: String,
    /// Of the definition; of a reference what it is used as: call, type, import, …
    pub kind: String,
    /// definition or reference.
    pub role: Cow<'static, str>,
    #[serde(rename = "file_path")]
    pub path: String,
    pub line: u32,
    pub column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// References that a qualified query resolves, to leave out those that mean something else; further ones all stay.
const RESOLVED: usize = 5_000;

/// Chunks that a qualified name may stand for in a search.
const MAX_QUALIFIED: usize = 20;

/// Definitions that one query by name may be about.
const SUBJECTS: usize = 2_000;

/// References that follow the definitions if the caller gives no limit.
const NEAREST: usize = 20;

/// Definitions that prefix and fuzzy queries list if the caller gives no limit.
const LIKE: usize = 100;

/// Every occurrence of a name: definitions first, likely ones before others, then references, those near the definitions
/// first, in path and line order. Without a limit: the definitions and the nearest references. Prefix and fuzzy: definitions alone, of the best names first. `Class.method`, `Class#method` and `module::name` ask
/// for definitions inside that container, and leave out references that are known to mean another. Where the index may lack `other_files`,
/// nothing but the definitions themselves decides their order.
pub fn occurrences(
    snapshot: &Snapshot,
    wanted: &str,
    kind: Option<&str>,
    how: Match,
    other_files: OtherFiles,
    (offset, limit): (usize, Option<usize>),
) -> Result<Page<Occurrence>> {
    let sort = |definitions| match other_files {
        OtherFiles::Indexed => order::sort(snapshot, definitions),
        OtherFiles::MayBeAbsent => Ok(order::sort_alone(definitions)),
    };
    let (qualifier, name) = qualified(wanted);
    if name.is_empty() {
        return Err(no_name());
    }
    let fits = |found: &Definition| is_in(found, &qualifier) && kind.is_none_or(|kind| found.kind == kind);
    let mut definitions = match how {
        Match::Fuzzy => return fuzzy(snapshot, name, fits, offset, limit.unwrap_or(LIKE)),
        Match::Prefix => {
            let found = beginning_with(snapshot, name, fits, sort)?;
            return Ok(Page::of(found, offset, limit.unwrap_or(LIKE)));
        }
        Match::Exact => {
            let exact = snapshot.definitions(name)?;
            if exact.is_empty() { snapshot.definitions_any_case(name)? } else { exact }
        }
    };
    keep_qualified(&mut definitions, &qualifier, |definition| definition);
    let definitions = sort(definitions)?;
    // The case in which the name is really written.
    let written = definitions.first().map_or_else(|| name.to_owned(), |first| first.name.clone());
    let mut all: Vec<Occurrence> = definitions.iter().cloned().map(defined).collect();
    all.retain(|found| kind.is_none_or(|kind| found.kind == kind));
    let limit = limit.unwrap_or_else(|| all.len().saturating_sub(offset) + NEAREST);
    if definitions.is_empty() && !qualifier.is_empty() {
        return Ok(Page::of(all, offset, limit));
    }
    let (mut references, _) = snapshot.references(&written, 0, usize::MAX)?;
    if !qualifier.is_empty() {
        references = that_may_refer_to(snapshot, references, &definitions)?;
    }
    let is_of_kind = |found: &Reference| kind.is_none_or(|kind| found.kind == kind);
    references.retain(is_of_kind);
    all.extend(nearest_first(references, &definitions).into_iter().map(used));
    Ok(Page::of(all, offset, limit))
}

/// Definitions from which nearness is measured.
const HOMES: usize = 20;

/// References in the files of the definitions, then those in the same folders, and so on. Within the same distance they keep
/// their order.
fn nearest_first(references: Vec<Reference>, definitions: &[Definition]) -> Vec<Reference> {
    let mut homes: Vec<&str> = Vec::new();
    for definition in definitions {
        if homes.len() < HOMES && !homes.contains(&definition.path.as_str()) {
            homes.push(&definition.path);
        }
    }
    let away = |path: &str| homes.iter().map(|home| steps(home, path)).min().unwrap_or(0);
    // The references of one file follow each other.
    let mut of_file: Vec<(usize, Vec<Reference>)> = Vec::new();
    for used in references {
        match of_file.last_mut() {
            Some((_, same)) if same.first().is_some_and(|first| first.path == used.path) => same.push(used),
            _ => of_file.push((away(&used.path), vec![used])),
        }
    }
    of_file.sort_by_key(|(away, _)| *away);
    of_file.into_iter().flat_map(|(_, same)| same).collect()
}

/// Folders to pass on the way from one file to another; 0 for the same file.
fn steps(from: &str, to: &str) -> usize {
    if from == to {
        return 0;
    }
    let folders = |path: &str| path.matches('/').count();
    let shared = from.split('/').zip(to.split('/')).take_while(|(a, b)| a == b).count();
    1 + folders(from) + folders(to) - 2 * shared
}

fn defined(found: Definition) -> Occurrence {
    Occurrence {
        name: found.name,
        kind: found.kind,
        role: "definition".into(),
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
        role: "reference".into(),
        path: found.path,
        line: found.line,
        column: found.column,
        end_line: None,
        container: None,
        signature: None,
    }
}

/// Names that a misspelled one may stand for.
const SIMILAR: usize = 5;

/// The symbols that have an exact name, or `Class.method`: likely ones first, one definition of each. Headings count only if
/// nothing else has the name.
pub fn with_name(snapshot: &Snapshot, wanted: &str, in_file: Option<&str>) -> Result<Vec<Definition>> {
    let (qualifier, name) = qualified(wanted);
    if name.is_empty() {
        return Err(no_name());
    }
    let mut found = snapshot.definitions(name)?;
    found.retain(|one| in_file.is_none_or(|file| one.path == file));
    keep_qualified(&mut found, &qualifier, |definition| definition);
    if found.iter().any(|one| one.kind != "heading") {
        found.retain(|one| one.kind != "heading");
    }
    // A symbol may have several definitions: overloads, branches, assignments.
    found.sort_by(|a, b| (&a.path, &a.container, a.line, a.column).cmp(&(&b.path, &b.container, b.line, b.column)));
    found.dedup_by(|a, b| (&a.path, &a.container) == (&b.path, &b.container));
    order::sort(snapshot, found)
}

/// Defined names that are similar to a name that nothing has.
pub fn similar_names(snapshot: &Snapshot, wanted: &str) -> Result<Vec<String>> {
    let (_, name) = qualified(wanted);
    let mistyped = near::Mistyped::new(name);
    let mut near = snapshot.defined_names_where(|name| mistyped.distance_to(name))?;
    near.sort_unstable();
    near.truncate(SIMILAR);
    Ok(near.into_iter().map(|(_, name)| name).collect())
}

fn no_name() -> Error {
    Error::invalid_argument((Argument("symbol_name"), " contains no name")).hint("Give a name such as QuerySet.")
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

/// The last name of a qualified one.
pub fn last_name(wanted: &str) -> &str {
    qualified(wanted).1
}

/// Whether a name has a qualifier.
pub fn is_qualified(wanted: &str) -> bool {
    !qualified(wanted).0.is_empty()
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
fn beginning_with(
    snapshot: &Snapshot,
    prefix: &str,
    fits: impl Fn(&Definition) -> bool,
    sort: impl Fn(Vec<Definition>) -> Result<Vec<Definition>>,
) -> Result<Vec<Occurrence>> {
    let mut found = snapshot.definitions_by_prefix(prefix)?;
    found.retain(fits);
    let (whole, longer) = found.into_iter().partition(|definition| definition.name.eq_ignore_ascii_case(prefix));
    let sorted = [sort(whole)?, sort(longer)?];
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
