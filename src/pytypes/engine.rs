//! The seam between whoever asks and whichever engine answers.
//!
//! Owns the trait. An engine's own types stay behind it: only [`values`](super::values) pass.

use super::values::{Answer, Changes, Question};
use crate::error::Result;

/// A type engine over one repository. One thread owns it; others answer by [`Answerer`]s.
pub trait Engine {
    /// Takes in what changed on disk. Work of answerers ends as [`Answered::Interrupted`].
    fn apply(&mut self, changes: &Changes) -> Result<()>;

    /// Takes these files, absolute, as modules of which nothing is known, until they change.
    fn shelve(&mut self, files: &[String]) -> Result<()>;

    /// Folders outside the repository that answers depend on.
    fn libraries(&self) -> Vec<String>;

    /// Nobody asks at the moment: memory that no answer needs may be given back.
    fn settle(&mut self) {}

    /// A hold on the engine's state for one question. It must not outlive it: changes wait for it.
    fn answerer(&mut self, question: &Question) -> Result<Box<dyn Answerer>>;
}

pub trait Answerer: Send {
    fn answer(&self, question: &Question, witness: &dyn Witness) -> Result<Answered>;

    /// Ends the answer from another thread, as soon as the work notices.
    fn canceller(&self) -> Box<dyn Fn() + Send + Sync>;
}

/// How work came out.
#[derive(Debug)]
pub enum Answered {
    Done(Box<Answer>),
    /// A change came in between: to be asked again.
    Interrupted,
    Cancelled,
}

/// Who is told how long work goes.
pub trait Witness: Sync {
    /// The thread begins to look at a file.
    fn begins(&self, file: &str);
    /// It is done with it.
    fn ends(&self);
    fn advanced(&self, done: usize, total: usize);
}
