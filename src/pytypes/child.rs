//! One engine process as seen by its parent: the pipes, the in-flight queries, and the exit.
//!
//! Owns the process. The service decides whether to start another one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::service::EngineSpec;
use super::values::{Answer, Query};
use super::wire::{Report, Request};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::platform::process;

/// How long the engine may take to abandon a cancelled query before it is killed.
const CANCEL_GRACE: Duration = Duration::from_millis(1500);
/// The time limit for one file. No file written by hand takes this long. The limit is also capped at a fraction of the
/// query timeout.
const MAX_FILE_TIME: Duration = Duration::from_secs(45);
const TIMEOUT_FRACTION: u32 = 4;
/// Resident memory in bytes at which the engine is killed. Django with its tests takes less than 1 GiB.
const MAX_MEMORY: u64 = 6 << 30;
/// How often a pending caller checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the child may take to send its first line.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);

/// Why an engine process exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitReason {
    /// It crashed: a stack overflow, the kernel's OOM killer.
    Died,
    /// One file or query took too long and the engine did not react to cancellation.
    TimedOut,
    Memory,
    Idle,
}

/// The outcome of a query.
pub(super) enum Outcome {
    Answered(Answer),
    /// The engine exited, with the files that it was processing.
    Exited(ExitReason, Vec<String>),
}

pub(super) struct EngineProcess {
    root: PathBuf,
    timeout: Duration,
    process: Mutex<std::process::Child>,
    pid: u32,
    stdin: Mutex<ChildStdin>,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Sender<Message>>,
    /// For each query and engine thread, the file being processed and when that began.
    at: HashMap<(u64, usize), (String, Instant)>,
    exited: Option<ExitReason>,
    /// Library folders with their modification times when last checked.
    libraries: Vec<(PathBuf, Option<SystemTime>)>,
}

enum Message {
    Progress(usize, usize),
    Answer(Box<Result<Answer>>),
}

/// An in-flight query.
pub(super) struct PendingQuery {
    id: u64,
    messages: Receiver<Message>,
}

impl EngineProcess {
    pub fn start(spec: &EngineSpec) -> Result<Arc<Self>> {
        let mut command = Command::new(&spec.program);
        command
            .arg("engine")
            .arg(&spec.root)
            .args(spec.ty.iter().flat_map(|ty| ["--ty".as_ref(), ty.as_os_str()]))
            .args(spec.is_once.then_some("--once"))
            .current_dir(&spec.root);
        for variable in ["VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH"] {
            command.env_remove(variable);
        }
        // Memory freed by one thread should be reusable by the next.
        command.env("MALLOC_ARENA_MAX", "2");
        command.envs(&spec.environment).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The child's own children are killed with it.
        process::own_group(&mut command);
        let mut process = command.spawn().map_err(|error| Error::io("start", &spec.program, error))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::internal("the type engine has no pipes"));
        };
        let pid = process.id();
        let child = Arc::new(Self {
            root: spec.root.clone(),
            timeout: spec.timeout,
            process: Mutex::new(process),
            pid,
            stdin: Mutex::new(stdin),
            next: AtomicU64::new(1),
            state: Mutex::default(),
        });
        let (ready, is_ready) = unbounded();
        let reading = Arc::clone(&child);
        let reader = std::thread::Builder::new().name("engine-reports".to_owned());
        reader
            .spawn(move || reading.read(stdout, &ready))
            .map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
        match is_ready.recv_timeout(STARTUP_TIMEOUT) {
            Ok(version) if version == env!("CARGO_PKG_VERSION") => Ok(child),
            Ok(version) => {
                child.kill(ExitReason::Died);
                Err(Error::internal(format!("the program on disk is a different release ({version})"))
                    .hint("Restart the daemon: `ixmcp daemon stop`."))
            }
            Err(_) => {
                child.kill(ExitReason::Died);
                Err(Error::internal("the type engine did not start")
                    .hint("See the log, or run `ixmcp engine` by hand."))
            }
        }
    }

    fn read(&self, stdout: ChildStdout, ready: &Sender<String>) {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(Report::Ready { version }) => drop(ready.send(version)),
                Ok(Report::Libraries { folders }) => self.note_libraries(folders),
                Ok(Report::Done { id, answer }) => self.deliver(id, Message::Answer(Box::new(Ok(answer)))),
                Ok(Report::Failed { id, fault }) => self.deliver(id, Message::Answer(Box::new(Err(fault.into())))),
                Ok(Report::Progress { id, done, total }) => self.deliver(id, Message::Progress(done, total)),
                Ok(Report::At { id, thread, file: Some(file) }) => {
                    drop(self.lock().at.insert((id, thread), (file, Instant::now())));
                }
                Ok(Report::At { id, thread, file: None }) => drop(self.lock().at.remove(&(id, thread))),
                Err(error) => tracing::warn!(%error, "the type engine sent an invalid report"),
            }
        }
        self.kill(ExitReason::Died);
    }

    fn note_libraries(&self, folders: Vec<String>) {
        // A virtual environment may be created or recreated where none exists yet.
        let own = self.root.join(".venv/pyvenv.cfg");
        let watched = folders.into_iter().map(PathBuf::from).chain([own]);
        self.lock().libraries = watched.map(|path| (modified(&path), path)).map(|(then, path)| (path, then)).collect();
    }

    /// Whether packages were installed or removed since the last call. The file watcher does not cover these folders.
    pub fn libraries_changed(&self) -> bool {
        let mut state = self.lock();
        let mut changed = false;
        for (path, then) in &mut state.libraries {
            let now = modified(path);
            changed |= now != *then;
            *then = now;
        }
        changed
    }

    fn deliver(&self, id: u64, message: Message) {
        let mut state = self.lock();
        if matches!(message, Message::Answer(_)) {
            if let Some(sender) = state.pending.remove(&id) {
                let _caller_is_gone = sender.send(message);
            }
            state.at.retain(|(of, _), _| *of != id);
        } else if let Some(sender) = state.pending.get(&id) {
            let _caller_is_gone = sender.send(message);
        }
    }

    pub fn send(&self, request: &Request) {
        let Ok(mut line) = serde_json::to_vec(request) else { return };
        line.push(b'\n');
        let mut stdin = locked(&self.stdin);
        // A waiting caller notices if the process is gone.
        let _ = stdin.write_all(&line).and_then(|()| stdin.flush());
    }

    pub fn ask(&self, query: &Query) -> PendingQuery {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, messages) = unbounded();
        {
            let mut state = self.lock();
            // If the process has exited, the sender is dropped here and the wait ends at once.
            if state.exited.is_none() {
                state.pending.insert(id, sender);
            }
        }
        self.send(&Request::Ask { id, query: query.clone() });
        PendingQuery { id, messages }
    }

    /// Waits for the answer, at most until the timeout: an engine that hangs as a whole reports no file.
    pub fn wait(&self, pending: &PendingQuery, budget: &Budget, on_progress: &dyn Fn(usize, usize)) -> Result<Outcome> {
        let begun = Instant::now();
        loop {
            match pending.messages.recv_timeout(POLL_INTERVAL) {
                Ok(Message::Progress(done, total)) => on_progress(done, total),
                Ok(Message::Answer(answer)) => return (*answer).map(Outcome::Answered),
                Err(RecvTimeoutError::Disconnected) => {
                    let state = self.lock();
                    let at = state.at.values().map(|(file, _)| file.clone()).collect();
                    return Ok(Outcome::Exited(state.exited.unwrap_or(ExitReason::Died), at));
                }
                Err(RecvTimeoutError::Timeout) if budget.is_spent() => {
                    self.give_up(pending);
                    return Err(budget.error());
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= self.timeout => {
                    self.kill(ExitReason::TimedOut);
                    return Err(Error::new(
                        ErrorKind::Timeout,
                        format!("the type engine did not answer within {} s and was killed", self.timeout.as_secs()),
                    )
                    .hint("Query a single file, or raise the setting python.longest."));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Cancels the query. Kills the engine if it does not react within the grace period.
    fn give_up(&self, pending: &PendingQuery) {
        self.send(&Request::Cancel { id: pending.id });
        let until = Instant::now() + CANCEL_GRACE;
        while let Ok(message) = pending.messages.recv_deadline(until) {
            if matches!(message, Message::Answer(_)) {
                return;
            }
        }
        self.kill(ExitReason::TimedOut);
    }

    /// Kills an engine that has processed one file for too long or uses too much memory.
    pub fn kill_if_over_limits(&self) {
        let mut state = self.lock();
        let max_file_time = MAX_FILE_TIME.min(self.timeout / TIMEOUT_FRACTION);
        let is_stuck = |(_, since): &(String, Instant)| since.elapsed() >= max_file_time;
        if state.at.values().any(is_stuck) {
            state.at.retain(|_, at| is_stuck(at));
            drop(state);
            self.kill(ExitReason::TimedOut);
            return;
        }
        drop(state);
        if self.memory() > MAX_MEMORY {
            self.kill(ExitReason::Memory);
        }
    }

    pub fn kill(&self, why: ExitReason) {
        let mut child = locked(&self.process);
        process::kill_group(&mut child);
        let mut state = self.lock();
        state.exited.get_or_insert(why);
        state.pending.clear();
    }

    pub fn is_alive(&self) -> bool {
        self.lock().exited.is_none()
    }

    pub fn has_pending(&self) -> bool {
        !self.lock().pending.is_empty()
    }

    /// Resident memory in bytes; 0 if the system does not report it.
    pub fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}
