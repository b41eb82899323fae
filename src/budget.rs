//! How long work may go on: a deadline and a cancellation that reach into running queries and scans.
//!
//! Owns the flag and the clock. Who sets a deadline is decided by `serve` and `cli`; who heeds it, below.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

/// Shared by the one who asked and the one who works; clones are the same budget.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Budget {
    /// No deadline; ends only when cancelled.
    pub fn unlimited() -> Self {
        Self::default()
    }

    pub fn lasting(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..Self::default() }
    }

    /// The same cancellation with another deadline.
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

    /// `CANCELLED` or `TIMEOUT` once spent.
    pub fn check(&self) -> Result<()> {
        if self.is_spent() { Err(self.error()) } else { Ok(()) }
    }

    /// The error of a spent budget.
    pub fn error(&self) -> Error {
        if self.cancelled.load(Ordering::Relaxed) {
            Error::new(ErrorKind::Cancelled, "the call was cancelled")
        } else {
            Error::new(ErrorKind::Timeout, "the call ran past its deadline")
                .hint("Narrow the question, or give a larger timeout_ms.")
        }
    }
}

/// Does `work` while `tell` hears, ten times a second, how far it has come: done, and of how much. It hears nothing before
/// that is known.
pub fn telling<T>(
    tell: &(dyn Fn(u64, u64) + Sync),
    far: impl Fn() -> Option<(u64, u64)> + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let tick = || {
        if let Some((done, total)) = far().filter(|(_, total)| *total > 0) {
            tell(done, total);
        }
    };
    ticking(TELL, tick, work)
}

/// Does `work` while another thread calls `tick` every so often. The ticks end with the work, also when it panics.
pub fn ticking<T>(every: Duration, mut tick: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
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

/// How often somebody who waits is told how far the work has come.
const TELL: Duration = Duration::from_millis(100);

/// How far long work has come. Written by the worker, read by whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    pub done_files: AtomicU64,
    /// 0 until the walk has ended.
    pub total_files: AtomicU64,
    pub done_bytes: AtomicU64,
    pub total_bytes: AtomicU64,
    entities: Mutex<Entities>,
}

/// What is known of the entities while the rest of a build goes on.
#[derive(Debug, Default)]
struct Entities {
    stand: Option<Standing>,
    asked: Option<Instant>,
}

/// A part of an index that shows the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// As it was then, or later.
    pub as_of: Instant,
    /// What the watch had noticed by then: a place to read on from.
    pub place: u64,
}

impl Progress {
    pub fn begin(&self, files: u64, bytes: u64) {
        self.done_files.store(0, Ordering::Relaxed);
        self.done_bytes.store(0, Ordering::Relaxed);
        self.total_bytes.store(bytes, Ordering::Relaxed);
        self.total_files.store(files, Ordering::Relaxed);
    }

    /// For work that counts by itself.
    pub fn stand_at(&self, done: u64, total: u64) {
        self.total_files.store(total, Ordering::Relaxed);
        self.done_files.store(done, Ordering::Relaxed);
    }

    pub fn advance(&self, bytes: u64) {
        self.done_files.fetch_add(1, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The entities are up to date; the rest may follow.
    pub fn entities_stand(&self, standing: Standing) {
        self.entities().stand = Some(standing);
    }

    pub fn standing_entities(&self) -> Option<Standing> {
        self.entities().stand
    }

    /// Somebody waits for the entities as they are on disk at `since`.
    pub fn ask_for_entities(&self, since: Instant) {
        let mut entities = self.entities();
        entities.asked = entities.asked.max(Some(since));
    }

    /// Whether somebody waits for newer entities than those that stand.
    pub fn asks_for_entities(&self) -> bool {
        let entities = self.entities();
        entities.asked > entities.stand.map(|standing| standing.as_of)
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
