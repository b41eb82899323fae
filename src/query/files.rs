//! Which files there are, and what the index weighs.

use super::{Page, PathFilter, near};
use crate::error::Result;
use crate::store::{Fact, Snapshot, schema_version};

/// Paths of indexed files, sorted.
pub fn list(
    snapshot: &Snapshot,
    filter: &PathFilter,
    language: Option<&str>,
    offset: usize,
    limit: usize,
) -> Result<Page<String>> {
    let paths = snapshot.paths(language)?.into_iter().map(|(path, _)| path);
    Ok(Page::of(paths.filter(|path| filter.admits(path)).collect(), offset, limit))
}

/// The nearest indexed names for a path that is not there, as a hint.
pub fn near(snapshot: &Snapshot, path: &str) -> Result<Option<String>> {
    let paths = snapshot.paths(None)?;
    Ok(near::did_you_mean(&near::nearest(path, paths.iter().map(|(path, _)| path.as_str()), 3)))
}

/// What the index holds.
#[derive(Clone, Debug)]
pub struct Counts {
    pub files: u64,
    pub chunks: u64,
    pub symbols: u64,
    pub references: u64,
    pub entities: u64,
    pub tags: u64,
    /// (language, files, lines).
    pub languages: Vec<(String, u64, u64)>,
    /// (reason, files).
    pub skipped: Vec<(String, u64)>,
    /// Nanoseconds since 1970.
    pub last_change_ns: Option<i64>,
    pub schema_version: i64,
}

pub fn counts(snapshot: &Snapshot) -> Result<Counts> {
    Ok(Counts {
        files: snapshot.file_count()?,
        chunks: snapshot.chunk_count()?,
        symbols: snapshot.symbol_count()?,
        references: snapshot.reference_count()?,
        entities: snapshot.entity_count()?,
        tags: snapshot.tag_count()?,
        languages: snapshot.language_counts()?,
        skipped: snapshot.skipped_counts()?,
        last_change_ns: snapshot.fact(Fact::LastChange)?.and_then(|ns| ns.parse().ok()),
        schema_version: schema_version(),
    })
}
