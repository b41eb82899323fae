//! `ixmcp sql`: a person's own statement, read-only, with all extensions loaded.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;

use super::open::{self, Mode};
use crate::error::{Error, Result};

/// One value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Answers a person's statements row by row: `start` is told each statement's column names, `visit` each row.
pub fn ask(
    path: &Path,
    sql: &str,
    mut start: impl FnMut(&[&str]) -> Result<()>,
    mut visit: impl FnMut(&[Cell]) -> Result<()>,
) -> Result<()> {
    let connection = open::connect(path, Mode::Read)?;
    let told = |error: rusqlite::Error| Error::invalid_argument(format!("SQL: {error}")).caused_by(error);
    let mut statements = rusqlite::Batch::new(&connection, sql);
    while let Some(mut statement) = statements.next().map_err(told)? {
        start(&statement.column_names().collect::<Vec<_>>())?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(told)?;
        while let Some(row) = rows.next().map_err(told)? {
            let cells: Vec<Cell> = (0..columns).map(|at| row.get_ref(at).map(cell)).collect::<Result<_, _>>()?;
            visit(&cells)?;
        }
    }
    Ok(())
}

fn cell(value: ValueRef) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_owned()),
    }
}
