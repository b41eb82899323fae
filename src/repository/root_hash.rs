//! Files and folders of the user that are named by the hash of a root.
//!
//! Owns the hash, and what is read of such a file or folder. Does not own which there are (`folder`, `dependency_indexes`, `registry`,
//! `state`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::platform::files::is_own;

/// The length of the name of a user's folder for a repository: a hash of the root.
const HASH_LENGTH: usize = 32;
/// No path has more bytes.
const MAX_PATH: u64 = 4096;

/// The name of a user's file or folder about the repository at `root`.
pub(super) fn hash_of(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    hash[..HASH_LENGTH].to_owned()
}

/// The path in a file about a repository or a dependency, if it is one whose hash is `name`.
pub(super) fn root_in(file: &Path, name: &OsStr) -> Option<PathBuf> {
    let found = fs::symlink_metadata(file).ok()?;
    if !found.is_file() || !is_own(&found) || found.len() > MAX_PATH {
        return None;
    }
    let root = PathBuf::from(fs::read_to_string(file).ok()?);
    (root.is_absolute() && name.to_str()? == hash_of(&root)).then_some(root)
}

/// The bytes of the files in a folder.
pub(super) fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}
