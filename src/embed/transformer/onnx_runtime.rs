//! ONNX Runtime, where a person has its library: loaded when it is first asked for, never fetched.
//!
//! Owns sessions of that library and the question whether a GPU works. Several threads may ask at once; each session does
//! one thing at a time, on one core.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, TryLockError};

use ort::environment::Environment;
use ort::ep::{CUDA, ExecutionProvider};
use ort::session::{Session as Loaded, SessionInputValue};
use ort::value::Tensor;

use super::{Gpu, Output, Runner, no_gpu, onnx, unfit};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

/// Sessions side by side: each has the whole model in memory.
const MOST_SESSIONS: usize = 2;

pub struct Session {
    sessions: Vec<Mutex<Loaded>>,
    inputs: Vec<String>,
    output: String,
    on_gpu: bool,
}

/// The library, loaded once: another path later is not heard, for it cannot be let go.
fn environment(library: &Path) -> Result<&'static Environment> {
    static LOADED: Mutex<()> = Mutex::new(());
    static ENVIRONMENT: OnceLock<(PathBuf, Environment)> = OnceLock::new();
    let _one_at_a_time = locked(&LOADED);
    if let Some((path, environment)) = ENVIRONMENT.get() {
        if path != library {
            tracing::warn!("ONNX Runtime stays that of {}", path.display());
        }
        return Ok(environment);
    }
    if !library.is_absolute() || !library.is_file() {
        let shown = crate::model::printable(&library.to_string_lossy());
        return Err(Error::invalid_path(format!("{shown} is no library: it must be the full path of a file"))
            .hint("Name the file libonnxruntime.so by ORT_DYLIB_PATH or `model.onnxruntime`."));
    }
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorKind::UnsupportedFormat, format!("cannot load {}: {error}", library.display()))
            .hint("It must be ONNX Runtime 1.17 or later for this machine.")
    };
    let builder = ort::init_from(library).map_err(|error| failed(&error))?;
    let environment = builder.with_telemetry(false).build().map_err(|error| failed(&error))?;
    Ok(&ENVIRONMENT.get_or_init(|| (library.to_owned(), environment)).1)
}

/// Where NVIDIA's driver shows.
const TRACES_OF_A_GPU: &[&str] = &["/dev/nvidiactl", "/dev/nvidia0", r"C:\Windows\System32\nvcuda.dll"];

/// Whether the library was built for a GPU, or the machine has one: else nobody expects the model to run there.
fn is_hoped_for() -> bool {
    CUDA::is_available().unwrap_or(false) || TRACES_OF_A_GPU.iter().any(|trace| Path::new(trace).exists())
}

impl Session {
    /// The model in the library, on a GPU where that is wanted and works; the text says why it does not, where one is there or the
    /// library is made for one.
    pub fn open(library: &Path, model: &[u8], gpu: Gpu) -> Result<(Self, Option<String>)> {
        let environment = environment(library)?;
        let mut note = None;
        if gpu != Gpu::Off {
            match Self::on_gpu(environment, model) {
                Ok(session) => return Ok((session, None)),
                Err(reason) if gpu == Gpu::Required => return Err(no_gpu(reason)),
                Err(reason) if is_hoped_for() => {
                    note = Some(format!("no GPU can be used, the model runs on the CPU: {reason}"));
                }
                // The device says what it runs on.
                Err(_) => {}
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut sessions = Vec::new();
        for _ in 0..cores.min(MOST_SESSIONS) {
            sessions.push(plain(environment, model).map_err(|error| unfit(brief(&error)))?);
        }
        Self::over(sessions, false).map(|session| (session, note))
    }

    /// Only a run shows that a GPU works: a library that was built for one says nothing of the machine.
    fn on_gpu(environment: &Environment, model: &[u8]) -> Result<Self, String> {
        if !CUDA::is_available().map_err(|error| brief(&error))? {
            return Err("this ONNX Runtime was built without CUDA".to_owned());
        }
        let session = Loaded::builder(environment)
            .and_then(|builder| Ok(builder.with_execution_providers([CUDA::default().build().error_on_failure()])?))
            .and_then(|mut builder| builder.commit_from_memory(model))
            .map_err(|error| brief(&error))?;
        let session = Self::over(vec![session], true).map_err(|error| error.message)?;
        session.run(&[0, 1, 2, 3]).map_err(|error| error.message)?;
        Ok(session)
    }

    fn over(sessions: Vec<Loaded>, on_gpu: bool) -> Result<Self> {
        let names = |outlets: &[ort::value::Outlet]| -> Vec<String> {
            outlets.iter().map(|outlet| outlet.name().to_owned()).collect()
        };
        let first = sessions.first().ok_or_else(|| unfit("nothing can run it"))?;
        let (inputs, outputs) = (names(first.inputs()), names(first.outputs()));
        let output = onnx::preferred_output(&outputs.iter().map(String::as_str)).to_owned();
        Ok(Self { inputs, output, on_gpu, sessions: sessions.into_iter().map(Mutex::new).collect() })
    }
}

fn plain(environment: &Environment, model: &[u8]) -> ort::Result<Loaded> {
    Loaded::builder(environment)?.with_intra_threads(1)?.commit_from_memory(model)
}

/// The first line of what the library says, without the names of its own functions.
fn brief(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    crate::model::printable(line).chars().take(300).collect()
}

impl Runner for Session {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        let free = self.sessions.iter().find_map(|session| match session.try_lock() {
            Ok(free) => Some(free),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        let mut session = free.unwrap_or_else(|| locked(&self.sessions[0]));
        let failed = |error: ort::Error| unfit(brief(&error));
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for name in &self.inputs {
            let values = onnx::input_values(name, ids);
            let tensor = Tensor::from_array(([1, ids.len()], values)).map_err(failed)?;
            inputs.push((name.as_str(), SessionInputValue::from(tensor)));
        }
        let outputs = session.run(inputs).map_err(failed)?;
        let output = outputs.get(&self.output).ok_or_else(|| unfit("it gives nothing"))?;
        let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let shape = shape.iter().map(|&axis| usize::try_from(axis).unwrap_or_default()).collect();
        Ok(Output { shape, values: values.to_vec() })
    }

    fn device(&self) -> String {
        if self.on_gpu { "cuda" } else { "cpu (ONNX Runtime)" }.to_owned()
    }
}
