//! Noticing saves: which paths may have changed since the last update.
//!
//! Owns the system's watches and the set of dirty paths. Events are hints, never truth: an update stats and hashes what
//! they name. Does not own updates; the workspace asks here what to look at.
//!
//! One watch a folder, for the folders that the walk looks into: ignored trees cost nothing. Every raw event marks its
//! path dirty at once; the debouncer behind it only reports when it is quiet, for the update in the background. A read
//! writes a *cookie*, a file of its own in a watched folder: when its event comes, those of all earlier writes have come
//! too, because the system keeps them in one queue. A read uses only cookies that were written after it began.
//!
//! Whatever is not understood (an error, thousands of paths, an ignore file, git's index) asks for a sweep. The system
//! drops watches by itself, of folders that go or are renamed: an update sets those anew, and all of them where a queue
//! ran over or the root itself moved. When the system has no more watches, every read sweeps, and `stats` says so.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use notify_debouncer_full::notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};
use notify_debouncer_full::notify::{
    self, Config, ErrorKind as NotifyErrorKind, Event, EventHandler, RecommendedWatcher, RecursiveMode, Watcher,
    WatcherKind,
};
use notify_debouncer_full::{Debouncer, NoCache, new_debouncer_opt};

use super::folders::identity_of;
use super::locked;
use crate::error::{Error, Result};
use crate::model::RepoPath;
use crate::scan;

/// A background update waits until no event came for so long.
const QUIET: Duration = Duration::from_millis(300);
/// More dirty paths than this are found faster by a sweep.
const MANY_PATHS: usize = 2_000;
/// A reader that is further behind looks at everything. One save is several events.
const LONGEST_JOURNAL: usize = 10_000;
/// The event of a cookie comes within this, or the queue is not to be trusted.
const COOKIE_WAIT: Duration = Duration::from_millis(50);
/// No read waits for a cookie of this age any more.
const OLD_COOKIE: Duration = Duration::from_secs(60);
/// More renamed and removed paths than this: setting all watches anew costs less than looking each up.
const MANY_MOVED: usize = 20_000;
/// The folder of cookies: its own, for the database beside it is written all the time.
const COOKIES: &str = ".ixmcp/watch";

/// What an update has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dirty {
    Nothing,
    Paths(Vec<RepoPath>),
    /// Anything may have changed.
    Everything,
}

/// The watches of one repository.
pub(super) struct Watch {
    shared: Arc<Shared>,
    nudge: Arc<dyn Fn() + Send + Sync>,
    watches: Mutex<Watches>,
}

/// What the system was asked for.
struct Watches {
    system: Arc<Mutex<RecommendedWatcher>>,
    /// Lives as long as the watches: it reports when it is quiet.
    _debouncer: Debouncer<Tap, NoCache>,
    /// Folders with a watch, relative to the root.
    folders: BTreeSet<RepoPath>,
}

/// What the event thread writes and reads ask.
struct Shared {
    root: PathBuf,
    /// How the cookies of this watch begin: others may watch the same repository.
    own_cookies: String,
    state: Mutex<State>,
    cookie_came: Condvar,
}

#[derive(Default)]
struct State {
    dirty: HashSet<RepoPath>,
    sweep: bool,
    /// What was renamed or removed: the system may have dropped watches at and below.
    moved: HashSet<RepoPath>,
    /// It is unknown which watches are still active.
    renew: bool,
    /// The system refused a watch: events are incomplete.
    limited: bool,
    /// Files outside the tree that say what is listed: git's index and its exclusions.
    rule_files: Vec<PathBuf>,
    /// Folders outside the tree of which files are indexed, and which folder each was when it was last looked at: a
    /// folder above one may be renamed without an event.
    outside: Vec<(PathBuf, Option<(u64, u64)>)>,
    cookies_written: u64,
    cookies_seen: u64,
    /// Every save from before this has been noticed.
    confirmed: Option<Instant>,
    /// New folders: how many were seen, how many of them before the running update began, and how many are watched. Files
    /// can be written to an unwatched folder without an event.
    folders_seen: u64,
    folders_taken: u64,
    folders_watched: u64,
    journal: Journal,
}

/// What was noticed, for those who keep something of their own up to date. Paths as they were told, in order; each
/// reader keeps its own place.
#[derive(Default)]
struct Journal {
    paths: VecDeque<RepoPath>,
    /// The number of the first path that is still there.
    first: u64,
}

impl Journal {
    fn next(&self) -> u64 {
        self.first + self.paths.len() as u64
    }

    fn note(&mut self, path: RepoPath) {
        self.paths.push_back(path);
        if self.paths.len() > LONGEST_JOURNAL {
            self.paths.pop_front();
            self.first += 1;
        }
    }

    /// Something was missed: a reader must check everything.
    fn lose(&mut self) {
        self.first = self.next() + 1;
        self.paths.clear();
    }

    /// What came since `place`, each once; `None` if that is unknown.
    fn since(&self, place: u64) -> Option<Vec<RepoPath>> {
        let skipped = usize::try_from(place.checked_sub(self.first)?).ok()?;
        let mut paths: Vec<RepoPath> = self.paths.iter().skip(skipped).cloned().collect();
        paths.sort_unstable();
        paths.dedup();
        Some(paths)
    }
}

impl Watch {
    /// Starts watching the root; the first update adds its folders. `nudge` is called, from a thread of its own, when
    /// something changed and it is quiet again.
    pub(super) fn start(root: &Path, nudge: impl Fn() + Send + Sync + 'static) -> Result<Self> {
        let state = State { sweep: true, ..State::default() };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let own_cookies = format!("{}-{}-", std::process::id(), since.as_nanos());
        let (state, cookie_came) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { root: root.to_owned(), own_cookies, state, cookie_came });
        let nudge: Arc<dyn Fn() + Send + Sync> = Arc::new(nudge);
        let watches = Mutex::new(Watches::start(&shared, &nudge)?);
        Ok(Self { shared, nudge, watches })
    }

    /// Takes what is dirty; the caller now answers for it, and covers the folders that it finds.
    pub(super) fn take(&self) -> Dirty {
        self.look_outside();
        let mut watches = locked(&self.watches);
        let mut state = locked(&self.shared.state);
        let dirty = std::mem::take(&mut state.dirty);
        let moved = std::mem::take(&mut state.moved);
        let sweep = std::mem::take(&mut state.sweep);
        let renew = std::mem::take(&mut state.renew);
        state.folders_taken = state.folders_seen;
        // The event thread needs the state to go on, and setting watches needs the event thread.
        if sweep || renew {
            state.journal.lose();
        }
        drop(state);
        if renew {
            match Watches::start(&self.shared, &self.nudge) {
                Ok(new) => *watches = new,
                Err(error) => {
                    tracing::warn!("{error}");
                    locked(&self.shared.state).renew = true;
                }
            }
        } else {
            watches.forget(&moved, &self.shared.root);
        }
        if sweep || renew {
            Dirty::Everything
        } else if dirty.is_empty() {
            Dirty::Nothing
        } else {
            let mut paths: Vec<RepoPath> = dirty.into_iter().collect();
            paths.sort_unstable();
            Dirty::Paths(paths)
        }
    }

    /// To be called after an update that succeeded: it has set watches for all folders seen before it began.
    pub(super) fn confirm_update(&self) {
        let mut state = locked(&self.shared.state);
        state.folders_watched = state.folders_taken;
    }

    /// The next update looks at everything: what was taken could not be brought up to date, or events may be missing.
    pub(super) fn ask_for_sweep(&self) {
        locked(&self.shared.state).sweep = true;
    }

    /// Takes events of these folders outside the tree for what they are; their folders are covered as all are.
    pub(super) fn heed(&self, outside: Vec<PathBuf>) {
        let mut state = locked(&self.shared.state);
        let known = std::mem::take(&mut state.outside);
        let was = |folder: &PathBuf| known.iter().find(|(other, _)| other == folder).map(|(_, was)| *was);
        let with_identity = |folder: PathBuf| {
            let was = was(&folder).unwrap_or_else(|| identity_of(&folder));
            (folder, was)
        };
        state.outside = outside.into_iter().map(with_identity).collect();
    }

    /// Whether each folder outside is still the one that is watched. The watches of another, or of none, are of no use.
    fn look_outside(&self) {
        let known = locked(&self.shared.state).outside.clone();
        // Of a folder on a network this may take a while, in which events must go on.
        let looked = known.into_iter().map(|(folder, was)| (identity_of(&folder), folder, was));
        let changed: Vec<_> = looked.filter(|(now, _, was)| now != was).collect();
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

    /// What was noticed since a place in the journal, and the place to read on from. `None`: anything may have changed.
    pub(super) fn journal_since(&self, place: u64) -> (Option<Vec<RepoPath>>, u64) {
        let state = locked(&self.shared.state);
        let is_lost = state.sweep || state.renew || state.folders_seen != state.folders_watched;
        (if is_lost { None } else { state.journal.since(place) }, state.journal.next())
    }

    /// Paths that wait for an update.
    pub(super) fn pending(&self) -> usize {
        let state = locked(&self.shared.state);
        state.dirty.len() + usize::from(state.sweep || state.renew)
    }

    /// The system refused watches, so every read has to sweep.
    pub(super) fn is_limited(&self) -> bool {
        locked(&self.shared.state).limited
    }

    /// Returns when the events of all writes that returned before `asked` have been processed. Only reads that began before
    /// a cookie was written share it. Where its event does not come, a sweep is requested.
    pub(super) fn settle(&self, asked: Instant) {
        self.look_outside();
        let mut state = locked(&self.shared.state);
        if state.confirmed.is_some_and(|confirmed| confirmed > asked) {
            return;
        }
        // Taken before the cookie is made, and before any with a higher number, which may be seen in its stead.
        let written = Instant::now();
        state.cookies_written += 1;
        let number = state.cookies_written;
        drop(state);
        let path = self.shared.root.join(COOKIES).join(format!("{}{number}", self.shared.own_cookies));
        let made = fs::File::create(&path);
        let state = locked(&self.shared.state);
        let (mut state, _) = self
            .shared
            .cookie_came
            .wait_timeout_while(state, COOKIE_WAIT, |state| made.is_ok() && state.cookies_seen < number)
            .unwrap_or_else(PoisonError::into_inner);
        if state.cookies_seen >= number {
            state.confirmed = state.confirmed.max(Some(written));
        } else {
            state.sweep = true;
            // Somebody removed the folder of cookies.
            state.renew |= made.is_err_and(|error| error.kind() == NotFound);
        }
        drop(state);
        // One that stays is cleared away by a later start.
        let _ = fs::remove_file(&path);
    }

    /// Watches the folders among `found` that are not watched yet. When there was any, something may have been saved in
    /// it before: the caller must list again.
    pub(super) fn cover(&self, found: &[RepoPath]) -> bool {
        let mut watches = locked(&self.watches);
        let mut any = false;
        for folder in found {
            if watches.folders.contains(folder) || self.is_limited() {
                continue;
            }
            match watches.add(&folder.to_path(&self.shared.root), &self.shared) {
                Ok(()) => {
                    watches.folders.insert(folder.clone());
                    locked(&self.shared.state).journal.lose();
                    any = true;
                }
                Err(error) => tracing::debug!("{error}"),
            }
        }
        any
    }
}

impl Watches {
    /// A queue of its own, with watches for the root, the cookies, and what git says of files.
    fn start(shared: &Arc<Shared>, nudge: &Arc<dyn Fn() + Send + Sync>) -> Result<Self> {
        NEXT_TAP.set(Some(Arc::clone(shared)));
        let (asking, nudge) = (Arc::clone(shared), Arc::clone(nudge));
        let handler = move |_| {
            if asking.has_dirt() {
                nudge();
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let debouncer = new_debouncer_opt::<_, Tap, _>(QUIET, None, handler, NoCache, config);
        let debouncer = debouncer.map_err(|error| refused(&error))?;
        let system = LAST_WATCHER.take().ok_or_else(|| Error::internal("the debouncer made no watcher"))?;
        let watches = Self { system, _debouncer: debouncer, folders: BTreeSet::new() };
        let root = shared.root.as_path();
        let cookies = root.join(COOKIES);
        fs::create_dir_all(&cookies).map_err(|error| Error::io("make", &cookies, error))?;
        clear_old_cookies(&cookies);
        let rule_files = scan::git_rule_files(root);
        let beside = rule_files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let git = [root.join(".git"), root.join(".git/info")];
        let mut optional: Vec<PathBuf> = beside.chain(git).filter(|folder| folder.is_dir()).collect();
        optional.sort();
        optional.dedup();
        locked(&shared.state).rule_files = rule_files;
        for folder in [root.to_owned(), cookies].iter().chain(&optional) {
            match watches.add(folder, shared) {
                // Then every read sweeps, which `stats` says.
                Err(_) if locked(&shared.state).limited => break,
                // A person's own exclusions; the sweep now and then looks at them too.
                Err(error) if !folder.starts_with(root) => tracing::debug!("{error}"),
                added => added?,
            }
        }
        Ok(watches)
    }

    /// Forgets the watches at and below what was renamed or removed.
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
                // The system may have dropped it by itself.
                let _ = locked(&self.system).unwatch(&folder.to_path(root));
                self.folders.remove(&folder);
            }
        }
    }

    fn add(&self, folder: &Path, shared: &Shared) -> Result<()> {
        let added = locked(&self.system).watch(folder, RecursiveMode::NonRecursive);
        added.map_err(|error| {
            let refused = refused(&error);
            if !is_of_the_folder(&error) {
                let mut state = locked(&shared.state);
                if !state.limited {
                    tracing::warn!("{refused}: every read looks at all files instead");
                }
                state.limited = true;
            }
            refused
        })
    }
}

/// Whether a watch was refused because the folder was removed, which the watch of its parent reports, or because it cannot
/// be read. Any other folder without a watch would make answers stale.
fn is_of_the_folder(error: &notify::Error) -> bool {
    match &error.kind {
        NotifyErrorKind::PathNotFound => true,
        NotifyErrorKind::Io(error) => matches!(error.kind(), NotFound | PermissionDenied | NotADirectory),
        _ => false,
    }
}

/// Cookies of processes that were killed. Others may be waiting for theirs, so the folder stays.
fn clear_old_cookies(folder: &Path) {
    let is_old = |entry: &fs::DirEntry| {
        let made = entry.metadata().and_then(|data| data.modified());
        made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > OLD_COOKIE))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        let _ = fs::remove_file(entry.path());
    }
}

fn refused(error: &notify::Error) -> Error {
    Error::internal(format!("cannot watch for changes: {error}"))
}

impl Shared {
    fn has_dirt(&self) -> bool {
        let state = locked(&self.state);
        state.sweep || state.renew || !state.dirty.is_empty()
    }

    /// Marks what an event names. Says whether it was of any interest.
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
        state.sweep |= state.rule_files.iter().any(|file| file == path);
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
            Some(".ixmcp") => {
                state.renew |= is_move(kind) && Path::new(COOKIES).starts_with(relative);
                self.note_cookie(state, relative);
            }
            Some(".flashgrep") => {}
            // Whether there is git, what it tracks, what this clone alone ignores. All else in there is git's own business.
            Some(".git") => match (parts.next().flatten(), parts.next().flatten()) {
                (None, _) | (Some("info"), None) => {
                    state.sweep = true;
                    state.renew |= is_move(kind) || matches!(kind, EventKind::Create(_));
                }
                (Some("index"), None) | (Some("info"), Some("exclude")) => state.sweep = true,
                _ => {}
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
        if is_move(kind) {
            if state.moved.len() < MANY_MOVED {
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
        state.journal.note(path.clone());
        if !scan::is_rule_file(&path) && state.dirty.len() < MANY_PATHS {
            state.dirty.insert(path);
        } else {
            state.sweep = true;
        }
    }

    fn note_cookie(&self, state: &mut State, relative: &Path) {
        let Ok(name) = relative.strip_prefix(COOKIES) else { return };
        let number = name.to_str().and_then(|name| name.strip_prefix(&self.own_cookies)?.parse().ok());
        if let Some(number) = number {
            state.cookies_seen = state.cookies_seen.max(number);
            self.cookie_came.notify_all();
        }
    }
}

/// Whether watches at or below the path may be gone. A removed file is known for one; a renamed one is not.
fn is_move(kind: EventKind) -> bool {
    match kind {
        EventKind::Remove(kind) => kind != RemoveKind::File,
        EventKind::Modify(kind) => matches!(kind, ModifyKind::Name(_)),
        _ => false,
    }
}

thread_local! {
    /// What the next [`Tap`] of this thread reports: the debouncer makes its watcher itself and hands nothing through.
    static NEXT_TAP: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
    /// The watcher of the [`Tap`] that this thread made last.
    static LAST_WATCHER: RefCell<Option<Arc<Mutex<RecommendedWatcher>>>> = const { RefCell::new(None) };
}

/// The system's watcher, with each raw event seen before the debouncer hears of it.
struct Tap(Arc<Mutex<RecommendedWatcher>>);

struct Tapped<F> {
    shared: Option<Arc<Shared>>,
    debouncer: F,
}

impl<F: EventHandler> EventHandler for Tapped<F> {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        let Some(shared) = &self.shared else { return };
        if shared.note(&event) {
            // It need only know that there was something. What it does with paths takes time that grows with their
            // number, in the thread that has to keep up with the system.
            self.debouncer.handle_event(Ok(Event::new(EventKind::Create(CreateKind::Any)).add_path(PathBuf::new())));
        }
    }
}

impl Watcher for Tap {
    fn new<F: EventHandler>(debouncer: F, config: Config) -> notify::Result<Self> {
        let shared = NEXT_TAP.take();
        let system = Arc::new(Mutex::new(RecommendedWatcher::new(Tapped { shared, debouncer }, config)?));
        LAST_WATCHER.set(Some(Arc::clone(&system)));
        Ok(Self(system))
    }

    fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
        locked(&self.0).watch(path, mode)
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        locked(&self.0).unwatch(path)
    }

    fn configure(&mut self, config: Config) -> notify::Result<bool> {
        locked(&self.0).configure(config)
    }

    fn kind() -> WatcherKind {
        RecommendedWatcher::kind()
    }
}
