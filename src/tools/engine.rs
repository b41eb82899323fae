//! The way from a call to the Python type engine of its repository.
//!
//! Owns which engine answers whom (one for each Python environment that callers bring), how a caller's file and place
//! become the engine's, and the long work that several calls may wait for.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::Call;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::index::{Mark, Noticed, Workspace};
use crate::pytypes::values::{Answer, Position, Question};
use crate::pytypes::{Feed, Fresh, Service, Spec};

/// The engines of one repository, by what their callers' environments say; few have more than one.
#[derive(Default)]
pub(super) struct Engines {
    services: Mutex<Vec<(Environment, Arc<Service>)>>,
    jobs: Mutex<HashMap<String, Arc<Job>>>,
}

/// Variables by which a caller's Python is known.
type Environment = BTreeMap<String, String>;

/// More environments than this at once would fill the memory: the one that was asked least lately goes.
const MOST_ENGINES: usize = 2;

/// How soon those who wait notice that they are cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// A file that a call names.
pub(super) struct File {
    /// As answers name it.
    pub shown: String,
    pub absolute: PathBuf,
    pub is_python: bool,
}

pub(super) fn file(call: &Call, given: &str) -> Result<File> {
    let located = call.workspace().locate(given);
    let (shown, absolute) = match located {
        Err(_) if admit_libraries(call, given) => call.workspace().locate(given)?,
        located => located?,
    };
    let extension = absolute.extension().and_then(|extension| extension.to_str());
    let is_python = matches!(extension, Some("py" | "pyi" | "pyw" | "ipynb"));
    Ok(File { shown, absolute, is_python })
}

/// Makes the libraries that the engine uses readable, where a path could be of one. Says whether to try again.
pub(super) fn admit_libraries(call: &Call, given: &str) -> bool {
    let is_source = Path::new(given).extension().is_some_and(|extension| extension == "py" || extension == "pyi");
    if !is_source || !Path::new(given).is_absolute() {
        return false;
    }
    match ask(call, &Question::Libraries) {
        Ok(Answer::Libraries(libraries)) => {
            call.workspace().admit_python(libraries.folders.iter().map(PathBuf::from).collect());
            true
        }
        _ => false,
    }
}

pub(super) fn position(file: &File, line: u32, column: u32) -> Result<Position> {
    for (name, number) in [("line", line), ("column", column)] {
        if number == 0 {
            return Err(Error::invalid_argument(format!("argument `{name}`: lines and columns are 1-based"))
                .hint("Give 1 or more."));
        }
    }
    Ok(Position { file: file.absolute.to_string_lossy().into_owned(), line, column })
}

/// The engine's answer, within the call's budget.
pub(super) fn ask(call: &Call, question: &Question) -> Result<Answer> {
    service(call)?.ask(question, call.budget(), &|_, _| {})
}

pub(super) fn unexpected() -> Error {
    Error::internal("the type engine answered another question").hint("Ask again.")
}

fn service(call: &Call) -> Result<Arc<Service>> {
    let engines = engines(call)?;
    let mut services = locked(&engines.services);
    if let Some(at) = services.iter().position(|(environment, _)| *environment == call.caller.python) {
        let found = services.remove(at);
        let service = Arc::clone(&found.1);
        services.push(found);
        return Ok(service);
    }
    let program = call.workspace().program();
    let python = call.workspace().config().python;
    let spec = Spec {
        root: call.workspace().root().to_owned(),
        program: program.ok_or_else(|| Error::internal("this program's file cannot be found"))?,
        environment: call.caller.python.clone(),
        ty: python.server,
        idle: python.idle,
    };
    let feed = WorkspaceFeed { workspace: Arc::downgrade(call.workspace), mark: Mutex::default() };
    let service = Service::new(spec, Box::new(feed));
    if services.len() >= MOST_ENGINES {
        services.remove(0).1.rest();
    }
    services.push((call.caller.python.clone(), Arc::clone(&service)));
    Ok(service)
}

fn engines(call: &Call) -> Result<Arc<Engines>> {
    call.workspace().kept(|| Ok(Engines::default()))
}

/// What the workspace notices, as the engine's feed.
struct WorkspaceFeed {
    workspace: Weak<Workspace>,
    mark: Mutex<Mark>,
}

impl Feed for WorkspaceFeed {
    fn begin(&self) {
        self.changes();
    }

    fn changes(&self) -> Fresh {
        let Some(workspace) = self.workspace.upgrade() else { return Fresh::Everything };
        let mut mark = locked(&self.mark);
        let (noticed, next) = workspace.noticed(*mark);
        *mark = next;
        match noticed {
            Noticed::Paths(paths) if paths.is_empty() => Fresh::Nothing,
            Noticed::Paths(paths) => Fresh::Paths(paths.iter().map(|path| path.to_path(workspace.root())).collect()),
            Noticed::Anything => Fresh::Everything,
        }
    }
}

/// Long work under way, or just done, that any number of calls wait for.
struct Job {
    budget: Budget,
    waiting: AtomicUsize,
    far: Mutex<(usize, usize)>,
    outcome: Mutex<Option<Result<Arc<Answer>>>>,
    ended: Condvar,
}

/// What a wait for long work came to.
pub(super) enum Waited {
    Done(Arc<Answer>),
    /// It goes on: done, of how much.
    Running(usize, usize),
}

/// Joins the work that answers a question, or begins it. The work ends when nobody waits for it and nobody was told that
/// it goes on.
pub(super) fn ask_long(call: &Call, question: &Question) -> Result<Waited> {
    let service = service(call)?;
    let engines = engines(call)?;
    let key = format!("{:?} {question:?}", call.caller.python);
    let job = {
        let mut jobs = locked(&engines.jobs);
        let job = match jobs.get(&key) {
            Some(job) => Arc::clone(job),
            None => {
                let job = Job::start(service, question.clone())?;
                jobs.insert(key.clone(), Arc::clone(&job));
                job
            }
        };
        job.waiting.fetch_add(1, Ordering::Relaxed);
        job
    };
    let waited = job.wait(call);
    let mut jobs = locked(&engines.jobs);
    let is_last = job.waiting.fetch_sub(1, Ordering::Relaxed) == 1;
    let goes_on = matches!(waited, Ok(Waited::Running(..)));
    if is_last && !goes_on {
        job.budget.cancel();
    }
    // The next call finds out what changed since.
    if (!goes_on && is_last) || job.is_done() {
        jobs.retain(|_, other| !Arc::ptr_eq(other, &job));
    }
    waited
}

impl Job {
    fn start(service: Arc<Service>, question: Question) -> Result<Arc<Self>> {
        let job = Arc::new(Self {
            budget: Budget::unlimited(),
            waiting: AtomicUsize::new(0),
            far: Mutex::new((0, 0)),
            outcome: Mutex::new(None),
            ended: Condvar::new(),
        });
        let working = Arc::clone(&job);
        let worker = std::thread::Builder::new().name("check".to_owned());
        let spawned = worker.spawn(move || {
            let tell = |done: usize, total: usize| *locked(&working.far) = (done, total);
            let outcome = service.ask(&question, &working.budget, &tell).map(Arc::new);
            *locked(&working.outcome) = Some(outcome);
            working.ended.notify_all();
        });
        spawned.map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
        Ok(job)
    }

    fn is_done(&self) -> bool {
        locked(&self.outcome).is_some()
    }

    fn wait(&self, call: &Call) -> Result<Waited> {
        let until = call.patience.and_then(|patience| Instant::now().checked_add(patience));
        let mut outcome = locked(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.as_ref().map(|answer| Waited::Done(Arc::clone(answer))).map_err(Error::again);
            }
            call.budget().check()?;
            let (done, total) = *locked(&self.far);
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(Waited::Running(done, total));
            }
            if let Some(tell) = call.caller.tell.as_ref().filter(|_| total > 0) {
                tell(done as u64, total as u64);
            }
            outcome = self.ended.wait_timeout(outcome, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
