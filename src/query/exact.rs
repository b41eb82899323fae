//! Literal and regular-expression search: what ripgrep finds in the same text, line by line.
//!
//! Owns the scan over stored text: of all files, or, once the substring index is complete, of those that have the
//! trigrams that the pattern needs ([`need`]). One thread reads the database, the others search; a small amount of text
//! is searched by the reading thread alone. Hits come back in path and line order, and only those of the page asked for
//! are kept. How many lines each file had is remembered for the next page. While an update runs, files that are not
//! indexed yet are searched on disk, by the same threads and rules.

mod finder;
mod need;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender};

use self::finder::{Finder, MatchedLine};
use super::qualified_name::qualified_name;
use super::{Hit, Page, PathFilter, preview};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::store::{Candidate, LineCounts, Named, Snapshot, TrigramNeed};
use crate::threads::{WorkList, cores, on_threads};

/// A text or regular expression to look for, with how the caller wants it matched.
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

/// Texts in flight between the reader and the searchers.
const IN_FLIGHT: usize = 64;

/// With the substring index every matching line is counted if no more text than this is to be searched; otherwise the
/// search ends with the page, because counting would take longer than answering.
const COUNTED_BYTES: u64 = 16 << 20;
/// No more text than this is searched for a literal by the thread that reads it: starting others takes longer.
const SEARCHED_WHILE_READ: u64 = 1 << 20;
/// More candidates than this are filtered by one scan of all paths.
const LOOKED_UP: usize = 2_000;

/// How long to wait for the other side before the budget is checked again.
const PAUSE: Duration = Duration::from_millis(50);

/// How many lines around a hit may be asked for.
pub const MAX_CONTEXT: u32 = 20;

/// Files on disk that the index does not show as they are. Rows of these files are ignored.
pub trait DiskFiles: Send + Sync {
    /// The path of a file by its number, in path order; `None` after the last one.
    fn path(&self, number: usize) -> Option<&str>;
    /// Whether the rows of that file do not show what is on disk.
    fn is_outdated(&self, path: &str) -> bool;
    /// The text that will be indexed; `None` if there is none, or if `may_match` rejects it.
    fn text(&self, number: usize, may_match: &dyn Fn(&str) -> bool) -> Option<String>;
    /// The qualified names of the innermost symbols around lines, which ascend.
    fn symbols_around(&self, number: usize, lines: &[u32]) -> Vec<Option<String>>;
}

/// Where the text of a file is.
#[derive(Clone)]
enum Source {
    Index(Candidate),
    /// A file of [`DiskFiles`], by its number.
    Disk(usize),
}

struct FileText {
    ordinal: usize,
    source: Source,
    text: String,
}

/// Hits in files that are not indexed name the symbol around them for the first `ALWAYS_NAMED` files, and for further
/// ones that are parsed within `NAMED_WITHIN`.
const ALWAYS_NAMED: usize = 10;
const NAMED_WITHIN: Duration = Duration::from_millis(500);

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
    source: Source,
    count: usize,
    lines: Vec<Line>,
    /// The buffer of the text, for the next text.
    buffer: String,
}

/// Shows where a pattern matches in the lines that were found.
pub struct Spans(Finder);

impl Spans {
    pub fn compile(pattern: &Pattern) -> Result<Self> {
        Ok(Self(Finder::compile(pattern)?.0))
    }

    pub fn within(&self, line: &str) -> Vec<Range<usize>> {
        self.0.spans(line)
    }
}

/// Literals that every file in which the pattern matches contains, for systems that search texts for literals: all of one of the lists, in
/// any case of ASCII letters. `None` if the pattern has too few letters in a row.
pub fn literals(pattern: &Pattern) -> Result<Option<Vec<Vec<String>>>> {
    Ok(need::literals(&Finder::parse(pattern)?))
}

/// Literals that a file in which a name is written contains: all of one list, in any case of ASCII letters.
pub fn literals_of_name(name: &str) -> Option<Vec<Vec<String>>> {
    need::literals_of_name(name)
}

/// The page at `offset` of all matching lines, in path and line order, in the index and in the files that it lacks.
pub fn search(
    snapshot: &Snapshot,
    disk: Option<&Arc<dyn DiskFiles>>,
    pattern: &Pattern,
    filter: &PathFilter,
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let (finder, need) = Finder::compile(pattern)?;
    let wanted = offset.saturating_add(limit);
    let threads = cores();
    let (send_text, texts) = crossbeam_channel::bounded::<FileText>(IN_FLIGHT);
    let (send_lines, lines) = crossbeam_channel::unbounded::<FileLines>();
    let counts = snapshot.line_counts(&format!("{pattern:?}"));
    let window = Window { offset, wanted, next_file: 0, seen: 0, waiting: BTreeMap::new(), kept: Vec::new(), counts };
    let context = context.min(MAX_CONTEXT);
    let searcher = Searcher { finder, disk: disk.cloned(), context, wanted, budget: budget.clone() };
    let mut reader = Reader {
        searcher: searcher.clone(),
        is_literal: !pattern.is_regex,
        searches: false,
        start: Some(Box::new(move || {
            // Not scoped: a searcher deep in a costly match is left behind when the time is up, and ends by itself.
            for _ in 0..threads {
                let (texts, send_lines, searcher) = (texts.clone(), send_lines.clone(), searcher.clone());
                std::thread::spawn(move || searcher.search_all(&texts, &send_lines));
            }
        })),
        snapshot,
        disk: disk.map(|disk| &**disk),
        next_on_disk: 0,
        filter,
        budget,
        window,
        lines: &lines,
        send: &send_text,
        sent: 0,
        buffers: Vec::new(),
    };
    let complete = reader.read(&need)?;
    let (mut window, sent) = (reader.window, reader.sent);
    // The searchers end when there is no more text to come.
    drop((reader.start, send_text));
    loop {
        match lines.recv_timeout(PAUSE) {
            Ok(found) => drop(window.take(found)),
            Err(RecvTimeoutError::Timeout) => budget.check()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    budget.check()?;
    if window.next_file < sent {
        return Err(Error::internal("a search ended before its last file"));
    }
    let mut items = Vec::new();
    let named = disk.map(|disk| names_on_disk(&**disk, &window.kept, budget)).transpose()?;
    let mut named = named.map(Vec::into_iter);
    budget.check()?;
    for (source, lines) in window.kept {
        let numbers: Vec<u32> = lines.iter().map(|line| line.number).collect();
        let (path, names) = match (source, disk) {
            (Source::Index(file), _) => {
                let qualified = |named: Named| qualified_name(named.container.as_deref(), &named.name, &named.language);
                let names = snapshot.names_around(file.id, &numbers)?;
                (file.path, names.into_iter().map(|named| named.map(qualified)).collect())
            }
            (Source::Disk(number), Some(disk)) => {
                let names = named.as_mut().and_then(Iterator::next).flatten();
                let path = disk.path(number).unwrap_or_default().to_owned();
                (path, names.unwrap_or_else(|| vec![None; lines.len()]))
            }
            (Source::Disk(_), None) => continue,
        };
        items.extend(lines.into_iter().zip(names).map(|(line, symbol)| Hit {
            path: path.clone(),
            line: line.number,
            start_line: line.first,
            end_line: line.last,
            symbol,
            score: 1.0,
            preview: line.preview,
            parts: Vec::new(),
            similar: 0,
            similar_in: None,
            source: 0,
            commit: None,
        }));
    }
    let is_cut = offset.saturating_add(items.len()) < window.seen;
    Ok(Page { items, offset, total: complete.then_some(window.seen), is_cut })
}

/// The names around the lines of each file on disk, in order; `None` for those that there was no time for. Each file is parsed,
/// on all cores.
fn names_on_disk(
    disk: &dyn DiskFiles,
    kept: &[(Source, Vec<Line>)],
    budget: &Budget,
) -> Result<Vec<Option<Vec<Option<String>>>>> {
    let on_disk = kept.iter().filter_map(|(source, lines)| match source {
        Source::Disk(number) => Some((*number, lines.iter().map(|line| line.number).collect())),
        Source::Index(_) => None,
    });
    let files: Vec<(usize, Vec<u32>)> = on_disk.collect();
    let (list, begun) = (WorkList::new(&files), Instant::now());
    let in_time = |at: usize| at < ALWAYS_NAMED || begun.elapsed() < NAMED_WITHIN;
    let work = || {
        let mut own = Vec::new();
        while !budget.is_spent() {
            let Some((at, (number, lines))) = list.take().filter(|(at, _)| in_time(*at)) else { break };
            own.push((at, disk.symbols_around(*number, lines)));
        }
        own
    };
    let found = on_threads(list.threads(), work)?;
    let mut names = vec![None; files.len()];
    for (at, symbols) in found.into_iter().flatten() {
        names[at] = Some(symbols);
    }
    Ok(names)
}

/// Reads the texts that may have a line to show or to count, in path order, and hands them on.
struct Reader<'a> {
    searcher: Searcher,
    is_literal: bool,
    /// Whether this thread searches what it reads.
    searches: bool,
    /// Starts the searchers, when they are needed.
    start: Option<Box<dyn FnOnce()>>,
    snapshot: &'a Snapshot<'a>,
    disk: Option<&'a dyn DiskFiles>,
    next_on_disk: usize,
    filter: &'a PathFilter,
    budget: &'a Budget,
    window: Window,
    lines: &'a Receiver<FileLines>,
    send: &'a Sender<FileText>,
    /// How many files were dealt with.
    sent: usize,
    /// Buffers of searched texts.
    buffers: Vec<String>,
}

impl Reader<'_> {
    /// Whether all files were dealt with, so that all their lines are counted; else the search ended with the page.
    fn read(&mut self, need: &TrigramNeed) -> Result<bool> {
        let is_all = self.read_index(need)? && self.take_from_disk(None)?.is_continue();
        Ok(is_all && self.disk.is_none())
    }

    /// The files of the index, each after the files on disk with a smaller path.
    fn read_index(&mut self, need: &TrigramNeed) -> Result<bool> {
        let candidates = self.snapshot.candidates(need)?;
        if let Some(candidates) = &candidates
            && self.snapshot.most_candidates(candidates)? <= LOOKED_UP
        {
            let mut files = self.snapshot.candidate_files(candidates)?;
            files.retain(|file| self.filter.admits(&file.path));
            let bytes: u64 = files.iter().map(|file| file.bytes).sum();
            let is_counted = self.disk.is_none() && bytes <= COUNTED_BYTES;
            self.searches = self.disk.is_none() && self.is_literal && bytes <= SEARCHED_WHILE_READ;
            for file in files {
                if self.take(file, is_counted)?.is_break() {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let (snapshot, is_counted) = (self.snapshot, self.disk.is_none() && !self.snapshot.has_trigrams()?);
        let ended = snapshot.each_candidate(candidates.as_ref(), |file| {
            if self.filter.admits(&file.path) { self.take(file, is_counted) } else { Ok(ControlFlow::Continue(())) }
        })?;
        Ok(ended.is_continue())
    }

    fn take(&mut self, file: Candidate, is_counted: bool) -> Result<ControlFlow<()>> {
        if self.take_from_disk(Some(&file.path))?.is_break() || self.collect(is_counted)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.disk.is_some_and(|disk| disk.is_outdated(&file.path)) {
            return Ok(ControlFlow::Continue(()));
        }
        self.sent += 1;
        let ordinal = self.sent;
        if let Some(count) = self.window.counts.get(&file.version).filter(|count| self.window.is_aside(ordinal, *count))
        {
            let source = Source::Index(file);
            self.window.take(FileLines { ordinal, source, count, lines: Vec::new(), buffer: String::new() });
        } else {
            let mut text = self.buffers.pop().unwrap_or_default();
            text.clear();
            self.snapshot.read_text(file.id, &mut text)?;
            self.have_searched(FileText { ordinal, source: Source::Index(file), text })?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands on the files on disk up to a path, or all that are left.
    fn take_from_disk(&mut self, up_to: Option<&str>) -> Result<ControlFlow<()>> {
        let Some(disk) = self.disk else { return Ok(ControlFlow::Continue(())) };
        while let Some(path) = disk.path(self.next_on_disk).filter(|path| up_to.is_none_or(|end| *path < end)) {
            let number = self.next_on_disk;
            self.next_on_disk += 1;
            if !self.filter.admits(path) {
                continue;
            }
            if self.collect(false)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.sent += 1;
            self.have_searched(FileText { ordinal: self.sent, source: Source::Disk(number), text: String::new() })?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn have_searched(&mut self, file: FileText) -> Result<()> {
        if self.searches {
            match self.searcher.search(file) {
                Some(found) => self.buffers.push(self.window.take(found)),
                None => self.budget.check()?,
            }
            return Ok(());
        }
        if let Some(start) = self.start.take() {
            start();
        }
        hand_on(file, self.send, self.budget)
    }

    /// Takes what was found so far; a break once the page is full and no more lines are to be counted.
    fn collect(&mut self, is_counted: bool) -> Result<ControlFlow<()>> {
        for found in self.lines.try_iter() {
            self.buffers.push(self.window.take(found));
        }
        if !is_counted && self.window.seen > self.window.wanted {
            return Ok(ControlFlow::Break(()));
        }
        self.budget.check()?;
        Ok(ControlFlow::Continue(()))
    }
}

/// Waits until a searcher accepts the file, or the budget is spent.
fn hand_on(mut file: FileText, send: &Sender<FileText>, budget: &Budget) -> Result<()> {
    loop {
        match send.send_timeout(file, PAUSE) {
            Err(SendTimeoutError::Timeout(unsent)) => file = unsent,
            // No searcher is left: the budget is spent, or the count of files will show it.
            Ok(()) | Err(SendTimeoutError::Disconnected(_)) => return budget.check(),
        }
        budget.check()?;
    }
}

/// Searches texts.
#[derive(Clone)]
struct Searcher {
    finder: Finder,
    disk: Option<Arc<dyn DiskFiles>>,
    context: u32,
    wanted: usize,
    budget: Budget,
}

impl Searcher {
    fn search_all(&self, texts: &Receiver<FileText>, send: &Sender<FileLines>) {
        for file in texts {
            let Some(found) = self.search(file) else { return };
            if send.send(found).is_err() {
                return;
            }
        }
    }

    /// `None` if the budget is spent.
    fn search(&self, mut file: FileText) -> Option<FileLines> {
        let Self { finder, budget, .. } = self;
        if let (Source::Disk(number), Some(disk)) = (&file.source, &self.disk) {
            // A file whose search is not over at the deadline may match; the search of its text ends at once.
            let may_match = |text: &str| finder.matching_lines(text, budget).map_or(true, |lines| !lines.is_empty());
            file.text = disk.text(*number, &may_match).unwrap_or_default();
        }
        let matching = finder.matching_lines(&file.text, budget).ok()?;
        let lines = matching
            .iter()
            .take(self.wanted)
            .map(|&MatchedLine { number, start, at }| {
                let (before, around) = preview::around(&file.text, start, self.context);
                let first = number - before;
                let shown: Vec<String> = around.map(|line| preview::cut(line, at)).collect();
                let last = first + u32::try_from(shown.len()).unwrap_or(1).max(1) - 1;
                Line { number, first, last, preview: shown.join("\n") }
            })
            .collect();
        let FileText { ordinal, source, text } = file;
        Some(FileLines { ordinal, source, count: matching.len(), lines, buffer: text })
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
    kept: Vec<(Source, Vec<Line>)>,
    counts: LineCounts,
}

impl Window {
    /// Returns the buffer that the text had.
    fn take(&mut self, mut found: FileLines) -> String {
        let buffer = std::mem::take(&mut found.buffer);
        if let Source::Index(file) = &found.source {
            self.counts.set(file.version, found.count);
        }
        self.waiting.insert(found.ordinal, found);
        while let Some(found) = self.waiting.remove(&(self.next_file + 1)) {
            self.next_file += 1;
            let on_page = (self.seen..).zip(found.lines).filter(|(at, _)| (self.offset..self.wanted).contains(at));
            let lines: Vec<Line> = on_page.map(|(_, line)| line).collect();
            if !lines.is_empty() {
                self.kept.push((found.source, lines));
            }
            self.seen += found.count;
        }
        buffer
    }

    /// Whether none of a file's lines can be on the page, given the known counts of the files before it.
    fn is_aside(&self, ordinal: usize, count: usize) -> bool {
        let is_before = ordinal == self.next_file + 1 && self.seen + count <= self.offset;
        count == 0 || is_before || self.seen >= self.wanted
    }
}
