//! Provisional indexes: what a process that only asks answers from while another one builds the index, or updates much of it.
//!
//! Owns when such an index is made, where, and that it is removed. It holds what the answer needed, as if this process had begun the
//! first build itself; the files of the other process are left alone, and none of its locks is waited for. The other process
//! pauses meanwhile, within the bounds of pauses (`budget`). Does not own how an incomplete index answers (`unindexed`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::folder::{self, DATABASE};
use super::lock::{self, AskingLock};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::platform::own_folder;
use crate::store::{Mode, Store};

/// The folder of all provisional indexes, in the folder of the index.
const FOLDER: &str = "asking";
/// An update of another process that takes longer than this is not waited for.
const LONG_UPDATE: Duration = Duration::from_millis(300);

/// The place of a provisional index.
pub(super) struct Provisional {
    /// The database of the index that another process builds.
    pub home_database: PathBuf,
    folder: PathBuf,
    _asking: AskingLock,
}

impl Provisional {
    /// `None` unless another process builds the first index in `home`, or takes long to update it.
    pub(super) fn if_needed(home: &Path) -> Result<Option<Self>> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // A process that makes vectors and substrings builds, too, but the index answers already.
        let is_first_build = lock::is_being_built(home) && !is_built(&home.join(DATABASE));
        if !is_first_build && !lock::is_being_updated_for(LONG_UPDATE, home) {
            return Ok(None);
        }
        let all = home.join(FOLDER);
        // What processes left that were killed.
        let asking = AskingLock::take(home, || drop(folder::remove(&all)))?;
        let own = all.join(format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        folder::remove(&own)?;
        [&all, &own].into_iter().try_for_each(|folder| {
            own_folder::create_private(folder).map_err(|error| Error::io("make", folder, error))
        })?;
        Ok(Some(Self { home_database: home.join(DATABASE), folder: own, _asking: asking }))
    }

    pub(super) fn database(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }

    /// Removes it. What is open of it stays readable.
    pub(super) fn remove(&self) {
        // What stays is removed with the next one.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Provisional {
    fn drop(&mut self) {
        self.remove();
    }
}

fn is_built(database: &Path) -> bool {
    let built = || Store::open(database, Mode::Read)?.read(&Budget::unlimited(), |snapshot| snapshot.is_built());
    database.exists() && built().unwrap_or(false)
}
