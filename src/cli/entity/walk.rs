//! `ixmcp entity path|cycles|ready`: queries that need the whole graph.

use clap::{Args, ValueEnum};
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
    #[arg(long, value_enum, default_value_t)]
    direction: Way,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Way {
    Outgoing,
    Incoming,
    #[default]
    Both,
}

impl Way {
    pub(in crate::cli) fn direction(self) -> Direction {
        match self {
            Self::Outgoing => Direction::Outgoing,
            Self::Incoming => Direction::Incoming,
            Self::Both => Direction::Both,
        }
    }
}

pub(super) fn path(session: &Session, typed: &Path) -> Result<Outcome> {
    let way = session.read(|snapshot| graph::path(snapshot, &typed.from, &typed.to, typed.direction.direction()))?;
    if session.json {
        let steps = way
            .iter()
            .flatten()
            .map(|step| json!({ "from": step.from.key, "rel": step.rel, "to": step.to.key, "against": step.against }));
        output::json(&json!({ "found": way.is_some(), "steps": steps.collect::<Vec<_>>() }));
    } else if let Some(way) = &way {
        for step in way {
            let arrow = if step.against { format!("<-{}-", step.rel) } else { format!("-{}->", step.rel) };
            output::line(&printable(&format!("{} {arrow} {}  {}", step.from.key, step.to.key, step.to.title)));
        }
        output::note(&output::count(way.len() as u64, "edge", "edges"));
    } else {
        output::note("there is no way between the two");
    }
    Ok(if way.is_some() { Outcome::Found } else { Outcome::Nothing })
}

pub(super) fn cycles(session: &Session) -> Result<Outcome> {
    let cycles = session.read(|snapshot| graph::cycles(snapshot, &Budget::unlimited()))?;
    if session.json {
        output::json(&json!({ "total": cycles.len(), "cycles": cycles }));
    } else {
        for cycle in &cycles {
            let around: Vec<&str> = cycle.iter().chain(cycle.first()).map(String::as_str).collect();
            output::line(&printable(&around.join(" waits for ")));
        }
        if cycles.is_empty() {
            output::note("nothing waits for itself");
        }
    }
    Ok(if cycles.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

pub(super) fn ready(session: &Session) -> Result<Outcome> {
    let issues = session.read(graph::ready)?;
    if session.json {
        let items = issues.iter().map(|issue| {
            json!({
                "id": issue.key, "title": issue.title, "status": issue.status, "priority": issue.priority,
                "path": issue.path,
            })
        });
        output::json(&json!({ "total": issues.len(), "items": items.collect::<Vec<_>>() }));
    } else {
        for issue in &issues {
            let priority =
                issue.priority.as_deref().map_or_else(String::new, |priority| format!("  (priority {priority})"));
            output::line(&printable(&format!("{:<14} {}{priority}", issue.key, issue.title)));
        }
        if issues.is_empty() {
            output::note_nothing();
        }
    }
    Ok(if issues.is_empty() { Outcome::Nothing } else { Outcome::Found })
}
