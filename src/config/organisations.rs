//! The servers of organisations: `[organisations]` in the user's own `config.toml`, or `IXMCP_ORG_URL`.
//!
//! Owns where their addresses come from, not what they mean (`organisation`). A repository's file cannot name a server, because
//! that would send the user's texts and passwords there.

use std::fmt;

use toml::Table;

use super::{CORRECT_OR_REMOVE, Environment, Owner, invalid_value, text_of};
use crate::error::{Error, Result};
use crate::model::{first_of, printable};

/// The name of the table.
pub(super) const TABLE: &str = "organisations.";

/// The variable with the address of the one server.
pub(super) const VARIABLE: &str = "IXMCP_ORG_URL";
/// The variable with its password, as for all clients of PostgreSQL.
const PASSWORD: &str = "PGPASSWORD";

/// Description of a valid entry.
const EXPECTED: &str = "the address of a server, such as \"postgresql://team_pay@db.example.com/ixmcp\"";

/// A server as it is named in the settings. It is not printed: the address may contain a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerAddress {
    pub name: String,
    pub url: String,
    /// If the address has none.
    pub password: Option<String>,
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerAddress").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The server of that name, or the only one; the variable names the only one.
pub fn organisation(environment: &Environment, name: Option<&str>) -> Result<ServerAddress> {
    let password = environment.get(PASSWORD).map(str::to_owned);
    if let (Some(url), None) = (environment.get(VARIABLE), name) {
        return Ok(ServerAddress { name: "default".to_owned(), url: url.to_owned(), password });
    }
    let mut known = known(environment)?;
    let names: Vec<String> = known.iter().map(|(name, _)| name.clone()).collect();
    let file = environment.user_file().map_or_else(|| "config.toml".into(), |file| file.to_string_lossy().into_owned());
    let file = printable(&file);
    let chosen = match name {
        Some(name) => known.iter().position(|(known, _)| known == name),
        None => (known.len() == 1).then_some(0),
    };
    let Some(chosen) = chosen else {
        let (what, hint) = match (name, names.is_empty()) {
            (_, true) => (
                "no organisation is configured".to_owned(),
                format!("Add its server under [organisations] in {file}, or set {VARIABLE}."),
            ),
            (Some(name), false) => {
                let shown: String = printable(name).chars().take(100).collect();
                (
                    format!("there is no organisation \"{shown}\""),
                    format!("Organisations in {file}: {}.", first_of(&names, 8)),
                )
            }
            (None, false) => (
                "several organisations are configured".to_owned(),
                format!("Name one with --to: {}.", first_of(&names, 8)),
            ),
        };
        return Err(Error::invalid_argument(what).hint(hint));
    };
    let (name, url) = known.swap_remove(chosen);
    Ok(ServerAddress { name, url, password })
}

/// Whether any server is configured.
pub fn has_organisation(environment: &Environment) -> bool {
    environment.get(VARIABLE).is_some() || known(environment).is_ok_and(|known| !known.is_empty())
}

/// The entries of the user's file as it is now.
fn known(environment: &Environment) -> Result<Vec<(String, String)>> {
    let Some(file) = environment.user_file() else { return Ok(Vec::new()) };
    let Some(text) = text_of(&file, Owner::User)? else { return Ok(Vec::new()) };
    let shown = printable(&file.to_string_lossy());
    let table: Table =
        text.parse().map_err(|_| Error::invalid_argument(format!("{shown} is not TOML")).hint(CORRECT_OR_REMOVE))?;
    let Some(servers) = table.get(TABLE.trim_end_matches('.')).and_then(toml::Value::as_table) else {
        return Ok(Vec::new());
    };
    servers.iter().map(|(name, url)| Ok((name.clone(), url_of(&shown, name, url)?))).collect()
}

/// The address of one server; an error if it is not one. The error does not quote it.
pub(super) fn url_of(source: &str, name: &str, url: &toml::Value) -> Result<String> {
    let url = url.as_str().filter(|url| url.starts_with("postgresql://") || url.starts_with("postgres://"));
    url.map(str::to_owned).ok_or_else(|| invalid_value(source, &format!("{TABLE}{}", printable(name)), EXPECTED))
}
