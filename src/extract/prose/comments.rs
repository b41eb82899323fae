//! Obsidian's comments, `%%like this%%`: inside a paragraph, or over several where `%%` begins a line.
//!
//! Owns where a comment ends. One that is never closed is text: what follows it is shown.

use super::ProseMark;

const FENCE: &str = "%%";

/// The comment that the paragraphs so far have opened.
#[derive(Default)]
pub(super) struct Comments {
    is_open: bool,
    /// The marks since it was opened, in case nothing closes it.
    hidden: Vec<(ProseMark, u32)>,
}

impl Comments {
    /// Where the prose of a paragraph begins: behind the end of the open comment, if that is in it.
    pub(super) fn closed_in(&mut self, paragraph: &str) -> usize {
        let end = if self.is_open { paragraph.find(FENCE) } else { None };
        end.map_or(0, |end| {
            self.is_open = false;
            self.hidden.clear();
            end + FENCE.len()
        })
    }

    /// Where to read on from a `%`: behind the comment that it opens, if that ends in this paragraph.
    pub(super) fn opened_at(&mut self, paragraph: &str, at: usize) -> usize {
        if self.is_open || !paragraph[at..].starts_with(FENCE) {
            return at + 1;
        }
        let inside = at + FENCE.len();
        if let Some(length) = paragraph[inside..].find(FENCE) {
            return inside + length + FENCE.len();
        }
        let before = paragraph[..at].rsplit('\n').next().unwrap_or_default();
        self.is_open = before.chars().all(|c| matches!(c, ' ' | '\t' | '>'));
        inside
    }

    /// Shows a mark, or keeps it until it is known whether the comment around it ends.
    pub(super) fn pass(&mut self, mark: ProseMark, line: u32, visit: &mut impl FnMut(ProseMark, u32)) {
        if self.is_open { self.hidden.push((mark, line)) } else { visit(mark, line) }
    }

    /// No more paragraphs come.
    pub(super) fn end(self, visit: &mut impl FnMut(ProseMark, u32)) {
        for (mark, line) in self.hidden {
            visit(mark, line);
        }
    }
}
