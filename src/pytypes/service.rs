//! The type engine as seen by the rest of the program: ask a query, and get an answer or an error in time.
//!
//! Owns when the child process runs, which changes it receives, and how queries recover from a crash: a query is
//! retried on a new engine, and a file that crashes engines is quarantined until it changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::child::{EngineProcess, EngineSpec, ExitReason, Outcome, modified};
use super::installed_ty::InstalledTy;
use super::values::{Answer, Changes, Checked, Diagnostic, Query, Severity};
use super::wire::Request;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::{Span, printable};

/// Files that changed on disk since the last call of [`ChangeFeed::changes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChanges {
    Nothing,
    /// These files or folders (absolute paths).
    Paths(Vec<PathBuf>),
    Everything,
}

/// The source of file changes.
pub trait ChangeFeed: Send + Sync {
    /// Starts over: only changes from now on are reported.
    fn begin(&self);
    /// Every change between the previous call and this one.
    fn changes(&self) -> FileChanges;
}

pub struct TypeService {
    spec: EngineSpec,
    feed: Box<dyn ChangeFeed>,
    state: Mutex<State>,
    /// Held while a query is retried after a crash: retries run one at a time to identify which of them crashes the
    /// engine.
    retry_lock: Mutex<()>,
    /// Held while an installed ty runs: one check takes all cores.
    installed_lock: Mutex<()>,
}

#[derive(Default)]
struct State {
    child: Option<Arc<EngineProcess>>,
    quarantined: Vec<Quarantined>,
    last_used: Option<Instant>,
    /// The last answer about many files, valid as long as nothing has changed: the next page of it is another query.
    kept: Option<(Query, Answer)>,
    /// How many times changes were sent to the engine.
    applied: u64,
}

/// A file that crashed an engine, with its modification time at that point.
#[derive(Clone, Debug)]
struct Quarantined {
    path: PathBuf,
    modified: Option<SystemTime>,
    why: ExitReason,
}

/// How often a query is retried on a new engine without identifying a cause.
const MAX_INCONCLUSIVE: usize = 2;

/// How often the supervisor checks an engine.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How often a check tests whether the one before it has ended.
const TURN_INTERVAL: Duration = Duration::from_millis(20);

impl TypeService {
    pub fn new(spec: EngineSpec, feed: Box<dyn ChangeFeed>) -> Arc<Self> {
        Arc::new(Self {
            spec,
            feed,
            state: Mutex::default(),
            retry_lock: Mutex::new(()),
            installed_lock: Mutex::new(()),
        })
    }

    /// Answers a query from the current state of the disk. Calls `on_progress` with (done, total) during long work.
    pub fn ask(self: &Arc<Self>, query: &Query, budget: &Budget, on_progress: &dyn Fn(usize, usize)) -> Result<Answer> {
        if let Some(quarantined) = query.file().and_then(|file| self.quarantined(Path::new(file))) {
            return match query {
                Query::Check { .. } => Ok(Answer::Check(Checked {
                    diagnostics: vec![self.quarantine_diagnostic(&quarantined)],
                    files: 1,
                    ..Checked::default()
                })),
                _ => Err(quarantine_error(&self.display_path(&quarantined.path), quarantined.why)),
            };
        }
        let mut inconclusive = 0;
        let mut alone = None;
        loop {
            let (why, at) = match self.try_once(query, budget, on_progress)? {
                Outcome::Answered(answer) => return self.completed(query, answer),
                Outcome::Exited(why, at) => (why, at),
            };
            // From here on one at a time, to identify which query crashes the engine.
            alone.get_or_insert_with(|| locked(&self.retry_lock));
            let culprits = self.culprits(query, why, at, inconclusive > 0, budget)?;
            for path in &culprits {
                self.quarantine(path.clone(), why);
            }
            match (query.file(), culprits.first()) {
                (Some(file), Some(_)) if culprits.iter().any(|culprit| culprit == Path::new(file)) => {
                    return Err(quarantine_error(&self.display_path(Path::new(file)), why));
                }
                // Another query caused the crash, or this one covers the whole project: retry.
                (_, Some(_)) => inconclusive = 0,
                (_, None) if inconclusive >= MAX_INCONCLUSIVE => return Err(quarantine_error("the project", why)),
                (_, None) => inconclusive += 1,
            }
        }
    }

    /// Checks with the installed ty `program`. The engine finds out which projects that is about, and what has changed since the
    /// last check.
    pub fn check_with(self: &Arc<Self>, program: &Path, query: &Query, budget: &Budget) -> Result<Answer> {
        let Query::Check { file, within, rendered, notes } = query else {
            return Err(Error::internal("an installed ty only checks"));
        };
        let _turn = loop {
            match self.installed_lock.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) => budget.check()?,
            }
            std::thread::sleep(TURN_INTERVAL);
        };
        let within = file.iter().chain(within).cloned().collect();
        let Answer::Projects(projects) = self.ask(&Query::Projects { within }, budget, &|_, _| {})? else {
            return Err(Error::internal("the type engine returned an unexpected answer").hint("Try again."));
        };
        let applied = {
            let state = self.lock();
            if let Some((_, answer)) = state.kept.as_ref().filter(|(asked, _)| asked == query) {
                return Ok(answer.clone());
            }
            state.applied
        };
        let EngineSpec { root, environment, timeout, .. } = &self.spec;
        let (timeout, rendered, notes) = (*timeout, *rendered, *notes);
        let answer = InstalledTy { program, root, environment, timeout, budget, rendered, notes }.check(&projects)?;
        let answer = Answer::Check(answer);
        let mut state = self.lock();
        if state.applied == applied {
            state.kept = Some((query.clone(), answer.clone()));
        }
        Ok(answer)
    }

    /// Stops the engine.
    pub fn stop(&self) {
        if let Some(child) = self.lock().child.take() {
            child.kill(ExitReason::Idle);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn try_once(
        self: &Arc<Self>,
        query: &Query,
        budget: &Budget,
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<Outcome> {
        budget.check()?;
        let (child, waiting, applied) = {
            let mut state = self.lock();
            state.last_used = Some(Instant::now());
            let (child, is_new) = self.running_engine(&mut state)?;
            // A new engine reads every file after the query arrived, so it needs no changes.
            let changes = match is_new {
                true => FileChanges::Nothing,
                false if child.libraries_changed() => FileChanges::Everything,
                false => self.feed.changes(),
            };
            let changes = changes_of(changes);
            if is_new || changes.is_some() {
                state.kept = None;
                state.applied += 1;
            }
            if let Some((_, answer)) = state.kept.as_ref().filter(|(asked, _)| asked == query) {
                return Ok(Outcome::Answered(answer.clone()));
            }
            if let Some(changes) = changes {
                child.send(&Request::Apply { changes });
            }
            let waiting = child.ask(query);
            (child, waiting, state.applied)
        };
        let outcome = child.wait(&waiting, budget, on_progress);
        let mut state = self.lock();
        state.last_used = Some(Instant::now());
        if let (Ok(Outcome::Answered(answer)), Query::Check { file: None, .. } | Query::InferAll { .. }) =
            (&outcome, query)
            && state.applied == applied
        {
            state.kept = Some((query.clone(), answer.clone()));
        }
        drop(state);
        outcome
    }

    /// The running engine, and whether it was started by this call.
    fn running_engine(self: &Arc<Self>, state: &mut State) -> Result<(Arc<EngineProcess>, bool)> {
        if let Some(child) = state.child.as_ref().filter(|child| child.is_alive()) {
            return Ok((Arc::clone(child), false));
        }
        self.feed.begin();
        let child = EngineProcess::start(&self.spec)?;
        state.quarantined.retain(|quarantined| quarantined.modified == modified(&quarantined.path));
        let files: Vec<String> = state.quarantined.iter().map(|one| one.path.to_string_lossy().into_owned()).collect();
        if !files.is_empty() {
            child.send(&Request::Quarantine { files });
        }
        state.child = Some(Arc::clone(&child));
        supervise(Arc::downgrade(self), Arc::downgrade(&child), self.spec.idle);
        Ok((child, true))
    }

    /// The files that caused the crash, among those that the engine was processing.
    fn culprits(
        self: &Arc<Self>,
        query: &Query,
        why: ExitReason,
        at: Vec<String>,
        is_again: bool,
        budget: &Budget,
    ) -> Result<Vec<PathBuf>> {
        if why == ExitReason::TimedOut && !at.is_empty() {
            let stuck: BTreeSet<PathBuf> = at.iter().map(|file| self.spec.root.join(file)).collect();
            return self.find_stuck(stuck, budget);
        }
        if let Some(file) = query.file() {
            return Ok(is_again.then(|| PathBuf::from(file)).into_iter().collect());
        }
        let mut culprits = Vec::new();
        for file in at {
            let path = self.spec.root.join(file);
            if let Outcome::Exited(..) = self.try_once(&check_query(&path), budget, &|_, _| {})? {
                culprits.push(path);
            }
        }
        Ok(culprits)
    }

    /// Among files that an engine did not finish, those that are the cause: the others may have waited for them or for
    /// one of their imports.
    fn find_stuck(self: &Arc<Self>, suspects: BTreeSet<PathBuf>, budget: &Budget) -> Result<Vec<PathBuf>> {
        let mut importing = Vec::new();
        let mut culprits = Vec::new();
        for path in suspects {
            let imports = self.imports(&path, budget)?;
            // A file without imports did not wait for another one.
            if imports.is_empty() { culprits.push(path) } else { importing.push((path, imports)) }
        }
        // A single suspect was not blocked by another file.
        let mut is_stuck = culprits.is_empty() && importing.len() == 1;
        for path in culprits.iter().chain(importing.iter().map(|(path, _)| path)) {
            self.quarantine(path.clone(), ExitReason::TimedOut);
        }
        for (path, imports) in importing {
            self.lock().quarantined.retain(|quarantined| quarantined.path != path);
            self.stop();
            while std::mem::take(&mut is_stuck) || self.crashes_engine(&path, budget)? {
                let culprit = self.first_that_crashes(&imports, budget)?.unwrap_or_else(|| path.clone());
                self.quarantine(culprit.clone(), ExitReason::TimedOut);
                culprits.push(culprit);
                if culprits.last() == Some(&path) {
                    break;
                }
            }
        }
        Ok(culprits)
    }

    /// The project files that `path` imports.
    fn imports(self: &Arc<Self>, path: &Path, budget: &Budget) -> Result<Vec<PathBuf>> {
        let query = Query::Imports { file: path.to_string_lossy().into_owned() };
        Ok(match self.try_once(&query, budget, &|_, _| {})? {
            Outcome::Answered(Answer::Files { files }) => files.into_iter().map(PathBuf::from).collect(),
            _ => Vec::new(),
        })
    }

    /// Whether checking a file crashes the engine.
    fn crashes_engine(self: &Arc<Self>, path: &Path, budget: &Budget) -> Result<bool> {
        Ok(matches!(self.try_once(&check_query(path), budget, &|_, _| {})?, Outcome::Exited(..)))
    }

    /// The first file that crashes the engine; the most distant import first.
    fn first_that_crashes(self: &Arc<Self>, paths: &[PathBuf], budget: &Budget) -> Result<Option<PathBuf>> {
        for path in paths.iter().rev() {
            if self.quarantined(path).is_none() && self.crashes_engine(path, budget)? {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    fn quarantine(&self, path: PathBuf, why: ExitReason) {
        let mut state = self.lock();
        tracing::info!(file = %path.display(), ?why, "the type engine quarantined a file until it changes");
        state.quarantined.retain(|quarantined| quarantined.path != path);
        state.quarantined.push(Quarantined { modified: modified(&path), path, why });
        if let Some(child) = state.child.take() {
            child.kill(ExitReason::Idle);
        }
    }

    fn quarantined(&self, path: &Path) -> Option<Quarantined> {
        let mut state = self.lock();
        state.quarantined.retain(|quarantined| quarantined.modified == modified(&quarantined.path));
        state.quarantined.iter().find(|quarantined| quarantined.path == path).cloned()
    }

    /// Adds the quarantined files to a check as diagnostics.
    fn completed(&self, query: &Query, answer: Answer) -> Result<Answer> {
        match (query, answer) {
            (Query::Check { file: None, within, .. }, Answer::Check(mut checked)) => {
                let quarantined = self.lock().quarantined.clone();
                let is_asked = |quarantined: &&Quarantined| {
                    within.is_empty() || within.iter().any(|folder| quarantined.path.starts_with(folder))
                };
                checked.diagnostics.extend(
                    quarantined.iter().filter(is_asked).map(|quarantined| self.quarantine_diagnostic(quarantined)),
                );
                checked.diagnostics.sort_by(|a, b| a.span.cmp(&b.span));
                Ok(Answer::Check(checked))
            }
            (_, answer) => Ok(answer),
        }
    }

    fn quarantine_diagnostic(&self, quarantined: &Quarantined) -> Diagnostic {
        let file = self.display_path(&quarantined.path);
        let message = quarantine_error(&file, quarantined.why).message;
        let span = Span { file, cell: None, line: 1, column: 1, end_line: 1, end_column: 1 };
        Diagnostic {
            span,
            severity: Severity::Error,
            code: "engine-gave-up".to_owned(),
            message: message.to_string(),
            rendered: None,
            notes: Vec::new(),
        }
    }

    fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.spec.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

impl Drop for TypeService {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Supervises one engine: kills it when it is stuck or exceeds its memory limit, and stops it when it is idle or when the
/// memory that all engines share is exceeded.
fn supervise(service: Weak<TypeService>, child: Weak<EngineProcess>, idle: Duration) {
    let supervisor = std::thread::Builder::new().name("engine-supervisor".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(POLL_INTERVAL);
            let (Some(service), Some(child)) = (service.upgrade(), child.upgrade()) else { return };
            if !child.is_alive() {
                return;
            }
            child.kill_if_over_limits();
            let last_used = service.lock().last_used.filter(|_| !child.has_pending());
            let must_end = child.must_end(last_used);
            let mut state = service.lock();
            // A query may have arrived meanwhile.
            let is_unused = state.last_used == last_used && !child.has_pending();
            let is_idle = last_used.is_some_and(|last| last.elapsed() >= idle);
            if is_unused && (is_idle || must_end) && state.child.as_ref().is_some_and(|own| Arc::ptr_eq(own, &child)) {
                state.child = None;
                child.kill(ExitReason::Idle);
            }
        }
    });
    if let Err(error) = supervisor {
        tracing::warn!("cannot start the supervisor of the type engine: {error}");
    }
}

fn check_query(path: &Path) -> Query {
    let file = Some(path.to_string_lossy().into_owned());
    Query::Check { file, within: Vec::new(), rendered: false, notes: false }
}

fn changes_of(changes: FileChanges) -> Option<Changes> {
    match changes {
        FileChanges::Nothing => None,
        FileChanges::Paths(paths) if paths.is_empty() => None,
        FileChanges::Paths(paths) => {
            Some(Changes::Paths(paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()))
        }
        FileChanges::Everything => Some(Changes::Everything),
    }
}

fn quarantine_error(file: &str, why: ExitReason) -> Error {
    let why = match why {
        ExitReason::Died => "crashed",
        ExitReason::TimedOut => "did not finish",
        ExitReason::Memory => "used too much memory",
        ExitReason::Idle => "was stopped",
    };
    Error::internal(format!("the type engine gave up on {}: it {why}", printable(file)))
        .hint("It is retried when the file changes; other files are not affected.")
}
