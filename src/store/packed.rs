//! Copies of the database for other clones and worktrees: without machine-specific rows, and verified before use.
//!
//! Owns what is left out of a copy, and the checks of a foreign copy. `update` owns their files.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Fact, Mode, Snapshot, Store, StoredFile, locked, open, schema};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::model::RepoPath;
use crate::wording::Command;

/// In another clone, files have other times and inodes, no changes are recorded, and the first update lists everything.
/// SCIP files are read again.
const STRIP: &str = "
    UPDATE files SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    UPDATE skipped SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    DELETE FROM changes;
    DELETE FROM scip_occurrences;
    DELETE FROM scip_relationships;
    DELETE FROM scip_symbols;
    DELETE FROM scip_documents;
    DELETE FROM scip_files;
    DELETE FROM meta WHERE key NOT IN ('built', 'options');
";

/// In another worktree of this machine, files have other times and inodes, and no changes are recorded. Commits are those of the other
/// `HEAD`, which `history` names if they are complete.
const STRIP_FOR_WORKTREE: &str = "
    UPDATE files SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    UPDATE skipped SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    DELETE FROM changes;
    DELETE FROM scip_occurrences;
    DELETE FROM scip_relationships;
    DELETE FROM scip_symbols;
    DELETE FROM scip_documents;
    DELETE FROM scip_files;
    DELETE FROM meta
    WHERE key NOT IN ('built', 'options', 'splitter', 'entities', 'last_change_ns', 'seeded_from', 'history');
    INSERT INTO meta (key, value) VALUES ('history', 'copied') ON CONFLICT (key) DO UPDATE SET value = 'copied' WHERE value = '';
";
/// Names and tags that only removed files had.
const DELETE_UNUSED_WORDS: &str = "
    DELETE FROM names WHERE id NOT IN (SELECT name_id FROM symbol_rows UNION SELECT name_id FROM reference_rows);
    DELETE FROM tags WHERE id NOT IN (SELECT tag_id FROM tagged);
";
/// The copy is discarded if anything fails.
const WITHOUT_JOURNAL: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
/// 8 MB: a fraction of the time of a query.
const PAGES_AT_ONCE: i32 = 512;

impl Store {
    /// Writes a copy of the index at `from`, which another process may be writing, to `to`, where nothing may be. Of files that
    /// `leaves` selects nothing is copied. Fails if that index is not complete, or was made with other options, and with the
    /// error of `rest`, which is called again and again.
    pub fn copy_sibling(
        from: &Path,
        to: &Path,
        options: &str,
        leaves: impl Fn(&StoredFile) -> bool,
        rest: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let source = open::connect(from, Mode::Read)?;
        {
            let mut target = Connection::open(to)?;
            target.execute_batch(WITHOUT_JOURNAL)?;
            // All pages in one transaction: one state of the index, whatever is written meanwhile.
            let source = source.unchecked_transaction()?;
            source.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            let backup = Backup::new(&source, &mut target)?;
            loop {
                match backup.step(PAGES_AT_ONCE)? {
                    StepResult::Done => break,
                    StepResult::More => rest()?,
                    _ => return Err(Error::new(ErrorKind::Busy, "the index is being written").hint("Try again.")),
                }
            }
        }
        drop(source);
        let copy = Self::open(to, Mode::Write)?;
        copy.write(|batch| {
            check_sibling(batch, options)?;
            let left: Vec<StoredFile> = batch.stored_files()?.into_iter().filter(&leaves).collect();
            if !left.is_empty() {
                batch.connection.execute_batch("PRAGMA secure_delete = ON")?;
            }
            for file in &left {
                batch.remove_file(&file.path)?;
            }
            if !left.is_empty() {
                batch.drop_stale_text_vectors()?;
                // The FTS keeps words of rows that went until it merges.
                batch.connection.execute_batch(super::terms::OPTIMIZE)?;
                batch.connection.execute_batch(DELETE_UNUSED_WORDS)?;
            }
            batch.set_fact(Fact::SeededFrom, &from.to_string_lossy())?;
            Ok(batch.connection.execute_batch(STRIP_FOR_WORKTREE)?)
        })?;
        copy.settle(false)
    }

    /// Opens the index at `database`, which another process may be writing, to read it. Fails as [`Self::copy_sibling`] does.
    pub fn open_sibling(database: &Path, options: &str) -> Result<Self> {
        let sibling = Self::open(database, Mode::Read)?;
        sibling.read(&Budget::unlimited(), |snapshot| check_sibling(snapshot, options))?;
        Ok(sibling)
    }

    /// Writes a copy to `to`, where nothing may be, of the files that `admits` takes.
    pub fn copy(&self, to: &Path, admits: impl Fn(&str) -> bool) -> Result<()> {
        self.write(|_| Ok(()))?;
        {
            let slot = locked(&self.writer);
            let writer = slot.as_ref().ok_or_else(|| Error::internal("the writer is gone"))?;
            writer.connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
        }
        let copy = Self::open(to, Mode::Write)?;
        copy.write(|batch| {
            for (path, _) in batch.paths(None)? {
                if let Some(path) = RepoPath::stored(&path).filter(|path| !admits(path.as_str())) {
                    batch.remove_file(&path)?;
                }
            }
            batch.drop_stale_text_vectors()?;
            // The FTS keeps words of rows that went until it merges.
            batch.connection.execute_batch(super::terms::OPTIMIZE)?;
            Ok(batch.connection.execute_batch(STRIP)?)
        })?;
        {
            let slot = locked(&copy.writer);
            let writer = slot.as_ref().ok_or_else(|| Error::internal("the writer is gone"))?;
            // Free pages still hold deleted rows.
            writer.connection.execute_batch("VACUUM")?;
        }
        copy.settle(false)
    }

    /// Refuses a copy that was not made by [`Store::copy`] of this version: it may contain anything.
    pub fn check_copy(path: &Path) -> Result<()> {
        open::refuse_other_formats(path)?;
        if !schema::is_fresh(&*open::connect(path, Mode::Read)?)? {
            return Err(damaged("its tables are not those of an index"));
        }
        let faults = Self::open(path, Mode::Write)?.faults()?;
        faults.into_iter().next().map_or(Ok(()), |fault| Err(damaged(&fault)))
    }
}

/// Fails unless the index is complete and was made with these options.
fn check_sibling(snapshot: &Snapshot, options: &str) -> Result<()> {
    if !snapshot.is_built()? || snapshot.fact(Fact::Options)?.as_deref() != Some(options) {
        return Err(Error::new(ErrorKind::IndexNotFound, "the index is not complete, or has other settings").hint((
            "Build an index with ",
            Command("sync"),
            ".",
        )));
    }
    schema::faults(snapshot)?.into_iter().next().map_or(Ok(()), |fault| Err(damaged(&fault)))
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::CorruptIndex, format!("the copy is damaged: {why}")).hint((
        "Make it again with ",
        Command("snapshot save"),
        ", or build the index with ",
        Command("sync"),
        ".",
    ))
}
