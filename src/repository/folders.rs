//! Document folders: which file belongs to which, how it is split into chunks, and which files are listed.
//!
//! A file belongs to the nearest document folder above it. What the repository lists by itself stays listed whatever the
//! folder's options are; in an ignored folder, or in one outside the repository, its options decide.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::state::{RegisteredFolder, State};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::extract::{Chunking, Options, documents};
use crate::model::{ROOT, RepoPath, SkipReason, printable};
use crate::platform::files::identity;
use crate::platform::paths::canonical;
use crate::scan::{self, Entering, Listing, Rules, SkippedEntry};
use crate::wording::Command;

/// All document folders of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folders(Vec<RegisteredFolder>);

impl Folders {
    pub fn from_state(state: State) -> Self {
        Self(state.folders)
    }

    pub fn all(&self) -> &[RegisteredFolder] {
        &self.0
    }

    /// All options that rows depend on, as a text to compare with.
    pub fn fingerprint(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Folders that the walk of the repository may skip.
    pub fn in_repository(&self) -> Vec<RepoPath> {
        self.0.iter().filter(|folder| !folder.is_outside()).filter_map(|folder| RepoPath::new(&*folder.path)).collect()
    }

    /// Folders outside the repository.
    pub fn outside(&self) -> Vec<PathBuf> {
        self.0.iter().filter(|folder| folder.is_outside()).map(|folder| PathBuf::from(&folder.path)).collect()
    }

    /// Folders outside the repository that are still at their path: see [`is_unmoved`].
    pub fn available(&self) -> Vec<PathBuf> {
        self.outside().into_iter().filter(|folder| is_unmoved(folder)).collect()
    }

    /// Folders outside the repository that are gone, or that a link has replaced.
    pub fn gone(&self) -> Vec<PathBuf> {
        self.outside().into_iter().filter(|folder| !is_unmoved(folder)).collect()
    }

    /// The error for a path in a folder that is gone, or that a link has replaced.
    pub fn gone_error(&self, root: &Path, given: &str) -> Option<Error> {
        let named: PathBuf = root.join(given).components().collect();
        let is_gone = |folder: &RegisteredFolder, at: &Path| !is_unmoved(at) && (folder.is_outside() || at.exists());
        let folders = self.0.iter().filter(|folder| folder.path != ROOT);
        let mut gone = folders.filter(|folder| {
            let at = root.join(&folder.path);
            named.starts_with(&at) && is_gone(folder, &at)
        });
        let what = format!("the indexed folder {} is gone, or a link leads there", printable(&gone.next()?.path));
        Some(Error::invalid_path(what).hint((
            "Restore it, or remove it from the index with ",
            Command("documents remove"),
            ".",
        )))
    }

    /// The nearest folder above a file.
    pub fn of_file(&self, path: &RepoPath) -> Option<&RegisteredFolder> {
        let holds = |folder: &&RegisteredFolder| path.is_in(&folder.path);
        // If two contain it, one is in the other; the root contains all.
        let depth = |folder: &&RegisteredFolder| if folder.path == ROOT { 0 } else { folder.path.len() };
        self.0.iter().filter(holds).max_by_key(depth)
    }

    /// Whether a file is read with that folder's options: it is in no nearer folder, and its type is indexed there. `path` is
    /// as in the index.
    pub fn owns(&self, folder: &RegisteredFolder, path: &str) -> bool {
        let is_nearest = |path: &RepoPath| self.of_file(path).is_some_and(|nearest| nearest.path == folder.path);
        RepoPath::stored(path).is_some_and(|path| is_nearest(&path) && takes(folder, &path))
    }

    /// How a file is split into chunks, if its folder determines it.
    pub fn chunking(&self, path: &RepoPath) -> Option<Chunking> {
        let folder = self.of_file(path).filter(|folder| takes(folder, path))?;
        Some(Chunking { size: folder.chunk_size, overlap: folder.overlap })
    }

    /// Whether the index contains text extracted from a file, whose lines are not those on disk.
    pub fn takes_text_out(&self, path: &RepoPath) -> bool {
        let format = documents::of_file(path, self.chunking(path).is_some());
        format.is_some_and(|format| !format.keeps_text())
    }

    /// The options that a file is extracted with.
    pub fn options(&self, path: &RepoPath, repository: &Options) -> Options {
        Options { folder: self.chunking(path), ..repository.clone() }
    }

    /// How to open a file: the folder below which no link is followed, and the path in it.
    pub fn location(&self, root: &Path, path: &RepoPath) -> (PathBuf, RepoPath) {
        let folder = self.of_file(path).filter(|_| path.is_outside());
        let below = folder.and_then(|folder| {
            let relative = RepoPath::new(path.as_str().strip_prefix(&folder.path)?.strip_prefix('/')?)?;
            Some((PathBuf::from(&folder.path), relative))
        });
        below.unwrap_or_else(|| (root.to_owned(), path.clone()))
    }

    /// The files of the repository and of all folders.
    pub fn list(&self, root: &Path, rules: &Rules, entering: Option<&Entering>, budget: &Budget) -> Result<Listing> {
        let mut listing = scan::list_entering(root, rules, entering, budget)?;
        for folder in self.outside() {
            self.add_outside(&mut listing, &folder, None, rules, root, budget)?;
        }
        self.restrict(&mut listing, root, rules);
        Ok(listing)
    }

    /// The part of [`Self::list`] that is at or below one of `paths`, which may be folders: see [`Self::widened`].
    pub fn at(&self, root: &Path, paths: &[RepoPath], rules: &Rules, budget: &Budget) -> Result<Listing> {
        let (outside, inside): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(RepoPath::is_outside);
        let mut listing = if inside.is_empty() { Listing::default() } else { scan::at(root, &inside, rules, budget)? };
        for folder in self.outside() {
            let Some(base) = folder.to_str() else { continue };
            let below = |path: &RepoPath| RepoPath::new(path.as_str().strip_prefix(base)?.strip_prefix('/')?);
            let asked: Vec<RepoPath> = outside.iter().filter_map(below).collect();
            // A folder includes all paths in it.
            if RepoPath::outside(base).is_some_and(|own| outside.iter().any(|path| own.is_in(path.as_str()))) {
                self.add_outside(&mut listing, &folder, None, rules, root, budget)?;
            } else if !asked.is_empty() {
                self.add_outside(&mut listing, &folder, Some(&asked), rules, root, budget)?;
            }
        }
        self.restrict(&mut listing, root, rules);
        Ok(listing)
    }

    fn add_outside(
        &self,
        listing: &mut Listing,
        folder: &Path,
        asked: Option<&[RepoPath]>,
        rules: &Rules,
        root: &Path,
        budget: &Budget,
    ) -> Result<()> {
        let Some(base) = folder.to_str() else { return Ok(()) };
        if !is_unmoved(folder) {
            listing.warnings.push(format!("{} is not a folder any more, or a link leads there", printable(base)));
            listing.is_shaky = true;
            return Ok(());
        }
        let rules = rules.outside();
        let found = match asked {
            None => scan::list(folder, &rules, budget)?,
            Some(asked) => scan::at(folder, asked, &rules, budget)?,
        };
        let absolute = |path: &str| RepoPath::outside(format!("{base}/{path}"));
        // A file in a nearer folder is listed there, and one in the repository by the repository.
        let is_here = |path: &RepoPath| {
            self.of_file(path).is_some_and(|nearest| nearest.path == base)
                && !Path::new(path.as_str()).starts_with(root)
        };
        let files = found.files.into_iter().filter_map(|file| {
            let path = absolute(file.path.as_str()).filter(is_here)?;
            Some(scan::FoundFile { path, stat: file.stat })
        });
        listing.files.extend(files);
        let skipped = found.skipped.into_iter().filter_map(|left| {
            let path = format!("{base}/{}", left.path);
            RepoPath::outside(path.as_str()).is_none_or(|path| is_here(&path)).then_some(SkippedEntry { path, ..left })
        });
        listing.skipped.extend(skipped);
        listing.folders.extend(found.folders.iter().filter_map(|path| absolute(path.as_str())));
        listing.folders.extend(RepoPath::outside(base).filter(|_| asked.is_none()));
        listing.rule_files.extend(found.rule_files);
        listing.warnings.extend(found.warnings);
        listing.is_shaky |= found.is_shaky;
        Ok(())
    }

    /// Whether the repository lists the files of that folder anyway.
    pub fn is_native(folder: &RegisteredFolder, root: &Path, rules: &Rules) -> bool {
        !folder.is_outside() && RepoPath::new(&*folder.path).is_none_or(|path| !scan::ignores(root, &path, rules))
    }

    /// Removes what the options of a folder exclude.
    fn restrict(&self, listing: &mut Listing, root: &Path, rules: &Rules) {
        if self.0.is_empty() {
            return;
        }
        let own: HashMap<&str, usize> = self
            .0
            .iter()
            .filter(|folder| !Self::is_native(folder, root, rules))
            .map(|folder| (folder.path.as_str(), folder.max_files))
            .collect();
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        listing.files.dedup_by(|a, b| a.path == b.path);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let mut cut = Vec::new();
        listing.files.retain(|file| {
            let Some(folder) = self.of_file(&file.path) else { return true };
            let Some(most) = own.get(folder.path.as_str()) else { return true };
            if !takes(folder, &file.path) {
                return false;
            }
            let count = counts.entry(folder.path.as_str()).or_default();
            *count += 1;
            if *count > *most {
                let path = file.path.as_str().to_owned();
                cut.push(SkippedEntry { path, reason: SkipReason::MaxFiles, stat: file.stat });
            }
            *count <= *most
        });
        listing.skipped.extend(cut);
        listing.skipped.retain(|left| {
            let path = RepoPath::stored(&left.path);
            path.is_none_or(|path| {
                self.of_file(&path).is_none_or(|folder| {
                    !own.contains_key(folder.path.as_str()) || concerns(folder, &path, left.reason)
                })
            })
        });
        listing.skipped.sort_unstable_by(|a, b| (&a.path, a.stat.inode).cmp(&(&b.path, b.stat.inode)));
        listing.folders.sort_unstable();
        listing.folders.dedup();
    }

    /// The paths, with each folder that may contain too many files in place of the paths in it: which of its files are left out
    /// depends on all of them.
    pub fn widened(
        &self,
        paths: Vec<RepoPath>,
        root: &Path,
        rules: &Rules,
        is_full: impl Fn(&RegisteredFolder, usize) -> Result<bool>,
    ) -> Result<Vec<RepoPath>> {
        let mut widened = Vec::new();
        for folder in self.0.iter().filter(|folder| folder.path != ROOT && !Self::is_native(folder, root, rules)) {
            let touched = paths.iter().filter(|path| self.of_file(path) == Some(folder)).count();
            if touched > 0 && is_full(folder, touched)? {
                widened.extend(RepoPath::stored(&folder.path));
            }
        }
        let covered = |path: &RepoPath| widened.iter().any(|folder: &RepoPath| path.is_in(folder.as_str()));
        let mut all: Vec<RepoPath> = paths.into_iter().filter(|path| !covered(path)).collect();
        all.append(&mut widened.clone());
        all.sort_unstable();
        Ok(all)
    }
}

/// Whether a folder is where the user named it. Its path had no links then: if it or a folder above it is a link now, it leads
/// to files that the user did not name.
fn is_unmoved(folder: &Path) -> bool {
    folder.is_dir() && canonical(folder).is_ok_and(|now| now == folder)
}

/// The identity of the folder at that path; `None` if it is gone.
pub(super) fn identity_of(folder: &Path) -> Option<(u64, u64)> {
    let found = folder.symlink_metadata().ok().filter(|_| is_unmoved(folder))?;
    Some(identity(&found))
}

/// Whether a folder reports a skipped path. The types of the files in an unreadable folder are unknown.
pub(crate) fn concerns(folder: &RegisteredFolder, path: &RepoPath, reason: SkipReason) -> bool {
    reason.is_of_folder() || takes(folder, path)
}

/// Whether a folder indexes files of that type.
pub(super) fn takes(folder: &RegisteredFolder, path: &RepoPath) -> bool {
    let Some(types) = &folder.file_types else { return true };
    path.extension().is_some_and(|extension| types.contains(&extension.to_lowercase()))
}
