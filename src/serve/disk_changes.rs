//! Changes on disk, for a page that shows files: a request waits until something changed.
//!
//! Owns the wait, and how a reader says what it knows already. Does not own the watch (`repository`). The file that is shown is
//! compared by its size and time, so that it is noticed without a watch, too; other files are noticed by the watch.

use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::workspace::{Changes, FeedPosition, Workspace};

/// How often the wait looks: a person sees a change at once, and a look costs microseconds.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The longest wait. Browsers and proxies have longer timeouts.
const MAX_WAIT: Duration = Duration::from_secs(25);
/// Paths in one answer. After more changes, a reader looks at everything.
const MAX_PATHS: usize = 200;

/// The state that a reader knows. The first request of a reader names only the file, and is answered at once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownState {
    /// The file that is shown.
    file: Option<String>,
    /// Its stamp in the answer before; `None` if it was not there.
    stamp: Option<String>,
    /// The process whose feed `position` is of.
    feed: Option<u32>,
    #[serde(default)]
    position: FeedPosition,
}

/// The changes since that state.
#[derive(Debug, Serialize)]
pub struct DiskChanges {
    feed: u32,
    position: FeedPosition,
    /// The time and size of the file that is shown; `None` if it is not there.
    stamp: Option<String>,
    /// Paths that were written.
    saved: Vec<String>,
    /// Paths that are no longer there.
    removed: Vec<String>,
    /// Whether anything may have changed.
    everything: bool,
}

/// Waits until something changed that a reader does not know, for at most 25 s or until `is_over`.
pub fn wait(workspace: &Workspace, known: &KnownState, is_over: impl Fn() -> bool) -> DiskChanges {
    let feed = std::process::id();
    let mut shown = known.file.as_deref().map(|path| ShownFile { workspace, path, absolute: None });
    let mut position = if known.feed == Some(feed) { known.position } else { FeedPosition::default() };
    // Changes before were noticed by another process.
    let mut everything = known.feed.is_some_and(|known| known != feed);
    let end = Instant::now() + MAX_WAIT;
    loop {
        let (changes, next) = workspace.noticed_since(position);
        position = next;
        let stamp = shown.as_mut().and_then(ShownFile::stamp);
        let paths = match changes {
            Changes::Paths(paths) if paths.len() <= MAX_PATHS => Some(paths),
            // An update looks at everything now: what it finds is indexed once it has ended.
            _ => None,
        };
        let is_news = paths.as_ref().is_some_and(|paths| everything || !paths.is_empty());
        everything |= paths.is_none();
        if is_news || stamp != known.stamp || known.feed.is_none() || Instant::now() >= end || is_over() {
            let paths = paths.unwrap_or_default().into_iter().map(|path| path.to_string());
            let (saved, removed) = paths.partition(|path| workspace.root().join(path).exists());
            let everything = everything && known.feed.is_some();
            return DiskChanges { feed, position, stamp, saved, removed, everything };
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// The file that is shown. It is looked for again only where it was not there.
struct ShownFile<'a> {
    workspace: &'a Workspace,
    path: &'a str,
    absolute: Option<PathBuf>,
}

impl ShownFile<'_> {
    fn stamp(&mut self) -> Option<String> {
        if self.absolute.is_none() {
            self.absolute = self.workspace.files.locate(self.path).ok().map(|(_, absolute)| absolute);
        }
        let about = std::fs::metadata(self.absolute.as_deref()?);
        let Ok(about) = about else {
            self.absolute = None;
            return None;
        };
        let saved = about.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(format!("{} {}", saved.as_nanos(), about.len()))
    }
}
