//! `ixmcp graph`: the knowledge graph as text, as a picture, or for another program.
//!
//! Owns what is drawn. Each way to draw it has a file of its own.

mod dot;
mod mermaid;
mod symbol;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::entity::direction;
use super::{Outcome, Session, output};
use crate::error::{Error, Result};
use crate::query::graph::Direction;
use crate::query::{entities, entity_kinds};
use crate::store::Snapshot;

/// Draw the knowledge graph or the neighborhood of one entity
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The id of the entity to start from [default: draw all entities]
    id: Option<String>,
    /// Draw the calls of this symbol instead: what calls it, and what it calls
    #[arg(long, value_name = "NAME", conflicts_with_all = ["id", "direction", "rel", "kind"])]
    symbol: Option<String>,
    /// Output format; all but text name files from the repository's root
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    /// Maximum number of edges to follow from ID, or of calls from NAME (at most 3)
    #[arg(long, short, default_value_t = 2)]
    depth: u32,
    /// The direction in which to follow edges
    #[arg(long, value_parser = direction(), default_value = "both")]
    direction: Direction,
    /// Only edges of this relationship; can be repeated
    #[arg(long)]
    rel: Vec<String>,
    /// Only entities of this kind; can be repeated
    #[arg(long)]
    kind: Vec<String>,
    /// Print the graph as one JSON object, as --format json does
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of printing
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Dot,
    Mermaid,
    Json,
}

/// The nodes and edges to draw.
#[derive(Debug, Default)]
struct Picture {
    /// By id.
    nodes: Vec<Node>,
    /// By places in `nodes`, each once.
    edges: Vec<Edge>,
}

#[derive(Debug)]
struct Node {
    id: String,
    title: String,
    /// `None`: something links to it, and nothing has the id.
    kind: Option<String>,
    status: Option<String>,
}

#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    rel: String,
}

/// The kinds with their colours: fill and line, dark enough to be distinguished in print.
const COLORS: &[(&str, &str, &str)] = &[
    ("decision", "#dbeafe", "#1d4ed8"),
    ("issue", "#fee2e2", "#b91c1c"),
    ("idea", "#fef9c3", "#a16207"),
    ("report", "#dcfce7", "#15803d"),
    ("source", "#ede9fe", "#6d28d9"),
    ("citation", "#fae8ff", "#a21caf"),
    ("agent", "#e0f2fe", "#0369a1"),
    ("session", "#ffedd5", "#c2410c"),
    ("note", "#f1f5f9", "#475569"),
];
/// Colours of a graph of calls, by kind: fill and line.
const CALL_COLORS: &[(&str, &str, &str)] =
    &[("caller", "#dcfce7", "#15803d"), ("symbol", "#fef9c3", "#a16207"), ("callee", "#dbeafe", "#1d4ed8")];
const OTHER_COLOR: (&str, &str) = ("#f5f5f4", "#57534e");
const MISSING_COLOR: (&str, &str) = ("#ffffff", "#9ca3af");

/// Fill and line of a node.
fn colors(kind: Option<&str>) -> (&'static str, &'static str) {
    let Some(kind) = kind else { return MISSING_COLOR };
    COLORS
        .iter()
        .chain(CALL_COLORS)
        .find(|(name, ..)| *name == kind)
        .map_or(OTHER_COLOR, |(_, fill, line)| (fill, line))
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let format = if typed.json { Format::Json } else { typed.format };
    // Pictures and JSON are read elsewhere, where paths begin at the root.
    let shown = |path: &str| if format == Format::Text { session.paint.shown(path) } else { path.to_owned() };
    let picture = match &typed.symbol {
        Some(name) => session.read_name(name, |snapshot| symbol::calls(snapshot, name, typed.depth, &shown))?,
        None => session.read_entities(|snapshot| gather(snapshot, typed))?,
    };
    let [one, several] = if typed.symbol.is_some() { ["definition", "definitions"] } else { ["entity", "entities"] };
    let (nodes, edges) = (picture.nodes.len(), picture.edges.len());
    let drawn = match format {
        Format::Text => text::draw(&picture),
        Format::Dot => dot::draw(&picture),
        Format::Mermaid => mermaid::draw(&picture),
        Format::Json if typed.output.is_none() => {
            output::json(&value(&picture));
            String::new()
        }
        Format::Json => value(&picture).to_string() + "\n",
    };
    match &typed.output {
        Some(file) => {
            std::fs::write(file, drawn).map_err(|error| Error::io("write", file, error))?;
            let nodes = output::count(nodes as u64, one, several);
            output::note(&format!("{nodes}, {}", output::count(edges as u64, "edge", "edges")));
        }
        None => output::raw(&drawn),
    }
    if nodes == 0 {
        output::note("there are no entities to draw; run `ixmcp init` to begin");
    }
    Ok(Outcome::found_if(nodes > 0))
}

fn gather(snapshot: &Snapshot, typed: &Arguments) -> Result<Picture> {
    let kinds: Vec<String> = typed.kind.iter().map(|kind| entity_kinds::kind(kind)).collect();
    let around: Option<BTreeSet<String>> = match &typed.id {
        None => None,
        Some(id) => {
            let entity = entities::find(snapshot, id)?;
            let ways = (typed.direction.goes_out(), typed.direction.goes_in());
            let only = if let [rel] = typed.rel.as_slice() { Some(rel.as_str()) } else { None };
            let reached = snapshot.reached(entity.id, typed.depth.min(20), ways, only)?;
            Some(reached.into_iter().map(|(_, node)| node.key).collect())
        }
    };
    let is_shown = |key: &str, kind: &str| {
        around.as_ref().is_none_or(|around| around.contains(key))
            && (kinds.is_empty() || kinds.iter().any(|k| k == kind))
    };
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    for entity in snapshot.entities(None)? {
        if is_shown(&entity.key, &entity.kind) {
            let (id, title, kind) = (entity.key.clone(), entity.title, Some(entity.kind));
            nodes.insert(entity.key, Node { id, title, kind, status: entity.status });
        }
    }
    let mut edges: BTreeSet<(String, String, String)> = BTreeSet::new();
    for link in snapshot.every_link()? {
        let (source, rel) = (link.source, link.link.rel);
        if !nodes.contains_key(&source.key) || !(typed.rel.is_empty() || typed.rel.contains(&rel)) {
            continue;
        }
        let target = match link.link.entity {
            Some(target) => target.key,
            // What a picture of one kind leaves out must not come back as missing.
            None if kinds.is_empty() => {
                let id = link.link.target;
                let missing = || Node { id: id.clone(), title: String::new(), kind: None, status: None };
                nodes.entry(id.clone()).or_insert_with(missing);
                id
            }
            None => continue,
        };
        if nodes.contains_key(&target) {
            edges.insert((source.key, target, rel));
        }
    }
    let places: BTreeMap<String, usize> = nodes.keys().enumerate().map(|(at, key)| (key.clone(), at)).collect();
    let place = |key: &String| places.get(key).copied().unwrap_or(0);
    let edges =
        edges.iter().map(|(from, to, rel)| Edge { from: place(from), to: place(to), rel: rel.clone() }).collect();
    Ok(Picture { nodes: nodes.into_values().collect(), edges })
}

fn value(picture: &Picture) -> Value {
    let nodes = picture
        .nodes
        .iter()
        .map(|node| json!({ "id": node.id, "kind": node.kind, "title": node.title, "status": node.status }));
    let edges = picture
        .edges
        .iter()
        .map(|edge| json!({ "from": picture.nodes[edge.from].id, "rel": edge.rel, "to": picture.nodes[edge.to].id }));
    json!({ "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() })
}
