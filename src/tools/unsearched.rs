//! The note of an answer about files whose text is not searched.
//!
//! Owns its words. Does not own why a file is skipped (`scan`), or which skipped files have text (`store`).

use std::collections::BTreeMap;

use crate::error::Result;
use crate::extract;
use crate::model::RepoPath;
use crate::query::PathFilter;
use crate::store::Snapshot;

/// Languages of files that define no names, such as lock files.
const DATA: &[&str] = &["json", "text", "toml", "yaml"];

/// The note about the skipped files with text that pass the filter; `None` if there are none.
pub(crate) fn note(snapshot: &Snapshot, filter: &PathFilter) -> Result<Option<String>> {
    of_files(snapshot, |path| filter.admits(path))
}

/// The note about the skipped files that may define a name; `None` if there are none.
pub(crate) fn note_of_name(snapshot: &Snapshot) -> Result<Option<String>> {
    let language = |path: &str| RepoPath::stored(path).map(|path| extract::language_of(&path));
    of_files(snapshot, |path| language(path).is_some_and(|language| !DATA.contains(&language)))
}

fn of_files(snapshot: &Snapshot, is_counted: impl Fn(&str) -> bool) -> Result<Option<String>> {
    // An index without files has a warning of its own.
    if !snapshot.has_files()? {
        return Ok(None);
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (path, reason) in snapshot.skipped_texts()? {
        if is_counted(&path) {
            *counts.entry(reason).or_default() += 1;
        }
    }
    let (files, them) = match counts.values().sum() {
        0 => return Ok(None),
        1 => ("1 file is".to_owned(), "it"),
        many => (format!("{many} files are"), "them"),
    };
    let counts: Vec<String> = counts.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    Ok(Some(format!("{files} not searched ({}); `ixmcp files --skipped` lists {them}.", counts.join(", "))))
}
