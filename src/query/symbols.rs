//! Definitions and references of a name.

mod order;
mod written;

use std::borrow::Cow;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::written::{Case, Reading, Surroundings};
use super::occurrences::{self, ReadingTime, Unread, steps};
use super::relations::{self, Resolver, may_refer_to, reading};
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
    /// Kind of the definition; for a reference its role: call, type, import, …
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

/// A page of occurrences, and what is not among them.
pub struct Found {
    pub page: Page<Occurrence>,
    pub unread: Unread,
}

impl From<Page<Occurrence>> for Found {
    fn from(page: Page<Occurrence>) -> Self {
        Self { page, unread: Unread::default() }
    }
}

/// Every occurrence of a name: definitions first, likely ones before others, then references, those near the
/// definitions first, in path and line order. Without a limit: the definitions and the nearest references. Prefix and
/// fuzzy: only definitions, of the best names first. `Class.method`, `Class#method` and `module::name` ask for
/// definitions inside that container, and leave out references that are known to mean another. Where the index may lack
/// `other_files`, nothing but the definitions themselves decides their order.
pub fn occurrences(
    snapshot: &Snapshot,
    wanted: &str,
    kind: Option<&str>,
    how: Match,
    other_files: OtherFiles,
    (offset, limit): (usize, Option<usize>),
    time: &ReadingTime,
) -> Result<Found> {
    let sort = |definitions| match other_files {
        OtherFiles::Indexed => order::sort(snapshot, definitions),
        OtherFiles::MayBeAbsent => Ok(order::sort_alone(definitions)),
    };
    let readings = written::readings(wanted);
    let (Some(whole), Some(last)) = (readings.first(), readings.last()) else { return Err(no_name()) };
    let is_of_kind = |found: &Definition| kind.is_none_or(|kind| found.kind == kind);
    let mut definitions = match how {
        Match::Fuzzy => {
            return Ok(fuzzy(snapshot, last, is_of_kind, (offset, limit.unwrap_or(LIKE)))?.into());
        }
        Match::Prefix => {
            let found = beginning_with(snapshot, &readings, is_of_kind, sort)?;
            return Ok(Page::from_list(found, offset, limit.unwrap_or(LIKE)).into());
        }
        Match::Exact => defined_as(snapshot, wanted)?,
    };
    if definitions.is_empty() {
        definitions =
            written::named(snapshot, wanted, Case::OfLanguage, |one| one, |name| snapshot.definitions_any_case(name))?;
    }
    let definitions = sort(definitions)?;
    // The case in which the name is really written.
    let written = definitions.first().map_or_else(|| last.name.to_owned(), |first| first.name.clone());
    let is_qualified = written.len() < whole.name.len();
    let mut all: Vec<Occurrence> = definitions.iter().cloned().map(defined).collect();
    all.retain(|found| kind.is_none_or(|kind| found.kind == kind));
    let limit = limit.unwrap_or_else(|| all.len().saturating_sub(offset) + NEAREST);
    if definitions.is_empty() && is_qualified {
        return Ok(Page::from_list(all, offset, limit).into());
    }
    let (mut references, unread) = occurrences::of_name(snapshot, &written, &definitions, time)?;
    if is_qualified {
        references = that_may_refer_to(snapshot, references, &definitions)?;
    }
    if !is_qualified && last.name.len() < written.len() && !definitions.is_empty() {
        // A name of several parts is often referred to by the last one.
        let (by_last, _) = snapshot.references(last.name, 0, RESOLVED)?;
        references.extend(that_refer_to(snapshot, by_last, &definitions)?);
    }
    let is_of_kind = |found: &Reference| kind.is_none_or(|kind| found.kind == kind);
    references.retain(is_of_kind);
    all.extend(nearest_first(references, &definitions).into_iter().map(used));
    let mut page = Page::from_list(all, offset, limit);
    if unread.files.is_some() {
        (page.total, page.is_cut) = (None, true);
    }
    Ok(Found { page, unread })
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
    if written::readings(wanted).is_empty() {
        return Err(no_name());
    }
    let mut found = written::named(
        snapshot,
        wanted,
        Case::OfLanguage,
        |one| one,
        |name| {
            let mut found = snapshot.definitions(name)?;
            found.retain(|one| in_file.is_none_or(|file| one.path == file));
            Ok(found)
        },
    )?;
    if found.iter().any(|one| one.kind != "heading") {
        found.retain(|one| one.kind != "heading");
    }
    // A symbol may have several definitions: overloads, branches, assignments.
    let of = |one: &Definition| (one.path.clone(), one.container.clone(), one.name.clone());
    found.sort_by_cached_key(|one| (of(one), one.line, one.column));
    found.dedup_by(|a, b| of(a) == of(b));
    order::sort(snapshot, found)
}

/// Defined names that are similar to a name that nothing has.
pub fn similar_names(snapshot: &Snapshot, wanted: &str) -> Result<Vec<String>> {
    let mistyped = near::Mistyped::new(last_name(wanted));
    Ok(nearest(snapshot.defined_names_where(|name| mistyped.distance_to(name))?))
}

/// The most similar ones of the names that several indexes suggest.
pub fn most_similar(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mistyped = near::Mistyped::new(last_name(wanted));
    nearest(names.filter_map(|name| Some((mistyped.distance_to(&name)?, name))).collect())
}

/// Sorts names by their distance, and keeps the first.
fn nearest(mut names: Vec<(usize, String)>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names.truncate(SIMILAR);
    names.into_iter().map(|(_, name)| name).collect()
}

fn no_name() -> Error {
    Error::invalid_argument((Argument("symbol_name"), " contains no name")).hint("Give a name such as QuerySet.")
}

/// Definitions that an exact name, or `Class.method`, stands for.
pub fn subjects(snapshot: &Snapshot, wanted: &str) -> Result<Vec<DefinitionNode>> {
    let look_up = |name: &str| snapshot.declared_as(name, SUBJECTS);
    written::named(snapshot, wanted, Case::OfLanguage, |declared| &declared.definition, look_up)
}

fn defined_as(snapshot: &Snapshot, wanted: &str) -> Result<Vec<Definition>> {
    written::named(snapshot, wanted, Case::OfLanguage, |one| one, |name| snapshot.definitions(name))
}

/// The references that are known to be to one of some definitions.
fn that_refer_to(
    snapshot: &Snapshot,
    references: Vec<Reference>,
    definitions: &[Definition],
) -> Result<Vec<Reference>> {
    let wanted: Vec<(String, u32, u32)> = definitions.iter().map(|d| (d.path.clone(), d.line, d.column)).collect();
    let mut resolver = Resolver::new(snapshot);
    let mut kept = Vec::new();
    for used in references {
        if reading(&mut resolver, &used, &wanted)? == relations::Reading::Does {
            kept.push(used);
        }
    }
    Ok(kept)
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
pub(super) fn chunks_of_qualified(snapshot: &Snapshot, written: &str) -> Result<Vec<ChunkId>> {
    let look_up = |name: &str| snapshot.unsigned_any_case(name, SUBJECTS);
    let definitions = written::named(snapshot, written, Case::Any, |definition| definition, look_up)?;
    let mut found = Vec::new();
    for definition in definitions.iter().take(MAX_QUALIFIED) {
        found.extend(snapshot.chunk_at(&definition.path, definition.line)?);
    }
    Ok(found)
}

/// The last name of a qualified one.
pub fn last_name(wanted: &str) -> &str {
    written::readings(wanted).last().map_or("", |reading| reading.name)
}

/// Whether a name has a qualifier.
pub fn is_qualified(wanted: &str) -> bool {
    written::readings(wanted).len() > 1
}

/// Definitions of the names that begin so: the whole name first, in any case.
fn beginning_with(
    snapshot: &Snapshot,
    readings: &[Reading],
    fits: impl Fn(&Definition) -> bool,
    sort: impl Fn(Vec<Definition>) -> Result<Vec<Definition>>,
) -> Result<Vec<Occurrence>> {
    let mut surroundings = Surroundings::new(snapshot, Case::OfLanguage);
    let (mut whole, mut longer) = (Vec::new(), Vec::new());
    for reading in readings {
        // A sign before a name is not a part of it only if nothing has a name with the sign.
        if reading.around.is_empty() && !(whole.is_empty() && longer.is_empty()) {
            continue;
        }
        for definition in snapshot.definitions_by_prefix(reading.name)?.into_iter().filter(&fits) {
            if reading.around.is_empty() || surroundings.is_in(&definition, &reading.around)? {
                let is_whole = definition.name.eq_ignore_ascii_case(reading.name);
                if is_whole { whole.push(definition) } else { longer.push(definition) }
            }
        }
    }
    let sorted = [sort(whole)?, sort(longer)?];
    Ok(sorted.into_iter().flatten().map(defined).collect())
}

/// The page at `offset` of the definitions whose names an editor's matcher would offer, best names first. How many
/// there are in all is known once the last of them is shown.
fn fuzzy(
    snapshot: &Snapshot,
    wanted: &Reading,
    fits: impl Fn(&Definition) -> bool,
    (offset, limit): (usize, usize),
) -> Result<Page<Occurrence>> {
    let mut surroundings = Surroundings::new(snapshot, Case::OfLanguage);
    let end = offset.saturating_add(limit);
    let mut found: Vec<Occurrence> = Vec::new();
    let mut all = true;
    for name in names_like(snapshot, wanted.name)? {
        // One more than is shown means that there are more.
        if found.len() > end {
            all = false;
            break;
        }
        let mut definitions = snapshot.definitions(&name)?;
        definitions.retain(&fits);
        let mut inside = Vec::new();
        for definition in definitions {
            if wanted.around.is_empty() || surroundings.is_in(&definition, &wanted.around)? {
                inside.push(definition);
            }
        }
        let definitions = inside;
        found.extend(order::sort(snapshot, definitions)?.into_iter().map(defined));
    }
    let mut page = Page::from_list(found, offset, limit);
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
