//! EPUB: the chapters of a book in reading order. Chapters are parsed as XML, because an HTML parser can lose a whole
//! one: findings/html-parser-on-a-chapter.sh.

use std::collections::HashMap;

use super::archive::{self, Archive};
use super::flow::Flow;
use super::xml::{self, Piece};
use super::{Document, html};
use crate::extract::prose::percent_decoded;
use crate::model::SkipReason;

/// The media type of a package.
const PACKAGE: &str = "application/oebps-package+xml";

pub(super) fn read(bytes: &[u8]) -> Result<Document, SkipReason> {
    let mut archive = Archive::open(bytes)?;
    // Fonts may be scrambled in a book that is open otherwise.
    let encrypted = archive.part("META-INF/encryption.xml")?.unwrap_or_default();
    if encrypted.contains("html\"") {
        return Err(SkipReason::Encrypted);
    }
    let package_path = first_package(&archive.needed("META-INF/container.xml")?)?.ok_or(SkipReason::MissingPart)?;
    let chapters = chapters(&archive.needed(&package_path)?)?;
    let folder = package_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut flow = Flow::default();
    for chapter in chapters {
        let path = joined(folder, &chapter);
        match archive::unless_broken(archive.part(&path), &path, &mut flow)? {
            Some(Some(text)) => html::take(&text, &mut flow),
            None => {}
            Some(None) => flow.problem("a chapter that the book lists is not in it"),
        }
        if flow.is_overfull() {
            break;
        }
    }
    flow.finish()
}

fn first_package(container: &str) -> Result<Option<String>, SkipReason> {
    let mut package = None;
    xml::walk(container, &mut |piece| {
        // The first may be of another form of the book, such as PDF.
        if let Piece::Open("rootfile", attributes) = piece
            && attributes.get("media-type").is_none_or(|kind| kind.trim() == PACKAGE)
        {
            package = package.take().or_else(|| attributes.get("full-path"));
        }
    })?;
    Ok(package)
}

/// The paths of the chapters, as the package has them.
fn chapters(package: &str) -> Result<Vec<String>, SkipReason> {
    struct Item {
        path: String,
        is_page: bool,
        fallback: Option<String>,
    }
    let mut by_id = HashMap::new();
    let mut spine = Vec::new();
    xml::walk(package, &mut |piece| match piece {
        Piece::Open("item", attributes) => {
            let is_page = attributes.get("media-type").is_some_and(|kind| is_page(&kind));
            let is_contents = attributes.get("properties").is_some_and(|says| says.split(' ').any(|one| one == "nav"));
            if let (Some(id), Some(path), false) = (attributes.get("id"), attributes.get("href"), is_contents) {
                by_id.insert(id, Item { path, is_page, fallback: attributes.get("fallback") });
            }
        }
        Piece::Open("itemref", attributes) => spine.extend(attributes.get("idref")),
        _ => {}
    })?;
    // A chapter is read once, however often it is listed. One of a foreign type has another form in its place.
    let mut page = |id: String| {
        let mut item = by_id.remove(&id)?;
        while !item.is_page {
            item = by_id.remove(&item.fallback?)?;
        }
        Some(item.path)
    };
    Ok(spine.into_iter().filter_map(&mut page).collect())
}

/// Whether chapters of a type are read: XHTML, a drawn page, and the two of OPF 2.0.
fn is_page(media_type: &str) -> bool {
    media_type.contains("html")
        || matches!(media_type, "image/svg+xml" | "application/x-dtbook+xml" | "text/x-oeb1-document")
}

/// The path of a part that another part names from its folder.
fn joined(folder: &str, path: &str) -> String {
    let path = percent_decoded(path.split('#').next().unwrap_or(path));
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
