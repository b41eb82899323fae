//! The graph in the language of Graphviz.

use std::fmt::Write;

use super::{Picture, colors};
use crate::model::printable;

pub(super) fn draw(picture: &Picture) -> String {
    let mut text = String::from(
        "digraph entities {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9, color=\"#6b7280\", fontcolor=\"#374151\"];\n",
    );
    // Writing to a String cannot fail.
    for (at, node) in picture.nodes.iter().enumerate() {
        let (fill, line) = colors(node.kind.as_deref());
        let style = if node.kind.is_none() { ", style=\"rounded,dashed\"" } else { "" };
        let label = format!("{}\n{}", node.id, node.title);
        let _ = writeln!(
            text,
            "  n{at} [label={}, fillcolor=\"{fill}\", color=\"{line}\"{style}];",
            quoted(label.trim_end())
        );
    }
    for edge in &picture.edges {
        let _ = writeln!(text, "  n{} -> n{} [label={}];", edge.from, edge.to, quoted(&edge.rel));
    }
    text.push_str("}\n");
    text
}

/// Quotes a string in Graphviz's language, in which `\` begins an escape.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| printable(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}
