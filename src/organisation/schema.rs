//! The schema of an organisation's server: its roles, and versioned migrations.
//!
//! Owns how a server is prepared, and what an administrator needs for that: either to be a superuser, or to own the database and to have
//! created the roles. The tables and functions are in `migrations/`. `refinery` embeds and names those; they are applied here, in one
//! transaction, because a lock of a session would be lost in a pooler.

use refinery::Migration;
use tokio_postgres::Error as PgError;

use super::errors::of_administrator;
use super::transaction::Transaction;
use super::{Connection, Purpose};
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::wording::{Command, Wording};

mod embedded {
    refinery::embed_migrations!("src/organisation/migrations");
}

/// The encoding of the database, what is known of the schema in it, and whether the caller may act as its owner. From PostgreSQL 16 on,
/// a member may lack that (findings/postgresql-creator-of-a-role.sh).
const FOUND: &str = "SELECT current_setting('server_encoding'),
    (SELECT obj_description(n.oid, 'pg_namespace') FROM pg_namespace n WHERE n.nspname = 'ixmcp'),
    EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'ixmcp_owner' AND pg_has_role(current_user, r.oid,
        CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END))";
/// Roles belong to the whole server: another database may have them already, or be making them. The owner grants `ixmcp_user` to
/// others, so that each of its members can.
const ROLES: &str = "DO $$
DECLARE
    role name;
    acting text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    FOR attempt IN 1..5 LOOP
        BEGIN
            FOREACH role IN ARRAY ARRAY['ixmcp_owner', 'ixmcp_user'] LOOP
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                    EXECUTE format('CREATE ROLE %I NOLOGIN', role);
                END IF;
            END LOOP;
            IF NOT pg_has_role(current_user, 'ixmcp_owner', acting) THEN
                EXECUTE format('GRANT ixmcp_owner TO %I', current_user);
            END IF;
            IF NOT EXISTS (
                SELECT FROM pg_auth_members m
                WHERE m.roleid = 'ixmcp_user'::regrole AND m.member = 'ixmcp_owner'::regrole AND m.admin_option
            ) THEN
                GRANT ixmcp_user TO ixmcp_owner WITH ADMIN OPTION;
            END IF;
            EXIT;
        EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN
            IF attempt = 5 THEN
                RAISE;
            END IF;
        END;
    END LOOP;
END
$$";
/// Concurrent calls wait for each other, for as long as it takes.
const LOCK: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(hashtext('ixmcp schema'))";
/// A role that may not create a schema needs not to if it exists.
const SCHEMA: &str = "DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'ixmcp') THEN
        CREATE SCHEMA ixmcp AUTHORIZATION ixmcp_owner;
    END IF;
END
$$;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA ixmcp;
CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA ixmcp";
const AS_OWNER: &str = "SET LOCAL ROLE ixmcp_owner";
/// Migrations find what they use of extensions, which may have been in another schema before.
const SEARCH_PATH: &str =
    "SELECT set_config('search_path', 'ixmcp, ' || string_agg(DISTINCT quote_ident(n.nspname), ', '), true)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('pg_trgm', 'pgcrypto')";
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS ixmcp.schema_history
    (version int PRIMARY KEY, name varchar(255), applied_on varchar(255), checksum varchar(255))";
/// Rows that no migration wrote. Casts fail on values that are not numbers or times.
const DAMAGED: &str = "SELECT count(*) FROM ixmcp.schema_history
WHERE version < 0 OR name IS NULL OR checksum IS NULL OR applied_on IS NULL OR checksum::numeric NOT BETWEEN 0 AND 18446744073709551615 OR applied_on::timestamptz IS NULL
    OR applied_on !~ '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$'";
const APPLIED: &str = "SELECT version, name, checksum FROM ixmcp.schema_history ORDER BY version";
/// The name of the first migration. Before the first release it had another, and three more after it.
const FIRST: &str = "schema";
const RECORD: &str = "INSERT INTO ixmcp.schema_history (version, name, applied_on, checksum)
VALUES ($1, $2, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), $3)";
/// All roles can read the comment, even those that may not read the list.
const COMMENT: &str = "COMMENT ON SCHEMA ixmcp IS";

/// A step of the preparation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Making,
    ReadingList,
    Applying,
}

/// The state of the list of applied migrations.
enum List {
    Damaged,
    BeforeRelease,
    OfAnotherVersion,
    /// The migrations that were applied now.
    Applied(Vec<String>),
}

/// Creates the roles, tables and functions, or upgrades them. Returns the names of the migrations that were applied.
pub fn initialize(address: &ServerAddress, budget: &Budget) -> Result<Vec<String>> {
    let mut connection = Connection::open_any(address, Purpose::Write, budget)?;
    let migrations = migrations();
    let newest = comment(&migrations);
    let (encoding, known, may_act): (String, Option<String>, bool) = connection.run(budget, async |server| {
        let row = server.query_one(FOUND, &[]).await?;
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    })?;
    if encoding != "UTF8" {
        let message = format!("the database has the encoding {}, and texts need UTF8", printable(&encoding));
        return Err(Error::new(ErrorKind::UnsupportedFormat, message)
            .hint("Make another in psql: `CREATE DATABASE ixmcp TEMPLATE template0 ENCODING UTF8`."));
    }
    // Another administrator made it.
    if !may_act && known.as_ref() == Some(&newest) {
        return Ok(Vec::new());
    }
    connection.run(budget, async |server| server.batch_execute(ROLES).await).map_err(of_administrator)?;
    connection.wait_long();
    let mut step = Step::Making;
    let done = connection.run(budget, async |server| {
        server.batch_execute(LOCK).await?;
        server.batch_execute(SCHEMA).await?;
        server.batch_execute(AS_OWNER).await?;
        server.query_one(SEARCH_PATH, &[]).await?;
        step = Step::ReadingList;
        server.batch_execute(HISTORY).await?;
        let missing = match missing(server, &migrations).await? {
            Ok(missing) => missing,
            Err(list) => return Ok(list),
        };
        step = Step::Applying;
        for migration in &missing {
            server.batch_execute(migration.sql().unwrap_or_default()).await?;
            let checksum = migration.checksum().to_string();
            server.execute(RECORD, &[&migration.version(), &migration.name(), &checksum]).await?;
        }
        if known.as_ref() != Some(&newest) {
            server.batch_execute(&format!("{COMMENT} '{newest}'")).await?;
        }
        Ok(List::Applied(missing.iter().map(ToString::to_string).collect()))
    });
    let list = done.map_err(|error| match (step, error.kind) {
        (_, ErrorKind::Unreachable | ErrorKind::Cancelled | ErrorKind::Timeout) => error,
        (Step::Making, _) => of_administrator(error),
        (Step::ReadingList, _) => damaged(),
        (Step::Applying, _) => Error::internal(format!("a migration of the organisation's server failed: {error}"))
            .hint("Nothing was changed. Please report this."),
    })?;
    match list {
        List::Applied(names) => Ok(names),
        List::Damaged => Err(damaged()),
        List::BeforeRelease => Err(before_release()),
        List::OfAnotherVersion => Err(Error::new(
            ErrorKind::NewerIndex,
            "the schema of the organisation's server was made by another version of ixmcp",
        )
        .hint(("Run ", Command("org init"), " of the newest version in use."))),
    }
}

fn migrations() -> Vec<Migration> {
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    migrations.sort();
    migrations
}

/// The description of the schema: its newest migration.
fn comment(migrations: &[Migration]) -> String {
    let newest = migrations.last().map(|one| (one.version(), one.checksum())).unwrap_or_default();
    format!("ixmcp, version {} of the schema ({:016x})", newest.0, newest.1)
}

/// The migrations that are to be applied, or why none can be.
async fn missing<'m>(
    server: &Transaction<'_>,
    migrations: &'m [Migration],
) -> Result<Result<Vec<&'m Migration>, List>, PgError> {
    if server.query_one(DAMAGED, &[]).await?.try_get::<_, i64>(0)? > 0 {
        return Ok(Err(List::Damaged));
    }
    let mut missing: Vec<&Migration> = migrations.iter().collect();
    for row in server.query(APPLIED, &[]).await? {
        let (version, name, checksum): (i32, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if version == 1 && name != FIRST {
            return Ok(Err(List::BeforeRelease));
        }
        let is_that =
            |one: &&Migration| one.version() == version && one.name() == name && one.checksum().to_string() == checksum;
        let Some(at) = missing.iter().position(is_that) else { return Ok(Err(List::OfAnotherVersion)) };
        // One that precedes it was not applied.
        if at > 0 {
            return Ok(Err(List::OfAnotherVersion));
        }
        missing.remove(at);
    }
    Ok(Ok(missing))
}

fn damaged() -> Error {
    Error::new(ErrorKind::CorruptIndex, "the table ixmcp.schema_history of the organisation's server is damaged")
        .hint("Restore it from a backup. Nothing was changed.")
}

fn before_release() -> Error {
    Error::new(ErrorKind::UnsupportedFormat, "the schema of the organisation's server is from before the first release")
        .hint(Wording::from("Nothing was changed.").then((
            "Make a new database, run ",
            Command("org init"),
            " there, and publish again.",
        )))
}
