//! Changes of tracked files that are not committed, for `--dirty`.
//!
//! Owns what counts as one: a file that git's index lists, and that is gone or that git would commit with another text. Untracked
//! files never count. A file that git's index knows as unchanged is not read; one that git would convert with a program keeps the
//! commit's text.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::git_objects::{Comparison, Objects, Tree, WorkFile};
use crate::model::RepoPath;
use crate::platform::files::stat_of;
use crate::scan::{self, Staged};

/// Files that are compared at a time.
const FILES_AT_ONCE: usize = 200;
/// Prefix that replaces git's id for a file that is not committed.
const UNCOMMITTED: &str = "work tree ";

/// The changes of a work tree since a commit.
#[derive(Default)]
pub(super) struct Changes {
    /// The bytes that git would commit, by path.
    pub bytes: HashMap<String, Vec<u8>>,
    /// Files that stay as committed because it is not known what git would commit, with the reason.
    pub undecided: Vec<(String, &'static str)>,
}

/// Makes of the files of a commit those of the work tree, and returns what differs.
pub(super) fn apply(root: &Path, objects: &Objects, tree: &mut Tree, most: u64, budget: &Budget) -> Result<Changes> {
    let staged: Staged = scan::staged(root);
    if staged.conflicts() > 0 {
        return Err(Error::invalid_argument("some files have merge conflicts")
            .hint("Resolve them, or publish the commit without --dirty."));
    }
    if staged.paths().next().is_none() && !tree.is_empty() {
        return Err(Error::invalid_argument("git's index cannot be read, or lists no file")
            .hint("`git status` says what is wrong; without --dirty it is not needed."));
    }
    let settings = objects.settings(budget)?;
    // What is removed from git's index is not tracked any more.
    tree.retain(|path, _| staged.has(path) || staged.is_unexamined(path));
    let mut changes = Changes::default();
    let mut paths: Vec<&str> = staged.paths().collect();
    paths.sort_unstable();
    for some in paths.chunks(FILES_AT_ONCE) {
        budget.check()?;
        let mut read: Vec<(&str, Vec<u8>)> = Vec::new();
        for &path in some {
            let Some(file) = RepoPath::new(path) else { continue };
            let found = std::fs::symlink_metadata(file.to_path(root));
            let is_unchanged = |id: &String| found.as_ref().is_ok_and(|data| staged.is_clean(path, id, &stat_of(data)));
            if tree.get(path).is_some_and(is_unchanged) || (found.is_err() && staged.is_unexamined(path)) {
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
        let files: Vec<WorkFile> = read
            .iter()
            .map(|(path, bytes)| WorkFile {
                path,
                bytes,
                committed: tree.get(*path).map(String::as_str),
                staged: staged.id(path),
            })
            .collect();
        for (file, compared) in files.iter().zip(objects.compare(&files, &settings, most, budget)?) {
            match compared {
                Comparison::Same => {}
                Comparison::Differs(bytes) => drop(changes.bytes.insert(file.path.to_owned(), bytes.into_owned())),
                Comparison::Undecided(reason) => changes.undecided.push((file.path.to_owned(), reason)),
            }
        }
    }
    for (path, bytes) in &changes.bytes {
        tree.insert(path.clone(), format!("{UNCOMMITTED}{}", blake3::hash(bytes).to_hex()));
    }
    Ok(changes)
}
