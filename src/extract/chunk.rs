//! Cutting a text into chunks along its syntax.
//!
//! Owns where cuts are made. Chunks cover every byte exactly once, start at a line wherever a line fits,
//! hold whole definitions where they fit, and are never above the size asked for.

use std::collections::HashSet;

use tree_sitter::{Node, Tree};

use crate::model::{Chunk, Symbol};
use crate::words;

/// A place where a cut does no harm, and how deep in the syntax it stands: 0 is the file's own level.
struct Seam {
    at: usize,
    depth: u32,
}

pub(super) fn chunks(text: &str, tree: Option<&Tree>, size: usize) -> Vec<Chunk> {
    if text.is_empty() {
        return Vec::new();
    }
    let seams = match tree {
        Some(tree) if text.len() > size => syntax_seams(text, tree, size),
        _ => paragraph_seams(text),
    };
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut line = 1;
    let mut offset = 0;
    let mut next_seam = 0;
    while start < text.len() {
        while seams.get(next_seam).is_some_and(|seam| seam.at <= start) {
            next_seam += 1;
        }
        let end = cut(text, start, size, &seams[next_seam..]);
        let piece = &text[start..end];
        let breaks = memchr::memchr_iter(b'\n', piece.as_bytes()).count();
        let line_ends = u32::try_from(breaks).unwrap_or(u32::MAX);
        chunks.push(Chunk {
            start_line: line,
            end_line: line + line_ends - u32::from(piece.ends_with('\n')),
            start_offset: offset,
            text: piece.to_owned(),
            words: words::compound_parts(piece),
            names: String::new(),
        });
        line += line_ends;
        offset += u32::try_from(piece.chars().count()).unwrap_or(u32::MAX);
        start = end;
    }
    chunks
}

/// Tells each chunk what begins in it.
pub(super) fn name(chunks: &mut [Chunk], symbols: &[Symbol]) {
    let mut known: HashSet<(usize, &str)> = HashSet::new();
    for symbol in symbols {
        let next = chunks.partition_point(|chunk| chunk.start_line <= symbol.line);
        let Some(at) = next.checked_sub(1).filter(|&at| known.insert((at, &symbol.name))) else { continue };
        let names = &mut chunks[at].names;
        if !names.is_empty() {
            names.push('\n');
        }
        // A name of several lines would read as several names.
        names.push_str(&symbol.name.replace(['\n', '\t'], " "));
        let mut parts = words::parts(&symbol.name).peekable();
        if parts.peek().is_some_and(|first| first.len() < symbol.name.len()) {
            names.push('\t');
            for part in parts {
                if !names.ends_with('\t') {
                    names.push(' ');
                }
                names.push_str(&part.to_lowercase());
            }
        }
    }
}

/// The end of the chunk that begins at `start`: all of the rest if it fits; else the outermost seam in the
/// second half, the last seam, the last line, the last character that fits, in this order.
fn cut(text: &str, start: usize, size: usize, seams: &[Seam]) -> usize {
    let limit = start + size;
    if limit >= text.len() {
        return text.len();
    }
    let reach = seams.partition_point(|seam| seam.at <= limit);
    let half = seams[..reach].partition_point(|seam| seam.at < start + size / 2);
    let outermost = seams[half..reach].iter().rev().min_by_key(|seam| seam.depth);
    if let Some(seam) = outermost.or(seams[..reach].last()) {
        return seam.at;
    }
    let limit = text.floor_char_boundary(limit).max(start + 1);
    let limit = text.ceil_char_boundary(limit);
    memchr::memrchr(b'\n', &text.as_bytes()[start..limit]).map_or(limit, |at| start + at + 1)
}

/// Line starts of nodes, descending only into nodes too large for one chunk.
fn syntax_seams(text: &str, tree: &Tree, size: usize) -> Vec<Seam> {
    let mut seams = Vec::new();
    // An explicit stack: nesting is the file's to choose, and a file must not overflow ours.
    let mut open: Vec<(Node, u32)> = vec![(tree.root_node(), 0)];
    while let Some((node, depth)) = open.pop() {
        let mut cursor = node.walk();
        let mut after_lead = false;
        for child in node.children(&mut cursor) {
            let line_start = line_start(text, child.start_byte());
            // A comment, a decorator, an attribute belong to what follows them.
            if line_start > 0 && !after_lead {
                seams.push(Seam { at: line_start, depth });
            }
            after_lead = ["comment", "decorator", "attribute_item"].iter().any(|lead| child.kind().contains(lead));
            if child.end_byte() - child.start_byte() > size && child.child_count() > 0 {
                open.push((child, depth + 1));
            }
        }
    }
    seams.sort_by_key(|seam| (seam.at, seam.depth));
    seams.dedup_by_key(|seam| seam.at);
    seams
}

/// The start of the line that `at` stands on: a cut is always at a line start.
fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1)
}

/// Lines after a blank line.
fn paragraph_seams(text: &str) -> Vec<Seam> {
    let mut seams = Vec::new();
    let mut blank = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if blank && !is_blank && at > 0 {
            seams.push(Seam { at, depth: 0 });
        }
        blank = is_blank;
        at += line.len();
    }
    seams
}
