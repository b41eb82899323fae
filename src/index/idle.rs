//! What a watched workspace does regularly.
//!
//! Owns when it sweeps, in case events were lost, and when it gives memory back that is not used.

use std::sync::Weak;
use std::time::{Duration, Instant};

use super::updates::Updates;

/// How often everything is compared although it is watched, and if the system has no more watches.
const SWEEP_EVERY: Duration = Duration::from_secs(300);
const SWEEP_EVERY_LIMITED: Duration = Duration::from_secs(30);
/// A workspace without calls closes its connections after this time: the pages that they map are most of a daemon's memory, and
/// mapping them again takes a millisecond.
const CLOSE_AFTER: Duration = Duration::from_secs(20);
/// A workspace without calls gives back the rest of its memory after this time.
const IDLE_AFTER: Duration = Duration::from_secs(60);
/// How soon a closed workspace is noticed.
const POLL: Duration = Duration::from_secs(5);

/// Sweeps at intervals, because events can be lost without notice.
pub(super) fn sweep_regularly(updates: Weak<Updates>) {
    let spawned = std::thread::Builder::new().name("sweep".to_owned()).spawn(move || {
        let mut last = Instant::now();
        loop {
            std::thread::sleep(POLL);
            let Some(updates) = updates.upgrade() else { return };
            let Some(watch) = updates.repository.watch() else { return };
            updates.repository.store.rest_after(CLOSE_AFTER, IDLE_AFTER);
            updates.model.unload_after(IDLE_AFTER);
            let every = if watch.is_limited() { SWEEP_EVERY_LIMITED } else { SWEEP_EVERY };
            if last.elapsed() < every {
                continue;
            }
            watch.ask_for_sweep();
            updates.catch_up("sweep");
            last = Instant::now();
        }
    });
    if let Err(error) = spawned {
        tracing::warn!("no sweeps in the background: {error}");
    }
}
