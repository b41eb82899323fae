//! Runs a model in a child process, because the runtimes trust a model's file, and files come from anywhere.
//!
//! Owns both ends and the pipes between them. If a file makes a runtime crash, hang or exhaust memory, only the child
//! process ends, by its limits or killed by its parent.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use serde::{Deserialize, Serialize};

use super::{Output, Runner, RunnerConfig, runner, unusable};
use crate::error::{Error, Fault, Result};
use crate::locked::locked;
use crate::platform::process;

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
    },
    Failed {
        id: u64,
        fault: Fault,
    },
}

/// A successful answer.
enum Answer {
    Ready { device: String, warning: Option<String> },
    Output(Output),
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
        if locked(&process.pending).is_none() {
            if *starts == MAX_STARTS {
                return Err(unusable("its process ended repeatedly"));
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

/// In-flight requests by id; `None` once the process has ended.
type Pending = Mutex<Option<HashMap<u64, Sender<Result<Answer>>>>>;

struct Process {
    child: Mutex<std::process::Child>,
    stdin: Mutex<ChildStdin>,
    pending: Arc<Pending>,
    next: AtomicU64,
    config: RunnerConfig,
}

impl Process {
    fn start(program: &Path, model: &Path, config: &RunnerConfig) -> Result<(Self, String, Option<String>)> {
        let mut command = Command::new(program);
        command.arg("embedder").arg(model).args(["--gpu", config.gpu.name()]);
        command.args(config.library.iter().flat_map(|library| ["--library".as_ref(), library.as_os_str()]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        process::own_group(&mut command);
        let mut child = command.spawn().map_err(|error| Error::io("start", program, error))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::internal("a model's process has no pipes"));
        };
        let (sender, receiver) = channel();
        let pending = Arc::new(Mutex::new(Some(HashMap::from([(READY, sender)]))));
        let process = Self {
            child: Mutex::new(child),
            stdin: Mutex::new(stdin),
            pending: Arc::clone(&pending),
            next: AtomicU64::new(READY + 1),
            config: config.clone(),
        };
        let reader = Builder::new().name("model-reports".to_owned());
        reader.spawn(move || read_messages(BufReader::new(stdout), &pending)).map_err(no_thread)?;
        match process.wait(&receiver) {
            Some(Ok(Answer::Ready { device, warning })) => Ok((process, device, warning)),
            Some(Err(error)) => Err(error),
            Some(Ok(Answer::Output(_))) | None => Err(unusable("its process crashed while loading it")),
        }
    }

    /// The output for a text; `None` if the process ended before it answered.
    fn run(&self, ids: &[i64]) -> Option<Result<Output>> {
        let (sender, receiver) = channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        locked(&self.pending).as_mut()?.insert(id, sender);
        let mut line = serde_json::to_vec(&Request { id, tokens: ids.to_vec() }).ok()?;
        line.push(b'\n');
        // If the process has ended, the thread that reads its messages disconnects the receiver.
        let _ = locked(&self.stdin).write_all(&line);
        match self.wait(&receiver)? {
            Ok(Answer::Output(output)) => Some(Ok(output)),
            Ok(Answer::Ready { .. }) => Some(Err(Error::internal("a model reported twice that it is ready"))),
            Err(error) => Some(Err(error)),
        }
    }

    fn wait(&self, receiver: &Receiver<Result<Answer>>) -> Option<Result<Answer>> {
        match receiver.recv_timeout(self.config.timeout) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                process::kill_group(&mut locked(&self.child));
                Some(Err(unusable("it takes too long")))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        process::kill_group(&mut locked(&self.child));
    }
}

/// The id under which the first message is awaited.
const READY: u64 = 0;

/// Delivers messages until the output ends or is malformed.
fn read_messages(mut stdout: impl BufRead, pending: &Pending) {
    let deliver = |id: u64, answer: Result<Answer>| {
        if let Some(waiting) = locked(pending).as_mut().and_then(|pending| pending.remove(&id)) {
            let _timed_out = waiting.send(answer);
        }
    };
    while let Some(message) = read_message(&mut stdout) {
        match message {
            Message::Ready { device, warning } => deliver(READY, Ok(Answer::Ready { device, warning })),
            Message::Refused(fault) => deliver(READY, Err(fault.into())),
            Message::Failed { id, fault } => deliver(id, Err(fault.into())),
            Message::Output { id, shape } => match read_values(&mut stdout, &shape) {
                Some(values) => deliver(id, Ok(Answer::Output(Output { shape, values }))),
                None => break,
            },
        }
    }
    locked(pending).take();
}

fn read_message(stdout: &mut impl BufRead) -> Option<Message> {
    let mut line = Vec::new();
    stdout.take(MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn read_values(stdout: &mut impl Read, shape: &[usize]) -> Option<Vec<f32>> {
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
        process::limit(limit, None).map_err(|error| Error::internal("cannot set the memory limit").caused_by(error))?;
    }
    let (path, config) = (model.to_owned(), config.clone());
    let load = move || catch_panic(|| runner(&path, &config));
    let loaded = Builder::new().stack_size(STACK_BYTES).spawn(load).map_err(no_thread)?;
    let loaded = loaded.join().unwrap_or_else(|_| Err(unusable("the runtime crashed while loading it")));
    let out = Arc::new(Mutex::new(std::io::stdout()));
    let (runner, warning) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return send(&out, &Message::Refused((&error).into()), &[]),
    };
    send(&out, &Message::Ready { device: runner.device(), warning }, &[])?;
    let runner: Arc<dyn Runner> = runner.into();
    let (requests, queue) = channel::<Request>();
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..THREADS {
        let (queue, out, runner) = (Arc::clone(&queue), Arc::clone(&out), Arc::clone(&runner));
        let work = move || {
            loop {
                let next = locked(&queue).recv();
                let Ok(Request { id, tokens }) = next else { return };
                let sent = match catch_panic(|| runner.run(&tokens)) {
                    Ok(Output { shape, values }) => send(&out, &Message::Output { id, shape }, &values),
                    Err(error) => send(&out, &Message::Failed { id, fault: (&error).into() }, &[]),
                };
                if sent.is_err() {
                    return;
                }
            }
        };
        Builder::new().stack_size(STACK_BYTES).spawn(work).map_err(no_thread)?;
    }
    for line in std::io::stdin().lock().lines() {
        let Some(request) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
        if requests.send(request).is_err() {
            break;
        }
    }
    Ok(())
}

fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(unusable("the runtime crashed")))
}

fn send(out: &Mutex<impl Write>, message: &Message, values: &[f32]) -> Result<()> {
    let failed = |error: std::io::Error| Error::internal("cannot write to a pipe").caused_by(error);
    let mut bytes = serde_json::to_vec(message).map_err(|error| failed(error.into()))?;
    bytes.push(b'\n');
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let mut out = locked(out);
    out.write_all(&bytes).and_then(|()| out.flush()).map_err(failed)
}

fn no_thread(error: std::io::Error) -> Error {
    Error::internal("cannot start a thread").caused_by(error)
}
