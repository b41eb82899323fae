//! Definitions that the grammar did not read: those in the bodies of macros, and those around errors.
//!
//! Owns what is parsed again, and how. A macro's body is parsed as a text of its own. Where a tree has errors, the lines
//! that show a definition (`languages::heads`) are compared with what was found. Each that is missing is parsed without
//! what surrounds it: first its head with an empty body, if need be with the words blanked that the grammar may not
//! know, then all of it. Positions stay those of the text: blanked words keep their length. What the grammar cannot read
//! even so is a symbol by its head alone.
//!
//! Work is bounded: at most [`BUDGET`] times the text, and [`MIN_BUDGET`] bytes, are parsed again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter;
use std::ops::Range;
use std::slice;

use foldhash::fast::RandomState;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::blocks::Blocks;
use super::captures::Compiled;
use super::columns::{Column, begins_constraint, columns};
use super::found_nodes::FoundNodes;
use super::languages::heads::{self, Layout};
use super::scopes::Scope;
use super::source;
use super::syntax::Syntax;

/// At most this many times the size of the text is parsed again.
const BUDGET: usize = 4;
/// A small file may have many damaged definitions, each parsed again to its end.
const MIN_BUDGET: usize = 20_000;
/// Cost of one more parse, as bytes of text.
const PARSE_BYTES: usize = 64;
/// The most bytes of a head between its name and its body.
const HEAD_BYTES: usize = 4_000;

/// A line that shows a definition.
struct Head {
    start: usize,
    name: Range<usize>,
    /// Kind of the definition, if the line shows it.
    kind: Option<&'static str>,
}

/// A head and what belongs to it.
struct RecoveredItem {
    head: Head,
    /// The braces of its body.
    body: Option<Range<usize>>,
    end: usize,
    /// How far it reaches at least where it is read right.
    reach: usize,
}

/// How much of a head is blanked.
#[derive(Clone, Copy)]
enum Blanked {
    Nothing,
    /// Unknown words before the name.
    Before,
    /// Unknown words before and after the name.
    Around,
    /// Unknown words before the name, and everything after it.
    After,
}

const ATTEMPTS: [Blanked; 4] = [Blanked::Nothing, Blanked::Before, Blanked::Around, Blanked::After];

/// Adds to `found` the definitions that the tree of the text lacks. `source` is what was parsed of it, in these
/// `parts`.
pub(super) fn recover(
    compiled: &Compiled,
    text: &str,
    source: &[u8],
    parts: &[Range<usize>],
    syntax: &Syntax,
    found: &mut FoundNodes,
) {
    let Some(heads) = &compiled.heads else { return };
    let is_suspect = |word: &&str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    let is_damaged = syntax.has_errors() || !found.misread.is_empty() || heads.always.iter().any(is_suspect);
    if !is_damaged && found.items.is_empty() {
        return;
    }
    let left = text.len().saturating_mul(BUDGET).saturating_add(MIN_BUDGET);
    let delimiters = if heads.layout == Layout::Statement { delimiters(text) } else { Vec::new() };
    let mut again = PartParser { compiled, heads, text, source, masked: Vec::new(), left, delimiters };
    let damaged_items = again.read_items(found);
    let damaged = if is_damaged { parts } else { damaged_items.as_slice() };
    if !damaged.is_empty() {
        let mut quoted = syntax.quoted();
        // MySQL executes these comments.
        quoted.retain(|range| heads.layout != Layout::Statement || !text[range.start..].starts_with("/*!"));
        again.read_missing(damaged, quoted.clone(), found);
        if heads.layout == Layout::Statement {
            again.read_columns(damaged, &quoted, found);
        }
    }
}

/// Parses parts of a text again.
struct PartParser<'a> {
    compiled: &'a Compiled,
    heads: &'a heads::Compiled,
    text: &'a str,
    /// Text to parse: as long as `text`.
    source: &'a [u8],
    /// The text with words blanked; empty before the first is.
    masked: Vec<u8>,
    /// Bytes that may still be parsed.
    left: usize,
    delimiters: Vec<(usize, &'a str)>,
}

impl PartParser<'_> {
    /// Parses some ranges as one text; returns what they define, and whether they have errors.
    fn read(&mut self, ranges: &[Range<usize>]) -> Option<(FoundNodes, bool)> {
        let bytes: usize = ranges.iter().map(|range| range.len() + PARSE_BYTES).sum();
        let Some(left) = self.left.checked_sub(bytes) else {
            self.left = 0;
            return None;
        };
        self.left = left;
        let text = if self.masked.is_empty() { self.source } else { self.masked.as_slice() };
        let syntax = Syntax::parse_ranges(&self.compiled.grammar, text, ranges)?;
        Some((FoundNodes::collect(self.compiled, &syntax, self.text), syntax.has_errors()))
    }

    /// Reads the bodies of macros as texts; returns those with errors.
    fn read_items(&mut self, found: &mut FoundNodes) -> Vec<Range<usize>> {
        let mut damaged = Vec::new();
        let mut open = std::mem::take(&mut found.items);
        while let Some(brackets) = open.pop() {
            let body = brackets.start + 1..brackets.end.saturating_sub(1);
            if body.is_empty() || !self.heads.pattern.is_match(&self.text[body.clone()]) {
                continue;
            }
            let Some((mut items, has_errors)) = self.read(slice::from_ref(&body)) else { break };
            open.append(&mut items.items);
            items.misread.clear();
            found.append(items);
            if has_errors {
                damaged.push(body);
            }
        }
        damaged
    }

    /// Reads the definitions that lines of these ranges show and `found` lacks.
    fn read_missing(&mut self, damaged: &[Range<usize>], quoted: Vec<Range<usize>>, found: &mut FoundNodes) {
        let mut defined = found.names();
        let mut heads = self.heads_outside(&quoted, damaged);
        heads.retain(|head| !defined.contains(&head.name.start));
        if heads.is_empty() {
            return;
        }
        heads.sort_by_key(|head| head.start);
        let blocks = Blocks::find(self.text, quoted);
        self.masked = self.source.to_vec();
        let mut pieces: Vec<(Range<usize>, FoundNodes)> = Vec::new();
        // Up to where a piece without errors reaches.
        let mut clean = 0;
        for head in heads {
            if head.start < clean || defined.contains(&head.name.start) {
                continue;
            }
            let Some(piece) = self.piece(head, &blocks) else { continue };
            let Some(head_alone) = self.read_head(&piece).or_else(|| piece.by_head(self.text)) else { continue };
            defined.extend(head_alone.names());
            let whole = piece.head.start..piece.end;
            match self.read(slice::from_ref(&whole)) {
                // What was found before must not be lost for it.
                Some((mut read, has_errors)) if read.replaces(&piece, &defined) => {
                    self.read_items(&mut read);
                    if !has_errors && read.misread.is_empty() {
                        clean = piece.end;
                    }
                    defined.extend(read.names());
                    pieces.push((whole, read));
                }
                _ => pieces.push((whole.start..whole.start, head_alone)),
            }
        }
        let replaced: Vec<Range<usize>> = pieces.iter().map(|(range, _)| range.clone()).collect();
        found.forget(&replaced);
        found.forget_misread(&defined);
        for (at, (range, mut piece)) in pieces.into_iter().enumerate() {
            let nested = &replaced[at + 1..];
            let nested = &nested[..nested.partition_point(|inner| inner.start < range.end)];
            piece.forget(nested);
            piece.forget_misread(&defined);
            (piece.items, piece.misread) = (Vec::new(), Vec::new());
            found.append(piece);
        }
        self.end_by_indent(&blocks, found);
    }

    /// Statements contain no later ones, and columns are those that their statements list.
    fn read_columns(&self, damaged: &[Range<usize>], quoted: &[Range<usize>], found: &mut FoundNodes) {
        let heads = self.heads_outside(quoted, damaged);
        // By the name that a statement creates: its end, and the columns that it defines where it may have some.
        let mut statements: BTreeMap<usize, (usize, Option<Vec<Column>>)> = BTreeMap::new();
        for (at, head) in heads.iter().enumerate() {
            let Some(kind) = head.kind else { continue };
            let (name, later) = (&head.name, &heads[at + 1..]);
            let start_of = |next: Option<&Head>| next.map_or(self.text.len(), |next| next.start);
            let (end, list) = match kind {
                // Its body may have statements, but none that makes such a body.
                "function" | "trigger" | "event" | "namespace" => {
                    let end = self.statement_end(name.end, self.text.len());
                    let has_body = |next: &&Head| matches!(next.kind, Some("function" | "trigger" | "event" | "type"));
                    (start_of(later.iter().filter(has_body).find(|next| next.start >= end)), None)
                }
                "table" | "view" | "type" | "index" => {
                    let list = columns(self.text, after_quote(self.text, name.end), kind);
                    let end = self.statement_end(name.end, start_of(later.first()));
                    // In the body of a function, a semicolon ends it, whatever ends that.
                    (statement_end(&self.text[..end], after_quote(self.text, name.end), ";"), list)
                }
                _ => (start_of(later.first()), None),
            };
            statements.insert(name.start, (end, list));
        }
        let list_at = |at: usize| {
            let (_, (end, list)) = statements.range(..at).next_back()?;
            list.as_ref().filter(|_| at < *end)
        };
        let mut known: HashSet<usize, RandomState> = HashSet::default();
        found.scopes.retain_mut(|(_, scope)| {
            let at = scope.name.start;
            if let Some((end, list)) = statements.get(&at) {
                if let Some(list) = list.as_ref().filter(|_| scope.range.end > *end) {
                    let range = scope.range.start..*end;
                    let open = self.text[at..*end].find('(').filter(|_| !list.is_empty());
                    let body = open.map(|open| at + open);
                    scope.head = Some(source::Head::find(&range, body, self.text, scope.name.end, false));
                }
                scope.range.end = if list.is_some() { *end } else { scope.range.end.min(*end) };
                return true;
            }
            if scope.kind == Some("field")
                && let Some(list) = list_at(at)
            {
                let Some(Column { name, item, .. }) = list.iter().find(|column| column.name.start == at) else {
                    return false;
                };
                scope.name = name.clone();
                if scope.range.start > item.start || scope.range.end > item.end {
                    scope.range = item.clone();
                    scope.head = Some(source::Head::find(item, None, self.text, name.end, false));
                }
            }
            known.insert(at);
            true
        });
        for column in statements.into_values().filter_map(|(_, list)| list).flatten() {
            if column.has_type && !known.contains(&column.name.start) {
                let mut scope = Scope::without_symbol(column.item.clone(), column.name.clone());
                scope.kind = Some("field");
                scope.head = Some(source::Head::find(&column.item, None, self.text, column.name.end, false));
                found.scopes.push((usize::MAX, scope));
            }
        }
    }

    /// Where a statement ends whose name ends at `at`, at most at `limit`.
    fn statement_end(&self, at: usize, limit: usize) -> usize {
        let before = self.delimiters.partition_point(|(start, _)| *start < at);
        let delimiter = before.checked_sub(1).map_or(";", |before| self.delimiters[before].1);
        statement_end(&self.text[..limit], after_quote(self.text, at), delimiter)
    }

    /// Definitions next to errors end where their lines do, if indents show that.
    fn end_by_indent(&self, blocks: &Blocks, found: &mut FoundNodes) {
        let closed_by = match self.heads.layout {
            Layout::Indent => None,
            Layout::End => Some("end"),
            _ => return,
        };
        for (_, scope) in &mut found.scopes {
            if scope.kind.is_some_and(|kind| self.heads.kinds.contains(&Some(kind))) {
                let (end, _) = blocks.indented(self.text, &scope.name, closed_by);
                scope.range.end = scope.range.end.min(end.max(scope.name.end));
            }
        }
    }

    /// The lines of some ranges that show definitions, outside of comments and strings.
    fn heads_outside(&self, quoted: &[Range<usize>], ranges: &[Range<usize>]) -> Vec<Head> {
        let heads = ranges.iter().flat_map(|range| self.heads_in(range.clone()));
        heads.filter(|head| !holds(quoted, head.name.start)).collect()
    }

    fn heads_in(&self, range: Range<usize>) -> impl Iterator<Item = Head> {
        let bytes = self.text.as_bytes();
        let input = Input::new(self.text).range(range);
        self.heads.pattern.find_iter(input).filter_map(move |found| {
            let head = &bytes[found.range()];
            let indent = head.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let is_letter = |byte: &&u8| is_of_name(**byte) || self.heads.letters.contains(byte);
            let length = head.iter().rev().take_while(is_letter).count();
            let mut name = found.end() - length..found.end();
            if self.heads.layout == Layout::Statement {
                name.end = quoted_end(bytes, &name);
            }
            let follows = |after: &Regex| after.is_match(Input::new(bytes).range(name.end..).anchored(Anchored::Yes));
            // The text of a macro defines nothing in the file.
            let is_continued = bytes[..found.start()].ends_with(b"\\\n") || bytes[..found.start()].ends_with(b"\\\r\n");
            // `@protocol Harbour;` only says that there is one.
            let is_forward = self.heads.layout == Layout::Directive
                && bytes[found.start()..].starts_with(b"@protocol")
                && matches!(bytes[name.end..].trim_ascii_start().first(), Some(b';' | b','));
            let kind = self.heads.kinds[found.pattern().as_usize()];
            let is_constraint = || kind == Some("field") && begins_constraint(&self.text[name.clone()]);
            let is_head = !is_continued
                && !is_forward
                && !is_constraint()
                && self.text.is_char_boundary(name.end)
                && self.heads.after.as_ref().is_none_or(follows);
            is_head.then(|| Head { start: found.start() + indent, name, kind })
        })
    }

    /// Where a head's body is, and its end.
    fn piece(&self, head: Head, blocks: &Blocks) -> Option<RecoveredItem> {
        let at = head.name.end;
        let (end, reach) = match self.heads.layout {
            Layout::Braces => return self.piece_in_braces(head, blocks),
            Layout::Directive if !self.text[head.start..].starts_with('@') => {
                return self.piece_in_braces(head, blocks);
            }
            Layout::Directive => {
                let end = memchr::memmem::find(&self.text.as_bytes()[at..], b"\n@end")?;
                (at + end + 5, at + end)
            }
            Layout::Indent => blocks.indented(self.text, &head.name, None),
            Layout::End => blocks.indented(self.text, &head.name, Some("end")),
            Layout::Statement => {
                let end = self.statement_end(at, self.text.len());
                (end, at)
            }
        };
        Some(RecoveredItem { head, body: None, end, reach })
    }

    fn piece_in_braces(&self, head: Head, blocks: &Blocks) -> Option<RecoveredItem> {
        let (open, end) = blocks.after_head(self.text, &head.name, self.heads.stops, HEAD_BYTES);
        let body = open.and_then(|open| Some(open..blocks.close(open)? + 1));
        if body.is_none() && (!self.heads.stops.is_empty() || open.is_some()) {
            return None;
        }
        let end = body.as_ref().map_or(end, |body| body.end);
        Some(RecoveredItem { head, body, end, reach: end })
    }

    /// Reads the head with an empty body; returns its definitions if they include its name. The head then stays blanked
    /// as in the attempt that succeeded.
    fn read_head(&mut self, piece: &RecoveredItem) -> Option<FoundNodes> {
        let RecoveredItem { head, body, end, reach } = piece;
        let until_body = head.start..body.as_ref().map_or(*end, |body| body.start + 1);
        let ranges: Vec<_> = iter::once(until_body).chain(body.as_ref().map(|body| body.end - 1..body.end)).collect();
        for attempt in ATTEMPTS {
            if !self.blank(head, ranges[0].end - usize::from(body.is_some()), attempt) {
                continue;
            }
            let (read, _) = self.read(&ranges)?;
            if read.reaches(head.name.start, *reach) {
                return Some(read);
            }
        }
        let whole = head.start..ranges[0].end;
        self.masked[whole.clone()].copy_from_slice(&self.source[whole]);
        None
    }

    /// Blanks words of a head that ends before `end`, and no others; whether there are any.
    fn blank(&mut self, head: &Head, end: usize, blanked: Blanked) -> bool {
        let (before, after) = (head.start..head.name.start, head.name.end..end);
        let whole = head.start..end;
        self.masked[whole.clone()].copy_from_slice(&self.source[whole]);
        let ranges = match blanked {
            Blanked::Nothing => return true,
            Blanked::Before | Blanked::After => vec![before],
            Blanked::Around => vec![before, after.clone()],
        };
        let mut words: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            words.extend(self.heads.noise.find_iter(Input::new(self.text).range(range)).map(|found| found.range()));
        }
        if matches!(blanked, Blanked::After) {
            words.push(after);
        }
        for byte in words.iter().flat_map(Clone::clone) {
            if self.masked[byte] != b'\n' {
                self.masked[byte] = b' ';
            }
        }
        !words.is_empty()
    }
}

impl RecoveredItem {
    /// Makes a symbol from a head that the grammar cannot read.
    fn by_head(&self, text: &str) -> Option<FoundNodes> {
        let Head { start, name, kind } = &self.head;
        let kind = (*kind)?;
        let word = &text[name.clone()];
        let is_word = ["unquote", "on", "authorization", "if"].iter().any(|known| word.eq_ignore_ascii_case(known));
        if is_word || word.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let range = *start..self.end.max(name.end);
        let mut scope = Scope::without_symbol(range.clone(), name.clone());
        scope.kind = Some(kind);
        scope.container = qualifier(text, name.start).into_iter().collect();
        scope.head = Some(source::Head::find(&range, self.body.as_ref().map(|body| body.start), text, name.end, false));
        // After all patterns: where one reads the name later, that counts.
        Some(FoundNodes { scopes: vec![(usize::MAX, scope)], ..FoundNodes::default() })
    }
}

/// The name before a name and its dot, without quotes around either.
fn qualifier(text: &str, at: usize) -> Option<Range<usize>> {
    const QUOTES: [char; 5] = ['"', '\'', '`', '[', ']'];
    let before = text[..at].trim_end_matches(QUOTES).strip_suffix('.')?.trim_end_matches(QUOTES);
    let length = before.bytes().rev().take_while(|byte| is_of_name(*byte)).count();
    (length > 0).then(|| before.len() - length..before.len())
}

/// Where a name ends that a quote before it begins.
fn quoted_end(bytes: &[u8], name: &Range<usize>) -> usize {
    let close = match name.start.checked_sub(1).map(|before| bytes[before]) {
        Some(b'[') => b']',
        Some(quote @ (b'"' | b'\'' | b'`')) => quote,
        _ => return name.end,
    };
    let rest = &bytes[name.end..];
    let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    memchr::memchr(close, &rest[..line]).map_or(name.end, |end| name.end + end)
}

/// Skips the quote that closes a name.
fn after_quote(text: &str, name_end: usize) -> usize {
    name_end + usize::from(text[name_end..].starts_with(['"', '\'', '`', ']']))
}

/// Lines of MySQL's client that set what ends a statement, each with that.
fn delimiters(text: &str) -> Vec<(usize, &str)> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some((word, mark)) = line.trim().split_once(char::is_whitespace)
            && word.eq_ignore_ascii_case("DELIMITER")
            && !mark.contains(['\'', '"', ' '])
        {
            found.push((start, mark.trim_start()));
        }
        start += line.len();
    }
    found
}

/// Where a statement of SQL ends: after its delimiter outside of quotes, and of blocks if it is a semicolon.
fn statement_end(text: &str, from: usize, delimiter: &str) -> usize {
    let bytes = text.as_bytes();
    let mut blocks = 0_usize;
    let mut at = from;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with(delimiter) && (blocks == 0 || delimiter != ";") {
            return at + delimiter.len();
        }
        let skipped = match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => memchr::memchr(quote, &bytes[at + 1..]).map(|end| end + 2),
            b'-' if rest.starts_with("--") => rest.find('\n'),
            b'/' if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            b'$' => rest[1..].find('$').filter(|end| rest[1..=*end].bytes().all(is_of_name)).and_then(|end| {
                let mark = &rest[..end + 2];
                rest[mark.len()..].find(mark).map(|close| close + 2 * mark.len())
            }),
            byte if is_of_name(byte) => {
                let length = rest.bytes().take_while(|byte| is_of_name(*byte)).count();
                let next = rest[length..].split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                match rest[..length].to_ascii_uppercase().as_str() {
                    "BEGIN" | "CASE" if !next.starts_with(';') => blocks += 1,
                    "END" if !matches!(next.trim_end_matches(';'), "IF" | "LOOP" | "WHILE" | "REPEAT" | "FOR") => {
                        blocks = blocks.saturating_sub(1);
                    }
                    "GO" if rest[length..].starts_with(['\r', '\n']) && text[..at].ends_with('\n') => return at,
                    _ => {}
                }
                Some(length)
            }
            _ => None,
        };
        at += skipped.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    text.trim_end().len().max(from)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether one of the ranges, which are in order and apart, contains `at`.
fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    before > 0 && ranges[before - 1].end > at
}

impl FoundNodes {
    /// Where the names of definitions and scopes start, without those that were misread: a type behind an unknown word
    /// looks like a variable.
    fn names(&self) -> BTreeSet<usize> {
        let misread: HashSet<usize, RandomState> = self.misread.iter().copied().collect();
        let named = self.scopes.iter().filter(|(_, scope)| !matches!(scope.kind, Some("variable" | "field")));
        named.map(|(_, scope)| scope.name.start).filter(|name| !misread.contains(name)).collect()
    }

    /// Whether the definition whose name starts at `name` reaches to `end`.
    fn reaches(&self, name: usize, end: usize) -> bool {
        let is_it = |scope: &Scope| scope.name.start == name && scope.range.end >= end;
        self.scopes.iter().any(|(_, scope)| is_it(scope)) && !self.misread.contains(&name)
    }

    /// Whether these hold a whole piece, with all that is known to be defined in it.
    fn replaces(&self, piece: &RecoveredItem, defined: &BTreeSet<usize>) -> bool {
        let names = self.names();
        self.reaches(piece.head.name.start, piece.reach)
            && defined.range(piece.head.start..piece.end).all(|name| names.contains(name))
    }

    /// Drops what starts within one of the ranges, which are in order of their starts.
    fn forget(&mut self, ranges: &[Range<usize>]) {
        let mut outermost: Vec<Range<usize>> = Vec::new();
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            if outermost.last().is_none_or(|last| last.end <= range.start) {
                outermost.push(range.clone());
            }
        }
        if outermost.is_empty() {
            return;
        }
        let stays = |at: usize| !holds(&outermost, at);
        self.scopes.retain(|(_, scope)| stays(scope.name.start));
        self.locals.retain(|block| stays(block.start));
        self.bindings.retain(|name| stays(name.start));
        self.references.retain(|(_, _, name)| stays(name.start));
        self.heritage.retain(|(_, heritage)| stays(heritage.target.start));
        self.imports.retain(|(_, import)| stays(import.module.start));
    }

    /// Drops what was misread and is defined now.
    fn forget_misread(&mut self, defined: &BTreeSet<usize>) {
        self.misread.retain(|name| defined.contains(name));
        let misread: HashSet<usize, RandomState> = self.misread.drain(..).collect();
        if !misread.is_empty() {
            self.scopes.retain(|(_, scope)| !misread.contains(&scope.name.start));
        }
    }

    /// Keeps only what starts within one of the ranges, which are in order and apart.
    pub(super) fn keep_within(&mut self, ranges: &[Range<usize>]) {
        let stays = |at: usize| holds(ranges, at);
        self.scopes.retain(|(_, scope)| stays(scope.range.start) && stays(scope.range.end.saturating_sub(1)));
        self.locals.retain(|block| stays(block.start));
        self.bindings.retain(|name| stays(name.start));
        self.references.retain(|(_, _, name)| stays(name.start));
        self.heritage.retain(|(_, heritage)| stays(heritage.target.start));
        self.imports.retain(|(_, import)| stays(import.module.start));
        self.items.retain(|items| stays(items.start));
        self.misread.retain(|name| stays(*name));
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.scopes.append(&mut other.scopes);
        self.locals.append(&mut other.locals);
        self.bindings.append(&mut other.bindings);
        self.references.append(&mut other.references);
        self.heritage.append(&mut other.heritage);
        self.imports.append(&mut other.imports);
        self.items.append(&mut other.items);
        self.misread.append(&mut other.misread);
    }
}
