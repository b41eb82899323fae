//! Where git keeps a repository: its directory, what its worktrees share, and which folders are other worktrees of it.
//!
//! Owns the reading of `.git` files and of `commondir`. Git itself is never run. Nothing that these files contain is trusted:
//! paths in them may lead anywhere, in cycles or nowhere. A path that a nested folder names is only compared, never entered.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::paths::canonical;

/// A `.git` file is one line; a longer file is not one.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// The nearest folder at or above `root` with a `.git`, and git's directory for it.
pub fn directory(root: &Path) -> Option<(PathBuf, PathBuf)> {
    root.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let metadata = std::fs::metadata(&git).ok()?;
        let directory = if metadata.is_dir() { git } else { pointed_to(folder, &git, &metadata).ok()? };
        directory.join("HEAD").exists().then(|| (folder.to_path_buf(), directory))
    })
}

/// Where git keeps what the worktrees of a repository share.
pub fn common_directory(directory: &Path) -> PathBuf {
    let file = directory.join("commondir");
    let common = std::fs::metadata(&file).and_then(|found| read_line(&file, &found));
    common.map_or_else(|_| directory.to_path_buf(), |common| directory.join(common))
}

/// The folder that the `.git` file of a worktree or submodule names: `gitdir: ../.git/worktrees/x`.
pub fn pointed_to(folder: &Path, git: &Path, metadata: &Metadata) -> io::Result<PathBuf> {
    let text = read_line(git, metadata)?;
    let target = text.strip_prefix("gitdir:").ok_or(io::ErrorKind::InvalidData)?;
    Ok(folder.join(target.trim()))
}

fn read_line(file: &Path, metadata: &Metadata) -> io::Result<String> {
    if !metadata.is_file() || metadata.len() > MAX_POINTER_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(std::fs::read_to_string(file)?.trim().to_owned())
}

/// Recognizes the other worktrees of one repository.
#[derive(Clone, Debug, Default)]
pub struct Worktrees {
    /// The repository's common directory, without links; `None` without git.
    common: Option<PathBuf>,
}

impl Worktrees {
    /// Those of the repository that `root` is, or is in.
    pub fn of(root: &Path) -> Self {
        Self { common: directory(root).and_then(|(_, directory)| canonical(&common_directory(&directory)).ok()) }
    }

    /// Whether a folder below the root is the root of another worktree: its `.git` is the common directory, or a file that
    /// names one of `worktrees/` there, even if that no longer exists. A submodule's names one of `modules/`.
    pub fn include(&self, folder: &Path) -> bool {
        let Some(common) = &self.common else { return false };
        let git = folder.join(".git");
        let Ok(found) = std::fs::symlink_metadata(&git) else { return false };
        if !found.is_file() {
            return canonical(&git).is_ok_and(|directory| directory == *common);
        }
        let Ok(target) = pointed_to(folder, &git, &found) else { return false };
        resolved(&target).is_some_and(|target| target.parent() == Some(&common.join("worktrees")))
    }

    /// Whether `path`, relative to `root`, is another worktree or lies in one.
    pub fn hold(&self, root: &Path, path: &Path) -> bool {
        if self.common.is_none() {
            return false;
        }
        let mut folder = root.to_path_buf();
        path.iter().any(|name| {
            folder.push(name);
            self.include(&folder)
        })
    }
}

/// A path without links. Its last two names need not exist: they go when git forgets a worktree that was moved.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = canonical(path) {
        return Some(found);
    }
    let (above, name) = (path.parent()?, path.file_name()?);
    if let Ok(found) = canonical(above) {
        return Some(found.join(name));
    }
    Some(canonical(above.parent()?).ok()?.join(above.file_name()?).join(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository with a common directory, and a folder in it with that `.git` file.
    fn included(text: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        fs::create_dir_all(root.join(".git/worktrees/known")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(root.join("in/x")).unwrap();
        fs::write(root.join("in/x/.git"), text.replace("ROOT", root.to_str().unwrap())).unwrap();
        let worktrees = Worktrees::of(&root);
        assert_eq!(worktrees.include(&root.join("in/x")), worktrees.hold(&root, Path::new("in/x/deep/a.rs")));
        assert!(!worktrees.hold(&root, Path::new("in/a.rs")));
        worktrees.include(&root.join("in/x"))
    }

    #[test]
    fn only_files_that_name_a_worktree_of_the_common_directory_make_one() {
        for text in [
            "gitdir: ROOT/.git/worktrees/known\n",
            "gitdir: ../../.git/worktrees/known",
            "gitdir:../../.git/worktrees/forgotten",
            "gitdir: ROOT/in/../.git/./worktrees//known\r\n",
        ] {
            assert!(included(text), "{text:?}");
        }
        let long = format!("gitdir: {}ROOT/.git/worktrees/known", "./".repeat(20_000));
        for text in [
            "",
            "gitdir:",
            "gitdir: ",
            "gitdir: .",
            "gitdir: .git",
            "gitdir: ../x/.git",
            "gitdir: /",
            "gitdir: /etc/passwd",
            "gitdir: ROOT/.git",
            "gitdir: ROOT/.git/worktrees",
            "gitdir: ROOT/.git/worktrees/known/deeper",
            "gitdir: ROOT/.git/modules/known",
            "gitdir: ROOT/.git/worktrees/../modules/x",
            "gitdir: ROOT/nowhere/.git/worktrees/known",
            "gitdir: ROOT/.git/worktrees/a\0b/c",
            "ROOT/.git/worktrees/known",
            &long,
        ] {
            assert!(!included(text), "{text:?}");
        }
    }

    #[test]
    fn a_common_directory_in_a_cycle_makes_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        fs::create_dir_all(root.join("git/worktrees/a")).unwrap();
        fs::write(root.join("git/worktrees/a/HEAD"), "").unwrap();
        fs::write(root.join("git/worktrees/a/commondir"), "../a/../a/commondir/..").unwrap();
        fs::write(root.join(".git"), "gitdir: git/worktrees/a").unwrap();
        fs::create_dir(root.join("x")).unwrap();
        fs::write(root.join("x/.git"), "gitdir: ../git/worktrees/a").unwrap();
        assert!(!Worktrees::of(&root).include(&root.join("x")));
    }
}
