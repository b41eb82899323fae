//! `ixmcp type-at`: the tool `type_at` for the command line.

use clap::Args;

use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;
use crate::model::printable;
use crate::tools::type_at::Answer;

/// Show the type of the expression at a position of a Python file
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
}

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    let paint = &session.paint;
    let answer = session.call::<Answer>("type_at", arguments.position.arguments(session))?;
    session.show(&answer.json, session.json || answer.found.is_some(), || {
        let Some(typed) = &answer.found else { return };
        output::line(&format!("{}: {}", printable(&typed.expression), printable(&typed.r#type)));
        if let Some(found) = &typed.definition {
            let location = paint.location(&found.span);
            output::line(&format!("    {location}  {}", printable(&found.preview)));
        }
        for line in typed.docstring.iter().flat_map(|text| text.lines()) {
            output::line(&format!("    {}", printable(line)));
        }
    })
}
