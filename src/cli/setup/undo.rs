//! The state of a file before setup changed it, kept so that `--remove` can restore it.
//!
//! Owns `$XDG_STATE_HOME/ixmcp/setup/<hash of the file's path>.json`, which only this user can read. It holds what differs
//! between the two texts, not the rest of the file, which may contain keys. It counts as long as the file is what setup
//! wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::Edit;
use crate::config::Environment;
use crate::platform::replace::{Durability, Permissions, replace};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Undo {
    /// For people who read the file; `load` checks it as well.
    file: PathBuf,
    /// Hash of the text that setup wrote.
    written: String,
    /// `None`: there was no file.
    previous: Option<Previous>,
    /// Folders that setup created, the innermost first.
    folders: Vec<PathBuf>,
}

/// The previous text, as it differs from the new one.
#[derive(Debug, Deserialize, Serialize)]
struct Previous {
    /// Bytes at the beginning and at the end that both texts have.
    start: usize,
    end: usize,
    /// The previous text between them.
    text: String,
}

impl Undo {
    /// Records an edit that creates `folders`. If the file was still as an `earlier` edit left it, its previous text
    /// remains the one to restore.
    pub fn new(edit: &Edit, earlier: Option<Self>, folders: Vec<PathBuf>) -> Self {
        let original = earlier.and_then(|undo| Some((undo.previous(edit.before.as_deref()?)?, undo.folders)));
        let (before, folders) = original.unwrap_or_else(|| (edit.before.clone(), folders));
        let after = edit.after.as_deref().unwrap_or_default();
        let previous = before.map(|before| Previous::compute(&before, after));
        Self { file: edit.file.clone(), written: hash(after), previous, folders }
    }

    pub fn load(file: &Path, environment: &Environment) -> Option<Self> {
        let text = fs::read_to_string(path(file, environment)?).ok()?;
        serde_json::from_str::<Self>(&text).ok().filter(|undo| undo.file == file)
    }

    /// Without it, `--remove` removes the entry alone.
    pub fn save(&self, environment: &Environment) {
        let Some(path) = path(&self.file, environment) else { return };
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            replace(&path, &serde_json::to_vec(self)?, Permissions::Private, Durability::Unsynced)
        };
        if let Err(error) = write() {
            tracing::warn!(%error, file = %path.display(), "what the settings were is not kept");
        }
    }

    /// The file's previous text, if `text` is what setup wrote; the inner `None`: there was no file.
    pub fn previous(&self, text: &str) -> Option<Option<String>> {
        if hash(text) != self.written {
            return None;
        }
        let Some(Previous { start, end, text: middle }) = &self.previous else { return Some(None) };
        let (first, last) = (text.get(..*start)?, text.get(text.len().checked_sub(*end)?..)?);
        Some(Some(format!("{first}{middle}{last}")))
    }

    /// Whether the file existed before.
    pub const fn had_file(&self) -> bool {
        self.previous.is_some()
    }

    /// Forgets this after the removal. `is_deleted`: the file is; then so are the folders that were created for it, as far
    /// as they are empty.
    pub fn done(self, is_deleted: bool, environment: &Environment) {
        if let Some(path) = path(&self.file, environment) {
            let _is_gone = fs::remove_file(path);
        }
        if is_deleted {
            let _first_in_use = self.folders.iter().find(|folder| fs::remove_dir(folder).is_err());
        }
    }
}

impl Previous {
    fn compute(before: &str, after: &str) -> Self {
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let mut start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        while !(before.is_char_boundary(start) && after.is_char_boundary(start)) {
            start -= 1;
        }
        let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
        let mut end = ends.take_while(|(a, b)| a == b).count();
        while !(before.is_char_boundary(old.len() - end) && after.is_char_boundary(new.len() - end)) {
            end -= 1;
        }
        Self { start, end, text: before[start..old.len() - end].to_owned() }
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn path(file: &Path, environment: &Environment) -> Option<PathBuf> {
    let name = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
    Some(environment.state_folder()?.join("setup").join(format!("{}.json", &name[..32])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_texts::Random;

    #[test]
    fn the_previous_text_is_restored_from_what_differs() {
        let pieces = ["é", "ê", "a", "\"mcpServers\": {", "}", ",", "\n", "ü", "🙂", "🙃", "\u{feff}"];
        let mut random = Random(11);
        for _ in 0..5_000 {
            let text = |random: &mut Random| {
                (0..random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect::<String>()
            };
            let (before, after) = (text(&mut random), text(&mut random));
            let edit = Edit { file: PathBuf::from("/x"), before: Some(before.clone()), after: Some(after.clone()) };
            let undo = Undo::new(&edit, None, Vec::new());
            assert_eq!(undo.previous(&after), Some(Some(before.clone())), "{before:?} {after:?}");
            assert_eq!(undo.previous(&format!("{after} ")), None);
        }
    }
}
