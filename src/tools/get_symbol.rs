//! `get_symbol`: where a name is defined and used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::find_references::{reading_time, why_outside, why_unfinished};
use super::history::{self, CommitNote};
use super::{Access, Call, Declaration, declare, unsearched};
use crate::error::{Error, Result};
use crate::extract::kinds;
use crate::model::printable;
use crate::organisation::MirrorRequest;
use crate::query::history::ChangesWith;
use crate::query::qualified_name::qualified;
use crate::query::relations::call_graph::{self, CallGraph};
use crate::query::relations::{self, Group, Resolver};
use crate::query::symbols::{self, Match, Occurrence};
use crate::query::{exact, near};
use crate::store::Snapshot;
use crate::wording::Argument;

pub(super) static GET_SYMBOL: Declaration = declare! {
    run;
    name: "get_symbol",
    title: "Find a symbol",
    about: "Find a name: definitions with signature and range, then nearest references by name. For all \
        references to one symbol use find_references; for other text, query.",
    access: Access::Read,
    core: true,
    list: Some("symbols"),
    example: r#"{"symbol_name": "Workspace", "limit": 5}"#,
};

/// Arguments of `get_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Name, Class.method or module::name.
    symbol_name: String,
    /// class, function, call, import, … (default all).
    kind: Option<String>,
    /// Default exact; the others find definitions only.
    #[serde(rename = "match")]
    how: Option<Match>,
    /// Default: definitions and 20 references.
    limit: Option<u64>,
    /// Symbols to skip (default 0).
    offset: Option<u64>,
    /// Add callers, bases, imports, …
    relations: Option<bool>,
    /// Steps of calls, 1 to 3.
    depth: Option<u32>,
    /// Add its commits.
    history: Option<bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub symbols: Vec<Occurrence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// False if occurrences may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Why it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Similar names, if nothing has this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// With relations: of each definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<SymbolRelations>,
    /// With history: the last commits that touched the lines of the first definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<CommitNote>,
    /// With history: files that were changed together with its file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes_with: Vec<ChangesWith>,
    /// Without a definition: files that are not searched. Why the history may lack commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Relations of one definition.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct SymbolRelations {
    /// Qualified.
    pub name: String,
    pub file_path: String,
    pub line: u32,
    pub groups: Vec<RelationGroup>,
    /// False if some may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct RelationGroup {
    /// contains, calls, called_by, inherits, implements, imports, …
    pub relation: String,
    pub total: usize,
    pub items: Vec<RelatedItem>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct RelatedItem {
    pub name: String,
    pub file_path: String,
    pub line: u32,
    /// scip, container, file, import, package: the code states it. name, ambiguous: only the name suggests it.
    pub how: String,
    /// Steps of calls, from 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

const MAX_LIMIT: usize = 1000;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    check_name(arguments)?;
    if let Some(unknown) = arguments.kind.as_deref().filter(|named| !kinds::all().any(|kind| kind == *named)) {
        return Err(unknown_kind(unknown));
    }
    let how = arguments.how.unwrap_or_default();
    let depth = arguments.depth.unwrap_or(1);
    if !(1..=call_graph::MAX_DEPTH).contains(&depth) {
        return Err(Error::invalid_argument((Argument("depth"), format!(": {depth} is not between 1 and 3")))
            .hint("Give 1, 2 or 3."));
    }
    let (offset, limit) = super::page(arguments.offset, arguments.limit, MAX_LIMIT, MAX_LIMIT);
    let limit = arguments.limit.map(|_| limit);
    if arguments.relations == Some(true) {
        call.refresh_scip()?;
    }
    let time = reading_time(call, offset);
    let read = |snapshot: &Snapshot| {
        let name = &arguments.symbol_name;
        let symbols::Found { page, unread } = symbols::occurrences(
            snapshot,
            name,
            arguments.kind.as_deref(),
            how,
            call.request.other_files,
            (offset, limit),
            &time,
        )?;
        let reason = super::joined([why_unfinished(unread.files), why_outside(unread.outside)]);
        let is_unknown = page.items.is_empty() && page.total == Some(0);
        // References without a definition may belong to one in a file that is not searched.
        let is_defined = || page.items.first().is_some_and(|first| first.role == "definition");
        let lacks_definition = arguments.kind.is_none() && offset == 0 && limit != Some(0) && !is_defined();
        let unsearched = if is_unknown || lacks_definition { unsearched::note_of_name(snapshot)? } else { None };
        let suggestions =
            if is_unknown && !call.request.is_part { symbols::similar_names(snapshot, name)? } else { Vec::new() };
        let relations = match arguments.relations {
            Some(true) => related(snapshot, name, depth)?,
            _ => Vec::new(),
        };
        Ok((page, reason, unsearched, suggestions, relations))
    };
    let (page, reason, unsearched, suggestions, relations) = match how {
        Match::Exact => call.read_name(&arguments.symbol_name, read)?,
        Match::Prefix | Match::Fuzzy => call.read_names_like(&arguments.symbol_name, read)?,
    };
    let (past, no_history) = match arguments.history {
        Some(true) => {
            let (name, most) = (&arguments.symbol_name, (history::OF_SYMBOL, false));
            let of_name = |snapshot: &Snapshot| history::of_name(call.workspace(), snapshot, name, most, call.budget());
            call.read_history(|own| call.read_name(name, |snapshot| own.read(snapshot, || of_name(snapshot))))?
        }
        _ => (None, None),
    };
    let past = past.flatten().unwrap_or_default();
    Ok(Answer {
        suggestions,
        relations,
        history: past.commits,
        changes_with: past.changes_with,
        warning: super::joined([past.note, no_history, unsearched]),
        total: page.total,
        truncated: page.is_cut,
        next_offset: page.next_offset(),
        complete: reason.is_some().then_some(false),
        reason,
        symbols: page.items,
    })
}

fn check_name(arguments: &Arguments) -> Result<()> {
    if arguments.symbol_name.trim().is_empty() {
        return Err(
            Error::invalid_argument((Argument("symbol_name"), " is empty")).hint("Give a name such as QuerySet.")
        );
    }
    Ok(())
}

/// Returns the files of published repositories that a call needs, if the repositories are many. Similar names and
/// relations can be anywhere, and so can the files through which a name is imported, which say what a qualifier means.
pub(super) fn mirror_request(arguments: &Map<String, Value>) -> Result<MirrorRequest> {
    let arguments: Arguments = super::arguments::parse(arguments.clone())?;
    check_name(&arguments)?;
    let how = arguments.how.unwrap_or_default();
    let is_resolved = how == Match::Exact && symbols::is_qualified(&arguments.symbol_name);
    if how == Match::Fuzzy || arguments.relations == Some(true) || is_resolved {
        return Ok(MirrorRequest::Everything);
    }
    let name = symbols::last_name(&arguments.symbol_name);
    let defined = (how == Match::Exact).then(|| name.to_owned());
    let literals = exact::literals_of_name(name);
    Ok(literals
        .map_or(MirrorRequest::AnyText { of: "name" }, |literals| MirrorRequest::Files { literals, name: defined }))
}

/// Definitions of a name whose relations are shown, and items of their groups in all.
const MAX_SUBJECTS: usize = 3;
const MAX_ITEMS: usize = 60;
/// Items of one group, where few definitions have the name.
const MAX_IN_GROUP: usize = 10;

fn related(snapshot: &Snapshot, name: &str, depth: u32) -> Result<Vec<SymbolRelations>> {
    let mut subjects = symbols::subjects(snapshot, name)?;
    subjects.retain(|subject| subject.definition.kind != "heading");
    subjects.truncate(MAX_SUBJECTS);
    let in_group = (MAX_IN_GROUP / subjects.len().max(1)).max(3);
    let mut resolver = Resolver::new(snapshot);
    let mut left = MAX_ITEMS;
    let mut all = Vec::new();
    for subject in &subjects {
        let found = relations::of_symbol(&mut resolver, subject, in_group)?;
        let mut groups: Vec<RelationGroup> = found.groups.iter().map(group).collect();
        if depth > 1 {
            let graph = call_graph::call_graph(&mut resolver, subject, depth)?;
            add_steps(&mut groups, &graph, in_group);
        }
        for group in &mut groups {
            group.items.truncate(left);
            left -= group.items.len();
        }
        let unexamined = (found.unexamined > 0)
            .then(|| format!("{} more references to the name were not examined", found.unexamined));
        let reason = super::joined([unexamined, found.unstated.map(str::to_owned)]);
        all.push(SymbolRelations {
            name: qualified(&subject.definition),
            file_path: subject.definition.path.clone(),
            line: subject.definition.line,
            groups,
            complete: reason.is_some().then_some(false),
            reason,
        });
    }
    Ok(all)
}

fn group(found: &Group) -> RelationGroup {
    let items = found.items.iter().map(|item| RelatedItem {
        name: item.name.clone(),
        file_path: item.path.clone(),
        line: item.line,
        how: item.how.as_str().to_owned(),
        depth: None,
    });
    RelationGroup { relation: found.relation.replace(' ', "_"), total: found.total, items: items.collect() }
}

/// Adds what is more than one call away to the groups of calls.
fn add_steps(groups: &mut Vec<RelationGroup>, graph: &CallGraph, most: usize) {
    for (relation, sign) in [("calls", 1), ("called_by", -1)] {
        let far = graph.nodes.iter().enumerate().filter(|(_, node)| node.distance * sign > 1);
        let items: Vec<RelatedItem> = far
            .map(|(at, node)| RelatedItem {
                name: node.name.clone(),
                file_path: node.path.clone(),
                line: node.line,
                how: graph
                    .edges
                    .iter()
                    .filter(|edge| if sign > 0 { edge.to == at } else { edge.from == at })
                    .map(|edge| edge.how)
                    .min()
                    .map_or("name", relations::ResolutionRule::as_str)
                    .to_owned(),
                depth: Some(node.distance.unsigned_abs()),
            })
            .collect();
        if items.is_empty() {
            continue;
        }
        let total = items.len();
        let items = items.into_iter().take(most);
        match groups.iter_mut().find(|group| group.relation == relation) {
            Some(group) => {
                group.total += total;
                group.items.extend(items);
            }
            None => groups.push(RelationGroup { relation: relation.to_owned(), total, items: items.collect() }),
        }
    }
}

fn unknown_kind(unknown: &str) -> Error {
    let shown: String = unknown.chars().take(80).collect();
    let near = near::did_you_mean(&near::nearest(&shown, kinds::all(), 3));
    let known = format!("Kinds are: {}.", kinds::all().collect::<Vec<_>>().join(", "));
    Error::invalid_argument((Argument("kind"), format!(": there is no kind {:?}", printable(&shown))))
        .hint(near.map_or_else(|| known.clone(), |near| format!("{near} {known}")))
}
