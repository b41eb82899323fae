//! Child processes: starting them, exchanging messages with them, and killing them.
//!
//! ```text
//! parent: ChildProcess ─ requests ─► stdin   child: own_end::requests
//!         Pending      ◄─ messages ─ stdout         own_end::send, own_end::limit
//! ```
//! Owns the pipes, the framing of messages, the in-flight requests, and the kill. Work that may crash, hang or exhaust
//! memory runs out of process: only the child is lost. Does not own the messages, the values of timeouts and limits, and
//! whether a process is restarted: the type engine and an installed ty (`pytypes`), the model runner (`embed`) and
//! the document reader (`update`) each decide that for themselves.

pub mod framing;
mod one_shot;
pub mod own_end;

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

pub use one_shot::{Finished, run_to_end, run_while};

use crate::locked::locked;
use crate::platform::process;

/// How often a pending caller checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The id under which the first message of a child is awaited. Requests are numbered from 1.
pub const STARTUP: u64 = 0;

/// A running process that answers requests with messages `M`. It leads a process group, which is killed with it when the last
/// handle is dropped.
pub struct ChildProcess<M> {
    process: Mutex<Child>,
    stdin: Mutex<ChildStdin>,
    next: AtomicU64,
    /// In-flight requests by id; `None` once the process has exited.
    in_flight: Mutex<Option<HashMap<u64, Sender<M>>>>,
}

/// A request in flight.
pub struct Pending<M> {
    pub id: u64,
    messages: Receiver<M>,
}

/// End of a wait for a message.
pub enum Received<M> {
    Message(M),
    Cancelled,
    TimedOut,
    /// The process exited, was killed, or sent something malformed.
    Exited,
}

impl<M: Send + 'static> ChildProcess<M> {
    /// Starts `command` with pipes for stdin and stdout; its stderr is discarded. A thread calls `receive` for each
    /// message and passes it to `handle`, which delivers it with [`answer`](Self::answer) or
    /// [`progress`](Self::progress). Once `receive` returns `None`, the process is killed. The returned request
    /// receives what is delivered under [`STARTUP`].
    pub fn start<R>(
        mut command: Command,
        mut receive: impl FnMut(&mut BufReader<ChildStdout>) -> Option<R> + Send + 'static,
        mut handle: impl FnMut(&Self, R) + Send + 'static,
    ) -> io::Result<(Arc<Self>, Pending<M>)> {
        process::own_group(&mut command);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (stdin, stdout) = (pipe(process.stdin.take())?, pipe(process.stdout.take())?);
        let child = Arc::new(Self {
            process: Mutex::new(process),
            stdin: Mutex::new(stdin),
            next: AtomicU64::new(STARTUP),
            in_flight: Mutex::new(Some(HashMap::new())),
        });
        let startup = child.begin();
        // Not a handle: dropping the last handle kills the process, which ends the thread.
        let listening = Arc::downgrade(&child);
        std::thread::Builder::new().name("child-messages".to_owned()).spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = receive(&mut stdout) {
                let Some(child) = listening.upgrade() else { return };
                handle(&child, message);
            }
            if let Some(child) = listening.upgrade() {
                child.kill();
            }
        })?;
        Ok((child, startup))
    }

    /// Registers a request, to be sent with its id. If the process has exited, waiting for it ends at once.
    pub fn begin(&self) -> Pending<M> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, messages) = unbounded();
        if let Some(in_flight) = self.in_flight().as_mut() {
            in_flight.insert(id, sender);
        }
        Pending { id, messages }
    }

    /// Writes to stdin. If the process is gone, the pending callers notice.
    pub fn send(&self, message: &[u8]) {
        let mut stdin = locked(&self.stdin);
        let _gone = stdin.write_all(message).and_then(|()| stdin.flush());
    }

    /// Delivers the last message of a request.
    pub fn answer(&self, id: u64, message: M) {
        if let Some(sender) = self.in_flight().as_mut().and_then(|in_flight| in_flight.remove(&id)) {
            let _caller_is_gone = sender.send(message);
        }
    }

    /// Delivers a message of a request that is not finished.
    pub fn progress(&self, id: u64, message: M) {
        if let Some(sender) = self.in_flight().as_ref().and_then(|in_flight| in_flight.get(&id)) {
            let _caller_is_gone = sender.send(message);
        }
    }
}

impl<M> ChildProcess<M> {
    /// Kills the process with its group, and ends every wait.
    pub fn kill(&self) {
        process::kill_group(&mut locked(&self.process));
        self.in_flight().take();
    }

    pub fn is_alive(&self) -> bool {
        self.in_flight().is_some()
    }

    pub fn has_pending(&self) -> bool {
        self.in_flight().as_ref().is_some_and(|in_flight| !in_flight.is_empty())
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        locked(&self.process).id()
    }

    /// Resident memory in bytes, if the system reports it.
    pub fn resident_memory(&self) -> Option<u64> {
        process::resident_memory(self.id())
    }

    fn in_flight(&self) -> MutexGuard<'_, Option<HashMap<u64, Sender<M>>>> {
        locked(&self.in_flight)
    }
}

impl<M> Drop for ChildProcess<M> {
    fn drop(&mut self) {
        self.kill();
    }
}

impl<M> Pending<M> {
    /// Waits for the next message until the deadline, or until `is_cancelled`.
    pub fn wait(&self, deadline: Option<Instant>, is_cancelled: impl Fn() -> bool) -> Received<M> {
        loop {
            match self.messages.recv_timeout(POLL_INTERVAL) {
                Ok(message) => return Received::Message(message),
                Err(RecvTimeoutError::Disconnected) => return Received::Exited,
                Err(RecvTimeoutError::Timeout) if is_cancelled() => return Received::Cancelled,
                Err(RecvTimeoutError::Timeout) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Received::TimedOut;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// A pipe of a process that was started with all of them.
fn pipe<P>(pipe: Option<P>) -> io::Result<P> {
    pipe.ok_or_else(|| io::Error::other("the process has no pipes"))
}
