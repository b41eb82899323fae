//! A second engine over the same repository, in which edits are tried before anybody is offered them.
//!
//! Owns the texts that stand in place of what the disk holds, and the comparison of diagnostics before and after.
//! Nothing is written to disk.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ruff_db::source::source_text;
use ruff_text_size::TextSize;
use salsa::Setter;
use ty_python_semantic::Db as _;

use super::check;
use super::db::Database;
use super::edits::{self, Edit};
use super::lines::Lines;
use super::{Embedded, on_disk};
use crate::error::Result;
use crate::pytypes::host::STACK;

/// A rule, where it was found, and what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub rule: String,
    pub at: TextSize,
    pub message: String,
}

/// That a trial is not wanted any more is noticed within this time.
const LOOK: Duration = Duration::from_millis(10);

pub(super) struct Trial {
    engine: Embedded,
}

impl Trial {
    /// `is_over`, once set, ends what is asked of it.
    pub fn open(root: &Path, is_over: Arc<AtomicBool>) -> Result<Self> {
        let open = || {
            let mut engine = Embedded::open(root, false)?;
            engine.db = engine.db.held(is_over);
            Ok(Self { engine })
        };
        apart(open, || {})
    }

    /// Has a file checked whatever the settings leave out.
    pub fn name(&mut self, path: &Path) -> Result<()> {
        let (engine, path) = (&mut self.engine, path.to_string_lossy().into_owned());
        apart(|| engine.name(&[path]), || {})
    }

    pub const fn db(&self) -> &Database {
        &self.engine.db
    }

    /// Lets the engine take these texts for those of files, which stand at absolute paths.
    pub fn set(&mut self, texts: Vec<(String, String)>) {
        let db = &mut self.engine.db;
        let set = || {
            for (path, new) in texts {
                let Some(file) = on_disk(db, Path::new(&path)) else { continue };
                let text = source_text(db, file);
                if text.as_str() != new {
                    let text = text.with_text(new, &ruff_diagnostics::SourceMap::default());
                    file.set_source_text_override(db).to(Some(text));
                }
            }
        };
        apart(set, || {});
    }

    /// Asks this engine something, as long as `is_wanted` does not unwind: then it is given up.
    pub fn with<T: Send>(&self, is_wanted: &dyn Fn(), ask: impl FnOnce(&Database) -> T + Send) -> T {
        let db = self.engine.db.clone();
        let is_over = db.is_over_flag();
        apart(
            move || salsa::attach_allow_change(&db, || ask(&db)),
            || {
                if let Err(end) = std::panic::catch_unwind(AssertUnwindSafe(is_wanted)) {
                    is_over.store(true, Ordering::Relaxed);
                    std::panic::resume_unwind(end);
                }
            },
        )
    }

    pub fn findings(&self, files: &[String], is_wanted: &dyn Fn()) -> HashMap<String, Vec<Finding>> {
        self.with(is_wanted, |db| findings(db, files))
    }
}

/// On a thread of its own: a thread that answers by one database cannot change another. `meanwhile` is called now and then.
fn apart<T: Send>(work: impl FnOnce() -> T + Send, meanwhile: impl Fn()) -> T {
    let (waiting, is_done) = (std::thread::current(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trial".to_owned()).stack_size(STACK);
        let is_done = &is_done;
        let work = move || {
            let _however_it_ends = Announced { is_done, waiting };
            work()
        };
        let thread = thread.spawn_scoped(scope, work).expect("the system has a thread for it");
        while !is_done.load(Ordering::Acquire) {
            meanwhile();
            std::thread::park_timeout(LOOK);
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Says that work has ended, in a panic too.
struct Announced<'w> {
    is_done: &'w AtomicBool,
    waiting: std::thread::Thread,
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Release);
        self.waiting.unpark();
    }
}

/// The diagnostics of these files, absolute, on all cores.
pub(super) fn findings(db: &Database, files: &[String]) -> HashMap<String, Vec<Finding>> {
    files
        .into_par_iter()
        .map_with(db.clone(), |db, path| {
            let found = salsa::attach_allow_change(&*db, || {
                let Some(file) = on_disk(db, Path::new(path)).filter(|_| !db.is_over()) else { return Vec::new() };
                let told = check::diagnostics(db, db.program_file(file)).iter();
                told.map(|one| Finding {
                    rule: one.id().as_str().to_owned(),
                    at: one.range().map(|range| range.start()).unwrap_or_default(),
                    message: one.concise_message().to_string(),
                })
                .collect()
            });
            (path.clone(), found)
        })
        .collect()
}

/// What is found after edits and was not before: more of one rule on one line. `old` stands in the text before.
pub(super) fn added(old: &[Finding], new: &[Finding], old_text: &str, edits: &[Edit]) -> Vec<Finding> {
    let new_text = edits::apply(old_text, edits);
    let lines = Lines::of(&new_text);
    let mut known: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for one in old {
        *known.entry((&one.rule, lines.row(edits::moved(one.at, edits)).0)).or_default() += 1;
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
