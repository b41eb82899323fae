//! Progress notifications of one call.
//!
//! Owns when a notification is sent: only if the client requests them, at most ten per second, only if the number rises, and
//! never after the reply.

use crate::locked::locked;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::framing::Outbox;

const INTERVAL: Duration = Duration::from_millis(100);

/// Reports the progress of a call whose client sent a progress token. Clones report for the same call.
#[derive(Clone)]
pub struct ProgressReporter(Arc<Mutex<Ticks>>);

struct Ticks {
    token: Value,
    /// `None` once the call has been answered.
    outbox: Option<Outbox>,
    last: Option<(u64, Instant)>,
}

impl ProgressReporter {
    /// `token` is the client's: a string or a number.
    pub fn new(token: Value, outbox: Outbox) -> Self {
        Self(Arc::new(Mutex::new(Ticks { token, outbox: Some(outbox), last: None })))
    }

    /// Sends a notification unless it is too early, the number does not rise, or the connection is busy: work never waits
    /// for progress reports.
    pub fn report(&self, done: u64, total: u64) {
        let mut ticks = locked(&self.0);
        let Some(outbox) = &ticks.outbox else { return };
        let now = Instant::now();
        let due = ticks
            .last
            .is_none_or(|(before, at)| done > before && (now.duration_since(at) >= INTERVAL || done == total));
        if !due {
            return;
        }
        let params = json!({ "progressToken": ticks.token, "progress": done, "total": total });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        if outbox.try_send(line.to_string()) {
            ticks.last = Some((done, now));
        }
    }

    /// Stops all notifications, including those of clones that outlive the call.
    pub fn close(&self) {
        locked(&self.0).outbox = None;
    }
}
