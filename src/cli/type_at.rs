//! `ixmcp type-at`: the tool `type_at` for the command line.

use clap::Args;

use super::position::SourcePosition;
use super::{Outcome, Session, output};
use crate::error::Result;

/// Show the type of the expression at a position of a Python file
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// FILE:LINE:COLUMN, the file relative to the current folder or the repository, or absolute; in a notebook
    /// FILE:cell N:LINE:COLUMN
    position: SourcePosition,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let paint = session.paint_here();
    let answer = session.call("type_at", typed.position.arguments(session))?;
    if typed.json {
        output::json(&answer);
        return Ok(Outcome::Found);
    }
    output::line(&format!("{}: {}", output::text(&answer["expression"]), output::text(&answer["type"])));
    if let Some(definition) = answer.get("definition") {
        let position = paint.found(definition);
        output::line(&format!("    {position}  {}", output::text(&definition["preview"])));
    }
    for line in answer["docstring"].as_str().unwrap_or_default().lines() {
        output::line(&format!("    {}", crate::model::printable(line)));
    }
    Ok(Outcome::Found)
}
