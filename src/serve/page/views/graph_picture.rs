//! The view `graph` of the web page: the part of the entity graph that can be drawn, and the size of the whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::query::picture::{self, Part, PictureEdge, PictureNode};
use crate::tools::{self, Access, Call, Declaration, declare};

pub(super) static GRAPH: Declaration = declare! {
    run;
    name: "graph",
    title: "A part of the knowledge graph",
    about: "The most connected entities, or those around one, with some words, with a tag; and the edges between them.",
    access: Access::Read,
    core: false,
    list: Some("nodes"),
    example: "{}",
};

/// Arguments of `graph`: which part, by one of these; without any the most connected entities.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// An entity's id: what it is tied to.
    around: Option<String>,
    /// Words of id, title or tags.
    find: Option<String>,
    /// A tag.
    tag: Option<String>,
    /// The most nodes (default and at most 2000).
    limit: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    nodes: Vec<PictureNode>,
    /// Between these nodes.
    edges: Vec<PictureEdge>,
    /// How many entities have the words or the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<usize>,
    /// Nodes and edges of the whole graph.
    total: usize,
    total_edges: usize,
    /// The whole graph's entities by kind, most first; without a kind: ids that nothing has.
    kinds: Vec<Kind>,
}

#[derive(Serialize, JsonSchema)]
struct Kind {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    count: usize,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let part = match (&arguments.around, &arguments.find, &arguments.tag) {
        (None, None, None) => Part::Most,
        (Some(id), None, None) => Part::Around(id),
        (None, Some(words), None) => Part::With(words),
        (None, None, Some(tag)) => Part::Tagged(tag),
        _ => return Err(Error::invalid_argument("arguments `around`, `find` and `tag`: one at a time")),
    };
    let (_, limit) = tools::page(None, arguments.limit, usize::MAX, usize::MAX);
    let picture = call.read_entities(|snapshot| picture::part(snapshot, part, limit))?;
    let mut kinds: Vec<Kind> = picture.all.kinds.into_iter().map(|(kind, count)| Kind { kind, count }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    Ok(Answer {
        nodes: picture.nodes,
        edges: picture.edges,
        found: picture.found,
        total: picture.all.nodes,
        total_edges: picture.all.edges,
        kinds,
    })
}
