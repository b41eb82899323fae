//! Whether the index of a mirror shows its files, without looking at them.
//!
//! Owns the comparison. Only `organisation` changes the files of a mirror. It then gives them another version, so that neither a
//! watch nor a sweep is needed.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::config::Environment;
use crate::locked::locked;
use crate::model::Stat;
use crate::organisation::version_of_mirror;
use crate::platform::files::stat_of;
use crate::store::FileIdentity;

/// A mirror, and what its index was made of last by this process.
pub(super) struct Mirrored {
    root: PathBuf,
    database: PathBuf,
    /// The settings of the user decide what is indexed, too.
    user_file: Option<PathBuf>,
    indexed: Mutex<Option<(Seen, FileIdentity)>>,
}

/// Version of a mirror and of the settings that its index was made from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    version: String,
    user_file: Option<Stat>,
}

impl Mirrored {
    pub(super) fn new(root: &Path, database: &Path, environment: &Environment) -> Self {
        let (root, database) = (root.to_owned(), database.to_owned());
        Self { root, database, user_file: environment.user_file(), indexed: Mutex::default() }
    }

    /// The current version; `None` while the files change.
    pub(super) fn seen(&self) -> Option<Seen> {
        let version = version_of_mirror(&self.root)?;
        let user_file = self.user_file.as_ref().and_then(|file| file.metadata().ok()).map(|data| stat_of(&data));
        Some(Seen { version, user_file })
    }

    /// Records that the index shows what was seen before it was brought up to date.
    pub(super) fn note_indexed(&self, seen: Option<Seen>) {
        *locked(&self.indexed) = seen.zip(FileIdentity::read(&self.database).ok());
    }

    /// Whether the index shows what there is now.
    pub(super) fn is_indexed(&self) -> bool {
        let indexed = locked(&self.indexed);
        // Another process may replace a damaged index.
        indexed.is_some() && *indexed == self.seen().zip(FileIdentity::read(&self.database).ok())
    }
}
