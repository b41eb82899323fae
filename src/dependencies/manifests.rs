//! The manifests of a repository: the files that name what it depends on.
//!
//! Owns where they are looked for. Does not own what they mean.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are looked into, nearest first.
const MAX_FOLDERS: usize = 2_000;
/// Levels below the root.
const MAX_DEPTH: usize = 5;
/// A lock file of a thousand packages has a tenth.
const MAX_BYTES: u64 = 8 << 20;

/// Folders of other people's code, of build outputs, and of manifests that are test data.
const LEFT_OUT: &[&str] =
    &["node_modules", "target", "vendor", "dist", "build", "venv", "__pycache__", "testdata", "fixtures"];

#[derive(Default)]
pub(super) struct Manifests {
    pub cargo_locks: Vec<PathBuf>,
    pub npm_packages: Vec<PathBuf>,
    pub pyprojects: Vec<PathBuf>,
    /// `requirements*.txt`.
    pub requirements: Vec<PathBuf>,
    pub go_mods: Vec<PathBuf>,
}

/// The manifests at and below `root`, those of the root first.
pub(super) fn find(root: &Path) -> Manifests {
    let mut manifests = Manifests::default();
    let mut pending = VecDeque::from([(root.to_owned(), 0)]);
    let mut looked_into = 0;
    while let Some((folder, depth)) = pending.pop_front() {
        looked_into += 1;
        if looked_into > MAX_FOLDERS {
            break;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries: Vec<_> = entries
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)))
            .collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in entries {
            if kind.is_dir() && depth < MAX_DEPTH && !name.starts_with('.') && !LEFT_OUT.contains(&name.as_str()) {
                pending.push_back((folder.join(name), depth + 1));
            } else if kind.is_file()
                && let Some(list) = manifests.list_of(&name)
            {
                list.push(folder.join(name));
            }
        }
    }
    manifests
}

impl Manifests {
    fn list_of(&mut self, name: &str) -> Option<&mut Vec<PathBuf>> {
        match name {
            "Cargo.lock" => Some(&mut self.cargo_locks),
            "package.json" => Some(&mut self.npm_packages),
            "pyproject.toml" => Some(&mut self.pyprojects),
            "go.mod" => Some(&mut self.go_mods),
            name if name.starts_with("requirements") && name.ends_with(".txt") => Some(&mut self.requirements),
            _ => None,
        }
    }
}

/// The text of a manifest; `None` if it cannot be one.
pub(super) fn text_of(file: &Path) -> Option<String> {
    let found = fs::symlink_metadata(file).ok()?;
    if !found.is_file() || found.len() > MAX_BYTES {
        return None;
    }
    fs::read_to_string(file).ok()
}
