//! `find_references`: the references to a symbol.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::goto_definition::{readings, span_of, span_of_occurrence};
use super::previews::Previews;
use super::target::{Candidate, Located, Subject, has_target};
use super::{Access, Call, Declaration, declare, engine};
use crate::error::Result;
use crate::extract::position::Named;
use crate::model::{Position, Reference};
use crate::pytypes::values::{Answer as Answered, Query};
use crate::query::Page;
use crate::query::occurrences::{self, Mention, Mentions, ReadingTime};
use crate::query::positions;
use crate::query::scip;
use crate::store::{Definition, ScipOccurrence};

pub(super) static FIND_REFERENCES: Declaration = declare! {
    run;
    name: "find_references",
    title: "Find references",
    about: "Find all references to one symbol, given by position or symbol_name: for Python by types, without \
        same-named others; else by syntax. To look a name up use get_symbol.",
    access: Access::Read,
    core: true,
    list: Some("references"),
    example: r#"{"file": "tests/clients/python_mcp.py", "line": 35, "column": 5}"#,
};

/// Arguments of `find_references`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: Option<String>,
    /// From 1.
    line: Option<u32>,
    /// From 1, in characters.
    column: Option<u32>,
    /// Instead of a position: name, Class.method or module::name; file narrows it.
    symbol_name: Option<String>,
    /// Include the definition (default true).
    include_declaration: Option<bool>,
    /// References to return (default: all that fit).
    limit: Option<u64>,
    /// References to skip (default 0).
    offset: Option<u64>,
    /// Notebook cell of line, from 1.
    cell: Option<u32>,
}

has_target!(Arguments);

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub references: Vec<Reference>,
    /// Symbols with that name, if there are several: give one of their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Which references are missing, for a method that Python calls implicitly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// False if references may be missing, or may be to another symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Why it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub precision: String,
}

const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let at = match arguments.target().locate(call, false)? {
        Subject::At(at) => at,
        Subject::OneOf(candidates) => {
            let (references, precision) = (Vec::new(), "name".to_owned());
            let (total, truncated, next_offset, left_out) = (Some(0), false, None, None);
            let (complete, reason) = (None, None);
            return Ok(Answer {
                references,
                candidates,
                total,
                truncated,
                next_offset,
                left_out,
                complete,
                reason,
                precision,
            });
        }
    };
    let include_declaration = arguments.include_declaration.unwrap_or(true);
    let max = if call.cap().is_some() { MAX_LIMIT } else { usize::MAX };
    let (offset, limit) = super::page(arguments.offset, arguments.limit, max, max);
    let (mut left_out, mut is_unfinished) = (None, false);
    let reason;
    let position = at.position()?;
    let (total, references, precision) = if at.file.is_python {
        let found = by_types(call, position, include_declaration)?;
        (left_out, reason) = (found.left_out, found.reason);
        (found.references.len(), Page::from_list(found.references, offset, limit), "types")
    } else {
        let readings = readings(call, &at.file, at.line, at.column)?;
        let found = match readings.first() {
            Some(first) => found(call, &at, &first.name, &readings, &reading_time(call, offset))?,
            None => Found::BySyntax(Mentions::default()),
        };
        let name = match &found {
            Found::BySyntax(mentions) | Found::Stated { others: mentions, .. } => mentions.name.clone(),
        };
        let (mut listed, precision) = match found {
            Found::BySyntax(found) => {
                reason = why_incomplete(&found, !readings.is_empty());
                is_unfinished = found.unfinished.is_some();
                (found.found.into_iter().map(UnreadReference::BySyntax).collect::<Vec<_>>(), "syntax")
            }
            Found::Stated { stated, others } => {
                reason = why_unstated(others.found.len());
                let others = others.found.into_iter().map(UnreadReference::Uncovered);
                let mut all: Vec<UnreadReference> =
                    stated.into_iter().map(UnreadReference::Stated).chain(others).collect();
                all.sort_by(|one, other| one.position().cmp(&other.position()));
                (all, "scip")
            }
        };
        listed.retain(|one| include_declaration || !one.is_definition());
        // The lines of those that are returned are read, not of all.
        let mut previews = Previews::new(call);
        (listed.len(), Page::from_list(listed, offset, limit).map(|one| one.item(&mut previews, &name)), precision)
    };
    // More is found on the next page, or in a longer time.
    let after = references.offset + references.items.len();
    Ok(Answer {
        total: (!is_unfinished).then_some(total),
        truncated: references.is_cut || is_unfinished,
        next_offset: references.next_offset().or_else(|| (is_unfinished && after > offset).then_some(after)),
        references: references.items,
        candidates: Vec::new(),
        left_out,
        complete: reason.is_some().then_some(false),
        reason,
        precision: precision.to_owned(),
    })
}

/// Where a name is used.
enum Found {
    /// By SCIP files, and by syntax where they say nothing.
    Stated {
        stated: Vec<ScipOccurrence>,
        others: Mentions,
    },
    BySyntax(Mentions),
}

/// The time in which files of a common name are read before what is found is the answer.
const FIRST_ANSWER: Duration = Duration::from_millis(75);

/// How long files may be read: of many files the nearest ones at first; until shortly before the deadline if the caller has set it, or
/// asks for a further page.
pub(super) fn reading_time(call: &Call, offset: usize) -> ReadingTime {
    let now = Instant::now();
    let at_last = call.budget().deadline().map(|deadline| now + deadline.saturating_duration_since(now).mul_f64(0.8));
    let waits = call.request.has_timeout || offset > 0;
    let until = if waits { at_last } else { now.checked_add(FIRST_ANSWER) };
    ReadingTime { budget: call.budget().clone(), until, at_last }
}

/// Says that not all files were read.
pub(super) fn why_unfinished(unfinished: Option<(usize, usize)>) -> Option<String> {
    unfinished.map(|(done, all)| {
        format!("{done} of {all} files with the name were read. The next page, or a longer `timeout_ms`, continues.")
    })
}

/// Says that text which is not code may have references.
pub(super) fn why_outside(words: usize) -> Option<String> {
    (words > 0).then(|| format!("Occurrences in templates that were not resolved: {words}."))
}

fn found(call: &Call, at: &Located, name: &str, readings: &[Named], time: &ReadingTime) -> Result<Found> {
    call.refresh_scip()?;
    call.read_name(name, |snapshot| {
        let subject = scip::subject(snapshot, &at.file.path, at.line, at.column)?;
        let by_syntax = || -> Result<Mentions> {
            let path = at.file.path.as_str();
            let is_at = |one: &Definition, (line, column): (u32, u32)| {
                (one.path.as_str(), one.line, one.column) == (path, line, column)
            };
            let mut referred = positions::definitions_at(snapshot, path, at.line, readings)?;
            let is_own = |one: &Definition| readings.iter().any(|named| is_at(one, (at.line, named.column)));
            if !referred.definitions.iter().any(is_own) {
                for named in readings {
                    // What binds a variable is not what else has its name.
                    let position = (at.line, named.column);
                    let binder = occurrences::binder_at(snapshot, path, position.0, position.1)?;
                    if let Some((line, column)) = binder {
                        let asked = Named { name: named.name.clone(), column };
                        referred = positions::definitions_at(snapshot, path, line, &[asked])?;
                        referred.definitions.retain(|one| is_at(one, (line, column)));
                    }
                    if referred.definitions.is_empty() {
                        let found = occurrences::in_file(snapshot, path, position, &named.name, binder)?;
                        if !found.found.is_empty() {
                            return Ok(found);
                        }
                    }
                }
            }
            let mut found = occurrences::mentions(snapshot, &referred.definitions, time)?;
            found.is_of_guess = !referred.is_certain;
            Ok(found)
        };
        let Some(subject) = subject else { return Ok(Found::BySyntax(by_syntax()?)) };
        let stated = scip::references(snapshot, &subject)?;
        let mut others = if subject.is_local { Mentions::default() } else { by_syntax()? };
        let mut unstated = Vec::new();
        for other in others.found {
            if !scip::is_stated(snapshot, &other.path, other.line, other.column)? {
                unstated.push(other);
            }
        }
        others.found = unstated;
        Ok(Found::Stated { stated, others })
    })
}

/// A reference whose line is not read yet.
enum UnreadReference {
    Stated(ScipOccurrence),
    /// By syntax, next to stated ones.
    Uncovered(Mention),
    BySyntax(Mention),
}

impl UnreadReference {
    fn position(&self) -> (&str, u32, u32) {
        match self {
            Self::Stated(one) => (&one.path, one.line, one.column),
            Self::Uncovered(one) | Self::BySyntax(one) => (&one.path, one.line, one.column),
        }
    }

    fn is_definition(&self) -> bool {
        match self {
            Self::Stated(one) => scip::is_definition(one.roles),
            Self::Uncovered(one) | Self::BySyntax(one) => one.kind.is_none(),
        }
    }

    /// The reference as the answer shows it, to something of that name.
    fn item(self, previews: &mut Previews, name: &str) -> Reference {
        match self {
            Self::Stated(one) => Reference {
                role: scip::role(one.roles).to_owned(),
                preview: previews.line(&one.path, one.line),
                span: span_of_occurrence(one),
                precision: None,
            },
            Self::Uncovered(mention) => {
                let item = mention_item(previews, &mention, name);
                Reference { precision: item.precision.or_else(|| Some("syntax".to_owned())), ..item }
            }
            Self::BySyntax(mention) => mention_item(previews, &mention, name),
        }
    }
}

fn why_unstated(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "{count} references, marked `syntax` or `name`, are where the SCIP file says nothing, or in files that changed since the SCIP \
             file was written or that it does not cover."
        )
    })
}

/// Explains why syntax alone may miss or misread references.
fn why_incomplete(found: &Mentions, is_name: bool) -> Option<String> {
    if is_name && found.found.is_empty() {
        return Some("Without types, nothing is known of this name: it may be local, or defined elsewhere.".to_owned());
    }
    let of_guess = (found.is_of_guess && !found.found.is_empty())
        .then(|| "Which definition this position refers to is known by its name only.".to_owned());
    let guessed = (found.guessed > 0)
        .then(|| format!("{} references, marked `name`, may be to another symbol of the name.", found.guessed));
    let unlisted = found.has_unlisted.then(|| "Object literals and names in quotes may refer to it, too.".to_owned());
    let unfollowed = (found.unfollowed > 0).then(|| {
        format!("{} references are imported from modules in which the definition was not found.", found.unfollowed)
    });
    let unfinished = why_unfinished(found.unfinished);
    super::joined([of_guess, guessed, unfinished, unfollowed, why_outside(found.outside), unlisted])
}

const UNDEFINED: &str = "The type checker finds no definition for the name at this position.";

/// Says that the type checker cannot resolve some relative imports.
fn why_unresolved(files: usize) -> Option<String> {
    (files > 0).then(|| {
        format!(
            "{files} files with the name have relative imports that the type checker cannot resolve: references in them may be \
             missing. It resolves them if the project root is above the folder of the package."
        )
    })
}

/// The answer of the type engine.
#[derive(Default)]
struct ByTypes {
    references: Vec<Reference>,
    left_out: Option<String>,
    reason: Option<String>,
}

/// Asks the engine for the symbol, the index for files that contain its name, and the engine for the references in
/// them.
fn by_types(call: &Call, at: Position, include_declaration: bool) -> Result<ByTypes> {
    let Answered::Subject { found } = engine::ask(call, &Query::Subject(at.clone()))? else {
        return Err(engine::unexpected());
    };
    let Some(subject) = found else {
        return Ok(ByTypes { reason: Some(UNDEFINED.to_owned()), ..ByTypes::default() });
    };
    let names: Vec<&str> = std::iter::once(&subject.name).chain(&subject.classes).map(String::as_str).collect();
    let files = if subject.is_local { Vec::new() } else { candidates(call, &names)? };
    match engine::ask(call, &Query::References { at, include_declaration, files: Some(files) })? {
        Answered::References { references, unresolved } => {
            Ok(ByTypes { references, left_out: subject.left_out, reason: why_unresolved(unresolved) })
        }
        _ => Err(engine::unexpected()),
    }
}

/// Files that may contain one of the names: indexed files with the word, and project files that are not indexed.
pub(super) fn candidates(call: &Call, names: &[&str]) -> Result<Vec<String>> {
    let Answered::Files { files } = engine::ask(call, &Query::Files)? else { return Err(engine::unexpected()) };
    let root = call.workspace().root().to_owned();
    let (holding, indexed) = call.read_completed(|snapshot, unindexed| {
        let mut indexed = snapshot.paths(Some("python"))?;
        // The engine looks at files that the index does not show as they are.
        indexed.retain(|(path, _)| unindexed.is_none_or(|unindexed| !unindexed.is_outdated(path)));
        let mut holding = BTreeSet::new();
        for name in names {
            holding.extend(positions::files_naming(snapshot, name, "python")?);
        }
        Ok((holding, indexed))
    })?;
    let absolute = |path: &str| root.join(path).to_string_lossy().into_owned();
    let indexed: BTreeSet<String> = indexed.iter().map(|(path, _)| absolute(path)).collect();
    let others = files.into_iter().filter(|file| !indexed.contains(file));
    Ok(holding.iter().map(|path| absolute(path)).chain(others).collect())
}

fn mention_item(previews: &mut Previews, mention: &Mention, name: &str) -> Reference {
    Reference {
        span: span_of(mention.path.clone(), mention.line, mention.column, mention.alias.as_deref().unwrap_or(name)),
        role: mention.kind.clone().unwrap_or_else(|| "definition".to_owned()),
        preview: previews.line(&mention.path, mention.line),
        precision: (!mention.is_certain).then(|| "name".to_owned()),
    }
}
