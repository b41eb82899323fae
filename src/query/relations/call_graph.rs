//! Which definitions call a definition, and which it calls, over several steps.
//!
//! Owns the walk and its bounds. `resolve` owns what a call refers to.

use std::collections::HashMap;
use std::rc::Rc;

use super::{ResolutionRule, Resolver, kinds, means, modules, ranked};
use crate::error::Result;
use crate::query::qualified_name::qualified;
use crate::store::{DefinitionNode, Reference, SymbolId};

/// Steps that are followed at most.
pub const MAX_DEPTH: u32 = 3;
/// Definitions of one graph, and calls of one definition that are resolved.
const MAX_NODES: usize = 120;
const EXAMINED: usize = 400;

/// A definition, or a file with calls outside of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// Qualified.
    pub name: String,
    pub kind: String,
    pub path: String,
    pub line: u32,
    /// Steps from the subject: negative for its callers, positive for what it calls.
    pub distance: i32,
}

/// A call, by the numbers of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdge {
    pub from: usize,
    pub to: usize,
    pub how: ResolutionRule,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    /// The subject comes first, then in order of distance.
    pub nodes: Vec<CallNode>,
    pub edges: Vec<CallEdge>,
    /// Whether calls were left out because there are too many.
    pub is_cut: bool,
}

/// A graph under construction.
struct GraphBuilder {
    graph: CallGraph,
    known: HashMap<(String, u32), usize>,
}

/// The calls around a definition, up to `depth` steps in both directions.
pub fn call_graph(resolver: &mut Resolver, subject: &DefinitionNode, depth: u32) -> Result<CallGraph> {
    let mut builder = GraphBuilder { graph: CallGraph::default(), known: HashMap::new() };
    let root = builder.add(node(subject, 0)).unwrap_or_default();
    for is_caller in [false, true] {
        let mut level = vec![(root, Rc::new(subject.clone()))];
        for step in 1..=depth.min(MAX_DEPTH) {
            let distance = i32::try_from(step).unwrap_or(i32::MAX) * if is_caller { -1 } else { 1 };
            let mut next: Vec<(usize, Rc<DefinitionNode>)> = Vec::new();
            let mut seen: Vec<SymbolId> = Vec::new();
            for (at, definition) in &level {
                let (found, is_cut) =
                    if is_caller { callers(resolver, definition)? } else { callees(resolver, definition)? };
                builder.graph.is_cut |= is_cut;
                for (called, how) in found {
                    let Some(other) = builder.add(called.node(distance)) else { continue };
                    let (from, to) = if is_caller { (other, *at) } else { (*at, other) };
                    builder.join(CallEdge { from, to, how });
                    if let Called::Definition(definition) = called
                        && builder.graph.nodes[other].distance == distance
                        && !seen.contains(&definition.id)
                    {
                        seen.push(definition.id);
                        next.push((other, definition));
                    }
                }
            }
            level = next;
        }
    }
    Ok(builder.graph)
}

impl GraphBuilder {
    /// The number of a node; `None` if there are too many.
    fn add(&mut self, node: CallNode) -> Option<usize> {
        let key = (node.path.clone(), node.line);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        if self.graph.nodes.len() >= MAX_NODES {
            self.graph.is_cut = true;
            return None;
        }
        self.known.insert(key, self.graph.nodes.len());
        self.graph.nodes.push(node);
        Some(self.graph.nodes.len() - 1)
    }

    /// Adds an edge, or makes a known one more certain.
    fn join(&mut self, edge: CallEdge) {
        match self.graph.edges.iter_mut().find(|known| (known.from, known.to) == (edge.from, edge.to)) {
            Some(known) => known.how = known.how.min(edge.how),
            None => self.graph.edges.push(edge),
        }
    }
}

/// One end of a call.
enum Called {
    Definition(Rc<DefinitionNode>),
    /// Code outside of definitions.
    File(String),
}

impl Called {
    fn node(&self, distance: i32) -> CallNode {
        match self {
            Self::Definition(definition) => node(definition, distance),
            Self::File(path) => CallNode {
                name: modules::stem(path).to_owned(),
                kind: "file".to_owned(),
                path: path.clone(),
                line: 1,
                distance,
            },
        }
    }
}

fn node(definition: &DefinitionNode, distance: i32) -> CallNode {
    CallNode {
        name: qualified(&definition.definition),
        kind: definition.definition.kind.clone(),
        path: definition.definition.path.clone(),
        line: definition.definition.line,
        distance,
    }
}

/// Lists the definitions that a definition calls, in the order of its text, and whether there are more.
fn callees(resolver: &mut Resolver, of: &DefinitionNode) -> Result<(Vec<(Called, ResolutionRule)>, bool)> {
    let Some(file) = resolver.library.open(&of.definition.path)? else { return Ok((Vec::new(), false)) };
    let references = resolver.library.calls_within(&file, of)?;
    let is_cut = references.len() > EXAMINED;
    let mut found: Vec<(Called, ResolutionRule)> = Vec::new();
    for used in references.iter().take(EXAMINED) {
        let Some(resolution) = resolver.resolve(used)? else { continue };
        // If several have the name, it is unknown which one is called.
        let Some(best) = resolution.targets.first().filter(|_| resolution.how != ResolutionRule::Ambiguous) else {
            continue;
        };
        let is_known = |(called, _): &(Called, _)| matches!(called, Called::Definition(known) if known.id == best.id);
        if !found.iter().any(is_known) {
            found.push((Called::Definition(Rc::clone(best)), resolution.how));
        }
    }
    Ok((found, is_cut))
}

/// Lists the callers of a definition in path order, and whether there are more.
fn callers(resolver: &mut Resolver, of: &DefinitionNode) -> Result<(Vec<(Called, ResolutionRule)>, bool)> {
    let (mut references, _) = resolver.library.snapshot.references(&of.definition.name, 0, usize::MAX)?;
    let mut imports = Vec::new();
    for used in references.iter().filter(|used| used.kind == "import").take(EXAMINED) {
        if resolver.resolve(used)?.is_some_and(|resolution| means(&resolution, of)) {
            imports.push(used.clone());
        }
    }
    references.retain(|used| used.kind == "call");
    let is_cut = references.len() > EXAMINED;
    if is_cut {
        references.sort_by_cached_key(|used| std::cmp::Reverse(ranked::shared(&of.definition.path, &used.path)));
    }
    references.truncate(EXAMINED);
    let mut calls: Vec<(Reference, ResolutionRule)> = Vec::new();
    for used in references {
        let resolution = resolver.resolve(&used)?.filter(|resolution| means(resolution, of));
        calls.extend(resolution.filter(|found| found.how != ResolutionRule::Ambiguous).map(|found| (used, found.how)));
    }
    let aliased = resolver.references_under_other_names(of, &imports)?.references;
    calls.extend(aliased.into_iter().filter(|(used, _)| used.kind == "call"));
    let mut found: Vec<(Called, ResolutionRule)> = Vec::new();
    for (used, how) in calls {
        let Some(file) = resolver.library.open(&used.path)? else { continue };
        let around = resolver.library.around_position(&file, (used.line, used.column))?;
        let around = around.into_iter().find(|around| !kinds::is_local(&around.definition.kind));
        let caller = match around {
            Some(around) => Called::Definition(around),
            None => Called::File(used.path.clone()),
        };
        let is_known = |(known, _): &(Called, _)| match (known, &caller) {
            (Called::Definition(known), Called::Definition(caller)) => known.id == caller.id,
            (Called::File(known), Called::File(caller)) => known == caller,
            _ => false,
        };
        if !found.iter().any(is_known) {
            found.push((caller, how));
        }
    }
    Ok((found, is_cut))
}
