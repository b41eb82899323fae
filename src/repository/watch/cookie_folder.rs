//! The folder of cookies, in the folder of the index.
//!
//! Owns its name, and which cookies are left from processes that were killed. Does not own what a cookie means (`watch`).

use std::fs;
use std::io::ErrorKind::AlreadyExists;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};

/// It has no other files, because the database next to it is written all the time.
const NAME: &str = "watch";
/// No process waits for a cookie of this age any more.
const OLD_COOKIE: Duration = Duration::from_secs(60);

/// The path of the cookie folder, below the folder of the index.
pub(super) fn of_index(index: &Path) -> PathBuf {
    index.join(NAME)
}

/// Makes the folder, and removes the cookies of processes that were killed.
pub(super) fn prepare(folder: &Path) -> Result<()> {
    // Only inside an existing index folder: the repository may be in the middle of its removal.
    match fs::create_dir(folder) {
        Err(error) if error.kind() != AlreadyExists => return Err(Error::io("make", folder, error)),
        _ => {}
    }
    // Other processes may be waiting for theirs, so the folder stays.
    let is_old = |entry: &fs::DirEntry| {
        let made = entry.metadata().and_then(|data| data.modified());
        made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > OLD_COOKIE))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        let _ = fs::remove_file(entry.path());
    }
    Ok(())
}
