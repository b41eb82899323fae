//! Calling a tool as a long-lived process would, and measuring its latency.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ixmcp::tools::{Request, Tools};
use ixmcp::update::IndexWait;
use serde_json::Value;

/// The caller: a client of the repository at `root`, for answers of at most `cap` bytes.
pub struct Caller {
    root: PathBuf,
    cap: Option<usize>,
}

pub fn caller(root: &Path, cap: Option<usize>) -> Caller {
    Caller { root: root.to_owned(), cap }
}

/// The latency of a call, and its answer.
pub fn ask(tools: &Tools, caller: &Caller, tool: &str, arguments: Value) -> (Duration, Value) {
    let request = Request {
        cap: caller.cap,
        index_wait: IndexWait::TO_THE_END,
        ..Request::new(tool, arguments, caller.root.clone())
    };
    let begun = Instant::now();
    let answer = tools.call(request).unwrap();
    (begun.elapsed(), answer)
}
