//! Whether the index is there, ours, of this version, and sound.

use std::path::Path;
use std::sync::Arc;

use super::super::sync::size;
use super::{Finding, Ground, Level, output};
use crate::budget::{Budget, Progress};
use crate::error::{ErrorKind, Result};
use crate::index::{self, Thoroughness};
use crate::platform::files;
use crate::store::{Fact, Mode, Store};
use crate::{scan, store};

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
        Ok(faults) => content(&path, faults.is_some())?,
        // The next command upgrades or replaces it.
        Err(error) if error.kind == ErrorKind::ReadOnly || Store::is_of_another_build(&path) => {
            Finding::of(Level::Note, &error)
        }
        Err(error) if error.kind == ErrorKind::CorruptIndex => {
            Finding::of(Level::Error, &error).remedy(REBUILD).mended_by(rebuild)
        }
        Err(error) => Finding::of(Level::Error, &error),
    });
    findings.extend(free_space(&path));
    Ok(findings)
}

/// What an index holds that has no faults.
fn content(path: &Path, was_looked_through: bool) -> Result<Finding> {
    let (files, is_built) = Store::open(path, Mode::Read)?
        .read(&Budget::unlimited(), |snapshot| Ok((snapshot.file_count()?, snapshot.fact(Fact::Built)?.is_some())))?;
    let held = output::count(files, "file", "files");
    Ok(if !is_built {
        let message = format!("the index is incomplete: its first build goes on or was broken off, with {held} so far");
        Finding::new(Level::Warning, message)
            .remedy("Run `ixmcp sync`, which goes on with it. On a full disk, make room first.")
            .mended_by(sync)
    } else if was_looked_through {
        Finding::new(Level::Ok, format!("the index is sound: {held}, schema {}", store::schema_version()))
    } else {
        Finding::new(Level::Note, "the index can be read but not written, so it was not looked through")
            .remedy("Make the folder .ixmcp writable.")
    })
}

/// That the disk is nearly full: then changes are not taken in.
fn free_space(database: &Path) -> Option<Finding> {
    let left = files::free_space(database.parent()?).filter(|left| *left < LITTLE_ROOM)?;
    let message = format!("the disk of the index has {} left", size(left));
    Some(
        Finding::new(Level::Warning, message)
            .remedy("Make room on it: until then changes may be missing from the index, and answers are marked stale."),
    )
}

/// An update of some files writes as much into the log.
const LITTLE_ROOM: u64 = 8 << 20;

const REBUILD: &str =
    "Run `ixmcp rebuild`: it makes the index anew, and keeps a file that is not ixmcp's as index.db.bad.";

fn rebuild(ground: &Ground) -> Result<()> {
    let sources = Arc::clone(&ground.session.sources);
    index::rebuild(&ground.root, sources, &Progress::default(), &Budget::unlimited()).map(drop)
}

fn sync(ground: &Ground) -> Result<()> {
    let workspace = ground.session.workspaces.at(&ground.root)?;
    workspace.sync(Thoroughness::Changed, &Arc::default(), &Budget::unlimited()).map(drop)
}
