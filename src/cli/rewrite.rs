//! Replaces several files: all of them or none, also if the process is killed in between.
//!
//! ```text
//! journal ─► stage every file next to its target ─► exchange one by one ─► journal: done ─► remove what is staged
//! ```
//! After an exchange the staged file holds the previous version, so that undoing needs no space on the disk. A journal that is
//! there without its lock is of a process that was killed: [`settle`] finishes or undoes what it began.
//!
//! Owns the journal. It is not in the repository, where a clone could contain one, but with the user's state.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::interruption::Interruption;
use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{first_of, printable};
use crate::platform::files;
use crate::platform::own_folder;
use crate::platform::paths::canonical;
use crate::platform::replace::{
    Durability, Permissions, complete_exchange, exchange_unchanged, replace, stage, temporary_for,
};

const FOLDER: &str = "edits";
/// Files that an error names.
const MAX_NAMED: usize = 5;

/// One file with its text before and after.
pub(super) struct Change<'t> {
    /// Absolute, without links.
    pub file: &'t Path,
    pub before: &'t [u8],
    pub after: &'t [u8],
}

/// The outcome of looking for the edits of a killed process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Nothing,
    /// All files are as they were before.
    Undone,
    /// All files are replaced.
    Finished,
}

/// An interrupted replacement, as it was found.
pub(super) struct Interrupted {
    pub replaced: usize,
    pub total: usize,
}

#[derive(Debug, Deserialize, Serialize)]
struct Journal {
    /// For users who read the file; loading checks it as well.
    root: PathBuf,
    /// All files are replaced; only staged files may be left.
    is_done: bool,
    files: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Entry {
    file: PathBuf,
    staged: PathBuf,
    /// The hashes of both versions.
    before: String,
    after: String,
}

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The target is the previous version, and the next one is staged.
    Ready,
    /// The target was not replaced, and cannot be: the next version was not staged, or the target was changed.
    Waiting,
    /// The target is the next version, and the previous one is staged.
    Replaced,
    /// The target is the next version, and no previous one is staged: there is nothing to restore it from.
    Same,
    /// The target was replaced, and then changed or moved.
    Changed,
}

/// The journal of a repository, locked: no other process writes files there.
struct Locked {
    root: PathBuf,
    journal: PathBuf,
    #[expect(dead_code, reason = "the lock lives as long as the file is open")]
    lock: File,
}

/// Replaces the files if each of them still is what it was before.
pub(super) fn replace_all(root: &Path, environment: &Environment, changes: &[Change]) -> Result<()> {
    let locked = Locked::take_any(root, environment)?;
    locked.settle()?;
    let journal = Journal::new(root, changes)?;
    let interruption = Interruption::hold()?;
    let replaced = locked
        .save(&journal)
        .and_then(|()| journal.stage(changes, &|| interruption.check()))
        .and_then(|()| journal.exchange(changes, &|| interruption.check()))
        .and_then(|()| locked.finish(&journal));
    replaced.map_err(|mut error| {
        match locked.undo(&journal) {
            Ok(()) => error.message = error.message.clone().followed_by("; no file was changed"),
            Err(left) => {
                error.message = format!("{}; {}", error.message, left.message).into();
                error.hint = left.hint;
            }
        }
        error
    })
}

/// Finishes or undoes what a killed process began.
pub(super) fn settle(root: &Path, environment: &Environment) -> Result<Settled> {
    for folder in folders(environment).into_iter().filter(|folder| journal_in(folder, root).exists()) {
        let settled = Locked::take(root, &folder)?.settle()?;
        if settled != Settled::Nothing {
            return Ok(settled);
        }
    }
    Ok(Settled::Nothing)
}

/// Returns the edits that a killed process left unfinished, if any. Changes nothing.
pub(super) fn interrupted(root: &Path, environment: &Environment) -> Result<Option<Interrupted>> {
    for folder in folders(environment).into_iter().filter(|folder| journal_in(folder, root).exists()) {
        let Some(journal) = Locked::take(root, &folder)?.load()? else { continue };
        let is_replaced = |entry: &&Entry| journal.is_done || !matches!(entry.state(), State::Ready | State::Waiting);
        let replaced = journal.files.iter().filter(is_replaced).count();
        return Ok(Some(Interrupted { replaced, total: journal.files.len() }));
    }
    Ok(None)
}

/// Where journals are: with the user's state, or where that cannot be written in the user's own temporary folder.
fn folders(environment: &Environment) -> Vec<PathBuf> {
    let bases = environment.state_folder().into_iter().chain([environment.own_temporary_folder()]);
    bases.map(|base| base.join(FOLDER)).collect()
}

fn journal_in(folder: &Path, root: &Path) -> PathBuf {
    let name = hash(root.as_os_str().as_encoded_bytes());
    folder.join(format!("{}.json", &name[..32]))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn hash_of_file(file: &Path) -> Option<String> {
    fs::read(file).ok().map(|bytes| hash(&bytes))
}

impl Locked {
    /// In the first folder that can be written.
    fn take_any(root: &Path, environment: &Environment) -> Result<Self> {
        let mut refusal = None;
        for folder in folders(environment) {
            match prepare(&folder) {
                Ok(()) => return Self::take(root, &folder),
                Err(error) => refusal = Some(Error::io("write", &folder, error)),
            }
        }
        Err(refusal.unwrap_or_else(|| Error::internal("there is no folder for the journal")))
    }

    fn take(root: &Path, folder: &Path) -> Result<Self> {
        let journal = journal_in(folder, root);
        let path = journal.with_extension("lock");
        let failed = |error| Error::io("lock", &path, error);
        let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { root: root.to_owned(), journal, lock }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(ErrorKind::Busy, "another process is writing files of this repository")
                    .hint("Try again in a moment."))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    fn save(&self, journal: &Journal) -> Result<()> {
        let text = serde_json::to_vec(journal)
            .map_err(|error| Error::internal("the journal cannot be written as JSON").caused_by(error))?;
        replace(&self.journal, &text, Permissions::Private, Durability::Synced)
            .map_err(|error| Error::io("write", &self.journal, error))
    }

    /// The journal of a killed process. Only this user can have written it.
    fn load(&self) -> Result<Option<Journal>> {
        let Ok(found) = fs::symlink_metadata(&self.journal) else { return Ok(None) };
        let unreadable = || {
            Error::invalid_path(format!("{} cannot be read", printable(&self.journal.to_string_lossy())))
                .hint("Compare the files of this repository with a commit, then remove that file.")
        };
        if !found.is_file() || !files::is_own(&found) {
            return Err(unreadable());
        }
        let text = fs::read(&self.journal).map_err(|error| Error::io("read", &self.journal, error))?;
        let journal = serde_json::from_slice::<Journal>(&text).map_err(|error| unreadable().caused_by(error))?;
        if journal.root == self.root { Ok(Some(journal)) } else { Err(unreadable()) }
    }

    fn settle(&self) -> Result<Settled> {
        let Some(journal) = self.load()? else { return Ok(Settled::Nothing) };
        if journal.is_done {
            self.clean(&journal.files)?;
            return Ok(Settled::Finished);
        }
        for entry in &journal.files {
            complete_exchange(&entry.staged).map_err(|error| Error::io("rename", &entry.staged, error))?;
        }
        let states: Vec<State> = journal.files.iter().map(Entry::state).collect();
        let is_in_place = |state: &State| !matches!(state, State::Ready | State::Waiting);
        // Undoing would leave these as they are: one was edited since, of the other there is no copy.
        let cannot_be_undone = |state: &State| matches!(state, State::Changed | State::Same);
        let can_be_finished = !states.contains(&State::Waiting) && states.iter().any(cannot_be_undone);
        if can_be_finished || states.iter().all(is_in_place) {
            journal.files.iter().filter(|entry| entry.state() == State::Ready).try_for_each(Entry::exchange)?;
            self.finish(&journal)?;
            return Ok(Settled::Finished);
        }
        self.undo(&journal)?;
        let is_lost = |(entry, state): (&Entry, &State)| {
            (*state == State::Same).then(|| entry.file.to_string_lossy().into_owned())
        };
        let lost: Vec<String> = journal.files.iter().zip(&states).filter_map(is_lost).collect();
        if lost.is_empty() {
            return Ok(Settled::Undone);
        }
        let message = format!(
            "an interrupted edit of {} files was undone except in {}: the copies of the text before are gone",
            journal.files.len(),
            first_of(&lost, MAX_NAMED)
        );
        Err(Error::new(ErrorKind::Busy, message).hint("Restore these files from a commit, or edit the others as well."))
    }

    /// Marks that all files are replaced, and removes what is staged. From the mark on, the files may be edited.
    fn finish(&self, journal: &Journal) -> Result<()> {
        self.save(&Journal { root: self.root.clone(), is_done: true, files: journal.files.clone() })?;
        // What is left is removed by the next command.
        if let Err(error) = self.clean(&journal.files) {
            tracing::warn!("{error}");
        }
        Ok(())
    }

    /// Restores what was replaced. A file that was edited since stays, and so does its previous version next to it.
    fn undo(&self, journal: &Journal) -> Result<()> {
        let (mut kept, mut others, mut failure) = (Vec::new(), Vec::new(), None);
        for entry in &journal.files {
            let state = entry.state();
            if state == State::Replaced {
                failure = entry.exchange().err().or(failure);
            }
            if state == State::Changed { &mut kept } else { &mut others }.push(entry.clone());
        }
        if let Some(mut failure) = failure {
            failure.message = failure.message.preceded_by("not all files could be restored: ");
            return Err(failure.hint("`ixmcp doctor edits --fix` restores the rest."));
        }
        self.clean(&others)?;
        if kept.is_empty() {
            return Ok(());
        }
        let names = |path: fn(&Entry) -> &PathBuf| {
            first_of(&kept.iter().map(|entry| path(entry).to_string_lossy()).collect::<Vec<_>>(), MAX_NAMED)
        };
        let message = format!(
            "an interrupted edit of {} files was undone except in {}, changed since",
            journal.files.len(),
            names(|entry| &entry.file)
        );
        let hint = format!("Compare with the text before, in {}.", names(|entry| &entry.staged));
        Err(Error::new(ErrorKind::Busy, message).hint(hint))
    }

    /// Removes what is staged, and the journal.
    fn clean(&self, entries: &[Entry]) -> Result<()> {
        let staged = entries.iter().map(|entry| &entry.staged);
        // On a disk that is mounted read-only, removing fails also if there is nothing to remove.
        let mut left = staged.chain([&self.journal]).filter(|path| path.symlink_metadata().is_ok());
        left.try_for_each(|path| fs::remove_file(path).map_err(|error| Error::io("remove", path, error)))
    }
}

fn prepare(folder: &Path) -> io::Result<()> {
    let base = folder.parent().unwrap_or(folder);
    if let Some(above) = base.parent() {
        fs::create_dir_all(above)?;
    }
    own_folder::create(base)?;
    own_folder::create_private(folder)?;
    if files::may_write(folder) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

impl Journal {
    fn new(root: &Path, changes: &[Change]) -> Result<Self> {
        let entry = |change: &Change| {
            let staged = temporary_for(change.file).map_err(|error| Error::io("write", change.file, error))?;
            let (before, after) = (hash(change.before), hash(change.after));
            Ok(Entry { file: change.file.to_owned(), staged, before, after })
        };
        let files = changes.iter().map(entry).collect::<Result<_>>()?;
        Ok(Self { root: root.to_owned(), is_done: false, files })
    }

    /// Writes every file next to its target, after it was checked that the target can be replaced.
    fn stage(&self, changes: &[Change], may_go_on: &impl Fn() -> Result<()>) -> Result<()> {
        for (entry, change) in self.files.iter().zip(changes) {
            may_go_on()?;
            let failed = |error| Error::io("write", change.file, error);
            if fs::read(change.file).map_err(failed)? != change.before {
                return Err(was_changed(change.file));
            }
            if !files::may_write(change.file) {
                return Err(failed(io::ErrorKind::PermissionDenied.into()));
            }
            stage(&entry.staged, change.file, change.after).map_err(failed)?;
        }
        Ok(())
    }

    fn exchange(&self, changes: &[Change], may_go_on: &impl Fn() -> Result<()>) -> Result<()> {
        self.files.iter().zip(changes).try_for_each(|(entry, change)| {
            may_go_on()?;
            entry.exchange_versions(change.before, change.after)
        })
    }
}

impl Entry {
    fn state(&self) -> State {
        // A folder that has become a link leads to other files.
        let is_there = self.file.parent().is_some_and(|folder| canonical(folder).is_ok_and(|real| real == folder));
        let is_file = is_there && self.file.symlink_metadata().is_ok_and(|data| data.is_file());
        let (held, staged) = (hash_of_file(&self.file).filter(|_| is_file), hash_of_file(&self.staged));
        let (held, staged) = (held.as_ref(), staged.as_ref());
        let (before, after) = (Some(&self.before), Some(&self.after));
        if held == before {
            return if staged == after { State::Ready } else { State::Waiting };
        }
        match (held == after, staged == before) {
            (true, true) => State::Replaced,
            (true, false) => State::Same,
            (false, true) => State::Changed,
            (false, false) => State::Waiting,
        }
    }

    /// Exchanges the target, whichever version it is, with what is staged.
    fn exchange(&self) -> Result<()> {
        let failed = |error| Error::io("write", &self.file, error);
        let (held, staged) = (fs::read(&self.file).map_err(failed)?, fs::read(&self.staged).map_err(failed)?);
        self.exchange_versions(&held, &staged)
    }

    fn exchange_versions(&self, held: &[u8], staged: &[u8]) -> Result<()> {
        match exchange_unchanged(&self.staged, &self.file, held, staged) {
            Ok(true) => Ok(()),
            Ok(false) => Err(was_changed(&self.file)),
            Err(error) => Err(Error::io("write", &self.file, error)),
        }
    }
}

/// The error that a file is not what the edits were made for.
pub(super) fn was_changed(file: &Path) -> Error {
    let message = format!("{} was changed meanwhile", printable(&file.to_string_lossy()));
    Error::new(ErrorKind::Busy, message).hint("Run the command again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository of files that are being replaced, and a home of its own.
    struct Files {
        root: PathBuf,
        environment: Environment,
        names: Vec<PathBuf>,
        _folder: tempfile::TempDir,
    }

    const COUNT: usize = 3;

    fn old(at: usize) -> String {
        format!("old {at}")
    }

    fn new(at: usize) -> String {
        format!("new {at}")
    }

    impl Files {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let at = canonical(folder.path()).unwrap();
            let (root, home) = (at.join("root"), at.join("home"));
            fs::create_dir_all(&home).unwrap();
            let names: Vec<PathBuf> = (0..COUNT).map(|at| root.join(format!("f{at}/a.py"))).collect();
            for (at, name) in names.iter().enumerate() {
                fs::create_dir_all(name.parent().unwrap()).unwrap();
                fs::write(name, old(at)).unwrap();
            }
            let environment = Environment::new(std::iter::empty(), home, root.clone());
            Self { root, environment, names, _folder: folder }
        }

        fn with_changes<T>(&self, with: impl FnOnce(&[Change]) -> T) -> T {
            let texts: Vec<(String, String)> = (0..COUNT).map(|at| (old(at), new(at))).collect();
            let changes = self.names.iter().zip(&texts).map(|(file, (before, after))| Change {
                file,
                before: before.as_bytes(),
                after: after.as_bytes(),
            });
            with(&changes.collect::<Vec<_>>())
        }

        fn replace_all(&self) -> Result<()> {
            self.with_changes(|changes| replace_all(&self.root, &self.environment, changes))
        }

        /// Leaves the files as a process does that is killed after this many were staged and exchanged.
        fn interrupt(&self, staged: usize, exchanged: usize) -> Journal {
            let locked = Locked::take_any(&self.root, &self.environment).unwrap();
            self.with_changes(|changes| {
                let journal = Journal::new(&self.root, changes).unwrap();
                locked.save(&journal).unwrap();
                journal.stage(&changes[..staged], &|| Ok(())).unwrap();
                journal.exchange(&changes[..exchanged], &|| Ok(())).unwrap();
                journal
            })
        }

        fn settle(&self) -> Result<Settled> {
            settle(&self.root, &self.environment)
        }

        fn held(&self) -> Vec<String> {
            self.names.iter().map(|name| fs::read_to_string(name).unwrap()).collect()
        }

        /// Only the files are left, and there is nothing to settle.
        fn assert_clean(&self, case: &str) {
            for name in &self.names {
                assert_eq!(fs::read_dir(name.parent().unwrap()).unwrap().count(), 1, "{case}");
            }
            assert_eq!(self.settle().unwrap(), Settled::Nothing, "{case}");
            assert!(interrupted(&self.root, &self.environment).unwrap().is_none(), "{case}");
        }
    }

    fn all(version: fn(usize) -> String) -> Vec<String> {
        (0..COUNT).map(version).collect()
    }

    #[test]
    fn files_are_replaced_together() {
        let files = Files::new();
        files.replace_all().unwrap();
        assert_eq!(files.held(), all(new));
        files.assert_clean("replaced");
        let error = files.replace_all().unwrap_err();
        assert!(error.to_string().contains("changed meanwhile; no file was changed"), "{error}");
        files.assert_clean("refused");
    }

    #[test]
    fn a_process_that_is_killed_at_any_step_leaves_all_files_replaced_or_none() {
        let steps = (0..=COUNT).flat_map(|staged| (0..=staged).map(move |exchanged| (staged, exchanged)));
        for (staged, exchanged) in steps.filter(|(staged, exchanged)| *exchanged == 0 || *staged == COUNT) {
            let files = Files::new();
            files.interrupt(staged, exchanged);
            let case = format!("{staged} staged, {exchanged} exchanged");
            let found = interrupted(&files.root, &files.environment).unwrap().unwrap();
            assert_eq!((found.replaced, found.total), (exchanged, COUNT), "{case}");
            let expected = if exchanged == COUNT { Settled::Finished } else { Settled::Undone };
            assert_eq!(files.settle().unwrap(), expected, "{case}");
            assert_eq!(files.held(), all(if exchanged == COUNT { new } else { old }), "{case}");
            files.assert_clean(&case);
        }
        // While it removes what it staged, and the files are edited already.
        let files = Files::new();
        let journal = files.interrupt(COUNT, COUNT);
        let locked = Locked::take_any(&files.root, &files.environment).unwrap();
        locked.save(&Journal { is_done: true, ..journal }).unwrap();
        drop(locked);
        fs::write(&files.names[0], "edited").unwrap();
        assert_eq!(files.settle().unwrap(), Settled::Finished);
        assert_eq!(files.held(), ["edited".to_owned(), new(1), new(2)]);
        files.assert_clean("done");
    }

    #[test]
    fn an_edit_after_the_crash_is_kept() {
        // The edited file was already replaced: only finishing keeps the edit.
        let files = Files::new();
        files.interrupt(COUNT, 1);
        fs::write(&files.names[0], "edited").unwrap();
        assert_eq!(files.settle().unwrap(), Settled::Finished);
        assert_eq!(files.held(), ["edited".to_owned(), new(1), new(2)]);
        files.assert_clean("replaced");
        // The edited file was not replaced yet: only undoing keeps the edit.
        let files = Files::new();
        files.interrupt(COUNT, 1);
        fs::write(&files.names[2], "edited").unwrap();
        assert_eq!(files.settle().unwrap(), Settled::Undone);
        assert_eq!(files.held(), [old(0), old(1), "edited".to_owned()]);
        files.assert_clean("not replaced");
        // Of both: the first stays, with its previous version next to it.
        let files = Files::new();
        let journal = files.interrupt(COUNT, 2);
        [0, 2].into_iter().for_each(|at| fs::write(&files.names[at], "edited").unwrap());
        let error = files.settle().unwrap_err();
        let staged = &journal.files[0].staged;
        assert!(error.to_string().contains(staged.to_str().unwrap()), "{error}");
        assert_eq!(files.held(), ["edited".to_owned(), old(1), "edited".to_owned()]);
        assert_eq!(fs::read_to_string(staged).unwrap(), old(0));
        fs::remove_file(staged).unwrap();
        files.assert_clean("both");
    }

    #[test]
    fn files_whose_copies_were_removed_are_named() {
        let files = Files::new();
        let journal = files.interrupt(COUNT, 2);
        journal.files.iter().for_each(|entry| fs::remove_file(&entry.staged).unwrap());
        let error = files.settle().unwrap_err();
        let [first, last] = [0, 2].map(|at| files.names[at].to_str().unwrap());
        assert!(error.to_string().contains(first) && !error.to_string().contains(last), "{error}");
        assert_eq!(files.held(), [new(0), new(1), old(2)]);
    }

    #[test]
    fn a_file_that_was_restored_by_hand_stays() {
        let files = Files::new();
        files.interrupt(COUNT, 2);
        fs::write(&files.names[0], old(0)).unwrap();
        assert_eq!(files.settle().unwrap(), Settled::Undone);
        assert_eq!(files.held(), all(old));
        files.assert_clean("restored");
    }

    #[test]
    fn files_of_which_no_copy_is_left_are_finished_with_the_others() {
        let files = Files::new();
        let journal = files.interrupt(COUNT, 1);
        fs::remove_file(&journal.files[0].staged).unwrap();
        assert_eq!(files.settle().unwrap(), Settled::Finished);
        assert_eq!(files.held(), all(new));
        files.assert_clean("finished");
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_written_through() {
        let files = Files::new();
        files.interrupt(COUNT, 1);
        let (folder, outside) = (files.names[0].parent().unwrap(), files.root.with_file_name("outside"));
        fs::rename(folder, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, folder).unwrap();
        assert!(files.settle().is_ok_and(|settled| settled != Settled::Nothing));
        assert_eq!(fs::read_to_string(outside.join("a.py")).unwrap(), new(0));
    }

    #[test]
    fn one_process_at_a_time_writes() {
        let files = Files::new();
        let locked = Locked::take_any(&files.root, &files.environment).unwrap();
        assert_eq!(files.replace_all().unwrap_err().kind, ErrorKind::Busy);
        drop(locked);
        files.replace_all().unwrap();
    }
}
