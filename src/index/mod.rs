//! The only writer: brings the database to what the disk says, and keeps it there.
//!
//! Owns the workspace of a repository (its database, its update lock, its running update), the incremental updater and
//! the promise that a read is fresh. Does not own what is on disk (`scan`), what it means (`extract`) or SQL (`store`).

mod diff;
mod documents;
mod entities;
mod folder;
mod folders;
mod idle;
mod lock;
mod paths;
mod pipeline;
mod reader;
mod rebuild;
mod repair;
mod room;
mod snapshot;
mod state;
mod sync;
mod transformer;
mod trigrams;
mod vectors;
mod watch;
mod workspaces;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::budget::{Budget, Progress};
use crate::config::{Config, Sources, warn_once};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::FORMATS;
use crate::locked::locked;
use crate::model::RepoPath;
use crate::scan::Rules;
use crate::store::{Fact, Mode, Snapshot, Store};

pub use documents::{DocumentFolder, FolderOptions, FolderReport, unread_types};
pub use entities::EntityReport;
pub use reader::serve_reader;
pub use rebuild::rebuild;
pub use snapshot::{load, save};
pub use sync::{Report, Thoroughness};
pub use transformer::{AtHand, ModelState};
pub use workspaces::{Watching, Workspaces};

use folders::Folders;
use lock::UpdateLock;
use state::State;
use watch::Watch;

/// Another process may be writing a batch while this one opens.
const OPEN_WAIT: Duration = Duration::from_secs(30);

/// How long a call waits for an index that is being built, unless its caller has a longer timeout.
const PATIENCE: Duration = Duration::from_secs(10);

/// One repository with its index.
pub struct Workspace {
    root: PathBuf,
    sources: Arc<Sources>,
    settings: Mutex<Arc<Settings>>,
    store: Store,
    /// The update that runs, or the last that ran: one at a time, for reads to wait for.
    current: Mutex<Option<Arc<Run>>>,
    /// Held by the thread that embeds, which looks again where another wanted to meanwhile.
    embedding: Mutex<()>,
    embed_again: AtomicBool,
    /// Held by the thread that gathers trigrams.
    gathering: Mutex<()>,
    /// The model that a person named.
    chosen: transformer::Chosen,
    watch: OnceLock<Watch>,
    /// Where the type engine found the libraries of Python code.
    python_folders: Mutex<Vec<PathBuf>>,
    repaired: repair::Repaired,
    /// What those above keep for this repository, one of each type.
    kept: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// A place in what was noticed, to read on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u64);

/// What changed on disk since a [`Mark`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// These files and folders; none, when nothing did.
    Paths(Vec<RepoPath>),
    /// Nothing was watching, or not all of the time.
    Anything,
}

/// Settings of the repository, and what follows from them.
struct Settings {
    config: Config,
    folders: Folders,
    rules: Rules,
}

/// Whether an answer shows the disk as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// The index cannot be brought up to date, for this reason.
    Stale(String),
}

/// What a read waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All that changed.
    Everything,
    /// Of a first build the entities alone; else as above.
    Entities,
}

/// What an update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Whatever was noticed.
    Noticed,
    /// Extract all entities again, and nothing else.
    EntitiesAnew,
}

/// One update that reads may wait for.
struct Run {
    started: Instant,
    work: Work,
    progress: Arc<Progress>,
    outcome: Mutex<Option<Result<()>>>,
    ended: Condvar,
}

impl Workspace {
    /// Opens the repository at `root`, making its database on first need.
    ///
    /// `READ_ONLY` where there is none and none can be made.
    pub fn open(root: &Path, sources: Arc<Sources>) -> Result<Self> {
        let path = folder::database(root);
        let mode = folder::prepare(root)?;
        if mode == Mode::Read {
            return Self::over(root, sources, Store::open(&path, mode)?);
        }
        // Two processes must not make or migrate one file at once.
        let _turn = UpdateLock::take(root, &Budget::lasting(OPEN_WAIT))?;
        let (store, repaired) = repair::open(&path)?;
        Ok(Self { repaired, ..Self::over(root, sources, store)? })
    }

    fn over(root: &Path, sources: Arc<Sources>, store: Store) -> Result<Self> {
        let folders = Folders::of(State::load(root, &sources.environment));
        let settings = Arc::new(Settings::of(sources.load(root)?, folders)?);
        Ok(Self {
            root: root.to_owned(),
            sources,
            settings: Mutex::new(settings),
            store,
            current: Mutex::new(None),
            embedding: Mutex::new(()),
            embed_again: AtomicBool::new(false),
            gathering: Mutex::new(()),
            chosen: transformer::Chosen::default(),
            watch: OnceLock::new(),
            python_folders: Mutex::default(),
            repaired: repair::Repaired::default(),
            kept: Mutex::default(),
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Notices changes as they happen from now on. Where the system cannot, every read sweeps as before.
    pub fn watch(self: &Arc<Self>) {
        if self.store.is_read_only() || self.watch.get().is_some() {
            return;
        }
        let workspace = Arc::downgrade(self);
        let nudge = move || {
            if let Some(workspace) = workspace.upgrade()
                && let Err(error) = workspace.catch_up()
            {
                tracing::warn!("a background update failed: {error}");
            }
        };
        match Watch::start(&self.root, nudge) {
            Ok(watch) => {
                // Another thread may have been first: one watch is enough.
                let _ = self.watch.set(watch);
                self.store.stay();
                idle::sweep_now_and_then(Arc::downgrade(self));
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }

    /// What changed since the mark, including every write that returned before this call, and the mark to continue from.
    /// Does not wait for the index: for callers that read the files themselves.
    pub fn noticed(self: &Arc<Self>, since: Mark) -> (Noticed, Mark) {
        let Some(watch) = self.watch.get().filter(|watch| !watch.is_limited()) else {
            return (Noticed::Anything, since);
        };
        watch.settle(Instant::now());
        let (paths, place) = watch.journal_since(since.0);
        if paths.is_none()
            && let Err(error) = self.run_to_wait_for(Instant::now())
        {
            // Until an update has looked at everything, so must the caller.
            tracing::warn!("a background update failed: {error}");
        }
        (paths.map_or(Noticed::Anything, Noticed::Paths), Mark(place))
    }

    /// The one `T` that belongs to this repository, made when there is none; it goes when the workspace does.
    pub fn kept<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut kept = locked(&self.kept);
        if let Some(there) = kept.get(&TypeId::of::<T>()).and_then(|there| Arc::clone(there).downcast().ok()) {
            return Ok(there);
        }
        let made = Arc::new(make()?);
        kept.insert(TypeId::of::<T>(), Arc::clone(&made) as _);
        Ok(made)
    }

    /// How changes are noticed, in words.
    pub fn watch_mode(&self) -> &'static str {
        match self.watch.get() {
            None => "sweep",
            Some(watch) if watch.is_limited() => "sweep: the system's limit of watches is reached",
            Some(_) => "watch",
        }
    }

    /// Changes that were noticed and are not indexed yet.
    pub fn pending_changes(&self) -> usize {
        self.watch.get().map_or(0, Watch::pending)
    }

    /// Bytes of the database on disk.
    pub fn index_size(&self) -> u64 {
        self.store.size()
    }

    /// How far the update that reads wait for has come.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        let current = locked(&self.current);
        current.as_ref().filter(|run| run.is_open()).map(|run| Arc::clone(&run.progress))
    }

    /// Asks one state of the index.
    pub fn read<T>(&self, budget: &Budget, ask: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.store.read(budget, ask)
    }

    /// What is wrong with the database, in words; empty when it is sound.
    pub fn faults(&self) -> Result<Vec<String>> {
        self.store.faults()
    }

    /// The settings that hold for this repository.
    pub fn config(&self) -> Config {
        self.settings().config.clone()
    }

    /// The file of this very program.
    pub fn program(&self) -> Option<PathBuf> {
        self.sources.environment.program().map(Path::to_owned)
    }

    /// Brings the index up to date and says what changed since this was last said.
    pub fn sync(&self, thoroughness: Thoroughness, progress: &Arc<Progress>, budget: &Budget) -> Result<Report> {
        let started = Instant::now();
        self.with_repair(|| {
            self.bring_up(thoroughness, progress, budget)?;
            self.insist_on_gpu()?;
            let report = self.count(started, budget)?;
            Ok(Report { warning: self.take_repair(), ..report })
        })
    }

    /// Brings everything up to date, vectors too, by an update of its own.
    fn bring_up(&self, thoroughness: Thoroughness, progress: &Arc<Progress>, budget: &Budget) -> Result<()> {
        let run = loop {
            let mut current = locked(&self.current);
            match &*current {
                Some(run) if run.is_open() => {
                    let run = Arc::clone(run);
                    drop(current);
                    run.wait(&|| false, None, budget);
                    budget.check()?;
                }
                _ => {
                    let run = Arc::new(Run::new(Work::Noticed, Arc::clone(progress)));
                    *current = Some(Arc::clone(&run));
                    break run;
                }
            }
        };
        let outcome = sync::update(self, thoroughness, progress, budget);
        run.end(outcome.as_ref().copied().map_err(Error::duplicate));
        outcome?;
        self.gather_trigrams(budget)?;
        self.embed(budget)
    }

    /// What changed since the last report, in whichever process noticed it.
    pub fn count(&self, started: Instant, budget: &Budget) -> Result<Report> {
        sync::report(self, started, budget)
    }

    /// When a row last changed that an answer could show; a value to compare with.
    pub fn last_change(&self, budget: &Budget) -> Result<Option<String>> {
        self.read(budget, |snapshot| snapshot.fact(Fact::LastChange))
    }

    /// Returns when the index includes every write that returned before this call.
    ///
    /// `BUSY` with done and total when that takes longer than `timeout`: the update goes on, the next call finds it
    /// further or done.
    pub fn freshen(self: &Arc<Self>, patience: Option<Duration>, budget: &Budget) -> Result<Freshness> {
        self.freshen_part(Part::Everything, patience, budget)
    }

    /// As [`Self::freshen`], for a question about that part alone.
    pub fn freshen_part(
        self: &Arc<Self>,
        part: Part,
        patience: Option<Duration>,
        budget: &Budget,
    ) -> Result<Freshness> {
        if self.store.is_read_only() {
            return Ok(Freshness::Stale(
                "the index cannot be written: its folder is read-only, or its disk full".to_owned(),
            ));
        }
        let asked = Instant::now();
        let give_up = asked.checked_add(patience.unwrap_or(PATIENCE));
        if let Some(watch) = self.watch.get()
            && !self.store.path().exists()
        {
            watch.ask_for_sweep();
        }
        let since = match self.watch.get() {
            Some(watch) if !watch.is_limited() => {
                watch.settle(asked);
                Instant::now()
            }
            _ => asked,
        };
        match self.updated_since(since, part, give_up, budget) {
            Ok(()) => Ok(Freshness::Fresh),
            Err(error) => self.stale_or(error, budget),
        }
    }

    /// Returns when nothing that was noticed is left to index.
    fn catch_up(self: &Arc<Self>) -> Result<()> {
        self.updated_since(Instant::now(), Part::Everything, None, &Budget::unlimited())
    }

    /// Brings the entities up to date and says what changed since this was last said; all their rows are extracted again if
    /// `force` is set. `BUSY` when that takes longer than `timeout`: it goes on, and the next call joins it.
    pub fn sync_entities(
        self: &Arc<Self>,
        anew: bool,
        patience: Option<Duration>,
        budget: &Budget,
    ) -> Result<EntityReport> {
        let asked = Instant::now();
        let give_up = patience.and_then(|patience| asked.checked_add(patience));
        if let Freshness::Stale(reason) =
            self.freshen_part(Part::Entities, Some(patience.unwrap_or(Duration::MAX)), budget)?
        {
            return Err(Error::new(ErrorKind::ReadOnly, reason).hint("Make the folder `.ixmcp` writable."));
        }
        if anew {
            self.updated_anew(asked, give_up, budget)?;
        }
        self.embed_entities(budget)?;
        entities::report(self, budget)
    }

    /// Returns when all entities were extracted again by an update that began at `since` or later.
    fn updated_anew(self: &Arc<Self>, since: Instant, give_up: Option<Instant>, budget: &Budget) -> Result<()> {
        loop {
            let (run, is_ours) = {
                let mut current = locked(&self.current);
                match &*current {
                    Some(run) if run.is_open() || (run.work == Work::EntitiesAnew && run.started >= since) => {
                        (Arc::clone(run), run.work == Work::EntitiesAnew)
                    }
                    _ => (self.begin(&mut current, Work::EntitiesAnew)?, true),
                }
            };
            match run.wait(&|| false, give_up, budget) {
                None => {
                    budget.check()?;
                    return Err(busy(&run.progress));
                }
                Some(outcome) if is_ours => return outcome,
                Some(_) => {}
            }
        }
    }

    /// Returns when an update that began at `since` or later has ended, or when it would find nothing to do.
    fn updated_since(
        self: &Arc<Self>,
        since: Instant,
        part: Part,
        give_up: Option<Instant>,
        budget: &Budget,
    ) -> Result<()> {
        loop {
            let Some(run) = self.run_to_wait_for(since)? else { return Ok(()) };
            let stands = || part == Part::Entities && self.entities_stand(&run.progress, since);
            let Some(outcome) = run.wait(&stands, give_up, budget) else {
                budget.check()?;
                return Err(busy(&run.progress));
            };
            match outcome {
                // The caller of that update cancelled it; this one did not.
                Err(error) if is_given_up(&error) => budget.check()?,
                outcome if (run.started >= since && run.work == Work::Noticed) || outcome.is_err() => return outcome,
                // A running build shows what is complete so far.
                Ok(()) if run.is_open() => return Ok(()),
                _ => {}
            }
        }
    }

    /// Whether the entities of a build that goes on show the disk as it was at `since`; else the build is asked for them.
    fn entities_stand(&self, progress: &Progress, since: Instant) -> bool {
        let Some(standing) = progress.ready_entities() else { return false };
        if standing.as_of >= since {
            return true;
        }
        let notices = self.watch.get().filter(|watch| !watch.is_limited());
        if let Some(paths) = notices.and_then(|watch| watch.journal_since(standing.feed_position).0)
            && !entities::are_among(&paths, &self.settings().config)
        {
            return true;
        }
        progress.request_entities(since);
        false
    }

    /// The update that runs, or the last if it began late enough, or a new one; none where nothing was noticed.
    fn run_to_wait_for(self: &Arc<Self>, since: Instant) -> Result<Option<Arc<Run>>> {
        let mut current = locked(&self.current);
        if let Some(run) = &*current
            && (run.is_open() || (run.started >= since && run.work == Work::Noticed && !run.was_given_up()))
        {
            return Ok(Some(Arc::clone(run)));
        }
        if self.watch.get().is_some_and(|watch| !watch.is_limited() && !watch.has_dirt()) {
            return Ok(None);
        }
        self.begin(&mut current, Work::Noticed).map(Some)
    }

    /// Starts an update on a thread of its own.
    fn begin(self: &Arc<Self>, current: &mut Option<Arc<Run>>, work: Work) -> Result<Arc<Run>> {
        let run = Arc::new(Run::new(work, Arc::default()));
        let (workspace, worker) = (Arc::clone(self), Arc::clone(&run));
        std::thread::Builder::new()
            .name("update".to_owned())
            .spawn(move || {
                let budget = Budget::unlimited();
                let update = || {
                    workspace.with_repair(|| match work {
                        Work::Noticed => sync::update(&workspace, Thoroughness::Noticed, &worker.progress, &budget),
                        Work::EntitiesAnew => sync::update_entities(&workspace, &worker.progress, &budget),
                    })
                };
                // A caller would wait for ever for a run that never ends.
                let outcome = catch_unwind(AssertUnwindSafe(update)).unwrap_or_else(|_| {
                    if let Some(watch) = workspace.watch.get() {
                        watch.ask_for_sweep();
                    }
                    Err(Error::internal("an update broke off").hint("Ask again, and please report this."))
                });
                worker.end(outcome);
                // Callers that waited for the update have the words; the rest follows.
                if let Err(error) = workspace.gather_trigrams(&budget) {
                    tracing::warn!("exact search is slower than it could be: {error}");
                }
                if let Err(error) = workspace.embed_soon() {
                    tracing::warn!("some vectors are missing: {error}");
                }
                workspace.work_on();
            })
            .map_err(Error::no_thread)?;
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

    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&locked(&self.settings))
    }

    /// Reads the settings again: their files may have changed. A file that cannot be read leaves them as they were.
    fn reload_settings(&self) -> Result<Arc<Settings>> {
        let mut settings = locked(&self.settings);
        match self.sources.load(&self.root) {
            Ok(config) => {
                let folders = Folders::of(State::load(&self.root, &self.sources.environment));
                if config != settings.config || folders != settings.folders {
                    *settings = Arc::new(Settings::of(config, folders)?);
                }
            }
            Err(error) => warn_once(format!("settings stay as they were: {error}")),
        }
        Ok(Arc::clone(&settings))
    }
}

impl Settings {
    fn of(config: Config, folders: Folders) -> Result<Self> {
        // A folder that is named is read even where git ignores it.
        let notes = config.index.notes.iter().filter_map(|folder| RepoPath::new(folder.as_str()));
        let mut named: Vec<RepoPath> = notes.chain(folders.in_repository()).collect();
        named.sort();
        named.dedup();
        let containers = FORMATS.iter().filter(|format| !format.keeps_text() && !format.only_in_folders);
        let extensions = containers.flat_map(|format| format.extensions).copied().collect();
        let rules = Rules::new(&config.index)?.with_named(named).with_documents(extensions);
        Ok(Self { rules, folders, config })
    }
}

impl Run {
    fn new(work: Work, progress: Arc<Progress>) -> Self {
        let (outcome, ended) = (Mutex::new(None), Condvar::new());
        Self { started: Instant::now(), work, progress, outcome, ended }
    }

    fn is_open(&self) -> bool {
        locked(&self.outcome).is_none()
    }

    fn was_given_up(&self) -> bool {
        matches!(&*locked(&self.outcome), Some(Err(error)) if is_given_up(error))
    }

    fn end(&self, outcome: Result<()>) {
        *locked(&self.outcome) = Some(outcome);
        self.ended.notify_all();
    }

    /// The outcome, or the requested part before all is done; `None` when neither has come by `give_up` or before the budget is spent.
    fn wait(&self, stands: &dyn Fn() -> bool, give_up: Option<Instant>, budget: &Budget) -> Option<Result<()>> {
        // A cancelled call is noticed within this time.
        const LOOK: Duration = Duration::from_millis(20);
        let mut outcome = locked(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return Some(outcome.as_ref().copied().map_err(Error::duplicate));
            }
            if stands() {
                return Some(Ok(()));
            }
            let left = give_up.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()).min(LOOK));
            if left.is_zero() || budget.is_spent() {
                return None;
            }
            outcome = self.ended.wait_timeout(outcome, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The update did not fail: the budget of the call that began it was spent.
fn is_given_up(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Timeout)
}

fn busy(progress: &Progress) -> Error {
    let (done, total) = progress.files();
    let how_far = if total == 0 { "looking for files".to_owned() } else { format!("{done} of {total} files") };
    Error::new(ErrorKind::Busy, format!("the index is being built: {how_far}"))
        .hint("Ask again in a few seconds; the build goes on.")
}
