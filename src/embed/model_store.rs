//! The model store: a folder of downloaded embedding models in the user's data folder, one folder per model.
//!
//! Owns the names of models and the layout of the store. `cli` downloads models, `transformer` runs them.

use std::path::{Path, PathBuf};

use super::transformer::{MODEL_FILES, MODEL_FOLDER_HINT, OTHER_FILES, model_file};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::model::{Stat, printable};
use crate::platform::files::stat_of;
use crate::wording::{Command, Wording};

/// Model that `ixmcp model pull` downloads if no name is given.
pub const DEFAULT: &str = "Xenova/paraphrase-albert-small-v2";

const MAX_NAME_BYTES: usize = 200;

/// A model in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredModel {
    pub name: String,
    pub folder: PathBuf,
    pub bytes: u64,
}

/// The folder of this user's models.
pub fn location(environment: &Environment) -> Result<PathBuf> {
    environment.data_folder().map(|folder| folder.join("models")).ok_or_else(|| {
        Error::not_found("there is no folder for models").hint("Set HOME, or XDG_DATA_HOME to a full path.")
    })
}

/// Whether a text is a valid model name: `name` or `owner/name`, as on model hubs.
pub fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with('.') && !part.contains("..") && part.chars().all(fits)
    };
    text.len() <= MAX_NAME_BYTES && text.split('/').count() <= 2 && text.split('/').all(is_part)
}

/// The folder of a model, whether or not it exists.
pub fn folder_of(store: &Path, name: &str) -> Result<PathBuf> {
    if is_name(name) {
        return Ok(store.join(name));
    }
    Err(Error::invalid_argument(format!("{:?} is not a valid model name", printable(name))).hint(
        Wording::from(format!("A valid name is {DEFAULT}, for example."))
            .then((Command("model list"), " lists the installed models.")),
    ))
}

/// The error for a selected model that is missing. It was selected by its name or by the path of its folder.
pub fn missing(name: &str) -> Error {
    let shown = printable(name);
    let hint = if is_name(name) {
        let pull = format!("model pull {shown}");
        Wording::from((
            "Download it with ",
            Command(&pull),
            ", or select another with ",
            Command("model use"),
            "; ",
            Command("model list"),
            " lists the installed models.",
        ))
    } else {
        Wording::from(MODEL_FOLDER_HINT).then((
            "Select its folder with ",
            Command("model use FOLDER"),
            ", or an installed model; ",
            Command("model list"),
            " lists them.",
        ))
    };
    Error::not_found(format!("the model {shown} was not found")).hint(hint)
}

/// All models in the store, sorted by name.
pub fn list(store: &Path) -> Vec<StoredModel> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
    };
    let mut models = Vec::new();
    for first in folders(store) {
        for folder in std::iter::once(first.clone()).chain(folders(&first)) {
            let name = folder.strip_prefix(store).ok().and_then(Path::to_str).filter(|name| is_name(name));
            if let Some(name) = name.filter(|_| is_model(&folder)) {
                models.push(StoredModel { name: name.to_owned(), bytes: size(&folder), folder: folder.clone() });
            }
        }
    }
    models.sort_by(|a, b| a.name.cmp(&b.name));
    models
}

/// Whether a folder contains the files that a model needs.
pub fn is_model(folder: &Path) -> bool {
    folder.join("tokenizer.json").is_file() && model_file(folder).is_ok()
}

/// The metadata of a model's files. It changes when the files in a folder are replaced.
pub type Stamp = Vec<Option<Stat>>;

/// The current stamp of a model's files.
pub fn stamp(folder: &Path) -> Stamp {
    let files = MODEL_FILES.iter().chain(OTHER_FILES);
    files.map(|file| std::fs::metadata(folder.join(file)).ok().map(|metadata| stat_of(&metadata))).collect()
}

/// The size of a model's files in bytes.
pub fn size(folder: &Path) -> u64 {
    let files = MODEL_FILES.iter().chain(OTHER_FILES);
    files.filter_map(|file| std::fs::metadata(folder.join(file)).ok()).map(|file| file.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lead_out_of_the_store() {
        for name in [DEFAULT, "all-MiniLM-L6-v2", "a/b_c.d"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "/etc", "../x", "a/../b", "a/b/c", "a//b", ".hidden", "a b", "a\\b", "a/.b", "naïve"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
