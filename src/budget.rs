//! How long work may go on: a deadline and a cancellation that reach into running queries and scans.
//!
//! Owns the flag and the clock. Who sets a deadline is decided by `serve` and `cli`; who heeds it, below.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

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

/// How far long work has come. Written by the worker, read by whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    pub done_files: AtomicU64,
    /// 0 until the walk has ended.
    pub total_files: AtomicU64,
    pub done_bytes: AtomicU64,
    pub total_bytes: AtomicU64,
    /// The entities are up to date; the rest may follow.
    pub entities_stand: AtomicBool,
}

impl Progress {
    pub fn begin(&self, files: u64, bytes: u64) {
        self.done_files.store(0, Ordering::Relaxed);
        self.done_bytes.store(0, Ordering::Relaxed);
        self.total_bytes.store(bytes, Ordering::Relaxed);
        self.total_files.store(files, Ordering::Relaxed);
    }

    pub fn advance(&self, bytes: u64) {
        self.done_files.fetch_add(1, Ordering::Relaxed);
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
