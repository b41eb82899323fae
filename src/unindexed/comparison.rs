//! Files that the index lacks while a long update runs, so that reads need not wait for the end of it.
//!
//! Owns the comparison of one snapshot with the listing that reads share, and the text of files that are not indexed
//! yet. Does not own when reads wait and when the tree is walked (`update`), nor which files a query needs first
//! (`needed`).

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::budget::Budget;
use crate::error::Result;
use crate::extract::{self, Options};
use crate::model::{ContentHash, Extracted, RepoPath, Stat};
use crate::platform::beneath::Folder;
use crate::repository::{DiskListing, IndexedFile, Repository, Settings, Thoroughness};
use crate::scan::{self, Listing};
use crate::secrets;
use crate::store::{Fact, Snapshot, StoredFile};
use crate::threads::STACK_BYTES;
use crate::update::plan::{self, CheapChanges, Task};

/// Files on disk that one snapshot of the index lacks.
pub struct Unindexed {
    pub(super) repository: Arc<Repository>,
    pub(super) settings: Arc<Settings>,
    /// The open root.
    root: Option<Folder>,
    options: Options,
    /// New and changed files in path order, with their sizes.
    pub(super) files: Vec<(RepoPath, u64)>,
    /// Files whose rows do not show the disk.
    outdated: HashSet<String>,
    /// Outdated files whose rows may nevertheless show the disk: saved just before they were read.
    suspects: HashMap<String, ContentHash>,
    /// Unchanged files whose rows an older extractor made.
    old: usize,
    listed: usize,
}

/// The innermost symbol around a line.
pub struct SymbolAround {
    pub name: String,
    pub container: Option<String>,
    pub language: &'static str,
}

fn read(repository: &Repository, settings: &Settings, root: Option<&Folder>, path: &RepoPath) -> Option<Vec<u8>> {
    let (folder, below) = settings.folders.location(&repository.root, path);
    let limit = settings.rules.max_file_size(path);
    let content = match root {
        Some(root) if folder == repository.root => scan::read_below(root, &below, limit),
        _ => scan::read(&folder, &below, limit),
    };
    content.ok().map(|content| content.bytes)
}

impl Unindexed {
    /// Compares a snapshot with a listing that was made before it.
    pub(crate) fn compare(
        repository: &Arc<Repository>,
        listed: &DiskListing,
        snapshot: &Snapshot,
        budget: &Budget,
    ) -> Result<Self> {
        let settings = repository.settings();
        let options = settings.extraction();
        let current = options.fingerprint();
        let stored = snapshot.fact(Fact::Options)?;
        // Rows that were made with other options show other text.
        let thoroughness = if stored.is_some_and(|stored| stored != current) {
            Thoroughness::Everything
        } else {
            Thoroughness::Changed
        };
        let listing = Listing { files: listed.listing.files.clone(), ..Listing::default() };
        let count = listing.files.len();
        let stats: HashMap<&str, Stat> =
            listed.listing.files.iter().map(|file| (file.path.as_str(), file.stat)).collect();
        let (files, skipped) = (snapshot.stored_files()?, snapshot.skipped()?);
        // After an upgrade, the old rows of unchanged files answer until they are replaced.
        let are_usable = |known: &StoredFile| plan::has_current_chunking(known, &settings.folders, &known.path);
        let old: Vec<String> = files
            .iter()
            .filter(|known| !plan::rows_are_current(known, &settings.folders, &known.path))
            .map(|known| known.path.as_str().to_owned())
            .collect();
        let (mut tasks, CheapChanges { gone, .. }) =
            plan::compare(listing, files, skipped, thoroughness, &HashSet::new(), are_usable);
        let folder = Folder::open(&repository.root).ok();
        if let Some(seed) = repository.seed() {
            let read = |path: &RepoPath| read(repository, &settings, folder.as_ref(), path);
            let indexed: Vec<IndexedFile> = tasks
                .iter()
                .filter_map(|Task { path, known, .. }| {
                    Some(IndexedFile { path, hash: known.as_ref()?.hash, stat: *stats.get(path.as_str())? })
                })
                .collect();
            let unchanged = seed.unchanged(&indexed, &read, budget)?;
            tasks.retain(|task| !unchanged.contains(&task.path));
        }
        let changed = tasks.iter().map(|task| task.path.as_str());
        let outdated =
            changed.chain(gone.iter().map(|file| file.path.as_str())).map(str::to_owned).collect::<HashSet<_>>();
        let suspects = tasks.iter().filter_map(|task| {
            let known = task.known.as_ref().filter(|known| stats.get(task.path.as_str()) == Some(&known.stat))?;
            Some((task.path.as_str().to_owned(), known.hash))
        });
        let suspects = suspects.collect();
        let mut files: Vec<(RepoPath, u64)> = tasks.into_iter().map(|task| (task.path, task.size)).collect();
        files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let old = old.iter().filter(|path| !outdated.contains(*path)).count();
        Ok(Self {
            repository: Arc::clone(repository),
            settings,
            root: folder,
            options,
            files,
            outdated,
            suspects,
            old,
            listed: count,
        })
    }

    /// The files that are indexed as they are on disk, and all files.
    pub fn progress(&self) -> (u64, u64) {
        (self.listed.saturating_sub(self.files.len() + self.old) as u64, self.listed as u64)
    }

    /// Whether the index lacks nothing: only its last steps are left to do.
    pub fn is_complete(&self) -> bool {
        self.outdated.is_empty() && self.old == 0
    }

    /// The new and changed files, in path order, without secrets: those with a name that says nothing are read.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let is_secret = |path: &RepoPath| {
            self.options.skip_secrets
                && secrets::depends_on_content(path.as_str())
                && self.read(path).is_none_or(|bytes| secrets::is_secret(path.as_str(), &bytes))
        };
        self.files.iter().map(|(path, _)| path).filter(move |path| !is_secret(path))
    }

    pub fn path(&self, number: usize) -> Option<&str> {
        self.files.get(number).map(|(path, _)| path.as_str())
    }

    /// Whether the rows of that file do not show what is on disk.
    pub fn is_outdated(&self, path: &str) -> bool {
        self.outdated.contains(path)
    }

    /// Whether the rows of that file do not show what is on disk, for a file that an answer shows: one that was saved
    /// just before it was indexed is read to find out.
    pub fn is_really_outdated(&self, path: &str) -> bool {
        let hash = self.suspects.get(path);
        let now = || RepoPath::stored(path).and_then(|path| self.read(&path)).map(|bytes| ContentHash::compute(&bytes));
        self.is_outdated(path) && hash.is_none_or(|hash| now() != Some(*hash))
    }

    /// The text that will be indexed; `None` if there is none, if it has to be taken out of a document, or if `may_match`
    /// rejects it. It is asked first: most files are rejected, and need no look at their language and secrets.
    pub fn text(&self, number: usize, may_match: &dyn Fn(&str) -> bool) -> Option<String> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let (path, _) = self.files.get(number)?;
        let bytes = self.read(path)?;
        if !self.options.mask_secrets
            && !bytes.starts_with(BYTE_ORDER_MARK)
            // UTF-16.
            && memchr::memchr(0, &bytes).is_none()
            && std::str::from_utf8(&bytes).is_ok_and(|text| !may_match(text))
        {
            return None;
        }
        extract::searchable_text(path, &bytes, &self.settings.folders.options(path, &self.options))
    }

    pub(super) fn read(&self, path: &RepoPath) -> Option<Vec<u8>> {
        read(&self.repository, &self.settings, self.root.as_ref(), path)
    }

    /// The innermost symbol around each of these lines, which ascend.
    pub fn symbols_around(&self, number: usize, lines: &[u32]) -> Vec<Option<SymbolAround>> {
        let extracted = self.files.get(number).and_then(|(path, _)| self.extracted(path)).unwrap_or_default();
        let innermost = |line: &u32| {
            // Symbols are in the order of their beginnings.
            let around = extracted.symbols.iter().rev().find(|one| (one.start_line..=one.end_line).contains(line));
            around.map(|symbol| SymbolAround {
                name: symbol.name.clone(),
                container: symbol.container.clone(),
                language: extracted.language,
            })
        };
        lines.iter().map(innermost).collect()
    }

    fn extracted(&self, path: &RepoPath) -> Option<Extracted> {
        let bytes = self.read(path)?;
        let options = self.settings.folders.options(path, &self.options);
        // Parsers are third-party code, and the file determines how deep they recurse.
        std::thread::scope(|scope| {
            let extraction = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
                catch_unwind(AssertUnwindSafe(|| extract::extract(path, &bytes, &options).ok())).ok().flatten()
            });
            extraction.ok()?.join().ok().flatten()
        })
    }
}
