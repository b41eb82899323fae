//! Forwards calls for another repository to that repository's daemon, because only one process may write a database.
//!
//! Owns the choice of the process that answers a call. A call to several repositories is answered in this process. A
//! daemon starts the other repository's daemon if necessary. Any other process forwards the call if that daemon runs,
//! and otherwise answers it itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::client::{Client, RemoteProgress};
use super::launch::Launcher;
use super::member_daemons::MemberDaemons;
use super::page::views;
use super::service::{Service, ToolCard};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::git_objects;
use crate::tools::{self, Access, ClientScope, Declaration, Request, TOOLS, Tools};
use crate::wording::Command;
use crate::workspace::Workspaces;

/// The tools of this process, and the connections to other daemons.
pub struct CallRouter {
    tools: Tools,
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
        let daemons = MemberDaemons::new(environment.clone(), own.clone());
        let tools = Tools::new(Arc::clone(&workspaces)).with_daemons(Arc::new(daemons));
        Self { tools, workspaces, environment, own, launcher }
    }

    /// Answers a view of the web page, always for this process's own repository.
    pub fn view(&self, request: Request) -> Result<Value> {
        self.tools.call_tool(views::find(&request.tool)?, request, None)
    }

    /// The other worktree that a reading call is about, because an argument is a path in it.
    fn worktree_of_path(&self, tool: &Declaration, request: &Request) -> Option<PathBuf> {
        let arguments = request.arguments.as_object()?;
        let reads = tool.access == Access::Read;
        if request.scope != ClientScope::Machine || !reads || arguments.contains_key("repo") {
            return None;
        }
        tools::worktree_of_path(|| self.workspaces.root_of(None, &request.root), arguments)
    }

    /// Answers a call of a tool in this process, or by another daemon.
    pub fn call_tool(&self, tool: &'static Declaration, mut request: Request) -> Result<Value> {
        let here = |request, root| self.tools.call_tool(tool, request, root);
        // A process that starts no daemons serves the client that started it, in the same environment.
        if self.launcher.is_none() && request.python.is_empty() {
            request.python = self.environment.python();
        }
        if let Some(worktree) = self.worktree_of_path(tool, &request) {
            let arguments = request.arguments.as_object_mut();
            arguments.map(|arguments| arguments.insert("repo".to_owned(), json!(worktree)));
            let mut answer = self.call_tool(tool, request)?;
            tools::name_worktree(&mut answer, &worktree, || git_objects::branch(&worktree, &self.environment));
            return Ok(answer);
        }
        if request.scope == ClientScope::Root {
            let root = self.workspaces.root_of(None, &request.root)?;
            tools::check_paths_below(&root, &request.arguments)?;
        }
        // The call itself reports wrong names.
        let Ok(names) = tools::repositories(request.arguments.get("repo")) else { return here(request, None) };
        if self.workspaces.may_be_several(&names, &request.root) {
            if request.scope == ClientScope::Root {
                return Err(tools::outside("repo"));
            }
            return here(request, None);
        }
        let root = self.workspaces.root_of(names.first().map(String::as_str), &request.root);
        let root = match (root, &self.own) {
            (Ok(root), Some(own)) if root != *own => root,
            (Ok(root), _) => return here(request, Some(root)),
            // The call itself reports an invalid root.
            (Err(_), _) => return here(request, None),
        };
        match request.scope {
            ClientScope::Machine => {}
            ClientScope::Repository => {
                return Err(Error::new(ErrorKind::InvalidPath, "over TCP, the daemon serves only its own repository")
                    .hint(("Use that repository's socket, or ", Command("mcp"), ".")));
            }
            ClientScope::Root => return Err(tools::outside("repo")),
        }
        let Some(mut other) = self.other_daemon(&root, &request) else { return here(request, None) };
        let mut params = call_params(&request.tool, &request.arguments, request.cap, false);
        params.insert("patient".to_owned(), json!(request.is_patient));
        let report = |progress: RemoteProgress| {
            if let Some(on_progress) = &request.on_progress {
                on_progress(progress.done, progress.total);
            }
        };
        match other.call("ixmcp/call", params, &request.budget, &report) {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(ErrorKind::Busy, "the other repository's daemon exited before it answered")
                .hint("Send the call again.")),
        }
    }

    fn other_daemon(&self, root: &Path, request: &Request) -> Option<Client> {
        if let Some(client) = Client::find(root, root, &self.environment) {
            return Some(client);
        }
        let started = self.launcher.as_ref()?.start(root);
        if let Err(error) = started {
            tracing::warn!(%error, "cannot start another repository's daemon: its call is answered in this process");
            return None;
        }
        request.budget.check().ok()?;
        Client::find(root, root, &self.environment)
    }
}

impl Service for CallRouter {
    fn tools(&self) -> Vec<ToolCard> {
        TOOLS.iter().map(|tool| ToolCard::from(*tool)).collect()
    }

    fn call(&self, request: Request) -> Result<Value> {
        self.call_tool(tools::find(&request.tool)?, request)
    }
}

/// The params of the control `ixmcp/call`: a tool, its arguments, the maximum size of its answer, and whether to wait for an
/// index that is being built.
pub fn call_params(tool: &str, arguments: &Value, cap: Option<usize>, waits: bool) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("tool".to_owned(), json!(tool));
    params.insert("arguments".to_owned(), arguments.clone());
    params.insert("waits".to_owned(), json!(waits));
    if let Some(cap) = cap {
        params.insert("cap".to_owned(), json!(cap));
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, Sources};
    use crate::tools::counted;
    use crate::workspace::Watching;

    #[test]
    fn a_call_looks_up_its_tool_once_and_normalizes_its_arguments_once() {
        let folder = tempfile::tempdir().unwrap();
        let around = folder.path().canonicalize().unwrap();
        let root = around.join("shop");
        std::fs::create_dir_all(root.join(".ixchel")).unwrap();
        std::fs::write(root.join("a.py"), "def save():\n    pass\n").unwrap();
        let environment = Environment::new([], around.join("home"), root.clone());
        let sources = Sources { flags: Flags::default(), environment: environment.clone() };
        let workspaces = Arc::new(Workspaces::new(sources, Watching::No));
        let router = CallRouter::new(workspaces, environment, Some(root.clone()), None);
        for (tool, arguments) in [
            ("get_symbol", json!({ "symbol_name": "save" })),
            ("get_slice", json!({ "file_path": "a.py", "start_line": "1", "end_line": 1 })),
            ("list_files", json!({ "repo": root })),
            ("query", json!({ "text": "save", "repo": [root] })),
        ] {
            counted::take();
            let answer = router.call(Request::new(tool, arguments, root.clone()));
            assert!(answer.is_ok(), "{tool}: {answer:?}");
            assert_eq!(counted::take(), [1, 1], "{tool}");
        }
    }
}
