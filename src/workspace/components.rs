//! A workspace: one open repository with the components that keep and read its index.
//!
//! Owns how the components are put together, and the watch. Each component owns its own work.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::idle;
use crate::budget::{Budget, Progress};
use crate::config::{Config, Sources};
use crate::error::{ErrorKind, Result};
use crate::model::RepoPath;
use crate::platform::files;
use crate::pytypes::Engines;
use crate::repository::{
    Coverage, DiskListing, Files, History, Index, Repository, Thoroughness, UNREPORTED, Watch, folder,
};
use crate::store::{Fact, HeldState, Snapshot, Store};
use crate::unindexed::Unindexed;
use crate::update::{
    Caller, Commits, Documents, EmbeddingModel, Freshness, Part, Report, Scip, StaticEmbeddings, Updates, snapshot,
};

/// One open repository with its index.
pub struct Workspace {
    pub(crate) repository: Arc<Repository>,
    pub updates: Arc<Updates>,
    pub embeddings: Arc<StaticEmbeddings>,
    /// The embedding model that the user selected.
    pub model: Arc<EmbeddingModel>,
    /// The folders that are indexed as documents.
    pub documents: Documents,
    /// The files that callers name.
    pub files: Files,
    /// Contents of SCIP files.
    pub scip: Scip,
    /// The files as they were at a commit.
    pub history: History,
    /// The commits in the index.
    pub commits: Arc<Commits>,
    /// The type engines of this repository's callers.
    pub type_engines: Engines,
}

/// A position in the feed of changes on disk, to read on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedPosition(u64);

/// Changes on disk since a [`FeedPosition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// These files and folders; empty if nothing changed.
    Paths(Vec<RepoPath>),
    /// Unknown: the repository was not watched, or not all the time.
    Everything,
}

impl Workspace {
    /// Opens the repository at `root`. Creates its database if there is none: in the repository, or where that cannot be, in a
    /// folder of the user.
    ///
    /// `READ_ONLY` if there is none and none can be created.
    pub fn open(root: &Path, sources: Arc<Sources>) -> Result<Self> {
        let index = Index::open(root, &sources.environment)?;
        Self::with_index(root, sources, index)
    }

    /// The repository at `root`, whose index is opened, or made, when it is first needed.
    pub(super) fn unopened(root: &Path, sources: Arc<Sources>) -> Result<Self> {
        let database = folder::database(root, &sources.environment);
        Repository::unopened(root, sources, database).map(Self::new)
    }

    /// Opens the repository for a process that only asks: while another process builds the index, answers come from a
    /// provisional one.
    pub(super) fn only_asking(root: &Path, sources: Arc<Sources>) -> Result<Self> {
        let database = folder::database(root, &sources.environment);
        Repository::unopened(root, sources, database).map(Repository::only_asking).map(Self::new)
    }

    pub(super) fn with_index(root: &Path, sources: Arc<Sources>, index: Index) -> Result<Self> {
        Repository::with_index(root, sources, index).map(Self::new)
    }

    fn new(repository: Repository) -> Self {
        let repository = Arc::new(repository);
        let updates = Arc::new(Updates::new(Arc::clone(&repository)));
        Self {
            documents: Documents::new(Arc::clone(&repository), Arc::clone(&updates)),
            files: Files::new(Arc::clone(&repository)),
            scip: Scip::new(Arc::clone(&repository)),
            history: History::new(Arc::clone(&repository)),
            type_engines: Engines::default(),
            repository,
            embeddings: Arc::clone(&updates.embeddings),
            model: Arc::clone(&updates.model),
            commits: Arc::clone(&updates.commits),
            updates,
        }
    }

    pub fn root(&self) -> &Path {
        &self.repository.root
    }

    /// Whether git may know the repository's history.
    pub fn may_have_history(&self) -> bool {
        self.repository.kind.may_have_history()
    }

    /// Whether its changes are watched, if the system can.
    pub fn is_watchable(&self) -> bool {
        self.repository.kind.is_watched()
    }

    /// The database of the index. Where the repository cannot hold it, it is in a folder of the user.
    pub fn database(&self) -> &Path {
        self.repository.database()
    }

    /// The folder of the index.
    pub fn folder(&self) -> &Path {
        self.repository.folder()
    }

    /// The settings of this repository.
    pub fn config(&self) -> Config {
        self.repository.settings().config.clone()
    }

    /// The executable file of this program.
    pub fn program(&self) -> Option<PathBuf> {
        self.repository.program().map(Path::to_owned)
    }

    /// The program that a setting of the user names.
    pub fn installed(&self, given: &Path) -> Option<PathBuf> {
        self.repository.installed(given)
    }

    /// The folder in which the processes of this user find each other.
    pub fn runtime_folder(&self) -> PathBuf {
        self.repository.runtime_folder()
    }

    /// Reads one state of the index.
    pub fn read<T>(&self, budget: &Budget, query: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.repository.read(budget, query)
    }

    /// Reads one state of an index that may be incomplete, and what that state lacks of a listing that was made before it. Until
    /// a new worktree has an index of its own, this reads the index of a sibling worktree.
    pub fn read_incomplete<T>(
        &self,
        listed: &DiskListing,
        budget: &Budget,
        query: impl Fn(&Snapshot, &Arc<Unindexed>) -> Result<T>,
    ) -> Result<T> {
        let ask = |snapshot: &Snapshot| query(snapshot, &self.unindexed(listed, snapshot, budget)?);
        match self.repository.read_lent(budget, ask) {
            Some(answer) => answer,
            None => self.read(budget, ask),
        }
    }

    /// Holds one state of the index, so that one query can read several indexes. If the index `may_be_incomplete`, it is the one
    /// that [`Self::read_incomplete`] reads.
    pub fn hold(&self, may_be_incomplete: bool, budget: &Budget) -> Result<HeldState<'_>> {
        let lent = self.repository.lent().filter(|_| may_be_incomplete);
        match lent.map(|lent| lent.hold(budget)) {
            Some(Ok(held)) => Ok(held),
            _ => self.repository.store()?.hold(budget),
        }
    }

    /// Watches for changes from now on. If the system cannot, every read sweeps. Mirrors need no watch: see `repository::mirrored`.
    pub fn watch(&self) {
        let store = match self.repository.store() {
            Ok(store) => store,
            Err(error) => return tracing::warn!("{error}"),
        };
        if store.is_read_only() || self.repository.watch().is_some() {
            return;
        }
        if !self.is_watchable() {
            store.stay();
            idle::release_memory_regularly(Arc::downgrade(&self.updates));
            return;
        }
        if !files::reports_all_changes(&self.repository.root) {
            store.stay();
            return;
        }
        let updates = Arc::downgrade(&self.updates);
        let when_quiet = move || {
            if let Some(updates) = updates.upgrade() {
                updates.catch_up("background update");
            }
        };
        let rules = self.repository.settings().rules.clone();
        match Watch::start(&self.repository.root, self.repository.folder(), rules, when_quiet) {
            Ok(watch) => {
                self.repository.set_watch(watch);
                store.stay();
                idle::sweep_regularly(Arc::downgrade(&self.updates));
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }

    /// Returns the changes since that position, including every write that returned before this call, and the position
    /// to continue from. Does not wait for the index: for callers that read the files themselves.
    pub fn changes_since(&self, position: FeedPosition) -> (Changes, FeedPosition) {
        let Some(watch) = self.repository.full_watch() else { return (Changes::Everything, position) };
        watch.settle(Instant::now());
        let (paths, next) = watch.changes_since(position.0);
        if paths.is_none()
            && let Err(error) = self.updates.join_or_start(Caller::Waiting, Coverage::Dirty, Instant::now())
        {
            // Until an update has looked at everything, callers of this function do.
            tracing::warn!("a background update failed: {error}");
        }
        (paths.map_or(Changes::Everything, Changes::Paths), FeedPosition(next))
    }

    /// Returns the changes that were noticed since that position, and the position to continue from. Waits for nothing, so that
    /// it can be asked often; nothing is noticed where nothing is watched.
    pub fn noticed_since(&self, position: FeedPosition) -> (Changes, FeedPosition) {
        let Some(watch) = self.repository.full_watch() else { return (Changes::Paths(Vec::new()), position) };
        let (paths, next) = watch.changes_since(position.0);
        (paths.map_or(Changes::Everything, Changes::Paths), FeedPosition(next))
    }

    /// How changes are noticed, in words.
    pub fn watch_mode(&self) -> &'static str {
        match self.repository.watch() {
            None if !files::reports_all_changes(&self.repository.root) => UNREPORTED,
            None => "sweep",
            Some(watch) => watch.limit().unwrap_or("watch"),
        }
    }

    /// The number of changes that were noticed and are not indexed yet.
    pub fn pending_changes(&self) -> usize {
        self.repository.watch().map_or(0, Watch::pending)
    }

    /// Bytes of the database on disk.
    pub fn index_size(&self) -> u64 {
        self.repository.opened().map_or(0, Store::size)
    }

    /// Lists the files that a snapshot lacks, compared with a listing that was made before it.
    pub fn unindexed(&self, listed: &DiskListing, snapshot: &Snapshot, budget: &Budget) -> Result<Arc<Unindexed>> {
        Unindexed::compare(&self.repository, listed, snapshot, budget).map(Arc::new)
    }

    /// The progress of the update that reads wait for.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        self.repository.in_flight.progress()
    }

    /// The warning about an open index that is complete and has no files.
    pub fn without_files(&self, budget: &Budget) -> Result<Option<String>> {
        self.repository.without_files(budget)
    }

    /// Writes the index to `file`, as [`snapshot::save`] does.
    pub fn save_snapshot(&self, file: &Path) -> Result<snapshot::Header> {
        snapshot::save(&self.repository, file)
    }

    /// Faults of the database, in words; empty if it is sound.
    pub fn faults(&self) -> Result<Vec<String>> {
        self.repository.store()?.faults()
    }

    /// When a row last changed that an answer could show: a value to compare with.
    pub fn last_change(&self, budget: &Budget) -> Result<Option<String>> {
        self.read(budget, |snapshot| snapshot.fact(Fact::LastChange))
    }

    /// Brings the index up to date and reports what changed since the last report.
    pub fn sync(&self, thoroughness: Thoroughness, progress: &Arc<Progress>, budget: &Budget) -> Result<Report> {
        let report = self.updates.sync(thoroughness, progress, budget)?;
        self.scip.refresh(budget)?;
        Ok(report)
    }

    /// Reports what changed since the last report, without an update.
    pub fn report(&self, started: Instant, budget: &Budget) -> Result<Report> {
        Report::record(&self.repository, started, budget)
    }

    /// Whether the index is open: see [`super::Workspaces::unopened`].
    pub fn is_open(&self) -> bool {
        self.repository.opened().is_some()
    }

    /// Whether an index was built; if not, the next read builds one.
    pub fn is_built(&self, budget: &Budget) -> bool {
        self.updates.was_built(budget)
    }

    /// Starts an update in the background, and does not wait for it.
    pub fn begin_update(&self) {
        if self.repository.is_read_only() {
            return;
        }
        if let Err(error) = self.updates.join_or_start(Caller::NotWaiting, Coverage::Dirty, Instant::now()) {
            tracing::warn!("an update in the background failed: {error}");
        }
    }

    /// Returns when the index includes every write that returned before this call: see [`Updates::freshen`].
    pub fn freshen(&self, timeout: Option<Duration>, budget: &Budget) -> Result<Freshness> {
        self.updates.freshen(Part::Everything, timeout, budget)
    }

    /// Completes the index: builds it if it was never built, and makes the substring index and the vectors, which no read waits
    /// for. Replaces a damaged index.
    pub fn finish(&self, progress: &Progress, budget: &Budget) -> Result<()> {
        self.finish_within(None, progress, budget).map(drop)
    }

    /// Completes the index like [`Self::finish`], unless another process does it. What no read waits for is made for at most `time`;
    /// returns whether nothing of it is left.
    pub fn finish_unless_others_do(&self, time: Duration, progress: &Progress, budget: &Budget) -> Result<bool> {
        if self.repository.is_provisional() || self.repository.is_read_only() {
            return Ok(true);
        }
        match self.repository.building() {
            Some(_building) => self.finish_within(Some(time), progress, budget),
            None => Ok(true),
        }
    }

    fn finish_within(&self, time: Option<Duration>, progress: &Progress, budget: &Budget) -> Result<bool> {
        self.with_repair(|| {
            if !self.is_built(budget) {
                self.freshen(Some(Duration::MAX), budget)?;
            }
            if self.repository.is_read_only() {
                return Ok(true);
            }
            let limited = time.map(|time| budget.with_deadline(Instant::now().checked_add(time)));
            match self.updates.finish(progress, limited.as_ref().unwrap_or(budget)) {
                Err(error) if error.kind == ErrorKind::Timeout && !budget.is_spent() => Ok(false),
                finished => finished.map(|()| true),
            }
        })
    }

    /// Whether answers come from an index that only this process uses, because another process builds the index.
    pub fn is_provisional(&self) -> bool {
        self.repository.is_provisional()
    }

    /// Removes such an index.
    pub fn end_provisional(&self) {
        self.repository.end_provisional();
    }

    /// Does `work`. If the index is damaged, replaces it and does `work` once more.
    pub fn with_repair<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        self.repository.with_repair(work)
    }

    /// The message about a repair, returned once.
    pub fn take_repair(&self) -> Option<String> {
        self.repository.take_repair()
    }
}
