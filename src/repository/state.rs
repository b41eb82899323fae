//! `state.toml` in the folder of the index: the user's selections for a repository, which every build reads.
//!
//! Owns the file, and the rule that the file of a clone gives no access: a folder outside the repository counts only if the
//! user's own state file, kept elsewhere, names it too.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::is_elsewhere;
use super::root_hash::hash_of;
use crate::config::{Environment, warn_once};
use crate::error::{Error, Result};
use crate::model::Stat;
use crate::platform::files;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::scan;

const FOLDER: &str = ".ixmcp";
const FILE: &str = "state.toml";
/// A larger file is not read.
const MAX_BYTES: u64 = 1 << 20;

/// The selections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct State {
    /// Folders that were indexed as documents, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<RegisteredFolder>,
    /// The selected model: its name, or the absolute path of its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A document folder with its options.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct RegisteredFolder {
    /// Relative to the repository, which itself is `.`; of one outside, absolute.
    pub path: String,
    /// In characters, like the overlap.
    pub chunk_size: usize,
    pub overlap: usize,
    pub max_files: usize,
    /// Lowercase extensions; absent: all readable types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_types: Option<Vec<String>>,
}

/// The user's own file about a repository.
#[derive(Debug, Default, Deserialize, Serialize)]
struct UserState {
    /// The repository, for users who read the file.
    root: PathBuf,
    #[serde(default)]
    folders: Vec<String>,
    /// A model that is selected by its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl RegisteredFolder {
    pub fn is_outside(&self) -> bool {
        self.path.starts_with('/')
    }
}

impl State {
    /// Changes when the content of the file changes; `None` if there is no file.
    pub fn stamp(folder: &Path) -> Option<Stat> {
        let found = fs::symlink_metadata(folder.join(FILE)).ok()?;
        // A change of its permissions does not change its content.
        Some(Stat { ctime_ns: 0, ..files::stat_of(&found) })
    }

    /// The part of the file that counts: nothing of a file that git tracks or that belongs to another user.
    pub fn load(root: &Path, folder: &Path, environment: &Environment) -> Self {
        let written = parsed::<Self>(&folder.join(FILE));
        written.map_or_else(Self::default, |state| state.that_counts(root, folder, environment))
    }

    /// Like [`Self::load`], to be changed and saved. A file that cannot be read is an error, so that it is not overwritten.
    pub fn to_change(root: &Path, folder: &Path, environment: &Environment) -> Result<Self> {
        let file = folder.join(FILE);
        match parsed::<Self>(&file) {
            Some(state) => Ok(state.that_counts(root, folder, environment)),
            None if fs::symlink_metadata(&file).is_ok() => {
                Err(Error::invalid_path(format!("{FOLDER}/{FILE} cannot be read, and is not overwritten"))
                    .hint(format!("Fix {FOLDER}/{FILE}, or remove it and select again.")))
            }
            None => Ok(Self::default()),
        }
    }

    fn that_counts(mut self, root: &Path, folder: &Path, environment: &Environment) -> Self {
        if !is_elsewhere(root, folder) && scan::tracks_under(root, FOLDER) {
            warn_once(format!("git tracks {FOLDER}/{FILE}: it is not read"));
            return Self::default();
        }
        let own = own_file(root, environment).and_then(|file| parsed::<UserState>(&file)).unwrap_or_default();
        self.folders.retain(|folder| {
            let counts = !folder.is_outside() || own.folders.contains(&folder.path);
            if !counts {
                warn_once(format!(
                    "{}: {FOLDER}/{FILE} names it, but you did not select it: it is not read",
                    folder.path
                ));
            }
            counts && folder.overlap < folder.chunk_size
        });
        self.model = self.model.filter(|model| {
            let counts = !model.starts_with('/') || own.model.as_ref() == Some(model);
            if !counts {
                warn_once(format!(
                    "{model}: {FOLDER}/{FILE} names this model, but you did not select it: it is not read"
                ));
            }
            counts
        });
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
        self.folders.dedup_by(|a, b| a.path == b.path);
        self
    }

    /// Saves the selections.
    pub fn save(&self, root: &Path, folder: &Path, environment: &Environment) -> Result<()> {
        let outside: Vec<String> =
            self.folders.iter().filter(|folder| folder.is_outside()).map(|folder| folder.path.clone()).collect();
        // The user's own file first: a process that reads in between sees the old state.
        if let Some(file) = own_file(root, environment) {
            let known = parsed::<UserState>(&file).unwrap_or_default();
            let model = self.model.clone().filter(|model| model.starts_with('/'));
            if known.folders != outside || known.model != model {
                write(&file, &UserState { root: root.to_owned(), folders: outside, model })?;
            }
        }
        write(&folder.join(FILE), self)
    }

    /// Removes a folder. Returns whether it was registered.
    pub fn remove(&mut self, path: &str) -> bool {
        let before = self.folders.len();
        self.folders.retain(|known| known.path != path);
        self.folders.len() < before
    }

    /// Adds a folder or changes its options. Returns whether anything changed.
    pub fn put(&mut self, folder: RegisteredFolder) -> bool {
        if self.folders.contains(&folder) {
            return false;
        }
        self.folders.retain(|known| known.path != folder.path);
        self.folders.push(folder);
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
        true
    }
}

/// `$XDG_STATE_HOME/ixmcp/<hash of root>.toml`.
fn own_file(root: &Path, environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_folder()?.join(format!("{}.toml", hash_of(root))))
}

/// The content of a regular file that belongs to this user.
fn parsed<T: for<'a> Deserialize<'a>>(file: &Path) -> Option<T> {
    let found = fs::symlink_metadata(file).ok()?;
    if !found.is_file() || !files::is_own(&found) || found.len() > MAX_BYTES {
        warn_once(format!("{} is not read: it is not a regular file of yours", file.display()));
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    match toml::from_str(&text) {
        Ok(state) => Some(state),
        Err(error) => {
            warn_once(format!("{} is not read: {}", file.display(), error.message()));
            None
        }
    }
}

fn write(file: &Path, state: &impl Serialize) -> Result<()> {
    let failed = |error| Error::io("write", file, error);
    let text = toml::to_string(state)
        .map_err(|error| Error::internal("the state cannot be written as TOML").caused_by(error))?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    replace(file, text.as_bytes(), Permissions::Private, Durability::Synced).map_err(failed)
}
