//! Indexes of the sources of dependencies, in the user's cache folder.
//!
//! Owns `$XDG_CACHE_HOME/ixmcp/dependencies/`: one folder for each folder of sources, named by the hash of its path, with the
//! index, the path, and a file that is as old as the last use. Sources that several repositories depend on have one index.
//! Does not own what a repository depends on (`dependencies`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::lock::UpdateLock;
use super::root_hash::{bytes_in, hash_of, root_in};
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::own_folder;
use crate::platform::replace::{Durability, Permissions, replace};

const FOLDER: &str = "dependencies";
/// Holds the path of the sources.
const SOURCES: &str = "sources";
/// Its time of modification is that of the last use.
const USED: &str = "used";
/// The recorded time of the last use may be off by this much.
const RECENT: Duration = Duration::from_secs(600);
/// How long removal waits for a process that writes the index.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// An index of a dependency's sources.
#[derive(Debug)]
pub struct DependencyIndex {
    /// The folder of the sources.
    pub root: PathBuf,
    pub bytes: u64,
    folder: PathBuf,
    used: SystemTime,
}

fn base(environment: &Environment) -> Option<PathBuf> {
    Some(environment.cache_folder()?.join(FOLDER))
}

/// The folder of the index of the sources at `root`, if they are a dependency's.
pub(super) fn folder_of(root: &Path, environment: &Environment) -> Option<PathBuf> {
    let folder = base(environment)?.join(hash_of(root));
    (sources_of(&folder)? == root).then_some(folder)
}

/// The path in the folder of an index.
fn sources_of(folder: &Path) -> Option<PathBuf> {
    root_in(&folder.join(SOURCES), folder.file_name()?)
}

/// Makes `root`, without links, a dependency's sources: their index is in the cache folder from now on.
pub(crate) fn declare(root: &Path, environment: &Environment) -> Result<()> {
    let no_folder = || {
        Error::new(ErrorKind::ReadOnly, "there is no cache folder for the indexes of dependencies")
            .hint("Set HOME or XDG_CACHE_HOME.")
    };
    let text = root.to_str().ok_or_else(|| Error::invalid_path("the path of the sources is not UTF-8"))?;
    let base = base(environment).ok_or_else(no_folder)?;
    let folder = base.join(hash_of(root));
    let made = base.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        own_folder::create_private(&base)?;
        own_folder::create_private(&folder)?;
        if sources_of(&folder).is_none() {
            replace(&folder.join(SOURCES), text.as_bytes(), Permissions::Private, Durability::Unsynced)?;
        }
        touch(&folder)
    });
    made.map_err(|error| Error::io("make", &folder, error))
}

/// Notes that the index of the sources at `root` is used.
pub(crate) fn note_use(root: &Path, environment: &Environment) {
    if let Some(folder) = folder_of(root, environment)
        && used(&folder).elapsed().is_ok_and(|age| age > RECENT)
        && let Err(error) = touch(&folder)
    {
        tracing::debug!("{}: {error}", folder.display());
    }
}

fn touch(folder: &Path) -> std::io::Result<()> {
    replace(&folder.join(USED), b"", Permissions::Private, Durability::Unsynced)
}

fn used(folder: &Path) -> SystemTime {
    let modified = fs::symlink_metadata(folder.join(USED)).and_then(|data| data.modified());
    modified.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// All indexes of dependencies, the least recently used first.
pub fn dependency_indexes(environment: &Environment) -> Vec<DependencyIndex> {
    let folders = base(environment).and_then(|base| fs::read_dir(base).ok()).into_iter().flatten().flatten();
    let of_folder = |folder: PathBuf| {
        Some(DependencyIndex { root: sources_of(&folder)?, bytes: bytes_in(&folder), used: used(&folder), folder })
    };
    let mut indexes: Vec<_> = folders.filter_map(|entry| of_folder(entry.path())).collect();
    indexes.sort_by(|one, other| (one.used, &one.root).cmp(&(other.used, &other.root)));
    indexes
}

/// Removes indexes whose sources are gone, and then those that were least recently used until at most `limit` bytes are left;
/// none of `spared`. Returns how many were removed, and their bytes.
pub fn limit_dependency_indexes(
    environment: &Environment,
    limit: u64,
    spared: &BTreeSet<PathBuf>,
) -> Result<(usize, u64)> {
    let indexes = dependency_indexes(environment);
    let mut left: u64 = indexes.iter().map(|index| index.bytes).sum();
    let (mut removed, mut freed) = (0, 0);
    for index in indexes {
        let is_gone = !index.root.is_dir();
        let is_excess = left > limit && !spared.contains(&index.root);
        // A process that writes it keeps it.
        if !(is_gone || is_excess) || UpdateLock::take(&index.folder, &Budget::lasting(LOCK_TIMEOUT)).is_err() {
            continue;
        }
        fs::remove_dir_all(&index.folder).map_err(|error| Error::io("remove", &index.folder, error))?;
        left -= index.bytes;
        removed += 1;
        freed += index.bytes;
    }
    Ok((removed, freed))
}
