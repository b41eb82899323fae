//! Documents: their text with headings and pages, without formatting.
//!
//! Owns the formats, their detection, and the readers: one file per reader, one row each in `FORMATS`. Readers are pure
//! and bounded by work, not by a clock. `chunk` cuts the text into chunks, and `update` runs risky readers in a child
//! process.

mod archive;
mod csv;
mod docx;
mod epub;
mod flow;
mod html;
mod mail;
mod mail_encoding;
mod math;
mod notebook;
mod odt;
mod pdf;
mod restructuredtext;
mod rst_inline;
mod xml;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::model::{RepoPath, SkipReason};

/// All formats, by name.
pub static FORMATS: &[Format] = &[
    Format::new("csv", 2, &["csv", "tsv"], Reader::Text(csv::outline)),
    Format::new("docx", 6, &["docx", "docm", "dotx"], Reader::Bytes(docx::read)),
    Format::new("epub", 6, &["epub"], Reader::Bytes(epub::read)),
    // In a repository it is source, with tags and all.
    Format { only_in_folders: true, ..Format::new("html", 7, &["html", "htm", "xhtml"], Reader::Bytes(html::read)) },
    Format::new("mail", 8, &["eml"], Reader::Bytes(mail::read)),
    Format::new("notebook", 4, &["ipynb"], Reader::Bytes(notebook::read)),
    Format::new("odt", 5, &["odt", "ott"], Reader::Bytes(odt::read)),
    Format { is_risky: true, ..Format::new("pdf", 7, &["pdf"], Reader::Bytes(pdf::read)) },
    Format::new("restructuredtext", 3, &["rst", "rest"], Reader::Text(restructuredtext::outline)),
];

/// The most text that is taken from one file.
const MOST_TEXT: usize = 16 << 20;

/// Memory for the text, as a multiple of a document's bytes.
const TIMES_TEXT: u64 = 3;

/// One format, as data.
pub struct Format {
    /// Lower-case, as answers and filters say it.
    pub name: &'static str,
    /// Incremented when this format's reader would produce another text or other headings.
    pub version: u32,
    /// Without the dot, lower-case.
    pub extensions: &'static [&'static str],
    /// Only folders indexed as documents have documents of this format: elsewhere it is source.
    pub only_in_folders: bool,
    /// Whether its reader must run in a child process.
    pub is_risky: bool,
    reader: Reader,
}

enum Reader {
    /// The text is the file's own, unchanged; found are the offsets in it.
    Text(fn(&str, &RepoPath) -> Outline),
    /// The text has to be taken out of the bytes.
    Bytes(fn(&[u8]) -> Result<Document, SkipReason>),
}

/// The text of a document and its outline. Offsets are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Document {
    pub text: String,
    pub outline: Outline,
    /// Messages about what was left out.
    pub problems: Vec<String>,
    /// Detected encoding of a file that is text; `None` is UTF-8.
    #[serde(skip)]
    pub encoding: Option<&'static str>,
}

/// The outline of a document's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Outline {
    /// In order.
    pub headings: Vec<Heading>,
    /// Where each page begins, if there are any; nothing precedes the first.
    pub pages: Vec<usize>,
    /// Good offsets to cut at, in addition to headings, pages and paragraphs; in order.
    pub seams: Vec<usize>,
    /// In order, without overlap.
    pub tables: Vec<Table>,
}

/// A table whose columns have names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Table {
    /// The rows below the names.
    pub rows: Range<usize>,
    /// The names of its columns, on one line.
    pub names: String,
}

/// Names of columns take no more than this.
const MAX_NAMES_BYTES: usize = 300;

impl Table {
    /// `None` without names or rows.
    pub(super) fn new(rows: Range<usize>, names: &str) -> Option<Self> {
        let names = names.split_whitespace().collect::<Vec<_>>().join(" ");
        // Bars around a row are syntax; one before it only is behind an empty cell.
        let names = names.strip_prefix('|').filter(|rest| rest.ends_with('|')).unwrap_or(&names).trim_start();
        let names = names[..names.floor_char_boundary(MAX_NAMES_BYTES)].trim_end_matches([' ', '|']);
        (!names.is_empty() && !rows.is_empty()).then(|| Self { rows, names: names.to_owned() })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Heading {
    /// Where its line begins.
    pub at: usize,
    /// 1 is the outermost.
    pub level: u8,
    pub title: String,
}

impl Format {
    const fn new(name: &'static str, version: u32, extensions: &'static [&'static str], reader: Reader) -> Self {
        Self { name, version, extensions, only_in_folders: false, is_risky: false, reader }
    }

    /// Whether the text is the file's own, so that its lines are those on disk.
    pub const fn keeps_text(&self) -> bool {
        matches!(self.reader, Reader::Text(_))
    }

    /// The document in a text of this format; `None` where it has to be read from bytes.
    pub(super) fn outline(&self, text: &str, path: &RepoPath) -> Option<Outline> {
        if let Reader::Text(read) = self.reader { Some(read(text, path)) } else { None }
    }

    /// About how much memory it takes to read these bytes.
    pub fn weight(&self, bytes: &[u8]) -> u64 {
        let text = archive::unpacked(bytes).unwrap_or(bytes.len() as u64);
        text.saturating_mul(TIMES_TEXT)
    }

    /// The document in these bytes, or why there is none.
    pub fn read(&self, bytes: &[u8]) -> Result<Document, SkipReason> {
        let Reader::Bytes(read) = self.reader else { return Err(SkipReason::Malformed) };
        if bytes.trim_ascii().is_empty() {
            return Err(SkipReason::NoText);
        }
        let document = read(bytes)?;
        if document.text.trim().is_empty() { Err(SkipReason::NoText) } else { Ok(document) }
    }
}

/// The format that a file is read as, if it is a document; `in_folder` says that its folder is indexed as documents.
pub fn of_file(path: &RepoPath, in_folder: bool) -> Option<&'static Format> {
    let extension = path.extension()?.to_lowercase();
    let fits = |format: &&Format| format.extensions.contains(&extension.as_str());
    FORMATS.iter().find(fits).filter(|format| in_folder || !format.only_in_folders)
}

/// Whether files that are read as that are text on disk, in one encoding.
pub fn is_text_on_disk(name: &str) -> bool {
    by_name(name).is_none_or(|format| format.keeps_text() || TEXT_TAKEN_OUT_OF_TEXT.contains(&format.name))
}

const TEXT_TAKEN_OUT_OF_TEXT: &[&str] = &["html", "notebook"];

pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name))
}
