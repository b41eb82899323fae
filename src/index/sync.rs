//! One update from walk to last commit, and the summary of it.

use std::collections::{BTreeMap, HashSet};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::lock::UpdateLock;
use super::pipeline::{Job, Turn};
use super::state::Chosen;
use super::watch::Dirty;
use super::{Settings, Workspace, diff, entities, folder, pipeline};
use crate::budget::{Budget, Progress, ReadyEntities};
use crate::config::{Config, warn_once};
use crate::error::Result;
use crate::extract::{self, Options};
use crate::model::RepoPath;
use crate::scan::{self, Listing, ListingFingerprint, Rules};
use crate::secrets;
use crate::store::{Fact, Store};

/// Changes of more files than this are followed by merging what they left in the FTS.
const BULK_FILES: usize = 1000;

/// How far an update trusts what the file system says without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// Looks at what was noticed; at everything, where nothing is watched.
    Noticed,
    /// Looks at every file's stat, and reads what that says has changed.
    Changed,
    /// Reads and hashes every file.
    Verify,
    /// Extracts every file again.
    Everything,
}

impl Thoroughness {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noticed => "noticed",
            Self::Changed => "changed",
            Self::Verify => "verify",
            Self::Everything => "everything",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Changed, Self::Verify, Self::Everything].into_iter().find(|one| one.name() == name)
    }
}

/// What a sync says: net changes since the last sync, and what the index holds now.
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
    /// What is odd about what was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Brings the index up to date. Whatever was noticed and could not be indexed is looked at again by the next update.
pub(super) fn update(
    workspace: &Workspace,
    thoroughness: Thoroughness,
    progress: &Progress,
    budget: &Budget,
) -> Result<()> {
    let is_gone = !workspace.store.path().exists();
    if is_gone {
        // Somebody has removed it, perhaps with its folder: that costs time and nothing else.
        folder::prepare(&workspace.root)?;
    }
    let lock = UpdateLock::take(&workspace.root, budget)?;
    if is_gone && !workspace.store.path().exists() {
        // A log without its database would be taken for the new one's.
        Store::make(workspace.store.path(), || folder::discard(workspace.store.path()))?;
        if let Some(watch) = workspace.watch.get() {
            watch.ask_for_sweep();
        }
    }
    let turn = Turn { lock: &lock, yields: true, progress, budget };
    update_in_turn(workspace, thoroughness, &turn)
}

/// As [`update`], by one who has the lock.
pub(super) fn update_in_turn(workspace: &Workspace, thoroughness: Thoroughness, turn: &Turn) -> Result<()> {
    let noticed = workspace.watch.get().map(|watch| (watch.is_limited(), watch.take()));
    let dirty = match (thoroughness, noticed) {
        (Thoroughness::Noticed, Some((false, dirty))) => dirty,
        _ => Dirty::Everything,
    };
    let updated = bring_up(workspace, &dirty, thoroughness, turn);
    if let Some(watch) = workspace.watch.get() {
        match updated {
            Ok(()) => watch.confirm_update(),
            Err(_) => watch.ask_for_sweep(),
        }
    }
    updated
}

fn bring_up(workspace: &Workspace, dirty: &Dirty, thoroughness: Thoroughness, turn: &Turn) -> Result<()> {
    if *dirty == Dirty::Nothing {
        return Ok(());
    }
    workspace.store.follow_splitter(turn.budget)?;
    let mut so_far = SoFar::default();
    if *dirty == Dirty::Everything && !is_built(workspace, turn.budget)? {
        entities_first(workspace, thoroughness, turn, &mut so_far)?;
    }
    while pass(workspace, dirty, thoroughness, turn, &mut so_far)? {}
    if so_far.bulk {
        workspace.store.settle(true)?;
        // It took a while: what was saved in the meantime, and a state to compare the next sync with.
        if *dirty == Dirty::Everything {
            let mut since = SoFar::default();
            while pass(workspace, dirty, Thoroughness::Changed, turn, &mut since)? {}
        }
    }
    Ok(())
}

/// A query of entities does not wait for a whole tree of code.
fn entities_first(workspace: &Workspace, thoroughness: Thoroughness, turn: &Turn, so_far: &mut SoFar) -> Result<()> {
    let standing = ReadyEntities { as_of: Instant::now(), feed_position: noticed_by_now(workspace) };
    let folders = Dirty::Paths(entities::folders(&workspace.reload_settings()?.config));
    while pass(workspace, &folders, thoroughness, turn, so_far)? {}
    turn.progress.set_ready_entities(standing);
    Ok(())
}

/// In the midst of a build, between two batches: a query of entities includes those that were saved since.
fn entities_meanwhile(workspace: &Workspace, turn: &Turn) -> Result<()> {
    if !turn.progress.entities_requested() {
        return Ok(());
    }
    let progress = Progress::default();
    // If others wrote here, the rest of the build would have to be planned again.
    let own = Turn { yields: false, progress: &progress, ..*turn };
    entities_first(workspace, Thoroughness::Changed, &own, &mut SoFar::default())?;
    if let Some(standing) = progress.ready_entities() {
        turn.progress.set_ready_entities(standing);
    }
    Ok(())
}

fn noticed_by_now(workspace: &Workspace) -> u64 {
    workspace.watch.get().map_or(0, |watch| watch.journal_since(0).1)
}

/// Extracts all entities again.
pub(super) fn update_entities(workspace: &Workspace, progress: &Progress, budget: &Budget) -> Result<()> {
    let lock = UpdateLock::take(&workspace.root, budget)?;
    let turn = Turn { lock: &lock, yields: true, progress, budget };
    let mut so_far = SoFar::default();
    entities_first(workspace, Thoroughness::Everything, &turn, &mut so_far)
}

fn is_built(workspace: &Workspace, budget: &Budget) -> Result<bool> {
    workspace.store.read(budget, |snapshot| Ok(snapshot.fact(Fact::Built)?.is_some()))
}

/// What the passes of one update have done.
#[derive(Default)]
struct SoFar {
    changed: bool,
    bulk: bool,
    done: HashSet<RepoPath>,
}

/// Plans and does the work. `true` when another process wrote in between: then what is left needs another plan.
fn pass(
    workspace: &Workspace,
    dirty: &Dirty,
    thoroughness: Thoroughness,
    turn: &Turn,
    so_far: &mut SoFar,
) -> Result<bool> {
    let budget = turn.budget;
    let (store, root) = (&workspace.store, workspace.root.as_path());
    let settings = if *dirty == Dirty::Everything { workspace.reload_settings()? } else { workspace.settings() };
    let options = extraction(&settings.config);
    let fingerprint = format!("{options:?} {}", secrets::VERSION);
    let revision = store.revision()?;
    let context = format!("{fingerprint} {} {}", settings.folders.told(), extract::fingerprint());
    let dirty = &widened(workspace, &settings, dirty.clone(), budget)?;
    let looks_everywhere = *dirty == Dirty::Everything;
    let may_trust = matches!(thoroughness, Thoroughness::Changed | Thoroughness::Noticed) && so_far.done.is_empty();
    // A watch needs the listing's folders.
    if looks_everywhere && may_trust && !so_far.changed && workspace.watch.get().is_none() {
        let rules = &settings.rules;
        if is_as_it_was(workspace, rules, &fingerprint, &context, budget)? {
            return Ok(false);
        }
    }
    let (known, built, made_with) = store.read(budget, |snapshot| {
        let known = match dirty {
            Dirty::Paths(paths) => (snapshot.stored_files_at(paths)?, snapshot.skipped_at(paths)?),
            _ => (snapshot.stored_files()?, snapshot.skipped()?),
        };
        Ok((known, snapshot.fact(Fact::Built)?.is_some(), snapshot.fact(Fact::Options)?))
    })?;
    // Other options make other rows of the same bytes.
    let other_options = made_with.as_ref().is_some_and(|made_with| *made_with != fingerprint);
    // Until all are extracted again the index records it: a process with yet other options must neither trust nor move any.
    let unfinished = format!("{fingerprint} unfinished");
    let is_marked = made_with.as_ref().is_some_and(|made_with| *made_with == unfinished);
    if other_options && !is_marked {
        so_far.done.clear();
    }
    let thoroughness = if other_options { Thoroughness::Everything } else { thoroughness };
    let began_ns = now_ns();
    let listing = list(workspace, &settings, dirty, budget)?;
    let ground = looks_everywhere.then(|| {
        let ground = ListingFingerprint::of(root, &settings.rules, &context, &listing, began_ns);
        ground.map_or_else(String::new, |ground| ground.to_text())
    });
    let plan = diff::plan(listing, known.0, known.1, thoroughness, &so_far.done, &settings.folders);
    if built && plan.is_empty() && !other_options && !so_far.changed {
        keep_ground(store, ground, budget)?;
        return Ok(false);
    }
    if made_with.is_none() {
        // An interrupted build must not leave rows of unknown options.
        store.write(|batch| batch.set_fact(Fact::Options, &fingerprint))?;
    } else if other_options && !is_marked {
        store.write(|batch| batch.set_fact(Fact::Options, &unfinished))?;
    }
    so_far.bulk |= plan.read.len() > BULK_FILES;
    let anew = thoroughness == Thoroughness::Everything;
    let program = workspace.program();
    let (rules, folders) = (&settings.rules, &settings.folders);
    let job = Job { root, rules, folders, options: &options, program: program.as_deref(), anew };
    let is_first_build = !built && looks_everywhere;
    if is_first_build {
        store.begin_first_build()?;
    }
    let between = || if is_first_build { entities_meanwhile(workspace, turn) } else { Ok(()) };
    let applied = match pipeline::apply(store, plan, &job, turn, &between, revision, &mut so_far.done) {
        Ok(applied) => applied,
        Err(error) => {
            // Some of its batches may be committed. Where even this cannot be written, nothing else can be either.
            let _ = store.write(|batch| batch.set_fact(Fact::LastChange, &now_ns().to_string()));
            return Err(error);
        }
    };
    so_far.changed |= applied.changed;
    if applied.overtaken {
        return Ok(true);
    }
    if is_first_build {
        store.end_first_build()?;
    }
    let part = if looks_everywhere || built { Fact::Built } else { Fact::Entities };
    store.write(|batch| {
        batch.set_fact(part, "1")?;
        // Rows of other options are extracted again only by a full pass.
        if part == Fact::Built && (looks_everywhere || !other_options) {
            batch.set_fact(Fact::Options, &fingerprint)?;
        }
        if so_far.changed || !built {
            batch.set_fact(Fact::LastChange, &now_ns().to_string())?;
        }
        ground.map_or(Ok(()), |ground| batch.set_fact(Fact::ListingFingerprint, &ground))
    })?;
    Ok(false)
}

fn keep_ground(store: &Store, ground: Option<String>, budget: &Budget) -> Result<()> {
    let Some(ground) = ground else { return Ok(()) };
    let kept = store.read(budget, |snapshot| snapshot.fact(Fact::ListingFingerprint))?;
    if kept.unwrap_or_default() == ground {
        return Ok(());
    }
    store.write(|batch| batch.set_fact(Fact::ListingFingerprint, &ground))
}

/// Whether a listing would find what the last one found, and every file as it was read.
fn is_as_it_was(workspace: &Workspace, rules: &Rules, options: &str, context: &str, budget: &Budget) -> Result<bool> {
    let known = workspace.store.read(budget, |snapshot| {
        let is_current = snapshot.fact(Fact::Built)?.is_some()
            && snapshot.fact(Fact::Options)?.is_some_and(|made_with| made_with == options);
        let ground = snapshot
            .fact(Fact::ListingFingerprint)?
            .filter(|_| is_current)
            .and_then(|text| ListingFingerprint::from_text(&text));
        ground.map(|ground| Ok((ground, snapshot.stored_stats()?))).transpose()
    })?;
    let Some((ground, stats)) = known else { return Ok(false) };
    let settled = stats.iter().all(|(_, stat, seen_ns)| seen_ns == 0 || scan::trusted(&stat, seen_ns, &stat));
    let files: Vec<_> = stats.iter().map(|(path, stat, _)| (path, stat)).collect();
    Ok(settled && ground.still_holds(&workspace.root, rules, context, &files))
}

/// Where a folder may hold more files than it is to have, all of it is looked at.
fn widened(workspace: &Workspace, settings: &Settings, dirty: Dirty, budget: &Budget) -> Result<Dirty> {
    let Dirty::Paths(paths) = dirty else { return Ok(dirty) };
    let is_full = |folder: &Chosen, touched: usize| {
        let (files, is_cut) = workspace.store.read(budget, |snapshot| snapshot.fill_of(&folder.path))?;
        Ok(is_cut || files + touched > folder.max_files)
    };
    settings.folders.widened(paths, &workspace.root, &settings.rules, is_full).map(Dirty::Paths)
}

/// What is on disk. Folders that come into view are watched first and listed after, so that nothing saved in between is
/// missed.
fn list(workspace: &Workspace, settings: &Settings, dirty: &Dirty, budget: &Budget) -> Result<Listing> {
    let (root, rules) = (workspace.root.as_path(), &settings.rules);
    if let Some(watch) = workspace.watch.get() {
        watch.heed(settings.folders.outside());
    }
    loop {
        let listing = match dirty {
            Dirty::Paths(paths) => settings.folders.at(root, paths, rules, budget)?,
            _ => settings.folders.list(root, rules, budget)?,
        };
        if !workspace.watch.get().is_some_and(|watch| watch.cover(&listing.folders)) {
            for warning in &listing.warnings {
                warn_once(warning.clone());
            }
            return Ok(listing);
        }
    }
}

pub(super) fn report(workspace: &Workspace, started: Instant, budget: &Budget) -> Result<Report> {
    let (counted, chunks, symbols) = workspace.store.write(|batch| {
        let counted = batch.count_changes("sync")?;
        let (chunks, symbols) = batch.count_rows()?;
        Ok((counted, chunks, symbols))
    })?;
    workspace.store.settle(false)?;
    workspace.read(budget, |snapshot| {
        let files = usize::try_from(snapshot.file_count()?).unwrap_or(usize::MAX);
        Ok(Report {
            added: counted.added.len(),
            modified: counted.modified.len(),
            deleted: counted.deleted.len(),
            unchanged: files.saturating_sub(counted.added.len() + counted.modified.len()),
            skipped: snapshot.skipped_counts()?.into_iter().collect(),
            chunks,
            symbols,
            seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            db_bytes: workspace.store.size(),
            warning: None,
        })
    })
}

fn extraction(config: &Config) -> Options {
    Options {
        chunk_bytes: config.index.chunk_size,
        folder: None,
        skip_minified: config.index.skip_minified,
        skip_generated: config.index.skip_generated,
        skip_secrets: config.index.skip_secrets,
        mask_secrets: config.index.mask_secrets,
        notes: config.index.notes.clone(),
    }
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
