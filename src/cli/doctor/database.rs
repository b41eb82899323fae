//! Whether the index exists, is an undamaged index of ixmcp, and has this program's schema.

use std::path::Path;
use std::sync::Arc;

use super::super::sync::size;
use super::{DoctorContext, Finding, Level, output};
use crate::budget::{Budget, Progress};
use crate::error::{ErrorKind, Result};
use crate::platform::files;
use crate::repository::{self, Thoroughness};
use crate::scan::Rules;
use crate::store::{Mode, Store};
use crate::update;
use crate::{scan, store};

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if scan::tracks_under(&context.root, ".ixmcp") {
        let message = "git tracks files in .ixmcp: they are not trusted, and rebuilt each time";
        findings.push(Finding::new(Level::Warning, message).remedy("Run `git rm -r --cached .ixmcp`."));
    }
    let path = context.database();
    if !path.exists() {
        findings.push(none_yet());
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
            Finding::new(Level::Error, message).remedy(REBUILD).fixed_by(rebuild)
        }
        Ok(faults) => content(context, &path, faults.is_some())?,
        // The next command upgrades or replaces it.
        Err(error) if error.kind == ErrorKind::ReadOnly || Store::is_of_another_build(&path) => {
            Finding::from_error(Level::Note, &error)
        }
        Err(error) if error.kind == ErrorKind::CorruptIndex => {
            Finding::from_error(Level::Error, &error).remedy(REBUILD).fixed_by(rebuild)
        }
        Err(error) => Finding::from_error(Level::Error, &error),
    });
    findings.extend(elsewhere(context, &path));
    findings.extend(free_space(&path));
    Ok(findings)
}

/// That the index is not in the repository.
fn elsewhere(context: &DoctorContext, path: &Path) -> Option<Finding> {
    let folder = path.parent().filter(|folder| repository::is_elsewhere(&context.root, folder))?;
    let reason = if files::may_write(&context.root) { "its file system has no locks" } else { "it cannot be written" };
    let message = format!("the index is in {}, not in the repository: {reason}", folder.display());
    Some(Finding::new(Level::Note, message).remedy("Nothing to do. The index can be deleted at any time."))
}

fn none_yet() -> Finding {
    let remedy = "Run `ixmcp sync`, or any query: the first one builds it.";
    Finding::new(Level::Note, "there is no index yet").remedy(remedy)
}

/// Reports the contents of an index that has no faults.
fn content(context: &DoctorContext, path: &Path, was_looked_through: bool) -> Result<Finding> {
    let (files, is_built, skipped) = Store::open(path, Mode::Read)?.read(&Budget::unlimited(), |snapshot| {
        Ok((snapshot.file_count()?, snapshot.is_built()?, snapshot.skipped_counts()?))
    })?;
    let held = output::count(files, "file", "files");
    Ok(if !is_built && files == 0 {
        // Commands that only read the disk leave an empty one.
        none_yet()
    } else if !is_built {
        let message =
            format!("the index is incomplete: its first build is running or was interrupted, with {held} so far");
        Finding::new(Level::Warning, message)
            .remedy("Run `ixmcp sync`, which continues it. On a full disk, free some space first.")
            .fixed_by(sync)
    } else if files == 0 {
        let sources = &context.session.sources;
        let rules = Rules::new(&sources.load(&context.root)?.index).with_environment(&sources.environment);
        Finding::new(Level::Warning, repository::without_files(&context.root, &rules, &skipped))
    } else if was_looked_through {
        Finding::new(Level::Ok, format!("the index is sound: {held}, schema {}", store::schema_version()))
    } else {
        Finding::new(Level::Note, "the index is read-only, so it was not checked")
            .remedy("Make the folder .ixmcp writable.")
    })
}

/// That the disk is nearly full: then changes are not taken in.
fn free_space(database: &Path) -> Option<Finding> {
    let left = files::free_space(database.parent()?).filter(|left| *left < MIN_FREE_SPACE)?;
    let message = format!("the disk of the index has {} left", size(left));
    Some(Finding::new(Level::Warning, message).remedy(
        "Free some space on it: until then changes may be missing from the index, and answers are marked stale.",
    ))
}

/// An update of some files writes as much into the log.
const MIN_FREE_SPACE: u64 = 8 << 20;

const REBUILD: &str =
    "Run `ixmcp rebuild`: it builds the index again, and keeps a file that is not ixmcp's as index.db.bad.";

fn rebuild(context: &DoctorContext) -> Result<()> {
    let sources = Arc::clone(&context.session.sources);
    update::rebuild(&context.root, sources, &Progress::default(), &Budget::unlimited()).map(drop)
}

fn sync(context: &DoctorContext) -> Result<()> {
    let workspace = context.session.workspaces.at(&context.root)?;
    workspace.sync(Thoroughness::Changed, &Arc::default(), &Budget::unlimited()).map(drop)
}
