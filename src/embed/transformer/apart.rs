//! A model in a process of its own: what runs it trusts its file, and files come from anywhere.
//!
//! Owns both ends and the pipes between them. Whatever a file makes a library do there, that process alone ends, by its
//! limits or by its parent; its memory goes with it.

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

use super::{Means, Output, Runner, runner, unfit};
use crate::error::{Error, Fault, Result};
use crate::locked::locked;
use crate::platform::process;

/// Of address space, beside what grows with the file.
const MOST_MEMORY: u64 = 2 << 30;
/// While a model is read there are several copies of its weights.
const COPIES: u64 = 8;
/// Threads that run texts: more wait their turn.
const RUNNERS: usize = 2;
/// Committed by the system only as far as it is used.
const STACK: usize = 64 << 20;
/// A model whose process ended so often is not started again.
const MOST_STARTS: u32 = 4;
/// Numbers for a text; more are no encoder's.
const MOST_NUMBERS: usize = 1 << 26;
/// A line of the other process.
const LONGEST_LINE: u64 = 1 << 20;

/// To the model: one JSON object a line.
#[derive(Deserialize, Serialize)]
struct Order {
    id: u64,
    tokens: Vec<i64>,
}

/// From the model: one JSON object a line, the first of them about the model itself.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    Ready {
        device: String,
        warning: Option<String>,
    },
    Refused(Fault),
    /// After the line come as many numbers as such a shape has, four bytes each.
    Gave {
        id: u64,
        shape: Vec<usize>,
    },
    Failed {
        id: u64,
        fault: Fault,
    },
}

enum Told {
    Ready { device: String, warning: Option<String> },
    Gave(Output),
}

pub struct Apart {
    program: PathBuf,
    model: PathBuf,
    means: Means,
    device: String,
    process: Mutex<(Arc<Process>, u32)>,
}

impl Apart {
    /// Starts `program` with the model in that file, and a warning where it runs otherwise than was hoped for.
    pub fn start(program: &Path, model: &Path, means: &Means) -> Result<(Self, Option<String>)> {
        let (process, device, warning) = Process::start(program, model, means)?;
        let apart = Self {
            program: program.to_owned(),
            model: model.to_owned(),
            means: means.clone(),
            device,
            process: Mutex::new((Arc::new(process), 1)),
        };
        Ok((apart, warning))
    }

    /// The process, another where it has ended: for want of memory, or because of one text.
    fn process(&self) -> Result<Arc<Process>> {
        let mut current = locked(&self.process);
        let (process, starts) = &mut *current;
        if locked(&process.asked).is_none() {
            if *starts == MOST_STARTS {
                return Err(unfit("its process ended again and again"));
            }
            *starts += 1;
            *process = Arc::new(Process::start(&self.program, &self.model, &self.means)?.0);
        }
        Ok(Arc::clone(process))
    }
}

impl Runner for Apart {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        match self.process()?.run(ids) {
            // Perhaps it was not this text's fault.
            None => self.process()?.run(ids).unwrap_or_else(|| Err(unfit("it broke off at a text"))),
            Some(told) => told,
        }
    }

    fn device(&self) -> String {
        self.device.clone()
    }
}

/// Those who wait, by the number of their order; `None` once the process has ended.
type Asked = Mutex<Option<HashMap<u64, Sender<Result<Told>>>>>;

struct Process {
    child: Mutex<std::process::Child>,
    stdin: Mutex<ChildStdin>,
    asked: Arc<Asked>,
    next: AtomicU64,
    means: Means,
}

impl Process {
    fn start(program: &Path, model: &Path, means: &Means) -> Result<(Self, String, Option<String>)> {
        let mut command = Command::new(program);
        command.arg("embedder").arg(model).args(["--gpu", means.gpu.name()]);
        command.args(means.library.iter().flat_map(|library| ["--library".as_ref(), library.as_os_str()]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        process::own_group(&mut command);
        let mut child = command.spawn().map_err(|error| Error::io("start", program, error))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::internal("a model's process has no pipes"));
        };
        let (tell, told) = channel();
        let asked = Arc::new(Mutex::new(Some(HashMap::from([(FIRST, tell)]))));
        let process = Self {
            child: Mutex::new(child),
            stdin: Mutex::new(stdin),
            asked: Arc::clone(&asked),
            next: AtomicU64::new(FIRST + 1),
            means: means.clone(),
        };
        let listener = Builder::new().name("model-reports".to_owned());
        listener.spawn(move || listen(BufReader::new(stdout), &asked)).map_err(no_thread)?;
        match process.wait(&told) {
            Some(Ok(Told::Ready { device, warning })) => Ok((process, device, warning)),
            Some(Err(error)) => Err(error),
            Some(Ok(Told::Gave(_))) | None => Err(unfit("reading it broke off")),
        }
    }

    /// What came out for a text; `None` where the process ended on the way.
    fn run(&self, ids: &[i64]) -> Option<Result<Output>> {
        let (tell, told) = channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        locked(&self.asked).as_mut()?.insert(id, tell);
        let mut line = serde_json::to_vec(&Order { id, tokens: ids.to_vec() }).ok()?;
        line.push(b'\n');
        // Who does not read has ended, and whoever listens to it knows.
        let _ = locked(&self.stdin).write_all(&line);
        match self.wait(&told)? {
            Ok(Told::Gave(output)) => Some(Ok(output)),
            Ok(Told::Ready { .. }) => Some(Err(Error::internal("a model is ready twice"))),
            Err(error) => Some(Err(error)),
        }
    }

    fn wait(&self, told: &Receiver<Result<Told>>) -> Option<Result<Told>> {
        match told.recv_timeout(self.means.patience) {
            Ok(told) => Some(told),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                process::kill_group(&mut locked(&self.child));
                Some(Err(unfit("it takes too long")))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        process::kill_group(&mut locked(&self.child));
    }
}

/// The number of the first report.
const FIRST: u64 = 0;

/// Hands on what is told, until nothing more is or it makes no sense.
fn listen(mut stdout: impl BufRead, asked: &Asked) {
    let hand_on = |id: u64, told: Result<Told>| {
        if let Some(asker) = locked(asked).as_mut().and_then(|asked| asked.remove(&id)) {
            let _gave_up = asker.send(told);
        }
    };
    while let Some(report) = next_report(&mut stdout) {
        match report {
            Report::Ready { device, warning } => hand_on(FIRST, Ok(Told::Ready { device, warning })),
            Report::Refused(fault) => hand_on(FIRST, Err(fault.into())),
            Report::Failed { id, fault } => hand_on(id, Err(fault.into())),
            Report::Gave { id, shape } => match numbers(&mut stdout, &shape) {
                Some(values) => hand_on(id, Ok(Told::Gave(Output { shape, values }))),
                None => break,
            },
        }
    }
    locked(asked).take();
}

fn next_report(stdout: &mut impl BufRead) -> Option<Report> {
    let mut line = Vec::new();
    stdout.take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn numbers(stdout: &mut impl Read, shape: &[usize]) -> Option<Vec<f32>> {
    let count = shape.iter().try_fold(1_usize, |count, &axis| count.checked_mul(axis))?;
    let mut bytes = vec![0; count.checked_mul(4).filter(|_| count <= MOST_NUMBERS)?];
    stdout.read_exact(&mut bytes).ok()?;
    Some(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// The other end: runs texts on the model in that file until stdin ends.
pub fn serve(model: &Path, means: &Means) -> Result<()> {
    let size = std::fs::metadata(model).map_err(|error| Error::io("read", model, error))?.len();
    if means.library.is_none() {
        // A GPU's driver reserves far more addresses than it uses, and its library has ways of its own to end.
        let most = MOST_MEMORY.saturating_add(size.saturating_mul(COPIES));
        process::limit(most, None).map_err(|error| Error::internal("a limit cannot be set").caused_by(error))?;
    }
    let (path, with) = (model.to_owned(), means.clone());
    let opened = Builder::new().stack_size(STACK).spawn(move || caught(|| runner(&path, &with))).map_err(no_thread)?;
    let opened = opened.join().unwrap_or_else(|_| Err(unfit("reading it broke off")));
    let out = Arc::new(Mutex::new(std::io::stdout()));
    let (runner, warning) = match opened {
        Ok(opened) => opened,
        Err(error) => return tell(&out, &Report::Refused((&error).into()), &[]),
    };
    tell(&out, &Report::Ready { device: runner.device(), warning }, &[])?;
    let runner: Arc<dyn Runner> = runner.into();
    let (orders, queue) = channel::<Order>();
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..RUNNERS {
        let (queue, out, runner) = (Arc::clone(&queue), Arc::clone(&out), Arc::clone(&runner));
        let work = move || {
            loop {
                let next = locked(&queue).recv();
                let Ok(Order { id, tokens }) = next else { return };
                let told = match caught(|| runner.run(&tokens)) {
                    Ok(Output { shape, values }) => tell(&out, &Report::Gave { id, shape }, &values),
                    Err(error) => tell(&out, &Report::Failed { id, fault: (&error).into() }, &[]),
                };
                if told.is_err() {
                    return;
                }
            }
        };
        Builder::new().stack_size(STACK).spawn(work).map_err(no_thread)?;
    }
    for line in std::io::stdin().lock().lines() {
        let Some(order) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
        if orders.send(order).is_err() {
            break;
        }
    }
    Ok(())
}

fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(unfit("it broke off")))
}

fn tell(out: &Mutex<impl Write>, report: &Report, values: &[f32]) -> Result<()> {
    let failed = |error: std::io::Error| Error::internal("a pipe broke").caused_by(error);
    let mut bytes = serde_json::to_vec(report).map_err(|error| failed(error.into()))?;
    bytes.push(b'\n');
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let mut out = locked(out);
    out.write_all(&bytes).and_then(|()| out.flush()).map_err(failed)
}

fn no_thread(error: std::io::Error) -> Error {
    Error::internal("cannot start a thread").caused_by(error)
}
