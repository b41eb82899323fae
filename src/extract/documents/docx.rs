//! DOCX: the paragraphs of a Word document, its tables row by row, its notes at the end.

use std::collections::HashMap;

use super::Document;
use super::archive::Archive;
use super::flow::Flow;
use super::xml::{self, Piece};
use crate::model::SkipReason;

/// Deleted text, field codes, and fallbacks for older programs.
const NOT_SHOWN: &[&str] = &["del", "moveFrom", "instrText", "delText", "Fallback", "rPr", "sectPr"];

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let mut archive = Archive::open(bytes)?;
    let main = relations(&mut archive, "")?.remove("officeDocument").unwrap_or_else(|| "word/document.xml".to_owned());
    let mut others = relations(&mut archive, &main)?;
    let mut other = |archive: &mut Archive, kind: &str| {
        archive.part(&others.remove(kind).unwrap_or_else(|| format!("word/{kind}.xml")))
    };
    let levels = match other(&mut archive, "styles")? {
        Some(styles) => heading_styles(&styles)?,
        None => HashMap::new(),
    };
    let mut flow = Flow::default();
    take(&archive.needed(&main)?, &levels, &mut flow)?;
    for notes in ["footnotes", "endnotes"] {
        if let Some(notes) = other(&mut archive, notes)? {
            take(&notes, &levels, &mut flow)?;
        }
    }
    flow.finish()
}

/// The other parts of a part, or of the whole file where that has no name, by what they are to it.
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

/// The styles that make a paragraph a heading, by their ids: those are in the language of the program that wrote the
/// file.
fn heading_styles(styles: &str) -> Result<HashMap<String, u8>, SkipReason> {
    let mut levels = HashMap::new();
    let mut style = String::new();
    xml::walk(styles, &mut |piece| {
        let Piece::Open(name, attributes) = piece else { return };
        match name {
            "style" => style = attributes.get("styleId").unwrap_or_default(),
            "name" => {
                if let Some(level) = attributes.get("val").and_then(|name| level_of(&name)) {
                    levels.insert(style.clone(), level);
                }
            }
            "outlineLvl" => {
                if let Some(level) = attributes.get("val").and_then(|level| level.parse::<u8>().ok()).filter(|l| *l < 9)
                {
                    levels.entry(style.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    })?;
    Ok(levels)
}

fn level_of(style: &str) -> Option<u8> {
    let style = style.to_lowercase().replace(' ', "");
    match style.strip_prefix("heading") {
        Some(level) => level.parse().ok().filter(|level| (1..=9).contains(level)),
        None => (style == "title").then_some(1),
    }
}

fn take(part: &str, levels: &HashMap<String, u8>, flow: &mut Flow) -> Result<(), SkipReason> {
    let (mut hidden, mut in_text, mut cells) = (0_usize, false, 0_usize);
    xml::walk(part, &mut |piece| match piece {
        Piece::Open(name, attributes) => {
            hidden += usize::from(NOT_SHOWN.contains(&name));
            match name {
                // What is in a cell stays in the line of its row.
                "p" if cells > 0 => flow.space(),
                "p" => flow.block(),
                "pStyle" if cells == 0 => {
                    let style = attributes.get("val").unwrap_or_default();
                    if let Some(level) = levels.get(&style).copied().or_else(|| level_of(&style)) {
                        flow.begin_heading(level);
                    }
                }
                "t" => in_text = true,
                "tab" => flow.space(),
                "br" | "cr" => flow.line(),
                "tr" => flow.line(),
                "tc" => {
                    cells += 1;
                    flow.cell();
                }
                _ => {}
            }
        }
        Piece::Close(name) => {
            hidden = hidden.saturating_sub(usize::from(NOT_SHOWN.contains(&name)));
            match name {
                "p" if cells == 0 => {
                    flow.end_heading();
                    flow.line();
                }
                "tc" => cells = cells.saturating_sub(1),
                "t" => in_text = false,
                "tbl" => flow.block(),
                _ => {}
            }
        }
        Piece::Text(text) if in_text && hidden == 0 => flow.words(text),
        Piece::Text(_) => {}
    })
}
