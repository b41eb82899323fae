//! The history in answers: of a definition's lines, of a path, and which files change together; the view `history` of the web page
//! and of `ixmcp history`.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::history::{self, ChangesWith};
use crate::query::symbols;
use crate::repository::FileCommits;
use crate::store::{Definition, DefinitionNode, Snapshot, StoredCommit};
use crate::workspace::Workspace;

pub(crate) static HISTORY: Declaration = declare! {
    run;
    name: "history",
    title: "History of a file or a symbol",
    about: "The last commits that changed a file or the lines of a definition, and the files that change together with it.",
    access: Access::Read,
    core: false,
    list: Some("history"),
    example: r#"{"file": "src/main.rs"}"#,
};

/// Arguments of `history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: Option<String>,
    /// Instead of a file: a name, Class.method or module::name.
    symbol_name: Option<String>,
    /// Commits to return (default 20, at most 200).
    limit: Option<u64>,
    /// Add the authors' names (default false).
    authors: Option<bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub history: Vec<CommitNote>,
    pub changes_with: Vec<ChangesWith>,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A commit in the history of something.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct CommitNote {
    pub commit: String,
    /// RFC 3339.
    pub time: String,
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

impl CommitNote {
    pub fn from_stored(commit: StoredCommit, with_author: bool) -> Self {
        Self {
            time: super::query::commit_time(&commit),
            commit: commit.hash,
            subject: commit.subject,
            author: with_author.then_some(commit.author),
        }
    }
}

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 200;
/// Commits of a definition, if it is not asked for alone.
pub(super) const OF_SYMBOL: usize = 10;
/// Files that change together with something.
const TOGETHER: usize = 10;
/// Files of a change whose commits are listed.
const MOST_FILES: usize = 50;
/// How long an answer waits for commits that are not stored yet.
const WAIT: Duration = Duration::from_millis(1_500);

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (_, limit) = super::page(None, arguments.limit, DEFAULT_LIMIT, MAX_LIMIT);
    let with_authors = arguments.authors == Some(true);
    let warning = call.follow_history()?;
    let (history, changes_with) = match (&arguments.file, &arguments.symbol_name) {
        (Some(file), None) => {
            let path = call.workspace().files.indexed_path(file)?;
            let path = path.as_str();
            call.read_now(|snapshot, _| of_path(snapshot, path, (limit + 1, with_authors)))?
        }
        (None, Some(name)) => {
            let found = call.read_name(name, |snapshot| {
                let subject = symbols::subjects(snapshot, name)?.into_iter().next();
                let of = |subject: DefinitionNode| {
                    let most = (limit + 1, with_authors);
                    of_definition(call.workspace(), snapshot, &subject.definition, most, call.budget())
                };
                subject.map(of).transpose()
            })?;
            found.ok_or_else(|| {
                Error::not_found(format!("nothing is defined as {}", printable(name)))
                    .hint("Give a file, or a name that the index has.")
            })?
        }
        _ => return Err(Error::invalid_argument("give a file or a name").hint("Give one of both.")),
    };
    let truncated = history.len() > limit;
    Ok(Answer { history: history.into_iter().take(limit).collect(), changes_with, truncated, warning })
}

/// The last commits that changed a file, and the files that change together with it.
pub(crate) fn of_path(
    snapshot: &Snapshot,
    path: &str,
    (most, with_authors): (usize, bool),
) -> Result<(Vec<CommitNote>, Vec<ChangesWith>)> {
    let commits = history::of_path(snapshot, path, most)?;
    let notes = commits.into_iter().map(|commit| CommitNote::from_stored(commit, with_authors)).collect();
    Ok((notes, history::changes_with(snapshot, &[path], TOGETHER)?))
}

/// The last commits that touched the lines of a definition, and the files that change together with its file.
pub(crate) fn of_definition(
    workspace: &Workspace,
    snapshot: &Snapshot,
    definition: &Definition,
    most: (usize, bool),
    budget: &Budget,
) -> Result<(Vec<CommitNote>, Vec<ChangesWith>)> {
    let lines = (definition.start_line, definition.end_line);
    of_lines(workspace, snapshot, (&definition.path, lines), most, budget)
}

/// The last commits that touched lines of a file, and the files that change together with it.
pub(crate) fn of_lines(
    workspace: &Workspace,
    snapshot: &Snapshot,
    (path, lines): (&str, (u32, u32)),
    (most, with_authors): (usize, bool),
    budget: &Budget,
) -> Result<(Vec<CommitNote>, Vec<ChangesWith>)> {
    let of_file = history::of_lines(snapshot, path)?;
    let together = history::changes_with(snapshot, &[path], TOGETHER)?;
    if of_file.is_empty() {
        return Ok((Vec::new(), together));
    }
    let text = snapshot.lines(path, 1, u32::MAX)?.join("\n");
    let of_file = FileCommits::new(of_file.into_iter().map(|(commit, path)| (commit.hash, path)));
    let touching = workspace.history.of_lines((path, &text), lines, &of_file, most, budget)?;
    let mut notes = Vec::with_capacity(touching.len());
    for hash in &touching {
        // A commit that was made since the last update is not stored yet.
        notes.extend(snapshot.commit_with_prefix(hash)?.map(|commit| CommitNote::from_stored(commit, with_authors)));
    }
    Ok((notes, together))
}

/// The last commits that changed any of these files, and the files that change together with them.
pub(super) fn of_files(snapshot: &Snapshot, paths: &[&str]) -> Result<(Vec<CommitNote>, Vec<ChangesWith>)> {
    let mut commits: Vec<StoredCommit> = Vec::new();
    for path in paths.iter().take(MOST_FILES) {
        for commit in history::of_path(snapshot, path, OF_SYMBOL)? {
            if commits.iter().all(|known| known.hash != commit.hash) {
                commits.push(commit);
            }
        }
    }
    commits.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.hash.cmp(&b.hash)));
    let notes = commits.into_iter().take(OF_SYMBOL).map(|commit| CommitNote::from_stored(commit, false)).collect();
    Ok((notes, history::changes_with(snapshot, paths, TOGETHER)?))
}

impl Call<'_> {
    /// Stores commits that the index lacks, if that does not take long. Returns the warning of an answer that lacks some.
    pub(super) fn follow_history(&self) -> Result<Option<String>> {
        follow(self.workspace(), self.budget())
    }
}

/// Stores commits that the index of a workspace lacks, if that does not take long.
pub(crate) fn follow(workspace: &Workspace, budget: &Budget) -> Result<Option<String>> {
    let commits = &workspace.commits;
    if !workspace.may_have_history() {
        return Ok(Some("A mirror of a published repository has no history.".to_owned()));
    }
    let end = Instant::now() + WAIT;
    let soon = budget.with_deadline(Some(budget.deadline().map_or(end, |deadline| deadline.min(end))));
    if !commits.is_complete(budget)? && commits.finish(&soon).is_err() {
        budget.check()?;
        return Ok(Some("The history is being indexed: older commits may be missing.".to_owned()));
    }
    if let Some(reason) = commits.absence() {
        return Ok(Some(format!("There is no history: {reason}.")));
    }
    Ok(commits.limitation().map(str::to_owned))
}
