//! The interface between the process of the type engine ([`host`](super::host)) and the engine (`ty`).
//!
//! Owns how an answer ends, and what receives its progress. The engine's own types stay behind it: only
//! [`values`](super::values) cross.

use super::values::Answer;

/// How the work on a query ended.
#[derive(Debug)]
pub enum Answered {
    Done(Box<Answer>),
    /// Files changed meanwhile: ask again.
    Interrupted,
    Cancelled,
}

/// Receives the progress of a query.
pub trait Observer: Sync {
    /// The current thread starts to process a file.
    fn begins(&self, file: &str);
    /// The current thread has finished its file.
    fn ends(&self);
    fn advanced(&self, done: usize, total: usize);
}
