//! Errors of the server, as people and agents need them.
//!
//! A server may be hostile: its messages are shown without control characters, and shortened.

use tokio_postgres::error::{Error as PgError, SqlState};

use super::certificates;
use crate::error::{Error, ErrorKind};
use crate::model::printable;
use crate::wording::{Command, Wording};

/// Characters of a message that are shown.
const MAX_SHOWN: usize = 300;

/// The beginning of the error of a role without a right.
const DENIED: &str = "the role may not do that";

/// Error codes that the functions of the schema raise.
const OVERTAKEN: &str = "IX001";
const NOT_GRANTED: &str = "IX002";
const NOT_SENT: &str = "IX003";
const NOT_VALID: &str = "IX004";

/// The error as people and agents need it.
pub(super) fn error_of(error: &PgError) -> Error {
    let Some(database) = error.as_db_error() else { return unreachable(error) };
    let said: String = printable(database.message()).chars().take(MAX_SHOWN).collect();
    let code = database.code();
    let (kind, message, hint) = match code.code() {
        OVERTAKEN => (ErrorKind::Busy, said, "Publish again: nothing was changed.".into()),
        NOT_GRANTED => {
            let grant = Command("org grant ROLE PATTERN --publish");
            (ErrorKind::ReadOnly, said, ("An administrator grants it with ", grant, ".").into())
        }
        NOT_SENT => (ErrorKind::Busy, said, "Publish again: nothing was changed.".into()),
        NOT_VALID => (ErrorKind::InvalidArgument, said, "Correct the name.".into()),
        _ => of_server(code, &said),
    };
    Error::new(kind, message).hint(hint)
}

/// Errors of PostgreSQL itself.
fn of_server(code: &SqlState, said: &str) -> (ErrorKind, String, Wording) {
    let is_of_class = |class: &str| code.code().starts_with(class);
    if *code == SqlState::QUERY_CANCELED {
        (
            ErrorKind::Timeout,
            "the organisation's server stopped the statement".to_owned(),
            "Narrow the query, or try again.".into(),
        )
    } else if is_of_class("28") || *code == SqlState::INVALID_CATALOG_NAME {
        let message = format!("the organisation's server refuses the login: {said}");
        (ErrorKind::Unreachable, message, "Check the role, the database and the password of its address.".into())
    } else if is_of_class("57") || is_of_class("08") || *code == SqlState::TOO_MANY_CONNECTIONS {
        let message = format!("the organisation's server does not answer now: {said}");
        (ErrorKind::Unreachable, message, "Try again in a moment.".into())
    } else if is_of_class("40") || is_of_class("55") || *code == SqlState::FOREIGN_KEY_VIOLATION {
        let message = format!("the organisation's server is busy: {said}");
        (ErrorKind::Busy, message, "Try again: nothing was changed.".into())
    } else if is_of_class("53") || *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        let message = format!("the organisation's server cannot be written: {said}");
        (ErrorKind::ReadOnly, message, "Ask its administrator; nothing was changed.".into())
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        (
            ErrorKind::ReadOnly,
            format!("{DENIED}: {said}"),
            ("An administrator grants it with ", Command("org grant"), ".").into(),
        )
    } else if is_of_class("42") || is_of_class("3F") {
        let message = format!("the organisation's server has another schema than this program: {said}");
        (
            ErrorKind::UnsupportedFormat,
            message,
            ("An administrator runs ", Command("org init"), " of the newest version.").into(),
        )
    } else {
        let message = format!("the organisation's server failed: {said} ({})", printable(code.code()));
        (ErrorKind::Internal, message, "Please report this.".into())
    }
}

/// An error of an administrator's command: a right that it lacks is not one that `ixmcp org grant` grants.
pub(super) fn of_administrator(error: Error) -> Error {
    if !error.message.to_string().starts_with(DENIED) {
        return error;
    }
    error.hint((
        "Run it as a superuser, or as a role with CREATEROLE that owns the database. The administrator that ran ",
        Command("org init"),
        " first lets others do so: `GRANT ixmcp_owner TO ROLE`.",
    ))
}

/// The error of a role that has been granted what it needs, and does not inherit it.
pub(super) fn not_inherited() -> Error {
    Error::new(ErrorKind::ReadOnly, "the role does not inherit what it was granted").hint(
        "An administrator changes that: `ALTER ROLE … INHERIT` (from PostgreSQL 16 on, grant again `WITH INHERIT TRUE`). \
         To act as a granted role instead, add `options=-c%20role%3DROLE` to the address.",
    )
}

/// The connection failed, or broke.
fn unreachable(error: &PgError) -> Error {
    if let Some(why) = certificates::refused(error) {
        return Error::invalid_argument(format!("the certificate of the organisation's server is refused: {why}"))
            .hint(
                "Name its authority, or the certificate itself, by sslrootcert=FILE, and the host as the certificate \
                 names it.",
            );
    }
    let mut said = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        said = format!("{said}: {source}");
    }
    let said: String = printable(&said).chars().take(MAX_SHOWN).collect();
    Error::new(ErrorKind::Unreachable, format!("the organisation's server does not answer: {said}"))
        .hint("Check its address and that it runs; then try again.")
}
