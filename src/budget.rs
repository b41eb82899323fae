//! Deadlines and cancellation of running work, and its progress.
//!
//! Owns the flag, the clock and the counters. `serve` and `cli` set the deadlines; the modules below observe them. Does not own what
//! reads request from a running update (`repository::in_flight`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::error::{Error, ErrorKind, Result};

/// The time budget of a call, shared by the caller and the workers. Clones share the cancellation flag.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    cancellation: Arc<Cancellation>,
    deadline: Option<Instant>,
}

#[derive(Debug, Default)]
struct Cancellation {
    is_cancelled: AtomicBool,
    /// Wakes callers that wait in [`Budget::spent`].
    cancelled: Notify,
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
        Self { cancellation: Arc::clone(&self.cancellation), deadline }
    }

    pub fn cancel(&self) {
        self.cancellation.is_cancelled.store(true, Ordering::Relaxed);
        self.cancellation.cancelled.notify_waiters();
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled.load(Ordering::Relaxed)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn is_spent(&self) -> bool {
        self.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits until the budget is spent.
    pub async fn spent(&self) {
        let cancelled = self.cancellation.cancelled.notified();
        if self.is_cancelled() {
            return;
        }
        match self.deadline {
            Some(deadline) => drop(tokio::time::timeout_at(deadline.into(), cancelled).await),
            None => cancelled.await,
        }
    }

    /// Fails with `CANCELLED` or `TIMEOUT` once the budget is spent.
    pub fn check(&self) -> Result<()> {
        if self.is_spent() { Err(self.error()) } else { Ok(()) }
    }

    /// The error for a spent budget.
    pub fn error(&self) -> Error {
        if self.is_cancelled() {
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

/// The part of the work on an index that is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Waits for other work.
    #[default]
    Waiting,
    /// Finds the files, and those that changed.
    Listing,
    /// Reads files and stores what they contain. Files and bytes are counted.
    Files,
    /// Merges segments of the full-text index.
    Merging,
    Vectors,
    History,
    Substrings,
}

impl Phase {
    const ALL: [Self; 7] =
        [Self::Waiting, Self::Listing, Self::Files, Self::Merging, Self::Vectors, Self::History, Self::Substrings];
}

/// The progress of long work. The worker writes it, and the caller reads it.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of a [`Phase`].
    phase: AtomicU8,
    pub done_files: AtomicU64,
    /// 0 until the directory walk has finished.
    pub total_files: AtomicU64,
    pub done_bytes: AtomicU64,
    pub total_bytes: AtomicU64,
}

impl Progress {
    /// Enters a phase.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub fn phase(&self) -> Phase {
        Phase::ALL[usize::from(self.phase.load(Ordering::Relaxed))]
    }

    /// Begins reading files of this number and size.
    pub fn begin(&self, files: u64, bytes: u64) {
        self.enter(Phase::Files);
        self.done_files.store(0, Ordering::Relaxed);
        self.done_bytes.store(0, Ordering::Relaxed);
        self.total_bytes.store(bytes, Ordering::Relaxed);
        self.total_files.store(files, Ordering::Relaxed);
    }

    /// For work with a counter of its own.
    pub fn set(&self, done: u64, total: u64) {
        self.enter(Phase::Files);
        self.total_files.store(total, Ordering::Relaxed);
        self.done_files.store(done, Ordering::Relaxed);
    }

    pub fn advance(&self, files: u64, bytes: u64) {
        self.done_files.fetch_add(files, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
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
