//! DOCX: the paragraphs of a Word document, its tables row by row, its notes and comments at the end.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Document;
use super::archive::{self, Archive};
use super::flow::Flow;
use super::math::Formula;
use super::pdf;
use super::xml::{self, Attributes, BoxedReader, Piece};
use crate::model::SkipReason;

/// Deleted text, field codes, fallbacks for older programs, stops of tabs, and how a paragraph, row or cell was set before.
const NOT_SHOWN: &[&str] = &[
    "del",
    "moveFrom",
    "instrText",
    "delText",
    "Fallback",
    "rPr",
    "sectPr",
    "pPrChange",
    "trPrChange",
    "tcPrChange",
    "tabs",
];
/// The outline level of text that is not a heading.
const BODY_TEXT: u8 = 9;
/// Styles of code, in lowercase without spaces: pandoc's, Word's and LibreOffice's.
const CODE: &[&str] = &["sourcecode", "htmlpreformatted", "preformattedtext"];
/// The characters of the font `Wingdings` from 0x21 on, as pandoc 3.9 has them.
const WINGDINGS: &str = "🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭📁📂📄🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍🖎✌👌👍👎☜☞☝☟🖐☺😐☹💣☠🏳🏱✈☼💧❄🕆✞🕈✠\
    ✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓🙰🙵●🔾■□🞐❑❒⬧⧫◆❖⬥⌧⮹⌘🏵🏶🙶🙷⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺\
    ❻❼❽❾❿🙢🙠🙡🙣🙞🙜🙝🙟·•⚪🞆🞈◉◎🔿▪◻🟂✦★✶✴✹✵⯐⌖⟡⌑⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳⮴⮵\
    ⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋🡨🡪🡩🡫🡬🡭🡯🡮🡸🡺🡹🡻🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬀⬁⬃⬂🢬🢭🗶✔🗷🗹";
/// Styles that a style is based on, in a row.
const DEEPEST_STYLE: usize = 64;

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let mut archive = Archive::open(bytes)?;
    let main = relations(&mut archive, "")?.remove("officeDocument").unwrap_or_else(|| "word/document.xml".to_owned());
    let mut flow = Flow::default();
    let others = relations(&mut archive, &main);
    let mut others = archive::unless_broken(others, "word/_rels", &mut flow)?.unwrap_or_default();
    let mut path = |kind: &str| others.remove(kind).unwrap_or_else(|| format!("word/{kind}.xml"));
    let path_of_styles = path("styles");
    let styles = archive.part(&path_of_styles).and_then(|part| part.as_deref().map(kinds_of_styles).transpose());
    let styles = archive::unless_broken(styles, &path_of_styles, &mut flow)?.flatten().unwrap_or_default();
    take(&archive.needed(&main)?, &styles, &mut flow)?;
    for path in ["footnotes", "endnotes", "comments"].map(path) {
        let notes = archive.part(&path).and_then(|part| part.map_or(Ok(()), |part| take(&part, &styles, &mut flow)));
        archive::unless_broken(notes, &path, &mut flow)?;
    }
    flow.finish()
}

/// Parts that the part `of` refers to, or the whole file if `of` is empty: each by the kind of its relationship.
fn relations(archive: &mut Archive, of: &str) -> Result<HashMap<String, String>, SkipReason> {
    let (folder, name) = of.rsplit_once('/').map_or(("", of), |(folder, name)| (folder, name));
    let below = |path: &str| if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let mut related = HashMap::new();
    let Some(relations) = archive.part(&below(&format!("_rels/{name}.rels")))? else { return Ok(related) };
    xml::walk(&relations, &mut |piece| {
        if let Piece::Open("Relationship", attributes) = piece
            && let (Some(kind), Some(target)) = (attributes.get("Type"), attributes.get("Target"))
        {
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            related.insert(kind, target.strip_prefix('/').map_or_else(|| below(&target), str::to_owned));
        }
    })?;
    Ok(related)
}

/// The role that a style gives a paragraph.
#[derive(Clone, Copy)]
enum Kind {
    Heading(u8),
    /// Text whose spaces and lines count.
    Code,
}

/// The kinds of styles by their ids: those are in the language of the program that wrote the file. A style has the kind of its name or
/// its own outline level, or else the kind of the style it is based on. Styles that are based on the title's are for what is below it,
/// such as authors.
fn kinds_of_styles(styles: &str) -> Result<HashMap<String, Kind>, SkipReason> {
    #[derive(Default)]
    struct Style {
        kind: Option<Kind>,
        is_title: bool,
        based_on: Option<String>,
    }
    let mut all: HashMap<String, Style> = HashMap::new();
    let mut open = String::new();
    xml::walk(styles, &mut |piece| {
        let Piece::Open(name, attributes) = piece else { return };
        let value = || attributes.get("val");
        match name {
            "style" => open = attributes.get("styleId").unwrap_or_default(),
            "name" | "basedOn" | "outlineLvl" => {
                let style = all.entry(open.clone()).or_default();
                match name {
                    "name" => {
                        let name = value().unwrap_or_default();
                        style.is_title = is_title(&name);
                        style.kind = kind_of(&name).or(style.kind);
                    }
                    "basedOn" => style.based_on = value(),
                    _ => style.kind = style.kind.or_else(|| outline_level(value()).map(Kind::Heading)),
                }
            }
            _ => {}
        }
    })?;
    let kind = |id: &String| {
        let chain = std::iter::successors(all.get(id), |style| all.get(style.based_on.as_ref()?));
        let mut chain = chain.take(DEEPEST_STYLE).enumerate();
        chain.find_map(|(distance, style)| style.kind.filter(|_| distance == 0 || !style.is_title))
    };
    Ok(all.keys().filter_map(|id| Some((id.clone(), kind(id)?))).collect())
}

/// A level from 1, [`BODY_TEXT`] + 1 being text.
fn outline_level(value: Option<String>) -> Option<u8> {
    value?.parse::<u8>().ok().filter(|level| *level <= BODY_TEXT).map(|level| level + 1)
}

fn kind_of(style: &str) -> Option<Kind> {
    let style = style.to_lowercase().replace(' ', "");
    if CODE.contains(&style.as_str()) {
        return Some(Kind::Code);
    }
    let level = match style.strip_prefix("heading") {
        Some(level) => level.parse().ok().filter(|level| (1..=9).contains(level)),
        None => is_title(&style).then_some(1),
    };
    level.map(Kind::Heading)
}

fn is_title(style: &str) -> bool {
    style.eq_ignore_ascii_case("title")
}

fn number(attributes: &Attributes) -> usize {
    attributes.get("val").and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Maps a font's own character code to Unicode.
type Glyphs = fn(u8) -> Option<char>;

fn glyphs_of(font: &str) -> Option<Glyphs> {
    match font.to_ascii_lowercase().as_str() {
        "symbol" => Some(pdf::symbol),
        "wingdings" => Some(wingding),
        _ => None,
    }
}

fn wingding(code: u8) -> Option<char> {
    WINGDINGS.chars().nth(usize::from(code.checked_sub(0x21)?))
}

/// The character of a glyph that is written by its number in a font.
fn symbol(attributes: &Attributes) -> Option<char> {
    let code = u32::from_str_radix(&attributes.get("char")?, 16).ok()?;
    let glyphs = attributes.get("font").and_then(|font| glyphs_of(&font));
    match (code, glyphs) {
        (0..=0xff | 0xf000..=0xf0ff, Some(glyphs)) => glyphs(u8::try_from(code & 0xff).ok()?),
        // Numbers of a font alone.
        (0xe000..=0xf8ff, _) => None,
        _ => char::from_u32(code).filter(|c| !c.is_control()),
    }
}

/// The character of a glyph that Word writes at a private code point, U+F000 and the font's own code.
fn at_private_code(c: char, glyphs: Glyphs) -> Option<char> {
    let code = u32::from(c).checked_sub(0xf000).filter(|code| (0x20..=0xff).contains(code))?;
    glyphs(u8::try_from(code).ok()?)
}

/// Adds the paragraphs of a part.
fn take(part: &str, styles: &HashMap<String, Kind>, flow: &mut Flow) -> Result<(), SkipReason> {
    let mut paragraphs = Paragraphs {
        styles,
        flow,
        hidden: 0,
        cells: 0,
        in_text: false,
        level: None,
        is_code: false,
        is_drop_cap: false,
        continues: false,
        reading: String::new(),
        in_reading: false,
        glyphs: None,
        formula: None,
        in_formulas: false,
    };
    xml::walk_with_boxes(part, &["p"], &mut paragraphs)
}

struct Paragraphs<'f> {
    styles: &'f HashMap<String, Kind>,
    flow: &'f mut Flow,
    /// How many elements that are not shown are open.
    hidden: usize,
    cells: usize,
    in_text: bool,
    level: Option<u8>,
    is_code: bool,
    /// The paragraph is a large first letter; the next paragraph continues it.
    is_drop_cap: bool,
    continues: bool,
    /// The reading (ruby) of the words that follow it in the file. It is written after them, so that it does not separate them from
    /// the words before.
    reading: String,
    in_reading: bool,
    /// The characters of the font of the open run, if it has numbers of its own.
    glyphs: Option<Glyphs>,
    formula: Option<Formula>,
    in_formulas: bool,
}

impl BoxedReader for Paragraphs<'_> {
    fn begins_box(&self, name: &str) -> bool {
        name == "txbxContent" && self.hidden == 0
    }

    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Open(name, attributes) => {
                match name {
                    "r" => self.glyphs = None,
                    "rFonts" => {
                        self.glyphs = self.glyphs.or_else(|| attributes.get("ascii").and_then(|font| glyphs_of(&font)));
                    }
                    _ => {}
                }
                self.hidden += usize::from(NOT_SHOWN.contains(&name));
                self.open(name, attributes);
            }
            Piece::Close(name) => {
                self.hidden = self.hidden.saturating_sub(usize::from(NOT_SHOWN.contains(&name)));
                self.close(name);
            }
            Piece::Text(_) if self.hidden > 0 => {}
            Piece::Text(text) => match &mut self.formula {
                Some(formula) => formula.show(text),
                None if self.in_text => self.words(text),
                None => {}
            },
        }
    }
}

impl Paragraphs<'_> {
    fn words(&mut self, text: &str) {
        let text = match self.glyphs {
            Some(glyphs) => Cow::Owned(text.chars().map(|c| at_private_code(c, glyphs).unwrap_or(c)).collect()),
            None => Cow::Borrowed(text),
        };
        if self.in_reading {
            self.reading.push_str(&text);
        } else if self.is_code {
            self.flow.verbatim(&text);
        } else {
            self.flow.words(&text);
        }
    }

    /// Begins a line, except in a cell, which stays in the line of its row.
    fn begin_line(&mut self) {
        if self.cells > 0 { self.flow.space() } else { self.flow.line() }
    }

    fn open(&mut self, name: &str, attributes: &Attributes) {
        if self.hidden > 0 {
            return;
        }
        if let Some(formula) = &mut self.formula {
            return formula.open(name, &|name| attributes.get(name));
        }
        match name {
            "oMath" => self.formula = Some(Formula::default()),
            "oMathPara" => {
                self.in_formulas = true;
                self.begin_line();
            }
            // What is in a cell stays in the line of its row.
            "p" if self.cells > 0 => self.flow.space(),
            "p" if std::mem::take(&mut self.continues) => {}
            "p" => self.flow.block(),
            "framePr" => self.is_drop_cap = attributes.get("dropCap").is_some_and(|kind| kind != "none"),
            // What a picture shows.
            "docPr" => {
                let shown = attributes.get("descr").filter(|shown| !shown.is_empty());
                let shown = shown.or_else(|| attributes.get("title")).filter(|shown| !shown.is_empty());
                // A box of text has none, and may be anchored in a word.
                if let Some(shown) = shown {
                    self.flow.begin_picture();
                    self.flow.words(&shown);
                    self.flow.end_picture();
                }
            }
            "pPr" => (self.level, self.is_code) = (None, false),
            "pStyle" if self.cells == 0 => {
                let style = attributes.get("val").unwrap_or_default();
                match self.styles.get(&style).copied().or_else(|| kind_of(&style)) {
                    Some(Kind::Heading(level)) => self.level = Some(level),
                    Some(Kind::Code) => self.is_code = true,
                    None => {}
                }
            }
            // What the paragraph itself says counts more than its style.
            "outlineLvl" if self.cells == 0 => {
                self.level = outline_level(attributes.get("val")).or(self.level);
            }
            "t" => self.in_text = true,
            "sym" => match symbol(attributes) {
                Some(c) => self.words(c.encode_utf8(&mut [0; 4])),
                None => self.flow.space(),
            },
            "rt" => self.in_reading = true,
            // What a table shows, as a picture does.
            "tblCaption" | "tblDescription" => {
                let shown = attributes.get("val").unwrap_or_default();
                // Pandoc and Word also have it as a paragraph above.
                if !self.flow.ends_with_line(&shown) {
                    self.flow.space();
                    self.flow.words(&shown);
                    self.flow.space();
                }
            }
            "tab" if self.is_code => self.flow.verbatim("\t"),
            "br" | "cr" if self.is_code => self.flow.verbatim("\n"),
            "tab" | "ptab" => self.flow.space(),
            "br" | "cr" => self.begin_line(),
            "noBreakHyphen" => self.words("-"),
            "tbl" => self.flow.begin_table(),
            "tr" => self.flow.row(),
            "tblHeader" => {
                let is_off = attributes.get("val").is_some_and(|value| matches!(value.as_str(), "0" | "false"));
                self.flow.mark_row(!is_off);
            }
            "tc" => {
                self.cells += 1;
                self.flow.cell();
            }
            // A cell that is covered by one above is in the file.
            "gridSpan" => self.flow.span(number(attributes), 1),
            "gridBefore" => self.flow.skip_columns(number(attributes)),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if self.hidden > 0 {
            return;
        }
        if let Some(mut formula) = self.formula.take() {
            if name == "oMath" {
                self.flow.words(&formula.text());
                // The others of a paragraph of formulas are on lines of their own.
                if self.in_formulas {
                    self.begin_line();
                }
            } else {
                formula.close(name);
                self.formula = Some(formula);
            }
            return;
        }
        match name {
            "oMathPara" => self.in_formulas = false,
            "pPr" => {
                if let Some(level) = self.level.take().filter(|level| *level <= BODY_TEXT) {
                    self.is_code = false;
                    self.flow.begin_heading(level);
                } else if self.is_code {
                    self.flow.begin_code();
                }
            }
            "p" if std::mem::take(&mut self.is_drop_cap) => self.continues = true,
            "p" if std::mem::take(&mut self.is_code) => self.flow.end_code(),
            "p" if self.cells == 0 => {
                self.flow.end_heading();
                self.flow.line();
            }
            "tc" => self.cells = self.cells.saturating_sub(1),
            "t" => self.in_text = false,
            "rt" => self.in_reading = false,
            "ruby" => {
                let reading = std::mem::take(&mut self.reading);
                if !reading.trim().is_empty() {
                    self.flow.words(&format!("({})", reading.trim()));
                }
            }
            "tbl" => self.flow.end_table(),
            _ => {}
        }
    }
}
