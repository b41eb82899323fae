//! Progress notifications of one call.
//!
//! Owns when one is sent: only when asked for, never faster than ten a second, never downwards, never after the reply.

use crate::locked::locked;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::framing::Outbox;

const APART: Duration = Duration::from_millis(100);

/// Given to a call; says nothing when its caller gave no token. Clones report for the same call.
#[derive(Clone, Default)]
pub struct Reporter(Option<Arc<Mutex<Ticks>>>);

struct Ticks {
    token: Value,
    /// Gone once the call is answered.
    outbox: Option<Outbox>,
    last: Option<(u64, Instant)>,
}

impl Reporter {
    /// `token` as the caller gave it: a string or a number.
    pub(super) fn new(token: Value, outbox: Outbox) -> Self {
        Self(Some(Arc::new(Mutex::new(Ticks { token, outbox: Some(outbox), last: None }))))
    }

    /// Whether anybody listens: counting for nobody can be spared.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// The same for those who know nothing of connections; none when nobody listens.
    pub fn listener(&self) -> Option<Arc<dyn Fn(u64, u64) + Send + Sync>> {
        let reporter = self.clone();
        self.is_wanted().then(|| -> Arc<dyn Fn(u64, u64) + Send + Sync> {
            Arc::new(move |done, total| reporter.report(done, Some(total), ""))
        })
    }

    /// `total` when it is known. A tick that comes too soon, or does not rise, is left out; so is one that finds
    /// the connection busy, because work never waits for those who watch it.
    pub fn report(&self, done: u64, total: Option<u64>, message: &str) {
        let Some(ticks) = &self.0 else { return };
        let mut ticks = locked(ticks);
        let Some(outbox) = &ticks.outbox else { return };
        let now = Instant::now();
        let due = ticks
            .last
            .is_none_or(|(before, at)| done > before && (now.duration_since(at) >= APART || Some(done) == total));
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

    /// No more ticks, not even from a clone that outlives the call.
    pub(super) fn close(&self) {
        if let Some(ticks) = &self.0 {
            locked(ticks).outbox = None;
        }
    }
}
