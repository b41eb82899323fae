//! The files that a check of a project covers, and its nested projects.
//!
//! Owns the directory walk by the engine's own rules, which differ from those of the index: `src.include` and
//! `src.exclude` decide, and ignore files unless the settings disable them. Other worktrees of the repository are never
//! entered. Extras decides which folder is a nested project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::api::{ProgramSettings, PySourceType, System, SystemPath, WalkState};
use super::db::{Database, Db as _, Inner};
use super::disk::Disk;
use super::settings::{self, Settings};
use crate::git_layout::Worktrees;
use crate::locked::locked;
use crate::pytypes::options;

/// The sorted files of a repository, and its nested projects, inner before outer.
///
/// A folder is a nested project if it has settings for the checker, or if it has any settings file and no folder above
/// it has one. A member of a uv workspace without settings for the checker is one if it requires another Python version.
pub(super) fn list(
    settings: &Settings,
    program: &ProgramSettings,
    root: &Path,
    system: &Disk,
) -> (Vec<PathBuf>, Vec<Inner>) {
    let worktrees = Worktrees::find(root);
    let mut walked = walk(settings, root, &worktrees, system);
    let is_whole = options::read(&settings.root).is_some();
    let whole = (settings, program);
    let mut inner: Vec<Inner> = Vec::new();
    for folder in std::mem::take(&mut walked.folders) {
        let around = inner.iter().rev().find(|one| folder.starts_with(&one.folder));
        let has_settings = is_whole || around.is_some();
        let Some(written) = options::read(&folder) else { continue };
        if has_settings && !written.has_table {
            let around = around.map_or(whole, |one| (&one.settings, &one.program));
            if let Some((settings, program)) = settings::of_member(&folder, &written, around) {
                inner.push(Inner { folder, settings, program });
            }
            continue;
        }
        let (settings, program) = settings::of_inner(&folder, root, &written, system);
        walked.files.retain(|file| !file.starts_with(&folder));
        walked.files.append(&mut walk(&settings, &folder, &worktrees, system).files);
        inner.push(Inner { folder, settings, program });
    }
    walked.files.sort();
    inner.reverse();
    (walked.files, inner)
}

/// The files that a query names: itself, or those below a folder that the settings or ignore files exclude as a whole. Rules for
/// what is below it apply.
pub(super) fn named(db: &Database, paths: &[String], root: &Path) -> Vec<PathBuf> {
    let own = db.project().files(db);
    let is_checked = |folder: &Path| {
        let mut paths = own.iter().filter_map(|file| file.path(db).as_system_path());
        paths.any(|path| path.as_std_path().starts_with(folder))
    };
    let named = paths.iter().map(PathBuf::from).flat_map(|path| {
        if !path.is_dir() {
            return vec![path];
        }
        if is_checked(&path) {
            return Vec::new();
        }
        let inner = db.project().inner(db).iter().find(|one| path.starts_with(&one.folder));
        let settings = inner.map_or_else(|| &**db.project().settings(db), |one| &one.settings);
        walk(settings, &path, &Worktrees::find(root), db.disk()).files
    });
    named.collect()
}

#[derive(Default)]
struct Walked {
    files: Vec<PathBuf>,
    /// The folders below the start that contain a settings file, outer before inner.
    folders: BTreeSet<PathBuf>,
}

/// Walks one project. Unreadable entries are skipped; the walk never fails.
fn walk(settings: &Settings, root: &Path, worktrees: &Worktrees, system: &Disk) -> Walked {
    let Some(start) = SystemPath::from_std_path(root) else { return Walked::default() };
    let walked = Mutex::new(Walked::default());
    let found = || locked(&walked);
    let walk = system.walk_directory(start).standard_filters(settings.respect_ignore_files).ignore_hidden(false);
    walk.run(|| {
        Box::new(|entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let path = entry.path().as_std_path();
            let relative = path.strip_prefix(&settings.root).unwrap_or(path);
            if entry.file_type().is_directory() {
                let is_entered = || settings.files.enters(relative) && !worktrees.include(path);
                return if entry.depth() == 0 || is_entered() { WalkState::Continue } else { WalkState::Skip };
            }
            if !entry.file_type().is_file() {
                return WalkState::Continue;
            }
            if entry.depth() > 1
                && let Some(folder) = path.parent()
                && path.file_name().is_some_and(|name| name == "pyproject.toml" || name == "ty.toml")
            {
                found().folders.insert(folder.to_owned());
            }
            let is_python = PySourceType::try_from_path(path).is_some();
            if (is_python || settings.files.names(relative)) && settings.files.takes(relative) {
                found().files.push(path.to_owned());
            }
            WalkState::Continue
        })
    });
    walked.into_inner().unwrap_or_else(PoisonError::into_inner)
}
