//! The only writer: brings the database to what the disk says, and keeps it there.
//!
//! Owns the workspace of a repository (its database, its update lock, its running update), the incremental updater and
//! the promise that a read is fresh. Does not own what is on disk (`scan`), what it means (`extract`) or SQL (`store`).

mod diff;
mod folder;
mod lock;
mod pipeline;
mod rebuild;
mod sync;
mod workspaces;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::budget::{Budget, Progress};
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::scan::Resolver;
use crate::store::{Fact, Mode, Snapshot, Store};

pub use rebuild::rebuild;
pub use sync::{Report, Thoroughness};
pub use workspaces::Workspaces;

/// A read reflects every save that is older than this.
const FRESH_WITHIN: Duration = Duration::from_millis(150);

/// How long a call waits for an index that is being built, unless its caller has more patience.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file to be read in slices is held in memory whole; larger ones are refused.
const MAX_SLICED: u64 = 256 << 20;

/// One repository with its index.
pub struct Workspace {
    root: PathBuf,
    config: Config,
    store: Store,
    /// Held while this process updates; other processes are kept out by the update lock.
    updating: Mutex<()>,
    /// The update that runs, or the last that ran, for reads to wait for.
    current: Mutex<Option<Arc<Run>>>,
}

/// Whether an answer shows the disk as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// The index cannot be brought up to date, for this reason.
    Stale(String),
}

/// One update that reads may wait for.
struct Run {
    started: Instant,
    progress: Arc<Progress>,
    outcome: Mutex<Option<Result<()>>>,
    ended: Condvar,
}

impl Workspace {
    /// Opens the repository at `root`, making its database on first need.
    ///
    /// `READ_ONLY` where there is none and none can be made.
    pub fn open(root: &Path, config: Config) -> Result<Self> {
        let path = folder::database(root);
        let mode = folder::prepare(root)?;
        let store = match Store::open(&path, mode) {
            Err(error) if mode == Mode::Write && error.kind == ErrorKind::ReadOnly => Store::open(&path, Mode::Read)?,
            opened => opened?,
        };
        Ok(Self::over(root, config, store))
    }

    fn over(root: &Path, config: Config, store: Store) -> Self {
        Self { root: root.to_owned(), config, store, updating: Mutex::new(()), current: Mutex::new(None) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Bytes of the database on disk.
    pub fn index_size(&self) -> u64 {
        self.store.size()
    }

    /// How far the update that reads wait for has come.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        let current = locked(&self.current);
        current.as_ref().filter(|run| locked(&run.outcome).is_none()).map(|run| Arc::clone(&run.progress))
    }

    /// Asks one state of the index.
    pub fn read<T>(&self, budget: &Budget, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.store.read(budget, ask)
    }

    /// The bytes of a file as they are on disk, for a path as a caller gives it: relative to the root or absolute.
    /// Gives the path as answers name it, too.
    pub fn read_file(&self, path: &str) -> Result<(String, Vec<u8>)> {
        let resolver = Resolver::new(&self.root)?.with_secrets(!self.config.index.skip_secrets);
        let resolved = resolver.resolve(path)?;
        let shown = resolved.shown();
        let mut bytes = Vec::new();
        let read = resolved.open()?.take(MAX_SLICED + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", &resolved.absolute, error))?;
        if bytes.len() as u64 > MAX_SLICED {
            return Err(Error::invalid_argument(format!("{} is above {} MB", printable(&shown), MAX_SLICED >> 20))
                .hint("Read it with another program."));
        }
        Ok((shown, bytes))
    }

    /// Brings the index up to date and says what changed since this was last said.
    pub fn sync(&self, thoroughness: Thoroughness, progress: &Progress, budget: &Budget) -> Result<Report> {
        let started = Instant::now();
        self.update(thoroughness, progress, budget)?;
        sync::report(self, started, budget)
    }

    /// Returns when the index shows every file saved [`FRESH_WITHIN`] ago.
    ///
    /// `BUSY` with done and total when that takes longer than `patience`: the update goes on, the next call finds it
    /// further or done.
    pub fn freshen(self: &Arc<Self>, patience: Option<Duration>, budget: &Budget) -> Result<Freshness> {
        if self.store.is_read_only() {
            return Ok(Freshness::Stale("the index is read-only".to_owned()));
        }
        let asked = Instant::now();
        let give_up = asked.checked_add(patience.unwrap_or(PATIENCE));
        loop {
            let run = self.run_to_wait_for(asked)?;
            let started = run.started;
            let Some(outcome) = run.wait(give_up, budget) else {
                budget.check()?;
                return Err(busy(&run.progress));
            };
            match outcome {
                Ok(()) if started + FRESH_WITHIN >= asked => return Ok(Freshness::Fresh),
                Ok(()) => {}
                Err(error) => return self.stale_or(error, budget),
            }
        }
    }

    /// An update that began late enough to see what the asker saw, or the one that must end before.
    fn run_to_wait_for(self: &Arc<Self>, asked: Instant) -> Result<Arc<Run>> {
        let mut current = locked(&self.current);
        if let Some(run) = &*current
            && (run.started + FRESH_WITHIN >= asked || locked(&run.outcome).is_none())
        {
            return Ok(Arc::clone(run));
        }
        let run = Arc::new(Run::new());
        let (workspace, worker) = (Arc::clone(self), Arc::clone(&run));
        std::thread::Builder::new()
            .name("update".to_owned())
            .spawn(move || {
                let outcome = workspace.update(Thoroughness::Changed, &worker.progress, &Budget::unlimited());
                worker.end(outcome);
            })
            .map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
        *current = Some(Arc::clone(&run));
        Ok(run)
    }

    /// An index that was built once still answers when it cannot be updated, and says so.
    fn stale_or(&self, error: Error, budget: &Budget) -> Result<Freshness> {
        let built = || self.read(budget, |snapshot| snapshot.fact(Fact::Built)).is_ok_and(|fact| fact.is_some());
        match error.kind {
            ErrorKind::ReadOnly if built() => Ok(Freshness::Stale(error.message)),
            _ => Err(error),
        }
    }

    fn update(&self, thoroughness: Thoroughness, progress: &Progress, budget: &Budget) -> Result<()> {
        let _turn = locked(&self.updating);
        sync::update(self, thoroughness, progress, budget)
    }
}

impl Run {
    fn new() -> Self {
        let (outcome, ended) = (Mutex::new(None), Condvar::new());
        Self { started: Instant::now(), progress: Arc::default(), outcome, ended }
    }

    fn end(&self, outcome: Result<()>) {
        *locked(&self.outcome) = Some(outcome);
        self.ended.notify_all();
    }

    /// The outcome; `None` when it has not come by `give_up` or before the budget is spent.
    fn wait(&self, give_up: Option<Instant>, budget: &Budget) -> Option<Result<()>> {
        // A cancelled call is noticed within this time.
        const LOOK: Duration = Duration::from_millis(20);
        let mut outcome = locked(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return Some(outcome.as_ref().map(|()| ()).map_err(Error::again));
            }
            let left = give_up.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()).min(LOOK));
            if left.is_zero() || budget.is_spent() {
                return None;
            }
            outcome = self.ended.wait_timeout(outcome, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn busy(progress: &Progress) -> Error {
    let (done, total) = progress.files();
    let how_far = if total == 0 { "looking for files".to_owned() } else { format!("{done} of {total} files") };
    Error::new(ErrorKind::Busy, format!("the index is being built: {how_far}"))
        .hint("Ask again in a few seconds; the build goes on.")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
