//! The plan of a round.
//!
//! Owns what is listed, how the files on disk are compared with the rows in the index, and which facts hold once the plan is done.
//! Writes nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::recent;
use crate::budget::Budget;
use crate::config::warn_once;
use crate::error::Result;
use crate::extract::{self, Chunking, Options};
use crate::model::RepoPath;
use crate::repository::{Dirty, DiskListing, Folders, RegisteredFolder, Repository, Settings, Thoroughness, Watch};
use crate::scan::{self, Listing, ListingFingerprint};
use crate::store::{Fact, Revision, SkippedFile, StoredFile};

/// Listings of a tree in which new folders keep appearing. What the last one missed is left to the next update.
const MAX_LISTINGS: usize = 4;

/// Counts of what the rounds of an update have done so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Files read since the update began.
    pub done: HashSet<RepoPath>,
    /// The value of `Fact::Options` as these were read.
    pub options: Option<String>,
    /// Whether a row changed that an answer could show.
    pub changed: bool,
    /// Whether so many files changed that the segments they left in the FTS are merged.
    pub is_bulk: bool,
}

impl Tally {
    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && !self.changed
    }
}

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

/// A file to read.
#[derive(Debug)]
pub(crate) struct Task {
    pub path: RepoPath,
    pub size: u64,
    /// The stored file, if its rows are right for the same bytes.
    pub known: Option<StoredFile>,
}

/// Changes that need no file to be read.
#[derive(Debug, Default)]
pub(crate) struct CheapChanges {
    /// Stored files that no longer exist, or are no longer to be indexed.
    pub gone: Vec<StoredFile>,
    /// Files newly skipped because of their path.
    pub skip: Vec<SkippedFile>,
    /// Paths that were skipped and are no longer found.
    pub unskip: Vec<String>,
}

/// The tasks and the rest of the changes. Files in `done` were read by an earlier round of the same update, and are trusted
/// from then on. Unchanged files whose rows are not current are extracted again.
pub(crate) fn compare(
    listing: Listing,
    stored: Vec<StoredFile>,
    skipped: Vec<SkippedFile>,
    thoroughness: Thoroughness,
    done: &HashSet<RepoPath>,
    are_current: impl Fn(&StoredFile) -> bool,
) -> (Vec<Task>, CheapChanges) {
    let mut tasks = Vec::new();
    let mut cheap = CheapChanges::default();
    let mut stored: HashMap<RepoPath, StoredFile> = stored.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut skipped: HashMap<String, SkippedFile> = skipped.into_iter().map(|file| (file.path.clone(), file)).collect();
    for found in listing.files {
        let known = stored.remove(&found.path);
        let left_out = skipped.remove(found.path.as_str());
        let task = |known| Task { path: found.path.clone(), size: found.stat.size, known };
        match (known, left_out) {
            (Some(known), left_out) => {
                // An update that was cut short had begun to replace the file.
                cheap.unskip.extend(left_out.map(|left_out| left_out.path));
                let is_trusted = scan::trusted(&known.stat, known.seen_ns, &found.stat);
                let thoroughness = if done.contains(&found.path) { Thoroughness::Changed } else { thoroughness };
                match thoroughness {
                    Thoroughness::Everything => tasks.push(task(None)),
                    _ if !are_current(&known) => tasks.push(task(None)),
                    Thoroughness::Changed if is_trusted => {}
                    Thoroughness::Verify | Thoroughness::Changed => tasks.push(task(Some(known))),
                }
            }
            (None, Some(left_out)) => {
                let is_trusted = thoroughness == Thoroughness::Changed
                    && scan::trusted(&left_out.stat, left_out.seen_ns, &found.stat);
                if !is_trusted || !left_out.reason.is_by_content() {
                    tasks.push(task(None));
                }
            }
            (None, None) => tasks.push(task(None)),
        }
    }
    for left in listing.skipped {
        let is_new =
            skipped.remove(&left.path).is_none_or(|known| known.reason != left.reason || known.stat != left.stat);
        if is_new {
            cheap.skip.push(SkippedFile { path: left.path, reason: left.reason, stat: left.stat, seen_ns: 0 });
        }
    }
    cheap.gone = stored.into_values().collect();
    cheap.gone.sort_by(|a, b| a.path.cmp(&b.path));
    cheap.unskip.extend(skipped.into_keys());
    (tasks, cheap)
}

/// Whether this program would make the same rows from the same bytes at `path`.
pub(crate) fn rows_are_current(known: &StoredFile, folders: &Folders, path: &RepoPath) -> bool {
    has_current_chunking(known, folders, path)
        && extract::is_current(&known.path, &known.language, known.extractor, known.chunking.is_some())
}

/// Whether the rows of an unchanged file can answer until those of this program's extractor replace them.
pub(crate) fn has_current_chunking(known: &StoredFile, folders: &Folders, path: &RepoPath) -> bool {
    known.chunking == folders.chunking(path).map(Chunking::to_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContentHash, SkipReason, Stat};
    use crate::scan::FoundFile;

    /// An update writes that a link is left out, and is overtaken before it removes the file that was there; then the file is back.
    #[test]
    fn a_file_that_is_back_is_not_left_out_any_more() {
        let path = RepoPath::new("notes/a.json").unwrap();
        let stat = Stat { size: 1, mtime_ns: 1, ctime_ns: 1, inode: 1 };
        for ctime_ns in [1, 2] {
            let found = FoundFile { path: path.clone(), stat: Stat { ctime_ns, ..stat } };
            let listing = Listing { files: vec![found], ..Listing::default() };
            let stored = StoredFile {
                path: path.clone(),
                language: "json".to_owned(),
                extractor: 1,
                hash: ContentHash::compute(b"1"),
                stat,
                seen_ns: i64::MAX,
                chunking: None,
            };
            let left_out = SkippedFile { path: path.to_string(), reason: SkipReason::Symlink, stat, seen_ns: 0 };
            let (_, cheap) =
                compare(listing, vec![stored], vec![left_out], Thoroughness::Changed, &HashSet::new(), |_| true);
            assert_eq!(cheap.unskip, ["notes/a.json"]);
            assert!(cheap.gone.is_empty() && cheap.skip.is_empty());
        }
    }
}
