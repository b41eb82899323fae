//! Files before and after edits: as a patch, or written.
//!
//! Owns what commands with `--apply` write: files that nothing else has changed meanwhile, all of them or none.

use std::path::Path;

use super::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::query::patch::{self, Edit};

/// A file before and after its edits.
pub(super) struct Edited {
    file: String,
    before: Vec<u8>,
    after: String,
    pub patch: String,
}

/// Applies edits, which are sorted, to the text of a file.
pub(super) fn edited(session: &Session, file: &str, edits: &[Edit]) -> Result<Edited> {
    let files = &session.workspace()?.files;
    let (shown, before) = files.read_exactly(file)?;
    let text = std::str::from_utf8(&before).map_err(|_| {
        Error::new(ErrorKind::UnsupportedFormat, format!("{} is not UTF-8", printable(&shown)))
            .hint("`--json` prints the edits.")
    })?;
    let both = patch::applied(text, edits).zip(patch::unified(&shown, text, edits));
    let (after, patch) = both.ok_or_else(|| was_changed(&shown))?;
    let (_, absolute) = files.locate(file)?;
    Ok(Edited { file: absolute.to_string_lossy().into_owned(), before, after, patch })
}

fn was_changed(file: &str) -> Error {
    let message = format!("{} was changed meanwhile", printable(file));
    Error::new(ErrorKind::Busy, message).hint("Run the command again.")
}

/// Replaces the files, if none of them has changed since it was read.
pub(super) fn write(files: &[Edited]) -> Result<()> {
    for Edited { file, before, .. } in files {
        if std::fs::read(file).ok().as_ref() != Some(before) {
            return Err(was_changed(file));
        }
    }
    for Edited { file, after, .. } in files {
        let path = Path::new(file);
        replace(path, after.as_bytes(), Permissions::Keep, Durability::Synced)
            .map_err(|error| Error::io("write", path, error))?;
    }
    Ok(())
}
