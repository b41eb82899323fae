//! The plan of a round.
//!
//! Owns what is listed and compared, and which facts hold once the plan is done. Does not own the comparison (`compare`). Writes
//! nothing.

use std::collections::HashSet;
use std::sync::Arc;

use super::compare::{CheapChanges, Task, compare, rows_are_current};
use super::recent;
use super::tally::Tally;
use crate::budget::Budget;
use crate::config::warn_once;
use crate::error::Result;
use crate::extract::{self, Options};
use crate::model::RepoPath;
use crate::repository::{Dirty, DiskListing, RegisteredFolder, Repository, Settings, Thoroughness, Watch};
use crate::scan::{self, Listing, ListingFingerprint};
use crate::store::{Fact, Revision, StoredFile};

/// Listings of a tree in which new folders keep appearing. What the last one missed is left to the next update.
const MAX_LISTINGS: usize = 4;

/// The work of one round.
pub(super) struct Plan {
    /// Files to read: new or possibly changed. Their order is free.
    pub tasks: Vec<Task>,
    /// Files of a first build that were edited recently.
    pub edited: HashSet<RepoPath>,
    pub cheap: CheapChanges,
    pub extraction: Extraction,
    /// The state of the index that the plan is based on.
    pub revision: Revision,
    pub stage: Stage,
    /// The value of `Fact::Options` to record before the first row changes.
    pub options_before: Option<String>,
    /// The value of `Fact::Options` as long as no other update writes.
    pub options_during: Option<String>,
    /// The value of `Fact::Options` to record when the plan is done, unless another update has recorded one.
    pub options_after: Option<String>,
    /// The facts to record when the plan is done.
    pub facts_after: Vec<(Fact, String)>,
}

/// How files become rows.
pub(super) struct Extraction {
    pub settings: Arc<Settings>,
    /// Options of files that are in no document folder.
    pub options: Options,
    /// Replaces rows even if their file has the same bytes.
    pub replaces_rows: bool,
}

/// How complete the index is before the plan is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Incomplete. The plan covers the whole tree.
    FirstBuild,
    /// Incomplete. The plan covers the entities.
    Entities,
    /// Complete.
    Built,
}

/// Facts that the index records about how it was made.
struct Facts {
    is_built: bool,
    options: Option<String>,
    fingerprint: Option<String>,
}

/// Compares the disk with the index. `None`: the listing fingerprint shows that nothing has changed.
pub(super) fn make(
    repository: &Repository,
    scope: &Dirty,
    thoroughness: Thoroughness,
    tally: &Tally,
    budget: &Budget,
) -> Result<Option<Plan>> {
    let is_sweep = *scope == Dirty::Everything;
    let settings = if is_sweep { repository.reload_settings()? } else { repository.settings() };
    let options = settings.extraction();
    let current = options.fingerprint();
    let context = format!("{current} {} {}", settings.folders.fingerprint(), extract::fingerprint());
    let revision = repository.store()?.revision()?;
    let facts = Facts::read(repository, budget)?;
    // A watch needs the listing's folders.
    let may_trust_fingerprint =
        is_sweep && thoroughness == Thoroughness::Changed && tally.is_empty() && repository.watch().is_none();
    if may_trust_fingerprint && facts.are_of(&current) && is_unchanged(repository, &settings, &facts, &context, budget)?
    {
        return Ok(None);
    }
    let options_before = facts.options_before(&current);
    let options_during = options_before.clone().or_else(|| facts.options.clone());
    // Other options make other rows of the same bytes.
    let replaces_rows =
        thoroughness == Thoroughness::Everything || facts.options.as_ref().is_some_and(|stored| *stored != current);
    let thoroughness = if replaces_rows { Thoroughness::Everything } else { thoroughness };
    let scope = widened(repository, &settings, scope.clone(), budget)?;
    let (files, skipped) = repository.read(budget, |snapshot| match &scope {
        Dirty::Paths(paths) => Ok((snapshot.stored_files_at(paths)?, snapshot.skipped_at(paths)?)),
        _ => Ok((snapshot.stored_files()?, snapshot.skipped()?)),
    })?;
    let started_ns = scan::now_ns();
    let listing = list(repository, &settings, &scope, budget)?;
    let options_after = (is_sweep && options_during.as_ref() != Some(&current)).then_some(current);
    let (stage, facts_after) = match (facts.is_built, is_sweep) {
        (is_built, true) => {
            let fingerprint =
                ListingFingerprint::compute(&repository.root, &settings.rules, &context, &listing, started_ns);
            let fingerprint = fingerprint.map_or_else(String::new, |fingerprint| fingerprint.to_text());
            let stage = if is_built { Stage::Built } else { Stage::FirstBuild };
            (stage, facts.after_sweep(fingerprint))
        }
        (true, false) => (Stage::Built, Vec::new()),
        (false, false) => (Stage::Entities, vec![(Fact::Entities, "1".to_owned())]),
    };
    let none = HashSet::new();
    // Another update may have replaced what was read with other options, or is not done with it: it is read again.
    let done = if tally.options == options_during { &tally.done } else { &none };
    let are_current = |known: &StoredFile| rows_are_current(known, &settings.folders, &known.path);
    let edited = if stage == Stage::FirstBuild { recent::edited(&listing) } else { HashSet::new() };
    let (tasks, cheap) = compare(listing, files, skipped, thoroughness, done, are_current);
    let extraction = Extraction { settings, options, replaces_rows };
    Ok(Some(Plan {
        tasks,
        edited,
        cheap,
        extraction,
        revision,
        stage,
        options_before,
        options_during,
        options_after,
        facts_after,
    }))
}

impl Facts {
    fn read(repository: &Repository, budget: &Budget) -> Result<Self> {
        repository.read(budget, |snapshot| {
            Ok(Self {
                is_built: snapshot.is_built()?,
                options: snapshot.fact(Fact::Options)?,
                fingerprint: snapshot.fact(Fact::ListingFingerprint)?,
            })
        })
    }

    /// Whether the index is complete and made with these options.
    fn are_of(&self, options: &str) -> bool {
        self.is_built && self.options.as_deref() == Some(options)
    }

    /// The value to record before the first row is made with the options `current`. A build that breaks off must not
    /// leave rows made with unknown options. While rows of other options are being replaced, the index is marked as
    /// unfinished: a process with yet other options must neither trust nor rename any. The mark has a date, so that an
    /// update that is overtaken knows whether others have replaced rows with other options in between.
    fn options_before(&self, current: &str) -> Option<String> {
        let is_unfinished =
            |stored: &str| stored.strip_prefix(current).is_some_and(|rest| rest.starts_with(" unfinished "));
        match self.options.as_deref() {
            None => Some(current.to_owned()),
            Some(stored) if stored == current || is_unfinished(stored) => None,
            Some(_) => Some(format!("{current} unfinished {}", scan::now_ns())),
        }
    }

    /// Facts for a sweep to record when it is done, as far as they are not recorded yet.
    fn after_sweep(&self, fingerprint: String) -> Vec<(Fact, String)> {
        let mut facts = Vec::new();
        if !self.is_built {
            facts.push((Fact::Built, "1".to_owned()));
        }
        if self.fingerprint.as_deref().unwrap_or_default() != fingerprint {
            facts.push((Fact::ListingFingerprint, fingerprint));
        }
        facts
    }
}

/// Whether a listing would find what the last one found, and each file as it was read.
fn is_unchanged(
    repository: &Repository,
    settings: &Settings,
    facts: &Facts,
    context: &str,
    budget: &Budget,
) -> Result<bool> {
    let Some(fingerprint) = facts.fingerprint.as_deref().and_then(ListingFingerprint::from_text) else {
        return Ok(false);
    };
    let stats = repository.read(budget, |snapshot| snapshot.stored_stats())?;
    let can_trust = stats.iter().all(|(_, stat, seen_ns)| seen_ns == 0 || scan::trusted(&stat, seen_ns, &stat));
    let files: Vec<_> = stats.iter().map(|(path, stat, _)| (path, stat)).collect();
    Ok(can_trust && fingerprint.still_holds(&repository.root, &settings.rules, context, &files))
}

/// If a folder may now contain more files than its options allow, all of it is compared.
fn widened(repository: &Repository, settings: &Settings, scope: Dirty, budget: &Budget) -> Result<Dirty> {
    let Dirty::Paths(paths) = scope else { return Ok(scope) };
    let is_full = |folder: &RegisteredFolder, touched: usize| {
        let (files, is_cut) = repository.read(budget, |snapshot| snapshot.fill_of(&folder.path))?;
        Ok(is_cut || files + touched > folder.max_files)
    };
    settings.folders.widened(paths, &repository.root, &settings.rules, is_full).map(Dirty::Paths)
}

/// Lists the disk. A listing of everything watches each folder before it reads it; other new folders are first watched
/// and then listed again, so that nothing saved in between is missed. Reads that do not wait for the update share a
/// listing of everything.
fn list(repository: &Repository, settings: &Settings, scope: &Dirty, budget: &Budget) -> Result<Listing> {
    let (root, rules) = (repository.root.as_path(), &settings.rules);
    if let Some(watch) = repository.watch() {
        watch.set_outside_folders(settings.folders.outside());
    }
    let entering = repository.watch().map(Watch::entering);
    let _listing = (*scope == Dirty::Everything).then(|| repository.listings.begin());
    let mut listings = 0;
    loop {
        let listed = (*scope == Dirty::Everything).then(|| DiskListing::begin(repository.full_watch()));
        let listing = match scope {
            Dirty::Paths(paths) => settings.folders.at(root, paths, rules, budget)?,
            _ => settings.folders.list(root, rules, entering.as_ref(), budget)?,
        };
        listings += 1;
        let covers = |watch: &Watch| watch.cover(&listing.folders) | watch.cover_rule_files(&listing.rule_files);
        if repository.watch().is_some_and(covers) {
            if listings < MAX_LISTINGS {
                continue;
            }
            repository.ask_for_sweep();
        }
        for warning in &listing.warnings {
            warn_once(warning.clone());
        }
        if let Some(listed) = listed {
            repository.share_listing(listed.with(&listing));
        }
        return Ok(listing);
    }
}
