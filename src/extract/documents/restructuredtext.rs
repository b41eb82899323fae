//! reStructuredText: its text as it is, and the headings and tables in it.
//!
//! Owns which lines are titles, by the rules of docutils' parser: a title begins a block, and its line of punctuation is long enough.

use unicode_width::UnicodeWidthStr;

use super::rst_inline::Definitions;
use super::{Heading, Outline, Table};
use crate::model::RepoPath;

/// A shorter row of punctuation must be as long as its title.
const LONG_ROW: usize = 4;
const MOST_LEVELS: usize = 9;

pub(super) fn outline(text: &str, _: &RepoPath) -> Outline {
    let mut lines = Vec::new();
    let mut definitions = Definitions::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        definitions.add(line.trim_end());
        lines.push(Line { at, text: line.trim_end() });
        at += line.len();
    }
    let mut source = Source {
        lines,
        definitions,
        next: 0,
        end: text.len(),
        styles: Vec::new(),
        level: 0,
        outline: Outline::default(),
    };
    while source.next < source.lines.len() {
        source.take_block();
    }
    source.outline
}

#[derive(Clone, Copy, Default)]
struct Line<'t> {
    at: usize,
    text: &'t str,
}

struct Source<'t> {
    lines: Vec<Line<'t>>,
    definitions: Definitions<'t>,
    next: usize,
    end: usize,
    /// The characters of titles, and whether they are above them too, in the order of their first use: that is their level.
    styles: Vec<(char, bool)>,
    /// The level of the last title.
    level: usize,
    outline: Outline,
}

impl<'t> Source<'t> {
    /// A line of the text, empty behind its end.
    fn line(&self, number: usize) -> &'t str {
        self.lines.get(number).map_or("", |line| line.text)
    }

    /// Goes to the next line that begins a block. What is indented belongs to the block above.
    fn take_block(&mut self) {
        let (line, below) = (self.line(self.next), self.line(self.next + 1));
        if line.is_empty() || line.starts_with(char::is_whitespace) || begins_body_element(line, below) {
            self.next += 1;
        } else if line.starts_with(">>> ") || line == ">>>" {
            self.skip_paragraph();
        } else if is_grid(line, '-') || is_simple_border(line) {
            self.take_table();
        } else if let Some(sign) = row_of(line)
            && (self.has_title_below(line) || line.len() >= LONG_ROW)
        {
            if self.has_title_below(line) {
                self.add(sign, true, below);
                self.next += 3;
            } else {
                // A line between paragraphs.
                self.next += if below.is_empty() { 1 } else { 2 };
            }
        } else if let Some(sign) = row_of(below).filter(|_| is_long_enough(below, line)) {
            self.add(sign, false, line);
            self.next += 2;
        } else {
            self.skip_paragraph();
        }
    }

    /// Whether a title and the same row follow a row.
    fn has_title_below(&self, row: &str) -> bool {
        let (title, below) = (self.line(self.next + 1), self.line(self.next + 2));
        !title.is_empty() && row_of(title).is_none() && below == row && is_long_enough(row, title)
    }

    /// Adds a title, unless its level is more than one below the last: that is an error, and no section begins.
    fn add(&mut self, sign: char, is_overlined: bool, title: &str) {
        let style = (sign, is_overlined);
        let place = self.styles.iter().position(|known| *known == style).unwrap_or(self.styles.len());
        if place > self.level {
            return;
        }
        if place == self.styles.len() {
            self.styles.push(style);
        }
        self.level = place + 1;
        let level = u8::try_from(self.level.min(MOST_LEVELS)).unwrap_or(1);
        let at = self.lines[self.next].at;
        self.outline.headings.push(Heading { at, level, title: self.definitions.shown(title) });
    }

    /// A paragraph ends at a blank or an indented line; below one that ends with `::`, quoted lines are literal.
    fn skip_paragraph(&mut self) {
        let mut last = "";
        while !self.line(self.next).is_empty()
            && (last.is_empty() || !self.line(self.next).starts_with(char::is_whitespace))
        {
            last = self.line(self.next);
            self.next += 1;
        }
        if last.ends_with("::") {
            while self.next < self.lines.len() && self.line(self.next).is_empty() {
                self.next += 1;
            }
            while self.line(self.next).starts_with(|c: char| c.is_ascii_punctuation()) {
                self.next += 1;
            }
        }
    }

    /// A table and the names of its columns, which are above a border of their own.
    fn take_table(&mut self) {
        let start = self.next;
        let is_grid_table = is_grid(self.line(start), '-');
        let (mut borders, mut number) = (vec![start], start + 1);
        while number < self.lines.len() {
            let line = self.line(number);
            if is_grid_table {
                if line.is_empty() {
                    break;
                }
                if is_grid(line, '=') {
                    borders.push(number);
                }
            } else if is_simple_border(line) || row_of(line) == Some('=') {
                borders.push(number);
                if self.line(number + 1).is_empty() && borders.len() > 1 {
                    number += 1;
                    break;
                }
            }
            number += 1;
        }
        let is_closed = is_grid_table || borders.len() > 1;
        self.next = if is_closed { number } else { start + 1 };
        let has_header = borders.len() > usize::from(!is_grid_table) + 1;
        if let (true, [first, second, ..]) = (is_closed && has_header, borders.as_slice()) {
            let names: Vec<String> = self.lines[first + 1..*second].iter().map(|line| cells(line.text)).collect();
            let from = self.lines.get(second + 1).map_or(self.end, |line| line.at);
            let to = self.lines.get(self.next).map_or(self.end, |line| line.at);
            self.outline.tables.extend(Table::new(from..to.max(from), &names.join(" ")));
        }
    }
}

/// The cells of a row, with a bar between them.
fn cells(row: &str) -> String {
    let between = if row.starts_with('|') { "|" } else { "  " };
    let cells = row.split(between).map(str::trim).filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().join(" | ")
}

/// The sign that a row is made of.
fn row_of(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.chars().all(|c| c == sign).then_some(sign)
}

fn is_long_enough(row: &str, title: &str) -> bool {
    title.width() <= row.len() || row.len() >= LONG_ROW
}

fn is_grid(line: &str, sign: char) -> bool {
    line.len() > 3
        && line.starts_with('+')
        && line.ends_with('+')
        && line.chars().all(|c| c == '+' || c == sign)
        && line.contains(sign)
}

fn is_simple_border(line: &str) -> bool {
    line.starts_with('=') && line.contains(" =") && line.chars().all(|c| matches!(c, '=' | ' '))
}

/// Whether a line begins an item, a field, an option, a line block or markup such as a directive.
fn begins_body_element(line: &str, below: &str) -> bool {
    let is_marked =
        |marker: &str| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    ["..", "__", "|", "-", "+", "*", "•", "‣", "⁃"].into_iter().any(is_marked)
        || is_enumerated(line, below)
        || is_field(line)
        || is_option(line, below)
}

/// `1.`, `a)`, `(iv)`, `#.`: an item unless unindented text that is not the next one follows.
fn is_enumerated(line: &str, below: &str) -> bool {
    let has_enumerator = |line: &str| {
        let word = line.split(' ').next().unwrap_or_default();
        let inner = word.strip_prefix('(').and_then(|word| word.strip_suffix(')'));
        let Some(inner) = inner.or_else(|| word.strip_suffix(['.', ')'])) else { return false };
        let is_roman = |letters: &str| inner.chars().all(|c| letters.contains(c));
        inner == "#"
            || (inner.len() == 1 && inner.chars().all(|c| c.is_ascii_alphabetic()))
            || !inner.is_empty()
                && (inner.bytes().all(|byte| byte.is_ascii_digit()) || is_roman("ivxlcdm") || is_roman("IVXLCDM"))
    };
    has_enumerator(line) && (below.is_empty() || below.starts_with(char::is_whitespace) || has_enumerator(below))
}

/// `:name: value`; `:role:`text`` is not one.
fn is_field(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(':').filter(|rest| !rest.starts_with([':', ' '])) else { return false };
    rest.match_indices(':').any(|(at, _)| {
        let (name, behind) = (&rest[..at], &rest[at + 1..]);
        !name.is_empty() && !name.ends_with([' ', '\\']) && (behind.is_empty() || behind.starts_with(' '))
    })
}

/// `-a`, `--all`, `/V`, with what it means behind two spaces or below.
fn is_option(line: &str, below: &str) -> bool {
    let name = line.strip_prefix("--").or_else(|| line.strip_prefix(['-', '/', '+']));
    let is_name = name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphanumeric()));
    is_name && (line.contains("  ") || (below.starts_with(' ') && !line.contains(". ")))
}
