//! `ixmcp repos`: the indexes of this user, and the groups of repositories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::overview::{ago, totals};
use super::{Outcome, Session, output, sync};
use crate::budget::Budget;
use crate::config::{DEPENDENCIES, groups};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::repository::{self, registry};

/// List your indexed repositories with their sizes, and your groups
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Remove the list entries and cached indexes of repositories that no longer exist
    #[arg(long)]
    prune: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    if typed.prune {
        return prune(session);
    }
    let environment = &session.sources.environment;
    let repositories: Vec<Value> =
        registry::listed(environment).iter().filter_map(|root| described(session, root)).collect();
    let indexes = repository::dependency_indexes(environment);
    let mut all = groups(environment)?;
    if !indexes.is_empty() {
        all.insert(DEPENDENCIES.to_owned(), Vec::new());
    }
    let mut named = Vec::new();
    for (name, written) in all {
        let members = session.workspaces.members(&[format!("@{name}")], &session.start, &Budget::unlimited());
        named.push(match members {
            Ok(members) => {
                let problem = |(repo, error): &(String, Error)| json!({ "repo": repo, "reason": error.to_string() });
                let problems: Vec<Value> = members.failed.iter().map(problem).collect();
                json!({ "name": name, "members": written, "repositories": members.roots, "problems": problems })
            }
            Err(error) => json!({ "name": name, "members": written, "error": error.to_string() }),
        });
    }
    let bytes: u64 = indexes.iter().map(|index| index.bytes).sum();
    let dependencies = json!({ "total": indexes.len(), "bytes": bytes });
    let json = json!({
        "total": repositories.len(), "repositories": repositories, "groups": named, "dependencies": dependencies,
    });
    session.show(&json, !(repositories.is_empty() && named.is_empty()), || {
        print(&repositories, &named);
        if !indexes.is_empty() {
            let count = output::count(indexes.len() as u64, "index", "indexes");
            output::note(&format!("{count} of dependencies: {}", sync::size(bytes)));
        }
    })
}

/// A listed repository; `None` if it has no index any more.
fn described(session: &Session, root: &Path) -> Option<Value> {
    let environment = &session.sources.environment;
    let database = repository::database(root, environment);
    if !root.is_dir() {
        return Some(json!({ "repo": root, "gone": true }));
    }
    if !database.is_file() {
        return None;
    }
    let mut described = json!({ "repo": root, "daemon": session.daemon(root).is_some() });
    match totals(&database) {
        Ok((totals, bytes)) => {
            described["files"] = json!(totals.files);
            described["index_size_bytes"] = json!(bytes);
            described["last_update"] = json!(totals.last_change_ns.map(crate::tools::stats::instant));
            described["changed"] = json!(totals.last_change_ns.map(ago));
        }
        Err(error) => described["error"] = json!(error.to_string()),
    }
    Some(described)
}

fn print(repositories: &[Value], groups: &[Value]) {
    for one in repositories {
        let repo = printable(one["repo"].as_str().unwrap_or_default());
        let state = if one["gone"] == true {
            "gone: --prune removes what is left of it".to_owned()
        } else if let Some(error) = one["error"].as_str() {
            printable(error)
        } else {
            let files = output::count(one["files"].as_u64().unwrap_or(0), "file", "files");
            let size = sync::size(one["index_size_bytes"].as_u64().unwrap_or(0));
            let changed = one["changed"].as_str().map_or_else(String::new, |ago| format!(", changed {ago}"));
            let daemon = if one["daemon"] == true { ", kept by a daemon" } else { "" };
            format!("{files}, {size}{changed}{daemon}")
        };
        output::line(&format!("{repo}  ({state})"));
    }
    for group in groups {
        let name = printable(group["name"].as_str().unwrap_or_default());
        if let Some(error) = group["error"].as_str() {
            output::line(&format!("@{name}  ({})", printable(error)));
            continue;
        }
        let count = |field: &str| group[field].as_array().map_or(0, Vec::len) as u64;
        let failed = match count("problems") {
            0 => String::new(),
            failed => format!(", {failed} cannot be searched"),
        };
        let repositories = output::count(count("repositories"), "repository", "repositories");
        output::line(&format!("@{name}  ({repositories}{failed})"));
    }
    if repositories.is_empty() && groups.is_empty() {
        output::note("no repository is known; `ixmcp sync` in one adds it");
    }
}

/// Removes what is left of repositories that are gone: their entry in the list, and an index in the user's folders.
fn prune(session: &Session) -> Result<Outcome> {
    let environment = &session.sources.environment;
    let gone: Vec<PathBuf> = registry::listed(environment).into_iter().filter(|root| is_gone(root)).collect();
    let mut freed = 0;
    for root in &gone {
        freed += registry::forget(root, environment)?;
    }
    let (removed, bytes) =
        repository::limit_dependency_indexes(environment, session.config.dependency_cache, &BTreeSet::new())?;
    freed += bytes;
    let json = json!({ "removed": gone, "removed_dependencies": removed, "freed_bytes": freed });
    session.show(&json, true, || {
        gone.iter().for_each(|root| output::line(&printable(&root.to_string_lossy())));
        let count = output::count(gone.len() as u64, "repository", "repositories");
        let dependencies = match removed {
            0 => String::new(),
            removed => format!(", {} of dependencies", output::count(removed as u64, "index", "indexes")),
        };
        output::note(&format!("{count} removed{dependencies}, {} freed", sync::size(freed)));
    })
}

/// Whether there is no such folder. One that cannot be seen now, such as on a disk that is not mounted, may come back: its
/// parent is gone, too.
fn is_gone(root: &Path) -> bool {
    let is_missing =
        |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    is_missing(root) && root.parent().is_some_and(|parent| !is_missing(parent))
}
