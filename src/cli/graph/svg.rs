//! The graph as a picture: boxes coloured by kind, edges with their relationship, a legend.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::layout::{LINE, Layout, PlacedItem, Route, SMALL_CHAR, cut, width_of};
use super::{Edge, Node, Picture, colors};
use crate::model::is_hidden;

const LEGEND: f64 = 34.0;
const REL_CHARS: usize = 26;
/// The length of tooltips.
const MAX_TOOLTIP_CHARS: usize = 400;

pub(super) fn draw(picture: &Picture, layout: &Layout, title: &str) -> String {
    let kinds: BTreeSet<Option<&str>> = picture.nodes.iter().map(|node| node.kind.as_deref()).collect();
    let legend_width: f64 = kinds.iter().map(|kind| legend_size(*kind)).sum::<f64>() + 40.0;
    let (width, height) = (layout.width.max(legend_width), layout.height + LEGEND);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#6b7280\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escaped(title),
    );
    legend(&mut svg, &kinds);
    let _ = writeln!(svg, "<g transform=\"translate(0,{LEGEND})\">");
    for (edge, route) in picture.edges.iter().zip(&layout.edges) {
        draw_edge(&mut svg, picture, edge, route);
    }
    for (node, placed) in picture.nodes.iter().zip(&layout.nodes) {
        draw_node(&mut svg, node, placed);
    }
    // Labels above all: a line may pass under them, and they stay readable.
    for (edge, route) in picture.edges.iter().zip(&layout.edges) {
        let (x, y) = route.label;
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#374151\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
            y + 3.5,
            escaped(&cut(&edge.rel, REL_CHARS)),
        );
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn legend_name(kind: Option<&str>) -> String {
    kind.map_or_else(|| "missing".to_owned(), |kind| cut(kind, REL_CHARS))
}

fn legend_size(kind: Option<&str>) -> f64 {
    width_of(&legend_name(kind)) * SMALL_CHAR * 1.2 + 40.0
}

fn legend(svg: &mut String, kinds: &BTreeSet<Option<&str>>) {
    let mut x = 20.0;
    for kind in kinds {
        let (fill, line) = colors(*kind);
        let dash = if kind.is_none() { " stroke-dasharray=\"4 3\"" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.0}\" y=\"12\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{fill}\" stroke=\"{line}\"{dash}/><text x=\"{:.0}\" y=\"23\" fill=\"#111827\">{}</text>",
            x + 20.0,
            escaped(&legend_name(*kind)),
        );
        x += legend_size(*kind);
    }
}

fn draw_node(svg: &mut String, node: &Node, placed: &PlacedItem) {
    let (fill, line) = colors(node.kind.as_deref());
    let dash = if node.kind.is_none() { " stroke-dasharray=\"4 3\"" } else { "" };
    let (left, top) = (placed.x - placed.width / 2.0, placed.y - placed.height / 2.0);
    let described = match &node.status {
        Some(status) => format!("{}: {} [{status}]", node.id, node.title),
        None => format!("{}: {}", node.id, node.title),
    };
    let _ = writeln!(
        svg,
        "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.3\"{dash}/>",
        escaped(&cut(&described, MAX_TOOLTIP_CHARS)),
        placed.width,
        placed.height,
    );
    let mut y = top + LINE + 1.0;
    for (at, text) in placed.lines.iter().enumerate() {
        let look =
            if at == 0 { format!("font-weight=\"bold\" fill=\"{line}\"") } else { "fill=\"#111827\"".to_owned() };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" {look}>{}</text>",
            placed.x,
            escaped(text)
        );
        y += LINE;
    }
    svg.push_str("</g>\n");
}

/// A line through the corners of a route, level at each of them.
fn draw_edge(svg: &mut String, picture: &Picture, edge: &Edge, route: &Route) {
    let [(x, y), rest @ ..] = route.points.as_slice() else { return };
    let mut path = format!("M{x:.1},{y:.1}");
    let mut last = (*x, *y);
    for &(x, y) in rest {
        let middle = f64::midpoint(last.0, x);
        let _ = write!(path, " C{middle:.1},{:.1} {middle:.1},{y:.1} {x:.1},{y:.1}", last.1);
        last = (x, y);
    }
    let described = format!("{} {} {}", picture.nodes[edge.from].id, edge.rel, picture.nodes[edge.to].id);
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#9ca3af\" stroke-width=\"1.2\" marker-end=\"url(#arrow)\"><title>{}</title></path>",
        escaped(&cut(&described, MAX_TOOLTIP_CHARS)),
    );
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No XML may hold control characters and the last two; the others would reorder or hide text.
            c if is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
