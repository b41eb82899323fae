//! Offsets of a text as lines and columns, and back.
//!
//! Owns the count: lines end at LF alone, columns count code points, both from 1.

use ruff_text_size::{TextRange, TextSize};

use crate::pytypes::values::Span;

/// Where each line of a text begins.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Self { text, starts }
    }

    /// (line, column) of an offset.
    pub fn place(&self, at: TextSize) -> (u32, u32) {
        let at = at.to_usize().min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        let before = self.text.get(start..at).map_or(at - start, |before| before.chars().count());
        (count(line), count(before + 1))
    }

    pub fn span(&self, file: String, range: TextRange) -> Span {
        let (line, column) = self.place(range.start());
        let (end_line, end_column) = self.place(range.end());
        Span { file, line, column, end_line, end_column }
    }

    /// The offset of a place; `None` past the end of the text. A column past the end of its line is the line's end.
    pub fn offset(&self, line: u32, column: u32) -> Option<TextSize> {
        let start = *self.starts.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let rest = &self.text[start..];
        let rest = rest.split('\n').next().unwrap_or(rest);
        let wanted = usize::try_from(column).ok()?.checked_sub(1)?;
        let within = rest.char_indices().nth(wanted).map_or(rest.len(), |(at, _)| at);
        if rest.chars().count() < wanted {
            return None;
        }
        TextSize::try_from(start + within).ok()
    }

    /// A line without its end.
    pub fn line(&self, line: u32) -> &'t str {
        let at = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(start) = self.starts.get(at) else { return "" };
        self.text[*start..].split('\n').next().unwrap_or_default().trim_end_matches('\r')
    }

    pub fn count(&self) -> usize {
        self.starts.len()
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
        for (line, column, at) in [(1, 1, 0), (1, 2, 2), (2, 1, 8), (2, 3, 10), (3, 1, 11)] {
            assert_eq!(lines.offset(line, column).map(|at| at.to_usize()), Some(at), "{line}:{column}");
            assert_eq!(lines.place(TextSize::try_from(at).unwrap()), (line, column));
        }
        assert_eq!(lines.offset(4, 1), None);
        assert_eq!(lines.offset(2, 9), None);
        assert_eq!(lines.line(1), "é = 1");
    }
}
