//! `ixmcp files`: the tool `list_files` for people, and what is not indexed.

use clap::Args;
use serde_json::json;

use super::{Outcome, Session, arguments, output};
use crate::budget::Budget;
use crate::error::Result;
use crate::tools::list_files::Answer;

/// List the indexed files, or with --skipped the files that are not indexed and why
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// List only paths that match this glob; can be repeated
    #[arg(long, short = 'g')]
    include: Vec<String>,
    /// Exclude paths that match this glob; can be repeated
    #[arg(long, short = 'x')]
    exclude: Vec<String>,
    /// List only files of this language
    #[arg(long, short)]
    language: Option<String>,
    /// List the files that were skipped, each with the reason
    #[arg(long, conflicts_with_all = ["include", "exclude", "language"])]
    skipped: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let given = arguments! { "include": typed.include, "exclude": typed.exclude, "language": typed.language };
    let answer = session.call::<Answer>("list_files", given)?;
    if typed.skipped {
        return skipped(session);
    }
    let files = &answer.files;
    if session.json {
        output::json(&answer.json);
    } else {
        files.iter().for_each(|file| output::line(&session.paint.path(file)));
        if files.is_empty() {
            output::note_nothing();
        }
    }
    Ok(if files.is_empty() { Outcome::Nothing } else { Outcome::Found })
}

fn skipped(session: &Session) -> Result<Outcome> {
    let skipped = session.workspace()?.read(&Budget::unlimited(), |snapshot| snapshot.skipped())?;
    if session.json {
        let files: Vec<_> =
            skipped.iter().map(|file| json!({ "path": file.path, "reason": file.reason.as_str() })).collect();
        output::json(&json!({ "total": files.len(), "skipped": files }));
    } else {
        for file in &skipped {
            output::line(&format!("{:<18}{}", file.reason.as_str(), session.paint.path(&file.path)));
        }
        if skipped.is_empty() {
            output::note_nothing();
        }
    }
    Ok(if skipped.is_empty() { Outcome::Nothing } else { Outcome::Found })
}
