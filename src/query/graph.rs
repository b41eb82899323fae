//! Walking the graph of entities: what is around one, the shortest path between two, cycles, ready issues.
//!
//! Owns the walks. `store` looks up the targets of edges.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use schemars::JsonSchema;
use serde::Deserialize;
use strum_macros::EnumString;

use super::entities;
use crate::budget::Budget;
use crate::cycles::strongly_connected;
use crate::error::Result;
use crate::store::{EntityId, GraphNode, Link, LinkFrom, LinkTo, Snapshot, StoredEntity};

/// Which way edges are walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Direction {
    #[default]
    Outgoing,
    Incoming,
    Both,
}

impl Direction {
    pub const fn goes_out(self) -> bool {
        !matches!(self, Self::Incoming)
    }

    pub const fn goes_in(self) -> bool {
        !matches!(self, Self::Outgoing)
    }
}

/// An entity with its links and the entities further away.
#[derive(Debug)]
pub struct Neighbourhood {
    pub entity: StoredEntity,
    /// By name of the relationship, targets in the order of the file.
    pub outgoing: Vec<LinkFrom>,
    pub incoming: Vec<LinkTo>,
    /// Nearest first.
    pub beyond: Vec<DistantEntity>,
}

/// An entity that is more than one edge away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistantEntity {
    pub node: GraphNode,
    pub distance: u32,
    /// The id before it on a shortest path; of several the first.
    pub via: String,
}

/// Deeper results are too large to read.
pub const MAX_DEPTH: u32 = 20;

/// Everything within `depth` edges of the entity `id`.
pub fn around(
    snapshot: &Snapshot,
    id: &str,
    depth: u32,
    direction: Direction,
    rel: Option<&str>,
) -> Result<Neighbourhood> {
    let entity = entities::find(snapshot, id)?;
    let is_asked = |found: &str| rel.is_none_or(|rel| rel == found);
    let mut outgoing = if direction.goes_out() { snapshot.links_from(entity.id)? } else { Vec::new() };
    outgoing.retain(|link| is_asked(&link.rel));
    outgoing.sort_by(|a, b| a.rel.cmp(&b.rel));
    let mut incoming = if direction.goes_in() { snapshot.links_to(entity.id)? } else { Vec::new() };
    incoming.retain(|link| is_asked(&link.rel));
    let mut beyond = Vec::new();
    if depth > 1 {
        let ways = (direction.goes_out(), direction.goes_in());
        let reached = snapshot.reached(entity.id, depth.min(MAX_DEPTH), ways, rel)?;
        let before = before(snapshot, &reached, ways, rel)?;
        for (distance, node) in reached.into_iter().filter(|(distance, _)| *distance > 1) {
            let via = before.get(&node.id).cloned().unwrap_or_default();
            beyond.push(DistantEntity { node, distance, via });
        }
    }
    Ok(Neighbourhood { entity, outgoing, incoming, beyond })
}

/// Returns the key of the entity before each one that was reached over several edges; of several, the first. Looks at
/// each edge of nearer entities once.
fn before(
    snapshot: &Snapshot,
    reached: &[(u32, GraphNode)],
    ways: (bool, bool),
    rel: Option<&str>,
) -> Result<HashMap<EntityId, String>> {
    let distances: HashMap<EntityId, u32> = reached.iter().map(|(distance, node)| (node.id, *distance)).collect();
    let furthest = reached.iter().map(|(distance, _)| *distance).max().unwrap_or(0);
    let mut before: HashMap<EntityId, String> = HashMap::new();
    // Those of one distance come by key: the first to lead to an entity is the one.
    for (distance, node) in reached.iter().filter(|(distance, _)| (1..furthest).contains(distance)) {
        snapshot.steps(node.id, ways, rel, |next| {
            if distances.get(&next) == Some(&(distance + 1)) {
                before.entry(next).or_insert_with(|| node.key.clone());
            }
        })?;
    }
    Ok(before)
}

/// One step of a path: an edge, walked along or against its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub from: GraphNode,
    pub rel: String,
    pub to: GraphNode,
    /// The edge leads from `to` to `from`.
    pub against: bool,
}

/// The shortest path between two entities; `None` when there is none. Of several, the one whose ids come first.
pub fn path(snapshot: &Snapshot, from: &str, to: &str, direction: Direction) -> Result<Option<Vec<PathStep>>> {
    let (from, to) = (entities::find(snapshot, from)?, entities::find(snapshot, to)?);
    let mut steps: HashMap<String, Vec<PathStep>> = HashMap::new();
    for Link { source, link, .. } in snapshot.every_link()? {
        let Some(target) = link.entity else { continue };
        if direction.goes_out() {
            let step = PathStep { from: source.clone(), rel: link.rel.clone(), to: target.clone(), against: false };
            steps.entry(source.key.clone()).or_default().push(step);
        }
        if direction.goes_in() {
            let step = PathStep { from: target.clone(), rel: link.rel, to: source, against: true };
            steps.entry(target.key).or_default().push(step);
        }
    }
    for list in steps.values_mut() {
        list.sort_by(|a, b| (&a.to.key, a.against, &a.rel).cmp(&(&b.to.key, b.against, &b.rel)));
    }
    let mut reached_by: HashMap<&str, &PathStep> = HashMap::new();
    let mut open = VecDeque::from([from.key.as_str()]);
    while let Some(at) = open.pop_front() {
        if at == to.key {
            let mut way = Vec::new();
            let mut at = at;
            while at != from.key {
                let Some(step) = reached_by.get(at) else { break };
                way.push((*step).clone());
                at = &step.from.key;
            }
            way.reverse();
            return Ok(Some(way));
        }
        for step in steps.get(at).into_iter().flatten() {
            if step.to.key != from.key && !reached_by.contains_key(step.to.key.as_str()) {
                reached_by.insert(&step.to.key, step);
                open.push_back(&step.to.key);
            }
        }
    }
    Ok(None)
}

/// Relationships that say that the target comes first.
const NEEDS: &[&str] = &["depends_on", "depends-on", "blocked_by", "blocked-by", "requires", "needs"];
/// Relationships that say that the target comes after.
const BLOCKS: &[&str] = &["blocks"];

/// Relationships that say that the source is a part of the target.
const PART_OF: &[&str] = &["parent", "parent-child", "parent_child", "child_of", "part_of"];

/// Status values of open issues that cannot be worked on.
const HELD: &[&str] = &["blocked", "deferred"];

fn is_held(status: Option<&str>) -> bool {
    status.is_some_and(|status| HELD.contains(&status.trim().to_lowercase().as_str()))
}

/// Status values of closed issues.
const CLOSED: &[&str] = &[
    "closed",
    "done",
    "resolved",
    "completed",
    "complete",
    "fixed",
    "finished",
    "cancelled",
    "canceled",
    "wontfix",
    "won't fix",
    "wont-fix",
    "rejected",
    "duplicate",
    "superseded",
    "archived",
    "obsolete",
];

/// Whether an issue of that status is open.
pub fn is_open(status: Option<&str>) -> bool {
    status.is_none_or(|status| !CLOSED.contains(&status.trim().to_lowercase().as_str()))
}

/// Reads which entity must come before which: for each key, the keys before it.
fn before_each(links: &[Link]) -> BTreeMap<String, BTreeMap<String, GraphNode>> {
    let mut before: BTreeMap<String, BTreeMap<String, GraphNode>> = BTreeMap::new();
    for Link { source, link, .. } in links {
        let Some(target) = &link.entity else { continue };
        if NEEDS.contains(&link.rel.as_str()) {
            before.entry(source.key.clone()).or_default().insert(target.key.clone(), target.clone());
        } else if BLOCKS.contains(&link.rel.as_str()) {
            before.entry(target.key.clone()).or_default().insert(source.key.clone(), source.clone());
        }
    }
    before
}

/// Entities that wait for each other in a cycle, each waiting for the next: for every group of such, its shortest
/// cycle through the first id.
pub fn cycles(snapshot: &Snapshot, budget: &Budget) -> Result<Vec<Vec<String>>> {
    let before = before_each(&snapshot.every_link()?);
    let mut found = Vec::new();
    let keys: Vec<&str> = before.keys().map(String::as_str).collect();
    // The keys are in order.
    let number = |key: &String| keys.binary_search(&key.as_str()).ok();
    let graph: Vec<Vec<usize>> = before.values().map(|next| next.keys().filter_map(number).collect()).collect();
    for group in strongly_connected(&graph) {
        budget.check()?;
        let inside: HashSet<&str> = group.iter().map(|at| keys[*at]).collect();
        let Some(first) = inside.iter().min().copied() else { continue };
        let loops = before.get(first).is_some_and(|next| next.contains_key(first));
        if group.len() == 1 && !loops {
            continue;
        }
        found.push(cycle(&before, first, &inside));
    }
    found.sort();
    Ok(found)
}

/// The shortest cycle through `first`.
fn cycle(before: &BTreeMap<String, BTreeMap<String, GraphNode>>, first: &str, inside: &HashSet<&str>) -> Vec<String> {
    let mut came_from: HashMap<&str, &str> = HashMap::new();
    let mut open = VecDeque::from([first]);
    while let Some(at) = open.pop_front() {
        for next in before.get(at).into_iter().flat_map(BTreeMap::keys).map(String::as_str) {
            if next == first {
                let mut way = vec![at.to_owned()];
                let mut at = at;
                while let Some(previous) = came_from.get(at) {
                    way.push((*previous).to_owned());
                    at = previous;
                }
                way.reverse();
                return way;
            }
            if inside.contains(next) && !came_from.contains_key(next) {
                came_from.insert(next, at);
                open.push_back(next);
            }
        }
    }
    vec![first.to_owned()]
}

/// Open issues with nothing open before them, nor before what they are a part of: the most important first, then by id.
pub fn ready(snapshot: &Snapshot) -> Result<Vec<StoredEntity>> {
    let links = snapshot.every_link()?;
    let before = before_each(&links);
    let waits = |node: &GraphNode| {
        let is_first = |other: &GraphNode| other.key != node.key && is_open(other.status.as_deref());
        is_held(node.status.as_deref()) || before.get(&node.key).is_some_and(|first| first.values().any(is_first))
    };
    let mut parts: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut blocked: Vec<&str> = Vec::new();
    for Link { source, link, .. } in &links {
        if let Some(parent) = link.entity.as_ref().filter(|_| PART_OF.contains(&link.rel.as_str())) {
            parts.entry(&parent.key).or_default().push(&source.key);
            if is_open(parent.status.as_deref()) && waits(parent) {
                blocked.push(&parent.key);
            }
        }
    }
    let mut with_blocked: HashSet<&str> = HashSet::new();
    while let Some(key) = blocked.pop() {
        for part in parts.get(key).into_iter().flatten() {
            if with_blocked.insert(part) {
                blocked.push(part);
            }
        }
    }
    let mut issues = snapshot.entities(Some("issue"))?;
    issues.retain(|issue| {
        let waits = before.get(&issue.key).is_some_and(|first| {
            first.values().any(|other| other.key != issue.key && is_open(other.status.as_deref()))
        });
        let status = issue.status.as_deref();
        is_open(status) && !is_held(status) && !waits && !with_blocked.contains(issue.key.as_str())
    });
    issues.sort_by(|a, b| (urgency(a), &a.key).cmp(&(urgency(b), &b.key)));
    Ok(issues)
}

/// 0 comes first: a number as it is, with or without a P before it; words by their rank; missing ones last.
fn urgency(issue: &StoredEntity) -> u32 {
    let Some(priority) = issue.priority.as_deref().map(str::to_lowercase) else { return u32::MAX };
    match priority.trim() {
        "critical" | "urgent" | "highest" | "blocker" => 0,
        "high" => 1,
        "medium" | "normal" => 2,
        "low" => 3,
        "lowest" | "trivial" => 4,
        other => other.trim_start_matches('p').parse().unwrap_or(u32::MAX - 1),
    }
}
