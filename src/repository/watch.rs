//! The watch: which paths may have changed since the last update.
//!
//! Owns the system's watches and the set of dirty paths. Events are hints, never truth: an update stats and hashes the files
//! that they name. Does not own updates.
//!
//! There is one watch per folder that the walk enters, so ignored trees cost nothing. Every raw event marks its path dirty at
//! once; the debouncer behind it only reports when no more events come, for the background update. A read writes a *cookie*,
//! a file of its own in a watched folder: when its event arrives, the events of all earlier writes have arrived, too, because
//! the system keeps them in one queue. A read uses only cookies that were written after it began.
//!
//! Whatever is not understood (an error, thousands of paths, an ignore file, git's index) asks for a sweep. The system drops
//! the watches of folders that are removed or renamed: an update sets those again, and all watches after a queue overflow or
//! if the root itself was moved. If the system has no more watches, every read sweeps, and `stats` reports it.

mod change_feed;
mod cookie_folder;
mod events;
mod rule_files;
mod tapped_watcher;

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use notify_debouncer_full::notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind};
use notify_debouncer_full::notify::{self, Event, RecursiveMode, Watcher};
use notify_debouncer_full::{Debouncer, NoCache};

use super::folders::identity_of;
use crate::error::{Error, Result};
use crate::locked::locked;
use crate::model::RepoPath;
use crate::platform::files;
use crate::platform::watcher::SystemWatcher;
use crate::scan::{self, Entering, Rules};
use change_feed::ChangeFeed;
use events::{comes_or_goes, is_move, is_of_the_folder, refused};
use tapped_watcher::TappedWatcher;

/// A background update starts after so long without an event.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// A sweep is faster for more dirty paths than this.
const MAX_DIRTY: usize = 2_000;
/// If the event of a cookie takes longer, a sweep replaces the events.
const COOKIE_TIMEOUT: Duration = Duration::from_millis(50);
/// For more renamed and removed paths than this, setting all watches again costs less than looking each up.
const MAX_MOVED: usize = 20_000;
/// Why there are no watches, as `stats` reports it.
const NO_MORE_WATCHES: &str = "sweep: the system's limit of watches is reached";
pub(crate) const UNREPORTED: &str = "sweep: the file system does not report changes that other machines make";

/// Paths that an update must compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dirty {
    Nothing,
    Paths(Vec<RepoPath>),
    /// Anything may have changed.
    Everything,
}

/// Dirty paths that an update has taken. Unless it confirms them, the next update looks at everything.
pub(crate) struct Claim<'w> {
    watch: &'w Watch,
    pub dirty: Dirty,
    is_confirmed: bool,
}

/// The watches of one repository.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    when_quiet: Arc<dyn Fn() + Send + Sync>,
    watches: Arc<Mutex<Watches>>,
}

/// The watches that the system has set.
struct Watches {
    system: Arc<Mutex<SystemWatcher>>,
    /// Lives as long as the watches, and reports when no more events come.
    _debouncer: Debouncer<TappedWatcher, NoCache>,
    /// Folders with a watch, relative to the root.
    folders: BTreeSet<RepoPath>,
    /// Folders of rule files that were given a watch.
    rule_folders: BTreeSet<PathBuf>,
}

/// State that the event thread shares with reads.
struct Shared {
    root: PathBuf,
    rules: Rules,
    /// The folder of cookies.
    cookies: PathBuf,
    /// The prefix of this watch's cookies: other processes may watch the same repository.
    own_cookies: String,
    state: Mutex<State>,
    cookie_arrived: Condvar,
}

#[derive(Default)]
struct State {
    dirty: HashSet<RepoPath>,
    sweep: bool,
    /// Renamed and removed paths: the system may have dropped the watches at and below them.
    moved: HashSet<RepoPath>,
    /// It is unknown which watches still exist.
    renew: bool,
    /// Why events are incomplete, as `stats` reports it: the system refused a watch, or does not report all changes.
    limited: Option<&'static str>,
    /// Files outside the tree that determine what is listed: git's index, its exclusions and its settings.
    rule_files: BTreeSet<PathBuf>,
    /// Files of rules of repositories in the tree.
    nested_rule_files: BTreeSet<PathBuf>,
    /// Indexed folders outside the tree, each with its identity when it was last checked: a folder above may be renamed without
    /// an event.
    outside: Vec<(PathBuf, Option<(u64, u64)>)>,
    cookies_written: u64,
    cookies_seen: u64,
    /// The cookie of an earlier read, to be renamed by the next: a file system takes ten times as long to make a file and
    /// to remove it again, if many are.
    spare_cookie: Option<PathBuf>,
    /// Every earlier save has been noticed.
    confirmed: Option<Instant>,
    /// New folders: how many were seen, how many of them before the running update began, and how many are watched. Files
    /// can be written to an unwatched folder without an event.
    folders_seen: u64,
    folders_taken: u64,
    folders_watched: u64,
    feed: ChangeFeed,
    /// Feed of changes for listings, which watch each folder before they read it: a new watch means no missed changes
    /// to them.
    listing_feed: ChangeFeed,
}

impl Watch {
    /// Starts watching the root; the first update adds its folders. `when_quiet` is called on a thread of its own when something
    /// changed and no more events come.
    pub(crate) fn start(
        root: &Path,
        index: &Path,
        rules: Rules,
        when_quiet: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self> {
        let state = State { sweep: true, ..State::default() };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let own_cookies = format!("{}-{}-", std::process::id(), since.as_nanos());
        let (state, cookie_arrived) = (Mutex::new(state), Condvar::new());
        let (root, cookies) = (root.to_owned(), cookie_folder::of_index(index));
        let shared = Arc::new(Shared { root, rules, cookies, own_cookies, state, cookie_arrived });
        let when_quiet: Arc<dyn Fn() + Send + Sync> = Arc::new(when_quiet);
        let watches = Arc::new(Mutex::new(Watches::start(&shared, &when_quiet)?));
        Ok(Self { shared, when_quiet, watches })
    }

    /// Takes what is dirty. The caller brings it up to date, and covers the folders that it finds.
    pub(crate) fn take(&self) -> Claim<'_> {
        self.check_outside_folders();
        let mut watches = locked(&self.watches);
        let mut state = locked(&self.shared.state);
        let dirty = std::mem::take(&mut state.dirty);
        let moved = std::mem::take(&mut state.moved);
        let sweep = std::mem::take(&mut state.sweep);
        let renew = std::mem::take(&mut state.renew);
        let must_sweep = sweep || renew || state.limited.is_some();
        state.folders_taken = state.folders_seen;
        // The event thread needs the state to continue, and setting watches needs the event thread.
        if sweep || renew {
            state.feed.lose();
            state.listing_feed.lose();
        }
        drop(state);
        if renew {
            match Watches::start(&self.shared, &self.when_quiet) {
                Ok(new) => *watches = new,
                Err(error) => {
                    tracing::warn!("{error}");
                    locked(&self.shared.state).renew = true;
                }
            }
        } else {
            watches.forget(&moved, &self.shared.root);
        }
        if must_sweep {
            // Settings may name other files now.
            watches.cover_rule_files(&self.shared);
        }
        let dirty = if must_sweep {
            Dirty::Everything
        } else if dirty.is_empty() {
            Dirty::Nothing
        } else {
            let mut paths: Vec<RepoPath> = dirty.into_iter().collect();
            paths.sort_unstable();
            Dirty::Paths(paths)
        };
        Claim { watch: self, dirty, is_confirmed: false }
    }

    /// The next update looks at everything: what was taken could not be brought up to date, or events may be missing.
    pub(crate) fn ask_for_sweep(&self) {
        locked(&self.shared.state).sweep = true;
    }

    /// Accepts events of these folders outside the tree.
    pub(crate) fn set_outside_folders(&self, outside: Vec<PathBuf>) {
        let mut state = locked(&self.shared.state);
        let known = std::mem::take(&mut state.outside);
        let was = |folder: &PathBuf| known.iter().find(|(other, _)| other == folder).map(|(_, was)| *was);
        let with_identity = |folder: PathBuf| {
            let was = was(&folder).unwrap_or_else(|| identity_of(&folder));
            (folder, was)
        };
        state.outside = outside.into_iter().map(with_identity).collect();
    }

    /// Asks for a sweep if a folder outside is not the one that is watched any more: its watches are useless then.
    fn check_outside_folders(&self) {
        let known = locked(&self.shared.state).outside.clone();
        // This may take a while for a folder on a network, and events must continue.
        let checked = known.into_iter().map(|(folder, was)| (identity_of(&folder), folder, was));
        let changed: Vec<_> = checked.filter(|(now, _, was)| now != was).collect();
        if changed.is_empty() {
            return;
        }
        let mut state = locked(&self.shared.state);
        for (now, folder, _) in changed {
            state.moved.extend(folder.to_str().and_then(RepoPath::outside));
            if let Some(known) = state.outside.iter_mut().find(|(other, _)| *other == folder) {
                known.1 = now;
            }
        }
        state.sweep = true;
    }

    pub(super) fn has_dirt(&self) -> bool {
        self.shared.has_dirt()
    }

    /// The paths noticed since a position in the feed, and the position to continue from. `None`: anything may have changed.
    pub(crate) fn changes_since(&self, position: u64) -> (Option<Vec<RepoPath>>, u64) {
        let state = locked(&self.shared.state);
        (if state.is_lost() { None } else { state.feed.since(position) }, state.feed.next())
    }

    /// The paths noticed since the beginning of a listing that watches folders by [`Watch::entering`], and the position
    /// to continue from. `None`: anything may have changed.
    pub(crate) fn changes_since_listing(&self, position: u64) -> (Option<Vec<RepoPath>>, u64) {
        let state = locked(&self.shared.state);
        (if state.is_lost() { None } else { state.listing_feed.since(position) }, state.listing_feed.next())
    }

    /// The number of paths that wait for an update.
    pub(crate) fn pending(&self) -> usize {
        let state = locked(&self.shared.state);
        state.dirty.len() + usize::from(state.sweep || state.renew)
    }

    /// Events are incomplete, so every read has to sweep.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit().is_some()
    }

    /// Why events are incomplete, in the words of `stats`.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        locked(&self.shared.state).limited
    }

    /// Returns when the events of all writes that returned before `asked` have been processed. Only reads that began before
    /// a cookie was written share it. Where its event does not come, a sweep is requested.
    pub(crate) fn settle(&self, asked: Instant) {
        self.check_outside_folders();
        let mut state = locked(&self.shared.state);
        if state.confirmed.is_some_and(|confirmed| confirmed > asked) {
            return;
        }
        // Taken before the cookie is created, and before any cookie with a higher number, which may be seen instead.
        let written = Instant::now();
        state.cookies_written += 1;
        let number = state.cookies_written;
        let spare = state.spare_cookie.take();
        drop(state);
        let path = self.shared.cookies.join(format!("{}{number}", self.shared.own_cookies));
        // Another process may have removed it as an old one.
        let renamed = spare.is_some_and(|spare| fs::rename(spare, &path).is_ok());
        let made = if renamed { Ok(()) } else { fs::File::create(&path).map(drop) };
        let is_made = made.is_ok();
        let state = locked(&self.shared.state);
        let (mut state, _) = self
            .shared
            .cookie_arrived
            .wait_timeout_while(state, COOKIE_TIMEOUT, |state| is_made && state.cookies_seen < number)
            .unwrap_or_else(PoisonError::into_inner);
        if state.cookies_seen >= number {
            state.confirmed = state.confirmed.max(Some(written));
        } else {
            state.sweep = true;
            // The folder of cookies was removed.
            state.renew |= made.is_err_and(|error| error.kind() == NotFound);
        }
        if is_made && state.spare_cookie.is_none() {
            state.spare_cookie = Some(path);
            return;
        }
        drop(state);
        // A cookie that stays is removed by a later start.
        let _ = fs::remove_file(&path);
    }

    /// Watches the folders of files that determine what is listed of repositories in the tree. Returns whether there were new
    /// ones, as [`Self::cover`] does.
    pub(crate) fn cover_rule_files(&self, found: &[PathBuf]) -> bool {
        let mut watches = locked(&self.watches);
        let mut state = locked(&self.shared.state);
        let known = state.nested_rule_files.len();
        state.nested_rule_files.extend(found.iter().cloned());
        let is_new = state.nested_rule_files.len() > known;
        drop(state);
        let is_covered = is_new && watches.cover_rule_files(&self.shared);
        if is_covered {
            locked(&self.shared.state).listing_feed.lose();
        }
        is_covered
    }

    /// Watches the folders among `found` that are not watched yet. Returns whether there were any: something may have been saved
    /// in them before, so the caller must list again.
    pub(crate) fn cover(&self, found: &[RepoPath]) -> bool {
        let mut any = false;
        for folder in found {
            if locked(&self.watches).cover(folder, &self.shared) {
                locked(&self.shared.state).listing_feed.lose();
                any = true;
            }
        }
        any
    }

    /// Callback for a listing: it watches each folder before the listing reads it, so that nothing saved later is
    /// missed.
    pub(crate) fn entering(&self) -> Entering {
        let (watches, shared) = (Arc::clone(&self.watches), Arc::clone(&self.shared));
        Arc::new(move |folder| {
            locked(&watches).cover(folder, &shared);
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(spare) = locked(&self.shared.state).spare_cookie.take() {
            // One that stays is removed by a later start.
            let _ = fs::remove_file(spare);
        }
    }
}

impl Claim<'_> {
    /// To be called when the update has succeeded: it has set watches for all folders seen before it began.
    pub(crate) fn confirm(mut self) {
        self.is_confirmed = true;
        let mut state = locked(&self.watch.shared.state);
        state.folders_watched = state.folders_taken;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.is_confirmed {
            self.watch.ask_for_sweep();
        }
    }
}

impl Watches {
    /// Creates a queue with watches for the root, the cookies, and git's files about the tree.
    fn start(shared: &Arc<Shared>, when_quiet: &Arc<dyn Fn() + Send + Sync>) -> Result<Self> {
        let (handled, noted, when_quiet) = (Arc::clone(shared), Arc::clone(shared), Arc::clone(when_quiet));
        let handler = move |_| {
            if handled.has_dirt() {
                when_quiet();
            }
        };
        let started = tapped_watcher::start(Box::new(move |event| noted.note(event)), DEBOUNCE, handler);
        let (debouncer, system) = started.map_err(|error| refused(&error))?;
        let mut watches =
            Self { system, _debouncer: debouncer, folders: BTreeSet::new(), rule_folders: BTreeSet::new() };
        let root = shared.root.as_path();
        let cookies = shared.cookies.clone();
        cookie_folder::prepare(&cookies)?;
        for folder in [root, cookies.as_path()] {
            match watches.add(folder, shared) {
                // Then every read sweeps, which `stats` reports.
                Err(_) if locked(&shared.state).limited.is_some() => break,
                added => added?,
            }
        }
        watches.cover_rule_files(shared);
        Ok(watches)
    }

    /// Watches the folders of the files that determine what is listed, as far as they can be: the regular sweep checks them, too.
    /// Returns whether one was not watched before.
    fn cover_rule_files(&mut self, shared: &Shared) -> bool {
        let nested = locked(&shared.state).nested_rule_files.clone();
        let files = rule_files::current(&shared.root, &shared.rules, &nested);
        let folders = rule_files::folders(&shared.root, &files);
        locked(&shared.state).rule_files = files;
        let known = self.rule_folders.len();
        for folder in folders {
            let is_new = !self.rule_folders.contains(&folder);
            if is_new && locked(&shared.state).limited.is_none() && files::reports_all_changes(&folder) {
                match self.add(&folder, shared) {
                    Ok(()) => drop(self.rule_folders.insert(folder)),
                    Err(error) => tracing::debug!("{error}"),
                }
            }
        }
        self.rule_folders.len() > known
    }

    /// Removes the watches at and below renamed and removed paths.
    fn forget(&mut self, moved: &HashSet<RepoPath>, root: &Path) {
        for path in moved {
            let below = format!("{path}/");
            let from = (Bound::Included(path.clone()), Bound::Unbounded);
            let old: Vec<RepoPath> = self
                .folders
                .range(from)
                .take_while(|folder| folder.as_str().starts_with(path.as_str()))
                .filter(|folder| *folder == path || folder.as_str().starts_with(&below))
                .cloned()
                .collect();
            for folder in old {
                // The system may have dropped it already.
                let _ = locked(&self.system).unwatch(&folder.to_path(root));
                self.folders.remove(&folder);
            }
        }
    }

    /// Watches a folder that is not watched yet. Returns whether it was not: readers of the feed may have missed changes in it.
    fn cover(&mut self, folder: &RepoPath, shared: &Shared) -> bool {
        if self.folders.contains(folder) || locked(&shared.state).limited.is_some() {
            return false;
        }
        let added = self.add(&folder.to_path(&shared.root), shared);
        match added {
            Ok(()) => {
                self.folders.insert(folder.clone());
                locked(&shared.state).feed.lose();
            }
            Err(ref error) => tracing::debug!("{error}"),
        }
        added.is_ok()
    }

    fn add(&self, folder: &Path, shared: &Shared) -> Result<()> {
        if !files::reports_all_changes(folder) {
            let message = format!("the file system of {} does not report all changes", folder.display());
            let refused = Error::internal(message);
            shared.limit(UNREPORTED, &refused);
            return Err(refused);
        }
        let added = locked(&self.system).watch(folder, RecursiveMode::NonRecursive);
        added.map_err(|error| {
            let refused = refused(&error);
            if !is_of_the_folder(&error) {
                shared.limit(NO_MORE_WATCHES, &refused);
            }
            refused
        })
    }
}

impl State {
    /// Whether there were changes that the feeds do not know.
    fn is_lost(&self) -> bool {
        self.sweep || self.renew || self.folders_seen != self.folders_watched
    }

    /// Adds a change to the feeds.
    fn push(&mut self, path: RepoPath) {
        self.feed.push(path.clone());
        self.listing_feed.push(path);
    }
}

impl Shared {
    fn limit(&self, reason: &'static str, error: &Error) {
        let mut state = locked(&self.state);
        if state.limited.is_none() {
            tracing::warn!("{error}: every read looks at all files instead");
            state.limited = Some(reason);
        }
    }

    fn has_dirt(&self) -> bool {
        let state = locked(&self.state);
        state.sweep || state.renew || !state.dirty.is_empty()
    }

    /// Marks what an event names as dirty. Returns whether an update is needed.
    fn note(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else {
            locked(&self.state).renew = true;
            return true;
        };
        // Our own reading of files raises events too.
        let is_noise = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if is_noise {
            return false;
        }
        let mut state = locked(&self.state);
        // Events were lost, perhaps of folders that moved.
        state.renew |= event.need_rescan();
        for path in &event.paths {
            self.note_path(&mut state, path, event.kind);
        }
        state.sweep || state.renew || !state.dirty.is_empty()
    }

    fn note_path(&self, state: &mut State, path: &Path, kind: EventKind) {
        let (is_rule_file, is_above) = rule_files::at_and_below(&state.rule_files, path);
        // A folder above such a file matters when it comes and goes, and its watch with it.
        state.sweep |= is_rule_file || (is_above && comes_or_goes(kind));
        state.renew |= is_above && is_move(kind);
        if let Ok(name) = path.strip_prefix(&self.cookies) {
            state.renew |= is_move(kind) && name.as_os_str().is_empty();
            self.note_cookie(state, name);
            return;
        }
        let Ok(relative) = path.strip_prefix(&self.root) else {
            if state.outside.iter().any(|(folder, _)| path.starts_with(folder)) {
                self.note_outside(state, path, kind);
            }
            return;
        };
        let mut parts = relative.iter().map(OsStr::to_str);
        let first = parts.next().flatten();
        match first {
            None if relative.as_os_str().is_empty() => {
                state.sweep = true;
                state.renew |= is_move(kind);
            }
            // The index, and with it the folder of cookies.
            Some(".ixmcp") => state.renew |= is_move(kind) && self.cookies.starts_with(path),
            Some(".flashgrep") => {}
            // What matters in there and is not one of these is a rule file.
            Some(".git") => match parts.next().flatten() {
                None => {
                    state.sweep = true;
                    state.renew |= comes_or_goes(kind);
                }
                // Without one of these it is not a repository.
                Some("HEAD" | "objects" | "refs") => state.sweep |= comes_or_goes(kind),
                Some(_) => {}
            },
            _ => match RepoPath::under(&self.root, path) {
                Some(path) => self.note_entry(state, path, kind),
                // A name that is not UTF-8.
                None => state.sweep = true,
            },
        }
    }

    fn note_outside(&self, state: &mut State, path: &Path, kind: EventKind) {
        if path.iter().any(scan::is_private_name) {
            return;
        }
        let is_folder_itself = state.outside.iter().any(|(folder, _)| folder == path);
        match path.to_str().and_then(RepoPath::outside) {
            Some(path) if !is_folder_itself => self.note_entry(state, path, kind),
            _ => {
                state.sweep = true;
                state.renew |= is_move(kind);
            }
        }
    }

    fn note_entry(&self, state: &mut State, path: RepoPath, kind: EventKind) {
        if path.file_name() == ".git"
            && let Some(folder) =
                path.to_path(&self.root).parent().and_then(|folder| RepoPath::under(&self.root, folder))
        {
            // The folder has become another worktree of the repository, which is not watched, or has stopped being one.
            state.moved.insert(folder.clone());
            state.push(folder.clone());
            state.dirty.insert(folder);
            return;
        }
        if is_move(kind) {
            if state.moved.len() < MAX_MOVED {
                state.moved.insert(path.clone());
            } else {
                state.renew = true;
            }
        }
        let is_folder = match kind {
            EventKind::Create(kind) => kind != CreateKind::File,
            // The event does not say whether a file or a folder was renamed.
            EventKind::Modify(ModifyKind::Name(_)) => path.to_path(&self.root).is_dir(),
            _ => false,
        };
        state.folders_seen += u64::from(is_folder);
        state.push(path.clone());
        if !scan::is_rule_file(&path) && state.dirty.len() < MAX_DIRTY {
            state.dirty.insert(path);
        } else {
            state.sweep = true;
        }
    }

    fn note_cookie(&self, state: &mut State, name: &Path) {
        let number = name.to_str().and_then(|name| name.strip_prefix(&self.own_cookies)?.parse().ok());
        if let Some(number) = number {
            state.cookies_seen = state.cookies_seen.max(number);
            self.cookie_arrived.notify_all();
        }
    }
}
