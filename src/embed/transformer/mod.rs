//! A sentence-transformer that a person named: a folder with an ONNX file, a tokenizer, and how they go together.
//!
//! Owns the way from a text to its vector: tokens, windows, pooling. `recipe` reads what the folder says, `tokens` and
//! `normal` are its tokenizer, and one of two runtimes does the arithmetic in a child process (`apart`): `onnx_runtime` where
//! that library is configured, `rten_session` otherwise. `onnx` checks the file first. Does not own which model is used, nor
//! where models come from.

mod apart;
mod normal;
mod onnx;
mod onnx_runtime;
mod recipe;
mod rten_session;
mod tokens;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use super::{Embedder, Purpose, Scale, Space, Vector};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

pub use apart::serve;
pub use recipe::{A_MODEL, FILES, MODEL_FILES, Pooling, Recipe, model_file};
use tokens::Tokenizer;

/// No text takes so long, nor does reading a model.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where models run, if a person has an opinion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gpu {
    Off,
    #[default]
    Auto,
    Required,
}

impl Gpu {
    const NAMES: &[(&str, Self)] = &[("off", Self::Off), ("auto", Self::Auto), ("required", Self::Required)];

    /// The opinion of that name; none is [`Gpu::Auto`].
    pub fn named(name: &str) -> Self {
        Self::NAMES.iter().find(|(known, _)| *known == name).map_or(Self::Auto, |(_, gpu)| *gpu)
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, gpu)| *gpu == self).map_or("auto", |(name, _)| name)
    }
}

/// What a model is run with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Means {
    pub gpu: Gpu,
    /// The library of ONNX Runtime; without it rten runs the model.
    pub library: Option<PathBuf>,
    /// The file of this very program, to run the model in a process of its own; without it that is this process.
    pub program: Option<PathBuf>,
    /// After this such a process is ended.
    pub patience: Duration,
}

impl Default for Means {
    fn default() -> Self {
        Self { gpu: Gpu::default(), library: None, program: None, patience: PATIENCE }
    }
}

impl Means {
    pub fn of(settings: &crate::config::Model, program: Option<&Path>) -> Self {
        let (library, program) = (settings.runtime.clone(), program.map(Path::to_owned));
        Self { gpu: Gpu::named(&settings.gpu), library, program, patience: PATIENCE }
    }
}

/// A model that cannot be used, and why.
fn unfit(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::UnsupportedFormat, format!("the model cannot be used: {why}"))
        .hint("Choose another with `ixmcp model use`, or fetch its files again.")
}

const NO_OTHER_RUNNER: &str =
    "Mend what ORT_DYLIB_PATH or `model.onnxruntime` names, or choose another model with `ixmcp model use`.";

/// The same where another runner might be able to.
fn beyond_rten(error: Error) -> Error {
    error.hint("Name the library of ONNX Runtime by ORT_DYLIB_PATH, or choose another model with `ixmcp model use`.")
}

/// A GPU was required, and cannot be used.
fn no_gpu(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::GpuNotAvailable, format!("no GPU can be used: {why}"))
        .hint("Set `model.gpu = \"auto\"` to run on the CPU instead.")
}

/// What came out of a model for one window.
struct Output {
    /// One row a token, of one batch; or one row alone, where the model pools itself.
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// Does the arithmetic.
trait Runner: Send + Sync {
    fn run(&self, ids: &[i64]) -> Result<Output>;

    /// In words.
    fn device(&self) -> String;
}

pub struct Transformer {
    space: Space,
    recipe: Recipe,
    tokenizer: Tokenizer,
    runner: Box<dyn Runner>,
    warning: Option<String>,
    /// Told when it is first asked for, by some texts.
    scale: OnceLock<Option<Scale>>,
}

/// The models that this process has open, with what they are run with.
fn shared() -> MutexGuard<'static, Vec<(Means, PathBuf, Weak<Transformer>)>> {
    static SHARED: Mutex<Vec<(Means, PathBuf, Weak<Transformer>)>> = Mutex::new(Vec::new());
    locked(&SHARED)
}

impl Transformer {
    /// The model in `folder`, which is called `name`: the one that others in this process have, while the files are the same.
    /// It is gone when nobody has it any more.
    pub fn shared(name: &str, folder: &Path, means: &Means) -> Result<Arc<Self>> {
        let mut open = shared();
        let hash = Recipe::read(folder)?.hash;
        let named = |model: &Arc<Self>| model.space.model == name && model.space.hash == hash;
        let same = |(with, at, model): &(Means, PathBuf, Weak<Self>)| {
            if with == means && at == folder { model.upgrade().filter(named) } else { None }
        };
        if let Some(model) = open.iter().find_map(same) {
            return Ok(model);
        }
        let model = Arc::new(Self::open(name, folder, means)?);
        open.retain(|(_, _, model)| model.strong_count() > 0);
        open.push((means.clone(), folder.to_owned(), Arc::downgrade(&model)));
        Ok(model)
    }

    /// Whoever asks for this model from now on gets it anew.
    pub fn disown(model: &Arc<Self>) {
        shared().retain(|(_, _, known)| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(model)));
    }

    /// Reads the model in `folder`, which is called `name`, and tries it.
    pub fn open(name: &str, folder: &Path, means: &Means) -> Result<Self> {
        // Whatever a file makes a library do, this process goes on.
        catch_unwind(AssertUnwindSafe(|| Self::opened(name, folder, means)))
            .unwrap_or_else(|_| Err(unfit("reading it broke off")))
    }

    fn opened(name: &str, folder: &Path, means: &Means) -> Result<Self> {
        let recipe = Recipe::read(folder)?;
        let tokenizer = Tokenizer::read(&recipe.tokenizer(folder)?)?;
        if recipe.longest <= tokenizer.frame() {
            return Err(unfit("it takes no text"));
        }
        let model = folder.join(recipe.model_file);
        let (runner, warning) = match &means.program {
            Some(program) => {
                let (apart, warning) = apart::Apart::start(program, &model, means)?;
                (Box::new(apart) as Box<dyn Runner>, warning)
            }
            None => runner(&model, means)?,
        };
        let mut transformer = Self {
            space: Space { model: name.to_owned(), hash: recipe.hash.clone(), dimension: 0 },
            recipe,
            tokenizer,
            runner,
            warning,
            scale: OnceLock::new(),
        };
        // Only a run shows whether all fits together, and how many numbers come out.
        let tried = transformer.values(Purpose::Passage, "a text to try it with")?;
        if tried.is_empty() || tried.len() > LARGEST_DIMENSION || tried.iter().any(|value| !value.is_finite()) {
            return Err(unfit("it gives no vectors"));
        }
        transformer.space.dimension = tried.len();
        Ok(transformer)
    }

    /// What the model runs on, in words.
    pub fn device(&self) -> String {
        self.runner.device()
    }

    /// What a person should know: the GPU that was hoped for is not there.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The vector of a text before it is made whole numbers. A text that is longer than the model takes is read in windows
    /// of about the same length, which count by their tokens.
    pub fn values(&self, purpose: Purpose, text: &str) -> Result<Vec<f32>> {
        let prefix = match purpose {
            Purpose::Question => &self.recipe.question_prefix,
            Purpose::Passage => &self.recipe.passage_prefix,
        };
        let lower = |text: &str| if self.recipe.lower_case { text.to_lowercase() } else { text.to_owned() };
        // Prefixes belong to the first words, as the tokenizer sees them.
        let tokens = self.tokenizer.tokens(&lower(&format!("{prefix}{text}")));
        let room = self.recipe.longest - self.tokenizer.frame();
        let windows = tokens.len().div_ceil(room).max(1);
        let each = tokens.len().div_ceil(windows).max(1);
        let mut sum: Vec<f32> = Vec::new();
        let parts: Vec<&[i64]> = if tokens.is_empty() { vec![&[]] } else { tokens.chunks(each).collect() };
        for part in parts {
            let output = self.runner.run(&self.tokenizer.framed(part))?;
            let mut pooled = self.recipe.pooling.pool(&output)?;
            if self.recipe.normalise || windows > 1 {
                normalise(&mut pooled);
            }
            #[expect(clippy::cast_precision_loss, reason = "a count of tokens")]
            let weight = if windows > 1 { part.len() as f32 } else { 1.0 };
            sum.resize(pooled.len(), 0.0);
            sum.iter_mut().zip(&pooled).for_each(|(sum, value)| *sum += value * weight);
        }
        if windows > 1 {
            normalise(&mut sum);
        }
        Ok(sum)
    }
}

/// Nobody's vectors are longer.
const LARGEST_DIMENSION: usize = 8192;

impl Embedder for Transformer {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vector>> {
        let vectors = || texts.iter().map(|text| Ok(Vector::pointing(&self.values(purpose, text)?))).collect();
        catch_unwind(AssertUnwindSafe(vectors)).unwrap_or_else(|_| Err(unfit("it broke off at a text")))
    }

    fn scale(&self) -> Option<&Scale> {
        self.scale.get_or_init(|| Scale::of(self).ok().flatten()).as_ref()
    }
}

/// To length one; nothing stays nothing.
fn normalise(values: &mut [f32]) {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

/// What runs the model in this process, and a warning where that is not what was hoped for.
fn runner(model: &Path, means: &Means) -> Result<(Box<dyn Runner>, Option<String>)> {
    // A file that this program cannot take apart is not given to a library that would trust it.
    let bytes = recipe::model(model)?;
    let outline = onnx::Outline::read(&bytes)?;
    let mut warning = None;
    if let Some(library) = &means.library {
        match onnx_runtime::Session::open(library, &bytes, means.gpu) {
            Ok((session, note)) => return Ok((Box::new(session), note)),
            Err(error) if means.gpu == Gpu::Required => return Err(error),
            Err(error) => warning = Some(format!("ONNX Runtime is not used: {}", error.message)),
        }
    } else if means.gpu == Gpu::Required {
        return Err(no_gpu("a model runs there by ONNX Runtime alone, and ORT_DYLIB_PATH names no library of it"));
    }
    match rten_session::RtenSession::load(bytes, &outline) {
        Ok(session) => Ok((Box::new(session), warning)),
        Err(error) => Err(match warning {
            // What is wrong with the library is what there is to mend.
            Some(warning) => Error::new(error.kind, format!("{}; {warning}", error.message)).hint(NO_OTHER_RUNNER),
            None => beyond_rten(error),
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

    /// `references.jsonl` is what the libraries give that such models come from; `references.py` writes it.
    fn is_held_to_its_references(folder: &Path, name: &str, means: &Means) {
        let transformer = Transformer::open(name, folder, means).unwrap();
        let (mut texts, mut vectors) = (0, 0);
        for line in std::fs::read_to_string(folder.join("references.jsonl")).unwrap().lines() {
            let reference: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = reference["text"].as_str().unwrap();
            let wanted: Vec<i64> = serde_json::from_value(reference["tokens"].clone()).unwrap();
            let found = transformer.tokenizer.framed(&transformer.tokenizer.tokens(text));
            assert_eq!(found, wanted, "{name}: {text:?}");
            texts += 1;
            if let Ok(wanted) = serde_json::from_value::<Vec<f32>>(reference["vector"].clone()) {
                let found = transformer.values(Purpose::Passage, text).unwrap();
                let apart = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(found.len() == wanted.len() && apart < 1e-3, "{name}: {text:?} is {apart} apart");
                vectors += 1;
            }
        }
        assert!(texts >= 6 && vectors >= 5, "{texts} texts, {vectors} vectors");
    }

    #[test]
    fn vectors_of_a_bert_are_those_of_its_libraries() {
        is_held_to_its_references(&fixture("bert"), "bert", &Means::default());
    }

    #[test]
    fn vectors_of_an_albert_are_those_of_its_libraries() {
        is_held_to_its_references(&fixture("albert"), "albert", &Means::default());
    }

    /// A folder in the one variable: a model too large for this tree, with its references; a library in the other.
    #[test]
    fn vectors_of_a_model_at_hand_are_those_of_its_libraries() {
        let at_hand = option_env!("IXMCP_TEST_MODEL").map(PathBuf::from);
        let library = option_env!("IXMCP_TEST_ONNXRUNTIME").map(PathBuf::from);
        for folder in at_hand.iter().chain(&library.as_ref().map(|_| fixture("albert"))) {
            is_held_to_its_references(folder, "at hand", &Means { library: library.clone(), ..Means::default() });
        }
        if let Some(folder) = at_hand {
            is_held_to_its_references(&folder, "at hand", &Means::default());
        }
    }

    #[test]
    fn a_long_text_is_read_to_its_end() {
        let transformer = Transformer::open("bert", &fixture("bert"), &Means::default()).unwrap();
        let values = |text: &str| transformer.values(Purpose::Passage, text).unwrap();
        let long = "walk the tree and hash each file ".repeat(12);
        let other = format!("{long} then draw a picture of a cat in the rain");
        assert!(cosine(&values(&long), &values(&other)) < 0.999_99);
        // What is said again and again in each window is what it says once, nearly.
        assert!(cosine(&values(&long), &values("walk the tree and hash each file")) > 0.9);
        let length: f32 = values(&other).iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-4);
    }

    #[test]
    fn what_is_broken_is_refused_and_breaks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let copy = |from: &str| {
            for entry in [from, "onnx/model.onnx", "tokenizer.json", "config.json", "sentence_bert_config.json"] {
                let to = folder.path().join(entry);
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                let _ = std::fs::copy(fixture("bert").join(entry), to);
            }
        };
        let refused = |what: &str| {
            let error = Transformer::open("broken", folder.path(), &Means::default()).err();
            assert_eq!(error.as_ref().map(|error| error.kind), Some(ErrorKind::UnsupportedFormat), "{what}");
        };
        copy("modules.json");
        for tokenizer in ["", "[]", "{}", r#"{"model": {"type": "BPE"}}"#] {
            std::fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
            refused("tokenizer");
        }
        copy("modules.json");
        std::fs::write(folder.path().join("modules.json"), r#"[{"type": "sentence_transformers.models.Dense"}]"#)
            .unwrap();
        refused("a part that is not known");
    }

    #[test]
    fn a_gpu_that_is_asked_for_and_not_there_is_an_error() {
        let means = Means { gpu: Gpu::Required, ..Means::default() };
        let error = Transformer::open("bert", &fixture("bert"), &means).err().unwrap();
        assert_eq!(error.kind, ErrorKind::GpuNotAvailable);
    }
}
