//! One update: what it covers, and the rounds of planning and applying until the index shows it.
//!
//! Owns the order of the rounds, their bound, and the report of a sync. Does not own the comparison with the disk (`plan`),
//! nor reading files and writing rows (`apply`).

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::apply::{ApplyOutcome, Turn, apply};
use super::entities;
use super::plan::{self, Stage, Tally};
use super::sibling_copy::copy_sibling;
use crate::budget::{Budget, Phase, Progress};
use crate::error::Result;
use crate::model::RepoPath;
use crate::repository::{Coverage, Dirty, ReadyEntities, Repository, Requests, Thoroughness, Watch};
use crate::scan;
use crate::store::Fact;

/// Changes of more files than this are followed by merging what they left in the FTS.
const BULK_FILES: usize = 1000;
/// The number of rounds of an update that other processes may overtake. The next round keeps the lock, so that writers in a
/// tree that changes all the time cannot make each other plan forever.
const MAX_OVERTAKEN: u32 = 8;

/// Brings what is covered up to date. What was dirty and could not be indexed is left to the next update.
pub(super) fn run(turn: &Turn, coverage: Coverage) -> Result<()> {
    let mut tally = Tally::default();
    let thoroughness = match coverage {
        Coverage::Entities => return update_entities(turn, Thoroughness::Everything, &mut tally),
        Coverage::Tree(thoroughness) => thoroughness,
        Coverage::Dirty => Thoroughness::Changed,
    };
    let claim = turn.repository.watch().map(Watch::take);
    let scope = match &claim {
        Some(claim) if coverage == Coverage::Dirty => &claim.dirty,
        _ => &Dirty::Everything,
    };
    if *scope != Dirty::Nothing {
        if *scope == Dirty::Everything && turn.repository.seed().is_some() {
            copy_sibling(turn)?;
        }
        turn.repository.store()?.follow_splitter(turn.budget)?;
        if *scope == Dirty::Everything && !turn.repository.read(turn.budget, |snapshot| snapshot.is_built())? {
            update_entities(turn, thoroughness, &mut tally)?;
        }
        rounds(turn, scope, thoroughness, &mut tally)?;
        if tally.is_bulk {
            turn.progress.enter(Phase::Merging);
            turn.repository.store()?.settle(true)?;
            if *scope == Dirty::Everything {
                // It took a while: this indexes what was saved in the meantime, and leaves a listing fingerprint to compare
                // the next sync with.
                rounds(turn, scope, Thoroughness::Changed, &mut Tally::default())?;
            }
        }
    }
    if let Some(seed) = turn.repository.seed().filter(|_| *scope == Dirty::Everything) {
        seed.end();
    }
    if let Some(claim) = claim {
        claim.confirm();
    }
    Ok(())
}

/// Plans and applies until a plan is done before another process has changed what it is based on.
fn rounds(turn: &Turn, scope: &Dirty, thoroughness: Thoroughness, tally: &mut Tally) -> Result<()> {
    let store = turn.repository.store()?;
    let mut may_be_overtaken = MAX_OVERTAKEN;
    loop {
        turn.progress.enter(Phase::Listing);
        let Some(plan) = plan::make(turn.repository, scope, thoroughness, tally, turn.budget)? else {
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
        let own = Turn { yields: turn.yields && may_be_overtaken > 0, ..*turn };
        let between_batches = |tally: &mut Tally, may_index: &dyn Fn(&RepoPath) -> bool| {
            if stage == Stage::FirstBuild {
                index_requested_entities(&own)?;
            }
            // Entities come first.
            let may_yield = own.yields && stage != Stage::Entities;
            if may_yield { index_requested_files(&own, tally, may_index) } else { Ok(HashSet::new()) }
        };
        let applied = apply(&own, plan, tally, &between_batches)?;
        if applied == ApplyOutcome::Overtaken {
            may_be_overtaken -= 1;
            continue;
        }
        if stage == Stage::FirstBuild {
            turn.progress.enter(Phase::Merging);
            store.end_first_build()?;
        }
        if stage != Stage::Built {
            facts.push((Fact::LastChange, scan::now_ns().to_string()));
        }
        // Between two batches, what callers waited for may have been indexed with settings that were saved since.
        if let Some(options) = options_after
            && stored_options(turn)? == options_during
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
fn update_entities(turn: &Turn, thoroughness: Thoroughness, tally: &mut Tally) -> Result<()> {
    let feed_position = turn.repository.watch().map_or(0, |watch| watch.changes_since(0).1);
    let ready = ReadyEntities { as_of: Instant::now(), feed_position };
    let folders = Dirty::Paths(entities::folders(&turn.repository.reload_settings()?.config));
    rounds(turn, &folders, thoroughness, tally)?;
    turn.requests.set_ready_entities(ready);
    Ok(())
}

/// During a first build, between two batches: indexes the entities saved since, if a caller waits for them.
fn index_requested_entities(turn: &Turn) -> Result<()> {
    if !turn.requests.entities_requested() {
        return Ok(());
    }
    let (progress, requests) = (Progress::default(), Requests::default());
    // If others could write now, the rest of the build would have to be planned again.
    let turn_of_request = Turn { yields: false, progress: &progress, requests: &requests, ..*turn };
    update_entities(&turn_of_request, Thoroughness::Changed, &mut Tally::default())?;
    if let Some(ready) = requests.ready_entities() {
        turn.requests.set_ready_entities(ready);
    }
    Ok(())
}

/// Between two batches of a long update: indexes the files that callers wait for, and returns them.
fn index_requested_files(
    turn: &Turn,
    tally: &mut Tally,
    may_index: &dyn Fn(&RepoPath) -> bool,
) -> Result<HashSet<RepoPath>> {
    let Some((mut paths, request)) = turn.requests.take_requested_files() else { return Ok(HashSet::new()) };
    let asked = paths.len();
    paths.retain(may_index);
    let is_all = paths.len() == asked;
    let (progress, requests) = (Progress::default(), Requests::default());
    // If others could write now, the rest of the update would have to be planned again.
    let turn_of_request = Turn { yields: false, progress: &progress, requests: &requests, ..*turn };
    let mut own = Tally::default();
    let indexed = rounds(&turn_of_request, &Dirty::Paths(paths), Thoroughness::Changed, &mut own);
    tally.changed |= own.changed;
    tally.done.extend(own.done.iter().cloned());
    // After an error, too: callers must not wait for what does not come.
    if is_all || indexed.is_err() {
        turn.requests.set_requested_files_done(request);
    }
    indexed.map(|()| own.done)
}

fn stored_options(turn: &Turn) -> Result<Option<String>> {
    turn.repository.read(turn.budget, |snapshot| snapshot.fact(Fact::Options))
}

/// Result of a sync: net changes since the last sync, and the contents of the index.
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
    /// Anything unusual about the update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Report {
    /// Counts what changed since the last report, and starts the next count.
    pub(crate) fn record(repository: &Repository, started: Instant, budget: &Budget) -> Result<Self> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{Environment, Flags, Sources};
    use crate::repository::{Index, UpdateLock};
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
        let repository = Repository::with_index(root.path(), sources, Index::from_store(store)).unwrap();
        let lock = UpdateLock::take(root.path(), &Budget::unlimited()).unwrap();
        let (progress, requests, budget) = (Progress::default(), Requests::default(), Budget::unlimited());
        let turn = Turn::new(&repository, &lock, (&progress, &requests), &budget);
        let mut tally = Tally::default();
        rounds(&turn, &Dirty::Everything, Thoroughness::Changed, &mut tally).unwrap();
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
