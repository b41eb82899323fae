//! The list of this user's repositories that have an index, for `ixmcp repos`.
//!
//! Owns `$XDG_STATE_HOME/ixmcp/repositories/`: one file for each repository, named by the hash of its root, that contains the
//! root. The list is a convenience: a repository that is not in it is searched like any other, and nothing is read because
//! it is in it. Roots that are not UTF-8 are not listed.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::elsewhere;
use super::root_hash::{bytes_in, hash_of, root_in};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::platform::files::{create_private_folder, is_own};
use crate::platform::replace::{Durability, Permissions, replace};

/// The folder of the list, in the user's state folder.
const FOLDER: &str = "repositories";

fn folder(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_folder()?.join(FOLDER))
}

/// Adds a repository. A state folder that cannot be written leaves the list incomplete.
pub(super) fn note(root: &Path, environment: &Environment) {
    let (Some(folder), Some(text)) = (folder(environment), root.to_str()) else { return };
    let file = folder.join(hash_of(root));
    if fs::symlink_metadata(&file).is_ok() {
        return;
    }
    let noted = folder.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        match create_private_folder(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        replace(&file, text.as_bytes(), Permissions::Private, Durability::Unsynced)
    });
    if let Err(error) = noted {
        tracing::debug!("{} is not listed: {error}", root.display());
    }
}

/// The listed repositories, by their roots, whether they exist or not.
pub fn listed(environment: &Environment) -> Vec<PathBuf> {
    let entries = folder(environment).and_then(|folder| fs::read_dir(folder).ok());
    let mut roots: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| root_in(&entry.path(), &entry.file_name()))
        .collect();
    roots.sort();
    roots
}

/// Removes a repository that is gone from the list, and the index that it had in the user's folders. Returns the bytes
/// that this frees.
pub fn forget(root: &Path, environment: &Environment) -> Result<u64> {
    let mut freed = 0;
    for folder in elsewhere(root, environment) {
        let Ok(found) = fs::symlink_metadata(&folder) else { continue };
        if found.is_dir() && is_own(&found) {
            freed += bytes_in(&folder);
            fs::remove_dir_all(&folder).map_err(|error| Error::io("remove", &folder, error))?;
        }
    }
    if let Some(folder) = folder(environment) {
        let file = folder.join(hash_of(root));
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &file, error));
            }
            _ => {}
        }
    }
    Ok(freed)
}
