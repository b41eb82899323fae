//! What git tracks: the paths of its index, so that a tracked file is listed although an ignore file names it.
//!
//! Owns reading the index; git itself is never run. Only names are taken from it. Does not own where it is (`git_layout`).

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gix_index::entry::Mode;

use crate::git_layout::{common_directory, directory};
use crate::locked::locked;
use crate::model::{Stat, printable};
use crate::platform::files::stat_of;
use crate::platform::paths::of_git;

/// The tracked files at or below the root, in byte order.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// All paths, one after the other: a large repository has a hundred thousand.
    names: Vec<u8>,
    spans: Vec<Range<u32>>,
}

/// The list that was read last, and of which index.
pub(super) type Cache = Option<(PathBuf, PathBuf, Stat, Arc<Tracked>)>;

impl Tracked {
    pub(super) fn all(&self) -> impl Iterator<Item = &Path> {
        self.spans.iter().map(|span| self.path(span))
    }

    /// `path` itself and what is below it.
    pub(super) fn below(&self, path: &str) -> impl Iterator<Item = &Path> {
        let path = path.as_bytes();
        let start = self.spans.partition_point(|span| self.bytes(span) < path);
        let is_within =
            move |name: &[u8]| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
        // `a-b` and `a.b` are between `a` and `a/b`: whatever shares the prefix is looked at.
        let sharing = self.spans[start..].iter().take_while(move |span| self.bytes(span).starts_with(path));
        sharing.filter(move |span| is_within(self.bytes(span))).map(|span| self.path(span))
    }

    fn bytes(&self, span: &Range<u32>) -> &[u8] {
        &self.names[span.start as usize..span.end as usize]
    }

    fn path(&self, span: &Range<u32>) -> &Path {
        of_git(self.bytes(span))
    }
}

/// The tracked files of the repository that `root` is, or is in; `None` without git.
///
/// The error is a warning: without the list, ignored files are merely not listed.
pub(super) fn of(root: &Path, cache: &Mutex<Cache>) -> Result<Option<Arc<Tracked>>, String> {
    let Some((worktree, index)) = find_index(root) else { return Ok(None) };
    // Before anything has been added there is no index.
    let Ok(metadata) = std::fs::metadata(&index) else { return Ok(None) };
    let stat = stat_of(&metadata);
    let mut cache = locked(cache);
    if let Some((of_root, of_index, of_stat, tracked)) = &*cache
        && of_root == root
        && *of_index == index
        && *of_stat == stat
    {
        return Ok(Some(Arc::clone(tracked)));
    }
    if !metadata.is_file() {
        return Err(format!("{} is not a file: what git tracks is not known", shown(&index)));
    }
    let inside = root.strip_prefix(&worktree).unwrap_or(Path::new(""));
    let tracked = Arc::new(read(&index, inside)?);
    *cache = Some((root.to_path_buf(), index, stat, Arc::clone(&tracked)));
    Ok(Some(tracked))
}

/// Whether git's index may hold `path` or something below it. Looking for the name in the bytes takes a tenth of
/// reading all entries; but the fourth version of an index writes names in parts.
pub(super) fn may_name(root: &Path, path: &str) -> bool {
    let Some((_, index)) = find_index(root) else { return false };
    let Ok(bytes) = std::fs::read(index) else { return true };
    bytes.get(4..8) == Some(&[0, 0, 0, 4]) || memchr::memmem::find(&bytes, path.as_bytes()).is_some()
}

/// Files that no listing holds but whose change may change what is listed: git's index and its exclusions.
pub fn git_rule_files(root: &Path) -> Vec<PathBuf> {
    let of_git = find_index(root).map(|(_, index)| {
        let exclude = index.parent().map(common_directory).unwrap_or_default().join("info/exclude");
        [index, exclude]
    });
    of_git.into_iter().flatten().chain(ignore::gitignore::gitconfig_excludes_path()).collect()
}

/// The index does not say itself how long its hashes are.
fn hash_kind(index: &Path) -> gix_index::hash::Kind {
    let common = index.parent().map(common_directory).unwrap_or_default();
    let config = std::fs::read_to_string(common.join("config")).unwrap_or_default().to_lowercase();
    let mut lines = config.lines().filter_map(|line| line.split_once('='));
    let is_sha256 = lines.any(|(key, value)| key.trim() == "objectformat" && value.trim() == "sha256");
    if is_sha256 { gix_index::hash::Kind::Sha256 } else { gix_index::hash::Kind::Sha1 }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The nearest folder at or above `root` with a `.git`, and the index of that.
fn find_index(root: &Path) -> Option<(PathBuf, PathBuf)> {
    directory(root).map(|(worktree, directory)| (worktree, directory.join("index")))
}

fn read(index: &Path, inside: &Path) -> Result<Tracked, String> {
    let failed = |reason: String| {
        format!(
            "git's index {} cannot be read ({}): files that git tracks and ignores are left out",
            shown(index),
            reason
        )
    };
    // The file is not ours and may be damaged in any way: whatever its parser does then, the walk goes on.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let options = gix_index::decode::Options { alloc_limit_bytes: Some(1 << 30), ..Default::default() };
        gix_index::File::at(index, hash_kind(index), true, options)
    }));
    let file = match parsed {
        Ok(Ok(file)) => file,
        Ok(Err(error)) => return Err(failed(printable(&error.to_string()))),
        Err(_) => return Err(failed("it is damaged".to_owned())),
    };
    let mut prefix = inside.as_os_str().as_encoded_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    let mut tracked = Tracked::default();
    for entry in file.entries().iter().filter(|entry| !matches!(entry.mode, Mode::COMMIT | Mode::DIR)) {
        let Some(name) = entry.path(&file).strip_prefix(prefix.as_slice()) else { continue };
        // An index above 4 GiB of names is not an index.
        let (Ok(start), Ok(length)) = (u32::try_from(tracked.names.len()), u32::try_from(name.len())) else { break };
        let Some(end) = start.checked_add(length) else { break };
        if is_plain(name) {
            tracked.names.extend_from_slice(name);
            tracked.spans.push(start..end);
        }
    }
    // Conflicts list a path up to three times.
    let Tracked { names, mut spans } = tracked;
    let bytes = |span: &Range<u32>| &names[span.start as usize..span.end as usize];
    spans.sort_by(|a, b| bytes(a).cmp(bytes(b)));
    spans.dedup_by(|a, b| bytes(a) == bytes(b));
    Ok(Tracked { names, spans })
}

/// Git writes no other names; a made-up index must not lead out of the repository.
fn is_plain(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..") && !part.contains(&0))
}
