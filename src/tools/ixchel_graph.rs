//! `ixchel_graph`: what an entity relates to, and what is further away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, render};
use crate::error::{Error, Result};
use crate::query::graph::{self, Direction, Neighbourhood};
use crate::wording::Argument;

pub(super) static IXCHEL_GRAPH: Declaration = declare! {
    run;
    name: "ixchel_graph",
    title: "Walk the knowledge graph",
    about: "List what an entity depends on, blocks, supersedes, …: edges by relationship and, with depth, entities \
        further away. For texts use ixchel_context.",
    access: Access::Read,
    core: true,
    list: None,
    example: r#"{"id": "dec-1a2b3c", "depth": 2}"#,
};

/// Arguments of `ixchel_graph`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The entity's id.
    id: String,
    /// Edges to follow (default 1, at most 20).
    depth: Option<u32>,
    /// Default outgoing.
    direction: Option<Direction>,
    /// Only this relationship, such as depends_on.
    rel: Option<String>,
    /// Entities to return (default: all that fit).
    limit: Option<u64>,
    /// Entities to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Answer {
    id: String,
    title: String,
    outgoing: Vec<Targets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming: Option<Vec<Sources>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond: Option<Vec<Beyond>>,
    /// Entities in all three lists, on all pages.
    total: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Targets {
    rel: String,
    targets: Vec<Target>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Sources {
    rel: String,
    sources: Vec<Target>,
}

/// Without a title: nothing has that id.
#[derive(Deserialize, Serialize)]
struct Target {
    id: String,
    title: Option<String>,
}

/// Written by hand: the title is always present, and null if nothing has the id. Not all clients accept null as a type.
impl JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "title": { "anyOf": [{ "type": "string" }, { "const": null }] } },
            "required": ["id", "title"],
        })
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Beyond {
    id: String,
    title: String,
    distance: u32,
    via: String,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let depth = arguments.depth.unwrap_or(1);
    if depth == 0 {
        return Err(Error::invalid_argument((Argument("depth"), " must be 1 or more")).hint("Omit it for one edge."));
    }
    let direction = arguments.direction.unwrap_or_default();
    let around = call
        .read_entities(|snapshot| graph::around(snapshot, &arguments.id, depth, direction, arguments.rel.as_deref()))?;
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let total = around.outgoing.len() + around.incoming.len() + around.beyond.len();
    let most = total.saturating_sub(offset).min(limit);
    Ok(render::shrunk(most, call.cap(), |kept| page(&around, direction, depth, offset, kept)))
}

/// The part of all entities, taken as one list, that begins at `offset`.
fn page(around: &Neighbourhood, direction: Direction, depth: u32, offset: usize, limit: usize) -> Answer {
    let total = around.outgoing.len() + around.incoming.len() + around.beyond.len();
    let end = offset.saturating_add(limit).min(total);
    let mut at = 0;
    let mut is_shown = || {
        at += 1;
        (offset..end).contains(&(at - 1))
    };
    let mut outgoing: Vec<Targets> = Vec::new();
    for link in around.outgoing.iter().filter(|_| is_shown()) {
        let target = match &link.entity {
            Some(node) => Target { id: node.key.clone(), title: Some(node.title.clone()) },
            None => Target { id: link.target.clone(), title: None },
        };
        match outgoing.last_mut() {
            Some(group) if group.rel == link.rel => group.targets.push(target),
            _ => outgoing.push(Targets { rel: link.rel.clone(), targets: vec![target] }),
        }
    }
    let mut incoming: Vec<Sources> = Vec::new();
    for link in around.incoming.iter().filter(|_| is_shown()) {
        let source = Target { id: link.source.key.clone(), title: Some(link.source.title.clone()) };
        match incoming.last_mut() {
            Some(group) if group.rel == link.rel => group.sources.push(source),
            _ => incoming.push(Sources { rel: link.rel.clone(), sources: vec![source] }),
        }
    }
    let beyond = around.beyond.iter().filter(|_| is_shown()).map(|found| Beyond {
        id: found.node.key.clone(),
        title: found.node.title.clone(),
        distance: found.distance,
        via: found.via.clone(),
    });
    let beyond = beyond.collect();
    Answer {
        id: around.entity.key.clone(),
        title: around.entity.title.clone(),
        outgoing,
        incoming: direction.goes_in().then_some(incoming),
        beyond: (depth > 1).then_some(beyond),
        total,
        truncated: end < total,
        next_offset: (end < total && end > offset).then_some(end),
    }
}
