//! The text of a document, built block by block.
//!
//! Owns white space: words are one space apart, lines end at LF, blocks are one blank line apart, whatever the format
//! had. Readers say where blocks, lines, cells and headings begin and end.

use std::ops::Range;

use super::{Document, Heading, MOST_TEXT, Outline, Table};
use crate::model::SkipReason;

/// A longer heading is a paragraph in a large font.
const MAX_TITLE_CHARS: usize = 200;
/// HTML 4.9.11: a cell is in no more columns. Cells that reach into rows below are not followed in columns after these.
const MAX_COLUMNS: usize = 1000;

#[derive(Default)]
pub(super) struct Flow {
    text: String,
    outline: Outline,
    problems: Vec<String>,
    /// White space between the text and the next word.
    gap: Gap,
    /// White space that counts where more text follows on the line.
    held: String,
    /// Where the description of the last picture is, up to the end of the line below it.
    picture: Option<Range<usize>>,
    /// Where the last paragraph of code ended, and the white space before another one.
    code: Option<(usize, Gap)>,
    /// Whether the last word ends with a soft hyphen: the next line continues it.
    is_divided: bool,
    heading: Option<(u8, usize)>,
    table: OpenTable,
    columns: Columns,
    is_overfull: bool,
}

/// The outermost table that is open.
#[derive(Default)]
struct OpenTable {
    depth: usize,
    rows: usize,
    /// Where its first row begins.
    start: usize,
    /// How many rows are names of columns, and where they end.
    header: (usize, usize),
    /// Whether the format marks the open row as names of columns, where it says so.
    is_header: Option<bool>,
}

/// Which columns the cells of the innermost open table are in.
#[derive(Default)]
struct Columns {
    /// The columns of the open cell, of the next cell, and of the last text in the row.
    open: usize,
    next: usize,
    written: usize,
    /// For each column, into how many more rows a cell above reaches.
    covered: Vec<usize>,
    /// Whether the row was split: its rest is on its own line.
    is_broken: bool,
    /// Whether the table only places its cells on the page: an empty one means nothing.
    is_layout: bool,
}

impl Columns {
    fn next_row(&mut self) {
        self.covered.iter_mut().skip(self.next).for_each(|rows| *rows = rows.saturating_sub(1));
        (self.open, self.next, self.written, self.is_broken) = (0, 0, 0, false);
    }

    fn next_cell(&mut self) {
        while let Some(rows) = self.covered.get_mut(self.next).filter(|rows| **rows > 0) {
            *rows -= 1;
            self.next += 1;
        }
        (self.open, self.next) = (self.next, self.next + 1);
    }

    /// Returns the bars between the cell of the last text and the open cell, one for each column.
    fn bars(&mut self, begins_line: bool) -> usize {
        let columns = self.open - std::mem::replace(&mut self.written, self.open);
        match (std::mem::take(&mut self.is_broken), self.is_layout) {
            (true, _) => 0,
            (false, true) => columns.min(usize::from(!begins_line)),
            (false, false) => columns.min(MAX_COLUMNS),
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
    Block,
}

impl Flow {
    /// Running text, in which white space means no more than a space.
    pub fn words(&mut self, text: &str) {
        let mut parts = text.split(is_space);
        if let Some(first) = parts.next() {
            self.put(first);
        }
        for part in parts {
            self.part(Gap::Space);
            self.put(part);
        }
    }

    /// The next line of a paragraph: a word that was divided to fit is put together again.
    pub fn next_line(&mut self, text: &str) {
        let is_divided = self.gap == Gap::Nothing
            && self.text.strip_suffix('-').is_some_and(|before| before.ends_with(char::is_alphabetic))
            && text.starts_with(char::is_lowercase);
        if is_divided {
            self.text.pop();
        } else if self.gap != Gap::Nothing || !self.is_divided {
            self.line();
        }
        self.words(text);
    }

    /// Text whose lines and spaces count. A line may come in pieces.
    pub fn verbatim(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                // Nothing has come since the last line ended.
                self.part(if self.gap >= Gap::Line { Gap::Block } else { Gap::Line });
            }
            let shown = line.trim_end();
            if !shown.is_empty() {
                let before = std::mem::take(&mut self.held);
                self.put(&(before + shown));
            }
            self.held.push_str(&line[shown.len()..]);
        }
    }

    /// A paragraph of [`Self::verbatim`] begins: one or more lines of a piece of code. It continues the paragraph before it.
    pub fn begin_code(&mut self) {
        if let Some((_, gap)) = self.code.filter(|(end, _)| *end == self.text.len()) {
            self.gap = gap;
        }
    }

    /// Such a paragraph ends; one without text is a blank line.
    pub fn end_code(&mut self) {
        self.verbatim("\n");
        self.code = Some((self.text.len(), self.gap));
    }

    /// Whether the next word would be a part of the last one.
    pub fn ends_with_word(&self) -> bool {
        self.gap == Gap::Nothing && self.held.is_empty() && self.text.ends_with(char::is_alphanumeric)
    }

    /// Whether the last line with text says just that.
    pub fn ends_with_line(&self, text: &str) -> bool {
        let line = self.text.trim_end().rsplit('\n').next().unwrap_or_default();
        line.split(is_space).eq(text.split(is_space).filter(|word| !word.is_empty()))
    }

    pub fn space(&mut self) {
        self.part(Gap::Space);
    }

    /// The next cell of a row begins. It is in the column that it has in the table: each empty or covered one before it counts.
    pub fn cell(&mut self) {
        self.part(Gap::Space);
        self.columns.next_cell();
    }

    /// The open cell, before its text, is in several columns, and reaches into rows below.
    pub fn span(&mut self, columns: usize, rows: usize) {
        let Columns { open, next, covered, .. } = &mut self.columns;
        *next = *open + columns.clamp(1, MAX_COLUMNS);
        if rows > 1 && *next <= MAX_COLUMNS {
            covered.resize(covered.len().max(*next), 0);
            covered[*open..*next].fill(rows - 1);
        }
    }

    /// The open row begins with columns that it has no cells for.
    pub fn skip_columns(&mut self, columns: usize) {
        self.columns.next += columns.min(MAX_COLUMNS);
    }

    /// Rows begin that no cell above extends into.
    pub fn row_group(&mut self) {
        self.columns.covered.clear();
    }

    /// The table that has begun only places its cells on the page.
    pub fn mark_layout(&mut self) {
        self.columns.is_layout = true;
    }

    pub fn line(&mut self) {
        self.part(Gap::Line);
    }

    pub fn block(&mut self) {
        self.part(Gap::Block);
    }

    /// Begins what a picture shows, up to [`Self::end_picture`]. A caption that says the same is not repeated.
    pub fn begin_picture(&mut self) {
        self.space();
        self.break_now();
        self.picture = Some(self.text.len()..self.text.len());
    }

    pub fn end_picture(&mut self) {
        if let Some(picture) = &mut self.picture {
            picture.end = self.text.len();
        }
        self.space();
    }

    /// Takes a line back that only repeats what the picture before it shows.
    fn end_line(&mut self) {
        let Some(picture) = self.picture.take() else { return };
        let line = self.text[picture.end..].trim();
        let is_heading =
            self.heading.is_some() || self.outline.headings.last().is_some_and(|heading| heading.at >= picture.end);
        if line.is_empty() {
            self.picture = Some(picture);
        } else if line == self.text[picture.clone()].trim() && !is_heading && self.table.depth == 0 {
            self.text.truncate(picture.end);
        }
    }

    pub fn begin_table(&mut self) {
        self.table.depth += 1;
        self.columns = Columns::default();
        if self.table.depth == 1 {
            self.table = OpenTable { depth: 1, ..OpenTable::default() };
        }
    }

    /// The next row of a table begins.
    pub fn row(&mut self) {
        self.end_row();
        if self.table.depth == 1 {
            if self.table.rows == 0 {
                self.table.start = self.text.len();
            }
            self.table.rows += 1;
        }
        self.line();
        self.columns.next_row();
    }

    /// Whether the open row, or a cell of it, is marked as names of columns.
    pub fn mark_row(&mut self, is_header: bool) {
        if self.table.depth == 1 {
            self.table.is_header = Some(self.table.is_header.unwrap_or(true) && is_header);
        }
    }

    pub fn end_table(&mut self) {
        self.end_row();
        // In a row around the table, its cell is not the last one.
        self.columns = Columns { next: 1, ..Columns::default() };
        self.block();
        if self.table.depth == 1 {
            let OpenTable { start, header: (_, end), .. } = std::mem::take(&mut self.table);
            let names = self.text.get(start..end).unwrap_or_default();
            self.outline.tables.extend(Table::new(end..self.text.len(), names));
        }
        self.table.depth = self.table.depth.saturating_sub(1);
    }

    /// The first rows are names of columns if the format says so; where it says nothing, the first is if it has one in each cell.
    fn end_row(&mut self) {
        let OpenTable { depth: 1, rows, start, header, is_header } = &mut self.table else { return };
        let row = self.text[*start..].trim();
        let is_names = || {
            *rows == 1
                && row.contains(" | ")
                && row.split(" | ").all(|cell| is_name(cell.trim_start_matches(['|', ' '])))
        };
        if *rows == header.0 + 1 && is_header.take().unwrap_or_else(is_names) {
            *header = (*rows, self.text.len());
        }
        *is_header = None;
    }

    /// Begins a heading, which lasts up to [`Self::end_heading`].
    pub fn begin_heading(&mut self, level: u8) {
        self.end_heading();
        self.block();
        self.heading = Some((level.max(1), self.text.len()));
    }

    pub fn end_heading(&mut self) {
        let Some((level, from)) = self.heading.take() else { return };
        let at = from + self.text[from..].len() - self.text[from..].trim_start().len();
        let title = self.text[at..].split_whitespace().collect::<Vec<_>>().join(" ");
        if !title.is_empty() && title.chars().count() <= MAX_TITLE_CHARS {
            self.outline.headings.push(Heading { at, level, title });
        }
        self.block();
    }

    pub fn heading(&mut self, level: u8, title: &str) {
        self.begin_heading(level);
        self.words(title);
        self.end_heading();
    }

    /// The next page begins.
    pub fn page(&mut self) {
        self.block();
        self.break_now();
        self.outline.pages.push(self.text.len());
    }

    pub fn problem(&mut self, problem: &str) {
        if !self.problems.iter().any(|known| known == problem) {
            self.problems.push(problem.to_owned());
        }
    }

    pub fn finish(mut self) -> Result<Document, SkipReason> {
        self.end_heading();
        self.end_line();
        if self.is_overfull {
            return Err(SkipReason::Overfull);
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        Ok(Document { text: self.text, outline: self.outline, problems: self.problems, encoding: None })
    }

    pub fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    fn part(&mut self, gap: Gap) {
        self.held.clear();
        self.gap = self.gap.max(gap);
        self.columns.is_broken |= gap >= Gap::Line;
    }

    fn put(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.is_divided = piece.ends_with('\u{ad}');
        }
        // Characters that only say how to set the text, and would keep words from being found.
        let mut shown = piece.chars().filter(|c| !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}' | '\0')).peekable();
        if shown.peek().is_none() {
            return;
        }
        if self.text.len() + piece.len() > MOST_TEXT {
            self.is_overfull = true;
            return;
        }
        self.break_now();
        self.text.extend(shown);
    }

    fn break_now(&mut self) {
        if self.gap >= Gap::Line {
            self.end_line();
        }
        let gap = std::mem::take(&mut self.gap);
        let is_at_line = self.text.is_empty() || self.text.ends_with('\n');
        match gap {
            _ if self.text.is_empty() => {}
            Gap::Space if !is_at_line => self.text.push(' '),
            Gap::Line if !is_at_line => self.text.push('\n'),
            Gap::Block if !self.text.ends_with("\n\n") => self.text.push_str(if is_at_line { "\n" } else { "\n\n" }),
            _ => {}
        }
        let bars = self.columns.bars(is_at_line || gap >= Gap::Line);
        self.text.push_str(&"| ".repeat(bars));
    }
}

/// Whether a cell of a table's first row reads as a name of its column, and not as a value.
pub(super) fn is_name(cell: &str) -> bool {
    let cell = cell.trim();
    !cell.is_empty() && cell.parse::<f64>().is_err()
}

/// A no-break space also separates words.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{a0}'
}
