//! The list of indexed files, and the size of the index.

use super::{Page, PathFilter, near};
use crate::error::Result;
use crate::store::Snapshot;

/// Paths of indexed files, sorted.
pub fn list(
    snapshot: &Snapshot,
    filter: &PathFilter,
    language: Option<&str>,
    offset: usize,
    limit: usize,
) -> Result<Page<String>> {
    let paths = snapshot.paths(language)?.into_iter().map(|(path, _)| path);
    Ok(Page::from_list(paths.filter(|path| filter.admits(path)).collect(), offset, limit))
}

/// The nearest indexed paths for a missing path, as a hint.
pub fn near(snapshot: &Snapshot, path: &str) -> Result<Option<String>> {
    let paths = snapshot.paths(None)?;
    Ok(near::did_you_mean(&near::nearest(path, paths.iter().map(|(path, _)| path.as_str()), 3)))
}
