//! The system's watcher with a tap: each raw event is noted before the debouncer receives it.
//!
//! Owns how the watcher and the debouncer are put together. Does not own what an event means (`watch`).

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use notify_debouncer_full::notify::event::{CreateKind, EventKind};
use notify_debouncer_full::notify::{self, Config, Event, EventHandler, RecursiveMode, Watcher, WatcherKind};
use notify_debouncer_full::{DebounceEventHandler, Debouncer, NoCache, new_debouncer_opt};

use crate::locked::locked;
use crate::platform::watcher::SystemWatcher;

/// Notes an event. Returns whether the debouncer must know of it.
type Note = Box<dyn Fn(&notify::Result<Event>) -> bool + Send>;

/// The debouncer, and the watcher behind it.
type Started = (Debouncer<TappedWatcher, NoCache>, Arc<Mutex<SystemWatcher>>);

thread_local! {
    /// Callback for the events of the next [`TappedWatcher`] of this thread: the debouncer creates its watcher itself
    /// and passes nothing on.
    static NEXT_TAP: RefCell<Option<Note>> = const { RefCell::new(None) };
    /// The watcher of the last [`TappedWatcher`] that this thread created.
    static LAST_WATCHER: RefCell<Option<Arc<Mutex<SystemWatcher>>>> = const { RefCell::new(None) };
}

/// The watcher, and the debouncer that calls `when_quiet` when no more events come for that long; both work as long as the
/// debouncer exists.
pub(super) fn start(note: Note, debounce: Duration, when_quiet: impl DebounceEventHandler) -> notify::Result<Started> {
    NEXT_TAP.set(Some(note));
    let config = Config::default().with_follow_symlinks(false);
    let debouncer = new_debouncer_opt::<_, TappedWatcher, _>(debounce, None, when_quiet, NoCache, config)?;
    let system = LAST_WATCHER.take().ok_or_else(|| notify::Error::generic("the debouncer made no watcher"))?;
    Ok((debouncer, system))
}

/// The system's watcher. It passes each raw event on before the debouncer receives it.
pub(super) struct TappedWatcher(Arc<Mutex<SystemWatcher>>);

struct EventTap<F> {
    note: Option<Note>,
    debouncer: F,
}

impl<F: EventHandler> EventHandler for EventTap<F> {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        if self.note.as_ref().is_some_and(|note| note(&event)) {
            // The debouncer only needs to know that there was an event. Its work on paths takes time that grows with their
            // number, on the thread that must keep up with the system.
            self.debouncer.handle_event(Ok(Event::new(EventKind::Create(CreateKind::Any)).add_path(PathBuf::new())));
        }
    }
}

impl Watcher for TappedWatcher {
    fn new<F: EventHandler>(debouncer: F, config: Config) -> notify::Result<Self> {
        let note = NEXT_TAP.take();
        let system = Arc::new(Mutex::new(SystemWatcher::new(EventTap { note, debouncer }, config)?));
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
        SystemWatcher::kind()
    }
}
