//! The files that differ from a commit, with their text at that commit.
//!
//! Owns how a file is recognized as unchanged without reading it, and the cache of what was read before. Does not own how git's
//! objects are read (`git_objects`), or which definitions differ (`query::changes`).

use std::collections::{HashMap, HashSet};
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::known_patches::{FilePatches, KnownPatches};
use super::open_repository::Repository;
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::{self, Options};
use crate::git_layout::directory_in;
use crate::git_objects::{self, Ancestry, Commit, Comparison, Objects, Settings, Tree, WorkFile, is_convertible};
use crate::locked::locked;
use crate::model::{ContentHash, RepoPath, Stat, Symbol};
use crate::scan::{self, Staged};
use crate::store::Snapshot;
use crate::threads::{WorkList, on_threads};

/// Trees that are kept.
const TREES: usize = 4;
/// Bytes of text, and unchanged files, that are kept.
const MAX_KEPT_TEXT: usize = 48 << 20;
const MAX_KEPT_FILES: usize = 200_000;

/// Compares the files of one repository with its commits.
pub struct History {
    repository: Arc<Repository>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    trees: Vec<(String, Arc<Tree>)>,
    /// The commits that the last requested commit reaches, with the source that they were read from.
    ancestry: Option<(String, Arc<Ancestry>)>,
    patches: KnownPatches,
    /// By path: the blob that the file is equal to while it has this stat.
    equal: HashMap<String, (String, Stat)>,
    /// By blob and path.
    versions: HashMap<(String, String), Arc<Version>>,
    bytes: usize,
}

/// A commit with its files, and what git's index says of them.
pub struct Base {
    pub commit: Commit,
    tree: Arc<Tree>,
    staged: Staged,
    settings: Settings,
    objects: Objects,
}

/// A file as it was at the commit.
#[derive(Debug)]
pub struct Version {
    pub path: String,
    pub language: &'static str,
    pub text: String,
    pub symbols: Vec<Symbol>,
    blob: Blob,
}

/// Facts by which a blob is compared.
#[derive(Clone, Copy, Debug)]
struct Blob {
    hash: ContentHash,
    is_convertible: bool,
}

impl Blob {
    fn new(bytes: &[u8]) -> Self {
        Self { hash: ContentHash::compute(bytes), is_convertible: is_convertible(bytes) }
    }
}

/// A file that differs from the commit.
pub struct Differing {
    pub path: String,
    /// `None`: the commit lacks it.
    pub before: Option<Arc<Version>>,
    pub is_gone: bool,
}

#[derive(Default)]
pub struct Differences {
    /// By path.
    pub files: Vec<Differing>,
    /// Files that could not be compared, with the reason.
    pub problems: Vec<(String, &'static str)>,
}

impl Base {
    /// Files with a conflict of a merge.
    pub fn conflicts(&self) -> usize {
        self.staged.conflicts()
    }
}

impl History {
    pub(crate) fn new(repository: Arc<Repository>) -> Self {
        Self { repository, cache: Mutex::default() }
    }

    /// When the latest commits were made, in seconds since 1970, and their subjects, newest first.
    pub fn latest(&self, count: usize, budget: &Budget) -> Result<Vec<(i64, String)>> {
        self.objects()?.latest(count, budget)
    }

    pub(super) fn objects(&self) -> Result<Objects> {
        Objects::open(&self.repository.root, &self.repository.sources.environment)
    }

    pub(super) fn root(&self) -> &Path {
        &self.repository.root
    }

    /// The commits that a commit reaches.
    pub(super) fn ancestry(&self, from: &str, objects: &Objects, budget: &Budget) -> Result<Arc<Ancestry>> {
        let source = format!("{from} {}", objects.surroundings());
        if let Some((_, known)) = locked(&self.cache).ancestry.as_ref().filter(|(known, _)| *known == source) {
            return Ok(Arc::clone(known));
        }
        let ancestry = Arc::new(objects.ancestry(from, budget)?);
        locked(&self.cache).ancestry = Some((source, Arc::clone(&ancestry)));
        Ok(ancestry)
    }

    /// How commits changed a file with these names, as far as they were compared.
    pub(super) fn patches(&self, paths: &[String], objects: &Objects) -> Arc<FilePatches> {
        let key = format!("{} {}", objects.surroundings(), paths.join("\n"));
        locked(&self.cache).patches.of_file(key)
    }

    /// The branch that is checked out, if any.
    pub fn branch(&self) -> Option<String> {
        git_objects::branch(&self.repository.root, &self.repository.sources.environment)
    }

    /// The commit that a revision names.
    pub fn base(&self, revision: &str, budget: &Budget) -> Result<Base> {
        let objects = self.objects()?;
        let commit = objects.commit(revision, budget)?;
        let tree = match &commit.id {
            None => Arc::default(),
            Some(id) => self.tree(id, &objects, budget)?,
        };
        let settings = objects.settings(budget)?;
        Ok(Base { commit, tree, staged: scan::staged(&self.repository.root), settings, objects })
    }

    fn tree(&self, id: &str, objects: &Objects, budget: &Budget) -> Result<Arc<Tree>> {
        if let Some((_, tree)) = locked(&self.cache).trees.iter().find(|(known, _)| known == id) {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(objects.tree(id, budget)?);
        let mut cache = locked(&self.cache);
        if cache.trees.len() >= TREES {
            cache.trees.remove(0);
        }
        cache.trees.push((id.to_owned(), Arc::clone(&tree)));
        Ok(tree)
    }

    /// The files that may define something and differ from the base.
    pub fn differences(&self, base: &Base, snapshot: &Snapshot, budget: &Budget) -> Result<Differences> {
        let stats = snapshot.stored_stats()?;
        let mut stats: HashMap<&str, Stat> = stats.iter().map(|(path, stat, _)| (path, stat)).collect();
        // Nothing is known of files that exist and are not indexed.
        for left_out in snapshot.skipped()? {
            stats.remove(left_out.path.as_str());
        }
        let mut differences = Differences::default();
        let mut nested = NestedRepositories { root: &self.repository.root, known: HashMap::new() };
        let added = stats.keys().filter(|path| {
            !base.tree.contains_key(**path)
                && may_define(path)
                && (base.staged.has(path) || !(base.staged.is_in_submodule(path) || nested.hold(path, &base.staged)))
        });
        let mut files: Vec<Differing> =
            added.map(|path| Differing { path: (*path).to_owned(), before: None, is_gone: false }).collect();
        // Those whose stat does not prove that they are unchanged.
        let candidates = base.tree.iter().filter_map(|(path, id)| {
            let stat = stats.get(path.as_str()).copied();
            let is_out = match &stat {
                Some(stat) => base.staged.is_clean(path, id, stat) || self.is_known_equal(path, id, stat),
                // Not checked out, or there and not indexed although git tracks it.
                None => {
                    base.staged.is_unexamined(path)
                        || (is_file(&self.repository.root, path) && !base.staged.lacks(path))
                }
            };
            (!is_out && may_define(path)).then_some((path.as_str(), id.as_str(), stat))
        });
        let mut candidates: Vec<(&str, &str, Option<Stat>)> = candidates.collect();
        candidates.sort_unstable_by_key(|(path, ..)| *path);
        for batch in candidates.chunks(BATCH) {
            budget.check()?;
            self.compare(base, batch, snapshot, budget, &mut files, &mut differences.problems)?;
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        differences.files = files;
        Ok(differences)
    }

    fn is_known_equal(&self, path: &str, id: &str, stat: &Stat) -> bool {
        locked(&self.cache).equal.get(path).is_some_and(|(known, at)| known == id && at == stat)
    }

    fn compare(
        &self,
        base: &Base,
        candidates: &[(&str, &str, Option<Stat>)],
        snapshot: &Snapshot,
        budget: &Budget,
        files: &mut Vec<Differing>,
        problems: &mut Vec<(String, &'static str)>,
    ) -> Result<()> {
        let settings = self.repository.settings();
        let known: Vec<Option<Arc<Version>>> = {
            let cache = locked(&self.cache);
            let version =
                |(path, id, _): &(&str, &str, _)| cache.versions.get(&((*id).to_owned(), (*path).to_owned())).cloned();
            candidates.iter().map(version).collect()
        };
        let missing: Vec<usize> = (0..candidates.len()).filter(|at| known[*at].is_none()).collect();
        let ids: Vec<&str> = missing.iter().map(|at| candidates[*at].1).collect();
        let most = settings.config.index.max_file_size;
        let blobs = base.objects.blobs(&ids, most, budget)?;
        let mut read: Vec<(usize, RepoPath, Vec<u8>)> = Vec::new();
        for (at, blob) in missing.into_iter().zip(blobs) {
            let path = candidates[at].0;
            match blob {
                None => problems.push((path.to_owned(), "the base's text is too large, or not in this partial clone")),
                Some(blob) => read.extend(RepoPath::new(path).map(|path| (at, path, blob))),
            }
        }
        let of_known = known.iter().enumerate().filter_map(|(at, version)| Some((at, version.as_ref()?.blob)));
        let blobs = read.iter().map(|(at, _, bytes)| (*at, Blob::new(bytes))).chain(of_known).collect();
        let unchanged = self.unchanged(base, candidates, &blobs, most, snapshot, budget)?;
        problems.extend(unchanged.undecided);
        read.retain(|(at, ..)| !unchanged.same.contains(at));
        let versions = extracted(&read, &settings.extraction())?;
        for (at, version) in &versions {
            self.keep(candidates[*at].1, version);
        }
        let known = known.into_iter().enumerate().filter_map(|(at, version)| Some((at, version?)));
        for (at, version) in known.filter(|(at, _)| !unchanged.same.contains(at)).chain(versions) {
            let (path, _, stat) = candidates[at];
            files.push(Differing { path: path.to_owned(), before: Some(version), is_gone: stat.is_none() });
        }
        Ok(())
    }

    /// Which candidates git would commit as they are at the base.
    fn unchanged(
        &self,
        base: &Base,
        candidates: &[(&str, &str, Option<Stat>)],
        blobs: &HashMap<usize, Blob>,
        most: u64,
        snapshot: &Snapshot,
        budget: &Budget,
    ) -> Result<Unchanged> {
        let paths: Vec<RepoPath> = candidates.iter().filter_map(|(path, ..)| RepoPath::new(*path)).collect();
        let stored = snapshot.stored_files_at(&paths)?;
        let hashes: HashMap<&str, ContentHash> = stored.iter().map(|file| (file.path.as_str(), file.hash)).collect();
        let mut unchanged = Unchanged::default();
        let mut other: Vec<(usize, Vec<u8>)> = Vec::new();
        for (at, (path, id, stat)) in candidates.iter().enumerate() {
            let (Some(stat), Some(blob)) = (stat, blobs.get(&at)) else { continue };
            if hashes.get(path) == Some(&blob.hash) && !blob.is_convertible {
                let mut cache = locked(&self.cache);
                if cache.equal.len() >= MAX_KEPT_FILES {
                    cache.equal.clear();
                }
                cache.equal.insert((*path).to_owned(), ((*id).to_owned(), *stat));
                unchanged.same.insert(at);
            } else if let Some(path) = RepoPath::new(*path)
                && let Ok(content) = scan::read(&self.repository.root, &path, most)
            {
                other.push((at, content.bytes));
            }
        }
        // What git would commit depends on its attributes, too, so that the result is not kept.
        let files: Vec<WorkFile> = other
            .iter()
            .map(|(at, bytes)| {
                let (path, committed, _) = candidates[*at];
                WorkFile { path, bytes, committed: Some(committed), staged: base.staged.id(path) }
            })
            .collect();
        let compared = base.objects.compare(&files, &base.settings, most, budget)?;
        for ((at, _), compared) in other.iter().zip(compared) {
            match compared {
                Comparison::Differs(_) => continue,
                Comparison::Same => {}
                Comparison::Undecided(reason) => unchanged.undecided.push((candidates[*at].0.to_owned(), reason)),
            }
            unchanged.same.insert(*at);
        }
        Ok(unchanged)
    }

    fn keep(&self, id: &str, version: &Arc<Version>) {
        let mut cache = locked(&self.cache);
        if cache.bytes > MAX_KEPT_TEXT {
            cache.versions.clear();
            cache.bytes = 0;
        }
        cache.bytes += version.text.len();
        cache.versions.insert((id.to_owned(), version.path.clone()), Arc::clone(version));
    }
}

/// The candidates that are not listed as differing.
#[derive(Default)]
struct Unchanged {
    /// By their number.
    same: HashSet<usize>,
    /// Files of `same` that may differ, with the reason why that is not known.
    undecided: Vec<(String, &'static str)>,
}

/// Candidates that are compared at once.
const BATCH: usize = 1_000;

/// Whether a file can define something that code refers to, by its name.
fn may_define(path: &str) -> bool {
    const DATA: &[&str] = &["markdown", "json", "yaml", "toml", "html", "css", "text"];
    if path.starts_with('/') {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    // A script may have no extension.
    RepoPath::new(path).is_some_and(|path| !DATA.contains(&extract::language_of(&path))) || !name.contains('.')
}

/// Whether a file exists for git: neither it nor a folder above it is a symbolic link.
fn is_file(root: &Path, path: &str) -> bool {
    let kind = |path: &str| root.join(path).symlink_metadata().map(|found| found.file_type());
    let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders.all(|folder| kind(folder).is_ok_and(|kind| kind.is_dir())) && kind(path).is_ok_and(|kind| kind.is_file())
}

/// The repositories in folders below the root; each has its own history.
struct NestedRepositories<'r> {
    root: &'r Path,
    /// By folder.
    known: HashMap<String, bool>,
}

impl NestedRepositories<'_> {
    /// Git does not see a repository in a folder if it tracks files of that folder.
    fn hold(&mut self, path: &str, staged: &Staged) -> bool {
        path.match_indices('/').any(|(end, _)| {
            let folder = &path[..end];
            let is_known = self.known.get(folder).copied();
            is_known.unwrap_or_else(|| {
                let is_nested = directory_in(&self.root.join(folder)).is_some() && !staged.has_below(folder);
                self.known.insert(folder.to_owned(), is_nested);
                is_nested
            })
        })
    }
}

/// Extracts on all cores.
fn extracted(read: &[(usize, RepoPath, Vec<u8>)], options: &Options) -> Result<Vec<(usize, Arc<Version>)>> {
    let list = WorkList::new(read);
    let work = || {
        let next = || list.take().map(|(_, (at, path, bytes))| (*at, Arc::new(version(path, bytes, options))));
        std::iter::from_fn(next).collect::<Vec<_>>()
    };
    Ok(on_threads(list.threads(), work)?.into_iter().flatten().collect())
}

/// A version of a file; without definitions if it would not be indexed.
fn version(path: &RepoPath, bytes: &[u8], options: &Options) -> Version {
    let extract = std::panic::AssertUnwindSafe(|| extract::extract(path, bytes, options));
    let extracted = catch_unwind(extract).ok().and_then(Result::ok).unwrap_or_default();
    let text = extracted.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let blob = Blob::new(bytes);
    Version { path: path.as_str().to_owned(), language: extracted.language, text, symbols: extracted.symbols, blob }
}
