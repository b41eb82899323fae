//! Paths that callers give, and files read by them, on behalf of one repository.
//!
//! Owns the folders that the resolver accepts; `scan`'s resolver decides access.

use std::io::Read;
use std::path::PathBuf;

use super::{Workspace, locked};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::scan::{Resolved, Resolver};
use crate::secrets;

/// A file to be read in slices is held in memory whole; larger ones are refused.
const MAX_SLICED: u64 = 256 << 20;
/// What is read of a file before another program opens it.
const MAX_CHECKED: u64 = 512 << 10;

impl Workspace {
    /// The bytes of a file as answers show them, for a path as a caller gives it: relative to the root or absolute. They
    /// are those on disk, with tokens masked where the settings say so. Gives the path as answers name it, too.
    pub fn read_file(&self, path: &str) -> Result<(String, Vec<u8>)> {
        let (shown, mut bytes) = self.read_exactly(path)?;
        if self.masks_secrets() {
            secrets::mask(&mut bytes);
        }
        Ok((shown, bytes))
    }

    /// Whether tokens are masked in what is shown of a file.
    pub fn masks_secrets(&self) -> bool {
        self.settings().config.index.mask_secrets
    }

    /// As [`Self::read_file`], with nothing masked: for edits, which must fit the file.
    pub fn read_exactly(&self, path: &str) -> Result<(String, Vec<u8>)> {
        let (resolver, resolved) = self.resolve(path)?;
        let shown = resolved.shown();
        let mut bytes = Vec::new();
        let read = resolved.open()?.take(MAX_SLICED + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", &resolved.absolute, error))?;
        if bytes.len() as u64 > MAX_SLICED {
            return Err(Error::invalid_argument(format!("{} is above {} MB", printable(&shown), MAX_SLICED >> 20))
                .hint("Read it with another program."));
        }
        resolver.check_content(&resolved, &bytes)?;
        Ok((shown, bytes))
    }

    /// A readable file that a caller names: its path as answers name it, and its absolute path without links.
    pub fn locate(&self, path: &str) -> Result<(String, PathBuf)> {
        let (resolver, resolved) = self.resolve(path)?;
        let mut start = Vec::new();
        // A file that goes on after the longest key is not a secret as a whole.
        resolved
            .open()?
            .take(MAX_CHECKED)
            .read_to_end(&mut start)
            .map_err(|error| Error::io("read", &resolved.absolute, error))?;
        resolver.check_content(&resolved, &start)?;
        Ok((resolved.shown(), resolved.absolute))
    }

    /// The folder that a caller names, absolute; `None` when it is anything else.
    pub fn folder(&self, path: &str) -> Option<PathBuf> {
        self.resolve(path).ok().map(|(_, resolved)| resolved.absolute).filter(|absolute| absolute.is_dir())
    }

    /// Lets callers read the Python sources of these folders, besides the repository.
    pub fn admit_python(&self, folders: Vec<PathBuf>) {
        *locked(&self.python_folders) = folders;
    }

    fn resolve(&self, path: &str) -> Result<(Resolver, Resolved)> {
        let allow_secrets = !self.settings().config.index.skip_secrets;
        let folders = self.settings().folders.standing();
        let resolver = Resolver::new(&self.root)?.with_secrets(allow_secrets).with_folders(&folders);
        let resolver = resolver.with_python(&locked(&self.python_folders));
        let resolved = resolver.resolve(path).map_err(|error| self.gone_above(path).unwrap_or(error))?;
        Ok((resolver, resolved))
    }

    /// The path in the index of the indexed file or folder that a caller names, as answers name it.
    pub fn indexed_path(&self, given: &str) -> Result<String> {
        let (_, resolved) = self.resolve(given)?;
        Ok(resolved.shown())
    }

    /// Those of the folders that are indexed as documents, outside the repository, which are not there any more.
    pub fn gone_folders(&self) -> Vec<String> {
        self.settings().folders.gone().iter().map(|folder| folder.to_string_lossy().into_owned()).collect()
    }

    /// What to say of a path that leads to such a folder, or into one.
    pub(super) fn gone_above(&self, given: &str) -> Option<Error> {
        let named: PathBuf = self.root.join(given).components().collect();
        let folder = self.settings().folders.gone().into_iter().find(|folder| named.starts_with(folder))?;
        let what =
            format!("the indexed folder {} is gone, or a link leads there", printable(&folder.to_string_lossy()));
        Some(Error::invalid_path(what).hint("Put it back, or forget it with `ixmcp documents remove`."))
    }
}
