//! The daemon as a [`Service`]: the tools, counted, and the controls by which our own programs speak with it.
//!
//! | control | params | answer |
//! |---|---|---|
//! | `ixmcp/about` | | `{proto, version, pid, root}` |
//! | `ixmcp/status` | | what `ixmcp daemon status` prints |
//! | `ixmcp/call` | `{tool, arguments, cap?, patient?, unseen?}` | the tool's answer; patient: waits for an index that is built; unseen: not among the recent calls |
//! | `ixmcp/view` | `{view, arguments, cap?}` | what the page shows besides |
//! | `ixmcp/recent` | `{after?, wait_ms?}` | the calls that began or ended after that version, once there are any |
//! | `ixmcp/sync` | `{thoroughness}` | what `ixmcp sync --json` prints |
//! | `ixmcp/stop` | | `{}`, then the daemon drains and ends |
//!
//! `call` and `sync` tell progress when given a token.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::client::About;
use super::handover::Handover;
use super::meters::{self, Meters};
use super::recent::Recent;
use super::service::{CallContext, Service, ToolCard};
use crate::budget::{self, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::index::{Thoroughness, Workspace};
use crate::locked::locked;
use crate::tools;

/// How long one who waits for the next call is kept waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub struct Resident {
    handover: Handover,
    workspace: Arc<Workspace>,
    about: About,
    started: Instant,
    meters: Meters,
    recent: Arc<Recent>,
    clients: AtomicUsize,
    /// What became of the TCP port.
    tcp: Mutex<Value>,
    socket: PathBuf,
    ending: watch::Sender<bool>,
}

impl Resident {
    pub fn new(handover: Handover, workspace: Arc<Workspace>, about: About, socket: PathBuf) -> Self {
        Self {
            handover,
            workspace,
            about,
            started: Instant::now(),
            meters: Meters::default(),
            recent: Arc::default(),
            clients: AtomicUsize::new(0),
            tcp: Mutex::new(Value::Null),
            socket,
            ending: watch::Sender::new(false),
        }
    }

    pub fn say_tcp(&self, tcp: Value) {
        *locked(&self.tcp) = tcp;
    }

    /// Every connection, and the daemon itself, end when told so here.
    pub fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    pub fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// Counted as connected until what is returned is dropped.
    pub fn client(self: &Arc<Self>) -> Present {
        self.clients.fetch_add(1, Ordering::Relaxed);
        Present(Arc::clone(self))
    }

    fn status(&self) -> Value {
        let About { proto, version, pid, root } = &self.about;
        let (done, total) = self.workspace.progress().map_or((0, 0), |progress| progress.files());
        let noticed = self.workspace.pending_changes() as u64;
        json!({
            "running": true,
            "pid": pid,
            "version": version,
            "proto": proto,
            "root": root,
            "uptime_seconds": self.started.elapsed().as_secs(),
            // The one who asks is no client.
            "clients": self.clients().saturating_sub(1),
            "requests": self.meters.by_tool(),
            "pending_changes": noticed.max(total.saturating_sub(done)),
            "memory": meters::memory(),
            "watch_mode": self.workspace.watch_mode(),
            "socket": self.socket,
            "tcp": *locked(&self.tcp),
        })
    }

    fn counted(&self, name: &str, arguments: Value, call: CallContext, way: &'static str) -> Result<Value> {
        // Names that are none would fill the memory.
        if tools::find(name).is_err() {
            return self.handover.call(name, arguments, call);
        }
        let running = self.recent.begin(name, &arguments, way);
        let answer = self.meters.counted(name, || self.handover.call(name, arguments, call));
        running.end(&answer);
        answer
    }

    fn control_call(&self, params: Value, call: CallContext) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            tool: String,
            #[serde(default)]
            arguments: Value,
            #[serde(default)]
            cap: Option<usize>,
            #[serde(default)]
            patient: bool,
            #[serde(default)]
            unseen: bool,
        }
        let Params { tool, arguments, cap, patient, unseen } = parse(params)?;
        if patient && tools::find(&tool).is_ok_and(|tool| tool.asks_index) {
            let freshen = || self.workspace.freshen(Some(Duration::MAX), &call.budget);
            telling(&call, || self.workspace.progress().map(|progress| progress.bytes()), freshen)?;
        }
        let call = CallContext { cap, ..call };
        if unseen {
            return self.handover.call(&tool, arguments, call);
        }
        self.counted(&tool, arguments, call, "command")
    }

    fn control_view(&self, params: Value, call: CallContext) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            view: String,
            #[serde(default)]
            arguments: Value,
            #[serde(default)]
            cap: Option<usize>,
        }
        let Params { view, arguments, cap } = parse(params)?;
        self.handover.view(&view, arguments, CallContext { cap, root: self.about.root.clone(), ..call })
    }

    fn control_recent(&self, params: Value, call: &CallContext) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            after: u64,
            #[serde(default)]
            wait_ms: u64,
        }
        let Params { after, wait_ms } = parse(params)?;
        let wait = Duration::from_millis(wait_ms).min(LONGEST_WAIT);
        // A daemon that ends does not wait for its onlookers.
        let is_over = || call.budget.is_spent() || *self.ending.borrow();
        let mut recent = self.recent.since(after, wait, is_over);
        recent["pid"] = json!(self.about.pid);
        Ok(recent)
    }

    fn control_sync(&self, params: Value, call: &CallContext) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            thoroughness: String,
        }
        let params: Params = parse(params)?;
        let thoroughness = Thoroughness::named(&params.thoroughness)
            .ok_or_else(|| Error::invalid_argument("thoroughness is changed, verify or everything"))?;
        let progress = Arc::new(Progress::default());
        let work = || self.workspace.sync(thoroughness, &progress, &call.budget);
        let report = telling(call, || Some(progress.bytes()), work)?;
        serde_json::to_value(report).map_err(|error| Error::internal("a report cannot be rendered").caused_by(error))
    }
}

impl Service for Resident {
    fn tools(&self) -> Vec<ToolCard> {
        self.handover.tools()
    }

    fn controls(&self) -> &'static [&'static str] {
        &["ixmcp/about", "ixmcp/status", "ixmcp/call", "ixmcp/view", "ixmcp/recent", "ixmcp/sync", "ixmcp/stop"]
    }

    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        match name {
            "ixmcp/about" => Ok(json!(self.about)),
            "ixmcp/status" => Ok(self.status()),
            "ixmcp/call" => self.control_call(arguments, call),
            "ixmcp/view" => self.control_view(arguments, call),
            "ixmcp/recent" => self.control_recent(arguments, &call),
            "ixmcp/sync" => self.control_sync(arguments, &call),
            "ixmcp/stop" => {
                self.end();
                Ok(json!({}))
            }
            tool => {
                // Answers of MCP alone have a cap.
                let way = if call.cap.is_some() { "mcp" } else { "plain" };
                self.counted(tool, arguments, call, way)
            }
        }
    }
}

/// One connected client.
pub struct Present(Arc<Resident>);

impl Drop for Present {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T> {
    serde_json::from_value(params).map_err(|error| Error::new(ErrorKind::InvalidArgument, error.to_string()))
}

/// Does `work` while its caller is told how far it has come.
fn telling<T>(call: &CallContext, far: impl Fn() -> Option<(u64, u64)> + Sync, work: impl FnOnce() -> T) -> T {
    match call.progress.listener() {
        Some(listener) => budget::with_progress(&*listener, far, work),
        None => work(),
    }
}
