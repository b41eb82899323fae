//! The update in flight: what it covers, what it has listed, what reads see of it and what they request from it.
//!
//! Owns how callers learn of its progress and its end, the queue of their requests (for entities or files before the rest, and for the
//! processors for a while), how long pauses may be, and the listings that reads share. Does not own when an update starts (`schedule`),
//! when the tree is walked, nor the order of the work (`rounds`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use strum_macros::{EnumString, IntoStaticStr};

use super::watch::Watch;
use crate::budget::{Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::RepoPath;
use crate::scan::Listing;

/// How far an update trusts the file system's metadata without reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Thoroughness {
    /// Compares every file's stat, and reads the files whose stat has changed.
    Changed,
    /// Reads and hashes every file.
    Verify,
    /// Replaces every row.
    Everything,
}

impl Thoroughness {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// The part of the repository that an update covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// The paths that the watch has marked dirty; the whole tree without a complete watch.
    Dirty,
    /// The whole tree.
    Tree(Thoroughness),
    /// The entities, whose rows are all replaced.
    Entities,
}

/// The running update, or the last one that ran.
#[derive(Default)]
pub(crate) struct InFlight(pub(crate) Mutex<Option<Arc<UpdateRun>>>);

/// An update that callers can wait for.
pub(crate) struct UpdateRun {
    pub(crate) started: Instant,
    coverage: Coverage,
    pub(crate) progress: Arc<Progress>,
    pub(crate) requests: Arc<Requests>,
    outcome: Mutex<Option<Result<()>>>,
    ended: Condvar,
}

impl InFlight {
    /// The progress of the running update.
    pub(crate) fn progress(&self) -> Option<Arc<Progress>> {
        locked(&self.0).as_ref().filter(|run| run.is_open()).map(|run| Arc::clone(&run.progress))
    }

    /// The requests to the running update.
    pub(crate) fn requests(&self) -> Option<Arc<Requests>> {
        locked(&self.0).as_ref().filter(|run| run.is_open()).map(|run| Arc::clone(&run.requests))
    }

    /// Whether an update is running that does not know yet what there is to do.
    pub(crate) fn is_planning(&self) -> bool {
        self.requests().is_some_and(|requests| !requests.is_planned())
    }

    /// Waits for the end of the running update, but not longer than `timeout`.
    pub(super) fn await_end(&self, timeout: Duration) {
        let run = locked(&self.0).clone();
        if let Some(run) = run {
            let _outcome = run.wait(&|| false, &|| false, Instant::now().checked_add(timeout), &Budget::unlimited());
        }
    }

    /// How long the running update has been running.
    pub(crate) fn age(&self) -> Option<Duration> {
        locked(&self.0).as_ref().filter(|run| run.is_open()).map(|run| run.started.elapsed())
    }

    /// Forgets an update that has ended: its outcome says nothing about a new database.
    pub(crate) fn forget_ended(&self) {
        locked(&self.0).take_if(|run| !run.is_open());
    }
}

impl UpdateRun {
    pub(crate) fn new(coverage: Coverage, progress: Arc<Progress>) -> Self {
        let (outcome, ended) = (Mutex::new(None), Condvar::new());
        Self { started: Instant::now(), coverage, progress, requests: Arc::default(), outcome, ended }
    }

    /// Whether a caller that asked for that coverage at `since` has what it asked for when this update has ended.
    pub(crate) fn satisfies(&self, coverage: Coverage, since: Instant) -> bool {
        match (self.coverage, coverage) {
            (Coverage::Entities, Coverage::Entities) => true,
            (Coverage::Entities, _) | (_, Coverage::Entities) => false,
            _ => self.started >= since,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        locked(&self.outcome).is_none()
    }

    pub(crate) fn was_given_up(&self) -> bool {
        matches!(&*locked(&self.outcome), Some(Err(error)) if is_given_up(error))
    }

    pub(crate) fn end(&self, outcome: Result<()>) {
        *locked(&self.outcome) = Some(outcome);
        self.ended.notify_all();
    }

    /// The outcome; success as soon as `is_ready`; `None` if neither comes before the deadline, the end of the budget, or
    /// `is_long`.
    pub(crate) fn wait(
        &self,
        is_ready: &dyn Fn() -> bool,
        is_long: &dyn Fn() -> bool,
        deadline: Option<Instant>,
        budget: &Budget,
    ) -> Option<Result<()>> {
        /// A cancelled call is noticed within this time.
        const POLL: Duration = Duration::from_millis(5);
        let mut outcome = locked(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return Some(outcome.as_ref().copied().map_err(Error::duplicate));
            }
            if is_ready() {
                return Some(Ok(()));
            }
            let left = deadline.map_or(POLL, |end| end.saturating_duration_since(Instant::now()).min(POLL));
            if left.is_zero() || budget.is_spent() || is_long() {
                return None;
            }
            outcome = self.ended.wait_timeout(outcome, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The update did not fail: the budget of the call that started it was spent.
pub(crate) fn is_given_up(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Timeout)
}

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

/// A listing of the disk.
pub struct DiskListing {
    pub(crate) listing: Listing,
    pub(crate) begun: Instant,
    /// The position in the change feed at which the listing began; `None` if folders were not watched yet.
    pub(crate) position: Option<u64>,
}

/// How many listings of everything an update is making.
#[derive(Default)]
pub(crate) struct Listings(AtomicUsize);

/// A listing, until it is dropped.
pub(crate) struct RunningListing<'l>(&'l Listings);

impl Listings {
    pub(crate) fn begin(&self) -> RunningListing<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        RunningListing(self)
    }

    pub(crate) fn are_running(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for RunningListing<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl DiskListing {
    /// A listing that begins now, and is empty so far.
    pub(crate) fn begin(watch: Option<&Watch>) -> Self {
        let begun = Instant::now();
        let position = watch.map(|watch| watch.changes_since_listing(0).1);
        Self { listing: Listing::default(), begun, position }
    }

    /// The listing with what it found. Reads that begin before it began may use it.
    pub(crate) fn with(self, listing: &Listing) -> Self {
        let Listing { files, skipped, .. } = listing;
        let listing = Listing { files: files.clone(), skipped: skipped.clone(), ..Listing::default() };
        Self { listing, ..self }
    }
}
