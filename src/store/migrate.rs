//! The schema: the migrations in `migrations/`, append-only, run by `refinery`.
//!
//! Owns the comparison of a file's schema with this program's, and the upgrade of an older one. The index is derived,
//! so a file with any other schema is not repaired: `repository` replaces it ([`super::Store::is_of_another_build`]).

use std::path::Path;

use refinery::error::Kind;
use refinery::{Migration, Runner};
use rusqlite::Connection;

use super::to_error;
use crate::error::{Error, ErrorKind, Result};
use crate::wording::Command;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The migrations of this program, in the order in which they run: the macro lists V10 before V2.
fn embedded() -> Vec<Migration> {
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    migrations.sort();
    migrations
}

/// The statement of a migration that creates an index, for a table that may have it.
///
/// # Panics
/// If no migration creates it.
pub(super) fn create_index(name: &str) -> String {
    let head = format!("CREATE INDEX {name} ON ");
    let body = |sql: &str| {
        let body = &sql[sql.find(&head)? + head.len()..];
        // Comments in it may contain semicolons.
        let end = body.find("\n)")?;
        Some(body[..end + body[end..].find(';')?].to_owned())
    };
    let body = embedded().iter().filter_map(Migration::sql).find_map(body).expect("the migrations create the index");
    format!("CREATE INDEX IF NOT EXISTS {name} ON {body}")
}

/// The statement of a migration that creates a full-text table.
///
/// # Panics
/// If no migration creates it.
pub(super) fn create_fts(name: &str) -> String {
    let head = format!("CREATE VIRTUAL TABLE {name} USING fts5 (");
    let statement = |sql: &str| {
        let statement = &sql[sql.find(&head)?..];
        Some(statement[..statement.find("\n)")? + 2].to_owned())
    };
    embedded().iter().filter_map(Migration::sql).find_map(statement).expect("the migrations create the table")
}

/// The newest version that this program knows.
pub fn newest() -> i64 {
    newest_of(&embedded())
}

fn newest_of(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |last| last.version().into())
}

/// How the schema of a file compares with this program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schema {
    /// The file has no migrations.
    Missing,
    /// Only the first of this program's migrations.
    Older,
    Current,
    /// All of this program's migrations, and more up to this version.
    Newer(i64),
    /// A migration differs from this program's with the same number: another development build made the file.
    Different,
}

const HISTORY_EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'refinery_schema_history'";
const APPLIED: &str = "SELECT version, checksum FROM refinery_schema_history ORDER BY version";

impl Schema {
    fn read(connection: &Connection, migrations: &[Migration]) -> Result<Self> {
        if !connection.prepare(HISTORY_EXISTS)?.exists([])? {
            return Ok(Self::Missing);
        }
        let mut statement = connection.prepare(APPLIED)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let applied: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
        let mut pairs = applied.iter().zip(migrations);
        if !pairs.all(|((version, checksum), known)| {
            *version == i64::from(known.version()) && *checksum == known.checksum().to_string()
        }) {
            return Ok(Self::Different);
        }
        Ok(match applied.get(migrations.len()..).map(<[_]>::last) {
            None => Self::Older,
            Some(None) => Self::Current,
            Some(Some((version, _))) => Self::Newer(*version),
        })
    }
}

/// Brings the file up to the newest version.
pub(super) fn up(connection: Connection, path: &Path) -> Result<Connection> {
    up_by(&embedded(), connection, path)
}

fn up_by(migrations: &[Migration], mut connection: Connection, path: &Path) -> Result<Connection> {
    match Schema::read(&connection, migrations)? {
        Schema::Current => {}
        Schema::Missing | Schema::Older => {
            Runner::new(migrations).run(&mut connection).map_err(|error| failed(error, path))?;
        }
        Schema::Newer(version) => return Err(newer(version, newest_of(migrations), path)),
        Schema::Different => return Err(of_another_build(path)),
    }
    Ok(connection)
}

/// A full disk or a busy file is not a fault of the file.
fn failed(error: refinery::Error, path: &Path) -> Error {
    if let Kind::Connection(_, source) = error.kind()
        && let Some(source) = source.downcast_ref::<rusqlite::Error>()
    {
        let error = to_error(source);
        if matches!(error.kind, ErrorKind::ReadOnly | ErrorKind::Busy) {
            return error;
        }
    }
    foreign(path).caused_by(error)
}

/// A reader cannot migrate: the version must be the newest.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<()> {
    check_by(&embedded(), connection, path)
}

fn check_by(migrations: &[Migration], connection: &Connection, path: &Path) -> Result<()> {
    match Schema::read(connection, migrations)? {
        Schema::Current => Ok(()),
        Schema::Missing => Err(foreign(path)),
        Schema::Older => Err(Error::new(ErrorKind::ReadOnly, format!("{} has an older schema", path.display()))
            .hint(("Run ", Command("sync"), " where the index can be written."))),
        Schema::Newer(version) => Err(newer(version, newest_of(migrations), path)),
        Schema::Different => Err(of_another_build(path)),
    }
}

/// Whether another development build made the file.
pub(super) fn is_of_another_build(connection: &Connection) -> Result<bool> {
    Ok(Schema::read(connection, &embedded())? == Schema::Different)
}

fn of_another_build(path: &Path) -> Error {
    Error::new(ErrorKind::CorruptIndex, format!("{} has the schema of another build of ixmcp", path.display())).hint((
        "Run ",
        Command("sync"),
        ": it builds the index again.",
    ))
}

fn newer(version: i64, newest: i64, path: &Path) -> Error {
    let message = format!("{} has schema {version}, this ixmcp knows up to {newest}", path.display());
    Error::new(ErrorKind::NewerIndex, message).hint((
        "Use the newer ixmcp, or run ",
        Command("rebuild"),
        " to build the index again with this one.",
    ))
}

/// Reports a file that is not an index.
pub(super) fn foreign(path: &Path) -> Error {
    Error::new(ErrorKind::CorruptIndex, format!("{} is not an index of ixmcp, or is damaged", path.display())).hint((
        "Run ",
        Command("rebuild"),
        ": it builds a new index and keeps this file as index.db.bad.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: &str = "
        ALTER TABLE files ADD COLUMN owner TEXT;
        UPDATE files SET owner = 'of ' || path;
        CREATE INDEX files_by_owner ON files (owner);
    ";

    fn with(second: &str) -> Vec<Migration> {
        let mut migrations = embedded();
        migrations.push(Migration::unapplied(&format!("V{}__second", newest() + 1), second).unwrap());
        migrations
    }

    fn connect(path: &Path) -> Connection {
        Connection::open(path).unwrap()
    }

    #[test]
    fn a_later_migration_is_applied_to_the_rows_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let connection = up_by(&embedded(), connect(&path), &path).unwrap();
        let row = "INSERT INTO files (path, path_words, language, extractor, hash, lines, size, mtime_ns, ctime_ns, inode, seen_ns)
            VALUES ('a.py', '', 'python', 1, zeroblob(32), 1, 1, 0, 0, 0, 0)";
        connection.execute(row, []).unwrap();
        let second = with(SECOND);
        let error = check_by(&second, &connection, &path).unwrap_err();
        assert_eq!(error.kind, ErrorKind::ReadOnly, "a reader cannot upgrade: {error}");
        let connection = up_by(&second, connection, &path).unwrap();
        check_by(&second, &connection, &path).unwrap();
        let owner: String = connection.query_row("SELECT owner FROM files", [], |row| row.get(0)).unwrap();
        assert_eq!(owner, "of a.py");
        // And what was upgraded has the schema of a new file.
        let fresh = folder.path().join("fresh.db");
        let fresh = up_by(&second, connect(&fresh), &fresh).unwrap();
        let schema = |connection: &Connection| -> Vec<(String, String)> {
            let query = "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
            let mut statement = connection.prepare(query).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        assert_eq!(schema(&connection), schema(&fresh));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let connection = up_by(&embedded(), connect(&path), &path).unwrap();
        let error = up_by(&with("CREATE TABLE left_behind (id); SELECT nothing"), connection, &path).unwrap_err();
        assert_eq!(error.kind, ErrorKind::CorruptIndex, "{error}");
        let connection = up_by(&embedded(), connect(&path), &path).unwrap();
        let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'left_behind'";
        assert_eq!(connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }

    #[test]
    fn newer_and_different_schemas_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let connection = up_by(&with(SECOND), connect(&path), &path).unwrap();
        let kind = |migrations: &[Migration]| check_by(migrations, &connection, &path).unwrap_err().kind;
        assert_eq!(kind(&embedded()), ErrorKind::NewerIndex);
        assert_eq!(Schema::read(&connection, &embedded()).unwrap(), Schema::Newer(newest() + 1));
        assert_eq!(kind(&with("SELECT 1")), ErrorKind::CorruptIndex);
        assert!(!is_of_another_build(&connection).unwrap(), "a newer release's file is not replaced");
    }
}
