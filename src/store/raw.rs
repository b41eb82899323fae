//! `ixmcp sql`: a person's own statement, read-only, with all extensions loaded.
//!
//! Owns what such a statement may do: an open mode alone does not keep `VACUUM INTO` and `ATTACH` from making files.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;

use super::open::{self, Mode};
use crate::error::{Error, ErrorKind, Result};

/// Pragmas that only tell something, of what is named behind them if anything is.
const TELLING: &[&str] = &[
    "collation_list",
    "compile_options",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];
/// Pragmas that tell a value, and set it where one is given.
const VALUES: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "busy_timeout",
    "cache_size",
    "data_version",
    "encoding",
    "foreign_keys",
    "freelist_count",
    "journal_mode",
    "mmap_size",
    "page_count",
    "page_size",
    "query_only",
    "schema_version",
    "synchronous",
    "temp_store",
    "user_version",
];
/// Functions that SQLite, its shell or an extension has for other files. None is registered here; a build may differ.
const REACHING_OUT: &[&str] = &["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "vec_npy_file"];

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
    let mut connection = open::connect(path, Mode::Read)?;
    connection.authorizer(Some(admitted))?;
    let told = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => only_reads().caused_by(error),
        _ => Error::invalid_argument(format!("SQL: {error}")).caused_by(error),
    };
    let mut statements = rusqlite::Batch::new(&connection, sql);
    while let Some(mut statement) = statements.next().map_err(told)? {
        // `VACUUM` asks for no authorization of its own.
        if !statement.readonly() {
            return Err(only_reads());
        }
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

fn only_reads() -> Error {
    Error::new(
        ErrorKind::ReadOnly,
        "`ixmcp sql` only reads the index: this statement changes, attaches or sets something",
    )
    .hint("To change a copy, save one by `sqlite3 .ixmcp/index.db \".backup copy.db\"` and open that.")
}

/// What is not known to read is refused.
fn admitted(context: AuthContext<'_>) -> Authorization {
    let is_among = |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_admitted = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => true,
        AuthAction::Function { function_name } => !is_among(REACHING_OUT, function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            is_among(TELLING, pragma_name) || (pragma_value.is_none() && is_among(VALUES, pragma_name))
        }
        _ => false,
    };
    if is_admitted { Authorization::Allow } else { Authorization::Deny }
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
