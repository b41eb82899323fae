//! Regular work of a watched workspace.
//!
//! Owns when it sweeps, in case events were lost, and when it gives memory back that is not used.

use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant};

use crate::locked::locked;
use crate::update::Updates;

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

/// Mirrors that release memory when they are not used. There may be hundreds, so one thread checks all of them.
static MIRRORS: Mutex<Vec<Weak<Updates>>> = Mutex::new(Vec::new());

/// Has a mirror give back memory and connections that are not used.
pub(super) fn release_memory_regularly(updates: Weak<Updates>) {
    let mut mirrors = locked(&MIRRORS);
    mirrors.push(updates);
    if mirrors.len() > 1 {
        return;
    }
    let spawned = std::thread::Builder::new().name("rest".to_owned()).spawn(|| {
        loop {
            std::thread::sleep(POLL);
            let mut mirrors = locked(&MIRRORS);
            mirrors.retain(|updates| updates.strong_count() > 0);
            if mirrors.is_empty() {
                return;
            }
            let current = mirrors.clone();
            drop(mirrors);
            current.iter().filter_map(Weak::upgrade).for_each(|updates| rest(&updates));
        }
    });
    if let Err(error) = spawned {
        mirrors.clear();
        tracing::warn!("mirrors keep their memory: {error}");
    }
}

/// Gives back memory and connections that were not used for a while.
fn rest(updates: &Updates) {
    if let Some(store) = updates.repository.opened() {
        store.rest_after(CLOSE_AFTER, IDLE_AFTER);
    }
    updates.model.unload_after(IDLE_AFTER);
}

/// Sweeps at intervals, because events can be lost without notice.
pub(super) fn sweep_regularly(updates: Weak<Updates>) {
    let spawned = std::thread::Builder::new().name("sweep".to_owned()).spawn(move || {
        let mut last = Instant::now();
        loop {
            std::thread::sleep(POLL);
            let Some(updates) = updates.upgrade() else { return };
            let Some(watch) = updates.repository.watch() else { return };
            rest(&updates);
            // Nothing in the work tree may show a commit.
            if updates.commits.has_moved() {
                updates.follow_history();
            }
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
