//! What an agent or a person can call: one file a tool, one row each in `TOOLS`.
//!
//! Owns the declarations, from which the MCP entry, the plain method, the CLI form and README's row come, and
//! the one way in: [`call`]. Does not own transports, nor the questions themselves: those are `query`'s.

mod arguments;
mod get_slice;
mod get_symbol;
mod list_files;
mod query;
mod render;
mod stats;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::index::{Workspace, Workspaces};

/// Every tool, in the order that lists show.
pub static TOOLS: &[&Declaration] =
    &[&query::QUERY, &get_slice::GET_SLICE, &get_symbol::GET_SYMBOL, &list_files::LIST_FILES, &stats::STATS];

/// Whether a tool changes the index by its own words. Keeping the index fresh is no write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A tool, as data.
pub struct Declaration {
    pub name: &'static str,
    pub title: &'static str,
    /// For a model: what it does and when to use it, an example, what to use instead. At most 400 characters.
    pub about: &'static str,
    pub access: Access,
    /// May run for minutes: answers `{status: "running", …}` after a while.
    pub long: bool,
    /// Shown by `--tools core`.
    pub core: bool,
    /// The field of the answer whose items may be left out to keep it small.
    pub list: Option<&'static str>,
    /// Arguments of a call that works on this project's own tree, as JSON.
    pub example: &'static str,
    input: fn() -> Value,
    output: fn() -> Value,
    run: fn(&Call, Value) -> Result<Value>,
}

/// Who asks: set by the door a call came through.
pub struct Caller {
    /// The connection's root: the repository when the arguments name none.
    pub root: PathBuf,
    /// The most bytes of compact JSON the answer may have; `None` on the plain methods and the command line.
    pub cap: Option<usize>,
    pub budget: Budget,
    /// How long to wait for an index that is being built before answering `BUSY`.
    pub patience: Option<std::time::Duration>,
}

/// One call at work.
struct Call<'a> {
    workspace: &'a Workspace,
    caller: &'a Caller,
}

/// Answers one call: finds the tool and the repository, checks the arguments, makes the index fresh, asks, renders.
///
/// The error is `UnknownTool` (a protocol fault) only for a name that no tool has and for arguments that are no object.
pub fn call(workspaces: &Workspaces, name: &str, arguments: Value, caller: &Caller) -> Result<Value> {
    let _ = (workspaces, arguments, caller);
    let _ = find(name)?;
    Err(Error::new(ErrorKind::Internal, "not wired"))
}

/// The tool of that name; else an error that names the nearest ones.
pub fn find(name: &str) -> Result<&'static Declaration> {
    TOOLS.iter().find(|tool| tool.name == name).copied().ok_or_else(|| {
        Error::new(ErrorKind::UnknownTool, format!("unknown tool {name:?}"))
    })
}

impl Declaration {
    /// JSON Schema of the arguments: an object, no references, nothing but what a client needs.
    pub fn input_schema(&self) -> Value {
        (self.input)()
    }

    pub fn output_schema(&self) -> Value {
        (self.output)()
    }
}
