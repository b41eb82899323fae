//! Copies of the database for other clones: without machine-specific rows, and verified before use.
//!
//! Owns what is left out of a copy, and the checks of a foreign copy. `index` owns their files.

use std::path::Path;

use super::{Mode, Store, locked, open, schema};
use crate::error::{Error, ErrorKind, Result};
use crate::model::RepoPath;

/// In another clone, files have other times and inodes, no changes are recorded, and the first update lists everything.
const STRIP: &str = "
    UPDATE files SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    UPDATE skipped SET mtime_ns = 0, ctime_ns = 0, inode = 0, seen_ns = 0;
    DELETE FROM changes;
    DELETE FROM meta WHERE key NOT IN ('built', 'options');
";

impl Store {
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
                if let Some(path) = RepoPath::new(path.as_str()).filter(|path| !admits(path.as_str())) {
                    batch.remove_file(&path)?;
                }
            }
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

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::CorruptIndex, format!("the snapshot is damaged: {why}"))
        .hint("Make it again with `ixmcp snapshot save`, or build the index with `ixmcp sync`.")
}
