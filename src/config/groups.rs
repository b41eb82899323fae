//! Groups of repositories: `[groups]` in the user's own `config.toml`.
//!
//! Owns the table, not what its paths and globs name (`workspace`). A repository's file cannot define groups, because a group
//! says which other repositories a query reads.

use std::collections::BTreeMap;

use toml::Table;

use super::{CORRECT_OR_REMOVE, Environment, Owner, invalid_value, text_of};
use crate::error::{Error, Result};
use crate::model::printable;

/// The name of the table.
pub(super) const TABLE: &str = "groups.";

/// Name of the group of a repository's dependencies. Users cannot define it.
pub const DEPENDENCIES: &str = "deps";

/// Description of a valid group.
const EXPECTED: &str = "a list of paths, globs of paths and other groups, such as [\"~/src/pay-*\", \"@mail\"]";

/// The members of each group, as they are written.
pub type Groups = BTreeMap<String, Vec<String>>;

/// The user's groups as they are now: the file may have changed since the process began.
pub fn groups(environment: &Environment) -> Result<Groups> {
    let Some(file) = environment.user_file() else { return Ok(Groups::new()) };
    let Some(text) = text_of(&file, Owner::User)? else { return Ok(Groups::new()) };
    let shown = printable(&file.to_string_lossy());
    let table: Table =
        text.parse().map_err(|_| Error::invalid_argument(format!("{shown} is not TOML")).hint(CORRECT_OR_REMOVE))?;
    let Some(groups) = table.get(TABLE.trim_end_matches('.')).and_then(toml::Value::as_table) else {
        return Ok(Groups::new());
    };
    let member_lists = groups.iter().map(|(name, members)| Ok((name.clone(), members_of(&shown, name, members)?)));
    member_lists.collect()
}

/// The members of one group; an error if it is not a list of texts.
pub(super) fn members_of(source: &str, name: &str, members: &toml::Value) -> Result<Vec<String>> {
    if name == DEPENDENCIES {
        let what = format!(
            "{source}: {TABLE}{DEPENDENCIES} cannot be defined: @{DEPENDENCIES} is what a repository depends on"
        );
        return Err(Error::invalid_argument(what).hint("Choose another name."));
    }
    let texts = members.as_array().and_then(|members| {
        members.iter().map(|member| member.as_str().filter(|text| !text.is_empty()).map(str::to_owned)).collect()
    });
    texts.ok_or_else(|| invalid_value(source, &format!("{TABLE}{}", printable(name)), EXPECTED))
}
