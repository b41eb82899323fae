//! The history of the repository in the index: which commits are stored, and when that is brought up to date.
//!
//! Owns how what is stored follows `HEAD`: commits that it no longer reaches go, new ones come, the newest first. Needs no update lock:
//! a commit never changes, a batch stores only those that are missing, and if `HEAD` moves meanwhile, the next look finds that. Does not
//! own how git is asked (`git_objects`), or what a commit says for a query (`query`).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::static_embeddings::if_free;
use crate::budget::Budget;
use crate::error::Result;
use crate::git_layout;
use crate::git_objects::{LoggedCommit, Objects, Reached};
use crate::locked::locked;
use crate::repository::Repository;
use crate::secrets;
use crate::store::{Fact, NewCommit, NewCommitFile, Snapshot, Store};
use crate::words;

/// Raise it when a commit would be stored otherwise.
const VERSION: u32 = 2;
/// Commits that are stored before searches read the history; the others follow.
const NEWEST: usize = 5_000;
/// Commits that git logs at once, and that are stored at once.
const BATCH: usize = 500;
/// Files of a commit that are listed. If it changed more, none is listed.
const MAX_FILES: usize = 100_000;
/// Characters of a subject and of a body that are stored.
const MAX_SUBJECT: usize = 500;
const MAX_BODY: usize = 4_000;

/// Keeps the history of one repository.
pub struct Commits {
    repository: Arc<Repository>,
    /// Held by the thread that works.
    working: Mutex<()>,
    /// Why there is no history, if git could not be asked.
    fault: Mutex<Option<String>>,
    /// The state of git's directory when all was stored.
    seen: Mutex<Option<Option<String>>>,
}

impl Commits {
    pub(crate) fn new(repository: Arc<Repository>) -> Self {
        Self { repository, working: Mutex::new(()), fault: Mutex::default(), seen: Mutex::default() }
    }

    /// Returns when all commits are stored; at once if another thread is at it.
    pub(crate) fn catch_up(&self, budget: &Budget) -> Result<()> {
        match if_free(&self.working) {
            Some(_alone) => self.follow(budget),
            None => Ok(()),
        }
    }

    /// Waits for the thread that stores commits, then stores those that are left.
    pub fn finish(&self, budget: &Budget) -> Result<()> {
        const POLL: Duration = Duration::from_millis(5);
        loop {
            budget.check()?;
            if let Some(_alone) = if_free(&self.working) {
                return self.follow(budget);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether `HEAD` has moved since all was stored. Opens no index.
    pub(crate) fn has_moved(&self) -> bool {
        locked(&self.seen).as_ref().is_some_and(|seen| *seen != git_layout::history_stamp(&self.repository.root))
    }

    /// Whether every commit that `HEAD` reaches is stored, as far as the files of git's directory say.
    pub fn is_complete(&self, budget: &Budget) -> Result<bool> {
        let Some(objects) = self.objects() else { return Ok(true) };
        let head = git_layout::head_commit(&self.repository.root);
        Ok(head.is_some_and(|head| self.stored_state(budget).is_ok_and(|state| state == state_of(&head, &objects))))
    }

    /// Says what the history of a shallow or partial clone, or of a folder, lacks; `None` if it is whole.
    pub fn limitation(&self) -> Option<&'static str> {
        let objects = self.objects()?;
        if objects.is_shallow() {
            return Some("This clone is shallow: older commits are missing.");
        }
        if objects.is_below_top() {
            return Some("This is a folder of a repository: commits and names of files outside of it are missing.");
        }
        if objects.has_replacements() {
            return Some("Commits are shown as they were made: `git replace` has other ones in the place of some.");
        }
        let without_files =
            "This clone is partial: changes of files that it lacks, and renames with changes, are missing.";
        objects.is_partial().then_some(without_files)
    }

    /// Why there is no history; `None` if there is one, or none is expected.
    pub fn fault(&self) -> Option<String> {
        locked(&self.fault).clone()
    }

    /// Why there is no history at all; `None` if there is one.
    pub fn absence(&self, budget: &Budget) -> Option<String> {
        if git_layout::directory(&self.repository.root).is_none() {
            return Some("there is no git repository here".to_owned());
        }
        let is_unborn = git_layout::head_commit(&self.repository.root).is_none()
            && self.objects().is_some_and(|objects| objects.head(budget).is_ok_and(|head| head.is_none()));
        self.fault().or_else(|| is_unborn.then(|| "nothing is committed yet".to_owned()))
    }

    /// Whether the commits of a snapshot are those that `HEAD` reaches, or some of them: an index may begin as a copy of a sibling
    /// worktree's, with the history of its branch.
    pub fn are_own(&self, snapshot: &Snapshot, budget: &Budget) -> Result<bool> {
        let Some(objects) = self.objects().filter(|_| !self.repository.is_read_only()) else { return Ok(true) };
        let state = snapshot.fact(Fact::History)?.unwrap_or_default();
        // A copy of commits that were not complete names none.
        let Some((stored, _)) = state.split_once(' ') else { return Ok(state.is_empty()) };
        let head = match git_layout::head_commit(&self.repository.root) {
            Some(head) => Some(head),
            None => objects.head(budget)?,
        };
        let Some(head) = head else { return Ok(false) };
        Ok(head == stored || objects.is_ancestor(stored, &head, budget)? == Some(true))
    }

    fn stored_state(&self, budget: &Budget) -> Result<String> {
        Ok(self.repository.read(budget, |snapshot| snapshot.fact(Fact::History))?.unwrap_or_default())
    }

    /// `None` without git, and of what has no history of its own.
    fn objects(&self) -> Option<Objects> {
        if !self.repository.kind.may_have_history() || git_layout::directory(&self.repository.root).is_none() {
            return None;
        }
        let found = Objects::open(&self.repository.root, &self.repository.sources.environment);
        *locked(&self.fault) = found.as_ref().err().map(|error| error.message.to_string());
        found.ok()
    }

    fn follow(&self, budget: &Budget) -> Result<()> {
        let stamp = git_layout::history_stamp(&self.repository.root);
        self.follow_head(budget)?;
        *locked(&self.seen) = Some(stamp);
        Ok(())
    }

    fn follow_head(&self, budget: &Budget) -> Result<()> {
        if self.repository.is_read_only() || self.repository.is_provisional() {
            return Ok(());
        }
        let Some(objects) = self.objects() else { return self.forget(budget) };
        let stored = self.stored_state(budget)?;
        let known_head = git_layout::head_commit(&self.repository.root);
        if known_head.is_some_and(|head| stored == state_of(&head, &objects)) {
            return Ok(());
        }
        let Some(head) = objects.head(budget)? else { return self.forget(budget) };
        let state = state_of(&head, &objects);
        if stored == state {
            return Ok(());
        }
        let store = self.repository.store()?;
        let missing = match added_since(store, &stored, &state, &objects, budget)? {
            Some(added) => added,
            None => remove_unreached(store, &head, is_made_equally(&stored, &state), &objects, budget)?,
        };
        let mut stored = 0;
        for batch in missing.chunks(BATCH) {
            budget.check()?;
            let ids: Vec<&str> = batch.iter().map(|commit| commit.id.as_str()).collect();
            let times: HashMap<&str, i64> =
                batch.iter().map(|commit| (commit.id.as_str(), commit.corrected_time)).collect();
            let logged = objects.logged(&ids, budget)?;
            let commits: Vec<NewCommit> = logged.into_iter().map(|commit| new_commit(commit, &times)).collect();
            store.write(|changes| changes.add_commits(&commits))?;
            stored += batch.len();
            if stored == NEWEST {
                store.write(|changes| changes.set_fact(Fact::HistoryRead, &format!("{NEWEST} {state}")))?;
            }
        }
        store.write(|changes| {
            changes.set_fact(Fact::HistoryRead, &state)?;
            changes.set_fact(Fact::History, &state)
        })
    }

    /// Removes the history of what has none.
    fn forget(&self, budget: &Budget) -> Result<()> {
        let hashes = self.repository.read(budget, |snapshot| snapshot.commit_hashes())?;
        if hashes.is_empty() {
            return Ok(());
        }
        self.repository.store()?.write(|changes| {
            changes.remove_commits(hashes.iter().map(String::as_str))?;
            changes.remove_unused_commit_paths()?;
            changes.set_fact(Fact::HistoryRead, "")
        })
    }
}

/// Names what the rows of a complete history are made of.
fn state_of(head: &str, objects: &Objects) -> String {
    format!("{head} {VERSION}.{}.{}", secrets::VERSION, objects.surroundings())
}

/// Whether the rows of both states are made in the same way.
fn is_made_equally(one: &str, other: &str) -> bool {
    let made = |state: &str| state.split_once(' ').map(|(_, made)| made.to_owned());
    made(one).is_some() && made(one) == made(other)
}

/// The commits that were added to a complete history; `None` if it was not complete, or is another one now.
fn added_since(
    store: &Store,
    stored: &str,
    state: &str,
    objects: &Objects,
    budget: &Budget,
) -> Result<Option<Vec<Reached>>> {
    let (Some((before, _)), Some((head, _))) = (stored.split_once(' '), state.split_once(' ')) else { return Ok(None) };
    if !is_made_equally(stored, state) || objects.is_ancestor(before, head, budget)? != Some(true) {
        return Ok(None);
    }
    let known = |id: &str| store.read(budget, |snapshot| snapshot.corrected_time(id));
    objects.reached(head, Some(before), known, budget).map(Some)
}

/// Removes the commits that the head does not reach, and all if they are made in another way. Returns those that are missing.
fn remove_unreached(
    store: &Store,
    head: &str,
    are_kept: bool,
    objects: &Objects,
    budget: &Budget,
) -> Result<Vec<Reached>> {
    let mut reached = objects.reached(head, None, |_| Ok(None), budget)?;
    let (known, unfinished) = store.read(budget, |snapshot| {
        Ok((snapshot.commit_hashes()?, snapshot.fact(Fact::History)?.is_none_or(|state| state.is_empty())))
    })?;
    let mut gone: Vec<&str> = known.iter().map(String::as_str).collect();
    if are_kept || unfinished {
        let wanted: HashSet<&str> = reached.iter().map(|commit| commit.id.as_str()).collect();
        gone.retain(|hash| !wanted.contains(hash));
    }
    gone.sort_unstable();
    for batch in gone.chunks(BATCH) {
        budget.check()?;
        store.write(|changes| changes.remove_commits(batch.iter().copied()))?;
    }
    if !gone.is_empty() {
        store.write(|changes| changes.remove_unused_commit_paths())?;
    }
    let gone: HashSet<&str> = gone.into_iter().collect();
    reached.retain(|commit| !known.contains(&commit.id) || gone.contains(commit.id.as_str()));
    Ok(reached)
}

/// Makes what is stored of a commit.
fn new_commit(logged: LoggedCommit, corrected_times: &HashMap<&str, i64>) -> NewCommit {
    // A merge says nothing of the files that it joins.
    let file_count = if logged.is_merge { 0 } else { logged.files.len() };
    let mut files: Vec<NewCommitFile> = logged
        .files
        .into_iter()
        .map(|file| NewCommitFile { path: file.path, status: file.status, from: file.from })
        .collect();
    if files.len() > MAX_FILES {
        files.clear();
    }
    let subject = without_secrets(&logged.subject, MAX_SUBJECT);
    NewCommit {
        corrected_time: corrected_times.get(logged.id.as_str()).copied().unwrap_or(logged.time),
        hash: logged.id,
        time: logged.time,
        author: without_secrets(&logged.author, MAX_SUBJECT),
        words: words::compound_parts(&subject),
        subject,
        body: without_secrets(logged.body.trim(), MAX_BODY),
        file_count,
        files,
    }
}

/// The beginning of a text, without secrets and addresses.
fn without_secrets(text: &str, most: usize) -> String {
    let masked = secrets::mask_text(text.into());
    let kept = secrets::without_addresses(&masked);
    // The tokenizer ends a C string at NUL.
    let kept = kept.replace('\0', " ");
    match kept.char_indices().nth(most) {
        Some((end, _)) => kept[..end].trim_end().to_owned(),
        None => kept.trim_end().to_owned(),
    }
}
