//! Changes of tracked files that are not committed, for `--dirty`.
//!
//! Owns what counts as one: a file that git's index lists and whose text differs from that of the commit, or that is gone. Untracked files
//! never do. A file that git's index knows as unchanged is not read.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::git_objects::{Objects, Tree};
use crate::model::RepoPath;
use crate::platform::files::stat_of;
use crate::scan::{self, Staged};

/// Files that are compared at a time.
const FILES_AT_ONCE: usize = 200;
/// What stands for git's id of a file that is not committed.
const UNCOMMITTED: &str = "work tree ";

/// The bytes of changed files by their path.
pub(super) type Changes = HashMap<String, Vec<u8>>;

/// Makes of the files of a commit those of the work tree, and returns the bytes of those that differ.
pub(super) fn apply(root: &Path, objects: &Objects, tree: &mut Tree, most: u64, budget: &Budget) -> Result<Changes> {
    let staged: Staged = scan::staged(root);
    if staged.conflicts > 0 {
        return Err(Error::invalid_argument("some files have merge conflicts")
            .hint("Resolve them, or publish the commit without --dirty."));
    }
    if staged.paths().next().is_none() && !tree.is_empty() {
        return Err(Error::invalid_argument("git's index cannot be read, or lists no file")
            .hint("`git status` says what is wrong; without --dirty it is not needed."));
    }
    // What is removed from git's index is not tracked any more.
    tree.retain(|path, _| staged.has(path) || staged.is_absent(path));
    let mut changes = Changes::new();
    let paths: Vec<&str> = staged.paths().filter(|path| !staged.is_absent(path)).collect();
    for some in paths.chunks(FILES_AT_ONCE) {
        budget.check()?;
        let mut read: Vec<(&str, Vec<u8>)> = Vec::new();
        for &path in some {
            let Some(file) = RepoPath::new(path) else { continue };
            let committed = tree.get(path);
            if committed.is_some_and(|id| {
                std::fs::symlink_metadata(file.to_path(root))
                    .is_ok_and(|data| staged.is_clean(path, id, &stat_of(&data)))
            }) {
                continue;
            }
            match scan::read(root, &file, most) {
                Ok(content) => read.push((path, content.bytes)),
                // It is too large to be published, as it may have been before.
                Err(error) if error.kind() == ErrorKind::FileTooLarge => drop(tree.remove(path)),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(Error::io("read", &file.to_path(root), error));
                }
                // It is gone, or something else is in its place.
                Err(_) => drop(tree.remove(path)),
            }
        }
        let ids: Vec<&str> = read.iter().filter_map(|(path, _)| tree.get(*path).map(String::as_str)).collect();
        let blobs = objects.blobs(&ids, most, budget)?;
        let committed: HashMap<String, Option<Vec<u8>>> = ids.into_iter().map(str::to_owned).zip(blobs).collect();
        for (path, bytes) in read {
            let is_same = |id: &String| {
                committed.get(id).is_some_and(|blob| blob.as_ref().is_some_and(|blob| is_equal(blob, &bytes)))
            };
            if !tree.get(path).is_some_and(is_same) {
                tree.insert(path.to_owned(), format!("{UNCOMMITTED}{}", blake3::hash(&bytes).to_hex()));
                changes.insert(path.to_owned(), bytes);
            }
        }
    }
    Ok(changes)
}

/// Whether a file is as committed: git may write other line ends into the work tree.
fn is_equal(blob: &[u8], bytes: &[u8]) -> bool {
    let lines = |text: &[u8]| -> Vec<u8> {
        let mut kept = text.to_vec();
        let mut at = 0;
        kept.retain(|byte| {
            at += 1;
            *byte != b'\r' || text.get(at) != Some(&b'\n')
        });
        kept
    };
    blob == bytes || (bytes.contains(&b'\r') && lines(blob) == lines(bytes))
}
