//! Which local repositories were published under which names.
//!
//! Owns the records of that: `$XDG_STATE_HOME/ixmcp/published/`, one file for each repository, which its worktrees share. They are
//! kept there and not in the repository, because a clone must not claim the name of another. They say what to search, never what may
//! be read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::address;
use super::published::DIRTY;
use crate::budget::Budget;
use crate::config::{Environment, ServerAddress};
use crate::error::Result;
use crate::git_layout;
use crate::git_objects::{self, Objects};
use crate::platform::files::is_own;
use crate::platform::own_folder;
use crate::platform::replace::{Durability, Permissions, replace};

/// The folder of the records, in the user's state folder.
const FOLDER: &str = "published";
/// Names of one repository. Those that were published last are kept.
const MAX_NAMES: usize = 100;
/// A larger file is not read.
const MAX_BYTES: u64 = 1 << 20;
/// Separator of a repository's name and the branch that is published next to it.
const BRANCH: char = '@';

/// A name of a repository.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Record {
    /// The server, without the role and the password.
    server: String,
    name: String,
    /// The branch that was checked out.
    branch: Option<String>,
}

/// The records of a repository. The last is the newest.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Records {
    published: Vec<Record>,
}

impl Records {
    fn load(file: &Path) -> Self {
        let is_readable =
            fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && is_own(&found) && found.len() <= MAX_BYTES);
        let bytes = if is_readable { fs::read(file).ok() } else { None };
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// The name that the work tree stands for: the branch that is checked out, else the newest name that is not a branch.
    fn name(&self, server: &str, branch: Option<&str>) -> Option<&str> {
        let of_server = || self.published.iter().rev().filter(|record| record.server == server);
        let found = of_server()
            .find(|record| record.branch.is_some() && record.branch.as_deref() == branch)
            .or_else(|| of_server().find(|record| !record.name.contains(BRANCH)))
            .or_else(|| of_server().next());
        found.map(|record| record.name.as_str())
    }
}

/// Records that the repository at `root` is published under a name. Without a state folder that can be written, its published copy is
/// searched instead of it.
pub(super) fn note(server: &ServerAddress, environment: &Environment, root: &Path, name: &str) -> Result<()> {
    let Some(file) = file(environment, root) else { return Ok(()) };
    let (server, branch) = (account(server)?, git_objects::branch(root, environment));
    change(&file, |records| {
        records.retain(|record| record.server != server || record.name != name);
        records.push(Record { server, name: name.to_owned(), branch });
        records.drain(..records.len().saturating_sub(MAX_NAMES));
    });
    Ok(())
}

/// Records that nothing is published under a name any more.
pub fn forget(server: &ServerAddress, environment: &Environment, name: &str) -> Result<()> {
    let Some(folder) = folder(environment) else { return Ok(()) };
    let server = account(server)?;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        change(&entry.path(), |records| records.retain(|record| record.server != server || record.name != name));
    }
    Ok(())
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<Record>)) {
    let mut records = Records::load(file);
    let before = serde_json::to_vec(&records).unwrap_or_default();
    change(&mut records.published);
    let after = serde_json::to_vec(&records).unwrap_or_default();
    if before == after {
        return;
    }
    let folder = file.parent().unwrap_or(file);
    let made = folder.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| own_folder::create_private(folder));
    let written = made.and_then(|()| replace(file, &after, Permissions::Private, Durability::Unsynced));
    if let Err(error) = written {
        tracing::debug!("what is published is not recorded in {}: {error}", file.display());
    }
}

/// Whether a published commit is one of the repository at `root`. Another repository may be published under the same name since, or a
/// newer commit from elsewhere.
pub(super) fn has_commit(root: &Path, environment: &Environment, commit: &str, budget: &Budget) -> Result<bool> {
    let id = commit.strip_suffix(DIRTY).unwrap_or(commit);
    let found = Objects::open(root, environment).and_then(|objects| objects.has_commit(id, budget));
    budget.check()?;
    Ok(found.unwrap_or_else(|error| {
        tracing::debug!("the commits of {} are not known: {error}", root.display());
        false
    }))
}

/// The published names that local repositories stand for; if several stand for one name, the first does.
pub fn own_names(
    server: &ServerAddress,
    environment: &Environment,
    roots: impl Iterator<Item = PathBuf>,
) -> Result<BTreeMap<String, PathBuf>> {
    let account = account(server)?;
    let mut names = BTreeMap::new();
    for root in roots {
        let Some(file) = file(environment, &root) else { continue };
        let records = Records::load(&file);
        if let Some(name) = records.name(&account, git_objects::branch(&root, environment).as_deref()) {
            names.entry(name.to_owned()).or_insert(root);
        }
    }
    Ok(names)
}

/// The file of the records of the repository at `root`.
fn file(environment: &Environment, root: &Path) -> Option<PathBuf> {
    let repository = git_layout::linked_common_directory(root).unwrap_or_else(|| root.to_owned());
    let name = blake3::hash(repository.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned();
    Some(folder(environment)?.join(format!("{name}.json")))
}

fn folder(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_folder()?.join(FOLDER))
}

/// A server, without the role.
fn account(server: &ServerAddress) -> Result<String> {
    let config = address::target(server)?.config;
    let account =
        format!("{:?}", (config.get_hosts(), config.get_hostaddrs(), config.get_ports(), config.get_dbname()));
    Ok(blake3::hash(account.as_bytes()).to_hex()[..32].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_stands_for_the_name_of_its_branch_or_for_the_repository() {
        let record = |server: &str, name: &str, branch: Option<&str>| Record {
            server: server.to_owned(),
            name: name.to_owned(),
            branch: branch.map(str::to_owned),
        };
        let records = Records {
            published: vec![
                record("a", "old", Some("main")),
                record("a", "pay", Some("main")),
                record("a", "pay@next", Some("next")),
                record("b", "elsewhere@x", None),
            ],
        };
        for (server, branch, expected) in [
            ("a", Some("main"), Some("pay")),
            ("a", Some("next"), Some("pay@next")),
            ("a", Some("feature"), Some("pay")),
            ("a", None, Some("pay")),
            ("b", Some("main"), Some("elsewhere@x")),
            ("c", Some("main"), None),
        ] {
            assert_eq!(records.name(server, branch), expected, "{server} {branch:?}");
        }
    }
}
