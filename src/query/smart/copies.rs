//! Copies: of chunks with the same text, one is a hit.
//!
//! Owns which one: of versions of a folder (`docs/v9`, `docs/v10`) that which the query names, else the newest; else the one
//! that ranks first.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::rank::RankedCandidate;

/// Shorter texts, in bytes, are the same by chance.
const LEAST: usize = 80;

/// The hits without copies of others; each counts its copies, and says which folder has them.
pub(super) fn collapse(ranked: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let mut kept: HashMap<&str, (usize, Vec<usize>), RandomState> = HashMap::default();
    for (at, found) in ranked.iter().enumerate() {
        let text = found.chunk.text.trim();
        if text.len() < LEAST {
            continue;
        }
        let (best, same) = kept.entry(text).or_insert((at, Vec::new()));
        same.push(at);
        if *best == at {
            continue;
        }
        // A version that the query names is the right one.
        let is_named = ranked[*best].path & !found.path != 0;
        if found.id.source == ranked[*best].id.source
            && !is_named
            && is_newer(&found.chunk.path, &ranked[*best].chunk.path)
        {
            *best = at;
        }
    }
    let copies = |(best, same): (usize, Vec<usize>)| {
        let others: Vec<&RankedCandidate> = same.iter().filter(|at| **at != best).map(|at| &ranked[*at]).collect();
        let is_here = others.iter().all(|other| other.id.source == ranked[best].id.source);
        let folder = is_here.then(|| common_folder(others.iter().map(|other| other.chunk.path.as_str()))).flatten();
        (best, (others.len(), folder))
    };
    let mut copies: HashMap<usize, (usize, Option<String>)> = kept.into_values().map(copies).collect();
    let mut collapsed: Vec<RankedCandidate> = Vec::with_capacity(ranked.len());
    for (at, mut found) in ranked.into_iter().enumerate() {
        let own = copies.remove(&at);
        if own.is_some() || found.chunk.text.trim().len() < LEAST {
            (found.similar, found.similar_in) = own.unwrap_or_default();
            collapsed.push(found);
        }
    }
    collapsed
}

/// The folder that has all of these files; `None` if there is only the repository.
fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> Option<String> {
    let folder = |path: &'a str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut common: Vec<&str> = folder(paths.next()?).split('/').collect();
    for path in paths {
        let shared = folder(path).split('/').zip(&common).take_while(|(one, other)| one == *other).count();
        common.truncate(shared);
    }
    Some(common.join("/")).filter(|folder| !folder.is_empty())
}

/// Whether two paths differ only in numbers, and the first has the higher ones.
fn is_newer(path: &str, other: &str) -> bool {
    let (own, own_numbers) = split(path);
    let (others, other_numbers) = split(other);
    own == others && own_numbers > other_numbers
}

/// A path without its numbers, and these.
fn split(path: &str) -> (String, Vec<u64>) {
    let (mut text, mut numbers) = (String::new(), Vec::new());
    let mut rest = path;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        text.push_str(before);
        text.push('0');
        numbers.push(from[..end].parse().unwrap_or(u64::MAX));
        rest = &from[end..];
    }
    text.push_str(rest);
    (text, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_newer("docs/v10/a.md", "docs/v9/a.md"));
        assert!(is_newer("docs/v1.10/a.md", "docs/v1.9/a.md"));
        assert!(!is_newer("docs/v9/a.md", "docs/v10/a.md") && !is_newer("docs/v10/a.md", "docs/v9/b.md"));
    }

    #[test]
    fn copies_are_in_the_folder_that_has_all_of_them() {
        let common = |paths: &[&str]| common_folder(paths.iter().copied());
        assert_eq!(common(&["www/old/v1/a.md", "www/old/v2/b.md"]).as_deref(), Some("www/old"));
        assert_eq!(common(&["www/a.md"]).as_deref(), Some("www"));
        assert_eq!((common(&["www/a.md", "wwwx/a.md"]), common(&["a.md"]), common(&[])), (None, None, None));
    }
}
