//! The schema of an organisation's server: its roles, and versioned migrations.
//!
//! Owns how a server is prepared. The tables and functions are in `migrations/`.

use refinery::error::Kind;
use tokio_postgres::Client;

use super::Connection;
use crate::budget::Budget;
use crate::config::ServerAddress;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::wording::{Command, Wording};

mod embedded {
    refinery::embed_migrations!("src/organisation/migrations");
}

/// Concurrent calls wait for each other.
const LOCK: &str = "SELECT pg_advisory_lock(hashtext('ixmcp schema'))";
/// Roles belong to the whole server: another database may have them already, or be making them. What the creator of one may do:
/// findings/postgresql-creator-of-a-role.sh.
const ROLES: &str = "DO $$
DECLARE role name;
BEGIN
    FOREACH role IN ARRAY ARRAY['ixmcp_owner', 'ixmcp_user'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
    IF NOT pg_has_role(current_user, 'ixmcp_owner', 'MEMBER') THEN
        EXECUTE format('GRANT ixmcp_owner TO %I', current_user);
    END IF;
END
$$";
const SCHEMA: &str = "CREATE SCHEMA IF NOT EXISTS ixmcp AUTHORIZATION ixmcp_owner;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA ixmcp;
CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA ixmcp";
const AS_OWNER: &str = "SET ROLE ixmcp_owner";
/// Migrations find what they use of extensions, which may have been in another schema before.
const SEARCH_PATH: &str =
    "SELECT set_config('search_path', 'ixmcp, ' || string_agg(DISTINCT quote_ident(n.nspname), ', '), false)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('pg_trgm', 'pgcrypto')";
const HISTORY: &str = "schema_history";
const HAS_HISTORY: &str = "SELECT to_regclass('ixmcp.schema_history') IS NOT NULL";
/// Rows that no migration wrote: reading the list would panic. Casts fail on values that are not numbers or times.
const DAMAGED: &str = "SELECT count(*) FROM ixmcp.schema_history
WHERE version < 0 OR checksum IS NULL OR applied_on IS NULL OR checksum::numeric NOT BETWEEN 0 AND 18446744073709551615 OR applied_on::timestamptz IS NULL
    OR applied_on !~ '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$'";
/// The first migration before the first release, which had another name and three more after it.
const BEFORE_RELEASE: &str = "SELECT EXISTS (SELECT FROM ixmcp.schema_history WHERE version = 1 AND name <> 'schema')";

/// Creates the roles, tables and functions, or upgrades them. Returns the names of the migrations that were applied.
pub fn initialize(address: &ServerAddress, budget: &Budget) -> Result<Vec<String>> {
    let mut connection = Connection::open_any(address, budget)?;
    connection.run(budget, async |client| {
        client.batch_execute(LOCK).await?;
        client.batch_execute(ROLES).await?;
        client.batch_execute(SCHEMA).await?;
        client.batch_execute(AS_OWNER).await?;
        client.execute(SEARCH_PATH, &[]).await
    })?;
    check_history(&mut connection, budget)?;
    let mut runner = embedded::migrations::runner();
    runner.set_migration_table_name(HISTORY);
    let applied = connection.with_client(async |client: &mut Client| runner.run_async(client).await);
    let applied = applied.map_err(|error| migration_error(&error))?;
    Ok(applied.applied_migrations().iter().map(ToString::to_string).collect())
}

/// Whether the list of applied migrations can be read.
fn check_history(connection: &mut Connection, budget: &Budget) -> Result<()> {
    let has_history: bool =
        connection.run(budget, async |client| client.query_one(HAS_HISTORY, &[]).await?.try_get(0))?;
    if !has_history {
        return Ok(());
    }
    let damaged = connection.run(budget, async |client| client.query_one(DAMAGED, &[]).await?.try_get::<_, i64>(0));
    match damaged {
        Ok(0) => {}
        Err(error) if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Cancelled | ErrorKind::Timeout) => {
            return Err(error);
        }
        _ => {
            return Err(Error::new(
                ErrorKind::CorruptIndex,
                format!("the table ixmcp.{HISTORY} of the organisation's server is damaged"),
            )
            .hint("Restore it from a backup. Nothing was changed."));
        }
    }
    let is_before_release: bool =
        connection.run(budget, async |client| client.query_one(BEFORE_RELEASE, &[]).await?.try_get(0))?;
    if is_before_release {
        return Err(Error::new(
            ErrorKind::UnsupportedFormat,
            "the schema of the organisation's server is from before the first release",
        )
        .hint(Wording::from("Nothing was changed.").then((
            "Make a new database, run ",
            Command("org init"),
            " there, and publish again.",
        ))));
    }
    Ok(())
}

fn migration_error(error: &refinery::Error) -> Error {
    match error.kind() {
        Kind::DivergentVersion(..) | Kind::MissingVersion(_) => Error::new(
            ErrorKind::NewerIndex,
            "the schema of the organisation's server was made by another version of ixmcp",
        )
        .hint(("Run ", Command("org init"), " of the newest version in use.")),
        _ => {
            let said: String =
                printable(&format!("{error}: {:?}", std::error::Error::source(error))).chars().take(500).collect();
            Error::internal(format!("a migration of the organisation's server failed: {said}"))
                .hint("Nothing was changed. Please report this.")
        }
    }
}
