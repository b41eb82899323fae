//! Single entities, and lists of them: by id, by tag, by words.
//!
//! Owns how an id and a kind are understood. Edges are walked in `graph`.

use std::collections::HashSet;

use super::{Hit, Page, PathFilter, near, smart};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::extract::entity::{DOCUMENT, Kind};
use crate::extract::languages;
use crate::model::printable;
use crate::store::{Snapshot, StoredEntity, Tagged};

/// An entity that answers a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub score: f64,
    pub entity: StoredEntity,
    pub snippet: String,
}

/// Something without a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untagged {
    pub id: String,
    pub kind: String,
    pub title: String,
    pub path: String,
}

/// Hits that are gathered before kinds and tags have their say.
const CANDIDATES: usize = 400;

/// The entity of that id, however its letters are written; `NOT_FOUND` with near ids otherwise.
pub fn find(snapshot: &Snapshot, id: &str) -> Result<StoredEntity> {
    let wanted = id.trim();
    if let Some(entity) = snapshot.entity_named(wanted)? {
        return Ok(entity);
    }
    if let Some(entity) = snapshot.entity_named(&wanted.to_lowercase())? {
        return Ok(entity);
    }
    let all = snapshot.entities(None)?;
    let near = near::nearest(wanted, all.iter().map(|entity| entity.key.as_str()), 3);
    let shown: String = printable(wanted).chars().take(100).collect();
    let hint = near::did_you_mean(&near).unwrap_or_else(|| {
        if all.is_empty() {
            "There are no entities: they live in .ixchel/**/*.md, each with an `id` in its front matter.".to_owned()
        } else {
            "Find ids with ixchel_search.".to_owned()
        }
    });
    Err(Error::not_found(format!("there is no entity {shown:?}")).hint(hint))
}

/// A kind as it is stored, for one that somebody typed: any case, singular or plural.
pub fn kind(typed: &str) -> String {
    Kind::named(typed).map_or_else(|| typed.trim().to_lowercase(), |kind| kind.name.to_owned())
}

/// (tag, how many carry it), in byte order: of entities, of those of one kind, or of documents.
pub fn tags(snapshot: &Snapshot, of: Option<&str>) -> Result<Vec<(String, u64)>> {
    match of.map(kind).as_deref() {
        None => snapshot.tag_counts(Tagged::Entities),
        Some(DOCUMENT | "documents") => snapshot.tag_counts(Tagged::Documents),
        Some(kind) => snapshot.tag_counts(Tagged::OfKind(kind)),
    }
}

/// What carries no tag, by id: entities, or documents.
pub fn untagged(snapshot: &Snapshot, of: Option<&str>) -> Result<Vec<Untagged>> {
    let of = of.map(kind);
    if matches!(of.as_deref(), Some(DOCUMENT | "documents")) {
        let documents = snapshot.untagged_documents(languages::MARKDOWN)?.into_iter();
        return Ok(documents
            .map(|(path, heading)| Untagged {
                id: path.clone(),
                kind: DOCUMENT.to_owned(),
                title: heading.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(&path).to_owned()),
                path,
            })
            .collect());
    }
    let entities = snapshot.untagged_entities(of.as_deref())?.into_iter();
    Ok(entities
        .map(|entity| Untagged { id: entity.key, kind: entity.kind, title: entity.title, path: entity.path })
        .collect())
}

/// The entities that answer `text`, best first: by the same search as `query`, over their files alone, one hit each. An id
/// that is asked for by itself comes first.
pub fn search(
    snapshot: &Snapshot,
    text: &str,
    (of_kind, tag): (Option<&str>, Option<&str>),
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Found>> {
    let mut paths: HashSet<String> = snapshot.entity_paths(of_kind.map(kind).as_deref())?.into_iter().collect();
    if let Some(tag) = tag {
        let tagged: HashSet<String> = snapshot.paths_tagged(tag.trim().trim_start_matches('#'))?.into_iter().collect();
        paths.retain(|path| tagged.contains(path));
    }
    let named = snapshot.entity_named(text.trim())?.filter(|entity| paths.contains(&entity.path));
    // The search puts at most two hits of a file before the first of another.
    let wanted = offset.saturating_add(limit).saturating_mul(2).clamp(1, CANDIDATES);
    let hits = smart::search(snapshot, text, &PathFilter::of_paths(paths), 0, (0, wanted), budget)?;
    let complete = hits.next_offset.is_none();
    let best = hits.items.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let mut found: Vec<Found> = Vec::new();
    let mut seen = HashSet::new();
    if let Some(entity) = named {
        seen.insert(entity.path.clone());
        let snippet = entity.title.clone();
        found.push(Found { score: best + 1.0, entity, snippet });
    }
    for Hit { path, preview, score, .. } in hits.items {
        if seen.insert(path.clone())
            && let Some(entity) = snapshot.entity_at(&path)?
        {
            found.push(Found { score, entity, snippet: preview.trim().to_owned() });
        }
    }
    let mut page = Page::of(found, offset, limit);
    if !complete {
        page.total = None;
        page.next_offset = page.next_offset.or((page.items.len() == limit).then(|| offset + limit));
    }
    Ok(page)
}
