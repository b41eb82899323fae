//! Answers the page's requests: by the repository's daemon if it runs, and otherwise in this process. Does not start a daemon.
//!
//! Owns the path of a request, and its cancellation when the browser closes the connection.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::budget::Budget;
use crate::config::Environment;
use crate::error::Result;
use crate::index::Workspaces;
use crate::panics;
use crate::serve::client::{Compatibility, DaemonConnection};
use crate::serve::socket_path::SocketPath;
use crate::serve::{Hello, call_params};
use crate::tools::{Request, Tools};

/// Bytes of an answer: more than the page shows at once, and little for a browser.
const MAX_ANSWER_BYTES: usize = 4 << 20;

pub struct Backend {
    pub root: PathBuf,
    start: PathBuf,
    environment: Environment,
    tools: Arc<Tools>,
}

/// What the page calls.
#[derive(Clone, Copy)]
pub enum BackendRequest {
    Tool(&'static str),
    View(&'static str),
}

impl Backend {
    pub fn new(root: PathBuf, start: PathBuf, environment: Environment, workspaces: Arc<Workspaces>) -> Self {
        Self { root, start, environment, tools: Arc::new(Tools::new(workspaces)) }
    }

    pub async fn call(&self, target: BackendRequest, arguments: Value) -> Result<Value> {
        if let Some(daemon) = self.daemon().await {
            let (method, params) = match target {
                BackendRequest::Tool(name) => {
                    let mut params = call_params(name, &arguments, Some(MAX_ANSWER_BYTES), false);
                    // The list of recent calls shows those of agents, not those of the page.
                    params.insert("unseen".to_owned(), json!(true));
                    ("ixmcp/call", params)
                }
                BackendRequest::View(name) => {
                    let params = json!({ "view": name, "arguments": &arguments, "cap": MAX_ANSWER_BYTES });
                    ("ixmcp/view", object(params))
                }
            };
            // If the daemon has ended, this process answers.
            if let Some(answer) = call_daemon(daemon, method, params).await {
                return answer;
            }
        }
        let (BackendRequest::Tool(name) | BackendRequest::View(name)) = target;
        let request = Request {
            python: self.environment.python(),
            cap: Some(MAX_ANSWER_BYTES),
            ..Request::new(name, arguments, self.root.clone())
        };
        let tools = Arc::clone(&self.tools);
        let _cancel_on_drop = CancelOnDrop(request.budget.clone());
        let work = move || {
            panics::caught(|| match target {
                BackendRequest::Tool(_) => tools.call(request),
                BackendRequest::View(_) => tools.view(request),
            })
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))
    }

    /// The daemon's answer to a control; `None` if no daemon runs.
    pub async fn control(&self, method: &'static str, params: Value) -> Option<Result<Value>> {
        call_daemon(self.daemon().await?, method, object(params)).await
    }

    async fn daemon(&self) -> Option<DaemonConnection> {
        let path = SocketPath::of(&self.root, &self.environment);
        let connected = DaemonConnection::connect(&path, &self.hello()).await;
        let daemon = connected.inspect_err(|error| tracing::warn!(%error, "the daemon is not used")).ok()??;
        (daemon.about.compatibility() == Compatibility::Usable).then_some(daemon)
    }

    fn hello(&self) -> Hello {
        Hello { env: self.environment.python(), ..Hello::ours(self.start.clone()) }
    }
}

/// Cancels the work when the future that waits for it is dropped.
struct CancelOnDrop(Budget);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The daemon's answer; `None` if it closed the connection. Dropping the future cancels the request.
async fn call_daemon(
    mut daemon: DaemonConnection,
    method: &'static str,
    params: Map<String, Value>,
) -> Option<Result<Value>> {
    let budget = Budget::unlimited();
    let _cancel_on_drop = CancelOnDrop(budget.clone());
    let call = tokio::spawn(async move { daemon.call(method, params, &budget, &|_| {}).await });
    call.await.ok()?.ok()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
