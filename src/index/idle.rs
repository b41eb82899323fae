//! What a watched workspace does by itself now and then.
//!
//! Owns when: sweeps in case events were lost, and memory that is released when idle.

use std::sync::Weak;
use std::time::{Duration, Instant};

use super::Workspace;

/// How often everything is looked at although it is watched; and where watches ran out.
const SWEEP_EVERY: Duration = Duration::from_secs(300);
const SWEEP_EVERY_LIMITED: Duration = Duration::from_secs(30);
/// An idle workspace releases its memory after this.
const REST_AFTER: Duration = Duration::from_secs(60);
/// How soon a workspace that was closed is noticed by its sweeper.
const LOOK_FOR_SWEEP: Duration = Duration::from_secs(15);

/// Sweeps once in a while: events can be lost without a word.
pub(super) fn sweep_now_and_then(workspace: Weak<Workspace>) {
    let spawned = std::thread::Builder::new().name("sweep".to_owned()).spawn(move || {
        let mut last = Instant::now();
        loop {
            std::thread::sleep(LOOK_FOR_SWEEP);
            let Some(workspace) = workspace.upgrade() else { return };
            let Some(watch) = workspace.watch.get() else { return };
            workspace.store.rest_after(REST_AFTER);
            workspace.rest_model_after(REST_AFTER);
            let every = if watch.is_limited() { SWEEP_EVERY_LIMITED } else { SWEEP_EVERY };
            if last.elapsed() < every {
                continue;
            }
            watch.ask_for_sweep();
            if let Err(error) = workspace.catch_up() {
                tracing::warn!("a sweep failed: {error}");
            }
            last = Instant::now();
        }
    });
    if let Err(error) = spawned {
        tracing::warn!("no sweeps in the background: {error}");
    }
}
