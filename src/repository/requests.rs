//! Requests of reads to a running update: entities or files before the rest, and the processors for a while.
//!
//! Owns the queue, and how long pauses may be. Does not own how much of the update is done (`budget`), nor the order of
//! its work (`update`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::budget::Progress;
use crate::locked::locked;
use crate::model::RepoPath;

/// Work pauses for at most this long, plus 1/`PAUSED_PART` of its running time, plus a millisecond for each
/// `BYTES_PER_MILLISECOND` of the tree: in a large tree, reads have more to look through.
const MAX_PAUSED: Duration = Duration::from_secs(3);
const PAUSED_PART: u32 = 8;
const BYTES_PER_MILLISECOND: u64 = 300_000;

/// How many files that no caller waits for are indexed at once.
const LATER_AT_ONCE: usize = 60;

/// The requests to an update, and what it reports about itself.
#[derive(Debug, Default)]
pub struct Requests {
    entities: Mutex<Entities>,
    files: Mutex<RequestedFiles>,
    /// The plan is complete: the totals are known.
    is_planned: AtomicBool,
    pauses: Mutex<Pauses>,
}

/// Callers that need the processors while work runs.
#[derive(Debug, Default)]
struct Pauses {
    running: usize,
    since: Option<Instant>,
    /// The time that all earlier ones took.
    before: Duration,
}

impl Pauses {
    fn total(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// While it exists, the update pauses.
#[derive(Debug)]
pub struct Pause(Arc<Requests>);

impl Drop for Pause {
    fn drop(&mut self) {
        let mut pauses = locked(&self.0.pauses);
        pauses.running = pauses.running.saturating_sub(1);
        if pauses.running == 0 {
            pauses.before = pauses.total();
            pauses.since = None;
        }
    }
}

/// Files that callers wait for while the rest of an update is still running.
#[derive(Debug, Default)]
struct RequestedFiles {
    waiting: Vec<RepoPath>,
    /// Files that answers were given without.
    later: Vec<RepoPath>,
    /// The number of requests, and of those that are done.
    requests: u64,
    done: u64,
}

/// The state of the entities while the rest of an update is still running.
#[derive(Debug, Default)]
struct Entities {
    ready: Option<ReadyEntities>,
    requested: Option<Instant>,
}

/// A part of the index that is up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyEntities {
    /// The time at which it was current.
    pub as_of: Instant,
    /// The position in the change feed at that time.
    pub feed_position: u64,
}

impl Requests {
    /// Reports that the entities are up to date while the rest is still running.
    pub fn set_ready_entities(&self, ready: ReadyEntities) {
        self.entities().ready = Some(ready);
    }

    pub fn ready_entities(&self) -> Option<ReadyEntities> {
        self.entities().ready
    }

    /// Requests the entities as of `since`.
    pub fn request_entities(&self, since: Instant) {
        let mut entities = self.entities();
        entities.requested = entities.requested.max(Some(since));
    }

    /// Whether a caller waits for newer entities.
    pub fn entities_requested(&self) -> bool {
        let entities = self.entities();
        entities.requested > entities.ready.map(|ready| ready.as_of)
    }

    /// Reports that the plan is complete.
    pub fn set_planned(&self) {
        self.is_planned.store(true, Ordering::Relaxed);
    }

    pub fn is_planned(&self) -> bool {
        self.is_planned.load(Ordering::Relaxed)
    }

    /// Pauses the work until the result is dropped, so that the caller has the processors.
    pub fn pause(self: &Arc<Self>) -> Pause {
        let mut pauses = locked(&self.pauses);
        pauses.running += 1;
        pauses.since.get_or_insert_with(Instant::now);
        Pause(Arc::clone(self))
    }

    /// Whether work that began at `begun` should pause now.
    pub fn is_paused(&self, begun: Instant, progress: &Progress) -> bool {
        let pauses = locked(&self.pauses);
        let for_bytes = Duration::from_millis(progress.bytes().1 / BYTES_PER_MILLISECOND);
        pauses.running > 0 && pauses.total() < MAX_PAUSED + for_bytes + begun.elapsed() / PAUSED_PART
    }

    /// Requests that these files are indexed before the rest, and returns the number of the request.
    pub fn request_files(&self, paths: Vec<RepoPath>) -> u64 {
        let mut requested = locked(&self.files);
        requested.waiting.extend(paths);
        requested.requests += 1;
        requested.requests
    }

    /// Requests that these files are indexed next, once no caller needs the processors.
    pub fn request_files_later(&self, paths: Vec<RepoPath>) {
        locked(&self.files).later = paths;
    }

    /// Whether a caller waits for files, or an answer was given without some.
    pub fn are_files_requested(&self) -> bool {
        let is_paused = locked(&self.pauses).running > 0;
        let requested = locked(&self.files);
        !requested.waiting.is_empty() || !(is_paused || requested.later.is_empty())
    }

    /// The files that callers wait for, or else some that answers were given without, and the number of the last request.
    pub fn take_requested_files(&self) -> Option<(Vec<RepoPath>, u64)> {
        let is_paused = locked(&self.pauses).running > 0;
        let mut requested = locked(&self.files);
        let mut paths = std::mem::take(&mut requested.waiting);
        let mut request = requested.requests;
        if paths.is_empty() && !is_paused {
            let few = requested.later.len().min(LATER_AT_ONCE);
            paths = requested.later.drain(..few).collect();
            request = requested.done;
        }
        paths.sort_unstable();
        paths.dedup();
        (!paths.is_empty()).then_some((paths, request))
    }

    /// Reports that the files of all requests up to that one are indexed.
    pub fn set_requested_files_done(&self, request: u64) {
        locked(&self.files).done = request;
    }

    pub fn is_request_done(&self, request: u64) -> bool {
        locked(&self.files).done >= request
    }

    fn entities(&self) -> MutexGuard<'_, Entities> {
        locked(&self.entities)
    }
}
