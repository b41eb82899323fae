//! Files and folders that callers name, in one repository.
//!
//! Owns which folders callers may read from. Does not own how a path is checked: that is the resolver of `scan`.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::open_repository::Repository;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::printable;
use crate::scan::{Resolved, Resolver};
use crate::secrets;

/// A file that is read is held in memory; larger ones are rejected.
const MAX_READ: u64 = 256 << 20;
/// How much of a file is checked before another program opens it.
const MAX_CHECKED: u64 = 512 << 10;

/// Reads the files of one repository for callers.
pub struct Files {
    repository: Arc<Repository>,
    /// Library folders in which the type engine found Python code.
    python_folders: Mutex<Vec<PathBuf>>,
}

impl Files {
    pub(crate) fn new(repository: Arc<Repository>) -> Self {
        Self { repository, python_folders: Mutex::default() }
    }

    /// The path of a file as answers name it, and its bytes as answers show them: those on disk, with tokens masked if the
    /// settings say so. `path` is relative to the root or absolute.
    pub fn read(&self, path: &str) -> Result<(String, Vec<u8>)> {
        let (shown, mut bytes) = self.read_exactly(path)?;
        if self.masks_secrets() {
            secrets::mask(&mut bytes);
        }
        Ok((shown, bytes))
    }

    /// Whether tokens are masked in what is shown of a file.
    pub fn masks_secrets(&self) -> bool {
        self.repository.settings().config.index.mask_secrets
    }

    /// Reads a file like [`Self::read`], with nothing masked: for edits, which must match the file.
    pub fn read_exactly(&self, path: &str) -> Result<(String, Vec<u8>)> {
        let (resolver, resolved) = self.resolve(path)?;
        let shown = resolved.shown();
        let mut bytes = Vec::new();
        let read = resolved.open()?.take(MAX_READ + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", &resolved.absolute, error))?;
        if bytes.len() as u64 > MAX_READ {
            return Err(Error::invalid_argument(format!("{} is above {} MB", printable(&shown), MAX_READ >> 20))
                .hint("Read it with another program."));
        }
        resolver.check_content(&resolved, &bytes)?;
        Ok((shown, bytes))
    }

    /// The path of a readable file as answers name it, and its absolute path without links.
    pub fn locate(&self, path: &str) -> Result<(String, PathBuf)> {
        let (resolver, resolved) = self.resolve(path)?;
        let mut start = Vec::new();
        // A file that is longer than the longest key is not a secret as a whole.
        resolved
            .open()?
            .take(MAX_CHECKED)
            .read_to_end(&mut start)
            .map_err(|error| Error::io("read", &resolved.absolute, error))?;
        resolver.check_content(&resolved, &start)?;
        Ok((resolved.shown(), resolved.absolute))
    }

    /// The absolute path of a folder; `None` if the path is anything else.
    pub fn folder(&self, path: &str) -> Option<PathBuf> {
        self.resolve(path).ok().map(|(_, resolved)| resolved.absolute).filter(|absolute| absolute.is_dir())
    }

    /// Lets callers read the Python sources of these folders, in addition to the repository.
    pub fn admit_python(&self, folders: Vec<PathBuf>) {
        *locked(&self.python_folders) = folders;
    }

    fn resolve(&self, path: &str) -> Result<(Resolver, Resolved)> {
        let allow_secrets = !self.repository.settings().config.index.skip_secrets;
        let folders = self.repository.settings().folders.available();
        let resolver = Resolver::new(&self.repository.root)?.with_secrets(allow_secrets).with_folders(&folders);
        let resolver = resolver.with_python(&locked(&self.python_folders));
        let resolved = resolver.resolve(path).map_err(|error| {
            self.repository.settings().folders.gone_error(&self.repository.root, path).unwrap_or(error)
        })?;
        Ok((resolver, resolved))
    }

    /// The path in the index of a file or folder, as answers name it.
    pub fn indexed_path(&self, given: &str) -> Result<String> {
        let (_, resolved) = self.resolve(given)?;
        Ok(resolved.shown())
    }
}
