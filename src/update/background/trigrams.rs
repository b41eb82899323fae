//! The substring index of large trees: when trigrams are gathered, and when a segment of them is replaced.
//!
//! Needs no update lock: a segment takes in the files that are still as they were read, so an update in between costs a slot
//! of the segment and nothing else. Writes are short, and others can write between them. If two processes gather at once, one
//! sees that the other has removed its segment, and leaves the work to it.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

use super::static_embeddings::if_free;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::repository::{Repository, RootKind};
use crate::store::{FileId, GatheredTrigrams, MAX_SLOTS, SegmentState, Store, TrigramState};
use crate::threads::{WorkList, cores, on_threads};

/// Text of one segment: its trigrams are held in memory, some bytes for each of the text.
const SEGMENT_BYTES: u64 = 48 << 20;
/// Files in no segment are searched one by one. This many of them, or this share of the size from which on segments are used
/// at all, are worth a new segment.
const LOOSE_FILES: u64 = 500;
const LOOSE_SHARE: u64 = 8;
/// Segments below this share of the full size are small; this many of them are merged.
const SMALL_SHARE: u64 = 4;
const MOST_SMALL: usize = 4;
/// Many mirrors are searched at a time, and together even small ones have much text: they get trigrams from this fraction of the
/// usual size on.
const MIRROR_SHARE: u64 = 64;
/// Fewer files are not worth a thread.
const FILES_OF_THREAD: usize = 200;

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
    if is_much(state.loose_files, state.loose_bytes, from) { TrigramWork::Gather } else { TrigramWork::Nothing }
}

fn is_much(files: u64, bytes: u64, from: u64) -> bool {
    files > LOOSE_FILES || bytes > from / LOOSE_SHARE
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
    let state = store.read(budget, |snapshot| snapshot.trigram_state())?;
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
    let loose = store.read(budget, |snapshot| snapshot.loose_files())?;
    let mut segments = segments_of(&loose, from).into_iter();
    // The next segment is gathered while one is written. Few files change in the meantime.
    std::thread::scope(|scope| {
        let mut start = || {
            let files = segments.next()?;
            let thread = Builder::new().name("trigrams".to_owned());
            Some(thread.spawn_scoped(scope, move || gather_on_threads(store, files, budget)).map_err(Error::no_thread))
        };
        let mut next = start();
        while let Some(gathering) = next {
            let gathered = gathering?.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            next = start();
            if gathered.is_empty() || !write(store, &gathered, budget)? {
                break;
            }
        }
        Ok(())
    })
}

/// Divides files into segments. What would not be worth a segment of its own is left over.
fn segments_of(loose: &[(FileId, u64)], from: u64) -> Vec<&[(FileId, u64)]> {
    let (mut segments, mut rest) = (Vec::new(), loose);
    let size = |files: &[(FileId, u64)]| files.iter().map(|(_, size)| size).sum::<u64>();
    while !rest.is_empty() && (segments.is_empty() || is_much(rest.len() as u64, size(rest), from)) {
        let mut bytes = 0;
        let fits = |(_, size): &&(FileId, u64)| {
            bytes += size;
            bytes <= SEGMENT_BYTES
        };
        let count = rest.iter().take(MAX_SLOTS).take_while(fits).count().max(1);
        let (segment, others) = rest.split_at(count);
        segments.push(segment);
        rest = others;
    }
    segments
}

fn gather_on_threads(store: &Store, files: &[(FileId, u64)], budget: &Budget) -> Result<GatheredTrigrams> {
    let threads = cores().min(files.len().div_ceil(FILES_OF_THREAD)).max(1);
    let parts: Vec<_> = files.chunks(files.len().div_ceil(threads).max(1)).collect();
    let (list, parts_done) = (WorkList::new(&parts), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, files)) = list.take() {
            let part = store.read(budget, |snapshot| snapshot.gather_trigrams(files, || budget.check()))?;
            locked(&parts_done).push((at, part));
        }
        Ok(())
    };
    on_threads(threads, work)?.into_iter().collect::<Result<()>>()?;
    let mut parts = std::mem::take(&mut *locked(&parts_done));
    parts.sort_unstable_by_key(|(at, _)| *at);
    Ok(GatheredTrigrams::join(parts.into_iter().map(|(_, part)| part).collect()))
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
    fn files_are_divided_into_segments_until_few_are_left() {
        let lengths = |files: &[u64], from| -> Vec<usize> {
            let files: Vec<(FileId, u64)> = files.iter().map(|size| (FileId::default(), *size)).collect();
            segments_of(&files, from).into_iter().map(<[_]>::len).collect()
        };
        assert_eq!(lengths(&[], 64 * MB), [0; 0]);
        assert_eq!(lengths(&[1], 64 * MB), [1], "the first is always made");
        assert_eq!(lengths(&[20 * MB; 5], 64 * MB), [2, 2, 1]);
        assert_eq!(lengths(&[60 * MB, 40 * MB, 9 * MB], 64 * MB), [1, 1, 1], "one that is larger is alone");
        assert_eq!(lengths(&[40 * MB, 9 * MB, 1], 160 * MB), [1], "these are few");
        assert_eq!(lengths(&[1; 4096 + 501], 64 * MB), [4096, 501]);
        assert_eq!(lengths(&[1; 4096 + 500], 64 * MB), [4096]);
        assert_eq!(lengths(&[1; 4097], 0), [4096, 1]);
    }

    #[test]
    fn segments_that_hold_little_are_merged() {
        let (full, left, small) = (segment(4096, 4000, 40 * MB), segment(4096, 2000, 40 * MB), segment(500, 499, MB));
        assert_eq!(outlived(&state(&[full, left, small], 0, 0)), [left]);
        assert_eq!(outlived(&state(&[small; 3], 0, 0)), []);
        assert_eq!(outlived(&state(&[small, full, small, small, small], 0, 0)), [small; 4]);
    }
}
