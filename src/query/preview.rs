//! The lines that a hit shows.

use memchr::memrchr;

/// A preview's line is cut at this many characters.
const LINE_CHARS: usize = 200;

/// `line` without its line break, cut so that the byte `at` of it is seen.
pub(super) fn cut(line: &str, at: usize) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    if line.len() <= LINE_CHARS {
        return line.to_owned();
    }
    let before = line[..line.floor_char_boundary(at.min(line.len()))].chars().count();
    let skipped = if before < LINE_CHARS - 40 { 0 } else { before - 40 };
    line.chars().skip(skipped).take(LINE_CHARS).collect()
}

/// The line that begins at the byte `start` with `context` lines before and after it, as slices with their line breaks;
/// and how many of them come before.
pub(super) fn around(text: &str, start: usize, context: u32) -> (u32, impl Iterator<Item = &str>) {
    let (mut first, mut before) = (start, 0);
    while before < context && first > 0 {
        first = memrchr(b'\n', &text.as_bytes()[..first - 1]).map_or(0, |end| end + 1);
        before += 1;
    }
    (before, text[first..].split_inclusive('\n').take((before + context) as usize + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let line = format!("{}needle{}\n", "a".repeat(500), "b".repeat(500));
        let shown = cut(&line, 500);
        assert_eq!(shown.chars().count(), LINE_CHARS);
        assert!(shown.contains("needle"));
        assert_eq!(cut("short\r\n", 0), "short");
    }

    #[test]
    fn the_lines_around_one_end_where_the_text_does() {
        let text = "a\nb\nc\nd";
        let around = |start, context| {
            let (before, lines) = around(text, start, context);
            (before, lines.collect::<Vec<_>>())
        };
        assert_eq!(around(0, 0), (0, vec!["a\n"]));
        assert_eq!(around(2, 1), (1, vec!["a\n", "b\n", "c\n"]));
        assert_eq!(around(6, 9), (3, vec!["a\n", "b\n", "c\n", "d"]));
        assert_eq!(around(6, 0), (0, vec!["d"]));
    }
}
