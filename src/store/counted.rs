//! A cache of counts: in how many lines of each version of a file a pattern matches. A later page of the same answer
//! need not search the files before it again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::{FileId, Snapshot, locked};

/// Patterns that are cached: each takes tens of bytes per file.
const REMEMBERED: usize = 8;

/// One text of a file. Another build of the index has other ids, so the cache does not outlive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextVersion {
    pub(super) file: FileId,
    pub(super) hash: [u8; 32],
    pub(super) extractor: u32,
}

/// Lines of each text that match one pattern.
#[derive(Clone, Default)]
pub struct LineCounts(Arc<Mutex<HashMap<TextVersion, usize>>>);

impl LineCounts {
    pub fn get(&self, version: &TextVersion) -> Option<usize> {
        locked(&self.0).get(version).copied()
    }

    pub fn set(&self, version: TextVersion, count: usize) {
        locked(&self.0).insert(version, count);
    }
}

/// By pattern, the last asked for at the end.
#[derive(Default)]
pub(super) struct PatternCounts(VecDeque<(String, LineCounts)>);

impl Snapshot<'_> {
    /// The counts that are known for a pattern.
    pub fn line_counts(&self, pattern: &str) -> LineCounts {
        let mut counted = locked(&self.caches.counted);
        let known = counted.0.iter().position(|(known, _)| known == pattern).and_then(|at| counted.0.remove(at));
        let (pattern, counts) = known.unwrap_or_else(|| (pattern.to_owned(), LineCounts::default()));
        counted.0.push_back((pattern, counts.clone()));
        if counted.0.len() > REMEMBERED {
            counted.0.pop_front();
        }
        counts
    }
}
