//! Applies a plan: threads read, hash and extract files, and the calling thread writes in batches.
//!
//! A file's rows change in one transaction. Vanished files are matched by content with new files, so that a rename keeps its
//! rows.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::bundles::{BUNDLE_BYTES, Bundle, Bundling, ByteBudget, CloseOnDrop, InOrder, Outcome};
use super::plan::{CheapChanges, Extraction, Plan, Stage, Tally, Task, rows_are_current};
use super::{reader, recent};
use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::extract;
use crate::locked::locked;
use crate::model::{ContentHash, RepoPath, SkipReason, Stat};
use crate::platform::beneath::Folder;
use crate::repository::{Folders, Repository, Requests, Settings, UpdateLock};
use crate::scan::{self, Content};
use crate::store::{Batch, SkippedFile, Store, StoredFile};
use crate::threads::{STACK_BYTES, cores};

/// Text of the outcomes between the readers and the writer, which waits for the disk at times: the readers continue until
/// they are this far ahead. An outcome takes several times the memory of its text.
const BYTES_IN_FLIGHT: u64 = 8 << 20;
/// A transaction ends after this many files or this much text, so that other writers and readers get their turn.
const BATCH_FILES: usize = 500;
const BATCH_BYTES: u64 = 16 << 20;
/// How often the threads check whether reads need files or the processors.
const POLL: Duration = Duration::from_millis(2);

/// The stat of a file that could not be read.
const UNKNOWN: Stat = Stat { size: 0, mtime_ns: 0, ctime_ns: 0, inode: 0 };

/// An update that holds the update lock.
#[derive(Clone, Copy)]
pub(super) struct Turn<'u> {
    pub repository: &'u Repository,
    pub lock: &'u UpdateLock,
    /// Between batches other processes may write.
    pub yields: bool,
    pub progress: &'u Progress,
    pub requests: &'u Requests,
    pub budget: &'u Budget,
}

impl<'u> Turn<'u> {
    pub(super) fn new(
        repository: &'u Repository,
        lock: &'u UpdateLock,
        (progress, requests): (&'u Progress, &'u Requests),
        budget: &'u Budget,
    ) -> Self {
        Self { repository, lock, yields: true, progress, requests, budget }
    }
}

/// Between two batches, indexes the files that callers wait for, if they may be indexed then, and returns which it
/// indexed.
pub(super) type BetweenBatches<'b> = dyn Fn(&mut Tally, &dyn Fn(&RepoPath) -> bool) -> Result<HashSet<RepoPath>> + 'b;

/// How far a plan was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplyOutcome {
    Completely,
    /// Another process has changed the index since the plan was made: the rest of the plan may be wrong.
    Overtaken,
}

/// The files that were indexed while the plan was applied because callers needed them.
#[derive(Default)]
struct IndexedFirst(RwLock<HashSet<RepoPath>>);

impl IndexedFirst {
    fn add(&self, paths: HashSet<RepoPath>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(paths);
    }

    fn has(&self, path: &RepoPath) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    fn has_any(&self) -> bool {
        !self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// Applies a plan until it is done or overtaken, and adds what was done to the tally.
pub(super) fn apply(
    turn: &Turn,
    plan: Plan,
    tally: &mut Tally,
    between_batches: &BetweenBatches,
) -> Result<ApplyOutcome> {
    let Plan { mut tasks, edited, cheap, extraction, revision, stage, .. } = plan;
    let (repository, store) = (turn.repository, turn.repository.store()?);
    turn.progress.begin(tasks.len() as u64, tasks.iter().map(|task| task.size).sum());
    if stage != Stage::Entities {
        turn.requests.set_planned();
    }
    if stage == Stage::FirstBuild && recent::come_first(tasks.len()) {
        // Reads do not wait for this.
        let committed: HashSet<RepoPath> = recent::committed(repository).unwrap_or_default().into_iter().collect();
        // A stable sort: the rest stays in path order.
        tasks.sort_by_key(|task| !(edited.contains(&task.path) || committed.contains(&task.path)));
    }
    tally.changed |= write_skipped(store, &cheap)?;
    // Rows that will be replaced are not reused for another path.
    let sources = if extraction.replaces_rows { &[] } else { cheap.gone.as_slice() };
    let moved = MovedFiles::new(sources, &extraction.settings.folders);
    let gone: HashSet<RepoPath> = cheap.gone.iter().map(|file| file.path.clone()).collect();
    let first = IndexedFirst::default();
    let yields = turn.yields && stage != Stage::Entities;
    let pauses = Pauses { turn: *turn, begun: Instant::now(), yields };
    let root = Folder::open(&repository.root).ok();
    let threads = cores().min(tasks.len());
    let bundling = if stage == Stage::FirstBuild {
        let bytes = tasks.iter().map(|task| task.size).sum();
        Bundling::first_build(bytes, threads, store.write(|batch| batch.next_chunk())?)
    } else {
        Bundling::single()
    };
    let worker =
        Worker { repository, root, extraction: &extraction, moved, first: &first, pauses, bundling: &bundling };
    let (send_task, tasks_left) = crossbeam_channel::unbounded();
    let (send, outcomes) = crossbeam_channel::unbounded();
    // Each thread can fill a bundle while another is indexed.
    let in_flight = ByteBudget::new(BYTES_IN_FLIGHT.max(threads as u64 * 2 * BUNDLE_BYTES));
    for task in tasks {
        // The receiver lives as long as this function.
        let _ = send_task.send(task);
    }
    drop(send_task);
    let after_batch = |tally: &mut Tally| {
        turn.budget.check()?;
        // A file that was moved when the plan was made may be the source of another file's rows.
        first.add(between_batches(tally, &|path| !gone.contains(path))?);
        let is_overtaken = turn.yields && turn.lock.take_turns(turn.budget)? && store.revision()? != revision;
        Ok(if is_overtaken { ApplyOutcome::Overtaken } else { ApplyOutcome::Completely })
    };
    let written = std::thread::scope(|scope| {
        // Whatever happens here, no thread keeps waiting for the budget.
        let _closing = CloseOnDrop(&in_flight);
        for _ in 0..threads {
            let (tasks, send, worker, in_flight) = (tasks_left.clone(), send.clone(), &worker, &in_flight);
            std::thread::Builder::new()
                .name("extract".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || worker.run(&tasks, &send, in_flight))
                .map_err(Error::no_thread)?;
        }
        drop(send);
        let outcomes = Outcomes {
            bundles: outcomes,
            in_order: InOrder::default(),
            bundling: &bundling,
            in_flight: &in_flight,
            pauses,
        };
        write(turn, &outcomes, extraction.replaces_rows, &first, &after_batch, tally)
    })?;
    if written == ApplyOutcome::Completely {
        for files in cheap.gone.chunks(BATCH_FILES) {
            tally.changed |= store
                .write(|batch| files.iter().try_fold(false, |any, file| Ok(batch.remove_file(&file.path)? | any)))?;
        }
    }
    Ok(written)
}

fn write_skipped(store: &Store, cheap: &CheapChanges) -> Result<bool> {
    if cheap.skip.is_empty() && cheap.unskip.is_empty() {
        return Ok(false);
    }
    store.write(|batch| {
        for path in &cheap.unskip {
            batch.unskip(path)?;
        }
        for file in &cheap.skip {
            batch.skip(file)?;
        }
        Ok(true)
    })
}

/// Turns files into outcomes, on several threads.
struct Worker<'w> {
    repository: &'w Repository,
    /// The open root.
    root: Option<Folder>,
    extraction: &'w Extraction,
    moved: MovedFiles,
    first: &'w IndexedFirst,
    pauses: Pauses<'w>,
    bundling: &'w Bundling,
}

/// When the work pauses because reads need the processors.
#[derive(Clone, Copy)]
struct Pauses<'p> {
    turn: Turn<'p>,
    begun: Instant,
    /// Whether the work yields to reads; what reads wait for does not.
    yields: bool,
}

impl Pauses<'_> {
    fn is_now(&self) -> bool {
        let Turn { progress, requests, budget, .. } = self.turn;
        self.yields && requests.is_paused(self.begun, progress) && !budget.is_spent()
    }

    fn wait(&self, is_over: impl Fn() -> bool) {
        while self.is_now() && !is_over() {
            std::thread::sleep(POLL);
        }
    }
}

/// The outcomes of the tasks, for the writer.
struct Outcomes<'o> {
    bundles: Receiver<Result<Bundle>>,
    in_order: InOrder,
    bundling: &'o Bundling,
    in_flight: &'o ByteBudget,
    pauses: Pauses<'o>,
}

/// The writer's next step.
enum WriterStep {
    Bundle(Bundle),
    /// Callers wait for files, or need the processors.
    Interruption,
    End,
}

impl Outcomes<'_> {
    fn next(&self, is_interrupted: impl Fn() -> bool) -> Result<WriterStep> {
        loop {
            if is_interrupted() {
                return Ok(WriterStep::Interruption);
            }
            if let Some(bundle) = self.in_order.next() {
                self.pauses.turn.progress.advance(bundle.outcomes.len() as u64, bundle.bytes);
                self.in_flight.give(bundle.bytes);
                return Ok(WriterStep::Bundle(bundle));
            }
            match self.bundles.recv_timeout(POLL) {
                Ok(bundle) => self.in_order.add(bundle?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(WriterStep::End),
            }
        }
    }
}

impl Worker<'_> {
    /// Takes tasks until there are none, or the writer is gone.
    fn run(&self, tasks: &Receiver<Task>, send: &Sender<Result<Bundle>>, in_flight: &ByteBudget) {
        let mut bundle = Bundle::default();
        for task in tasks {
            let size = task.size;
            self.pauses.wait(|| false);
            if self.pauses.turn.budget.is_spent() {
                return;
            }
            // A thread that waits for the budget must not hold a part of it.
            let is_taken = in_flight.try_take(size) || (self.hand_over(&mut bundle, send) && in_flight.take(size));
            if !is_taken {
                return;
            }
            bundle.add(self.outcome(task), size);
            if self.bundling.is_full(&bundle) && !self.hand_over(&mut bundle, send) {
                return;
            }
        }
        self.hand_over(&mut bundle, send);
    }

    /// Sends a bundle to the writer; `false` if the writer is gone.
    fn hand_over(&self, bundle: &mut Bundle, send: &Sender<Result<Bundle>>) -> bool {
        let mut bundle = std::mem::take(bundle);
        bundle.outcomes.is_empty() || send.send(self.bundling.complete(&mut bundle).map(|()| bundle)).is_ok()
    }

    fn outcome(&self, task: Task) -> Outcome {
        let Settings { folders, rules, .. } = &*self.extraction.settings;
        let path = task.path;
        if self.first.has(&path) {
            return Outcome::IndexedFirst;
        }
        let skipped = |path: &RepoPath, reason, stat, seen_ns| {
            Outcome::Skipped(SkippedFile { path: path.as_str().to_owned(), reason, stat, seen_ns })
        };
        let (folder, below) = folders.location(&self.repository.root, &path);
        let content = match &self.root {
            Some(root) if folder == self.repository.root => scan::read_below(root, &below, rules.max_file_size(&path)),
            _ => scan::read(&folder, &below, rules.max_file_size(&path)),
        };
        let Content { bytes, stat, seen_ns } = match content {
            Ok(content) => content,
            Err(error) => {
                let reason = match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => return Outcome::Vanished(path),
                    ErrorKind::FileTooLarge => SkipReason::Oversize,
                    _ => SkipReason::Unreadable,
                };
                return skipped(&path, reason, UNKNOWN, 0);
            }
        };
        let hash = ContentHash::compute(&bytes);
        if task.known.is_some_and(|known| known.hash == hash) {
            return Outcome::Same { path, stat, seen_ns };
        }
        if let Some(from) = self.moved.claim(&path, hash, &bytes, self.extraction) {
            return Outcome::Moved { from, path, stat, seen_ns };
        }
        // A panic in a parser costs that file its syntax, one elsewhere costs only that file, never the update.
        let options = folders.options(&path, &self.extraction.options);
        let mut read = |format, bytes: &[u8]| reader::read(self.repository.program(), format, bytes);
        let extracted = catch_unwind(AssertUnwindSafe(|| extract::extract_with(&path, &bytes, &options, &mut read)))
            .or_else(|_| catch_unwind(|| extract::without_syntax(&path, &bytes, &options)))
            .unwrap_or(Err(SkipReason::Malformed));
        match extracted {
            Ok(extracted) => Outcome::Indexed { path, hash, stat, seen_ns, extracted: Box::new(extracted) },
            Err(reason) => skipped(&path, reason, stat, seen_ns),
        }
    }
}

fn write(
    turn: &Turn,
    outcomes: &Outcomes,
    replaces_rows: bool,
    first: &IndexedFirst,
    after_batch: &dyn Fn(&mut Tally) -> Result<ApplyOutcome>,
    tally: &mut Tally,
) -> Result<ApplyOutcome> {
    let (mut is_done, pauses) = (false, outcomes.pauses);
    let are_files_requested = || outcomes.pauses.yields && turn.requests.are_files_requested();
    let is_interrupted = || are_files_requested() || pauses.is_now();
    let write_batch = |tally: &mut Tally| {
        turn.repository.store()?.write(|batch| {
            let (mut files, mut bytes, mut any) = (0, 0, false);
            while files < BATCH_FILES && bytes < BATCH_BYTES {
                let bundle = match outcomes.next(is_interrupted)? {
                    WriterStep::Bundle(bundle) => bundle,
                    WriterStep::Interruption => break,
                    WriterStep::End => return Ok((any, true)),
                };
                files += bundle.outcomes.len();
                bytes += bundle.bytes;
                any |= write_bundle(batch, bundle, outcomes.bundling, replaces_rows, first, tally)?;
            }
            Ok((any, false))
        })
    };
    while !is_done {
        if !is_interrupted() {
            let (any, ended) = write_batch(tally)?;
            tally.changed |= any;
            is_done = ended;
        }
        if after_batch(tally)? == ApplyOutcome::Overtaken {
            return Ok(ApplyOutcome::Overtaken);
        }
        pauses.wait(are_files_requested);
    }
    Ok(ApplyOutcome::Completely)
}

/// Writes the outcomes of a bundle. Returns whether anything except a stat changed.
fn write_bundle(
    batch: &mut Batch,
    bundle: Bundle,
    bundling: &Bundling,
    replaces_rows: bool,
    first: &IndexedFirst,
    tally: &mut Tally,
) -> Result<bool> {
    let is_older = |outcome: &Outcome| first.has_any() && outcome.subject().is_some_and(|path| first.has(&path));
    let mut are_added = false;
    if let Some(indexed) = &bundle.indexed {
        bundling.move_up((batch.next_chunk()? - indexed.first()).max(0));
        are_added = !bundle.outcomes.iter().any(is_older) && batch.add_files(&bundle.rows(replaces_rows), indexed)?;
    }
    let mut any = are_added;
    for outcome in bundle.outcomes {
        let outcome = if is_older(&outcome) { Outcome::IndexedFirst } else { outcome };
        tally.done.extend(outcome.path().cloned());
        if !(are_added && matches!(outcome, Outcome::Indexed { .. })) {
            any |= write_one(batch, &outcome, replaces_rows)?;
        }
    }
    Ok(any)
}

fn write_one(batch: &mut Batch, outcome: &Outcome, replaces_rows: bool) -> Result<bool> {
    match outcome {
        Outcome::Same { path, stat, seen_ns } => {
            batch.touch_file(path, stat, *seen_ns)?;
            Ok(false)
        }
        Outcome::Moved { from, path, stat, seen_ns } => batch.rename_file(from, path, stat, *seen_ns),
        Outcome::Indexed { .. } => outcome.row(replaces_rows).map_or(Ok(false), |row| batch.replace_file(&row)),
        Outcome::Skipped(file) => {
            if let Some(path) = RepoPath::stored(&file.path) {
                batch.remove_file(&path)?;
            }
            batch.skip(file)?;
            Ok(true)
        }
        Outcome::IndexedFirst => Ok(false),
        Outcome::Vanished(path) => {
            batch.unskip(path.as_str())?;
            batch.remove_file(path)
        }
    }
}

/// Files that are gone, by content, whose rows new files may take over. Each is claimed once.
struct MovedFiles(Mutex<HashMap<ContentHash, Vec<RepoPath>>>);

impl MovedFiles {
    fn new(gone: &[StoredFile], folders: &Folders) -> Self {
        let mut by_hash: HashMap<ContentHash, Vec<RepoPath>> = HashMap::new();
        for file in gone.iter().filter(|file| rows_are_current(file, folders, &file.path)) {
            by_hash.entry(file.hash).or_default().push(file.path.clone());
        }
        Self(Mutex::new(by_hash))
    }

    /// A gone file with the same content whose rows are right for `path`, too. The name determines language and rules, so its
    /// extension must be the same; the folder determines what is an entity.
    fn claim(&self, path: &RepoPath, hash: ContentHash, bytes: &[u8], extraction: &Extraction) -> Option<RepoPath> {
        let mut by_hash = locked(&self.0);
        let candidates = by_hash.get_mut(&hash)?;
        let folders = &extraction.settings.folders;
        let fits = |from: &RepoPath| {
            let same_name = from.file_name() == path.file_name();
            let same_extension = path.extension().is_some() && from.extension() == path.extension();
            (same_name || same_extension)
                && folders.chunking(from) == folders.chunking(path)
                && extract::is_equal(from, path, bytes, &extraction.options)
        };
        let at = candidates.iter().position(fits)?;
        Some(candidates.swap_remove(at))
    }
}
