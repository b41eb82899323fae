//! Noticing saves: which paths may have changed since the last update.
//!
//! Owns the system's watches and the set of dirty paths. Events are hints, never truth: an update stats and hashes what
//! they name. Does not own updates; the workspace asks here what to look at.
//!
//! One watch a folder, for the folders that the walk looks into: ignored trees cost nothing. Every raw event marks its
//! path dirty at once; the debouncer behind it only tells when it is quiet, for the update in the background. A read
//! writes a *cookie*, a file of its own in a watched folder: when its event comes, those of all saves before it have
//! come too, for the system keeps them in one queue.
//!
//! Whatever is not understood (a queue that ran over, an error, thousands of paths, an ignore file, git's index) asks
//! for a sweep. When the system has no more watches, every read sweeps, and `stats` says so.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notify_debouncer_full::notify::event::{AccessKind, AccessMode, EventKind};
use notify_debouncer_full::notify::{
    self, Config, ErrorKind as NotifyErrorKind, Event, EventHandler, RecommendedWatcher, RecursiveMode, Watcher,
    WatcherKind,
};
use notify_debouncer_full::{Debouncer, NoCache, new_debouncer_opt};

use super::locked;
use crate::error::{Error, Result};
use crate::model::RepoPath;
use crate::scan;

/// A background update waits until no event came for so long.
const QUIET: Duration = Duration::from_millis(300);
/// More dirty paths than this are found faster by a sweep.
const MANY_PATHS: usize = 2_000;
/// The event of a cookie comes within this, or the queue is not to be trusted.
const COOKIE_WAIT: Duration = Duration::from_millis(50);
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
    root: PathBuf,
    shared: Arc<Shared>,
    debouncer: Mutex<Debouncer<Tap, NoCache>>,
    /// Folders with a watch, relative to the root.
    folders: Mutex<BTreeSet<RepoPath>>,
}

/// What the event thread writes and reads ask.
struct Shared {
    root: PathBuf,
    state: Mutex<State>,
    cookie_came: Condvar,
}

#[derive(Default)]
struct State {
    dirty: HashSet<RepoPath>,
    sweep: bool,
    /// The system refused a watch: events are incomplete.
    limited: bool,
    cookies_written: u64,
    cookies_seen: u64,
    /// When the last cookie that was seen was written.
    confirmed: Option<Instant>,
}

impl Watch {
    /// Starts watching the root; the first update adds its folders. `nudge` is called, from a thread of its own, when
    /// something changed and it is quiet again.
    pub(super) fn start(root: &Path, nudge: impl Fn() + Send + 'static) -> Result<Self> {
        let state = State { sweep: true, ..State::default() };
        let shared = Arc::new(Shared { root: root.to_owned(), state: Mutex::new(state), cookie_came: Condvar::new() });
        NEXT_TAP.set(Some(Arc::clone(&shared)));
        let asking = Arc::clone(&shared);
        let handler = move |_| {
            if asking.has_dirt() {
                nudge();
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let debouncer = new_debouncer_opt::<_, Tap, _>(QUIET, None, handler, NoCache, config);
        let debouncer = debouncer.map_err(|error| refused(&error))?;
        let cookies = root.join(COOKIES);
        // Cookies of a process that was killed.
        let _ = fs::remove_dir_all(&cookies);
        fs::create_dir_all(&cookies).map_err(|error| Error::io("make", &cookies, error))?;
        let root = root.to_owned();
        let watch = Self { root, shared, debouncer: Mutex::new(debouncer), folders: Mutex::new(BTreeSet::new()) };
        watch.add(&cookies)?;
        watch.add(&watch.root)?;
        let git = watch.root.join(".git");
        if git.is_dir() {
            watch.add(&git)?;
        }
        Ok(watch)
    }

    /// Takes what is dirty; the caller now answers for it.
    pub(super) fn take(&self) -> Dirty {
        let mut state = locked(&self.shared.state);
        let dirty = std::mem::take(&mut state.dirty);
        if std::mem::take(&mut state.sweep) {
            Dirty::Everything
        } else if dirty.is_empty() {
            Dirty::Nothing
        } else {
            let mut paths: Vec<RepoPath> = dirty.into_iter().collect();
            paths.sort_unstable();
            Dirty::Paths(paths)
        }
    }

    /// What was taken could not be brought up to date.
    pub(super) fn give_back(&self) {
        locked(&self.shared.state).sweep = true;
    }

    pub(super) fn ask_for_sweep(&self) {
        self.give_back();
    }

    pub(super) fn has_dirt(&self) -> bool {
        self.shared.has_dirt()
    }

    /// Paths that wait for an update.
    pub(super) fn pending(&self) -> usize {
        let state = locked(&self.shared.state);
        state.dirty.len() + usize::from(state.sweep)
    }

    /// The system refused watches, so every read has to sweep.
    pub(super) fn is_limited(&self) -> bool {
        locked(&self.shared.state).limited
    }

    /// Returns when every save from before `asked`, less `slack`, has been noticed. Reads that come close together share
    /// a cookie. Where it does not come, a sweep is asked for.
    pub(super) fn settle(&self, asked: Instant, slack: Duration) {
        let mut state = locked(&self.shared.state);
        if state.confirmed.is_some_and(|confirmed| confirmed + slack >= asked) {
            return;
        }
        state.cookies_written += 1;
        let number = state.cookies_written;
        drop(state);
        let written = Instant::now();
        let path = self.root.join(COOKIES).join(format!("{}-{number}", std::process::id()));
        let is_written = fs::File::create(&path).is_ok();
        let state = locked(&self.shared.state);
        let (mut state, _) = self
            .shared
            .cookie_came
            .wait_timeout_while(state, COOKIE_WAIT, |state| is_written && state.cookies_seen < number)
            .unwrap_or_else(PoisonError::into_inner);
        if state.cookies_seen >= number {
            state.confirmed = state.confirmed.max(Some(written));
        } else {
            state.sweep = true;
        }
        drop(state);
        // One that stays is cleared away by the next start.
        let _ = fs::remove_file(&path);
    }

    /// Forgets the watches of folders among `paths` that are gone, or stand for others now.
    pub(super) fn forget(&self, paths: &[RepoPath]) {
        let mut folders = locked(&self.folders);
        for path in paths {
            let below = format!("{path}/");
            let from = (Bound::Included(path.clone()), Bound::Unbounded);
            let old: Vec<RepoPath> = folders
                .range(from)
                .take_while(|folder| folder.as_str().starts_with(path.as_str()))
                .filter(|folder| *folder == path || folder.as_str().starts_with(&below))
                .cloned()
                .collect();
            for folder in old {
                // The system drops the watch of a folder that is gone by itself.
                let _ = locked(&self.debouncer).unwatch(folder.to_path(&self.root));
                folders.remove(&folder);
            }
        }
    }

    /// Watches the folders among `found` that are not watched yet. When there was any, something may have been saved in
    /// it before: the caller must list again.
    pub(super) fn cover(&self, found: &[RepoPath]) -> bool {
        let mut folders = locked(&self.folders);
        let mut any = false;
        for folder in found {
            if folders.contains(folder) || self.is_limited() {
                continue;
            }
            match self.add(&folder.to_path(&self.root)) {
                Ok(()) => {
                    folders.insert(folder.clone());
                    any = true;
                }
                Err(error) => tracing::debug!("{error}"),
            }
        }
        any
    }

    fn add(&self, folder: &Path) -> Result<()> {
        let added = locked(&self.debouncer).watch(folder, RecursiveMode::NonRecursive);
        added.map_err(|error| {
            if matches!(error.kind, NotifyErrorKind::MaxFilesWatch) {
                let mut state = locked(&self.shared.state);
                if !state.limited {
                    tracing::warn!("the system has no more watches: every read looks at all files instead");
                }
                state.limited = true;
            }
            refused(&error)
        })
    }
}

fn refused(error: &notify::Error) -> Error {
    Error::internal(format!("cannot watch for changes: {error}"))
}

impl Shared {
    fn has_dirt(&self) -> bool {
        let state = locked(&self.state);
        state.sweep || !state.dirty.is_empty()
    }

    /// Marks what an event names.
    fn note(&self, event: &notify::Result<Event>) {
        let Ok(event) = event else {
            locked(&self.state).sweep = true;
            return;
        };
        // Our own reading of files raises events too.
        let is_noise = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if is_noise {
            return;
        }
        let mut state = locked(&self.state);
        state.sweep |= event.need_rescan();
        for path in &event.paths {
            self.note_path(&mut state, path);
        }
    }

    fn note_path(&self, state: &mut State, path: &Path) {
        let Ok(relative) = path.strip_prefix(&self.root) else { return };
        let mut parts = relative.iter();
        match parts.next().and_then(OsStr::to_str) {
            None => state.sweep = true,
            Some(".ixmcp") => self.note_cookie(state, relative),
            Some(".flashgrep") => {}
            // Whether there is git, what it tracks, what this clone alone ignores. All else in there is git's own business.
            Some(".git") => {
                state.sweep |= matches!(parts.next().and_then(OsStr::to_str), None | Some("index" | "info"));
            }
            Some(_) => match RepoPath::under(&self.root, path) {
                Some(path) if scan::is_rule_file(&path) => state.sweep = true,
                Some(path) if state.dirty.len() < MANY_PATHS => drop(state.dirty.insert(path)),
                // Too many, or a name that is not UTF-8.
                _ => state.sweep = true,
            },
        }
    }

    fn note_cookie(&self, state: &mut State, relative: &Path) {
        let Ok(name) = relative.strip_prefix(COOKIES) else { return };
        let own = format!("{}-", std::process::id());
        let number = name.to_str().and_then(|name| name.strip_prefix(&own)).and_then(|number| number.parse().ok());
        if let Some(number) = number {
            state.cookies_seen = state.cookies_seen.max(number);
            self.cookie_came.notify_all();
        }
    }
}

thread_local! {
    /// What the next [`Tap`] of this thread tells: the debouncer makes its watcher itself and hands nothing through.
    static NEXT_TAP: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// The system's watcher, with each raw event seen before the debouncer has it.
struct Tap(RecommendedWatcher);

struct Tapped<F> {
    shared: Option<Arc<Shared>>,
    debouncer: F,
}

impl<F: EventHandler> EventHandler for Tapped<F> {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        if let Some(shared) = &self.shared {
            shared.note(&event);
        }
        self.debouncer.handle_event(event);
    }
}

impl Watcher for Tap {
    fn new<F: EventHandler>(debouncer: F, config: Config) -> notify::Result<Self> {
        let shared = NEXT_TAP.take();
        RecommendedWatcher::new(Tapped { shared, debouncer }, config).map(Self)
    }

    fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
        self.0.watch(path, mode)
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        self.0.unwatch(path)
    }

    fn configure(&mut self, config: Config) -> notify::Result<bool> {
        self.0.configure(config)
    }

    fn kind() -> WatcherKind {
        RecommendedWatcher::kind()
    }
}
