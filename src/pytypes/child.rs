//! One engine process as seen by its parent: in-flight queries, the files being processed, and why it exited.
//!
//! The service decides whether to start another one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use super::memory::{Member, MemoryBudget};
use super::values::{Answer, Query};
use super::wire::{Report, Request};
use crate::budget::Budget;
use crate::child_process::{ChildProcess, Pending, Received, STARTUP, framing};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::wording;

/// How long the engine may take to abandon a cancelled query before it is killed.
const CANCEL_GRACE: Duration = Duration::from_millis(1500);
/// The time limit for one file. No file written by hand takes this long. The limit is also capped at a fraction of the
/// query timeout.
const MAX_FILE_TIME: Duration = Duration::from_secs(45);
const TIMEOUT_FRACTION: u32 = 4;
/// Resident memory in bytes at which the engine is killed. Django with its tests takes less than 1 GiB.
const MAX_MEMORY: u64 = 6 << 30;
/// Bytes of one report.
const MAX_REPORT_SIZE: u64 = 1 << 30;
/// How long the child may take to send its first line.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);

/// How to start an engine.
#[derive(Clone, Debug)]
pub struct EngineSpec {
    pub root: PathBuf,
    /// The path of this program.
    pub program: PathBuf,
    /// The caller's `VIRTUAL_ENV`, `CONDA_PREFIX`, and `PYTHONPATH`.
    pub environment: BTreeMap<String, String>,
    /// The engine stops after being idle for this long.
    pub idle: Duration,
    /// The memory budget that all engines of this user share.
    pub memory: MemoryBudget,
    /// A query that takes longer fails, and the engine is killed.
    pub timeout: Duration,
    /// The engine is queried about a single state of the disk. Answers are cheaper; a change requires a new engine.
    pub is_once: bool,
}

/// Why an engine process exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitReason {
    /// It crashed: a stack overflow, the kernel's OOM killer.
    Died,
    /// One file or query took too long and the engine did not react to cancellation.
    TimedOut,
    Memory,
    Idle,
}

/// The outcome of a query.
pub(super) enum Outcome {
    Answered(Answer),
    /// The engine exited, with the files that it was processing.
    Exited(ExitReason, Vec<String>),
}

pub(super) struct EngineProcess {
    timeout: Duration,
    child: Arc<ChildProcess<Report>>,
    state: Arc<Mutex<State>>,
    /// `None`: the system gives engines no way to find each other.
    member: Option<Member>,
}

#[derive(Default)]
struct State {
    /// For each query and engine thread, the file being processed and when that began.
    at: HashMap<(u64, usize), (String, Instant)>,
    /// Why it was killed.
    killed: Option<ExitReason>,
    /// Library folders with their modification times when last checked.
    libraries: Vec<(PathBuf, Option<SystemTime>)>,
}

impl EngineProcess {
    pub fn start(spec: &EngineSpec) -> Result<Arc<Self>> {
        let mut command = Command::new(&spec.program);
        command.arg("engine").arg(&spec.root).args(spec.is_once.then_some("--once")).current_dir(&spec.root);
        for variable in ["VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH"] {
            command.env_remove(variable);
        }
        // Memory freed by one thread should be reusable by the next.
        command.env("MALLOC_ARENA_MAX", "2").envs(&spec.environment);
        let state: Arc<Mutex<State>> = Arc::default();
        let (noting, root) = (Arc::clone(&state), spec.root.clone());
        let receive = |stdout: &mut _| framing::read_line(stdout, MAX_REPORT_SIZE);
        let handle = move |child: &_, report| note(child, report, &mut locked(&noting), &root);
        let started = ChildProcess::start(command, receive, handle);
        let (child, startup) = started.map_err(|error| Error::io("start", &spec.program, error))?;
        match startup.wait(Some(Instant::now() + STARTUP_TIMEOUT), || false) {
            Received::Message(Report::Ready { version }) if version == env!("CARGO_PKG_VERSION") => {
                let member = Member::join(&spec.memory, child.id());
                let member = member.inspect_err(|error| tracing::debug!(%error, "memory is not shared")).ok();
                Ok(Arc::new(Self { timeout: spec.timeout, child, state, member }))
            }
            Received::Message(Report::Ready { version }) => Err(Error::internal(format!(
                "the program on disk is a different release ({version})"
            ))
            .hint(("Restart the daemon: ", wording::Command("daemon stop"), "."))),
            _ => Err(Error::internal("the type engine did not start").hint((
                "See the log, or run ",
                wording::Command("engine"),
                " by hand.",
            ))),
        }
    }

    /// Whether packages were installed or removed since the last call. The file watcher does not cover these folders.
    pub fn libraries_changed(&self) -> bool {
        let mut state = self.lock();
        let mut changed = false;
        for (path, then) in &mut state.libraries {
            let now = modified(path);
            changed |= now != *then;
            *then = now;
        }
        changed
    }

    pub fn send(&self, request: &Request) {
        self.child.send(&framing::line(request));
    }

    pub fn ask(&self, query: &Query) -> Pending<Report> {
        let pending = self.child.begin();
        self.send(&Request::Ask { id: pending.id, query: query.clone() });
        pending
    }

    /// Waits for the answer, at most until the timeout: an engine that hangs as a whole reports no file.
    pub fn wait(
        &self,
        pending: &Pending<Report>,
        budget: &Budget,
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<Outcome> {
        let deadline = Instant::now() + self.timeout;
        loop {
            match pending.wait(Some(deadline), || budget.is_spent()) {
                Received::Message(Report::Progress { done, total, .. }) => on_progress(done, total),
                Received::Message(Report::Done { answer, .. }) => return Ok(Outcome::Answered(answer)),
                Received::Message(Report::Failed { fault, .. }) => return Err(fault.into()),
                // Not reports on a query.
                Received::Message(Report::Ready { .. } | Report::Libraries { .. } | Report::At { .. }) => {}
                Received::Exited => {
                    let state = self.lock();
                    let at = state.at.values().map(|(file, _)| file.clone()).collect();
                    return Ok(Outcome::Exited(state.killed.unwrap_or(ExitReason::Died), at));
                }
                Received::Cancelled => {
                    self.give_up(pending);
                    return Err(budget.error());
                }
                Received::TimedOut => {
                    self.kill(ExitReason::TimedOut);
                    return Err(Error::new(
                        ErrorKind::Timeout,
                        format!("the type engine did not answer within {} s and was killed", self.timeout.as_secs()),
                    )
                    .hint("Query a single file, or raise the setting python.longest."));
                }
            }
        }
    }

    /// Cancels the query. Kills the engine if it does not react within the grace period.
    fn give_up(&self, pending: &Pending<Report>) {
        self.send(&Request::Cancel { id: pending.id });
        let deadline = Instant::now() + CANCEL_GRACE;
        loop {
            match pending.wait(Some(deadline), || false) {
                Received::Message(Report::Progress { .. }) => {}
                Received::Message(_) => return,
                _ => return self.kill(ExitReason::TimedOut),
            }
        }
    }

    /// Kills an engine that has processed one file for too long or uses too much memory.
    pub fn kill_if_over_limits(&self) {
        let mut state = self.lock();
        let max_file_time = MAX_FILE_TIME.min(self.timeout / TIMEOUT_FRACTION);
        let is_stuck = |(_, since): &(String, Instant)| since.elapsed() >= max_file_time;
        if state.at.values().any(is_stuck) {
            state.at.retain(|_, at| is_stuck(at));
            drop(state);
            self.kill(ExitReason::TimedOut);
            return;
        }
        drop(state);
        if self.child.resident_memory().is_some_and(|memory| memory > MAX_MEMORY) {
            self.kill(ExitReason::Memory);
        }
    }

    /// Whether it must end because the engines of this user need too much memory. `last_used` is `None` if it is in use.
    pub fn must_end(&self, last_used: Option<Instant>) -> bool {
        self.member.as_ref().is_some_and(|member| member.must_end(last_used))
    }

    pub fn kill(&self, why: ExitReason) {
        if self.child.is_alive() {
            self.lock().killed.get_or_insert(why);
        }
        self.child.kill();
    }

    pub fn is_alive(&self) -> bool {
        self.child.is_alive()
    }

    pub fn has_pending(&self) -> bool {
        self.child.has_pending()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

/// Delivers a report to the caller whose query it is about, and notes the others.
fn note(child: &ChildProcess<Report>, report: Report, state: &mut State, root: &Path) {
    match report {
        Report::Ready { .. } => child.answer(STARTUP, report),
        Report::Libraries { folders } => {
            // A virtual environment may be created or recreated where none exists yet.
            let watched = folders.into_iter().map(PathBuf::from).chain([root.join(".venv/pyvenv.cfg")]);
            state.libraries = watched.map(|path| (modified(&path), path)).map(|(then, path)| (path, then)).collect();
        }
        Report::Progress { id, .. } => child.progress(id, report),
        Report::At { id, thread, file: Some(file) } => drop(state.at.insert((id, thread), (file, Instant::now()))),
        Report::At { id, thread, file: None } => drop(state.at.remove(&(id, thread))),
        Report::Done { id, .. } | Report::Failed { id, .. } => {
            state.at.retain(|(of, _), _| *of != id);
            child.answer(id, report);
        }
    }
}

pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}
