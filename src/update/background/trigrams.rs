//! The substring index of large trees: when trigrams are gathered, and when a segment of them is replaced.
//!
//! Needs no update lock: a segment takes in the files that are still as they were read, so an update in between costs a slot
//! of the segment and nothing else. Writes are short, and others can write between them. If two processes gather at once, one
//! sees that the other has removed its segment, and leaves the work to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::static_embeddings::if_free;
use crate::budget::Budget;
use crate::error::Result;
use crate::repository::{Repository, RootKind};
use crate::store::{GatheredTrigrams, MAX_SLOTS, SegmentState, Store, TrigramState};

/// Text of one segment: its trigrams are held in memory, some bytes for each of the text.
const SEGMENT_BYTES: u64 = 48 << 20;
/// Files in no segment are searched one by one. So many of them, or this share of the size at which segments are used at all,
/// are worth a new segment.
const LOOSE_FILES: u64 = 500;
const LOOSE_SHARE: u64 = 8;
/// Segments below this share of the full size are small; so many of them are merged.
const SMALL_SHARE: u64 = 4;
const MOST_SMALL: usize = 4;
/// Many mirrors are searched at a time, and together even small ones have much text: they get trigrams from this fraction of the
/// usual size on.
const MIRROR_SHARE: u64 = 64;

/// Keeps the substring index of one repository.
pub(in crate::update) struct Trigrams {
    repository: Arc<Repository>,
    /// Held by the thread that gathers.
    gathering: Mutex<()>,
}

impl Trigrams {
    pub(in crate::update) fn new(repository: Arc<Repository>) -> Self {
        Self { repository, gathering: Mutex::new(()) }
    }

    /// Returns when the substring index covers all but the last few changes; at once if the tree is too small for one, or if
    /// another thread is gathering.
    pub(in crate::update) fn catch_up(&self, budget: &Budget) -> Result<()> {
        match if_free(&self.gathering) {
            Some(_alone) => self.gather(budget),
            None => Ok(()),
        }
    }

    /// Waits for the thread that is gathering, then gathers the remaining changes.
    pub(in crate::update) fn finish(&self, budget: &Budget) -> Result<()> {
        const POLL: Duration = Duration::from_millis(5);
        loop {
            budget.check()?;
            if let Some(_alone) = if_free(&self.gathering) {
                return self.gather(budget);
            }
            std::thread::sleep(POLL);
        }
    }

    fn gather(&self, budget: &Budget) -> Result<()> {
        let from = self.repository.settings().config.index.trigrams_from;
        let share = if self.repository.kind == RootKind::Mirror { MIRROR_SHARE } else { 1 };
        gather(self.repository.store()?, from / share, budget)
    }
}

/// Work on the trigrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrigramWork {
    Nothing,
    Gather,
    DropAll,
}

fn due(state: &TrigramState, from: u64) -> TrigramWork {
    if state.segments.is_empty() {
        return if state.loose_files > 0 && state.loose_bytes >= from {
            TrigramWork::Gather
        } else {
            TrigramWork::Nothing
        };
    }
    // Around the threshold, segments are not created and dropped with each change.
    let held: u64 = state.segments.iter().map(live_bytes).sum();
    if held + state.loose_bytes < from / 2 {
        return TrigramWork::DropAll;
    }
    if is_much(state, from) { TrigramWork::Gather } else { TrigramWork::Nothing }
}

fn is_much(state: &TrigramState, from: u64) -> bool {
    state.loose_files > LOOSE_FILES || state.loose_bytes > from / LOOSE_SHARE
}

fn live_bytes(segment: &SegmentState) -> u64 {
    segment.bytes * segment.live / segment.files.max(1)
}

/// Segments whose files go into new segments: those that have lost most of their files, and small ones if there are many.
fn outlived(state: &TrigramState) -> Vec<SegmentState> {
    let is_empty = |segment: &SegmentState| segment.live * 2 <= segment.files;
    let is_small = |segment: &SegmentState| {
        segment.live < MAX_SLOTS as u64 / SMALL_SHARE && live_bytes(segment) < SEGMENT_BYTES / SMALL_SHARE
    };
    let are_many = state.segments.iter().filter(|segment| is_small(segment)).count() >= MOST_SMALL;
    let outlived = |segment: &&SegmentState| is_empty(segment) || are_many && is_small(segment);
    state.segments.iter().filter(outlived).copied().collect()
}

fn gather(store: &Store, from: u64, budget: &Budget) -> Result<()> {
    let mut state = store.read(budget, |snapshot| snapshot.trigram_state())?;
    let due = due(&state, from);
    if due == TrigramWork::Nothing {
        return Ok(());
    }
    store.write(|changes| changes.forget_unfinished())?;
    for segment in if due == TrigramWork::DropAll { state.segments } else { outlived(&state) } {
        store.write(|changes| changes.dissolve(segment.id))?;
    }
    while store.write(|changes| changes.sweep_trigrams())? {
        budget.check()?;
    }
    if due == TrigramWork::DropAll {
        return Ok(());
    }
    // What changed in the meantime is as little as what changes between two calls.
    loop {
        let gathered =
            store.read(budget, |snapshot| snapshot.gather_trigrams(MAX_SLOTS, SEGMENT_BYTES, || budget.check()))?;
        if gathered.is_empty() || !write(store, &gathered, budget)? {
            return Ok(());
        }
        drop(gathered);
        state = store.read(budget, |snapshot| snapshot.trigram_state())?;
        if !is_much(&state, from) {
            return Ok(());
        }
    }
}

/// `false` when another process has swept the segment away.
fn write(store: &Store, gathered: &GatheredTrigrams, budget: &Budget) -> Result<bool> {
    let (trigrams, files) = gathered.ends();
    let segment = store.write(|changes| changes.begin_segment(gathered))?;
    let mut at = 0;
    while at < trigrams {
        let next = store.write(|changes| changes.add_trigrams(segment, gathered, at))?;
        let Some(next) = next else { return Ok(false) };
        at = next;
        budget.check()?;
    }
    at = 0;
    while at < files {
        let next = store.write(|changes| changes.take_in(segment, gathered, at))?;
        let Some(next) = next else { return Ok(false) };
        at = next;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn segment(files: u64, live: u64, bytes: u64) -> SegmentState {
        SegmentState { files, live, bytes, ..SegmentState::default() }
    }

    fn state(segments: &[SegmentState], loose_files: u64, loose_bytes: u64) -> TrigramState {
        TrigramState { segments: segments.to_vec(), loose_files, loose_bytes }
    }

    #[test]
    fn trigrams_are_for_large_trees_and_changes_are_gathered_together() {
        let full = segment(4096, 4000, 40 * MB);
        for (what, state, from, expected) in [
            ("a small tree", state(&[], 900, 63 * MB), 64 * MB, TrigramWork::Nothing),
            ("a large one", state(&[], 900, 64 * MB), 64 * MB, TrigramWork::Gather),
            ("an empty one", state(&[], 0, 0), 0, TrigramWork::Nothing),
            ("a few changes", state(&[full, full], 400, 2 * MB), 64 * MB, TrigramWork::Nothing),
            ("many", state(&[full, full], 501, 2 * MB), 64 * MB, TrigramWork::Gather),
            ("large ones", state(&[full, full], 9, 9 * MB), 64 * MB, TrigramWork::Gather),
            ("one, where all count", state(&[full], 1, 1), 0, TrigramWork::Gather),
            ("a tree that shrank", state(&[full, segment(4096, 10, 48 * MB)], 0, 0), 128 * MB, TrigramWork::DropAll),
        ] {
            assert_eq!(due(&state, from), expected, "{what}");
        }
    }

    #[test]
    fn segments_that_hold_little_are_merged() {
        let (full, left, small) = (segment(4096, 4000, 40 * MB), segment(4096, 2000, 40 * MB), segment(500, 499, MB));
        assert_eq!(outlived(&state(&[full, left, small], 0, 0)), [left]);
        assert_eq!(outlived(&state(&[small; 3], 0, 0)), []);
        assert_eq!(outlived(&state(&[small, full, small, small, small], 0, 0)), [small; 4]);
    }
}
