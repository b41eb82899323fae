//! Forwards calls for another repository to that repository's daemon, because only one process may write a database.
//!
//! Owns the choice of the process that answers a call. A daemon starts the other repository's daemon if necessary. Any other
//! process forwards the call if that daemon runs, and otherwise answers it itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::client::Client;
use super::launch::Launcher;
use super::service::{CallContext, Service, ToolCard};
use super::{ClientScope, Registry};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Workspaces;
use crate::tools;

/// The registry for calls of this process's repository, and the connections to other daemons.
pub struct CallRouter {
    registry: Registry,
    workspaces: Arc<Workspaces>,
    environment: Environment,
    /// The root of this process's repository; `None` if it is unknown.
    own: Option<PathBuf>,
    /// Starts other daemons; `None` if this process must not.
    launcher: Option<Launcher>,
}

impl CallRouter {
    pub fn new(
        workspaces: Arc<Workspaces>,
        environment: Environment,
        own: Option<PathBuf>,
        launcher: Option<Launcher>,
    ) -> Self {
        Self { registry: Registry::new(Arc::clone(&workspaces)), workspaces, environment, own, launcher }
    }

    /// Answers a view of the web page, always for this process's own repository.
    pub fn view(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        self.registry.view(name, arguments, call)
    }

    fn other_daemon(&self, root: &Path, call: &CallContext) -> Option<Client> {
        if let Some(client) = Client::find(root, root, &self.environment) {
            return Some(client);
        }
        let started = self.launcher.as_ref()?.start(root);
        if let Err(error) = started {
            tracing::warn!(%error, "cannot start another repository's daemon: its call is answered in this process");
            return None;
        }
        call.budget.check().ok()?;
        Client::find(root, root, &self.environment)
    }
}

impl Service for CallRouter {
    fn tools(&self) -> Vec<ToolCard> {
        self.registry.tools()
    }

    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        tools::find(name)?;
        let root = self.workspaces.root_of(arguments["repo"].as_str(), &call.root);
        let root = match (root, &self.own) {
            (Ok(root), Some(own)) if root != *own => root,
            // The call itself reports an invalid root.
            _ => return self.registry.call(name, arguments, call),
        };
        if call.scope == ClientScope::Repository {
            return Err(Error::new(ErrorKind::InvalidPath, "over TCP, the daemon serves only its own repository")
                .hint("Use that repository's socket, or `ixmcp mcp`."));
        }
        let Some(mut other) = self.other_daemon(&root, &call) else {
            return self.registry.call(name, arguments, call);
        };
        let params = call_params(name, &arguments, call.cap, false);
        let report = |progress: super::client::RemoteProgress| {
            call.progress.report(progress.done, Some(progress.total), "");
        };
        match other.call("ixmcp/call", params, &call.budget, &report) {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(ErrorKind::Busy, "the other repository's daemon ended before it answered")
                .hint("Send the call again.")),
        }
    }
}

/// The params of the control `ixmcp/call`: a tool, its arguments, the maximum size of its answer, and whether to wait for an
/// index that is being built.
pub fn call_params(tool: &str, arguments: &Value, cap: Option<usize>, patient: bool) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("tool".to_owned(), json!(tool));
    params.insert("arguments".to_owned(), arguments.clone());
    params.insert("patient".to_owned(), json!(patient));
    if let Some(cap) = cap {
        params.insert("cap".to_owned(), json!(cap));
    }
    params
}
