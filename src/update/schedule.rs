//! The schedule of updates: one at a time in this process, which callers join or start.
//!
//! Owns when an update starts, what a read waits for and how long, and the work in the background that follows an update.
//! Does not own what an update does (`rounds`), nor which files may have changed (`watch`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply::Turn;
use super::background::{Commits, EmbeddingModel, StaticEmbeddings, Trigrams};
use super::entities::{self, EntityReport};
use super::rounds::{self, Report};
use super::shared_listing::list_disk;
use crate::budget::{self, Budget, Phase, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::RepoPath;
use crate::repository::in_flight::is_given_up;
use crate::repository::{
    AskingLock, Coverage, DiskListing, Pause, Repository, Requests, Thoroughness, UpdateLock, UpdateRun,
};

/// How long a call that needs the whole index waits for it, unless the caller sets a timeout.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a read that can do without the end of an update waits for it.
const PARTIAL_AFTER: Duration = Duration::from_secs(1);
/// `PARTIAL_AFTER` for an update that has already taken longer than that.
const PARTIAL_AFTER_LONG: Duration = Duration::from_millis(100);
/// `PARTIAL_AFTER` while the index of a sibling worktree is copied, which answers until then.
const PARTIAL_AFTER_COPY: Duration = Duration::from_millis(250);
/// A read does not wait for an update that has more bytes than this to read, or more files.
const LONG_BYTES: u64 = 4 << 20;
const LONG_FILES: u64 = 2_000;
/// A read waits for the files that it needs first until this time after it began.
const FILES_WITHIN: Duration = Duration::from_millis(2_000);
/// It waits at least this long for them.
const MIN_WAIT_FOR_FILES: Duration = Duration::from_millis(600);
/// It waits at most this long for the files that it needs most.
const MAX_WAIT_FOR_FILES: Duration = Duration::from_secs(4);
/// How long it waits for their vectors.
const WAIT_FOR_VECTORS: Duration = Duration::from_millis(300);
/// The number and the total size of such files that are indexed at once.
const FILES_AT_ONCE: usize = 60;
const BYTES_AT_ONCE: u64 = 1 << 20;

/// How long a caller waits for an update.
#[derive(Clone, Copy, Debug)]
pub struct IndexWait {
    /// After this time a read that can do so answers from the part of the index that exists.
    pub partial_after: Duration,
    /// After this time any other read is answered `BUSY`.
    pub busy_after: Duration,
}

impl IndexWait {
    /// For a caller that wants the whole index, however long that takes.
    pub const TO_THE_END: Self = Self { partial_after: Duration::MAX, busy_after: Duration::MAX };
}

impl Default for IndexWait {
    fn default() -> Self {
        Self { partial_after: PARTIAL_AFTER, busy_after: TIMEOUT }
    }
}

/// Whether an answer shows the disk as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// The index cannot be brought up to date, for this reason.
    Stale(String),
}

/// Whether a caller needs what an update makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Waiting,
    NotWaiting,
}

/// The part of the index that a read waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything that changed.
    Everything,
    /// During a first build only the entities; otherwise everything.
    Entities,
}

/// How long a caller waits for an update.
#[derive(Clone, Copy)]
struct Wait<'w> {
    part: Part,
    deadline: Option<Instant>,
    /// The caller does not wait for such an update.
    is_long: &'w dyn Fn(&UpdateRun) -> bool,
}

impl Wait<'_> {
    const TO_THE_END: Self = Self { part: Part::Everything, deadline: None, is_long: &|_| false };
}

/// Starts updates and waits for them.
pub struct Updates {
    pub(crate) repository: Arc<Repository>,
    pub(super) trigrams: Arc<Trigrams>,
    pub(crate) embeddings: Arc<StaticEmbeddings>,
    pub(crate) model: Arc<EmbeddingModel>,
    pub(crate) commits: Arc<Commits>,
}

impl Updates {
    pub(crate) fn new(repository: Arc<Repository>) -> Self {
        let trigrams = Arc::new(Trigrams::new(Arc::clone(&repository)));
        let embeddings = Arc::new(StaticEmbeddings::new(Arc::clone(&repository)));
        let model = Arc::new(EmbeddingModel::new(Arc::clone(&repository)));
        let commits = Arc::new(Commits::new(Arc::clone(&repository)));
        Self { repository, trigrams, embeddings, model, commits }
    }

    /// Returns when that part of the index includes every write that returned before this call.
    ///
    /// `BUSY` with done and total if that takes longer than `timeout`: the update continues, and the next call finds it
    /// further along or done.
    pub fn freshen(self: &Arc<Self>, part: Part, timeout: Option<Duration>, budget: &Budget) -> Result<Freshness> {
        self.freshen_unless(&|_| false, part, timeout, budget)
    }

    /// Brings that part of the index up to date like [`Self::freshen`]; `BUSY` as soon as the running update is too
    /// long.
    fn freshen_unless(
        self: &Arc<Self>,
        is_long: &dyn Fn(&UpdateRun) -> bool,
        part: Part,
        timeout: Option<Duration>,
        budget: &Budget,
    ) -> Result<Freshness> {
        if self.repository.is_read_only() {
            return Ok(Freshness::Stale(
                "the index cannot be written: its folder is read-only, or its disk full".to_owned(),
            ));
        }
        let mut since = Instant::now();
        let deadline = since.checked_add(timeout.unwrap_or(TIMEOUT));
        if !self.repository.database().exists() {
            self.repository.ask_for_sweep();
        }
        if let Some(watch) = self.repository.full_watch() {
            watch.settle(since);
            since = Instant::now();
        }
        let wait = Wait { part, deadline, is_long };
        match self.wait_for(Caller::Waiting, Coverage::Dirty, since, wait, budget) {
            Ok(()) => Ok(Freshness::Fresh),
            // An index that was built still answers if it cannot be updated, and says so.
            Err(error) if error.kind == ErrorKind::ReadOnly && self.was_built(budget) => {
                Ok(Freshness::Stale(error.message.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// Like [`Self::freshen`], but does not wait for a long update: what it has not indexed yet is returned as a listing to
    /// compare a snapshot with.
    pub fn freshen_or_list(
        self: &Arc<Self>,
        timeout: Duration,
        budget: &Budget,
    ) -> Result<(Freshness, Option<Arc<DiskListing>>)> {
        let since = Instant::now();
        let is_long = self.repository.in_flight.age().is_some_and(|age| age > timeout);
        let waits_to_the_end = timeout == Duration::MAX;
        let timeout = if is_long { timeout.min(PARTIAL_AFTER_LONG) } else { timeout };
        let is_lent = || self.repository.lent().is_some();
        let timeout = if !waits_to_the_end && is_lent() { timeout.min(PARTIAL_AFTER_COPY) } else { timeout };
        let has_much_left = |run: &UpdateRun| {
            let left = |(done, total): (u64, u64)| total.saturating_sub(done);
            let is_long = left(run.progress.bytes()) > LONG_BYTES || left(run.progress.files()) > LONG_FILES;
            !waits_to_the_end && run.requests.is_planned() && is_long
        };
        match self.freshen_unless(&has_much_left, Part::Everything, Some(timeout), budget) {
            Err(error) if error.kind == ErrorKind::Busy => {
                if let Some(watch) = self.repository.full_watch() {
                    watch.settle(since);
                }
                // The copy competes with this listing. Any other update lists the tree itself, and must not pause.
                let _pause = is_lent().then(|| self.pause());
                Ok((Freshness::Fresh, Some(list_disk(&self.repository, since, budget)?)))
            }
            freshness => {
                // A listing of a large tree takes megabytes.
                *locked(&self.repository.listed) = None;
                Ok((freshness?, None))
            }
        }
    }

    /// Has the running update index these files before the rest, the first ones first, and waits for them, but not for long. The
    /// read has begun at `since`.
    /// `false` if they are not all indexed: there was no time, or another process updates the index. What there was no time for
    /// is indexed next.
    pub fn index_first(self: &Arc<Self>, files: &[(RepoPath, u64)], since: Instant, budget: &Budget) -> Result<bool> {
        let paths = |files: &[(RepoPath, u64)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        if self.repository.lent().is_some() {
            // There is no index yet that they could be added to.
            if let Some(requests) = self.repository.in_flight.requests().filter(|_| !files.is_empty()) {
                requests.request_files(paths(files));
            }
            return Ok(files.is_empty());
        }
        let begun = Instant::now();
        let mut left = files;
        while !left.is_empty() {
            let mut bytes = 0;
            let is_more = |(_, size): &(RepoPath, u64)| {
                bytes += size;
                bytes > BYTES_AT_ONCE
            };
            let some = left.iter().take(FILES_AT_ONCE).position(is_more).unwrap_or(FILES_AT_ONCE).max(1);
            let (some, rest) = left.split_at(some.min(left.len()));
            let is_first = left.len() == files.len();
            left = rest;
            let end = if is_first {
                begun + MAX_WAIT_FOR_FILES
            } else {
                (since + FILES_WITHIN).max(begun + MIN_WAIT_FOR_FILES)
            };
            if !self.index_some(&paths(some), begun, end, budget)? {
                if let Some(requests) = self.repository.in_flight.requests() {
                    requests.request_files_later(paths(rest));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until files can be added to the index: there is none while a sibling worktree's is copied. `false` if that takes
    /// too long.
    pub fn await_copy(&self, budget: &Budget) -> Result<bool> {
        const POLL: Duration = Duration::from_millis(5);
        let begun = Instant::now();
        while self.repository.lent().is_some() && self.repository.in_flight.progress().is_some() {
            budget.check()?;
            if begun.elapsed() > TIMEOUT {
                return Ok(false);
            }
            std::thread::sleep(POLL);
        }
        Ok(true)
    }

    /// Has these files indexed by the running update, or by the next one if that one ends without them: it may have begun before
    /// they changed.
    fn index_some(self: &Arc<Self>, paths: &[RepoPath], begun: Instant, end: Instant, budget: &Budget) -> Result<bool> {
        loop {
            let Some(run) = self.join_or_start(Caller::Waiting, Coverage::Dirty, begun)? else { return Ok(true) };
            // An update of everything has ended meanwhile.
            if !run.is_open() {
                return Ok(true);
            }
            let request = run.requests.request_files(paths.to_vec());
            if self.wait_for_files(&run.requests, request, end, budget)? {
                return Ok(true);
            }
            if run.is_open() || Instant::now() >= end {
                return Ok(false);
            }
        }
    }

    /// Gives the chunks of a running build their vectors, the first ones first, but not for long: a search ranks those that are
    /// near the query as well.
    pub fn embed_first(&self, budget: &Budget) -> Result<()> {
        if self.repository.in_flight.progress().is_none() {
            return Ok(());
        }
        self.embeddings.embed_for(WAIT_FOR_VECTORS, budget)
    }

    fn wait_for_files(&self, requests: &Arc<Requests>, request: u64, end: Instant, budget: &Budget) -> Result<bool> {
        const POLL: Duration = Duration::from_millis(2);
        loop {
            if requests.is_request_done(request) {
                return Ok(true);
            }
            let running = self.repository.in_flight.requests();
            if !running.is_some_and(|running| Arc::ptr_eq(&running, requests)) {
                return Ok(requests.is_request_done(request));
            }
            budget.check()?;
            if Instant::now() >= end {
                return Ok(false);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Pauses the running update until the result is dropped.
    pub fn pause(&self) -> Option<Pause> {
        self.repository.in_flight.requests().map(|requests| requests.pause())
    }

    /// Returns when nothing that was dirty before this call is left to index. What failed is logged under that name.
    ///
    /// Does nothing without an index: it may have been removed because the repository is being removed, and a file that is
    /// created now could prevent that. The next read creates it.
    pub(crate) fn catch_up(self: &Arc<Self>, name: &str) {
        let (since, budget) = (Instant::now(), Budget::unlimited());
        match self.wait_for(Caller::NotWaiting, Coverage::Dirty, since, Wait::TO_THE_END, &budget) {
            Err(error) if is_given_up(&error) => tracing::debug!("a {name} was given up: {error}"),
            Err(error) => tracing::warn!("a {name} failed: {error}"),
            Ok(()) => {}
        }
    }

    /// Brings the entities up to date and reports what changed since the last report; `force` replaces all their rows.
    /// `BUSY` if that takes longer than `timeout`: it continues, and the next call joins it.
    pub fn sync_entities(
        self: &Arc<Self>,
        force: bool,
        timeout: Option<Duration>,
        budget: &Budget,
    ) -> Result<EntityReport> {
        let since = Instant::now();
        let deadline = timeout.and_then(|timeout| since.checked_add(timeout));
        if let Freshness::Stale(reason) =
            self.freshen(Part::Entities, Some(timeout.unwrap_or(Duration::MAX)), budget)?
        {
            return Err(Error::new(ErrorKind::ReadOnly, reason).hint("Make the folder `.ixmcp` writable."));
        }
        if force {
            let wait = Wait { deadline, ..Wait::TO_THE_END };
            self.wait_for(Caller::Waiting, Coverage::Entities, since, wait, budget)?;
        }
        self.embeddings.embed_entities(budget)?;
        entities::report(&self.repository, budget)
    }

    /// Brings the index up to date and reports what changed since the last report.
    pub(crate) fn sync(&self, thoroughness: Thoroughness, progress: &Arc<Progress>, budget: &Budget) -> Result<Report> {
        let started = Instant::now();
        self.repository.with_repair(|| {
            self.run_here(thoroughness, progress, budget)?;
            self.model.check_required_gpu()?;
            let report = Report::record(&self.repository, started, budget)?;
            let repair = self.repository.take_repair();
            Ok(Report {
                warning: repair.map_or_else(|| self.repository.without_files(budget), |found| Ok(Some(found)))?,
                ..report
            })
        })
    }

    /// Brings everything up to date, vectors included, by an update on this thread.
    pub(super) fn run_here(&self, thoroughness: Thoroughness, progress: &Arc<Progress>, budget: &Budget) -> Result<()> {
        let coverage = Coverage::Tree(thoroughness);
        let run = loop {
            let open = {
                let mut current = locked(&self.repository.in_flight.0);
                match current.as_ref().filter(|run| run.is_open()) {
                    Some(open) => Arc::clone(open),
                    None => break Arc::clone(current.insert(Arc::new(UpdateRun::new(coverage, Arc::clone(progress))))),
                }
            };
            open.wait(&|| false, &|| false, None, budget);
            budget.check()?;
        };
        let lock = self.repository.lock(budget);
        let _building = self.repository.building();
        let update = |lock: &UpdateLock| {
            rounds::run(&Turn::new(&self.repository, lock, (progress, &run.requests), budget), coverage)
        };
        let outcome = lock.and_then(|lock| self.pausing_for_others(&run.requests, || update(&lock)));
        run.end(outcome.as_ref().copied().map_err(Error::duplicate));
        outcome?;
        self.finish(progress, budget)
    }

    /// Makes what no read waits for: the vectors, the history and the substring index. For a process that ends after an update; others make
    /// it in the background. The substring index comes last, because it loses the most work when a short budget ends.
    pub(crate) fn finish(&self, progress: &Progress, budget: &Budget) -> Result<()> {
        progress.enter(Phase::Vectors);
        self.embeddings.embed(budget)?;
        progress.enter(Phase::History);
        self.commits.finish(budget)?;
        progress.enter(Phase::Substrings);
        self.trigrams.finish(budget)
    }

    /// Returns when an update of that coverage that began at `since` or later has ended, or when it would find nothing to
    /// do. For entities an update that is already running counts, too.
    fn wait_for(
        self: &Arc<Self>,
        caller: Caller,
        coverage: Coverage,
        since: Instant,
        wait: Wait,
        budget: &Budget,
    ) -> Result<()> {
        loop {
            let Some(run) = self.join_or_start(caller, coverage, since)? else { return Ok(()) };
            let is_ready = || wait.part == Part::Entities && self.are_entities_ready(&run.requests, since);
            let is_long = || (wait.is_long)(&run);
            let Some(outcome) = run.wait(&is_ready, &is_long, wait.deadline, budget) else {
                budget.check()?;
                return Err(busy(&run.progress));
            };
            match outcome {
                // Without an index, only a caller that waits has one built.
                Err(error)
                    if is_given_up(&error) && caller == Caller::NotWaiting && !self.repository.database().exists() =>
                {
                    return Err(error);
                }
                // Its caller gave that update up; this one does not.
                Err(error) if is_given_up(&error) => budget.check()?,
                outcome if outcome.is_err() || run.satisfies(coverage, since) => return outcome,
                // The part of a running build that is ready is all there is to see of it.
                Ok(()) if run.is_open() => return Ok(()),
                _ => {}
            }
        }
    }

    /// The running update, or the last if it began late enough, or a new one on a thread of its own; `None` if nothing is
    /// dirty.
    pub(crate) fn join_or_start(
        self: &Arc<Self>,
        caller: Caller,
        coverage: Coverage,
        since: Instant,
    ) -> Result<Option<Arc<UpdateRun>>> {
        let mut current = locked(&self.repository.in_flight.0);
        if let Some(run) = &*current
            && (run.is_open() || (run.started >= since && run.satisfies(coverage, since) && !run.was_given_up()))
        {
            return Ok(Some(Arc::clone(run)));
        }
        if coverage == Coverage::Dirty && self.repository.is_unchanged() {
            return Ok(None);
        }
        let run = Arc::new(UpdateRun::new(coverage, Arc::default()));
        let (updates, worker) = (Arc::clone(self), Arc::clone(&run));
        std::thread::Builder::new()
            .name("update".to_owned())
            .spawn(move || {
                let repository = &*updates.repository;
                let budget = repository.life.clone();
                let building = if repository.is_provisional() { None } else { repository.building() };
                let update = || {
                    repository.with_repair(|| {
                        if caller == Caller::NotWaiting && !repository.database().exists() {
                            return Err(Error::new(ErrorKind::Cancelled, "there is no index, and no caller needs one"));
                        }
                        let lock = repository.lock(&budget)?;
                        let seen = repository.seen();
                        let turn = Turn::new(repository, &lock, (&worker.progress, &worker.requests), &budget);
                        updates.pausing_for_others(&worker.requests, || rounds::run(&turn, coverage)).inspect(|()| {
                            if coverage != Coverage::Entities {
                                repository.note_indexed(seen);
                            }
                        })
                    })
                };
                // Otherwise callers would wait forever.
                let panicked = Error::internal("an update panicked").hint("Try again, and please report this.");
                worker.end(catch_unwind(AssertUnwindSafe(update)).unwrap_or(Err(panicked)));
                // A listing of a large tree takes megabytes.
                *locked(&repository.listed) = None;
                // A command leaves that to a process that does it already.
                if building.is_some() || !repository.only_asks {
                    updates.work_in_background();
                }
            })
            .map_err(Error::no_thread)?;
        Ok(Some(Arc::clone(current.insert(run))))
    }

    /// Does the work of an update, which pauses while other processes answer from provisional indexes.
    fn pausing_for_others<T>(&self, requests: &Arc<Requests>, work: impl FnOnce() -> T) -> T {
        const LOOK: Duration = Duration::from_millis(10);
        if self.repository.is_provisional() {
            return work();
        }
        let folder = self.repository.folder();
        let mut pause = None;
        let look = || {
            let is_asked = AskingLock::is_held(folder);
            pause = if is_asked { pause.take().or_else(|| Some(requests.pause())) } else { None };
        };
        budget::ticking(LOOK, look, work)
    }

    /// Makes trigrams and vectors after an update. Callers that waited for the update already have its words and
    /// symbols.
    fn work_in_background(&self) {
        if let Err(error) = self.trigrams.catch_up(&Budget::unlimited()) {
            tracing::warn!("exact search is slower than it could be: {error}");
        }
        if let Err(error) = self.embeddings.embed_soon() {
            tracing::warn!("some vectors are missing: {error}");
        }
        self.follow_history();
        self.model.work_in_background();
    }

    /// Stores the commits that the index lacks.
    pub(crate) fn follow_history(&self) {
        if let Err(error) = self.commits.catch_up(&self.repository.life) {
            tracing::warn!("some commits are missing: {error}");
        }
    }

    /// Whether the entities of a running build show the disk as it was at `since`. If not, requests them from the build.
    fn are_entities_ready(&self, requests: &Requests, since: Instant) -> bool {
        let Some(ready) = requests.ready_entities() else { return false };
        if ready.as_of >= since {
            return true;
        }
        if let Some(watch) = self.repository.full_watch()
            && let (Some(paths), _) = watch.changes_since(ready.feed_position)
            && !entities::are_among(&paths, &self.repository.settings().config)
        {
            return true;
        }
        requests.request_entities(since);
        false
    }

    pub(crate) fn was_built(&self, budget: &Budget) -> bool {
        self.repository.read(budget, |snapshot| snapshot.is_built()).unwrap_or(false)
    }
}

fn busy(progress: &Progress) -> Error {
    let (done, total) = progress.files();
    Error::busy_building(done, total)
}
