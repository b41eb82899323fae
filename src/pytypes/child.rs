//! One engine process as its parent sees it: the pipes, the questions under way, the end.
//!
//! Owns the process. Whether another one is started is the service's business.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::service::Spec;
use super::values::{Answer, Question};
use super::wire::{Order, Report};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::platform::process;

/// A question whose budget is spent is given up by the engine within this, or the engine is ended.
const GRACE: Duration = Duration::from_millis(1500);
/// No file that a person wrote takes so long, nor such a part of the longest question.
const LONGEST_FILE: Duration = Duration::from_secs(45);
const LONGEST_PART: u32 = 4;
/// Bytes of memory at which something has gone wrong: Django with its tests takes less than one of these gigabytes.
const MOST_MEMORY: u64 = 6 << 30;
/// A cancelled call is noticed within this time.
const LOOK: Duration = Duration::from_millis(20);
/// How long a child may take until its first line.
const START: Duration = Duration::from_secs(60);

/// Why an engine is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself: a stack overflow, the system's memory killer.
    Died,
    /// One file or question took too long, and it did not listen.
    Overran,
    Memory,
    Idle,
}

/// What became of a question.
pub(super) enum Outcome {
    Answered(Answer),
    /// The engine ended; with the files that it looked at.
    Ended(Ended, Vec<String>),
}

pub(super) struct Child {
    root: PathBuf,
    longest: Duration,
    process: Mutex<std::process::Child>,
    pid: u32,
    stdin: Mutex<ChildStdin>,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked: HashMap<u64, Sender<Told>>,
    /// By question and thread of the engine, what it looks at and since when.
    at: HashMap<(u64, usize), (String, Instant)>,
    ended: Option<Ended>,
    /// Folders of libraries, each as it was when last looked at.
    libraries: Vec<(PathBuf, Option<SystemTime>)>,
}

enum Told {
    Progress(usize, usize),
    Answer(Box<Result<Answer>>),
}

/// A question under way.
pub(super) struct Waiting {
    id: u64,
    told: Receiver<Told>,
}

impl Child {
    pub fn start(spec: &Spec) -> Result<Arc<Self>> {
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
        // Memory that one thread frees is of use to the next.
        command.env("MALLOC_ARENA_MAX", "2");
        command.envs(&spec.environment).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // What it starts itself ends with it.
        process::leads(&mut command);
        let mut process = command.spawn().map_err(|error| Error::io("start", &spec.program, error))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::internal("the type engine has no pipes"));
        };
        let pid = process.id();
        let child = Arc::new(Self {
            root: spec.root.clone(),
            longest: spec.longest,
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
        match is_ready.recv_timeout(START) {
            Ok(version) if version == env!("CARGO_PKG_VERSION") => Ok(child),
            Ok(version) => {
                child.end(Ended::Died);
                Err(Error::internal(format!("the program on disk is another release, {version}"))
                    .hint("Restart the daemon: `ixmcp daemon stop`."))
            }
            Err(_) => {
                child.end(Ended::Died);
                Err(Error::internal("the type engine did not start").hint("See the log; try `ixmcp engine` by hand."))
            }
        }
    }

    fn read(&self, stdout: ChildStdout, ready: &Sender<String>) {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(Report::Ready { version }) => drop(ready.send(version)),
                Ok(Report::Libraries { folders }) => self.note_libraries(folders),
                Ok(Report::Done { id, answer }) => self.tell(id, Told::Answer(Box::new(Ok(answer)))),
                Ok(Report::Failed { id, fault }) => self.tell(id, Told::Answer(Box::new(Err(fault.into())))),
                Ok(Report::Progress { id, done, total }) => self.tell(id, Told::Progress(done, total)),
                Ok(Report::At { id, thread, file: Some(file) }) => {
                    drop(self.lock().at.insert((id, thread), (file, Instant::now())));
                }
                Ok(Report::At { id, thread, file: None }) => drop(self.lock().at.remove(&(id, thread))),
                Err(error) => tracing::warn!(%error, "a report of the type engine was not understood"),
            }
        }
        self.end(Ended::Died);
    }

    fn note_libraries(&self, folders: Vec<String>) {
        // An environment may be made, or made anew, where there is none to look into yet.
        let own = self.root.join(".venv/pyvenv.cfg");
        let watched = folders.into_iter().map(PathBuf::from).chain([own]);
        self.lock().libraries = watched.map(|path| (modified(&path), path)).map(|(then, path)| (path, then)).collect();
    }

    /// Whether something was installed or removed since this was last asked. Nobody watches there.
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

    fn tell(&self, id: u64, told: Told) {
        let mut state = self.lock();
        if matches!(told, Told::Answer(_)) {
            if let Some(sender) = state.asked.remove(&id) {
                let _nobody_waits = sender.send(told);
            }
            state.at.retain(|(of, _), _| *of != id);
        } else if let Some(sender) = state.asked.get(&id) {
            let _nobody_waits = sender.send(told);
        }
    }

    pub fn send(&self, order: &Order) {
        let Ok(mut line) = serde_json::to_vec(order) else { return };
        line.push(b'\n');
        let mut stdin = locked(&self.stdin);
        // One that is gone is noticed by whoever waits for it.
        let _ = stdin.write_all(&line).and_then(|()| stdin.flush());
    }

    pub fn ask(&self, question: &Question) -> Waiting {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, told) = unbounded();
        {
            let mut state = self.lock();
            // Of one that has ended, the sender is dropped here: the wait ends at once.
            if state.ended.is_none() {
                state.asked.insert(id, sender);
            }
        }
        self.send(&Order::Ask { id, question: question.clone() });
        Waiting { id, told }
    }

    /// Waits for the answer, and not for ever: an engine that is stalled as a whole stands at no file.
    pub fn wait(&self, waiting: &Waiting, budget: &Budget, tell: &dyn Fn(usize, usize)) -> Result<Outcome> {
        let begun = Instant::now();
        loop {
            match waiting.told.recv_timeout(LOOK) {
                Ok(Told::Progress(done, total)) => tell(done, total),
                Ok(Told::Answer(answer)) => return (*answer).map(Outcome::Answered),
                Err(RecvTimeoutError::Disconnected) => {
                    let state = self.lock();
                    let at = state.at.values().map(|(file, _)| file.clone()).collect();
                    return Ok(Outcome::Ended(state.ended.unwrap_or(Ended::Died), at));
                }
                Err(RecvTimeoutError::Timeout) if budget.is_spent() => {
                    self.give_up(waiting);
                    return Err(budget.error());
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= self.longest => {
                    self.end(Ended::Overran);
                    return Err(Error::new(
                        ErrorKind::Timeout,
                        format!("the type engine did not answer within {} s and was ended", self.longest.as_secs()),
                    )
                    .hint("Ask about one file, or raise the setting python.longest."));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits a little for the engine to drop the question, and ends one that does not listen.
    fn give_up(&self, waiting: &Waiting) {
        self.send(&Order::Cancel { id: waiting.id });
        let until = Instant::now() + GRACE;
        while let Ok(told) = waiting.told.recv_deadline(until) {
            if matches!(told, Told::Answer(_)) {
                return;
            }
        }
        self.end(Ended::Overran);
    }

    /// Ends an engine that has looked at one file for too long, or takes too much memory.
    pub fn end_if_overrun(&self) {
        let mut state = self.lock();
        let longest_file = LONGEST_FILE.min(self.longest / LONGEST_PART);
        let is_stuck = |(_, since): &(String, Instant)| since.elapsed() >= longest_file;
        if state.at.values().any(is_stuck) {
            state.at.retain(|_, at| is_stuck(at));
            drop(state);
            self.end(Ended::Overran);
            return;
        }
        drop(state);
        if self.memory() > MOST_MEMORY {
            self.end(Ended::Memory);
        }
    }

    pub fn end(&self, why: Ended) {
        let mut child = locked(&self.process);
        process::end(&mut child);
        let mut state = self.lock();
        state.ended.get_or_insert(why);
        state.asked.clear();
    }

    pub fn is_alive(&self) -> bool {
        self.lock().ended.is_none()
    }

    pub fn is_asked(&self) -> bool {
        !self.lock().asked.is_empty()
    }

    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Bytes in memory; 0 where the system does not say.
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
