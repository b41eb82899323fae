//! The history of a path: the commits that changed it, and the files that they changed with it.
//!
//! Owns how renames are followed, and what counts as changing together. Does not own the history of lines (`repository`).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::{CommitId, CommittedFiles, Snapshot, StoredCommit};

/// Names that a file had before are followed so often.
const MAX_RENAMES: usize = 20;
/// Commits of a file among which those that touched its lines are looked for.
const MAX_OF_FILE: usize = 2_000;
/// Files that changed together less often did so by chance.
const LEAST_COMMITS: u32 = 2;
const LEAST_SHARE: f64 = 0.1;

/// A file that was changed together with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangesWith {
    pub file_path: String,
    /// Commits that changed both.
    pub commits: u32,
    /// Their share of the commits that changed the other file.
    pub share: f64,
}

/// The commits that changed a file, under its earlier names too, or the files below a folder, newest first.
pub fn of_path(snapshot: &Snapshot, path: &str, most: usize) -> Result<Vec<StoredCommit>> {
    let (of_file, _) = commits(snapshot, path, most, false)?;
    if of_file.is_empty() && snapshot.file(path)?.is_none() {
        return snapshot.commits_of_folder(path, most);
    }
    Ok(of_file)
}

/// The newest commit that changed a file with that path.
pub fn newest_of_path(snapshot: &Snapshot, path: &str) -> Result<Option<StoredCommit>> {
    Ok(snapshot.commits_of_path(path, 1)?.pop().map(|(commit, _)| commit))
}

/// The commits that may have changed the lines of a file, and the paths that it had: another branch may have changed it under an earlier
/// name after it was renamed.
pub fn of_lines(snapshot: &Snapshot, path: &str) -> Result<(Vec<StoredCommit>, Vec<String>)> {
    commits(snapshot, path, MAX_OF_FILE, true)
}

/// The commits that changed a file, newest first, and the paths that it had.
fn commits(
    snapshot: &Snapshot,
    path: &str,
    most: usize,
    on_branches: bool,
) -> Result<(Vec<StoredCommit>, Vec<String>)> {
    let mut found: Vec<StoredCommit> = Vec::new();
    let mut seen: HashSet<CommitId> = HashSet::new();
    let mut names: Vec<(String, i64)> = vec![(path.to_owned(), i64::MAX)];
    let mut at = 0;
    while at < names.len() && at < MAX_RENAMES {
        let (name, until) = names[at].clone();
        at += 1;
        for (commit, from) in snapshot.commits_of_path(&name, most)? {
            // A name may have belonged to another file later.
            if commit.corrected_time > until && !on_branches {
                continue;
            }
            if let Some(from) = from.filter(|from| names.iter().all(|(known, _)| known != from)) {
                names.push((from, commit.corrected_time));
            }
            if seen.insert(commit.id) {
                found.push(commit);
            }
        }
    }
    found.sort_by(|a, b| b.corrected_time.cmp(&a.corrected_time).then_with(|| a.hash.cmp(&b.hash)));
    found.truncate(most);
    Ok((found, names.into_iter().map(|(name, _)| name).collect()))
}

/// The files that were most often changed with these, without them: for each, the most that one of these says.
pub fn changes_with(snapshot: &Snapshot, paths: &[&str], most: usize) -> Result<Vec<ChangesWith>> {
    let committed = snapshot.committed_files()?;
    let own: HashSet<u32> = paths.iter().filter_map(|path| committed.number(path)).collect();
    let mut best: HashMap<u32, (u32, f64)> = HashMap::new();
    for file in &own {
        for (other, commits) in together(&committed, *file) {
            let share = f64::from(commits) / f64::from(committed.commits_of[*file as usize].max(1));
            let known = best.entry(other).or_default();
            if !own.contains(&other) && (share, commits) > (known.1, known.0) {
                *known = (commits, share);
            }
        }
    }
    let mut found: Vec<ChangesWith> = best
        .into_iter()
        .filter(|(_, (commits, share))| *commits >= LEAST_COMMITS && *share >= LEAST_SHARE)
        .map(|(file, (commits, share))| ChangesWith {
            file_path: committed.paths[file as usize].clone(),
            commits,
            share: (share * 100.0).round() / 100.0,
        })
        .collect();
    let weight = |one: &ChangesWith| one.share * f64::from(one.commits).sqrt();
    found.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.file_path.cmp(&b.file_path)));
    found.truncate(most);
    Ok(found)
}

/// How many commits changed each other file with this one.
fn together(committed: &CommittedFiles, file: u32) -> HashMap<u32, u32> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for at in 0..committed.commits.len() {
        let files = committed.files_of(at);
        if files.contains(&file) {
            files.iter().filter(|other| **other != file).for_each(|other| *counts.entry(*other).or_default() += 1);
        }
    }
    counts
}
