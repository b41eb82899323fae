//! The files that a project's check takes.
//!
//! Owns the walk by the engine's own rules, which are not those of the index: `src.include` and `src.exclude` decide,
//! and ignore files where the settings do not switch them off.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ruff_db::system::walk_directory::WalkState;
use ruff_db::system::{OsSystem, System, SystemPath};
use ruff_python_ast::PySourceType;

use super::settings::Settings;

/// Walks the project. What cannot be read is left out; the walk never fails.
pub(super) fn list(settings: &Settings, root: &Path, system: &OsSystem) -> Vec<PathBuf> {
    let Some(start) = SystemPath::from_std_path(root) else { return Vec::new() };
    let found = Mutex::new(Vec::new());
    let walk = system.walk_directory(start).standard_filters(settings.respect_ignore_files).ignore_hidden(false);
    walk.run(|| {
        Box::new(|entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let path = entry.path().as_std_path();
            let relative = path.strip_prefix(&settings.root).unwrap_or(path);
            if entry.file_type().is_directory() {
                return if entry.depth() == 0 || settings.files.enters(relative) {
                    WalkState::Continue
                } else {
                    WalkState::Skip
                };
            }
            let is_python = PySourceType::try_from_path(path).is_some();
            if entry.file_type().is_file()
                && (is_python || settings.files.names(relative))
                && settings.files.takes(relative)
            {
                found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(path.to_owned());
            }
            WalkState::Continue
        })
    });
    let mut files = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    files.sort();
    files
}
