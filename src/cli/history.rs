//! `ixmcp history`: the commits of a file or a symbol, for people.

use clap::Args;

use super::query::short;
use super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::store::Snapshot;
use crate::tools::history::{Answer, of_lines, of_name, of_path, read_own};

/// Show the commits that changed a file, a folder, a line or the lines of a symbol, and the files that change with it
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A file or folder, relative to the current folder or the repository, or absolute; a line of a file, as FILE:LINE; or a name:
    /// plain, or as Class.method or module::name
    of: String,
    /// Maximum number of commits
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: u64,
    /// Show the authors' names
    #[arg(long)]
    authors: bool,
}

/// Length of the date at the beginning of a time, in characters.
const DAY: usize = 10;

/// The file and the line in `FILE:LINE`.
fn line_of(typed: &str) -> Option<(&str, u32)> {
    let (file, line) = typed.trim_end_matches(':').rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    if typed.of.is_empty() {
        return Err(Error::invalid_argument("the path or name is empty").hint("Give a file, a folder or a name."));
    }
    if typed.limit == 0 {
        return Err(Error::invalid_argument("option `--limit` is 0").hint("Give a whole number of at least 1."));
    }
    let workspace = session.workspace()?;
    let budget = Budget::unlimited();
    let most = usize::try_from(typed.limit).unwrap_or(usize::MAX);
    // One more shows that there are more.
    let asked = (most.saturating_add(1), typed.authors);
    let path = session.stored(&typed.of);
    let path = path.trim_end_matches('/');
    let line = line_of(&typed.of).map(|(file, line)| (session.stored(file), line));
    let read = |snapshot: &Snapshot| {
        if let Some((path, line)) = &line
            && snapshot.file(path)?.is_some()
        {
            let lines = snapshot.lines(path, 1, u32::MAX)?.len();
            if *line == 0 || usize::try_from(*line).is_ok_and(|line| line > lines) {
                let lines = output::count(lines as u64, "line", "lines");
                return Err(Error::invalid_argument(format!("{} has {lines}", printable(path)))
                    .hint("Give one of them, from 1, or the file alone."));
            }
            return of_lines(&workspace, snapshot, (path, (*line, *line)), asked, &budget);
        }
        let found = of_path(&workspace, snapshot, path, asked, &budget)?;
        let is_there = snapshot.file(path)?.is_some() || workspace.root().join(path).is_dir();
        if is_there || !found.commits.is_empty() {
            return Ok(found);
        }
        of_name(&workspace, snapshot, &typed.of, asked, &budget)?.ok_or_else(|| {
            Error::not_found(format!("{} is neither a file nor a symbol in the index", printable(&typed.of)))
                .hint("`ixmcp files` lists the files.")
        })
    };
    if !workspace.is_built(&budget) {
        // The first update may replace the index by a copy of a sibling worktree's, with the commits of its branch.
        session.read(|_| Ok(()))?;
    }
    workspace.commits.finish(&budget)?;
    let (found, warning) =
        read_own(&workspace, &budget, |own| session.read(|snapshot| own.read(snapshot, || read(snapshot))))?;
    let answer = Answer::new(found.unwrap_or_default(), most, warning);
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
        if answer.history.is_empty() && workspace.commits.absence(&budget).is_none() {
            output::note("no known commit changed it");
        }
        if let Some(warning) = &answer.warning {
            output::note(warning);
        }
    })
}
