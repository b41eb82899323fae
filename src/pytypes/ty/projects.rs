//! The projects that a check covers, for an installed ty, which is run in each.
//!
//! Owns which project a file belongs to. The folders of nested projects are found by `files`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::api::File;
use super::db::{Database, Db as _};
use crate::pytypes::nested_project;
use crate::pytypes::values::{ProjectCheck, Projects};

/// The projects of these files, which are those that a check of `within` takes: everything if that is empty.
///
/// A member of a uv workspace belongs to the project around it, as it does for ty started there, unless it is all that is
/// asked for.
pub(super) fn covered(db: &Database, files: &[File], within: &[String], root: &Path) -> Projects {
    let within: Vec<&Path> = within.iter().map(Path::new).collect();
    let nested = db.project().inner(db).iter().filter(|one| one.settings.root == one.folder);
    let named = match within.as_slice() {
        [one] if one.is_dir() => nested_project(one, root).filter(|home| home == one),
        _ => None,
    };
    let roots: BTreeSet<PathBuf> = nested.map(|one| one.folder.clone()).chain(named).chain([root.to_owned()]).collect();
    let project_of = |path: &Path| path.ancestors().find(|folder| roots.contains(*folder)).map(Path::to_owned);
    let homes: Vec<Option<PathBuf>> =
        files.iter().map(|file| project_of(file.path(db).as_system_path()?.as_std_path())).collect();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let is_part_of_larger = db.project().settings(db).root != root;
    let check = |home: &PathBuf| {
        let is_whole = within.is_empty() || within.iter().any(|one| home.starts_with(one));
        let paths: Vec<String> = match is_whole {
            true if home == root && is_part_of_larger => vec![text(root)],
            true => Vec::new(),
            false => within.iter().filter(|one| project_of(one).as_ref() == Some(home)).map(|one| text(one)).collect(),
        };
        let files = homes.iter().filter(|of| of.as_ref() == Some(home)).count();
        (is_whole || !paths.is_empty()).then(|| ProjectCheck { root: text(home), paths, files })
    };
    Projects { roots: roots.iter().map(|root| text(root)).collect(), checks: roots.iter().filter_map(check).collect() }
}
