//! ODT: the paragraphs and headings of a text document of LibreOffice and similar programs, its notes and comments at the end.

use std::collections::HashMap;

use super::Document;
use super::archive::{self, Archive};
use super::flow::Flow;
use super::math::{self, Formula};
use super::xml::{self, Attributes, BoxedReader, Piece};
use crate::model::SkipReason;

/// Text that was taken back, what is made from the headings elsewhere, programs, numbers of headings and
/// items, which programs count themselves, and cells below another, whose columns and rows that one has.
const NOT_SHOWN: &[&str] = &["tracked-changes", "table-of-content", "forms", "script", "number", "covered-table-cell"];

/// The style of a document's title.
const TITLE: &str = "Title";
/// The style of text whose spaces and lines count, as it is written in a file.
const CODE: &str = "Preformatted_20_Text";
/// Styles that a style is based on, in a row.
const DEEPEST_STYLE: usize = 64;
/// More spaces in a row are no indentation.
const MAX_SPACES: usize = 200;

/// The author and the time of a comment (OpenDocument 1.3, part 3, 14.1).
const OF_COMMENTS: &[&str] = &["creator", "creator-initials", "sender-initials", "date", "date-string"];

/// Text that is anchored in a paragraph, in a frame or in a drawn shape.
const BOXES: &[&str] = &[
    "text-box",
    "custom-shape",
    "rect",
    "ellipse",
    "circle",
    "line",
    "polyline",
    "polygon",
    "regular-polygon",
    "path",
    "connector",
    "caption",
    "measure",
];

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let mut archive = Archive::open(bytes)?;
    if archive.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(SkipReason::Encrypted);
    }
    let content = archive.needed("content.xml")?;
    let mut styles = Styles::default();
    styles.add(&content)?;
    let mut flow = Flow::default();
    let named = archive.part("styles.xml").and_then(|named| named.map_or(Ok(()), |named| styles.add(&named)));
    archive::unless_broken(named, "styles.xml", &mut flow)?;
    take(&content, false, &styles, &mut archive, &mut flow)?;
    take(&content, true, &styles, &mut archive, &mut flow)?;
    flow.finish()
}

/// The styles of paragraphs. Those that a program ships have the same names in every language.
#[derive(Default)]
struct Styles {
    /// Formatting of single paragraphs, and the style that they have otherwise.
    automatic: HashMap<String, String>,
    /// Styles, and those that they are based on.
    based_on: HashMap<String, String>,
}

impl Styles {
    fn add(&mut self, part: &str) -> Result<(), SkipReason> {
        let mut is_automatic = false;
        xml::walk(part, &mut |piece| match piece {
            Piece::Open("automatic-styles", _) => is_automatic = true,
            Piece::Close("automatic-styles") => is_automatic = false,
            Piece::Open("style", attributes) => {
                if let (Some(name), Some(parent)) = (attributes.get("name"), attributes.get("parent-style-name")) {
                    let styles = if is_automatic { &mut self.automatic } else { &mut self.based_on };
                    styles.insert(name, parent);
                }
            }
            _ => {}
        })
    }

    /// The style that a person gave a paragraph.
    fn named<'s>(&'s self, style: &'s str) -> &'s str {
        self.automatic.get(style).map_or(style, String::as_str)
    }

    fn is_code(&self, style: &str) -> bool {
        let chain =
            std::iter::successors(Some(self.named(style)), |style| self.based_on.get(*style).map(String::as_str));
        chain.take(DEEPEST_STYLE).any(|style| style == CODE)
    }
}

/// Adds the text without its notes, whose numbers are in brackets, and comments; or only these.
fn take(
    content: &str,
    of_notes: bool,
    styles: &Styles,
    archive: &mut Archive,
    flow: &mut Flow,
) -> Result<(), SkipReason> {
    let mut paragraphs = Paragraphs { flow, styles, archive, of_notes, state: State::default() };
    xml::walk_with_boxes(content, &["p", "h"], &mut paragraphs)
}

struct Paragraphs<'f, 'b> {
    flow: &'f mut Flow,
    styles: &'f Styles,
    archive: &'f mut Archive<'b>,
    of_notes: bool,
    state: State,
}

/// Which elements are open.
#[derive(Default)]
struct State {
    hidden: usize,
    cells: usize,
    notes: usize,
    frames: usize,
    in_number: bool,
    in_comment: bool,
    in_header: bool,
    in_heading: bool,
    in_code: bool,
    /// The reading (ruby) of the words before it.
    reading: String,
    in_reading: bool,
    formula: Option<Formula>,
}

impl BoxedReader for Paragraphs<'_, '_> {
    fn begins_box(&self, name: &str) -> bool {
        self.state.hidden == 0 && self.state.notes == 0 && BOXES.contains(&name)
    }

    fn take(&mut self, piece: Piece) {
        // A heading is named without the numbers of its notes.
        let has_number = !self.of_notes && !self.state.in_heading && self.state.hidden == 0;
        let is_shown =
            self.state.hidden == 0 && ((self.state.notes > 0) == self.of_notes || (self.state.in_number && has_number));
        if let Some(mut formula) = self.state.formula.take() {
            if matches!(piece, Piece::Close("math")) {
                self.flow.words(&formula.text());
            } else {
                formula.take(&piece);
                self.state.formula = Some(formula);
            }
            return;
        }
        match piece {
            Piece::Open(name, attributes) => {
                self.state.hidden += usize::from(self.hides(name));
                self.open(name, attributes, has_number, is_shown);
            }
            Piece::Close(name) => {
                self.close(name, has_number, is_shown);
                self.state.hidden = self.state.hidden.saturating_sub(usize::from(self.hides(name)));
            }
            Piece::Text(text) if is_shown && self.state.in_reading => self.state.reading.push_str(text),
            Piece::Text(text) if is_shown && self.state.in_code => self.flow.verbatim(&on_one_line(text)),
            Piece::Text(text) if is_shown => self.flow.words(text),
            Piece::Text(_) => {}
        }
    }
}

/// White space of a file means one space (OpenDocument 1.3, part 3, 6.1.2); that which counts is in elements.
fn on_one_line(text: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut line = String::with_capacity(text.len());
    for c in text.chars().map(|c| if is_space(c) { ' ' } else { c }) {
        if c != ' ' || !line.ends_with(' ') {
            line.push(c);
        }
    }
    line
}

impl Paragraphs<'_, '_> {
    fn hides(&self, name: &str) -> bool {
        NOT_SHOWN.contains(&name) || (self.state.in_comment && OF_COMMENTS.contains(&name))
    }

    fn open(&mut self, name: &str, attributes: &Attributes, has_number: bool, is_shown: bool) {
        match name {
            "note" => self.state.notes += 1,
            "annotation" => {
                self.state.notes += 1;
                self.state.in_comment = true;
                if self.of_notes && self.state.hidden == 0 {
                    self.flow.block();
                }
            }
            "note-citation" => {
                self.state.in_number = true;
                if has_number {
                    self.flow.words("[");
                } else if self.of_notes && self.state.hidden == 0 {
                    self.flow.block();
                }
            }
            "note-body" if self.of_notes => self.flow.space(),
            "frame" => self.state.frames += 1,
            _ if !is_shown || self.state.hidden > 0 => {}
            "h" => {
                let level = attributes.get("outline-level").and_then(|level| level.parse().ok());
                self.flow.begin_heading(level.unwrap_or(1));
                self.state.in_heading = true;
            }
            // What is in a cell stays in the line of its row, what is in a note in its line.
            "p" if self.state.cells > 0 || self.of_notes => self.flow.space(),
            "p" => {
                let style = attributes.get("style-name").unwrap_or_default();
                self.flow.block();
                if self.styles.named(&style) == TITLE {
                    self.flow.begin_heading(1);
                    self.state.in_heading = true;
                } else if self.styles.is_code(&style) {
                    self.flow.begin_code();
                    self.state.in_code = true;
                }
            }
            "s" if self.state.in_code => {
                let spaces = attributes.get("c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.flow.verbatim(&" ".repeat(spaces.min(MAX_SPACES)));
            }
            "tab" if self.state.in_code => self.flow.verbatim("\t"),
            "line-break" if self.state.in_code => self.flow.verbatim("\n"),
            "s" | "tab" => self.flow.space(),
            "math" => self.state.formula = Some(Formula::default()),
            "object" => self.embedded(&attributes.get("href").unwrap_or_default()),
            // For a picture.
            "title" | "desc" if self.state.frames > 0 => self.flow.space(),
            "ruby-text" => self.state.in_reading = true,
            "line-break" if self.state.cells > 0 => self.flow.space(),
            "line-break" => self.flow.line(),
            "table" => self.flow.begin_table(),
            "table-header-rows" => self.state.in_header = true,
            "table-row" => {
                self.flow.row();
                if self.state.in_header {
                    self.flow.mark_row(true);
                }
            }
            "table-cell" => {
                self.state.cells += 1;
                self.flow.cell();
                let number = |name: &str| attributes.get(name).and_then(|number| number.parse().ok()).unwrap_or(1);
                let columns = number("number-columns-spanned").max(number("number-columns-repeated"));
                self.flow.span(columns, number("number-rows-spanned"));
            }
            _ => {}
        }
    }

    /// Adds the formula in an object, which is a document in a folder of this archive (OpenDocument 1.3, part 3, 10.4.6.2).
    fn embedded(&mut self, folder: &str) {
        let folder = folder.strip_prefix("./").unwrap_or(folder).trim_end_matches('/');
        let name = format!("{folder}/content.xml");
        let read = self.archive.part(&name).and_then(|part| part.map_or(Ok(None), |part| math::read(&part)));
        match archive::unless_broken(read, &name, self.flow) {
            Ok(formula) => self.flow.words(&formula.flatten().unwrap_or_default()),
            Err(_) => self.flow.problem("a formula was not read: the document is too large"),
        }
    }

    fn close(&mut self, name: &str, has_number: bool, is_shown: bool) {
        match name {
            "note" => self.state.notes = self.state.notes.saturating_sub(1),
            "annotation" => {
                self.state.notes = self.state.notes.saturating_sub(1);
                self.state.in_comment = false;
            }
            "note-citation" => {
                self.state.in_number = false;
                if has_number {
                    self.flow.words("]");
                }
            }
            "frame" => self.state.frames = self.state.frames.saturating_sub(1),
            _ if !is_shown => {}
            "h" | "p" if self.state.in_heading => {
                self.flow.end_heading();
                self.state.in_heading = false;
            }
            "ruby-text" => {
                self.state.in_reading = false;
                let reading = std::mem::take(&mut self.state.reading);
                self.flow.words(&format!("({reading})"));
            }
            "p" if std::mem::take(&mut self.state.in_code) => self.flow.end_code(),
            "p" if self.state.cells == 0 && !self.of_notes => self.flow.line(),
            "title" | "desc" if self.state.frames > 0 => self.flow.space(),
            "table-header-rows" => self.state.in_header = false,
            "table-cell" => self.state.cells = self.state.cells.saturating_sub(1),
            "table" => self.flow.end_table(),
            _ => {}
        }
    }
}
