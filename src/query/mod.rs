//! Read-only queries to a snapshot of the index.
//!
//! Owns what a query means: which rows answer it, in which order, and how pages are cut. Returns plain values: no
//! JSON, no SQL. Does not own freshness (`update`) nor how answers are shown (`tools`, `cli`).

pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod context;
pub mod corpus;
pub(crate) mod documents;
pub(crate) mod entities;
pub(crate) mod entity_kinds;
pub mod exact;
pub(crate) mod files;
mod globs;
pub(crate) mod graph;
pub mod history;
pub(crate) mod mentions;
pub(crate) mod near;
pub mod occurrences;
pub(crate) mod overview;
pub(crate) mod patch;
pub(crate) mod picture;
pub mod positions;
mod preview;
pub mod qualified_name;
pub mod relations;
pub mod scip;
pub mod slice;
pub mod smart;
pub mod symbols;

pub use globs::PathFilter;

use crate::error::Result;
use crate::store::CommitId;

/// One page of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// How many items come before it.
    pub offset: usize,
    /// The real number of items on all pages; `None` where they were not counted.
    pub total: Option<usize>,
    /// Whether items follow it.
    pub is_cut: bool,
}

impl<T> Page<T> {
    /// The page at `offset` of a complete list.
    pub fn from_list(all: Vec<T>, offset: usize, limit: usize) -> Self {
        let total = all.len();
        let items: Vec<T> = all.into_iter().skip(offset).take(limit).collect();
        let is_cut = offset.saturating_add(items.len()) < total;
        Self { items, offset, total: Some(total), is_cut }
    }

    /// Where the next page begins; `None` at the end, and after an empty page: paging by empty pages never ends.
    pub fn next_offset(&self) -> Option<usize> {
        (self.is_cut && !self.items.is_empty()).then(|| self.offset + self.items.len())
    }

    /// Replaces each item by what `make` makes of it.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> Page<U> {
        let Self { items, offset, total, is_cut } = self;
        Page { items: items.into_iter().map(make).collect(), offset, total, is_cut }
    }

    /// Replaces each item by the result of a fallible function.
    pub(crate) fn try_map<U>(self, make: impl FnMut(T) -> Result<U>) -> Result<Page<U>> {
        let Self { items, offset, total, is_cut } = self;
        Ok(Page { items: items.into_iter().map(make).collect::<Result<_>>()?, offset, total, is_cut })
    }
}

/// One page of the hits of a smart search.
#[derive(Clone, Debug, PartialEq)]
pub struct HitPage<T> {
    pub page: Page<T>,
    /// Filters that matched nothing, with near values.
    pub warning: Option<String>,
}

/// One result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub path: String,
    /// The line of the match.
    pub line: u32,
    /// The lines of the chunk, or of the preview where the match was exact.
    pub start_line: u32,
    pub end_line: u32,
    /// The innermost symbol around the line, qualified.
    pub symbol: Option<String>,
    /// Larger is better; 1 for an exact match.
    pub score: f64,
    pub preview: String,
    /// The terms of the score, by name.
    pub parts: Vec<(&'static str, f64)>,
    /// Other chunks with the same text, which are not listed.
    pub similar: usize,
    /// The folder that has all of them, if there is one.
    pub similar_in: Option<String>,
    /// The index of its repository, where several were searched.
    pub source: usize,
    /// The commit of its source that is the strongest evidence for the file.
    pub commit: Option<CommitId>,
}
