//! The lines that a hit shows.

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

/// Lines `first..=last` (1-based) of a text, with line breaks, as slices.
pub(super) fn lines_between(text: &str, first: u32, last: u32) -> impl Iterator<Item = &str> {
    let count = last.saturating_sub(first) as usize + 1;
    text.split_inclusive('\n').skip(first.saturating_sub(1) as usize).take(count)
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
}
