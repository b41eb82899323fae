//! Runs a model in a child process: the runtimes trust model files, and these come from anywhere.
//!
//! Owns both ends, the messages between them, and the number of restarts. If a file makes a runtime crash, hang or exhaust
//! memory, only the child process exits, by its limits or killed by its parent.

use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Instant;

use crossbeam_channel::unbounded;
use serde::{Deserialize, Serialize};

use super::{Output, Runner, RunnerConfig, runner, unusable};
use crate::child_process::{ChildProcess, Pending, Received, STARTUP, framing, own_end};
use crate::error::{Error, Fault, Result};
use crate::locked::locked;

/// Bytes of address space, in addition to those that depend on the file's size.
const MAX_MEMORY: u64 = 2 << 30;
/// While a model is loaded there are several copies of its weights.
const COPIES: u64 = 8;
/// Threads that run texts. Further texts wait.
const THREADS: usize = 2;
/// The system commits only the used part of a stack.
const STACK_BYTES: usize = 64 << 20;
/// How often a model's process may be started.
const MAX_STARTS: u32 = 4;
/// Numbers in the output for one text; no encoder returns more.
const MAX_NUMBERS: usize = 1 << 26;
/// Bytes of a line from the child process.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A message to the child process: one JSON object per line.
#[derive(Deserialize, Serialize)]
struct Request {
    id: u64,
    tokens: Vec<i64>,
}

/// A message from the child process: one JSON object per line. The first one is about the model itself.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    Ready {
        device: String,
        warning: Option<String>,
    },
    Refused(Fault),
    /// The values follow the line: as many as the shape has, as little-endian `f32`.
    #[serde(rename = "gave")]
    Output {
        id: u64,
        shape: Vec<usize>,
        #[serde(skip)]
        values: Vec<f32>,
    },
    Failed {
        id: u64,
        fault: Fault,
    },
}

pub struct ChildRunner {
    program: PathBuf,
    model: PathBuf,
    config: RunnerConfig,
    device: String,
    /// The current process, and how many were started.
    process: Mutex<(Arc<Process>, u32)>,
}

impl ChildRunner {
    /// Starts `program` with a model file. The second value warns if the model does not run as configured.
    pub fn start(program: &Path, model: &Path, config: &RunnerConfig) -> Result<(Self, Option<String>)> {
        let (process, device, warning) = Process::start(program, model, config)?;
        let runner = Self {
            program: program.to_owned(),
            model: model.to_owned(),
            config: config.clone(),
            device,
            process: Mutex::new((Arc::new(process), 1)),
        };
        Ok((runner, warning))
    }

    /// The running process. Starts another if it has ended, for example because it ran out of memory.
    fn process(&self) -> Result<Arc<Process>> {
        let mut current = locked(&self.process);
        let (process, starts) = &mut *current;
        if !process.child.is_alive() {
            if *starts == MAX_STARTS {
                return Err(unusable("its process exited repeatedly"));
            }
            *starts += 1;
            *process = Arc::new(Process::start(&self.program, &self.model, &self.config)?.0);
        }
        Ok(Arc::clone(process))
    }
}

impl Runner for ChildRunner {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        match self.process()?.run(ids) {
            // Another text may have crashed the process, so this one is tried again.
            None => self.process()?.run(ids).unwrap_or_else(|| Err(unusable("its process crashed at a text"))),
            Some(output) => output,
        }
    }

    fn device(&self) -> String {
        self.device.clone()
    }
}

struct Process {
    child: Arc<ChildProcess<Message>>,
    config: RunnerConfig,
}

impl Process {
    fn start(program: &Path, model: &Path, config: &RunnerConfig) -> Result<(Self, String, Option<String>)> {
        let mut command = Command::new(program);
        command.arg("embedder").arg(model).args(["--gpu", config.gpu.name()]);
        command.args(config.library.iter().flat_map(|library| ["--library".as_ref(), library.as_os_str()]));
        let deliver = |child: &ChildProcess<Message>, message| match message {
            Message::Ready { .. } | Message::Refused(_) => child.answer(STARTUP, message),
            Message::Output { id, .. } | Message::Failed { id, .. } => child.answer(id, message),
        };
        let started = ChildProcess::start(command, receive, deliver);
        let (child, startup) = started.map_err(|error| Error::io("start", program, error))?;
        let process = Self { child, config: config.clone() };
        match process.wait(&startup) {
            Some(Ok(Message::Ready { device, warning })) => Ok((process, device, warning)),
            Some(Ok(Message::Refused(fault))) => Err(fault.into()),
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Err(unusable("its process crashed while loading it")),
        }
    }

    /// The output for a text; `None` if the process ended before it answered.
    fn run(&self, ids: &[i64]) -> Option<Result<Output>> {
        let pending = self.child.begin();
        self.child.send(&framing::line(&Request { id: pending.id, tokens: ids.to_vec() }));
        Some(match self.wait(&pending)? {
            Ok(Message::Output { shape, values, .. }) => Ok(Output { shape, values }),
            Ok(Message::Failed { fault, .. } | Message::Refused(fault)) => Err(fault.into()),
            Ok(Message::Ready { .. }) => Err(Error::internal("a model reported twice that it is ready")),
            Err(error) => Err(error),
        })
    }

    /// The response; `None` if the process ended before.
    fn wait(&self, pending: &Pending<Message>) -> Option<Result<Message>> {
        match pending.wait(Some(Instant::now() + self.config.timeout), || false) {
            Received::Message(message) => Some(Ok(message)),
            Received::Exited => None,
            Received::TimedOut | Received::Cancelled => {
                self.child.kill();
                Some(Err(unusable("it takes too long")))
            }
        }
    }
}

/// The next message, with its values.
fn receive(stdout: &mut impl BufRead) -> Option<Message> {
    let mut message = framing::read_line(stdout, MAX_LINE_BYTES)?;
    if let Message::Output { shape, values, .. } = &mut message {
        *values = read_values(stdout, shape)?;
    }
    Some(message)
}

fn read_values(stdout: &mut impl BufRead, shape: &[usize]) -> Option<Vec<f32>> {
    let count = shape.iter().try_fold(1_usize, |count, &axis| count.checked_mul(axis))?;
    let mut bytes = vec![0; count.checked_mul(4).filter(|_| count <= MAX_NUMBERS)?];
    stdout.read_exact(&mut bytes).ok()?;
    Some(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// The main function of the child process: runs texts on a model until stdin ends.
pub fn serve(model: &Path, config: &RunnerConfig) -> Result<()> {
    let size = std::fs::metadata(model).map_err(|error| Error::io("read", model, error))?.len();
    if config.library.is_none() {
        // No limit for ONNX Runtime: a GPU's driver reserves far more address space than it uses.
        let limit = MAX_MEMORY.saturating_add(size.saturating_mul(COPIES));
        own_end::limit(limit, None)?;
    }
    let (path, config) = (model.to_owned(), config.clone());
    let load = move || catch_panic(|| runner(&path, &config));
    let loaded = Builder::new().stack_size(STACK_BYTES).spawn(load).map_err(Error::no_thread)?;
    let loaded = loaded.join().unwrap_or_else(|_| Err(unusable("the runtime crashed while loading it")));
    let (runner, warning) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            own_end::send(&Message::Refused((&error).into()), &[]);
            return Ok(());
        }
    };
    own_end::send(&Message::Ready { device: runner.device(), warning }, &[]);
    let runner: Arc<dyn Runner> = runner.into();
    let (requests, queue) = unbounded();
    let run = move |Request { id, tokens }: Request| match catch_panic(|| runner.run(&tokens)) {
        Ok(Output { shape, values }) => {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            own_end::send(&Message::Output { id, shape, values: Vec::new() }, &bytes);
        }
        Err(error) => own_end::send(&Message::Failed { id, fault: (&error).into() }, &[]),
    };
    own_end::start_workers("model", THREADS, STACK_BYTES, &queue, run)?;
    for request in own_end::requests() {
        let _workers_outlive_this = requests.send(request);
    }
    Ok(())
}

fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(unusable("the runtime crashed")))
}
