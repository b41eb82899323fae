//! Many files at once: threads read, hash and extract; the calling thread writes in batches.
//!
//! A file's rows change in one transaction. Files that vanished are matched by content with files that came, so that a
//! rename keeps its rows.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

use crossbeam_channel::{Receiver, Sender};

use super::diff::{self, Plan, Task, UNKNOWN};
use super::folders::Folders;
use super::lock::UpdateLock;
use super::room::{Closing, Room};
use super::{locked, reader};
use crate::budget::{Budget, Progress};
use crate::error::{Error, Result};
use crate::extract::{self, Options};
use crate::model::{ContentHash, Extracted, RepoPath, SkipReason, Stat};
use crate::scan::{self, Content, Rules};
use crate::store::{Batch, FileRow, Revision, SkippedFile, Store, StoredFile};

/// Text of the outcomes between the readers and the writer, which waits for the disk now and then: until this much is
/// ahead of it, they go on. What a file becomes takes several times its text.
const BYTES_IN_FLIGHT: u64 = 8 << 20;
/// A transaction ends at so many files or so much text, so that others' writes and reads get their turn.
const BATCH_FILES: usize = 500;
const BATCH_BYTES: u64 = 16 << 20;
/// Parsers are not ours, and nesting is the file's to choose.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// What readers need to know of the repository.
pub(super) struct Job<'a> {
    pub root: &'a Path,
    pub rules: &'a Rules,
    pub folders: &'a Folders,
    /// Of files in none of the folders.
    pub options: &'a Options,
    /// The file of this program, to start readers with.
    pub program: Option<&'a Path>,
    /// Extract again even from the same bytes.
    pub anew: bool,
}

/// What an update holds and heeds while it works.
#[derive(Clone, Copy)]
pub(super) struct Turn<'a> {
    pub lock: &'a UpdateLock,
    /// Between batches other processes may write.
    pub yields: bool,
    pub progress: &'a Progress,
    pub budget: &'a Budget,
}

/// How much of a plan was done.
pub(super) struct Applied {
    /// A row changed that an answer could show.
    pub changed: bool,
    /// Another process has written since the plan was made: what is left of it may be wrong by now.
    pub overtaken: bool,
}

/// What became of one file.
enum Outcome {
    /// The bytes are those that are stored.
    Same {
        path: RepoPath,
        stat: Stat,
        seen_ns: i64,
    },
    /// The bytes are those of a file that is gone.
    Moved {
        from: RepoPath,
        path: RepoPath,
        stat: Stat,
        seen_ns: i64,
    },
    Indexed {
        path: RepoPath,
        hash: ContentHash,
        stat: Stat,
        seen_ns: i64,
        extracted: Box<Extracted>,
    },
    Skipped(SkippedFile),
    /// Gone between the walk and now.
    Vanished(RepoPath),
}

impl Outcome {
    /// The file that has rows now.
    fn path(&self) -> Option<&RepoPath> {
        match self {
            Self::Same { path, .. } | Self::Moved { path, .. } | Self::Indexed { path, .. } => Some(path),
            Self::Skipped(_) | Self::Vanished(_) => None,
        }
    }
}

/// Does the work of a plan that was made when the store was at `revision`, until another process writes. The files
/// that were read for good are added to `done`. `between` is called after each batch.
pub(super) fn apply(
    store: &Store,
    plan: Plan,
    job: &Job,
    turn: &Turn,
    between: &dyn Fn() -> Result<()>,
    revision: Revision,
    done: &mut HashSet<RepoPath>,
) -> Result<Applied> {
    let Turn { progress, budget, .. } = *turn;
    progress.begin(plan.read.len() as u64, plan.bytes());
    // Rows that are extracted again are of no use to another path either.
    let moved = Moved::new(if job.anew { &[] } else { &plan.gone }, job.folders);
    let mut changed = write_left_out(store, &plan)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(plan.read.len().max(1));
    let (send_task, tasks) = crossbeam_channel::unbounded::<Task>();
    let (send, outcomes) = crossbeam_channel::unbounded::<(Outcome, u64)>();
    let room = Room::of(BYTES_IN_FLIGHT);
    for task in plan.read {
        // The receiver is in this very function.
        let _ = send_task.send(task);
    }
    drop(send_task);
    let written = std::thread::scope(|scope| {
        // However this ends, no thread waits for the semaphore any longer.
        let _closing = Closing(&room);
        for _ in 0..threads {
            let (tasks, send, moved, room) = (tasks.clone(), send.clone(), &moved, &room);
            std::thread::Builder::new()
                .name("extract".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || work(job, moved, &tasks, &send, room, budget))
                .map_err(Error::no_thread)?;
        }
        drop(send);
        let outcomes = outcomes.into_iter().inspect(|(_, size)| room.give(*size));
        write(store, outcomes, job, turn, between, revision, done)
    })?;
    changed |= written.changed;
    if written.overtaken {
        return Ok(Applied { changed, overtaken: true });
    }
    let gone: Vec<RepoPath> = plan.gone.into_iter().map(|file| file.path).collect();
    for paths in gone.chunks(BATCH_FILES) {
        changed |= store.write(|batch| {
            let mut any = false;
            for path in paths {
                any |= batch.remove_file(path)?;
            }
            Ok(any)
        })?;
    }
    Ok(Applied { changed, overtaken: false })
}

fn write_left_out(store: &Store, plan: &Plan) -> Result<bool> {
    if plan.skip.is_empty() && plan.unskip.is_empty() {
        return Ok(false);
    }
    store.write(|batch| {
        for path in &plan.unskip {
            batch.unskip(path)?;
        }
        for file in &plan.skip {
            batch.skip(file)?;
        }
        Ok(true)
    })
}

/// Takes tasks until there are none, or the writer is gone.
fn work(job: &Job, moved: &Moved, tasks: &Receiver<Task>, send: &Sender<(Outcome, u64)>, room: &Room, budget: &Budget) {
    for task in tasks {
        let size = task.size;
        if budget.is_spent() || !room.take(size) || send.send((outcome(job, moved, task), size)).is_err() {
            return;
        }
    }
}

fn outcome(job: &Job, moved: &Moved, task: Task) -> Outcome {
    let path = task.path;
    let skipped = |path: &RepoPath, reason, stat, seen_ns| {
        Outcome::Skipped(SkippedFile { path: path.as_str().to_owned(), reason, stat, seen_ns })
    };
    let (folder, below) = job.folders.place(job.root, &path);
    let Content { bytes, stat, seen_ns } = match scan::read(&folder, &below, job.rules.max_file_size(&path)) {
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
    let hash = ContentHash::of(&bytes);
    if task.known.is_some_and(|known| known.hash == hash) {
        return Outcome::Same { path, stat, seen_ns };
    }
    if let Some(from) = moved.claim(&path, hash, &bytes, job) {
        return Outcome::Moved { from, path, stat, seen_ns };
    }
    // A panic in a parser costs that file its syntax, one elsewhere costs that file alone, never the run.
    let options = job.folders.options(&path, job.options);
    let mut read = |format, bytes: &[u8]| reader::read(job.program, format, bytes);
    let extracted = catch_unwind(AssertUnwindSafe(|| extract::extract_with(&path, &bytes, &options, &mut read)))
        .or_else(|_| catch_unwind(|| extract::without_syntax(&path, &bytes, &options)))
        .unwrap_or(Err(SkipReason::Malformed));
    match extracted {
        Ok(extracted) => Outcome::Indexed { path, hash, stat, seen_ns, extracted: Box::new(extracted) },
        Err(reason) => skipped(&path, reason, stat, seen_ns),
    }
}

fn write(
    store: &Store,
    outcomes: impl Iterator<Item = (Outcome, u64)>,
    job: &Job,
    turn: &Turn,
    between: &dyn Fn() -> Result<()>,
    revision: Revision,
    done: &mut HashSet<RepoPath>,
) -> Result<Applied> {
    let mut changed = false;
    let mut outcomes = outcomes.peekable();
    while outcomes.peek().is_some() {
        changed |= store.write(|batch| {
            let (mut files, mut bytes, mut any) = (0, 0, false);
            while files < BATCH_FILES && bytes < BATCH_BYTES {
                let Some((outcome, size)) = outcomes.next() else { break };
                done.extend(outcome.path().cloned());
                any |= write_one(batch, outcome, job.anew)?;
                turn.progress.advance(size);
                files += 1;
                bytes += size;
            }
            Ok(any)
        })?;
        turn.budget.check()?;
        between()?;
        if turn.yields && turn.lock.take_turns(turn.budget)? && store.revision()? != revision {
            return Ok(Applied { changed, overtaken: true });
        }
    }
    Ok(Applied { changed, overtaken: false })
}

fn write_one(batch: &mut Batch, outcome: Outcome, anew: bool) -> Result<bool> {
    match outcome {
        Outcome::Same { path, stat, seen_ns } => {
            batch.touch_file(&path, &stat, seen_ns)?;
            Ok(false)
        }
        Outcome::Moved { from, path, stat, seen_ns } => batch.rename_file(&from, &path, &stat, seen_ns),
        Outcome::Indexed { path, hash, stat, seen_ns, extracted } => {
            batch.replace_file(&FileRow { path: &path, hash, stat, seen_ns, extracted: &extracted, force: anew })
        }
        Outcome::Skipped(file) => {
            if let Some(path) = RepoPath::stored(&file.path) {
                batch.remove_file(&path)?;
            }
            batch.skip(&file)?;
            Ok(true)
        }
        Outcome::Vanished(path) => {
            batch.unskip(path.as_str())?;
            batch.remove_file(&path)
        }
    }
}

/// Files that are gone, by content, for files that came to take over their rows. Each is claimed once.
struct Moved(Mutex<HashMap<ContentHash, Vec<RepoPath>>>);

impl Moved {
    fn new(gone: &[StoredFile], folders: &Folders) -> Self {
        let mut by_hash: HashMap<ContentHash, Vec<RepoPath>> = HashMap::new();
        for file in gone.iter().filter(|file| diff::rows_are_current(file, folders, &file.path)) {
            by_hash.entry(file.hash).or_default().push(file.path.clone());
        }
        Self(Mutex::new(by_hash))
    }

    /// A gone file with the same content whose rows hold for `path` too: the name decides about language and rules, so
    /// it must end alike, and the folder about what is an entity.
    fn claim(&self, path: &RepoPath, hash: ContentHash, bytes: &[u8], job: &Job) -> Option<RepoPath> {
        let mut by_hash = locked(&self.0);
        let candidates = by_hash.get_mut(&hash)?;
        let alike = |from: &RepoPath| {
            let same_name = from.file_name() == path.file_name();
            let same_extension = path.extension().is_some() && from.extension() == path.extension();
            (same_name || same_extension)
                && job.folders.chunking(from) == job.folders.chunking(path)
                && extract::is_equal(from, path, bytes, job.options)
        };
        let at = candidates.iter().position(alike)?;
        Some(candidates.swap_remove(at))
    }
}
