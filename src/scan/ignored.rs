//! Git's ignore rules: the work trees below a root, and the files that decide in each of their folders.
//!
//! Owns the order of these files: `.rgignore` and `.ignore` as in ripgrep, then git's, from the nearest folder up to the top of
//! the work tree, then `info/exclude` and the user's. Does not own the patterns of one file (`patterns`) nor git's settings
//! (`git_config`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::absent_rules::AbsentRules;
use super::bare;
use super::patterns::{Decision, Patterns};
use super::rules::Rules;
use super::tracked::{self, Tracked};
use crate::config;
use crate::git_config::{Directories, GitConfig, UserFolders, is_absent};
use crate::git_settings::MAX_BYTES;
use crate::model::{RepoPath, printable};
use crate::platform::files::read_regular;
use crate::platform::paths::{canonical, of_git};

/// The ignore files of a folder; an earlier one has precedence. Only the last is git's.
pub(super) const RULE_FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];
const OF_GIT: usize = 2;

/// Whether a change of this file may change what is listed elsewhere, so that only a full listing is right.
pub fn is_rule_file(path: &RepoPath) -> bool {
    let name = path.file_name();
    name == config::REPOSITORY_FILE || RULE_FILES.contains(&name) || bare::makes_bare(name)
}

/// Rules of a whole work tree, known before any of it is read.
pub(super) struct Layout {
    pub directories: Option<Directories>,
    config: GitConfig,
    /// The user's exclusions and the clone's; a later one has precedence.
    excludes: Vec<PathBuf>,
    problems: Vec<String>,
}

impl Layout {
    /// The work tree that `folder` is or is in; `None`: there is no git, so that the folder is its own top.
    pub(super) fn new(folder: &Path, directories: Option<Directories>, user: &UserFolders) -> Self {
        let config = GitConfig::read(user, directories.as_ref());
        let mut problems = config.problems.clone();
        let top = directories.as_ref().map_or(folder, |directories| directories.top.as_path());
        let of_user = match config.text("core.excludesfile") {
            None => user.git_file("ignore"),
            Some(b"") => None,
            Some(named) => {
                let path = user.expanded(named).map(|path| top.join(path));
                if path.is_none() {
                    problems.push("core.excludesFile is in a home folder that is not known".to_owned());
                }
                path
            }
        };
        let of_clone = directories.as_ref().map(|directories| directories.common.join("info/exclude"));
        let excludes = of_user.into_iter().chain(of_clone).collect();
        Self { directories, config, excludes, problems }
    }

    /// The work tree around a root.
    pub(super) fn around(root: &Path, rules: &Rules) -> Self {
        let directories = Directories::around(root);
        if rules.is_outside() {
            let own = directories.filter(|directories| directories.top == root);
            return Self::new(root, own, &UserFolders::default());
        }
        Self::new(root, directories, rules.user())
    }

    /// All files outside the folders whose change may change what is listed.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.config.files.clone();
        files.extend(self.excludes.iter().cloned());
        files.extend(self.directories.iter().map(|directories| directories.own.join("index")));
        files
    }
}

/// A work tree.
pub(super) struct Tree {
    /// The top folder of the work tree, relative to the root; empty for the work tree that the root is in.
    pub folder: Vec<u8>,
    /// The path of the root from the top folder, with `/` at its end.
    pub inside: Vec<u8>,
    pub directories: Option<Directories>,
    /// Files outside the folders whose change may change what is listed.
    pub files: Vec<PathBuf>,
    general: Vec<Source>,
    /// Ignore files that are not on disk.
    absent: AbsentRules,
    /// `core.ignoreCase`: names that differ only in the case of ASCII letters are one.
    pub folds_case: bool,
}

/// The patterns of a file.
struct Source {
    /// Where paths begin that the patterns match: the bytes of the folder's path and its `/`.
    base: usize,
    file: PathBuf,
    patterns: Patterns,
}

/// The files of one name in a folder and those above it.
struct Chain {
    above: Option<Arc<Self>>,
    source: Source,
}

/// The rules that decide on the entries of a folder.
#[derive(Clone)]
pub(super) struct FolderRules {
    pub tree: Arc<Tree>,
    chains: [Option<Arc<Chain>>; 3],
    /// The folder itself is ignored, and with it everything below.
    pub is_ignored: bool,
}

impl Tree {
    /// `base`: the bytes before the paths in this tree.
    fn new(
        layout: Layout,
        folder: Vec<u8>,
        inside: Vec<u8>,
        base: usize,
        rules: &Rules,
        problems: &mut Vec<String>,
    ) -> Arc<Self> {
        let folds_case = layout.config.is_true("core.ignorecase");
        let is_sparse = layout.config.is_true("core.sparsecheckout");
        let files = layout.files();
        problems.extend(layout.problems);
        // What the root's work tree tracks is read only for the root.
        let below = if folder.is_empty() { inside.as_slice() } else { &[] };
        let absent = match &layout.directories {
            Some(directories) if is_sparse => {
                AbsentRules::read(directories, below, rules.tracked(), rules.absent(), problems)
            }
            _ => AbsentRules::default(),
        };
        let read = |file: PathBuf| match read_regular(&file, MAX_BYTES) {
            Ok(bytes) => Some(Source { base, patterns: Patterns::parse(&bytes, folds_case), file }),
            Err(error) => {
                if !is_absent(&error) {
                    problems.push(passed_over(&file, &error));
                }
                None
            }
        };
        let general = layout.excludes.into_iter().filter_map(read).collect();
        Arc::new(Self { folder, inside, directories: layout.directories, files, general, absent, folds_case })
    }

    /// Whether git has ignore files that are not on disk.
    pub(super) fn has_absent(&self) -> bool {
        !self.absent.is_empty()
    }

    /// The ignore file that git has for a folder and that is not on disk. The folder's path is `before` and `folder`.
    fn absent_in(&self, before: &[u8], folder: &[u8]) -> Option<Arc<[u8]>> {
        if !self.has_absent() {
            return None;
        }
        let path = [before, folder].concat();
        let path = path.strip_suffix(b"/").unwrap_or(&path);
        if self.folder.is_empty() {
            return self.absent.in_folder(path);
        }
        let below = path.strip_prefix(self.inside.as_slice())?.strip_prefix(self.folder.as_slice())?;
        self.absent.in_folder(below.strip_prefix(b"/").unwrap_or(below))
    }

    /// Returns the files that the work tree tracks.
    pub(super) fn tracked(&self, rules: &Rules) -> Result<Option<Arc<Tracked>>, String> {
        let Some(directories) = &self.directories else { return Ok(None) };
        let inside = if self.folder.is_empty() { self.inside.as_slice() } else { &[] };
        tracked::read_cached(directories, inside, rules.tracked())
    }
}

fn passed_over(file: &Path, error: &std::io::Error) -> String {
    format!("{} is not read: {error}", printable(&file.to_string_lossy()))
}

impl FolderRules {
    /// Rules of the root itself. All paths that are decided on begin with `inside`, the root's path in its work tree.
    pub(super) fn of_root(root: &Path, rules: &Rules, problems: &mut Vec<String>) -> Self {
        let layout = Layout::around(root, rules);
        let top = layout.directories.as_ref().map_or(root, |directories| directories.top.as_path()).to_owned();
        let mut inside = crate::platform::paths::below(&top, root).as_os_str().as_encoded_bytes().to_vec();
        if !inside.is_empty() {
            inside.push(b'/');
        }
        let tree = Tree::new(layout, Vec::new(), inside.clone(), 0, rules, problems);
        let mut found = Self { tree, chains: Default::default(), is_ignored: false };
        let mut at = 0;
        for part in inside.split_inclusive(|byte| *byte == b'/') {
            found.add_files(&top, &inside[..at], 0, &RULE_FILES, problems);
            at += part.len();
            found.is_ignored |= found.ignores(&inside[..at - 1], true);
        }
        found.add_files(root, b"", inside.len(), &RULE_FILES, problems);
        found
    }

    /// Rules of a folder that the user named: rules above it do not ignore it.
    pub(super) fn of_named(&self) -> Self {
        let tree = Tree {
            folder: Vec::new(),
            inside: self.tree.inside.clone(),
            directories: self.tree.directories.clone(),
            files: Vec::new(),
            general: Vec::new(),
            absent: AbsentRules::default(),
            folds_case: self.tree.folds_case,
        };
        Self { tree: Arc::new(tree), chains: Default::default(), is_ignored: false }
    }

    /// Rules of a repository below the root, at the relative path `folder`: rules of the outer repository end there.
    pub(super) fn of_repository(
        &self,
        (root, inside): (&Path, &[u8]),
        folder: &[u8],
        rules: &Rules,
        problems: &mut Vec<String>,
    ) -> Self {
        let top = root.join(of_git(folder));
        let directories = Directories::around(&top).filter(|directories| directories.top == top);
        let none = UserFolders::default();
        let layout = Layout::new(&top, directories, if rules.is_outside() { &none } else { rules.user() });
        let base = inside.len() + folder.len() + 1;
        let tree = Tree::new(layout, folder.to_vec(), inside.to_vec(), base, rules, problems);
        let [ripgreps, others, _] = &self.chains;
        Self { tree, chains: [ripgreps.clone(), others.clone(), None], is_ignored: false }
    }

    /// Rules of a subfolder, before its own ignore files.
    pub(super) fn below(self, is_ignored: bool) -> Self {
        Self { is_ignored, ..self }
    }

    /// Adds the ignore files of the folder at the relative path `folder`; `names` are those that exist on disk. `before` is the
    /// number of bytes before such a path in one that is decided on.
    pub(super) fn add_files(
        &mut self,
        root: &Path,
        folder: &[u8],
        before: usize,
        names: &[&str],
        problems: &mut Vec<String>,
    ) {
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        let absent = self.tree.absent_in(&self.tree.inside[..before], folder);
        let exists = |(kind, name): &(usize, &&str)| names.contains(name) || (*kind == OF_GIT && absent.is_some());
        for (kind, name) in RULE_FILES.iter().enumerate().filter(exists) {
            let file = root.join(of_git(folder)).join(name);
            let bytes = match read_rule_file(root, &file, kind == OF_GIT) {
                Ok(bytes) => bytes,
                Err(error) if is_absent(&error) => match &absent {
                    Some(bytes) if kind == OF_GIT => bytes.to_vec(),
                    _ => continue,
                },
                Err(error) => {
                    problems.push(passed_over(&file, &error));
                    continue;
                }
            };
            let patterns = Patterns::parse(&bytes, kind == OF_GIT && self.tree.folds_case);
            if patterns.is_empty() {
                continue;
            }
            let base = before + if folder.is_empty() { 0 } else { folder.len() + 1 };
            let source = Source { base, file, patterns };
            self.chains[kind] = Some(Arc::new(Chain { above: self.chains[kind].take(), source }));
        }
    }

    /// Whether an entry of the folder is ignored. The path begins with `inside` of the root's tree.
    pub(super) fn ignores(&self, path: &[u8], is_folder: bool) -> bool {
        self.decision(path, is_folder).is_some_and(|(decision, _)| decision.ignores)
    }

    /// The decision on the first folder between the top of the work tree and the root that is ignored.
    pub(super) fn decision_on_root(&self) -> Option<(Decision, &Path)> {
        let inside = self.tree.inside.as_slice();
        let ends = inside.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        ends.filter_map(|end| self.decision(&inside[..end], true)).find(|(decision, _)| decision.ignores)
    }

    /// The decision on an entry of the folder, and the file that it is in.
    pub(super) fn decision(&self, path: &[u8], is_folder: bool) -> Option<(Decision, &Path)> {
        for chain in &self.chains {
            let mut at = chain.as_deref();
            while let Some(Chain { above, source }) = at {
                if let Some(decision) = source.decide(path, is_folder) {
                    return Some((decision, &source.file));
                }
                at = above.as_deref();
            }
        }
        let mut general = self.tree.general.iter().rev();
        general.find_map(|source| Some((source.decide(path, is_folder)?, source.file.as_path())))
    }
}

impl Source {
    fn decide(&self, path: &[u8], is_folder: bool) -> Option<Decision> {
        self.patterns.decide(path.get(self.base..)?, is_folder)
    }
}

/// Reads an ignore file in a folder. Git follows no link to it (findings/git-linked-gitignore.sh); other programs do, and here only to a
/// file in the repository.
fn read_rule_file(root: &Path, file: &Path, is_of_git: bool) -> std::io::Result<Vec<u8>> {
    if !fs::symlink_metadata(file)?.is_symlink() {
        return read_regular(file, MAX_BYTES);
    }
    let target = canonical(file)?;
    if is_of_git || !target.starts_with(root) {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "a symbolic link"));
    }
    read_regular(&target, MAX_BYTES)
}
