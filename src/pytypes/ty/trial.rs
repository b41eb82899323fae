//! A second engine over the same repository, in which edits are tried before anybody is offered them.
//!
//! Owns the texts that stand in place of what the disk holds, and the comparison of diagnostics before and after.
//! Nothing is written to disk.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

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

pub(super) struct Trial {
    engine: Embedded,
}

impl Trial {
    pub fn open(root: &Path) -> Result<Self> {
        apart(|| Embedded::open(root, false).map(|engine| Self { engine }))
    }

    pub const fn db(&self) -> &Database {
        &self.engine.db
    }

    /// Lets the engine take these texts for those of files, which stand at absolute paths.
    pub fn set(&mut self, texts: Vec<(String, String)>) {
        let db = &mut self.engine.db;
        apart(|| {
            for (path, new) in texts {
                let Some(file) = on_disk(db, Path::new(&path)) else { continue };
                let text = source_text(db, file);
                if text.as_str() != new {
                    let text = text.with_text(new, &ruff_diagnostics::SourceMap::default());
                    file.set_source_text_override(db).to(Some(text));
                }
            }
        });
    }

    /// Asks this engine something.
    pub fn with<T: Send>(&self, ask: impl FnOnce(&Database) -> T + Send) -> T {
        let db = self.engine.db.clone();
        apart(move || salsa::attach_allow_change(&db, || ask(&db)))
    }

    pub fn findings(&self, files: &[String]) -> HashMap<String, Vec<Finding>> {
        self.with(|db| findings(db, files))
    }
}

/// On a thread of its own: a thread that answers by one database cannot change another.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trial".to_owned()).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, work).expect("the system has a thread for it");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The diagnostics of these files, absolute, on all cores.
pub(super) fn findings(db: &Database, files: &[String]) -> HashMap<String, Vec<Finding>> {
    files
        .into_par_iter()
        .map_with(db.clone(), |db, path| {
            let found = salsa::attach_allow_change(&*db, || {
                let Some(file) = on_disk(db, Path::new(path)) else { return Vec::new() };
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
        *known.entry((&one.rule, lines.place(edits::moved(one.at, edits)).0)).or_default() += 1;
    }
    let mut added = Vec::new();
    for one in new {
        match known.get_mut(&(one.rule.as_str(), lines.place(one.at).0)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => added.push(one.clone()),
        }
    }
    added
}
