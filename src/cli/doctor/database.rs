//! Whether the index is there, ours, of this version, and sound.

use std::sync::Arc;

use super::{Finding, Ground, Level};
use crate::budget::{Budget, Progress};
use crate::error::{ErrorKind, Result};
use crate::store::{Mode, Store};
use crate::{index, scan, store};

pub(super) fn look(ground: &Ground) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if scan::tracks_under(&ground.root, ".ixmcp") {
        let message = "git tracks files in .ixmcp: they are not trusted, and made anew each time";
        findings.push(Finding::new(Level::Warning, message).remedy("Run `git rm -r --cached .ixmcp`."));
    }
    let path = ground.database();
    if !path.exists() {
        let remedy = "Run `ixmcp sync`, or ask something: the first question makes it.";
        findings.push(Finding::new(Level::Note, "there is no index yet").remedy(remedy));
        return Ok(findings);
    }
    let sound = Store::open(&path, Mode::Read).and_then(|_| {
        let writable = Store::open(&path, Mode::Write);
        if writable.as_ref().is_err_and(|error| error.kind == ErrorKind::ReadOnly) {
            return Ok(None);
        }
        writable?.faults().map(Some)
    });
    findings.push(match sound {
        Ok(Some(faults)) if !faults.is_empty() => {
            let message =
                format!("the index is damaged: {}", faults.into_iter().take(3).collect::<Vec<_>>().join("; "));
            Finding::new(Level::Error, message).remedy(REBUILD).mended_by(rebuild)
        }
        Ok(faults) => {
            let files = ground.ask(|snapshot| snapshot.file_count()).unwrap_or_default();
            let schema = store::schema_version();
            let sound = format!("the index is sound: {files} files, schema {schema}");
            match faults {
                Some(_) => Finding::new(Level::Ok, sound),
                None => {
                    Finding::new(Level::Note, "the index can be read but not written, so it was not looked through")
                        .remedy("Make the folder .ixmcp writable.")
                }
            }
        }
        // The next command upgrades or replaces it.
        Err(error) if error.kind == ErrorKind::ReadOnly || Store::is_of_another_build(&path) => {
            Finding::of(Level::Note, &error)
        }
        Err(error) if error.kind == ErrorKind::CorruptIndex => {
            Finding::of(Level::Error, &error).remedy(REBUILD).mended_by(rebuild)
        }
        Err(error) => Finding::of(Level::Error, &error),
    });
    Ok(findings)
}

const REBUILD: &str =
    "Run `ixmcp rebuild`: it makes the index anew, and keeps a file that is not ixmcp's as index.db.bad.";

fn rebuild(ground: &Ground) -> Result<()> {
    let sources = Arc::clone(&ground.session.sources);
    index::rebuild(&ground.root, sources, &Progress::default(), &Budget::unlimited()).map(drop)
}
