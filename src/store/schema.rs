//! Compares a database's schema with that of a new index, because any `sqlite3` can change it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::statements::statements;
use super::{Snapshot, migrate};
use crate::error::Result;

statements! {
    SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
        WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name";
}

/// Maps type and name to the table and the statement that created the object.
type Schema = BTreeMap<(String, String), (String, String)>;

/// Whether the schema equals that of a new index.
pub(super) fn is_fresh(connection: &Connection) -> Result<bool> {
    Ok(read(connection)? == expected()?)
}

/// Messages about differences from the schema of a new index. Additional tables are not a fault.
pub(super) fn faults(snapshot: &Snapshot) -> Result<Vec<String>> {
    let found = read(snapshot.connection)?;
    // A first build creates most SQL indexes at its end.
    let is_built = found.contains_key(&("table".to_owned(), "meta".to_owned())) && snapshot.is_built().unwrap_or(false);
    let mut faults = Vec::new();
    for (key, made) in expected()? {
        let (kind, name) = &key;
        if kind == "index" && !is_built {
            continue;
        }
        match found.get(&key) {
            None => faults.push(format!("the {kind} {name} is missing")),
            Some(other) if *other != made => faults.push(format!("the {kind} {name} differs from that of a new index")),
            Some(_) => {}
        }
    }
    Ok(faults)
}

fn expected() -> Result<Schema> {
    read(&migrate::up(Connection::open_in_memory()?, Path::new(":memory:"))?)
}

fn read(connection: &Connection) -> Result<Schema> {
    let mut statement = connection.prepare(SCHEMA)?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
