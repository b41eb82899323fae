//! Asking a tool as a process that stays would, with all the time that takes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::index::Workspaces;
use ixmcp::tools::{self, Caller};
use serde_json::Value;

/// The caller for the repository at `root`; an answer has at most `cap` bytes.
pub fn caller(root: &Path, cap: Option<usize>) -> Caller {
    Caller {
        root: root.to_owned(),
        cap,
        budget: Budget::unlimited(),
        timeout: Some(Duration::MAX),
        python: BTreeMap::new(),
        tell: None,
        jobs: Arc::default(),
        is_last: false,
    }
}

/// How long the answer took, and what it was.
pub fn ask(workspaces: &Workspaces, caller: &Caller, tool: &str, arguments: Value) -> (Duration, Value) {
    let begun = Instant::now();
    let answer = tools::call(workspaces, tool, arguments, caller).unwrap();
    (begun.elapsed(), answer)
}
