//! `ixmcp infer`: the tool `infer_types` for the command line, as a list or as a patch.

use std::fmt::Write;

use clap::Args;

use super::{Outcome, Session, arguments, output};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::pytypes::values::{Insertion, Suggestion};
use crate::tools::infer_types::Answer;

/// Infer missing type annotations of a Python file
///
/// All of them together cause no new diagnostic. No file is changed; to apply them, run
/// `ixmcp infer FILE --diff | git apply`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file, relative to the current folder or the repository, or absolute
    file: String,
    /// Only this class or function, such as Class.method
    symbol: Option<String>,
    /// Print a patch
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let file = session.file(&typed.file);
    let answer = session.call::<Answer>("infer_types", arguments! { "file": file, "symbol": typed.symbol })?;
    let found = &answer.suggestions;
    if typed.json {
        output::json(&answer.json);
    } else if typed.diff {
        // A patch must fit the file.
        let (shown, bytes) = session.workspace()?.files.read_exactly(&file)?;
        let text = String::from_utf8(bytes).map_err(|_| Error::invalid_argument("the file is not UTF-8"))?;
        let patch = patch(&shown, &text, &insertions(found)).ok_or_else(|| {
            let message = format!("{} was changed while its types were inferred", printable(&shown));
            Error::new(ErrorKind::Busy, message).hint("Run the command again.")
        })?;
        output::raw(&patch);
    } else {
        found.iter().for_each(print);
        let skipped = answer.total_skipped;
        let annotations = output::count(found.len() as u64, "annotation", "annotations");
        output::note(&format!("{annotations}; {skipped} symbols without a suggestion (see --json)"));
    }
    Ok(if found.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn print(found: &Suggestion) {
    let container = found.container.as_ref().map_or_else(String::new, |container| format!("{container}."));
    let sign = if found.kind == "return" { " ->" } else { ":" };
    let Suggestion { name, line, display, evidence, .. } = found;
    output::line(&printable(&format!("{line}  {container}{name}{sign} {display}  ({evidence})")));
}

/// The insertions as (line, column, text), sorted and without duplicates.
fn insertions(found: &[Suggestion]) -> Vec<(usize, usize, String)> {
    let of = |edit: &Insertion| (edit.line as usize, edit.column as usize, edit.insert.clone());
    let mut all: Vec<_> = found.iter().flat_map(|one| one.imports.iter().chain([&one.edit])).map(of).collect();
    all.sort();
    all.dedup();
    all
}

/// A unified diff. Only lines that get an insertion inside them are removed. `None` if the text lacks one of the lines: it is
/// not the text that the insertions are for.
fn patch(file: &str, text: &str, insertions: &[(usize, usize, String)]) -> Option<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if insertions.iter().any(|(line, column, _)| !(1..=lines.len() + 1).contains(line) || *column == 0) {
        return None;
    }
    if insertions.iter().any(|(line, ..)| *line > lines.len()) {
        lines.push("");
    }
    let mut changes = Vec::new();
    for group in insertions.chunk_by(|a, b| a.0 == b.0) {
        let at = group[0].0 - 1;
        changes.push(Change::new(at, lines.get(at).copied().unwrap_or_default(), group));
    }
    let mut patch = String::new();
    if !changes.is_empty() {
        let _infallible = writeln!(patch, "--- a/{file}\n+++ b/{file}");
    }
    let mut added = 0;
    for near in changes.chunk_by(|a, b| b.at - (a.at + a.removed) <= 2 * CONTEXT) {
        let (first, last) = (&near[0], &near[near.len() - 1]);
        let begin = first.at.saturating_sub(CONTEXT);
        let end = (last.at + last.removed + CONTEXT).min(lines.len());
        let mut hunk = String::new();
        let (mut from, mut old, mut new) = (begin, 0, 0);
        let mut put = |sign: char, line: &str| {
            if line.is_empty() {
                return;
            }
            old += usize::from(sign != '+');
            new += usize::from(sign != '-');
            let _infallible = write!(hunk, "{sign}{line}");
            if !line.ends_with('\n') {
                hunk.push_str("\n\\ No newline at end of file\n");
            }
        };
        for change in near {
            lines[from..change.at].iter().for_each(|line| put(' ', line));
            from = change.at + change.removed;
            lines[change.at..from].iter().for_each(|line| put('-', line));
            change.added.split_inclusive('\n').for_each(|line| put('+', line));
        }
        lines[from..end].iter().for_each(|line| put(' ', line));
        let (at, to) = (begin + usize::from(old > 0), begin + added + 1);
        let _infallible = write!(patch, "@@ -{at},{old} +{to},{new} @@\n{hunk}");
        added += new - old;
    }
    Some(patch)
}

/// Context lines around a change.
const CONTEXT: usize = 3;

/// Lines that replace one line, or are inserted before it.
struct Change {
    /// The number of lines before it.
    at: usize,
    removed: usize,
    added: String,
}

impl Change {
    /// `line` with the insertions applied, each at its column.
    fn new(at: usize, line: &str, insertions: &[(usize, usize, String)]) -> Self {
        let mut added = String::new();
        let mut done = 0;
        // A byte order mark is not part of the line.
        let first = line.len() - line.trim_start_matches('\u{feff}').len();
        for (_, column, insert) in insertions {
            let at = line[first..].char_indices().nth(column - 1).map_or(line.len(), |(at, _)| first + at);
            added.push_str(&line[done..at]);
            added.push_str(insert);
            done = at;
        }
        // Only whole lines were inserted before it; the line itself is unchanged.
        if done == 0 && added.ends_with('\n') {
            return Self { at, removed: 0, added };
        }
        added.push_str(&line[done..]);
        Self { at, removed: usize::from(!line.is_empty()), added }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_shows_each_changed_line_before_and_after() {
        let edits = [(1, 1, "import x\n".to_owned()), (2, 8, ": int".to_owned()), (2, 9, " -> str".to_owned())];
        let shown = patch("a.py", "\ndef f(a): ...", &edits).unwrap();
        assert_eq!(
            shown,
            "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n+import x\n \n-def f(a): ...\n\\ No newline at end of file\n+def f(a: int) -> str: ...\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let text: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let shown = patch("a.py", &text, &[(2, 2, "x".to_owned()), (19, 1, "y\n".to_owned())]).unwrap();
        assert_eq!(
            shown,
            "--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n 1\n-2\n+2x\n 3\n 4\n 5\n@@ -16,5 +16,6 @@\n 16\n 17\n 18\n+y\n 19\n 20\n"
        );
        assert_eq!(patch("a.py", &text, &[]).unwrap(), "");
        assert_eq!(
            patch("a.py", "", &[(1, 1, "y\n".to_owned())]).unwrap(),
            "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,1 @@\n+y\n"
        );
    }

    #[test]
    fn a_file_that_became_shorter_gets_no_patch() {
        let insertions = [(2, 4, ": int".to_owned()), (9, 1, "import x\n".to_owned())];
        assert_eq!(patch("a.py", "one\nx = 1\n", &insertions), None);
        assert!(patch("a.py", "one\nx = 1\n", &insertions[..1]).is_some());
        assert_eq!(patch("a.py", "", &[(0, 1, "x".to_owned())]), None);
    }
}
