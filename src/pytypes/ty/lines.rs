//! Conversion between offsets and lines and columns.
//!
//! Owns how they count: lines end at LF only, columns count code points, and both are 1-based. In a notebook, lines
//! restart in each cell. A byte order mark does not count as a column.

use super::api::{SourceText, TextRange, TextSize};
use crate::model::Span;

/// Marks a text as UTF-8; editors do not show it.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The start of each line of a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The code cells, if the text is a notebook.
    cells: Option<Vec<Cell>>,
}

struct Cell {
    number: u32,
    /// The number of lines before it.
    before: u32,
}

/// A position as a reader of the file counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellPosition {
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let starts =
            std::iter::once(first).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Self { text, starts, cells: None }
    }

    pub fn from_source(text: &'t SourceText) -> Self {
        let cells = text.as_notebook().map(|notebook| {
            let cells = notebook.index().iter();
            let number_and_row = cells.map(|cell| (cell.cell_index().get(), cell.start_row().to_zero_indexed()));
            number_and_row.map(|(number, row)| Cell { number: count(number), before: count(row) }).collect()
        });
        Self { cells, ..Self::new(text) }
    }

    /// The line and column of an offset, counted through the whole text.
    pub fn row(&self, at: TextSize) -> (u32, u32) {
        let at = at.to_usize().min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts[line - 1].min(at);
        let before = self.text.get(start..at).map_or(at - start, |before| before.chars().count());
        (count(line), count(before + 1))
    }

    pub fn position(&self, at: TextSize) -> CellPosition {
        let (line, column) = self.row(at);
        let cell = self.cells.iter().flatten().rfind(|cell| cell.before < line);
        CellPosition { cell: cell.map(|cell| cell.number), line: line - cell.map_or(0, |cell| cell.before), column }
    }

    pub fn span(&self, file: String, range: TextRange) -> Span {
        let CellPosition { cell, line, column } = self.position(range.start());
        let end = self.position(range.end());
        Span { file, cell, line, column, end_line: end.line, end_column: end.column }
    }

    /// The offset of a position; the error says why it does not exist. The position just past the end of a line is
    /// valid.
    pub fn offset(&self, CellPosition { cell, line, column }: CellPosition) -> Result<TextSize, String> {
        let (before, lines) = self.cell_lines(cell)?;
        if line > lines {
            let of = cell.map_or_else(|| "the file".to_owned(), |cell| format!("cell {cell}"));
            // The empty line after a final line break is a valid position, but readers do not count it.
            let lines = lines - u32::from(cell.is_none() && self.text.ends_with('\n'));
            let noun = if lines == 1 { "line" } else { "lines" };
            return Err(format!("line {line} is past the end; {of} has {lines} {noun}"));
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

    /// The number of lines before a cell and in it.
    fn cell_lines(&self, cell: Option<u32>) -> Result<(u32, u32), String> {
        let all = count(self.starts.len());
        let Some(number) = cell else { return Ok((0, all)) };
        let cells = self
            .cells
            .as_deref()
            .ok_or_else(|| "only notebooks have cells, and this file is not a notebook".to_owned())?;
        let at = cells.iter().position(|cell| cell.number == number).ok_or_else(|| {
            let numbers: Vec<String> = cells.iter().map(|cell| cell.number.to_string()).collect();
            format!("cell {number} is not a code cell; the code cells are {}", numbers.join(", "))
        })?;
        let end = cells.get(at + 1).map_or(all, |next| next.before);
        Ok((cells[at].before, end.saturating_sub(cells[at].before)))
    }

    /// The line that contains an offset, without its line ending.
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
    fn positions_and_offsets_are_inverse() {
        let text = "é = 1\r\nxy\n";
        let lines = Lines::new(text);
        let position = |line, column| CellPosition { cell: None, line, column };
        for (line, column, at) in [(1, 1, 0), (1, 2, 2), (2, 1, 8), (2, 3, 10), (3, 1, 11)] {
            assert_eq!(lines.offset(position(line, column)).map(|at| at.to_usize()), Ok(at), "{line}:{column}");
            assert_eq!(lines.position(TextSize::try_from(at).unwrap()), position(line, column));
        }
        assert_eq!(lines.offset(position(4, 1)), Err("line 4 is past the end; the file has 2 lines".to_owned()));
        assert_eq!(lines.offset(position(2, 9)), Err("column 9 is past the end of line 2".to_owned()));
        assert!(
            lines.offset(CellPosition { cell: Some(1), line: 1, column: 1 }).unwrap_err().contains("not a notebook")
        );
        assert_eq!(lines.line_at(TextSize::new(3)), "é = 1");
        let marked = Lines::new("\u{feff}ab\ncd");
        for (at, line, column) in [(0, 1, 1), (3, 1, 1), (4, 1, 2), (6, 2, 1)] {
            assert_eq!(marked.position(TextSize::new(at)), position(line, column), "{at}");
        }
        assert_eq!(marked.offset(position(1, 1)), Ok(TextSize::new(3)));
        assert_eq!(marked.line_at(TextSize::new(4)), "ab");
    }
}
