//! Opening a file below a folder without following links, and looking at what stands there.
//!
//! Windows opens nothing relative to an open folder in a way that the standard library has: each part is looked at before
//! the file is opened. Whoever may swap a folder for a link in between leads the opening elsewhere.

use std::fs::{self, File, OpenOptions};
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
        // A colon leads into another stream of the same file.
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

/// A folder in which names are looked up.
pub struct Folder(PathBuf);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() { Ok(Self(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// The folder `relative` below this one; its last part is no link.
    pub fn within(&self, relative: &str) -> io::Result<Self> {
        let path = self.0.join(relative);
        let found = fs::symlink_metadata(&path)?;
        if found.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// What stands in it under that name, as `files::stat_of` has it; of a link, the link's own.
    pub fn stat(&self, name: &str) -> io::Result<Stat> {
        Ok(stat_of(&fs::symlink_metadata(self.0.join(name))?))
    }
}
