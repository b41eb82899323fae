//! The lines between this program and the process that runs its type engine.
//!
//! Owns their shapes: one JSON object a line. Both ends are the same program; the first line of the child says so.

use serde::{Deserialize, Serialize};

use super::values::{Answer, Changes, Question};
use crate::error::Fault;

/// To the engine. Lines are taken in order: a question is answered as of the changes before it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    Ask {
        id: u64,
        question: Question,
    },
    Cancel {
        id: u64,
    },
    Apply {
        changes: Changes,
    },
    /// Files that an engine died of, absolute: to be taken as modules of which nothing is known.
    Shelve {
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
    /// Where library sources lie that answers depend on; they are outside of what the parent watches.
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
    /// What a thread of the engine has begun to look at; `None`: it is done with it.
    At {
        id: u64,
        thread: usize,
        file: Option<String>,
    },
}
