//! Waiting for events: what a test has begun elsewhere, in another process or thread, has come so far.

use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::store::Fact;
use ixmcp::workspace::Workspace;

use crate::support::sound::sync;

/// Generous: nothing waits for it unless something is broken.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until it holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LIMIT, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process has ended.
pub fn has_ended(process: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

/// Brings the index to where the next sync compares times and walks no more: times that are too young cannot tell a later
/// change from an earlier.
pub fn settle(workspace: &Workspace) {
    let compares = |text: String| !text.is_empty();
    until("the next sync compares times", || {
        sync(workspace);
        let known = workspace.read(&Budget::unlimited(), |snapshot| snapshot.fact(Fact::ListingFingerprint));
        known.unwrap().is_some_and(compares)
    });
}
