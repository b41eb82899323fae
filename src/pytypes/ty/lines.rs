//! Offsets of a text as lines and columns, and back.
//!
//! Owns the count: lines end at LF alone, columns count code points, both from 1. Of a notebook, lines count in each cell
//! anew. A byte order mark is no part of the first line.

use ruff_db::source::SourceText;
use ruff_text_size::{TextRange, TextSize};

use crate::pytypes::values::Span;

/// Says of a text that it is UTF-8; no editor shows it.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where each line of a text begins.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The cells that hold code, where it is a notebook's.
    cells: Option<Vec<Cell>>,
}

struct Cell {
    number: u32,
    /// Lines of the whole before it.
    before: u32,
}

/// A place as a reader of the file counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let starts =
            std::iter::once(first).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Self { text, starts, cells: None }
    }

    pub fn of_source(text: &'t SourceText) -> Self {
        let cells = text.as_notebook().map(|notebook| {
            let cells = notebook.index().iter();
            let number_and_row = cells.map(|cell| (cell.cell_index().get(), cell.start_row().to_zero_indexed()));
            number_and_row.map(|(number, row)| Cell { number: count(number), before: count(row) }).collect()
        });
        Self { cells, ..Self::of(text) }
    }

    /// (line, column) of an offset, through the whole text.
    pub fn row(&self, at: TextSize) -> (u32, u32) {
        let at = at.to_usize().min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts[line - 1].min(at);
        let before = self.text.get(start..at).map_or(at - start, |before| before.chars().count());
        (count(line), count(before + 1))
    }

    pub fn place(&self, at: TextSize) -> Place {
        let (line, column) = self.row(at);
        let cell = self.cells.iter().flatten().rfind(|cell| cell.before < line);
        Place { cell: cell.map(|cell| cell.number), line: line - cell.map_or(0, |cell| cell.before), column }
    }

    pub fn span(&self, file: String, range: TextRange) -> Span {
        let Place { cell, line, column } = self.place(range.start());
        let end = self.place(range.end());
        Span { file, cell, line, column, end_line: end.line, end_column: end.column }
    }

    /// The offset of a place, or why there is none. Just past the end of a line is a place, too.
    pub fn offset(&self, Place { cell, line, column }: Place) -> Result<TextSize, String> {
        let (before, lines) = self.stretch(cell)?;
        if line > lines {
            let of = cell.map_or_else(|| "the file".to_owned(), |cell| format!("cell {cell}"));
            return Err(format!("line {line} is past the end; {of} has {lines} lines"));
        }
        let within = |start: usize| {
            let rest = self.text.get(start..)?.split('\n').next()?;
            let wanted = usize::try_from(column).ok()?.checked_sub(1)?;
            let ends = std::iter::once(rest.len());
            rest.char_indices().map(|(at, _)| at).chain(ends).nth(wanted).map(|at| start + at)
        };
        let row = usize::try_from(before + line).ok().and_then(|row| row.checked_sub(1));
        let start = row.and_then(|row| self.starts.get(row).copied());
        let at = start.and_then(within).and_then(|at| TextSize::try_from(at).ok());
        at.ok_or_else(|| format!("column {column} is past the end of line {line}"))
    }

    /// The lines before a cell, and those of it.
    fn stretch(&self, cell: Option<u32>) -> Result<(u32, u32), String> {
        let all = count(self.starts.len());
        let Some(number) = cell else { return Ok((0, all)) };
        let cells = self.cells.as_deref().ok_or_else(|| "cells are of notebooks, and this file is none".to_owned())?;
        let at = cells.iter().position(|cell| cell.number == number).ok_or_else(|| {
            let numbers: Vec<String> = cells.iter().map(|cell| cell.number.to_string()).collect();
            format!("cell {number} holds no code that is checked; these do: {}", numbers.join(", "))
        })?;
        let end = cells.get(at + 1).map_or(all, |next| next.before);
        Ok((cells[at].before, end.saturating_sub(cells[at].before)))
    }

    /// The line that an offset stands in, without its end.
    pub fn line_at(&self, at: TextSize) -> &'t str {
        let row = usize::try_from(self.row(at).0).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(start) = self.starts.get(row) else { return "" };
        self.text[*start..].split('\n').next().unwrap_or_default().trim_end_matches('\r')
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_offsets_are_inverse() {
        let text = "é = 1\r\nxy\n";
        let lines = Lines::of(text);
        let place = |line, column| Place { cell: None, line, column };
        for (line, column, at) in [(1, 1, 0), (1, 2, 2), (2, 1, 8), (2, 3, 10), (3, 1, 11)] {
            assert_eq!(lines.offset(place(line, column)).map(|at| at.to_usize()), Ok(at), "{line}:{column}");
            assert_eq!(lines.place(TextSize::try_from(at).unwrap()), place(line, column));
        }
        assert_eq!(lines.offset(place(4, 1)), Err("line 4 is past the end; the file has 3 lines".to_owned()));
        assert_eq!(lines.offset(place(2, 9)), Err("column 9 is past the end of line 2".to_owned()));
        assert!(lines.offset(Place { cell: Some(1), line: 1, column: 1 }).unwrap_err().contains("is none"));
        assert_eq!(lines.line_at(TextSize::new(3)), "é = 1");
        let marked = Lines::of("\u{feff}ab\ncd");
        for (at, line, column) in [(0, 1, 1), (3, 1, 1), (4, 1, 2), (6, 2, 1)] {
            assert_eq!(marked.place(TextSize::new(at)), place(line, column), "{at}");
        }
        assert_eq!(marked.offset(place(1, 1)), Ok(TextSize::new(3)));
        assert_eq!(marked.line_at(TextSize::new(4)), "ab");
    }
}
