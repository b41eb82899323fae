//! The graph as lines: each entity with its edges below it.

use std::fmt::Write;

use super::Picture;
use crate::model::printable;

pub(super) fn draw(picture: &Picture) -> String {
    let mut text = String::new();
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); picture.nodes.len()];
    for (at, edge) in picture.edges.iter().enumerate() {
        out[edge.from].push(at);
    }
    for (at, node) in picture.nodes.iter().enumerate() {
        let Some(kind) = &node.kind else { continue };
        let status = node.status.as_ref().map_or_else(String::new, |status| format!("  [{status}]"));
        line(&mut text, &format!("{}  {kind}  {}{status}", node.id, node.title));
        for edge in out[at].iter().map(|edge| &picture.edges[*edge]) {
            let to = &picture.nodes[edge.to];
            let title = if to.kind.is_some() { to.title.as_str() } else { "(no entity has this id)" };
            line(&mut text, &format!("  {} -> {}  {title}", edge.rel, to.id));
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", printable(line));
}
