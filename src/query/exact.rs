//! Literal and regular-expression search: what ripgrep finds in the same text, line by line.
//!
//! Owns the scan over all stored text. One thread reads the database, the others search; hits come back in path and
//! line order, and only those of the page asked for are kept.

use std::collections::BTreeMap;

use crossbeam_channel::{Receiver, Sender};
use regex::{Regex, RegexBuilder};

use super::{Hit, Page, PathFilter, preview};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::Snapshot;

/// What to look for, as the caller says it.
#[derive(Clone, Debug)]
pub struct Pattern<'a> {
    pub text: &'a str,
    pub is_regex: bool,
    pub case_sensitive: bool,
    /// Matches must begin and end at word boundaries.
    pub word: bool,
    /// A match may cover several lines; each is a hit.
    pub multiline: bool,
}

/// Compiled programs are refused above this: what ripgrep allows.
const PROGRAM_BYTES: usize = 100 << 20;

/// Texts between the reader and the searchers.
const IN_FLIGHT: usize = 64;

/// How many lines around a hit may be asked for.
pub const MAX_CONTEXT: u32 = 20;

struct FileText {
    ordinal: usize,
    path: String,
    text: String,
}

/// A line that matches, before its symbol is known.
struct Line {
    number: u32,
    first: u32,
    last: u32,
    preview: String,
}

/// Lines of one file that match: how many, and the first of them.
struct FileLines {
    ordinal: usize,
    path: String,
    count: usize,
    lines: Vec<Line>,
}

/// The page at `offset` of all matching lines, in path and line order.
pub fn search(
    snapshot: &Snapshot,
    pattern: &Pattern,
    filter: &PathFilter,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let finder = Finder::new(pattern)?;
    let wanted = offset.saturating_add(limit);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (send_text, texts) = crossbeam_channel::bounded::<FileText>(IN_FLIGHT);
    let (send_lines, lines) = crossbeam_channel::unbounded::<FileLines>();
    let mut window = Window { offset, limit, next_file: 0, seen: 0, waiting: BTreeMap::new(), kept: Vec::new() };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (texts, send_lines, finder) = (texts.clone(), send_lines.clone(), finder.clone());
            scope.spawn(move || search_texts(&finder, &texts, &send_lines, context.min(MAX_CONTEXT), wanted));
        }
        drop((texts, send_lines));
        let sent = send_texts(snapshot, filter, &send_text, budget, |_| {
            for found in lines.try_iter() {
                window.take(found);
            }
        });
        // The searchers end when there is no more text to come.
        drop(send_text);
        for found in lines {
            window.take(found);
        }
        sent
    })?;
    budget.check()?;
    let mut items = Vec::new();
    for (path, line) in window.kept {
        let symbol = snapshot.symbol_around(&path, line.number)?.map(|symbol| super::smart::qualified(&symbol));
        items.push(Hit {
            path,
            line: line.number,
            start_line: line.first,
            end_line: line.last,
            symbol,
            score: 1.0,
            preview: line.preview,
            parts: Vec::new(),
        });
    }
    let next = offset + items.len();
    let more = !items.is_empty() && next < window.seen;
    Ok(Page { items, total: Some(window.seen), next_offset: more.then_some(next) })
}

/// Reads every admitted file's text and hands it on; `between` is called after each.
fn send_texts(
    snapshot: &Snapshot,
    filter: &PathFilter,
    send: &Sender<FileText>,
    budget: &Budget,
    mut between: impl FnMut(usize),
) -> Result<()> {
    let mut current = FileText { ordinal: 0, path: String::new(), text: String::new() };
    let pass_on = |file: FileText| {
        // Searchers end only when this sender does.
        let _ = send.send(file);
    };
    snapshot.each_text(|chunk| {
        if chunk.path != current.path {
            let next = FileText { ordinal: current.ordinal + 1, path: chunk.path.to_owned(), text: String::new() };
            let done = std::mem::replace(&mut current, next);
            if done.ordinal > 0 {
                between(done.ordinal);
                pass_on(if filter.admits(&done.path) { done } else { FileText { text: String::new(), ..done } });
            }
            budget.check()?;
        }
        current.text.push_str(chunk.text);
        Ok(())
    })?;
    if current.ordinal > 0 {
        pass_on(if filter.admits(&current.path) { current } else { FileText { text: String::new(), ..current } });
    }
    Ok(())
}

fn search_texts(finder: &Finder, texts: &Receiver<FileText>, send: &Sender<FileLines>, context: u32, wanted: usize) {
    for file in texts {
        let numbers = finder.matching_lines(&file.text);
        let lines = numbers
            .iter()
            .take(wanted)
            .map(|&(number, at)| {
                let first = number.saturating_sub(context).max(1);
                let around = preview::lines_between(&file.text, first, number + context);
                let shown: Vec<String> = around.map(|line| preview::cut(line, at)).collect();
                let last = first + u32::try_from(shown.len()).unwrap_or(1).max(1) - 1;
                Line { number, first, last, preview: shown.join("\n") }
            })
            .collect();
        let found = FileLines { ordinal: file.ordinal, path: file.path, count: numbers.len(), lines };
        if send.send(found).is_err() {
            return;
        }
    }
}

/// Puts files back into order and keeps the lines of one page.
struct Window {
    offset: usize,
    limit: usize,
    /// The last file that was taken, by ordinal; files count from 1.
    next_file: usize,
    seen: usize,
    waiting: BTreeMap<usize, FileLines>,
    kept: Vec<(String, Line)>,
}

impl Window {
    fn take(&mut self, found: FileLines) {
        self.waiting.insert(found.ordinal, found);
        while let Some(found) = self.waiting.remove(&(self.next_file + 1)) {
            self.next_file += 1;
            for (at, line) in (self.seen..).zip(found.lines) {
                if at >= self.offset && self.kept.len() < self.limit {
                    self.kept.push((found.path.clone(), line));
                }
            }
            self.seen += found.count;
        }
    }
}

/// A compiled pattern.
#[derive(Clone)]
struct Finder {
    regex: Regex,
    multiline: bool,
}

impl Finder {
    fn new(pattern: &Pattern) -> Result<Self> {
        let body = if pattern.is_regex { pattern.text.to_owned() } else { regex::escape(pattern.text) };
        let body = if pattern.word { format!(r"\b{{start-half}}(?:{body})\b{{end-half}}") } else { body };
        let regex = RegexBuilder::new(&body)
            .case_insensitive(!pattern.case_sensitive)
            .multi_line(true)
            .size_limit(PROGRAM_BYTES)
            .build()
            .map_err(|error| refused(pattern, &error))?;
        Ok(Self { regex, multiline: pattern.multiline })
    }

    /// (line, byte of the match inside it) of every matching line, in order.
    fn matching_lines(&self, text: &str) -> Vec<(u32, usize)> {
        let mut found: Vec<(u32, usize)> = Vec::new();
        // `line` is the number of the line that starts at `line_start`; the search goes on at `at`.
        let (mut at, mut line, mut line_start) = (0, 1, 0);
        // An empty text has no lines.
        while let Some(matched) = self.regex.find_at(text, at).filter(|_| !text.is_empty()) {
            let breaks = memchr::memchr_iter(b'\n', &text.as_bytes()[line_start..matched.start()]);
            for newline in breaks.map(|offset| line_start + offset).collect::<Vec<_>>() {
                line += 1;
                line_start = newline + 1;
            }
            if line_start >= text.len() {
                // Past the last line break there is no line.
                break;
            }
            let line_end = memchr::memchr(b'\n', &text.as_bytes()[matched.start()..])
                .map_or(text.len(), |offset| matched.start() + offset);
            let last = if self.multiline {
                self.cover(text, &mut found, (line, line_start), matched.start(), matched.end())
            } else {
                let content = &text[line_start..line_end];
                let inside = matched.end() <= line_end;
                // A match that runs over the line's end may be none when the line stands alone.
                let alone = if inside {
                    Some(matched.start() - line_start)
                } else {
                    self.regex.find(content).map(|m| m.start())
                };
                found.extend(alone.map(|offset| (line, offset)));
                line_end
            };
            if last >= text.len() {
                break;
            }
            line += u32::try_from(memchr::memchr_iter(b'\n', &text.as_bytes()[line_start..=last]).count()).unwrap_or(0);
            line_start = last + 1;
            at = line_start;
        }
        found
    }

    /// Notes every line that a match covers; gives the end of the last one.
    fn cover(
        &self,
        text: &str,
        found: &mut Vec<(u32, usize)>,
        (line, line_start): (u32, usize),
        start: usize,
        end: usize,
    ) -> usize {
        let covered = &text.as_bytes()[line_start..end.max(start + 1).min(text.len())];
        // A match that ends with a line break does not reach into the next line.
        let inner = covered.strip_suffix(b"\n").unwrap_or(covered);
        let lines = u32::try_from(memchr::memchr_iter(b'\n', inner).count()).unwrap_or(0);
        found.push((line, start - line_start));
        found.extend((1..=lines).map(|more| (line + more, 0)));
        let last_byte = line_start + inner.len();
        memchr::memchr(b'\n', &text.as_bytes()[last_byte..]).map_or(text.len(), |offset| last_byte + offset)
    }
}

fn refused(pattern: &Pattern, error: &regex::Error) -> Error {
    let what = match error {
        regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
        error => {
            let text = error.to_string();
            format!(
                "the pattern cannot be read: {}",
                text.lines().last().unwrap_or_default().trim_start_matches("error: ")
            )
        }
    };
    let hint = if pattern.is_regex {
        "Use mode \"literal\" to search for the text as it stands, or mend the pattern."
    } else {
        "Search for a shorter text."
    };
    Error::invalid_argument(format!("argument `text`: {what}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, haystack: &str, is_regex: bool, multiline: bool) -> Vec<u32> {
        let pattern = Pattern { text, is_regex, case_sensitive: true, word: false, multiline };
        Finder::new(&pattern).unwrap().matching_lines(haystack).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn each_matching_line_counts_once() {
        assert_eq!(lines("a", "aa\nb\na", false, false), [1, 3]);
        assert_eq!(lines("^", "x\n\ny\n", true, false), [1, 2, 3]);
        assert_eq!(lines("$", "x\n\ny", true, false), [1, 2, 3]);
        assert_eq!(lines("x*", "", true, false), [1_u32; 0]);
    }

    #[test]
    fn a_match_never_crosses_a_line_unless_asked() {
        assert_eq!(lines(r"a\s+b", "a\nb\na b\n", true, false), [3]);
        assert_eq!(lines(r"a\s+b", "a\nb\na b\n", true, true), [1, 2, 3]);
        assert_eq!(lines(r"b\n", "a\nb\nc\n", true, true), [2]);
        assert_eq!(lines(r"[^x]+y", "a\nb\nzy\n", true, false), [3]);
    }
}
