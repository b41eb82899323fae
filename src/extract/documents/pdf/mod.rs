//! PDF: the text of each page, in the order in which it is drawn.
//!
//! A page says where glyphs are, not which of them are a word, a line or a heading: gaps and sizes show it. The crate
//! `hayro-syntax` reads objects, repairs and decrypts them. Owns the assembly of a document; `pages` walks the tree,
//! `draw` runs the content, `glyphs` knows the characters, `layout` puts them together.

mod bidi;
mod builtin;
mod draw;
mod glyphs;
mod layout;
mod matrix;
mod metrics;
mod names;
mod pages;
mod repair;
mod streams;

use hayro_syntax::object::{Array, Dict, MaybeRef, Stream};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use memchr::memmem;

use super::Document;
use super::flow::Flow;
use crate::model::SkipReason;
use draw::PageRenderer;
use layout::{Layout, Line};
use matrix::Matrix;
use pages::{Page, Pages};
use streams::Failure;

const MOST_PAGES: usize = 5000;
/// Glyphs of the whole document; a full page has a few thousand.
const MOST_GLYPHS: usize = 8_000_000;
/// Notes and fields of one page.
const MOST_ANNOTATIONS: usize = 10_000;

/// The character that a code is in the font `Symbol`.
pub(super) fn symbol(code: u8) -> Option<char> {
    names::Base::Symbol.character(code)
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    match text(bytes, has_table(bytes)) {
        Err(SkipReason::Malformed) => text(&repair::repaired(bytes).ok_or(SkipReason::Malformed)?, false),
        read => read,
    }
}

/// The text of all pages. One that gives none because its pages cannot be found is malformed.
fn text(bytes: &[u8], is_sound: bool) -> Result<Document, SkipReason> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => SkipReason::Encrypted,
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => SkipReason::Sealed,
        _ => SkipReason::Malformed,
    })?;
    let mut found = Pages::read(&pdf, MOST_PAGES);
    let is_lost = found.first.is_empty() && !found.is_doubled;
    if is_lost {
        found = Pages::without_tree(&pdf, MOST_PAGES);
    }
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let mut artist = PageRenderer::new(&catalog);
    let mut pages: Vec<Vec<Line>> = Vec::new();
    let (mut unknown, mut broken, mut left) = (0, 0, MOST_GLYPHS);
    for page in &found.first {
        let mut layout = Layout::new(left);
        let drawn = page.as_ref().map_or(Err(Failure::Broken), |page| {
            let turn = Matrix::turned(page.turned);
            layout.within(turn.around(page.media));
            artist.draw(&content(&pdf, page)?, &page.resources, turn, &mut layout);
            for annotation in annotations(page) {
                artist.annotation(&annotation, turn, &mut layout);
            }
            Ok(())
        });
        match drawn {
            Err(Failure::TooLarge) => return Err(SkipReason::Overfull),
            Err(Failure::Broken) => broken += 1,
            Ok(()) => {}
        }
        unknown += layout.unknown();
        left = layout.left();
        if left == 0 {
            return Err(SkipReason::Overfull);
        }
        pages.push(layout.lines());
    }
    if broken == pages.len() {
        return Err(SkipReason::Malformed);
    }
    let mut flow = Flow::default();
    layout::write(&pages, &mut flow);
    if is_lost || !is_sound {
        flow.problem("its table of objects is broken or cut off: only what was found without it is in the index");
    }
    if found.total > pages.len() {
        flow.problem(&format!("only the first {} of {} pages are in the index", pages.len(), found.total));
    }
    if found.is_doubled {
        flow.problem("its table of pages leads back to pages that it has already: each is in the index once");
    }
    if broken > 0 {
        flow.problem(&format!("{broken} of {} pages cannot be read", pages.len()));
    }
    if unknown > 0 {
        flow.problem("some letters cannot be read: their font does not say which they are");
    }
    flow.finish()
}

/// Reads the content of a page: one stream, or several in a row. A page may have none.
fn content(pdf: &Pdf, page: &Page<'_>) -> Result<Vec<u8>, Failure> {
    if let Some(stream) = page.dict.get::<Stream<'_>>("Contents") {
        return streams::data(&stream).map(std::borrow::Cow::into_owned);
    }
    let Some(parts) = page.dict.get::<Array<'_>>("Contents") else { return Ok(Vec::new()) };
    let (mut content, mut is_broken) = (Vec::new(), false);
    for part in parts.raw_iter() {
        let MaybeRef::Ref(id) = part else { continue };
        let data =
            pdf.xref().get::<Stream<'_>>(id.into()).map_or(Err(Failure::Broken), |stream| streams::data(&stream));
        match data {
            Ok(data) if content.len() + data.len() <= streams::MOST => {
                content.extend_from_slice(&data);
                // A part ends a word of the language.
                content.push(b'\n');
            }
            Ok(_) | Err(Failure::TooLarge) => return Err(Failure::TooLarge),
            Err(Failure::Broken) => is_broken = true,
        }
    }
    if is_broken && content.is_empty() { Err(Failure::Broken) } else { Ok(content) }
}

fn annotations<'a>(page: &Page<'a>) -> impl Iterator<Item = Dict<'a>> + use<'a> {
    let listed = page.dict.get::<Array<'a>>("Annots");
    listed.into_iter().flat_map(|listed| listed.iter::<Dict<'a>>()).take(MOST_ANNOTATIONS)
}

/// Whether the file ends with the offset of a table of objects, and one is there.
fn has_table(bytes: &[u8]) -> bool {
    /// Bytes within which the header begins.
    const HEADER_WITHIN: usize = 1024;
    let place = || {
        let after = bytes[memmem::rfind(bytes, b"startxref")? + b"startxref".len()..].trim_ascii_start();
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&after[..digits]).ok()?.parse::<usize>().ok()
    };
    let header = memmem::find(&bytes[..bytes.len().min(HEADER_WITHIN)], b"%PDF-").unwrap_or(0);
    let is_table = |at: usize| {
        let table = bytes.get(at..).unwrap_or_default().trim_ascii_start();
        let digits = table.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_object = digits > 0 && memmem::find(&table[..table.len().min(40)], b"obj").is_some();
        table.starts_with(b"xref") || is_object
    };
    place().is_some_and(|at| is_table(at) || at.checked_add(header).is_some_and(is_table))
}
