//! The type engine as the rest of the program sees it: ask, and get an answer or an error in time.
//!
//! Owns when the child process runs, what it is fed, and what becomes of a question whose engine died: it is asked once
//! more of a new engine, and a file that engines die of is shelved until it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::child::{Child, Ended, Outcome, modified};
use super::values::{Answer, Changes, Checked, Diagnostic, Question, Severity, Span};
use super::wire::Order;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::printable;

/// How an engine is started.
#[derive(Clone, Debug)]
pub struct Spec {
    pub root: PathBuf,
    /// This very program.
    pub program: PathBuf,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH` of whoever asks.
    pub environment: BTreeMap<String, String>,
    /// The program whose language server is asked instead of the embedded engine.
    pub ty: Option<PathBuf>,
    /// Nobody asked for so long: the engine is let go.
    pub idle: Duration,
    /// A question that takes so long is given up, and the engine ended.
    pub longest: Duration,
    /// It is asked about one state of the disk: changes cost a new engine, and the answer less.
    pub is_once: bool,
}

/// What changed on disk since a feed was last asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fresh {
    Nothing,
    /// These files or folders, absolute.
    Paths(Vec<PathBuf>),
    Everything,
}

/// Where changes come from.
pub trait Feed: Send + Sync {
    /// Begins anew: what changes from now on is told.
    fn begin(&self);
    /// Every change from before the call, since the last call.
    fn changes(&self) -> Fresh;
}

pub struct Service {
    spec: Spec,
    feed: Box<dyn Feed>,
    state: Mutex<State>,
    /// Questions that outlived an engine go one by one: which of them it died of shows.
    second_try: Mutex<()>,
}

#[derive(Default)]
struct State {
    child: Option<Arc<Child>>,
    shelved: Vec<Shelved>,
    last_used: Option<Instant>,
    /// The last check, as long as nothing has changed since.
    checked: Option<(Question, Checked)>,
    /// How often changes were handed on.
    applied: u64,
}

/// A file that an engine died of, as it was then.
#[derive(Clone, Debug)]
struct Shelved {
    path: PathBuf,
    modified: Option<SystemTime>,
    why: Ended,
}

/// A question is asked so often again of a new engine without that anything was found out.
const FRUITLESS: usize = 2;

/// How often the keeper looks after an engine.
const LOOK: Duration = Duration::from_millis(500);

impl Service {
    pub fn new(spec: Spec, feed: Box<dyn Feed>) -> Arc<Self> {
        Arc::new(Self { spec, feed, state: Mutex::default(), second_try: Mutex::new(()) })
    }

    /// The answer to a question, of the disk as it is. `tell` hears how far a long one has come.
    pub fn ask(self: &Arc<Self>, question: &Question, budget: &Budget, tell: &dyn Fn(usize, usize)) -> Result<Answer> {
        if let Some(shelved) = question.file().and_then(|file| self.shelved(Path::new(file))) {
            return match question {
                Question::Check { .. } => Ok(Answer::Check(Checked {
                    diagnostics: vec![self.told(&shelved)],
                    files: 1,
                    ..Checked::default()
                })),
                _ => Err(gave_up(&self.shown(&shelved.path), shelved.why)),
            };
        }
        let mut fruitless = 0;
        let mut alone = None;
        loop {
            let (why, at) = match self.try_once(question, budget, tell)? {
                Outcome::Answered(answer) => return self.completed(question, answer),
                Outcome::Ended(why, at) => (why, at),
            };
            // One by one from now on: which of the questions it died of shows.
            alone.get_or_insert_with(|| locked(&self.second_try));
            let culprits = self.culprits(question, why, at, fruitless > 0, budget)?;
            for path in &culprits {
                self.shelve(path.clone(), why);
            }
            match (question.file(), culprits.first()) {
                (Some(file), Some(_)) if culprits.iter().any(|culprit| culprit == Path::new(file)) => {
                    return Err(gave_up(&self.shown(Path::new(file)), why));
                }
                // Others asked at the same time, or it was asked of the whole.
                (_, Some(_)) => fruitless = 0,
                (_, None) if fruitless >= FRUITLESS => return Err(gave_up("the project", why)),
                (_, None) => fruitless += 1,
            }
        }
    }

    /// Lets the engine go.
    pub fn rest(&self) {
        if let Some(child) = self.lock().child.take() {
            child.end(Ended::Idle);
        }
    }

    /// Process number and memory of the engine, while there is one.
    pub fn process(&self) -> Option<(u32, u64)> {
        self.lock().child.as_ref().filter(|child| child.is_alive()).map(|child| (child.pid(), child.memory()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn try_once(
        self: &Arc<Self>,
        question: &Question,
        budget: &Budget,
        tell: &dyn Fn(usize, usize),
    ) -> Result<Outcome> {
        budget.check()?;
        let (child, waiting, applied) = {
            let mut state = self.lock();
            state.last_used = Some(Instant::now());
            let (child, is_new) = self.running(&mut state)?;
            // A new one has read everything after the question came; no more is promised.
            let fresh = match is_new {
                true => Fresh::Nothing,
                false if child.libraries_changed() => Fresh::Everything,
                false => self.feed.changes(),
            };
            let changes = changes_of(fresh);
            if is_new || changes.is_some() {
                state.checked = None;
                state.applied += 1;
            }
            if let Some((_, checked)) = state.checked.as_ref().filter(|(asked, _)| asked == question) {
                return Ok(Outcome::Answered(Answer::Check(checked.clone())));
            }
            if let Some(changes) = changes {
                child.send(&Order::Apply { changes });
            }
            let waiting = child.ask(question);
            (child, waiting, state.applied)
        };
        let outcome = child.wait(&waiting, budget, tell);
        let mut state = self.lock();
        state.last_used = Some(Instant::now());
        if let (Ok(Outcome::Answered(Answer::Check(checked))), Question::Check { file: None, .. }) =
            (&outcome, question)
            && state.applied == applied
        {
            state.checked = Some((question.clone(), checked.clone()));
        }
        drop(state);
        outcome
    }

    /// The engine, started when there is none.
    fn running(self: &Arc<Self>, state: &mut State) -> Result<(Arc<Child>, bool)> {
        if let Some(child) = state.child.as_ref().filter(|child| child.is_alive()) {
            return Ok((Arc::clone(child), false));
        }
        self.feed.begin();
        let child = Child::start(&self.spec)?;
        state.shelved.retain(|shelved| shelved.modified == modified(&shelved.path));
        let files: Vec<String> = state.shelved.iter().map(|one| one.path.to_string_lossy().into_owned()).collect();
        if !files.is_empty() {
            child.send(&Order::Shelve { files });
        }
        state.child = Some(Arc::clone(&child));
        keep(Arc::downgrade(self), Arc::downgrade(&child), self.spec.idle);
        Ok((child, true))
    }

    /// The files that an engine ended of, among those that it looked at then.
    fn culprits(
        self: &Arc<Self>,
        question: &Question,
        why: Ended,
        at: Vec<String>,
        is_again: bool,
        budget: &Budget,
    ) -> Result<Vec<PathBuf>> {
        if why == Ended::Overran && !at.is_empty() {
            let stuck: BTreeSet<PathBuf> = at.iter().map(|file| self.spec.root.join(file)).collect();
            return self.stuck(stuck, budget);
        }
        if let Some(file) = question.file() {
            return Ok(is_again.then(|| PathBuf::from(file)).into_iter().collect());
        }
        let mut culprits = Vec::new();
        for file in at {
            let path = self.spec.root.join(file);
            if let Outcome::Ended(..) = self.try_once(&check_of(&path), budget, &|_, _| {})? {
                culprits.push(path);
            }
        }
        Ok(culprits)
    }

    /// Of files that an engine did not come to an end with, those that are to blame: others may have waited for them, or for
    /// what they import.
    fn stuck(self: &Arc<Self>, suspects: BTreeSet<PathBuf>, budget: &Budget) -> Result<Vec<PathBuf>> {
        let mut importing = Vec::new();
        let mut culprits = Vec::new();
        for path in suspects {
            let imports = self.imports(&path, budget)?;
            // Who needs no other has waited for none.
            if imports.is_empty() { culprits.push(path) } else { importing.push((path, imports)) }
        }
        // Nobody else can have kept a file that was alone.
        let mut is_stuck = culprits.is_empty() && importing.len() == 1;
        for path in culprits.iter().chain(importing.iter().map(|(path, _)| path)) {
            self.shelve(path.clone(), Ended::Overran);
        }
        for (path, imports) in importing {
            self.lock().shelved.retain(|shelved| shelved.path != path);
            self.rest();
            while std::mem::take(&mut is_stuck) || self.ends(&path, budget)? {
                let culprit = self.first_that_ends(&imports, budget)?.unwrap_or_else(|| path.clone());
                self.shelve(culprit.clone(), Ended::Overran);
                culprits.push(culprit);
                if culprits.last() == Some(&path) {
                    break;
                }
            }
        }
        Ok(culprits)
    }

    /// Files of the project that one imports.
    fn imports(self: &Arc<Self>, path: &Path, budget: &Budget) -> Result<Vec<PathBuf>> {
        let question = Question::Imports { file: path.to_string_lossy().into_owned() };
        Ok(match self.try_once(&question, budget, &|_, _| {})? {
            Outcome::Answered(Answer::Files { files }) => files.into_iter().map(PathBuf::from).collect(),
            _ => Vec::new(),
        })
    }

    /// Whether the engine ends of checking a file.
    fn ends(self: &Arc<Self>, path: &Path, budget: &Budget) -> Result<bool> {
        Ok(matches!(self.try_once(&check_of(path), budget, &|_, _| {})?, Outcome::Ended(..)))
    }

    /// The first file that the engine ends of, the farthest before the nearest.
    fn first_that_ends(self: &Arc<Self>, paths: &[PathBuf], budget: &Budget) -> Result<Option<PathBuf>> {
        for path in paths.iter().rev() {
            if self.shelved(path).is_none() && self.ends(path, budget)? {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    fn shelve(&self, path: PathBuf, why: Ended) {
        let mut state = self.lock();
        tracing::info!(file = %path.display(), ?why, "the type engine gave a file up until it changes");
        state.shelved.retain(|shelved| shelved.path != path);
        state.shelved.push(Shelved { modified: modified(&path), path, why });
        if let Some(child) = state.child.take() {
            child.end(Ended::Idle);
        }
    }

    fn shelved(&self, path: &Path) -> Option<Shelved> {
        let mut state = self.lock();
        state.shelved.retain(|shelved| shelved.modified == modified(&shelved.path));
        state.shelved.iter().find(|shelved| shelved.path == path).cloned()
    }

    /// A check says which files it had to leave out.
    fn completed(&self, question: &Question, answer: Answer) -> Result<Answer> {
        match (question, answer) {
            (Question::Check { file: None, within, .. }, Answer::Check(mut checked)) => {
                let shelved = self.lock().shelved.clone();
                let is_asked = |shelved: &&Shelved| {
                    within.is_empty() || within.iter().any(|folder| shelved.path.starts_with(folder))
                };
                checked.diagnostics.extend(shelved.iter().filter(is_asked).map(|shelved| self.told(shelved)));
                checked.diagnostics.sort_by(|a, b| a.span.cmp(&b.span));
                Ok(Answer::Check(checked))
            }
            (_, answer) => Ok(answer),
        }
    }

    fn told(&self, shelved: &Shelved) -> Diagnostic {
        let file = self.shown(&shelved.path);
        let message = gave_up(&file, shelved.why).message;
        let span = Span { file, cell: None, line: 1, column: 1, end_line: 1, end_column: 1 };
        Diagnostic {
            span,
            severity: Severity::Error,
            code: "engine-gave-up".to_owned(),
            message,
            rendered: None,
            notes: Vec::new(),
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.spec.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Looks after one engine: one that is stuck or grows without end is ended, one that nobody asks let go.
fn keep(service: Weak<Service>, child: Weak<Child>, idle: Duration) {
    let keeper = std::thread::Builder::new().name("engine-keeper".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(LOOK);
            let (Some(service), Some(child)) = (service.upgrade(), child.upgrade()) else { return };
            if !child.is_alive() {
                return;
            }
            child.end_if_overrun();
            let mut state = service.lock();
            let is_idle = state.last_used.is_some_and(|last| last.elapsed() >= idle) && !child.is_asked();
            if is_idle && state.child.as_ref().is_some_and(|own| Arc::ptr_eq(own, &child)) {
                state.child = None;
                child.end(Ended::Idle);
            }
        }
    });
    if let Err(error) = keeper {
        tracing::warn!("nobody looks after the type engine: {error}");
    }
}

fn check_of(path: &Path) -> Question {
    let file = Some(path.to_string_lossy().into_owned());
    Question::Check { file, within: Vec::new(), rendered: false, notes: false }
}

fn changes_of(fresh: Fresh) -> Option<Changes> {
    match fresh {
        Fresh::Nothing => None,
        Fresh::Paths(paths) if paths.is_empty() => None,
        Fresh::Paths(paths) => {
            Some(Changes::Paths(paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()))
        }
        Fresh::Everything => Some(Changes::Everything),
    }
}

fn gave_up(file: &str, why: Ended) -> Error {
    let why = match why {
        Ended::Died => "died of it",
        Ended::Overran => "did not come to an end",
        Ended::Memory => "needed too much memory",
        Ended::Idle => "was let go",
    };
    Error::internal(format!("the type engine gave {} up: it {why}", printable(file)))
        .hint("It is tried again once the file changes; other files are not affected.")
}
