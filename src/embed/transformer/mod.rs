//! An embedding model that the user selected: a sentence-transformer in a folder with an ONNX file, a tokenizer and their
//! configuration.
//!
//! Owns the steps from a text to its vector: tokens, windows, pooling. `recipe` reads the configuration, `tokens` runs the
//! tokenizer, and one of two runtimes runs the model in a child process (`child`): `onnx_runtime` if that library is
//! configured, `rten_session` otherwise. `onnx` checks the file first. Does not own which model is selected, or where models
//! come from.

mod child;
mod onnx;
mod onnx_runtime;
mod recipe;
mod rten_session;
mod tokens;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use strum_macros::{EnumString, IntoStaticStr};

use super::{Calibration, Embedder, Purpose, Space, Vector};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::wording::{Command, Wording};

pub use child::serve;
pub use recipe::{MODEL_FILES, MODEL_FOLDER_HINT, OTHER_FILES, Recipe, model_file};
use tokens::Tokenizer;

/// Maximum length of a reason that a library reports, in characters.
const MAX_REASON: usize = 160;
/// For loading a model, and for embedding one text.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The setting `model.gpu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Gpu {
    Off,
    #[default]
    Auto,
    Required,
}

impl Gpu {
    /// Parses the setting; an unknown name is [`Gpu::Auto`].
    pub fn named(name: &str) -> Self {
        name.parse().unwrap_or_default()
    }

    fn name(self) -> &'static str {
        self.into()
    }
}

/// How a model is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerConfig {
    pub gpu: Gpu,
    /// The library of ONNX Runtime. Without it, rten runs the model.
    pub library: Option<PathBuf>,
    /// The executable of this program, which runs the model in a child process. Without it, the model runs in this
    /// process.
    pub program: Option<PathBuf>,
    /// A child process that does not answer within this time is killed.
    pub timeout: Duration,
}

impl Default for RunnerConfig {
    fn default() -> Self {
        Self { gpu: Gpu::default(), library: None, program: None, timeout: TIMEOUT }
    }
}

impl RunnerConfig {
    pub fn from_settings(settings: &crate::config::Model, program: Option<&Path>) -> Self {
        let (library, program) = (settings.runtime.clone(), program.map(Path::to_owned));
        Self { gpu: Gpu::named(&settings.gpu), library, program, timeout: TIMEOUT }
    }
}

/// A model that cannot be used, and why.
fn unusable(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::UnsupportedFormat, format!("the model cannot be used: {why}")).hint((
        "Select another with ",
        Command("model use"),
        ", or download its files again.",
    ))
}

/// The first line of a library's error, which may quote a model's file.
fn reason(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    crate::model::printable(line).chars().take(MAX_REASON).collect()
}

/// The hint if the configured ONNX Runtime cannot be used and rten cannot run the model.
fn fix_onnx_runtime() -> Wording {
    let path = "Correct the path in ORT_DYLIB_PATH or `model.onnxruntime`, or select another model with ";
    (path, Command("model use"), ".").into()
}

/// The hint if rten cannot run the model and ONNX Runtime is not configured.
fn try_onnx_runtime() -> Wording {
    let path = "Set ORT_DYLIB_PATH to the path of ONNX Runtime's library, which may be able to run it, or select another model with ";
    (path, Command("model use"), ".").into()
}

/// A GPU is required and cannot be used.
fn no_gpu(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::GpuNotAvailable, format!("no GPU can be used: {why}"))
        .hint("Set `model.gpu = \"auto\"` to run on the CPU instead.")
}

/// A model's output for one window.
struct Output {
    /// A batch of one with a row per token, or a single row if the model pools itself.
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// Runs a model on the tokens of one window.
trait Runner: Send + Sync {
    fn run(&self, ids: &[i64]) -> Result<Output>;

    /// The device, as shown to users.
    fn device(&self) -> String;
}

pub struct Transformer {
    space: Space,
    recipe: Recipe,
    tokenizer: Tokenizer,
    runner: Box<dyn Runner>,
    warning: Option<String>,
    /// Computed on first use, by embedding some texts.
    calibration: OnceLock<Option<Calibration>>,
}

/// The models that are open in this process.
fn shared() -> MutexGuard<'static, Vec<(RunnerConfig, PathBuf, Weak<Transformer>)>> {
    static SHARED: Mutex<Vec<(RunnerConfig, PathBuf, Weak<Transformer>)>> = Mutex::new(Vec::new());
    locked(&SHARED)
}

impl Transformer {
    /// The model `name` in `folder`, shared within this process while its files are unchanged. It is closed when the last
    /// user drops it.
    pub fn shared(name: &str, folder: &Path, config: &RunnerConfig) -> Result<Arc<Self>> {
        let mut open = shared();
        let hash = Recipe::read(folder)?.hash;
        let named = |model: &Arc<Self>| model.space.model == name && model.space.hash == hash;
        let same = |(other, at, model): &(RunnerConfig, PathBuf, Weak<Self>)| {
            if other == config && at == folder { model.upgrade().filter(named) } else { None }
        };
        if let Some(model) = open.iter().find_map(same) {
            return Ok(model);
        }
        let model = Arc::new(Self::open(name, folder, config)?);
        open.retain(|(_, _, model)| model.strong_count() > 0);
        open.push((config.clone(), folder.to_owned(), Arc::downgrade(&model)));
        Ok(model)
    }

    /// Stops sharing this model: later calls of [`Transformer::shared`] open it again.
    pub fn unshare(model: &Arc<Self>) {
        shared().retain(|(_, _, known)| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(model)));
    }

    /// Reads the model `name` in `folder` and embeds a text to test it.
    pub fn open(name: &str, folder: &Path, config: &RunnerConfig) -> Result<Self> {
        // A file may make a library panic; this process must survive it.
        catch_unwind(AssertUnwindSafe(|| Self::open_unguarded(name, folder, config)))
            .unwrap_or_else(|_| Err(unusable("the runtime crashed while loading it")))
    }

    fn open_unguarded(name: &str, folder: &Path, config: &RunnerConfig) -> Result<Self> {
        let recipe = Recipe::read(folder)?;
        let tokenizer = Tokenizer::read(&recipe.tokenizer(folder)?)?;
        if recipe.max_tokens <= tokenizer.special_tokens() {
            return Err(unusable("its window has no space for a text"));
        }
        let model = folder.join(recipe.model_file);
        let (runner, warning) = match &config.program {
            Some(program) => {
                let (runner, warning) = child::ChildRunner::start(program, &model, config)?;
                (Box::new(runner) as Box<dyn Runner>, warning)
            }
            None => runner(&model, config)?,
        };
        let mut transformer = Self {
            space: Space { model: name.to_owned(), hash: recipe.hash.clone(), dimension: 0 },
            recipe,
            tokenizer,
            runner,
            warning,
            calibration: OnceLock::new(),
        };
        // Only a run shows whether the files fit together, and what the dimension is.
        let values = transformer.values(Purpose::Passage, "a text to try it with")?;
        if values.is_empty() || values.len() > MAX_DIMENSION || values.iter().any(|value| !value.is_finite()) {
            return Err(unusable("its output is not a vector"));
        }
        transformer.space.dimension = values.len();
        Ok(transformer)
    }

    /// The device that the model runs on, as shown to users.
    pub fn device(&self) -> String {
        self.runner.device()
    }

    /// Why the model does not run as configured, for example because no GPU works.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The vector of a text before quantization. A text that exceeds the model's window is split into windows of about the
    /// same length, whose vectors are averaged, weighted by their tokens.
    pub fn values(&self, purpose: Purpose, text: &str) -> Result<Vec<f32>> {
        let prefix = match purpose {
            Purpose::Query => &self.recipe.query_prefix,
            Purpose::Passage => &self.recipe.passage_prefix,
        };
        let lower = |text: &str| if self.recipe.lower_case { text.to_lowercase() } else { text.to_owned() };
        // The tokenizer may join the end of the prefix and the first word, so both are tokenized together.
        let tokens = self.tokenizer.tokens(&lower(&format!("{prefix}{text}")))?;
        let window = self.recipe.max_tokens - self.tokenizer.special_tokens();
        let windows = tokens.len().div_ceil(window).max(1);
        let each = tokens.len().div_ceil(windows).max(1);
        let mut sum: Vec<f32> = Vec::new();
        let parts: Vec<&[i64]> = if tokens.is_empty() { vec![&[]] } else { tokens.chunks(each).collect() };
        for part in parts {
            let output = self.runner.run(&self.tokenizer.with_special_tokens(part))?;
            let mut pooled = self.recipe.pooling.pool(&output)?;
            if self.recipe.normalize || windows > 1 {
                normalize(&mut pooled);
            }
            #[expect(clippy::cast_precision_loss, reason = "a count of tokens")]
            let weight = if windows > 1 { part.len() as f32 } else { 1.0 };
            sum.resize(pooled.len(), 0.0);
            sum.iter_mut().zip(&pooled).for_each(|(sum, value)| *sum += value * weight);
        }
        if windows > 1 {
            normalize(&mut sum);
        }
        Ok(sum)
    }
}

const MAX_DIMENSION: usize = 8192;

impl Embedder for Transformer {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
        let vectors = || texts.iter().map(|text| Ok(Vector::quantized(&self.values(purpose, text)?))).collect();
        catch_unwind(AssertUnwindSafe(vectors)).unwrap_or_else(|_| Err(unusable("the runtime crashed at a text")))
    }

    fn calibration(&self) -> Option<&Calibration> {
        self.calibration.get_or_init(|| Calibration::measure(self).ok().flatten()).as_ref()
    }
}

/// Scales a vector to length one. A zero vector stays zero.
fn normalize(values: &mut [f32]) {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

/// Loads the model in this process. The second value warns if it does not run as configured.
fn runner(model: &Path, config: &RunnerConfig) -> Result<(Box<dyn Runner>, Option<String>)> {
    // Runtimes trust the file, so it is parsed here first.
    let bytes = recipe::model(model)?;
    let outline = onnx::Outline::read(&bytes)?;
    let mut warning = None;
    if let Some(library) = &config.library {
        match onnx_runtime::OnnxRuntimeSession::open(library, &bytes, config.gpu) {
            Ok((session, warning)) => return Ok((Box::new(session), warning)),
            Err(error) if config.gpu == Gpu::Required => return Err(error),
            Err(error) => warning = Some(format!("ONNX Runtime is not used: {}", error.message)),
        }
    } else if config.gpu == Gpu::Required {
        return Err(no_gpu("only ONNX Runtime supports GPUs, and ORT_DYLIB_PATH is not set to its library"));
    }
    match rten_session::RtenSession::load(bytes, &outline) {
        Ok(session) => Ok((Box::new(session), warning)),
        Err(error) => Err(match warning {
            Some(warning) => Error::new(error.kind, format!("{}; {warning}", error.message)).hint(fix_onnx_runtime()),
            None => error.hint(try_onnx_runtime()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/models").join(name)
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    /// Compares with `references.jsonl`, which `references.py` writes with the models' original libraries.
    fn assert_equals_references(folder: &Path, name: &str, config: &RunnerConfig) {
        let transformer = Transformer::open(name, folder, config).unwrap();
        let (mut texts, mut vectors) = (0, 0);
        for line in std::fs::read_to_string(folder.join("references.jsonl")).unwrap().lines() {
            let reference: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = reference["text"].as_str().unwrap();
            let expected: Vec<i64> = serde_json::from_value(reference["tokens"].clone()).unwrap();
            let tokens = transformer.tokenizer.with_special_tokens(&transformer.tokenizer.tokens(text).unwrap());
            assert_eq!(tokens, expected, "{name}: {text:?}");
            texts += 1;
            if let Ok(expected) = serde_json::from_value::<Vec<f32>>(reference["vector"].clone()) {
                let values = transformer.values(Purpose::Passage, text).unwrap();
                let difference = values.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(
                    values.len() == expected.len() && difference < 1e-3,
                    "{name}: {text:?} differs by {difference}"
                );
                vectors += 1;
            }
        }
        assert!(texts >= 6 && vectors >= 5, "{texts} texts, {vectors} vectors");
    }

    #[test]
    fn vectors_of_a_bert_equal_those_of_its_libraries() {
        assert_equals_references(&fixture("bert"), "bert", &RunnerConfig::default());
    }

    #[test]
    fn vectors_of_an_albert_equal_those_of_its_libraries() {
        assert_equals_references(&fixture("albert"), "albert", &RunnerConfig::default());
    }

    #[test]
    fn vectors_of_a_roberta_equal_those_of_its_libraries() {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(fixture("roberta")).unwrap().map(Result::unwrap) {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        std::fs::copy(fixture("bert/onnx/model.onnx"), folder.path().join("model.onnx")).unwrap();
        assert_equals_references(folder.path(), "roberta", &RunnerConfig::default());
    }

    /// `IXMCP_TEST_MODEL` is the folder of a model with its references, `IXMCP_TEST_ONNXRUNTIME` the library:
    /// `.ci/soak model`.
    #[test]
    #[ignore = "takes a model that is too large for this repository, and ONNX Runtime"]
    fn vectors_of_a_local_model_equal_those_of_its_libraries() {
        let given = |name: &str| PathBuf::from(std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set")));
        let (local, library) = (given("IXMCP_TEST_MODEL"), Some(given("IXMCP_TEST_ONNXRUNTIME")));
        let with_library = RunnerConfig { library, ..RunnerConfig::default() };
        assert_equals_references(&fixture("albert"), "albert", &with_library);
        assert_equals_references(&local, "local", &with_library);
        assert_equals_references(&local, "local", &RunnerConfig::default());
    }

    #[test]
    fn a_long_text_is_read_to_its_end() {
        let transformer = Transformer::open("bert", &fixture("bert"), &RunnerConfig::default()).unwrap();
        let values = |text: &str| transformer.values(Purpose::Passage, text).unwrap();
        let long = "walk the tree and hash each file ".repeat(12);
        let other = format!("{long} then draw a picture of a cat in the rain");
        assert!(cosine(&values(&long), &values(&other)) < 0.999_99);
        // A text that repeats one sentence has nearly the same vector as that sentence.
        assert!(cosine(&values(&long), &values("walk the tree and hash each file")) > 0.9);
        let length: f32 = values(&other).iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-4);
    }

    #[test]
    fn broken_models_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let copy = |from: &str| {
            for entry in [from, "onnx/model.onnx", "tokenizer.json", "config.json", "sentence_bert_config.json"] {
                let to = folder.path().join(entry);
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                let _ = std::fs::copy(fixture("bert").join(entry), to);
            }
        };
        let refused = |what: &str| {
            let error = Transformer::open("broken", folder.path(), &RunnerConfig::default()).err();
            assert_eq!(error.as_ref().map(|error| error.kind), Some(ErrorKind::UnsupportedFormat), "{what}");
        };
        copy("modules.json");
        let bert = std::fs::read_to_string(fixture("bert").join("tokenizer.json")).unwrap();
        // The library panics at the first text.
        let panicking = bert.replace(r#""id":"[CLS]","type_id":0"#, r#""id":"[NONE]","type_id":0"#);
        assert_ne!(panicking, bert);
        for tokenizer in ["", "[]", "{}", r#"{"model": {"type": "BPE"}}"#, &panicking] {
            std::fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
            refused("tokenizer");
        }
        copy("modules.json");
        std::fs::write(folder.path().join("modules.json"), r#"[{"type": "sentence_transformers.models.Dense"}]"#)
            .unwrap();
        refused("an unknown module");
    }

    #[test]
    fn a_required_gpu_that_is_not_available_is_an_error() {
        let config = RunnerConfig { gpu: Gpu::Required, ..RunnerConfig::default() };
        let error = Transformer::open("bert", &fixture("bert"), &config).err().unwrap();
        assert_eq!(error.kind, ErrorKind::GpuNotAvailable);
    }
}
