//! ODT: the paragraphs and headings of a text document of LibreOffice and similar programs.

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
    let (mut hidden, mut cells) = (0_usize, 0_usize);
    xml::walk(&content, &mut |piece| match piece {
        Piece::Open(name, attributes) => {
            hidden += usize::from(NOT_SHOWN.contains(&name));
            match name {
                _ if hidden > 0 => {}
                "h" => {
                    let level = attributes.get("outline-level").and_then(|level| level.parse().ok());
                    flow.begin_heading(level.unwrap_or(1));
                }
                // What is in a cell stays in the line of its row.
                "p" if cells > 0 => flow.space(),
                "p" => flow.block(),
                "s" | "tab" => flow.space(),
                "line-break" | "table-row" => flow.line(),
                "table-cell" => {
                    cells += 1;
                    flow.cell();
                }
                _ => {}
            }
        }
        Piece::Close(name) => {
            match name {
                "h" => flow.end_heading(),
                "p" if cells == 0 => flow.line(),
                "table-cell" => cells = cells.saturating_sub(1),
                "table" => flow.block(),
                _ => {}
            }
            hidden = hidden.saturating_sub(usize::from(NOT_SHOWN.contains(&name)));
        }
        Piece::Text(text) if hidden == 0 => flow.words(text),
        Piece::Text(_) => {}
    })?;
    flow.finish()
}
