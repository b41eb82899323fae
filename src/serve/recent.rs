//! The calls that a daemon answered lately, and those at work: what a person sees of what agents ask.
//!
//! Owns the ring and its bounds. It keeps arguments (cut), times, sizes and places; never a file's content.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::locked::locked;
use crate::panics;
use crate::tools;

/// Calls that are kept: an afternoon of one agent, some hundred kilobytes.
const KEPT: usize = 500;
/// Of one text among the arguments, and of all together, in characters.
const TEXT: usize = 200;
const ARGUMENTS: usize = 800;
/// Places of an answer that are shown.
const PLACES: usize = 5;
/// Larger answers are not counted to their end: nobody shall wait for the count.
const COUNTED: usize = 1 << 20;
/// How soon one who waits notices that there is nothing to wait for any more.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct Recent {
    ring: Mutex<Ring>,
    changed: Condvar,
}

#[derive(Default)]
struct Ring {
    /// Counts what happened: calls begun and calls ended.
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

/// A call at work. Dropped before its end, it has failed.
pub struct Running {
    recent: Arc<Recent>,
    id: u64,
    tool: String,
    begun: Instant,
    is_ended: bool,
}

impl Recent {
    /// `way`: how the call came in, such as `mcp`.
    pub fn begin(self: &Arc<Self>, tool: &str, arguments: &Value, way: &'static str) -> Running {
        let arguments = cut_arguments(arguments);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut ring = self.ring();
        ring.version += 1;
        let id = ring.version;
        if ring.calls.len() == KEPT {
            ring.calls.pop_front();
        }
        ring.calls.push_back(Entry {
            id,
            version: id,
            tool: tool.to_owned(),
            way,
            arguments,
            begun_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            ended: None,
        });
        drop(ring);
        self.changed.notify_all();
        Running { recent: Arc::clone(self), id, tool: tool.to_owned(), begun: Instant::now(), is_ended: false }
    }

    /// What happened after `version`, oldest first; waits up to `wait` until something has, or until `is_over`.
    pub fn since(&self, version: u64, wait: Duration, is_over: impl Fn() -> bool) -> Value {
        let end = Instant::now() + wait;
        let mut ring = self.ring();
        while ring.version <= version && Instant::now() < end && !is_over() {
            let pause = LOOK.min(end.saturating_duration_since(Instant::now()));
            ring = self.changed.wait_timeout(ring, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        let calls: Vec<Value> = ring.calls.iter().filter(|call| call.version > version).map(Entry::shown).collect();
        json!({ "version": ring.version, "kept": KEPT, "calls": calls })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        locked(&self.ring)
    }
}

impl Running {
    pub fn end(mut self, answer: &Result<Value>) {
        let outcome = match answer {
            Ok(answer) => gist(&self.tool, answer),
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
        // One that took longer than the ring lasts is forgotten.
        if let Some(entry) = ring.calls.iter_mut().rev().find(|entry| entry.id == self.id) {
            entry.version = version;
            entry.ended = Some(ended);
        }
        drop(ring);
        self.recent.changed.notify_all();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_ended {
            self.settle(fault(&panics::error(None)));
        }
    }
}

impl Entry {
    fn shown(&self) -> Value {
        let mut shown = json!({
            "id": self.id,
            "tool": self.tool,
            "way": self.way,
            "arguments": self.arguments,
            "begun_ms": self.begun_ms,
        });
        if let Some(Ended { took, outcome }) = &self.ended {
            shown["took_us"] = json!(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
            shown["outcome"] = outcome.clone();
        }
        shown
    }
}

fn fault(error: &Error) -> Value {
    json!({ "error": error.kind.name(), "message": cut(&error.message) })
}

/// How much an answer holds, and where its first items stand.
fn gist(tool: &str, answer: &Value) -> Value {
    let (bytes, is_all) = size(answer);
    let mut gist = json!({ "bytes": bytes });
    if !is_all {
        gist["more"] = json!(true);
    }
    for field in ["total", "truncated", "status", "stale"] {
        if let Some(value) = answer.get(field).filter(|value| !value.is_array() && !value.is_object()) {
            gist[field] = value.clone();
        }
    }
    let list = tools::find(tool).ok().and_then(|tool| tool.list);
    let items = list.and_then(|list| answer[list].as_array());
    if let Some(items) = items {
        gist["items"] = json!(items.len());
    }
    let places: Vec<String> = match items {
        Some(items) => items.iter().filter_map(place).take(PLACES).collect(),
        None => place(answer).into_iter().collect(),
    };
    if !places.is_empty() {
        gist["places"] = json!(places);
    }
    gist
}

/// Where an item stands, by the names that answers have for it.
fn place(item: &Value) -> Option<String> {
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
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn cut_arguments(arguments: &Value) -> Map<String, Value> {
    let mut left = ARGUMENTS;
    let mut kept = Map::new();
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => Value::String(cut(text)),
            Value::Array(_) | Value::Object(_) => match size(value) {
                (bytes, true) if bytes <= TEXT => value.clone(),
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

/// Bytes of the compact JSON, and whether that is all of them.
fn size(value: &Value) -> (usize, bool) {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            if self.0 > COUNTED { Err(std::io::Error::other("long")) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let is_all = serde_json::to_writer(&mut count, value).is_ok();
    (count.0.min(COUNTED), is_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_at_work_and_then_with_what_it_got() {
        let recent = Arc::new(Recent::default());
        let running = recent.begin("query", &json!({ "text": "cart" }), "mcp");
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
    fn one_that_never_ends_well_is_told_so() {
        let recent = Arc::new(Recent::default());
        drop(recent.begin("check", &json!({}), "mcp"));
        assert_eq!(recent.since(0, Duration::ZERO, || false)["calls"][0]["outcome"]["error"], "INTERNAL");
        recent.begin("query", &json!({}), "mcp").end(&Err(Error::invalid_argument("argument `text` is empty")));
        assert_eq!(recent.since(2, Duration::ZERO, || false)["calls"][0]["outcome"]["error"], "INVALID_ARGUMENT");
    }

    #[test]
    fn a_flood_of_long_arguments_takes_little_room() {
        let recent = Arc::new(Recent::default());
        let long = "ü".repeat(1000);
        let arguments = json!({ "text": long, "include": vec![&long; 3], "a": long, "b": long, "c": long });
        let answer = Ok(json!({ "results": [&long], "x": vec![&long; 3] }));
        for _ in 0..2 * KEPT {
            recent.begin("query", &arguments, "plain").end(&answer);
        }
        let seen = recent.since(0, Duration::ZERO, || false);
        assert_eq!(seen["calls"].as_array().unwrap().len(), KEPT);
        assert!(seen.to_string().len() < KEPT * 3000, "{}", seen.to_string().len());
        recent.begin("query", &arguments, "plain").end(&Ok(json!({ "results": ["a".repeat(2 * COUNTED)] })));
        let seen = recent.since(seen["version"].as_u64().unwrap(), Duration::ZERO, || false);
        assert_eq!(seen["calls"][0]["outcome"]["more"], true);
    }

    #[test]
    fn who_waits_hears_at_once() {
        let recent = Arc::new(Recent::default());
        let other = Arc::clone(&recent);
        let waiting = std::thread::spawn(move || other.since(0, Duration::from_secs(60), || false));
        recent.begin("stats", &json!({}), "mcp").end(&Ok(json!({})));
        assert_eq!(waiting.join().unwrap()["calls"][0]["tool"], "stats");
        let begun = Instant::now();
        recent.since(9, Duration::from_secs(60), || true);
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody waits for what is over");
    }
}
