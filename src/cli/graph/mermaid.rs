//! The graph in the language of Mermaid, which Markdown on code hosts shows as a picture.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Picture, colors};
use crate::model::printable;

pub(super) fn draw(picture: &Picture) -> String {
    let mut text = String::from("flowchart LR\n");
    // Writing to a String cannot fail.
    for (at, node) in picture.nodes.iter().enumerate() {
        let label = if node.title.is_empty() {
            quoted(&node.id)
        } else {
            format!("{}<br/>{}", quoted(&node.id), quoted(&node.title))
        };
        let _ = writeln!(text, "  n{at}[\"{label}\"]:::{}", class(node.kind.as_deref()));
    }
    for edge in &picture.edges {
        let _ = writeln!(text, "  n{} -->|\"{}\"| n{}", edge.from, quoted(&edge.rel), edge.to);
    }
    let kinds: BTreeSet<Option<&str>> = picture.nodes.iter().map(|node| node.kind.as_deref()).collect();
    for kind in kinds {
        let (fill, line) = colors(kind);
        let dash = if kind.is_none() { ",stroke-dasharray:4 3" } else { "" };
        let _ = writeln!(text, "  classDef {} fill:{fill},stroke:{line},color:#111827{dash}", class(kind));
    }
    text
}

/// Turns a kind into a name of Mermaid's language: kinds may be any words.
fn class(kind: Option<&str>) -> String {
    let Some(kind) = kind else { return "missing".to_owned() };
    format!("k_{}", kind.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>())
}

/// A text inside quotes: what would end them, or begin markup, by its number.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for c in printable(&text.replace(['\n', '\r', '\t'], " ")).chars() {
        match c {
            '"' | '<' | '>' | '&' | '#' | '`' | '|' | ';' | '[' | ']' | '{' | '}' => {
                let _ = write!(quoted, "#{};", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted
}
