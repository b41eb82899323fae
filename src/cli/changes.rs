//! `ixmcp changes`: the tool `changes` for the command line, also as Markdown for a review.

use std::fmt::Write;

use clap::{Args, ValueEnum};

use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::model::printable;
use crate::query::changes::{ChangedDefinition, Dependent};
use crate::tools::changes::Answer;

/// Show which definitions differ from a commit, and what depends on them
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A commit, branch or tag; "branch" is the merge base with the default branch
    #[arg(default_value = "HEAD")]
    base: String,
    /// Output format; in markdown, paths begin at the repository's root
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    /// Maximum number of definitions
    #[arg(long, short = 'n', default_value_t = 100)]
    limit: u64,
    /// Number of definitions to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Markdown,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let given = arguments! { "base": typed.base, "limit": typed.limit, "offset": typed.offset };
    let answer = session.call::<Answer>("changes", given)?;
    let is_found = !answer.changes.is_empty();
    if session.json {
        output::json(&answer.json);
        return Ok(Outcome::found_if(is_found));
    }
    match typed.format {
        Format::Text => print(session, &answer),
        Format::Markdown => output::line(markdown(&answer).trim_end()),
    }
    answer.note_rest(answer.changes.len(), &format!("no definition differs from {}", base(&answer)));
    for problem in &answer.problems {
        let path = printable(&session.paint.shown(&problem.path));
        output::note(&format!("{path} is not compared: {}", printable(&problem.reason)));
    }
    Ok(Outcome::found_if(is_found))
}

/// The base as people name it.
fn base(answer: &Answer) -> String {
    match &answer.base.merge_base_with {
        Some(branch) => printable(&format!("the merge base with {branch}")),
        None => printable(&answer.base.name),
    }
}

fn print(session: &Session, answer: &Answer) {
    for change in &answer.changes {
        let at = session.paint.position(&change.file_path, &[change.line]);
        let name = session.paint.name(&change.name);
        let was = was(change, |path| session.paint.shown(path));
        output::line(&format!("{at}  {} {} {name}{was}", change.change.join("+"), printable(&change.kind)));
        if let Some(signature) = &change.old_signature {
            output::line(&format!("    was {}", printable(signature)));
        }
        for (heading, dependents) in groups(change) {
            for found in dependents {
                let at = session.paint.position(&found.file_path, &[found.line]);
                output::line(&format!("    {heading}  {at}  {} [{}]", printable(&found.name), found.how));
            }
        }
        if change.callers_total > change.callers.len() {
            output::line(&format!("    … {} more callers", change.callers_total - change.callers.len()));
        }
        for text in &change.mentioned_in {
            let at = session.paint.position(&text.file_path, &[text.line]);
            let id = text.id.as_ref().map_or_else(String::new, |id| format!("  {}", printable(id)));
            output::line(&format!("    mentioned in  {at}{id}"));
        }
        if let Some(reason) = &change.reason {
            output::line(&format!("    {}", printable(reason)));
        }
    }
    if !answer.tests.is_empty() {
        output::line("tests to run");
        answer.tests.iter().for_each(|path| output::line(&format!("  {}", session.paint.path(path))));
    }
}

/// The names under which dependents are shown.
fn groups(change: &ChangedDefinition) -> [(&'static str, &[Dependent]); 4] {
    let callers = if change.change == ["removed"] { "still referred to by" } else { "called by" };
    [
        (callers, &change.callers),
        ("old name referred to by", &change.old_callers),
        ("implemented by", &change.implementers),
        ("tested by", &change.tests),
    ]
}

/// Shows the old name and the old path of a definition.
fn was(change: &ChangedDefinition, shown: impl Fn(&str) -> String) -> String {
    let name = change.old_name.as_ref().map(|name| format!(" (was {})", printable(name)));
    let path = change.old_path.as_ref().map(|path| format!(" (was in {})", printable(&shown(path))));
    name.into_iter().chain(path).collect()
}

/// A summary that a review or a commit message can quote.
fn markdown(answer: &Answer) -> String {
    let code = |text: &str| format!("`{}`", printable(text).replace('`', "'"));
    let mut text = String::new();
    let commit = answer.base.commit.as_deref().map_or("nothing", |id| &id[..id.len().min(12)]);
    let total = answer.total.unwrap_or(answer.changes.len());
    // A string takes every write.
    let _ = writeln!(text, "## Changes since {} ({commit})\n", code(&answer.base.name));
    let definitions = output::count(total as u64, "definition", "definitions");
    let files = output::count(answer.files as u64, "file", "files");
    let _ = writeln!(text, "{definitions} in {files}.\n");
    if !answer.changes.is_empty() {
        let _ = writeln!(text, "| definition | change | public | callers | tests |\n|---|---|---|---|---|");
    }
    for change in &answer.changes {
        let public = if change.public { "yes" } else { "" };
        let _ = writeln!(
            text,
            "| {} {} ({}:{}){} | {} | {public} | {} | {} |",
            printable(&change.kind),
            code(&change.name).replace('|', "\\|"),
            printable(&change.file_path).replace('|', "\\|"),
            change.line,
            was(change, str::to_owned).replace('|', "\\|"),
            change.change.join(", "),
            change.callers_total,
            change.tests.len(),
        );
    }
    let with_details =
        answer.changes.iter().filter(|change| !change.callers.is_empty() || !change.old_callers.is_empty());
    for change in with_details {
        let _ = writeln!(text, "\n### {}\n", code(&change.name));
        for (heading, dependents) in groups(change) {
            for found in dependents {
                let _ = writeln!(
                    text,
                    "- {heading} {} ({}:{}, {})",
                    code(&found.name),
                    printable(&found.file_path),
                    found.line,
                    found.how
                );
            }
        }
    }
    if !answer.tests.is_empty() {
        let _ = writeln!(text, "\n### Tests to run\n");
        answer.tests.iter().for_each(|path| {
            let _ = writeln!(text, "- {}", printable(path));
        });
    }
    text
}
