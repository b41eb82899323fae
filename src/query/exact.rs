//! Literal and regular-expression search: what ripgrep finds in the same text, line by line.
//!
//! Owns the scan over stored text: of all files, or where the substring index stands, of those that have the trigrams that
//! the pattern needs ([`need`]). One thread reads the database, the others search; hits come back in path and line order,
//! and only those of the page asked for are kept. How many lines each file had is remembered for the next page.

mod finder;
mod need;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender};

use self::finder::Finder;
use super::{Hit, Page, PathFilter, preview};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::{FileId, LineCounts, Need, Snapshot, TextVersion};

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

/// Texts between the reader and the searchers.
const IN_FLIGHT: usize = 64;

/// With the substring index every matching line is counted if no more text than this is to be searched; else the search
/// ends with the page, for counting would take longer than answering.
const COUNTED_BYTES: u64 = 16 << 20;
/// More candidates than this are told apart by one look at all paths.
const LOOKED_UP: usize = 2_000;

/// How long to wait for the other side before the budget is looked at again.
const PAUSE: Duration = Duration::from_millis(50);

/// How many lines around a hit may be asked for.
pub const MAX_CONTEXT: u32 = 20;

struct FileText {
    ordinal: usize,
    path: String,
    version: TextVersion,
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
    version: TextVersion,
    count: usize,
    lines: Vec<Line>,
}

/// Shows where a pattern matches in the lines that were found.
pub struct Spans(Finder);

impl Spans {
    pub fn of(pattern: &Pattern) -> Result<Self> {
        Ok(Self(Finder::compile(pattern)?.0))
    }

    pub fn within(&self, line: &str) -> Vec<Range<usize>> {
        self.0.spans(line)
    }
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
    let (finder, need) = Finder::compile(pattern)?;
    let scope = Scope::of(snapshot, &need, filter)?;
    let wanted = offset.saturating_add(limit);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (send_text, texts) = crossbeam_channel::bounded::<FileText>(IN_FLIGHT);
    let (send_lines, lines) = crossbeam_channel::unbounded::<FileLines>();
    let counts = snapshot.line_counts(&format!("{pattern:?}"));
    let mut window =
        Window { offset, wanted, next_file: 0, seen: 0, waiting: BTreeMap::new(), kept: Vec::new(), counts };
    // Not scoped: a searcher deep in a costly match is left behind when the time is up, and ends by itself.
    for _ in 0..threads {
        let (texts, send_lines, finder, budget) = (texts.clone(), send_lines.clone(), finder.clone(), budget.clone());
        std::thread::spawn(move || {
            search_texts(&finder, &texts, &send_lines, context.min(MAX_CONTEXT), wanted, &budget);
        });
    }
    drop((texts, send_lines));
    let sent = send_texts(snapshot, &scope, &mut window, &lines, &send_text, budget)?;
    // The searchers end when there is no more text to come.
    drop(send_text);
    loop {
        match lines.recv_timeout(PAUSE) {
            Ok(found) => window.take(found),
            Err(RecvTimeoutError::Timeout) => budget.check()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    budget.check()?;
    if window.next_file < sent {
        return Err(Error::internal("a search ended before its last file"));
    }
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
    Ok(Page { items, total: (sent == scope.files.len()).then_some(window.seen), next_offset: more.then_some(next) })
}

/// Which files are searched, in path order.
struct Scope {
    files: Vec<(String, FileId)>,
    /// Whether all their lines are counted; else the search ends with the page.
    is_counted: bool,
}

impl Scope {
    fn of(snapshot: &Snapshot, need: &Need, filter: &PathFilter) -> Result<Self> {
        let candidates = snapshot.files_that_may_have(need)?;
        let mut files = Vec::new();
        match candidates {
            Some(candidates) if candidates.len() <= LOOKED_UP => {
                let mut bytes = 0;
                for id in candidates {
                    let (path, size) = snapshot.path_and_size(id)?;
                    if filter.admits(&path) {
                        bytes += size;
                        files.push((path, id));
                    }
                }
                files.sort_unstable();
                Ok(Self { files, is_counted: bytes <= COUNTED_BYTES })
            }
            candidates => {
                let candidates: Option<HashSet<FileId>> = candidates.map(|ids| ids.into_iter().collect());
                snapshot.each_path(|path, id| {
                    if candidates.as_ref().is_none_or(|ids| ids.contains(&id)) && filter.admits(path) {
                        files.push((path.to_owned(), id));
                    }
                })?;
                Ok(Self { files, is_counted: !snapshot.has_trigrams()? })
            }
        }
    }
}

/// Reads the texts that may have a line to show or to count, and hands them on; gives how many files that were.
fn send_texts(
    snapshot: &Snapshot,
    scope: &Scope,
    window: &mut Window,
    lines: &Receiver<FileLines>,
    send: &Sender<FileText>,
    budget: &Budget,
) -> Result<usize> {
    for (at, (path, id)) in scope.files.iter().enumerate() {
        lines.try_iter().for_each(|found| window.take(found));
        if !scope.is_counted && window.seen > window.wanted {
            return Ok(at);
        }
        budget.check()?;
        let (ordinal, path, version) = (at + 1, path.clone(), snapshot.text_version(*id)?);
        if let Some(count) = window.counts.of(&version).filter(|count| window.is_aside(ordinal, *count)) {
            window.take(FileLines { ordinal, path, version, count, lines: Vec::new() });
        } else {
            hand_on(FileText { ordinal, path, version, text: snapshot.file_text(*id)? }, send, budget)?;
        }
    }
    Ok(scope.files.len())
}

/// Waits until a searcher has room, or the budget is spent.
fn hand_on(mut file: FileText, send: &Sender<FileText>, budget: &Budget) -> Result<()> {
    loop {
        match send.send_timeout(file, PAUSE) {
            Err(SendTimeoutError::Timeout(unsent)) => file = unsent,
            // Nobody is left to search: the budget is spent, or the count of files will tell.
            Ok(()) | Err(SendTimeoutError::Disconnected(_)) => return budget.check(),
        }
        budget.check()?;
    }
}

fn search_texts(
    finder: &Finder,
    texts: &Receiver<FileText>,
    send: &Sender<FileLines>,
    context: u32,
    wanted: usize,
    budget: &Budget,
) {
    for file in texts {
        let Ok(numbers) = finder.matching_lines(&file.text, budget) else { return };
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
        let FileText { ordinal, path, version, .. } = file;
        let found = FileLines { ordinal, path, version, count: numbers.len(), lines };
        if send.send(found).is_err() {
            return;
        }
    }
}

/// Puts files back into order and keeps the lines of one page.
struct Window {
    offset: usize,
    /// Where the page ends.
    wanted: usize,
    /// The last file that was taken, by ordinal; files count from 1.
    next_file: usize,
    seen: usize,
    waiting: BTreeMap<usize, FileLines>,
    kept: Vec<(String, Line)>,
    counts: LineCounts,
}

impl Window {
    fn take(&mut self, found: FileLines) {
        self.counts.set(found.version, found.count);
        self.waiting.insert(found.ordinal, found);
        while let Some(found) = self.waiting.remove(&(self.next_file + 1)) {
            self.next_file += 1;
            for (at, line) in (self.seen..).zip(found.lines) {
                if (self.offset..self.wanted).contains(&at) {
                    self.kept.push((found.path.clone(), line));
                }
            }
            self.seen += found.count;
        }
    }

    /// Whether none of that many lines of a file can be on the page, as far as is known of the files before it.
    fn is_aside(&self, ordinal: usize, count: usize) -> bool {
        let is_before = ordinal == self.next_file + 1 && self.seen + count <= self.offset;
        count == 0 || is_before || self.seen >= self.wanted
    }
}
