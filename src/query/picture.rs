//! A part of the graph of entities that is small enough to draw.
//!
//! Owns the selection and its bound. The page owns the drawing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::entities;
use crate::error::Result;
use crate::model::composed;
use crate::store::{Snapshot, StoredEntity};

/// Which part is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// The most connected ones.
    Most,
    /// An entity with its neighbours and, if those are few, their neighbours.
    Around(&'a str),
    /// Entities that have all these words in id, title or tags.
    With(&'a str),
    /// Entities that carry the tag.
    Tagged(&'a str),
}

/// A part of the graph.
#[derive(Debug)]
pub struct Picture {
    /// The entities; those that matter most for the query first.
    pub nodes: Vec<PictureNode>,
    /// Between these nodes; those of the first nodes first.
    pub edges: Vec<PictureEdge>,
    /// The number of matches, if the query selects some.
    pub found: Option<usize>,
    /// In the whole graph.
    pub all: Counts,
}

/// The size of the whole graph.
#[derive(Debug, Default)]
pub struct Counts {
    pub nodes: usize,
    pub edges: usize,
    /// Entities by kind; without one: ids that nothing has.
    pub kinds: BTreeMap<Option<String>, usize>,
}

/// An entity; without a kind: an id that nothing has.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PictureNode {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Edges at it in the whole graph.
    pub links: usize,
}

/// An edge.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PictureEdge {
    pub from: String,
    pub to: String,
    pub rel: String,
}

/// The most nodes of a part, and the most edges.
const NODES: usize = 2000;
const EDGES: usize = 10_000;
/// Nodes around an entity with few neighbours.
const NEAR: usize = 60;

/// The asked part of the graph, of at most `limit` nodes.
pub fn part(snapshot: &Snapshot, part: Part, limit: usize) -> Result<Picture> {
    let whole = FullGraph::load(snapshot)?;
    let limit = limit.min(NODES);
    let ranked = whole.ranked();
    let (chosen, found) = match part {
        Part::Most => (ranked.into_iter().take(limit).collect(), None),
        Part::Around(id) => {
            let centre = match whole.at.get(id) {
                Some(centre) => *centre,
                None => whole.at[&entities::find(snapshot, id)?.key],
            };
            (whole.around(centre, &ranked, limit), None)
        }
        Part::With(words) => {
            let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
            picked(&ranked, limit, |node| whole.nodes[node].has(&words))
        }
        Part::Tagged(tag) => {
            let tag = composed(tag);
            picked(&ranked, limit, |node| whole.nodes[node].tags.iter().any(|own| *own == tag))
        }
    };
    let edges = whole.between(&chosen);
    let nodes = chosen.iter().map(|node| whole.nodes[*node].clone()).collect();
    Ok(Picture { nodes, edges, found, all: whole.counts() })
}

fn picked(ranked: &[usize], limit: usize, fits: impl Fn(usize) -> bool) -> (Vec<usize>, Option<usize>) {
    let all: Vec<usize> = ranked.iter().copied().filter(|node| fits(*node)).collect();
    let found = all.len();
    (all.into_iter().take(limit).collect(), Some(found))
}

impl PictureNode {
    fn has(&self, words: &[String]) -> bool {
        let text = format!("{} {} {}", self.id, self.title, self.tags.join(" ")).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// The whole graph, with indexes of a list for ids.
struct FullGraph {
    nodes: Vec<PictureNode>,
    at: HashMap<String, usize>,
    edges: Vec<(usize, usize, String)>,
}

impl FullGraph {
    fn load(snapshot: &Snapshot) -> Result<Self> {
        let stored = entities::all(snapshot)?;
        let mut whole = Self { nodes: Vec::new(), at: HashMap::new(), edges: Vec::new() };
        for (entity, tags) in stored.entities {
            whole.at.insert(entity.key.clone(), whole.nodes.len());
            let StoredEntity { key: id, kind, title, status, path, .. } = entity;
            whole.nodes.push(PictureNode { id, kind: Some(kind), title, status, path: Some(path), tags, links: 0 });
        }
        for link in stored.links {
            let from = whole.index_of(link.source.key);
            let to = whole.index_of(link.link.entity.map_or(link.link.target, |target| target.key));
            whole.nodes[from].links += 1;
            if to != from {
                whole.nodes[to].links += 1;
            }
            whole.edges.push((from, to, link.link.rel));
        }
        Ok(whole)
    }

    fn index_of(&mut self, id: String) -> usize {
        if let Some(index) = self.at.get(&id) {
            return *index;
        }
        self.nodes.push(PictureNode { id: id.clone(), ..PictureNode::default() });
        self.at.insert(id, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The most connected first; ties by id.
    fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..self.nodes.len()).collect();
        ranked.sort_by_key(|node| (Reverse(self.nodes[*node].links), &self.nodes[*node].id));
        ranked
    }

    /// The nearest to one, the most connected of them first.
    fn around(&self, centre: usize, ranked: &[usize], limit: usize) -> Vec<usize> {
        let mut rank = vec![0; self.nodes.len()];
        for (at, node) in ranked.iter().enumerate() {
            rank[*node] = at;
        }
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (from, to, _) in &self.edges {
            neighbours[*from].push(*to);
            neighbours[*to].push(*from);
        }
        let own: HashSet<usize> = neighbours[centre].iter().copied().collect();
        let limit = limit.min(NEAR.max(own.len() + 1));
        let (mut chosen, mut is_chosen) = (vec![centre], vec![false; self.nodes.len()]);
        is_chosen[centre] = true;
        let mut next = 0;
        while next < chosen.len() && chosen.len() < limit {
            let mut near = std::mem::take(&mut neighbours[chosen[next]]);
            near.sort_by_key(|node| rank[*node]);
            for node in near {
                if chosen.len() < limit && !std::mem::replace(&mut is_chosen[node], true) {
                    chosen.push(node);
                }
            }
            next += 1;
        }
        chosen
    }

    fn between(&self, chosen: &[usize]) -> Vec<PictureEdge> {
        let mut index = vec![usize::MAX; self.nodes.len()];
        for (at, node) in chosen.iter().enumerate() {
            index[*node] = at;
        }
        let is_drawn = |edge: &&(usize, usize, String)| index[edge.0] < usize::MAX && index[edge.1] < usize::MAX;
        let mut edges: Vec<&(usize, usize, String)> = self.edges.iter().filter(is_drawn).collect();
        edges.sort_by_key(|(from, to, rel)| {
            let (one, other) = (index[*from], index[*to]);
            (one.min(other), one.max(other), one, rel)
        });
        let tie = |(from, to, rel): &(usize, usize, String)| PictureEdge {
            from: self.nodes[*from].id.clone(),
            to: self.nodes[*to].id.clone(),
            rel: rel.clone(),
        };
        edges.into_iter().take(EDGES).map(tie).collect()
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { nodes: self.nodes.len(), edges: self.edges.len(), kinds: BTreeMap::new() };
        for node in &self.nodes {
            *counts.kinds.entry(node.kind.clone()).or_default() += 1;
        }
        counts
    }
}
