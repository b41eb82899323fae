//! Files before and after edits, as a patch or written to disk.
//!
//! Owns which files commands with `--apply` write: those that the edits were computed for, and no later version of
//! them.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::rewrite::{self, Change, Settled, was_changed};
use super::{Session, output};
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::files;
use crate::query::patch::{self, Edit};

/// A file before and after its edits.
pub(super) struct Edited {
    file: PathBuf,
    before: Vec<u8>,
    after: String,
    pub patch: String,
}

/// Edits that are being computed.
pub(super) struct Planning<'s> {
    session: &'s Session,
    /// In nanoseconds since 1970.
    began: i64,
}

/// Says that a killed command left some files replaced and others not. Where that cannot be read, `ixmcp doctor` says why.
pub(super) fn note_interrupted(root: &Path, environment: &Environment) {
    if let Ok(Some(found)) = rewrite::interrupted(root, environment) {
        let files = output::count(found.total as u64, "file", "files");
        output::note(&format!(
            "an interrupted command replaced {} of {files}: `ixmcp doctor edits --fix` finishes or undoes that",
            found.replaced
        ));
    }
}

impl<'s> Planning<'s> {
    /// Begins before the edits are computed. For edits that are applied, what an interrupted command left is settled first.
    pub fn begin(session: &'s Session, applies: bool) -> Result<Self> {
        if applies {
            let root = session.workspaces.root(&session.start)?;
            match rewrite::settle(&root, &session.sources.environment)? {
                Settled::Nothing => {}
                Settled::Undone => output::note("the edits of an interrupted command were undone"),
                Settled::Finished => output::note("the edits of an interrupted command were finished"),
            }
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Ok(Self { session, began: i64::try_from(now).unwrap_or(i64::MAX) })
    }

    /// Applies edits, which are sorted, to the text of a file.
    pub fn edited(&self, file: &str, edits: &[Edit]) -> Result<Edited> {
        let files = &self.session.workspace()?.files;
        let (_, absolute) = files.locate(file)?;
        let (shown, before) = files.read_exactly(file)?;
        let metadata = absolute.metadata().map_err(|error| Error::io("read", &absolute, error))?;
        // The edits may be for the text before that change.
        if files::stat_of(&metadata).ctime_ns > self.began {
            return Err(was_changed(&absolute));
        }
        let text = std::str::from_utf8(&before).map_err(|_| {
            Error::new(ErrorKind::UnsupportedFormat, format!("{} is not UTF-8", printable(&shown)))
                .hint("`--json` prints the edits.")
        })?;
        let both = patch::applied(text, edits).zip(patch::unified(&shown, text, edits));
        let (after, patch) = both.ok_or_else(|| was_changed(&absolute))?;
        Ok(Edited { file: absolute, before, after, patch })
    }

    /// Replaces the files, all or none.
    pub fn write(&self, files: &[Edited]) -> Result<()> {
        let changes =
            files.iter().map(|Edited { file, before, after, .. }| Change { file, before, after: after.as_bytes() });
        let changes: Vec<Change> = changes.filter(|change| change.before != change.after).collect();
        let root = self.session.workspaces.root(&self.session.start)?;
        rewrite::replace_all(&root, &self.session.sources.environment, &changes)
    }
}
