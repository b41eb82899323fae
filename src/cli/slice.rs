//! `ixmcp slice`: the tool `get_slice`, for people.

use clap::Args;

use super::{Outcome, Session, arguments, output};
use crate::error::Result;
use crate::tools::get_slice::Answer;

/// Print lines of a file
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file, relative to the current folder or the repository, or absolute
    file: String,
    /// First line
    start: u64,
    /// Last line [default: the first line]
    end: Option<u64>,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let end = typed.end.unwrap_or(typed.start);
    let given = arguments! { "file_path": session.file(&typed.file), "start_line": typed.start, "end_line": end };
    let answer = session.call::<Answer>("get_slice", given)?;
    session.show(&answer.json, true, || output::raw(&answer.content))
}
