//! A compiled pattern, and the lines of one text that it matches.
//!
//! Owns what a line's match is and how long it may take. The regex engine cannot be interrupted within a search, so a
//! text is searched in parts, with a check of the deadline between them.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use regex_automata::meta::Regex;
use regex_automata::{Input, Match};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::{Pattern, need};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::TrigramNeed;
use crate::wording::{Argument, Name, Wording};

/// The size limit of compiled patterns, as in ripgrep.
const PROGRAM_BYTES: usize = 100 << 20;

/// Lines are searched together up to this many bytes.
const WINDOW: usize = 16 << 10;

/// The first part of a search; each next one is half as large again.
const FIRST_PART: usize = 2 * WINDOW;
/// A program above this many bytes is large: each byte of a text may cost a pass over all of it, so that one window
/// could take hours.
const LARGE_PROGRAM: usize = 8 << 20;
const LONG_FOR_LARGE: usize = 256 << 10;

/// A line in which the pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchedLine {
    pub number: u32,
    /// The byte of the text where it begins, and of the line where its first match does.
    pub start: usize,
    pub at: usize,
}

#[derive(Clone)]
pub(super) struct Finder {
    regex: Regex,
    multiline: bool,
    /// The pattern has anchors of the whole text, so every line is searched as a separate text.
    line_by_line: bool,
    is_large: bool,
}

impl Finder {
    /// Reads a pattern.
    pub(super) fn parse(pattern: &Pattern) -> Result<Hir> {
        let body = if pattern.is_regex { pattern.text.to_owned() } else { regex_syntax::escape(pattern.text) };
        let mut parser = ParserBuilder::new();
        // As in ripgrep: `(?-u)` may match bytes that are not letters.
        let mut parser = parser.case_insensitive(!pattern.case_sensitive).multi_line(true).utf8(false).build();
        let mut parsed = parser.parse(&body).map_err(|error| unreadable(pattern, &error))?;
        if !pattern.multiline && wants_line_break(&parsed) {
            return Err(refused(pattern, "the pattern contains a line break, which no line contains").hint((
                "Set ",
                Name("multiline"),
                ", so that a match may cover several lines.",
            )));
        }
        if pattern.word {
            let edge = Hir::look;
            parsed = Hir::concat(vec![edge(Look::WordStartHalfUnicode), parsed, edge(Look::WordEndHalfUnicode)]);
        }
        Ok(parsed)
    }

    /// Compiles a pattern, and returns what a text needs for it to match.
    pub(super) fn compile(pattern: &Pattern) -> Result<(Self, TrigramNeed)> {
        let parsed = Self::parse(pattern)?;
        let config = Regex::config().nfa_size_limit(Some(PROGRAM_BYTES)).utf8_empty(false);
        let regex = Regex::builder().configure(config).build_from_hir(&parsed).map_err(|error| {
            if error.size_limit().is_some() {
                refused(pattern, "the pattern is too large")
            } else {
                unreadable(pattern, &error)
            }
        })?;
        let line_by_line = !pattern.multiline && parsed.properties().look_set().contains_anchor_haystack();
        let is_large = regex.memory_usage() > LARGE_PROGRAM;
        Ok((Self { regex, multiline: pattern.multiline, line_by_line, is_large }, need::compute(&parsed)))
    }

    /// Every matching line, in order; an error once the budget is spent.
    pub(super) fn matching_lines(&self, text: &str, budget: &Budget) -> Result<Vec<MatchedLine>> {
        let text = text.as_bytes();
        if self.multiline { self.covered_lines(text, budget) } else { self.lines(text, budget) }
    }

    /// Where the pattern matches in one line.
    pub(super) fn spans(&self, line: &str) -> Vec<Range<usize>> {
        self.regex.find_iter(line).map(|found| found.range()).filter(|range| !range.is_empty()).collect()
    }

    fn lines(&self, text: &[u8], budget: &Budget) -> Result<Vec<MatchedLine>> {
        let mut found = Vec::new();
        // `number` is the number of the line that starts at `at`. Up to `crossed`, lines are searched one at a time;
        // otherwise a match over many lines would be looked for again from each of them.
        let (mut at, mut number, mut crossed) = (0, 1, 0);
        while at < text.len() {
            // Past the last line break there is no line.
            let far = if self.line_by_line || at < crossed { at } else { (text.len() - 1).min(at + WINDOW) };
            let end = line_end(text, far);
            let Some(matched) = self.find(text, at..end, budget)? else {
                number += breaks(&text[at..end]) + 1;
                at = end + 1;
                continue;
            };
            number += breaks(&text[at..matched.start()]);
            let start = memrchr(b'\n', &text[at..matched.start()]).map_or(at, |before| at + before + 1);
            at = line_end(text, matched.start());
            let inside = if matched.end() <= at {
                Some(matched)
            } else {
                // A match that crosses the line's end may not be one when the line is searched by itself.
                crossed = matched.end();
                self.find(text, start..at, budget)?
            };
            found.extend(inside.map(|matched| MatchedLine { number, start, at: matched.start() - start }));
            number += 1;
            at += 1;
        }
        Ok(found)
    }

    fn covered_lines(&self, text: &[u8], budget: &Budget) -> Result<Vec<MatchedLine>> {
        let mut found: Vec<MatchedLine> = Vec::new();
        // `number` is the number of the line that starts at `start` and contains `counted`. `covered` ends the last
        // line found so far: the next match may begin in it and reach further.
        let (mut at, mut number, mut start, mut counted, mut covered) = (0, 1, 0, 0, None);
        while at < text.len() {
            // As in ripgrep, the rest is a separate text: `\A` matches where the search continues.
            let Some(matched) = self.find(&text[at..], 0..text.len() - at, budget)? else { break };
            let matched = Match::new(matched.pattern(), at + matched.start()..at + matched.end());
            // Past the last line break there is no line.
            if matched.start() == text.len() && text.ends_with(b"\n") {
                break;
            }
            at = if matched.is_empty() { matched.end() + 1 } else { matched.end() };
            // A match that ends with a line break does not reach into the next line.
            let last = matched.start().max(matched.end().saturating_sub(1));
            if covered.is_some_and(|covered| last <= covered) {
                continue;
            }
            let passed = counted..matched.start();
            number += breaks(&text[passed.clone()]);
            start = memrchr(b'\n', &text[passed]).map_or(start, |before| counted + before + 1);
            counted = matched.start();
            let end = line_end(text, last);
            if covered.is_none_or(|covered| matched.start() > covered) {
                found.push(MatchedLine { number, start, at: matched.start() - start });
            }
            let further = memchr_iter(b'\n', &text[matched.start()..end]).map(|at| matched.start() + at + 1);
            found.extend((number + 1..).zip(further).map(|(number, start)| MatchedLine { number, start, at: 0 }));
            covered = Some(end);
        }
        Ok(found)
    }

    /// The first match in `range`, looked for in ever larger parts of it.
    fn find(&self, text: &[u8], range: Range<usize>, budget: &Budget) -> Result<Option<Match>> {
        let mut size = FIRST_PART;
        loop {
            budget.check()?;
            let end = range.end.min(range.start.saturating_add(size));
            if self.is_large && end - range.start > LONG_FOR_LARGE {
                return Err(too_much());
            }
            let found = self.search(text, range.start..end, range.end);
            if end == range.end {
                return Ok(found);
            }
            if found.is_some() {
                // Where the match ends matters only to those that cover lines.
                return Ok(if self.multiline { self.search(text, range.clone(), range.end) } else { found });
            }
            size += size / 2;
        }
    }

    /// The first match in `range`; if lines are searched one by one, in the line that ends at `line_end`.
    fn search(&self, text: &[u8], range: Range<usize>, line_end: usize) -> Option<Match> {
        if !self.line_by_line {
            return self.regex.search(&Input::new(text).span(range));
        }
        let line = Input::new(&text[range.start..line_end]).span(0..range.len());
        let moved = |at: usize| at + range.start;
        self.regex.search(&line).map(|found| Match::new(found.pattern(), moved(found.start())..moved(found.end())))
    }
}

/// The end of the line that `at` is in: its line break, or the end of the text.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |offset| at + offset)
}

fn breaks(text: &[u8]) -> u32 {
    u32::try_from(memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

/// Whether some match must contain a line break. A class that has one, such as `\s`, does without.
fn wants_line_break(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Repetition(repeated) => wants_line_break(&repeated.sub),
        HirKind::Capture(group) => wants_line_break(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(wants_line_break),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

fn unreadable(pattern: &Pattern, error: &dyn std::fmt::Display) -> Error {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
    refused(pattern, &format!("the pattern cannot be read: {last}"))
}

fn refused(pattern: &Pattern, what: &str) -> Error {
    let hint = if pattern.is_regex {
        "Use mode \"literal\" to search for the text as it is, or fix the pattern."
    } else {
        "Search for a shorter text."
    };
    Error::invalid_argument((Argument("text"), format!(": {what}"))).hint(hint)
}

fn too_much() -> Error {
    Error::invalid_argument((
        Argument("text"),
        ": the pattern is too large for a line as long as one that it was to be looked for in",
    ))
    .hint(Wording::from("Nested counted repetitions multiply: use smaller counts.").then((
        "Or leave the file out with ",
        Name("exclude"),
        ".",
    )))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::error::ErrorKind;

    fn finder(text: &str, is_regex: bool, multiline: bool) -> Finder {
        Finder::compile(&Pattern { text, is_regex, case_sensitive: true, word: false, multiline }).unwrap().0
    }

    fn lines(text: &str, haystack: &str, is_regex: bool, multiline: bool) -> Vec<u32> {
        let found = finder(text, is_regex, multiline).matching_lines(haystack, &Budget::unlimited()).unwrap();
        found.into_iter().map(|matched| matched.number).collect()
    }

    #[test]
    fn each_matching_line_counts_once() {
        assert_eq!(lines("a", "aa\nb\na", false, false), [1, 3]);
        assert_eq!(lines("^", "x\n\ny\n", true, false), [1, 2, 3]);
        assert_eq!(lines("$", "x\n\ny", true, false), [1, 2, 3]);
        assert_eq!(lines("x*", "", true, false), [1_u32; 0]);
        assert_eq!(lines("^$", "x\n\ny\n", true, false), [2]);
        assert_eq!(lines("^$", "x\n\ny\n", true, true), [2]);
        assert_eq!(lines("^$", "x\ny", true, false), [1_u32; 0]);
        assert_eq!(lines("$", "x\ny", true, true), [1, 2]);
        assert_eq!(lines("$", "x\ny\n", true, true), [1, 2]);
    }

    #[test]
    fn a_match_never_crosses_a_line_unless_asked() {
        assert_eq!(lines(r"a\s+b", "a\nb\na b\n", true, false), [3]);
        assert_eq!(lines(r"a\s+b", "a\nb\na b\n", true, true), [1, 2, 3]);
        assert_eq!(lines(r"b\n", "a\nb\nc\n", true, true), [2]);
        // The next match may begin where the last one ended, in the middle of a line.
        assert_eq!(lines(r"\n *b", "a\nb\n b\nc\nb b\n", true, true), [1, 2, 3, 4, 5]);
        assert_eq!(lines("a|a\nb", "aa\nb\n", true, true), [1]);
        assert_eq!(lines(r"(?s).", "é\n\na\n", true, true), [1, 2, 3]);
        assert_eq!(lines(r"[^x]+y", "a\nb\nzy\n", true, false), [3]);
    }

    #[test]
    fn the_start_and_end_of_the_text_are_those_of_a_line_as_in_ripgrep() {
        for (pattern, found) in [(r"\Aa", [2, 3]), (r"a\z", [2, 3]), (r"(?-m)^b$", [1, 4])] {
            assert_eq!(lines(pattern, "b\na\na\nb", true, false), found, "{pattern}");
        }
        for (pattern, found) in [(r"\Ab\na", vec![1, 2]), (r"\Aa", vec![]), (r"b\z", vec![4])] {
            assert_eq!(lines(pattern, "b\na\na\nb", true, true), found, "{pattern}");
        }
    }

    #[test]
    fn whole_words_are_asked_for_whatever_the_pattern_ends_with() {
        let pattern =
            Pattern { text: "(?x) a | b # c", is_regex: true, case_sensitive: true, word: true, multiline: false };
        let found =
            Finder::compile(&pattern).unwrap().0.matching_lines("ab\na\nxb\n b.", &Budget::unlimited()).unwrap();
        assert_eq!(found, [MatchedLine { number: 2, start: 3, at: 0 }, MatchedLine { number: 4, start: 8, at: 1 }]);
    }

    #[test]
    fn lines_are_found_wherever_the_parts_of_a_search_end() {
        let long = "x".repeat(3 * FIRST_PART);
        let text = format!("{long}é!\n{}b!\n{long}\nb!", "a\n".repeat(2 * WINDOW));
        let last = 2 * u32::try_from(WINDOW).unwrap() + 4;
        assert_eq!(lines("!$", &text, true, false), [1, last - 2, last]);
        assert_eq!(lines(r"(?s)b.*b", &text, true, true), [last - 2, last - 1, last]);
    }

    #[test]
    fn matches_over_many_lines_take_no_more_than_one_look_at_each_line() {
        let text = format!("{}Q", "abcdefgh\n".repeat(100_000));
        let budget = Budget::lasting(Duration::from_secs(60));
        assert_eq!(finder("[^x]+Q", true, false).matching_lines(&text, &budget).unwrap(), []);
        assert_eq!(
            finder("[^x]*Q", true, false).matching_lines(&text, &budget).unwrap(),
            [MatchedLine { number: 100_001, start: 900_000, at: 0 }]
        );
    }

    #[test]
    fn a_costly_pattern_on_a_long_line_ends_with_its_budget() {
        let text = "a".repeat(1_900_000);
        let started = Instant::now();
        let budget = Budget::lasting(Duration::from_millis(200));
        let error = finder("(a{50}){200}b", true, false).matching_lines(&text, &budget).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
    }

    /// A running search cannot be stopped; this one would take days.
    #[test]
    fn a_large_program_is_refused_where_a_line_is_long() {
        let budget = Budget::unlimited();
        let long = "a".repeat(2 * LONG_FOR_LARGE);
        let error = finder("(a{1000}){1000}", true, false).matching_lines(&long, &budget).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        let short = "ab\n".repeat(LONG_FOR_LARGE);
        assert_eq!(finder("(a{1000}){1000}", true, false).matching_lines(&short, &budget).unwrap(), []);
    }
}
