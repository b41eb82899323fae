//! The syntax tree of a text as a flat table.
//!
//! Owns parsing and its bounds. tree-sitter's own tree is walked once, then dropped: later queries of nodes read
//! a table in order of the text, in which a node precedes the nodes below it.

use std::num::NonZeroU16;
use std::ops::{ControlFlow, Range};

use tree_sitter::{InputEdit, Language, ParseOptions, ParseState, Parser, Point, Tree};

/// A node's index in its tree, in order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node(u32);

/// The root of every tree.
pub(super) const ROOT: Node = Node(0);

/// The kind of a node that the grammar could not parse.
pub(super) const ERROR: u16 = u16::MAX;

/// A token that the parser assumed counts as this many bytes in errors.
const ASSUMED_BYTES: usize = 8;

#[derive(Debug, PartialEq, Eq)]
struct Row {
    kind: u16,
    /// Field of the node in its parent.
    field: Option<NonZeroU16>,
    start: u32,
    end: u32,
    /// The first node after all that are below this one.
    next: u32,
}

/// All nodes of a text.
pub(super) struct Syntax {
    grammar: Language,
    rows: Vec<Row>,
    has_errors: bool,
}

/// A parse is given up after this many of tree-sitter's progress calls (one every few hundred steps), so that a hostile
/// file costs seconds, not hours. Counting steps keeps the outcome a function of the bytes.
const PARSE_STEPS: u32 = 200_000;

/// The tree of a text; `None` where the parser gave it up, or it is beyond four gigabytes.
pub(super) fn parse(grammar: &Language, text: &str) -> Option<Tree> {
    u32::try_from(text.len()).ok()?;
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    parse_within(&mut parser, text.as_bytes(), None, PARSE_STEPS)
}

/// Parses a text again after some of its bytes were replaced by as many others. What they do not touch is taken from the
/// tree of the text before.
pub(super) fn parse_replaced(grammar: &Language, mut tree: Tree, before: &[u8], after: &[u8]) -> Option<Tree> {
    let mut point = Point::default();
    let mut at = 0;
    for range in replaced(before, after) {
        let mut position = |end| {
            for byte in &before[at..end] {
                point =
                    if *byte == b'\n' { Point::new(point.row + 1, 0) } else { Point::new(point.row, point.column + 1) };
            }
            at = end;
            point
        };
        let (start_position, end) = (position(range.start), range.end);
        let old_end_position = position(end);
        tree.edit(&InputEdit {
            start_byte: range.start,
            old_end_byte: end,
            new_end_byte: end,
            start_position,
            old_end_position,
            new_end_position: old_end_position,
        });
    }
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    parse_within(&mut parser, after, Some(&tree), PARSE_STEPS)
}

/// The ranges in which two texts of one length differ.
fn replaced(before: &[u8], after: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in (0..before.len().min(after.len())).filter(|at| before[*at] != after[*at]) {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

fn parse_within(parser: &mut Parser, bytes: &[u8], old: Option<&Tree>, most: u32) -> Option<Tree> {
    let mut steps = 0;
    let mut count = |_: &ParseState| {
        steps += 1;
        if steps > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), old, Some(options))
}

/// A range to parse. Only offsets in bytes are read.
fn included(range: &Range<usize>) -> tree_sitter::Range {
    let (start_point, end_point) = (Point::default(), Point::default());
    tree_sitter::Range { start_byte: range.start, end_byte: range.end, start_point, end_point }
}

impl Syntax {
    /// `None` where the parser gave the text up, or it is beyond four gigabytes.
    pub(super) fn parse(grammar: &Language, text: &str) -> Option<Self> {
        Some(Self::from_tree(grammar, &parse(grammar, text)?))
    }

    /// Parses some ranges of a text, in order, as one text. Offsets are those of the whole text.
    pub(super) fn parse_ranges(grammar: &Language, text: &[u8], ranges: &[Range<usize>]) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        parser.set_included_ranges(&ranges.iter().map(included).collect::<Vec<_>>()).ok()?;
        Some(Self::from_tree(grammar, &parse_within(&mut parser, text, None, PARSE_STEPS)?))
    }

    /// Parses a text, or these parts of it; gives up after `steps` progress calls.
    pub(super) fn parse_within(
        grammar: &Language,
        text: &str,
        parts: Option<&[Range<usize>]>,
        steps: u32,
    ) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        if let Some(parts) = parts {
            parser.set_included_ranges(&parts.iter().map(included).collect::<Vec<_>>()).ok()?;
        }
        Some(Self::from_tree(grammar, &parse_within(&mut parser, text.as_bytes(), None, steps)?))
    }

    pub(super) fn from_tree(grammar: &Language, tree: &Tree) -> Self {
        Self { grammar: grammar.clone(), rows: rows(tree), has_errors: tree.root_node().has_error() }
    }

    pub(super) fn grammar(&self) -> &Language {
        &self.grammar
    }

    /// Whether something was skipped or assumed.
    pub(super) fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// How much could not be parsed: the bytes in errors, with one for each, and some for each token that was assumed.
    pub(super) fn error_bytes(&self) -> usize {
        let mut bytes = usize::from(self.has_errors);
        let mut node = ROOT;
        while node < self.next(ROOT) {
            if self.kind(node) == ERROR {
                bytes += self.range(node).len() + 1;
                node = self.next(node);
            } else {
                bytes += if self.range(node).is_empty() { ASSUMED_BYTES } else { 0 };
                node = self.first(node);
            }
        }
        bytes
    }

    /// The comments below `node` that start before `end`, in order.
    pub(super) fn comments(&self, node: Node, end: usize, is_comment: &[bool]) -> Vec<Range<usize>> {
        let mut comments = Vec::new();
        let mut at = self.first(node);
        while at < self.next(node) && self.range(at).start < end {
            if is_comment.get(usize::from(self.kind(at))).is_some_and(|is_comment| *is_comment) {
                comments.push(self.range(at));
                at = self.next(at);
            } else {
                at = self.first(at);
            }
        }
        comments
    }

    /// The named nodes directly below `node`, without comments.
    pub(super) fn count_named(&self, node: Node) -> usize {
        let is_named = |child: &Node| self.kind(*child) == ERROR || self.grammar.node_kind_is_named(self.kind(*child));
        self.children(node).filter(|child| is_named(child) && !self.kind_name(*child).contains("comment")).count()
    }

    fn row(&self, node: Node) -> &Row {
        &self.rows[node.0 as usize]
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.next(ROOT).0).map(Node)
    }

    pub(super) fn kind(&self, node: Node) -> u16 {
        self.row(node).kind
    }

    /// Whether the grammar gives nodes of this kind a name: keywords and punctuation have none.
    pub(super) fn is_named(&self, node: Node) -> bool {
        self.kind(node) != ERROR && self.grammar.node_kind_is_named(self.kind(node))
    }

    pub(super) fn kind_name(&self, node: Node) -> &str {
        self.grammar.node_kind_for_id(self.kind(node)).unwrap_or_default()
    }

    pub(super) fn field(&self, node: Node) -> Option<NonZeroU16> {
        self.row(node).field
    }

    /// In bytes.
    pub(super) fn range(&self, node: Node) -> Range<usize> {
        let Row { start, end, .. } = *self.row(node);
        start as usize..end as usize
    }

    /// The first node after all that are below `node`: its next sibling, where it has one.
    pub(super) fn next(&self, node: Node) -> Node {
        Node(self.row(node).next)
    }

    /// The first node below `node`; where nothing is below it, that is [`Self::next`].
    pub(super) fn first(&self, node: Node) -> Node {
        Node(node.0 + 1)
    }

    pub(super) fn has_children(&self, node: Node) -> bool {
        self.first(node) != self.next(node)
    }

    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> + use<'_> {
        self.between(self.first(node), self.next(node))
    }

    /// A node and its siblings, before `end`.
    pub(super) fn between(&self, from: Node, end: Node) -> impl Iterator<Item = Node> + use<'_> {
        let mut at = from;
        std::iter::from_fn(move || {
            let node = at;
            (node < end).then(|| {
                at = self.next(node);
                node
            })
        })
    }

    /// The ranges of comments and strings, in order.
    pub(super) fn quoted(&self) -> Vec<Range<usize>> {
        let is_quoted = named_like(&self.grammar, &["comment", "marginalia", "string", "char", "heredoc"]);
        let mut ranges = Vec::new();
        let mut node = ROOT;
        while node < self.next(ROOT) {
            if is_quoted.get(usize::from(self.kind(node))).is_some_and(|is_quoted| *is_quoted) {
                ranges.push(self.range(node));
                node = self.next(node);
            } else {
                node = self.first(node);
            }
        }
        ranges
    }

    pub(super) fn child(&self, node: Node, field: NonZeroU16) -> Option<Node> {
        self.children(node).find(|child| self.field(*child) == Some(field))
    }
}

/// Whether the name of a kind of a grammar's nodes has one of the words, by the kind's number.
pub(super) fn named_like(grammar: &Language, words: &[&str]) -> Vec<bool> {
    let kinds = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
    let is_like = |kind| {
        let name = grammar.node_kind_for_id(kind).unwrap_or_default();
        grammar.node_kind_is_named(kind) && words.iter().any(|word| name.contains(word))
    };
    (0..kinds).map(is_like).collect()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a text below four gigabytes")
}

/// The nodes in order of the text, with offsets in bytes.
fn rows(tree: &Tree) -> Vec<Row> {
    let mut rows = Vec::with_capacity(tree.root_node().descendant_count());
    // The ancestors of the next node: an explicit stack, because a file may nest deeply.
    let mut open: Vec<usize> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        open.push(rows.len());
        let Range { start, end } = node.byte_range();
        rows.push(Row {
            kind: node.kind_id(),
            field: cursor.field_id(),
            start: offset(start),
            end: offset(end),
            next: 0,
        });
        // Most nodes are leaves, and the count is in the node: asking the cursor takes longer.
        if node.child_count() > 0 && cursor.goto_first_child() {
            continue;
        }
        while let Some(closed) = open.pop() {
            rows[closed].next = offset(rows.len());
            if open.is_empty() {
                return rows;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            cursor.goto_parent();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::LANGUAGES;

    #[test]
    fn a_tree_of_replaced_bytes_is_that_of_a_whole_parse() {
        let before = "/* é */\nint first(void)\n{\n\treturn 1;\n}\n\nstatic int __init second(int width)\n{\n\treturn width;\n}\n\
                      static int depth __read_mostly = 3;\nint third(void) { return 3; }\n";
        let after = before.replace("__init", "      ").replace("__read_mostly", "             ");
        let grammar =
            &LANGUAGES.iter().find(|language| language.name == "c").and_then(|c| c.compiled()).unwrap().grammar;
        let old = parse(grammar, before).unwrap();
        assert!(Syntax::from_tree(grammar, &old).has_errors());
        let again = parse_replaced(grammar, old, before.as_bytes(), after.as_bytes()).unwrap();
        let (again, whole) = (Syntax::from_tree(grammar, &again), Syntax::parse(grammar, &after).unwrap());
        assert!(!whole.has_errors());
        assert_eq!(again.rows, whole.rows);
    }
}
