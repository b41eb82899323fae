//! Work that may take longer than its caller's timeout: an equal call joins it instead of starting it again.
//!
//! Owns the jobs, how many callers wait for each, and when one is cancelled: when its last waiting caller cancels. A job
//! whose callers got the answer that it runs continues, and keeps its answer for a while.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::panics;

/// How long an answer is kept for an equal call.
const KEEP: Duration = Duration::from_secs(60);
/// How often a waiting caller checks for cancellation and reports progress.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The long calls of one process.
#[derive(Default)]
pub struct Jobs(Mutex<HashMap<String, Arc<Job>>>);

/// Answer to a caller: the result, or how far the job is.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Value),
    Running { done: u64, total: u64 },
}

struct Job {
    budget: Budget,
    progress: Arc<Progress>,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    outcome: Option<(Result<Value>, Instant)>,
}

impl Jobs {
    /// Waits for the job of that key; if there is none, `work` becomes one. `report` reports and returns its progress.
    ///
    /// After the timeout the answer is `Running`, and the work continues. If `budget` is spent before, the work ends, too,
    /// unless another caller waits for it.
    pub(super) fn join(
        &self,
        key: &str,
        timeout: Option<Duration>,
        budget: &Budget,
        report: &dyn Fn(&Progress) -> (u64, u64),
        work: impl FnOnce(&Arc<Progress>, &Budget) -> Result<Value> + Send + 'static,
    ) -> Result<Outcome> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let job = self.enter(key.to_owned(), work)?;
        let mut state = locked(&job.state);
        loop {
            if let Some((outcome, _)) = &state.outcome {
                let outcome = outcome.as_ref().map_err(Error::duplicate).cloned();
                drop(state);
                self.forget(key, &job);
                return outcome.map(Outcome::Done);
            }
            if budget.is_spent() {
                state.waiting -= 1;
                let is_unwanted = state.waiting == 0;
                drop(state);
                if is_unwanted {
                    job.budget.cancel();
                    self.forget(key, &job);
                }
                return Err(budget.error());
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                state.waiting -= 1;
                drop(state);
                let (done, total) = report(&job.progress);
                return Ok(Outcome::Running { done, total });
            }
            state = job.ended.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
            if state.outcome.is_none() {
                // The work must not wait for a report.
                drop(state);
                report(&job.progress);
                state = locked(&job.state);
            }
        }
    }

    /// The job, with this caller counted as waiting.
    fn enter(
        &self,
        key: String,
        work: impl FnOnce(&Arc<Progress>, &Budget) -> Result<Value> + Send + 'static,
    ) -> Result<Arc<Job>> {
        let mut jobs = locked(&self.0);
        jobs.retain(|_, job| locked(&job.state).outcome.as_ref().is_none_or(|(_, ended)| ended.elapsed() < KEEP));
        let vacant = match jobs.entry(key) {
            Entry::Occupied(entry) => {
                let job = Arc::clone(entry.get());
                locked(&job.state).waiting += 1;
                return Ok(job);
            }
            Entry::Vacant(vacant) => vacant,
        };
        let job = Arc::new(Job {
            budget: Budget::unlimited(),
            progress: Arc::default(),
            state: Mutex::new(State { waiting: 1, outcome: None }),
            ended: Condvar::new(),
        });
        let worker = Arc::clone(&job);
        let run = move || {
            // Waiting callers must be notified of a panic, too.
            let outcome = panics::caught(|| work(&worker.progress, &worker.budget));
            locked(&worker.state).outcome = Some((outcome, Instant::now()));
            worker.ended.notify_all();
        };
        let spawned = std::thread::Builder::new().name("job".to_owned()).spawn(run);
        spawned.map_err(Error::no_thread)?;
        vacant.insert(Arc::clone(&job));
        Ok(job)
    }

    /// The next call of that key starts a new job.
    fn forget(&self, key: &str, job: &Arc<Job>) {
        let mut jobs = locked(&self.0);
        if jobs.get(key).is_some_and(|known| Arc::ptr_eq(known, job)) {
            jobs.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;

    const SHORT: Option<Duration> = Some(Duration::from_millis(60));

    fn progress(progress: &Progress) -> (u64, u64) {
        progress.files()
    }

    /// Counts its runs, and works until it may end or is cancelled.
    #[derive(Clone, Default)]
    struct Work {
        runs: Arc<AtomicUsize>,
        may_end: Arc<std::sync::atomic::AtomicBool>,
        was_cancelled: Arc<std::sync::atomic::AtomicBool>,
    }

    impl Work {
        fn start(&self) -> impl FnOnce(&Arc<Progress>, &Budget) -> Result<Value> + Send + 'static {
            let work = self.clone();
            move |progress, budget| {
                let run = work.runs.fetch_add(1, Ordering::SeqCst) + 1;
                progress.begin(10, 0);
                progress.advance(1, 0);
                while !work.may_end.load(Ordering::SeqCst) {
                    if budget.is_spent() {
                        work.was_cancelled.store(true, Ordering::SeqCst);
                        return Err(budget.error());
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(json!({ "run": run }))
            }
        }

        fn until_cancelled(&self) {
            while !self.was_cancelled.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn join(jobs: &Jobs, key: &str, timeout: Option<Duration>, budget: &Budget, work: &Work) -> Result<Outcome> {
        jobs.join(key, timeout, budget, &progress, work.start())
    }

    #[test]
    fn the_same_call_joins_the_work_and_gets_its_answer() {
        let (jobs, work, budget) = (Jobs::default(), Work::default(), Budget::unlimited());
        for _ in 0..2 {
            let outcome = join(&jobs, "a", SHORT, &budget, &work).unwrap();
            assert!(matches!(outcome, Outcome::Running { done: 1, total: 10 }), "{outcome:?}");
        }
        work.may_end.store(true, Ordering::SeqCst);
        // It ended while no caller waited: the next caller gets the answer, once.
        std::thread::sleep(Duration::from_millis(50));
        for run in [1, 2] {
            let Outcome::Done(answer) = join(&jobs, "a", None, &budget, &work).unwrap() else { panic!("it has ended") };
            assert_eq!(answer, json!({ "run": run }));
        }
        let Outcome::Done(other) = join(&jobs, "b", None, &budget, &work).unwrap() else { panic!("it has ended") };
        assert_eq!(other, json!({ "run": 3 }), "another call is other work");
        assert!(locked(&jobs.0).is_empty());
    }

    #[test]
    fn a_job_ends_when_its_last_waiting_caller_cancels() {
        let (jobs, work) = (Jobs::default(), Work::default());
        let budgets = [Budget::unlimited(), Budget::unlimited()];
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                budgets.iter().map(|budget| scope.spawn(|| join(&jobs, "a", None, budget, &work))).collect();
            let both_wait = || locked(&jobs.0).get("a").is_some_and(|job| locked(&job.state).waiting == 2);
            while !both_wait() {
                std::thread::sleep(Duration::from_millis(1));
            }
            budgets[0].cancel();
            while both_wait() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(!work.was_cancelled.load(Ordering::SeqCst), "a caller still waits");
            budgets[1].cancel();
            for waiter in waiting {
                assert_eq!(waiter.join().unwrap().unwrap_err().kind, ErrorKind::Cancelled);
            }
        });
        work.until_cancelled();
        work.may_end.store(true, Ordering::SeqCst);
        let Outcome::Done(answer) = join(&jobs, "a", None, &Budget::unlimited(), &work).unwrap() else { panic!() };
        assert_eq!(answer, json!({ "run": 2 }), "a cancelled job is started again");
    }

    #[test]
    fn waiting_callers_receive_progress() {
        let (jobs, work) = (Jobs::default(), Work::default());
        let heard = Mutex::new(Vec::new());
        let report = |progress: &Progress| {
            locked(&heard).push(progress.files());
            progress.files()
        };
        jobs.join("a", SHORT, &Budget::unlimited(), &report, work.start()).unwrap();
        assert!(locked(&heard).contains(&(1, 10)), "{heard:?}");
        work.may_end.store(true, Ordering::SeqCst);
    }

    #[test]
    fn a_job_that_panics_fails_for_all_waiting_callers() {
        let jobs = Jobs::default();
        let work = |_: &Arc<Progress>, _: &Budget| -> Result<Value> { panic!("on purpose") };
        let failed = jobs.join("a", None, &Budget::unlimited(), &progress, work).unwrap_err();
        assert_eq!(failed.kind, ErrorKind::Internal);
    }
}
