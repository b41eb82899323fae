//! The configuration of a model: its files, the maximum length of a text, and how token vectors are pooled.
//!
//! Owns the parsing of sentence-transformers' configuration files. If one is missing, that library's default applies.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::{Output, unusable};
use crate::error::{Error, Result};

/// Possible paths of the ONNX file, in order of preference.
pub const MODEL_FILES: &[&str] =
    &["onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx"];

/// The other files of a model; all but the first may be missing.
pub const OTHER_FILES: &[&str] = &[
    "tokenizer.json",
    "config.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
];

/// Half a billion parameters of four bytes, more than a personal computer can run in useful time.
const MAX_MODEL_BYTES: u64 = 2 << 30;
const MAX_TOKENIZER_BYTES: u64 = 64 << 20;
const MAX_CONFIG_BYTES: u64 = 4 << 20;
/// The cost of a window is quadratic in its length.
const MAX_WINDOW_TOKENS: usize = 512;

#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Hash of all files that a vector depends on, in hexadecimal.
    pub hash: String,
    /// The path of the ONNX file within the folder.
    pub model_file: &'static str,
    pub(super) pooling: Pooling,
    /// Whether vectors are scaled to length one.
    pub normalize: bool,
    /// The maximum number of tokens in a window, special tokens included.
    pub max_tokens: usize,
    pub query_prefix: String,
    pub passage_prefix: String,
    pub lower_case: bool,
}

/// How token vectors become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    First,
    Last,
    Mean,
    Max,
    /// The sum divided by the square root of the number of tokens.
    MeanRoot,
    /// Weighted by position: later tokens count more.
    Weighted,
}

impl Recipe {
    pub fn read(folder: &Path) -> Result<Self> {
        let model_file = model_file(folder)?;
        let bert = json(folder, "sentence_bert_config.json")?;
        let modules = json(folder, "modules.json")?;
        let names: Vec<&str> =
            modules.as_array().into_iter().flatten().filter_map(|module| module["type"].as_str()).collect();
        let known = |name: &&str| ["Transformer", "Pooling", "Normalize"].iter().any(|known| name.ends_with(known));
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            return Err(unusable(format!("its module {unknown:?} is not supported")));
        }
        // Without a list of modules, vectors are compared only by their angle.
        let normalize = modules.is_null() || names.iter().any(|name| name.ends_with("Normalize"));
        let prompts = json(folder, "config_sentence_transformers.json")?;
        let prompt = |names: &[&str]| {
            let found = names.iter().find_map(|name| prompts["prompts"][name].as_str());
            let default = || prompts["prompts"][prompts["default_prompt_name"].as_str()?].as_str();
            found.or_else(default).unwrap_or_default().to_owned()
        };
        Ok(Self {
            hash: hash(folder, model_file)?,
            model_file,
            pooling: Pooling::read(&json(folder, "1_Pooling/config.json")?)?,
            normalize,
            max_tokens: max_tokens(folder, &bert)?,
            query_prefix: prompt(&["query", "search_query"]),
            passage_prefix: prompt(&["passage", "document", "search_document"]),
            lower_case: bert["do_lower_case"].as_bool().unwrap_or_default(),
        })
    }

    pub fn tokenizer(&self, folder: &Path) -> Result<Vec<u8>> {
        bytes(&folder.join("tokenizer.json"), MAX_TOKENIZER_BYTES)
    }
}

/// Reads an ONNX file.
pub(super) fn model(file: &Path) -> Result<Vec<u8>> {
    bytes(file, MAX_MODEL_BYTES)
}

/// The hint if a folder contains no model.
pub const MODEL_FOLDER_HINT: &str = "A model is a folder with tokenizer.json and onnx/model.onnx or model.onnx.";

/// The ONNX file of a folder.
pub fn model_file(folder: &Path) -> Result<&'static str> {
    MODEL_FILES.iter().copied().find(|file| folder.join(file).is_file()).ok_or_else(|| {
        Error::not_found(format!("{} holds no model", crate::model::printable(&folder.to_string_lossy())))
            .hint(MODEL_FOLDER_HINT)
    })
}

/// The smallest of the limits in the configuration files, in tokens.
fn max_tokens(folder: &Path, bert: &Value) -> Result<usize> {
    let (tokenizer, config) = (json(folder, "tokenizer_config.json")?, json(folder, "config.json")?);
    let trained = bert["max_seq_length"].as_u64();
    let positions = config["max_position_embeddings"].as_u64().map(|positions| {
        // RoBERTa numbers positions from the padding token's number + 1.
        let is_shifted =
            matches!(config["model_type"].as_str(), Some("roberta" | "xlm-roberta" | "camembert" | "mpnet"));
        if is_shifted { positions.saturating_sub(2) } else { positions }
    });
    let max = trained.or_else(|| tokenizer["model_max_length"].as_u64()).unwrap_or(u64::MAX);
    let max = max.min(positions.unwrap_or(u64::MAX));
    Ok(usize::try_from(max).unwrap_or(usize::MAX).min(MAX_WINDOW_TOKENS))
}

/// Hashes the files that a vector depends on.
fn hash(folder: &Path, model_file: &str) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for name in std::iter::once(&model_file).chain(OTHER_FILES) {
        let path = folder.join(name);
        match std::fs::File::open(&path) {
            Ok(file) => {
                hasher.update(name.as_bytes()).update(&[0]);
                hasher.update_reader(file).map_err(|error| Error::io("read", &path, error))?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", &path, error)),
        }
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

fn bytes(path: &Path, max: u64) -> Result<Vec<u8>> {
    let failed = |error| Error::io("read", path, error);
    let file = std::fs::File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > max {
        let shown = crate::model::printable(&path.to_string_lossy());
        return Err(unusable(format!("{shown} is not a file of at most {} MiB", max >> 20)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(max).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads a configuration file; null if it does not exist.
fn json(folder: &Path, name: &str) -> Result<Value> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes(&path, MAX_CONFIG_BYTES)?).map_err(|_| unusable(format!("its {name} is not JSON")))
}

impl Pooling {
    fn read(config: &Value) -> Result<Self> {
        let known = [
            ("pooling_mode_cls_token", Self::First),
            ("pooling_mode_lasttoken", Self::Last),
            ("pooling_mode_max_tokens", Self::Max),
            ("pooling_mode_mean_sqrt_len_tokens", Self::MeanRoot),
            ("pooling_mode_weightedmean_tokens", Self::Weighted),
            ("pooling_mode_mean_tokens", Self::Mean),
        ];
        let chosen: Vec<Self> =
            known.iter().filter(|(name, _)| config[*name].as_bool() == Some(true)).map(|(_, mode)| *mode).collect();
        match chosen[..] {
            [] => Ok(Self::Mean),
            [one] => Ok(one),
            _ => Err(unusable("it combines several pooling modes, which is not supported")),
        }
    }

    /// Combines the token vectors of a window into one.
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens")]
    pub(super) fn pool(self, output: &Output) -> Result<Vec<f32>> {
        let (rows, width) = match output.shape[..] {
            [1, rows, width] => (rows, width),
            // The model pools itself.
            [1, _] | [_] => return Ok(output.values.clone()),
            _ => return Err(unusable("the shape of its output is not supported")),
        };
        if rows == 0 || width == 0 || output.values.len() != rows * width {
            return Err(unusable("its output is empty"));
        }
        let mut tokens = output.values.chunks_exact(width);
        let (first, last) = (&output.values[..width], &output.values[(rows - 1) * width..]);
        let summed = |weight: &dyn Fn(usize) -> f32, over: f32| {
            let mut sum = vec![0.0; width];
            for (at, token) in output.values.chunks_exact(width).enumerate() {
                sum.iter_mut().zip(token).for_each(|(sum, value)| *sum += weight(at) * value);
            }
            sum.iter_mut().for_each(|value| *value /= over);
            sum
        };
        let count = rows as f32;
        Ok(match self {
            Self::First => first.to_vec(),
            Self::Last => last.to_vec(),
            Self::Mean => summed(&|_| 1.0, count),
            Self::MeanRoot => summed(&|_| 1.0, count.sqrt()),
            Self::Weighted => summed(&|at| at as f32 + 1.0, count * (count + 1.0) / 2.0),
            Self::Max => tokens.by_ref().skip(1).fold(first.to_vec(), |mut max, token| {
                max.iter_mut().zip(token).for_each(|(max, value)| *max = max.max(*value));
                max
            }),
        })
    }
}
