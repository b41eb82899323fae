//! Lines of files as references and definitions show them.
//!
//! Owns how a line is shortened, and that each file is read once. Does not own which lines are shown.

use super::Call;
use crate::query::slice::FileLines;

/// Characters of a line.
const MAX_LENGTH: usize = 200;

/// Reads lines, and keeps the last file: answers list lines file by file.
pub(super) struct Previews<'c> {
    call: &'c Call<'c>,
    last: Option<(String, FileLines)>,
}

impl<'c> Previews<'c> {
    pub(super) fn new(call: &'c Call<'c>) -> Self {
        Self { call, last: None }
    }

    /// A line, from 1, without the white space around it; empty if it cannot be read.
    pub(super) fn line(&mut self, path: &str, line: u32) -> String {
        if self.last.as_ref().is_none_or(|(last, _)| last.as_str() != path) {
            let bytes = self.call.workspace().files.read(path).map_or_else(|_| Vec::new(), |(_, bytes)| bytes);
            self.last = Some((path.to_owned(), FileLines::new(bytes)));
        }
        let bytes = self.last.as_ref().and_then(|(_, lines)| lines.get(line.into())).unwrap_or_default();
        String::from_utf8_lossy(bytes).trim().chars().take(MAX_LENGTH).collect()
    }
}
