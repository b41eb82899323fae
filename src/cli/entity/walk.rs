//! `ixmcp entity path|cycles|ready`: queries that need the whole graph.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use super::super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::Result;
use crate::model::printable;
use crate::query::graph::{self, Direction};

/// Print the shortest path from one entity to another
#[derive(Debug, Args)]
pub(super) struct Path {
    /// The id of the first entity
    from: String,
    /// The id of the last entity
    to: String,
    /// The direction in which to follow edges
    #[arg(long, value_parser = direction(), default_value = "both")]
    direction: Direction,
}

pub(in crate::cli) fn direction() -> impl TypedValueParser<Value = Direction> {
    PossibleValuesParser::new(["outgoing", "incoming", "both"]).try_map(|typed| typed.parse::<Direction>())
}

pub(super) fn path(session: &Session, typed: &Path) -> Result<Outcome> {
    let way = session.read_entities(|snapshot| graph::path(snapshot, &typed.from, &typed.to, typed.direction))?;
    let steps = way
        .iter()
        .flatten()
        .map(|step| json!({ "from": step.from.key, "rel": step.rel, "to": step.to.key, "against": step.against }));
    let json = json!({ "found": way.is_some(), "steps": steps.collect::<Vec<_>>() });
    session.show(&json, way.is_some(), || {
        let Some(way) = &way else { return output::note("no path connects the two") };
        for step in way {
            let arrow = if step.against { format!("<-{}-", step.rel) } else { format!("-{}->", step.rel) };
            output::line(&printable(&format!("{} {arrow} {}  {}", step.from.key, step.to.key, step.to.title)));
        }
        output::note(&output::count(way.len() as u64, "edge", "edges"));
    })
}

pub(super) fn cycles(session: &Session) -> Result<Outcome> {
    let cycles = session.read_entities(|snapshot| graph::cycles(snapshot, &Budget::unlimited()))?;
    session.show(&json!({ "total": cycles.len(), "cycles": cycles }), !cycles.is_empty(), || {
        for cycle in &cycles {
            let around: Vec<&str> = cycle.iter().chain(cycle.first()).map(String::as_str).collect();
            output::line(&printable(&around.join(" waits for ")));
        }
        if cycles.is_empty() {
            output::note("no dependency cycles");
        }
    })
}

pub(super) fn ready(session: &Session) -> Result<Outcome> {
    let issues = session.read_entities(graph::ready)?;
    let items = issues.iter().map(|issue| {
        json!({
            "id": issue.key, "title": issue.title, "status": issue.status, "priority": issue.priority,
            "path": issue.path,
        })
    });
    let json = json!({ "total": issues.len(), "items": items.collect::<Vec<_>>() });
    session.show_list(&json, &issues, "no open issue is ready: there is none, or each waits for another", |issue| {
        let priority =
            issue.priority.as_deref().map_or_else(String::new, |priority| format!("  (priority {priority})"));
        output::line(&printable(&format!("{:<14} {}{priority}", issue.key, issue.title)));
    })
}
