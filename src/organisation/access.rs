//! Roles and their rights, and the list of published repositories.
//!
//! Owns the statements of administrators, and the list of repositories as the caller can read them.

use tokio_postgres::Row;

use super::Connection;
use super::errors::of_administrator;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;

const AS_OWNER: &str = "SET LOCAL ROLE ixmcp_owner";
const ROLE_EXISTS: &str = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname::text = $1)";
/// A statement about a role cannot have bound values: the server quotes the name. The creator of `ixmcp_user` is a member without its rights
/// (findings/postgresql-creator-of-a-role.sh). From PostgreSQL 16 on, a role that inherits nothing by itself may inherit this.
const MEMBERSHIP: &str = "SELECT format('GRANT ixmcp_user TO %I', $1)
|| CASE WHEN current_setting('server_version_num')::int >= 160000 THEN ' WITH INHERIT TRUE' ELSE '' END
WHERE NOT pg_has_role($1::name, 'ixmcp_user', 'USAGE')";
const GRANT: &str = "SELECT ixmcp.grant_repos($1::text::name, $2, $3, $4)";
const REVOKE: &str = "SELECT ixmcp.revoke_repos($1::text::name, $2)";
const SWEEP: &str = "SELECT uploads_removed, texts_removed, bytes_removed FROM ixmcp.sweep($1)";
/// The server truncates longer role names, which could then name a different role.
const MAX_ROLE: usize = 63;
const REPOSITORIES: &str = "SELECT name, commit, generation, published_at, files, bytes FROM ixmcp.repositories($1)";

/// Rights of a role.
pub struct Grant<'g> {
    pub role: &'g str,
    /// A name of a repository; `*` matches any text.
    pub pattern: &'g str,
    pub may_publish: bool,
    /// Publishers of one trust group share what is derived from texts. By default each role has its own.
    pub trust: Option<&'g str>,
}

/// A repository that the caller can read.
#[derive(Clone, Debug)]
pub struct Published {
    pub name: String,
    pub commit: Option<String>,
    pub generation: i64,
    pub published_at: Option<String>,
    pub files: i32,
    pub bytes: i64,
}

impl Published {
    pub(super) fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            name: row.try_get(0)?,
            commit: row.try_get(1)?,
            generation: row.try_get(2)?,
            published_at: row.try_get(3)?,
            files: row.try_get(4)?,
            bytes: row.try_get(5)?,
        })
    }
}

/// Rows and bytes that a sweep removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    pub uploads: i64,
    pub texts: i64,
    pub bytes: i64,
}

/// Lets a role read or publish repositories. The role must exist.
pub fn grant(connection: &mut Connection, grant: &Grant, budget: &Budget) -> Result<()> {
    let Grant { role, pattern, may_publish, trust } = grant;
    check_pattern(pattern)?;
    let exists: bool =
        connection.run(budget, async |client| client.query_one(ROLE_EXISTS, &[role]).await?.try_get(0))?;
    if !exists {
        return Err(no_role(role));
    }
    let granted = connection.run(budget, async |transaction| {
        transaction.batch_execute(AS_OWNER).await?;
        if let Some(row) = transaction.query_opt(MEMBERSHIP, &[role]).await? {
            transaction.batch_execute(row.try_get(0)?).await?;
        }
        transaction.execute(GRANT, &[role, pattern, may_publish, trust]).await.map(drop)
    });
    granted.map_err(of_administrator)
}

fn no_role(role: &str) -> Error {
    let shown: String = printable(role).chars().take(100).collect();
    Error::not_found(format!("the server has no role \"{shown}\""))
        .hint("Create it: `CREATE ROLE team_pay LOGIN PASSWORD '…'` in psql.")
}

/// Takes a grant back. Whether there was one.
pub fn revoke(connection: &mut Connection, role: &str, pattern: &str, budget: &Budget) -> Result<bool> {
    if role.len() > MAX_ROLE {
        return Err(no_role(role));
    }
    let revoked = connection.run(budget, async |transaction| {
        transaction.batch_execute(AS_OWNER).await?;
        let removed: i32 = transaction.query_one(REVOKE, &[&role, &pattern]).await?.try_get(0)?;
        Ok(removed > 0)
    });
    revoked.map_err(of_administrator)
}

/// Removes publications that were not finished within that many hours, and texts that nothing needs.
pub fn sweep(connection: &mut Connection, hours: f64, budget: &Budget) -> Result<Swept> {
    let swept = connection.run(budget, async |transaction| {
        transaction.batch_execute(AS_OWNER).await?;
        let row = transaction.query_one(SWEEP, &[&hours]).await?;
        Ok(Swept { uploads: row.try_get(0)?, texts: row.try_get(1)?, bytes: row.try_get(2)? })
    });
    swept.map_err(of_administrator)
}

/// The repositories whose name matches and that the caller can read, by name.
pub fn published(connection: &mut Connection, pattern: &str, budget: &Budget) -> Result<Vec<Published>> {
    check_pattern(pattern)?;
    connection.run(budget, async |client| {
        client.query(REPOSITORIES, &[&pattern]).await?.iter().map(Published::from_row).collect()
    })
}

/// `*` is the only special character of a pattern.
pub(super) fn check_pattern(pattern: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/@*".contains(c);
    if pattern.is_empty() || pattern.len() > 200 || !pattern.chars().all(is_plain) {
        let shown: String = printable(pattern).chars().take(100).collect();
        return Err(Error::invalid_argument(format!("\"{shown}\" is not a pattern of names"))
            .hint("Names have letters, digits and . _ + - / @; `*` matches any text, as in pay-*."));
    }
    Ok(())
}
