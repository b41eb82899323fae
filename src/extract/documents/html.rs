//! HTML as a page to be read: its text, block by block.
//!
//! Tags are handled in the order in which they come, open or closed, nested or not, as browsers do; no tree is kept. A
//! page that is XML is read as XML, in which an element without content, such as `<title/>`, ends where it begins.

use encoding_rs::Encoding;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{State, Token, Tokenizer};

use super::Document;
use super::flow::Flow;
use super::math::Formula;
use super::xml::{self, Piece};
use crate::model::SkipReason;

/// The namespace of XHTML.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// Elements that are not shown: those of an EPUB's `switch` are for programs that know more than XHTML, and parentheses around a
/// reading are written in any case. Scripts do not run, so `noscript` is shown.
const NOT_SHOWN: &[&str] = &["script", "style", "template", "iframe", "datalist", "case", "epub:case", "rp"];

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "legend",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "ul",
    "xmp",
];

/// Arrows of links from a note to the text, and what says how they are drawn.
const ARROWS_BACK: &[char] = &['↩', '↵', '⤴', '↑', '\u{fe0e}', '\u{fe0f}'];

/// Longer text is not how a few words are read.
const MAX_READING_BYTES: usize = 1000;

/// A page declares its encoding within this many bytes.
const DECLARED_WITHIN: usize = 2048;

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let (text, encoding) = decoded(bytes)?;
    let mut flow = Flow::default();
    take(&text, &mut flow);
    Ok(Document { encoding, ..flow.finish()? })
}

/// Decoded by its byte order mark, as UTF-8, as declared, or as detected.
pub(super) fn decoded(bytes: &[u8]) -> Result<(String, Option<&'static str>), SkipReason> {
    let is_marked = Encoding::for_bom(bytes).is_some();
    if !is_marked
        && std::str::from_utf8(bytes).is_err()
        && let Some(declared) = declared(&bytes[..bytes.len().min(DECLARED_WITHIN)])
        && let Some(text) = declared.decode_without_bom_handling_and_without_replacement(bytes)
    {
        return Ok((text.into_owned(), Some(declared.name())));
    }
    let decoded = super::super::text::decode(bytes)?;
    Ok((decoded.text.into_owned(), decoded.encoding))
}

fn declared(head: &[u8]) -> Option<&'static Encoding> {
    if let Some(declared) = xml::declared_encoding(head) {
        return Some(declared);
    }
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let name: String = after
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    Encoding::for_label(name.as_bytes())
}

/// Adds the text of a page, which begins with its title where it has no heading of its own.
pub(super) fn take(text: &str, flow: &mut Flow) {
    let mut page = Page::default();
    if is_xml(text) {
        let read = xml::walk(text, &mut |piece| match piece {
            _ if flow.is_overfull() => {}
            Piece::Open(name, attributes) => page.open(name, false, &|name| attributes.get(name), flow),
            Piece::Close(name) => page.close(name, flow),
            Piece::Text(text) => page.show(text, flow),
        });
        debug_assert!(read.is_ok(), "it is well-formed");
    } else {
        take_tags(text, &mut page, flow);
    }
    page.end_formula(flow);
    page.end_ruby(flow);
    flow.end_heading();
    flow.block();
}

/// Whether a page says that it is XML, and is.
fn is_xml(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(DECLARED_WITHIN)];
    (head.trim_start().starts_with("<?xml") || head.contains(XHTML)) && xml::is_well_formed(text)
}

fn take_tags(text: &str, page: &mut Page, flow: &mut Flow) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut tokens = Tokenizer::new_with_emitter(text, emitter);
    while let Some(Ok(token)) = tokens.next() {
        match token {
            Token::StartTag(tag) => {
                // HTML 13.2.6.4.7: without scripts, what is in it is a part of the page.
                if tag.name.as_slice() == b"noscript" {
                    tokens.set_state(State::Data);
                }
                let value = |name: &str| {
                    let value = tag.attributes.get(name.as_bytes())?;
                    Some(String::from_utf8_lossy(value).into_owned())
                };
                page.open(&String::from_utf8_lossy(&tag.name), tag.self_closing, &value, flow);
            }
            Token::EndTag(tag) => page.close(&String::from_utf8_lossy(&tag.name), flow),
            Token::String(text) => page.show(&String::from_utf8_lossy(&text), flow),
            _ => {}
        }
        if flow.is_overfull() {
            return;
        }
    }
}

#[derive(Default)]
struct Page {
    /// The element that hides what is in it, and how often it is open.
    hidden: Option<(String, usize)>,
    /// Until a heading says it or a word is shown.
    title: Option<String>,
    in_title: bool,
    in_pre: usize,
    in_sup: usize,
    in_heading: bool,
    in_note_reference: bool,
    after_note_reference: bool,
    /// The open link to a position in the document, other than one to a note.
    link: Option<Link>,
    /// Open drawings, and their open elements with text to be read: the rest of a drawing is lines, styles and names.
    in_drawing: usize,
    in_drawn_text: usize,
    /// The reading of the open `ruby`, written after its words so that it does not separate them.
    reading: Option<String>,
    in_reading: bool,
    formula: Option<Formula>,
    /// Whether the open formula is on a line of its own.
    is_displayed: bool,
}

struct Link {
    /// From a note to where it is referred to.
    leads_back: bool,
}

impl Link {
    /// Whether its text is not to be read: an arrow back from a note, or the sign by which a heading is linked.
    fn is_sign(&self, text: &str, in_heading: bool) -> bool {
        let is_back = || text.chars().all(|c| ARROWS_BACK.contains(&c) || c.is_whitespace());
        !text.trim().is_empty() && !text.contains(char::is_alphanumeric) && (self.leads_back || in_heading || is_back())
    }
}

impl Page {
    /// `is_empty` says that the tag closes its element itself, which hides nothing then.
    fn open(&mut self, name: &str, is_empty: bool, value: &dyn Fn(&str) -> Option<String>, flow: &mut Flow) {
        if let Some((hiding, depth)) = &mut self.hidden {
            *depth += usize::from(hiding == name && !is_empty);
            return;
        }
        if let Some(formula) = &mut self.formula {
            // HTML 13.2.6.5: an element of a page ends a formula whose own end is missing.
            if formula.is_hidden() || !BLOCKS.contains(&name) {
                formula.open(name, value);
                if is_empty {
                    formula.close(name);
                }
                return;
            }
            self.end_formula(flow);
        }
        if self.reading.is_some() && (BLOCKS.contains(&name) || matches!(name, "li" | "tr" | "td" | "th")) {
            self.end_ruby(flow);
        }
        // WAI-ARIA 1.2, 6.6: it decorates, or repeats something, as KaTeX does with the text of a formula.
        let is_repeated = || name == "span" && value("aria-hidden").is_some_and(|is_hidden| is_hidden == "true");
        if !is_empty && (NOT_SHOWN.contains(&name) || is_repeated()) {
            self.hidden = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "svg" => {
                self.in_drawing += 1;
                flow.space();
            }
            "text" | "foreignobject" | "foreignObject" if self.in_drawing > 0 => {
                self.in_drawn_text += 1;
                flow.line();
            }
            // A part of a drawn text that has its own position is a line or a column.
            "tspan" if value("x").or_else(|| value("y")).is_some() => flow.space(),
            "ruby" => self.reading = self.reading.take().or_else(|| Some(String::new())),
            "rt" => self.in_reading = self.reading.is_some(),
            "rb" => self.in_reading = false,
            _ if self.is_drawing() => {}
            "math" if !is_empty => {
                self.formula = Some(Formula::default());
                self.is_displayed = value("display").is_some_and(|display| display == "block");
                if self.is_displayed {
                    flow.line();
                }
            }
            "title" => {
                self.in_title = true;
                self.title = Some(String::new());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.title = None;
                flow.begin_heading(name.as_bytes()[1] - b'0');
                self.in_heading = true;
            }
            "br" | "li" | "option" => flow.line(),
            "thead" | "tbody" | "tfoot" => flow.row_group(),
            "tr" => flow.row(),
            "td" | "th" => {
                flow.mark_row(name == "th");
                flow.cell();
                let number = |name: &str| value(name).and_then(|number| number.trim().parse().ok());
                // HTML 4.9.11: 0 is up to the end of the group of rows.
                let rows = number("rowspan").map_or(1, |rows| if rows == 0 { usize::MAX } else { rows });
                flow.span(number("colspan").unwrap_or(1), rows);
            }
            "table" => {
                flow.block();
                flow.begin_table();
                // WAI-ARIA 1.2, 5.4: it is not a table.
                if value("role").is_some_and(|role| matches!(role.as_str(), "presentation" | "none")) {
                    flow.mark_layout();
                }
            }
            "img" => {
                if let Some(shown) = value("alt").filter(|alt| !alt.trim().is_empty()) {
                    flow.begin_picture();
                    self.show(&shown, flow);
                    flow.end_picture();
                }
            }
            "button" => flow.space(),
            "sup" => self.in_sup += 1,
            "a" => {
                let is_of = |kind: &str| {
                    ["type", "role", "epub:type"].iter().any(|name| value(name).is_some_and(|is| is.contains(kind)))
                };
                let is_internal = value("href").is_some_and(|href| href.contains('#'));
                let is_note = is_internal && (self.in_sup > 0 || is_of("noteref"));
                self.link = (is_internal && !is_note).then(|| Link { leads_back: is_of("backlink") });
                if is_note {
                    // A number that is a link would be of the word before it, and a heading is named without it.
                    self.in_note_reference = true;
                    flow.space();
                    if self.in_heading {
                        self.hidden = Some((name.to_owned(), 1));
                    }
                }
            }
            "pre" => {
                self.in_pre += 1;
                flow.block();
            }
            _ if BLOCKS.contains(&name) => flow.block(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, flow: &mut Flow) {
        if let Some((hiding, depth)) = &mut self.hidden {
            *depth -= usize::from(hiding == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match (&mut self.formula, name) {
            (Some(_), "math") => return self.end_formula(flow),
            (Some(formula), name) => return formula.close(name),
            _ => {}
        }
        match name {
            "svg" => {
                self.in_drawing = self.in_drawing.saturating_sub(1);
                if self.in_drawing == 0 {
                    self.in_drawn_text = 0;
                }
                flow.space();
            }
            "text" | "foreignobject" | "foreignObject" if self.in_drawing > 0 => {
                self.in_drawn_text = self.in_drawn_text.saturating_sub(1);
                flow.line();
            }
            "rt" => self.in_reading = false,
            "ruby" => self.end_ruby(flow),
            _ if self.is_drawing() => {}
            "title" => self.in_title = false,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                flow.end_heading();
                self.in_heading = false;
            }
            "li" | "tr" | "option" | "select" => flow.line(),
            "button" => flow.space(),
            "table" => flow.end_table(),
            "sup" => self.in_sup = self.in_sup.saturating_sub(1),
            "a" => {
                self.link = None;
                self.after_note_reference |= std::mem::take(&mut self.in_note_reference);
            }
            "pre" => {
                self.in_pre = self.in_pre.saturating_sub(1);
                flow.block();
            }
            _ if BLOCKS.contains(&name) => flow.block(),
            _ => {}
        }
    }

    /// Whether the position is in a drawing, outside of its texts.
    fn is_drawing(&self) -> bool {
        self.in_drawing > 0 && self.in_drawn_text == 0
    }

    /// Adds the reading of the words before it, in parentheses as HTML has them for programs that set none above (4.5.12).
    fn end_ruby(&mut self, flow: &mut Flow) {
        self.in_reading = false;
        if let Some(reading) = self.reading.take().filter(|reading| !reading.trim().is_empty()) {
            flow.words(&format!("({})", reading.trim()));
        }
    }

    fn end_formula(&mut self, flow: &mut Flow) {
        let Some(formula) = self.formula.take() else { return };
        self.show(&formula.text(), flow);
        if std::mem::take(&mut self.is_displayed) {
            flow.line();
        }
    }

    fn show(&mut self, text: &str, flow: &mut Flow) {
        if self.hidden.is_some() || self.is_drawing() {
            return;
        }
        if let Some(formula) = &mut self.formula {
            return formula.show(text);
        }
        if self.in_reading
            && let Some(reading) = &mut self.reading
        {
            reading.push_str(text);
            if reading.len() > MAX_READING_BYTES {
                self.end_ruby(flow);
            }
            return;
        }
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
            return;
        }
        if !text.trim().is_empty()
            && let Some(title) = self.title.take()
            && !title.trim().is_empty()
        {
            flow.heading(1, &title);
        }
        if self.link.as_ref().is_some_and(|link| link.is_sign(text, self.in_heading)) {
            return;
        }
        // Books and pages without the roles of notes only link their numbers.
        let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        if is_number && self.link.is_some() && flow.ends_with_word() {
            if self.in_heading {
                return;
            }
            self.in_note_reference = true;
            flow.space();
        }
        if std::mem::take(&mut self.after_note_reference) && text.starts_with(char::is_alphanumeric) {
            flow.space();
        }
        if self.in_pre > 0 { flow.verbatim(text) } else { flow.words(text) }
    }
}
