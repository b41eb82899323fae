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

/// Whether a line says something about its file: it is not a header guard, a licence or only punctuation.
pub(super) fn is_telling(line: &str) -> bool {
    const GUARDS: [&str; 6] = ["#ifndef", "#pragma once", "#endif", "#!", "# -*-", "<?xml"];
    let line = line.trim();
    let is_guard = || {
        let defined = line.strip_prefix("#define").map(str::trim);
        GUARDS.iter().any(|guard| line.starts_with(guard))
            || defined.is_some_and(|name| name.ends_with("_H") || name.ends_with("_H_") || name.ends_with("_HPP"))
    };
    line.contains(char::is_alphanumeric) && !is_guard() && !is_of_licence(line)
}

fn is_of_licence(line: &str) -> bool {
    const WORDS: [&str; 6] =
        ["copyright", "spdx-", "licensed under", "all rights reserved", "license, version", "bsd-style license"];
    let lower = line.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// How many lines the licence takes that a file begins with.
pub(super) fn after_licence(lines: &[String]) -> usize {
    const COMMENTS: [&str; 7] = ["//", "#", "/*", "*", "--", ";", "<!--"];
    let is_comment = |line: &&String| {
        let line = line.trim_start();
        line.is_empty() || COMMENTS.iter().any(|comment| line.starts_with(comment))
    };
    let head = lines.iter().take_while(is_comment).count();
    if !lines[..head].iter().any(|line| is_of_licence(line)) {
        return 0;
    }
    // A comment after it, behind a blank line, may be about the file.
    let last = lines[..head].iter().rposition(|line| is_of_licence(line)).unwrap_or(0);
    lines[last..head].iter().position(|line| line.trim().is_empty()).map_or(head, |blank| last + blank)
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
    fn guards_licences_and_braces_say_nothing() {
        for line in [
            "#ifndef A_H_",
            "#define A_H_",
            "#pragma once",
            "});",
            "// Copyright (c) 2020 A",
            "# SPDX-License-Identifier: MIT",
        ] {
            assert!(!is_telling(line), "{line}");
        }
        for line in ["#define SIZE 10", "int a;", "class License:", "# Text"] {
            assert!(is_telling(line), "{line}");
        }
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
