//! A damaged index and the one that replaces it.
//!
//! Owns where the damaged file goes (one copy is kept, as `index.db.bad`), how often that may happen, and how answers report it.
//! Does not own what counts as damage: the store reports it as `CORRUPT_INDEX`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use super::folder;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::store::{Mode, Store};
use crate::wording::Command;

/// A file next to the index with the time of each repair, in seconds since 1970, one per line.
const RECORD: &str = "repairs";
/// Repairs within that time. A failing disk must not cause endless rebuilds.
const MOST: usize = 3;
const WITHIN_SECONDS: u64 = 3600;

/// The message about a repair, until an answer has reported it.
#[derive(Default)]
pub(crate) struct Repaired(Mutex<Option<String>>);

impl Repaired {
    pub(crate) fn note(&self, message: String) {
        *locked(&self.0) = Some(message);
    }

    /// The message about a repair, returned once.
    pub(super) fn take(&self) -> Option<String> {
        locked(&self.0).take()
    }
}

/// Opens the index for writing, or a new one if it cannot be used.
pub(super) fn open(database: &Path) -> Result<(Store, Repaired)> {
    match Store::open(database, Mode::Write) {
        // An existing index may still answer. If there is none, the first error is the one to report.
        Err(error) if error.kind == ErrorKind::ReadOnly => {
            let store = Store::open(database, Mode::Read).map_err(|_| error)?;
            Ok((store, Repaired::default()))
        }
        Err(error) if error.kind == ErrorKind::CorruptIndex && Store::is_of_another_build(database) => {
            tracing::warn!("{error}: it is built again");
            Store::make(database, || folder::discard(database))?;
            Ok((Store::open(database, Mode::Write)?, Repaired::default()))
        }
        Err(error) if error.kind == ErrorKind::CorruptIndex => {
            let said = replace(database, error)?;
            Ok((Store::open(database, Mode::Write)?, Repaired(Mutex::new(Some(said)))))
        }
        opened => Ok((opened?, Repaired::default())),
    }
}

/// Puts an empty index in place of a damaged one, which is kept, and returns the message about it. Fails if that was done too
/// often recently.
pub(crate) fn replace(database: &Path, damage: Error) -> Result<String> {
    let times = recent(database);
    if times.len() >= MOST {
        return Err(Error::new(
            ErrorKind::CorruptIndex,
            format!("{}; it was built again {MOST} times within the last hour", damage.message),
        )
        .hint(("Check whether the disk is failing, then run ", Command("rebuild"), "."))
        .caused_by(damage));
    }
    Store::make(database, || folder::keep_aside(database))?;
    record(database, times);
    let kept = folder::kept_aside(database);
    let said = format!(
        "The index was damaged and is built again; the damaged file is kept as {}. What was wrong: {}.",
        kept.display(),
        damage.message,
    );
    tracing::warn!("{said}");
    Ok(said)
}

/// Forgets earlier repairs, because a user has rebuilt the index.
pub(crate) fn forget(database: &Path) {
    // A record that stays costs a repair, no more.
    let _ = fs::remove_file(file(database));
}

fn file(database: &Path) -> PathBuf {
    database.with_file_name(RECORD)
}

/// The repairs of the last hour. A time in the future is from a clock that was wrong, and counts.
fn recent(database: &Path) -> Vec<u64> {
    let text = fs::read_to_string(file(database)).unwrap_or_default();
    let times = text.lines().filter_map(|line| line.parse().ok());
    times.filter(|time| now().saturating_sub(*time) < WITHIN_SECONDS).collect()
}

fn record(database: &Path, mut times: Vec<u64>) {
    times.push(now());
    let text: String = times.iter().map(|time| format!("{time}\n")).collect();
    // On a full disk nothing is written, and nothing can be built either.
    let _ = fs::write(file(database), text);
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
