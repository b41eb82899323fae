//! The history of lines: the commits that touched some lines of a file.
//!
//! Owns how lines are followed back from one version of the file to the one before, through renames and merges, as `git log -L` does it:
//! a merge hands them to the first parent that has them unchanged, and to all parents where none has. Which commits changed the file is
//! known from the index, so that git compares those and the merges that had to choose; `git log -L` walks the whole history. Does not
//! own which lines are asked for (`query`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use similar::{Algorithm, capture_diff_slices};

use super::history::History;
use super::known_patches::{CommitPatches, FilePatches};
use crate::budget::Budget;
use crate::error::Result;
use crate::git_layout::head_commit;
use crate::git_objects::{Ancestry, Objects, Patch};
use crate::threads::{WorkList, cores, on_threads};

/// A version of a file that is larger is not compared.
const MAX_BLOB: u64 = 2 << 20;
/// Commits that are compared with their parents at once: first, and at most. Most lines end among the first.
const FIRST: usize = 32;
const AT_ONCE: usize = 256;
/// The fewest commits that one process of git compares.
const PER_PROCESS: usize = 16;
/// Commits between two looks at the budget.
const CHECK: usize = 4_096;

/// Commits that may have changed a file.
#[derive(Clone, Debug, Default)]
pub struct FileCommits {
    /// The names that it had.
    paths: Vec<String>,
    /// The ids of the commits.
    commits: HashSet<String>,
}

impl FileCommits {
    /// Collects the ids of commits, and the paths that the file had.
    pub fn new(commits: impl IntoIterator<Item = String>, paths: Vec<String>) -> Self {
        Self { paths, commits: commits.into_iter().collect() }
    }
}

/// Lines, from 0: ranges in order that neither touch nor overlap.
type Lines = Vec<Range<usize>>;

impl History {
    /// The path at `HEAD` of a file that was renamed to `path` and not committed since then.
    pub fn renamed_from(&self, path: &str, budget: &Budget) -> Result<Option<String>> {
        self.objects()?.renamed_from(path, budget)
    }

    /// The newest commits that touched lines of a file, at most `most`, children before their parents. The lines count from 1 and are
    /// those of `text`, the present text of the file at `path`.
    pub fn of_lines(
        &self,
        (path, text): (&str, &str),
        (first, last): (u32, u32),
        of_file: &FileCommits,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<String>> {
        let objects = self.objects()?;
        let head = match head_commit(self.root()) {
            Some(head) => Some(head),
            None => objects.head(budget)?,
        };
        let Some(head) = head else { return Ok(Vec::new()) };
        let Some(blob) = objects.blob_at(&head, path, budget)? else { return Ok(Vec::new()) };
        let committed = objects.blobs(&[&blob], MAX_BLOB, budget)?.pop().flatten().unwrap_or_default();
        let lines =
            at_head(first.saturating_sub(1) as usize..last as usize, text, &String::from_utf8_lossy(&committed));
        let ancestry = self.ancestry(&head, &objects, budget)?;
        let paths = &of_file.paths;
        let known = self.patches(paths, &objects);
        let lines = HashMap::from([(blob, lines)]);
        let follow = |changed: &[usize]| {
            let search = Search { objects: &objects, paths, ancestry: &ancestry, changed, known: &known, budget };
            search.follow(lines.clone(), most)
        };
        let changed = changed_commits(&ancestry, &of_file.commits, budget)?;
        let (touching, is_lost) = follow(&changed)?;
        if !is_lost {
            return Ok(touching);
        }
        // Some merge changed the file by itself: compare every merge.
        let merges = objects.merges(&head, paths, budget)?;
        let may_change = |at: &usize| {
            changed.binary_search(at).is_ok()
                || of_file.commits.contains(ancestry.id(*at))
                || merges.contains(ancestry.id(*at))
        };
        Ok(follow(&(0..ancestry.count()).filter(may_change).collect::<Vec<_>>())?.0)
    }
}

/// The commits whose file differs from their first parent's, in order, as far as the commits that changed it show: if one parent of a
/// merge has all changes of the others, the merge has that parent's version. Any other merge has its own version.
fn changed_commits(ancestry: &Ancestry, touching: &HashSet<String>, budget: &Budget) -> Result<Vec<usize>> {
    // The versions that led to each version, as bits.
    let mut sets: Vec<Vec<u64>> = vec![Vec::new()];
    let mut version_of = vec![0_usize; ancestry.count()];
    let mut changed = Vec::new();
    for at in (0..ancestry.count()).rev() {
        if at % CHECK == 0 {
            budget.check()?;
        }
        let before: Vec<usize> = ancestry.parents(at).iter().map(|parent| version_of[*parent as usize]).collect();
        let has_all =
            |version: &usize| before.iter().all(|other| other == version || is_within(&sets[*other], &sets[*version]));
        let of_parents = before.iter().copied().find(has_all);
        let is_new = touching.contains(ancestry.id(at)) || before.len() >= 2 && of_parents.is_none();
        version_of[at] = if is_new {
            let mut set = bit(sets.len());
            before.iter().for_each(|version| join(&mut set, &sets[*version]));
            sets.push(set);
            sets.len() - 1
        } else {
            of_parents.unwrap_or_default()
        };
        if is_new || before.first().is_some_and(|first| *first != version_of[at]) {
            changed.push(at);
        }
    }
    changed.reverse();
    Ok(changed)
}

const BITS: usize = u64::BITS as usize;

fn bit(at: usize) -> Vec<u64> {
    let mut set = vec![0; at / BITS];
    set.push(1 << (at % BITS));
    set
}

fn join(set: &mut Vec<u64>, other: &[u64]) {
    set.resize(set.len().max(other.len()), 0);
    set.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
}

fn is_within(set: &[u64], other: &[u64]) -> bool {
    set.len() <= other.len() && set.iter().zip(other).all(|(own, other)| own & !other == 0)
}

struct Search<'s> {
    objects: &'s Objects,
    paths: &'s [String],
    ancestry: &'s Ancestry,
    /// The commits whose file differs from that of their first parent.
    changed: &'s [usize],
    known: &'s FilePatches,
    budget: &'s Budget,
}

impl Search<'_> {
    /// Returns the commits that touched the lines of blobs at the first commit, and whether some lines have no commit that added them.
    fn follow(&self, lines: HashMap<String, Lines>, most: usize) -> Result<(Vec<String>, bool)> {
        let mut touching = Vec::new();
        let mut progress = Progress::default();
        let mut is_lost = false;
        // Lines that are still to be followed, by the number of the commit.
        let mut open: HashMap<usize, HashMap<String, Lines>> = HashMap::from([(0, lines)]);
        for at in 0..self.ancestry.count() {
            if open.is_empty() || touching.len() >= most {
                break;
            }
            let Some(lines) = open.remove(&at) else { continue };
            let parents = self.ancestry.parents(at);
            let mut handed: Vec<(usize, HashMap<String, Lines>)> = Vec::new();
            if self.changed.binary_search(&at).is_ok() {
                let compared = self.load(at, &mut progress)?;
                let mut is_touched = compared.len() == parents.len().max(1);
                for (nth, patch) in compared.iter().enumerate() {
                    let (earlier, touches) = before(&lines, patch);
                    if !touches {
                        is_touched = false;
                        handed = vec![(nth, earlier)];
                        break;
                    }
                    handed.push((nth, earlier));
                }
                if is_touched {
                    touching.push(self.ancestry.id(at).to_owned());
                }
            } else {
                handed.push((0, lines));
            }
            for (nth, lines) in handed {
                let Some(parent) = parents.get(nth) else {
                    is_lost |= lines.values().any(|lines| !lines.is_empty());
                    continue;
                };
                for (blob, lines) in lines.into_iter().filter(|(_, lines)| !lines.is_empty()) {
                    add(open.entry(*parent as usize).or_default().entry(blob).or_default(), lines);
                }
            }
        }
        Ok((touching, is_lost))
    }

    /// How a commit differs from each parent; nothing if git cannot compare it. Compares the commits that follow as well.
    fn load(&self, at: usize, progress: &mut Progress) -> Result<CommitPatches> {
        let id = |at: usize| self.ancestry.id(at);
        if let Some(known) = self.known.get(id(at)) {
            return Ok(known);
        }
        if progress.lacking.contains(&at) {
            return Ok(CommitPatches::default());
        }
        progress.at_once = (progress.at_once * 2).clamp(FIRST, AT_ONCE);
        let following = &self.changed[self.changed.partition_point(|changed| *changed < at)..];
        let is_asked = |at: &usize| !progress.lacking.contains(at) && self.known.get(id(*at)).is_none();
        let some: Vec<usize> = following.iter().copied().filter(is_asked).take(progress.at_once).collect();
        let shares: Vec<&[usize]> = some.chunks(some.len().div_ceil(cores()).max(PER_PROCESS)).collect();
        let list = WorkList::new(&shares);
        let work = || std::iter::from_fn(|| list.take()).map(|(_, share)| self.compare(share)).collect::<Vec<_>>();
        let compared = on_threads(list.threads(), work)?.into_iter().flatten().collect::<Result<Vec<_>>>()?;
        progress.lacking.extend(some);
        let mut wanted = CommitPatches::default();
        for (compared, patches) in compared.into_iter().flatten() {
            let patches = CommitPatches::new(patches);
            if patches.len() == self.ancestry.parents(compared).len().max(1) {
                progress.lacking.remove(&compared);
                self.known.insert(id(compared), Arc::clone(&patches));
            }
            if compared == at {
                wanted = patches;
            }
        }
        Ok(wanted)
    }

    /// How some commits differ from each parent.
    fn compare(&self, some: &[usize]) -> Result<HashMap<usize, Vec<Vec<Patch>>>> {
        let id = |at: usize| self.ancestry.id(at);
        let pairs: Vec<(usize, Option<usize>)> = some
            .iter()
            .flat_map(|at| {
                let parents = self.ancestry.parents(*at).iter().map(|parent| Some(*parent as usize));
                parents.chain(self.ancestry.parents(*at).is_empty().then_some(None)).map(|parent| (*at, parent))
            })
            .collect();
        let asked: Vec<(&str, Option<&str>)> = pairs.iter().map(|(at, parent)| (id(*at), parent.map(id))).collect();
        let mut patches: HashMap<usize, Vec<Vec<Patch>>> = HashMap::new();
        for ((at, _), compared) in pairs.iter().zip(self.objects.patches(&asked, self.paths, self.budget)?) {
            patches.entry(*at).or_default().push(compared);
        }
        Ok(patches)
    }
}

/// Tracks what a search has asked git for.
#[derive(Default)]
struct Progress {
    /// Commits that were compared last.
    at_once: usize,
    /// Commits that git could not compare.
    lacking: HashSet<usize>,
}

/// Maps lines of blobs back to the parent's blobs, and says whether a change touched them.
fn before(lines: &HashMap<String, Lines>, patches: &[Patch]) -> (HashMap<String, Lines>, bool) {
    let mut earlier: HashMap<String, Lines> = HashMap::new();
    let mut is_touched = false;
    for (blob, lines) in lines {
        match patches.iter().find(|patch| patch.blobs.1 == *blob) {
            Some(patch) => {
                let (lines, touches) = across(lines, &patch.hunks);
                is_touched |= touches;
                add(earlier.entry(patch.blobs.0.clone()).or_default(), lines);
            }
            None => add(earlier.entry(blob.clone()).or_default(), lines.iter().cloned()),
        }
    }
    (earlier, is_touched)
}

/// Maps lines back across a change: returns the lines of the older version, and whether a hunk touched them. Like git, it follows a
/// touched hunk as a whole.
fn across(lines: &[Range<usize>], hunks: &[[(usize, usize); 2]]) -> (Lines, bool) {
    let is_touched = |start: usize, end: usize| lines.iter().any(|lines| start < lines.end && lines.start < end);
    let touched = hunks.iter().filter(|[_, (start, count)]| is_touched(*start, start + count));
    let mut earlier = Lines::new();
    let mut keep = |lines: Range<usize>| {
        let above = hunks.iter().take_while(|[_, (start, _)]| *start <= lines.start);
        let (removed, added) =
            above.fold((0, 0), |(removed, added), [(_, before), (_, after)]| (removed + before, added + after));
        let start = (lines.start + removed).saturating_sub(added);
        add(&mut earlier, Some(start..start + lines.len()));
    };
    for lines in lines {
        let mut rest = lines.clone();
        for [_, (start, count)] in touched.clone() {
            if (*start < rest.end) && (rest.start < start + count) {
                keep(rest.start..*start);
                rest.start = rest.start.max(start + count);
            }
        }
        keep(rest);
    }
    add(&mut earlier, touched.clone().map(|[(start, count), _]| *start..start + count));
    (earlier, touched.count() > 0)
}

/// Adds ranges of lines.
fn add(lines: &mut Lines, more: impl IntoIterator<Item = Range<usize>>) {
    lines.extend(more.into_iter().filter(|range| !range.is_empty()));
    lines.sort_unstable_by_key(|range| range.start);
    lines.dedup_by(|next, kept| {
        let is_joined = next.start <= kept.end;
        if is_joined {
            kept.end = kept.end.max(next.end);
        }
        is_joined
    });
}

/// Where lines of the present text are in the committed one.
fn at_head(lines: Range<usize>, text: &str, committed: &str) -> Lines {
    let (now, then): (Vec<&str>, Vec<&str>) = (text.lines().collect(), committed.lines().collect());
    if now == then {
        return vec![lines];
    }
    let hunks: Vec<[(usize, usize); 2]> = capture_diff_slices(Algorithm::Myers, &then, &now)
        .iter()
        .filter(|change| !matches!(change, similar::DiffOp::Equal { .. }))
        .map(|change| {
            let (old, new) = (change.old_range(), change.new_range());
            [(old.start, old.len()), (new.start, new.len())]
        })
        .collect();
    across(&[lines], &hunks).0
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lines are lists of ranges")]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_through_hunks() {
        for (hunks, expected, is_touched) in [
            (vec![], vec![10..13], false),
            (vec![[(0, 0), (0, 5)]], vec![5..8], false),
            (vec![[(2, 3), (2, 0)]], vec![13..16], false),
            // Replaced within.
            (vec![[(11, 2), (11, 1)]], vec![10..14], true),
            // Added within, and all of them added.
            (vec![[(11, 0), (11, 1)]], vec![10..12], true),
            (vec![[(9, 0), (9, 6)]], vec![], true),
            // Removed within; removed just before and just after.
            (vec![[(11, 4), (11, 0)]], vec![10..17], true),
            (vec![[(10, 4), (10, 0)]], vec![14..17], false),
            (vec![[(13, 4), (13, 0)]], vec![10..13], false),
            // The hunk begins above; a change further up leaves a gap.
            (vec![[(8, 2), (8, 4)]], vec![8..11], true),
            (vec![[(2, 1), (2, 1)], [(8, 1), (8, 3)], [(11, 0), (12, 1)]], vec![8..10], true),
        ] {
            assert_eq!(across(&[10..13], &hunks), (expected, is_touched), "{hunks:?}");
        }
        assert_eq!(across(&[3..5, 9..12], &[[(1, 1), (1, 0)], [(4, 6), (3, 2)]]), (vec![4..10, 14..17], true));
    }
}
