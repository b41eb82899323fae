//! Cutting a text into chunks along its syntax.
//!
//! Owns where cuts are made. Chunks cover every byte exactly once, start at a line wherever a line fits,
//! hold whole definitions where they fit, and never exceed the requested size. Overlap is stored next to the
//! text, not in it.

use super::documents::{Heading, Outline, Table};
use super::source::Lines;
use super::syntax::{Node, ROOT, Syntax};
use crate::model::{Chunk, MAX_SYMBOLS, Symbol};
use crate::words;

/// An offset at which a cut does no harm, and its depth in the syntax: 0 is the file's own level.
struct Seam {
    at: usize,
    depth: u32,
}

/// The maximum size of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizing {
    /// Bytes that a chunk never exceeds, unless one character does.
    Bytes(usize),
    /// Characters that a chunk never exceeds; the first `overlap` of them may repeat the end of the previous chunk.
    Characters { size: usize, overlap: usize },
}

impl Sizing {
    const fn size(self) -> usize {
        match self {
            Self::Bytes(size) | Self::Characters { size, .. } => size,
        }
    }
}

/// The chunks of a source file, or of text without syntax.
pub(super) fn chunks(text: &str, syntax: Option<&Syntax>, sizing: Sizing) -> Vec<Chunk> {
    let seams = match syntax {
        Some(syntax) if text.len() > sizing.size() => syntax_seams(text, syntax, sizing.size()),
        _ => paragraph_seams(text),
    };
    pieces(text, &seams, &[], sizing, &|_, limit| text.ceil_char_boundary(limit))
}

/// The chunks of a document: cut at its headings and pages, then between paragraphs, sentences and words.
pub(super) fn of_document(text: &str, outline: &Outline, sizing: Sizing) -> Vec<Chunk> {
    let mut seams: Vec<Seam> = paragraph_seams(text).into_iter().map(|seam| Seam { depth: IN_PROSE, ..seam }).collect();
    seams.extend(outline.headings.iter().map(|heading| Seam { at: heading.at, depth: u32::from(heading.level) }));
    seams.extend(outline.seams.iter().map(|at| Seam { at: *at, depth: IN_PROSE }));
    seams.retain(|seam| seam.at > 0 && text.is_char_boundary(seam.at));
    seams.sort_by_key(|seam| (seam.at, seam.depth));
    seams.dedup_by_key(|seam| seam.at);
    // No chunk spans two pages: a hit names one page.
    let mut chunks = pieces(text, &seams, &outline.pages, sizing, &|start, limit| sentence_end(text, start, limit));
    set_positions(text, &mut chunks, outline);
    add_columns(&mut chunks, &outline.tables);
    chunks
}

/// Depth of seams in prose: below all headings.
const IN_PROSE: u32 = 16;

/// Cuts a text at its seams, and always at its stops; `last_resort` returns where to cut a line that is too long, given
/// the start of the chunk and the limit.
fn pieces(
    text: &str,
    seams: &[Seam],
    stops: &[usize],
    sizing: Sizing,
    last_resort: &dyn Fn(usize, usize) -> usize,
) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut stops = stops.iter().copied().filter(|at| text.is_char_boundary(*at)).peekable();
    let mut start = 0;
    let mut line = 1;
    let mut offset = 0;
    let mut next_seam = 0;
    while start < text.len() {
        while seams.get(next_seam).is_some_and(|seam| seam.at <= start) {
            next_seam += 1;
        }
        let (lead, limit) = match sizing {
            Sizing::Bytes(size) => ("", start + size),
            Sizing::Characters { size, overlap } => {
                let lead = lead(&text[..start], overlap);
                (lead, start + bytes_of(&text[start..], size.saturating_sub(lead.chars().count()).max(1)))
            }
        };
        while stops.next_if(|stop| *stop <= start).is_some() {}
        let stop = stops.peek().copied().unwrap_or(text.len());
        let end = cut(&text[..stop], start, limit, &seams[next_seam..], last_resort);
        let piece = &text[start..end];
        let breaks = memchr::memchr_iter(b'\n', piece.as_bytes()).count();
        let line_ends = u32::try_from(breaks).unwrap_or(u32::MAX);
        chunks.push(Chunk {
            start_line: line,
            end_line: line + line_ends - u32::from(piece.ends_with('\n')),
            start_offset: offset,
            text: piece.to_owned(),
            lead: lead.to_owned(),
            ..Chunk::default()
        });
        line += line_ends;
        offset += u32::try_from(piece.chars().count()).unwrap_or(u32::MAX);
        start = end;
    }
    chunks
}

/// End of a text, at most `most` characters, from the beginning of a line or word.
fn lead(before: &str, most: usize) -> &str {
    let Some((from, _)) = before.char_indices().rev().take(most).last() else { return "" };
    let tail = &before[from..];
    if from == 0 || before[..from].ends_with(char::is_whitespace) {
        return tail;
    }
    let next_line = tail.find('\n').map(|at| at + 1).filter(|at| *at < tail.len() / 2);
    let next_word = || tail.find(char::is_whitespace).map(|at| at + 1);
    next_line.or_else(next_word).map_or(tail, |at| tail.get(at..).unwrap_or(tail))
}

/// How many bytes the first `characters` of a text take.
fn bytes_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// Sets the position of each chunk in the document.
fn set_positions(text: &str, chunks: &mut [Chunk], outline: &Outline) {
    let (mut at, mut next_heading, mut page) = (0, 0, 0);
    let mut above: Vec<&Heading> = Vec::new();
    for chunk in chunks.iter_mut() {
        // A chunk that begins with a heading counts as below that heading.
        let begins = at + text[at..].len() - text[at..].trim_start().len();
        while let Some(heading) = outline.headings.get(next_heading).filter(|heading| heading.at <= begins) {
            above.retain(|known| known.level < heading.level);
            above.push(heading);
            next_heading += 1;
        }
        while outline.pages.get(page).is_some_and(|start| *start <= begins) {
            page += 1;
        }
        chunk.headings = above.iter().map(|heading| heading.title.as_str()).collect::<Vec<_>>().join("\n");
        chunk.page = u32::try_from(page).ok().filter(|page| *page > 0);
        at += chunk.text.len();
    }
}

/// Adds the names of a table's columns above the headings of each chunk that begins in its rows.
pub(super) fn add_columns(chunks: &mut [Chunk], tables: &[Table]) {
    let (mut at, mut next) = (0, 0);
    for chunk in chunks {
        let begins = at + chunk.text.len() - chunk.text.trim_start().len();
        while tables.get(next).is_some_and(|table| table.rows.end <= begins) {
            next += 1;
        }
        if let Some(table) = tables.get(next).filter(|table| table.rows.start <= begins) {
            let titles = [table.names.as_str(), &chunk.headings];
            chunk.headings = titles.into_iter().filter(|title| !title.is_empty()).collect::<Vec<_>>().join("\n");
        }
        at += chunk.text.len();
    }
}

/// Sets the words, names and symbols of each chunk. A symbol belongs to the last chunk that begins on its first line or
/// before. Symbols come in the order in which they begin.
pub(super) fn name(chunks: &mut [Chunk], symbols: &[Symbol]) {
    let symbols = &symbols[..symbols.len().min(MAX_SYMBOLS as usize)];
    let mut end = symbols.len();
    for chunk in chunks.iter_mut().rev() {
        let start = symbols[..end].partition_point(|symbol| symbol.start_line < chunk.start_line);
        let names = symbols[start..end].iter().map(|symbol| symbol.name.as_str());
        let words::Terms { words, names } = words::Terms::extract(&chunk.text, names);
        (chunk.words, chunk.names) = (words, names);
        chunk.symbols = start..end;
        end = start;
    }
}

/// The end of the chunk that begins at `start`: the end of the text if the rest fits; otherwise the first of these that
/// exists: the outermost seam in the second half, the last seam, the last line break, the last resort.
fn cut(text: &str, start: usize, limit: usize, seams: &[Seam], last_resort: &dyn Fn(usize, usize) -> usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let reach = seams.partition_point(|seam| seam.at <= limit);
    let half = seams[..reach].partition_point(|seam| seam.at < start + (limit - start) / 2);
    let outermost = seams[half..reach].iter().rev().min_by_key(|seam| seam.depth);
    if let Some(seam) = outermost.or(seams[..reach].last()) {
        return seam.at;
    }
    let limit = text.floor_char_boundary(limit).max(start + 1);
    let limit = text.ceil_char_boundary(limit);
    memchr::memrchr(b'\n', &text.as_bytes()[start..limit])
        .map_or_else(|| last_resort(start, limit), |at| start + at + 1)
}

/// Returns the end of the last sentence in the second half of the text that fits; without one, the end of the last
/// word.
fn sentence_end(text: &str, start: usize, limit: usize) -> usize {
    let (mut sentence, mut word) = (None, None);
    let mut before = ' ';
    for (at, c) in text[start..limit].char_indices() {
        if c.is_whitespace() {
            word = Some(at + c.len_utf8());
        }
        let is_end = (matches!(before, '.' | '!' | '?') && c.is_whitespace()) || matches!(c, '。' | '！' | '？');
        if is_end && at >= (limit - start) / 2 {
            sentence = Some(at + c.len_utf8());
        }
        before = c;
    }
    sentence.or(word).map_or(limit, |at| start + at)
}

/// Line starts of nodes, descending only into nodes too large for one chunk.
fn syntax_seams(text: &str, syntax: &Syntax, size: usize) -> Vec<Seam> {
    let mut seams: Vec<Seam> = Vec::new();
    // Searching backwards from each node would take quadratic time in a one-line file.
    let lines = Lines::new(text);
    // An explicit stack: a deeply nested file must not overflow the call stack.
    let mut open: Vec<(Node, u32)> = vec![(ROOT, 0)];
    while let Some((node, depth)) = open.pop() {
        let mut after_lead = false;
        for child in syntax.children(node) {
            let range = syntax.range(child);
            let line_start = lines.start(range.start);
            let is_new = seams.last().is_none_or(|last| (last.at, last.depth) != (line_start, depth));
            // Comments, decorators and attributes belong to what follows them.
            if line_start > 0 && !after_lead && is_new {
                seams.push(Seam { at: line_start, depth });
            }
            let kind = syntax.kind_name(child);
            after_lead = ["comment", "decorator", "attribute_item"].iter().any(|lead| kind.contains(lead));
            if range.len() > size && syntax.has_children(child) {
                open.push((child, depth + 1));
            }
        }
    }
    seams.sort_by_key(|seam| (seam.at, seam.depth));
    seams.dedup_by_key(|seam| seam.at);
    seams
}

/// Seams at the first line after each blank line.
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
