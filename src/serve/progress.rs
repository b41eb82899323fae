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

/// Reports the progress of a call, if its client sent a progress token. Clones report for the same call.
#[derive(Clone, Default)]
pub struct ProgressReporter(Option<Arc<Mutex<Ticks>>>);

struct Ticks {
    token: Value,
    /// `None` once the call has been answered.
    outbox: Option<Outbox>,
    last: Option<(u64, Instant)>,
}

impl ProgressReporter {
    /// `token` is the client's: a string or a number.
    pub(super) fn new(token: Value, outbox: Outbox) -> Self {
        Self(Some(Arc::new(Mutex::new(Ticks { token, outbox: Some(outbox), last: None }))))
    }

    /// Whether the client requested progress. If not, the work need not be counted.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// The reporter as a function, for modules that do not know connections; `None` if the client did not request progress.
    pub fn listener(&self) -> Option<Arc<dyn Fn(u64, u64) + Send + Sync>> {
        let reporter = self.clone();
        self.is_wanted().then(|| -> Arc<dyn Fn(u64, u64) + Send + Sync> {
            Arc::new(move |done, total| reporter.report(done, Some(total), ""))
        })
    }

    /// Sends a notification unless it is too early, the number does not rise, or the connection is busy: work never waits
    /// for progress reports.
    pub fn report(&self, done: u64, total: Option<u64>, message: &str) {
        let Some(ticks) = &self.0 else { return };
        let mut ticks = locked(ticks);
        let Some(outbox) = &ticks.outbox else { return };
        let now = Instant::now();
        let due = ticks
            .last
            .is_none_or(|(before, at)| done > before && (now.duration_since(at) >= INTERVAL || Some(done) == total));
        if !due {
            return;
        }
        let mut params = json!({ "progressToken": ticks.token, "progress": done });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        if !message.is_empty() {
            params["message"] = json!(message);
        }
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        if outbox.try_send(line.to_string()) {
            ticks.last = Some((done, now));
        }
    }

    /// Stops all notifications, including those of clones that outlive the call.
    pub(super) fn close(&self) {
        if let Some(ticks) = &self.0 {
            locked(ticks).outbox = None;
        }
    }
}
