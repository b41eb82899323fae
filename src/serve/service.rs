//! What the transports need of the tools behind them: their cards, and the one way to call them.
//!
//! Owns the seam, not the tools: whoever has tools implements [`Service`] over them.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::Reach;
use super::hello::Hello;
use super::progress::Reporter;
use crate::budget::Budget;
use crate::error::Result;

/// The tools behind a door.
pub trait Service: Send + Sync + 'static {
    /// Every tool, in the order that lists show; the same for the life of the process.
    fn tools(&self) -> Vec<ToolCard>;

    /// Methods that are no tools and stand in no list, for doors of [`Reach::Machine`]: by these our own programs
    /// speak with each other.
    fn controls(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers one call, of a tool or a control. It may block: it runs on a thread of its own, and heeds the call's budget.
    ///
    /// `arguments` is always an object. The error is of kind `UnknownTool` only for a name that no tool has.
    fn call(&self, name: &str, arguments: Value, call: CallContext) -> Result<Value>;
}

/// A tool as lists show it.
#[derive(Clone, Debug)]
pub struct ToolCard {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Changes the index by its own words: refused at doors that only read.
    pub writes: bool,
    /// May run for minutes: it gets no deadline from the transport.
    pub long: bool,
    pub core: bool,
    /// A JSON Schema whose root is an object, as is the next.
    pub input_schema: Value,
    pub output_schema: Value,
}

/// Who asks, and how the answer may look.
#[derive(Clone)]
pub struct CallContext {
    /// The repository when the arguments name none.
    pub root: PathBuf,
    /// The most bytes of compact JSON that the answer may have; `None` on the plain methods.
    pub cap: Option<usize>,
    pub budget: Budget,
    /// Tells the caller how far the work has come, when asked to.
    pub progress: Reporter,
    pub reach: Reach,
    /// What the client said of itself when it connected.
    pub hello: Option<Arc<Hello>>,
}
