//! Watches of folders by Linux's inotify, behind the trait of `notify`.
//!
//! The watcher of `notify` also asks for an event of each file that is opened, which this program does with every file that
//! it reads, and the thread that receives the events adds each watch. Here reading raises no event, and the caller's thread
//! adds the watch.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify_debouncer_full::notify::event::{
    AccessKind, AccessMode, CreateKind, DataChange, EventKind, Flag, MetadataKind, ModifyKind, RemoveKind, RenameMode,
};
use notify_debouncer_full::notify::{self, Config, Event, EventHandler, RecursiveMode, Watcher, WatcherKind};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Bytes of events that are read at once.
const BUFFER: usize = 64 << 10;

const NOTICED: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// Watches folders, each by itself.
pub struct SystemWatcher {
    queue: Arc<OwnedFd>,
    watches: Arc<Mutex<Watches>>,
    /// Wakes the thread that receives the events, for its end.
    end: Arc<OwnedFd>,
}

/// Paths by the system's numbers of watches, and the reverse. A renamed folder keeps its number.
#[derive(Default)]
struct Watches {
    paths: HashMap<i32, Arc<Path>>,
    numbers: HashMap<Arc<Path>, i32>,
}

fn failed(error: Errno) -> notify::Error {
    notify::Error::io(error.into())
}

impl Watcher for SystemWatcher {
    fn new<F: EventHandler>(handler: F, _: Config) -> notify::Result<Self> {
        let queue = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(failed)?);
        let end = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(failed)?);
        let watches = Arc::<Mutex<Watches>>::default();
        let receiver = Receiver { queue: Arc::clone(&queue), watches: Arc::clone(&watches), end: Arc::clone(&end) };
        let thread = std::thread::Builder::new().name("watch".to_owned());
        thread.spawn(move || receiver.run(handler)).map_err(notify::Error::io)?;
        Ok(Self { queue, watches, end })
    }

    fn watch(&mut self, path: &Path, _: RecursiveMode) -> notify::Result<()> {
        // Held until the number has a path: the first event may come at once.
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let number = inotify::add_watch(&*self.queue, path, NOTICED).map_err(|error| {
            let error = match error {
                Errno::NOSPC => notify::Error::new(notify::ErrorKind::MaxFilesWatch),
                Errno::NOENT => notify::Error::path_not_found(),
                other => failed(other),
            };
            error.add_path(path.to_owned())
        })?;
        let path: Arc<Path> = path.into();
        if let Some(former) = watches.paths.insert(number, Arc::clone(&path)).filter(|former| *former != path) {
            watches.numbers.remove(&former);
        }
        watches.numbers.insert(path, number);
        Ok(())
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = watches.numbers.remove(path) else {
            return Err(notify::Error::watch_not_found().add_path(path.to_owned()));
        };
        watches.paths.remove(&number);
        // The system may have dropped it already.
        inotify::remove_watch(&*self.queue, number).map_err(failed)
    }

    fn kind() -> WatcherKind {
        WatcherKind::Inotify
    }
}

impl Drop for SystemWatcher {
    fn drop(&mut self) {
        // If this fails, the thread waits for events that have no receiver.
        let _ = rustix::io::write(&*self.end, &1_u64.to_ne_bytes());
    }
}

/// Receives the events, on a thread of its own.
struct Receiver {
    queue: Arc<OwnedFd>,
    watches: Arc<Mutex<Watches>>,
    end: Arc<OwnedFd>,
}

impl Receiver {
    /// Until the watcher is dropped, or the queue fails.
    fn run(self, mut handler: impl EventHandler) {
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
        loop {
            let mut awaited = [PollFd::new(&*self.queue, PollFlags::IN), PollFd::new(&*self.end, PollFlags::IN)];
            match poll(&mut awaited, None) {
                Err(Errno::INTR) => continue,
                Err(error) => return handler.handle_event(Err(failed(error))),
                Ok(_) if !awaited[1].revents().is_empty() => return,
                Ok(_) => {}
            }
            let mut events = Reader::new(&*self.queue, &mut buffer);
            loop {
                match events.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                        self.report(event.wd(), event.events(), name, &mut handler);
                    }
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => {}
                    Err(error) => return handler.handle_event(Err(failed(error))),
                }
            }
        }
    }

    fn report(&self, number: i32, what: ReadFlags, name: Option<&OsStr>, handler: &mut impl EventHandler) {
        if what.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
            handler.handle_event(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        }
        let folder = {
            let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
            if what.contains(ReadFlags::IGNORED) {
                // The folder is gone, and the number will not be used again.
                if let Some(path) = watches.paths.remove(&number)
                    && watches.numbers.get(&path) == Some(&number)
                {
                    watches.numbers.remove(&path);
                }
                return;
            }
            watches.paths.get(&number).cloned()
        };
        let Some(folder) = folder else { return };
        let path: PathBuf = name.map_or_else(|| folder.to_path_buf(), |name| folder.join(name));
        for (flag, kind) in KINDS {
            if what.contains(*flag) {
                let kind = kind(what.contains(ReadFlags::ISDIR));
                handler.handle_event(Ok(Event::new(kind).add_path(path.clone())));
            }
        }
    }
}

type KindOf = fn(bool) -> EventKind;

/// Event of `notify` for each flag, of a folder or not.
const KINDS: &[(ReadFlags, KindOf)] = &[
    (ReadFlags::MOVED_FROM, |_| EventKind::Modify(ModifyKind::Name(RenameMode::From))),
    (ReadFlags::MOVED_TO, |_| EventKind::Modify(ModifyKind::Name(RenameMode::To))),
    (ReadFlags::MOVE_SELF, |_| EventKind::Modify(ModifyKind::Name(RenameMode::From))),
    (ReadFlags::CREATE, |is_folder| EventKind::Create(if is_folder { CreateKind::Folder } else { CreateKind::File })),
    (ReadFlags::DELETE, |is_folder| EventKind::Remove(if is_folder { RemoveKind::Folder } else { RemoveKind::File })),
    (ReadFlags::DELETE_SELF, |_| EventKind::Remove(RemoveKind::Folder)),
    (ReadFlags::MODIFY, |_| EventKind::Modify(ModifyKind::Data(DataChange::Any))),
    (ReadFlags::CLOSE_WRITE, |_| EventKind::Access(AccessKind::Close(AccessMode::Write))),
    (ReadFlags::ATTRIB, |_| EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any))),
];

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn kinds(receiver: &mpsc::Receiver<notify::Result<Event>>, until: &Path) -> Vec<(EventKind, PathBuf)> {
        let mut seen = Vec::new();
        loop {
            let event = receiver.recv_timeout(Duration::from_secs(10)).expect("an event").unwrap();
            let path = event.paths[0].clone();
            if path == until {
                return seen;
            }
            seen.push((event.kind, path));
        }
    }

    #[test]
    fn saves_raise_events_and_reads_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("a"), "1").unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        let (send, receiver) = mpsc::channel();
        let mut watcher = SystemWatcher::new(send, Config::default()).unwrap();
        for folder in [&root, &root.join("in")] {
            watcher.watch(folder, RecursiveMode::NonRecursive).unwrap();
        }
        std::fs::read(root.join("a")).unwrap();
        std::fs::read_dir(&root).unwrap().count();
        std::fs::write(root.join("end0"), "").unwrap();
        let seen = kinds(&receiver, &root.join("end0"));
        assert!(seen.is_empty(), "{seen:?}");
        while receiver.recv_timeout(Duration::from_millis(100)).is_ok() {}

        std::fs::write(root.join("in/b"), "1").unwrap();
        std::fs::rename(root.join("in"), root.join("moved")).unwrap();
        std::fs::write(root.join("end1"), "").unwrap();
        let seen = kinds(&receiver, &root.join("end1"));
        let first = (EventKind::Create(CreateKind::File), root.join("in/b"));
        assert_eq!(seen.first(), Some(&first), "{seen:?}");
        let renamed = |mode, name: &str| (EventKind::Modify(ModifyKind::Name(mode)), root.join(name));
        for expected in [renamed(RenameMode::From, "in"), renamed(RenameMode::To, "moved")] {
            assert!(seen.contains(&expected), "{expected:?} {seen:?}");
        }
        // A renamed folder keeps its watch under the new path, whatever becomes of the old one.
        watcher.watch(&root.join("moved"), RecursiveMode::NonRecursive).unwrap();
        watcher.unwatch(&root.join("in")).unwrap_err();
        std::fs::write(root.join("moved/c"), "1").unwrap();
        let next = receiver.iter().find(|event| event.as_ref().unwrap().paths[0].ends_with("c")).unwrap().unwrap();
        assert_eq!(next.paths, [root.join("moved/c")]);
        assert!(watcher.watch(&root.join("none"), RecursiveMode::NonRecursive).is_err());
        drop(watcher);
        // The thread ends, and with it the sender.
        assert!(receiver.iter().count() < 100);
    }
}
