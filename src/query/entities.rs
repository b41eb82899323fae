//! Single entities, and lists of them: by id, by tag, by words.
//!
//! Owns how an id is understood. Kinds are in [`super::entity_kinds`]. Edges are walked in `graph`.

use std::borrow::Cow;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::corpus::{Corpus, CorpusScope};
use super::entity_kinds::{kind, kinds_of_files};
use super::preview::cut;
use super::{Hit, HitPage, Page, near, smart};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::extract::entity_kinds::DOCUMENT;
use crate::extract::{front_matter, languages};
use crate::model::{comparable_name, composed, printable};
use crate::store::{Link, ScopeOf, Snapshot, SpaceKey, StoredEntity, TaggedKind};
use crate::wording::{Argument, Tool, Wording};

/// The whole graph.
pub struct EntityGraph {
    /// Each with its tags.
    pub entities: Vec<(StoredEntity, Vec<String>)>,
    pub links: Vec<Link>,
}

/// An entity that answers a search, or a document, whose id is its path.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FoundEntity {
    pub score: f64,
    pub id: String,
    pub kind: String,
    pub title: String,
    pub snippet: String,
}

/// Something without a tag.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Untagged {
    pub id: String,
    pub kind: String,
    pub title: String,
    pub path: String,
}

/// Hits that are gathered before they are filtered by kind and tag.
const CANDIDATES: usize = 400;

/// The entity of that id, however its letters are written; `NOT_FOUND` with near ids otherwise.
pub fn find(snapshot: &Snapshot, id: &str) -> Result<StoredEntity> {
    let wanted = id.trim();
    if let Some(entity) = snapshot.entity_named(wanted)? {
        return Ok(entity);
    }
    if let Some(entity) = snapshot.entity_named(&comparable_name(wanted))? {
        return Ok(entity);
    }
    let all = snapshot.entities(None)?;
    let near = near::nearest(wanted, all.iter().map(|entity| entity.key.as_str()), 3);
    let shown: String = printable(wanted).chars().take(100).collect();
    let hint = match near::did_you_mean(&near) {
        Some(near) => Wording::from(near),
        None if all.is_empty() => {
            "There are no entities: they live in .ixchel/**/*.md, each with an `id` in its front matter.".into()
        }
        None => ("Find ids with ", Tool("ixchel_search"), ".").into(),
    };
    Err(Error::not_found(format!("there is no entity \"{shown}\"")).hint(hint))
}

/// Returns a kind as it is stored; `INVALID_ARGUMENT` for one that is not known and that nothing has.
fn known_kind(snapshot: &Snapshot, typed: &str) -> Result<String> {
    let asked = kind(typed);
    let known = kinds_of_files;
    if known().any(|name| name == asked) || snapshot.has_entity_of(&asked)? {
        return Ok(asked);
    }
    let shown: String = printable(typed).chars().take(60).collect();
    let near = near::did_you_mean(&near::nearest(&asked, known(), 1));
    Err(Error::invalid_argument((Argument("kind"), format!(": no entity is of kind \"{shown}\"")))
        .hint(near.unwrap_or_else(|| format!("There are: {}.", known().collect::<Vec<_>>().join(", ")))))
}

/// (tag, how many carry it), in byte order: counts entities, entities of one kind, or documents.
pub fn tags(snapshot: &Snapshot, of: Option<&str>) -> Result<Vec<(String, u64)>> {
    let of = of.map(|typed| known_kind(snapshot, typed)).transpose()?;
    match of.as_deref() {
        None => snapshot.tag_counts(TaggedKind::Entities),
        Some(DOCUMENT) => snapshot.tag_counts(TaggedKind::Documents),
        Some(kind) => snapshot.tag_counts(TaggedKind::OfKind(kind)),
    }
}

/// Every entity with its tags, and every edge.
pub fn all(snapshot: &Snapshot) -> Result<EntityGraph> {
    let tagged = |entity: StoredEntity| {
        let tags = snapshot.tags_of(&entity.path)?;
        Ok((entity, tags))
    };
    let entities = snapshot.entities(None)?.into_iter().map(tagged).collect::<Result<_>>()?;
    Ok(EntityGraph { entities, links: snapshot.every_link()? })
}

/// Lists entities without a tag by id, or documents without one by path.
pub fn untagged(snapshot: &Snapshot, of: Option<&str>) -> Result<Vec<Untagged>> {
    let of = of.map(|typed| known_kind(snapshot, typed)).transpose()?;
    if of.as_deref() == Some(DOCUMENT) {
        let documents = snapshot.untagged_documents(languages::MARKDOWN)?.into_iter();
        return Ok(documents
            .map(|(path, heading)| Untagged {
                id: path.clone(),
                kind: DOCUMENT.to_owned(),
                title: titled(heading, &path),
                path,
            })
            .collect());
    }
    let entities = snapshot.untagged_entities(of.as_deref())?.into_iter();
    Ok(entities
        .map(|entity| Untagged { id: entity.key, kind: entity.kind, title: entity.title, path: entity.path })
        .collect())
}

/// The entities that answer `text`, best first: by the same search as `query`, among only their chunks, one hit each.
/// An id that is asked for by itself comes first. Of kind `document`: the other Markdown files, by their paths.
pub fn search(
    snapshot: &Snapshot,
    deep: Option<&smart::Reranker>,
    text: &str,
    (of_kind, tag): (Option<&str>, Option<&str>),
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<HitPage<FoundEntity>> {
    let kind = of_kind.map(|typed| known_kind(snapshot, typed)).transpose()?;
    let of_documents = kind.as_deref() == Some(DOCUMENT);
    let tag = stored_tag(tag);
    let of = scope_of(kind.as_deref(), tag.as_deref());
    let scope = snapshot.scope(of)?;
    // The search puts at most two hits of a file before the first of another.
    let wanted = offset.saturating_add(limit).saturating_mul(2).clamp(1, CANDIDATES);
    let (corpus, scope) = (Corpus::single(snapshot), CorpusScope::new(vec![scope]));
    let HitPage { page: hits, warning } =
        smart::search_in(&scope, || Ok(vec![paths(snapshot, of)?]), &corpus, deep, text, (0, wanted), budget)?;
    let complete = !hits.is_cut;
    let best = hits.items.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let mut found: Vec<FoundEntity> = Vec::new();
    let mut seen = HashSet::new();
    if let Some(entity) = named(snapshot, text, of)? {
        seen.insert(entity.path.clone());
        let (score, snippet) = (best + 1.0, snippet(snapshot, &entity.path, "", &entity.title)?);
        found.push(FoundEntity { score, id: entity.key, kind: entity.kind, title: entity.title, snippet });
    }
    for Hit { path, preview, score, .. } in hits.items {
        if !seen.insert(path.clone()) {
            continue;
        }
        if of_documents {
            let title = titled(snapshot.heading_of(&path)?, &path);
            let snippet = snippet(snapshot, &path, &preview, &title)?;
            found.push(FoundEntity { score, id: path, kind: DOCUMENT.to_owned(), title, snippet });
        } else if let Some(entity) = snapshot.entity_at(&path)? {
            let snippet = snippet(snapshot, &path, &preview, &entity.title)?;
            found.push(FoundEntity { score, id: entity.key, kind: entity.kind, title: entity.title, snippet });
        }
    }
    let mut page = Page::from_list(found, offset, limit);
    if !complete {
        page.total = None;
        page.is_cut |= page.items.len() == limit;
    }
    Ok(HitPage { page, warning })
}

/// The line that a hit shows next to its id and title: the line that matched, or, if that repeats the title, the first
/// line of the text that does not. Empty where there is none.
fn snippet(snapshot: &Snapshot, path: &str, matched: &str, title: &str) -> Result<String> {
    let says_more = |line: &str| {
        let line = line.trim();
        let is_shown = ["title:", "id:"].iter().any(|field| line.starts_with(field));
        !line.is_empty() && !is_shown && line.trim_start_matches('#').trim() != title
    };
    if says_more(matched) {
        return Ok(matched.trim().to_owned());
    }
    let text = snapshot.text_of(path)?;
    let line = front_matter::body(&text).0.lines().find(|line| says_more(line));
    Ok(line.map_or_else(String::new, |line| cut(line.trim(), 0)))
}

/// Counts the chunks of a search for entities that have no vector yet: it finds them by their words alone.
pub fn vectors_pending(
    snapshot: &Snapshot,
    (of_kind, tag): (Option<&str>, Option<&str>),
    space: &SpaceKey,
) -> Result<u64> {
    let kind = of_kind.map(|typed| known_kind(snapshot, typed)).transpose()?;
    let scope = snapshot.scope(scope_of(kind.as_deref(), stored_tag(tag).as_deref()))?;
    snapshot.vectors_out_of_reach(space, Some(&scope))
}

/// The tag that is asked for, as it is stored.
fn stored_tag(asked: Option<&str>) -> Option<Cow<'_, str>> {
    asked.map(|tag| composed(tag.trim().trim_start_matches('#')))
}

fn scope_of<'a>(kind: Option<&'a str>, tag: Option<&'a str>) -> ScopeOf<'a> {
    match kind {
        Some(DOCUMENT) => ScopeOf::Documents { language: languages::MARKDOWN, tag },
        kind => ScopeOf::Entities { kind, tag },
    }
}

/// The entity that `text` is the id of, if it is among those asked for.
fn named(snapshot: &Snapshot, text: &str, of: ScopeOf) -> Result<Option<StoredEntity>> {
    let ScopeOf::Entities { kind, tag } = of else { return Ok(None) };
    let entity = snapshot.entity_named(text.trim())?.filter(|entity| kind.is_none_or(|kind| entity.kind == kind));
    let (Some(entity), Some(tag)) = (&entity, tag) else { return Ok(entity) };
    let carries = snapshot.tags_of(&entity.path)?.iter().any(|carried| carried == tag);
    Ok(carries.then(|| entity.clone()))
}

/// The files of a scope.
fn paths(snapshot: &Snapshot, of: ScopeOf) -> Result<HashSet<String>> {
    let (all, tag) = match of {
        ScopeOf::Entities { kind, tag } => (snapshot.entity_paths(kind)?, tag),
        ScopeOf::Documents { language, tag } => (snapshot.document_paths(language)?, tag),
    };
    let mut paths: HashSet<String> = all.into_iter().collect();
    if let Some(tag) = tag {
        let tagged: HashSet<String> = snapshot.paths_tagged(tag)?.into_iter().collect();
        paths.retain(|path| tagged.contains(path));
    }
    Ok(paths)
}

/// The title of a document: its first heading, else its file's name.
fn titled(heading: Option<String>, path: &str) -> String {
    heading.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned())
}
