//! Tracked paths that a rule ignores: files, and submodules with all files that their own rules admit.
//!
//! Owns adding them to a listing. Does not own git's index (`tracked`) nor the walk.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::Listing;
use super::ignored::{FolderRules, Tree};
use super::tracked::Tracked;
use super::walk::{Found, Walk, is_within, judge, metadata_under, shown};
use crate::error::Result;
use crate::git_layout::is_repository;
use crate::model::RepoPath;
use crate::platform::paths::of_git;

impl Walk<'_> {
    /// Adds tracked files to the listing; only those at or below `asked`, if that is given.
    pub(super) fn add_tracked(&self, asked: Option<&[RepoPath]>, found: &mut Found) -> Result<()> {
        if self.rules.is_outside() {
            return Ok(());
        }
        // A submodule that is added may contain others.
        let mut done = 0;
        let mut without: Vec<Vec<u8>> = Vec::new();
        while done < found.trees.len() {
            let tree = Arc::clone(&found.trees[done]);
            done += 1;
            if found.trees[..done - 1].iter().any(|other| other.folder == tree.folder) {
                continue;
            }
            let tracked = match tree.tracked(self.rules) {
                Ok(Some(tracked)) => tracked,
                Ok(None) => continue,
                Err(warning) => {
                    found.listing.warnings.push(warning);
                    continue;
                }
            };
            self.add_files(&tree, &tracked, asked, &mut found.listing)?;
            self.add_submodules(&tree, &tracked, asked, &mut without, found)?;
        }
        // Git looks at nothing in a submodule that is not checked out.
        let is_in = |path: &str| {
            without.iter().any(|folder| {
                path.as_bytes().strip_prefix(folder.as_slice()).is_some_and(|rest| rest.starts_with(b"/"))
            })
        };
        if !without.is_empty() {
            found.listing.files.retain(|file| !is_in(file.path.as_str()));
            found.listing.skipped.retain(|left| !is_in(&left.path));
        }
        Ok(())
    }

    /// Whether git tracks the folder as a submodule of its tree.
    pub(super) fn is_submodule(&self, path: &[u8], above: &FolderRules) -> bool {
        let own = below(&above.tree, path);
        let tracked = if self.rules.is_outside() { None } else { above.tree.tracked(self.rules).ok().flatten() };
        tracked.zip(own).is_some_and(|(tracked, own)| tracked.submodules.iter().any(|folder| **folder == *own))
    }

    fn add_files(
        &self,
        tree: &Tree,
        tracked: &Tracked,
        asked: Option<&[RepoPath]>,
        listing: &mut Listing,
    ) -> Result<()> {
        // Both lists are in order: what is in both is passed over without a look-up for each.
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        let prefix = prefix_of(tree);
        let start = listing.files.partition_point(|file| file.path.as_str().as_bytes() < prefix.as_slice());
        let mut files = listing.files[start..].iter().peekable();
        let skipped: HashSet<&str> = listing.skipped.iter().map(|left| left.path.as_str()).collect();
        let is_skipped = |path: &Path| match path.to_str() {
            Some(path) => skipped.contains(path),
            None => skipped.contains(&*shown(path)),
        };
        let mut ignored = Listing::default();
        // The paths are sorted, so that most files are in the same folder as the previous one, whose parents were checked.
        let mut known_parent = None;
        let mut path = prefix.clone();
        for own in asked_of(tree, tracked, asked) {
            self.budget.check()?;
            path.truncate(prefix.len());
            path.extend_from_slice(own);
            while files.next_if(|file| file.path.as_str().as_bytes() < path.as_slice()).is_some() {}
            let is_listed = files.peek().is_some_and(|file| file.path.as_str().as_bytes() == path.as_slice());
            let path = of_git(&path);
            if is_listed || is_skipped(path) || self.is_hidden(path) || self.rules.excludes(path, false) {
                continue;
            }
            let metadata = if known_parent.is_some() && known_parent.as_deref() == path.parent() {
                std::fs::symlink_metadata(self.root.join(path)).ok()
            } else {
                metadata_under(self.root, path)
            };
            let Some(metadata) = metadata.filter(|metadata| !metadata.is_dir()) else {
                ignored.is_shaky = true;
                continue;
            };
            known_parent = path.parent().map(Path::to_owned);
            judge(path, &metadata, self.rules, &mut ignored);
        }
        if tree.folds_case {
            remove_other_cases(tree, tracked, listing);
        }
        listing.is_shaky |= ignored.is_shaky;
        listing.files.append(&mut ignored.files);
        listing.skipped.append(&mut ignored.skipped);
        Ok(())
    }

    fn add_submodules(
        &self,
        tree: &Tree,
        tracked: &Tracked,
        asked: Option<&[RepoPath]>,
        without: &mut Vec<Vec<u8>>,
        found: &mut Found,
    ) -> Result<()> {
        for own in &tracked.submodules {
            let path = [prefix_of(tree).as_slice(), own].concat();
            if found.trees.iter().any(|other| other.folder == path) {
                continue;
            }
            let relative = of_git(&path);
            let is_folder = metadata_under(self.root, relative).is_some_and(|found| found.is_dir());
            if !is_folder || self.is_hidden(relative) || self.rules.excludes(relative, true) {
                continue;
            }
            if !is_repository(&self.root.join(relative)) {
                without.push(path);
                continue;
            }
            let is_asked = |asked: &[RepoPath]| asked.iter().any(|asked| is_within(&shown(relative), asked.as_str()));
            if asked.is_none_or(is_asked) {
                let (above, _) = split(relative);
                let rules = self.rules_of(above, &mut HashMap::new(), found);
                self.add_submodule(&path, &rules, found)?;
            }
        }
        Ok(())
    }
}

/// Removes files that git takes for tracked ones, whose names have other cases: findings/git-name-in-other-case.sh.
fn remove_other_cases(tree: &Tree, tracked: &Tracked, listing: &mut Listing) {
    let folded: HashSet<Vec<u8>> = tracked.all().map(<[u8]>::to_ascii_lowercase).collect();
    let is_other_case = |path: &str| {
        below(tree, path.as_bytes()).is_some_and(|own| folded.contains(&own.to_ascii_lowercase()) && !tracked.has(own))
    };
    listing.files.retain(|file| !is_other_case(file.path.as_str()));
    listing.skipped.retain(|left| !is_other_case(&left.path));
}

/// The folder of a path, and its name.
fn split(path: &Path) -> (&str, &str) {
    let path = path.to_str().unwrap_or_default();
    path.rsplit_once('/').unwrap_or(("", path))
}

fn prefix_of(tree: &Tree) -> Vec<u8> {
    let mut prefix = tree.folder.clone();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    prefix
}

/// A path relative to its tree instead of the root.
fn below<'a>(tree: &Tree, path: &'a [u8]) -> Option<&'a [u8]> {
    if tree.folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(tree.folder.as_slice())?.strip_prefix(b"/")
}

/// The tracked paths of a tree, relative to it, that are asked for.
fn asked_of<'a>(
    tree: &Tree,
    tracked: &'a Tracked,
    asked: Option<&[RepoPath]>,
) -> Box<dyn Iterator<Item = &'a [u8]> + 'a> {
    let folder = shown(of_git(&tree.folder));
    let Some(asked) =
        asked.filter(|asked| folder.is_empty() || !asked.iter().any(|asked| is_within(&folder, asked.as_str())))
    else {
        return Box::new(tracked.all());
    };
    let mut own: Vec<&[u8]> = asked.iter().filter_map(|asked| below(tree, asked.as_str().as_bytes())).collect();
    own.sort_unstable();
    // In the order of the whole list, which the look for what is listed already relies on.
    let mut paths: Vec<&[u8]> = own.into_iter().flat_map(|path| tracked.below(path)).collect();
    paths.sort_unstable();
    Box::new(paths.into_iter())
}
