//! The history of lines: the commits that touched some lines of a file.
//!
//! Owns how lines are followed back from one version of the file to the one before, through renames and merges. Which commits changed
//! the file is known from the index, so that git reads those alone; `git log -L` walks the whole history. Does not own which lines are
//! asked for (`query`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use similar::{Algorithm, capture_diff_slices};

use super::history::History;
use crate::budget::Budget;
use crate::error::Result;
use crate::git_objects::{Objects, Patch};

/// A version of a file that is larger is not compared.
const MAX_BLOB: u64 = 2 << 20;
/// Commits whose changes are read at once.
const AT_ONCE: usize = 100;

/// Commits that may have changed a file, the newest first.
#[derive(Clone, Debug, Default)]
pub struct FileCommits {
    /// The names that it had.
    pub paths: Vec<String>,
    /// The commits that changed it, and when, in seconds since 1970.
    pub commits: Vec<(String, i64)>,
    /// Merges of that time, any of which may have put versions of it together.
    pub merges: Vec<(String, i64)>,
}

impl History {
    /// The newest commits that touched lines of a file, at most so many. The lines count from 1 and are those of `text`, the present
    /// text of the file at `path`.
    pub fn of_lines(
        &self,
        (path, text): (&str, &str),
        (first, last): (u32, u32),
        of_file: &FileCommits,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<String>> {
        let objects = self.objects()?;
        let Some(head) = objects.blob_at_head(path, budget)? else { return Ok(Vec::new()) };
        let blob = objects.blobs(&[&head], MAX_BLOB, budget)?.pop().flatten().unwrap_or_default();
        let lines = at_head(first.saturating_sub(1) as usize..last as usize, text, &String::from_utf8_lossy(&blob));
        let start = Followed { known: HashMap::from([(head, lines)]), done: HashSet::new() };
        let search = Search { objects: &objects, paths: &of_file.paths, most, budget };
        let (touching, is_broken) = search.follow(start.clone(), &of_file.commits)?;
        if !is_broken {
            return Ok(touching);
        }
        let mut all = [&of_file.commits[..], &of_file.merges].concat();
        all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        Ok(search.follow(start, &all)?.0)
    }
}

struct Search<'s> {
    objects: &'s Objects,
    paths: &'s [String],
    most: usize,
    budget: &'s Budget,
}

impl Search<'_> {
    /// Returns the commits that touched the lines, as far as versions follow each other, and whether a version is not the one that
    /// another commit was made from, so that merges are needed.
    fn follow(&self, mut followed: Followed, commits: &[(String, i64)]) -> Result<(Vec<String>, bool)> {
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let (mut touching, mut is_broken): (Vec<String>, bool) = (Vec::new(), false);
        for some in commits.chunks(AT_ONCE) {
            let ids: Vec<&str> = some.iter().map(|(id, _)| id.as_str()).collect();
            let mut patches = self.objects.patches(&ids, &paths, self.budget)?;
            patches.sort_by_key(|patch| std::cmp::Reverse(patch.time));
            order_by_versions(&mut patches);
            for patch in &patches {
                match followed.through(patch) {
                    None => is_broken = true,
                    Some(true) if !patch.is_merge && touching.last() != Some(&patch.commit) => {
                        touching.push(patch.commit.clone());
                    }
                    Some(_) => {}
                }
                if touching.len() >= self.most || followed.is_at_end() {
                    return Ok((touching, is_broken));
                }
            }
        }
        Ok((touching, is_broken))
    }
}

/// Puts commits of one second in the order in which their versions of the file follow each other, the newest first.
fn order_by_versions(patches: &mut [Patch]) {
    for at in 0..patches.len() {
        let same = patches[at..].iter().take_while(|patch| patch.time == patches[at].time).count();
        let is_newest =
            |one: usize| (at..at + same).all(|other| other == one || patches[other].blobs.0 != patches[one].blobs.1);
        if let Some(newest) = (at..at + same).find(|one| is_newest(*one)) {
            patches[at..=newest].rotate_right(1);
        }
    }
}

/// Where the lines are in the versions that were seen, by blob.
#[derive(Clone)]
struct Followed {
    known: HashMap<String, Range<usize>>,
    /// The blobs that a commit seen so far has made.
    done: HashSet<String>,
}

impl Followed {
    /// Follows the lines through a commit; returns whether it touched them, and `None` if it made a version that was not seen.
    fn through(&mut self, patch: &Patch) -> Option<bool> {
        let lines = self.known.get(&patch.blobs.1)?.clone();
        self.done.insert(patch.blobs.1.clone());
        if lines.is_empty() {
            return Some(false);
        }
        let (earlier, is_touched) = before(&lines, &patch.hunks);
        let is_known = self.known.get(&patch.blobs.0).is_some_and(|lines| !lines.is_empty());
        if !is_known {
            self.known.insert(patch.blobs.0.clone(), earlier);
        }
        Some(is_touched)
    }

    /// Whether no version that is still to be followed has the lines.
    fn is_at_end(&self) -> bool {
        self.known.iter().all(|(blob, lines)| lines.is_empty() || self.done.contains(blob) || is_nothing(blob))
    }
}

/// The lines of the version before that became these, and whether the change touched them. As git does it, what was touched is followed
/// as a whole.
fn before(lines: &Range<usize>, hunks: &[[(usize, usize); 2]]) -> (Range<usize>, bool) {
    let shift = |line: usize, after: &dyn Fn(usize, usize) -> bool| {
        let mut shifted = line;
        for [(_, removed), (start, added)] in hunks {
            if after(*start, *added) {
                shifted = (shifted + removed).saturating_sub(*added);
            }
        }
        shifted
    };
    let touches = |start: usize, count: usize| {
        start < lines.end && lines.start < start + count || count == 0 && lines.start < start && start < lines.end
    };
    let touched: Vec<&[(usize, usize); 2]> =
        hunks.iter().filter(|[_, (start, count)]| touches(*start, *count)).collect();
    // Lines that no hunk has.
    let own: usize = touched
        .iter()
        .map(|[_, (start, count)]| (start + count).min(lines.end).saturating_sub((*start).max(lines.start)))
        .sum();
    let old = touched.iter().filter(|[(_, count), _]| *count > 0);
    let (old_start, old_end) =
        (old.clone().map(|[(start, _), _]| *start).min(), old.map(|[(start, count), _]| start + count).max());
    if own >= lines.len() {
        // All were added or replaced.
        return (old_start.unwrap_or(0)..old_end.unwrap_or(0), !touched.is_empty());
    }
    let is_in = |line: usize| touched.iter().any(|[_, (start, count)]| (*start..start + count).contains(&line));
    let first = lines.clone().find(|line| !is_in(*line)).unwrap_or(lines.start);
    let last = lines.clone().rev().find(|line| !is_in(*line)).unwrap_or(lines.start);
    let moved = |line: usize| shift(line, &|start, count| start + count <= line);
    let start = old_start.map_or(moved(first), |old| old.min(moved(first)));
    let end = old_end.map_or(moved(last) + 1, |old| old.max(moved(last) + 1));
    (start..end, !touched.is_empty())
}

/// Where lines of the present text are in the committed one.
fn at_head(lines: Range<usize>, text: &str, committed: &str) -> Range<usize> {
    let (now, then): (Vec<&str>, Vec<&str>) = (text.lines().collect(), committed.lines().collect());
    if now == then {
        return lines;
    }
    let hunks: Vec<[(usize, usize); 2]> = capture_diff_slices(Algorithm::Myers, &then, &now)
        .iter()
        .filter(|change| !matches!(change, similar::DiffOp::Equal { .. }))
        .map(|change| {
            let (old, new) = (change.old_range(), change.new_range());
            [(old.start, old.len()), (new.start, new.len())]
        })
        .collect();
    before(&lines, &hunks).0
}

/// Whether the id is that of no blob.
fn is_nothing(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_through_hunks() {
        for (lines, hunks, expected) in [
            (10..13, vec![], (10..13, false)),
            (10..13, vec![[(0, 0), (0, 5)]], (5..8, false)),
            (10..13, vec![[(2, 3), (2, 0)]], (13..16, false)),
            // Replaced within.
            (10..13, vec![[(11, 2), (11, 1)]], (10..14, true)),
            // Added within, and all of them added.
            (10..13, vec![[(11, 0), (11, 1)]], (10..12, true)),
            (10..13, vec![[(9, 0), (9, 6)]], (0..0, true)),
            // Removed within; removed just before and just after.
            (10..13, vec![[(11, 4), (11, 0)]], (10..17, true)),
            (10..13, vec![[(10, 4), (10, 0)]], (14..17, false)),
            (10..13, vec![[(13, 4), (13, 0)]], (10..13, false)),
            // The hunk begins above.
            (10..13, vec![[(8, 2), (8, 4)]], (8..11, true)),
        ] {
            assert_eq!(before(&lines, &hunks), expected, "{lines:?} {hunks:?}");
        }
    }
}
