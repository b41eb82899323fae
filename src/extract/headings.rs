//! Headings as symbols, and as the context of the chunks below them.
//!
//! Owns how far a heading reaches: to the next one of its level or of one further out.

use super::documents::Heading;
use crate::model::{Chunk, Symbol};

const KIND: &str = "heading";

/// The headings of a text, each a symbol that holds what is under it.
pub(super) fn symbols(text: &str, headings: &[Heading]) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::with_capacity(headings.len());
    let mut open: Vec<(u8, usize)> = Vec::new();
    let (mut at, mut line) = (0, 1);
    for heading in headings {
        line += count(&text[at..heading.at]);
        at = heading.at;
        while let Some((_, ended)) = open.pop_if(|(level, _)| *level >= heading.level) {
            symbols[ended].end_line = line.saturating_sub(1).max(symbols[ended].line);
        }
        let parent = open.last().map(|(_, parent)| *parent);
        let container = (!open.is_empty())
            .then(|| open.iter().map(|(_, above)| symbols[*above].name.as_str()).collect::<Vec<_>>().join("."));
        open.push((heading.level, symbols.len()));
        symbols.push(Symbol {
            name: heading.title.clone(),
            kind: KIND,
            parent,
            container,
            signature: None,
            written: None,
            line,
            column: 1,
            start_line: line,
            end_line: line,
        });
    }
    let last = line + count(&text[at..]) - u32::from(text.ends_with('\n') && at < text.len());
    for (_, ended) in open {
        symbols[ended].end_line = last.max(symbols[ended].line);
    }
    symbols
}

fn count(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// Sets the headings that the chunks of a text are under.
pub(super) fn set_headings(chunks: &mut [Chunk], symbols: &[Symbol]) {
    let mut headings = symbols.iter().filter(|symbol| symbol.kind == KIND).peekable();
    let mut open: Vec<&Symbol> = Vec::new();
    for chunk in chunks {
        while let Some(heading) = headings.next_if(|heading| heading.start_line <= chunk.start_line) {
            open.retain(|above| above.end_line >= heading.start_line);
            open.push(heading);
        }
        open.retain(|heading| heading.end_line >= chunk.start_line);
        chunk.headings = open.iter().map(|heading| heading.name.as_str()).collect::<Vec<_>>().join("\n");
    }
}
