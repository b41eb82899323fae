//! A scratch engine for the same repository, in which edits are tried before they are offered.
//!
//! Owns the texts that replace those on disk, and the comparison of diagnostics before and after. Nothing is written to
//! disk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use salsa::Setter;

use super::api::{SemanticDb as _, SourceMap, TextSize, source_text};
use super::db::Database;
use super::edits::{self, Edit};
use super::file_diagnostics::diagnostics;
use super::lines::Lines;
use super::{Embedded, on_disk};
use crate::error::Result;
use crate::locked::locked;
use crate::pytypes::engine::Observer;
use crate::pytypes::host::STACK;
use crate::pytypes::values::PANICKED;

/// A diagnostic, reduced to what the comparison needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub rule: String,
    pub at: TextSize,
    pub message: String,
}

/// How often a caller checks whether the work is still wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) struct Trial {
    engine: Embedded,
    /// Files at which the checker panicked in one of the checks.
    panicked: Mutex<BTreeSet<String>>,
}

impl Trial {
    /// `is_over`, when set, cancels the running work.
    pub fn open(root: &Path, is_over: Arc<AtomicBool>) -> Result<Self> {
        let open = || {
            let mut engine = Embedded::open(root, false)?;
            engine.db = engine.db.held(is_over);
            Ok(Self { engine, panicked: Mutex::default() })
        };
        on_own_thread(open, || {})
    }

    /// Makes sure that a file is checked even if the settings exclude it.
    pub fn check_named(&mut self, path: &Path) -> Result<()> {
        let (engine, path) = (&mut self.engine, path.to_string_lossy().into_owned());
        on_own_thread(|| engine.check_named(&[path]), || {})
    }

    pub const fn db(&self) -> &Database {
        &self.engine.db
    }

    /// Replaces the texts of files, given by absolute path.
    pub fn set(&mut self, texts: Vec<(String, String)>) {
        let db = &mut self.engine.db;
        let set = || {
            for (path, new) in texts {
                let Some(file) = on_disk(db, Path::new(&path)) else { continue };
                let text = source_text(db, file);
                if text.as_str() != new {
                    let text = text.with_text(new, &SourceMap::default());
                    file.set_source_text_override(db).to(Some(text));
                }
            }
        };
        on_own_thread(set, || {});
    }

    /// Runs `ask` on the database. Cancels it if `unwind_if_cancelled` unwinds.
    pub fn with<T: Send>(&self, unwind_if_cancelled: &dyn Fn(), ask: impl FnOnce(&Database) -> T + Send) -> T {
        let db = self.engine.db.clone();
        let is_over = db.is_over_flag();
        on_own_thread(
            move || salsa::attach_allow_change(&db, || ask(&db)),
            || {
                if let Err(end) = std::panic::catch_unwind(AssertUnwindSafe(unwind_if_cancelled)) {
                    is_over.store(true, Ordering::Relaxed);
                    std::panic::resume_unwind(end);
                }
            },
        )
    }

    pub fn findings(&self, files: &[String], unwind_if_cancelled: &dyn Fn()) -> HashMap<String, Vec<Finding>> {
        self.noted(self.with(unwind_if_cancelled, |db| findings(db, files, &Unobserved)))
    }

    /// Checks `files` and reports each file that is checked to `observer`.
    pub fn findings_observed(&self, files: &[String], observer: &dyn Observer) -> HashMap<String, Vec<Finding>> {
        self.noted(self.with(&|| {}, |db| findings(db, files, observer)))
    }

    fn noted(&self, found: HashMap<String, Vec<Finding>>) -> HashMap<String, Vec<Finding>> {
        let is_panic = |one: &Finding| one.rule == PANICKED;
        let panicked = found.iter().filter(|(_, all)| all.iter().any(is_panic)).map(|(file, _)| file.clone());
        locked(&self.panicked).extend(panicked);
        found
    }

    /// Leaves the memory of the database to the end of the process: freeing it takes time.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// The number of files at which the checker panicked in any check.
    pub fn panicked(&self) -> usize {
        locked(&self.panicked).len()
    }
}

/// Runs `work` on a separate thread: salsa does not let a thread that reads one database write to another. Calls
/// `meanwhile` periodically.
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send, meanwhile: impl Fn()) -> T {
    let (waiting, is_done) = (std::thread::current(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trial".to_owned()).stack_size(STACK);
        let is_done = &is_done;
        let work = move || {
            let _guard = DoneGuard { is_done, waiting };
            work()
        };
        let thread = thread.spawn_scoped(scope, work).expect("the thread can be started");
        while !is_done.load(Ordering::Acquire) {
            meanwhile();
            std::thread::park_timeout(POLL_INTERVAL);
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Signals the end of the work, also after a panic.
struct DoneGuard<'w> {
    is_done: &'w AtomicBool,
    waiting: std::thread::Thread,
}

impl Drop for DoneGuard<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Release);
        self.waiting.unpark();
    }
}

/// For checks that report no progress.
pub(super) struct Unobserved;

impl Observer for Unobserved {
    fn begins(&self, _file: &str) {}

    fn ends(&self) {}

    fn advanced(&self, _done: usize, _total: usize) {}
}

/// The diagnostics of these files (absolute paths), computed on all cores.
pub(super) fn findings(db: &Database, files: &[String], observer: &dyn Observer) -> HashMap<String, Vec<Finding>> {
    files
        .into_par_iter()
        .map_with(db.clone(), |db, path| {
            observer.begins(path);
            let found = salsa::attach_allow_change(&*db, || {
                let Some(file) = on_disk(db, Path::new(path)).filter(|_| !db.is_over()) else { return Vec::new() };
                let found = diagnostics(db, db.program_file(file)).iter();
                found
                    .map(|one| Finding {
                        rule: one.id().as_str().to_owned(),
                        at: one.range().map(|range| range.start()).unwrap_or_default(),
                        message: one.concise_message().to_string(),
                    })
                    .collect()
            });
            observer.ends();
            (path.clone(), found)
        })
        .collect()
}

/// The findings that appeared with the edits: more of one rule on one line. `old` has offsets in the text before them.
pub(super) fn added(old: &[Finding], new: &[Finding], old_text: &str, edits: &[Edit]) -> Vec<Finding> {
    let new_text = edits::apply(old_text, edits);
    let lines = Lines::new(&new_text);
    let mut known: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for one in old {
        *known.entry((&one.rule, lines.row(edits::new_offset(one.at, edits)).0)).or_default() += 1;
    }
    let mut added = Vec::new();
    for one in new {
        match known.get_mut(&(one.rule.as_str(), lines.row(one.at).0)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => added.push(one.clone()),
        }
    }
    added
}
