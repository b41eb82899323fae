//! `ixmcp files`: the tool `list_files` for people, and the files that are not indexed.

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

impl Arguments {
    /// Whether it lists the files that are not indexed.
    pub(super) const fn is_of_skipped(&self) -> bool {
        self.skipped
    }
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let given = arguments! { "include": session.patterns(&typed.include), "exclude": session.patterns(&typed.exclude), "language": typed.language };
    let answer = session.call::<Answer>("list_files", given)?;
    if typed.skipped {
        return skipped(session);
    }
    let files = &answer.files;
    let is_filtered = !(typed.include.is_empty() && typed.exclude.is_empty() && typed.language.is_none());
    let empty = if is_filtered { "no indexed file matches" } else { "no file is indexed; `ixmcp doctor` says why" };
    session.show_list(&answer.json, files, empty, |file| output::line(&session.paint.path(file)))
}

fn skipped(session: &Session) -> Result<Outcome> {
    let skipped = session.workspace()?.read(&Budget::unlimited(), |snapshot| snapshot.skipped())?;
    let files: Vec<_> =
        skipped.iter().map(|file| json!({ "path": file.path, "reason": file.reason.as_str() })).collect();
    let json = json!({ "total": files.len(), "skipped": files });
    session.show_list(&json, &skipped, "no file is skipped", |file| {
        output::line(&format!("{:<18}{}", file.reason.as_str(), session.paint.path(&file.path)));
    })
}
