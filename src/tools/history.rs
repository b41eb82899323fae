//! The history in answers: of a definition's lines, of a path, and which files change together; the view `history` of the web page
//! and of `ixmcp history`.

use std::path::Path;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::{RepoPath, printable};
use crate::query::history::{self, ChangesWith};
use crate::query::symbols;
use crate::repository::FileCommits;
use crate::store::{DefinitionNode, Snapshot, StoredCommit};
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
/// Commits of a definition, in an answer that is about more than its history.
pub(super) const OF_SYMBOL: usize = 10;
/// Files that change together with something.
const TOGETHER: usize = 10;
/// Files of a change whose commits are listed.
const MOST_FILES: usize = 50;
/// How long an answer waits for commits that are not stored yet.
const WAIT: Duration = Duration::from_millis(1_500);

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (_, limit) = super::page(None, arguments.limit, DEFAULT_LIMIT, MAX_LIMIT);
    let asked = (limit + 1, arguments.authors == Some(true));
    let (found, warning) = match (&arguments.file, &arguments.symbol_name) {
        (Some(file), None) => {
            let (path, unknown) = match call.workspace().files.indexed_path(file) {
                Ok(path) => (path, None),
                // A file that is gone may have a history.
                Err(unknown) => {
                    let below = RepoPath::under(call.workspace().root(), Path::new(file));
                    (below.map_or_else(|| file.clone(), |path| path.to_string()), Some(unknown))
                }
            };
            let of_path = |snapshot: &Snapshot| of_path(call.workspace(), snapshot, &path, asked, call.budget());
            let (found, warning) =
                call.read_history(|own| call.read_now(|snapshot, _| own.read(snapshot, || of_path(snapshot))))?;
            match unknown {
                Some(unknown) if found.as_ref().is_some_and(|found| found.commits.is_empty()) => return Err(unknown),
                _ => (found.unwrap_or_default(), warning),
            }
        }
        (None, Some(name)) => {
            let of_name = |snapshot: &Snapshot| of_name(call.workspace(), snapshot, name, asked, call.budget());
            let (found, warning) =
                call.read_history(|own| call.read_name(name, |snapshot| own.read(snapshot, || of_name(snapshot))))?;
            let found = found.unwrap_or_else(|| Some(Past::default())).ok_or_else(|| {
                Error::not_found(format!("nothing is defined as {}", printable(name)))
                    .hint("Give a file, or a name that the index has.")
            })?;
            (found, warning)
        }
        _ => return Err(Error::invalid_argument("give a file or a name").hint("Give one of both.")),
    };
    Ok(Answer::new(found, limit, warning))
}

/// The history of something.
#[derive(Default)]
pub(crate) struct Past {
    /// The newest first.
    pub commits: Vec<CommitNote>,
    pub changes_with: Vec<ChangesWith>,
    /// Says what the history is of, where that is not what was asked for.
    pub note: Option<String>,
}

impl Answer {
    /// The first commits of a history that was asked for one more.
    pub fn new(past: Past, limit: usize, warning: Option<String>) -> Self {
        let Past { mut commits, changes_with, note } = past;
        let truncated = commits.len() > limit;
        commits.truncate(limit);
        Self { history: commits, changes_with, truncated, warning: super::joined([note, warning]) }
    }
}

/// The last commits that changed a file, or the files below a folder, and the files that change together with it.
pub(crate) fn of_path(
    workspace: &Workspace,
    snapshot: &Snapshot,
    path: &str,
    (most, with_authors): (usize, bool),
    budget: &Budget,
) -> Result<Past> {
    let (committed, mut note) = committed_path(workspace, snapshot, path, budget)?;
    let commits = history::of_path(snapshot, &committed, most)?;
    // A file that is not indexed may be there.
    if workspace.root().join(path).symlink_metadata().is_err()
        && let Some(newest) = history::newest_of_path(snapshot, path)?
    {
        let shown = printable(path);
        note = Some(match snapshot.renamed_to(path, newest.id)? {
            Some(to) => format!("{shown} is not in the repository any more: it was renamed to {}.", printable(&to)),
            None => format!("{shown} is not in the repository any more."),
        });
    }
    if commits.is_empty()
        && let Some(nested) = nested_repository(workspace.root(), path)
    {
        let shown = printable(nested);
        note = Some(format!("{shown} is a repository of its own: `ixmcp --repo {shown} history …` has its history."));
    }
    let commits = commits.into_iter().map(|commit| CommitNote::from_stored(commit, with_authors)).collect();
    Ok(Past { commits, changes_with: history::changes_with(snapshot, &[&committed], TOGETHER)?, note })
}

/// The nearest folder on the way to a path that is a repository of its own.
fn nested_repository<'p>(root: &Path, path: &'p str) -> Option<&'p str> {
    let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders.rfind(|folder| root.join(folder).join(".git").symlink_metadata().is_ok())
}

/// The path by which the history knows a file, with a note if that is another one: its renaming is not committed yet.
fn committed_path(
    workspace: &Workspace,
    snapshot: &Snapshot,
    path: &str,
    budget: &Budget,
) -> Result<(String, Option<String>)> {
    if snapshot.file(path)?.is_some()
        && history::newest_of_path(snapshot, path)?.is_none()
        && let Ok(Some(before)) = workspace.history.renamed_from(path, budget)
    {
        let note = format!("{} was renamed from {}, which is not committed yet.", printable(path), printable(&before));
        return Ok((before, Some(note)));
    }
    Ok((path.to_owned(), None))
}

/// The history of the first definition with a name.
pub(crate) fn of_name(
    workspace: &Workspace,
    snapshot: &Snapshot,
    name: &str,
    most: (usize, bool),
    budget: &Budget,
) -> Result<Option<Past>> {
    let subjects = symbols::subjects(snapshot, name)?;
    let Some(DefinitionNode { definition, .. }) = subjects.first() else { return Ok(None) };
    let mut past =
        of_lines(workspace, snapshot, (&definition.path, (definition.start_line, definition.end_line)), most, budget)?;
    if subjects.len() > 1 {
        let one = format!("{}:{}", printable(&definition.path), definition.line);
        let of = format!("The history is that of {one}, the first of {} definitions with that name.", subjects.len());
        past.note = super::joined([Some(of), past.note]);
    }
    Ok(Some(past))
}

/// The last commits that touched lines of a file, and the files that change together with it.
pub(crate) fn of_lines(
    workspace: &Workspace,
    snapshot: &Snapshot,
    (path, lines): (&str, (u32, u32)),
    (most, with_authors): (usize, bool),
    budget: &Budget,
) -> Result<Past> {
    let (committed, note) = committed_path(workspace, snapshot, path, budget)?;
    let (of_file, paths) = history::of_lines(snapshot, &committed)?;
    let changes_with = history::changes_with(snapshot, &[&committed], TOGETHER)?;
    if of_file.is_empty() {
        return Ok(Past { changes_with, note, ..Past::default() });
    }
    let text = snapshot.lines(path, 1, u32::MAX)?.join("\n");
    let of_file = FileCommits::new(of_file.into_iter().map(|commit| commit.hash), paths);
    let touching = workspace.history.of_lines((&committed, &text), lines, &of_file, most, budget)?;
    let mut commits = Vec::with_capacity(touching.len());
    for hash in &touching {
        // A commit that was made since the last update is not stored yet.
        commits.extend(snapshot.commit_with_prefix(hash)?.map(|commit| CommitNote::from_stored(commit, with_authors)));
    }
    Ok(Past { commits, changes_with, note })
}

/// The last commits that changed any of these files, and the files that change together with them.
pub(super) fn of_files(snapshot: &Snapshot, paths: &[String]) -> Result<Past> {
    let mut commits: Vec<StoredCommit> = Vec::new();
    for path in paths.iter().take(MOST_FILES) {
        for commit in history::of_path(snapshot, path, OF_SYMBOL)? {
            if commits.iter().all(|known| known.hash != commit.hash) {
                commits.push(commit);
            }
        }
    }
    commits.sort_by(|a, b| b.corrected_time.cmp(&a.corrected_time).then_with(|| a.hash.cmp(&b.hash)));
    let commits = commits.into_iter().take(OF_SYMBOL).map(|commit| CommitNote::from_stored(commit, false)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    Ok(Past { commits, changes_with: history::changes_with(snapshot, &paths, TOGETHER)?, note: None })
}

impl Call<'_> {
    /// Reads what is stored of the history of `HEAD`, with the warning of an answer that lacks some.
    pub(super) fn read_history<T>(
        &self,
        read: impl Fn(&OwnHistory) -> Result<Option<T>>,
    ) -> Result<(Option<T>, Option<String>)> {
        read_own(self.workspace(), self.budget(), read)
    }
}

/// Reads snapshots whose commits are those of this worktree's `HEAD`.
pub(crate) struct OwnHistory<'w> {
    workspace: &'w Workspace,
    budget: &'w Budget,
}

impl OwnHistory<'_> {
    /// `None` if the commits are those of another branch.
    pub fn read<T>(&self, snapshot: &Snapshot, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        if self.workspace.commits.are_own(snapshot, self.budget)? { read().map(Some) } else { Ok(None) }
    }
}

/// Reads twice at most: between two reads, the index may become a copy of a sibling worktree's.
const READS: usize = 2;

/// Reads what is stored of the history of this worktree's `HEAD`; nothing as long as only another one's is stored.
pub(crate) fn read_own<T>(
    workspace: &Workspace,
    budget: &Budget,
    read: impl Fn(&OwnHistory) -> Result<Option<T>>,
) -> Result<(Option<T>, Option<String>)> {
    for _ in 0..READS {
        let warning = follow(workspace, budget)?;
        if let Some(found) = read(&OwnHistory { workspace, budget })? {
            return Ok((Some(found), warning));
        }
    }
    Ok((None, Some("The history of this branch is being indexed: ask again in a moment.".to_owned())))
}

/// Stores commits that the index of a workspace lacks, if that does not take long.
fn follow(workspace: &Workspace, budget: &Budget) -> Result<Option<String>> {
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
    if let Some(reason) = commits.absence(budget) {
        return Ok(Some(format!("There is no history: {reason}.")));
    }
    Ok(commits.limitation().map(str::to_owned))
}
