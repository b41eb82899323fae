//! The folder `.ixmcp/` of an index.
//!
//! Owns its creation, and the checks that keep an index from elsewhere out. Does not own the database in it (`store`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::platform::files::is_own;
use crate::scan;
use crate::store::Mode;

const FOLDER: &str = ".ixmcp";

pub(super) fn database(root: &Path) -> PathBuf {
    root.join(FOLDER).join("index.db")
}

/// Creates the folder, and returns whether the index can be written. An index that is part of a clone is discarded.
pub(super) fn prepare(root: &Path) -> Result<Mode> {
    let folder = root.join(FOLDER);
    match fs::symlink_metadata(&folder) {
        Ok(data) if !data.is_dir() => {
            return Err(Error::invalid_path(format!("{} is not a folder", folder.display()))
                .hint("Move it away: ixmcp keeps its index there."));
        }
        Ok(data) => refuse_foreign(&folder, &data)?,
        Err(_) => {
            if let Err(error) = fs::create_dir(&folder)
                && error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(Error::new(ErrorKind::ReadOnly, format!("cannot make {}: {error}", folder.display()))
                    .hint("Make the repository's folder writable, or use one that is.")
                    .caused_by(error));
            }
        }
    }
    remove_links(&folder)?;
    if scan::tracks_under(root, FOLDER) {
        tracing::warn!(folder = %folder.display(), "git tracks files of the index: the index is rebuilt");
        discard(&database(root))?;
    }
    let ignore = folder.join(".gitignore");
    if ignore.symlink_metadata().is_err() {
        // Where it cannot be written, the index cannot either, and the mode says so.
        let _ = fs::write(&ignore, "*\n");
    }
    let writable = database(root).symlink_metadata().map_or_else(|_| can_write(&folder), |_| can_write(&folder));
    match (writable, database(root).exists()) {
        (true, _) => Ok(Mode::Write),
        (false, true) => Ok(Mode::Read),
        (false, false) => Err(Error::new(
            ErrorKind::ReadOnly,
            format!("there is no index, and {} cannot be written", folder.display()),
        )
        .hint("Make the folder writable, or sync a copy of the repository.")),
    }
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
pub(super) fn discard(database: &Path) -> Result<()> {
    ["", "-wal", "-shm"].into_iter().try_for_each(|suffix| remove(&with_suffix(database, suffix)))
}

/// Where an unusable database is kept.
pub(super) fn kept_aside(database: &Path) -> PathBuf {
    database.with_extension("db.bad")
}

/// Keeps an unusable database with its log, and replaces the one that was kept before. The file may also stay where it is, so
/// that there is always one until another is renamed to its name.
pub(super) fn keep_aside(database: &Path) -> Result<()> {
    let kept = kept_aside(database);
    discard(&kept)?;
    for suffix in ["", "-wal"] {
        let (from, to) = (with_suffix(database, suffix), with_suffix(&kept, suffix));
        if suffix.is_empty() && fs::hard_link(&from, &to).is_ok() {
            continue;
        }
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
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
fn remove(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|data| data.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Writes a file to find out, because it depends on permissions, mounts and quotas.
fn can_write(folder: &Path) -> bool {
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    let made = fs::OpenOptions::new().write(true).create(true).truncate(true).open(&probe).is_ok();
    // A file that cannot be removed was not created.
    let _ = fs::remove_file(&probe);
    made
}

fn refuse_foreign(folder: &Path, data: &fs::Metadata) -> Result<()> {
    if is_own(data) {
        return Ok(());
    }
    // An administrator must not replace the index of another user's repository.
    Err(Error::invalid_path(format!("{} belongs to another user", folder.display()))
        .hint("Remove it, or run ixmcp as the user who owns the repository."))
}
