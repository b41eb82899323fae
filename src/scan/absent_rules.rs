//! Ignore files that a sparse checkout leaves out: git reads them from its index while their folders exist.
//!
//! Owns which of them are needed, and their contents, for which git is asked once. Does not own the index (`tracked`), how git is
//! run (`git_objects`), nor what patterns mean (`patterns`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::tracked::{self, Absent};
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::Result;
use crate::git_config::Directories;
use crate::git_objects::Objects;
use crate::git_settings::MAX_BYTES;
use crate::locked::locked;
use crate::model::printable;
use crate::platform::paths::of_git;

/// How long git may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Folders on disk that a sparse checkout leaves out, in which ignore files are looked for.
const MAX_FOLDERS: usize = 10_000;

/// Contents by the name of the object: the id of a blob, or the id of a tree with the path of a file in it. They never change. `None`:
/// git does not have it.
type Contents = HashMap<String, Option<Arc<[u8]>>>;

/// Where the contents come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// Contents as read before.
    known: Arc<Mutex<Contents>>,
    /// Where git is; `None`: it is not asked.
    environment: Option<Arc<Environment>>,
}

impl Source {
    pub(super) fn new(environment: &Environment) -> Self {
        Self { environment: Some(Arc::new(environment.clone())), ..Self::default() }
    }
}

/// The contents of ignore files that are not on disk, by the path of their folder from the top of the work tree.
#[derive(Default)]
pub(super) struct AbsentRules(HashMap<Vec<u8>, Arc<[u8]>>);

impl AbsentRules {
    /// Reads the ignore files of the folders on disk. `inside` is the path of the root from the top of the work tree.
    pub(super) fn read(
        directories: &Directories,
        inside: &[u8],
        tracked: &Mutex<tracked::Cache>,
        source: &Source,
        problems: &mut Vec<String>,
    ) -> Self {
        // A damaged index is reported where files are listed by it.
        let tracked = tracked::read_cached(directories, inside, tracked).ok().flatten();
        let Some(absent) = tracked.map(|tracked| tracked.absent.clone()) else { return Self::default() };
        let needed = needed(&directories.top, &absent);
        let missing: Vec<&str> = {
            let known = locked(&source.known);
            needed.iter().map(|(_, name)| name.as_str()).filter(|name| !known.contains_key(*name)).collect()
        };
        if !missing.is_empty() {
            match contents(directories, source, &missing) {
                Ok(contents) => {
                    let contents = contents.into_iter().map(|bytes| bytes.map(Arc::from));
                    locked(&source.known).extend(missing.iter().map(|name| (*name).to_owned()).zip(contents));
                }
                Err(error) => {
                    let top = printable(&directories.top.to_string_lossy());
                    problems.push(format!("ignore files that the sparse checkout of {top} leaves out: {error}"));
                }
            }
        }
        let known = locked(&source.known);
        let mut found = Self::default();
        for (folder, name) in needed {
            match known.get(&name) {
                Some(Some(bytes)) => drop(found.0.insert(folder, Arc::clone(bytes))),
                // A partial clone may lack it. Of a folder that is left out, it is not known whether it has one.
                Some(None) if !name.contains(':') => {
                    let folder = printable(&of_git(&folder).to_string_lossy());
                    problems
                        .push(format!("{folder}/.gitignore is not checked out, and git does not have its contents"));
                }
                _ => {}
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn in_folder(&self, folder: &[u8]) -> Option<Arc<[u8]>> {
        self.0.get(folder).cloned()
    }
}

/// The ignore files whose folders are on disk and that are not: the folder, and the name of the object.
fn needed(top: &Path, absent: &Absent) -> Vec<(Vec<u8>, String)> {
    let is_folder = |path: &[u8]| top.join(of_git(path)).symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_there = |path: &[u8]| top.join(of_git(path)).join(".gitignore").symlink_metadata().is_ok();
    let mut needed: Vec<(Vec<u8>, String)> =
        absent.rule_files.iter().filter(|(folder, _)| is_folder(folder) && !is_there(folder)).cloned().collect();
    let mut folders: Vec<(Vec<u8>, &str, String)> = absent
        .folders
        .iter()
        .filter(|(folder, _)| is_folder(folder))
        .map(|(folder, id)| (folder.clone(), id.as_str(), String::new()))
        .collect();
    let mut count = 0;
    while let Some((folder, tree, below)) = folders.pop() {
        count += 1;
        if count > MAX_FOLDERS {
            break;
        }
        if !is_there(&folder) {
            needed.push((folder.clone(), format!("{tree}:{below}.gitignore")));
        }
        for entry in std::fs::read_dir(top.join(of_git(&folder))).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != ".git" && !name.contains('\n')) else { continue };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(([&folder, name.as_bytes()].join(&b'/'), tree, format!("{below}{name}/")));
            }
        }
    }
    needed
}

fn contents(directories: &Directories, source: &Source, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>> {
    let Some(environment) = &source.environment else { return Ok(vec![None; names.len()]) };
    let objects = Objects::open(&directories.top, environment)?;
    objects.blobs(names, MAX_BYTES, &Budget::lasting(TIMEOUT))
}
