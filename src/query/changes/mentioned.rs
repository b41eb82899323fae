//! Entities and documents that mention a definition.
//!
//! Owns what counts as a mention: the name in code, or anywhere if no prose has such a word.

use std::collections::HashMap;
use std::rc::Rc;

use super::MentionedIn;
use super::diff::Entry;
use crate::error::Result;
use crate::extract::languages;
use crate::store::{FtsQuery, Snapshot};

/// Languages of texts for people.
const PROSE: &[&str] = &[languages::MARKDOWN, "restructuredtext", "text"];
/// Texts that are read for one name.
const MAX_TEXTS: usize = 50;

/// Texts that were read.
#[derive(Default)]
pub(super) struct Texts(HashMap<String, Rc<Prose>>);

/// A text, with where its lines of ``` or ~~~ begin.
struct Prose {
    text: String,
    fences: Vec<usize>,
}

impl Prose {
    fn new(text: String) -> Self {
        let mut at = 0;
        let mut fences = Vec::new();
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
                fences.push(at);
            }
            at += line.len();
        }
        Self { text, fences }
    }
}

impl Texts {
    pub(super) fn that_mention(&mut self, snapshot: &Snapshot, entry: &Entry, most: usize) -> Result<Vec<MentionedIn>> {
        let Some(query) = FtsQuery::phrase(&entry.name) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let texts = snapshot.files_matching_any(&query, PROSE)?;
        for language in PROSE {
            let own = texts.iter().filter(|(_, of)| of == language).map(|(path, _)| path.clone());
            for path in own.take(MAX_TEXTS) {
                // Entities are Markdown, which comes first.
                if found.len() >= most && *language != languages::MARKDOWN {
                    break;
                }
                let Some(line) = line_that_mentions(self.text(snapshot, &path)?.as_ref(), entry) else { continue };
                let id = snapshot.entity_at(&path)?.map(|entity| entity.key);
                found.push(MentionedIn { file_path: path, line, id });
            }
        }
        // Entities are decisions and issues, which concern a change more than other texts do.
        found.sort_by_key(|mention| mention.id.is_none());
        found.truncate(most);
        Ok(found)
    }

    fn text(&mut self, snapshot: &Snapshot, path: &str) -> Result<Rc<Prose>> {
        if let Some(known) = self.0.get(path) {
            return Ok(Rc::clone(known));
        }
        let text = Rc::new(Prose::new(snapshot.text_of(path)?));
        self.0.insert(path.to_owned(), Rc::clone(&text));
        Ok(text)
    }
}

/// The first line of a text that mentions a definition.
fn line_that_mentions(prose: &Prose, entry: &Entry) -> Option<u32> {
    let name = entry.name.as_str();
    let is_distinct = name.len() > 3 && (name.contains('_') || name.chars().skip(1).any(char::is_uppercase));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let type_around = entry.container.as_deref().and_then(|around| around.rsplit(['.', ':', '#', '\\']).next());
    let text = prose.text.as_str();
    let mut next = 0;
    while let Some(at) = text.get(next..).and_then(|rest| rest.find(name)).map(|at| next + at) {
        let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
        let end = text[at..].find('\n').map_or(text.len(), |after| at + after);
        next = end;
        let is_fenced = prose.fences.partition_point(|fence| *fence <= start) % 2 == 1;
        let line = text[start..end].replace("``", "`");
        for (at, _) in line.match_indices(name) {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            if before.ends_with(is_part) || after.starts_with(is_part) {
                continue;
            }
            let is_code = is_fenced || before.matches('`').count() % 2 == 1;
            let qualifier = before.strip_suffix('.').or_else(|| before.strip_suffix("::"));
            let qualifier = qualifier.map(|before| &before[before.trim_end_matches(is_part).len()..]);
            // `Other.name` is another's.
            let is_other = qualifier.is_some_and(|word| {
                word.starts_with(char::is_uppercase) && type_around.is_some_and(|around| around != word)
            });
            if (is_code || is_distinct) && !is_other {
                return u32::try_from(text[..start].matches('\n').count() + 1).ok();
            }
        }
    }
    None
}
