//! Blocks in braces, recognized only by the text.
//!
//! Owns which braces belong together where there is no syntax tree. Braces may be missing or doubled (`#if` and `#else` often
//! open one block twice), so a closing brace that begins its line must be indented like the line that it closes.

use std::ops::Range;

/// Pairs of braces.
pub(super) struct Blocks {
    /// Where they open and close, in order of where they open.
    pairs: Vec<(usize, usize)>,
    /// Comments and strings, in order.
    quoted: Vec<Range<usize>>,
}

/// An open brace, and how far what closes it may be indented.
struct OpenBrace {
    at: usize,
    least: usize,
    most: usize,
}

/// Goes through a text without what is quoted.
struct Code<'a> {
    bytes: &'a [u8],
    quoted: &'a [Range<usize>],
    at: usize,
}

impl Iterator for Code<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        while let Some((first, others)) = self.quoted.split_first() {
            if self.at < first.start {
                break;
            }
            self.at = self.at.max(first.end);
            self.quoted = others;
        }
        let at = self.at;
        self.at += 1;
        Some((at, *self.bytes.get(at)?))
    }
}

impl Blocks {
    /// `quoted` are comments and strings, in order.
    pub(super) fn find(text: &str, quoted: Vec<Range<usize>>) -> Self {
        let mut pairs = Vec::new();
        let mut open: Vec<OpenBrace> = Vec::new();
        let mut line = 0;
        // How far the first words of the line and of the statement are indented.
        let (mut indent, mut statement) = (None, None);
        for (at, byte) in (Code { bytes: text.as_bytes(), quoted: &quoted, at: 0 }) {
            match byte {
                b'\n' => {
                    line = at + 1;
                    indent = None;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => {
                    let begins_line = indent.is_none();
                    let column = *indent.get_or_insert(at - line);
                    match byte {
                        b'}' => {
                            if begins_line {
                                while open.pop_if(|inner| inner.least > column).is_some() {}
                            }
                            // One that is indented further than what is open closes nothing.
                            if let Some(inner) = open.pop_if(|inner| !begins_line || inner.most >= column) {
                                pairs.push((inner.at, at));
                            }
                            statement = None;
                        }
                        b'{' => {
                            let begun = statement.unwrap_or(column);
                            open.push(OpenBrace { at, least: begun.min(column), most: begun.max(column) });
                            statement = None;
                        }
                        b';' => statement = None,
                        // The column of a preprocessor directive means nothing.
                        b'#' if begins_line => {}
                        _ => statement = statement.or(Some(column)),
                    }
                }
            }
        }
        pairs.sort_unstable();
        Self { pairs, quoted }
    }

    /// The brace that closes the one at `open`.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&open, |(open, _)| *open).ok()?;
        Some(self.pairs[at].1)
    }

    /// After the name in the head of a definition: the brace that opens its body, and where it ends without one. One of
    /// `stops` ends it; at most `most` bytes are looked at.
    pub(super) fn after_head(
        &self,
        text: &str,
        name: &Range<usize>,
        stops: &[u8],
        most: usize,
    ) -> (Option<usize>, usize) {
        let bytes = text.as_bytes();
        let indent = indent_of(bytes, name.start);
        let quoted = &self.quoted[self.quoted.partition_point(|range| range.end <= name.end)..];
        let mut depth = 0_usize;
        for (at, byte) in (Code { bytes, quoted, at: name.end }).take_while(|(at, _)| *at < name.end + most) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' if depth == 0 => return (None, at),
                b')' | b']' => depth -= 1,
                b'{' if depth == 0 => return (Some(at), at),
                b'}' | b';' if depth == 0 => return (None, at),
                byte if depth == 0 && stops.contains(&byte) => return (None, at),
                b'\n' if depth == 0 && is_next_statement(bytes, at + 1, indent) => return (None, at),
                _ => {}
            }
        }
        (None, text.floor_char_boundary(name.end + most))
    }
}

impl Blocks {
    /// Where a definition ends whose lines are indented further than its head, and where its last line starts. A line
    /// that is `closed_by` a word and is indented like the head is its last one.
    pub(super) fn indented(&self, text: &str, name: &Range<usize>, closed_by: Option<&str>) -> (usize, usize) {
        let bytes = text.as_bytes();
        let indent = indent_of(bytes, name.start);
        let first = memchr::memchr(b'\n', &bytes[name.end..]).map_or(text.len(), |line| name.end + line);
        let (mut end, mut last) = (first, name.end);
        let mut start = (first + 1).min(text.len());
        for line in text[start..].split_inclusive('\n') {
            let code = line.trim();
            let quoted = self.quoted.partition_point(|range| range.end <= start);
            let is_quoted = self.quoted.get(quoted).is_some_and(|range| range.start < start);
            if !code.is_empty() && !is_quoted {
                let closes = closed_by.is_some_and(|word| {
                    code.strip_prefix(word)
                        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                });
                let own = blanks(line.as_bytes());
                if own < indent || (own == indent && !closes && !code.starts_with([')', ']', '}'])) {
                    break;
                }
                if !code.starts_with('#') {
                    (end, last) = (start + line.trim_end().len(), start);
                }
                if own == indent && closes {
                    break;
                }
            }
            start += line.len();
        }
        (end, last)
    }
}

/// How far the line of `at` is indented; lines are looked at as far as a head may be long.
fn indent_of(bytes: &[u8], at: usize) -> usize {
    let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |line| line + 1);
    blanks(&bytes[line..at])
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Whether the line at `line` neither continues the head above it, nor is blank.
fn is_next_statement(bytes: &[u8], line: usize, indent: usize) -> bool {
    let rest = &bytes[line.min(bytes.len())..];
    let own = blanks(rest);
    match rest.get(own) {
        None => true,
        Some(b'\r' | b'\n' | b'{' | b':' | b')' | b',' | b'=' | b'<' | b'>' | b'-') => false,
        Some(_) => own <= indent && !rest[own..].starts_with(b"where"),
    }
}
