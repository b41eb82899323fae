//! Files that are not listed but decide what is: git's index, exclusions and settings, of the repository and of those in its tree.
//!
//! Owns which folders must be watched for them, and what an event means for them. Does not own which files they are (`scan`).

use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use crate::platform::paths::canonical;
use crate::scan::{self, Rules};

/// A link may lead to itself.
const MAX_FILES: usize = 20_000;

/// The files as the settings name them now, existing or not; `nested` are those of repositories in the tree. For a symbolic link
/// also the files that it leads to.
pub(super) fn current(root: &Path, rules: &Rules, nested: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut files = nested.clone();
    let mut new = [scan::git_rule_files(root, rules), nested.iter().cloned().collect()].concat();
    while let Some(file) = new.pop() {
        let target = fs::read_link(&file).ok().and_then(|target| Some(file.parent()?.join(target)));
        // A folder on the way may be a link, too.
        let real = target.is_none().then(|| canonical(&file).ok()).flatten();
        new.extend(target.into_iter().chain(real).filter(|target| !files.contains(target) && files.len() < MAX_FILES));
        files.insert(file);
    }
    files
}

/// The folders in which these files are, or would appear with folders that do not exist yet.
pub(super) fn folders(root: &Path, files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let existing = |file: &PathBuf| file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    // Whether it is a repository shows in there.
    let git = root.join(".git");
    files.iter().filter_map(existing).chain(git.is_dir().then_some(git)).filter(|folder| folder != root).collect()
}

/// Whether one of the files is at a path, and whether one is below it.
pub(super) fn at_and_below(files: &BTreeSet<PathBuf>, path: &Path) -> (bool, bool) {
    let mut after = files.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded));
    (files.contains(path), after.next().is_some_and(|file| file.starts_with(path)))
}
