//! Lines of a file, exactly as its bytes have them.

use crate::error::{Error, Result};
use crate::wording::{Name, Wording};

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    pub start_line: u64,
    pub end_line: u64,
    pub content: String,
    /// Bytes that are not text became U+FFFD.
    pub lossy: bool,
    pub total_lines: u64,
    /// Where to continue if the content was cut: a line, and the column inside it when one line alone was too long.
    pub next: Option<(u64, Option<u64>)>,
}

/// A file's bytes and where its lines begin.
pub struct FileLines {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl FileLines {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { starts: line_starts(&bytes), bytes }
    }

    /// A line, from 1, with its line break; `None` past the end.
    pub fn get(&self, number: u64) -> Option<&[u8]> {
        (1..=self.starts.len() as u64).contains(&number).then(|| line(&self.bytes, &self.starts, number))
    }
}

/// Lines `start..=end` (1-based) of `bytes`, from `column` of the first on, of at most `cap` bytes of JSON text.
///
/// Lines end at LF; line breaks come back as they are. An end past the file's is clamped. `INVALID_ARGUMENT`, naming
/// the file's length, for a start of 0 or past the end, and for an end before the start.
pub fn slice(bytes: &[u8], start: u64, end: u64, column: u64, cap: Option<usize>) -> Result<Slice> {
    let starts = line_starts(bytes);
    let total = starts.len() as u64;
    let wrong = |what: Wording| {
        Error::invalid_argument(what.followed_by(&format!("; the file has {}", line_count(total)))).hint((
            "Give 1-based lines with ",
            Name("start_line"),
            " ≤ ",
            Name("end_line"),
            ".",
        ))
    };
    if start == 0 || end == 0 {
        return Err(wrong("lines are 1-based: 0 is not a line".into()));
    }
    if end < start {
        return Err(wrong(
            (Name("end_line"), format!(" {end} is before "), Name("start_line"), format!(" {start}")).into(),
        ));
    }
    if total == 0 && start == 1 {
        return Ok(Slice {
            start_line: 1,
            end_line: 0,
            content: String::new(),
            lossy: false,
            total_lines: 0,
            next: None,
        });
    }
    if start > total {
        return Err(wrong(format!("line {start} is past the end").into()));
    }
    let last = end.min(total);
    let mut content = String::new();
    let mut lossy = false;
    let mut remaining = cap.unwrap_or(usize::MAX);
    for number in start..=last {
        let line = line(bytes, &starts, number);
        let text = String::from_utf8_lossy(line);
        lossy |= matches!(text, std::borrow::Cow::Owned(_));
        let skipped = if number == start { column.saturating_sub(1) } else { 0 };
        let rest =
            text.char_indices().nth(usize::try_from(skipped).unwrap_or(usize::MAX)).map_or("", |(at, _)| &text[at..]);
        if skipped > 0 && rest.is_empty() {
            return Err(wrong((Name("start_column"), format!(" {column} is past the end of line {number}")).into()));
        }
        let cost = json_cost(rest);
        if cost <= remaining {
            remaining -= cost;
            content.push_str(rest);
            continue;
        }
        if number > start {
            let next = Some((number, None));
            return Ok(Slice { start_line: start, end_line: number - 1, content, lossy, total_lines: total, next });
        }
        let part = fitting(rest, remaining);
        content.push_str(part);
        let next = Some((number, Some(skipped + 1 + part.chars().count() as u64)));
        return Ok(Slice { start_line: start, end_line: number, content, lossy, total_lines: total, next });
    }
    Ok(Slice { start_line: start, end_line: last, content, lossy, total_lines: total, next: None })
}

fn line_count(lines: u64) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let after_breaks = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).filter(|at| *at < bytes.len());
    std::iter::once(0).chain(after_breaks).collect()
}

fn line<'b>(bytes: &'b [u8], starts: &[usize], number: u64) -> &'b [u8] {
    let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let end = starts.get(at + 1).copied().unwrap_or(bytes.len());
    &bytes[starts[at]..end]
}

/// Bytes that `text` takes inside a JSON string.
fn json_cost(text: &str) -> usize {
    text.chars().map(char_cost).sum()
}

fn char_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

/// Returns the start of `text` that fits; at least one character, so that paging terminates.
fn fitting(text: &str, remaining: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_cost(c);
        if used > remaining && at > 0 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_and_a_missing_last_one_come_back_as_they_are() {
        let bytes = b"one\r\ntwo\nthree";
        assert_eq!(slice(bytes, 1, 2, 1, None).unwrap().content, "one\r\ntwo\n");
        let rest = slice(bytes, 3, 1_000_000_000_000, 1, None).unwrap();
        assert_eq!((rest.content.as_str(), rest.end_line, rest.total_lines), ("three", 3, 3));
    }

    #[test]
    fn lines_that_are_not_there_are_named_with_the_length() {
        for (start, end) in [(0, 1), (1, 0), (2, 1), (4, 9)] {
            let error = slice(b"a\nb\nc\n", start, end, 1, None).unwrap_err();
            assert!(error.message.to_string().contains("3 lines"), "{error}");
        }
    }

    #[test]
    fn a_cut_goes_on_where_it_ended() {
        let text = format!("first\n{}\nlast\n", "ä".repeat(100));
        let mut whole = String::new();
        let (mut line, mut column) = (1, 1);
        loop {
            let part = slice(text.as_bytes(), line, 9, column, Some(50)).unwrap();
            whole.push_str(&part.content);
            let Some((next, inside)) = part.next else { break };
            (line, column) = (next, inside.unwrap_or(1));
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let slice = slice(b"a\xff\n", 1, 1, 1, None).unwrap();
        assert!(slice.lossy);
        assert_eq!(slice.content, "a\u{fffd}\n");
    }
}
