//! A call of a tool: the one value that passes from the transport to the tool.
//!
//! Owns what is known of the caller, and the limits on the work and the answer. Does not own how calls arrive.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::budget::Budget;
use crate::query::symbols::OtherFiles;
use crate::update::IndexWait;

#[derive(Clone)]
pub struct Request {
    /// The name of the tool.
    pub tool: String,
    pub arguments: Value,
    /// The caller's repository, unless the arguments name one.
    pub root: PathBuf,
    /// Which repositories the caller may name.
    pub scope: ClientScope,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH` of the caller.
    pub python: BTreeMap<String, String>,
    /// The maximum size of the answer as compact JSON, in bytes; `None` for the plain methods and the command line.
    pub cap: Option<usize>,
    /// The deadline, and whether the caller has cancelled.
    pub budget: Budget,
    /// Whether the caller has given the time that the call may take.
    pub has_timeout: bool,
    /// Whether a person waits, and can interrupt the call: it has no deadline that its arguments do not give.
    pub is_patient: bool,
    /// How long to wait for an index that is being built.
    pub index_wait: IndexWait,
    /// Receives progress, if the caller wants it.
    pub on_progress: Option<OnProgress>,
    /// Whether other repositories answer the same call, so that what an answer says if nothing is found is not needed.
    pub is_part: bool,
    /// Whether the index may lack files that do not contain what is asked for.
    pub other_files: OtherFiles,
    /// The process exits after this call, so nothing is prepared for later changes.
    pub is_last: bool,
}

/// Receives how much of the work is done, and the total.
pub type OnProgress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Which repositories a client may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientScope {
    /// Only files below the root of the connection's own repository, and its index.
    Root,
    /// Only the connection's own repository.
    Repository,
    /// Any repository of this user, and the controls.
    Machine,
}

impl Request {
    /// A call without limits by a process of this user that works in the folder `root`.
    pub fn new(tool: impl Into<String>, arguments: Value, root: PathBuf) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            root,
            scope: ClientScope::Machine,
            python: BTreeMap::new(),
            cap: None,
            budget: Budget::unlimited(),
            has_timeout: false,
            is_patient: false,
            index_wait: IndexWait::default(),
            on_progress: None,
            is_part: false,
            other_files: OtherFiles::Indexed,
            is_last: false,
        }
    }
}
