//! The recent and running calls of a daemon, which users can watch in the web page.
//!
//! Owns the ring buffer and its limits. It keeps truncated arguments, times, sizes and locations, but no file content.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::locked::locked;
use crate::panics;
use crate::tools::Declaration;

/// Calls that are kept: an afternoon of one agent, a few hundred kilobytes.
const MAX_CALLS: usize = 500;
/// Characters of one string argument.
const MAX_TEXT_CHARS: usize = 200;
/// Bytes of all arguments of a call.
const MAX_ARGUMENT_BYTES: usize = 800;
/// Locations of an answer that are kept.
const MAX_LOCATIONS: usize = 5;
/// The size of larger answers is not determined exactly, because that takes time.
const MAX_COUNTED_BYTES: usize = 1 << 20;
/// How often a waiting caller checks whether it should stop waiting.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct RecentCalls {
    ring: Mutex<Ring>,
    changed: Condvar,
}

#[derive(Default)]
struct Ring {
    /// The number of events: calls that began or ended.
    version: u64,
    calls: VecDeque<Entry>,
}

struct Entry {
    id: u64,
    version: u64,
    tool: String,
    way: &'static str,
    arguments: Map<String, Value>,
    begun_ms: u64,
    ended: Option<Ended>,
}

struct Ended {
    took: Duration,
    outcome: Value,
}

/// A running call. If it is dropped before its end, it has failed.
pub struct RunningCall {
    recent: Arc<RecentCalls>,
    id: u64,
    tool: &'static Declaration,
    begun: Instant,
    is_ended: bool,
}

impl RecentCalls {
    /// Records the start of a call. `way` is how it arrived, such as `mcp`.
    pub fn begin(self: &Arc<Self>, tool: &'static Declaration, arguments: &Value, way: &'static str) -> RunningCall {
        let arguments = cut_arguments(arguments);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut ring = self.ring();
        ring.version += 1;
        let id = ring.version;
        if ring.calls.len() == MAX_CALLS {
            ring.calls.pop_front();
        }
        ring.calls.push_back(Entry {
            id,
            version: id,
            tool: tool.name.to_owned(),
            way,
            arguments,
            begun_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            ended: None,
        });
        drop(ring);
        self.changed.notify_all();
        RunningCall { recent: Arc::clone(self), id, tool, begun: Instant::now(), is_ended: false }
    }

    /// The calls that began or ended after `version`, oldest first. Waits up to `wait` until there is one or `is_over`.
    pub fn since(&self, version: u64, wait: Duration, is_over: impl Fn() -> bool) -> Value {
        let end = Instant::now() + wait;
        let mut ring = self.ring();
        while ring.version <= version && Instant::now() < end && !is_over() {
            let pause = CHECK_INTERVAL.min(end.saturating_duration_since(Instant::now()));
            ring = self.changed.wait_timeout(ring, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        let calls: Vec<Value> = ring.calls.iter().filter(|call| call.version > version).map(Entry::to_json).collect();
        json!({ "version": ring.version, "kept": MAX_CALLS, "calls": calls })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        locked(&self.ring)
    }
}

impl RunningCall {
    pub fn end(mut self, answer: &Result<Value>) {
        let outcome = match answer {
            Ok(answer) => summary(self.tool, answer),
            Err(error) => fault(error),
        };
        self.settle(outcome);
    }

    fn settle(&mut self, outcome: Value) {
        self.is_ended = true;
        let ended = Ended { took: self.begun.elapsed(), outcome };
        let mut ring = self.recent.ring();
        ring.version += 1;
        let version = ring.version;
        // A call that took too long may have been removed already.
        if let Some(entry) = ring.calls.iter_mut().rev().find(|entry| entry.id == self.id) {
            entry.version = version;
            entry.ended = Some(ended);
        }
        drop(ring);
        self.recent.changed.notify_all();
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.is_ended {
            self.settle(fault(&panics::error(None)));
        }
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        let mut call = json!({
            "id": self.id,
            "tool": self.tool,
            "way": self.way,
            "arguments": self.arguments,
            "begun_ms": self.begun_ms,
        });
        if let Some(Ended { took, outcome }) = &self.ended {
            call["took_us"] = json!(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
            call["outcome"] = outcome.clone();
        }
        call
    }
}

fn fault(error: &Error) -> Value {
    json!({ "error": error.kind.name(), "message": cut(&error.message.to_string()) })
}

/// The size of an answer, and the locations of its first items.
fn summary(tool: &Declaration, answer: &Value) -> Value {
    let (bytes, is_exact) = size(answer);
    let mut summary = json!({ "bytes": bytes });
    if !is_exact {
        summary["more"] = json!(true);
    }
    for field in ["total", "truncated", "status", "stale"] {
        if let Some(value) = answer.get(field).filter(|value| !value.is_array() && !value.is_object()) {
            summary[field] = value.clone();
        }
    }
    let items = tool.list.and_then(|list| answer[list].as_array());
    if let Some(items) = items {
        summary["items"] = json!(items.len());
    }
    let locations: Vec<String> = match items {
        Some(items) => items.iter().filter_map(location).take(MAX_LOCATIONS).collect(),
        None => location(answer).into_iter().collect(),
    };
    if !locations.is_empty() {
        summary["places"] = json!(locations);
    }
    summary
}

/// The path of an item, with its line if it has one. Tools have different names for these fields.
fn location(item: &Value) -> Option<String> {
    if let Some(path) = item.as_str() {
        return Some(cut(path));
    }
    let named = |names: &[&str]| names.iter().find_map(|name| item.get(*name));
    let path = named(&["file_path", "filePath", "file", "path", "id"])?.as_str()?;
    match named(&["line", "start_line", "startLine"]).and_then(Value::as_u64) {
        Some(line) => Some(format!("{}:{line}", cut(path))),
        None => Some(cut(path)),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn cut_arguments(arguments: &Value) -> Map<String, Value> {
    let mut left = MAX_ARGUMENT_BYTES;
    let mut kept = Map::new();
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => Value::String(cut(text)),
            Value::Array(_) | Value::Object(_) => match size(value) {
                (bytes, true) if bytes <= MAX_TEXT_CHARS => value.clone(),
                _ => Value::String("…".to_owned()),
            },
            value => value.clone(),
        };
        let length = name.len() + size(&value).0;
        if length > left {
            kept.insert("…".to_owned(), Value::Bool(true));
            break;
        }
        left -= length;
        kept.insert(name.clone(), value);
    }
    kept
}

/// The size of the compact JSON in bytes, and whether that is exact or only the maximum that is counted.
fn size(value: &Value) -> (usize, bool) {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            if self.0 > MAX_COUNTED_BYTES { Err(std::io::Error::other("long")) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let is_exact = serde_json::to_writer(&mut count, value).is_ok();
    (count.0.min(MAX_COUNTED_BYTES), is_exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    fn tool(name: &str) -> &'static Declaration {
        tools::find(name).unwrap()
    }

    #[test]
    fn a_call_is_listed_while_it_runs_and_then_with_its_outcome() {
        let recent = Arc::new(RecentCalls::default());
        let running = recent.begin(tool("query"), &json!({ "text": "cart" }), "mcp");
        let seen = recent.since(0, Duration::ZERO, || false);
        assert_eq!(seen["calls"][0]["arguments"]["text"], "cart");
        assert!(seen["calls"][0].get("outcome").is_none());
        let answer = json!({ "results": [{ "file_path": "a.py", "line": 3, "preview": "secret" }], "total": 1 });
        running.end(&Ok(answer));
        let seen = recent.since(seen["version"].as_u64().unwrap(), Duration::ZERO, || false);
        let call = &seen["calls"][0];
        assert_eq!((&call["outcome"]["items"], &call["outcome"]["places"]), (&json!(1), &json!(["a.py:3"])));
        assert!(!seen.to_string().contains("secret"));
        assert_eq!(recent.since(seen["version"].as_u64().unwrap(), Duration::ZERO, || false)["calls"], json!([]));
    }

    #[test]
    fn a_failed_call_has_an_error_as_its_outcome() {
        let recent = Arc::new(RecentCalls::default());
        drop(recent.begin(tool("check"), &json!({}), "mcp"));
        assert_eq!(recent.since(0, Duration::ZERO, || false)["calls"][0]["outcome"]["error"], "INTERNAL");
        recent.begin(tool("query"), &json!({}), "mcp").end(&Err(Error::invalid_argument("argument `text` is empty")));
        assert_eq!(recent.since(2, Duration::ZERO, || false)["calls"][0]["outcome"]["error"], "INVALID_ARGUMENT");
    }

    #[test]
    fn many_long_arguments_take_little_memory() {
        let recent = Arc::new(RecentCalls::default());
        let long = "ü".repeat(1000);
        let arguments = json!({ "text": long, "include": vec![&long; 3], "a": long, "b": long, "c": long });
        let answer = Ok(json!({ "results": [&long], "x": vec![&long; 3] }));
        for _ in 0..2 * MAX_CALLS {
            recent.begin(tool("query"), &arguments, "plain").end(&answer);
        }
        let seen = recent.since(0, Duration::ZERO, || false);
        assert_eq!(seen["calls"].as_array().unwrap().len(), MAX_CALLS);
        assert!(seen.to_string().len() < MAX_CALLS * 3000, "{}", seen.to_string().len());
        recent
            .begin(tool("query"), &arguments, "plain")
            .end(&Ok(json!({ "results": ["a".repeat(2 * MAX_COUNTED_BYTES)] })));
        let seen = recent.since(seen["version"].as_u64().unwrap(), Duration::ZERO, || false);
        assert_eq!(seen["calls"][0]["outcome"]["more"], true);
    }

    #[test]
    fn a_waiting_caller_is_notified_immediately() {
        let recent = Arc::new(RecentCalls::default());
        let other = Arc::clone(&recent);
        let waiting = std::thread::spawn(move || other.since(0, Duration::from_secs(60), || false));
        recent.begin(tool("stats"), &json!({}), "mcp").end(&Ok(json!({})));
        assert_eq!(waiting.join().unwrap()["calls"][0]["tool"], "stats");
        let begun = Instant::now();
        recent.since(9, Duration::from_secs(60), || true);
        assert!(begun.elapsed() < Duration::from_secs(50), "a caller that is over does not wait");
    }
}
