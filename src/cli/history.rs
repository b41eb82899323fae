//! `ixmcp history`: the commits of a file or a symbol, for people.

use clap::Args;
use serde::Serialize;

use super::query::short;
use super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::history::ChangesWith;
use crate::query::symbols;
use crate::tools::history::{CommitNote, follow, of_definition, of_lines, of_path};

/// Show the commits that changed a file, a line or the lines of a symbol, and the files that change with it
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A file, relative to the current folder or the repository, or absolute; a line of one, as FILE:LINE; or a name: plain, or as
    /// Class.method or module::name
    of: String,
    /// Maximum number of commits
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Show the authors' names
    #[arg(long)]
    authors: bool,
}

/// Length of the date at the beginning of a time, in characters.
const DAY: usize = 10;

#[derive(Serialize)]
struct Answer {
    history: Vec<CommitNote>,
    changes_with: Vec<ChangesWith>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The file and the line in `FILE:LINE`.
fn line_of(typed: &str) -> Option<(&str, u32)> {
    let (file, line) = typed.trim_end_matches(':').rsplit_once(':')?;
    line.parse().ok().filter(|line| *line > 0).map(|line| (file, line))
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let workspace = session.workspace()?;
    let budget = Budget::unlimited();
    if !workspace.is_built(&budget) {
        // The first update may copy the index of another work tree, with commits that are not reachable from this one's HEAD.
        session.read(|_| Ok(()))?;
    }
    workspace.commits.finish(&budget)?;
    let warning = follow(&workspace, &budget)?;
    let most = usize::try_from(typed.limit).unwrap_or(usize::MAX);
    // One more shows that there are more.
    let asked = (most.saturating_add(1), typed.authors);
    let path = session.stored(&typed.of);
    let line = line_of(&typed.of).map(|(file, line)| (session.stored(file), line));
    let (mut found, changes_with) = session.read(|snapshot| {
        if snapshot.file(&path)?.is_some() {
            return of_path(snapshot, &path, asked);
        }
        if let Some((path, line)) = &line
            && snapshot.file(path)?.is_some()
        {
            let lines = snapshot.lines(path, 1, u32::MAX)?.len();
            if usize::try_from(*line).is_ok_and(|line| line > lines) {
                let lines = output::count(lines as u64, "line", "lines");
                return Err(Error::invalid_argument(format!("{} has {lines}", printable(path)))
                    .hint("Give one of them, from 1, or the file alone."));
            }
            return of_lines(&workspace, snapshot, (path, (*line, *line)), asked, &budget);
        }
        let Some(subject) = symbols::subjects(snapshot, &typed.of)?.into_iter().next() else {
            return Err(Error::not_found(format!(
                "{} is neither a file nor a symbol in the index",
                printable(&typed.of)
            ))
            .hint("`ixmcp files` lists the files."));
        };
        of_definition(&workspace, snapshot, &subject.definition, asked, &budget)
    })?;
    let truncated = found.len() > most;
    found.truncate(most);
    let answer = Answer { history: found, changes_with, truncated, warning };
    session.show(&answer, !answer.history.is_empty(), || {
        for commit in &answer.history {
            let day: String = printable(&commit.time).chars().take(DAY).collect();
            let author = commit.author.as_ref().map_or_else(String::new, |name| format!("  {}", printable(name)));
            let id = session.paint.name(short(&commit.commit));
            output::line(&format!("{id}  {day}{author}  {}", printable(&commit.subject)));
        }
        if answer.truncated {
            output::note("there are more commits: raise --limit");
        }
        if !answer.changes_with.is_empty() {
            output::line("changes together with");
        }
        for file in &answer.changes_with {
            let share =
                format!("{:.0} %, {}", file.share * 100.0, output::count(u64::from(file.commits), "commit", "commits"));
            output::line(&format!("    {}  {share}", session.paint.path(&file.file_path)));
        }
        if answer.history.is_empty() && workspace.commits.absence().is_none() {
            output::note("no known commit changed it");
        }
        if let Some(warning) = &answer.warning {
            output::note(warning);
        }
    })
}
