//! The definitions that differ from a commit, and the code, tests and documents that depend on them.
//!
//! Owns which definitions are shown, with what, and in which order. `diff` compares, `relations` resolves references,
//! and `repository` owns which files differ.

mod affected_tests;
mod corresponding;
mod diff;
mod mentioned;
mod visibility;

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::affected_tests::Ranking;
use self::diff::{Change, Entry, Kind};
use super::Page;
use super::relations::reach::{self, Reach, Subject};
use super::relations::{Related, ResolutionRule, Resolver, is_test};
use crate::error::Result;
use crate::extract::kinds::TYPES;
use crate::model::Symbol;
use crate::store::Snapshot;

/// A file that differs.
pub struct Difference<'a> {
    pub path: &'a str,
    /// `None`: the commit lacks it.
    pub before: Option<OldFile<'a>>,
    pub is_gone: bool,
}

/// A file as it was.
pub struct OldFile<'a> {
    pub language: &'a str,
    pub text: &'a str,
    pub symbols: &'a [Symbol],
}

/// A definition that differs from the base.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ChangedDefinition {
    /// Qualified.
    pub name: String,
    pub kind: String,
    /// added, removed, renamed, moved, signature, body.
    pub change: Vec<String>,
    /// The file of the new version; of the base if it was removed.
    pub file_path: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// If it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_signature: Option<String>,
    /// Definitions in it that were added or removed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<usize>,
    /// Whether code outside its package may refer to it.
    pub public: bool,
    /// References to it outside of the change and of tests; to a removed definition, those that remain.
    pub callers: Vec<Dependent>,
    pub callers_total: usize,
    /// References that remain to the old name or file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub old_callers: Vec<Dependent>,
    /// Types that inherit from it, methods that override it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementers: Vec<Dependent>,
    /// Tests that refer to it, then those whose path has the name of its file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Dependent>,
    /// Entities and documents that mention it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned_in: Vec<MentionedIn>,
    /// False if not all references were examined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Why it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that depends on a definition.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Dependent {
    pub file_path: String,
    pub line: u32,
    /// The definition around the reference.
    pub name: String,
    /// scip: a SCIP file states it. syntax: the code does. name: only the name suggests it.
    pub precision: String,
    /// scip, container, file, import, package, name, ambiguous or path.
    pub how: String,
}

/// A text that mentions a definition.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct MentionedIn {
    pub file_path: String,
    pub line: u32,
    /// The entity's id, if the text is an entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The definitions that differ, and the tests to run.
pub struct Changes {
    pub page: Page<ChangedDefinition>,
    /// Files of tests, those that are the likeliest to notice the change first.
    pub tests: Vec<String>,
}

/// Dependents of a definition, and of its old version.
type Reached = (Reach, Option<Reach>);

/// Definitions whose references are looked up; further ones come last.
const MAX_REACHED: usize = 400;
/// Items of each list of one definition.
const SHOWN: usize = 5;
const MAX_TESTS: usize = 20;

/// The definitions that differ, those that most depends on first.
pub fn list(snapshot: &Snapshot, differences: &[Difference], offset: usize, limit: usize) -> Result<Changes> {
    let mut changes = compared(snapshot, differences)?;
    changes.sort_by_key(|change| (!visibility::is_public(&change.entry), is_test(&change.entry.path)));
    let changed_lines = ChangedLines::from_changes(&changes);
    let is_changed = |path: &str, line: u32| changed_lines.include(path, line);
    let mut resolver = Resolver::new(snapshot);
    // A renamed definition is looked up twice: by its name, and by the old one.
    let examined = &changes[..changes.len().min(MAX_REACHED)];
    let subjects: Vec<Subject> = examined.iter().flat_map(subjects).collect();
    let mut found = reach::of_changes(&mut resolver, &subjects, &is_changed)?.into_iter();
    let mut ranking = Ranking::new(snapshot)?;
    let mut reached: Vec<(Change, Option<Reached>)> = Vec::with_capacity(changes.len());
    for (at, change) in changes.into_iter().enumerate() {
        if at >= MAX_REACHED {
            reached.push((change, None));
            continue;
        }
        let reach = found.next().unwrap_or_default();
        let of_old = has_old_name(&change).then(|| found.next().unwrap_or_default());
        ranking.add_definition(&change.entry, &reach);
        of_old.iter().for_each(|of_old| ranking.add_definition(&change.entry, of_old));
        reached.push((change, Some((reach, of_old))));
    }
    for difference in differences {
        ranking.add_file(difference.path, &reach::tests_importing(&mut resolver, difference.path)?);
    }
    let weight = |reach: &Reach| reach.dependents.len() + reach.implementers.len();
    let total =
        |reach: &Option<Reached>| reach.as_ref().map(|(reach, old)| weight(reach) + old.as_ref().map_or(0, weight));
    reached.sort_by_cached_key(|(change, reach)| {
        let entry = &change.entry;
        let is_hidden = !visibility::is_public(entry);
        (std::cmp::Reverse(total(reach)), is_hidden, change.kinds.clone(), entry.path.clone(), entry.line)
    });
    let mut texts = mentioned::Texts::default();
    let page = Page::from_list(reached, offset, limit);
    let page = page.try_map(|(change, reach)| described(snapshot, &change, reach, &ranking, &mut texts))?;
    Ok(Changes { page, tests: ranking.best(MAX_TESTS) })
}

/// The definitions of both versions of the files, compared.
fn compared(snapshot: &Snapshot, differences: &[Difference]) -> Result<Vec<Change>> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for difference in differences {
        let file = if difference.is_gone { None } else { snapshot.file(difference.path)? };
        if file.is_none() && !difference.is_gone {
            // It is not indexed (any more), so nothing is known of it.
            continue;
        }
        if let Some(before) = &difference.before {
            old.extend(diff::entries_before(difference.path, before.language, before.text, before.symbols));
        }
        if let Some((file, _)) = file {
            let lines = snapshot.lines(difference.path, 1, u32::MAX)?;
            new.extend(diff::entries_now(snapshot.declared_in(file)?, &lines));
        }
    }
    Ok(diff::changes(&old, &new))
}

fn has_old_name(change: &Change) -> bool {
    change.kinds.iter().any(|kind| matches!(kind, Kind::Renamed | Kind::Moved))
}

/// Lists the subjects to look up for a change: the definition, then its old version if the name differs.
fn subjects(change: &Change) -> impl Iterator<Item = Subject<'_>> {
    let old = change.old.as_ref().filter(|_| has_old_name(change)).map(subject);
    std::iter::once(subject(&change.entry)).chain(old)
}

fn subject(entry: &Entry) -> Subject<'_> {
    let Entry { path, language, name, kind, container, node, .. } = entry;
    let is_member = container.is_some() && !TYPES.contains(&kind.as_str());
    Subject { name, node: node.as_ref(), path, language, is_member }
}

/// The lines of definitions that differ.
struct ChangedLines(HashMap<String, Vec<(u32, u32)>>);

impl ChangedLines {
    fn from_changes(changes: &[Change]) -> Self {
        let mut lines: HashMap<String, Vec<(u32, u32)>> = HashMap::new();
        for change in changes {
            if change.kinds == [Kind::Removed] {
                continue;
            }
            let entry = &change.entry;
            // What a type contains is compared for itself.
            let is_whole = change.kinds == [Kind::Added] || !TYPES.contains(&entry.kind.as_str());
            let range = if is_whole { (entry.start_line, entry.end_line) } else { (entry.start_line, entry.line) };
            lines.entry(entry.path.clone()).or_default().push(range);
        }
        Self(lines)
    }

    fn include(&self, path: &str, line: u32) -> bool {
        self.0.get(path).is_some_and(|ranges| ranges.iter().any(|(start, end)| (*start..=*end).contains(&line)))
    }
}

fn described(
    snapshot: &Snapshot,
    change: &Change,
    reach: Option<Reached>,
    ranking: &Ranking,
    texts: &mut mentioned::Texts,
) -> Result<ChangedDefinition> {
    let entry = &change.entry;
    let other = change.old.as_ref();
    let unexamined = reach.as_ref().map(|(reach, old)| reach.unexamined + old.as_ref().map_or(0, |old| old.unexamined));
    let (reach, of_old) = reach.unwrap_or_default();
    let (tests, callers): (Vec<Related>, Vec<Related>) =
        reach.dependents.into_iter().partition(|found| is_test(&found.path));
    let (old_tests, old_callers): (Vec<Related>, Vec<Related>) =
        of_old.into_iter().flat_map(|of_old| of_old.dependents).partition(|found| is_test(&found.path));
    let mut seen = HashSet::new();
    let tests = tests.iter().chain(&old_tests).filter(|test| seen.insert((&test.path, test.line, &test.name)));
    let mut tests: Vec<Dependent> = tests.take(SHOWN).map(dependent).collect();
    for path in ranking.tests_named_like(&entry.path) {
        if tests.len() < SHOWN && !tests.iter().any(|test| test.file_path == *path) {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            let how = "path".to_owned();
            tests.push(Dependent { file_path: path.clone(), line: 1, name, precision: "name".to_owned(), how });
        }
    }
    let reason = match unexamined {
        None => Some("too many definitions differ: its references were not examined".to_owned()),
        Some(0) => None,
        Some(rest) => Some(format!("{rest} more references to the name were not examined")),
    };
    Ok(ChangedDefinition {
        name: entry.qualified(),
        kind: entry.kind.clone(),
        change: change.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
        file_path: entry.path.clone(),
        line: entry.line,
        old_name: other.filter(|old| old.name != entry.name).map(Entry::qualified),
        old_path: other.filter(|old| old.path != entry.path).map(|old| old.path.clone()),
        signature: entry.signature.clone(),
        old_signature: other.filter(|old| old.signature != entry.signature).and_then(|old| old.signature.clone()),
        members: Some(change.members).filter(|members| *members > 0),
        public: visibility::is_public(entry),
        callers_total: callers.len(),
        callers: callers.iter().take(SHOWN).map(dependent).collect(),
        old_callers: old_callers.iter().take(SHOWN).map(dependent).collect(),
        implementers: reach.implementers.iter().take(SHOWN).map(dependent).collect(),
        tests,
        mentioned_in: texts.that_mention(snapshot, entry, SHOWN)?,
        complete: reason.is_some().then_some(false),
        reason,
    })
}

fn dependent(found: &Related) -> Dependent {
    Dependent {
        file_path: found.path.clone(),
        line: found.line,
        name: found.name.clone(),
        precision: precision(found.how).to_owned(),
        how: found.how.as_str().to_owned(),
    }
}

/// How certain a rule is, as answers state it.
fn precision(how: ResolutionRule) -> &'static str {
    match how {
        ResolutionRule::Scip => "scip",
        how if how.is_proof() => "syntax",
        _ => "name",
    }
}
