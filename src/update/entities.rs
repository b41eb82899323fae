//! The report of a sync of the knowledge graph: counts of its files, and their problems.
//!
//! Owns which files are entities' files. Does not own the update before the report (`schedule`).

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::config::Config;
use crate::error::Result;
use crate::extract::entity::{self, Role};
use crate::extract::entity_kinds::FOLDER;
use crate::model::{RepoPath, printable};
use crate::repository::Repository;
use crate::store::{FileProblem, Snapshot};

/// Net changes since the last report, and all problems.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EntityReport {
    pub scanned: usize,
    pub added: usize,
    pub modified: usize,
    pub deleted: usize,
    pub unchanged: usize,
    pub problems: Vec<FileProblem>,
}

/// The name under which changes are counted.
const CONSUMER: &str = "ixchel_sync";

/// The characters of a file's text that a problem quotes.
const MAX_QUOTED: usize = 80;

/// The folders whose files are the knowledge graph.
pub(super) fn folders(config: &Config) -> Vec<RepoPath> {
    let notes = config.index.notes.iter().map(String::as_str);
    [FOLDER].into_iter().chain(notes).filter_map(RepoPath::new).collect()
}

/// Whether one of the paths is such a folder, in one, or above one.
pub(super) fn are_among(paths: &[RepoPath], config: &Config) -> bool {
    let is_below = |path: &RepoPath, folder: &RepoPath| {
        path == folder || path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    folders(config).iter().any(|folder| paths.iter().any(|path| is_below(path, folder) || is_below(folder, path)))
}

/// Counts what changed, and starts a new count.
pub(super) fn report(repository: &Repository, budget: &Budget) -> Result<EntityReport> {
    let notes = repository.settings().config.index.notes.clone();
    let counted = repository.store()?.write(|batch| batch.count_changes(CONSUMER))?;
    let is_graph = |path: &str| RepoPath::new(path).is_some_and(|path| entity::role(&path, &notes) != Role::Document);
    let count = |paths: &[String]| paths.iter().filter(|path| is_graph(path.as_str())).count();
    let (indexed, skipped, problems) = repository.read(budget, |snapshot| {
        let mut folders: Vec<String> = vec![format!("{FOLDER}/")];
        folders.extend(notes.iter().map(|folder| if folder == "." { String::new() } else { format!("{folder}/") }));
        let mut indexed = 0;
        for (at, folder) in folders.iter().enumerate() {
            // One folder may be in another.
            let is_counted = |path: &str| folders[..at].iter().any(|other| path.starts_with(other.as_str()));
            snapshot.each_path_below(folder, |path| indexed += usize::from(is_graph(path) && !is_counted(path)))?;
        }
        let mut skipped = snapshot.skipped()?;
        skipped.retain(|file| is_graph(&file.path));
        let mut problems = problems(snapshot, &folders, is_graph)?;
        problems.extend(skipped.iter().map(|file| FileProblem {
            path: file.path.clone(),
            line: None,
            reason: format!("the file is left out: {}", file.reason.as_str()),
        }));
        problems.sort_by(|a, b| (&a.path, a.line, &a.reason).cmp(&(&b.path, b.line, &b.reason)));
        problems.dedup();
        Ok((indexed, skipped.len(), problems))
    })?;
    let (added, modified) = (count(&counted.added), count(&counted.modified));
    Ok(EntityReport {
        scanned: indexed + skipped,
        added,
        modified,
        deleted: count(&counted.deleted),
        unchanged: indexed.saturating_sub(added + modified),
        problems,
    })
}

/// The problems of single files, and those between files.
fn problems(snapshot: &Snapshot, folders: &[String], is_graph: impl Fn(&str) -> bool) -> Result<Vec<FileProblem>> {
    let mut problems = Vec::new();
    for folder in folders {
        problems.extend(snapshot.problems_below(folder)?.into_iter().filter(|problem| is_graph(&problem.path)));
    }
    for (path, key, first) in snapshot.doubled_entities()? {
        let reason = format!("the id {} is taken by {}, which takes precedence", shown(&key), printable(&first));
        problems.push(FileProblem { path, line: None, reason });
    }
    // Notes may link to pages that are not written yet.
    for link in snapshot.dangling_links(&folders[0])? {
        let reason =
            format!("`{}` leads to {}, which is not the id of an entity", shown(&link.rel), shown(&link.target));
        problems.push(FileProblem { path: link.path, line: Some(link.line), reason });
    }
    Ok(problems)
}

fn shown(text: &str) -> String {
    printable(text).chars().take(MAX_QUOTED).collect()
}
