//! Calls for another repository than the process's own go to that one's daemon: one process writes one database.
//!
//! Owns who answers a call. A daemon starts another's daemon when need be; any other process asks it if it runs and
//! else answers itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::client::Client;
use super::launch::Launcher;
use super::service::{CallContext, Service, ToolCard};
use super::{Reach, Registry};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Workspaces;
use crate::tools;

/// The registry, for calls of this process's repository, and the way to others.
pub struct Handover {
    registry: Registry,
    workspaces: Arc<Workspaces>,
    environment: Environment,
    /// The root that this process answers for; `None` before it could be told.
    own: Option<PathBuf>,
    /// How to start another's daemon; `None`: not at all.
    launcher: Option<Launcher>,
}

impl Handover {
    pub fn new(
        workspaces: Arc<Workspaces>,
        environment: Environment,
        own: Option<PathBuf>,
        launcher: Option<Launcher>,
    ) -> Self {
        Self { registry: Registry::new(Arc::clone(&workspaces)), workspaces, environment, own, launcher }
    }

    /// What the page shows besides the answers of tools: always of this process's own repository.
    pub fn view(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        self.registry.view(name, arguments, call)
    }

    fn other_daemon(&self, root: &Path, call: &CallContext) -> Option<Client> {
        if let Some(client) = Client::find(root, root, &self.environment) {
            return Some(client);
        }
        let started = self.launcher.as_ref()?.start(root);
        if let Err(error) = started {
            tracing::warn!(%error, "another repository's daemon cannot be started: its call is answered here");
            return None;
        }
        call.budget.check().ok()?;
        Client::find(root, root, &self.environment)
    }
}

impl Service for Handover {
    fn tools(&self) -> Vec<ToolCard> {
        self.registry.tools()
    }

    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        tools::find(name)?;
        let root = self.workspaces.root_of(arguments["repo"].as_str(), &call.root);
        let root = match (root, &self.own) {
            (Ok(root), Some(own)) if root != *own => root,
            // A root that cannot be is told by the call itself.
            _ => return self.registry.call(name, arguments, call),
        };
        if call.reach == Reach::Repository {
            return Err(Error::new(ErrorKind::InvalidPath, "over TCP only this daemon's own repository is served")
                .hint("Use that repository's socket, or `ixmcp mcp`."));
        }
        let Some(mut other) = self.other_daemon(&root, &call) else {
            return self.registry.call(name, arguments, call);
        };
        let given = asked(name, &arguments, call.cap, false);
        let tell = |far: super::client::HowFar| call.progress.report(far.done, Some(far.total), "");
        match other.ask("ixmcp/call", given, &call.budget, &tell) {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(ErrorKind::Busy, "the other repository's daemon ended before it answered")
                .hint("Send the call again.")),
        }
    }
}

/// The params of the control `ixmcp/call`: a tool by name, the cap of its answer, and whether to wait for an index
/// that is being built.
pub fn asked(tool: &str, arguments: &Value, cap: Option<usize>, patient: bool) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("tool".to_owned(), json!(tool));
    params.insert("arguments".to_owned(), arguments.clone());
    params.insert("patient".to_owned(), json!(patient));
    if let Some(cap) = cap {
        params.insert("cap".to_owned(), json!(cap));
    }
    params
}
