//! The other worktrees of the repository, the sizes of their indexes, and indexes of worktrees that git has forgotten.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::sync::size;
use super::{DoctorContext, Finding, Level, output};
use crate::error::{Error, Result};
use crate::git_layout;
use crate::model::{RepoPath, SkipReason};
use crate::platform::files::is_own;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = git_layout::siblings(&context.root)
        .iter()
        .map(|worktree| {
            let index =
                index_size(worktree).map_or_else(|| "no index".to_owned(), |bytes| format!("index {}", size(bytes)));
            Finding::new(Level::Ok, format!("{}: {index}", worktree.display()))
        })
        .collect();
    let forgotten = forgotten(context);
    if !forgotten.is_empty() {
        let bytes: u64 = forgotten.iter().filter_map(|folder| index_size(folder)).sum();
        let names: Vec<String> = forgotten.iter().map(|folder| folder.display().to_string()).collect();
        let worktrees = output::count(forgotten.len() as u64, "worktree", "worktrees");
        let message = format!("git has forgotten {worktrees} with an index ({}): {}", size(bytes), names.join(", "));
        findings.push(
            Finding::new(Level::Note, message)
                .remedy("Delete the folder .ixmcp in each of them.")
                .fixed_by(delete_forgotten),
        );
    }
    Ok(findings)
}

/// Nested worktrees that git has forgotten, and that have an index.
fn forgotten(context: &DoctorContext) -> Vec<PathBuf> {
    let skipped = context.ask(|snapshot| snapshot.skipped()).unwrap_or_default();
    let nested = skipped.into_iter().filter(|left| left.reason == SkipReason::Worktree);
    let folders = nested.filter_map(|left| Some(RepoPath::new(left.path)?.to_path(&context.root)));
    folders.filter(|folder| git_layout::is_forgotten(folder) && index_size(folder).is_some()).collect()
}

fn delete_forgotten(context: &DoctorContext) -> Result<()> {
    for folder in forgotten(context) {
        let index = folder.join(".ixmcp");
        fs::remove_dir_all(&index).map_err(|error| Error::io("remove", &index, error))?;
    }
    Ok(())
}

/// Bytes of the index of a worktree with its log; `None` if it has none that belongs to this user.
fn index_size(worktree: &Path) -> Option<u64> {
    let folder = worktree.join(".ixmcp");
    let own = |path: &Path| fs::symlink_metadata(path).ok().filter(is_own);
    own(&folder).filter(fs::Metadata::is_dir)?;
    let database = own(&folder.join("index.db")).filter(fs::Metadata::is_file)?;
    Some(database.len() + own(&folder.join("index.db-wal")).map_or(0, |log| log.len()))
}
