//! The interface between the transports and the tools: descriptions of tools, and how to call them.
//!
//! Owns the trait [`Service`], not the tools that implementations provide.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::ClientScope;
use super::hello::Hello;
use super::progress::ProgressReporter;
use crate::budget::Budget;
use crate::error::Result;

/// The tools that a server offers.
pub trait Service: Send + Sync + 'static {
    /// All tools, in the order of `tools/list`. They do not change while the process runs.
    fn tools(&self) -> Vec<ToolCard>;

    /// Methods that are not tools and are not listed. Our own programs use them; they require [`ClientScope::Machine`].
    fn controls(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers a call of a tool or a control. It may block, because it runs on its own thread; it must respect the budget.
    ///
    /// `arguments` is always an object. An error has the kind `UnknownTool` only if no tool has that name.
    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value>;
}

/// The description of a tool in `tools/list`.
#[derive(Clone, Debug)]
pub struct ToolCard {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Whether it writes. Such tools are refused on read-only connections.
    pub writes: bool,
    /// Whether it may run for minutes. Such tools have no deadline from the transport.
    pub long: bool,
    pub core: bool,
    /// A JSON Schema whose root is an object.
    pub input_schema: Value,
    /// A JSON Schema whose root is an object.
    pub output_schema: Value,
}

/// The caller of a tool, and the limits on the answer.
#[derive(Clone)]
pub struct CallContext {
    /// The repository, unless the arguments name one.
    pub root: PathBuf,
    /// The maximum size of the answer as compact JSON, in bytes; `None` for the plain methods.
    pub cap: Option<usize>,
    pub budget: Budget,
    /// Reports progress to the caller, if it requested that.
    pub progress: ProgressReporter,
    pub scope: ClientScope,
    /// The client's hello.
    pub hello: Option<Arc<Hello>>,
}
