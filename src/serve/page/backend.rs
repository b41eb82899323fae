//! Answers the page's requests: by the repository's daemon if it runs, and otherwise in this process. Does not start a daemon.
//!
//! Owns which repository a request is about, its path, and its cancellation when the browser closes the connection. A page of
//! several repositories searches all of them, and shows the files and graphs of one at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::PageSettings;
use super::views;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::panics;
use crate::serve::MemberDaemons;
use crate::serve::client::{Compatibility, DaemonConnection};
use crate::serve::disk_changes::{self, KnownState};
use crate::serve::socket_path::SocketPath;
use crate::serve::{Hello, call_params};
use crate::tools::{Request, Tools};
use crate::wording::Argument;
use crate::workspace::Workspaces;

/// Bytes of an answer: more than the page shows at once, and little for a browser.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Characters of a name that an error shows.
const MAX_SHOWN: usize = 200;
/// The tool that a page of several repositories asks all of them.
const ASKED_OF_ALL: &str = "query";
/// The name of the wait for changes.
const CHANGES: &str = "changes";

pub struct Backend {
    pub root: PathBuf,
    /// The repositories that the page shows, as answers name them; empty if it shows one.
    pub repositories: Vec<String>,
    start: PathBuf,
    environment: Environment,
    workspaces: Arc<Workspaces>,
    tools: Arc<Tools>,
}

/// The repository that a request is about.
enum RequestTarget {
    All,
    /// The folder at this path.
    Folder(PathBuf),
    /// A published one, of this name. Each request checks again whether it may be read.
    Published(String),
}

/// A tool or view that the page calls.
#[derive(Clone, Copy)]
pub enum BackendRequest {
    Tool(&'static str),
    View(&'static str),
}

impl Backend {
    pub fn new(settings: PageSettings) -> Self {
        let PageSettings { root, repositories, start, environment, workspaces, .. } = settings;
        let daemons = MemberDaemons::new(environment.clone(), None);
        let tools = Arc::new(Tools::new(Arc::clone(&workspaces)).with_daemons(Arc::new(daemons)));
        Self { root, repositories, start, environment, workspaces, tools }
    }

    pub async fn call(&self, target: BackendRequest, mut arguments: Map<String, Value>) -> Result<Value> {
        let about = self.about(target, &mut arguments)?;
        let arguments = Value::Object(arguments);
        let daemon = match &about {
            RequestTarget::Folder(root) => self.daemon(root).await,
            _ => None,
        };
        if let Some(daemon) = daemon {
            let (method, params) = match target {
                BackendRequest::Tool(name) => {
                    let mut params = call_params(name, &arguments, Some(MAX_ANSWER_BYTES), false);
                    // The list of recent calls shows those of agents, not those of the page.
                    params.insert("unlisted".to_owned(), json!(true));
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
        let (tools, workspaces) = (Arc::clone(&self.tools), Arc::clone(&self.workspaces));
        let _cancel_on_drop = CancelOnDrop(request.budget.clone());
        let work = move || {
            panics::caught(|| {
                let mut members = match &about {
                    RequestTarget::Published(name) => {
                        Some(workspaces.members(std::slice::from_ref(name), &request.root, &request.budget)?)
                    }
                    _ => None,
                };
                let root = match (about, &mut members) {
                    (RequestTarget::Folder(root), _) => root,
                    (RequestTarget::Published(name), Some(members)) => {
                        members.only()?.ok_or_else(|| not_shown(&name))?
                    }
                    _ => request.root.clone(),
                };
                let request = Request { root, ..request };
                match target {
                    BackendRequest::Tool(_) => tools.call(request),
                    BackendRequest::View(_) => tools.call_tool(views::find(&request.tool)?, request, None),
                }
            })
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))
    }

    /// Waits for a change on disk. Nothing of a published repository changes on this disk.
    pub async fn changes(&self, mut known: Map<String, Value>) -> Result<Value> {
        let view = BackendRequest::View(CHANGES);
        let RequestTarget::Folder(root) = self.about(view, &mut known)? else {
            return Err(Error::not_found("the repository is not on this disk"));
        };
        if let Some(daemon) = self.daemon(&root).await
            && let Some(answer) = call_daemon(daemon, "ixmcp/changes", known.clone()).await
        {
            return answer.map(|answer| with_daemon(answer, true));
        }
        let known: KnownState =
            serde_json::from_value(Value::Object(known)).map_err(|error| Error::invalid_argument(error.to_string()))?;
        let (workspaces, budget) = (Arc::clone(&self.workspaces), Budget::unlimited());
        let _cancel_on_drop = CancelOnDrop(budget.clone());
        let work = move || {
            panics::caught(|| {
                let workspace = workspaces.of_root(&root)?;
                Ok(json!(disk_changes::wait(&workspace, &known, || budget.is_spent())))
            })
        };
        let answer = tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))?;
        Ok(with_daemon(answer, false))
    }

    /// Which repository a request is about. Takes `repo` from the arguments, or names all repositories in it.
    fn about(&self, target: BackendRequest, arguments: &mut Map<String, Value>) -> Result<RequestTarget> {
        if self.repositories.is_empty() {
            return match arguments.contains_key("repo") {
                true => Err(Error::invalid_argument((Argument("repo"), ": the page shows only one repository"))),
                false => Ok(RequestTarget::Folder(self.root.clone())),
            };
        }
        match arguments.remove("repo") {
            None if matches!(target, BackendRequest::Tool(ASKED_OF_ALL)) => {
                arguments.insert("repo".to_owned(), json!(self.repositories));
                Ok(RequestTarget::All)
            }
            None => Ok(RequestTarget::Folder(self.root.clone())),
            Some(named) => {
                let name = named.as_str().unwrap_or_default();
                match self.repositories.iter().find(|one| *one == name) {
                    Some(name) if Path::new(name).is_absolute() => Ok(RequestTarget::Folder(PathBuf::from(name))),
                    Some(name) => Ok(RequestTarget::Published(name.clone())),
                    None => Err(not_shown(name)),
                }
            }
        }
    }

    /// The daemon's answer to a control; `None` if no daemon runs.
    pub async fn control(&self, method: &'static str, params: Value) -> Option<Result<Value>> {
        call_daemon(self.daemon(&self.root).await?, method, object(params)).await
    }

    async fn daemon(&self, root: &Path) -> Option<DaemonConnection> {
        let path = SocketPath::find(root, &self.environment);
        let connected = DaemonConnection::connect(&path, &self.hello()).await;
        let daemon = connected.inspect_err(|error| tracing::warn!(%error, "the daemon is not used")).ok()??;
        (daemon.about.compatibility() == Compatibility::Usable).then_some(daemon)
    }

    fn hello(&self) -> Hello {
        Hello { env: self.environment.python(), ..Hello::ours(self.start.clone()) }
    }
}

fn not_shown(name: &str) -> Error {
    let name: String = printable(name).chars().take(MAX_SHOWN).collect();
    Error::invalid_argument((Argument("repo"), format!(": the page does not show {name:?}")))
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

fn with_daemon(mut answer: Value, has_daemon: bool) -> Value {
    answer["daemon"] = json!(has_daemon);
    answer
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
