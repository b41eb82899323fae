//! The messages between this program and the child process that runs its type engine.
//!
//! Owns their shapes: one JSON object per line. Both ends are the same program; the child's first line states its
//! version.

use serde::{Deserialize, Serialize};

use super::values::{Answer, Changes, Query};
use crate::error::Fault;

/// Sent to the engine. Lines are processed in order: a query is answered as of the changes before it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    Ask {
        id: u64,
        query: Query,
    },
    Cancel {
        id: u64,
    },
    Apply {
        changes: Changes,
    },
    /// Files that crashed an engine (absolute paths): treat them as modules without any known types.
    Quarantine {
        files: Vec<String>,
    },
}

/// From the engine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    Ready {
        version: String,
    },
    /// Library folders that answers depend on. They are outside what the parent watches.
    Libraries {
        folders: Vec<String>,
    },
    Done {
        id: u64,
        answer: Answer,
    },
    Failed {
        id: u64,
        fault: Fault,
    },
    Progress {
        id: u64,
        done: usize,
        total: usize,
    },
    /// The file that a thread of the engine has started to process; `None` when it is finished.
    At {
        id: u64,
        thread: usize,
        file: Option<String>,
    },
}
