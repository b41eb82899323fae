//! Graph layout: each connected component is drawn in layers from left to right, components are packed below each other,
//! and nodes without edges are in a grid at the bottom.
//!
//! Owns sizes and positions. `dagre` computes the layers.

use std::collections::{BTreeMap, BTreeSet};

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};

use super::settle::{Item, settle};
use super::{Edge, Node, Picture};
use crate::error::{Error, Result};

/// Where things lie, in pixels from the top left.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    /// Each node's box, by its place in the picture.
    pub nodes: Vec<PlacedItem>,
    /// Each edge, by its place in the picture.
    pub edges: Vec<Route>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PlacedItem {
    /// Horizontal position of the middle.
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    pub points: Vec<(f64, f64)>,
    /// Middle of the label.
    pub label: (f64, f64),
}

/// Width of a character in the drawing's fonts, about.
pub(super) const CHAR: f64 = 6.6;
pub(super) const SMALL_CHAR: f64 = 5.2;
pub(super) const LINE: f64 = 15.0;
const TITLE_CHARS: usize = 26;
const TITLE_LINES: usize = 3;
const GAP: f64 = 40.0;
const NODE_GAP: f64 = 14.0;
const EDGE_GAP: f64 = 8.0;
/// The picture is about this many times as wide as high.
const SHAPE: f64 = 1.6;
/// Larger parts get a simpler way to find layers: the better one takes the square of their size.
const LARGE: usize = 400;
/// Corners of edges in one part: the layout takes the square of their number.
const MOST_CORNERS: usize = 3_000;
/// A larger drawing does not help, and takes minutes.
const MOST_NODES: usize = 3_000;
/// The layers are found by walks as deep as the graph.
const STACK_BYTES: usize = 256 << 20;

pub(super) fn layout(picture: &Picture) -> Result<Layout> {
    if picture.nodes.len() > MOST_NODES {
        let message = format!("{} entities are too many for one picture", picture.nodes.len());
        return Err(Error::invalid_argument(message)
            .hint("Name an entity to draw what is around it, or narrow by --kind and --rel."));
    }
    let boxes: Vec<PlacedItem> = picture.nodes.iter().map(sized).collect();
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || packed(picture, boxes))
            .map_err(Error::no_thread)?;
        worker.join().map_err(|_| {
            Error::internal("this graph could not be laid out").hint("Draw it with --format dot and Graphviz.")
        })
    })
}

/// A box that holds the id and the title.
fn sized(node: &Node) -> PlacedItem {
    let mut lines = vec![cut(&node.id, TITLE_CHARS + 6)];
    lines.extend(wrapped(&node.title));
    let widest = lines.iter().map(|line| width_of(line)).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a title has few lines")]
    let height = lines.len() as f64 * LINE + 12.0;
    PlacedItem { width: (widest * CHAR + 20.0).max(70.0), height, lines, ..PlacedItem::default() }
}

/// In characters of the font: those of East Asia are twice as wide.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().map(|c| if matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff | 0x20000..=0x3fffd) { 1.8 } else { 1.0 }).sum()
}

pub(super) fn cut(text: &str, most: usize) -> String {
    let text = crate::model::printable(text);
    if text.chars().count() <= most { text } else { text.chars().take(most - 1).chain(['…']).collect() }
}

/// A title in a few lines.
fn wrapped(title: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in crate::model::printable(title).split_whitespace() {
        let word = cut(word, TITLE_CHARS);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= TITLE_CHARS => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    if lines.len() > TITLE_LINES {
        lines.truncate(TITLE_LINES);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last}…"), TITLE_CHARS);
        }
    }
    lines
}

/// One part with its own top left at 0.
struct Component {
    nodes: Vec<usize>,
    width: f64,
    height: f64,
}

fn packed(picture: &Picture, boxes: Vec<PlacedItem>) -> Layout {
    let mut layout = Layout { nodes: boxes, edges: vec![Route::default(); picture.edges.len()], ..Layout::default() };
    let (parts, single) = parts(picture);
    let mut edges_of: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    let part_of: BTreeMap<usize, usize> =
        parts.iter().enumerate().flat_map(|(part, nodes)| nodes.iter().map(move |node| (*node, part))).collect();
    for (at, edge) in picture.edges.iter().enumerate() {
        if let Some(part) = part_of.get(&edge.from) {
            edges_of[*part].push(at);
        }
    }
    let mut placed: Vec<(Component, Vec<usize>)> = parts
        .into_iter()
        .zip(edges_of)
        .map(|(nodes, edges)| (layered(picture, &mut layout, nodes, &edges), edges))
        .collect();
    // Large parts first; then rows fill up with small ones.
    placed.sort_by(|a, b| b.0.height.total_cmp(&a.0.height).then_with(|| a.0.nodes.cmp(&b.0.nodes)));
    let area: f64 = placed.iter().map(|(part, _)| (part.width + GAP) * (part.height + GAP)).sum();
    let widest = placed.iter().map(|(part, _)| part.width).fold(0.0, f64::max);
    let row_width = (area * SHAPE).sqrt().max(widest).max(600.0);
    let (mut x, mut y, mut row) = (GAP, GAP, 0.0_f64);
    for (part, edges) in placed {
        if x > GAP && x + part.width > row_width + GAP {
            (x, y, row) = (GAP, y + row + GAP, 0.0);
        }
        for node in part.nodes {
            layout.nodes[node].x += x;
            layout.nodes[node].y += y;
        }
        for edge in edges {
            let route = &mut layout.edges[edge];
            route.points.iter_mut().for_each(|point| *point = (point.0 + x, point.1 + y));
            route.label = (route.label.0 + x, route.label.1 + y);
        }
        layout.width = layout.width.max(x + part.width + GAP);
        x += part.width + GAP;
        row = row.max(part.height);
    }
    if x > GAP {
        y += row + GAP;
    }
    grid(&mut layout, &single, row_width, y);
    layout
}

/// Places nodes without edges, in rows.
fn grid(layout: &mut Layout, single: &[usize], row_width: f64, top: f64) {
    let gap = GAP / 2.0;
    let (mut x, mut y, mut row) = (GAP, top, 0.0_f64);
    for &node in single {
        let (width, height) = (layout.nodes[node].width, layout.nodes[node].height);
        if x > GAP && x + width > row_width + GAP {
            (x, y, row) = (GAP, y + row + gap, 0.0);
        }
        layout.nodes[node].x = x + width / 2.0;
        layout.nodes[node].y = y + height / 2.0;
        layout.width = layout.width.max(x + width + GAP);
        x += width + gap;
        row = row.max(height);
    }
    layout.height = y + row + GAP;
}

/// Connected parts, and nodes without any edge; self links tie to nothing.
fn parts(picture: &Picture) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); picture.nodes.len()];
    for edge in &picture.edges {
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
    let (mut parts, mut single) = (Vec::new(), Vec::new());
    let mut seen = vec![false; picture.nodes.len()];
    for start in 0..picture.nodes.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        if near[start].is_empty() {
            single.push(start);
            continue;
        }
        let (mut part, mut at) = (vec![start], 0);
        while let Some(&node) = part.get(at) {
            at += 1;
            for &other in &near[node] {
                if !std::mem::replace(&mut seen[other], true) {
                    part.push(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    (parts, single)
}

/// Lays out one part, its top left at 0.
fn layered(picture: &Picture, layout: &mut Layout, nodes: Vec<usize>, edges: &[usize]) -> Component {
    let mut graph: Graph<NodeLabel, EdgeLabel> =
        Graph::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    for &node in &nodes {
        let PlacedItem { width, height, .. } = layout.nodes[node];
        graph.set_node(name(node), Some(NodeLabel { width, height, ..NodeLabel::default() }));
    }
    let far = far_edges(picture, &nodes, edges);
    for &at in edges.iter().filter(|at| !far.contains(at)) {
        let edge = &picture.edges[at];
        let width = width_of(&cut(&edge.rel, TITLE_CHARS)) * SMALL_CHAR + 8.0;
        let label = EdgeLabel { width, height: LINE, labelpos: LabelPos::Center, ..EdgeLabel::default() };
        graph.set_edge(name(edge.from), name(edge.to), Some(label), Some(&at.to_string()));
    }
    let ranker = if nodes.len() > LARGE { Ranker::LongestPath } else { Ranker::NetworkSimplex };
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        nodesep: 16.0,
        edgesep: 10.0,
        ranksep: 28.0,
        ranker,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    let mut items = Items::default();
    for &node in &nodes {
        let Some(found) = graph.node(&name(node)) else { continue };
        let placed = &mut layout.nodes[node];
        (placed.x, placed.y) = (found.x.unwrap_or_default(), found.y.unwrap_or_default());
        items.add_node(node, placed);
    }
    for &at in edges {
        let edge = &picture.edges[at];
        let Some(found) = graph.edge(&name(edge.from), &name(edge.to), Some(&at.to_string())) else { continue };
        let points: Vec<(f64, f64)> = found.points.iter().map(|point| (point.x, point.y)).collect();
        let label = (found.x.unwrap_or_default(), found.y.unwrap_or_default());
        layout.edges[at] = Route { points, label };
        if edge.from != edge.to {
            items.add_edge(at, edge, &layout.edges[at]);
        }
    }
    items.settle(picture, layout);
    for &at in &far {
        let (from, to) = (&layout.nodes[picture.edges[at].from], &layout.nodes[picture.edges[at].to]);
        let side = if to.x >= from.x { 1.0 } else { -1.0 };
        let ends = [(from.x + side * from.width / 2.0, from.y), (to.x - side * to.width / 2.0, to.y)];
        let label = (f64::midpoint(ends[0].0, ends[1].0), f64::midpoint(ends[0].1, ends[1].1));
        layout.edges[at] = Route { points: ends.to_vec(), label };
    }
    bounded(layout, nodes, edges)
}

/// Boxes and corners of edges by layer, to be settled.
#[derive(Default)]
struct Items {
    items: Vec<Item>,
    /// The position of each layer, in whole pixels.
    layers: BTreeMap<i64, usize>,
    node_items: BTreeMap<usize, usize>,
    /// For each edge its first item; the others follow.
    edge_items: BTreeMap<usize, usize>,
}

impl Items {
    fn add(&mut self, x: f64, item: Item) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "a drawing is not that large")]
        let key = x.round() as i64;
        let next = self.layers.len();
        let layer = *self.layers.entry(key).or_insert(next);
        self.items.push(Item { layer, ..item });
        self.items.len() - 1
    }

    fn add_node(&mut self, node: usize, placed: &PlacedItem) {
        let half = placed.height / 2.0 + NODE_GAP / 2.0;
        let at = self.add(placed.x, Item { layer: 0, at: placed.y, half, weight: 1.0, near: Vec::new() });
        self.node_items.insert(node, at);
    }

    /// The corners of an edge between its ends, each tied to the next.
    fn add_edge(&mut self, at: usize, edge: &Edge, route: &Route) {
        let (Some(&from), Some(&to)) = (self.node_items.get(&edge.from), self.node_items.get(&edge.to)) else { return };
        let mut before = from;
        let [_, corners @ .., _] = route.points.as_slice() else { return };
        self.edge_items.insert(at, self.items.len());
        for (x, y) in corners {
            let is_label = (x - route.label.0).abs() < 1.0;
            let half = if is_label { LINE / 2.0 } else { EDGE_GAP / 2.0 };
            let item = self.add(*x, Item { layer: 0, at: *y, half, weight: 0.5, near: Vec::new() });
            self.tie(before, item);
            before = item;
        }
        self.tie(before, to);
    }

    fn tie(&mut self, a: usize, b: usize) {
        self.items[a].near.push(b);
        self.items[b].near.push(a);
    }

    /// Moves everything to its settled place.
    fn settle(mut self, picture: &Picture, layout: &mut Layout) {
        // Layers were numbered as they came; their order is that of their places.
        let order: BTreeMap<usize, usize> =
            self.layers.values().copied().enumerate().map(|(new, old)| (old, new)).collect();
        self.items.iter_mut().for_each(|item| item.layer = order.get(&item.layer).copied().unwrap_or(item.layer));
        settle(&mut self.items);
        let mut moves: BTreeMap<usize, f64> = BTreeMap::new();
        for (node, item) in &self.node_items {
            let placed = &mut layout.nodes[*node];
            moves.insert(*node, self.items[*item].at - placed.y);
            placed.y = self.items[*item].at;
        }
        for (at, route) in layout.edges.iter_mut().enumerate() {
            let edge = &picture.edges[at];
            if edge.from == edge.to {
                if let Some(by) = moves.get(&edge.from) {
                    route.points.iter_mut().for_each(|point| point.1 += by);
                    route.label.1 += by;
                }
                continue;
            }
            let Some(&first) = self.edge_items.get(&at) else { continue };
            let (from, to) = (&layout.nodes[edge.from], &layout.nodes[edge.to]);
            let side = if to.x >= from.x { 1.0 } else { -1.0 };
            let last = route.points.len() - 1;
            route.points[0] = (from.x + side * from.width / 2.0, from.y);
            route.points[last] = (to.x - side * to.width / 2.0, to.y);
            for (corner, item) in route.points[1..last].iter_mut().zip(&self.items[first..]) {
                if (corner.0 - route.label.0).abs() < 1.0 {
                    route.label.1 = item.at;
                }
                corner.1 = item.at;
            }
        }
    }
}

/// Edges that span too many layers: a corner in each would make too many corners in all. They are drawn straight,
/// whatever lies between, and do not affect the layers.
fn far_edges(picture: &Picture, nodes: &[usize], edges: &[usize]) -> BTreeSet<usize> {
    let layers = rough_layers(picture, nodes, edges);
    let layer = |node: usize| layers.get(&node).copied().unwrap_or(0);
    let mut spans: Vec<(usize, usize)> =
        edges.iter().map(|&at| (layer(picture.edges[at].from).abs_diff(layer(picture.edges[at].to)), at)).collect();
    spans.sort_unstable();
    let mut corners = 0;
    let near = spans.iter().take_while(|(span, _)| {
        corners += span;
        corners <= MOST_CORNERS
    });
    let near = near.count();
    spans[near..].iter().map(|(_, at)| *at).collect()
}

/// How far each node is from a beginning, by the longest path, without edges that close a cycle.
fn rough_layers(picture: &Picture, nodes: &[usize], edges: &[usize]) -> BTreeMap<usize, usize> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in edges {
        next.entry(picture.edges[at].from).or_default().push(picture.edges[at].to);
    }
    let nexts = |node: usize| next.get(&node).into_iter().flatten().copied();
    // In the order in which a walk leaves them, backwards: then every edge that closes no cycle leads forwards.
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    for &start in nodes {
        if !seen.insert(start) {
            continue;
        }
        let mut open = vec![(start, nexts(start))];
        while let Some((node, rest)) = open.last_mut() {
            match rest.find(|other| !seen.contains(other)) {
                Some(other) => {
                    seen.insert(other);
                    open.push((other, nexts(other)));
                }
                None => {
                    order.push(*node);
                    open.pop();
                }
            }
        }
    }
    order.reverse();
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut layers: BTreeMap<usize, usize> = BTreeMap::new();
    for node in &order {
        let layer = layers.get(node).copied().unwrap_or(0);
        for other in nexts(*node).filter(|other| place.get(other) > place.get(node)) {
            let known = layers.entry(other).or_insert(0);
            *known = (*known).max(layer + 1);
        }
    }
    layers
}

/// Moves a part to the top left, and measures it.
fn bounded(layout: &mut Layout, nodes: Vec<usize>, edges: &[usize]) -> Component {
    let mut bounds = (f64::MAX, f64::MAX, f64::MIN, f64::MIN);
    let mut widen = |left: f64, top: f64, right: f64, bottom: f64| {
        bounds = (bounds.0.min(left), bounds.1.min(top), bounds.2.max(right), bounds.3.max(bottom));
    };
    for &node in &nodes {
        let PlacedItem { x, y, width, height, .. } = layout.nodes[node];
        widen(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0);
    }
    for &at in edges {
        let route = &layout.edges[at];
        for (x, y) in route.points.iter().chain([&route.label]) {
            widen(*x, *y, *x, *y);
        }
    }
    for &node in &nodes {
        layout.nodes[node].x -= bounds.0;
        layout.nodes[node].y -= bounds.1;
    }
    for &at in edges {
        let route = &mut layout.edges[at];
        route.points.iter_mut().for_each(|point| *point = (point.0 - bounds.0, point.1 - bounds.1));
        route.label = (route.label.0 - bounds.0, route.label.1 - bounds.1);
    }
    Component { nodes, width: bounds.2 - bounds.0, height: bounds.3 - bounds.1 }
}

fn name(node: usize) -> String {
    node.to_string()
}
