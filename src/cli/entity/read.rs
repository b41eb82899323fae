//! `ixmcp entity list|show|search|context|tags|sync`: shows people the answers of the tools that read the graph.

use clap::Args;
use serde_json::json;

use super::super::known::KnownValues;
use super::super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::extract::entity_kinds::{KINDS, NOTE};
use crate::model::printable;
use crate::query::{entity_kinds, graph};
use crate::tools::{ixchel_context, ixchel_search, ixchel_show, ixchel_sync, ixchel_tags};

/// List entities
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only this kind: decision, issue, idea, report, source, citation, agent, session, note
    #[arg(value_parser = KnownValues(listed_kinds), hide_possible_values = true)]
    kind: Option<String>,
    /// Only open entities
    #[arg(long)]
    open: bool,
}

/// Print an entity's file
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The entity's id
    id: String,
}

/// Search entities by words and meaning
#[derive(Debug, Args)]
pub(super) struct Search {
    /// The query
    #[arg(required = true)]
    text: Vec<String>,
    /// Only entities of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only entities with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Maximum number of hits
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: u64,
    /// Number of hits to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
}

/// Print an entity with its neighbors and the code they mention
#[derive(Debug, Args)]
pub(super) struct Context {
    /// The entity's id
    id: String,
    /// Approximate maximum number of tokens
    #[arg(long, default_value_t = 2500)]
    budget: u64,
}

/// List tags with the number of entities of each
#[derive(Debug, Args)]
pub(super) struct Tags {
    /// Only tags of this kind of entity; `document` for other Markdown files
    #[arg(long)]
    kind: Option<String>,
    /// List entities without tags instead
    #[arg(long)]
    untagged: bool,
}

/// Update the graph and report changes and problems
#[derive(Debug, Args)]
pub(super) struct Sync {
    /// Read every entity again
    #[arg(long)]
    force: bool,
}

fn listed_kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).chain([NOTE]).collect()
}

fn row(id: &str, kind: &str, title: &str, status: Option<&str>) -> String {
    let status = status.map_or_else(String::new, |status| format!("  [{status}]"));
    printable(&format!("{id:<14} {kind:<9} {title}{status}"))
}

pub(super) fn list(session: &Session, typed: &List) -> Result<Outcome> {
    let kind = typed.kind.as_deref().map(entity_kinds::kind);
    let mut all = session.read_entities(|snapshot| snapshot.entities(kind.as_deref()))?;
    all.retain(|entity| !typed.open || graph::is_open(entity.status.as_deref()));
    let items = all.iter().map(|entity| {
        json!({
            "id": entity.key, "kind": entity.kind, "title": entity.title, "path": entity.path,
            "status": entity.status, "created_at": entity.created_at, "updated_at": entity.updated_at,
        })
    });
    let json = json!({ "total": all.len(), "items": items.collect::<Vec<_>>() });
    let empty = if all.is_empty() { nothing_listed(session, typed, kind.as_deref())? } else { String::new() };
    session.show_list(&json, &all, &empty, |entity| {
        output::line(&row(&entity.key, &entity.kind, &entity.title, entity.status.as_deref()));
    })
}

/// Explains why no entity is listed.
fn nothing_listed(session: &Session, typed: &List, kind: Option<&str>) -> Result<String> {
    let others = session.read_entities(|snapshot| snapshot.entities(None))?;
    if others.is_empty() {
        return Ok("there are no entities; `ixmcp entity init` makes the folder for them".to_owned());
    }
    let Some(kind) = kind.filter(|kind| others.iter().all(|entity| entity.kind != *kind)) else {
        let open = if typed.open { "open " } else { "" };
        return Ok(format!(
            "there is no {open}entity{}",
            kind.map_or_else(String::new, |kind| format!(" of kind {kind}"))
        ));
    };
    let mut kinds: Vec<&str> = others.iter().map(|entity| entity.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    Ok(printable(&format!("there is no entity of kind {kind}; there are: {}", kinds.join(", "))))
}

pub(super) fn show(session: &Session, typed: &Show) -> Result<Outcome> {
    let answer = session.call::<ixchel_show::Answer>("ixchel_show", json!({ "id": typed.id }))?;
    session.show(&answer.json, true, || output::raw(&answer.raw))
}

pub(super) fn search(session: &Session, typed: &Search) -> Result<Outcome> {
    let given = arguments! {
        "query": typed.text.join(" "), "kind": typed.kind, "tag": typed.tag, "limit": typed.limit, "offset": typed.offset,
    };
    let answer = session.call::<ixchel_search::Answer>("ixchel_search", given)?;
    let hits = &answer.hits;
    session.show(&answer.json, !hits.is_empty(), || {
        for hit in hits {
            output::line(&row(&hit.id, &hit.kind, &hit.title, None));
            if !hit.snippet.is_empty() {
                output::line(&format!("    {}", printable(&hit.snippet)));
            }
        }
        answer.note_rest(hits.len(), "no entity matches");
    })
}

pub(super) fn context(session: &Session, typed: &Context) -> Result<Outcome> {
    let given = json!({ "id": typed.id, "budget_tokens": typed.budget });
    let answer = session.call::<ixchel_context::Answer>("ixchel_context", given)?;
    session.show(&answer.json, true, || print_context(session, &answer))
}

fn print_context(session: &Session, answer: &ixchel_context::Answer) {
    for item in &answer.items {
        output::line(&format!("# {}  {}\n({})\n", printable(&item.id), printable(&item.title), printable(&item.why)));
        let body: Vec<String> = item.body.lines().map(printable).collect();
        output::line(&format!("{}\n", body.join("\n")));
    }
    for code in &answer.code {
        let position = session.paint.position(&code.mention.path, code.mention.line.as_slice());
        let symbol = code.mention.symbol.as_ref().map_or_else(String::new, |name| format!("  [{}]", printable(name)));
        output::line(&format!("{position}{symbol}  {}", printable(&code.why)));
    }
    let left = answer.left_out_total.unwrap_or(answer.left_out.len());
    if left > 0 {
        let neighbours = output::count(left as u64, "neighbour", "neighbours");
        output::note(&format!("{neighbours} did not fit; raise --budget to see more"));
    }
}

pub(super) fn tags(session: &Session, typed: &Tags) -> Result<Outcome> {
    let given = arguments! { "kind": typed.kind, "untagged": typed.untagged };
    let answer = session.call::<ixchel_tags::Answer>("ixchel_tags", given)?;
    session.show(&answer.json, answer.total > 0, || {
        for tag in answer.tags.iter().flatten() {
            output::line(&format!("{:>6}  {}", tag.count, printable(&tag.tag)));
        }
        for item in answer.items.iter().flatten() {
            output::line(&row(&item.id, &item.kind, &item.title, None));
        }
        if answer.total == 0 {
            output::note(if typed.untagged { "every entity has a tag" } else { "nothing has a tag" });
        }
    })
}

pub(super) fn sync(session: &Session, typed: &Sync) -> Result<Outcome> {
    let answer = session.call::<ixchel_sync::Answer>("ixchel_sync", arguments! { "force": typed.force })?;
    session.show(&answer.json, true, || {
        let ixchel_sync::Answer { scanned, added, modified, deleted, unchanged, .. } = &*answer;
        output::line(&format!(
            "{scanned} scanned, {added} added, {modified} modified, {deleted} deleted, {unchanged} unchanged"
        ));
        for problem in &answer.problems {
            let position = session.paint.position(&problem.path, problem.line.as_slice());
            output::line(&format!("{position}: {}", printable(&problem.reason)));
        }
    })
}
