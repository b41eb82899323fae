//! The view `graph`: every entity and every edge, for people to look at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::query::entities;

pub(super) static GRAPH: Declaration = declare! {
    run;
    name: "graph",
    title: "The whole knowledge graph",
    about: "Every entity with its kind, status and tags, and every edge.",
    access: Access::Read,
    core: false,
    list: None,
    example: "{}",
};

/// Arguments of `graph`: none of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[derive(Serialize, JsonSchema)]
struct Answer {
    /// By id.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// Without a kind: something links to it, and nothing has the id.
#[derive(Serialize, JsonSchema)]
struct Node {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Edge {
    from: String,
    to: String,
    rel: String,
}

fn run(call: &Call, _: &Arguments) -> Result<Answer> {
    let whole = call.read_entities(entities::all)?;
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    for (entity, tags) in whole.entities {
        let (id, kind, path) = (entity.key.clone(), Some(entity.kind), Some(entity.path));
        nodes.insert(entity.key, Node { id, kind, title: entity.title, status: entity.status, path, tags });
    }
    let mut edges: Vec<Edge> = Vec::with_capacity(whole.links.len());
    for link in whole.links {
        let to = link.link.entity.map_or(link.link.target, |target| target.key);
        nodes.entry(to.clone()).or_insert_with(|| Node {
            id: to.clone(),
            kind: None,
            title: String::new(),
            status: None,
            path: None,
            tags: Vec::new(),
        });
        edges.push(Edge { from: link.source.key, to, rel: link.link.rel });
    }
    Ok(Answer { nodes: nodes.into_values().collect(), edges })
}
