//! Queries that consist of filters only, such as `path:src kind:class`: what the filters admit, in path order.
//!
//! With a kind, these are the definitions of that kind, at most two per file before the remaining ones; otherwise, the files.

use super::filters::ResolvedFilters;
use super::parsed_query::ParsedQuery;
use super::{diverse, filter_of};
use crate::budget::Budget;
use crate::error::Result;
use crate::query::corpus::Corpus;
use crate::query::qualified_name::qualified;
use crate::query::{Hit, Page, PathFilter, exact, preview};
use crate::store::{Definition, Snapshot};

/// Definitions that are listed; for more of one kind, a caller filters by folder.
const MOST: usize = 2_000;

/// A file, or a definition in it.
struct ListedItem {
    source: usize,
    path: String,
    definition: Option<Definition>,
}

pub(super) fn list(
    corpus: &Corpus,
    query: &ParsedQuery,
    filters: &[PathFilter],
    context: u32,
    (offset, limit): (usize, usize),
    budget: &Budget,
) -> Result<Page<Hit>> {
    let (mut all, mut is_complete) = (Vec::new(), true);
    for at in 0..corpus.source_count() {
        let filter = filter_of(filters, at);
        is_complete &= corpus.ask(at, |source| add(&mut all, (at, source), query, filter, budget))?;
    }
    let mut page = Page::from_list(diverse(all, |listed| (listed.source, &listed.path)), offset, limit);
    if !is_complete {
        page.total = None;
    }
    page.try_map(|listed| corpus.ask(listed.source, |source| hit(source, listed, context)))
}

/// Adds what a source has. Returns whether that is all.
fn add(
    all: &mut Vec<ListedItem>,
    (at, source): (usize, &Snapshot),
    query: &ParsedQuery,
    filter: &PathFilter,
    budget: &Budget,
) -> Result<bool> {
    let filters = &query.filters;
    let passing = ResolvedFilters::resolve(source, filters)?;
    let of_kinds = filters.paths_of_kinds(source)?;
    for (path, language) in source.paths(None)? {
        if !filter.admits(&path) || !passing.holds(&path, &language) {
            continue;
        }
        budget.check()?;
        if filters.exclude_words() && !filters.admit_text(&source.text_of(&path)?) {
            continue;
        }
        if !filters.are_of_kinds() || of_kinds.contains(&path) {
            all.push(ListedItem { source: at, path, definition: None });
            continue;
        }
        if all.len() >= MOST {
            return Ok(false);
        }
        let mut definitions = source.unsigned_between(&path, 1, u32::MAX - 1)?;
        definitions.retain(|definition| filters.admit_kind(definition));
        let listed = |found| ListedItem { source: at, path: path.clone(), definition: Some(found) };
        all.extend(definitions.into_iter().map(listed));
    }
    Ok(true)
}

fn hit(source: &Snapshot, listed: ListedItem, context: u32) -> Result<Hit> {
    let ListedItem { source: at, path, definition } = listed;
    let line = match &definition {
        Some(definition) => definition.line,
        None => first_line(source, &path)?,
    };
    let symbol = match &definition {
        Some(definition) => Some(qualified(definition)),
        None => source.symbol_around(&path, line)?.map(|symbol| qualified(&symbol)),
    };
    let context = context.min(exact::MAX_CONTEXT);
    let around = source.lines(&path, line.saturating_sub(context).max(1), line + context)?;
    Ok(Hit {
        line,
        start_line: definition.as_ref().map_or(line, |definition| definition.start_line),
        end_line: definition.as_ref().map_or(line, |definition| definition.end_line),
        symbol,
        score: 1.0,
        preview: around.iter().map(|line| preview::cut(line, 0)).collect::<Vec<_>>().join("\n"),
        parts: Vec::new(),
        similar: 0,
        similar_in: None,
        source: at,
        path,
        commit: None,
    })
}

/// The first line of a file that says something about it: after its licence and header guards, or else that is not blank.
fn first_line(source: &Snapshot, path: &str) -> Result<u32> {
    const LOOKED_AT: u32 = 50;
    let lines = source.lines(path, 1, LOOKED_AT)?;
    let after = preview::after_licence(&lines);
    let numbered = || (1..).zip(&lines);
    let telling = numbered().skip(after).find(|(_, line)| preview::is_telling(line));
    let said = telling.or_else(|| numbered().find(|(_, line)| !line.trim().is_empty()));
    Ok(said.map_or(1, |(number, _)| number))
}
