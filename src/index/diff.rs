//! What an update has to do: the listing of the disk against what is stored. Pure.

use std::collections::{HashMap, HashSet};

use super::Thoroughness;
use super::folders::Folders;
use crate::extract::{self, Chunking};
use crate::model::{RepoPath, SkipReason, Stat};
use crate::scan::{self, Listing};
use crate::store::{SkippedFile, StoredFile};

/// The work of one update.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files to read: new, or perhaps changed.
    pub read: Vec<Task>,
    /// Stored files that are no longer there, or no longer to be indexed.
    pub gone: Vec<StoredFile>,
    /// Files found and left out by their path, where that is news.
    pub skip: Vec<SkippedFile>,
    /// Paths that were left out and are no longer found.
    pub unskip: Vec<String>,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct Task {
    pub path: RepoPath,
    pub size: u64,
    /// What is stored, with rows that would still be right if the bytes are the same.
    pub known: Option<StoredFile>,
}

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.gone.is_empty() && self.skip.is_empty() && self.unskip.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.read.iter().map(|task| task.size).sum()
    }
}

/// Files in `done` were read before by the same update and are trusted from then on.
pub(super) fn plan(
    listing: Listing,
    stored: Vec<StoredFile>,
    skipped: Vec<SkippedFile>,
    thoroughness: Thoroughness,
    done: &HashSet<RepoPath>,
    folders: &Folders,
) -> Plan {
    let mut plan = Plan::default();
    let mut stored: HashMap<RepoPath, StoredFile> = stored.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut skipped: HashMap<String, SkippedFile> = skipped.into_iter().map(|file| (file.path.clone(), file)).collect();
    for found in listing.files {
        let known = stored.remove(&found.path);
        let left_out = skipped.remove(found.path.as_str());
        let task = |known| Task { path: found.path.clone(), size: found.stat.size, known };
        match (known, left_out) {
            (Some(known), _) => {
                let as_stored = scan::trusted(&known.stat, known.seen_ns, &found.stat);
                let right_rows = rows_are_current(&known, folders, &known.path);
                let thoroughness = if done.contains(&found.path) { Thoroughness::Changed } else { thoroughness };
                match thoroughness {
                    Thoroughness::Everything => plan.read.push(task(None)),
                    _ if !right_rows => plan.read.push(task(None)),
                    Thoroughness::Verify => plan.read.push(task(Some(known))),
                    Thoroughness::Changed | Thoroughness::Noticed if as_stored => {}
                    Thoroughness::Changed | Thoroughness::Noticed => plan.read.push(task(Some(known))),
                }
            }
            (None, Some(left_out)) => {
                let as_stored = scan::trusted(&left_out.stat, left_out.seen_ns, &found.stat);
                let trusting = matches!(thoroughness, Thoroughness::Changed | Thoroughness::Noticed);
                if !trusting || !as_stored || !by_content(left_out.reason) {
                    plan.read.push(task(None));
                }
            }
            (None, None) => plan.read.push(task(None)),
        }
    }
    for left in listing.skipped {
        let news =
            skipped.remove(&left.path).is_none_or(|known| known.reason != left.reason || known.stat != left.stat);
        if news {
            plan.skip.push(SkippedFile { path: left.path, reason: left.reason, stat: left.stat, seen_ns: 0 });
        }
    }
    plan.gone = stored.into_values().collect();
    plan.gone.sort_by(|a, b| a.path.cmp(&b.path));
    plan.unskip = skipped.into_keys().collect();
    plan
}

/// Whether this program would make the same rows from the same bytes at `path`.
pub(super) fn rows_are_current(known: &StoredFile, folders: &Folders, path: &RepoPath) -> bool {
    known.chunking == folders.chunking(path).map(Chunking::to_text) && is_of_this_program(known)
}

fn is_of_this_program(known: &StoredFile) -> bool {
    extract::is_current(&known.path, &known.language, known.extractor, known.chunking.is_some())
}

/// Reasons that are found by reading, not by the path: they hold until the file changes.
fn by_content(reason: SkipReason) -> bool {
    use SkipReason::{
        Binary, Encoding, Encrypted, Generated, Malformed, Minified, NoText, Overfull, Overrun, Overweight, Sealed,
        Secret,
    };
    let is_of_text = matches!(reason, Binary | Encoding | Minified | Generated | Secret);
    let is_of_document = matches!(reason, Encrypted | Sealed | Malformed | Overfull | Overrun | Overweight | NoText);
    is_of_text || is_of_document
}

/// A stat that says nothing, for a file that could not be read.
pub(super) const UNKNOWN: Stat = Stat { size: 0, mtime_ns: 0, ctime_ns: 0, inode: 0 };
