//! Copies: of chunks with the same text, one is a hit.
//!
//! Owns which one: of versions of a folder (`docs/v9`, `docs/v10`) that of the newest, else the one that ranks first.

use std::collections::HashMap;

use super::rank::RankedCandidate;

/// Shorter texts, in bytes, are the same by chance.
const LEAST: usize = 80;

/// The hits without copies of others; each counts its copies.
pub(super) fn collapse(ranked: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let mut kept: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, found) in ranked.iter().enumerate() {
        let text = found.chunk.text.trim();
        if text.len() < LEAST {
            continue;
        }
        let (best, count) = kept.entry(text).or_insert((at, 0));
        *count += 1;
        if found.id.source == ranked[*best].id.source && is_newer(&found.chunk.path, &ranked[*best].chunk.path) {
            *best = at;
        }
    }
    let copies: HashMap<usize, usize> = kept.into_values().map(|(best, count)| (best, count - 1)).collect();
    let one_of_its_text =
        |at: usize, found: &RankedCandidate| found.chunk.text.trim().len() < LEAST || copies.contains_key(&at);
    let mut collapsed: Vec<RankedCandidate> = Vec::with_capacity(ranked.len());
    for (at, mut found) in ranked.into_iter().enumerate() {
        if one_of_its_text(at, &found) {
            found.similar = copies.get(&at).copied().unwrap_or(0);
            collapsed.push(found);
        }
    }
    collapsed
}

/// Whether two paths differ in numbers alone, and the first has the higher ones.
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
}
