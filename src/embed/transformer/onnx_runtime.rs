//! Runs a model with ONNX Runtime, if its library is configured. The library is loaded on first use and never downloaded.
//!
//! Owns sessions of that library, and the check whether a GPU works. Several threads may call it at once; each session
//! runs one text at a time, on one core.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, TryLockError};

use ort::environment::Environment;
use ort::ep::{CUDA, ExecutionProvider};
use ort::session::{Session, SessionInputValue};
use ort::value::Tensor;

use super::{Gpu, Output, Runner, no_gpu, onnx, unusable};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

/// Each session has the whole model in memory.
const MAX_SESSIONS: usize = 2;

pub struct OnnxRuntimeSession {
    sessions: Vec<Mutex<Session>>,
    inputs: Vec<String>,
    output: String,
    on_gpu: bool,
}

/// The loaded library. It cannot be unloaded, so a different path is ignored later.
fn environment(library: &Path) -> Result<&'static Environment> {
    static LOADED: Mutex<()> = Mutex::new(());
    static ENVIRONMENT: OnceLock<(PathBuf, Environment)> = OnceLock::new();
    let _one_at_a_time = locked(&LOADED);
    if let Some((path, environment)) = ENVIRONMENT.get() {
        if path != library {
            tracing::warn!("ONNX Runtime stays loaded from {}", path.display());
        }
        return Ok(environment);
    }
    if !library.is_absolute() || !library.is_file() {
        let shown = crate::model::printable(&library.to_string_lossy());
        return Err(Error::invalid_path(format!("{shown} is not a library: it must be the full path of a file"))
            .hint("Set ORT_DYLIB_PATH or `model.onnxruntime` to the file libonnxruntime.so."));
    }
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorKind::UnsupportedFormat, format!("cannot load {}: {error}", library.display()))
            .hint("It must be ONNX Runtime 1.17 or later for this machine.")
    };
    let builder = ort::init_from(library).map_err(|error| failed(&error))?;
    let environment = builder.with_telemetry(false).build().map_err(|error| failed(&error))?;
    Ok(&ENVIRONMENT.get_or_init(|| (library.to_owned(), environment)).1)
}

/// Files of NVIDIA's driver.
const DRIVER_FILES: &[&str] = &["/dev/nvidiactl", "/dev/nvidia0", r"C:\Windows\System32\nvcuda.dll"];

/// Whether the user expects the model to run on a GPU: the library supports it, or the machine has one.
fn is_gpu_expected() -> bool {
    CUDA::is_available().unwrap_or(false) || DRIVER_FILES.iter().any(|file| Path::new(file).exists())
}

impl OnnxRuntimeSession {
    /// Loads a model, on a GPU if that is wanted and works. The second value warns if a GPU is expected but cannot be used.
    pub fn open(library: &Path, model: &[u8], gpu: Gpu) -> Result<(Self, Option<String>)> {
        let environment = environment(library)?;
        let mut warning = None;
        if gpu != Gpu::Off {
            match Self::on_gpu(environment, model) {
                Ok(session) => return Ok((session, None)),
                Err(reason) if gpu == Gpu::Required => return Err(no_gpu(reason)),
                Err(reason) if is_gpu_expected() => {
                    warning = Some(format!("no GPU can be used, the model runs on the CPU: {reason}"));
                }
                Err(_) => {}
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut sessions = Vec::new();
        for _ in 0..cores.min(MAX_SESSIONS) {
            sessions.push(load_on_cpu(environment, model).map_err(|error| unusable(brief(&error)))?);
        }
        Self::new(sessions, false).map(|session| (session, warning))
    }

    /// Runs the model once, because a library with GPU support does not imply a working GPU.
    fn on_gpu(environment: &Environment, model: &[u8]) -> Result<Self, String> {
        if !CUDA::is_available().map_err(|error| brief(&error))? {
            return Err("this ONNX Runtime was built without CUDA".to_owned());
        }
        let session = Session::builder(environment)
            .and_then(|builder| Ok(builder.with_execution_providers([CUDA::default().build().error_on_failure()])?))
            .and_then(|mut builder| builder.commit_from_memory(model))
            .map_err(|error| brief(&error))?;
        let session = Self::new(vec![session], true).map_err(|error| error.message.to_string())?;
        session.run(&[0, 1, 2, 3]).map_err(|error| error.message.to_string())?;
        Ok(session)
    }

    fn new(sessions: Vec<Session>, on_gpu: bool) -> Result<Self> {
        let names = |outlets: &[ort::value::Outlet]| -> Vec<String> {
            outlets.iter().map(|outlet| outlet.name().to_owned()).collect()
        };
        let first = sessions.first().ok_or_else(|| unusable("ONNX Runtime has no session"))?;
        let (inputs, outputs) = (names(first.inputs()), names(first.outputs()));
        let output = onnx::preferred_output(&outputs.iter().map(String::as_str)).to_owned();
        Ok(Self { inputs, output, on_gpu, sessions: sessions.into_iter().map(Mutex::new).collect() })
    }
}

fn load_on_cpu(environment: &Environment, model: &[u8]) -> ort::Result<Session> {
    Session::builder(environment)?.with_intra_threads(1)?.commit_from_memory(model)
}

/// The first line of the library's error message, without details of its internals.
fn brief(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    crate::model::printable(line).chars().take(300).collect()
}

impl Runner for OnnxRuntimeSession {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        let free = self.sessions.iter().find_map(|session| match session.try_lock() {
            Ok(free) => Some(free),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        let mut session = free.unwrap_or_else(|| locked(&self.sessions[0]));
        let failed = |error: ort::Error| unusable(brief(&error));
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for name in &self.inputs {
            let values = onnx::input_values(name, ids);
            let tensor = Tensor::from_array(([1, ids.len()], values)).map_err(failed)?;
            inputs.push((name.as_str(), SessionInputValue::from(tensor)));
        }
        let outputs = session.run(inputs).map_err(failed)?;
        let output = outputs.get(&self.output).ok_or_else(|| unusable("its output is missing"))?;
        let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let shape = shape.iter().map(|&axis| usize::try_from(axis).unwrap_or_default()).collect();
        Ok(Output { shape, values: values.to_vec() })
    }

    fn device(&self) -> String {
        if self.on_gpu { "cuda" } else { "cpu (ONNX Runtime)" }.to_owned()
    }
}
