//! The update in flight.
//!
//! Owns how callers learn of its progress and its end. Does not own when one starts (`schedule`), nor what it does (`rounds`).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::coverage::Coverage;
use super::requests::Requests;
use crate::budget::{Budget, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

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
