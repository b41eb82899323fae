//! The daemon as a [`Service`]: the tools, with metrics, and the controls that our own programs use.
//!
//! | control | params | answer |
//! |---|---|---|
//! | `ixmcp/about` | | `{proto, version, pid, root, restricted?}`; the only control of a restricted connection |
//! | `ixmcp/status` | | what `ixmcp daemon status` prints |
//! | `ixmcp/call` | `{tool, arguments, cap?, waits?, unlisted?}` | the tool's answer; waits: wait while the index is built; unlisted: do not list it among the recent calls |
//! | `ixmcp/view` | `{view, arguments, cap?}` | a view of the web page |
//! | `ixmcp/freshen` | | `{fresh}`: whether the index is up to date, for processes that read it themselves |
//! | `ixmcp/recent` | `{after?, wait_ms?}` | the calls that began or ended after that version; waits until there is one |
//! | `ixmcp/changes` | `{file?, stamp?, feed?, position?}` | what changed on disk since that answer; waits until something did |
//! | `ixmcp/sync` | `{thoroughness}` | what `ixmcp sync --json` prints |
//! | `ixmcp/stop` | | `{}`, then the daemon drains and ends |
//!
//! `call` and `sync` report progress if the request has a progress token.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::call_router::CallRouter;
use super::client::DaemonIdentity;
use super::disk_changes::{self, KnownState};
use super::meters::{self, Meters};
use super::recent::RecentCalls;
use super::service::{Service, ToolCard};
use super::status::{Status, TcpStatus};
use crate::budget::{self, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::repository::Thoroughness;
use crate::tools::{self, ClientScope, Declaration, Request};
use crate::update::{Freshness, IndexWait};
use crate::workspace::Workspace;

/// Identifies the daemon.
pub const ABOUT: &str = "ixmcp/about";

/// How long `ixmcp/recent` waits at most.
const MAX_WAIT: Duration = Duration::from_secs(60);

pub struct DaemonService {
    router: CallRouter,
    workspace: Arc<Workspace>,
    about: DaemonIdentity,
    started: Instant,
    meters: Meters,
    recent: Arc<RecentCalls>,
    clients: AtomicUsize,
    /// When the last client left.
    last_client: Mutex<Instant>,
    tcp: Mutex<Option<TcpStatus>>,
    socket: PathBuf,
    ending: watch::Sender<bool>,
}

impl DaemonService {
    pub fn new(router: CallRouter, workspace: Arc<Workspace>, about: DaemonIdentity, socket: PathBuf) -> Self {
        Self {
            router,
            workspace,
            about,
            started: Instant::now(),
            meters: Meters::default(),
            recent: Arc::default(),
            clients: AtomicUsize::new(0),
            last_client: Mutex::new(Instant::now()),
            tcp: Mutex::default(),
            socket,
            ending: watch::Sender::new(false),
        }
    }

    pub fn set_tcp_status(&self, tcp: TcpStatus) {
        *locked(&self.tcp) = Some(tcp);
    }

    /// Becomes true when all connections, and the daemon itself, should end.
    pub fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    pub fn end(&self) {
        self.ending.send_replace(true);
    }

    fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// How long no client has been connected.
    pub fn idle_time(&self) -> Duration {
        if self.clients() > 0 { Duration::ZERO } else { locked(&self.last_client).elapsed() }
    }

    /// Counts a client as connected until the returned value is dropped.
    pub fn client(self: &Arc<Self>) -> ConnectedClient {
        self.clients.fetch_add(1, Ordering::Relaxed);
        ConnectedClient(Arc::clone(self))
    }

    fn status(&self) -> Status {
        let (done, total) = self.workspace.progress().map_or((0, 0), |progress| progress.files());
        let pending = self.workspace.pending_changes() as u64;
        Status {
            running: true,
            about: self.about.clone(),
            uptime_seconds: self.started.elapsed().as_secs(),
            clients: self.clients().saturating_sub(1),
            requests: self.meters.by_tool(),
            pending_changes: pending.max(total.saturating_sub(done)),
            memory: meters::memory(),
            watch_mode: self.workspace.watch_mode().to_owned(),
            socket: self.socket.clone(),
            tcp: locked(&self.tcp).clone(),
        }
    }

    fn call_and_record(&self, tool: &'static Declaration, request: Request, way: &'static str) -> Result<Value> {
        let running = self.recent.begin(tool, &request.arguments, way);
        let answer = self.meters.counted(tool.name, || self.router.call_tool(tool, request));
        running.end(&answer);
        answer
    }

    fn control_call(&self, mut control: Request) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            tool: String,
            #[serde(default)]
            arguments: Value,
            cap: Option<usize>,
            #[serde(default)]
            waits: bool,
            #[serde(default)]
            patient: bool,
            #[serde(default)]
            unlisted: bool,
        }
        let Params { tool, arguments, cap, waits, patient, unlisted } = parse(&mut control)?;
        let declared = tools::find(&tool)?;
        if waits && declared.asks_index {
            let freshen = || self.workspace.freshen(Some(Duration::MAX), &control.budget);
            with_progress(&control, || self.workspace.progress().map(|progress| progress.files()), freshen)?;
        }
        let index_wait = if waits { IndexWait::TO_THE_END } else { control.index_wait };
        // The page reaches only its own repository.
        let scope = if unlisted { ClientScope::Repository } else { control.scope };
        let request = Request { tool, arguments, cap, index_wait, scope, is_patient: patient, ..control };
        if unlisted {
            self.router.call_tool(declared, request)
        } else {
            self.call_and_record(declared, request, "command")
        }
    }

    fn control_view(&self, mut control: Request) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            view: String,
            #[serde(default)]
            arguments: Value,
            cap: Option<usize>,
        }
        let Params { view, arguments, cap } = parse(&mut control)?;
        self.router.view(Request { tool: view, arguments, cap, root: self.about.root.clone(), ..control })
    }

    fn control_freshen(&self, control: &Request) -> Result<Value> {
        let freshness = self.workspace.freshen(Some(control.index_wait.partial_after), &control.budget);
        Ok(json!({ "fresh": matches!(freshness, Ok(Freshness::Fresh)) }))
    }

    fn control_recent(&self, mut control: Request) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            after: u64,
            #[serde(default)]
            wait_ms: u64,
        }
        let Params { after, wait_ms } = parse(&mut control)?;
        let wait = Duration::from_millis(wait_ms).min(MAX_WAIT);
        // A request for recent calls does not delay the end of the daemon.
        let is_over = || control.budget.is_spent() || *self.ending.borrow();
        let mut recent = self.recent.since(after, wait, is_over);
        recent["pid"] = json!(self.about.pid);
        Ok(recent)
    }

    fn control_changes(&self, mut control: Request) -> Result<Value> {
        let known: KnownState = parse(&mut control)?;
        let is_over = || control.budget.is_spent() || *self.ending.borrow();
        Ok(json!(disk_changes::wait(&self.workspace, &known, is_over)))
    }

    fn control_sync(&self, mut control: Request) -> Result<Value> {
        #[derive(Deserialize)]
        struct Params {
            thoroughness: String,
        }
        let params: Params = parse(&mut control)?;
        let thoroughness = Thoroughness::named(&params.thoroughness)
            .ok_or_else(|| Error::invalid_argument("thoroughness must be changed, verify or everything"))?;
        let progress = Arc::new(Progress::default());
        let work = || self.workspace.sync(thoroughness, &progress, &control.budget);
        let report = with_progress(&control, || Some(progress.files()), work)?;
        serde_json::to_value(report).map_err(|error| Error::internal("cannot serialize the report").caused_by(error))
    }
}

impl Service for DaemonService {
    fn tools(&self) -> Vec<ToolCard> {
        self.router.tools()
    }

    fn controls(&self) -> &'static [&'static str] {
        &[
            ABOUT,
            "ixmcp/status",
            "ixmcp/call",
            "ixmcp/view",
            "ixmcp/freshen",
            "ixmcp/recent",
            "ixmcp/changes",
            "ixmcp/sync",
            "ixmcp/stop",
        ]
    }

    fn call(&self, request: Request) -> Result<Value> {
        match request.tool.as_str() {
            ABOUT => {
                Ok(json!(DaemonIdentity { is_restricted: request.scope == ClientScope::Root, ..self.about.clone() }))
            }
            "ixmcp/status" => Ok(json!(self.status())),
            "ixmcp/call" => self.control_call(request),
            "ixmcp/view" => self.control_view(request),
            "ixmcp/freshen" => self.control_freshen(&request),
            "ixmcp/recent" => self.control_recent(request),
            "ixmcp/changes" => self.control_changes(request),
            "ixmcp/sync" => self.control_sync(request),
            "ixmcp/stop" => {
                self.end();
                Ok(json!({}))
            }
            _ => {
                // Only MCP limits the size of answers.
                let way = if request.cap.is_some() { "mcp" } else { "plain" };
                // Unknown names are not recorded, because they would fill the memory.
                self.call_and_record(tools::find(&request.tool)?, request, way)
            }
        }
    }
}

/// One connected client.
pub struct ConnectedClient(Arc<DaemonService>);

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        *locked(&self.0.last_client) = Instant::now();
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

fn parse<T: DeserializeOwned>(control: &mut Request) -> Result<T> {
    serde_json::from_value(control.arguments.take())
        .map_err(|error| Error::new(ErrorKind::InvalidArgument, error.to_string()))
}

/// Does `work` and reports its progress to the caller.
fn with_progress<T>(
    request: &Request,
    progress: impl Fn() -> Option<(u64, u64)> + Sync,
    work: impl FnOnce() -> T,
) -> T {
    match &request.on_progress {
        Some(on_progress) => budget::with_progress(&**on_progress, progress, work),
        None => work(),
    }
}
