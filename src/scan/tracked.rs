//! Paths in git's index, so that a tracked file is listed although an ignore file names it.
//!
//! Owns reading the index; git itself is never run. Only names are taken from it. Does not own where it is
//! (`git_layout`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gix_index::entry::{Flags, Mode};

use crate::git_config::Directories;
use crate::git_layout::{directory, is_sha256, is_sparse};
use crate::locked::locked;
use crate::model::{Stat, printable};
use crate::platform::files::{read_regular, stat_of};

/// A larger index is parsed instead of searched.
const MAX_INDEX_BYTES: u64 = 1 << 30;

/// The tracked files at or below the root, in byte order.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// All paths, one after the other: a large repository has a hundred thousand.
    names: Vec<u8>,
    spans: Vec<Range<u32>>,
    /// The folders of submodules.
    pub(super) submodules: Vec<Box<[u8]>>,
    /// Files and folders that a sparse checkout leaves out, by the path from the top of the work tree.
    pub(super) absent: Absent,
}

/// Files and folders that may hold ignore files that are not on disk, each with the id of its object.
#[derive(Clone, Debug, Default)]
pub(super) struct Absent {
    /// Files `.gitignore`, by the folder that they are in.
    pub rule_files: Vec<(Vec<u8>, String)>,
    /// Whole folders of a sparse index.
    pub folders: Vec<(Vec<u8>, String)>,
}

/// The lists as they were last read: by the index, and the path of the root in its work tree.
pub(super) type Cache = HashMap<(PathBuf, Vec<u8>), (Stat, Arc<Tracked>)>;

impl Tracked {
    pub(super) fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| self.bytes(span))
    }

    /// `path` itself and what is below it.
    pub(super) fn below<'a>(&'a self, path: &[u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let path = path.to_owned();
        let start = self.spans.partition_point(|span| self.bytes(span) < path.as_slice());
        // `a-b` and `a.b` are between `a` and `a/b`: whatever shares the prefix is looked at.
        let rests = self.spans[start..].iter().map_while(move |span| {
            let name = self.bytes(span);
            Some((name, name.strip_prefix(path.as_slice())?))
        });
        rests.filter(|(_, rest)| rest.is_empty() || rest.starts_with(b"/")).map(|(name, _)| name)
    }

    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.spans.binary_search_by(|span| self.bytes(span).cmp(path)).is_ok()
    }

    fn bytes(&self, span: &Range<u32>) -> &[u8] {
        &self.names[span.start as usize..span.end as usize]
    }
}

/// Reads the paths that a work tree tracks at or below `inside`, which is empty or ends with `/`; `None` without an
/// index, which git makes when something is added.
///
/// The error is a warning: without the list, ignored files are merely not listed.
pub(super) fn read_cached(
    directories: &Directories,
    inside: &[u8],
    cache: &Mutex<Cache>,
) -> Result<Option<Arc<Tracked>>, String> {
    let index = directories.own.join("index");
    let Ok(metadata) = std::fs::metadata(&index) else { return Ok(None) };
    let stat = stat_of(&metadata);
    let key = (index, inside.to_owned());
    if let Some((known, tracked)) = locked(cache).get(&key)
        && *known == stat
    {
        return Ok(Some(Arc::clone(tracked)));
    }
    if !metadata.is_file() {
        return Err(format!("{} is not a file: what git tracks is not known", shown(&key.0)));
    }
    let tracked = Arc::new(read(&key.0, inside)?);
    locked(cache).insert(key, (stat, Arc::clone(&tracked)));
    Ok(Some(tracked))
}

/// Files at or below the root, as git's index records them.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// By path.
    files: HashMap<String, StagedFile>,
    /// Folders of a sparse index that are not checked out.
    absent: Vec<String>,
    /// Submodules, each with a `/` at its end.
    submodules: Vec<String>,
    /// Paths with a conflict of a merge.
    conflicts: HashSet<String>,
    /// `false`: there is no index, or it is damaged.
    is_read: bool,
}

#[derive(Debug)]
struct StagedFile {
    /// The id of the blob.
    id: String,
    /// Stat of the file when it had that content; `None` where its times do not show that.
    stat: Option<Stat>,
    /// Git does not look at the file: a sparse checkout leaves it out, or the user said that it does not change.
    is_unexamined: bool,
}

impl Staged {
    /// Whether a file with that stat has the content of the blob, as git itself decides it without reading the file.
    pub(crate) fn is_clean(&self, path: &str, id: &str, stat: &Stat) -> bool {
        let Some(staged) = self.files.get(path).filter(|staged| staged.id == id) else { return false };
        if staged.is_unexamined {
            return true;
        }
        let Some(known) = &staged.stat else { return false };
        // Some programs write whole seconds.
        let is_equal = |known: i64, now: i64| {
            known == now || (known % 1_000_000_000 == 0 && known / 1_000_000_000 == now.div_euclid(1_000_000_000))
        };
        let inode = |inode: u64| inode & u64::from(u32::MAX);
        known.size == stat.size & u64::from(u32::MAX)
            && is_equal(known.mtime_ns, stat.mtime_ns)
            && (known.ctime_ns == 0 || is_equal(known.ctime_ns, stat.ctime_ns))
            && (known.inode == 0 || known.inode == inode(stat.inode))
    }

    /// The id of the blob that is staged.
    pub(crate) fn id(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|staged| staged.id.as_str())
    }

    /// The paths of files that are tracked.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The number of paths with a conflict of a merge.
    pub(crate) fn conflicts(&self) -> usize {
        self.conflicts.len()
    }

    /// Whether a file is tracked.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.conflicts.contains(path)
    }

    /// Whether it is known that a file is not tracked.
    pub(crate) fn lacks(&self, path: &str) -> bool {
        self.is_read && !self.has(path)
    }

    /// Whether a file in that folder is tracked.
    pub(crate) fn has_below(&self, folder: &str) -> bool {
        self.paths().any(|path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Whether the path is in a submodule, whose history is its own.
    pub(crate) fn is_in_submodule(&self, path: &str) -> bool {
        self.submodules.iter().any(|folder| path.starts_with(folder.as_str()))
    }

    /// Whether git does not look for the file: a sparse checkout leaves it out, or the user said that it does not change.
    pub(crate) fn is_unexamined(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|staged| staged.is_unexamined)
            || self.absent.iter().any(|folder| path.starts_with(folder.as_str()))
    }
}

/// Reads git's index; empty without one, or if it is damaged: then every file has to be compared.
pub(crate) fn staged(root: &Path) -> Staged {
    let Some((worktree, index)) = find_index(root) else { return Staged::default() };
    let inside = root.strip_prefix(&worktree).unwrap_or(Path::new(""));
    let Ok(file) = parse(&index) else { return Staged::default() };
    let is_sparse = index.parent().is_some_and(is_sparse);
    let prefix = prefix_of(inside);
    let written = std::fs::metadata(&index).map(|metadata| stat_of(&metadata).mtime_ns).unwrap_or_default();
    let mut staged = Staged { is_read: true, ..Staged::default() };
    for entry in file.entries() {
        let Some(path) = entry.path(&file).strip_prefix(prefix.as_slice()) else { continue };
        let Ok(path) = std::str::from_utf8(path) else { continue };
        if entry.mode == Mode::DIR {
            staged.absent.push(format!("{}/", path.trim_end_matches('/')));
            continue;
        }
        if entry.mode == Mode::COMMIT {
            staged.submodules.push(format!("{path}/"));
            continue;
        }
        if entry.flags.stage_raw() != 0 {
            staged.conflicts.insert(path.to_owned());
            continue;
        }
        let ns = |time: gix_index::entry::stat::Time| i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs);
        let stat = Stat {
            size: u64::from(entry.stat.size),
            mtime_ns: ns(entry.stat.mtime),
            ctime_ns: ns(entry.stat.ctime),
            inode: u64::from(entry.stat.ino),
        };
        // A file that changed while the index was written may have changed again with the same times.
        let is_certain = stat.mtime_ns < written && stat.mtime_ns != 0;
        let is_there = || is_sparse && root.join(path).symlink_metadata().is_ok();
        let is_unexamined =
            entry.flags.contains(Flags::ASSUME_VALID) || (entry.flags.contains(Flags::SKIP_WORKTREE) && !is_there());
        let id = entry.id.to_string();
        staged.files.insert(path.to_owned(), StagedFile { id, stat: is_certain.then_some(stat), is_unexamined });
    }
    staged
}

/// Whether git's index may hold `path` or something below it. Looking for the name in the bytes takes a tenth of
/// reading all entries; but the fourth version of an index writes names in parts.
pub(super) fn may_name(root: &Path, path: &str) -> bool {
    let Some((_, index)) = find_index(root) else { return false };
    let Ok(bytes) = read_regular(&index, MAX_INDEX_BYTES) else { return true };
    bytes.get(4..8) == Some(&[0, 0, 0, 4]) || memchr::memmem::find(&bytes, path.as_bytes()).is_some()
}

/// Whether git tracks `path` below the root, or something below it.
pub(super) fn names(root: &Path, path: &str) -> bool {
    let Some((worktree, index)) = find_index(root) else { return false };
    let prefix = prefix_of(root.strip_prefix(&worktree).unwrap_or(Path::new("")));
    read(&index, &prefix).is_ok_and(|tracked| tracked.below(path.as_bytes()).next().is_some())
}

/// The index does not say itself how long its hashes are.
fn hash_kind(index: &Path) -> gix_index::hash::Kind {
    if index.parent().is_some_and(is_sha256) { gix_index::hash::Kind::Sha256 } else { gix_index::hash::Kind::Sha1 }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The nearest folder at or above `root` with a `.git`, and its index.
fn find_index(root: &Path) -> Option<(PathBuf, PathBuf)> {
    directory(root).map(|(worktree, directory)| (worktree, directory.join("index")))
}

/// The file is not ours and may be damaged in any way: whatever its parser does then, the walk continues.
fn parse(index: &Path) -> Result<gix_index::File, String> {
    if !std::fs::metadata(index).is_ok_and(|found| found.is_file()) {
        return Err("it is not a file".to_owned());
    }
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let options = gix_index::decode::Options { alloc_limit_bytes: Some(1 << 30), ..Default::default() };
        gix_index::File::at(index, hash_kind(index), true, options)
    }));
    match parsed {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(error)) => Err(printable(&error.to_string())),
        Err(_) => Err("it is damaged".to_owned()),
    }
}

fn prefix_of(inside: &Path) -> Vec<u8> {
    let mut prefix = inside.as_os_str().as_encoded_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    prefix
}

fn read(index: &Path, prefix: &[u8]) -> Result<Tracked, String> {
    let failed = |reason: String| {
        format!(
            "git's index {} cannot be read ({}): files that git tracks and ignores are left out",
            shown(index),
            reason
        )
    };
    let file = parse(index).map_err(failed)?;
    let mut tracked = Tracked::default();
    for entry in file.entries() {
        let name: &[u8] = entry.path(&file);
        if entry.flags.contains(Flags::SKIP_WORKTREE) {
            tracked.absent.add(name, entry);
        }
        if entry.mode == Mode::DIR {
            continue;
        }
        let Some(name) = name.strip_prefix(prefix) else { continue };
        if entry.mode == Mode::COMMIT {
            tracked.submodules.extend(is_plain(name).then(|| Box::from(name)));
            continue;
        }
        // An index above 4 GiB of names is not an index.
        let (Ok(start), Ok(length)) = (u32::try_from(tracked.names.len()), u32::try_from(name.len())) else { break };
        let Some(end) = start.checked_add(length) else { break };
        if is_plain(name) {
            tracked.names.extend_from_slice(name);
            tracked.spans.push(start..end);
        }
    }
    // Conflicts list a path up to three times.
    let Tracked { names, mut spans, submodules, absent } = tracked;
    let bytes = |span: &Range<u32>| &names[span.start as usize..span.end as usize];
    spans.sort_by(|a, b| bytes(a).cmp(bytes(b)));
    spans.dedup_by(|a, b| bytes(a) == bytes(b));
    Ok(Tracked { names, spans, submodules, absent })
}

impl Absent {
    fn add(&mut self, name: &[u8], entry: &gix_index::Entry) {
        if entry.mode == Mode::DIR {
            let folder = name.strip_suffix(b"/").unwrap_or(name);
            self.folders.extend(is_plain(folder).then(|| (folder.to_vec(), entry.id.to_string())));
        } else if let Some(folder) = name.strip_suffix(b".gitignore")
            && is_plain(name)
            && (folder.is_empty() || folder.ends_with(b"/"))
        {
            let folder = folder.strip_suffix(b"/").unwrap_or(folder);
            self.rule_files.push((folder.to_vec(), entry.id.to_string()));
        }
    }
}

/// Git writes no other names; a made-up index must not lead out of the repository.
fn is_plain(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..") && !part.contains(&0))
}
