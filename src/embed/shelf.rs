//! The models that a person has: one folder each, by name, in the user's own data folder.
//!
//! Owns names and what lies there. Fetching one is `cli`'s, running one `transformer`'s.

use std::path::{Path, PathBuf};

use super::transformer::{A_MODEL, FILES, MODEL_FILES, model_file};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::model::{Stat, printable};
use crate::platform::files::stat_of;

/// What `ixmcp model pull` fetches when no name is given.
pub const DEFAULT: &str = "Xenova/paraphrase-albert-small-v2";

/// Longer names are none.
const LONGEST: usize = 200;

/// A model on the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    pub name: String,
    pub folder: PathBuf,
    pub bytes: u64,
}

/// Where the models of this person lie.
pub fn of(environment: &Environment) -> Result<PathBuf> {
    environment.data_folder().map(|folder| folder.join("models")).ok_or_else(|| {
        Error::not_found("there is no folder for models").hint("Set HOME, or XDG_DATA_HOME to a full path.")
    })
}

/// Whether that can be a model's name: `name` or `owner/name`, as hubs have them.
pub fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with('.') && !part.contains("..") && part.chars().all(fits)
    };
    text.len() <= LONGEST && text.split('/').count() <= 2 && text.split('/').all(is_part)
}

/// Where the model of that name lies or would lie.
pub fn folder_of(shelf: &Path, name: &str) -> Result<PathBuf> {
    if is_name(name) {
        return Ok(shelf.join(name));
    }
    Err(Error::invalid_argument(format!("{:?} is no name of a model", printable(name)))
        .hint(format!("A name is like {DEFAULT}; `ixmcp model list` shows those that are here.")))
}

/// The error of a model that is not here, chosen by its name or by the path of its folder.
pub fn missing(name: &str) -> Error {
    let shown = printable(name);
    let way = if is_name(name) {
        format!(
            "Fetch it with `ixmcp model pull {shown}`, or choose another with `ixmcp model use`; `ixmcp model list` shows what is here."
        )
    } else {
        format!(
            "{A_MODEL} Name where it lies with `ixmcp model use FOLDER`; `ixmcp model list` shows those that have a name."
        )
    };
    Error::not_found(format!("the model {shown} is not here")).hint(way)
}

/// All models there are, by name.
pub fn list(shelf: &Path) -> Vec<Shelved> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
    };
    let mut found = Vec::new();
    for first in folders(shelf) {
        for folder in std::iter::once(first.clone()).chain(folders(&first)) {
            let name = folder.strip_prefix(shelf).ok().and_then(Path::to_str).filter(|name| is_name(name));
            if let Some(name) = name.filter(|_| is_model(&folder)) {
                found.push(Shelved { name: name.to_owned(), bytes: size(&folder), folder: folder.clone() });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Whether a folder holds what a model needs.
pub fn is_model(folder: &Path) -> bool {
    folder.join("tokenizer.json").is_file() && model_file(folder).is_ok()
}

/// Tells the files of one model from those of another in the same folder.
pub type Stamp = Vec<Option<Stat>>;

/// As the files of a model are now.
pub fn stamp(folder: &Path) -> Stamp {
    let files = MODEL_FILES.iter().chain(FILES);
    files.map(|file| std::fs::metadata(folder.join(file)).ok().map(|found| stat_of(&found))).collect()
}

/// Bytes of a model's files.
pub fn size(folder: &Path) -> u64 {
    let files = MODEL_FILES.iter().chain(FILES);
    files.filter_map(|file| std::fs::metadata(folder.join(file)).ok()).map(|file| file.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_the_shelf() {
        for name in [DEFAULT, "all-MiniLM-L6-v2", "a/b_c.d"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "/etc", "../x", "a/../b", "a/b/c", "a//b", ".hidden", "a b", "a\\b", "a/.b", "naïve"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
