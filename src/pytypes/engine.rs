//! The interface between callers and the type engines.
//!
//! Owns the traits. An engine's own types stay behind them: only [`values`](super::values) cross.

use super::values::{Answer, Changes, Query};
use crate::error::Result;

/// A type engine for one repository. One thread owns it; other threads answer queries with [`Answerer`]s.
pub trait Engine {
    /// Applies changes on disk. Running answerers end with [`Answered::Interrupted`].
    fn apply(&mut self, changes: &Changes) -> Result<()>;

    /// Treats these files (absolute paths) as modules without any known types until they change.
    fn quarantine(&mut self, files: &[String]) -> Result<()>;

    /// Folders outside the repository that answers depend on.
    fn libraries(&self) -> Vec<String>;

    /// Called when no query is running: the engine may free memory that no answer needs.
    fn trim_memory(&mut self) {}

    /// A handle on the engine's state for one query. Drop it after the query: pending changes wait for it.
    fn answerer(&mut self, query: &Query) -> Result<Box<dyn Answerer>>;
}

pub trait Answerer: Send {
    fn answer(&self, query: &Query, observer: &dyn Observer) -> Result<Answered>;

    /// A function that cancels the answer from another thread. The work stops as soon as it notices.
    fn canceller(&self) -> Box<dyn Fn() + Send + Sync>;
}

/// The result of an [`Answerer`].
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
