//! `ixmcp def`: the tool `goto_definition` for the command line.

use clap::Args;

use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;
use crate::model::printable;
use crate::tools::goto_definition::Answer;

/// Show where the symbol at a position is defined
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let paint = &session.paint;
    let answer = session.call::<Answer>("goto_definition", typed.position.arguments(session))?;
    let found = &answer.definitions;
    session.show(&answer.json, !found.is_empty(), || {
        for one in found {
            let location = paint.location(&one.span);
            output::line(&format!("{location}  {}  {}", printable(&one.kind), printable(&one.preview)));
        }
        if found.is_empty() {
            output::note("nothing found: no definition is known for this position");
        }
        answer.note_remarks();
    })
}
