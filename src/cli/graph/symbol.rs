//! The calls around a symbol, as a graph to draw.

use super::{Edge, Node, Picture};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::relations::Resolver;
use crate::query::relations::call_graph::{MAX_DEPTH, call_graph};
use crate::query::symbols;
use crate::store::Snapshot;

/// Draws edges from callers to the symbol, and from the symbol to the definitions that it calls.
pub(super) fn calls(
    snapshot: &Snapshot,
    name: &str,
    depth: u32,
    shown_path: &dyn Fn(&str) -> String,
) -> Result<Picture> {
    let found = symbols::with_name(snapshot, name, None)?;
    let shown = printable(name);
    let [one] = found.as_slice() else {
        let positions: Vec<String> =
            found.iter().take(5).map(|one| printable(&format!("{}:{}", one.path, one.line))).collect();
        return Err(match positions.is_empty() {
            true => Error::not_found(format!("no definition of `{shown}` is indexed"))
                .hint(format!("`ixmcp symbol {shown}` suggests similar names.")),
            false => Error::invalid_argument(format!("{} symbols are called `{shown}`", found.len()))
                .hint(format!("Give Class.method or module::name; they are at {}.", positions.join(", "))),
        });
    };
    let subjects = symbols::subjects(snapshot, name)?;
    let is_it =
        |node: &&crate::store::DefinitionNode| node.definition.path == one.path && node.definition.line == one.line;
    let Some(subject) = subjects.iter().find(is_it) else { return Ok(Picture::default()) };
    let graph = call_graph(&mut Resolver::new(snapshot), subject, depth.clamp(1, MAX_DEPTH))?;
    let nodes = graph.nodes.iter().map(|node| Node {
        id: node.name.clone(),
        title: format!("{}:{}", shown_path(&node.path), node.line),
        kind: Some(
            match node.distance.signum() {
                -1 => "caller",
                0 => "symbol",
                _ => "callee",
            }
            .to_owned(),
        ),
        status: None,
    });
    let edges = graph.edges.iter().map(|edge| Edge {
        from: edge.from,
        to: edge.to,
        rel: if edge.how.is_proof() { "calls" } else { "may call" }.to_owned(),
    });
    Ok(Picture { nodes: nodes.collect(), edges: edges.collect() })
}
