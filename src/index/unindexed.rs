//! Files that the index lacks while a long update runs, so that reads need not wait for the end of it.
//!
//! Owns when such reads walk the tree, the comparison of one snapshot with the listing that they share, and the text of
//! files that are not indexed yet. Does not own when reads wait (`updates`), which files a query needs first
//! (`needed`), nor how files become rows (`apply`).

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compare::{self, CheapChanges};
use super::disk_listing::DiskListing;
use super::locked;
use super::repository::{Repository, Settings};
use super::round::Thoroughness;
use super::watch::Watch;
use crate::budget::Budget;
use crate::error::Result;
use crate::extract::{self, Options};
use crate::model::{ContentHash, Extracted, RepoPath, Stat};
use crate::platform::beneath::Folder;
use crate::scan::{self, Listing};
use crate::secrets;
use crate::store::{Fact, Snapshot, StoredFile};
use crate::threads::STACK_BYTES;

/// How many times a walk is repeated when new folders keep appearing.
const MAX_LISTINGS: usize = 4;

/// How long a read waits for the listing of a first build to begin, and how often it looks.
const MAX_WAIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(2);

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

/// The files on disk, including every write that returned before `since`. Walks the tree only if changes may have been
/// missed since the last time.
pub(super) fn list_disk(repository: &Repository, since: Instant, budget: &Budget) -> Result<Arc<DiskListing>> {
    let settings = repository.settings();
    let watch = repository.full_watch();
    let asked = Instant::now();
    // The first build lists the tree as well: to do so at the same time would take both twice as long.
    let is_to_come = || repository.in_flight.is_planning() && repository.lent().is_none() && asked.elapsed() < MAX_WAIT;
    while locked(&repository.listed).is_none() && (repository.listings.are_running() || is_to_come()) {
        budget.check()?;
        std::thread::sleep(POLL);
    }
    let known = locked(&repository.listed).clone();
    if let Some(known) = known {
        let changes = watch.zip(known.position).map(|(watch, position)| watch.changes_since_listing(position));
        match changes {
            Some((Some(paths), _)) if paths.is_empty() => return Ok(known),
            // Which files of a document folder are listed may depend on all of them.
            Some((Some(paths), position)) if settings.folders.all().is_empty() => {
                let part = settings.folders.at(&repository.root, &paths, &settings.rules, budget)?;
                let listing = replaced(&known.listing, &paths, part);
                return Ok(repository.share_listing(DiskListing { listing, begun: since, position: Some(position) }));
            }
            None if known.begun >= since => return Ok(known),
            _ => {}
        }
    }
    let entering = watch.map(Watch::entering);
    let list = || settings.folders.list(&repository.root, &settings.rules, entering.as_ref(), budget);
    for _ in 0..MAX_LISTINGS {
        let DiskListing { begun, position, .. } = DiskListing::begin(repository.full_watch());
        let listing = list()?;
        // What is saved in a folder that is not watched yet has no event: such a listing cannot be continued.
        if !watch.is_some_and(|watch| watch.cover(&listing.folders)) {
            return Ok(repository.share_listing(DiskListing { listing, begun, position }));
        }
    }
    let begun = Instant::now();
    let listing = list()?;
    Ok(repository.share_listing(DiskListing { listing, begun, position: None }))
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

/// A listing with `part` for what is at or below `paths`.
fn replaced(listing: &Listing, paths: &[RepoPath], part: Listing) -> Listing {
    let changed: HashSet<&str> = paths.iter().map(RepoPath::as_str).collect();
    let is_kept = |path: &str| {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !above.chain([path]).any(|part| changed.contains(part))
    };
    let mut files: Vec<_> = listing.files.iter().filter(|file| is_kept(file.path.as_str())).cloned().collect();
    files.extend(part.files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut skipped: Vec<_> = listing.skipped.iter().filter(|left| is_kept(&left.path)).cloned().collect();
    skipped.extend(part.skipped);
    Listing { files, skipped, ..Listing::default() }
}

impl Unindexed {
    /// Compares a snapshot with a listing that was made before it.
    pub(super) fn of(
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
        let are_usable = |known: &StoredFile| compare::has_current_chunking(known, &settings.folders, &known.path);
        let old: Vec<String> = files
            .iter()
            .filter(|known| !compare::rows_are_current(known, &settings.folders, &known.path))
            .map(|known| known.path.as_str().to_owned())
            .collect();
        let (mut tasks, CheapChanges { gone, .. }) =
            compare::compare(listing, files, skipped, thoroughness, &HashSet::new(), are_usable);
        let folder = Folder::open(&repository.root).ok();
        if let Some(seed) = repository.seed() {
            let read = |path: &RepoPath| read(repository, &settings, folder.as_ref(), path);
            let unchanged = seed.unchanged(&tasks, &stats, &read, budget)?;
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
        let now = || RepoPath::stored(path).and_then(|path| self.read(&path)).map(|bytes| ContentHash::of(&bytes));
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
