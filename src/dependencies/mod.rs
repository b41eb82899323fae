//! A repository's dependencies, and the folders with their sources on this machine.
//!
//! Owns reading the manifests and lock files of Cargo, npm, Python and Go, and the folders in which their package managers keep
//! sources. Downloads nothing and runs nothing. Does not own the indexes of those sources (`repository`).
//!
//! Manifests belong to the repository and are not trusted: names and versions are checked before they become parts of paths, and
//! a folder counts only if it really is where its package manager keeps sources.

mod cargo;
mod go;
mod manifests;
mod npm;
mod python;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::platform::paths::canonical;

/// Why a dependency has no folder of sources.
const NOT_HERE: &str = "its sources are not on this machine";
const NOT_INSTALLED: &str = "it is not installed";
const SINGLE_FILE: &str = "it has no folder of Python sources";

/// A package that a repository depends on, with one of its folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// `cargo`, `npm`, `pypi` or `go`.
    pub ecosystem: &'static str,
    pub name: String,
    /// Empty if it is not known.
    pub version: String,
    /// Whether the repository names it, not only what it depends on.
    pub is_direct: bool,
    /// The folder of the sources, without links; or why there is none.
    pub sources: Result<PathBuf, &'static str>,
}

/// The dependencies of the repository at `root`: direct ones first, then by ecosystem, name and version. No folder occurs twice.
pub fn list(root: &Path, environment: &Environment) -> Vec<Dependency> {
    let manifests = manifests::find(root);
    let mut found = Vec::new();
    found.extend(manifests.cargo_locks.iter().flat_map(|lock| cargo::list(lock, environment)));
    found.extend(npm::list(&manifests.npm_packages, root));
    found.extend(python::list(&manifests, root, environment));
    found.extend(manifests.go_mods.iter().flat_map(|file| go::list(file, environment)));
    let place = |one: &Dependency| (!one.is_direct, one.ecosystem, one.name.clone(), one.version.clone());
    found.sort_by_cached_key(|one| (place(one), one.sources.clone()));
    let mut seen = BTreeSet::new();
    found.retain(|one| match &one.sources {
        // The repository is not a dependency of itself.
        Ok(folder) => seen.insert(folder.clone()) && !root.starts_with(folder),
        Err(_) => true,
    });
    found.dedup();
    found
}

/// Whether a text can be one component of a path: a name or version as package managers admit them.
fn is_component(text: &str) -> bool {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.+~!@".contains(character);
    !text.is_empty() && text.len() <= 200 && !text.starts_with('.') && text.chars().all(is_plain)
}

/// The folder `base/below` without links, if it exists and really is in `base`.
fn folder_in(base: &Path, below: impl AsRef<Path>) -> Option<PathBuf> {
    let base = canonical(base).ok()?;
    let folder = canonical(&base.join(below)).ok()?;
    (folder.is_dir() && folder != base && folder.starts_with(&base)).then_some(folder)
}

/// The folders in `folder`, in order.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_components() {
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a\nb", "a b", "ü"] {
            assert!(!is_component(name), "{name:?}");
        }
        for name in ["serde", "1.0.0+build-1", "v0.0.0-20210101-abc", "left-pad", "typing_extensions", "!burnt!sushi"] {
            assert!(is_component(name), "{name:?}");
        }
    }
}
