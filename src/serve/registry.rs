//! The registry of tools as a [`Service`], which the mux calls.

use std::sync::Arc;

use serde_json::Value;

use super::ClientScope;
use super::service::{CallContext, Service, ToolCard};
use crate::error::Result;
use crate::index::Workspaces;
use crate::tools::{self, Access, Caller, Jobs, TOOLS};

/// Every tool, over the repositories that this process serves.
pub struct Registry {
    workspaces: Arc<Workspaces>,
    jobs: Arc<Jobs>,
}

impl Registry {
    pub fn new(workspaces: Arc<Workspaces>) -> Self {
        Self { workspaces, jobs: Arc::default() }
    }

    /// Answers a view of the web page.
    pub fn view(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        tools::view(&self.workspaces, name, arguments, &self.caller(call))
    }

    fn caller(&self, call: CallContext) -> Caller {
        // A client that is limited to one repository must not direct the type engine to other folders.
        let hello = call.hello.filter(|_| call.scope == ClientScope::Machine);
        let python = hello.map(|hello| hello.env.clone()).unwrap_or_default();
        Caller {
            root: call.root,
            cap: call.cap,
            budget: call.budget,
            patience: None,
            python,
            tell: call.progress.listener(),
            jobs: Arc::clone(&self.jobs),
            is_last: false,
        }
    }
}

impl Service for Registry {
    fn tools(&self) -> Vec<ToolCard> {
        let card = |tool: &&tools::Declaration| ToolCard {
            name: tool.name,
            title: tool.title,
            about: tool.about,
            writes: tool.access == Access::Write,
            long: tool.long,
            core: tool.core,
            input_schema: tool.input_schema(),
            output_schema: tool.output_schema(),
        };
        TOOLS.iter().map(card).collect()
    }

    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value> {
        tools::call(&self.workspaces, name, arguments, &self.caller(call))
    }
}
