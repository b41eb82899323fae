//! One update: what it covers, and the rounds of planning and applying until the index shows it.
//!
//! Owns the order of the rounds, their bound, and the report of a sync. Does not own the comparison with the disk (`plan`),
//! nor reading files and writing rows (`apply`).

use std::collections::{BTreeMap, HashSet};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use strum_macros::{EnumString, IntoStaticStr};

use super::apply::{ApplyOutcome, apply};
use super::entities;
use super::lock::UpdateLock;
use super::plan::{self, Stage};
use super::repository::Repository;
use super::watch::{Dirty, Watch};
use crate::budget::{Budget, Progress, ReadyEntities};
use crate::error::Result;
use crate::model::RepoPath;
use crate::store::Fact;

/// Changes of more files than this are followed by merging what they left in the FTS.
const BULK_FILES: usize = 1000;
/// The number of rounds of an update that other processes may overtake. The next round keeps the lock, so that writers in a
/// tree that changes all the time cannot make each other plan forever.
const MAX_OVERTAKEN: u32 = 8;

/// How far an update trusts the file system's metadata without reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Thoroughness {
    /// Compares every file's stat, and reads the files whose stat has changed.
    Changed,
    /// Reads and hashes every file.
    Verify,
    /// Replaces every row.
    Everything,
}

impl Thoroughness {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// What an update covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// The paths that the watch has marked dirty; the whole tree without a complete watch.
    Dirty,
    /// The whole tree.
    Tree(Thoroughness),
    /// The entities, whose rows are all replaced.
    Entities,
}

/// An update that holds the update lock.
#[derive(Clone, Copy)]
pub(super) struct Update<'u> {
    pub repository: &'u Repository,
    pub lock: &'u UpdateLock,
    /// Between batches other processes may write.
    pub yields: bool,
    pub progress: &'u Progress,
    pub budget: &'u Budget,
}

/// What the rounds of an update have done so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Files read since the update began.
    pub done: HashSet<RepoPath>,
    /// The value of `Fact::Options` as these were read.
    pub options: Option<String>,
    /// A row changed that an answer could show.
    pub changed: bool,
    is_bulk: bool,
}

impl Tally {
    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && !self.changed
    }
}

impl<'u> Update<'u> {
    pub(super) fn new(
        repository: &'u Repository,
        lock: &'u UpdateLock,
        progress: &'u Progress,
        budget: &'u Budget,
    ) -> Self {
        Self { repository, lock, yields: true, progress, budget }
    }

    /// Brings what is covered up to date. What was dirty and could not be indexed is left to the next update.
    pub(super) fn run(&self, coverage: Coverage) -> Result<()> {
        let mut tally = Tally::default();
        let thoroughness = match coverage {
            Coverage::Entities => return self.entities(Thoroughness::Everything, &mut tally),
            Coverage::Tree(thoroughness) => thoroughness,
            Coverage::Dirty => Thoroughness::Changed,
        };
        let claim = self.repository.watch().map(Watch::take);
        let scope = match &claim {
            Some(claim) if coverage == Coverage::Dirty => &claim.dirty,
            _ => &Dirty::Everything,
        };
        if *scope != Dirty::Nothing {
            if *scope == Dirty::Everything {
                self.copy_sibling()?;
            }
            self.repository.store()?.follow_splitter(self.budget)?;
            if *scope == Dirty::Everything && !self.is_built()? {
                self.entities(thoroughness, &mut tally)?;
            }
            self.rounds(scope, thoroughness, &mut tally)?;
            if tally.is_bulk {
                self.repository.store()?.settle(true)?;
                if *scope == Dirty::Everything {
                    // It took a while: this indexes what was saved in the meantime, and leaves a listing fingerprint to compare
                    // the next sync with.
                    self.rounds(scope, Thoroughness::Changed, &mut Tally::default())?;
                }
            }
        }
        if let Some(seed) = self.repository.seed().filter(|_| *scope == Dirty::Everything) {
            seed.end();
        }
        if let Some(claim) = claim {
            claim.confirm();
        }
        Ok(())
    }

    /// Plans and applies until a plan is done before another process has changed what it is based on.
    fn rounds(&self, scope: &Dirty, thoroughness: Thoroughness, tally: &mut Tally) -> Result<()> {
        let store = self.repository.store()?;
        let mut may_be_overtaken = MAX_OVERTAKEN;
        loop {
            let Some(plan) = plan::make(self.repository, scope, thoroughness, tally, self.budget)? else {
                return Ok(());
            };
            if let Some(options) = &plan.options_before {
                store.write(|batch| batch.set_fact(Fact::Options, options))?;
            }
            if tally.options != plan.options_during {
                tally.done.clear();
                tally.options.clone_from(&plan.options_during);
            }
            tally.is_bulk |= plan.tasks.len() > BULK_FILES;
            let (stage, mut facts) = (plan.stage, plan.facts_after.clone());
            let (options_during, options_after) = (plan.options_during.clone(), plan.options_after.clone());
            if stage == Stage::FirstBuild {
                store.begin_first_build()?;
            }
            let turn = Self { yields: self.yields && may_be_overtaken > 0, ..*self };
            let applied = apply(&turn, plan, tally)?;
            if applied == ApplyOutcome::Overtaken {
                may_be_overtaken -= 1;
                continue;
            }
            if stage == Stage::FirstBuild {
                store.end_first_build()?;
            }
            if stage != Stage::Built {
                facts.push((Fact::LastChange, now_ns().to_string()));
            }
            // Between two batches, what callers waited for may have been indexed with settings that were saved since.
            if let Some(options) = options_after
                && self.stored_options()? == options_during
            {
                facts.push((Fact::Options, options));
            }
            if !facts.is_empty() {
                store.write(|batch| facts.iter().try_for_each(|(fact, value)| batch.set_fact(*fact, value)))?;
            }
            return Ok(());
        }
    }

    /// Callers that ask for an entity do not wait for a whole tree of code.
    fn entities(&self, thoroughness: Thoroughness, tally: &mut Tally) -> Result<()> {
        let feed_position = self.repository.watch().map_or(0, |watch| watch.changes_since(0).1);
        let ready = ReadyEntities { as_of: Instant::now(), feed_position };
        let folders = Dirty::Paths(entities::folders(&self.repository.reload_settings()?.config));
        self.rounds(&folders, thoroughness, tally)?;
        self.progress.set_ready_entities(ready);
        Ok(())
    }

    /// During a first build, between two batches: indexes the entities saved since, if a caller waits for them.
    pub(super) fn requested_entities(&self) -> Result<()> {
        if !self.progress.entities_requested() {
            return Ok(());
        }
        let progress = Progress::default();
        // If others could write now, the rest of the build would have to be planned again.
        let update = Update { yields: false, progress: &progress, ..*self };
        update.entities(Thoroughness::Changed, &mut Tally::default())?;
        if let Some(ready) = progress.ready_entities() {
            self.progress.set_ready_entities(ready);
        }
        Ok(())
    }

    /// Between two batches of a long update: indexes the files that callers wait for, and returns them.
    pub(super) fn requested_files(
        &self,
        tally: &mut Tally,
        may_index: impl Fn(&RepoPath) -> bool,
    ) -> Result<HashSet<RepoPath>> {
        let Some((mut paths, request)) = self.progress.take_requested_files() else { return Ok(HashSet::new()) };
        let asked = paths.len();
        paths.retain(may_index);
        let is_all = paths.len() == asked;
        let progress = Progress::default();
        // If others could write now, the rest of the update would have to be planned again.
        let update = Update { yields: false, progress: &progress, ..*self };
        let mut own = Tally::default();
        let indexed = update.rounds(&Dirty::Paths(paths), Thoroughness::Changed, &mut own);
        tally.changed |= own.changed;
        tally.done.extend(own.done.iter().cloned());
        // After an error, too: callers must not wait for what does not come.
        if is_all || indexed.is_err() {
            self.progress.set_requested_files_done(request);
        }
        indexed.map(|()| own.done)
    }

    fn stored_options(&self) -> Result<Option<String>> {
        self.repository.read(self.budget, |snapshot| snapshot.fact(Fact::Options))
    }

    fn is_built(&self) -> Result<bool> {
        self.repository.read(self.budget, |snapshot| Ok(snapshot.fact(Fact::Built)?.is_some()))
    }
}

/// What a sync reports: net changes since the last sync, and the contents of the index.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    pub added: usize,
    pub modified: usize,
    pub deleted: usize,
    pub unchanged: usize,
    pub skipped: BTreeMap<String, u64>,
    pub chunks: u64,
    pub symbols: u64,
    pub seconds: f64,
    pub db_bytes: u64,
    /// What was unusual about the update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Report {
    /// Counts what changed since the last report.
    pub(super) fn of(repository: &Repository, started: Instant, budget: &Budget) -> Result<Self> {
        let (counted, chunks, symbols) = repository.store()?.write(|batch| {
            let counted = batch.count_changes("sync")?;
            let (chunks, symbols) = batch.count_rows()?;
            Ok((counted, chunks, symbols))
        })?;
        repository.store()?.settle(false)?;
        repository.read(budget, |snapshot| {
            let files = usize::try_from(snapshot.file_count()?).unwrap_or(usize::MAX);
            Ok(Self {
                added: counted.added.len(),
                modified: counted.modified.len(),
                deleted: counted.deleted.len(),
                unchanged: files.saturating_sub(counted.added.len() + counted.modified.len()),
                skipped: snapshot.skipped_counts()?.into_iter().collect(),
                chunks,
                symbols,
                seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
                db_bytes: repository.store()?.size(),
                warning: None,
            })
        })
    }
}

pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{Environment, Flags, Sources};
    use crate::index::repository::Index;
    use crate::store::{Mode, Store};

    /// Two updates take turns. The other one had recorded the new options and was overtaken before it came to this file.
    #[test]
    fn what_was_read_with_other_options_is_read_again_if_another_update_has_recorded_the_new_ones() {
        let root = tempfile::tempdir().unwrap();
        let save = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        save("a/note.md", "# A note\n");
        save(".ixmcp.toml", "[entities]\nnotes = [\"a\"]\n");
        let environment = Environment::new([], root.path().join("no-home"), root.path().to_owned());
        let sources = Arc::new(Sources { flags: Flags::default(), environment });
        let store = Store::open(&root.path().join("index.db"), Mode::Write).unwrap();
        let repository = Repository::with_index(root.path(), sources, Index::of(store)).unwrap();
        let lock = UpdateLock::take(root.path(), &Budget::unlimited()).unwrap();
        let (progress, budget) = (Progress::default(), Budget::unlimited());
        let update = Update::new(&repository, &lock, &progress, &budget);
        let mut tally = Tally::default();
        update.rounds(&Dirty::Everything, Thoroughness::Changed, &mut tally).unwrap();
        let note = RepoPath::new("a/note.md").unwrap();
        assert!(tally.done.contains(&note));

        save(".ixmcp.toml", "[entities]\nnotes = [\".\"]\n");
        let other = plan::make(&repository, &Dirty::Everything, Thoroughness::Changed, &Tally::default(), &budget);
        let mark = other.unwrap().unwrap().options_before.unwrap();
        repository.store().unwrap().write(|batch| batch.set_fact(Fact::Options, &mark)).unwrap();

        let plan = plan::make(&repository, &Dirty::Everything, Thoroughness::Changed, &tally, &budget);
        let tasks = plan.unwrap().unwrap().tasks;
        assert!(tasks.iter().any(|task| task.path == note && task.known.is_none()), "its bytes are the same");
    }
}
