//! Deadlines and cancellation of running work, and its progress.
//!
//! Owns the flag and the clock. `serve` and `cli` set the deadlines; the modules below observe them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::RepoPath;

/// The time budget of a call, shared by the caller and the workers. Clones share the cancellation flag.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Budget {
    /// A budget without a deadline. It only ends by cancellation.
    pub fn unlimited() -> Self {
        Self::default()
    }

    pub fn lasting(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..Self::default() }
    }

    /// A budget with the same cancellation flag and another deadline.
    #[must_use]
    pub fn with_deadline(&self, deadline: Option<Instant>) -> Self {
        Self { cancelled: Arc::clone(&self.cancelled), deadline }
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn is_spent(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Fails with `CANCELLED` or `TIMEOUT` once the budget is spent.
    pub fn check(&self) -> Result<()> {
        if self.is_spent() { Err(self.error()) } else { Ok(()) }
    }

    /// The error for a spent budget.
    pub fn error(&self) -> Error {
        if self.cancelled.load(Ordering::Relaxed) {
            Error::new(ErrorKind::Cancelled, "the call was cancelled")
        } else {
            Error::new(ErrorKind::Timeout, "the call ran past its deadline")
                .hint("Narrow the query, or pass a larger timeout_ms.")
        }
    }
}

/// Runs `work` and calls `on_progress` with its progress (done, total) ten times a second, once the total is known.
pub fn with_progress<T>(
    on_progress: &(dyn Fn(u64, u64) + Sync),
    current: impl Fn() -> Option<(u64, u64)> + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let tick = || {
        if let Some((done, total)) = current().filter(|(_, total)| *total > 0) {
            on_progress(done, total);
        }
    };
    ticking(PROGRESS_INTERVAL, tick, work)
}

/// Runs `work` while another thread calls `tick` at intervals. The ticks end with the work, also when it panics.
pub fn ticking<T>(every: Duration, mut tick: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    /// Stops the ticks when the work ends, also after a panic.
    struct End<'a>(&'a AtomicBool, std::thread::Thread);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
            self.1.unpark();
        }
    }
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ticker = scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                std::thread::park_timeout(every);
                tick();
            }
        });
        let _end = End(&has_ended, ticker.thread().clone());
        work()
    })
}

/// The interval of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of long work. The worker writes it, and the caller reads it.
#[derive(Debug, Default)]
pub struct Progress {
    pub done_files: AtomicU64,
    /// 0 until the directory walk has finished.
    pub total_files: AtomicU64,
    pub done_bytes: AtomicU64,
    pub total_bytes: AtomicU64,
    entities: Mutex<Entities>,
    requested: Mutex<RequestedFiles>,
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

/// While it exists, work that reports to this progress pauses.
#[derive(Debug)]
pub struct Pause(Arc<Progress>);

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

/// Work pauses for at most this long, plus 1/`PAUSED_PART` of its running time, plus a millisecond for each
/// `BYTES_PER_MILLISECOND` of the tree: in a large tree, reads have more to look through.
const MAX_PAUSED: Duration = Duration::from_secs(3);
const PAUSED_PART: u32 = 8;
const BYTES_PER_MILLISECOND: u64 = 300_000;

/// How many files that no caller waits for are indexed at once.
const LATER_AT_ONCE: usize = 60;

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

impl Progress {
    pub fn begin(&self, files: u64, bytes: u64) {
        self.done_files.store(0, Ordering::Relaxed);
        self.done_bytes.store(0, Ordering::Relaxed);
        self.total_bytes.store(bytes, Ordering::Relaxed);
        self.total_files.store(files, Ordering::Relaxed);
    }

    /// For work with a counter of its own.
    pub fn set(&self, done: u64, total: u64) {
        self.total_files.store(total, Ordering::Relaxed);
        self.done_files.store(done, Ordering::Relaxed);
    }

    pub fn advance(&self, bytes: u64) {
        self.done_files.fetch_add(1, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

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
    pub fn is_paused(&self, begun: Instant) -> bool {
        let pauses = locked(&self.pauses);
        let for_bytes = Duration::from_millis(self.bytes().1 / BYTES_PER_MILLISECOND);
        pauses.running > 0 && pauses.total() < MAX_PAUSED + for_bytes + begun.elapsed() / PAUSED_PART
    }

    /// Requests that these files are indexed before the rest, and returns the number of the request.
    pub fn request_files(&self, paths: Vec<RepoPath>) -> u64 {
        let mut requested = locked(&self.requested);
        requested.waiting.extend(paths);
        requested.requests += 1;
        requested.requests
    }

    /// Requests that these files are indexed next, once no caller needs the processors.
    pub fn request_files_later(&self, paths: Vec<RepoPath>) {
        locked(&self.requested).later = paths;
    }

    /// Whether a caller waits for files, or an answer was given without some.
    pub fn are_files_requested(&self) -> bool {
        let is_paused = locked(&self.pauses).running > 0;
        let requested = locked(&self.requested);
        !requested.waiting.is_empty() || !(is_paused || requested.later.is_empty())
    }

    /// The files that callers wait for, or else some that answers were given without, and the number of the last request.
    pub fn take_requested_files(&self) -> Option<(Vec<RepoPath>, u64)> {
        let is_paused = locked(&self.pauses).running > 0;
        let mut requested = locked(&self.requested);
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
        locked(&self.requested).done = request;
    }

    pub fn is_request_done(&self, request: u64) -> bool {
        locked(&self.requested).done >= request
    }

    fn entities(&self) -> MutexGuard<'_, Entities> {
        locked(&self.entities)
    }

    /// (done, total) in bytes.
    pub fn bytes(&self) -> (u64, u64) {
        (self.done_bytes.load(Ordering::Relaxed), self.total_bytes.load(Ordering::Relaxed))
    }

    /// (done, total) in files.
    pub fn files(&self) -> (u64, u64) {
        (self.done_files.load(Ordering::Relaxed), self.total_files.load(Ordering::Relaxed))
    }
}
