//! The files that setup changes: finding, reading and writing them.
//!
//! Owns the guarantee that nothing is lost: a file is replaced as a whole, and only if it has not changed since it was
//! read. Does not own what is written into it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Scope;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::paths::canonical;
use crate::platform::replace::{remove_unchanged, replace_unchanged};

/// Settings are a page or two; Claude Code keeps more in its file.
const MAX_BYTES: u64 = 16 << 20;

/// One change of a file.
pub(super) struct Edit {
    pub file: PathBuf,
    /// `None`: there is no file.
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Edit {
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Writes the file, or deletes it. Returns whether the file still was as it had been read; if not, nothing is done.
    pub fn write(&self) -> Result<bool> {
        let failed = |error| Error::io("write", &self.file, error);
        if fs::metadata(&self.file).is_ok_and(|data| data.permissions().readonly()) {
            return Err(Error::new(ErrorKind::ReadOnly, format!("{} is read-only", shown(&self.file)))
                .hint("Make it writable, or add the entry by hand: see --print."));
        }
        let before = self.before.as_ref().map(String::as_bytes);
        match (&self.after, before) {
            (Some(after), before) => {
                fs::create_dir_all(self.file.parent().unwrap_or(Path::new("."))).map_err(failed)?;
                replace_unchanged(&self.file, before, after.as_bytes()).map_err(failed)
            }
            (None, Some(before)) => remove_unchanged(&self.file, before).map_err(failed),
            (None, None) => Ok(true),
        }
    }

    /// Folders that a write creates, the innermost first.
    pub fn missing_folders(&self) -> Vec<PathBuf> {
        let folders = self.file.ancestors().skip(1);
        folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
    }
}

/// The file behind links. Users keep their own settings elsewhere and link them; a project's that lie elsewhere are not
/// the project's.
pub(super) fn real(file: &Path, scope: Scope, root: &Path) -> Result<PathBuf> {
    let exists = file.symlink_metadata().is_ok();
    let anchor = if exists { Some(file) } else { file.ancestors().skip(1).find(|folder| folder.exists()) };
    let Some(resolved) = anchor.and_then(|anchor| canonical(anchor).ok()) else {
        return Err(Error::invalid_path(format!("{} is a broken link", shown(file))).hint("Remove it."));
    };
    if scope == Scope::Project && file.starts_with(root) && !resolved.starts_with(root) {
        return Err(Error::invalid_path(format!("{} links to a file outside the project", shown(file)))
            .hint("Use --scope user, or make it a file of the project."));
    }
    Ok(if exists { resolved } else { file.to_owned() })
}

/// `None`: there is no file.
pub(super) fn read(file: &Path) -> Result<Option<String>> {
    let problem = match fs::metadata(file) {
        Ok(data) if !data.is_file() => Some("is not a file"),
        Ok(data) if data.len() > MAX_BYTES => Some("is larger than 16 MiB"),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(Error::invalid_path(format!("{} {problem}", shown(file))).hint("Move it away."));
    }
    let bytes = bytes(file).map_err(|error| Error::io("read", file, error))?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| {
        Error::invalid_argument(format!("{} is not UTF-8", shown(file))).hint("Add the entry by hand: see --print.")
    })
}

fn bytes(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn shown(file: &Path) -> String {
    printable(&file.to_string_lossy())
}
