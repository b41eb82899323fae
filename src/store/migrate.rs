//! The schema: migrations from `migrations/`, append-only, run by `refinery`.
//!
//! The index is derived, so a file that cannot be migrated is never mended here: the error names `ixmcp rebuild`. A file
//! whose migrations had other words than ours (of a build in between two versions) is told apart by their checksums.

use std::collections::BTreeMap;
use std::path::Path;

use refinery::error::Kind;
use rusqlite::{Connection, OptionalExtension};

use super::open::foreign;
use super::told;
use crate::error::{Error, ErrorKind, Result};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The newest version this program knows.
pub fn newest() -> i64 {
    embedded::migrations::runner().get_migrations().iter().map(|step| i64::from(step.version())).max().unwrap_or(0)
}

/// Brings the file up to the newest version.
pub(super) fn up(mut connection: Connection, path: &Path) -> Result<Connection> {
    let version = version(&connection)?;
    refuse_newer(version, path)?;
    if is_of_another_build(&connection)? {
        return Err(of_another_build(path));
    }
    if version == Some(newest()) {
        return Ok(connection);
    }
    embedded::migrations::runner().run(&mut connection).map_err(|error| failed(error, path))?;
    Ok(connection)
}

/// A full disk or a busy file says nothing against the file.
fn failed(error: refinery::Error, path: &Path) -> Error {
    if let Kind::Connection(_, source) = error.kind()
        && let Some(source) = source.downcast_ref::<rusqlite::Error>()
    {
        let told = told(source);
        if matches!(told.kind, ErrorKind::ReadOnly | ErrorKind::Busy) {
            return told;
        }
    }
    foreign(path).caused_by(error)
}

/// A reader cannot migrate: the version must be the newest.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<()> {
    let version = version(connection)?;
    refuse_newer(version, path)?;
    if is_of_another_build(connection)? {
        return Err(of_another_build(path));
    }
    match version {
        Some(version) if version == newest() => Ok(()),
        Some(_) => Err(Error::new(ErrorKind::ReadOnly, format!("{} has an older schema", path.display()))
            .hint("Run `ixmcp sync` where the index can be written.")),
        None => Err(foreign(path)),
    }
}

const APPLIED: &str = "SELECT version, checksum FROM refinery_schema_history ORDER BY version";

/// Whether the migrations that made the file are not the first of ours, word for word.
pub(super) fn is_of_another_build(connection: &Connection) -> Result<bool> {
    if version(connection)?.is_none() {
        return Ok(false);
    }
    let runner = embedded::migrations::runner();
    let steps = runner.get_migrations().iter().map(|step| (i64::from(step.version()), step.checksum().to_string()));
    // They come by the names of their files: V10 before V2.
    let ours: BTreeMap<i64, String> = steps.collect();
    let mut ours = ours.into_iter();
    let mut statement = connection.prepare(APPLIED)?;
    let applied = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for step in applied {
        let step: (i64, String) = step?;
        if ours.next() != Some(step) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn of_another_build(path: &Path) -> Error {
    Error::new(ErrorKind::CorruptIndex, format!("{} was made by another build of ixmcp", path.display()))
        .hint("Run `ixmcp rebuild`.")
}

fn refuse_newer(version: Option<i64>, path: &Path) -> Result<()> {
    match version {
        Some(version) if version > newest() => Err(Error::new(
            ErrorKind::NewerIndex,
            format!("{} has schema {version}, this ixmcp knows up to {}", path.display(), newest()),
        )
        .hint("Use the newer ixmcp, or run `ixmcp rebuild` to make the index anew with this one.")),
        _ => Ok(()),
    }
}

const HISTORY_EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'refinery_schema_history'";
const VERSION: &str = "SELECT max(version) FROM refinery_schema_history";

fn version(connection: &Connection) -> Result<Option<i64>> {
    if connection.query_row(HISTORY_EXISTS, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    Ok(connection.query_row(VERSION, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use refinery::Target;

    use super::*;
    use crate::store::{Mode, open};

    fn schema(connection: &Connection) -> Vec<(String, String)> {
        let question = "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
        let mut statement = connection.prepare(question).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn a_database_at_any_earlier_version_is_brought_up_to_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = schema(&open::connect(&folder.path().join("fresh.db"), Mode::Write).unwrap());
        let mut versions: Vec<_> =
            embedded::migrations::runner().get_migrations().iter().map(refinery::Migration::version).collect();
        versions.sort_unstable();
        assert!(versions.len() > 5, "{versions:?}");
        for earlier in versions {
            let path = folder.path().join(format!("{earlier}.db"));
            let mut connection = Connection::open(&path).unwrap();
            connection.pragma_update(None, "application_id", open::APPLICATION_ID).unwrap();
            let runner = embedded::migrations::runner().set_target(Target::Version(earlier));
            runner.run(&mut connection).unwrap();
            assert_eq!(version(&connection).unwrap(), Some(i64::from(earlier)));
            drop(connection);
            let connection = open::connect(&path, Mode::Write).unwrap_or_else(|error| panic!("{earlier}: {error}"));
            assert_eq!(version(&connection).unwrap(), Some(newest()), "{earlier}");
            assert_eq!(schema(&connection), fresh, "{earlier}");
            drop(connection);
            open::connect(&path, Mode::Read).unwrap_or_else(|error| panic!("{earlier}: {error}"));
        }
    }

    /// Version 13 leaves to the program what the FTS is made of.
    #[test]
    fn chunks_from_before_13_are_found_by_their_words_and_names_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let mut connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "application_id", open::APPLICATION_ID).unwrap();
        embedded::migrations::runner().set_target(Target::Version(12)).run(&mut connection).unwrap();
        let rows = "
            INSERT INTO files (id, path, path_words, language, extractor, hash, lines, size, mtime_ns, ctime_ns, inode, seen_ns)
            VALUES (1, 'a.py', 'a py', 'python', 1, zeroblob(32), 6, 60, 0, 0, 0, 0);
            INSERT INTO names (id, name) VALUES (1, 'loadAll'), (2, 'saveOne'), (3, 'x');
            INSERT INTO kinds (id, name) VALUES (1, 'function');
            INSERT INTO symbol_rows (id, name_id, kind_id, line, column, above, below)
            VALUES (1048576, 1, 1, 1, 5, 0, 1), (1048577, 3, 1, 4, 5, 1, 0), (1048578, 2, 1, 6, 5, 0, 0);
            INSERT INTO chunks (id, file_id, ordinal, start_line, end_line, start_offset, hash, text, words, names)
            VALUES (1, 1, 0, 1, 2, 0, zeroblob(16), 'def loadAll(): fetchRow', 'load all fetch row', 'loadAll'),
                   (2, 1, 1, 3, 6, 30, zeroblob(16), 'def x; def saveOne', 'save one', 'x');
            INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')";
        connection.execute_batch(rows).unwrap();
        drop(connection);
        let store = crate::store::Store::open(&path, Mode::Write).unwrap();
        store.follow_splitter(&crate::budget::Budget::unlimited()).unwrap();
        assert_eq!(store.faults().unwrap(), Vec::<String>::new());
        drop(store);
        let connection = Connection::open(&path).unwrap();
        let matches = |question: &str| -> Vec<i64> {
            let asked = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?1 ORDER BY rowid";
            let mut statement = connection.prepare(asked).unwrap();
            let rows = statement.query_map([question], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let asked = ["words: fetch", "names: load", "names: saveOne", "names: x", "names: fetchRow"];
        assert_eq!(asked.map(matches), [vec![1], vec![1], vec![2], vec![2], vec![]]);
    }
}
