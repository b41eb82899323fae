//! The folder of an index: `.ixmcp/` of the repository, or one of the user's where the repository cannot hold an index.
//!
//! Owns which folder it is, its creation, and the checks that keep an index from elsewhere out. Does not own the database in it
//! (`store`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::root_hash::hash_of;
use super::root_kind::RootKind;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::files::{self, is_own};
use crate::platform::own_folder;
use crate::scan;
use crate::store::Mode;

pub(crate) const FOLDER: &str = ".ixmcp";
pub(super) const DATABASE: &str = "index.db";
/// A lock file that exists in every index folder (see `lock`).
const LOCK: &str = "update.lock";
/// Why a folder cannot hold an index.
enum Unusable {
    /// Nothing can be written there, or locks do not work: another folder may do.
    Here(Error),
    /// No folder may be used instead.
    AtAll(Error),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::AtAll(error)
    }
}

impl From<Unusable> for Error {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Here(error) | Unusable::AtAll(error) => error,
        }
    }
}

/// The folder of the index of the repository at `root`, as it is now. Creates nothing.
pub(crate) fn located(root: &Path, environment: &Environment) -> PathBuf {
    if let Some(folder) = RootKind::find(root, environment).index_folder() {
        return folder.to_owned();
    }
    let own = root.join(FOLDER);
    let has_index = |folder: &PathBuf| folder.join(DATABASE).exists();
    if has_index(&own) && has_locks(&own) {
        return own;
    }
    elsewhere(root, environment).into_iter().find(has_index).unwrap_or(own)
}

/// The database of the repository at `root`, as [`located`] finds it.
pub(crate) fn database(root: &Path, environment: &Environment) -> PathBuf {
    located(root, environment).join(DATABASE)
}

/// Whether it is not in the repository.
pub(crate) fn is_elsewhere(root: &Path, folder: &Path) -> bool {
    folder != root.join(FOLDER)
}

/// Whether that database is the index, not one that is being built next to it.
pub(crate) fn is_index(database: &Path) -> bool {
    database.file_name().is_some_and(|name| name == DATABASE)
}

/// Creates the folder of the index, and returns the database in it and whether it can be written. An index that is part of a
/// clone is discarded.
///
/// A repository that cannot be written and has no index, or whose file system has no locks, has its index in the user's cache
/// folder, or else in the user's own temporary folder. That of a dependency's sources is always in the cache folder.
pub(crate) fn prepare(root: &Path, environment: &Environment) -> Result<(PathBuf, Mode)> {
    if let Some(folder) = RootKind::find(root, environment).index_folder() {
        prepare_private(folder, environment)?;
        return Ok((folder.join(DATABASE), Mode::Write));
    }
    let own = root.join(FOLDER);
    let refusal = match prepare_own(root, &own) {
        Err(Unusable::Here(refusal)) => refusal,
        prepared => return Ok((own.join(DATABASE), prepared?)),
    };
    for folder in elsewhere(root, environment) {
        match prepare_private(&folder, environment) {
            Ok(()) => {
                tracing::info!(folder = %folder.display(), "the index is not in the repository: {refusal}");
                return Ok((folder.join(DATABASE), Mode::Write));
            }
            Err(error) => tracing::debug!("{error}"),
        }
    }
    Err(refusal)
}

/// Creates the folder of an open index again, because it was removed.
pub(super) fn restore(root: &Path, folder: &Path, environment: &Environment) -> Result<()> {
    if is_elsewhere(root, folder) {
        prepare_private(folder, environment)
    } else {
        Ok(prepare_own(root, folder).map(drop)?)
    }
}

/// The folders that can be used instead of the repository's own: `$XDG_CACHE_HOME/ixmcp/HASH`, or one below the folder for
/// temporary files.
pub(super) fn elsewhere(root: &Path, environment: &Environment) -> Vec<PathBuf> {
    let hash = hash_of(root);
    let bases = environment.cache_folder().into_iter().chain([environment.own_temporary_folder()]);
    bases.map(|base| base.join(&hash)).collect()
}

fn prepare_own(root: &Path, folder: &Path) -> std::result::Result<Mode, Unusable> {
    let mut is_new = false;
    match fs::symlink_metadata(folder) {
        Ok(data) if !data.is_dir() => {
            return Err(Error::invalid_path(format!("{} is not a folder", folder.display()))
                .hint("Move it away: ixmcp keeps its index there.")
                .into());
        }
        Ok(data) => refuse_foreign(root, folder, &data)?,
        Err(_) => match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made.map_err(|error| unwritable(format!("cannot make {}: {error}", folder.display()), error))?;
                is_new = true;
            }
        },
    }
    remove_links(folder)?;
    if scan::tracks_under(root, FOLDER) {
        tracing::warn!(folder = %folder.display(), "git tracks files of the index: the index is rebuilt");
        discard(&folder.join(DATABASE))?;
    }
    match can_write(folder) {
        Ok(true) => {
            hide_from_git(folder);
            Ok(Mode::Write)
        }
        Ok(false) => {
            if is_new {
                let _ = fs::remove_dir(folder);
            }
            Err(Unusable::Here(without_locks(folder)))
        }
        Err(_) if folder.join(DATABASE).exists() && has_locks(folder) => Ok(Mode::Read),
        Err(error) => Err(unwritable(format!("there is no index, and {} cannot be written", folder.display()), error)),
    }
}

/// Keeps the index out of `git add -A`. The index works without it; on a full disk, a later update tries again.
pub(super) fn hide_from_git(folder: &Path) {
    if let Err(error) = own_folder::hide_from_git(folder) {
        tracing::debug!("git does not ignore {}: {error}", folder.display());
    }
}

/// Another folder helps where permissions or mounts prevent writing, not where a disk is full.
fn unwritable(message: String, error: io::Error) -> Unusable {
    let may_be_elsewhere = matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
    let error = Error::new(ErrorKind::ReadOnly, message)
        .hint(match error.kind() {
            io::ErrorKind::StorageFull => "The disk is full: free some space.",
            _ => {
                "Make the folder writable, set XDG_CACHE_HOME to a folder that can hold the index, or sync a copy of the \
                 repository."
            }
        })
        .caused_by(error);
    if may_be_elsewhere { Unusable::Here(error) } else { Unusable::AtAll(error) }
}

fn without_locks(folder: &Path) -> Error {
    Error::new(ErrorKind::ReadOnly, format!("{} is on a file system without locks", folder.display()))
        .hint("Set XDG_CACHE_HOME to a folder on a local disk: the index is created there.")
}

/// Creates a private folder of this user for the index of one repository, or accepts it.
fn prepare_private(folder: &Path, environment: &Environment) -> Result<()> {
    let failed = |path: &Path, error: io::Error| {
        Error::new(ErrorKind::ReadOnly, format!("cannot use {}: {error}", path.display())).caused_by(error)
    };
    let base = folder.parent().unwrap_or(folder);
    let cache = environment.cache_folder();
    if let Some(cache) = cache.as_deref().filter(|cache| *cache == base).and_then(Path::parent) {
        fs::create_dir_all(cache).map_err(|error| failed(cache, error))?;
    }
    for path in [base, folder] {
        own_folder::create_private(path).map_err(|error| failed(path, error))?;
    }
    remove_links(folder)?;
    if can_write(folder).map_err(|error| failed(folder, error))? { Ok(()) } else { Err(without_locks(folder)) }
}

/// Writing through a link would write outside. ixmcp creates no links, so each one is removed.
fn remove_links(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())) {
        let link = entry.path();
        tracing::warn!(link = %link.display(), "a file of the index is a symbolic link, which is removed");
        fs::remove_file(&link).map_err(|error| {
            Error::invalid_path(format!("{} is a symbolic link, and cannot be removed", link.display()))
                .hint("Remove it: ixmcp keeps its index there.")
                .caused_by(error)
        })?;
    }
    Ok(())
}

/// Removes a database with its log, and anything else with their names.
pub(crate) fn discard(database: &Path) -> Result<()> {
    ["", "-wal", "-shm"].into_iter().try_for_each(|suffix| remove(&with_suffix(database, suffix)))
}

/// Where an unusable database is kept.
pub(super) fn kept_aside(database: &Path) -> PathBuf {
    database.with_extension("db.bad")
}

/// Keeps an unusable database with its log, and replaces the one that was kept before. The file may also stay where it is, so
/// that there is always one until another is renamed to its name.
pub(crate) fn keep_aside(database: &Path) -> Result<()> {
    let kept = kept_aside(database);
    discard(&kept)?;
    for suffix in ["", "-wal"] {
        let (from, to) = (with_suffix(database, suffix), with_suffix(&kept, suffix));
        if suffix.is_empty() && fs::hard_link(&from, &to).is_ok() {
            continue;
        }
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("rename", &from, error));
            }
            _ => {}
        }
    }
    remove(&with_suffix(database, "-shm"))
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file or a folder, but never what a link leads to.
pub(super) fn remove(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|data| data.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Whether files can be locked there, or an error if none can be written. Writes one to find out, because it depends on
/// permissions, mounts and quotas.
fn can_write(folder: &Path) -> io::Result<bool> {
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    let made = fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&probe)?;
    let has_locks = files::can_be_locked(&made);
    // A file that cannot be removed does no harm.
    let _ = fs::remove_file(&probe);
    Ok(has_locks)
}

/// Whether files in an existing index folder can be locked, as far as can be seen without writing. The lock of the database
/// itself is not tried: closing the file would release the locks that this process holds on it.
fn has_locks(folder: &Path) -> bool {
    fs::File::open(folder.join(LOCK)).map_or(true, |file| files::can_be_locked(&file))
}

fn refuse_foreign(root: &Path, folder: &Path, data: &fs::Metadata) -> std::result::Result<(), Unusable> {
    if is_own(data) {
        return Ok(());
    }
    let error = Error::invalid_path(format!("{} belongs to another user", folder.display()))
        .hint("Remove it, or run ixmcp as the user who owns the repository.");
    // An administrator must not replace the index of another user's repository. One that only reads it needs an own index.
    let may_write = [root, folder].iter().any(|path| files::may_write(path));
    Err(if may_write { Unusable::AtAll(error) } else { Unusable::Here(error) })
}
