//! Recognises bare git repositories, whose metadata is in the folder itself, possibly next to worktrees.
//!
//! Owns the list of metadata names. They are never listed or shown: `config` may contain passwords.

use std::ffi::OsStr;
use std::path::Path;

/// The entries by which git recognises a repository.
const MAKERS: &[&str] = &["HEAD", "objects", "refs"];

const METADATA: &[&str] = &[
    "HEAD",
    "objects",
    "refs",
    "config",
    "config.worktree",
    "description",
    "hooks",
    "info",
    "logs",
    "branches",
    "index",
    "packed-refs",
    "shallow",
    "worktrees",
    "modules",
    "lfs",
    "rr-cache",
    "reftable",
    "gc.log",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "COMMIT_EDITMSG",
];

/// Whether creating or removing an entry of this name may change what its parent folder is.
pub(super) fn makes_bare(name: &str) -> bool {
    MAKERS.contains(&name)
}

/// Whether the entry of this name in `folder` is metadata of a bare repository.
pub(super) fn is_metadata(folder: &Path, name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| METADATA.contains(&name)) && is_bare(folder)
}

/// Whether `path`, relative to `root`, is metadata of a bare repository or below it.
pub(super) fn holds(root: &Path, path: &Path) -> bool {
    let mut folder = root.to_path_buf();
    path.iter().any(|name| {
        let is_metadata = is_metadata(&folder, name);
        folder.push(name);
        is_metadata
    })
}

fn is_bare(folder: &Path) -> bool {
    let found = |name: &str| std::fs::symlink_metadata(folder.join(name));
    let is_folder = |name: &str| found(name).is_ok_and(|found| found.is_dir());
    found("HEAD").is_ok_and(|found| !found.is_dir()) && is_folder("objects") && is_folder("refs")
}
