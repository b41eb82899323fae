//! The listing fingerprint: everything that a full listing depends on. While it is unchanged, another listing would be equal.
//!
//! It covers the folders that were listed (adding or removing a name changes the folder's times), their ignore files, what
//! is outside the tree (git's index and exclusions, ignore files above the root), and the rules. Checking it, with the stat of
//! each file, takes a third of the time of a walk. Owns the record and the check. There is no fingerprint where it would be
//! unsafe: if something was just modified, for a nested repository, or for an ignore file that is a link.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::hash::trusted;
use super::ignored::{Layout, RULE_FILES};
use super::{Listing, Rules};
use crate::model::{RepoPath, SkipReason, Stat};
use crate::platform::beneath::Folder;
use crate::platform::files::stat_of;
use crate::threads::cores;

/// Fewer than this are looked at by one thread.
const WORTH_A_THREAD: usize = 2_000;
/// More threads than this only wait for each other in the kernel.
const MOST_THREADS: usize = 8;

/// The record, as it is kept between listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingFingerprint {
    /// Hash of the rules and of the files outside that decide what is listed.
    outside_root: String,
    /// Folders and ignore files, by their path below the root; the root is `.`.
    below_root: Vec<(String, Stat)>,
}

impl ListingFingerprint {
    /// Records what `listing`, which began at `started_ns`, rests on. `context` is whatever else decides what a listing
    /// contains. `None` if a later change could go unnoticed.
    pub fn compute(root: &Path, rules: &Rules, context: &str, listing: &Listing, started_ns: i64) -> Option<Self> {
        if listing.is_shaky
            || listing.folders.iter().any(|folder| folder.as_str().contains('\n'))
            || listing.skipped.iter().any(|left| left.reason == SkipReason::Worktree && left.path.contains('\n'))
        {
            return None;
        }
        let mut below_root = Vec::with_capacity(listing.folders.len() + 1);
        let folders = listing.folders.iter().map(RepoPath::as_str);
        for folder in std::iter::once(".").chain(folders) {
            let path = root.join(folder);
            below_root.push((folder.to_owned(), settled(&path, started_ns)?));
            let names = RULE_FILES.iter().chain((folder != ".").then_some(&".git"));
            for name in names {
                let Ok(found) = fs::symlink_metadata(path.join(name)) else { continue };
                if !found.is_file() || *name == ".git" {
                    return None;
                }
                let below = if folder == "." { (*name).to_owned() } else { format!("{folder}/{name}") };
                below_root.push((below, settled(&path.join(name), started_ns)?));
            }
        }
        // Without that file, the folder would be part of the repository.
        for left in listing.skipped.iter().filter(|left| left.reason == SkipReason::Worktree) {
            let git = format!("{}/.git", left.path);
            below_root.push((git.clone(), settled(&root.join(&git), started_ns)?));
        }
        let outside_root = outside_root(root, rules, context, started_ns)?;
        Some(Self { outside_root, below_root })
    }

    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.outside_root);
        for (path, Stat { size, mtime_ns, ctime_ns, inode }) in &self.below_root {
            // A string takes every write.
            let _ = writeln!(text, "{size} {mtime_ns} {ctime_ns} {inode} {path}");
        }
        text
    }

    /// `None` for what no program of this version wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.split_terminator('\n');
        let outside_root = lines.next()?.to_owned();
        let mark = |line: &str| {
            let mut parts = line.splitn(5, ' ');
            let stat = Stat {
                size: parts.next()?.parse().ok()?,
                mtime_ns: parts.next()?.parse().ok()?,
                ctime_ns: parts.next()?.parse().ok()?,
                inode: parts.next()?.parse().ok()?,
            };
            Some((parts.next()?.to_owned(), stat))
        };
        Some(Self { outside_root, below_root: lines.map(mark).collect::<Option<_>>()? })
    }

    /// Whether a new listing would be identical and every file's stat is unchanged.
    pub fn still_holds(&self, root: &Path, rules: &Rules, context: &str, files: &[(&str, Stat)]) -> bool {
        if outside_root(root, rules, context, i64::MAX).as_ref() != Some(&self.outside_root) {
            return false;
        }
        let marks: Vec<(&str, Stat)> = self.below_root.iter().map(|(path, stat)| (path.as_str(), *stat)).collect();
        are_as_they_were(root, &marks) && are_as_they_were(root, files)
    }
}

/// The stat of a file that was last touched well before `started_ns`.
fn settled(path: &Path, started_ns: i64) -> Option<Stat> {
    let stat = stat_of(&fs::symlink_metadata(path).ok()?);
    trusted(&stat, started_ns, &stat).then_some(stat)
}

/// A hash of everything outside the listed folders that decides what is listed; `None` where some of it was touched
/// after `started_ns` or just before.
fn outside_root(root: &Path, rules: &Rules, context: &str, started_ns: i64) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{context}\n{}\n", rules.fingerprint()).as_bytes());
    let layout = Layout::around(root, rules);
    let top = layout.directories.as_ref().map_or(root, |directories| directories.top.as_path());
    let within = root.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    let of_folders = within.flat_map(|folder| RULE_FILES.iter().map(|name| folder.join(name)));
    // Which repository it is shows in the paths of its files.
    let git_files = layout.files().into_iter().chain(of_folders);
    // Where the user named a folder that is not there yet.
    let ways = rules.named().iter().flat_map(|named| Path::new(named.as_str()).ancestors()).map(|part| root.join(part));
    for path in git_files.chain(ways).collect::<Vec<PathBuf>>() {
        hasher.update(path.as_os_str().as_encoded_bytes());
        // Through links: what is read is what they lead to. A folder of git changes with every command.
        let found = fs::metadata(&path).ok().map(|found| (found.is_dir(), stat_of(&found)));
        match found {
            Some((false, stat)) if !trusted(&stat, started_ns, &stat) => return None,
            Some((false, stat)) => hasher.update(format!(" {stat:?}\n").as_bytes()),
            Some((true, stat)) => hasher.update(format!(" folder {}\n", stat.inode).as_bytes()),
            None => hasher.update(b" absent\n"),
        };
    }
    Some(hasher.finalize().to_hex().to_string())
}

fn are_as_they_were(root: &Path, files: &[(&str, Stat)]) -> bool {
    let threads = cores().min(MOST_THREADS).min(files.len() / WORTH_A_THREAD).max(1);
    let differs = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for part in files.chunks(files.len().div_ceil(threads).max(1)) {
            let differs = &differs;
            scope.spawn(move || {
                if !part_is_as_it_was(root, part, differs).unwrap_or(false) {
                    differs.store(true, Ordering::Relaxed);
                }
            });
        }
    });
    !differs.into_inner()
}

/// Files of one folder are mostly adjacent: each is looked up in its folder, not from the root from the top.
fn part_is_as_it_was(root: &Path, files: &[(&str, Stat)], differs: &AtomicBool) -> io::Result<bool> {
    let root = Folder::open(root)?;
    let mut opened: Option<(&str, Folder)> = None;
    for (path, stat) in files {
        if differs.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !folder.is_empty() && opened.as_ref().is_none_or(|(open, _)| *open != folder) {
            opened = Some((folder, root.within(folder)?));
        }
        let at = match &opened {
            Some((open, at)) if *open == folder => at,
            _ => &root,
        };
        if at.stat(name)? != *stat {
            return Ok(false);
        }
    }
    Ok(true)
}
