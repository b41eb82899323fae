//! `ixmcp sql`: the user's own statements, read-only, with the functions of sqlite-vec and the two of [`Embedding`].
//!
//! Owns what such a statement may do: read-only mode by itself does not keep `VACUUM INTO` and `ATTACH` from creating
//! files.

use std::path::Path;
use std::sync::{Arc, Once};

use rusqlite::Connection;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;

use super::open::{self, Mode};
use super::statements::statements;
use super::vectors::{SpaceKey, blob, count};
use crate::error::{Error, ErrorKind, Result};
use crate::wording::Command;

/// Pragmas that only read, with or without an argument that names what to read.
const READING_PRAGMAS: &[&str] = &[
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
/// Pragmas that return a value, and set it if one is given.
const VALUE_PRAGMAS: &[&str] = &[
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

statements! {
    SPACES = "SELECT id, model, hash, dimension FROM embedding_spaces";
}

/// One value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// The model behind the SQL functions `embed(text)`, a vector as `vectors` stores them, and `embedding_space()`, the id
/// of the space that it belongs to. Nothing is called before a statement calls one of them.
pub trait Embedding: Send + Sync + 'static {
    fn space(&self) -> Result<SpaceKey<'_>>;

    fn embed(&self, text: &str) -> Result<Vec<i8>>;
}

/// Runs the user's statements and returns their results row by row: `start` gets each statement's column names, `visit`
/// each row.
pub fn ask(
    path: &Path,
    sql: &str,
    embedding: Arc<dyn Embedding>,
    mut start: impl FnMut(&[&str]) -> Result<()>,
    mut visit: impl FnMut(&[SqlValue]) -> Result<()>,
) -> Result<()> {
    register_sqlite_vec();
    let mut connection = open::connect(path, Mode::Read)?;
    add_functions(&connection, embedding)?;
    connection.authorizer(Some(admitted))?;
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => only_reads().caused_by(error),
        _ => Error::invalid_argument(format!("SQL: {error}")).caused_by(error),
    };
    let mut statements = rusqlite::Batch::new(&connection, sql);
    while let Some(mut statement) = statements.next().map_err(failed)? {
        // `VACUUM` asks for no authorization of its own.
        if !statement.readonly() {
            return Err(only_reads());
        }
        start(&statement.column_names().collect::<Vec<_>>())?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let cells: Vec<SqlValue> = (0..columns).map(|at| row.get_ref(at).map(cell)).collect::<Result<_, _>>()?;
            visit(&cells)?;
        }
    }
    Ok(())
}

fn only_reads() -> Error {
    Error::new(
        ErrorKind::ReadOnly,
        (Command("sql"), " only reads the index: this statement changes, attaches or sets something"),
    )
    .hint("To change a copy, save one by `sqlite3 .ixmcp/index.db \".backup copy.db\"` and open that.")
}

/// Rejects everything that is not known to be read-only.
fn admitted(context: AuthContext<'_>) -> Authorization {
    let is_among = |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_admitted = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => true,
        AuthAction::Function { function_name } => !is_among(REACHING_OUT, function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            is_among(READING_PRAGMAS, pragma_name) || (pragma_value.is_none() && is_among(VALUE_PRAGMAS, pragma_name))
        }
        _ => false,
    };
    if is_admitted { Authorization::Allow } else { Authorization::Deny }
}

fn cell(value: ValueRef) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Real(number),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Blob(bytes.to_owned()),
    }
}

/// Deterministic functions of constants are called once per statement, and not once per row.
fn add_functions(connection: &Connection, embedding: Arc<dyn Embedding>) -> Result<()> {
    let failed = |error: Error| rusqlite::Error::UserFunctionError(Box::new(error));
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let spaces: Vec<(i64, String, String, i64)> = {
        let mut statement = connection.prepare(SPACES)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let model = Arc::clone(&embedding);
    connection.create_scalar_function("embed", 1, flags, move |context| {
        Ok(blob(&model.embed(context.get_raw(0).as_str()?).map_err(failed)?))
    })?;
    connection.create_scalar_function("embedding_space", 0, flags, move |_| {
        let key = embedding.space().map_err(failed)?;
        let is_named = |(_, model, hash, dimension): &&(i64, String, String, i64)| {
            model == key.model && hash == key.hash && *dimension == count(key.dimension)
        };
        Ok(spaces.iter().find(is_named).map(|(id, ..)| *id))
    })?;
    Ok(())
}

/// Adds the functions and modules of sqlite-vec to all connections that this process opens from now on. Our own vectors are not in
/// its tables: findings/vec0-replace.sh.
fn register_sqlite_vec() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: `sqlite3_vec_init` is a SQLite extension entry point; the crate declares it without its parameters.
        // SQLite calls it with the three that every entry point takes, and it lives as long as the program.
        #[expect(unsafe_code, reason = "statically linked extensions are registered through SQLite's C interface")]
        unsafe {
            let entry = std::mem::transmute::<*const (), rusqlite::auto_extension::RawAutoExtension>(
                sqlite_vec::sqlite3_vec_init as *const (),
            );
            // It fails only without memory; then `vec0` is missing and says so when used.
            let _ = rusqlite::auto_extension::register_auto_extension(entry);
        }
    });
}
