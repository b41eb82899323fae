//! Opening files below a folder without following links, and reading their metadata.
//!
//! The standard library cannot open a file relative to an open folder on Windows, so each component is checked before
//! the file is opened. This is a race: a process that can swap a folder for a link in between redirects the open.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::files::{NO_LINK, stat_of};
use crate::model::Stat;

/// Opens the regular file `relative` below `root` for reading. No part of `relative` may be a link, a junction or `..`.
pub fn open_beneath(root: &Path, relative: &Path) -> io::Result<File> {
    let refused = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    let mut at = root.to_path_buf();
    for part in relative.components() {
        // A colon selects another stream of the same file.
        match part {
            Component::Normal(name) if !name.as_encoded_bytes().contains(&b':') => at.push(name),
            _ => return refused("not a plain relative path"),
        }
        if fs::symlink_metadata(&at)?.is_symlink() {
            return refused("a link is in the way");
        }
    }
    let file = OpenOptions::new().read(true).custom_flags(NO_LINK).open(&at)?;
    if file.metadata()?.is_file() { Ok(file) } else { refused("not a regular file") }
}

/// A folder for looking up names and opening files.
pub struct Folder(PathBuf);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() { Ok(Self(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Opens the regular file `relative` below this folder for reading, as [`open_beneath`] does.
    pub fn open_file(&self, relative: &Path) -> io::Result<(File, Metadata)> {
        let file = open_beneath(&self.0, relative)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// The folder `relative` below this one. Its last component must not be a link.
    pub fn within(&self, relative: &str) -> io::Result<Self> {
        let path = self.0.join(relative);
        let found = fs::symlink_metadata(&path)?;
        if found.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// The metadata of an entry, in the format of `files::stat_of`. Does not follow links.
    pub fn stat(&self, name: &str) -> io::Result<Stat> {
        Ok(stat_of(&fs::symlink_metadata(self.0.join(name))?))
    }
}
