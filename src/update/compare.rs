//! The files on disk compared with the rows in the index.
//!
//! Owns which files have to be read and which rows go. Does not own how the disk is listed (`plan`, `shared_listing`).

use std::collections::{HashMap, HashSet};

use crate::extract::{self, Chunking};
use crate::model::RepoPath;
use crate::repository::{Folders, Thoroughness};
use crate::scan::{self, Listing};
use crate::store::{SkippedFile, StoredFile};

/// A file to read.
#[derive(Debug)]
pub(crate) struct Task {
    pub path: RepoPath,
    pub size: u64,
    /// The stored file, if its rows are right for the same bytes.
    pub known: Option<StoredFile>,
}

/// Changes that need no file to be read.
#[derive(Debug, Default)]
pub(crate) struct CheapChanges {
    /// Stored files that no longer exist, or are no longer to be indexed.
    pub gone: Vec<StoredFile>,
    /// Files newly skipped because of their path.
    pub skip: Vec<SkippedFile>,
    /// Paths that were skipped and are no longer found.
    pub unskip: Vec<String>,
}

/// The tasks and the rest of the changes. Files in `done` were read by an earlier round of the same update, and are trusted
/// from then on. Unchanged files whose rows are not current are extracted again.
pub(crate) fn compare(
    listing: Listing,
    stored: Vec<StoredFile>,
    skipped: Vec<SkippedFile>,
    thoroughness: Thoroughness,
    done: &HashSet<RepoPath>,
    are_current: impl Fn(&StoredFile) -> bool,
) -> (Vec<Task>, CheapChanges) {
    let mut tasks = Vec::new();
    let mut cheap = CheapChanges::default();
    let mut stored: HashMap<RepoPath, StoredFile> = stored.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut skipped: HashMap<String, SkippedFile> = skipped.into_iter().map(|file| (file.path.clone(), file)).collect();
    for found in listing.files {
        let known = stored.remove(&found.path);
        let left_out = skipped.remove(found.path.as_str());
        let task = |known| Task { path: found.path.clone(), size: found.stat.size, known };
        match (known, left_out) {
            (Some(known), left_out) => {
                // An update that was cut short had begun to replace the file.
                cheap.unskip.extend(left_out.map(|left_out| left_out.path));
                let is_trusted = scan::trusted(&known.stat, known.seen_ns, &found.stat);
                let thoroughness = if done.contains(&found.path) { Thoroughness::Changed } else { thoroughness };
                match thoroughness {
                    Thoroughness::Everything => tasks.push(task(None)),
                    _ if !are_current(&known) => tasks.push(task(None)),
                    Thoroughness::Changed if is_trusted => {}
                    Thoroughness::Verify | Thoroughness::Changed => tasks.push(task(Some(known))),
                }
            }
            (None, Some(left_out)) => {
                let is_trusted = thoroughness == Thoroughness::Changed
                    && scan::trusted(&left_out.stat, left_out.seen_ns, &found.stat);
                if !is_trusted || !left_out.reason.is_by_content() {
                    tasks.push(task(None));
                }
            }
            (None, None) => tasks.push(task(None)),
        }
    }
    for left in listing.skipped {
        let is_new =
            skipped.remove(&left.path).is_none_or(|known| known.reason != left.reason || known.stat != left.stat);
        if is_new {
            cheap.skip.push(SkippedFile { path: left.path, reason: left.reason, stat: left.stat, seen_ns: 0 });
        }
    }
    cheap.gone = stored.into_values().collect();
    cheap.gone.sort_by(|a, b| a.path.cmp(&b.path));
    cheap.unskip.extend(skipped.into_keys());
    (tasks, cheap)
}

/// Whether this program would make the same rows from the same bytes at `path`.
pub(crate) fn rows_are_current(known: &StoredFile, folders: &Folders, path: &RepoPath) -> bool {
    has_current_chunking(known, folders, path)
        && extract::is_current(&known.path, &known.language, known.extractor, known.chunking.is_some())
}

/// Whether the rows of an unchanged file can answer until those of this program's extractor replace them.
pub(crate) fn has_current_chunking(known: &StoredFile, folders: &Folders, path: &RepoPath) -> bool {
    known.chunking == folders.chunking(path).map(Chunking::to_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContentHash, SkipReason, Stat};
    use crate::scan::FoundFile;

    /// An update writes that a link is left out, and is overtaken before it removes the file that was there; then the file is back.
    #[test]
    fn a_file_that_is_back_is_not_left_out_any_more() {
        let path = RepoPath::new("notes/a.json").unwrap();
        let stat = Stat { size: 1, mtime_ns: 1, ctime_ns: 1, inode: 1 };
        for ctime_ns in [1, 2] {
            let found = FoundFile { path: path.clone(), stat: Stat { ctime_ns, ..stat } };
            let listing = Listing { files: vec![found], ..Listing::default() };
            let stored = StoredFile {
                path: path.clone(),
                language: "json".to_owned(),
                extractor: 1,
                hash: ContentHash::compute(b"1"),
                stat,
                seen_ns: i64::MAX,
                chunking: None,
            };
            let left_out = SkippedFile { path: path.to_string(), reason: SkipReason::Symlink, stat, seen_ns: 0 };
            let (_, cheap) =
                compare(listing, vec![stored], vec![left_out], Thoroughness::Changed, &HashSet::new(), |_| true);
            assert_eq!(cheap.unskip, ["notes/a.json"]);
            assert!(cheap.gone.is_empty() && cheap.skip.is_empty());
        }
    }
}
