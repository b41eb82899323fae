//! Bundles of files on their way from the threads that extract them to the writer.
//!
//! Owns the possible outcomes for a file, the limit on bytes in memory, and, in a first build, the order of bundles and the ids of their
//! chunks. Does not own how files are extracted and written (`apply`), nor how chunks are indexed (`store`).
//!
//! In a first build, the thread that extracted a bundle reserves ids for its chunks and indexes them; the writer only copies the
//! result. If, when the bundle is written, one of the ids is taken or one of the files is already indexed, the writer indexes the
//! chunks itself. To keep this rare, bundles are written in the order of their ids. In other updates, each file is a bundle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::error::Result;
use crate::locked::locked;
use crate::model::{ContentHash, Extracted, RepoPath, Stat};
use crate::store::{FileRow, IndexedChunks, SkippedFile};

/// Maximum text of a bundle: FTS5 merges larger segments faster, and smaller ones take less memory.
pub(super) const BUNDLE_BYTES: u64 = 2 << 20;
const MIN_BUNDLE_BYTES: u64 = 64 << 10;
const BUNDLE_FILES: usize = 250;
/// Bundles per thread, if that leaves them large enough. More bundles let the threads finish closer together.
const BUNDLES_OF_THREAD: u64 = 8;

/// Result for one file.
pub(super) enum Outcome {
    /// The bytes are the stored ones.
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
    /// Gone since the listing.
    Vanished(RepoPath),
    /// Indexed earlier because a caller needed it: its rows are at least as new as what the plan read.
    IndexedFirst,
}

impl Outcome {
    /// The file that has rows now.
    pub(super) fn path(&self) -> Option<&RepoPath> {
        match self {
            Self::Same { path, .. } | Self::Moved { path, .. } | Self::Indexed { path, .. } => Some(path),
            Self::Skipped(_) | Self::Vanished(_) | Self::IndexedFirst => None,
        }
    }

    /// The file that the outcome is about.
    pub(super) fn subject(&self) -> Option<RepoPath> {
        match self {
            Self::Skipped(file) => RepoPath::stored(&file.path),
            Self::Vanished(path) => Some(path.clone()),
            indexed => indexed.path().cloned(),
        }
    }

    /// The row of a file that was extracted.
    pub(super) fn row(&self, force: bool) -> Option<FileRow<'_>> {
        match self {
            Self::Indexed { path, hash, stat, seen_ns, extracted } => {
                Some(FileRow { path, hash: *hash, stat: *stat, seen_ns: *seen_ns, extracted, force })
            }
            _ => None,
        }
    }
}

/// Files that are written together.
#[derive(Default)]
pub(super) struct Bundle {
    number: u64,
    pub outcomes: Vec<Outcome>,
    /// Size of the files.
    pub bytes: u64,
    /// The indexed chunks of the extracted files; only in a first build.
    pub indexed: Option<IndexedChunks>,
}

impl Bundle {
    pub(super) fn add(&mut self, outcome: Outcome, bytes: u64) {
        self.outcomes.push(outcome);
        self.bytes += bytes;
    }

    /// The rows of the files that were extracted.
    pub(super) fn rows(&self, force: bool) -> Vec<FileRow<'_>> {
        self.outcomes.iter().filter_map(|outcome| outcome.row(force)).collect()
    }
}

/// How outcomes are bundled.
pub(super) struct Bundling {
    /// Text that fills a bundle, in bytes; `None`: each file is a bundle.
    most: Option<u64>,
    next: Mutex<Reserved>,
}

/// The next free number of a bundle and id of a chunk.
struct Reserved {
    bundle: u64,
    chunk: i64,
}

impl Bundling {
    /// Makes each file a bundle.
    pub(super) fn single() -> Self {
        Self { most: None, next: Mutex::new(Reserved { bundle: 0, chunk: 0 }) }
    }

    /// Prepares bundles for a first build that adds `bytes` of text. Its first chunk gets the id `chunk`.
    pub(super) fn first_build(bytes: u64, threads: usize, chunk: i64) -> Self {
        let most = bytes / (threads as u64 * BUNDLES_OF_THREAD).max(1);
        let most = Some(most.clamp(MIN_BUNDLE_BYTES, BUNDLE_BYTES));
        Self { most, next: Mutex::new(Reserved { bundle: 0, chunk }) }
    }

    pub(super) fn is_full(&self, bundle: &Bundle) -> bool {
        self.most.is_none_or(|most| bundle.bytes >= most) || bundle.outcomes.len() >= BUNDLE_FILES
    }

    /// Gives a bundle its number and, in a first build, indexes its chunks.
    pub(super) fn complete(&self, bundle: &mut Bundle) -> Result<()> {
        let rows = bundle.rows(false);
        let chunks: usize = rows.iter().map(|row| row.extracted.chunks.len()).sum();
        let (number, first) = {
            let mut next = locked(&self.next);
            let reserved = (next.bundle, next.chunk);
            next.bundle += 1;
            next.chunk += i64::try_from(chunks).unwrap_or_default();
            reserved
        };
        let files = rows.iter().map(|row| (row.path, row.extracted));
        let indexed = match self.most {
            Some(_) if !rows.is_empty() => Some(IndexedChunks::index(first, files)?),
            _ => None,
        };
        (bundle.number, bundle.indexed) = (number, indexed);
        Ok(())
    }

    /// Skips `by` ids, because other chunks took ids that were reserved. Bundles that reserved them get new ids when they are
    /// written.
    pub(super) fn move_up(&self, by: i64) {
        locked(&self.next).chunk += by;
    }
}

/// Brings bundles into the order of their numbers.
#[derive(Default)]
pub(super) struct InOrder {
    next: RefCell<u64>,
    waiting: RefCell<BTreeMap<u64, Bundle>>,
}

impl InOrder {
    pub(super) fn add(&self, bundle: Bundle) {
        self.waiting.borrow_mut().insert(bundle.number, bundle);
    }

    /// The next bundle, if it has arrived.
    pub(super) fn next(&self) -> Option<Bundle> {
        let bundle = self.waiting.borrow_mut().remove(&self.next.borrow())?;
        *self.next.borrow_mut() += 1;
        Some(bundle)
    }
}

/// Bounds how many bytes are held in memory at once: a semaphore.
pub(super) struct ByteBudget {
    bytes: u64,
    taken: Mutex<BudgetState>,
    freed: Condvar,
}

struct BudgetState {
    bytes: u64,
    /// The writer has stopped: nothing waits for bytes any longer.
    is_closed: bool,
}

impl ByteBudget {
    pub(super) const fn new(bytes: u64) -> Self {
        Self { bytes, taken: Mutex::new(BudgetState { bytes: 0, is_closed: false }), freed: Condvar::new() }
    }

    /// Waits until `bytes` are free; more than the whole budget waits until all of it is free. `false`: the budget was
    /// closed.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let is_full = |taken: &mut BudgetState| !taken.is_closed && taken.bytes > 0 && taken.bytes + bytes > self.bytes;
        let waited = self.freed.wait_while(locked(&self.taken), is_full);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        taken.bytes += bytes;
        !taken.is_closed
    }

    /// Takes bytes if they are free; `false` if they are not, or the budget was closed.
    pub(super) fn try_take(&self, bytes: u64) -> bool {
        let mut taken = locked(&self.taken);
        let is_free = !taken.is_closed && (taken.bytes == 0 || taken.bytes + bytes <= self.bytes);
        if is_free {
            taken.bytes += bytes;
        }
        is_free
    }

    pub(super) fn give(&self, bytes: u64) {
        locked(&self.taken).bytes -= bytes;
        self.freed.notify_all();
    }

    /// Takes bytes until the returned value is dropped.
    pub(super) fn hold(&self, bytes: u64) -> HeldBytes<'_> {
        self.take(bytes);
        HeldBytes { budget: self, bytes }
    }

    fn close(&self) {
        locked(&self.taken).is_closed = true;
        self.freed.notify_all();
    }
}

/// Gives its bytes back when it is dropped.
pub(super) struct HeldBytes<'b> {
    budget: &'b ByteBudget,
    bytes: u64,
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
    }
}

/// Closes a budget when it is dropped, so that nothing waits for it any longer.
pub(super) struct CloseOnDrop<'b>(pub &'b ByteBudget);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
