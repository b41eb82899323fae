//! The repositories that `--repo` and `--group` name.
//!
//! Owns how they are written on the command line. Does not own which repositories they are (`workspace`).

use std::path::Path;

use super::Cli;
use crate::error::{Error, Result};

/// The repositories that are given, as the tools take them.
pub(super) fn names_of(cli: &Cli) -> Result<Vec<String>> {
    let unreadable = || Error::invalid_path("--repo is not UTF-8").hint("Go to that folder and leave --repo out.");
    let paths = cli.repo.iter().map(|path| path.to_str().map(str::to_owned).ok_or_else(unreadable));
    paths.chain(cli.group.iter().map(|group| Ok(format!("@{group}")))).collect()
}

/// Whether `--repo` is a glob, a group or a published repository, not a folder.
pub(super) fn is_pattern(path: &Path) -> bool {
    let text = path.to_string_lossy();
    (text.starts_with('@') || text.starts_with("org:") || text.contains(['*', '?', '[', '{'])) && !path.is_dir()
}
