//! A child process as seen by itself: requests on stdin, messages on stdout, and limits on its resources.
//!
//! The child exits when stdin ends, so it does not outlive its parent.

use std::io::Write;

use crossbeam_channel::Receiver;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::framing;
use crate::error::{Error, Result};
use crate::platform::process;

/// Limits this process to `memory` bytes of address space and, if given, `seconds` of CPU time.
pub fn limit(memory: u64, seconds: Option<u64>) -> Result<()> {
    process::limit(memory, seconds).map_err(|error| Error::internal("cannot set resource limits").caused_by(error))
}

/// The requests on stdin, one per line, until stdin ends or a line is malformed.
pub fn requests<R: DeserializeOwned>() -> impl Iterator<Item = R> {
    let mut stdin = std::io::stdin().lock();
    std::iter::from_fn(move || framing::read_line(&mut stdin, u64::MAX))
}

/// Writes a message to stdout as one line, followed by `payload`. Any thread may call this.
pub fn send(message: &impl Serialize, payload: &[u8]) {
    let bytes = [&framing::line(message), payload].concat();
    let mut stdout = std::io::stdout().lock();
    // An error means that the parent is gone; then stdin ends, too.
    let _ = stdout.write_all(&bytes).and_then(|()| stdout.flush());
}

/// Starts threads that call `work` with each job of the queue, until the queue ends.
pub fn start_workers<J: Send + 'static>(
    name: &str,
    count: usize,
    stack_bytes: usize,
    queue: &Receiver<J>,
    work: impl Fn(J) + Clone + Send + 'static,
) -> Result<()> {
    for at in 0..count {
        let (queue, work) = (queue.clone(), work.clone());
        let thread = std::thread::Builder::new().name(format!("{name}-{at}")).stack_size(stack_bytes);
        thread.spawn(move || queue.iter().for_each(work)).map_err(Error::no_thread)?;
    }
    Ok(())
}
