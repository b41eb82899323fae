//! DOCX: the paragraphs of a Word document, its tables row by row, its notes at the end.

use std::collections::HashMap;

use super::Document;
use super::archive::Archive;
use super::flow::Flow;
use super::xml::{self, Piece};
use crate::model::SkipReason;

/// Deleted text, field codes, fallbacks for older programs, and how a paragraph was set before.
const NOT_SHOWN: &[&str] = &["del", "moveFrom", "instrText", "delText", "Fallback", "rPr", "sectPr", "pPrChange"];
/// The outline level of text that is not a heading.
const BODY_TEXT: u8 = 9;
/// Styles that a style is based on, in a row.
const DEEPEST_STYLE: usize = 64;

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

/// The levels of the styles that make a paragraph a heading, by their ids: those are in the language of the program that wrote
/// the file. A style has the level of its name or its own outline level, or else that of the style it is based on.
fn heading_styles(styles: &str) -> Result<HashMap<String, u8>, SkipReason> {
    #[derive(Default)]
    struct Style {
        level: Option<u8>,
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
                    "name" => style.level = value().and_then(|name| level_of(&name)).or(style.level),
                    "basedOn" => style.based_on = value(),
                    _ => style.level = style.level.or_else(|| outline_level(value())),
                }
            }
            _ => {}
        }
    })?;
    let level = |id: &String| {
        let chain = std::iter::successors(all.get(id), |style| all.get(style.based_on.as_ref()?));
        chain.take(DEEPEST_STYLE).find_map(|style| style.level)
    };
    Ok(all.keys().filter_map(|id| Some((id.clone(), level(id)?))).collect())
}

/// A level from 1, [`BODY_TEXT`] + 1 being text.
fn outline_level(value: Option<String>) -> Option<u8> {
    value?.parse::<u8>().ok().filter(|level| *level <= BODY_TEXT).map(|level| level + 1)
}

fn level_of(style: &str) -> Option<u8> {
    let style = style.to_lowercase().replace(' ', "");
    match style.strip_prefix("heading") {
        Some(level) => level.parse().ok().filter(|level| (1..=9).contains(level)),
        None => (style == "title").then_some(1),
    }
}

fn take(part: &str, levels: &HashMap<String, u8>, flow: &mut Flow) -> Result<(), SkipReason> {
    let (mut hidden, mut in_text, mut cells, mut level) = (0_usize, false, 0_usize, None);
    // A large first letter is a paragraph of its own, of which the next one is the rest.
    let (mut is_drop_cap, mut continues) = (false, false);
    xml::walk(part, &mut |piece| match piece {
        Piece::Open(name, attributes) => {
            hidden += usize::from(NOT_SHOWN.contains(&name));
            match name {
                // What is in a cell stays in the line of its row.
                "p" if cells > 0 => flow.space(),
                "p" if std::mem::take(&mut continues) => {}
                "p" => flow.block(),
                "framePr" if hidden == 0 => is_drop_cap = attributes.get("dropCap").is_some_and(|kind| kind != "none"),
                // What a picture shows.
                "docPr" if hidden == 0 => {
                    let shown = attributes.get("descr").filter(|shown| !shown.is_empty());
                    flow.space();
                    flow.words(&shown.or_else(|| attributes.get("title")).unwrap_or_default());
                    flow.space();
                }
                "pPr" if hidden == 0 => level = None,
                "pStyle" if cells == 0 && hidden == 0 => {
                    let style = attributes.get("val").unwrap_or_default();
                    level = levels.get(&style).copied().or_else(|| level_of(&style));
                }
                // What the paragraph itself says counts more than its style.
                "outlineLvl" if cells == 0 && hidden == 0 => level = outline_level(attributes.get("val")).or(level),
                "t" => in_text = true,
                "tab" => flow.space(),
                "br" | "cr" => flow.line(),
                "noBreakHyphen" if hidden == 0 => flow.words("-"),
                "tbl" => flow.begin_table(),
                "tr" => flow.row(),
                "tblHeader" => {
                    let is_off = attributes.get("val").is_some_and(|value| matches!(value.as_str(), "0" | "false"));
                    flow.mark_row(!is_off);
                }
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
                "pPr" if hidden == 0 => {
                    if let Some(level) = level.take().filter(|level| *level <= BODY_TEXT) {
                        flow.begin_heading(level);
                    }
                }
                "p" if std::mem::take(&mut is_drop_cap) => continues = true,
                "p" if cells == 0 => {
                    flow.end_heading();
                    flow.line();
                }
                "tc" => cells = cells.saturating_sub(1),
                "t" => in_text = false,
                "tbl" => flow.end_table(),
                _ => {}
            }
        }
        Piece::Text(text) if in_text && hidden == 0 => flow.words(text),
        Piece::Text(_) => {}
    })
}
