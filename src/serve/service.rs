//! The interface between the transports and the tools: descriptions of tools, and how to call them.
//!
//! Owns the trait [`Service`], not the tools that implementations provide.

use serde_json::Value;

use crate::error::Result;
use crate::tools::{Access, Declaration, Request};

/// The tools that a server offers.
pub trait Service: Send + Sync + 'static {
    /// All tools, in the order of `tools/list`. They do not change while the process runs.
    fn tools(&self) -> Vec<ToolCard>;

    /// Methods that are not tools and are not listed. Our own programs use them; they require
    /// [`ClientScope::Machine`](super::ClientScope::Machine).
    fn controls(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers a call of a tool or a control. It may block, because it runs on its own thread; it must respect the budget.
    ///
    /// The arguments are always an object. An error has the kind `UnknownTool` only if no tool has that name.
    fn call(&self, request: Request) -> Result<Value>;
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
    /// The arguments in the order in which clients see them.
    pub argument_names: Vec<&'static str>,
    /// A JSON Schema whose root is an object.
    pub output_schema: Value,
}

impl From<&Declaration> for ToolCard {
    fn from(tool: &Declaration) -> Self {
        Self {
            name: tool.name,
            title: tool.title,
            about: tool.about,
            writes: tool.access == Access::Write,
            long: tool.long,
            core: tool.core,
            input_schema: tool.input_schema(),
            argument_names: tool.argument_names(),
            output_schema: tool.output_schema(),
        }
    }
}
