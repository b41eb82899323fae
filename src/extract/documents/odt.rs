//! ODT: the paragraphs and headings of a text document of LibreOffice and similar programs, its notes at the end.

use super::Document;
use super::archive::Archive;
use super::flow::Flow;
use super::xml::{self, Piece};
use crate::model::SkipReason;

/// Text that was taken back, remarks of readers, and what is made from the headings elsewhere.
const NOT_SHOWN: &[&str] = &["tracked-changes", "annotation", "table-of-content", "forms"];

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let mut archive = Archive::open(bytes)?;
    if archive.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(SkipReason::Encrypted);
    }
    let content = archive.needed("content.xml")?;
    let mut flow = Flow::default();
    take(&content, false, &mut flow)?;
    take(&content, true, &mut flow)?;
    flow.finish()
}

/// Adds the text without its notes, whose numbers are in brackets, or the notes alone.
fn take(content: &str, of_notes: bool, flow: &mut Flow) -> Result<(), SkipReason> {
    let (mut hidden, mut cells, mut notes, mut frames) = (0_usize, 0_usize, 0_usize, 0_usize);
    let (mut in_number, mut in_header, mut in_heading) = (false, false, false);
    xml::walk(content, &mut |piece| {
        // A heading is named without the numbers of its notes.
        let has_number = !of_notes && !in_heading && hidden == 0;
        let is_shown = hidden == 0 && ((notes > 0) == of_notes || (in_number && has_number));
        match piece {
            Piece::Open(name, attributes) => {
                hidden += usize::from(NOT_SHOWN.contains(&name));
                match name {
                    "note" => notes += 1,
                    "note-citation" => {
                        in_number = true;
                        if has_number {
                            flow.words("[");
                        } else if of_notes && hidden == 0 {
                            flow.block();
                        }
                    }
                    "note-body" if of_notes => flow.space(),
                    "frame" => frames += 1,
                    _ if !is_shown || hidden > 0 => {}
                    "h" => {
                        let level = attributes.get("outline-level").and_then(|level| level.parse().ok());
                        flow.begin_heading(level.unwrap_or(1));
                        in_heading = true;
                    }
                    // What is in a cell stays in the line of its row, what is in a note in its line.
                    "p" if cells > 0 || of_notes => flow.space(),
                    "p" => flow.block(),
                    "s" | "tab" => flow.space(),
                    // Of a picture.
                    "title" | "desc" if frames > 0 => flow.space(),
                    "line-break" => flow.line(),
                    "table" => flow.begin_table(),
                    "table-header-rows" => in_header = true,
                    "table-row" => {
                        flow.row();
                        if in_header {
                            flow.mark_row(true);
                        }
                    }
                    "table-cell" => {
                        cells += 1;
                        flow.cell();
                    }
                    _ => {}
                }
            }
            Piece::Close(name) => {
                match name {
                    "note" => notes = notes.saturating_sub(1),
                    "note-citation" => {
                        in_number = false;
                        if has_number {
                            flow.words("]");
                        }
                    }
                    "frame" => frames = frames.saturating_sub(1),
                    _ if !is_shown => {}
                    "h" => {
                        flow.end_heading();
                        in_heading = false;
                    }
                    "p" if cells == 0 && !of_notes => flow.line(),
                    "title" | "desc" if frames > 0 => flow.space(),
                    "table-header-rows" => in_header = false,
                    "table-cell" => cells = cells.saturating_sub(1),
                    "table" => flow.end_table(),
                    _ => {}
                }
                hidden = hidden.saturating_sub(usize::from(NOT_SHOWN.contains(&name)));
            }
            Piece::Text(text) if is_shown => flow.words(text),
            Piece::Text(_) => {}
        }
    })
}
