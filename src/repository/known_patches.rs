//! How commits changed the files whose lines were followed last.
//!
//! Owns which comparisons are kept: those of a few files, since commits never change and the definitions of one file are asked for one
//! after another. Does not own how commits are compared (`git_objects`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::git_objects::Patch;
use crate::locked::locked;

/// Files whose patches are kept, and commits of each.
const FILES: usize = 4;
const COMMITS: usize = 8_192;

/// How a commit differs from each of its parents.
pub(super) type CommitPatches = Arc<Vec<Vec<Patch>>>;

/// How commits changed one file, by their ids.
#[derive(Default)]
pub(super) struct FilePatches(Mutex<HashMap<String, CommitPatches>>);

impl FilePatches {
    pub fn get(&self, commit: &str) -> Option<CommitPatches> {
        locked(&self.0).get(commit).cloned()
    }

    pub fn insert(&self, commit: &str, patches: CommitPatches) {
        let mut known = locked(&self.0);
        if known.len() >= COMMITS {
            known.clear();
        }
        known.insert(commit.to_owned(), patches);
    }
}

/// Patches of the files that were asked for last.
#[derive(Default)]
pub(super) struct KnownPatches {
    /// Each with the key that names the file and what decides how git compares it; the last one is the newest.
    files: Vec<(String, Arc<FilePatches>)>,
}

impl KnownPatches {
    pub fn of_file(&mut self, key: String) -> Arc<FilePatches> {
        let at = self.files.iter().position(|(known, _)| *known == key);
        let kept = at.map(|at| self.files.remove(at).1).unwrap_or_default();
        if self.files.len() >= FILES {
            self.files.remove(0);
        }
        self.files.push((key, Arc::clone(&kept)));
        kept
    }
}
