//! Which folders' ignore files may be read.
//!
//! The crate that reads them opens whatever is there: reading a link to an endless device, or a named pipe, would never
//! return. Owns that check and no other rule.

use std::path::Path;

use crate::error::{Error, Result};
use crate::git_layout::pointed_to;
use crate::model::printable;
use crate::platform::paths::canonical;

pub(super) const RULE_FILES: &[&str] = &[".gitignore", ".ignore", ".rgignore"];

/// No one writes this many rules.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Whether every ignore file in `folder` is absent, or a regular file of sane size that lies in the repository.
pub(super) fn is_safe(root: &Path, folder: &Path) -> bool {
    RULE_FILES.iter().all(|name| is_readable(root, &folder.join(name))) && is_git_safe(root, folder)
}

/// As [`is_safe`], of every folder between the root and `path`, which is below it and none of those.
pub(super) fn is_way_safe(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
    folders.into_iter().all(|folder| is_safe(root, &root.join(folder)))
}

/// The root must be safe, or nothing can be said of the repository.
pub(super) fn check_root(root: &Path) -> Result<()> {
    std::fs::read_dir(root).map_err(|error| Error::io("read the repository", root, error))?;
    if is_safe(root, root) {
        return Ok(());
    }
    let shown = printable(&root.to_string_lossy());
    let what = format!("an ignore file in {shown} is not a regular file of at most 4 MiB inside the repository");
    Err(Error::invalid_path(what).hint("Fix it or remove it."))
}

/// What is read of a `.git`: its exclusions, and the file that points elsewhere.
fn is_git_safe(root: &Path, folder: &Path) -> bool {
    let git = folder.join(".git");
    let Ok(found) = std::fs::symlink_metadata(&git) else { return true };
    if found.is_file() {
        // A worktree's or submodule's: the folder it names lies where git put it.
        let Ok(directory) = pointed_to(folder, &git, &found) else { return found.len() <= LARGEST };
        return is_plain(&directory.join("commondir")) && is_plain(&directory.join("info/exclude"));
    }
    let names = ["commondir", "info/exclude"];
    names.iter().all(|name| if folder == root { is_plain(&git.join(name)) } else { is_readable(root, &git.join(name)) })
}

/// Absent, or a regular file of sane size, wherever it is; or a folder, of which nothing is read.
pub(super) fn is_plain(file: &Path) -> bool {
    std::fs::metadata(file).map_or(true, |found| found.is_dir() || (found.is_file() && found.len() <= LARGEST))
}

/// As [`is_plain`], and no link out of the repository.
fn is_readable(root: &Path, file: &Path) -> bool {
    match std::fs::symlink_metadata(file) {
        Err(_) => true,
        Ok(found) if found.is_symlink() => match canonical(file) {
            Ok(target) => target.starts_with(root) && is_plain(&target),
            Err(_) => true,
        },
        Ok(found) => found.is_dir() || (found.is_file() && found.len() <= LARGEST),
    }
}
