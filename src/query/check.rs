//! Findings about entity files, each with its position and a suggestion.
//!
//! Owns the rules. An `error` prevents something from being read or found; a `warning` concerns other
//! programs that read these files.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{graph, near};
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::entity::{self, Role};
use crate::extract::entity_kinds::{FOLDER, KINDS, Kind};
use crate::extract::front_matter::{self, FrontMatter, FrontMatterRange, Node, Value};
use crate::model::{RepoPath, printable};
use crate::store::Snapshot;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
}

/// One problem to fix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip)]
    pub level: Level,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Maximum number of characters of a file's text in a message.
const SHOWN: usize = 80;
/// Maximum number of missing ids for which similar ids are suggested: each suggestion compares every entity.
const MAX_LOOKED_UP: usize = 50;

/// All findings, by path and line.
pub fn check(snapshot: &Snapshot, budget: &Budget) -> Result<Vec<Finding>> {
    let folder = format!("{FOLDER}/");
    let mut findings = Vec::new();
    let entities = snapshot.entities(None)?;
    // Each note of an imported folder is an entity.
    let with_entities: BTreeSet<&str> = entities.iter().map(|entity| entity.path.as_str()).collect();
    for problem in snapshot.problems_below("")? {
        if is_entity_file(&problem.path) || with_entities.contains(problem.path.as_str()) {
            let suggestion = suggestion_for(&problem.reason);
            findings.push(finding(&problem.path, problem.line, Level::Error, problem.reason, suggestion));
        }
    }
    for file in snapshot.skipped()?.into_iter().filter(|file| is_entity_file(&file.path)) {
        let message = format!("the file is left out: {}", file.reason.as_str());
        findings.push(finding(&file.path, None, Level::Error, message, None));
    }
    let doubled = snapshot.doubled_entities()?;
    for (path, key, first) in &doubled {
        let message = format!("the id {} is taken by {}, which takes precedence", shown(key), printable(first));
        findings.push(finding(path, None, Level::Error, message, Some("give one of the two another id".to_owned())));
    }
    let keys: Vec<&str> = entities.iter().map(|entity| entity.key.as_str()).collect();
    let mut looked_up: BTreeMap<String, Option<String>> = BTreeMap::new();
    for link in snapshot.dangling_links(&folder)? {
        budget.check()?;
        let message =
            format!("`{}` leads to {}, which is not the id of an entity", shown(&link.rel), shown(&link.target));
        let near = || near::did_you_mean(&near::nearest(&link.target, keys.iter().copied(), 3));
        let near = match looked_up.get(&link.target) {
            Some(known) => known.clone(),
            None if looked_up.len() < MAX_LOOKED_UP => {
                looked_up.entry(link.target.clone()).or_insert_with(near).clone()
            }
            None => None,
        };
        let suggestion = near.unwrap_or_else(|| "make an entity with that id, or take the edge away".to_owned());
        findings.push(finding(&link.path, Some(link.line), Level::Error, message, Some(suggestion)));
    }
    for path in snapshot.paths_below(&folder)?.into_iter().filter(|path| is_entity_file(path)) {
        budget.check()?;
        // A duplicate must be removed or renamed; nothing else about it matters.
        if doubled.iter().all(|(other, ..)| *other != path) {
            check_file(&path, &snapshot.text_of(&path)?, &mut findings);
        }
    }
    for cycle in graph::cycles(snapshot, budget)? {
        let entity = entities.iter().find(|entity| Some(&entity.key) == cycle.first());
        if let Some(entity) = entity.filter(|_| cycle.len() > 1) {
            let around: Vec<String> = cycle.iter().chain(cycle.first()).take(12).map(|key| shown(key)).collect();
            let message = format!("{} entities wait for each other: {}", cycle.len(), around.join(" → "));
            findings.push(finding(&entity.path, None, Level::Warning, message, Some("remove an edge".to_owned())));
        }
    }
    findings.sort();
    findings.dedup();
    Ok(findings)
}

fn is_entity_file(path: &str) -> bool {
    RepoPath::new(path).is_some_and(|path| matches!(entity::role(&path, &[]), Role::Entity(_)))
}

fn finding(path: &str, line: Option<u32>, level: Level, message: String, suggestion: Option<String>) -> Finding {
    Finding { path: path.to_owned(), line, level, message, suggestion }
}

fn shown(text: &str) -> String {
    printable(text).chars().take(SHOWN).collect()
}

/// Suggests how to fix a problem that extraction reported.
fn suggestion_for(reason: &str) -> Option<String> {
    let known = [
        ("there is no front matter", "begin the file with `---`, `id: …`, `---`, or move it out of .ixchel"),
        ("there is no `id`", "add `id: …`; ixmcp entity create makes new ones"),
        ("not closed", "add a line `---` below the last field"),
        ("mapping values are not allowed", "put the text after the first colon in quotes"),
        ("expected ',' or ']'", "close the list with `]`"),
        ("unknown anchor", "define the anchor `&name` before the alias `*name`, or put the text in quotes"),
        ("occurs twice", "remove one of the two"),
        ("not a list of fields", "write `name: value` on each line"),
    ];
    known.iter().find(|(words, _)| reason.contains(words)).map(|(_, suggestion)| (*suggestion).to_owned())
}

/// The rules for one file.
fn check_file(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let FrontMatterRange::Between { yaml, .. } = front_matter::find(text) else { return };
    let front = FrontMatter::read(text, yaml);
    let id = front.get("id").and_then(Node::text).map(str::trim).filter(|id| !id.is_empty());
    let Some(id) = id else { return };
    let id_line = front.get("id").map(|node| node.line);
    let mut warn = |line: Option<u32>, message: String, suggestion: Option<String>| {
        findings.push(finding(path, line, Level::Warning, message, suggestion));
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.strip_suffix(".md") != Some(id) {
        let suggestion = (!id.contains(['/', '\\'])).then(|| format!("rename it to {}.md", shown(id)));
        warn(id_line, format!("the file is not named by its id {}", shown(id)), suggestion);
    }
    let folder = path.split('/').nth(1).filter(|_| path.matches('/').count() > 1).unwrap_or_default();
    let by_folder = KINDS.iter().find(|kind| kind.folder == folder);
    let by_id = Kind::of_id(id);
    if let (Some(by_id), Some(by_folder)) = (by_id, by_folder)
        && by_id.name != by_folder.name
    {
        let suggestion = format!("move it to {FOLDER}/{}/", by_id.folder);
        warn(
            id_line,
            format!("the id belongs to {}, but the folder to {}", by_id.folder, by_folder.folder),
            Some(suggestion),
        );
    }
    match front.get("type").and_then(Node::text) {
        None => {
            let kind = by_id.or(by_folder).map(|kind| format!("add `type: {}`", kind.name));
            warn(id_line, "there is no `type`".to_owned(), kind);
        }
        Some(written) => {
            let line = front.get("type").map(|node| node.line);
            if let (Some(kind), Some(by_id)) = (Kind::named(written), by_id)
                && kind.name != by_id.name
            {
                let message = format!("the type is {}, but the id belongs to {}", kind.name, by_id.folder);
                warn(line, message, Some(format!("write `type: {}`", by_id.name)));
            }
        }
    }
    if front.get("title").and_then(Node::text).is_none_or(|title| title.trim().is_empty()) {
        warn(id_line, "there is no `title`".to_owned(), Some("add `title: …`".to_owned()));
    }
    for field in ["created_at", "updated_at"] {
        let Some(node) = front.get(field) else {
            let suggestion = format!("add `{field}: 2026-01-31T09:00:00Z`");
            warn(id_line, format!("there is no `{field}`"), Some(suggestion));
            continue;
        };
        if node.text().is_none_or(|text| text.trim().parse::<jiff::Timestamp>().is_err()) {
            let suggestion = "write it as 2026-01-31T09:00:00Z".to_owned();
            warn(Some(node.line), format!("`{field}` is not a date and time with a time zone"), Some(suggestion));
        }
    }
    for field in ["status", "created_by", "date"] {
        if let Some(node) = front.get(field)
            && matches!(node.value, Value::List { .. } | Value::Map { .. })
        {
            warn(Some(node.line), format!("`{field}` is not a single value"), Some("write one value".to_owned()));
        }
    }
    for field in entity::TAG_FIELDS {
        let Some(value) = front.get(field) else { continue };
        let mut odd = BTreeSet::new();
        front.each_text(value, |node, text| {
            let plain = matches!(front.resolve_alias(node).value, Value::Scalar { plain: true, .. });
            let is_other = text.parse::<f64>().is_ok() || matches!(text, "true" | "false" | "yes" | "no");
            if plain && is_other {
                odd.insert((node.line, text.to_owned()));
            }
        });
        for (line, tag) in odd {
            let message = format!("the tag {} is not text for other readers", shown(&tag));
            warn(Some(line), message, Some(format!("put it in quotes: \"{}\"", shown(&tag))));
        }
    }
    for (rel, value) in &front.fields {
        let mut itself = None;
        front.each_node(value, |node| {
            if front.resolve_alias(node).text() == Some(id) {
                itself = Some(node.line);
            }
        });
        if let (Some(rel), Some(line)) = (rel.text().filter(|rel| *rel != "id"), itself) {
            warn(Some(line), format!("`{}` leads to the entity itself", shown(rel)), Some("remove it".to_owned()));
        }
    }
}
