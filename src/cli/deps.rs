//! `ixmcp deps`: index the sources of what this repository depends on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, HowFar};
use super::{Outcome, Session, sync};
use crate::budget::{Budget, Progress};
use crate::dependencies::{self, Dependency};
use crate::error::Result;
use crate::model::printable;
use crate::repository::{self, Thoroughness};

/// Index the sources of this repository's dependencies that are already on this machine
///
/// Finds the packages that Cargo.lock, package.json, pyproject.toml, requirements*.txt and go.mod name, in Cargo's folders,
/// node_modules, the site-packages of the project's environment and Go's module cache. Nothing is downloaded. The indexes are in
/// your cache folder, and repositories that depend on the same sources share them. The group `deps` then searches them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ixmcp deps\n  ixmcp query parse a header --group deps\n  ixmcp symbol Deserialize --repo @deps/serde"
)]
pub(super) struct Arguments {
    /// Also index what the dependencies depend on
    #[arg(long)]
    all: bool,
    /// List the dependencies, and index nothing
    #[arg(long, short)]
    list: bool,
}

/// A dependency with the number of its indexed files.
struct Row {
    dependency: Dependency,
    files: Option<u64>,
    problem: Option<String>,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let root = session.workspaces.root(&session.start)?;
    let environment = &session.sources.environment;
    let mut found = dependencies::list(&root, environment);
    // With --list, all are shown that are indexed.
    let is_indexed =
        |sources: &Path| session.workspaces.is_dependency(sources) && session.workspaces.is_indexed(sources);
    found.retain(|one| one.is_direct || typed.all || (typed.list && one.sources.as_deref().is_ok_and(is_indexed)));
    let rows: Vec<Row> = if typed.list {
        found.into_iter().map(|one| listed(one, session)).collect()
    } else {
        let progress = Arc::new(Progress::default());
        output::with_progress(
            || HowFar::from_progress(&progress),
            || found.into_iter().map(|one| indexed(one, session, &progress)).collect(),
        )
    };
    let spared: BTreeSet<_> = rows.iter().filter_map(|row| row.dependency.sources.clone().ok()).collect();
    let limit = session.config.dependency_cache;
    let (removed, _) =
        if typed.list { (0, 0) } else { repository::limit_dependency_indexes(environment, limit, &spared)? };
    let bytes: u64 = repository::dependency_indexes(environment).iter().map(|index| index.bytes).sum();
    let count = rows.iter().filter(|row| row.files.is_some()).count();
    let json = json!({
        "total": rows.len(), "indexed": count, "dependencies": rows.iter().map(Row::value).collect::<Vec<_>>(),
        "cache_bytes": bytes, "removed": removed,
    });
    session.show(&json, !rows.is_empty(), || print(session, &rows, (count, bytes, removed), limit))
}

fn listed(dependency: Dependency, session: &Session) -> Row {
    let root = dependency.sources.as_deref().ok().filter(|root| session.workspaces.is_dependency(root));
    let database = root.map(|root| repository::database(root, &session.sources.environment));
    let totals = database.filter(|database| database.is_file()).map(|database| super::overview::totals(&database));
    let (files, problem) = match totals {
        Some(Ok((totals, _))) => (Some(totals.files), None),
        Some(Err(error)) => (None, Some(error.to_string())),
        None => (None, None),
    };
    Row { dependency, files, problem }
}

/// Brings the index of one dependency up to date. An error is a problem of only that dependency.
fn indexed(dependency: Dependency, session: &Session, progress: &Arc<Progress>) -> Row {
    let Ok(root) = &dependency.sources else { return Row { dependency, files: None, problem: None } };
    let synced = session.workspaces.dependency(root).and_then(|workspace| {
        workspace.sync(Thoroughness::Changed, progress, &Budget::unlimited())?;
        workspace.read(&Budget::unlimited(), |snapshot| snapshot.file_count())
    });
    match synced {
        Ok(files) => Row { dependency, files: Some(files), problem: None },
        Err(error) => Row { dependency, files: None, problem: Some(error.to_string()) },
    }
}

impl Row {
    fn problem(&self) -> Option<&str> {
        self.problem.as_deref().or_else(|| self.dependency.sources.as_ref().err().copied())
    }

    fn value(&self) -> Value {
        let Dependency { ecosystem, name, version, is_direct, sources } = &self.dependency;
        let mut value = json!({
            "ecosystem": ecosystem, "name": name, "version": version, "direct": is_direct,
            "indexed": self.files.is_some(),
        });
        for (field, of) in [
            ("path", sources.as_ref().ok().map(|path| json!(path))),
            ("files", self.files.map(|files| json!(files))),
            ("problem", self.problem().map(|problem| json!(problem))),
        ] {
            if let Some(of) = of {
                value[field] = of;
            }
        }
        value
    }
}

fn print(session: &Session, rows: &[Row], (count, bytes, removed): (usize, u64, usize), limit: u64) {
    for row in rows {
        let Dependency { ecosystem, name, version, .. } = &row.dependency;
        let state = match (row.files, row.problem()) {
            (Some(files), _) => output::count(files, "file", "files"),
            (None, Some(problem)) => printable(problem),
            (None, None) => "not indexed".to_owned(),
        };
        let name = session.paint.name(&printable(format!("{name} {version}").trim_end()));
        output::line(&format!("{ecosystem:<6} {name}  ({state})"));
    }
    if rows.is_empty() {
        output::note(
            "found no Cargo.lock, package.json, pyproject.toml, requirements.txt or go.mod that names a dependency",
        );
        return;
    }
    let of = output::count(rows.len() as u64, "dependency", "dependencies");
    output::note(&format!("{count} of {of} indexed; all indexes of dependencies take {}", sync::size(bytes)));
    if removed > 0 {
        output::note(&format!("{removed} least recently used indexes removed; deps.cache is {}", sync::size(limit)));
    }
    if count > 0 {
        output::note("search them: ixmcp query WORDS --group deps");
    }
}
