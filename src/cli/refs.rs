//! `ixmcp refs`: the tool `find_references` for the command line.

use clap::Args;

use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;
use crate::model::printable;
use crate::tools::find_references::Answer;

/// List all references to the symbol at a position
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
    /// Exclude the definition itself
    #[arg(long)]
    no_declaration: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let paint = &session.paint;
    let mut given = typed.position.arguments(session);
    if typed.no_declaration {
        given["include_declaration"] = false.into();
    }
    let answer = session.call::<Answer>("find_references", given)?;
    let found = &answer.references;
    session.show(&answer.json, !found.is_empty(), || {
        for one in found {
            let location = paint.location(&one.span);
            output::line(&format!("{location}  {}  {}", printable(&one.role), printable(&one.preview)));
        }
        if found.is_empty() {
            output::note("nothing found: no reference is known for this position");
        }
        if let Some(left_out) = &answer.left_out {
            output::note(left_out);
        }
        answer.note_remarks();
    })
}
