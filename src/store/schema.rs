//! Whether a database has the tables that its version says: anybody's `sqlite3` can change them.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::statements::statements;
use super::{Fact, Snapshot, migrate};
use crate::error::Result;

statements! {
    SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
        WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name";
}

/// The table of each thing, and the words that made it, by its type and name.
type Schema = BTreeMap<(String, String), (String, String)>;

/// Whether there is what a new index has, and nothing else.
pub(super) fn is_fresh(connection: &Connection) -> Result<bool> {
    Ok(of(connection)? == expected()?)
}

/// What is not as a new index has it, in words. What somebody has added does no harm.
pub(super) fn faults(snapshot: &Snapshot) -> Result<Vec<String>> {
    let found = of(snapshot.connection)?;
    // A first build makes most indexes at its end.
    let is_built = found.contains_key(&("table".to_owned(), "meta".to_owned()))
        && snapshot.fact(Fact::Built).is_ok_and(|built| built.is_some());
    let mut faults = Vec::new();
    for (key, made) in expected()? {
        let (kind, name) = &key;
        if kind == "index" && !is_built {
            continue;
        }
        match found.get(&key) {
            None => faults.push(format!("the {kind} {name} is missing")),
            Some(other) if *other != made => faults.push(format!("the {kind} {name} is not that of an index of ixmcp")),
            Some(_) => {}
        }
    }
    Ok(faults)
}

fn expected() -> Result<Schema> {
    of(&migrate::up(Connection::open_in_memory()?, Path::new(":memory:"))?)
}

fn of(connection: &Connection) -> Result<Schema> {
    let mut statement = connection.prepare(SCHEMA)?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
